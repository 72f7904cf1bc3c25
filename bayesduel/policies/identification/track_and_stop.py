"""Track-and-Stop for Copeland winners."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.models.in_policies.scalar_betas import expected_divergence
from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.policies import scalar_kernel
from bayesduel.policies.identification import EQUAL_LAGS
from bayesduel.policies.identification._scalar_allocation import (
    Program,
    new_program,
    pair_number,
    set_sign,
    solve,
)
from bayesduel.policies.policy import Duel, KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import count_win, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_that, number_within

_MOST_ARMS = 64


@register("track-and-stop", acronym="Track-and-Stop")
class TrackAndStop(KernelPolicy):
    """Track-and-Stop: ask the pairs in the proportions that prove an answer cheapest.

    After so many duels the identification program (`theory.identification_bound`) is
    solved for the estimates, and its numbers of duels, as shares a, are tracked: the
    next pair is the one that maximizes t a_e - n_e ("D-tracking"), unless some pair was
    asked fewer than max(1, sqrt(t) - M/2) times in the t duels so far, M = K (K - 1)/2
    being the number of pairs: then the one that was asked least. So the first M duels
    are one of each pair, and from (M/2 + 1)^2 duels on more are forced. Garivier and
    Kaufmann (2016) prove for a unique answer that the number of duels is asymptotically
    the least, T* log(1/delta). With several Copeland winners each is a right answer,
    and tracking must not waver between two of them
    (Degenne and Koolen 2019): an answer is kept until another one is cheaper by the
    share ``sticky``, or it is no winner of the estimates any more. Stopping is not part
    of it: see :mod:`bayesduel.stopping`. Regret is of no interest to it.

    Deviations: the paper forces max(0, sqrt(t) - M/2) duels of a pair, none at the
    start. The shares are found anew only where the number of duels has grown by
    ``growth``, as the estimates do not move faster. A pair's evidence per duel is the
    posterior mean of KL(theta, 1/2), theta ~ Beta(wins + 1, losses + 1), which at even
    counts is not 0. Of an even pair the arm with the lower position is taken to be
    ahead, and pairs that are behind by the same number (to 1e-6) come in lexicographic
    order; both are at random in each run, as arms are relabeled. Prices of the n-th
    pair are tilted by 1 + 1e-6 sin(n), so that the optimum is unique. The guarantee of
    sticky Track-and-Stop is for confidence sets of estimates, which are left out here;
    with several winners of different cost duels are within 1/(1 - sticky) of the
    best. Nothing is proved of this form.

    Parameters
    ----------
    growth : float
        From 0, which finds the shares anew after every duel, to 1.
    sticky : float
        At least 0, below 1.

    Notes
    -----
    A program of K arms takes about K^5 operations where estimates have changed sides,
    K^4 where they have not; at most 64 arms are allowed.

    References
    ----------
    A. Garivier, E. Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
    COLT 2016, section 3. R. Degenne, W. M. Koolen, "Pure Exploration with Multiple
    Correct Answers", NeurIPS 2019.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("track-and-stop", sticky=0.2).label
    'Track-and-Stop:sticky=0.2'
    """

    growth: float = 0.05
    sticky: float = 0.1

    title: ClassVar[str] = "Track-and-Stop"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter, or too many arms."""
        kind = PolicyParameterError
        number_within(self.growth, 0, 1, "growth", kind=kind)
        rule = "from 0 to below 1"
        number_that(self.sticky, "sticky", rule, lambda each: 0 <= each < 1, kind=kind)
        if num_arms > _MOST_ARMS:
            raise PolicyParameterError(
                "num_arms",
                f"must be at most {_MOST_ARMS} for track-and-stop",
                num_arms,
                remedy="rd-ts:cost=duels takes more",
            )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> TrackAndStopKernel:
            return new_state(
                len(order), growth=float(self.growth), sticky=float(self.sticky)
            )

        return ScalarKernel("track_and_stop", initial_state)


_NOW = np.dtype(
    [
        ("growth", np.float64),
        ("sticky", np.float64),
        ("duels", np.int64),
        ("next_aim", np.int64),  # Duels at which the allocation is found anew.
        ("answer", np.int64),  # The arm that it is for; -1 before the first.
    ]
)

_PAIR = np.dtype([("wins", np.int64)])

MOST_TILT = 1e-6
"""Prices differ from one another by so much, so that one optimum is the cheapest."""


class TrackAndStopKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    # Of the duels, for every pair in lexicographic order.
    share: Float[np.ndarray, " M"]
    divergence: Float[np.ndarray, " M"]
    program: Program


def new_state(num_arms: int, *, growth: float, sticky: float) -> TrackAndStopKernel:
    """Return the state before the first duel."""
    number = num_arms * (num_arms - 1) // 2
    state = TrackAndStopKernel(
        now=np.zeros(1, dtype=_NOW),
        pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
        share=np.zeros(number),
        divergence=np.zeros(number),
        program=new_program(num_arms),
    )
    state.now["growth"], state.now["sticky"] = growth, sticky
    state.now["next_aim"], state.now["answer"] = number, -1
    return state


@inlined
def choose(state: TrackAndStopKernel, rng: Generator, round_: int) -> Duel:
    """Return the pair that was asked too seldom, or is furthest behind its share."""
    now = state.now[0]
    if now.duels >= now.next_aim:
        aim(state)
        now.next_aim = now.duels + max(1, int(now.growth * now.duels))
    first, second = _next_pair(state)
    return Duel(first, 0, first, second, True)


@compiled
def _next_pair(state: TrackAndStopKernel) -> tuple[int, int]:
    num_arms, duels = len(state.pairs), state.now[0].duels
    first, second, least, most = 0, 1, math.inf, -math.inf
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            played = state.pairs[one, other].wins + state.pairs[other, one].wins
            if played < least:
                first, second, least = one, other, played
    if least < max(1.0, math.sqrt(duels) - 0.5 * state.share.size):
        return first, second
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            most = max(most, _lag(state, one, other))
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            if _lag(state, one, other) >= most - EQUAL_LAGS:
                return one, other
    return first, second


@inlined
def _lag(state: TrackAndStopKernel, one: int, other: int) -> float:
    """Return how many duels a pair is behind its share."""
    played = state.pairs[one, other].wins + state.pairs[other, one].wins
    share = state.share[pair_number(len(state.pairs), one, other)]
    return state.now[0].duels * share - played


@compiled
def aim(state: TrackAndStopKernel) -> None:
    """Find the optimal shares for the estimates, and the answer that they are for."""
    now, program = state.now[0], state.program
    _estimate(state)
    best, cheapest = -1, math.inf
    for arm in range(len(state.pairs)):
        if _is_winner(program, arm):
            cost = solve(program, arm)
            # An answer that is nearly as cheap is kept.
            cost *= 1.0 - now.sticky if arm == now.answer else 1.0
            if cost < cheapest:
                best, cheapest = arm, cost
    if program.solved_for[0] != best:
        solve(program, best)
    now.answer = best
    total = 0.0
    for pair in range(state.share.size):
        state.share[pair] = program.evidence[pair] / state.divergence[pair]
        total += state.share[pair]
    for pair in range(state.share.size):
        state.share[pair] /= total


@compiled
def _estimate(state: TrackAndStopKernel) -> None:
    """Find who is ahead in each pair, and what a unit of evidence on it costs."""
    num_arms = len(state.pairs)
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            pair = pair_number(num_arms, one, other)
            won, lost = state.pairs[one, other].wins, state.pairs[other, one].wins
            state.divergence[pair] = expected_divergence(won + 1.0, lost + 1.0)
            tilt = 1.0 + MOST_TILT * math.sin(pair + 1.0)
            state.program.price[pair] = tilt / state.divergence[pair]
            set_sign(state.program, one, other, int(won >= lost))


@inlined
def _is_winner(program: Program, arm: int) -> bool:
    """Say whether no arm beats more others."""
    own, most = 0, 0
    for one in range(len(program.beats)):
        beaten = 0
        for other in range(len(program.beats)):
            beaten += program.beats[one, other]
        own = beaten if one == arm else own
        most = max(most, beaten)
    return own == most


@inlined
def update(
    state: TrackAndStopKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome."""
    count_win(state, rng, round_, first, second, won)
    state.now[0].duels += 1


scalar_kernel.implement(
    TrackAndStopKernel, choose=choose, update=update, recommend=recommend_most_beaten
)
