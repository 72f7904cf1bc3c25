"""What every fit is: who is best in it, and what is no fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from bayesduel.errors import FitError
from bayesduel.inference import winners
from bayesduel.inference.fits.kept_draws import KeptDraws
from bayesduel.models.argument_checks import check_probability

if TYPE_CHECKING:
    import xarray as xr


class FitBase(KeptDraws):
    """Where the arms stand; :class:`~bayesduel.inference.Fit` is one."""

    @cached_property
    def parts(self) -> list[list[str]]:
        """Names of the arms that votes connect, the largest part first.

        One part: all arms can be told apart by votes. Across parts the posterior says
        what the prior says, so ranks, scores and probabilities of being the best are
        those within the part of an arm.
        """
        return self.model.parts(self.data)

    @cached_property
    def part_of(self) -> Int64[np.ndarray, " K"]:
        """Number of the part of each arm in :attr:`parts`, from 0."""
        own = {name: at for at, part in enumerate(self.parts) for name in part}
        return np.array([own[name] for name in self.arm_names], dtype=np.int64)

    @cached_property
    def _parts(self) -> winners.Parts:
        return [np.flatnonzero(self.part_of == at) for at in range(len(self.parts))]

    @cached_property
    def scores(self) -> dict[str, Shaped[np.ndarray, "draw K"]]:
        """Scores of the arms in every kept draw: ``borda`` and ``copeland``.

        The mean probability of beating one of the others, and how many it beats; both
        among the arms of its part, and nan where it is alone there.
        """
        return winners.scores_of(self.matrices(), self._parts)

    def winner_probabilities(self) -> xr.Dataset:
        """Return how likely each arm is the best one, in several senses.

        Returns
        -------
        xarray.Dataset
            ``condorcet_exists``: P(some arm beats all others). By arm: ``condorcet``,
            P(it beats all others); ``copeland``, P(no arm beats more others): these add
            up to more than 1 where several share the first place; ``borda``, P(largest
            mean probability of winning); ``best_utility``, where the model has
            utilities. Where arms fall into several :attr:`parts`, "all others" are
            those of the same part; an arm that is alone there has nan, as has
            ``condorcet_exists``.
        """
        import xarray as xr

        found = self.winner_shares()
        shares = {name: ("arm", values) for name, values in found.items()}
        return xr.Dataset(
            {
                "condorcet_exists": winners.condorcet_exists(
                    found["condorcet"], self.num_draws, len(self.parts)
                ),
                **shares,
            },
            coords={"arm": list(self.arm_names)},
            attrs={"num_draws": self.num_draws, "method": self.method},
        )

    def winner_shares(self) -> dict[str, Float64[np.ndarray, " K"]]:
        """Return :meth:`winner_probabilities` by arm as plain arrays (K,)."""
        utilities = self.model.utilities(self.flat_draws())
        if utilities is not None and self.model.utility_decides:
            return self._over_parts(utilities, winners.winner_shares_by_utility)
        found = winners.over_parts(self._parts, self.scores, winners.winner_shares)
        if utilities is not None:
            found |= self._over_parts(utilities, winners.best_utility)
        return found

    def _over_parts(self, scores: np.ndarray, of: Callable) -> dict[str, np.ndarray]:
        one = {"score": scores}
        return winners.over_parts(self._parts, one, lambda own: of(own["score"]))

    def rank_intervals(
        self, probability: float = 0.9, *, by: str | None = None
    ) -> xr.Dataset:
        """Return where each arm stands in the order of all, with its uncertainty.

        Parameters
        ----------
        probability : float
            Of the central interval, in (0, 1).
        by : {"utility", "borda", "copeland"}, optional
            What arms are ordered by; by default utility where there is one, else
            borda, the mean probability of winning. The rank of an arm is 1 plus the
            number of better arms; of better ones in its part, where arms fall into
            several :attr:`parts`.

        Returns
        -------
        xarray.Dataset (arm)
            ``mean``, ``lower`` and ``upper`` rank; 1 is the best. Where some arm is
            alone in its part all are floats, and its own nan.
        """
        import xarray as xr

        order, found = self.ranks(probability, by=by)
        return xr.Dataset(
            {name: ("arm", values) for name, values in found.items()},
            coords={"arm": list(self.arm_names)},
            attrs={"probability": probability, "by": order},
        )

    def ranks(
        self, probability: float = 0.9, *, by: str | None = None
    ) -> tuple[str, dict[str, Shaped[np.ndarray, " K"]]]:
        """Return :meth:`rank_intervals` as plain arrays (K,), and the order's name."""
        probability = check_probability(probability)
        utilities = self.model.utilities(self.flat_draws())
        order = ("borda" if utilities is None else "utility") if by is None else by
        is_named = isinstance(order, str)
        if is_named and order == "utility" and utilities is not None:
            scores = utilities
        elif is_named and order in winners.SCORES:
            scores = self.scores[order]
        else:
            rule = "must be borda, copeland, or utility where the model has one"
            raise FitError("by", rule, by)
        found = self._over_parts(
            scores, lambda own: winners.rank_summary(own, probability)
        )
        alone = any(len(part) == 1 for part in self._parts)
        whole = [] if alone else ["lower", "upper"]
        return order, found | {name: found[name].astype(np.int64) for name in whole}

    def probability_better(self) -> Never:
        """Name the two methods that this one was, and was taken for.

        Raises
        ------
        FitError
            Always.
        """
        raise FitError(
            "probability_better",
            "was taken for the probability of winning a vote",
            remedy="that is probability_of_beating(); what it returned, P(i is "
            "stronger than j), is probability_stronger()",
        )


def check_posterior(posterior: Any) -> Any:
    """Return a fit.

    Raises
    ------
    FitError
        For anything else.
    """
    if not isinstance(posterior, FitBase):
        raise FitError(
            "posterior",
            "must be a fit, as bayesduel.inference.fit returns it",
            posterior,
        )
    return posterior
