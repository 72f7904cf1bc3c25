"""Track-and-Stop for Copeland winners."""

from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.masks import upper_triangle
from bayesduel.policies.base import (
    Policy,
    most_beaten,
    one_round,
    policy_class,
)
from bayesduel.policies.identification import EQUAL_LAGS
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, OnHost, Outcome, RoundCount, RunKey
from theory.arguments import as_number

_MOST_ARMS = 64


class TrackAndStopState(NamedTuple):
    """Counts, and what is tracked."""

    wins: Int[Array, "K K"]
    share: Float[Array, " M"]
    """Of the duels, for every pair in lexicographic order."""

    duels: RoundCount
    next_aim: RoundCount
    """Duels at which the shares are found anew, on the host."""

    answer: Arm
    """The arm that they are for; -1 before the first."""


@register("track-and-stop", acronym="Track-and-Stop")
@policy_class
class TrackAndStop(Policy):
    """Track-and-Stop: ask the pairs in the proportions that prove an answer cheapest.

    After so many duels the identification program (`theory.identification_bound`) is
    solved for the estimates, and its numbers of duels, as shares a, are tracked: the
    next pair is the one that maximizes t a_e - n_e ("D-tracking"), unless some pair was
    asked fewer than sqrt(t) - M/2 times, M being the number of pairs: then the one that
    was asked least. Garivier and Kaufmann (2016) prove for a unique answer that the
    number of duels is asymptotically the least, T* log(1/delta). With several Copeland
    winners each is a right answer, and tracking must not waver between two of them
    (Degenne and Koolen 2019): an answer is kept until another one is cheaper by the
    share ``sticky``, or it is no winner of the estimates any more. Stopping is not part
    of it: see :mod:`bayesduel.stopping`. Regret is of no interest to it.

    Deviations: the shares are found anew only where the number of duels has grown by
    ``growth``, as the estimates do not move faster. A pair's evidence per duel is the
    posterior mean of KL(theta, 1/2), theta ~ Beta(wins + 1, losses + 1), which at even
    counts is not 0. Of an even pair the arm with the lower position is taken to be
    ahead, and pairs that are behind by the same number (to 1e-6) come in lexicographic
    order; both are at random in each run, as arms are relabeled. Prices of the n-th
    pair are tilted by 1 + 1e-6 sin(n), so that the optimum is unique. The guarantee of
    sticky Track-and-Stop is for confidence sets of estimates, which are left out here;
    with several winners of different cost duels are within 1/(1 - sticky) of the
    best. Nothing is proved of this form.

    Parameters
    ----------
    growth : float
        From 0, which finds the shares anew after every duel, to 1.
    sticky : float
        At least 0, below 1.

    Notes
    -----
    On a CPU all is compiled; on other engines programs are solved on the host, by the
    same function. A program of K arms takes about K^5 operations where estimates have
    changed sides, K^4 where they have not; at most 64 arms are allowed.

    References
    ----------
    A. Garivier, E. Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
    COLT 2016, section 3. R. Degenne, W. M. Koolen, "Pure Exploration with Multiple
    Correct Answers", NeurIPS 2019.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("track-and-stop", sticky=0.2).label
    'Track-and-Stop:sticky=0.2'
    """

    growth: float = 0.05
    sticky: float = 0.1

    title: ClassVar[str] = "Track-and-Stop"
    assisted: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter, or too many arms."""
        if not 0.0 <= as_number(self.growth) <= 1.0:
            rule = "must be a number from 0 to 1"
            raise PolicyParameterError.of("growth", rule, self.growth)
        if not 0.0 <= as_number(self.sticky) < 1.0:
            rule = "must be a number from 0 to below 1"
            raise PolicyParameterError.of("sticky", rule, self.sticky)
        if num_arms > _MOST_ARMS:
            raise PolicyParameterError(
                f"track-and-stop takes at most {_MOST_ARMS} arms, got {num_arms}; "
                "rd-ts:cost=duels takes more"
            )

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> TrackAndStopState:
        """Return the state before the first round."""
        pairs = num_arms * (num_arms - 1) // 2
        return TrackAndStopState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            share=jnp.zeros(pairs, dtype=jnp.float64),
            duels=jnp.int64(0),
            next_aim=jnp.int64(pairs),
            answer=jnp.int32(-1),
        )

    def choose(
        self, rng_key: RunKey, state: TrackAndStopState, round_: RoundCount
    ) -> tuple[Duel, TrackAndStopState]:
        """Take the pair that was asked too seldom, or is furthest behind its share."""
        num_arms, pairs = state.wins.shape[0], state.share.shape[0]
        first, second = (each.astype(np.int32) for each in np.triu_indices(num_arms, 1))
        played = upper_triangle(state.wins + state.wins.T)
        duels = state.duels.astype(jnp.float64)
        enough = jnp.maximum(1.0, jnp.sqrt(duels) - 0.5 * pairs)
        lag = duels * state.share - played.astype(jnp.float64)
        pair = jnp.where(
            jnp.min(played).astype(jnp.float64) < enough,
            jnp.argmin(played),
            jnp.argmax(lag >= jnp.max(lag) - EQUAL_LAGS),
        )
        return one_round(jnp.asarray(first)[pair], jnp.asarray(second)[pair]), state

    def update(
        self,
        rng_key: RunKey,
        state: TrackAndStopState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> TrackAndStopState:
        """Count the outcome."""
        return state._replace(
            wins=add_wins(state.wins, duel, outcome),
            duels=state.duels + outcome.rounds,
        )

    def recommend(self, rng_key: RunKey, state: TrackAndStopState) -> Arm:
        """Return the arm that empirically beats the most others."""
        return most_beaten(rng_key, state.wins)

    def is_waiting(self, state: TrackAndStopState) -> Bool[Array, ""]:
        """Say whether the shares must be found anew."""
        return state.duels >= state.next_aim

    def host_step(self, state: OnHost[TrackAndStopState]) -> OnHost[TrackAndStopState]:
        """Find the shares for the estimates."""
        # Numba takes half a second to import.
        from bayesduel.policies.identification._scalar_track_and_stop import (
            aim_alone,
            new_state,
        )

        own = new_state(len(state.wins), growth=0.0, sticky=float(self.sticky))
        own.pairs["wins"] = state.wins
        own.now["answer"] = state.answer
        aim_alone(own)
        duels = int(state.duels)
        step = max(1, int(float(self.growth) * duels))
        return state._replace(
            share=own.share,
            next_aim=np.int64(duels + step),
            answer=np.int32(own.now["answer"][0]),
        )

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        from bayesduel.policies.identification._scalar_track_and_stop import kernel

        return kernel(growth=float(self.growth), sticky=float(self.sticky))
