"""Which pair is asked next: by a policy, by expected information, or balanced."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Bool, Num

from bayesduel.errors import (
    StudyError,
    UnknownNameError,
    errors_about,
    near_and_all,
)
from bayesduel.simulation.steppers import near_pairs
from bayesduel.studies._fits import fit_votes
from bayesduel.studies._settings import RULES, Settings
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored import snapshots
from theory.arguments import short_repr

if TYPE_CHECKING:
    from bayesduel.models.fit.fit_result import Fit
    from bayesduel.policies.policy import PolicyBase
    from bayesduel.studies.replay.policy_follower import PolicyFollower

__all__ = [
    "Balanced",
    "Body",
    "Information",
    "Nothing",
    "PolicyRule",
    "Rule",
    "RuleOfState",
    "check_policy_text",
    "least_of",
    "places_of",
    "question_about",
]

_DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS = 8e5, 80, 1000
"""Of draws for expected information, where it cannot do without: a learned scale."""


Body = dict[str, Any]
"""What the event of a question holds, which is all that a rule says."""


class Nothing(NamedTuple):
    """No pair to be asked, and why."""

    reason: str


def question_about(
    arms: Sequence[int], rule: str, reason: str, /, **others: Any
) -> Body:
    """Return what an event says of a pair or a set that is asked, and why."""
    return {**places_of(arms), "rule": rule, "reason": reason, **others}


def places_of(arms: Sequence[int]) -> Body:
    """Return what an event says of the arms that are shown, in their order."""
    left, right, *also = arms
    return {"left": left, "right": right, **({"also": also} if also else {})}


class Rule(Protocol):
    """Proposes questions from the state of a study."""

    def prepare(self, state: StudyState) -> None:
        """Do what takes long, before other writers have to wait."""
        ...

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Body | Nothing:
        """Return a question about arms that are allowed, in whatever order."""
        ...

    def accepted(self, state: StudyState) -> None:
        """Take note that the last proposal has become an event."""
        ...

    def kept(self, state: StudyState) -> Any:
        """Return what it knows, None where it knows that soon again."""
        ...

    def recall(self, found: Any) -> None:
        """Go on from what :meth:`kept` returned."""
        ...


def generator(state: StudyState, number: int | str) -> random.Random:
    """Return the source of what is random about an event."""
    return random.Random(f"{state.settings.seed}/{number}")


def least_of(
    values: Num[np.ndarray, "K K"],
    allowed: Bool[np.ndarray, "K K"],
    rng: random.Random,
) -> tuple[int, int]:
    """Return the allowed pair with the smallest value; ties at random."""
    upper = np.triu(allowed, 1)
    least = values.min(where=upper, initial=_largest(values))
    places = np.flatnonzero(upper & (values == least))
    first, second = divmod(int(places[rng.randrange(len(places))]), len(values))
    return first, second


def _largest(values: Num[np.ndarray, "K K"]) -> float:
    return np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max


class RuleOfState:
    """A rule that knows what the state says, and nothing else."""

    def prepare(self, state: StudyState) -> None:
        """Nothing takes long."""

    def accepted(self, state: StudyState) -> None:
        """Nothing is to be noted."""

    def kept(self, state: StudyState) -> Any:
        """Return nothing."""

    def recall(self, found: Any) -> None:
        """Nothing was kept."""


class Balanced(RuleOfState):
    """The pair with the fewest votes and open questions; ties at random."""

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Body | Nothing:
        """Return the pair."""
        pair = least_of(state.told_pairs, allowed, generator(state, number))
        count = int(state.told_pairs[pair])
        reason = f"no pair has fewer votes and open questions than {count}"
        return question_about(pair, "balanced", reason)


class Information(RuleOfState):
    """The pair whose next vote is expected to teach most.

    Mutual information of the vote and all unknown quantities of the model, in nats;
    where questions about the pair are open, each is taken to have its share of it:
    divided by one more than their number.
    """

    _known: tuple[Any, np.ndarray] | None = None

    def prepare(self, state: StudyState) -> None:
        """Fit the model."""
        self._table(state)

    def _fitted(self, state: StudyState) -> Fit:
        """Fit quickly: what is compared are pairs, by the same draws."""
        if state.settings.model.methods[0] == "exact":  # Draws are not used.
            return fit_votes(state, 0, 4, 4)
        found = fit_votes(state, 0, 4, 4, resample=False)
        if found.knows_information:
            return found
        draws = _DRAWN_NUMBERS, _FEWEST_DRAWS, _MOST_DRAWS
        return fit_votes(state, *draws, resample=False)

    def _table(self, state: StudyState) -> np.ndarray:
        votes = state.epoch, state.num_votes
        if self._known is None or self._known[0] != votes:
            # Not as xarray has it, which takes as long as the rest.
            from bayesduel.models.fit.information import information_of_votes

            found = self._fitted(state)
            table = np.zeros_like(state.wins)
            gains = information_of_votes(found)
            table[np.ix_(state.active, state.active)] = gains
            self._known = votes, np.maximum(table, table.T)
        return self._known[1]

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Body | Nothing:
        """Return the pair."""
        table = self._table(state)
        pair = least_of(-table / (1 + state.out), allowed, generator(state, number))
        gain = float(table[pair])
        reason = f"the vote is expected to teach {gain:.3g} nats"
        return question_about(pair, "information", reason, information=gain)


class PolicyRule:
    """A policy of the registry, whose statistics the votes are."""

    def __init__(self, settings: Settings) -> None:
        self._policy = check_policy_text(settings)
        # What it differs in from its defaults takes a millisecond to find.
        self._name = self._policy.label
        self._follower: PolicyFollower | None = None
        self._found: Any = None
        self._recalled = 0

    def prepare(self, state: StudyState) -> None:
        """Compile, and follow what has happened."""
        known = self._follower
        followed = self._followed(state)
        if followed is not known:
            followed.next_duel(state)

    def _followed(self, state: StudyState) -> PolicyFollower:
        if self._follower is None or not self._follower.is_of(state):
            # Only what asks is imported.
            from bayesduel.studies.replay.policy_follower import PolicyFollower

            self._follower = PolicyFollower(self._policy, state)
            found, self._found, self._recalled = self._found, None, 0
            if found is not None and self._follower.resume(found, state):
                self._recalled = found[1]
        self._follower.follow(state)
        return self._follower

    def propose(
        self, state: StudyState, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> Body | Nothing:
        """Return the pair, or one as near as may be where that is not allowed."""
        duel, name = self._followed(state).next_duel(state), self._name
        if duel is None and state.requests:
            count = len(state.requests)
            return Nothing(f"{name} waits for the answers to {count} open questions")
        if duel is None:
            return Nothing(f"{name} has settled: it would ask no informative pair")
        first, second = duel["first"], duel["second"]
        if allowed[first, second]:
            idle, rounds = "", duel["idle"]
            if rounds:
                idle = f", after {rounds} round{'s' * (rounds > 1)} of exploitation"
            reason = f"the next informative pair of {name}{idle}"
            pair, own = (first, second), {"request": number, "duel": duel}
            return question_about(pair, state.settings.policy, reason, **own)
        among = near_pairs(allowed, first, second)
        pair = least_of(state.told_pairs, among, generator(state, number))
        asked = f"{state.arms[first]} against {state.arms[second]}"
        reason = f"in place of {asked}, which may not be asked here"
        return question_about(pair, state.settings.policy, reason, duel=duel)

    def accepted(self, state: StudyState) -> None:
        """Go on from the question that was asked."""
        if self._follower is not None:
            self._follower.has_asked(state)

    def kept(self, state: StudyState) -> Any:
        """Return where the policy is, if it has come far since that was kept."""
        if self._follower is None or not self._follower.is_of(state):
            return None
        found = self._follower.kept()
        is_far = found[1] - self._recalled >= snapshots.EVERY_TOLD
        return found if is_far else None

    def recall(self, found: Any) -> None:
        """Go on from what was kept, where that is of the same beginning."""
        self._found = found


def check_policy_text(settings: Settings, num_arms: int | None = None) -> PolicyBase:
    """Return the policy that a study names.

    Raises
    ------
    StudyError, PolicyParameterError, UnknownNameError
        If there is none, it is about subsets or has a delay of its own, or does not fit
        the number of arms.
    """
    from bayesduel import policies
    from bayesduel.arguments.limits import LONGEST_HORIZON
    from bayesduel.arguments.named_objects import is_own_name
    from bayesduel.policies.arm_features import check_fields, with_features
    from bayesduel.policies.policy import declared
    from bayesduel.policies.subset_base import OfferingPolicy

    text, asking = settings.policy, dict.fromkeys((*policies.names(), *RULES))
    name = text.partition(":")[0].strip().lower()
    if not (name in asking or name in policies.subset_names() or is_own_name(text)):
        rule = f"there is no policy {short_repr(name)}"
        remedy = f"{near_and_all(name, asking)}; one of your own is module:Class"
        raise UnknownNameError("policy", rule, text, remedy=remedy)
    with errors_about("policy", text):
        policy: PolicyBase = policies.parse_policy(text)
    if isinstance(policy, OfferingPolicy | policies.DelayedFeedback):
        rule = "must ask for pairs, and have no delay of its own"
        remedy = f"take one such as 'd-ts+', or one of {', '.join(RULES)}"
        raise StudyError("policy", rule, text, remedy=remedy)
    if declared(policy, "needs_horizon") and settings.budget is None:
        rule = f"must be given for {policy.label}, which plans for its number of votes"
        raise StudyError("budget", rule, None)
    number = num_arms or len(settings.arms)
    # Of fewer arms, which ones does not matter: their number is checked.
    known = getattr(settings.model, "features", None)
    check_fields(policy, number)
    told = with_features(policy, known and known[:number])
    told.check(number, settings.budget or LONGEST_HORIZON)
    return policy
