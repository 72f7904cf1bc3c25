"""Copeland Confidence Bound (Zoghi, Karnin, Whiteson and de Rijke 2015)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import column_of, mark_largest, row_of
from bayesduel.ops.sampling import choose_among, choose_weighted, waiting_time
from bayesduel.policies.base import Policy, check_above, most_beaten, policy_class
from bayesduel.policies.confidence_bounds import (
    uncompared,
    upper_bounds_against,
    with_pair,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.policies.ucb._believed_signs import (
    CHECK,
    LOYALTY,
    RIVALS,
    BelievedLosses,
    SureSigns,
    believe_nothing,
    is_settled,
    revise,
    sure_signs,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory import ccb_order


class CopelandConfidenceBoundState(NamedTuple):
    """Counts, and who is believed to lose to whom."""

    wins: Int[Array, "K K"]
    resolution: Float[Array, "K K"]
    """Log of the last round at which a pair's bounds exclude 1/2."""

    beliefs: BelievedLosses


class _Draws(NamedTuple):
    """One event's uniforms on [0, 1), by purpose."""

    wait: Float[Array, ""]
    check: Float[Array, ""]
    loyalty: Float[Array, ""]
    champion: Float[Array, ""]
    rivals: Float[Array, ""]
    challenger: Float[Array, ""]
    idle: Float[Array, ""]


@register("ccb", acronym="CCB", theorems=(ccb_order,))
@policy_class
class CopelandConfidenceBound(Policy):
    """Copeland Confidence Bound (CCB).

    The optimistic champions are the arms that, by their upper bounds, may beat the most
    others. Beside them the algorithm keeps the arms that may still be Copeland winners,
    and for the others a short list of arms believed to beat them (as many as prove
    that an arm is no winner), which it forgets when a belief is disproved. With
    probability 1/4 an open belief is checked; else a champion is drawn, with
    probability 2/3 among the potential winners if it can be, and meets the arm with the
    largest upper bound against it, of all arms or (1/2) of its believed superiors,
    without arms that beat it for sure. ``log`` is natural; an uncompared pair has u = 2
    and l = 0.

    A champion meets itself when all its pairs are decided. While no bound reaches 1/2
    the sets stay as they are, the rounds are independent, and the number of such self-
    duels is geometric; ``look_ahead`` draws it at once. The law of all counts of
    different arms, of the state at every round, and the mean of every regret are
    exactly those of the step form. One champion is drawn per idle stretch, so with
    several optimistic champions the split of self-duels among them is coarser.

    Ties among challengers are broken at random, never in favor of the champion. Where
    no believed superior is admissible all arms are (not stated in the paper; the
    program of Wu and Liu 2016 does so). Believed superiors to keep are drawn
    independently for each arm.

    Parameters
    ----------
    alpha : float
        Bounds wins/n +- sqrt(alpha log t / n); > 1/2 in the theory.
    look_ahead : bool
        Jump over self-duels.

    References
    ----------
    M. Zoghi, Z. Karnin, S. Whiteson, M. de Rijke, "Copeland Dueling Bandits", NIPS
    2015, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ccb", alpha=0.765).label
    'CCB:alpha=0.765'
    """

    alpha: float = 0.51
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Copeland Confidence Bound"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> CopelandConfidenceBoundState:
        """Return the state before the first round."""
        return CopelandConfidenceBoundState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            resolution=uncompared(num_arms),
            beliefs=believe_nothing(num_arms),
        )

    def choose(
        self, rng_key: RunKey, state: CopelandConfidenceBoundState, round_: RoundCount
    ) -> tuple[Duel, CopelandConfidenceBoundState]:
        """Revise the beliefs, then choose the duel and the self-duels before it."""
        key_beliefs, key_draws = jax.random.split(rng_key)
        signs = sure_signs(state.wins, state.resolution, round_)
        beliefs = revise(key_beliefs, state.beliefs, signs)
        state = state._replace(beliefs=beliefs)
        uniforms = jax.random.uniform(
            key_draws, (len(_Draws._fields),), dtype=jnp.float64
        )
        draws = _Draws(*uniforms)
        pool = _champion_law(signs, beliefs)
        checkable = beliefs.superiors & signs.open
        check = jnp.where(jnp.any(checkable), CHECK, 0.0)
        if self.look_ahead:
            window = jnp.where(is_settled(beliefs, signs), signs.rounds, 1)
            duelling = jnp.any(signs.open, axis=0)
            busy = jnp.where(duelling, pool, 0.0)
            resting = jnp.where(duelling, 0.0, pool)
            chance = check + (1.0 - check) * jnp.sum(busy)
            # A sum of probabilities may be rounded on either side of 1.
            chance = jnp.where(jnp.any(resting > 0.0), chance, 1.0)
            idle, happens = waiting_time(draws.wait, chance, window)
            checks = draws.check * chance < check
            host = choose_weighted(draws.idle, resting)
        else:
            busy, idle, happens = pool, jnp.int64(0), jnp.bool_(True)
            checks = draws.check < check
            host = jnp.int32(0)
        champion = choose_weighted(draws.champion, busy)
        challenger = self._challenger(draws, state, signs, champion, round_ + idle)
        row, column = _pick_pair(draws, checkable)
        duel = Duel(
            champion=host,
            exploit_rounds=idle,
            first=jnp.where(checks, row, champion),
            second=jnp.where(checks, column, challenger),
            explore_rounds=happens.astype(jnp.int64),
        )
        return duel, state

    def _challenger(
        self,
        draws: _Draws,
        state: CopelandConfidenceBoundState,
        signs: SureSigns,
        champion: Arm,
        round_: RoundCount,
    ) -> Arm:
        """Return the arm most optimistic against the champion (line 8).

        Among all arms one whose bounds contain 1/2 always comes before the champion,
        whose own bound is 1/2, and one that the champion beats for sure after it.
        """
        arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
        anyone = column_of(signs.open, champion)
        anyone = jnp.where(jnp.any(anyone), anyone, arms == champion)
        believed = row_of(state.beliefs.superiors, champion)
        believed = believed & ~row_of(signs.behind, champion)
        narrow = (draws.rivals < RIVALS) & jnp.any(believed)
        among = jnp.where(narrow, believed, anyone)
        upper = upper_bounds_against(champion, state.wins, round_, self.alpha)
        return choose_among(draws.challenger, mark_largest(upper, among))

    def update(
        self,
        rng_key: RunKey,
        state: CopelandConfidenceBoundState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> CopelandConfidenceBoundState:
        """Count the outcome."""
        wins = add_wins(state.wins, duel, outcome)
        resolution = with_pair(state.resolution, wins, duel, self.alpha)
        return state._replace(wins=wins, resolution=resolution)

    def recommend(self, rng_key: RunKey, state: CopelandConfidenceBoundState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.ucb._scalar_copeland_confidence_bound import kernel

        return kernel(alpha=float(self.alpha), look_ahead=self.look_ahead)


def _champion_law(signs: SureSigns, beliefs: BelievedLosses) -> Float[Array, " K"]:
    """P(champion), unless a belief is checked (lines 6 and 7)."""
    optimistic = _uniform(signs.optimistic)
    both = signs.optimistic & beliefs.hopefuls
    mixed = LOYALTY * _uniform(both) + (1.0 - LOYALTY) * optimistic
    return jnp.where(jnp.any(both), mixed, optimistic)


def _uniform(members: Bool[Array, " K"]) -> Float[Array, " K"]:
    number = jnp.maximum(jnp.sum(members, dtype=jnp.int32), 1)
    return members.astype(jnp.float64) / number.astype(jnp.float64)


def _pick_pair(draws: _Draws, pairs: Bool[Array, "K K"]) -> tuple[Arm, Arm]:
    """Draw an entry of a mask, all equally likely; arms 0 and 0 from an empty one."""
    weights = jnp.sum(pairs, axis=1, dtype=jnp.int32).astype(jnp.float64)
    row = choose_weighted(draws.champion, weights)
    return row, choose_among(draws.challenger, row_of(pairs, row))
