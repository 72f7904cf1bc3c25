"""Thompson sampling over a posterior of multinomial logit, by Laplace's method."""

from dataclasses import field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.policies.base import check_above, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import (
    SubsetPolicy,
    one_offer,
    tie_breakers,
    top,
)
from bayesduel.types import Offer, Rewards, RoundCount, RunKey

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld

MOST_SETS = 1000
"""Different sets whose choices are kept; the likelihood is a sum over them."""

_STEPS = 50
"""Newton steps of one fit at most; from the last mode it takes two or three."""


class LogitState(NamedTuple):
    """Choices per set, and the normal approximation of the posterior."""

    counts: Float[Array, "S outcome"]
    """How often each arm was chosen in each set; the last column counts nobody."""

    mode: Float[Array, " n"]
    factor: Float[Array, "n n"]
    """L, with L L^T minus the Hessian at the mode."""

    slots: Int[Array, " k"]


@register("logit-ts", acronym="Logit-TS")
@policy_class
class LogitThompson(SubsetPolicy):
    """Posterior sampling for multinomial logit with a normal prior of utilities.

    v_i = exp(u_i), u_i ~ Normal(0, prior_scale^2): the NumPyro model
    :class:`bayesduel.models.MultinomialLogit`, with all choices of all sets so far as
    data. After every round its posterior is approximated by a normal law around the
    mode (Newton's method from the last mode); before every round one vector of
    utilities is drawn from it and the k largest are offered, which is the best set for
    equal revenues. Choices are kept per set, so that there may be at most 1000 sets.
    Recommends the k arms with the largest utilities at the mode; ties at random.

    This rule is the direct Bayesian one and is in none of the papers followed here;
    MNL-TS (:class:`MNLThompson`) draws from Beta laws per arm, once per epoch.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of the prior of utilities.
    no_choice : bool
        Whether choosing nothing, of utility 0, is possible.

    References
    ----------
    P. Rusmevichientong, Z.-J. M. Shen, D. B. Shmoys, "Dynamic Assortment Optimization
    with a Multinomial Logit Choice Model and Capacity Constraint", Operations Research
    58(6), 2010 (the model). S. Agrawal, V. Avadhanula, V. Goyal, A. Zeevi, "Thompson
    Sampling for the MNL-Bandit", COLT 2017 (posterior sampling of assortments).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("logit-ts").label
    'Logit-TS'
    """

    prior_scale: float = field(default=2.0, metadata={"static": True})
    no_choice: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Thompson sampling, multinomial logit by Laplace"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("prior_scale", self.prior_scale, 0.0)

    def check_world(self, world: "ChoiceWorld", horizon: int) -> None:
        """Raise where the model does not fit a world, or there are too many sets.

        Raises
        ------
        SimulationArgumentError
            If there are more than 1000 sets.
        PolicyParameterError
            If ``no_choice`` contradicts the world.
        """
        count = comb(world.num_arms, world.subset_size)
        name = world.name or "this world"
        if count > MOST_SETS:
            raise SimulationArgumentError.of(
                "policies",
                f"{self.label} keeps the choices of every set, at most {MOST_SETS} of "
                f"them, but {name} has {count}",
                self,
                remedy="use mnl-ts",
            )
        super().check_world(world, horizon)
        if world.has_no_choice != self.no_choice:
            raise PolicyParameterError(
                f"no_choice must be {world.has_no_choice} in {name}, where it "
                f"{'happens' if world.has_no_choice else 'never happens'} that nobody "
                f"is chosen, got {self.no_choice!r}"
            )

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> LogitState:
        """Return the state before the first round: the prior."""
        sets = comb(num_arms, subset_size)
        scale = 1.0 / self.prior_scale
        return LogitState(
            counts=jnp.zeros((sets, num_arms + self.no_choice), dtype=jnp.float64),
            mode=jnp.zeros(num_arms, dtype=jnp.float64),
            factor=scale * jnp.eye(num_arms, dtype=jnp.float64),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def choose(
        self, rng_key: RunKey, state: LogitState, round_: RoundCount
    ) -> tuple[Offer, LogitState]:
        """Draw utilities, offer the k largest."""
        from bayesduel.inference.laplace import LaplaceState, draw_points

        key_draw, key_ties = jax.random.split(rng_key)
        law = LaplaceState(
            mode=state.mode,
            factor=state.factor,
            log_density=jnp.float64(0.0),
            status=jnp.int32(0),
            iterations=jnp.int32(0),
        )
        utility = draw_points(key_draw, law, 1)[0]
        uniforms = tie_breakers(key_ties, utility.shape[0])
        return one_offer(top(utility, uniforms, state.slots.shape[0])), state

    def update(
        self,
        rng_key: RunKey,
        state: LogitState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> LogitState:
        """Count the choice and fit the model again."""
        from bayesduel.inference.laplace import laplace
        from bayesduel.models.multinomial_logit import (
            MultinomialLogit,
            OfferedChoices,
        )

        sets = _all_sets(offer.subset.shape[0], state.slots.shape[0])
        here = jnp.all(sets == offer.subset[None, :], axis=1)
        outcome = rewards.rewards
        if self.no_choice:
            nobody = rewards.rounds.astype(jnp.float64) - jnp.sum(outcome)
            outcome = jnp.concatenate([outcome, nobody[None]])
        counts = state.counts + jnp.where(here[:, None], outcome[None, :], 0.0)
        offered = sets
        if self.no_choice:
            offered = np.concatenate(
                [sets, np.ones((len(sets), 1), dtype=bool)], axis=1
            )
        model = MultinomialLogit(prior_scale=self.prior_scale)
        data = OfferedChoices(
            offered=jnp.asarray(offered), counts=counts, num_arms=sets.shape[1]
        )
        law = laplace(model, data, state.mode, max_iterations=_STEPS)
        return state._replace(counts=counts, mode=law.mode, factor=law.factor)

    def recommend(self, rng_key: RunKey, state: LogitState) -> Bool[Array, " n"]:
        """Return the k arms with the largest utilities at the mode."""
        uniforms = tie_breakers(rng_key, state.mode.shape[0])
        return top(state.mode, uniforms, state.slots.shape[0])


def _all_sets(num_arms: int, size: int) -> Bool[np.ndarray, "S n"]:
    """List all sets as masks."""
    rows = np.array(list(combinations(range(num_arms), size)))
    table = np.zeros((len(rows), num_arms), dtype=bool)
    np.put_along_axis(table, rows, True, axis=1)
    return table
