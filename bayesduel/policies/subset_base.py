"""The protocol of a policy that offers subsets, and what most of them share."""

import warnings
from math import comb
from typing import TYPE_CHECKING, ClassVar

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import AssumptionWarning, SimulationArgumentError
from bayesduel.ops.masks import materialize
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import Policy
from bayesduel.types import Offer, Rewards, RoundCount, RunKey, State
from theory.choice.order import find_inconsistency

if TYPE_CHECKING:
    from bayesduel.instances.choice import ChoiceWorld

_MOST_SETS_CHECKED = 20_000
"""Tables up to this many sets are searched for a violated assumption."""


class SubsetPolicy(Policy):
    """Decides which subset is offered next.

    As :class:`bayesduel.policies.base.Policy`, with offers in place of duels: a policy
    returns :class:`bayesduel.types.Offer` and receives ``Rewards``; what it recommends
    is a set, as a mask. With ``explores_in_bulk`` an offer may be for many rounds.
    """

    feedbacks: ClassVar[tuple[str, ...]] = ("winner", "independent")
    """Kinds of feedback that the rule can read."""

    offers_fewer: ClassVar[bool] = False
    """Whether sets of fewer than k arms are offered."""

    least_size: ClassVar[int] = 1
    """Arms that a set must have to teach anything."""

    reads_revenues: ClassVar[bool] = False
    """Whether the rule maximizes revenues, where a world has them."""

    needs_no_choice: ClassVar[bool] = False
    """Whether the rule waits for rounds in which nobody is chosen."""

    assumes_consistency: ClassVar[bool] = False
    """Whether the theory asks for weak optimal-set consistency."""

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore
        """Whether an offer may be for many rounds: if the rule looks ahead."""
        return getattr(self, "look_ahead", False)

    def check_world(self, world: "ChoiceWorld", horizon: int) -> None:
        """Raise where this policy cannot play in a world; warn outside its theory.

        Raises
        ------
        SimulationArgumentError
            If the feedback, the sizes of sets, or a missing no-choice option make the
            rule meaningless.
        PolicyParameterError
            If a parameter does not fit.
        """
        name = world.name or "this world"
        if world.feedback not in self.feedbacks:
            raise _misfit(
                self,
                f"needs the feedback {' or '.join(self.feedbacks)}, but {name} gives "
                f"{world.feedback}",
                "use a world that gives it",
            )
        if world.subset_size < self.least_size:
            raise _misfit(
                self,
                f"learns from choices among at least {self.least_size} arms, but sets "
                f"of {name} have {world.subset_size}",
                "use a world of larger sets",
            )
        fewer = self.offers_fewer or (
            self.reads_revenues and world.revenues is not None
        )
        if fewer and not world.rule.allows_fewer:
            raise _misfit(
                self,
                f"offers sets of fewer than k arms, but {name} is a table of sets of "
                f"exactly {world.subset_size}",
                "use a world that knows smaller sets, such as multinomial logit",
            )
        if self.needs_no_choice and not world.has_no_choice:
            raise _misfit(
                self,
                f"offers a set until nobody is chosen, which never happens in {name}",
                "use a world with a no-choice option",
            )
        self.check(world.num_arms, horizon)
        self.warn_about(world)

    def warn_about(self, world: "ChoiceWorld") -> None:
        """Warn (``AssumptionWarning``) where the world is outside the theory."""
        small = comb(world.num_arms, world.subset_size) <= _MOST_SETS_CHECKED
        # With one number per arm the order of the arms is the same in all sets.
        if not self.assumes_consistency or not small or world.rule.values is not None:
            return
        found = find_inconsistency(world.table())
        if found is not None:
            warnings.warn(
                f"{self.label} assumes that an arm of the best set is chosen at least "
                f"as often in every other set; in {world.name or 'this world'} arm "
                f"{found.arm} is chosen with probability {found.probability:.6g} in "
                f"the set {found.offered}, and with {found.in_best_set:.6g} in the "
                "best set. Its regret bounds do not apply",
                AssumptionWarning,
                stacklevel=2,
            )

    def init(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> State:
        """Return the state before the first round; consumes ``rng_key``.

        ``revenues`` is what a choice of each arm earns, as far as that is told.
        """
        raise NotImplementedError

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Offer, State]:
        """Say what to offer from ``round_`` on; consumes ``rng_key``.

        Only loop positions may move in the state here, never statistics.
        """
        raise NotImplementedError

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> State:
        """Take in what was played; ``round_`` is the last round of it."""
        raise NotImplementedError

    def recommend(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, rng_key: RunKey, state: State
    ) -> Bool[Array, " n"]:
        """Return the set that the policy believes to be best."""
        raise NotImplementedError


def _misfit(policy: SubsetPolicy, words: str, remedy: str) -> SimulationArgumentError:
    """Return the error of a policy that means nothing in a world."""
    rule = f"{policy.label} {words}"
    return SimulationArgumentError.of("policies", rule, policy, remedy=remedy)


def warn_above_one(label: str, world: "ChoiceWorld") -> None:
    """Warn where rewards exceed the 1 that a confidence bound assumes."""
    if world.largest_reward > 1.0:
        warnings.warn(
            f"{label} assumes rewards in [0, 1]; those of {world.name or 'this world'} "
            f"reach {world.largest_reward:g}",
            AssumptionWarning,
            stacklevel=3,
        )


def one_offer(subset: Bool[Array, " n"]) -> Offer:
    """Return an offer for a single round."""
    return Offer(subset=subset, rounds=jnp.int64(1), until_no_choice=jnp.bool_(False))


def offer_until_no_choice(subset: Bool[Array, " n"], *, in_bulk: bool) -> Offer:
    """Return an offer until nobody is chosen, or for its first round only."""
    return Offer(
        subset=subset,
        rounds=jnp.int64(NEVER if in_bulk else 1),
        until_no_choice=jnp.bool_(in_bulk),
    )


def tie_breakers(rng_key: RunKey, num_arms: int) -> Float[Array, " n"]:
    """Draw one uniform per arm; consumes ``rng_key``."""
    return jax.random.uniform(rng_key, (num_arms,), dtype=jnp.float64)


def ranks(values: Float[Array, " n"], uniforms: Float[Array, " n"]) -> Int[Array, " n"]:
    """Return the place of every arm by decreasing value, ties at random, from 0 on.

    By counting: a sort would put the lanes in the wrong order.
    """
    values, uniforms = materialize(values, uniforms)
    above = values[None, :] > values[:, None]
    tied = values[None, :] == values[:, None]
    first = tied & (uniforms[None, :] > uniforms[:, None])
    return jnp.sum(above | first, axis=1, dtype=jnp.int32)


def top(
    values: Float[Array, " n"], uniforms: Float[Array, " n"], size: int
) -> Bool[Array, " n"]:
    """Mark the ``size`` arms with the largest values; ties at random."""
    return ranks(values, uniforms) < size
