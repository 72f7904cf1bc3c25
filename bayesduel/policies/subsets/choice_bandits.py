"""Winner Beats All for choice bandits (Agarwal, Johnson and Agarwal 2020)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.divergences import kl_to_half
from bayesduel.ops.rules import last_round_within, lowest, only, record, top
from bayesduel.policies.policy import Problem, checked
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from bayesduel.policies.subsets._rank_breaking import break_ranking
from theory.arguments import number_from


class ChoiceState(NamedTuple):
    """Choices between every two arms, and the arms that are due."""

    # [i, j]: rounds in which both were offered and i was chosen.
    wins: Int[np.ndarray, "n n"]
    against: Float[np.ndarray, " n"]  # I_i.
    # The anchors to come: the rest of a list, then the next one. No arm is in both.
    queue: Int[np.ndarray, " n"]
    now: Any  # How many anchors are ``listed``.
    size: int  # k.
    allowance: float  # f(n).


@register("choice-bandits", acronym="WBA")
class ChoiceBandits(SubsetPolicy):
    r"""Sets around an anchor, WBA: the winner beats all others of its set.

    WBA looks for a generalized Condorcet winner: an arm that is chosen most often in
    every set that contains it. Each set that it offers has one arm, the *anchor*, and
    other arms that still compete with the best one.

    Use it if such an arm exists and each choice names one arm of the set.

    Parameters
    ----------
    f_scale, f_power : float
        The function f of the rule is f(n) = f_scale n^f_power, as in RMED1.
    look_ahead : bool
        Play consecutive rounds with the same single arm in one step.

    Notes
    -----
    **Rule.** n is the number of arms, and k the largest size of a set. :math:`w_{ij}`
    counts choices of i in sets with i and j, and :math:`n_{ij}` choices of i or j. The
    evidence against arm i is :math:`I_i=\sum_jn_{ij}\,\mathrm{KL}(w_{ij}/n_{ij},1/2)`,
    a sum over the arms j that i does not beat. The arm with the least evidence is i*,
    and its evidence is I*. Logarithms are natural. In each round:

    1. *Anchor.* Take the next anchor a from a list of arms.
    2. *Set.* Find the opponent m of a, as in RMED1. If m is a itself, offer {a}.
       Otherwise offer a and m, and fill the set up to k arms with arms j for which
       :math:`I_j-I^*\le\log t+f(n)`, those with the smallest :math:`I_j` first. Ties
       are broken at random.
    3. *Next list.* Arms that satisfy this inequality after the round enter the next
       list of anchors.

    The recommendation is i*.

    **Source of the rule.** The exact pseudo-code of the paper could not be consulted.
    This is RMED1 (:class:`~bayesduel.policies.RMED1`) for sets. For k = 2 the two are
    equal but for the first sweep of RMED1 over all pairs. The rule has the properties
    that the paper establishes: it uses only the numbers of choices by pairs, and its
    sets consist of arms that still compete with the best one.

    **Look-ahead.** The rounds in which {i*} is offered until another arm enters are one
    event.

    References
    ----------
    A. Agarwal, N. Johnson, S. Agarwal, "Choice Bandits", NeurIPS 2020. J. Komiyama, J.
    Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling
    Bandit Problem", COLT 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("choice-bandits", f_scale=0.45).label
    'WBA:f_scale=0.45'
    """

    f_scale: float = checked(0.3, number_from, 0)
    f_power: float = checked(1.01, number_from, 0)
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "Choice Bandits, winner beats all"
    assumes = (FIXED_PREFERENCES,)
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)
    offers_fewer: ClassVar[bool] = True
    least_size: ClassVar[int] = 2

    def start(self, problem: Problem, rng: Generator) -> ChoiceState:
        """Return the state before the first round: every arm is due."""
        num_arms = problem.num_arms
        return ChoiceState(
            wins=np.zeros((num_arms, num_arms), dtype=np.int64),
            against=np.zeros(num_arms),
            queue=np.arange(num_arms),
            now=record(listed=num_arms),
            size=problem.subset_size,
            allowance=self.f_scale * float(num_arms) ** self.f_power,
        )

    def choose(self, state: ChoiceState, rng: Generator, round_: int) -> Offer:
        """Offer the set of the next anchor."""
        num_arms, best = len(state.wins), lowest(state.against)
        anchor = state.queue[0]
        opponent = opponent_of(state.wins, anchor, best)
        if opponent == anchor:
            # So it is i*: the arm itself beats all others.
            is_alone = self.look_ahead and state.now.listed == 1
            rounds = rounds_until_entry(state, best, round_) if is_alone else 1
            return Offer(only(anchor, num_arms), rounds, False)
        needed, log_round = log_rounds_needed(state), math.log(float(round_))
        value = np.full(num_arms, -math.inf)
        competitors = 0
        for arm in range(num_arms):
            if arm == anchor or arm == opponent:
                value[arm] = math.inf
                competitors += 1
            elif needed[arm] <= log_round:
                value[arm] = -state.against[arm]
                competitors += 1
        size = min(state.size, competitors)
        return Offer(top(rng, value, size), 1, False)

    def update(
        self,
        state: ChoiceState,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Count the choice, then test which arms are due in the next list."""
        break_ranking(state.wins, subset, rewards)
        for arm in range(len(subset)):
            if subset[arm]:
                evidence = 0.0
                for rival in range(len(state.wins)):
                    won, lost = state.wins[arm, rival], state.wins[rival, arm]
                    if won < lost:
                        number = won + lost
                        evidence += number * kl_to_half(0.5 * (lost - won) / number)
                state.against[arm] = evidence
        state.now.listed -= 1
        for index in range(state.now.listed):
            state.queue[index] = state.queue[index + 1]
        needed, log_round = log_rounds_needed(state), math.log(float(round_))
        for arm in range(len(subset)):
            if needed[arm] <= log_round:
                append(state, arm)

    def recommend(self, state: ChoiceState, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Mark i*."""
        return only(lowest(state.against), len(state.wins))


def opponent_of(wins: Int[np.ndarray, "n n"], arm: int, best: int) -> int:
    """Return i* if ``arm`` does not beat it or beats all, else its worst rival."""
    if arm != best and wins[arm, best] <= wins[best, arm]:
        return best
    worst, lowest_gap = best, 0.0
    for rival in range(len(wins)):
        lead = wins[arm, rival] - wins[rival, arm]
        if rival != arm and lead <= 0:
            gap = lead / max(wins[arm, rival] + wins[rival, arm], 1)
            if worst == best or gap < lowest_gap:
                worst, lowest_gap = rival, gap
    return worst


def log_rounds_needed(state: ChoiceState) -> Float[np.ndarray, " n"]:
    """Return log t from which on each arm is due: I_j - I* - f(n)."""
    return state.against - state.against.min() - state.allowance


def rounds_until_entry(state: ChoiceState, best: int, round_: int) -> int:
    """Count the rounds up to and with the first whose test lets another arm in."""
    needed = log_rounds_needed(state)
    needed[best] = math.inf
    nearest = needed.min()
    if nearest <= math.log(float(round_)):
        return 1
    return last_round_within(nearest, round_) - round_ + 2


def append(state: ChoiceState, arm: int) -> None:
    """Append an arm that is due, unless it is still to come."""
    for index in range(state.now.listed):
        if state.queue[index] == arm:
            return
    state.queue[state.now.listed] = arm
    state.now.listed += 1
