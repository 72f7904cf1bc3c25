"""What every fit is, for those who are given something else."""

from __future__ import annotations

from typing import Any

from bayesduel.errors import FitError
from theory.arguments import shown


class Fitted:
    """A fitted model; :class:`~bayesduel.inference.Posterior` is one."""


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
