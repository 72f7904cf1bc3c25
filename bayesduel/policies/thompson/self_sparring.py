"""Self-Sparring (Sui, Zhuang, Burdick and Yue 2017)."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import Policy, check_above, one_round, policy_class
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_draws import draw_betas
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class SelfSparringState(NamedTuple):
    """Weighted wins and losses of every arm, against whomever it met."""

    gains: Float[Array, " K"]
    losses: Float[Array, " K"]


@register("self-sparring", acronym="Self-Sparring")
@policy_class
class SelfSparring(Policy):
    """Self-Sparring with independent Beta arms (IndSelfSparring), two arms per round.

    Each of the two positions draws a score for every arm from its own Beta posterior,
    Beta(S + 1, F + 1), and takes the largest. The winner's S and the loser's F grow by
    ``eta``. A self-duel changes nothing: counting its coin flip would pull the score of
    a good arm to 1/2. (The algorithm is stated for m >= 2 arms per round; a duel has
    two.)

    The score of an arm is its rate of wins against the current mixture of opponents,
    which moves. There is no guarantee without a total order of the arms: on cyclic
    preferences single runs can stay with a wrong arm for very long.

    There is no look-ahead: the probability that both positions take the same arm, each
    the largest of K independent Betas, has no closed form from which the length of an
    idle stretch could be drawn.

    Ties among scores have probability 0; ties of the recommendation are broken at
    random.

    Parameters
    ----------
    eta : float
        Learning rate, > 0; a tunable constant in the paper.

    References
    ----------
    Y. Sui, V. Zhuang, J. W. Burdick, Y. Yue, "Multi-dueling Bandits with Dependent
    Arms", UAI 2017, Algorithm IndSelfSparring.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("self-sparring", eta=1.5).label
    'Self-Sparring:eta=1.5'
    """

    eta: float = 1.0

    title: ClassVar[str] = "Self-Sparring"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("eta", self.eta, 0.0)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> SelfSparringState:
        """Return the state before the first round."""
        nothing = jnp.zeros(num_arms, dtype=jnp.float64)
        return SelfSparringState(gains=nothing, losses=nothing)

    def choose(
        self, rng_key: RunKey, state: SelfSparringState, round_: RoundCount
    ) -> tuple[Duel, SelfSparringState]:
        """Let both positions draw their scores."""
        wins, losses = (
            jnp.broadcast_to(each[None, :] + 1.0, (2, each.shape[0]))
            for each in (state.gains, state.losses)
        )
        scores = draw_betas(rng_key, wins, losses)
        first, second = (jnp.argmax(scores[i]).astype(jnp.int32) for i in (0, 1))
        return one_round(first, second), state

    def update(
        self,
        rng_key: RunKey,
        state: SelfSparringState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> SelfSparringState:
        """Credit the winner and debit the loser."""
        arms = jnp.arange(state.gains.shape[0], dtype=jnp.int32)
        other = duel.first != duel.second
        won = jnp.where(other, outcome.wins, 0).astype(jnp.float64)
        lost = jnp.where(other, outcome.rounds, 0).astype(jnp.float64) - won
        is_first, is_second = arms == duel.first, arms == duel.second
        gains = jnp.where(is_first, won, 0.0) + jnp.where(is_second, lost, 0.0)
        losses = jnp.where(is_first, lost, 0.0) + jnp.where(is_second, won, 0.0)
        return SelfSparringState(
            gains=state.gains + self.eta * gains,
            losses=state.losses + self.eta * losses,
        )

    def recommend(self, rng_key: RunKey, state: SelfSparringState) -> Arm:
        """Return the arm with the largest posterior mean."""
        mean = (state.gains + 1.0) / (state.gains + state.losses + 2.0)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, mean == jnp.max(mean))
