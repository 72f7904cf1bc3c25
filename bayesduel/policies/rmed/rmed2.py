"""RMED2 (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import element_of, row_of
from bayesduel.ops.resolved_rounds import (
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.policies.base import (
    check_above,
    check_at_least,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import add_asked, lowest
from bayesduel.policies.pair_evidence import (
    PairEvidence,
    empty_evidence,
    estimated_gaps,
)
from bayesduel.policies.play_lists import PlayLists, first_pass
from bayesduel.policies.registry import register
from bayesduel.policies.rmed.rmed1 import RMED1
from bayesduel.types import Arm, Duel, RoundCount, RunKey, State


class RMED2State(NamedTuple):
    """Evidence and draws per pair, and the place in the lists."""

    pairs: PairEvidence
    asked: Int[Array, "K K"]
    """N_ij: duels asked for, whether their outcomes are known or not; symmetric."""

    passes: PlayLists


@register("rmed2", acronym="RMED2")
@policy_class
class RMED2(RMED1):
    """Relative Minimum Empirical Divergence, second version (RMED2).

    As :class:`RMED1`, with two changes. At the head of each pass every pair compared
    fewer than alpha log log t times is drawn, outside the lists. And arm l meets, in
    place of RMED1's opponent, the arm that proves it not to be the Condorcet winner at
    the least cost,

        b_l = argmin over j with mu_lj < 1/2 of
              (mu_{i*l} + mu_{i*j} - 1) / KL(mu_lj, 1/2),

    unless l was compared with i* fewer than N_{l b_l} / log log t times. The numerator,
    twice the regret of the pair, is estimated and floored. Natural logarithms; log log
    t is taken at t >= 3 in the first place and at t >= 16, where it is about 1, in the
    second. Both rules count duels when they are asked for, so also those whose outcomes
    are on their way (delayed feedback).

    The list order is the order of the arms, and ties go to the lowest position, as in
    RMED1. Rare pairs are drawn in lexicographic order, one at a time, with t moving on.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Of the forced draws; 3 in the paper.
    numerator_floor : float
        Smallest numerator of b_l; estimates may be negative early on. 0.01 as in the
        authors' program, the paper has no floor, which is -1 here.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2", f_scale=0.45).label
    'RMED2:f_scale=0.45'
    """

    alpha: float = 3.0
    numerator_floor: float = 0.01

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_above("alpha", self.alpha, 0.0)
        check_at_least("numerator_floor", self.numerator_floor, -1.0)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round."""
        pairs = empty_evidence(num_arms)
        return RMED2State(
            pairs=pairs,
            asked=jnp.zeros_like(pairs.wins),
            passes=first_pass(jnp.ones(num_arms, dtype=bool)),
        )

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Choose as RMED1 does, and count the draw."""
        duel, state = super().choose(rng_key, state, round_)
        return duel, state._replace(asked=add_asked(state.asked, duel))

    def _out_of_turn(
        self, state: State, passes: PlayLists, round_: RoundCount
    ) -> tuple[Bool[Array, ""], Arm, Arm]:
        """Return a pair of the initial sweep, or a rare one at the head of a pass."""
        sweeping, row, column = super()._out_of_turn(state, passes, round_)
        above = np.triu(others_mask(state.pairs.wins.shape[0]))
        log_t = log_round(jnp.maximum(round_, 3))
        rare = is_unresolved(log_t, self._count_limit(state.asked)) & above
        rare_row = jnp.argmax(jnp.any(rare, axis=1)).astype(jnp.int32)
        rare_column = jnp.argmax(row_of(rare, rare_row)).astype(jnp.int32)
        return (
            sweeping | (jnp.any(rare) & (passes.place == 0)),
            jnp.where(sweeping, row, rare_row),
            jnp.where(sweeping, column, rare_column),
        )

    def _count_limit(self, asked: Int[Array, "K K"]) -> Float[Array, "K K"]:
        """Log of the last round at which N >= alpha log log t."""
        return jnp.exp(asked.astype(jnp.float64) / self.alpha)

    def _opponent(self, state: State, arm: Arm, best: Arm, round_: RoundCount) -> Arm:
        """Return b_l where it is defined and not compared too often, else RMED1's."""
        costs = row_of(proof_costs(state.pairs, best, self.numerator_floor), arm)
        target = jnp.where(jnp.isfinite(jnp.min(costs)), lowest(costs), -1)
        usual = super()._opponent(state, arm, best, round_)
        scale = jnp.log(log_round(jnp.maximum(round_, 16)))
        pursued = is_pursued(state.pairs, state.asked, arm, best, target, scale)
        return jnp.where(pursued, target, usual)

    def _self_duels(
        self,
        state: State,
        divergence: Float[Array, " K"],
        best: Arm,
        round_: RoundCount,
    ) -> RoundCount:
        """Count the self-duels until another arm enters or a pair becomes rare."""
        until_entry = super()._self_duels(state, divergence, best, round_)
        others = others_mask(divergence.shape[0])
        rarest = jnp.min(jnp.where(others, self._count_limit(state.asked), jnp.inf))
        until_rare = last_resolved_round(round_, rarest) - round_ + 1
        return jnp.minimum(until_entry, until_rare)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.rmed._scalar_rmed import kernel

        return kernel(
            rule="rmed2",
            f_scale=float(self.f_scale),
            f_power=float(self.f_power),
            alpha=float(self.alpha),
            numerator_floor=float(self.numerator_floor),
            look_ahead=self.look_ahead,
        )


def proof_costs(
    pairs: PairEvidence, best: Arm, floor: Float[Array, ""] | float
) -> Float[Array, "K K"]:
    """[l, j]: regret per unit of evidence that l, beaten by j, is not the best arm.

    Infinite where l is not behind j.
    """
    gaps = estimated_gaps(pairs.wins)
    behind_best = row_of(gaps, best)
    cost = jnp.maximum(behind_best[:, None] + behind_best[None, :], floor)
    behind = pairs.wins < pairs.wins.T
    duels = (pairs.wins + pairs.wins.T).astype(jnp.float64)
    return jnp.where(
        behind, cost * duels / jnp.where(behind, pairs.evidence, 1.0), jnp.inf
    )


def is_pursued(
    pairs: PairEvidence,
    asked: Int[Array, "K K"],
    arm: Arm,
    best: Arm,
    target: Int[Array, ""],
    scale: Float[Array, ""],
) -> Bool[Array, ""]:
    """Say whether ``arm`` meets its target (-1 for none) and not RMED1's opponent.

    The target must be among those that ``arm`` does not beat, and must not have been
    met more than ``scale`` times as often as i*. Meetings count from when they are
    asked for.
    """
    won, lost = row_of(pairs.wins, arm), row_of(pairs.wins.T, arm)
    unbeaten = element_of(won <= lost, target)
    met = row_of(asked, arm).astype(jnp.float64)
    enough = element_of(met, best) * scale >= element_of(met, target)
    return (target >= 0) & unbeaten & enough
