"""What ArviZ calls the result of a cross-validation."""

from typing import Any

import numpy as np
import xarray as xr
from arviz_stats import utils as arviz_utils
from arviz_stats.base import (
    array_stats as _array_stats,  # pyright: ignore[reportPrivateImportUsage]
)
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesduel.inference.resampling import good_k

array_stats: Any = _array_stats
"""Its own annotations are narrower than what it takes."""

log_sum_exp: Any = logsumexp
"""Without annotations, it is taken to return a pair."""


def elpd_of(
    left_out: NDArray, full: NDArray, k: NDArray, dim: str, num_draws: int
) -> Any:
    """Return an ``ELPDDataLOO`` of pointwise values, with their Pareto k."""
    good = good_k(num_draws)
    fields: dict[str, Any] = {
        "elpd": float(left_out.sum()),
        "se": float(np.sqrt(len(left_out) * np.var(left_out, ddof=1))),
        "p": float(np.sum(full - left_out)),
        "n_samples": num_draws,
        "n_data_points": len(left_out),
        "scale": "log",
        "warning": bool(np.any(k > good)),
        "good_k": float(good),
        "elpd_i": xr.DataArray(left_out, dims=(dim,)),
        "pareto_k": xr.DataArray(k, dims=(dim,)),
    }
    # Before ArviZ 1.2 one class served all kinds of cross-validation.
    kind = getattr(arviz_utils, "ELPDDataLOO", None)
    if kind is None:
        kind, fields = arviz_utils.ELPDData, {"kind": "loo", **fields}
    return kind(**fields)
