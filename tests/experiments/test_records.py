"""Records of runs: all plays, regret alone, or summaries of all runs."""

import random

import numpy as np
import pytest

import bayesduel
from bayesduel import plots, results
from bayesduel.analysis import rankings, regret_dataframe, slope, summary
from bayesduel.errors import OutputFolderError, SimulationArgumentError
from bayesduel.experiments import chunk, execute
from bayesduel.experiments.experiment import Experiment
from bayesduel.simulation import run_summaries
from bayesduel.stopping import parse_rule

POLICIES = ["d-ts", "rucb"]
REQUEST = {"num_runs": 11, "horizon": 3000, "seed": 3}


@pytest.fixture(autouse=True, scope="module")
def _small_tree():
    """Make blocks of two runs: 11 runs are six of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk, "RUNS_PER_SUMMARY", (2, 2))
        yield


def compare(record, policies=POLICIES, **options):
    return bayesduel.compare("cyclic", policies, record=record, **REQUEST | options)


@pytest.fixture(scope="module")
def whole():
    return compare("plays")


@pytest.fixture(scope="module")
def summarized():
    return compare("quantiles")


def test_regret_alone_is_the_same_regret(whole):
    compared = compare("regret", ["rucb"])
    first, second = (tree["cyclic/RUCB"].to_dataset() for tree in (compared, whole))
    assert first.drop_attrs().equals(second.drop_vars("plays").drop_attrs())


@pytest.mark.parametrize(
    ("num_runs", "record"), [(10**4, "plays"), (10**4 + 1, "regret")]
)
def test_regret_alone_is_usual_of_many_runs(num_runs, record):
    assert Experiment("cyclic", "d-ts", num_runs=num_runs).record == record


def test_summaries_say_what_the_runs_say(whole, summarized):
    for label in ("D-TS", "RUCB"):
        regret = whole[f"cyclic/{label}/regret"].transpose(..., "run").to_numpy()
        node = summarized[f"cyclic/{label}"]
        assert "run" not in node.dims
        close = {"rtol": 1e-12, "atol": 1e-9}
        np.testing.assert_allclose(node["regret_mean"], regret.mean(-1), **close)
        np.testing.assert_array_equal(node["regret_minimum"], regret.min(-1))
        np.testing.assert_array_equal(node["regret_maximum"], regret.max(-1))
        covariance = node["regret_comoment"].to_numpy()[0] / (regret.shape[-1] - 1)
        np.testing.assert_allclose(covariance, np.cov(regret[0]), **close)
        assert (node["regret_histogram"].sum("bin") == regret.shape[-1]).all()
        named = whole[f"cyclic/{label}/recommendation"].to_numpy()
        counts = np.bincount(named, minlength=node.sizes["arm"])
        np.testing.assert_array_equal(node["recommended"], counts)


def test_tables_and_figures_of_summaries_are_those_of_the_runs(whole, summarized):
    for first, second in zip(
        summary(summarized).rows, summary(whole).rows, strict=True
    ):
        assert first.num_runs == second.num_runs
        assert first.regret.mean == pytest.approx(second.regret.mean)
        assert first.regret.standard_error == pytest.approx(
            second.regret.standard_error
        )
        assert first.slope.value == pytest.approx(second.slope.value)
        assert first.slope.standard_error == pytest.approx(second.slope.standard_error)
        for name in ("quantile_10", "median", "quantile_90"):
            wanted = getattr(second.regret, name)
            assert getattr(first.regret, name) == pytest.approx(wanted, rel=0.01)
    first, second = (
        plots.regret(tree, band="quantiles 10-90", bounds=None).axes[0]
        for tree in (summarized, whole)
    )
    np.testing.assert_allclose(first.lines[0].get_ydata(), second.lines[0].get_ydata())
    ends = [axes.collections[0].get_paths()[0].vertices for axes in (first, second)]
    np.testing.assert_allclose(*ends, rtol=0.01)
    node = summarized["cyclic/D-TS"]
    rounds = node["checkpoint"].to_numpy()
    assert slope(node, rounds[-9], rounds[-1]).num_runs == REQUEST["num_runs"]


def test_what_needs_single_runs_says_so(summarized):
    assert rankings(summarized) == []
    for ask in (plots.survival, regret_dataframe):
        with pytest.raises(ValueError, match="record='regret'"):
            ask(summarized)


def test_a_histogram_is_right_to_one_percent():
    rng = np.random.default_rng(2)
    rows = 10 ** rng.uniform(-12, 18, (1, 3, 5000))
    rows[0, 1, ::2] = 0
    bins, counts = run_summaries._histogram(rows)
    values = run_summaries.middles(bins)
    for number in range(3):
        exact = np.sort(rows[0, number])
        stored = np.repeat(values, counts[0, number])
        large = exact >= run_summaries.SMALLEST
        np.testing.assert_allclose(stored[large], exact[large], rtol=0.01)
        assert (stored[~large] == 0).all()


@pytest.fixture
def file_of(tmp_path, monkeypatch):
    """Return ``results.nc`` of summaries, whose jobs are done in some order."""

    def file(name, *, order=None, stop=None, **options):
        plain = Experiment.chunks, execute.chunk_arrays
        done = []

        def chunks(experiment):
            result = plain[0](experiment)
            if order is not None:
                random.Random(order).shuffle(result)
            return result

        def run(chunk, on_progress=None):
            if len(done) == stop:
                raise KeyboardInterrupt
            done.append(chunk.runs)
            return plain[1](chunk, on_progress)

        out = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(Experiment, "chunks", chunks)
            patch.setattr(execute, "chunk_arrays", run)
            options["policies"] = "d-ts"
            if stop is not None:
                with pytest.raises(KeyboardInterrupt):
                    compare("quantiles", out=out, **options)
                return done
            compare("quantiles", out=out, **options)
        return (out / results.FILE_NAME).read_bytes(), len(done)

    return file


def test_summaries_are_the_same_in_any_order(file_of):
    whole, jobs = file_of("whole")
    assert jobs == 6
    for order in range(3):
        assert file_of(f"order {order}", order=order)[0] == whole


@pytest.mark.slow
def test_summaries_are_the_same_after_an_interrupt(file_of):
    whole, jobs = file_of("whole")
    for order, stop in ((None, 3), (8, 5)):
        name = f"stopped after {stop}"
        done = file_of(name, order=order, stop=stop)
        assert file_of(name, resume=True) == (whole, jobs - len(done))
    assert file_of("whole", resume=True) == (whole, 0)


def test_summaries_may_grow_by_whole_blocks(file_of):
    whole, jobs = file_of("whole")
    file_of("grown", num_runs=7)
    # Only the half block of the seventh run is of no use.
    assert file_of("grown", resume=True) == (whole, jobs - 3)


def test_another_record_is_another_request(tmp_path):
    compare("regret", ["rucb"], out=tmp_path)
    with pytest.raises(OutputFolderError, match="another record"):
        compare("quantiles", ["rucb"], out=tmp_path, resume=True)


def test_the_end_of_runs_is_not_summarized():
    rule = parse_rule("budget:duels=10")
    with pytest.raises(SimulationArgumentError, match="record regret"):
        Experiment("cyclic", "d-ts", record="quantiles", stopping=rule)
