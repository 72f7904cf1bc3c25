"""A world of subset choice, and the ledger of who was offered.

A policy in NumPy is answered by ``set_worlds``, one that JAX plays by what is here.
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int, Num

from bayesduel.instances.choice import (
    ChoiceRule,
    ChoiceWorld,
    GaussianRule,
    LogitRule,
    TableRule,
)
from bayesduel.instances.choice.costs import Cost
from bayesduel.ops.sampling import cumulative
from bayesduel.types import Batch, Offer, Rewards, RoundCount, RunKey, State

for _rule in (GaussianRule, LogitRule, TableRule):
    _names = [field.name for field in fields(_rule)]
    jax.tree_util.register_dataclass(
        _rule,
        data_fields=[name for name in _names if name != "no_choice"],
        meta_fields=[name for name in _names if name == "no_choice"],
    )


class SubsetLane(NamedTuple):
    """One run's share of the environment."""

    order: Int[Array, " n"]
    """``order[position]`` is the arm that the policy knows as ``position``."""

    offers: Int[Array, " n"]
    """Rounds in which each position was offered."""

    regret: Float[Array, " N"]
    """Sum per notion."""


class SubsetCosts(NamedTuple):
    """The numbers of every notion of regret; see ``theory.subset_cost``."""

    best: Float[Array | np.ndarray, " N"]
    values: Float[Array | np.ndarray, "N n"]


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["rule", "costs", "revenues", "largest_reward"],
    meta_fields=["subset_size", "feedback", "forms", "levels", "places", "shuffle"],
)
@dataclass(frozen=True, eq=False, kw_only=True)
class SubsetEnvironment:
    """Answers to offers of subsets, with fixed probabilities.

    Made by :meth:`from_world`.

    Parameters
    ----------
    rule : ChoiceRule
        P(i|s).
    costs : SubsetCosts
        The notions of regret that are recorded.
    revenues : float64 (n,)
        What a choice of each arm earns; told to the policies.
    largest_reward : float64 ()
        Largest reward of an arm in one round.
    subset_size, feedback, levels, places
        As in :class:`bayesduel.instances.choice.ChoiceWorld`. Static.
    forms : tuple of str
        Form of each notion. Static.
    shuffle : bool
        Relabel the arms at random in each run. Static.
    """

    rule: ChoiceRule
    costs: SubsetCosts
    revenues: Any
    largest_reward: Any
    subset_size: int
    feedback: str
    forms: tuple[str, ...]
    levels: int
    places: int
    shuffle: bool

    @classmethod
    def from_world(
        cls, world: ChoiceWorld, notions: tuple[str, ...], *, shuffle: bool = True
    ) -> "SubsetEnvironment":
        """Return the environment of a world that records some notions of regret.

        Raises
        ------
        ChoiceWorldError
            If a notion does not exist in this world.
        """
        costs = [world.cost(notion) for notion in notions]
        revenues = world.revenues
        return cls(
            rule=world.rule,
            costs=SubsetCosts(
                best=np.array([cost.best for cost in costs]),
                values=np.stack([cost.values for cost in costs]),
            ),
            revenues=np.ones(world.num_arms)
            if revenues is None
            else np.array(revenues),
            largest_reward=np.array(world.largest_reward, dtype=np.float64),
            subset_size=world.subset_size,
            feedback=world.feedback,
            forms=tuple(cost.form for cost in costs),
            levels=world.levels,
            places=world.places,
            shuffle=shuffle,
        )

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.revenues.shape[0]

    def init(self, order: Int[Array, " n"]) -> SubsetLane:
        """Return an empty ledger of a run with this order of arms."""
        return SubsetLane(
            order=order,
            offers=jnp.zeros(self.num_arms, dtype=jnp.int64),
            regret=jnp.zeros(len(self.forms), dtype=jnp.float64),
        )

    def init_policy(
        self, policy: Any, rng_key: RunKey, lane: SubsetLane, horizon: RoundCount
    ) -> State:
        """Let a policy prepare for a run: n, k, the horizon, and the revenues."""
        revenues = jnp.sum(
            jnp.where(_places(lane), jnp.asarray(self.revenues)[None, :], 0.0), axis=1
        )
        return policy.init(rng_key, self.num_arms, self.subset_size, horizon, revenues)

    def play(
        self,
        rng_key: RunKey,
        lane: SubsetLane,
        offer: Offer,
        rounds_left: RoundCount,
        *,
        in_bulk: bool,
    ) -> tuple[Offer, Rewards, RoundCount]:
        """Cut an offer at the horizon and draw its rewards; consumes ``rng_key``.

        It is for one round, in which one arm at most is chosen.
        """
        rounds = jnp.minimum(jnp.minimum(offer.rounds, 1), rounds_left)
        chances = self.rule.chances(_arms_of(lane, offer.subset))
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        rewards = jnp.where(rounds > 0, winner(uniform, chances), 0.0)
        rewards = jnp.sum(jnp.where(_places(lane), rewards[None, :], 0.0), axis=1)
        offer = offer._replace(rounds=rounds)
        return offer, Rewards(rounds=rounds, rewards=rewards), rounds

    @staticmethod
    def cut(offer: Batch[Offer], rounds: Int[Array, "..."]) -> Batch[Offer]:
        """Return the first ``rounds`` rounds of an offer or, elementwise, of many."""
        return offer._replace(rounds=jnp.clip(rounds, 0, offer.rounds))

    def record(self, lane: SubsetLane, offer: Offer) -> SubsetLane:
        """Add what was played to the ledger."""
        offered = _arms_of(lane, offer.subset)
        regret = jnp.stack(
            [self._cost(index, form, offered) for index, form in enumerate(self.forms)]
        )
        return lane._replace(
            offers=lane.offers + jnp.where(offer.subset, offer.rounds, 0),
            regret=lane.regret + regret * offer.rounds.astype(jnp.float64),
        )

    def _cost(
        self, index: int, form: str, offered: Bool[Array, " n"]
    ) -> Float[Array, ""]:
        """Regret of one round in one notion."""
        best = jnp.asarray(self.costs.best)[index]
        values = jnp.asarray(self.costs.values)[index]
        return Cost(form, best, values).of(self.rule, offered)

    def ledger(self, lane: SubsetLane) -> dict[str, Num[Array, "..."]]:
        """Return what is written down at a checkpoint."""
        return {"offers": lane.offers, "regret": lane.regret}

    def with_original_labels(
        self,
        ledger: dict[str, Num[np.ndarray, "run C ..."]],
        recommendation: Bool[np.ndarray, "run n"],
        order: Int[np.ndarray, "run n"],
    ) -> tuple[dict[str, Num[np.ndarray, "run C ..."]], Bool[np.ndarray, "run n"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        position = np.argsort(order, axis=1)
        offers = np.take_along_axis(ledger["offers"], position[:, None, :], axis=2)
        best = np.take_along_axis(recommendation, position, axis=1)
        return {"offers": offers, "regret": ledger["regret"]}, best


def _places(lane: SubsetLane) -> Bool[Array, "n n"]:
    """[position, arm]: who stands where."""
    arms = jnp.arange(lane.order.shape[0], dtype=lane.order.dtype)
    return lane.order[:, None] == arms[None, :]


def _arms_of(lane: SubsetLane, subset: Bool[Array, " n"]) -> Bool[Array, " n"]:
    """Turn a set of positions into a set of arms."""
    return jnp.any(_places(lane) & subset[:, None], axis=0)


def winner(
    uniform: Float[Array, ""], chances: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Draw who is chosen in one round: 1 for the winner, or 0 for all.

    Nobody is chosen with the rest of the probability.
    """
    upper = cumulative(chances)
    lower = jnp.concatenate([jnp.zeros(1, dtype=upper.dtype), upper[:-1]])
    return ((lower <= uniform) & (uniform < upper)).astype(jnp.float64)
