"""Feel-Good Thompson sampling for duels (Li, Zhao and Gu 2024)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.ops.rules import one_of_largest, record
from bayesduel.policies.contextual.estimation import (
    LogisticFit,
    add_duel,
    log_one_plus_exp,
    lower_root,
    new_fit,
    number_of_features,
    proposal,
    refit,
    utilities,
)
from bayesduel.policies.contextual.linear_policy import LinearPolicy
from bayesduel.policies.policy import DRAWS, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import integer_from, number_above, number_from

# Degrees of freedom of proposals, whose tails are heavier than the posterior's
_DEGREES = 10.0


class FeelGoodState(NamedTuple):
    """The fit to all duels, a draw of each sampler, and past rounds."""

    fit: LogisticFit
    draws: Float[np.ndarray, "2 d"]  # theta of the first and of the second sampler.
    # Features and arms of past rounds, every ``now.stride``-th of them; empty where
    # features are fixed.
    past: Float[np.ndarray, "n K d"]
    arms: Int[np.ndarray, "n 2"]
    # Features of the arms of all rounds, summed up; without ``past`` only.
    played: Float[np.ndarray, "2 d"]
    latest: Float[np.ndarray, " K"]  # Estimated utilities of the last round.
    # ``mu``; rounds so far; and ``stride``, ``used`` of ``past``.
    now: Any


@register("fgts", acronym="FGTS")
class FeelGoodThompson(LinearPolicy):
    r"""Feel-Good Thompson Sampling for contextual duels (FGTS.CDB).

    FGTS is Thompson sampling for arms with features. Two samplers choose one arm each.
    Each sampler draws the coefficients, and takes the arm that is best for this draw.
    The density from which it draws has an extra factor, the *feel-good* term. It favors
    coefficients for which some arm is better than the arms that the other sampler
    chose.

    Use it if arms have features, utilities are about linear in them, and there are many
    arms: its computing time grows with K, not with the number of pairs.

    Parameters
    ----------
    eta : float
        The weight :math:`\eta` of a duel, above 0; 1/4 in the paper. With 1 or 2 its
        regret was smaller in the published worlds.
    bound : float
        B, a bound on the size of utilities, at least 0; see the rule.
    feel_good : float
        Factor of :math:`\mu`, at least 0; with 0 the policy is plain Thompson sampling.
    ridge : float
        The precision :math:`\lambda` of the prior, above 0.
    steps : int
        Number of proposals of each sampler in a round. With 0, it draws from Laplace's
        approximation.
    kept : int
        Number of past rounds from which the feel-good term is computed if features are
        new in every round, at least 2.

    Notes
    -----
    **Rule.** Past round s had the features :math:`x_{s,a}` of the arms a. Let
    :math:`z_s` be the features of its first arm minus those of its second one,
    :math:`y_s=\pm1` its outcome, and :math:`b_s` the arm of the other sampler. T is the
    horizon, and :math:`\mu=1/(10e^B\sqrt T)`. The potential :math:`L^j(\theta)` of
    sampler j is the sum over s of :math:`\eta\log(1+e^{-y_s\theta^\top
    z_s})-\mu\max_a\theta^\top(x_{s,a}-x_{s,b_s})`. The first term comes from the
    likelihood, and the second one is the feel-good term. In every round, each sampler:

    1. Draws :math:`\theta^j` from the density proportional to
       :math:`p_0(\theta)e^{-L^j(\theta)}`, where the prior :math:`p_0` is normal with
       precision :math:`\lambda I`.
    2. Shows the arm with the largest :math:`x_a^\top\theta^j`. Both may show the same
       arm. Ties are broken at random.

    The recommendation is the arm with the largest utility at the mode, in the last
    round.

    **Assumptions.** Utilities :math:`x^\top\theta` of size B at most, and a logistic
    link. The regret is :math:`\tilde O(d\sqrt T)`.

    **How it draws.** Each sampler has a Markov chain whose stationary distribution is
    its density. In every round the chain makes some steps. Each step proposes a point
    and accepts it by the rule of Metropolis and Hastings. Proposals come from a t
    distribution (10 degrees of freedom) around the mode of likelihood and prior, with
    the inverse of the second derivatives there. So a draw depends a little on the one
    before, and less with more ``steps``. With ``steps=0`` draws are normal and
    independent, and ignore the feel-good term and the skewness of the density. The
    paper draws by Langevin dynamics.

    **Approximations.** With fixed features the feel-good term is exact. Otherwise it is
    a sum over past rounds that cannot be simplified. When there are more than ``kept``
    rounds, it is estimated from rounds at equal distances. The likelihood is exact for
    up to 10,000 duels or, with fixed features, for up to 10,000 different pairs. Older
    duels enter by a quadratic approximation of their log likelihood.

    **Look-ahead.** None: every duel changes the density.

    References
    ----------
    X. Li, H. Zhao, Q. Gu, "Feel-Good Thompson Sampling for Contextual Dueling Bandits",
    ICML 2024.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("fgts", feel_good=0).label
    'FGTS:feel_good=0.0'
    """

    eta: float = checked(0.25, number_above, 0.0)
    bound: float = checked(1.0, number_from, 0.0)
    feel_good: float = checked(1.0, number_from, 0.0)
    steps: int = checked(1, integer_from, 0)
    kept: int = checked(50, integer_from, 2)

    title: ClassVar[str] = "Feel-Good Thompson Sampling"
    in_batches: ClassVar[str] = DRAWS

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore
        """Whether the feel-good term depends on the horizon."""
        return self.feel_good > 0

    def start(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, problem: Problem, rng: Generator
    ) -> FeelGoodState:
        """Draw from the prior."""
        size = number_of_features(problem, self.label)
        sums_up = problem.features is not None or self.feel_good == 0
        rounds = 0 if sums_up else min(self.kept, problem.horizon)
        scale = 10 * math.exp(self.bound) * math.sqrt(problem.horizon)
        return FeelGoodState(
            fit=new_fit(problem, size, self.ridge),
            draws=rng.normal(size=(2, size)) / math.sqrt(self.ridge),
            past=np.zeros((rounds, problem.num_arms, size)),
            arms=np.zeros((rounds, 2), dtype=np.int64),
            played=np.zeros((2, size)),
            latest=np.zeros(problem.num_arms),
            now=record(mu=self.feel_good / scale, rounds=0, stride=1, used=0),
        )

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: FeelGoodState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Let both samplers draw, and show their arms."""
        state.latest[:] = utilities(features, state.fit.theta)
        root = lower_root(state.fit.inverse)
        for sampler in range(2):
            if self.steps == 0:
                state.draws[sampler] = proposal(state.fit, root, rng, 1.0)[0]
            else:
                move(state, root, rng, sampler, self.steps, features)
        first = one_of_largest(rng, utilities(features, state.draws[0]))
        second = one_of_largest(rng, utilities(features, state.draws[1]))
        remember(state, first, second, features)
        return first, second

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: FeelGoodState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
        features: Float[np.ndarray, "K d"],
    ) -> None:
        """Fit the mode again."""
        add_duel(state.fit, first, second, won, self.eta, features)
        refit(state.fit)


def remember(
    state: FeelGoodState, first: int, second: int, features: Float[np.ndarray, "K d"]
) -> None:
    """Add a round to those of which the feel-good term is made."""
    now = state.now
    if len(state.past) == 0:
        for k in range(features.shape[1]):
            state.played[0, k] += features[first, k]
            state.played[1, k] += features[second, k]
    elif now.rounds % now.stride == 0:
        if now.used == len(state.past):
            half = 0
            for row in range(0, now.used, 2):
                state.past[half] = state.past[row]
                state.arms[half] = state.arms[row]
                half += 1
            now.used, now.stride = half, 2 * now.stride
        if now.rounds % now.stride == 0:
            state.past[now.used] = features
            state.arms[now.used, 0], state.arms[now.used, 1] = first, second
            now.used += 1
    now.rounds += 1


def move(
    state: FeelGoodState,
    root: Float[np.ndarray, "d d"],
    rng: Generator,
    sampler: int,
    steps: int,
    features: Float[np.ndarray, "K d"],
) -> None:
    """Let the chain of a sampler make some steps of Metropolis and Hastings."""
    fit, theta = state.fit, state.draws[sampler]
    distance = 0.0
    for i in range(len(theta)):
        for k in range(len(theta)):
            gap = (theta[i] - fit.theta[i]) * (theta[k] - fit.theta[k])
            distance += gap * fit.curvature[i, k]
    now = log_density(state, theta, sampler, features) - log_tails(distance, len(theta))
    for _ in range(steps):
        scale = _DEGREES / (2.0 * rng.standard_gamma(_DEGREES / 2.0))
        trial, distance = proposal(fit, root, rng, scale)
        new = log_density(state, trial, sampler, features)
        new -= log_tails(distance, len(theta))
        if math.log(1.0 - rng.random()) < new - now:
            theta[:] = trial
            now = new


def log_tails(distance: float, size: int) -> float:
    """Return the log density of a proposal, but for a constant."""
    return -0.5 * (_DEGREES + size) * math.log1p(distance / _DEGREES)


def log_density(
    state: FeelGoodState,
    theta: Float[np.ndarray, " d"],
    sampler: int,
    features: Float[np.ndarray, "K d"],
) -> float:
    """Return the log density of theta for a sampler, but for a constant."""
    fit, size = state.fit, len(theta)
    value = 0.0
    for i in range(size):
        for k in range(size):
            value -= 0.5 * theta[i] * fit.quadratic[i, k] * theta[k]
        value += theta[i] * fit.linear[i]
    for row in range(fit.used[0]):
        u = 0.0
        for k in range(size):
            u += fit.rows[row, k] * theta[k]
        value += fit.wins[row] * u - fit.duels[row] * log_one_plus_exp(u)
    if state.now.mu == 0.0:
        return value
    other, promise = 1 - sampler, 0.0
    if len(state.past) == 0:
        promise = state.now.rounds * utilities(features, theta).max()
        for k in range(size):
            promise -= state.played[other, k] * theta[k]
        return value + state.now.mu * promise
    for duel in range(state.now.used):
        utility = utilities(state.past[duel], theta)
        promise += utility.max() - utility[state.arms[duel, other]]
    # The rounds that are kept stand for all.
    if state.now.used > 0:
        promise *= state.now.rounds / state.now.used
    return value + state.now.mu * promise
