"""D-optimal pairs: where the next vote tells most of all utilities together."""

import math
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.rules import drawn_highest, inverted
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.policy import LIKELY_ANSWERS, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import number_above

_MOST_STEPS = 200
_SMALL = 1e-10  # Largest change of a utility in the last step of Newton's method


class DOptimalState(NamedTuple):
    """Counts, and the Bradley-Terry posterior after them."""

    wins: Int[np.ndarray, "K K"]
    utilities: Float[np.ndarray, " K"]  # Where the posterior density is largest.
    # The inverse of the information there: of the votes, and of the prior.
    covariance: Float[np.ndarray, "K K"]


@register("d-optimal", acronym="D-optimal")
class DOptimal(Policy):
    r"""D-optimal design: the pair that most increases the log determinant.

    D-optimal chooses pairs so that the utilities of all arms of a Bradley-Terry model
    are estimated as precisely as possible, as a leaderboard needs them. Precision is
    measured by the determinant of the information matrix, for all utilities together.

    Use it for a whole ranking. To find the best arm, or for small regret, other
    policies ask better questions.

    Parameters
    ----------
    prior_scale : float
        Standard deviation s of a utility, positive.

    Notes
    -----
    **Rule.** Under Bradley-Terry, arm i beats arm j with probability
    :math:`p_{ij}=1/(1+\exp(u_j-u_i))`. The prior of the utilities u is independent and
    normal with standard deviation s. The information at the mode of the posterior is
    the matrix :math:`M=I/s^2+\sum p_{ij}(1-p_{ij})(e_i-e_j)(e_i-e_j)^T`, a sum over the
    votes, with unit vectors :math:`e_i`. In each round:

    1. Compute for every pair how much one more vote would add to :math:`\log\det M`.
       This is :math:`\log(1+p_{ij}(1-p_{ij})d_{ij})`, where :math:`d_{ij}` is the
       posterior variance of :math:`u_i-u_j`.
    2. Compare the pair with the largest gain. Ties, to a relative 1e-9, are broken at
       random.

    The recommendation is the arm with the largest utility. A round takes about
    :math:`K^3` operations.

    **Assumptions.** Bradley-Terry preferences. Every round is a duel of different arms,
    so regret grows linearly.

    **Look-ahead.** None: every round gives information.

    References
    ----------
    U. Grasshoff, R. Schwabe, "Optimal design for the Bradley-Terry paired comparison
    model", Statistical Methods and Applications 17, 2008: the criterion. Y. Guo, P.
    Tian, J. Kalpathy-Cramer, S. Ostmo, J. P. Campbell, M. F. Chiang, D. Erdogmus, J.
    Dy, S. Ioannidis, "Experimental Design under the Bradley-Terry Model", IJCAI 2018:
    greedy choice of pairs. The rule that chooses greedily after every vote, with the
    information of the votes so far, is ours.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("d-optimal", prior_scale=1).label
    'D-optimal:prior_scale=1.0'
    """

    assumes = (FIXED_PREFERENCES,)

    compiled = True

    title: ClassVar[str] = "D-optimal pairs"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    prior_scale: float = checked(2.0, number_above, 0)

    def start(self, problem: Problem, rng: Generator) -> DOptimalState:
        """Return the state before the first round."""
        num_arms = problem.num_arms
        return DOptimalState(
            wins=np.zeros((num_arms, num_arms), dtype=np.int64),
            utilities=np.zeros(num_arms),
            covariance=np.eye(num_arms) * self.prior_scale**2,
        )

    def choose(
        self, state: DOptimalState, rng: Generator, round_: int
    ) -> tuple[int, int]:
        """Take the pair whose next vote tells most."""
        num_arms = len(state.wins)
        gains = np.full(num_arms * num_arms, -1.0)
        for first in range(num_arms):
            for second in range(first + 1, num_arms):
                gap = state.utilities[first] - state.utilities[second]
                spread = (
                    state.covariance[first, first]
                    + state.covariance[second, second]
                    - 2.0 * state.covariance[first, second]
                )
                gains[first * num_arms + second] = information(gap) * spread
        pair = drawn_highest(rng, gains, EQUAL_GAINS)
        return pair // num_arms, pair % num_arms

    def update(
        self,
        state: DOptimalState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Count the vote, and follow the mode of the posterior."""
        winner, loser = (first, second) if won else (second, first)
        state.wins[winner, loser] += 1
        follow_mode(state.wins, self.prior_scale, state.utilities, state.covariance)

    def recommend(self, state: DOptimalState, rng: Generator) -> int:
        """Return the arm with the largest utility, at random among equal ones."""
        return drawn_highest(rng, state.utilities, EQUAL_GAINS)


def information(gap: float) -> float:
    """Return p (1 - p) for the probability p of a win at such a gap of utilities."""
    small = math.exp(-abs(gap))
    return small / (1.0 + small) ** 2


def follow_mode(
    wins: Int[np.ndarray, "K K"],
    scale: float,
    utilities: Float[np.ndarray, " K"],
    covariance: Float[np.ndarray, "K K"],
) -> None:
    """Go to the mode by Newton's method, and take the inverse information there."""
    # A step is cut where a utility would change by more than 1: others can overshoot.
    num_arms = len(wins)
    for _ in range(_MOST_STEPS):
        slope, curvature = derivatives(wins, scale, utilities)
        inverse = inverted(curvature)
        step, largest = np.zeros(num_arms), 0.0
        for arm in range(num_arms):
            for opponent in range(num_arms):
                covariance[arm, opponent] = inverse[arm, opponent]
                step[arm] += inverse[arm, opponent] * slope[opponent]
            largest = max(largest, abs(step[arm]))
        if largest < _SMALL:
            return
        factor = min(1.0, 1.0 / largest)
        for arm in range(num_arms):
            utilities[arm] += factor * step[arm]


def derivatives(
    wins: Int[np.ndarray, "K K"], scale: float, utilities: Float[np.ndarray, " K"]
) -> tuple[Float[np.ndarray, " K"], Float[np.ndarray, "K K"]]:
    """Return the slope of the log posterior density, and minus its curvature."""
    num_arms = len(wins)
    slope = np.zeros(num_arms)
    curvature = np.zeros((num_arms, num_arms))
    for arm in range(num_arms):
        slope[arm] -= utilities[arm] / scale**2
        curvature[arm, arm] += 1.0 / scale**2
        for opponent in range(num_arms):
            if opponent == arm:
                continue
            gap = utilities[arm] - utilities[opponent]
            duels = wins[arm, opponent] + wins[opponent, arm]
            slope[arm] += wins[arm, opponent] - duels / (1.0 + math.exp(-gap))
            curvature[arm, arm] += duels * information(gap)
            curvature[arm, opponent] -= duels * information(gap)
    return slope, curvature
