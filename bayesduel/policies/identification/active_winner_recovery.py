"""PARWiS (Sheth and Rajkumar 2021): a winner by a few duels per arm."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import drawn_highest, inverted, record
from bayesduel.policies.policy import Policy, Problem
from bayesduel.policies.registry import register

# Relative difference of scores, or of changes of them, that rounding may make
_EQUAL = 1e-9


class ActiveWinnerState(NamedTuple):
    """Counts, and how far the first pass over the arms has come."""

    wins: Int[np.ndarray, "K K"]
    # The ``king``, who won the last duel of the first pass, and how many arms have
    # ``met`` another one in it.
    now: Any


class Chain(NamedTuple):
    """The Markov chain of Rank Centrality, with a virtual arm as the last state."""

    # [i, j]: probability of a step from i to j, i and j different.
    moves: Float[np.ndarray, "N N"]
    scores: Float[np.ndarray, " N"]  # Its stationary distribution.
    # (I - P + 1 1^T / N)^-1; the stationary distribution is its mean row.
    inverse: Float[np.ndarray, "N N"]


@register("parwis", acronym="PARWiS")
class ActiveWinnerRecovery(Policy):
    r"""PARWiS: challenge the top arm where the answer would change scores most.

    PARWiS guesses the best arm after very few duels. It computes a score for every arm
    (Rank Centrality). The arm with the largest score meets the opponent whose duel with
    it is expected to change the scores most.

    Use it for budgets of two or three duels per arm under Bradley-Terry preferences.
    With five duels per arm or more, ``bt-ts:self_duels=false`` names the best arm more
    often.

    Notes
    -----
    **Rule.** K is the number of arms.

    1. *First duels.* Play K - 1 duels: arm 2 against arm 1, and each further arm
       against the winner of the duel before.
    2. *Scores.* The scores :math:`\pi` are the stationary distribution of a Markov
       chain on the arms. From arm i it moves to j with probability
       :math:`w_{ji}/(n_{ij}\,K)`, where j won :math:`w_{ji}` of the :math:`n_{ij}`
       duels of the two. So it moves to arms that win. A virtual arm, which has won and
       lost one duel with every arm, connects all arms.
    3. *Pair.* In every further round, the arm a with the largest score meets the arm b
       with the largest expected change of the scores. This is
       :math:`(\pi_a\,d_{ab}+\pi_b\,d_{ba})/(\pi_a+\pi_b)`, where :math:`d_{ab}` is the
       Euclidean distance, over all K + 1 states, between the present scores and those
       after one more duel of a and b that a wins.

    Ties, to a relative 1e-9, are broken at random. The recommendation is the arm with
    the largest score. Let P be the transition matrix. An outcome changes I - P by a
    matrix of rank one. So after one matrix inversion the changes for the two outcomes
    of a pair take K operations each, and a round takes about :math:`K^3` operations.

    **Assumptions.** Bradley-Terry probabilities. With other preferences the scores need
    not rank a Copeland winner first, however many duels there are. No theorem bounds
    the probability of a wrong answer.

    **Deviation.** The arms come in random order in each run.

    **Look-ahead.** None: every round gives information.

    References
    ----------
    D. Y. Sheth, A. Rajkumar, "PARWiS: Winner Determination from Active Pairwise
    Comparisons under a Shoestring Budget", ICDM 2021; constants, the virtual arm and
    the weights are those of the authors' program (exact update, weighted average). S.
    Negahban, S. Oh, D. Shah, "Rank Centrality: Ranking from Pairwise Comparisons",
    Operations Research 65(1), 2017.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("parwis", every=8).label
    'PARWiS, told every 8 rounds'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    compiled = True

    title: ClassVar[str] = "PARWiS"

    def start(self, problem: Problem, rng: Generator) -> ActiveWinnerState:
        """Return the state before the first round."""
        wins = np.zeros((problem.num_arms, problem.num_arms), dtype=np.int64)
        return ActiveWinnerState(wins=wins, now=record(king=0, met=1))

    def choose(
        self, state: ActiveWinnerState, rng: Generator, round_: int
    ) -> tuple[int, int]:
        """Take the next arm of the first pass, or the challenger of the top arm."""
        now = state.now
        if now.met < len(state.wins):
            now.met += 1
            return now.king, now.met - 1
        chain = chain_of(state.wins)
        top = drawn_highest(rng, chain.scores[:-1], _EQUAL)
        changes = expected_changes(chain, state.wins, top)
        return top, drawn_highest(rng, changes, _EQUAL)

    def update(
        self,
        state: ActiveWinnerState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count the outcome; in the first pass the winner stays."""
        winner, loser = (first, second) if won else (second, first)
        state.wins[winner, loser] += 1
        # The duels of the first pass are the rounds up to K - 1.
        if round_ < len(state.wins):
            state.now.king = winner

    def recommend(self, state: ActiveWinnerState, rng: Generator) -> int:
        """Return the arm with the largest score, at random among equal ones."""
        return drawn_highest(rng, chain_of(state.wins).scores[:-1], _EQUAL)


def chain_of(wins: Int[np.ndarray, "K K"]) -> Chain:
    """Return the chain of counts, its stationary distribution and its inverse."""
    num_arms = len(wins)
    size = num_arms + 1
    # With the virtual arm every arm has won and lost one duel.
    moves = np.full((size, size), 0.5 / num_arms)
    for i in range(num_arms):
        for j in range(num_arms):
            duels = max(wins[i, j] + wins[j, i], 1)
            moves[i, j] = wins[j, i] / duels / num_arms
    system = np.empty((size, size))
    for i in range(size):
        moves[i, i] = 0.0
        for j in range(size):
            system[i, j] = 1.0 / size - moves[i, j]
        system[i, i] += moves[i].sum()
    inverse = inverted(system)
    scores = np.zeros(size)
    for row in inverse:
        for arm in range(size):
            scores[arm] += row[arm] / size
    return Chain(moves=moves, scores=scores, inverse=inverse)


def expected_changes(
    chain: Chain, wins: Int[np.ndarray, "K K"], top: int
) -> Float[np.ndarray, " K"]:
    """Return what a duel of the top arm with each arm is expected to change."""
    # -1 of itself. One more duel makes steps from ``top`` to an arm more likely by d,
    # those back by e. I - P changes by x y^T, x being d at ``top`` and -e at the arm, y
    # 1 at ``top`` and -1 at the arm. By Sherman and Morrison pi' = 1^T Z' / N is away
    # from pi by a multiple of the difference of two rows of Z.
    scores, inverse = chain.scores, chain.inverse
    changes = np.full(len(wins), -1.0)
    for arm in range(len(wins)):
        if arm == top:
            continue
        squares = 0.0
        for row in range(len(scores)):
            squares += (inverse[top, row] - inverse[arm, row]) ** 2
        won, lost = wins[top, arm], wins[arm, top]
        if_won = multiple(chain, top, arm, won + 1, lost)
        if_lost = multiple(chain, top, arm, won, lost + 1)
        weighted = scores[top] * if_won + scores[arm] * if_lost
        changes[arm] = weighted / (scores[top] + scores[arm]) * math.sqrt(squares)
    return changes


def multiple(chain: Chain, top: int, arm: int, won: int, lost: int) -> float:
    """Return by how many differences of rows pi changes with so many duels."""
    scores, inverse = chain.scores, chain.inverse
    weight = 1.0 / (won + lost) / (len(scores) - 1)
    steps = lost * weight - chain.moves[top, arm]
    back = won * weight - chain.moves[arm, top]
    at_top = inverse[top, top] - inverse[arm, top]
    at_arm = inverse[top, arm] - inverse[arm, arm]
    factor = scores[top] * steps - scores[arm] * back
    return abs(factor / (1.0 + at_top * steps - at_arm * back))
