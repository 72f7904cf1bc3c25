"""Self-Sparring (Sui, Zhuang, Burdick and Yue 2017)."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from bayesduel.ops.masks import mark_largest
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_beta_arms,
    one_round,
    policy_class,
)
from bayesduel.policies.registry import register
from bayesduel.posteriors.beta_arms import ArmCounts, BetaArms
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


@register("self-sparring", acronym="Self-Sparring")
@policy_class
class SelfSparring(Policy):
    """Self-Sparring with independent Beta arms (IndSelfSparring), two arms per round.

    Each of the two positions draws a score for every arm from its own Beta posterior,
    Beta(S + 1, F + 1) by default, and takes the largest. The winner's S and the loser's
    F grow by ``eta``. A self-duel changes nothing: counting its coin flip would pull
    the score of a good arm to 1/2. (The algorithm is stated for m >= 2 arms per round;
    a duel has two.)

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
    posterior : BetaArms
        What the scores are drawn from; its ``prior`` may be given in its place by name,
        as in ``policies.get("self-sparring", prior=2)``.

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
    posterior: BetaArms = BetaArms()

    title: ClassVar[str] = "Self-Sparring"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("eta", self.eta, 0.0)
        check_beta_arms(self.posterior)

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> ArmCounts:
        """Return the state before the first round."""
        return self.posterior.init(num_arms)

    def choose(
        self, rng_key: RunKey, state: ArmCounts, round_: RoundCount
    ) -> tuple[Duel, ArmCounts]:
        """Let both positions draw their scores."""
        scores = self.posterior.sample(rng_key, state, 2)
        first, second = (jnp.argmax(scores[i]).astype(jnp.int32) for i in (0, 1))
        return one_round(first, second), state

    def update(
        self,
        rng_key: RunKey,
        state: ArmCounts,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ArmCounts:
        """Credit the winner and debit the loser."""
        arms = jnp.arange(state.gains.shape[0], dtype=jnp.int32)
        other = duel.first != duel.second
        won = self.eta * outcome.wins.astype(jnp.float64)
        lost = self.eta * (outcome.rounds - outcome.wins).astype(jnp.float64)
        state = self.posterior.update(state, (arms == duel.first) & other, won, lost)
        return self.posterior.update(state, (arms == duel.second) & other, lost, won)

    def recommend(self, rng_key: RunKey, state: ArmCounts) -> Arm:
        """Return the arm with the largest posterior mean."""
        mean = self.posterior.mean(state)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, mark_largest(mean))
