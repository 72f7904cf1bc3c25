"""What every fit is, for those who are given something else."""

from __future__ import annotations

from typing import Any, Never

from bayesduel.errors import FitError
from theory.arguments import shown


class Fitted:
    """A fitted model; :class:`~bayesduel.inference.Posterior` is one."""

    def probability_better(self) -> Never:
        """Name the two methods that this one was, and was taken for.

        Raises
        ------
        FitError
            Always.
        """
        raise FitError(
            "probability_better was taken for the chance of winning a vote, which is "
            "probability_of_beating(); what it returned, P(i is stronger than j), is "
            "probability_stronger()"
        )


def check_posterior(posterior: Any) -> Any:
    """Return a fit.

    Raises
    ------
    FitError
        For anything else.
    """
    if not isinstance(posterior, Fitted):
        raise FitError(
            "posterior must be a fit, as bayesduel.inference.fit returns it; got "
            f"{shown(posterior)}"
        )
    return posterior
