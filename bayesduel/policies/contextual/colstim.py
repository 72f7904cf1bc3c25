"""CoLSTIM (Bengs, Saha and Hüllermeier 2022): imitate the feedback, then challenge."""

import math
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.ops.rules import among_largest, record
from bayesduel.policies.contextual.estimation import (
    gap_norm,
    log_width,
    products,
    utilities,
)
from bayesduel.policies.contextual.linear_policy import LinearPolicy, LinearState
from bayesduel.policies.policy import DRAWS, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import integer_from, number_from, one_of


@register("colstim", acronym="CoLSTIM")
class CoLSTIM(LinearPolicy):
    r"""CoLSTIM: imitate the feedback process, then challenge its winner.

    CoLSTIM is for arms with features. The first arm is the winner of a simulated
    choice, in which random noise is added to the estimated utility of each arm, as in
    the model of the votes. The second arm is the one whose possible lead over the first
    one is largest.

    Use it if arms have features, utilities are about linear in them, and it is enough
    that one arm of the pair is good (weak regret).

    Parameters
    ----------
    width : float
        The factor c, as a multiple of :math:`\sqrt{d\log T}`, with the natural
        logarithm of the horizon; 2 in the program of Di et al.
    explored : int
        The number :math:`\tau` of rounds with random pairs at the beginning; -1 means d
        K.
    shared : {"early", "late"}
        With which probability all arms share one perturbation: p_t if "early", 1 - p_t
        if "late".
    ridge : float
        The penalty :math:`\lambda`, above 0.

    Notes
    -----
    **Rule.** Arm i has the features :math:`x_i`, of length d. For every past duel let z
    be the features of its first arm minus those of its second one. :math:`|v|_{V^{-1}}`
    stands for :math:`\sqrt{v^\top V^{-1}v}`. The first :math:`\tau` rounds show random
    pairs. Then, in every round:

    1. *Estimate.* Fit :math:`\hat\theta` to all duels by maximum likelihood, with the
       penalty :math:`\lambda|\theta|^2/2`, and compute :math:`V=\lambda I+\sum
       zz^\top`.
    2. *Noise.* Draw perturbations :math:`\epsilon_k` from the standard Gumbel
       distribution, cut to :math:`\pm\sqrt{d\log T}`. With probability
       :math:`p_t=\min(1,d\log(dT)/\sqrt t)` all arms share one perturbation, otherwise
       each arm has its own.
    3. *First arm.* It is the arm i with the largest
       :math:`x_k^\top\hat\theta+\epsilon_k|x_k|_{V^{-1}}`.
    4. *Second arm.* It is the arm with the largest
       :math:`(x_k-x_i)^\top\hat\theta+c\,|x_k-x_i|_{V^{-1}}`. It may be i itself; then
       the round gives no information.

    Ties are broken at random. The recommendation is the arm with the largest estimated
    utility in the last round.

    **Assumptions.** Utilities :math:`x^\top\theta`, and a logistic link. The weak
    regret is :math:`\tilde O(\sqrt{dT})` (abstract of the paper).

    **Sources differ.** The probability :math:`p_t` is that of the program of Di et al.
    In that program arms share a perturbation with this probability, and no round is
    spent on random pairs. Another public program does the opposite: arms share one with
    probability :math:`1-p_t`. A third has :math:`\tau=dK`. Only the first pages of the
    paper were at hand.

    **Large horizons.** :math:`\hat\theta` is exact for up to 10,000 duels or, with
    fixed features, for up to 10,000 different pairs. Older duels enter by a quadratic
    approximation of their log likelihood.

    **Look-ahead.** None: every duel changes the estimate.

    References
    ----------
    V. Bengs, A. Saha, E. Hüllermeier, "Stochastic Contextual Dueling Bandits under
    Linear Stochastic Transitivity Models", ICML 2022.

    Q. Di, T. Jin, Y. Wu, H. Zhao, F. Farnoud, Q. Gu, "Variance-aware Regret Bounds for
    Stochastic Contextual Dueling Bandits", ICLR 2024: the program.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("colstim", shared="late").label
    'CoLSTIM:shared=late'
    """

    width: float = checked(1.0, number_from, 0.0)
    explored: int = checked(-1, integer_from, -1)
    shared: str = checked("early", one_of, ("early", "late"))
    title: ClassVar[str] = "CoLSTIM"
    in_batches: ClassVar[str] = DRAWS

    def numbers(self, size: int, problem: Problem) -> Any:
        """Return the widths, the rounds of exploration, and the rate of sharing."""
        scale = log_width(size, problem)
        explored = size * problem.num_arms if self.explored < 0 else self.explored
        return record(
            width=self.width * scale,
            limit=scale,
            explored=explored,
            rate=size * math.log(size * problem.horizon),
        )

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: LinearState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Return the perturbed leader, and its most hopeful challenger."""
        utility = utilities(features, state.fit.theta)
        state.latest[:] = utility
        num_arms = len(utility)
        if round_ <= state.now.explored:
            first, second = rng.integers(0, num_arms), rng.integers(0, num_arms - 1)
            return int(first), int(second + (second >= first))
        values, limit = products(features, state.inverse), state.now.limit
        share = rng.random() < min(1.0, state.now.rate / math.sqrt(round_))
        if self.shared == "late":
            share = not share
        common = gumbel(rng, limit)
        first, number, largest = 0, 0, -np.inf
        for arm in range(num_arms):
            noise = common if share else gumbel(rng, limit)
            index = utility[arm] + noise * math.sqrt(values[arm, arm])
            largest, number, leads = among_largest(rng, index, largest, number)
            if leads:
                first = arm
        second, number, largest = first, 0, -np.inf
        for arm in range(num_arms):
            norm = gap_norm(values, arm, first)
            index = utility[arm] - utility[first] + state.now.width * norm
            largest, number, leads = among_largest(rng, index, largest, number)
            if leads:
                second = arm
        return first, second


def gumbel(rng: Generator, limit: float) -> float:
    """Draw from the standard Gumbel distribution, clipped to [-limit, limit]."""
    noise = -math.log(rng.exponential())
    return min(max(noise, -limit), limit)
