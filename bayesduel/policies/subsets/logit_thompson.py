"""Thompson sampling over a posterior of multinomial logit, by Laplace's method."""

from dataclasses import field
from math import comb
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.policies.base import policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    one_offer,
    tie_breakers,
    top,
)
from bayesduel.posteriors.set_laplace import SetBeliefs, SetLaplace, SetModel
from bayesduel.types import Offer, Rewards, RoundCount, RunKey
from theory.arguments import shown

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld

MOST_SETS = 1000
"""Different sets whose choices are kept; the likelihood is a sum over them."""


class LogitState(NamedTuple):
    """What is believed, and the size of the sets."""

    beliefs: SetBeliefs
    slots: Int[Array, " k"]


@register("logit-ts", acronym="Logit-TS")
@policy_class
class LogitThompson(JaxSubsetPolicy):
    """Posterior sampling for multinomial logit with a normal prior of utilities.

    v_i = exp(u_i), u_i ~ Normal(0, prior_scale^2): the NumPyro model
    :class:`bayesduel.models.MultinomialLogit`, with all choices of all sets so far as
    data, or any other model of choices with utilities. After every round its posterior
    is approximated by a normal law around the mode (Newton's method from the last
    mode); before every round one vector of utilities is drawn from it and the k largest
    are offered, which is the best set for equal revenues. Choices are kept per set, so
    that there may be at most 1000 sets.
    Recommends the k arms with the largest utilities at the mode; ties at random.

    This rule is the direct Bayesian one and is in none of the papers followed here;
    MNL-TS (:class:`MNLThompson`) draws from Beta laws per arm, once per epoch.

    Parameters
    ----------
    no_choice : bool
        Whether choosing nothing, of utility 0, is possible.
    posterior : SetLaplace
        What utilities are drawn from. The parameters of its model may be given by name,
        as in ``policies.get("logit-ts", prior_scale=1)``.

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

    no_choice: bool = field(default=True, metadata={"static": True})
    posterior: SetLaplace = SetLaplace()

    title: ClassVar[str] = "Thompson sampling, multinomial logit by Laplace"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        if not isinstance(self.posterior, SetLaplace):
            raise PolicyParameterError(
                "posterior must be one of sets, such as "
                f"SetLaplace(MultinomialLogit()), got {shown(self.posterior)}"
            )
        self.posterior.check(num_arms, no_choice=self.no_choice)

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
        model = self.posterior.over(num_arms, subset_size, no_choice=self.no_choice)
        return LogitState(
            beliefs=model.init(), slots=jnp.arange(subset_size, dtype=jnp.int32)
        )

    def _model(self, state: LogitState) -> SetModel:
        """Return the model for the sets that the state is about."""
        num_arms = state.beliefs.counts.shape[1] - self.no_choice
        return self.posterior.over(
            num_arms, state.slots.shape[0], no_choice=self.no_choice
        )

    def choose(
        self, rng_key: RunKey, state: LogitState, round_: RoundCount
    ) -> tuple[Offer, LogitState]:
        """Draw utilities, offer the k largest."""
        key_draw, key_ties = jax.random.split(rng_key)
        model = self._model(state)
        utility = model.sample_utilities(key_draw, state.beliefs, 1)[0]
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
        outcome = rewards.rewards
        if self.no_choice:
            nobody = rewards.rounds.astype(jnp.float64) - jnp.sum(outcome)
            outcome = jnp.concatenate([outcome, nobody[None]])
        beliefs = self._model(state).update(state.beliefs, offer.subset, outcome)
        return state._replace(beliefs=beliefs)

    def recommend(self, rng_key: RunKey, state: LogitState) -> Bool[Array, " n"]:
        """Return the k arms with the largest utilities at the mode."""
        utility = self._model(state).utilities(state.beliefs)
        uniforms = tie_breakers(rng_key, utility.shape[0])
        return top(utility, uniforms, state.slots.shape[0])
