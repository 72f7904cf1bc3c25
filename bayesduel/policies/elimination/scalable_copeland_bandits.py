"""Scalable Copeland Bandits (Zoghi, Karnin, Whiteson and de Rijke 2015)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.divergences import bernoulli_kl, kl_lower, kl_to_half
from bayesduel.ops.rules import among_largest, most_beaten, record
from bayesduel.policies.policy import Duel, Policy, Problem, Wins, checked
from bayesduel.policies.registry import register
from theory.arguments import integer_from, number_above, number_from, one_of

NOBODY = -1


class Elimination(NamedTuple):
    """Where the search stands."""

    # 1 where the row was found better than the column, -1 worse, 0 undecided.
    signs: Int[np.ndarray, "K K"]
    remaining: Bool[np.ndarray, " K"]
    rewards: Int[np.ndarray, " K"]
    opponents: Int[np.ndarray, " K"]  # Whom each arm is compared with in this stage.
    pending: Bool[np.ndarray, " K"]  # Remaining arms without a reward in this stage.
    # The ``arm`` that waits for its reward first, -1 if none does, and the ``duels`` of
    # its pair so far with its ``wins``; the ``stage`` s, from 1: how many rewards each
    # remaining arm will have after it; the ``answer``, the winner found, or -1.
    now: Any


def new_search(num_arms: int) -> Elimination:
    """Return room for a search, which :func:`begin_search` begins."""
    return Elimination(
        signs=np.zeros((num_arms, num_arms), dtype=np.int64),
        remaining=np.zeros(num_arms, dtype=bool),
        rewards=np.zeros(num_arms, dtype=np.int64),
        opponents=np.zeros(num_arms, dtype=np.int64),
        pending=np.zeros(num_arms, dtype=bool),
        now=record(arm=NOBODY, wins=0, duels=0, stage=1, answer=NOBODY),
    )


def begin_search(search: Elimination, rng: Generator) -> None:
    """Forget everything."""
    search.signs.fill(0)
    search.remaining.fill(True)
    search.rewards.fill(0)
    search.now.stage, search.now.answer = 1, NOBODY
    begin_stage(search, rng)


def begin_stage(search: Elimination, rng: Generator) -> None:
    """Let every remaining arm wait for a reward."""
    for arm in range(len(search.opponents)):
        search.pending[arm] = search.remaining[arm]
    draw_opponents(search.opponents, rng)
    hand_out(search)


def draw_opponents(opponents: Int[np.ndarray, " K"], rng: Generator) -> None:
    """Draw for every arm another one, all equally likely."""
    for arm in range(len(opponents)):
        drawn = rng.integers(len(opponents) - 1)
        opponents[arm] = drawn + (drawn >= arm)


def hand_out(search: Elimination) -> None:
    """Give their rewards to the arms whose pairs are decided; name who waits."""
    now = search.now
    now.arm, now.wins, now.duels = NOBODY, 0, 0
    for arm in range(len(search.pending)):
        if search.pending[arm]:
            sign = search.signs[arm, search.opponents[arm]]
            search.rewards[arm] += sign > 0
            search.pending[arm] = sign == 0
            if sign == 0 and now.arm == NOBODY:
                now.arm = arm


def decide(search: Elimination) -> None:
    """Store who is better of the pair that is dueled."""
    arm = search.now.arm
    opponent = search.opponents[arm]
    sign = 1 if 2 * search.now.wins > search.now.duels else -1
    search.signs[arm, opponent], search.signs[opponent, arm] = sign, -sign
    hand_out(search)


def end_stage(search: Elimination, rng: Generator, level: float, eps: float) -> None:
    """Eliminate arms and go on, or answer."""
    # Bounds of one stage are monotone in the mean. "u_i < L" and "1 - L <= (1 + eps)(1
    # - U)" are decided by the divergence, without inverting it.
    stage, num_arms = search.now.stage, len(search.remaining)
    means, best = np.zeros(num_arms), 0.0
    for arm in range(num_arms):
        if search.remaining[arm]:
            means[arm] = search.rewards[arm] / stage
            best = max(best, means[arm])
    is_close, number = False, 0
    if stage > 1:  # With a single reward the bounds are 0 and 1.
        width = level / stage
        lowest = kl_lower(best, width)
        for arm in range(num_arms):
            if means[arm] < lowest and bernoulli_kl(means[arm], lowest) > width:
                search.remaining[arm] = False
        rest = 1.0 - (1.0 - lowest) / (1.0 + eps)
        is_close = rest >= best and bernoulli_kl(best, rest) >= width
    for arm in range(num_arms):
        number += search.remaining[arm]
    is_known = are_signs_known(search)
    if is_close or is_known or number == 1:
        search.now.answer = best_arm(search, rng, means, is_known)
        search.pending.fill(False)
    else:
        search.now.stage += 1
        begin_stage(search, rng)


def are_signs_known(search: Elimination) -> bool:
    """Say whether all duels of the remaining arms are decided."""
    for arm in range(len(search.remaining)):
        for opponent in range(len(search.remaining)):
            if (
                search.remaining[arm]
                and opponent != arm
                and search.signs[arm, opponent] == 0
            ):
                return False
    return True


def best_arm(
    search: Elimination, rng: Generator, means: Float[np.ndarray, " K"], is_known: bool
) -> int:
    """Return the remaining arm that beats most others, or has the largest mean."""
    best, largest, number = 0, -1.0, 0
    for arm in range(len(means)):
        if search.remaining[arm]:
            score = means[arm]
            if is_known:
                score = 0.0
                for opponent in range(len(means)):
                    score += search.signs[arm, opponent] > 0
            largest, number, leads = among_largest(rng, score, largest, number)
            if leads:
                best = arm
    return best


_NEWTON_STEPS = 5


class ScalableCopelandBanditsState(NamedTuple):
    """Counts for the recommendation, and the epoch."""

    wins: Int[np.ndarray, "K K"]
    search: Elimination
    # Its ``length`` T_r, a float, as its square may be beyond integers, and the rounds
    # that had been played when it had ``begun``.
    epoch: Any
    alpha_ref: float  # For the rule "reference"; 0 for other rules.


@register("scb", acronym="SCB")
class ScalableCopelandBandits(Policy):
    r"""Scalable Copeland Bandits (SCB).

    SCB plays in epochs of growing length. In each epoch it forgets all earlier
    outcomes, searches for a Copeland winner by successive elimination, and lets the arm
    that it found meet itself for the rest of the epoch. It was made for many arms.

    Use it as a baseline with many arms. With 500 arms and :math:`10^5` rounds it has
    hardly begun to exclude arms, and D-TS has less regret.

    Parameters
    ----------
    eps : float
        The search may stop when 1 - L <= (1 + eps)(1 - U) for the largest lower and
        upper bounds L and U; 0 in the paper.
    alpha_ref : float
        Factor of the stopping rule "reference".
    first_length : int
        Rounds of the first epoch, at least 2.
    stop_rule : {"anytime", "reference"}
        How much evidence decides a pair: "anytime" or "reference"; see the notes.
    look_ahead : bool
        Ask for many rounds at once; the duels are the same.

    Notes
    -----
    **Rule.** Epochs have 4, 16, 256, 65536, ... rounds, each the square of the one
    before. In an epoch of T rounds:

    1. *Forget* all outcomes of earlier epochs.
    2. *Search* for a Copeland winner with failure probability :math:`\delta=\log(T)/T`.
       The search is a successive elimination with KL bounds on the rewards of arms. To
       get a reward of an arm, draw another arm uniformly. The reward is 1 if the first
       one beats it, and 0 otherwise. Whether it beats the other is decided by duels of
       the pair, as many as are needed for an error of at most :math:`\delta/K^2`. A
       pair that is decided needs no more duels in this epoch.
    3. *Exploit.* The arm that was found meets itself for the rest of the epoch.

    With several Copeland winners elimination never ends. So the search also ends at the
    end of a stage if all pairs of the remaining arms are decided. Arms get their
    rewards in the order of their positions. Ties for the arm that is found, and for the
    recommendation, are broken at random. The recommendation is the arm that beats the
    most others by the duels of all epochs.

    **When evidence decides.** The paper only asks for "enough duels".

    - ``stop_rule="anytime"``: a pair is decided when
      :math:`n\,\mathrm{KL}(p,1/2)>\log(\pi^2n^2K^2/(3\delta))` after n duels with the
      share p. The bounds after s rewards use :math:`\log(4sK/\delta)+2\log\log s`.
    - ``stop_rule="reference"``: the decision about a pair and the bounds on rewards
      both use ``alpha_ref`` times :math:`\log(4tK)+2\max(1,\log\max(1,\log t))`, as in
      the program of Wu and Liu (2016). For a pair t is the number of rounds of the
      epoch so far, for the bounds it is T.

    **Assumptions.** No pair may tie. A Condorcet winner is not needed.

    **Look-ahead.** The policy asks at once for as many duels of a pair as can be played
    before the pair could be decided. The rest of an epoch is one stretch.

    References
    ----------
    M. Zoghi, Z. Karnin, S. Whiteson, M. de Rijke, "Copeland Dueling Bandits", NIPS
    2015, Algorithms 2, 3 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scb", eps=1.0).label
    'SCB:eps=1.0'
    """

    assumes = (FIXED_PREFERENCES,)

    eps: float = checked(0.0, number_from, 0)
    alpha_ref: float = checked(0.51, number_above, 0)
    first_length: int = checked(4, integer_from, 2)
    stop_rule: str = checked("anytime", one_of, ("anytime", "reference"))
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "Scalable Copeland Bandits"
    explores_in_bulk: ClassVar[bool] = True

    def start(self, problem: Problem, rng: Generator) -> ScalableCopelandBanditsState:
        """Begin the first epoch."""
        num_arms = problem.num_arms
        search = new_search(num_arms)
        begin_search(search, rng)
        return ScalableCopelandBanditsState(
            wins=np.zeros((num_arms, num_arms), dtype=np.int64),
            search=search,
            epoch=record(length=float(self.first_length), begun=0),
            alpha_ref=self.alpha_ref if self.stop_rule == "reference" else 0.0,
        )

    def choose(
        self, state: ScalableCopelandBanditsState, rng: Generator, round_: int
    ) -> Duel:
        """Choose the pair to be decided, or the arm that was found."""
        search, epoch, now = state.search, state.epoch, state.search.now
        if rounds_left(state, round_) <= 0:
            epoch.length, epoch.begun = epoch.length * epoch.length, round_ - 1
            begin_search(search, rng)
        left, rounds, arm = rounds_left(state, round_), 1, now.answer
        if arm == NOBODY:
            arm = now.arm
            if self.look_ahead:
                # It only grows: later duels of the pair need no less.
                level = sign_level(state, round_, now.duels + 1)
                rounds = min(duels_without_decision(now.wins, now.duels, level), left)
            return Duel(arm, 0, arm, int(search.opponents[arm]), rounds)
        if self.look_ahead:
            return Duel(arm, left, arm, arm, 0)
        return Duel(arm, 0, arm, arm, 1)

    def update(
        self,
        state: ScalableCopelandBanditsState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: Wins,
    ) -> None:
        """Count the outcomes and move the search on.

        What an earlier epoch or pair asked for says nothing to this one.
        """
        state.wins[first, second] += won.won
        state.wins[second, first] += won.rounds - won.won
        search, now = state.search, state.search.now
        if round_ <= state.epoch.begun or now.arm == NOBODY or first != now.arm:
            return
        if second != search.opponents[first]:
            return
        now.wins += won.won
        now.duels += won.rounds
        if evidence(now.wins, now.duels) > sign_level(state, round_, now.duels):
            decide(search)
            while now.arm == NOBODY and now.answer == NOBODY:
                end_stage(search, rng, stage_level(state), self.eps)

    def recommend(self, state: ScalableCopelandBanditsState, rng: Generator) -> int:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng, state.wins, np.ones(len(state.wins), dtype=np.bool_))


def rounds_left(state: ScalableCopelandBanditsState, round_: int) -> int:
    """Return how many rounds of the epoch there are from ``round_`` on."""
    length = int(min(state.epoch.length, float(LONGEST_HORIZON)))
    return length - (round_ - 1 - state.epoch.begun)


def evidence(wins: int, duels: int) -> float:
    """Return n d(w/n, 1/2), 0 before any duel."""
    return duels * kl_to_half(abs(0.5 * (2 * wins - duels) / max(duels, 1)))


def duels_without_decision(wins: int, duels: int, level: float) -> int:
    """Return how many more duels there are before the evidence may exceed a level."""
    # None of the first k - 1 duels can decide while, with 2 w >= n, F(k) = (n + k) d((w
    # + k)/(n + k), 1/2) <= level. F is convex and increasing; Pinsker's inequality
    # gives a start to the right of the root. The result is rather one too small than
    # too large.
    ahead = max(wins, duels - wins)
    number, lead = float(duels), float(2 * ahead - duels)
    # A lead carries more than the one, no number of duels more than the other; levels
    # outside would underflow or overflow.
    level = min(max(level, 1e-30), float(LONGEST_HORIZON) / 4.0)
    more = level - lead + math.sqrt(level * level + 2.0 * level * (number - lead))
    for _ in range(_NEWTON_STEPS):
        total = number + more
        gap = min(0.5 * (lead + more) / total, 0.5)
        more -= (total * kl_to_half(gap) - level) / math.log1p(2.0 * gap)
    rounds = max(int(more), 1)
    return rounds if evidence(ahead + rounds - 1, duels + rounds - 1) <= level else 1


def sign_level(state: ScalableCopelandBanditsState, round_: int, duels: int) -> float:
    """Return the evidence that decides a pair in a round, after so many duels."""
    if state.alpha_ref > 0.0:
        return reference_level(state, float(round_ - state.epoch.begun))
    # log(pi^2 n^2 K^2 / (3 delta)); people may have answered nothing.
    number = math.pi * max(duels, 1) * len(state.wins)
    return 2.0 * math.log(number) - math.log(3.0 * doubt(state))


def stage_level(state: ScalableCopelandBanditsState) -> float:
    """Return the level of the confidence bounds after s rewards each, times s."""
    if state.alpha_ref > 0.0:
        return reference_level(state, state.epoch.length)
    # Bounds are used from the second reward on.
    stage = max(state.search.now.stage, 2)
    level = math.log(4.0 * stage * len(state.wins) / doubt(state))
    return level + 2.0 * math.log(math.log(stage))


def doubt(state: ScalableCopelandBanditsState) -> float:
    """Return delta = log(T)/T."""
    return math.log(state.epoch.length) / state.epoch.length


def reference_level(state: ScalableCopelandBanditsState, rounds: float) -> float:
    """Return alpha_ref (log(4 t K) + 2 max(1, log max(1, log t)))."""
    slow = math.log(max(1.0, math.log(rounds)))
    fast = math.log(4.0 * rounds * len(state.wins))
    return state.alpha_ref * (fast + 2.0 * max(1.0, slow))
