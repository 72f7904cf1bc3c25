"""Base of rules for stopping, and the first of several rules to stop."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from bayesduel.errors import StoppingRuleError

NOBODY = -1
"""In place of an arm, where none is named."""


class StoppingState(NamedTuple):
    """Conclusions of a rule from counts: whether to stop, and which arm to name."""

    stopped: bool
    """Whether to stop now."""

    answer: int
    """The arm that is named; -1 before the rule stops, and where it names none."""

    leader: int
    """The arm with the most evidence, the lowest number of several; -1 if the rule
    looks at none."""

    evidence: float
    """Evidence for the leader; the number of duels for a budget."""

    threshold: float
    """The evidence that suffices."""


class StoppingRule(ABC):
    """Says after every duel whether to stop, and which arm to name.

    ``one | other`` stops with the first of both.
    """

    @abstractmethod
    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether to stop.

        Parameters
        ----------
        wins : array-like (K, K)
            Entry (i, j): number of duels with j that i won, at most 10^12. The
            diagonal is not read.
        """

    @abstractmethod
    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine.

        A :class:`bayesduel.stopping.scalar_rules.ScalarStopping`.
        """

    def __or__(self, other: "StoppingRule") -> "FirstOf":
        """Return the rule that stops with the first of both."""
        return FirstOf((self, other))


@dataclass(frozen=True)
class FirstOf(StoppingRule):
    """Stop with the first rule that does; where several do, with the first named.

    What it says before is what the first rule says.

    Parameters
    ----------
    rules : tuple of StoppingRule
        At least one.

    Examples
    --------
    >>> from bayesduel.stopping import AnytimeEvidence, Budget
    >>> rule = FirstOf((AnytimeEvidence(0.01), Budget(1000)))
    >>> rule.evaluate([[0, 90], [10, 0]]).answer
    0
    """

    rules: tuple[StoppingRule, ...]

    def __post_init__(self) -> None:
        """Check the rules."""
        given = self.rules
        if not isinstance(given, tuple) or not given:
            rule = "must be a tuple of at least one rule"
            raise StoppingRuleError("rules", rule, given)
        for index, each in enumerate(given):
            check_rule("rules", each, index)

    def evaluate(self, wins: ArrayLike) -> StoppingState:
        """Say whether some rule stops."""
        states = [rule.evaluate(wins) for rule in self.rules]
        return next((state for state in states if state.stopped), states[0])

    def scalar_stopping(self) -> Any:
        """Return what stops runs of the scalar engine."""
        from bayesduel.stopping.scalar_rules import first_of

        *others, last = (rule.scalar_stopping() for rule in self.rules)
        for each in reversed(others):
            last = first_of(each, last)
        return last


def concluded(
    leader: int, evidence: float, threshold: float, *, stopped: bool | None = None
) -> StoppingState:
    """Return that a rule names the leader, by default if the evidence suffices."""
    stops = evidence >= threshold if stopped is None else stopped
    answer = leader if stops else NOBODY
    return StoppingState(stops, answer, leader, evidence, threshold)


def check_rule(argument: str, value: Any, index: int | None = None) -> StoppingRule:
    """Return ``value`` if it is a rule for stopping."""
    if not isinstance(value, StoppingRule):
        raise StoppingRuleError(
            argument,
            "must be a rule of bayesduel.stopping",
            value,
            index=index,
            remedy="give stopping.AnytimeEvidence(0.05), for instance",
        )
    return value
