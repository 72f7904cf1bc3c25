"""RMED1 (Komiyama, Honda, Kashima and Nakagawa 2015)."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import row_of
from bayesduel.ops.resolved_rounds import last_resolved_round, log_round
from bayesduel.policies.base import (
    Policy,
    check_at_least,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import lowest
from bayesduel.policies.pair_evidence import (
    PairEvidence,
    add_evidence,
    empty_evidence,
    estimated_gaps,
)
from bayesduel.policies.play_lists import (
    PlayLists,
    append,
    begin_pass_if_over,
    element_to_play,
    first_pass,
    is_only_element,
    take,
)
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State
from theory import rmed1_bound


class RMED1State(NamedTuple):
    """Evidence per pair and the place in the lists."""

    pairs: PairEvidence
    passes: PlayLists


@register("rmed1", acronym="RMED1", theorems=(rmed1_bound,))
@policy_class
class RMED1(Policy):
    """Relative Minimum Empirical Divergence, first version (RMED1).

    I_i = sum of N_ij KL(mu_ij, 1/2) over the arms j that i does not beat (mu_ij <= 1/2)
    is the evidence against i being the Condorcet winner; i* has the least, I*. After
    one duel of every pair, the algorithm passes through a list of arms l, each against
    i* if i* is among those that l does not beat (or if there is none of them), else
    against the arm it does worst against; arms j with I_j - I* <= log t + f(K) enter
    the next list. While the list is i* alone, only log t moves: ``look_ahead`` computes
    the round at which another arm enters (that round is still a self-duel). Natural
    logarithm.

    The list order is the order of the arms (the environment shuffles them by default),
    and ties, of which there are many early on, go to the lowest position.

    Parameters
    ----------
    f_scale, f_power : float
        f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    look_ahead : bool
        Jump over self-duels. Both forms play the same duels.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed1", f_scale=0.45).label
    'RMED1:f_scale=0.45'
    """

    f_scale: float = 0.3
    f_power: float = 1.01
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 1"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_at_least("f_scale", self.f_scale, 0.0)
        check_at_least("f_power", self.f_power, 0.0)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round."""
        return RMED1State(
            pairs=empty_evidence(num_arms),
            passes=first_pass(jnp.ones(num_arms, dtype=bool)),
        )

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Choose the next duel of the sweep or of the pass."""
        passes = begin_pass_if_over(state.passes)
        arm = element_to_play(passes)
        divergence = evidence_against(state.pairs)
        best = lowest(divergence)
        opponent = self._opponent(state, arm, best, round_)
        extra, row, column = self._out_of_turn(state, passes, round_)
        exploits = ~extra & is_only_element(passes, best) & (opponent == arm)
        exploits = exploits & (arm == best) & self.look_ahead
        stretch = self._self_duels(state, divergence, best, round_)
        duel = Duel(
            champion=best,
            exploit_rounds=jnp.where(exploits, stretch, 0),
            first=jnp.where(extra, row, arm),
            second=jnp.where(extra, column, opponent),
            explore_rounds=jnp.where(exploits, 0, 1).astype(jnp.int64),
            note=~extra,
        )
        return duel, state._replace(passes=take(passes, ~extra))

    def _out_of_turn(
        self, state: State, passes: PlayLists, round_: RoundCount
    ) -> tuple[Bool[Array, ""], Arm, Arm]:
        """Say whether a pair is to be drawn outside the lists, and which."""
        row, column = np.triu_indices(state.pairs.wins.shape[0], 1)
        pair = jnp.minimum(round_ - 1, row.size - 1)
        return (
            round_ <= row.size,
            jnp.asarray(row, jnp.int32)[pair],
            jnp.asarray(column, jnp.int32)[pair],
        )

    def _opponent(self, state: State, arm: Arm, best: Arm, round_: RoundCount) -> Arm:
        """Return i* if ``arm`` does not beat it or beats all, else its worst rival."""
        return opponent_of(state.pairs.wins, arm, best)

    def _self_duels(
        self,
        state: State,
        divergence: Float[Array, " K"],
        best: Arm,
        round_: RoundCount,
    ) -> RoundCount:
        """Count the rounds up to and with the first whose test lets another arm in."""
        return rounds_until_entry(self._log_round_needed(divergence), best, round_)

    def _log_round_needed(self, divergence: Float[Array, " K"]) -> Float[Array, " K"]:
        """Return log t from which on an arm is due: I_j - I* - f(K)."""
        return log_round_needed(divergence, self.f_scale, self.f_power)

    def update(
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> State:
        """Count the outcome, then test which arms are due in the next pass."""
        pairs = add_evidence(state.pairs, duel, outcome)
        needed = self._log_round_needed(evidence_against(pairs))
        due = needed <= log_round(round_)
        in_turn = duel.note
        return state._replace(pairs=pairs, passes=append(state.passes, due, in_turn))

    def recommend(self, rng_key: RunKey, state: State) -> Arm:
        """Return i*."""
        return lowest(evidence_against(state.pairs))

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.rmed._scalar_rmed import kernel

        return kernel(
            f_scale=float(self.f_scale),
            f_power=float(self.f_power),
            look_ahead=self.look_ahead,
        )


def evidence_against(pairs: PairEvidence) -> Float[Array, " K"]:
    """I_i, the evidence against arm i being the Condorcet winner."""
    unbeaten = (pairs.wins <= pairs.wins.T) & others_mask(pairs.wins.shape[0])
    return jnp.sum(jnp.where(unbeaten, pairs.evidence, 0.0), axis=1)


def opponent_of(wins: Int[Array, "K K"], arm: Arm, best: Arm) -> Arm:
    """Return i* if ``arm`` does not beat it or beats all, else its worst rival."""
    arms = jnp.arange(wins.shape[0], dtype=jnp.int32)
    gaps = row_of(estimated_gaps(wins), arm)
    unbeaten = (gaps <= 0.0) & (arms != arm)
    takes_best = jnp.any(unbeaten & (arms == best)) | ~jnp.any(unbeaten)
    worst = jnp.argmin(jnp.where(arms == arm, jnp.inf, gaps)).astype(jnp.int32)
    return jnp.where(takes_best, best, worst)


def log_round_needed(
    divergence: Float[Array, " K"],
    f_scale: Float[Array, ""] | float,
    f_power: Float[Array, ""] | float,
) -> Float[Array, " K"]:
    """Return log t from which on an arm is due: I_j - I* - f(K)."""
    f = f_scale * jnp.asarray(float(divergence.shape[0])) ** f_power
    return divergence - jnp.min(divergence) - f


def rounds_until_entry(
    needed: Float[Array, " K"], best: Arm, round_: RoundCount
) -> RoundCount:
    """Count the rounds up to and with the first whose test lets another arm in.

    ``needed`` is that of :func:`log_round_needed`.
    """
    arms = jnp.arange(needed.shape[0], dtype=jnp.int32)
    nearest = jnp.min(jnp.where(arms == best, jnp.inf, needed))
    last = last_resolved_round(round_, nearest)
    return jnp.where(log_round(round_) >= nearest, 1, last - round_ + 2)
