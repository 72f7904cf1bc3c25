"""Interleaved Filter (Yue, Broder, Kleinberg and Joachims 2012)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.policies.base import Policy, check_choice, one_round, policy_class
from bayesduel.policies.commitment import commit
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

VARIANTS = ("if1", "if2")


class InterleavedFilterState(NamedTuple):
    """The incumbent, its rivals, and what is known of their duels."""

    incumbent: Arm
    rivals: Bool[Array, " K"]
    wins: Int[Array, " K"]
    """Duels against each rival that the incumbent won."""

    duels: Int[Array, " K"]
    place: Arm
    """The rival dueled last in this sweep; -1 before the first, K at the start."""

    log_level: Float[Array, ""]
    """log(1/delta) = log(T K^2)."""


class _Verdict(NamedTuple):
    """Who remains after a sweep."""

    incumbent: Arm
    rivals: Bool[Array, " K"]
    falls: Bool[Array, ""]
    """Whether the incumbent was replaced."""


@register("interleaved-filter", acronym="IF")
@policy_class
class InterleavedFilter(Policy):
    """Interleaved Filter (IF1, IF2).

    An incumbent, random at first, duels every rival once per sweep, in the order of
    their positions. After a sweep, with shares P of duels won by the incumbent and c =
    sqrt(4 log(T K^2) / n) after n duels of a pair (natural logarithm, T the horizon),
    rivals with P - c > 1/2 are dropped; if some rival has P + c < 1/2, the first one
    becomes the incumbent and all estimates start anew. IF2 then also drops all rivals
    with P > 1/2, without any confidence. When no rival is left the incumbent is played
    against itself. For strong stochastic transitivity with the stochastic triangle
    inequality.

    Each round of a sweep changes an estimate, and rivals alternate, so the exploration
    is stepped; ``look_ahead`` plays the rest as one stretch. Nothing is random but the
    first incumbent. The recommendation is the incumbent.

    Parameters
    ----------
    variant : {"if1", "if2"}
        Without or with the additional removals.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    Y. Yue, J. Broder, R. Kleinberg, T. Joachims, "The K-armed Dueling Bandits Problem",
    Journal of Computer and System Sciences 78, 2012, Algorithms 2 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("interleaved-filter").label
    'IF'
    """

    variant: str = field(default="if2", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Interleaved Filter"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_choice("variant", self.variant, VARIANTS)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> InterleavedFilterState:
        """Return the state before the first round."""
        incumbent = jax.random.randint(rng_key, (), 0, num_arms, dtype=jnp.int32)
        rounds = jnp.asarray(horizon).astype(jnp.float64)
        return InterleavedFilterState(
            incumbent=incumbent,
            rivals=jnp.arange(num_arms, dtype=jnp.int32) != incumbent,
            wins=jnp.zeros(num_arms, dtype=jnp.int32),
            duels=jnp.zeros(num_arms, dtype=jnp.int32),
            place=jnp.int32(num_arms),
            log_level=jnp.log(rounds) + 2.0 * jnp.log(jnp.float64(num_arms)),
        )

    def choose(
        self, rng_key: RunKey, state: InterleavedFilterState, round_: RoundCount
    ) -> tuple[Duel, InterleavedFilterState]:
        """Choose the next rival of the sweep; judge the last sweep before a new one."""
        arms = jnp.arange(state.rivals.shape[0], dtype=jnp.int32)
        over = ~jnp.any(state.rivals & (arms > state.place))
        verdict = self._judge(state)
        falls = over & verdict.falls
        rivals = jnp.where(over, verdict.rivals, state.rivals)
        waiting = rivals & (over | (arms > state.place))
        place = jnp.argmax(waiting).astype(jnp.int32)
        state = state._replace(
            incumbent=jnp.where(over, verdict.incumbent, state.incumbent),
            rivals=rivals,
            wins=jnp.where(falls, 0, state.wins),
            duels=jnp.where(falls, 0, state.duels),
            place=place,
        )
        duel = commit(
            one_round(state.incumbent, place),
            state.incumbent,
            ~jnp.any(rivals),
            look_ahead=self.look_ahead,
        )
        return duel, state

    def _judge(self, state: InterleavedFilterState) -> _Verdict:
        """Drop rivals, or replace the incumbent, at the end of a sweep."""
        lead = (2 * state.wins - state.duels).astype(jnp.float64)
        # |P - 1/2| > c with n the number of duels: (w - l)^2 > 16 n log(1/delta).
        level = 16.0 * state.duels.astype(jnp.float64) * state.log_level
        sure = lead * lead > level
        rivals = state.rivals & ~(sure & (lead > 0.0))
        better = rivals & sure & (lead < 0.0)
        falls = jnp.any(better)
        heir = jnp.argmax(better).astype(jnp.int32)
        rest = rivals & (jnp.arange(rivals.shape[0], dtype=jnp.int32) != heir)
        if self.variant == "if2":
            rest = rest & (lead <= 0.0)
        return _Verdict(
            incumbent=jnp.where(falls, heir, state.incumbent),
            rivals=jnp.where(falls, rest, rivals),
            falls=falls,
        )

    def update(
        self,
        rng_key: RunKey,
        state: InterleavedFilterState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> InterleavedFilterState:
        """Count a duel of the incumbent; one of a former incumbent says nothing."""
        arms = jnp.arange(state.rivals.shape[0], dtype=jnp.int32)
        counts = (arms == duel.second) & (duel.first == state.incumbent)
        counts = counts & (duel.second != duel.first)
        won = jnp.where(counts, outcome.wins, 0).astype(jnp.int32)
        played = jnp.where(counts, outcome.rounds, 0).astype(jnp.int32)
        return state._replace(wins=state.wins + won, duels=state.duels + played)

    def recommend(self, rng_key: RunKey, state: InterleavedFilterState) -> Arm:
        """Return the incumbent."""
        return state.incumbent
