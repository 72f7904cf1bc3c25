"""Files of chunks: what is written is read."""

import numpy as np
import pytest
import xarray as xr

from bayesduel.experiments.chunk import arrays_of, from_bytes, to_bytes

RNG = np.random.default_rng(3)
WHOLE = xr.Dataset(
    {
        "regret": (("run", "round"), RNG.gamma(2.0, size=(3, 5))),
        "plays": (("run",), np.array([2**53 + 1, 0, -1])),
        "ended": (("run",), np.array([True, False, True])),
        "share": ((), np.float32(0.1)),
        "bounds": (("run",), np.array([np.inf, -np.inf, np.nan])),
    },
    {"run": [7, 8, 9], "arm": ["東京", "", "Ålesund"], "round": np.arange(5) ** 9},
    {"num_runs": 3, "seconds": 0.1 + 0.2, "label": "é", "none": [1, 2]},
)


@pytest.mark.parametrize(
    "dataset",
    [WHOLE, WHOLE.isel(run=slice(0)), xr.Dataset(attrs={"error": "it failed"})],
    ids=["whole", "no run", "no array"],
)
def test_what_is_written_is_read(dataset):
    found = from_bytes(to_bytes(arrays_of(dataset))).dataset()
    assert found.identical(dataset) and [*found.data_vars] == [*dataset.data_vars]
    for name, values in found.variables.items():
        assert values.dtype == dataset[name].dtype
    for values in found.data_vars.values():
        assert values.to_numpy().flags.writeable


def test_repeated_numbers_take_no_room():
    """As plays of many rounds do: most bytes of all of them agree."""
    plays = xr.Dataset({"plays": (("run", "arm"), RNG.integers(0, 200, (1000, 50)))})
    assert len(to_bytes(arrays_of(plays))) < plays.nbytes / 4
