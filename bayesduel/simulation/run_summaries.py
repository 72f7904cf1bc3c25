"""Summaries of many runs, in place of the runs: moments, extremes and a histogram.

Blocks of runs are summarized where they are played, and joined in the order of their
runs. So the result is the same, bit for bit, in whatever order the blocks arrive.
"""

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

# Ratio of the ends of a bin: its middle is at most 1 % from all that is in it
GROWTH = 1.02
SMALLEST = 2.0**-30  # Smaller regret counts as zero
_ZERO = 0  # Number of the bin of what is smaller than ``SMALLEST``


def summarize(dataset: xr.Dataset) -> xr.Dataset:
    """Summarize the runs of a node.

    Parameters
    ----------
    dataset : xarray.Dataset
        Of :func:`bayesduel.simulate_chunk`.

    Returns
    -------
    xarray.Dataset
        ``regret_mean``, ``regret_minimum``, ``regret_maximum`` (notion, checkpoint);
        ``regret_comoment`` (notion, checkpoint, other_checkpoint), the sum over runs of
        products of deviations from the mean; ``regret_histogram`` (notion, checkpoint,
        bin); ``recommended`` (arm), how many runs recommend an arm. The attribute
        ``first_run`` says which runs these are, with ``num_runs``.
    """
    regret = dataset["regret"].transpose("notion", "run", "checkpoint").to_numpy()
    # Contiguous memory, so that runs are summed in their order.
    rows = np.ascontiguousarray(np.moveaxis(regret, 1, -1))
    mean = rows.sum(axis=-1) / rows.shape[-1]
    away = rows - mean[..., None]
    # A matrix product would add up in an order that depends on the number of threads.
    comoment = np.einsum("ncr,ndr->ncd", away, away)
    bins, counts = _histogram(rows)
    both = ("notion", "checkpoint")
    recommended = dataset["recommendation"].to_numpy()
    if recommended.ndim == 1:
        recommended = np.bincount(recommended, minlength=dataset.sizes["arm"])
    else:
        recommended = recommended.sum(axis=0)
    coords = {name: dataset[name] for name in ("notion", "checkpoint", "arm")}
    return xr.Dataset(
        {
            "regret_mean": (both, mean),
            "regret_minimum": (both, rows.min(axis=-1)),
            "regret_maximum": (both, rows.max(axis=-1)),
            "regret_comoment": ((*both, "other_checkpoint"), comoment),
            "regret_histogram": ((*both, "bin"), counts),
            "recommended": (("arm",), recommended.astype(np.int64)),
        },
        coords=coords | {"bin": bins},
        attrs=dataset.attrs | {"first_run": int(dataset["run"][0])},
    )


def join(left: xr.Dataset, right: xr.Dataset) -> xr.Dataset:
    """Join summaries of different runs."""
    # Moments by Chan, Golub and LeVeque (1983), which loses no digits of large means.
    first, second = left.attrs["num_runs"], right.attrs["num_runs"]
    count = first + second
    apart = (right["regret_mean"] - left["regret_mean"]).to_numpy()
    products = apart[..., :, None] * apart[..., None, :]
    left, right = _on_same_bins(left, right)
    return left.assign(
        regret_mean=left["regret_mean"] + apart * (second / count),
        regret_comoment=left["regret_comoment"]
        + right["regret_comoment"]
        + products * (first * (second / count)),
        regret_minimum=np.minimum(left["regret_minimum"], right["regret_minimum"]),
        regret_maximum=np.maximum(left["regret_maximum"], right["regret_maximum"]),
        regret_histogram=left["regret_histogram"] + right["regret_histogram"],
        recommended=left["recommended"] + right["recommended"],
    ).assign_attrs(num_runs=count)


def _on_same_bins(
    first: xr.Dataset, second: xr.Dataset
) -> tuple[xr.Dataset, xr.Dataset]:
    bins = [part["bin"].to_numpy() for part in (first, second)]
    wanted = np.arange(
        min(part[0] for part in bins), max(part[-1] for part in bins) + 1
    )
    if all(part.size == wanted.size for part in bins):
        return first, second
    return first.reindex(bin=wanted, fill_value=0), second.reindex(
        bin=wanted, fill_value=0
    )


def _histogram(
    rows: Float[np.ndarray, "notion checkpoint run"],
) -> tuple[Int[np.ndarray, " bin"], Int[np.ndarray, "notion checkpoint bin"]]:
    """Count what is in each bin, from the first to the last that is not empty."""
    exponents = np.log(np.maximum(rows, SMALLEST) / SMALLEST) / np.log(GROWTH)
    numbers = np.where(rows < SMALLEST, _ZERO, 1 + exponents.astype(np.int64))
    bins = np.arange(numbers.min(), numbers.max() + 1)
    flat = numbers.reshape(-1, rows.shape[-1])
    places = np.arange(len(flat))[:, None] * bins.size + flat - bins[0]
    counts = np.bincount(places.ravel(), minlength=len(flat) * bins.size)
    return bins, counts.reshape(*rows.shape[:-1], bins.size).astype(np.int64)


def middles(bins: Int[np.ndarray, " bin"]) -> Float[np.ndarray, " bin"]:
    """Return a value for each bin, at most 1 % from all that is in it."""
    middle = SMALLEST * GROWTH ** (bins - 1.0) * (2 * GROWTH / (1 + GROWTH))
    return np.where(bins == _ZERO, 0.0, middle)
