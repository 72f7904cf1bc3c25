"""RMED2FH (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Int

from bayesduel.ops.masks import element_of
from bayesduel.ops.resolved_rounds import log_round
from bayesduel.policies.base import (
    check_above,
    check_at_least,
    policy_class,
)
from bayesduel.policies.pair_counts import add_asked, lowest
from bayesduel.policies.pair_evidence import PairEvidence, empty_evidence
from bayesduel.policies.play_lists import PlayLists, first_pass
from bayesduel.policies.registry import register
from bayesduel.policies.rmed.rmed1 import RMED1, evidence_against
from bayesduel.policies.rmed.rmed2 import is_pursued, proof_costs
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State

_NOBODY = -1


class RMED2FHState(NamedTuple):
    """Evidence, lists, and the targets that were fixed after the initial sweeps."""

    pairs: PairEvidence
    asked: Int[Array, "K K"]
    """Duels asked for, whether their outcomes are known or not; symmetric."""

    passes: PlayLists
    horizon: RoundCount
    targets: Int[Array, " K"]
    """b_l, the arm that proves l not to be the best at the least cost; -1 for none."""

    is_fixed: Bool[Array, ""]
    """Whether the targets were computed."""


@register("rmed2fh", acronym="RMED2FH")
@policy_class
class RMED2FH(RMED1):
    """Relative Minimum Empirical Divergence 2, fixed horizon (RMED2FH).

    :class:`RMED2` made simple by the knowledge of the horizon T: every pair is drawn
    L = max(1, ceil(alpha log log T)) times at first, then the targets b_l are computed
    once and for all, and no pair is drawn outside the lists any more. Arm l meets its
    b_l, where l does not beat it, unless l was compared with i* fewer than
    N_{l b_l} / log log T times. Natural logarithms; log log T is taken at T >= 3 in the
    first place and at T >= 16 in the second. Duels count when they are asked for; the
    targets wait for the outcomes of all initial draws (delayed feedback).

    The initial draws are L sweeps over all pairs in lexicographic order (the paper has
    no order). Order of the lists and ties as in RMED1: the order of the arms, and the
    lowest position.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Of the initial draws; 3 in the paper.
    numerator_floor : float
        Smallest numerator of b_l, as in RMED2.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2fh", f_scale=0.45).label
    'RMED2FH:f_scale=0.45'
    """

    alpha: float = 3.0
    numerator_floor: float = 0.01

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2, fixed horizon"
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_above("alpha", self.alpha, 0.0)
        check_at_least("numerator_floor", self.numerator_floor, -1.0)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round."""
        pairs = empty_evidence(num_arms)
        return RMED2FHState(
            pairs=pairs,
            asked=jnp.zeros_like(pairs.wins),
            passes=first_pass(jnp.ones(num_arms, dtype=bool)),
            horizon=jnp.asarray(horizon, dtype=jnp.int64),
            targets=jnp.full(num_arms, _NOBODY, dtype=jnp.int32),
            is_fixed=jnp.bool_(False),
        )

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Choose as RMED1 does, and count the draw."""
        duel, state = super().choose(rng_key, state, round_)
        return duel, state._replace(asked=add_asked(state.asked, duel))

    def _initial_draws(self, state: State) -> RoundCount:
        """L, the initial draws of each pair."""
        scale = jnp.log(log_round(jnp.maximum(state.horizon, 3)))
        return jnp.maximum(1, jnp.ceil(self.alpha * scale)).astype(jnp.int64)

    def _out_of_turn(
        self, state: State, passes: PlayLists, round_: RoundCount
    ) -> tuple[Bool[Array, ""], Arm, Arm]:
        """Return a pair of the initial sweeps."""
        row, column = np.triu_indices(state.pairs.wins.shape[0], 1)
        pair = (round_ - 1) % row.size
        return (
            round_ <= row.size * self._initial_draws(state),
            jnp.asarray(row, jnp.int32)[pair],
            jnp.asarray(column, jnp.int32)[pair],
        )

    def _opponent(self, state: State, arm: Arm, best: Arm, round_: RoundCount) -> Arm:
        """Return b_l where it is defined and not compared too often, else RMED1's."""
        target = element_of(state.targets, arm)
        usual = super()._opponent(state, arm, best, round_)
        scale = jnp.log(log_round(jnp.maximum(state.horizon, 16)))
        pursued = is_pursued(state.pairs, state.asked, arm, best, target, scale)
        return jnp.where(pursued, target, usual)

    def update(
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> State:
        """Count the outcome; fix the targets when the initial draws are over."""
        state = super().update(rng_key, state, round_, duel, outcome)
        num_pairs = len(np.triu_indices(state.targets.shape[0], 1)[0])
        over = round_ >= num_pairs * self._initial_draws(state)
        fixes = over & ~state.is_fixed
        best = lowest(evidence_against(state.pairs))
        costs = proof_costs(state.pairs, best, self.numerator_floor)
        found = jnp.where(
            jnp.isfinite(jnp.min(costs, axis=1)), jax.vmap(lowest)(costs), _NOBODY
        )
        return state._replace(
            targets=jnp.where(fixes, found, state.targets),
            is_fixed=state.is_fixed | over,
        )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.rmed._scalar_rmed import kernel

        return kernel(
            rule="rmed2fh",
            f_scale=float(self.f_scale),
            f_power=float(self.f_power),
            alpha=float(self.alpha),
            numerator_floor=float(self.numerator_floor),
            look_ahead=self.look_ahead,
        )
