"""Scalable Copeland Bandits (Zoghi, Karnin, Whiteson and de Rijke 2015)."""

from dataclasses import field
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    check_choice,
    most_beaten,
    policy_class,
)
from bayesduel.policies.elimination._copeland_elimination import (
    NOBODY,
    Elimination,
    add_duels,
    decide,
    end_stage,
    first_stage,
    pair_to_duel,
)
from bayesduel.policies.elimination._sequential_test import (
    duels_without_decision,
    sign_evidence,
)
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class ScalableCopelandBanditsState(NamedTuple):
    """Counts for the recommendation, and the epoch."""

    wins: Int[Array, "K K"]
    length: Float[Array, ""]
    """T_r, the rounds of the epoch, as a float: its square may be beyond integers."""

    begun: RoundCount
    """Rounds that were played before the epoch."""

    search: Elimination


@register("scb", acronym="SCB")
@policy_class
class ScalableCopelandBandits(Policy):
    """Scalable Copeland Bandits (SCB).

    Epochs of 4, 16, 256, 65536, ... rounds, each the square of the one before. An epoch
    forgets everything, looks for a Copeland winner with failure probability delta =
    log(T)/T, T being its length, and lets the arm it found duel itself for the rest. It
    finds one by successive elimination (KL bounds) of arms whose reward is whether they
    beat a uniformly random opponent; a reward takes as many duels of the pair as decide
    it with error delta/K^2, and none once its sign is known. Natural logarithms.

    The evidence that decides, ``stop_rule``: "anytime", n d(p, 1/2) > log(pi^2 n^2 K^2
    / (3 delta)) after n duels of a pair, and log(4 s K / delta) + 2 log log s for the
    bounds after s rewards; or "reference", as in the program of Wu and Liu (2016),
    alpha_ref (log(4 t K) + 2 max(1, log max(1, log t))), t being the rounds of the
    epoch for a pair, and T for the bounds. The paper asks for "enough duels" only. With
    several Copeland winners elimination never ends; a search is therefore also over
    when all signs of the remaining arms are known, at the end of a stage.

    ``look_ahead`` plays as many duels of a pair at once as cannot decide it before the
    last of them, and the rest of an epoch as one stretch. The law of everything is that
    of the step form.

    Arms get their rewards in the order of their positions; ties of the answer and of
    the recommendation are broken at random. The recommendation is the arm that beats
    the most others by the duels of all epochs.

    Parameters
    ----------
    eps : float
        The search may stop when 1 - L <= (1 + eps)(1 - U) for the largest lower and
        upper bounds; 0 in the paper.
    alpha_ref : float
        Factor of the rule "reference".
    first_length : int
        Rounds of the first epoch, at least 2.
    stop_rule : {"anytime", "reference"}
        The evidence that decides.
    look_ahead : bool
        Play duels in bulk and jump over self-duels.

    References
    ----------
    M. Zoghi, Z. Karnin, S. Whiteson, M. de Rijke, "Copeland Dueling Bandits", NIPS
    2015, Algorithms 2, 3 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scb", eps=1.0).label
    'SCB:eps=1.0'
    """

    eps: float = 0.0
    alpha_ref: float = 0.51
    first_length: int = 4
    stop_rule: str = field(default="anytime", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Scalable Copeland Bandits"
    explores_in_bulk: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_at_least("eps", self.eps, 0.0)
        check_above("alpha_ref", self.alpha_ref, 0.0)
        check_at_least("first_length", self.first_length, 2)
        if int(self.first_length) != self.first_length:
            raise PolicyParameterError(
                f"first_length must be a whole number of rounds, "
                f"got {self.first_length!r}"
            )
        check_choice("stop_rule", self.stop_rule, ("anytime", "reference"))

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> ScalableCopelandBanditsState:
        """Return the state before the first round."""
        uniforms = jax.random.uniform(rng_key, (num_arms,), dtype=jnp.float64)
        return ScalableCopelandBanditsState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            length=jnp.asarray(self.first_length, dtype=jnp.float64),
            begun=jnp.int64(0),
            search=first_stage(uniforms),
        )

    def choose(
        self, rng_key: RunKey, state: ScalableCopelandBanditsState, round_: RoundCount
    ) -> tuple[Duel, ScalableCopelandBanditsState]:
        """Choose the pair to be decided, or the arm that was found.

        Between two stages in which no pair has to be dueled nothing is played.
        """
        if not self.look_ahead:  # The last outcome of an epoch may be on its way.
            uniforms = jax.random.uniform(
                rng_key, (state.wins.shape[0],), dtype=jnp.float64
            )
            state = _next_epoch_if_over(uniforms, state, round_ - 1)
        search = state.search
        first, second = pair_to_duel(search)
        used = round_ - 1 - state.begun
        left = _as_rounds(state.length) - used
        idles = search.answer != NOBODY
        explores = ~idles & jnp.any(search.pending)
        if self.look_ahead:
            level = self._sign_level(state, used, 1)
            bulk = duels_without_decision(search.wins, search.duels, level)
            stretch = jnp.where(idles, left, 0)
            rounds = jnp.where(explores, jnp.minimum(bulk, left), 0)
        else:
            stretch = jnp.int64(0)
            rounds = (idles | explores).astype(jnp.int64)
        duel = Duel(
            champion=jnp.maximum(search.answer, 0),
            exploit_rounds=stretch,
            first=jnp.where(idles, search.answer, first),
            second=jnp.where(idles, search.answer, second),
            explore_rounds=rounds,
        )
        return duel, state

    def _sign_level(
        self, state: ScalableCopelandBanditsState, used: RoundCount, ahead: int
    ) -> Float[Array, ""]:
        """Evidence that decides a pair after ``ahead`` more duels of it.

        ``used`` is the number of rounds of the epoch so far.
        """
        num_arms = state.wins.shape[0]
        if self.stop_rule == "reference":
            return self._reference_level((used + ahead).astype(jnp.float64), num_arms)
        duels = jnp.maximum(state.search.duels + ahead, 1).astype(jnp.float64)
        doubt = jnp.log(state.length) / state.length
        return 2.0 * jnp.log(jnp.pi * duels * num_arms) - jnp.log(3.0 * doubt)

    def _stage_level(self, state: ScalableCopelandBanditsState) -> Float[Array, ""]:
        """Level of the confidence bounds after s rewards each, times s."""
        num_arms = state.wins.shape[0]
        if self.stop_rule == "reference":
            return self._reference_level(state.length, num_arms)
        # Bounds are used from the second reward on.
        stage = jnp.maximum(state.search.stage, 2).astype(jnp.float64)
        doubt = jnp.log(state.length) / state.length
        bound = jnp.log(4.0 * stage * num_arms / doubt)
        return bound + 2.0 * jnp.log(jnp.log(stage))

    def _reference_level(
        self, rounds: Float[Array, ""], num_arms: int
    ) -> Float[Array, ""]:
        slow = jnp.log(jnp.maximum(1.0, jnp.log(jnp.maximum(rounds, 1.0))))
        fast = jnp.log(4.0 * jnp.maximum(rounds, 1.0) * num_arms)
        return self.alpha_ref * (fast + 2.0 * jnp.maximum(1.0, slow))

    def update(
        self,
        rng_key: RunKey,
        state: ScalableCopelandBanditsState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ScalableCopelandBanditsState:
        """Count the outcome and move the search on, or begin the next epoch."""
        num_arms = state.wins.shape[0]
        flat = jax.random.uniform(rng_key, (num_arms + 1,), dtype=jnp.float64)
        uniforms, tie = flat[:num_arms], flat[num_arms]
        # What an earlier epoch asked for says nothing to this one.
        ours = round_ > state.begun
        counted = Outcome(*(jnp.where(ours, each, 0) for each in outcome))
        state = state._replace(
            wins=add_wins(state.wins, duel, outcome),
            search=add_duels(state.search, duel, counted),
        )
        evidence = sign_evidence(state.search.wins, state.search.duels)
        level = self._sign_level(state, jnp.maximum(round_ - state.begun, 0), 0)
        search = decide(state.search, evidence, level)
        search = end_stage(uniforms, tie, search, self._stage_level(state), self.eps)
        return _next_epoch_if_over(uniforms, state._replace(search=search), round_)

    def recommend(self, rng_key: RunKey, state: ScalableCopelandBanditsState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)


def _as_rounds(length: Float[Array, ""]) -> RoundCount:
    return jnp.minimum(length, float(NEVER)).astype(jnp.int64)


def _next_epoch_if_over(
    uniforms: Float[Array, " K"],
    state: ScalableCopelandBanditsState,
    played: RoundCount,
) -> ScalableCopelandBanditsState:
    """Forget and begin anew once ``played`` rounds are all of the epoch."""
    over = played - state.begun >= _as_rounds(state.length)
    fresh = first_stage(uniforms)
    return state._replace(
        length=jnp.where(over, state.length * state.length, state.length),
        begun=jnp.where(over, played, state.begun),
        search=jax.tree.map(partial(jnp.where, over), fresh, state.search),
    )
