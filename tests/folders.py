"""Helpers for tests of folders of results."""

import xarray as xr

REQUEST = "experiment.toml"
"""The file that a folder of a comparison holds from the beginning."""

WHOLE = {REQUEST, "results.nc", "summary.csv", "summary.json"}
"""The files that it holds at the end."""


def content_of(folder):
    """Return the results that a comparison has written, as bytes."""
    return (folder / "results.nc").read_bytes()


def visible(folder):
    """Return the names of what a user sees in a folder: all but our own state."""
    return {each.name for each in folder.iterdir()} - {".bayesduel", "chunks"}


def chunks_of(folder):
    """Return the files of the chunks in a folder."""
    return sorted(folder.glob("chunks/*.chunk"))


def same_tree(one, other):
    """Compare variables and coordinates; seconds and dates may differ."""
    assert [node.path for node in one.subtree] == [node.path for node in other.subtree]
    for ours, theirs in zip(one.subtree, other.subtree, strict=True):
        xr.testing.assert_equal(ours.to_dataset(), theirs.to_dataset())
        for name in ours.variables:
            assert ours[name].dtype.kind == theirs[name].dtype.kind
        for name in ("error", "num_runs", "events", "seed", "fingerprint"):
            assert ours.attrs.get(name) == theirs.attrs.get(name)
