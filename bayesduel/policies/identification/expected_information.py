"""Expected information: ask the pair whose duel teaches most."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy import special
from jaxtyping import Float, Int

from bayesduel.models.pairwise_beta import information_of_betas
from bayesduel.ops.masks import upper_triangle
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_at_least,
    most_beaten,
    one_round,
    policy_class,
)
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.posteriors.base import PairPosterior, is_on_a_scale
from bayesduel.posteriors.beta_pairs import BetaPairs, pseudo_wins
from bayesduel.posteriors.names import check_pair_posterior, take_by_name
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey, State


class ExpectedInformationState(NamedTuple):
    """Counts for the recommendation, and the posterior."""

    wins: Int[Array, "K K"]
    beliefs: State


@register("information", acronym="Information")
@policy_class
class ExpectedInformation(Policy):
    """Expected information: the pair whose next outcome tells most about the model.

    Asks the pair with the largest mutual information of its outcome and all unknown
    probabilities, H(E[theta_ij]) - E[H(theta_ij)] with H the entropy of one outcome
    (Lindley 1956; Houlsby et al. 2011). What is learnt need not be about the winner.
    With a Beta law per pair that is nearly the pair with the fewest duels; on a scale
    (``posterior="bradley-terry"``) a duel tells of all arms, and pairs of arms that are
    close and little known come first. In closed form for Beta laws, else a mean over
    draws. Ties, to a relative 1e-9, are broken at random. Nothing is known of its
    duels before a winner is named; stopping is a matter of :mod:`bayesduel.stopping`.

    Every round is a duel of two arms. There is no look-ahead, as every round teaches.

    Parameters
    ----------
    posterior : PairPosterior, or its name
        What is known of the pairs: "beta", "bradley-terry", "thurstone", ....
    draws : int
        Of the posterior, at least 2, where there is no closed form.

    References
    ----------
    D. V. Lindley, "On a Measure of the Information Provided by an Experiment", Annals
    of Mathematical Statistics 27(4), 1956. N. Houlsby, F. Huszar, Z. Ghahramani,
    M. Lengyel, "Bayesian Active Learning for Classification and Preference Learning",
    2011, equation (2).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse("information:posterior=bradley-terry").label
    'Information:posterior=bradley-terry'
    """

    draws: int = field(default=100, metadata={"static": True})
    posterior: PairPosterior | str = BetaPairs()

    title: ClassVar[str] = "Expected information"

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_at_least("draws", self.draws, 2)
        check_pair_posterior(self.posterior, num_arms)

    @property
    def _pairs(self) -> PairPosterior:
        """The posterior of the pairs."""
        return self.posterior  # pyright: ignore[reportReturnType]

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> ExpectedInformationState:
        """Return the state before the first round."""
        return ExpectedInformationState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            beliefs=self._pairs.init(rng_key, num_arms),
        )

    def choose(
        self, rng_key: RunKey, state: ExpectedInformationState, round_: RoundCount
    ) -> tuple[Duel, ExpectedInformationState]:
        """Take the pair that teaches most."""
        key_draws, key_tie = jax.random.split(rng_key)
        gains = self._gains(key_draws, state.beliefs)
        best = gains >= jnp.max(gains) * (1.0 - EQUAL_GAINS)
        pair = choose_among(jax.random.uniform(key_tie, dtype=jnp.float64), best)
        first, second = np.triu_indices(state.wins.shape[0], 1)
        duel = one_round(
            jnp.asarray(first.astype(np.int32))[pair],
            jnp.asarray(second.astype(np.int32))[pair],
        )
        return duel, state

    def _gains(self, rng_key: RunKey, beliefs: State) -> Float[Array, " P"]:
        """Return what a duel of each pair is expected to teach, row by row."""
        if isinstance(self.posterior, BetaPairs):
            counts = pseudo_wins(beliefs).astype(jnp.float64)
            return upper_triangle(information_of_betas(counts, counts.T, special))
        chances = self._pairs.sample(rng_key, beliefs, self.draws)
        unsure = special.entr(chances) + special.entr(1.0 - chances)
        mean = jnp.mean(chances, axis=0)
        whole = special.entr(mean) + special.entr(1.0 - mean)
        return upper_triangle(whole - jnp.mean(unsure, axis=0))

    def update(
        self,
        rng_key: RunKey,
        state: ExpectedInformationState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ExpectedInformationState:
        """Count the outcome."""
        beliefs = self._pairs.update(
            rng_key, state.beliefs, duel.first, duel.second, outcome
        )
        return ExpectedInformationState(
            wins=add_wins(state.wins, duel, outcome), beliefs=beliefs
        )

    def recommend(self, rng_key: RunKey, state: ExpectedInformationState) -> Arm:
        """Return the arm that empirically beats the most others.

        On a scale the arm with the largest utility at the mode.
        """
        posterior = self._pairs
        if is_on_a_scale(posterior):
            return jnp.argmax(posterior.utilities(state.beliefs)).astype(jnp.int32)
        return most_beaten(rng_key, state.wins)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta law per pair."""
        if not isinstance(self.posterior, BetaPairs):
            return None
        # Numba takes half a second to import.
        from bayesduel.policies.identification._scalar_information import kernel

        return kernel(np.asarray(self.posterior.prior))
