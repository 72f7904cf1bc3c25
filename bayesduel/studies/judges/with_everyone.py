"""What would be said if no judge were set aside."""

from __future__ import annotations

from dataclasses import dataclass

from bayesduel.studies._fits import LOOK, fit_votes, leader_of
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stopping_lines import StoppingLine, stopping_of

__all__ = ["WithEveryone", "with_everyone"]


@dataclass(frozen=True)
class WithEveryone:
    """What would be said if nobody were set aside.

    Attributes
    ----------
    votes : int
        That would count in addition.
    leader : str or None
    stopping : tuple of StoppingLine
    """

    votes: int
    leader: str | None
    stopping: tuple[StoppingLine, ...]

    def words(self, leader: str | None, stopping: tuple[StoppingLine, ...]) -> str:
        """Return in words what would change.

        Parameters
        ----------
        leader : str or None
            Without them.
        stopping : tuple of StoppingLine
            What the rules say without them.
        """
        named = self.leader or "nobody"
        leads = (
            "too" if self.leader == leader else f"where {leader or 'nobody'} does now"
        )
        now = {line.rule: line.says() for line in stopping}
        changed = "; ".join(
            f"{line.rule} would say {line.says()!r} and not {now[line.rule]!r}"
            for line in self.stopping
            if line.says() != now[line.rule]
        )
        return (
            f"with their {self.votes} votes {named} would lead, {leads}; "
            f"{changed or 'the rules for stopping would say the same'}"
        )


def with_everyone(state: StudyState) -> WithEveryone:
    """Return what would be said if nobody were set aside."""
    other = state.with_everyone()
    posterior = fit_votes(other, *LOOK)
    return WithEveryone(
        votes=other.num_votes - state.num_votes,
        leader=leader_of(posterior),
        stopping=stopping_of(other, posterior),
    )
