"""Stagewise Elimination for best-of-K bandits (Simchowitz et al. 2016)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.rules import record, top
from bayesduel.policies.policy import Problem, checked
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from theory.arguments import number_that, one_of


class StageState(NamedTuple):
    """Where a run stands in its stages."""

    undecided: Bool[np.ndarray, " n"]
    accepted: Bool[np.ndarray, " n"]
    # The undecided arms that this repetition has not played.
    waiting: Bool[np.ndarray, " n"]
    totals: Float[np.ndarray, " n"]  # Rewards of this stage, in an arm's own blocks.
    # Mean rewards of the last finished stage of each arm.
    last_means: Float[np.ndarray, " n"]
    # The ``stage`` s, from 1 on, and how many of its 2^s ``repetitions`` are left.
    now: Any
    size: int  # k.
    log_level: float  # log(1/delta).
    is_bernstein: bool


@register("stagewise", acronym="Stagewise Elimination")
class StagewiseElimination(SubsetPolicy):
    r"""Uniform play in stages, accepting and rejecting arms by confidence intervals.

    In each stage all undecided arms are offered equally often. Then arms that surely
    belong to the best k are accepted, and arms that surely do not are rejected.

    Use it if arms are independent or choices come from random utilities. In worlds
    without a total order an arm of the best set can be rejected, and the regret is then
    linear.

    Parameters
    ----------
    delta : float
        Probability of a wrong decision; 0 stands for 1/T (needs T).
    radius : {"hoeffding", "bernstein"}
        Half the width of a confidence interval. "hoeffding" is that of the rule,
        "bernstein": sqrt(2 v L/M) + 7 L/(3 (M - 1)) with L = log(8 n s^2/delta), M =
        2^s and v = m (1 - m).
    look_ahead : bool
        Play the rounds after the last decision in one step.

    Notes
    -----
    **Rule.** n is the number of arms, and k the size of a set. In stage s = 1, 2, ...
    (natural logarithm):

    1. *Offer.* Repeat :math:`2^s` times: divide the undecided arms, in random order,
       into blocks of k, and offer each block. If the last block is too short, fill it
       up with accepted arms, then rejected ones, then other undecided ones, at random.
       Only the rewards of the undecided arms for which the block was formed are
       counted, not those of arms that fill it up.
    2. *Decide.* Let k' be the number of places that are not taken by accepted arms. Arm
       i has the mean :math:`m_i` of its :math:`2^s` rewards. The radius is
       :math:`\rho=\sqrt{\log(4ns^2/\delta)/(2\cdot2^s)}`. Accept an arm if
       :math:`m_i-\rho>m_j+\rho`, where j is the arm with the (k' + 1)-th largest mean.
       Reject it if :math:`m_i+\rho<m_j-\rho`, where j is the arm with the k'-th largest
       mean.
    3. *The end.* When k arms are accepted, or no more than k' undecided ones are left,
       these are offered for ever.

    The recommendation is the accepted arms, filled up by the means of the last stage.

    **Assumptions.** Independent arms or random utilities. The structure is the paper's.
    The radii and the order in which blocks are filled up are choices made here.

    **Look-ahead.** The rounds after the last decision are one event.

    References
    ----------
    M. Simchowitz, K. Jamieson, B. Recht, "Best-of-K-bandits", COLT 2016.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("stagewise", delta=1.0).label
    'Stagewise Elimination:delta=1.0'
    """

    delta: float = checked(
        0.0,
        number_that,
        rule="from 0, which stands for 1/horizon, to below 1",
        holds=lambda share: 0 <= share < 1,
    )
    radius: str = checked("hoeffding", one_of, ("hoeffding", "bernstein"))
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "Stagewise Elimination"
    assumes = (FIXED_PREFERENCES,)
    needs_horizon: ClassVar[bool] = True

    def start(self, problem: Problem, rng: Generator) -> StageState:
        """Return the state before the first round."""
        num_arms, horizon = problem.num_arms, problem.horizon
        everybody = np.full(num_arms, num_arms == problem.subset_size)
        return StageState(
            undecided=~everybody,
            accepted=everybody,
            waiting=~everybody,
            totals=np.zeros(num_arms),
            last_means=np.zeros(num_arms),
            now=record(stage=1, repetitions=2),
            size=problem.subset_size,
            log_level=-math.log(self.delta) if self.delta > 0.0 else math.log(horizon),
            is_bernstein=self.radius == "bernstein",
        )

    def choose(self, state: StageState, rng: Generator, round_: int) -> Offer:
        """Offer the next block, or the accepted arms once all is decided."""
        if count(state.undecided) == 0:
            rounds = LONGEST_HORIZON if self.look_ahead else 1
            return Offer(state.accepted, rounds, False)
        group = np.zeros(len(state.undecided))
        for arm in range(len(group)):
            if state.waiting[arm]:
                group[arm] = 3.0
            elif state.accepted[arm]:
                group[arm] = 2.0
            elif not state.undecided[arm]:
                group[arm] = 1.0
        # A random block is the next one of a random order; filled up if it is short.
        return Offer(top(rng, group, state.size), 1, False)

    def update(
        self,
        state: StageState,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Count the block; decide at the end of a stage."""
        if count(state.undecided) == 0:
            return
        for arm in range(len(subset)):
            if subset[arm] and state.waiting[arm]:
                state.totals[arm] += rewards[arm]
                state.waiting[arm] = False
        if count(state.waiting) == 0:
            state.now.repetitions -= 1
            if state.now.repetitions == 0:
                decide(state, rng)
            for arm in range(len(subset)):
                state.waiting[arm] = state.undecided[arm]

    def recommend(self, state: StageState, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Return the accepted arms, filled up by the means of the last stage."""
        value = np.full(len(state.totals), -1.0)
        for arm in range(len(value)):
            if state.accepted[arm]:
                value[arm] = math.inf
            elif state.undecided[arm]:
                value[arm] = state.last_means[arm]
        return top(rng, value, state.size)


def decide(state: StageState, rng: Generator) -> None:
    """Accept and reject arms at the end of a stage, and begin the next one."""
    undecided, accepted, means = state.undecided, state.accepted, state.last_means
    plays, own_values = 2.0**state.now.stage, np.full(len(state.totals), -1.0)
    for arm in range(len(own_values)):
        if undecided[arm]:
            own_values[arm] = means[arm] = state.totals[arm] / plays
        state.totals[arm] = 0.0
    # Arms with equal means have equal radii: which of them comes first does not matter.
    leaders = top(rng, own_values, state.size - count(state.accepted))
    last, next_best = math.inf, -1.0
    for arm in range(len(own_values)):
        if leaders[arm]:
            last = min(last, own_values[arm])
        else:
            next_best = max(next_best, own_values[arm])
    lowest_of_last = last - radius(state, last, plays)
    highest_of_next = next_best + radius(state, next_best, plays)
    for arm in range(len(own_values)):
        if undecided[arm]:
            width = radius(state, own_values[arm], plays)
            accepted[arm] = own_values[arm] - width > highest_of_next
            is_rejected = own_values[arm] + width < lowest_of_last
            undecided[arm] = not accepted[arm] and not is_rejected
    left = state.size - count(state.accepted)
    if left == 0 or count(undecided) <= left:
        for arm in range(len(own_values)):
            accepted[arm] = accepted[arm] or (left > 0 and undecided[arm])
            undecided[arm] = False
    state.now.stage += 1
    state.now.repetitions = 1 << state.now.stage


def count(mask: Bool[np.ndarray, " n"]) -> int:
    """Count the arms that are marked."""
    number = 0
    for arm in range(len(mask)):
        number += mask[arm]
    return number


def radius(state: StageState, mean: float, plays: float) -> float:
    """Return rho of an arm with a mean of so many rewards."""
    stage, num_arms = state.now.stage, len(state.totals)
    if not state.is_bernstein:
        level = math.log(4.0 * num_arms * stage * stage) + state.log_level
        return math.sqrt(level / (2.0 * plays))
    level = math.log(8.0 * num_arms * stage * stage) + state.log_level
    variance = max(mean * (1.0 - mean), 0.0)
    return math.sqrt(2.0 * variance * level / plays) + 7.0 * level / (
        3.0 * (plays - 1.0)
    )
