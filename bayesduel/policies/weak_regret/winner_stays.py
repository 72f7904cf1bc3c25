"""Winner Stays (Chen and Frazier 2017), for weak and for strong regret."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import among_largest, record
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.draws import raw_bits
from bayesduel.ops.scalar.series import draw_losses, take_first_rounds
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, Policy, Problem
from bayesduel.policies.registry import register
from theory.arguments import number_above
from theory.theorems import (
    strong_winner_stays_bound,
    winner_stays_bound,
    winner_stays_order_bound,
)

# Iterations of WS-W that are played round by round, before any are drawn at once
STEPPED = 4096

# Below, a walk takes so many steps that drawing it at once is no faster
LEAST_CHANCE = 0.55
NEGLIGIBLE = 1e-30  # The probability of an event that is taken to be impossible


class WinnerStaysState(NamedTuple):
    """The wins and losses of the arms, and the arms of the last round."""

    leads: Int[np.ndarray, " K"]  # C: wins minus losses.
    # The last duel, ``first`` and ``second``, -1 at the start; how far look-ahead
    # waits, in iterations; and of WS-S the iterations that are over, the self-duels
    # that are still to come, and ``length``, their number in an iteration.
    now: Any
    counts: Int[np.ndarray, "4 K"]  # For the work of look-ahead.


def start_winner_stays(num_arms: int) -> WinnerStaysState:
    """Return the state before the first round, without look-ahead."""
    return WinnerStaysState(
        leads=np.zeros(num_arms, dtype=np.int64),
        now=record(
            first=-1,
            second=-1,
            stepped=LONGEST_HORIZON,
            iterations=0,
            left=0,
            length=1.0,
        ),
        counts=np.zeros((4, num_arms), dtype=np.int64),
    )


class _WinnerStaysRule(Policy):
    """Counts wins and losses, and recommends the arm that is ahead."""

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER
    compiled = True

    def update(
        self,
        state: WinnerStaysState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count a win and a loss."""
        change = 1 if won else -1
        state.leads[first] += change
        state.leads[second] -= change

    def recommend(self, state: WinnerStaysState, rng: Generator) -> int:
        """Return the arm with the largest C."""
        return leading_arm(state, rng, -1)


@register(
    "ws-w", acronym="WS-W", theorems=(winner_stays_bound, winner_stays_order_bound)
)
class WinnerStays(_WinnerStaysRule):
    """Winner Stays for weak regret (WS-W).

    Weak regret counts the rounds in which the best arm is not one of the two: it is
    enough that the best arm is shown. WS-W lets the two arms that are most ahead meet
    until one of them falls back. The winner stays and meets the next arm. In
    expectation only finitely many rounds are without the best arm, however long the run
    is.

    Use it if it is enough that the best arm is one of the two, for instance if a reader
    sees two answers and takes the better one. If every round costs unless the best arm
    meets itself (strong regret), use ``ws-s``. WS-W never lets an arm meet itself, so
    its strong regret is the number of rounds.

    Parameters
    ----------
    look_ahead : bool
        Draw the rest of a long run at once, where that is possible; see the notes.
        Otherwise every round is played.

    Notes
    -----
    **Rule.** Every arm has a score C, the number of its wins minus the number of its
    losses. In each round:

    1. The two arms with the largest C meet.
    2. Among arms with equal C, the arms of the round before come first, and of these
       the first one before the second one. Among others one is drawn at random.
    3. The winner's C grows by 1, and the loser's C falls by 1.

    The recommendation is the arm with the largest C, with ties broken as in step 2.

    For example, all three arms of a run have C = 0 at first. Arms 0 and 1 are drawn,
    and arm 0 wins: it has C = 1, arm 1 has -1, arm 2 has 0. So arm 0 meets arm 2 next.
    If it wins again, it has C = 2, and the two others have -1.

    Two arms meet again and again until one of them has a smaller C than all arms that
    wait. This is called a *series*; the other arm stays. K - 1 series are an
    *iteration*. After iteration r the winner of its last series has C = (K - 1) r, and
    all other arms have C = -r. To replace the winner later, an arm has to make up for
    the whole difference of K r. If the winner is the best arm, this succeeds with a
    probability that falls exponentially in r. So with positive probability the best
    arm, once it is ahead, is never overtaken, and the expected weak regret is finite.

    **Assumptions.** A Condorcet winner. There are no self-duels, so strong regret grows
    linearly.

    **Look-ahead.** After 4,096 iterations the rest of the run is drawn at once. The
    conditions are that the instance is a preference matrix, that the arm that is ahead
    wins with probability 0.55 or more against each other arm, and that it will lose any
    later series with probability below 1e-30. Otherwise every round is played. See
    ``docs/theory/weak_regret.md``.

    References
    ----------
    B. Chen, P. I. Frazier, "Dueling Bandits with Weak Regret", ICML 2017, Algorithm 1.

    Examples
    --------
    >>> import bayesduel
    >>> policy = bayesduel.policies.get("ws-w", compiled=False)  # For a few rounds.
    >>> policy.label
    'WS-W'
    >>> result = bayesduel.simulate(
    ...     "cyclic", policy, num_runs=2, horizon=50, regret=["weak_binary"]
    ... )
    >>> result["regret"].sizes["run"]
    2
    """

    look_ahead: bool = True

    title: ClassVar[str] = "Winner Stays, weak regret"

    def start(self, problem: Problem, rng: Generator) -> WinnerStaysState:
        """Return zeros."""
        state = start_winner_stays(problem.num_arms)
        if self.look_ahead:
            state.now.stepped = STEPPED
        return state

    def choose(self, state: WinnerStaysState, rng: Generator, round_: int) -> Duel:
        """Choose the two arms with the largest C."""
        return next_duel(state, rng)


@register("ws-s", acronym="WS-S", theorems=(strong_winner_stays_bound,))
class StrongWinnerStays(_WinnerStaysRule):
    r"""Winner Stays for strong regret (WS-S).

    WS-S plays WS-W, which keeps weak regret small, and adds self-duels. After each
    iteration the present winner meets itself for a number of rounds that grows
    exponentially. So its strong regret is of order log T. Weak regret counts the rounds
    without the best arm. Strong regret counts the rounds in which at least one of the
    two arms is not the best one.

    Use it if weak regret matters at first, and in the end the best arm should meet
    itself, so that rounds cost nothing. If only weak regret matters, use ``ws-w``.

    Parameters
    ----------
    beta : float
        Above 1. Factor by which the number of self-duels grows from one iteration to
        the next. The theorem asks for at most p / (1 - p), where p is the smallest
        probability with which the better arm of a pair wins. Published experiments take
        1.05, the default.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** Iterations are numbered r = 1, 2, ...:

    1. Play one iteration of WS-W (:class:`WinnerStays`), with its scores and ties.
       Iteration r is over when the second largest score C is -r.
    2. The arm with the largest C meets itself :math:`\lfloor\beta^r\rfloor` times.
       These duels change no score.

    For example, with the default :math:`\beta=1.05` there is one self-duel after
    iteration 1, there are 11 after iteration 50, and 131 after iteration 100.

    **Assumptions.** A Condorcet winner, and :math:`\beta\le p/(1-p)`, where p is the
    smallest probability with which the better arm of a pair wins. The theorem also
    needs a total order of the arms.

    **Look-ahead.** The number of self-duels depends on nothing else, so they are
    skipped at once.

    References
    ----------
    B. Chen, P. I. Frazier, "Dueling Bandits with Weak Regret", ICML 2017, Algorithm 2.

    Examples
    --------
    >>> import bayesduel
    >>> policy = bayesduel.policies.get("ws-s", beta=1.2, compiled=False)
    >>> policy.label
    'WS-S:beta=1.2'
    >>> result = bayesduel.simulate(
    ...     "cyclic", policy, num_runs=2, horizon=50, regret=["weak_binary"]
    ... )
    >>> result["regret"].sizes["run"]
    2
    """

    beta: float = 1.05
    look_ahead: bool = True

    title: ClassVar[str] = "Winner Stays, strong regret"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.beta, 1, "beta", kind=PolicyParameterError)

    def start(self, problem: Problem, rng: Generator) -> WinnerStaysState:
        """Return zeros."""
        return start_winner_stays(problem.num_arms)

    def choose(self, state: WinnerStaysState, rng: Generator, round_: int) -> Duel:
        """Choose self-duels for iterations that are over, then as WS-W does."""
        now = state.now
        if now.left == 0 and iterations_over(state) > now.iterations:
            now.iterations += 1
            now.length = min(now.length * self.beta, float(LONGEST_HORIZON))
            now.left = int(now.length)
        if now.left == 0:
            return next_duel(state, rng)
        winner = leading_arm(state, rng, -1)
        if self.look_ahead:
            idle, now.left = now.left, 0
            return Duel(winner, idle, winner, winner, 0)
        now.left -= 1
        return Duel(winner, 0, winner, winner, 1)


def next_duel(state: WinnerStaysState, rng: Generator) -> Duel:
    """Return the duel of the two arms with the largest C."""
    now = state.now
    first = leading_arm(state, rng, -1)
    second = leading_arm(state, rng, first)
    now.first, now.second = first, second
    return Duel(first, 0, first, second, 1)


def leading_arm(state: WinnerStaysState, rng: Generator, opponent: int) -> int:
    """Return an arm with the largest C, of those that are not ``opponent``."""
    leads, now = state.leads, state.now
    best, most, number = -1, -float(LONGEST_HORIZON), 0
    for arm in range(len(leads)):
        if arm != opponent and leads[arm] > most:
            most = float(leads[arm])
    for arm in (now.first, now.second):
        if arm >= 0 and arm != opponent and leads[arm] == most:
            return arm
    for arm in range(len(leads)):
        if arm != opponent:
            most, number, is_drawn = among_largest(rng, leads[arm], most, number)
            if is_drawn:
                best = arm
    return best


@compiled
def iterations_over(state: WinnerStaysState) -> int:
    """Return how many iterations are over: r, where the second largest C is -r."""
    largest = second = -LONGEST_HORIZON
    for lead in state.leads:
        if lead > largest:
            largest, second = lead, largest
        else:
            second = max(second, lead)
    return -second


# --- Look-ahead of WS-W ---------------------------------------------------------------


def play_to_the_end(
    state: WinnerStaysState,
    rng: Generator,
    preferences: Float[np.ndarray, "K K"],
    ledger: Any,
    checkpoint: int,
    played: int,
) -> bool:
    """Draw the plays at all checkpoints to come, once the winner is sure."""
    # Iterations are drawn in blocks, each twice as long as the one before.
    leads, now, counts = state.leads, state.now, state.counts
    num_arms = len(leads)
    arm = now.first
    if max(leads[arm], leads[now.second]) // (num_arms - 1) < now.stepped:
        return False
    if leads[now.second] > leads[arm]:
        arm = now.second
    over = iterations_over(state)
    if leads[arm] != (num_arms - 1) * over:
        return False
    if not stays_ahead(preferences, arm, float(num_arms * over)):
        return False
    # The challenger that has lost last is the first one again.
    last = now.second if arm == now.first else now.first
    block, before = 64, 0
    while True:
        key, total = raw_bits(rng), (num_arms - 1) * block
        for rival in range(num_arms):
            counts[0, rival] = 0
            if rival != arm:
                lost = draw_losses(rng, block, preferences[arm, rival])
                counts[0, rival] = lost
                total += 2 * lost
        while ledger.checkpoints[checkpoint] - played <= total:
            wanted = ledger.checkpoints[checkpoint] - played
            take_first_rounds(counts, arm, last, before, block, wanted, key)
            # The plays so far, and those of the arm with all others since.
            for first in range(len(ledger.plays)):
                for second in range(len(ledger.plays)):
                    ledger.plays_at[checkpoint, first, second] = ledger.plays[
                        first, second
                    ]
            for rival in range(len(ledger.plays)):
                ledger.plays_at[checkpoint, arm, rival] += counts[2, rival]
            checkpoint += 1
            if checkpoint == ledger.checkpoints.size:
                return True
        for rival in range(num_arms):
            if rival != arm:
                ledger.plays[arm, rival] += block + 2 * counts[0, rival]
        played += total
        before += block
        block *= 2


@compiled
def stays_ahead(
    preferences: Float[np.ndarray, "K K"], arm: int, distance: float
) -> bool:
    """Say whether an arm loses no series any more, but for a tiny probability."""
    # In the series of iteration r + 1 it must come down by K r at least, and once more
    # by K in every later one: a gambler with the odds q / p.
    risk, num_arms = 0.0, len(preferences)
    for rival in range(num_arms):
        if rival != arm:
            chance = preferences[arm, rival]
            if chance < LEAST_CHANCE:
                return False
            odds = (1.0 - chance) / chance
            risk += odds**distance / (1.0 - odds ** float(num_arms))
    return risk < NEGLIGIBLE


scalar_kernel.implement(WinnerStaysState, play_to_the_end=play_to_the_end)
