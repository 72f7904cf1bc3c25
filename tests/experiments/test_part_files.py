"""Files of parts: what is written is read."""

import numpy as np
import pytest
import xarray as xr

from bayesduel.experiments import results
from bayesduel.experiments.stored import part_files

RNG = np.random.default_rng(3)
WHOLE = xr.Dataset(
    {
        "regret": (("run", "round"), RNG.gamma(2.0, size=(3, 5))),
        "plays": (("run",), np.array([2**53 + 1, 0, -1]), {"units": "rounds"}),
        "ended": (("run",), np.array([True, False, True])),
        "share": ((), np.float32(0.1)),
        "bounds": (("run",), np.array([np.inf, -np.inf, np.nan])),
    },
    {"run": [7, 8, 9], "arm": ["東京", "", "Ålesund"], "round": np.arange(5) ** 9},
    {"num_runs": np.int64(3), "seconds": 0.1 + 0.2, "label": "é", "none": [1, 2]},
)


@pytest.mark.parametrize(
    "dataset",
    [WHOLE, WHOLE.isel(run=slice(0)), xr.Dataset(attrs={"error": "it failed"})],
    ids=["whole", "no run", "no array"],
)
def test_what_is_written_is_read(dataset):
    data = bytes(part_files.to_bytes(dataset))
    found = part_files.dataset_from_bytes(data)
    assert found.identical(dataset) and [*found.data_vars] == [*dataset.data_vars]
    for name, values in found.variables.items():
        assert values.dtype == dataset[name].dtype
    for values in found.data_vars.values():
        assert values.to_numpy().flags.writeable


def test_trees_keep_the_order_of_their_nodes():
    tree = xr.DataTree.from_dict({"/": WHOLE[["share"]], "/b/x": WHOLE, "/a": WHOLE})
    found = part_files.tree_from_bytes(bytes(part_files.to_bytes(tree)))
    assert found.identical(tree)
    assert [node.path for node in found.subtree] == [node.path for node in tree.subtree]


def test_parts_of_earlier_versions_are_read():
    """They were netCDF, and return texts as objects."""
    old = part_files.dataset_from_bytes(bytes(results.to_bytes(WHOLE)))
    assert old.equals(WHOLE)
    again = part_files.dataset_from_bytes(bytes(part_files.to_bytes(old)))
    assert again.equals(WHOLE) and again["arm"].dtype.kind == "U"


def test_repeated_numbers_take_no_room():
    """As plays of many rounds do: most bytes of all of them agree."""
    plays = xr.Dataset({"plays": (("run", "arm"), RNG.integers(0, 200, (1000, 50)))})
    assert len(part_files.to_bytes(plays)) < plays.nbytes / 4
