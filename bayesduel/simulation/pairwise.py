"""A preference matrix that answers duels, and the ledger of who met whom."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import element_of, entry_of, ordered_pair_mask
from bayesduel.simulation._binomial_draws import binomial
from bayesduel.types import Arm, Batch, Duel, Outcome, RoundCount, RunKey, State


class PairwiseLane(NamedTuple):
    """One run's share of the environment."""

    order: Int[Array, " K"]
    """``order[position]`` is the arm that the policy knows as ``position``."""

    plays: Int[Array, "K K"]
    """Rounds per unordered pair of positions: [first, second] as it was presented."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["preference"],
    meta_fields=["shuffle"],
)
@dataclass(frozen=True)
class PairwiseEnvironment:
    """Independent answers with fixed probabilities.

    Parameters
    ----------
    preference : float64 (K, K)
        P(arm i is preferred to arm j).
    shuffle : bool
        Relabel the arms at random in each run, so that no policy profits from their
        order. Static: it changes the program.
    """

    preference: Float[Array | np.ndarray, "K K"]
    shuffle: bool = True

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.preference.shape[0]

    def init(self, order: Int[Array, " K"]) -> PairwiseLane:
        """Return an empty ledger of a run with this order of arms."""
        return PairwiseLane(
            order=order,
            plays=jnp.zeros((self.num_arms, self.num_arms), dtype=jnp.int64),
        )

    def init_policy(
        self, policy: Any, rng_key: RunKey, lane: PairwiseLane, horizon: RoundCount
    ) -> State:
        """Let a policy prepare for a run: K, the horizon, and how arms are labeled."""
        return policy.in_order(lane.order).init(rng_key, self.num_arms, horizon)

    def play(
        self,
        rng_key: RunKey,
        lane: PairwiseLane,
        duel: Duel,
        rounds_left: RoundCount,
        *,
        in_bulk: bool,
    ) -> tuple[Duel, Outcome, RoundCount]:
        """Cut a duel at the horizon and draw its outcome; consumes ``rng_key``.

        Returns the duel as it was played, its outcome, and the rounds that it took.
        """
        exploit = jnp.minimum(duel.exploit_rounds, rounds_left)
        explore = jnp.minimum(duel.explore_rounds, rounds_left - exploit)
        duel = duel._replace(exploit_rounds=exploit, explore_rounds=explore)
        wins = self.answer(
            rng_key, lane, duel.first, duel.second, explore, in_bulk=in_bulk
        )
        outcome = Outcome(exploit_rounds=exploit, rounds=explore, wins=wins)
        return duel, outcome, exploit + explore

    @staticmethod
    def cut(duel: Batch[Duel], rounds: Int[Array, "..."]) -> Batch[Duel]:
        """Return the first ``rounds`` rounds of a duel or, elementwise, of many."""
        explore = rounds - duel.exploit_rounds
        return duel._replace(
            exploit_rounds=jnp.clip(rounds, 0, duel.exploit_rounds),
            explore_rounds=jnp.clip(explore, 0, duel.explore_rounds),
        )

    def answer(
        self,
        rng_key: RunKey,
        lane: PairwiseLane,
        first: Arm,
        second: Arm,
        rounds: RoundCount,
        *,
        in_bulk: bool,
    ) -> RoundCount:
        """Draw how many of ``rounds`` comparisons ``first`` wins.

        ``in_bulk=False`` promises that ``rounds`` is 0 or 1, which saves the binomial
        generator.
        """
        one, other = element_of(lane.order, first), element_of(lane.order, second)
        probability = entry_of(jnp.asarray(self.preference), one, other)
        if in_bulk:
            return binomial(rng_key, rounds, probability)
        won = jax.random.uniform(rng_key, dtype=jnp.float64) < probability
        return jnp.where(won, rounds, 0)

    def record(self, lane: PairwiseLane, duel: Duel) -> PairwiseLane:
        """Add what was played to the ledger."""
        champion = ordered_pair_mask(self.num_arms, duel.champion, duel.champion)
        pair = ordered_pair_mask(self.num_arms, duel.first, duel.second)
        plays = (
            lane.plays
            + jnp.where(champion, duel.exploit_rounds, 0)
            + jnp.where(pair, duel.explore_rounds, 0)
        )
        return lane._replace(plays=plays)

    def ledger(self, lane: PairwiseLane) -> dict[str, Int[Array, "K K"]]:
        """Return what is written down at a checkpoint."""
        return {"plays": lane.plays}

    def with_original_labels(
        self,
        ledger: dict[str, Int[np.ndarray, "run C K K"]],
        recommendation: Int[np.ndarray, " run"],
        order: Int[np.ndarray, "run K"],
    ) -> tuple[dict[str, Int[np.ndarray, "run C K K"]], Int[np.ndarray, " run"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        best = np.take_along_axis(order, recommendation[:, None], axis=1)[:, 0]
        plays = self.unshuffle(ledger["plays"], order)
        return {"plays": plays}, best.astype(np.int64)

    @staticmethod
    def unshuffle(
        plays: Int[np.ndarray, "run C K K"], order: Int[np.ndarray, "run K"]
    ) -> Int[np.ndarray, "run C K K"]:
        """Give recorded plays their original labels.

        Rounds of {i, j} go to [min(i, j), max(i, j)]; self-duels stay on the diagonal.
        """
        num_arms = plays.shape[-1]
        position = np.argsort(order, axis=1)
        run = np.arange(len(plays))[:, None, None, None]
        checkpoint = np.arange(plays.shape[1])[None, :, None, None]
        row = position[:, None, :, None]
        column = position[:, None, None, :]
        own = plays[run, checkpoint, row, column]
        both = own + np.swapaxes(own, 2, 3)
        upper = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
        diagonal = np.eye(num_arms, dtype=bool)
        return np.where(upper, both, np.where(diagonal, own, 0))
