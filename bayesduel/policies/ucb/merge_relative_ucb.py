"""MergeRUCB (Zoghi, Whiteson and de Rijke 2015)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.masks import mark_largest
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    most_beaten,
    one_round,
    policy_class,
)
from bayesduel.policies.commitment import commit
from bayesduel.policies.confidence_bounds import (
    resolutions,
    surely_beaten,
    upper_bounds_against,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.policies.ucb._arm_groups import (
    REMOVED,
    ArmGroups,
    group_sizes,
    members_of,
    merge_when_few,
    most_groups,
    next_group,
    random_groups,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

_LATEST = 2**61
"""C beyond this says the same, and t + C must not overflow."""


class MergeRUCBState(NamedTuple):
    """Counts, the groups, and whose turn it is."""

    wins: Int[Array, "K K"]
    groups: ArmGroups
    turn: Int[Array, ""]


@register("merge-rucb", acronym="MergeRUCB")
@policy_class
class MergeRUCB(Policy):
    """MergeRUCB: relative upper confidence bounds within small groups of arms.

    The arms are split at random into groups of ``group_size``. The groups take turns.
    In its turn a group removes arms with an upper bound w/n + sqrt(alpha log(t + C) /
    n) below 1/2 against one of its members, in the order of their positions, each time
    by what is left (natural logarithm; the bound is 2 for an uncompared pair). Then a
    random member duels the member with the largest upper bound against it; a member
    that is alone duels itself, and its group is passed over from then on. When at most
    K / 2^stage + 1 arms are left, groups are merged, the smallest with the largest, as
    long as no group exceeds 1.5 times ``group_size``; if the smallest group then has at
    most half of ``group_size`` arms, once more. The turn goes back to the first group.

    C = ceil(((4 alpha - 1) K^2 / ((2 alpha - 1) delta))^(1 / (2 alpha - 1))) is large,
    so a loser by a gap g is removed only after about alpha log(t + C) / g^2 duels.

    Ties are broken at random. Each round before the last arm is left draws a champion,
    so it is stepped; ``look_ahead`` plays the rest as one stretch. The recommendation
    is the arm left that beats the most others empirically.

    Parameters
    ----------
    alpha : float
        Width of the bounds, above 1/2; 1.01 in the paper.
    delta : float
        Failure probability in C, between 0 and 1.
    group_size : int
        Arms per group, at least 4.
    look_ahead : bool
        Play the end as one stretch. Both forms play the same duels.

    References
    ----------
    M. Zoghi, S. Whiteson, M. de Rijke, "MergeRUCB: A Method for Large-Scale Online
    Ranker Evaluation", WSDM 2015, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("merge-rucb", alpha=1.515).label
    'MergeRUCB:alpha=1.515'
    """

    alpha: float = 1.01
    delta: float = 0.01
    group_size: int = field(default=4, metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "MergeRUCB"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)
        check_at_least("group_size", self.group_size, 4)
        if not 0.0 < self.delta < 1.0:
            raise PolicyParameterError(
                f"delta must be a probability between 0 and 1, got {self.delta!r}"
            )

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> MergeRUCBState:
        """Return the state before the first round."""
        uniforms = jax.random.uniform(rng_key, (num_arms,), dtype=jnp.float64)
        return MergeRUCBState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            groups=random_groups(uniforms, self.group_size),
            turn=jnp.int32(0),
        )

    def choose(
        self, rng_key: RunKey, state: MergeRUCBState, round_: RoundCount
    ) -> tuple[Duel, MergeRUCBState]:
        """Thin out the group whose turn it is, choose two of its arms, then merge."""
        num_arms = state.wins.shape[0]
        most = most_groups(num_arms, self.group_size)
        uniforms = jax.random.uniform(rng_key, (2 + 2 * most,), dtype=jnp.float64)
        late = round_ + self._delay(num_arms)
        sizes = group_sizes(state.groups.label, most)
        group = next_group(state.groups, sizes, state.turn)
        here = members_of(state.groups, group)
        resolution = resolutions(state.wins, self.alpha)
        left = _without_losers(here, surely_beaten(state.wins, resolution, late))
        champion, challenger = self._pair(uniforms[:2], state.wins, left, late)

        label = jnp.where(here & ~left, REMOVED, state.groups.label)
        groups = state.groups._replace(label=label)
        alone = jnp.sum(label != REMOVED, dtype=jnp.int32) == 1
        ties = uniforms[2:].reshape(2, most)
        merged = merge_when_few(ties, groups, self.group_size)
        turn = jnp.where(group + 1 >= groups.number, 0, group + 1).astype(jnp.int32)
        turn = jnp.where(merged.stage > groups.stage, 0, turn).astype(jnp.int32)
        duel = commit(
            one_round(champion, challenger),
            champion,
            alone,
            look_ahead=self.look_ahead,
        )
        return duel, state._replace(groups=merged, turn=turn)

    def _delay(self, num_arms: int) -> RoundCount:
        """C, the rounds by which the clock is ahead."""
        alpha = jnp.asarray(self.alpha, dtype=jnp.float64)
        delta = jnp.asarray(self.delta, dtype=jnp.float64)
        excess = 2.0 * alpha - 1.0
        base = (4.0 * alpha - 1.0) * float(num_arms**2) / (excess * delta)
        rounds = jnp.ceil(base ** (1.0 / excess))
        return jnp.minimum(rounds, float(_LATEST)).astype(jnp.int64)

    def _pair(
        self,
        uniforms: Float[Array, "2"],
        wins: Int[Array, "K K"],
        members: Bool[Array, " K"],
        late: RoundCount,
    ) -> tuple[Arm, Arm]:
        """Draw a champion; its challenger is the most optimistic other member."""
        champion = choose_among(uniforms[0], members)
        arms = jnp.arange(members.shape[0], dtype=jnp.int32)
        rivals = members & (arms != champion)
        upper = upper_bounds_against(champion, wins, late, self.alpha)
        challenger = choose_among(uniforms[1], mark_largest(upper, rivals))
        return champion, jnp.where(jnp.any(rivals), challenger, champion)

    def update(
        self,
        rng_key: RunKey,
        state: MergeRUCBState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> MergeRUCBState:
        """Count the outcome."""
        return state._replace(wins=add_wins(state.wins, duel, outcome))

    def recommend(self, rng_key: RunKey, state: MergeRUCBState) -> Arm:
        """Return the arm left that empirically beats the most others."""
        return most_beaten(rng_key, state.wins, state.groups.label != REMOVED)


def _without_losers(
    members: Bool[Array, " K"], beaten: Bool[Array, "K K"]
) -> Bool[Array, " K"]:
    """Remove, one by one, members that surely lose to a member still there."""
    arms = jnp.arange(members.shape[0], dtype=jnp.int32)
    beaten = beaten & members[:, None] & members[None, :]

    def losers(members: Bool[Array, " K"]) -> Bool[Array, " K"]:
        return members & jnp.any(beaten & members[None, :], axis=1)

    def remove(members: Bool[Array, " K"]) -> Bool[Array, " K"]:
        return members & (arms != jnp.argmax(losers(members)).astype(jnp.int32))

    # Mostly no turn of the loop, and one where an outcome has just decided a pair.
    return lax.while_loop(lambda members: jnp.any(losers(members)), remove, members)
