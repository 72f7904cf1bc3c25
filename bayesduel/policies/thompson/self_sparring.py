"""Self-Sparring (Sui, Zhuang, Burdick and Yue 2017)."""

from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.models.in_policies.betas import BetaArms
from bayesduel.ops.rules import one_of_largest
from bayesduel.policies.parameter_values import check_beta
from bayesduel.policies.policy import DRAWS, Policy, Problem, checked
from bayesduel.policies.registry import register
from theory.arguments import number_above


class SelfSparringState(NamedTuple):
    """The Beta parameters of each arm, those of the prior included."""

    gains: Float[np.ndarray, " K"]
    losses: Float[np.ndarray, " K"]


@register("self-sparring", acronym="Self-Sparring")
class SelfSparring(Policy):
    """Self-Sparring with independent Beta arms (IndSelfSparring).

    Self-Sparring treats each arm as an arm of an ordinary bandit, whose reward is to
    win a duel. It draws both arms of a duel by Thompson sampling from the scores of the
    arms.

    Use it as a simple baseline if the arms have a total order. If arms beat each other
    in a cycle, single runs can stay with a wrong arm for a very long time.

    Parameters
    ----------
    eta : float
        Learning rate, > 0; a tunable constant in the paper.
    posterior : BetaArms
        The posterior from which scores are drawn. Its ``prior`` may be given by name
        instead, as in ``policies.get("self-sparring", prior=2)``.

    Notes
    -----
    **Rule.** Each arm has a number S of wins and a number F of losses, both 0 at first.
    In each round:

    1. For the first place of the duel, draw a score from Beta(S + 1, F + 1) for every
       arm, and take the arm with the largest score. Do the same for the second place,
       with new draws.
    2. S of the winner and F of the loser grow by ``eta``. A duel of an arm with itself
       changes nothing, because its random outcome would pull the score of a good arm to
       1/2.

    Two scores are equal with probability 0. Ties of the recommendation are broken at
    random. The paper states the algorithm for m >= 2 arms per round; a duel has two.

    **Assumptions.** A total order of the arms. The score of an arm estimates its rate
    of wins against the opponents that are drawn at present, and these change during a
    run. Without a total order there is no guarantee.

    **Look-ahead.** None. The probability that both places have the same arm has no
    closed form.

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

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    eta: float = checked(1.0, number_above, 0)
    posterior: BetaArms = BetaArms()
    compiled = True

    title: ClassVar[str] = "Self-Sparring"
    in_batches: ClassVar[str] = DRAWS

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_beta(self.posterior, BetaArms, num_arms)

    def start(self, problem: Problem, rng: Generator) -> SelfSparringState:
        """Return the state before the first round."""
        prior = np.full(problem.num_arms, float(self.posterior.prior))
        return SelfSparringState(gains=prior, losses=prior.copy())

    def choose(
        self, state: SelfSparringState, rng: Generator, round_: int
    ) -> tuple[int, int]:
        """Let both positions draw their scores."""
        return largest_draw(rng, state), largest_draw(rng, state)

    def update(
        self,
        state: SelfSparringState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
    ) -> None:
        """Credit the winner and debit the loser."""
        winner, loser = (first, second) if won else (second, first)
        state.gains[winner] += self.eta
        state.losses[loser] += self.eta

    def recommend(self, state: SelfSparringState, rng: Generator) -> int:
        """Return the arm with the largest posterior mean."""
        return one_of_largest(rng, state.gains / (state.gains + state.losses))


def largest_draw(rng: Generator, state: SelfSparringState) -> int:
    """Return the arm with the largest draw from its Beta distribution."""
    best, largest = 0, -1.0
    for arm in range(len(state.gains)):
        score = rng.beta(state.gains[arm], state.losses[arm])
        if score > largest:
            best, largest = arm, score
    return best
