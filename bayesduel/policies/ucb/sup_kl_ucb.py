"""Sup-KLUCB (Agrawal and Chaporkar 2019)."""

import math
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.divergences import kl_upper_log, may_reach
from bayesduel.ops.rules import among_largest, one_of_largest
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import number_from, one_of
from theory.theorems import sup_klucb_constant

SCORES = ("copeland", "condorcet", "borda")

_ROUNDING = 1e-12  # Indices that differ by less than this, relatively, are ties


class SupKLUCBState(NamedTuple):
    """Counts of the duels."""

    wins: Int[np.ndarray, "K K"]
    alone: Int[np.ndarray, " K"]  # Self-duels of every arm.
    is_borda: bool


@register("sup-klucb", acronym="Sup-KLUCB", theorems=(sup_klucb_constant,))
class SupKLUCB(Policy):
    r"""Sup-KLUCB: KL-UCB on pairs of arms, self-pairs included.

    Sup-KLUCB treats every pair of arms as one arm of an ordinary bandit, a *super-arm*.
    The mean reward of a super-arm is the product of the scores of its two arms.

    Use it only as a baseline. As printed in the paper, the rule may play a weak arm
    forever, with a probability that does not shrink as the horizon grows. In such a run
    regret is linear. The parameters ``mean_cap`` and ``min_plays`` are extensions that
    prevent this.

    Parameters
    ----------
    score : {"copeland", "condorcet", "borda"}
        The score :math:`S_i` of an arm. For "copeland" and "condorcet" it is the share
        of the other arms that i beats empirically (the Condorcet winner maximizes it,
        too). For "borda" it is the mean, over all arms, of the estimated probability
        that i beats them, where i itself counts with 1/2.
    log_scale, loglog_scale : float
        Factors in the rule: c1 is multiplied by ``log_scale``, and c2 by
        ``loglog_scale``.
    mean_cap : bool
        Extension: in round n, means above 1 - 1/(2n) are replaced by this number, so
        that no index is 1.
    min_plays : int
        Extension: plays of every super-arm before the indices decide; 1 in the paper.
    look_ahead : bool
        Skip the rounds after absorption; the duels are the same.

    Notes
    -----
    **Rule.** Every pair {i, j} with :math:`i\le j` is a super-arm with the mean
    :math:`S_i\,S_j`, where :math:`S_i` in [0, 1] is the empirical score of arm i. There
    are M = K (K + 1) / 2 super-arms. Logarithms are natural.

    1. Play every super-arm once, in lexicographic order.
    2. In round n play the super-arm with the largest index
       :math:`\max\{q:\mathrm{KL}(S_i\,S_j,q)\le b/n_{ij}\}`, where :math:`n_{ij}` is
       the number of its plays, :math:`b=c_1\log(n-M)+c_2\log(\log(n-M)+1)`,
       :math:`c_1=2/K` and :math:`c_2=3/K+40/(K-2)^2` (3/K for two arms). Ties are
       broken at random.

    **Assumptions.** Only one arm has the largest score.

    **Absorption.** Suppose that an arm beats all others in the duels so far. Then its
    self-duel has the mean 1 and the index 1, and every other index is below 1. So the
    arm meets itself forever, also if it is a weak arm that happened to win its first
    duels. This is the rule as printed. It cannot happen with Borda scores, which are
    never 1.

    **Deviations.** For the wins of a super-arm the paper prints the update W <- w; W <-
    W + w is meant. Indices are compared by -log(1 - index), so that indices close to 1
    are not rounded to 1. With late outcomes a duel counts when its outcome arrives, and
    a self-duel when it is asked for.

    **Look-ahead.** The rounds after absorption are one stretch. Before it every play
    changes the next choice, so these rounds are played one by one.

    References
    ----------
    N. Agrawal and P. Chaporkar, "KLUCB Approach to Copeland Bandits", arXiv preprint,
    2019, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("sup-klucb", log_scale=1.5).label
    'Sup-KLUCB:log_scale=1.5'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    score: str = checked("copeland", one_of, SCORES)
    log_scale: float = checked(1.0, number_from, 0)
    loglog_scale: float = checked(1.0, number_from, 0)
    mean_cap: bool = False
    min_plays: int = checked(1, number_from, 1)
    look_ahead: bool = True
    compiled = True

    title: ClassVar[str] = "KL-UCB on pairs (Sup-KLUCB)"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def start(self, problem: Problem, rng: Generator) -> SupKLUCBState:
        """Return the state before the first round."""
        num_arms = problem.num_arms
        return SupKLUCBState(
            wins=np.zeros((num_arms, num_arms), dtype=np.int64),
            alone=np.zeros(num_arms, dtype=np.int64),
            is_borda=self.score == "borda",
        )

    def choose(self, state: SupKLUCBState, rng: Generator, round_: int) -> Duel:
        """Choose the next super-arm of the sweep, or the one with the largest index."""
        num_arms = len(state.wins)
        num_pairs = num_arms * (num_arms + 1) // 2
        sweep = self.min_plays * num_pairs
        if round_ <= sweep:
            # Super-arms i <= j are numbered in lexicographic order.
            number, first = (round_ - 1) % num_pairs, 0
            while number >= num_arms - first:
                number -= num_arms - first
                first += 1
            second = first + number
            state.alone[first] += first == second
            return Duel(first, 0, first, second, True)
        bound = exploration_bound(
            round_ - sweep, num_arms, self.log_scale, self.loglog_scale
        )
        scores = empirical_scores(state.wins, state.is_borda)
        cap = 1.0 - 0.5 / round_ if self.mean_cap else 1.0
        first, second = most_optimistic(rng, state, scores, cap, bound)
        is_absorbed = first == second and min(scores[first] ** 2, cap) == 1.0
        if is_absorbed and self.look_ahead:
            return Duel(first, LONGEST_HORIZON, first, first, False)
        state.alone[first] += first == second
        return Duel(first, 0, first, second, True)

    def update(
        self,
        state: SupKLUCBState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count the outcome."""
        winner, loser = (first, second) if won else (second, first)
        state.wins[winner, loser] += 1

    def recommend(self, state: SupKLUCBState, rng: Generator) -> int:
        """Return an arm with the largest score; ties at random."""
        return one_of_largest(rng, empirical_scores(state.wins, state.is_borda))


def exploration_bound(
    rounds: int, num_arms: int, log_scale: float, loglog_scale: float
) -> float:
    """Return b = c1 log r + c2 log(log r + 1) in the r-th round after the sweep."""
    c1, c2 = 2.0 / num_arms, 3.0 / num_arms
    if num_arms > 2:
        c2 += 40.0 / (num_arms - 2) ** 2
    log_rounds = math.log(float(rounds))
    return c1 * log_scale * log_rounds + c2 * loglog_scale * math.log1p(log_rounds)


def empirical_scores(
    wins: Int[np.ndarray, "K K"], is_borda: bool
) -> Float[np.ndarray, " K"]:
    """Return S_i of every arm."""
    num_arms = len(wins)
    scores = np.zeros(num_arms)
    for arm in range(num_arms):
        for opponent in range(num_arms):
            won, lost = wins[arm, opponent], wins[opponent, arm]
            if is_borda:
                scores[arm] += won / (won + lost) if won + lost > 0 else 0.5
            else:
                scores[arm] += won > lost
        scores[arm] /= num_arms if is_borda else num_arms - 1
    return scores


def most_optimistic(
    rng: Generator,
    state: SupKLUCBState,
    scores: Float[np.ndarray, " K"],
    cap: float,
    bound: float,
) -> tuple[int, int]:
    """Return the super-arm with the largest index; ties at random."""
    best, largest, number = (0, 0), -1.0, 0
    for first in range(len(scores)):
        for second in range(first, len(scores)):
            plays = state.wins[first, second] + state.wins[second, first]
            if first == second:
                plays = state.alone[first]
            mean = min(scores[first] * scores[second], cap)
            level = bound / max(plays, 1)
            if largest > 0.0 and not may_reach(mean, 1.0 - mean, level, largest):
                continue
            index = kl_upper_log(mean, 1.0 - mean, level)
            if largest * (1.0 - _ROUNDING) <= index <= largest * (1.0 + _ROUNDING):
                index = largest
            largest, number, leads = among_largest(rng, index, largest, number)
            if leads:
                best = first, second
    return best
