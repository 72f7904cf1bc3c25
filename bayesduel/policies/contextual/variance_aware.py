"""VACDB (Di et al. 2024): layers of confidence, each with a weighted estimate."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.ops.rules import one_of_largest, record
from bayesduel.policies.contextual.estimation import (
    LogisticFit,
    add_duel,
    add_to_inverse,
    gap_norm,
    log_width,
    new_fit,
    number_of_features,
    products,
    refit,
    utilities,
)
from bayesduel.policies.contextual.pair_ucb import largest_pair
from bayesduel.policies.policy import LIKELY_ANSWERS, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import integer_from, number_from


class VACDBState(NamedTuple):
    """The layers, and what the pair of the round is for."""

    fits: Any  # A LogisticFit whose arrays have a first axis for the layers.
    inverses: Float[np.ndarray, "L d d"]  # Sigma^-1
    latest: Float[np.ndarray, " K"]  # Estimated utilities of the last round.
    # ``width``; ``layer`` that learns from the round, or -1; and ``weight`` w^2.
    now: Any


@register("vacdb", acronym="VACDB")
class VarianceAware(Policy):
    r"""Variance-Aware Contextual Dueling Bandit (VACDB).

    VACDB is for arms with features. It has several layers, each with its own estimate
    of the utilities, from coarse to fine. In each round a layer excludes the arms that
    it knows to be worse, and the next, finer layer continues with the others.

    Use it if arms have features and outcomes are nearly deterministic: then its bound
    is small. In the published worlds it has more regret than GINOP.

    Parameters
    ----------
    width : float
        The factor c, as a multiple of :math:`\sqrt{d\log T}`, with the natural
        logarithm of the horizon; 0.25 in the authors' program.
    layers : int
        L, from 1 to 20; 5 in the authors' program.

    Notes
    -----
    **Rule.** Arm i has the features :math:`x_i`, of length d. Layer l has an estimate
    :math:`\theta_l` and a matrix :math:`\Sigma_l`, which is :math:`4^{-l}I` at first.
    :math:`|v|_{\Sigma^{-1}}` stands for :math:`\sqrt{v^\top\Sigma^{-1}v}`, and the
    *norm* of a pair is :math:`|x_i-x_j|_{\Sigma_l^{-1}}`. In every round, begin with
    l = 1 and all arms:

    1. *Exploit.* If the norms of all pairs of the arms that are left are at most
       :math:`2^{-L}`, show the pair with the largest
       :math:`(x_i+x_j)^\top\theta_l+c\,|x_i-x_j|_{\Sigma_l^{-1}}`. Nothing is learned
       from this duel.
    2. *Exclude.* Otherwise, if all norms are at most :math:`2^{-l}`, keep the arms
       whose estimated utility is within :math:`2^{-l}c` of the largest one. Go to layer
       l + 1 and step 1.
    3. *Explore.* Otherwise show a random one of the pairs whose norm is above
       :math:`2^{-l}`, each with the same probability. Let w be :math:`2^{-l}` divided
       by the norm, and z the difference of the features. Add :math:`w^2zz^\top` to
       :math:`\Sigma_l`, and fit :math:`\theta_l` with the weight :math:`w^2` of this
       duel and the penalty :math:`4^{-l}|\theta|^2/2`.

    The recommendation is the arm with the largest estimated utility in the last layer
    that was reached in the last round.

    **Assumptions.** Utilities :math:`x^\top\theta`, and a logistic link. The regret is
    :math:`\tilde O(d\sqrt{\sum_t\sigma_t^2}+d)` for widths that the paper derives, with
    :math:`\sigma_t^2` the variance of the outcome of round t.

    **Large horizons.** An estimate is exact for up to 10,000 duels of its layer or,
    with fixed features, for up to 10,000 different pairs. Older duels enter by a
    quadratic approximation of their log likelihood.

    **Look-ahead.** None: most duels change an estimate.

    References
    ----------
    Q. Di, T. Jin, Y. Wu, H. Zhao, F. Farnoud, Q. Gu, "Variance-aware Regret Bounds for
    Stochastic Contextual Dueling Bandits", ICLR 2024, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("vacdb", layers=3).label
    'VACDB:layers=3'
    """

    width: float = checked(0.25, number_from, 0.0)
    layers: int = checked(5, integer_from, 1, most=20)
    compiled = True

    title: ClassVar[str] = "Variance-Aware Contextual Dueling Bandit"
    contextual: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def start(self, problem: Problem, rng: Generator) -> VACDBState:
        """Return layers without duels."""
        size = number_of_features(problem, self.label)
        ridges = [4.0**-layer for layer in range(1, self.layers + 1)]
        fits = [new_fit(problem, size, ridge) for ridge in ridges]
        return VACDBState(
            fits=LogisticFit(*(np.stack(arrays) for arrays in zip(*fits, strict=True))),
            inverses=np.stack([np.eye(size) / ridge for ridge in ridges]),
            latest=np.zeros(problem.num_arms),
            now=record(
                width=self.width * log_width(size, problem), layer=-1, weight=0.0
            ),
        )

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: VACDBState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Go through the layers until one of them has a pair to show."""
        arms = np.arange(len(features))
        for layer in range(self.layers):
            level = 0.5 ** (layer + 1)
            theta, inverse = state.fits.theta[layer], state.inverses[layer]
            utility = utilities(features, theta)
            state.latest[:] = -np.inf
            for arm in arms:
                state.latest[arm] = utility[arm]
            values = products(features, inverse)
            first, second, number, largest = 0, 0, 0, 0.0
            for i in range(len(arms)):
                for j in range(i):
                    norm = gap_norm(values, arms[i], arms[j])
                    largest = max(largest, norm)
                    if norm > level:
                        number += 1
                        if number * rng.random() < 1.0:
                            first, second = arms[i], arms[j]
            if largest <= 0.5**self.layers:
                state.now.layer = -1
                few = values[arms][:, arms]
                i, j = largest_pair(rng, utility[arms], few, state.now.width)
                return arms[i], arms[j]
            if number > 0:
                weight = level / gap_norm(values, first, second)
                state.now.layer, state.now.weight = layer, weight * weight
                return first, second
            best = utility[arms].max()
            arms = arms[utility[arms] >= best - level * state.now.width]
        return 0, 0  # Not reached: the last layer returns.

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: VACDBState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
        features: Float[np.ndarray, "K d"],
    ) -> None:
        """Let the layer learn that has asked."""
        layer, weight = state.now.layer, state.now.weight
        if layer >= 0:
            fit = LogisticFit(
                state.fits.rows[layer],
                state.fits.wins[layer],
                state.fits.duels[layer],
                state.fits.used[layer],
                state.fits.places[layer],
                state.fits.quadratic[layer],
                state.fits.linear[layer],
                state.fits.theta[layer],
                state.fits.curvature[layer],
                state.fits.inverse[layer],
            )
            add_duel(fit, first, second, won, weight, features)
            refit(fit)
            inverse = state.inverses[layer]
            add_to_inverse(inverse, first, second, weight, features)

    def recommend(self, state: VACDBState, rng: Generator) -> int:
        """Return the arm with the largest utility in the last layer that was asked."""
        return one_of_largest(rng, state.latest)
