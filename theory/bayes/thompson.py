"""The exact distribution of what double Thompson sampling compares next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.arguments import integer_from, number_above
from theory.bayes.exact import NUM_ARMS, PAIRS

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64


@dataclass(frozen=True)
class DoubleThompsonChoices:
    """The next comparison of D-TS on three arms, as a function of the counts.

    For :func:`theory.bayes_regret`.

    Parameters
    ----------
    horizon : int
        Rounds at most: the most duels that a pair can have.
    alpha : float, optional
        Width of the confidence bounds, above 1/2; None for pure D-TS, which has none.
    prior : float
        Both parameters of the Beta distributions that the rule samples from.

    Raises
    ------
    ArgumentError
        If an argument is out of range.

    Notes
    -----
    Wu and Liu (2016), Algorithm 1, with ties between first arms broken at random. Its
    first sample only matters by the signs of three independent numbers, which have
    eight patterns. Of the second, P(X > Y, X > 1/2) is needed for two independent
    Beta variables, an integral over (1/2, 1) by Gauss and Legendre, exact for integer
    priors: there the integrand is a polynomial.

    Examples
    --------
    >>> import numpy as np
    >>> choices = DoubleThompsonChoices(horizon=10)
    >>> choices(np.zeros((1, 3, 3), dtype=np.int64), 1)[0].sum(axis=1).round(8)
    array([0.33333333, 0.33333333, 0.33333333])
    """

    horizon: int
    alpha: float | None = 0.51
    prior: float = 1.0

    def __post_init__(self) -> None:
        integer_from(self.horizon, 1, "horizon", 200)
        number_above(self.prior, 0.0, "prior")
        if self.alpha is not None:
            number_above(self.alpha, 0.5, "alpha")

    def __call__(
        self, wins: Int64[np.ndarray, "S 3 3"], round_: int
    ) -> Float64[np.ndarray, "S 3 3"]:
        """Return P(first arm, second arm) in every state."""
        losses = wins.swapaxes(1, 2)
        candidate, eligible = self._bounds(wins, losses, round_)
        ahead = self._ahead[wins, losses]
        first = _first(ahead, candidate)
        return first[:, :, None] * self._second(wins, ahead, eligible)

    def _bounds(
        self, wins: NDArray[np.int64], losses: NDArray[np.int64], round_: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which arms may be first, and which [i, a] may be second after a."""
        others = np.broadcast_to(~np.eye(NUM_ARMS, dtype=bool), wins.shape)
        if self.alpha is None:
            return np.ones(wins.shape[:2], dtype=bool), others
        won = np.arange(self.horizon + 1)[:, None]
        duels = won + won.T
        some = np.maximum(duels, 1)
        # A quotient by 0 is 1, so a pair never compared is bounded by 0 and 2.
        mean = np.where(duels > 0, won / some, 1.0)
        width = np.where(duels > 0, np.sqrt(self.alpha * np.log(round_) / some), 1.0)
        upper, lower = mean + width, mean - width
        score = ((upper > 0.5)[wins, losses] & others).sum(axis=2)
        eligible = (lower <= 0.5)[wins, losses] & others
        return score == score.max(axis=1, keepdims=True), eligible

    def _second(
        self,
        wins: NDArray[np.int64],
        ahead: NDArray[np.float64],
        eligible: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return P(second arm | first arm), [state, first, second]."""
        chances = np.zeros_like(ahead)
        for first in range(NUM_ARMS):
            rivals = [arm for arm in range(NUM_ARMS) if arm != first]
            kinds = {arm: self._kind(wins, arm, first) for arm in rivals}
            stays = np.ones(len(wins))
            for arm, opponent in (rivals, rivals[::-1]):
                # An arm meets itself with 1/2: to be second takes a sample above.
                larger = self._larger[kinds[arm], kinds[opponent]]
                alone = ahead[:, arm, first]
                takes = np.where(eligible[:, opponent, first], larger, alone)
                chances[:, first, arm] = eligible[:, arm, first] * takes
                stays -= chances[:, first, arm]
            chances[:, first, first] = np.maximum(stays, 0.0)
        return chances / chances.sum(axis=2, keepdims=True)

    def _kind(self, wins: NDArray[np.int64], arm: int, first: int) -> NDArray[np.int64]:
        """Return the row of a pair's counts in tables of all counts."""
        duels = wins[:, arm, first] + wins[:, first, arm]
        return duels * (duels + 1) // 2 + wins[:, arm, first]

    @cached_property
    def _ahead(self) -> NDArray[np.float64]:
        """P(X > 1/2), [won, lost]."""
        from scipy import special  # As much as all of theory to import.

        won = np.arange(self.horizon + 1) + self.prior
        return special.betainc(won, won[:, None], 0.5)

    @cached_property
    def _larger(self) -> NDArray[np.float64]:
        """P(X > Y, X > 1/2), a row and a column for every count of a pair."""
        from scipy import special

        nodes, weights = special.roots_legendre(self.horizon // 2 + 2)
        nodes, weights = 0.75 + nodes / 4, weights / 4
        counts = [(n, won) for n in range(self.horizon + 1) for won in range(n + 1)]
        won = np.array([wins for _, wins in counts])[:, None] + self.prior
        lost = np.array([n - wins for n, wins in counts])[:, None] + self.prior
        density = np.exp(
            special.xlogy(won - 1, nodes)
            + special.xlog1py(lost - 1, -nodes)
            - special.betaln(won, lost)
        )
        return (density * weights) @ special.betainc(won, lost, nodes).T


def _first(
    ahead: NDArray[np.float64], candidate: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return P(first arm): the candidate that beats most in a sample of signs."""
    chances = np.zeros_like(candidate, dtype=np.float64)
    for signs in product((True, False), repeat=len(PAIRS)):
        probability = np.ones(len(ahead))
        beaten = np.zeros(NUM_ARMS, dtype=np.int8)
        for (first, second), sign in zip(PAIRS, signs, strict=True):
            winner, loser = (first, second) if sign else (second, first)
            probability *= ahead[:, winner, loser]
            beaten[winner] += 1
        votes = np.where(candidate, beaten, -1)
        best = votes == votes.max(axis=1, keepdims=True)
        chances += probability[:, None] * best / best.sum(axis=1, keepdims=True)
    return chances
