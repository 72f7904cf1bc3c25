"""Independent Beta posteriors of all pairs, and what follows from them, up to date.

Only the pair that was just compared changes, so each duel costs one evaluation of a
Beta tail; choosing costs comparisons and sums.
"""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int, Num

from bayesduel.ops.frozen_pytrees import frozen_pytree
from bayesduel.ops.masks import entry_of, materialize
from bayesduel.posteriors.beta_tails import half_tail_rates, half_tail_rates_of_beta
from bayesduel.posteriors.priors import check_prior, normalized
from bayesduel.types import Arm, Outcome, RunKey

_EVEN = 1e-9
"""By how much the chance of an even pair may be off 1/2, by rounding."""


class PairBeliefs(NamedTuple):
    """What is known of every ordered pair (i, j)."""

    wins: Int[Array, "K K"]
    """Duels of {i, j} that i won, without the prior."""

    chance: Float[Array, "K K"]
    """P(theta_ij > 1/2) under the posterior Beta(wins + prior, losses + prior)."""

    rate: Float[Array, "K K"]
    """-log P(theta_ij <= 1/2): rates of independent events add up."""

    prior: Num[Array, "..."]
    """Pseudo-wins of i over j; one number for all, or a table. Integers (int32) and
    other numbers (float64) make different programs."""


@frozen_pytree
class BetaPairs:
    """Beta posteriors of all pairs, independent of one another: counts and a prior.

    theta_ij = P(i beats j) ~ Beta(prior_ij, prior_ji) before any vote, independently
    for the pairs i < j, and Beta(prior_ij + w, prior_ji + l) after w wins of i and l of
    j: the exact posterior of :class:`bayesduel.models.PairwiseBeta`.

    Chances P(theta_ij > 1/2) keep their relative accuracy down to 1e-30, whatever the
    prior. Integers shift the counts, and are the fastest.

    Parameters
    ----------
    prior : float or (K, K)
        Above 0, at most 1e8. prior[i, j] are the pseudo-wins of i over j; the diagonal
        is not read. 1: uniform, 1/2: Jeffreys. Integral numbers are kept as integers.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from bayesduel.types import Outcome
    >>> posterior = BetaPairs(prior=2.0)
    >>> with jax.enable_x64(True):
    ...     none, two = jnp.int64(0), jnp.int64(2)
    ...     key = jax.random.key(0)
    ...     state = posterior.update(
    ...         key,
    ...         posterior.init(key, 3),
    ...         jnp.int32(0),
    ...         jnp.int32(2),
    ...         Outcome(exploit_rounds=none, rounds=two, wins=two),
    ...     )
    ...     print(posterior.mean(state)[0].round(3))
    ...     print(posterior.prob_better(state)[0].round(3))
    [0.5   0.5   0.667]
    [0.    0.5   0.812]
    """

    prior: Any = 1

    independent_draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", normalized(self.prior))

    def __eq__(self, other: object) -> bool:
        """Compare priors, tables entry by entry."""
        if not isinstance(other, BetaPairs):
            return NotImplemented
        return np.array_equal(self.prior, other.prior)

    def __hash__(self) -> int:
        """Equal priors have equal hashes."""
        prior = np.asarray(self.prior)
        return hash(prior.item() if prior.ndim == 0 else prior.astype(float).tobytes())

    @property
    def name(self) -> str:
        """What it is called in the parameters of a policy."""
        return "beta"

    @property
    def model(self) -> Any:
        """``PairwiseBeta`` with this prior."""
        # NumPyro is no matter of the policies.
        from bayesduel.models import PairwiseBeta

        table = np.asarray(self.prior, dtype=np.float64)
        if table.ndim == 0:
            return PairwiseBeta(prior=table.item())
        return PairwiseBeta(prior=tuple(tuple(row) for row in table.tolist()))

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` for a bad prior."""
        check_prior(self.prior, num_arms)

    def in_order(self, order: Int[Array, " K"]) -> "BetaPairs":
        """Return the posterior of arms in another order."""
        if np.ndim(self.prior) == 0:
            return self
        return BetaPairs(prior=jnp.asarray(self.prior)[order[:, None], order[None, :]])

    def init(self, rng_key: RunKey, num_arms: int) -> PairBeliefs:
        """Return the state before any vote; ``rng_key`` is not used."""
        others = ~np.eye(num_arms, dtype=bool)
        prior = jnp.asarray(self.prior)
        whole = jnp.issubdtype(prior.dtype, jnp.integer)
        prior = prior.astype(jnp.int32 if whole else jnp.float64)
        if prior.ndim == 0:
            rate, chance = jnp.float64(np.log(2.0)), jnp.float64(0.5)
        else:
            rate, _ = _rates(prior, prior.T)
            chance = -jnp.expm1(-rate)
        return PairBeliefs(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            chance=jnp.where(others, chance, 0.0),
            rate=jnp.where(others, rate, 0.0),
            prior=prior,
        )

    def update(
        self,
        rng_key: RunKey,
        state: PairBeliefs,
        first: Arm,
        second: Arm,
        votes: Outcome,
    ) -> PairBeliefs:
        """Count votes and refresh the pair; a self-duel teaches nothing."""
        arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
        is_first, is_second = arms == first, arms == second
        learnt = (first != second) & (votes.rounds > 0)
        here = is_first[:, None] & is_second[None, :] & learnt
        there = is_second[:, None] & is_first[None, :] & learnt

        won, lost = counts_after(state, first, second, votes)
        if state.prior.ndim == 0:
            pseudo_won = pseudo_lost = state.prior
        else:
            pseudo_won = entry_of(state.prior, first, second)
            pseudo_lost = entry_of(state.prior, second, first)
        rate_above, rate_below = _rates(
            won.astype(state.prior.dtype) + pseudo_won,
            lost.astype(state.prior.dtype) + pseudo_lost,
        )
        chance_above, chance_below = -jnp.expm1(-rate_above), -jnp.expm1(-rate_below)
        won, lost, rate_above, rate_below, chance_above, chance_below = materialize(
            won, lost, rate_above, rate_below, chance_above, chance_below
        )

        def put(old: Array, forward: Array, backward: Array) -> Array:
            return jnp.where(here, forward, jnp.where(there, backward, old))

        return PairBeliefs(
            wins=put(state.wins, won, lost),
            chance=put(state.chance, chance_above, chance_below),
            rate=put(state.rate, rate_above, rate_below),
            prior=state.prior,
        )

    def sample(
        self, rng_key: RunKey, state: PairBeliefs, num_draws: int
    ) -> Float[Array, "draw K K"]:
        """Draw preference matrices, diagonal 1/2; consumes ``rng_key``."""
        num_arms = state.wins.shape[0]
        counts = pseudo_wins(state).astype(jnp.float64)
        row, column = np.triu_indices(num_arms, 1)
        shape = (num_draws, len(row))
        theta = jax.random.beta(
            rng_key, counts[row, column], counts[column, row], shape
        )
        matrices = jnp.full((num_draws, num_arms, num_arms), 0.5, dtype=jnp.float64)
        matrices = matrices.at[:, row, column].set(theta)
        return matrices.at[:, column, row].set(1.0 - theta)

    def mean(self, state: PairBeliefs) -> Float[Array, "K K"]:
        """Return the means of all theta_ij, 1/2 on the diagonal."""
        counts = pseudo_wins(state).astype(jnp.float64)
        others = ~np.eye(counts.shape[0], dtype=bool)
        return jnp.where(others, counts / (counts + counts.T), 0.5)

    def prob_better(self, state: PairBeliefs) -> Float[Array, "K K"]:
        """Return P(theta_ij > 1/2), 0 on the diagonal; ``state.rate`` is its rate."""
        return state.chance


def counts_after(
    beliefs: PairBeliefs, first: Arm, second: Arm, votes: Outcome
) -> tuple[Int[Array, ""], Int[Array, ""]]:
    """Return the wins of both arms of a pair, new votes included."""
    losses = votes.rounds - votes.wins
    won = entry_of(beliefs.wins, first, second) + votes.wins.astype(jnp.int32)
    lost = entry_of(beliefs.wins, second, first) + losses.astype(jnp.int32)
    return won, lost


def pseudo_wins(beliefs: PairBeliefs) -> Num[Array, "K K"]:
    """Return the parameters of all Beta laws, wins + prior."""
    return beliefs.wins.astype(beliefs.prior.dtype) + beliefs.prior


def _rates(
    first: Num[Array, "..."], second: Num[Array, "..."]
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Return -log P(theta < 1/2) and -log P(theta > 1/2), theta ~ Beta(first, second).

    The dtype says whether the parameters are integers.
    """
    if jnp.issubdtype(first.dtype, jnp.integer):
        return half_tail_rates(first - 1, second - 1)
    return half_tail_rates_of_beta(first, second)
