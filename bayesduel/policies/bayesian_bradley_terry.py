"""Thompson sampling with a Bradley-Terry posterior, by Laplace's method."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Float, Int

from bayesduel.arrays import ordered_pair_mask
from bayesduel.policies.base import Policy, check_above, check_at_least, policy_class
from bayesduel.policies.sampling import choose_among
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

_LONGEST_STEP = 2.0
"""No utility moves by more in one Newton step."""


class BradleyTerryState(NamedTuple):
    """Counts, and the normal law that stands for the posterior."""

    wins: Int[Array, "K K"]
    mode: Float[Array, " K"]
    factor: Float[Array, "K K"]
    """L, lower triangular; L L^T is minus the Hessian of the log posterior."""


@policy_class
class BayesianBradleyTerry(Policy):
    """Double Thompson sampling over utilities (Bradley-Terry).

    P(i beats j) = 1 / (1 + exp(w_j - w_i)) with w ~ Normal(0, prior_variance I). In
    every round two utility vectors are drawn, independently, from the normal law around
    the posterior mode (Laplace); the best arms of the two meet. When they are the same
    arm the round exploits, which is what brings regret to rest.

    One scale shares what is learnt between all pairs: with K arms there are K unknowns
    where D-TS has K (K - 1) / 2. This *is* pure D-TS with another posterior: under
    utilities the sampled Copeland winner is the arm with the largest one, and so is the
    arm that does best against any other. The price is the assumption. The model is
    wrong for cyclic preferences: the policy may then settle on an arm with high
    log-odds against those it meets, which need not be a Copeland winner.
    ``diagnostics.transitivity`` looks for cycles in the votes.

    After every comparison the mode is followed by ``newton_steps`` damped Newton steps.
    The prior makes it finite also for an arm that never lost, and identifies the scale.

    The posterior stays as it is until different arms meet, so several rounds are drawn
    at once: the law of all counts of different arms and the mean of every regret are
    those of drawing round by round; the champion of an idle stretch is drawn once.
    There is no look-ahead beyond that: the probability that two draws have the same
    best arm has no closed form.

    Ties among utilities have probability 0; before the first comparison all arms are
    equally likely to be recommended.

    Parameters
    ----------
    prior_variance : float
        Of each utility, > 0.
    newton_steps : int
        At least 1.
    rounds_at_once : int
        How many rounds are drawn together; 1 is the algorithm step by step.

    Notes
    -----
    No regret bound is known to us for this combination. The Bradley-Terry posterior is
    log-concave, and its mode and curvature are computed exactly as in
    :func:`bayesduel.models.fit` with ``method="laplace"``.

    References
    ----------
    R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
    Biometrika 39 (1952). H. Wu and X. Liu, "Double Thompson Sampling for Dueling
    Bandits", NIPS 2016 (the double sampling). O. Chapelle and L. Li, "An empirical
    evaluation of Thompson sampling", NIPS 2011 (Laplace's method in Thompson sampling).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("bt-ts", prior_variance=1.0).label
    'BT-TS:prior_variance=1.0'
    """

    prior_variance: float = 4.0
    newton_steps: int = field(default=3, metadata={"static": True})
    rounds_at_once: int = field(default=16, metadata={"static": True})

    title: ClassVar[str] = "Bradley-Terry Thompson Sampling"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("prior_variance", self.prior_variance, 0.0)
        check_at_least("newton_steps", self.newton_steps, 1)
        check_at_least("rounds_at_once", self.rounds_at_once, 1)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> BradleyTerryState:
        """Return the state before the first round."""
        precision = 1.0 / jnp.asarray(self.prior_variance, dtype=jnp.float64)
        identity = jnp.eye(num_arms, dtype=jnp.float64)
        return BradleyTerryState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            mode=jnp.zeros(num_arms, dtype=jnp.float64),
            factor=jnp.sqrt(precision) * identity,
        )

    def choose(
        self, rng_key: RunKey, state: BradleyTerryState, round_: RoundCount
    ) -> tuple[Duel, BradleyTerryState]:
        """Draw rounds up to the first in which different arms meet."""
        number = self.rounds_at_once
        shape = (state.mode.shape[0], 2 * number)
        white = jax.random.normal(rng_key, shape, dtype=jnp.float64)
        moved = lax.linalg.triangular_solve(
            state.factor, white, left_side=True, lower=True, transpose_a=True
        )
        best = jnp.argmax(state.mode[:, None] + moved, axis=0).astype(jnp.int32)
        one, other = best[:number], best[number:]
        differ = one != other if number > 1 else jnp.ones(1, dtype=bool)
        idle = jnp.cumsum(differ.astype(jnp.int32)) == 0
        happens = jnp.any(differ)
        place = jnp.arange(number, dtype=jnp.int32)
        waited = jnp.sum(idle, dtype=jnp.int32)
        first, second = (
            jnp.sum(jnp.where(place == waited, arms, 0), dtype=jnp.int32)
            for arms in (one, other)
        )
        duel = Duel(
            champion=one[0],
            exploit_rounds=waited.astype(jnp.int64),
            first=first,
            second=second,
            explore_rounds=happens.astype(jnp.int64),
        )
        return duel, state

    def update(
        self,
        rng_key: RunKey,
        state: BradleyTerryState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> BradleyTerryState:
        """Count the outcome, and follow the mode."""
        forward = ordered_pair_mask(state.mode.shape[0], duel.first, duel.second)
        forward = forward & (duel.first != duel.second)
        won = outcome.wins.astype(jnp.int64)
        lost = outcome.rounds.astype(jnp.int64) - won
        nothing = jnp.int64(0)
        wins = state.wins + jnp.where(forward, won, nothing)
        wins = wins + jnp.where(forward.T, lost, nothing)
        precision = 1.0 / jnp.asarray(self.prior_variance, dtype=jnp.float64)
        mode = state.mode
        for _ in range(self.newton_steps):
            gradient, factor = _slope_and_factor(wins, mode, precision)
            step = _solve(factor, gradient)
            longest = jnp.max(jnp.abs(step))
            share = _LONGEST_STEP / jnp.maximum(longest, _LONGEST_STEP)
            mode = mode + share * step
        _, factor = _slope_and_factor(wins, mode, precision)
        return BradleyTerryState(wins=wins, mode=mode, factor=factor)

    def recommend(self, rng_key: RunKey, state: BradleyTerryState) -> Arm:
        """Return the arm with the largest utility at the mode."""
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, state.mode == jnp.max(state.mode))


def _slope_and_factor(
    wins: Int[Array, "K K"], mode: Float[Array, " K"], precision: Array
) -> tuple[Float[Array, " K"], Float[Array, "K K"]]:
    """Return the gradient of the log posterior, and the factor of minus its Hessian."""
    won = wins.astype(jnp.float64)
    total = won + won.T
    chance = jax.nn.sigmoid(mode[:, None] - mode[None, :])
    gradient = jnp.sum(won - total * chance, axis=1) - precision * mode
    weight = total * chance * (1.0 - chance)
    identity = jnp.eye(mode.shape[0], dtype=jnp.float64)
    diagonal = precision + jnp.sum(weight, axis=1)
    curvature = identity * diagonal[:, None] - weight * (1.0 - identity)
    return gradient, lax.linalg.cholesky(curvature, symmetrize_input=False)


def _solve(factor: Float[Array, "K K"], right: Float[Array, " K"]) -> Array:
    """Solve L L^T x = b."""
    options = {"left_side": True, "lower": True}
    half = lax.linalg.triangular_solve(factor, right[:, None], **options)
    full = lax.linalg.triangular_solve(factor, half, transpose_a=True, **options)
    return full[:, 0]
