"""Figures and analysis refuse what they cannot draw or measure, in one line."""

import errno
import os
import re

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from bayesduel import analysis, papers, plots
from bayesduel.errors import OutputWriteError
from bayesduel.inference import fit
from bayesduel.models import PairwiseBeta
from bayesduel.votes import Comparisons
from tests import fake_results as fake
from theory import copeland_lower_bound

NODE = fake.policy_node(num_runs=9)
TREE = fake.comparison(labels=("D-TS", "RUCB"), num_runs=9)
ORDER = [[0.5, 0.6], [0.4, 0.5]]


def result(values, rounds=(10, 100), axes=("notion", "run", "checkpoint")):
    return xr.Dataset(
        {"regret": (axes, np.asarray(values)[None, None])},
        coords={"notion": ["copeland"], "checkpoint": list(rounds)},
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("results", "must be what bayesduel.simulate or bayesduel.compare returned"),
        (result([1.0, np.nan]), "is nan in row 0 at checkpoint 100"),
        (result([1.0, 2.0], rounds=[100, 10]), "must be at ascending checkpoints"),
        (result([1.0, 2.0], rounds=["a", "b"]), "must be at ascending checkpoints"),
        (result(["a", "b"]), "must hold numbers"),
        (xr.Dataset({"regret": ("x", [1.0, 2.0])}), "must have the axes notion, run"),
    ],
)
def test_results_of_another_layout(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        analysis.summary(given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"band": "stderr"}, "band must be one of"),
        ({"notion": "weak"}, "must be one that was recorded"),
        ({"width": "wide"}, "'column' or 'full'"),
        ({"width": "1_0"}, "width must be"),
        ({"width": True}, "width must be from 1.5 to 40 inches"),
        ({"width": 0.1}, "width must be from 1.5 to 40 inches"),
        ({"height": -1}, "height must be from 0.5 to 200 inches"),
        ({"height": 0.6}, "leave room for the panels"),
        ({"labels": "inside"}, "labels must be"),
        ({"log_x": "no"}, "log_x must be True or False"),
        ({"columns": 0}, "columns must be an integer"),
    ],
)
def test_options_of_figures(options, words):
    with pytest.raises(ValueError, match=words):
        plots.regret(NODE, **options)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: analysis.slope(NODE, 100, np.nan), "to_round must be an integer"),
        (lambda: analysis.rankings(TREE, num_resamples=10**9), "at most 1000000"),
        (lambda: analysis.rankings(TREE, seed=-1), "seed must be an integer of at"),
        (lambda: analysis.rankings(TREE, peak="x"), "peak must be a number of at le"),
        (lambda: analysis.rankings(TREE, confidence=None), "confidence must be in (0"),
        (
            lambda: analysis.paired_intervals(np.zeros((9, 700)), num_resamples=10**6),
            "num_resamples must be at most 548",
        ),
        (
            lambda: analysis.anchored_bound(copeland_lower_bound(ORDER), np.nan, 1.0),
            "anchor_round must be an integer of at least 2",
        ),
        (lambda: analysis.lower_bound(ORDER, ("a",)), "must name each of the 2 arms"),
        (
            lambda: papers.SubmatrixConstants(()).values("__class__"),
            "name must be one of cw, ecw, ccb",
        ),
        (
            lambda: papers.submatrix_constants(ORDER, 1, 2, overwrite="no"),
            "overwrite must be True or False",
        ),
        (lambda: plots.allocation(ORDER, [1]), "optima must be a mapping"),
        (lambda: plots.allocation(ORDER, {"x": 1}), "optima['x'] must be a theory.Opt"),
        (lambda: papers.reproduction(TREE), "found must be what"),
    ],
)
def test_arguments(ask, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ask()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda p: plots.forest(p, max_arms=0), "max_arms must be an integer"),
        (lambda p: plots.forest(p, by="borda"), "by must be one of score, rank"),
        (lambda p: plots.forest(None), "posterior must be a fit"),
        (lambda p: plots.heat_map([[0.5, 2.0], [0.4, 0.5]]), "values[0, 1] "),
        (lambda p: plots.pair(p, "0", "0"), "two different arms"),
        (lambda p: plots.pair(p, "0", "beer"), "pair must name arms of the fit, which"),
        (lambda p: plots.pair(p, "0", "1", probability=2), "probability must be in"),
        (lambda p: plots.pair(p, "0", "1", scale="glicko"), "scale must be"),
        (lambda p: plots.predictive_check(p, rng_key=-1), "from 0 to 2^63 - 1"),
        (lambda p: plots.coefficients(p), "a model with attributes"),
        (lambda p: plots.false_stops("gap"), "audit must be what"),
    ],
)
def test_arguments_of_figures_of_fits(draw, words):
    found = fit(PairwiseBeta(), Comparisons.from_wins([[0, 7], [3, 0]]), num_draws=25)
    with pytest.raises(ValueError, match=re.escape(words)):
        draw(found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, "figure", ["svg"]), "figure must be a matplotlib figure"),
        ((Figure(), ".", ["svg"]), "stem must end with the name of a file"),
        ((Figure(), "figure", "svg"), "formats must be a sequence"),
        ((Figure(), "figure", ["svg", "exe"]), "formats must be one of"),
    ],
)
def test_what_is_saved(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(words)):
        plots.save(*arguments)
    # Not even the first of the formats.
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_older_figure(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (path,) = plots.save(Figure(), tmp_path / "figure", ["svg"])
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputWriteError, match=r"figure\.svg: No space left on device"):
        plots.save(Figure((1, 1)), tmp_path / "figure", ["svg"])
    assert [each.name for each in tmp_path.iterdir()] == ["figure.svg"]
    assert path.read_bytes() == before
