"""Expected information: ask the pair whose duel teaches most."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.models.in_policies.betas import BetaPairs
from bayesduel.models.in_policies.names import check_pair_posterior, take_by_name
from bayesduel.models.in_policies.scalar_betas import prior_in_order
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.ops.scalar.digamma import digamma
from bayesduel.policies import scalar_kernel
from bayesduel.policies.identification import EQUAL_GAINS
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import (
    count_win,
    recommend_most_beaten,
    takes_over,
)
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_from


@register("information", acronym="Information")
class ExpectedInformation(KernelPolicy):
    r"""Expected information: the pair whose next outcome tells most about the model.

    In each round this policy compares the pair whose outcome has the largest mutual
    information with the unknown probabilities of all pairs.

    Use it in studies whose model has one scale of utilities (for example
    posterior="bradley-terry"), if you want to learn about all arms and not only about
    the winner. To name a winner with few duels use ``rd-ts:cost=duels``.

    Parameters
    ----------
    posterior : PairPosterior, or its name
        Model of the pairs: "beta", "bradley-terry", "thurstone", ....
    draws : int
        Number of draws from the posterior, at least 2. It is used only where there is
        no closed form.

    Notes
    -----
    **Rule.** In each round compare the pair with the largest
    :math:`H(\mathrm{E}[\theta_{ij}])-\mathrm{E}[H(\theta_{ij})]`. Here
    :math:`\theta_{ij}` is the probability that i beats j, the means are over the
    posterior, and H is the entropy of one outcome (Lindley 1956; Houlsby et al. 2011).
    For Beta distributions this number has a closed form. Otherwise it is a mean over
    draws. Ties, to a relative 1e-9, are broken at random.

    With one Beta distribution per pair, which is the default, the chosen pair is nearly
    always one with the fewest duels. With one scale of utilities
    (``posterior="bradley-terry"``) a duel gives information about all arms, and the
    rule prefers pairs of arms that are close together and little known.

    **Assumptions.** The model of ``posterior``. There is no theorem about the number of
    duels until a winner is named. When to stop is decided by :mod:`bayesduel.stopping`.

    **Look-ahead.** None: every round is a duel of two arms and gives information.

    References
    ----------
    D. V. Lindley, "On a Measure of the Information Provided by an Experiment", Annals
    of Mathematical Statistics 27(4), 1956. N. Houlsby, F. Huszar, Z. Ghahramani, M.
    Lengyel, "Bayesian Active Learning for Classification and Preference Learning",
    2011, equation (2).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse_policy("information:posterior=bradley-terry").label
    'Information:posterior=bradley-terry'
    """

    draws: int = checked(100, number_from, 2)
    posterior: Any = BetaPairs()

    title: ClassVar[str] = "Expected information"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def __post_init__(self) -> None:
        """Take a posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_pair_posterior(self.posterior, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where there is a Beta distribution per pair."""
        if not isinstance(self.posterior, BetaPairs):
            return None
        prior = np.asarray(self.posterior.prior)

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> InformationKernel:
            pairs = np.zeros((len(order), len(order)), dtype=_PAIR)
            pairs["prior"] = prior_in_order(prior, order)
            return InformationKernel(pairs)

        return ScalarKernel("expected_information", initial_state)

    def over_model(self) -> Any:
        """Return the rule over the draws of any other posterior."""
        if isinstance(self.posterior, BetaPairs):
            return None
        # JAX takes a second to import.
        from bayesduel.policies.over_models.expected_information import (
            SampledInformation,
        )

        return SampledInformation(self.posterior, draws=self.draws)


_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("prior", np.float64),
        ("gain", np.float64),  # [i, j], i < j: what a duel is expected to teach.
    ]
)


class InformationKernel(NamedTuple):
    """The state of one run."""

    pairs: Records  # K x K of ``_PAIR``.


@compiled
def init(state: InformationKernel, rng: Generator) -> None:
    """Find what a first duel of each pair teaches."""
    for i in range(len(state.pairs)):
        for j in range(i + 1, len(state.pairs)):
            _refresh(state.pairs, i, j)


@compiled
def _refresh(pairs: Records, i: int, j: int) -> None:
    """Find H(E[p]) - E[H(p)], p the probability of the pair (i, j), i < j."""
    first = pairs[i, j].wins + pairs[i, j].prior
    second = pairs[j, i].wins + pairs[j, i].prior
    total = first + second
    whole = digamma(total + 1.0) - math.log(total)
    forward = digamma(first + 1.0) - math.log(first)
    backward = digamma(second + 1.0) - math.log(second)
    pairs[i, j].gain = (first * forward + second * backward) / total - whole


@compiled
def choose(state: InformationKernel, rng: Generator, round_: int) -> Duel:
    """Take the pair that teaches most, at random among equal ones."""
    num_arms, most = len(state.pairs), -math.inf
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            most = max(most, state.pairs[i, j].gain)
    least = most - EQUAL_GAINS * abs(most)
    first, second, number = 0, 1, 0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            if state.pairs[i, j].gain >= least:
                number += 1
                if takes_over(rng, number):
                    first, second = i, j
    return Duel(first, 0, first, second, True)


@compiled
def update(
    state: InformationKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome."""
    count_win(state, rng, round_, first, second, won)
    _refresh(state.pairs, min(first, second), max(first, second))


scalar_kernel.implement(
    InformationKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend_most_beaten,
)
