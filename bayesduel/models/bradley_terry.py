"""The Bradley-Terry model, with ties, an order effect, and covariates of the arms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from bayesduel.models.array_modules import (
    Values,
    log_sigmoids,
    log_softmax,
    namespace,
    sigmoids,
)
from bayesduel.models.closed_forms import RowDerivatives
from bayesduel.models.utilities import PairwiseUtilityModel

if TYPE_CHECKING:
    from bayesduel.models.vote_arrays import Votes

_TABLE = 2**16  # Worths of a block of draws: they stay in the cache of a core.
# Rows for each number of votes, so that a logarithm is shared by many of them.
_FEWEST_ROWS = 8
# Logarithm of the largest product of rows; that of the largest number is 709.
_LARGEST_LOG = 600.0


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(PairwiseUtilityModel):
    r"""Bradley-Terry: the odds of winning are a ratio of worths.

    P(i beats j) = sigma(u_i - u_j) with utilities u_i ~ Normal(0, prior_scale) and
    sigma(x) = 1 / (1 + exp(-x)) (Zermelo 1929, Bradley and Terry 1952). A world with a
    total order in which strong stochastic transitivity and the stochastic triangle
    inequality hold.

    With ``ties``: P(i) : P(j) : P(tie) = exp(d/2) : exp(-d/2) : nu, d = u_i - u_j, that
    is, P(tie) = nu sqrt(P(i) P(j)) with log nu ~ Normal(0, tie_scale) (Davidson 1970).
    Given that a vote is no tie, this is the model without ties. With ``order_effect`` d
    grows by ``first_advantage`` for the arm shown first (Davidson and Beaver 1977).

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.
    ties, tie_scale, order_effect, order_scale, covariates, covariate_scale, residual
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.
    contest_covariates, contest_scale
        As in :class:`~bayesduel.models.utilities.PairwiseUtilityModel`.

    References
    ----------
    R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
    Biometrika 39 (1952). R. R. Davidson, "On extending the Bradley-Terry model to
    accommodate ties in paired comparison experiments", JASA 65 (1970). R. R. Davidson
    and R. J. Beaver, "On extending the Bradley-Terry model to incorporate within-pair
    order effects", Biometrics 33 (1977).

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(BradleyTerry(), votes, method="laplace", num_draws=100)
    >>> posterior.probability_of_beating().shape
    (3, 3)
    """

    title: ClassVar[str] = "Bradley-Terry"
    word: ClassVar[str] = "bradley-terry"

    def outcome_logs(self, difference: Values, tie: Values) -> Values:
        """Return log P(outcome) of a vote; ``tie`` is log nu."""
        xp = namespace(difference)
        if not self.ties:
            return xp.stack(log_sigmoids(difference))
        half = difference / 2.0
        return log_softmax(xp.stack([half, -half, tie]))

    def summed_logs(
        self,
        counts: Float[np.ndarray, "row outcome"],
        difference: Float[np.ndarray, "*draw row"],
        tie: Float[np.ndarray, "*draw row"],
    ) -> Float[np.ndarray, "*draw"]:
        """Return the log likelihood of votes: one exponential, one logarithm a row.

        With n votes in a row, log P(first) = d/2 - log Z, log P(second) = -d/2 - log Z
        and log P(tied) = log nu - log Z, nu = 0 without ties. Where m is the size of d,
        log Z = m/2 + log(1 + exp(-m) + nu exp(-m/2)). So a row costs m for each vote
        for the arm that is behind and m/2 for a tie, and n times the last logarithm.
        Nothing large cancels: an arm may have won all of a million votes.
        """
        # Two arrays are used again and again: to make one takes as long as to fill it.
        # Threads of a linear algebra library take longer to start than blocks of rows
        # take to add up.
        size = np.abs(difference)
        rest = np.multiply(size, -0.5)
        np.exp(rest, out=rest)
        if self.ties:  # All rows have the same tie parameter.
            rest *= rest + np.exp(tie[..., :1])
        else:
            rest *= rest
        np.log1p(rest, out=rest)
        won, lost, *ties = np.ascontiguousarray(counts.T)
        tied = ties[0] if self.ties else np.zeros_like(won)
        summed = -np.einsum("...r,r->...", rest, won + lost + tied)
        np.subtract(size, difference, out=rest)  # Twice m where the first is behind.
        summed = summed - 0.5 * np.einsum("...r,r->...", rest, won + 0.5 * tied)
        size += difference
        summed = summed - 0.5 * np.einsum("...r,r->...", size, lost + 0.5 * tied)
        return summed + tie[..., 0] * tied.sum() if self.ties else summed

    def likelihood_of_draws(
        self, votes: Votes
    ) -> tuple[int, Callable[..., Any]] | None:
        r"""Return how many draws to pass at once, and code for their log likelihoods.

        With worths w = exp(u) a row of n votes has the log likelihood

        .. math:: W_i u_i + W_j u_j + T \log\nu
            - n \log(w_i + w_j + \nu \sqrt{w_i w_j}),

        where an arm's W is its wins and half of its T ties, and nu = 0 without ties. So
        there is one exponential for each arm, and none for a row; rows with equally
        many votes are multiplied, and share a logarithm. Only for votes without effects
        of the order or the contest. None where most rows have a number of votes of
        their own, as weights do, and where Numba was told to compile nothing.
        """
        first, second = np.asarray(votes.first), np.asarray(votes.second)
        counts, num_arms = np.asarray(votes.counts), votes.num_arms
        number = counts.sum(axis=1)
        rows = np.flatnonzero(number > 0)
        if _FEWEST_ROWS * len(np.unique(number)) > len(rows):
            return None
        program = _program()
        if not hasattr(program, "signatures"):
            return None
        rows = rows[np.lexsort((second[rows], first[rows], number[rows]))]
        won, lost, *ties = counts.T
        tied = ties[0] if self.ties else np.zeros_like(won)
        of_arms = np.bincount(first, won + 0.5 * tied, num_arms)
        of_arms += np.bincount(second, lost + 0.5 * tied, num_arms)
        sorted_rows, num_ties = (first[rows], second[rows], number[rows]), tied.sum()

        def of_draws(utility: np.ndarray, tie: np.ndarray) -> np.ndarray | None:
            # Given log nu, minus infinity without ties; None where worths are too far
            # apart.
            high, low = utility.max(axis=1), utility.min(axis=1)
            centered = utility - 0.5 * (high + low)[:, None]
            nu = np.exp(tie)
            largest = 0.5 * float(np.max(high - low))
            largest += math.log(2.0 + float(np.max(nu)))
            if not 2.0 * largest < _LARGEST_LOG:
                return None
            draws = len(utility)
            # A vector of the processor that crosses a line of its cache takes twice as
            # long; the last draws are repeated to fill one.
            places = -(-draws // 8) * 8
            memory = np.empty((num_arms + 2) * places + 8)
            start = -memory.ctypes.data // 8 % 8
            aligned = memory[start : start + (num_arms + 2) * places]
            table = aligned.reshape(num_arms + 2, places)
            table[:-2, :draws] = np.exp(0.5 * centered).T
            table[-2, :draws] = nu
            table[:, draws:] = table[:, draws - 1 : draws]
            logs = np.zeros(places)
            program(table, *sorted_rows, int(_LARGEST_LOG / largest), logs)
            likelihoods = centered @ of_arms
            likelihoods += num_ties * tie if num_ties else 0.0
            return likelihoods - logs[:draws]

        return 8 * max(2, min(_TABLE // num_arms, 128) // 8), of_draws

    def vote_derivatives(
        self, counts: Values, difference: Values, tie: Values
    ) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row in closed form.

        Those of a softmax: the gradient is what happened minus what was expected, the
        Hessian minus the covariance of a vote.
        """
        xp = namespace(difference)
        if not self.ties:
            number = counts[:, 0] + counts[:, 1]
            first, second = sigmoids(difference)
            zero = xp.zeros_like(difference)
            return RowDerivatives(
                gap=counts[:, 0] * second - counts[:, 1] * first,
                tie=zero,
                gap_gap=-number * first * second,
                gap_tie=zero,
                tie_tie=zero,
                height=lambda: (
                    number * log_sigmoids(difference)[0] - counts[:, 1] * difference
                ),
            )
        number = xp.sum(counts, axis=1)
        probability = xp.exp(self.outcome_logs(difference, tie))
        first, second = probability[0], probability[1]
        lead, decided = (first - second) / 2.0, first + second
        return RowDerivatives(
            gap=(counts[:, 0] - counts[:, 1]) / 2.0 - number * lead,
            tie=counts[:, 2] - number * probability[2],
            gap_gap=-number * (first * second + decided * probability[2] / 4.0),
            gap_tie=number * lead * probability[2],
            tie_tie=-number * decided * probability[2],
        )


def add_log_totals(
    table: Float[np.ndarray, "part draw"],
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    number: Float[np.ndarray, " row"],
    longest: int,
    logs: Float[np.ndarray, " draw"],
) -> None:
    """Add n log(w_i + w_j + nu sqrt(w_i w_j)) of all rows, for each draw."""
    # The table holds square roots of the worths w, nu, and a row that is overwritten.
    # Rows are sorted by ``number``; a product of ``longest`` of them is a number.
    rows, draws = len(first), table.shape[1]
    nu, product = len(table) - 2, len(table) - 1
    row = 0
    while row < rows:
        times = number[row]
        end = min(rows, row + longest)
        while number[end - 1] != times:
            end -= 1
        for draw in range(draws):
            table[product, draw] = 1.0
        while row < end:
            one = first[row]
            if row + 3 < end and first[row + 3] == one:
                a, b, c, d = (
                    second[row],
                    second[row + 1],
                    second[row + 2],
                    second[row + 3],
                )
                for draw in range(draws):
                    root = table[one, draw]
                    worth, tie = root * root, root * table[nu, draw]
                    at_a, at_b = table[a, draw], table[b, draw]
                    at_c, at_d = table[c, draw], table[d, draw]
                    table[product, draw] *= (
                        (worth + at_a * (tie + at_a)) * (worth + at_b * (tie + at_b))
                    ) * ((worth + at_c * (tie + at_c)) * (worth + at_d * (tie + at_d)))
                row += 4
            else:
                a = second[row]
                for draw in range(draws):
                    root, at_a = table[one, draw], table[a, draw]
                    tie = root * table[nu, draw]
                    table[product, draw] *= root * root + at_a * (tie + at_a)
                row += 1
        for draw in range(draws):
            logs[draw] += times * math.log(table[product, draw])


@cache
def _program() -> Callable[..., Any]:
    # Numba takes longer to import than small fits take.
    from bayesduel.ops.scalar.compiler import standalone

    return standalone(add_log_totals)
