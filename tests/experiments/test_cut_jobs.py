"""Jobs that last long are cut: what is finished is kept, and no result changes."""

import pickle
from concurrent.futures import Executor, Future

import pytest

import bayesduel
from bayesduel import results
from bayesduel.experiments import comparison, engines
from bayesduel.experiments.experiment import comparison_of
from bayesduel.experiments.progress import ProgressReport
from bayesduel.simulation import driver

REQUEST = {"num_runs": 6, "horizon": 500, "seed": 3}
POLICIES = ["d-ts", "rucb"]


@pytest.fixture
def cut(monkeypatch):
    """Let every job end with its first run, as if that had taken long."""
    monkeypatch.setattr(comparison, "MOST_SECONDS", 0.0)


@pytest.fixture
def played(monkeypatch):
    """Return the numbers of the runs that chunks were asked for, in order."""
    plain, found = driver.run_chunk, []

    def run_chunk(*arguments, **settings):
        found.append(settings["runs"])
        return plain(*arguments, **settings)

    monkeypatch.setattr(driver, "run_chunk", run_chunk)
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the file of the comparison of jobs that are not cut."""
    out = tmp_path_factory.mktemp("whole")
    compare(out)
    return content(out)


def compare(out, **options):
    return bayesduel.compare("cyclic", POLICIES, out=out, **REQUEST | options)


def content(out):
    return (out / results.FILE_NAME).read_bytes()


def parts_of(out):
    return [*out.glob(".bayesduel/parts/*.npz")]


def stop_after(count, monkeypatch):
    """Let a comparison be interrupted when it would keep one part more."""
    plain, kept = comparison.Comparison.to_bytes, []

    def to_bytes(value):
        if len(kept) == count:
            raise KeyboardInterrupt
        kept.append(value)
        return plain(value)

    monkeypatch.setattr(comparison.Comparison, "to_bytes", staticmethod(to_bytes))


class Here(Executor):
    """Runs what has travelled as a pickle, at once."""

    def submit(self, fn, /, *arguments):
        future = Future()
        future.set_result(fn(*pickle.loads(pickle.dumps(arguments))))
        return future


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"executor": Here()},
        {"executor": Here(), "shared": True},
    ],
    ids=["here", "executor", "writing executor"],
)
def test_cut_jobs_change_no_result(cut, whole, tmp_path, options):
    compare(tmp_path / "out", **options)
    assert content(tmp_path / "out") == whole
    assert parts_of(tmp_path / "out") == []


def test_every_piece_is_played_once(cut, played):
    compare(None)
    rests = [range(start, 6) for start in range(6)]
    assert sorted(played, key=str) == sorted(rests * 2, key=str)


@pytest.mark.parametrize(("workers", "size"), [(1, 6), (2, 2), (20, 1)])
def test_a_policy_that_takes_most_of_the_time_keeps_all_workers_busy(
    workers, size, played
):
    compare(None, executor=Here(), jobs=workers)
    jobs = [range(start, start + size) for start in range(0, 6, size)]
    assert sorted(played, key=str) == sorted(jobs * len(POLICIES), key=str)


def test_pieces_of_a_job_become_one_file(cut, tmp_path, monkeypatch):
    plain, counts = engines._finished, []

    def finished(*arguments):
        counts.append(len(parts_of(tmp_path)))
        return plain(*arguments)

    monkeypatch.setattr(engines, "_finished", finished)
    compare(tmp_path)
    assert counts == [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6]


def test_interrupts_between_pieces_keep_them(cut, whole, played, tmp_path, monkeypatch):
    for count in (4, 2):
        with monkeypatch.context() as patch:
            stop_after(count, patch)
            with pytest.raises(KeyboardInterrupt):
                compare(tmp_path, resume=True)
    # What was about to be kept is lost.
    assert len(parts_of(tmp_path)) == 4 + 2
    played.clear()
    compare(tmp_path, resume=True)
    assert content(tmp_path) == whole
    assert sum(len(runs) > 0 for runs in played) == 12 - 4 - 2


def test_jobs_that_are_not_cut_go_on_where_cut_ones_ended(
    whole, played, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "MOST_SECONDS", 0.0)
        stop_after(3, patch)
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path)
    played.clear()
    compare(tmp_path, resume=True)
    assert played == [range(3, 6), range(6)]
    assert content(tmp_path) == whole


def test_parts_of_several_processes_are_cut(cut, whole, played, tmp_path, monkeypatch):
    compare(tmp_path, part="2/2", executor=Here(), shared=True)
    assert len(parts_of(tmp_path)) == 2  # One job, and the plan.
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path, part="1/2")
    assert len(parts_of(tmp_path)) == 5
    with pytest.raises(bayesduel.errors.OutputFolderError, match="lacks 1 jobs of 1"):
        bayesduel.merge(tmp_path)
    played.clear()
    compare(tmp_path, part="1/2")
    assert played[0] == range(3, 6)
    played.clear()
    for number in (1, 2):
        compare(tmp_path, part=f"{number}/2")
    assert played == []
    bayesduel.merge(tmp_path)
    assert content(tmp_path) == whole


def test_a_damaged_piece_is_played_again(cut, whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        with pytest.raises(KeyboardInterrupt):
            compare(tmp_path, part="1/1")
    damaged = max(parts_of(tmp_path), key=lambda file: file.stat().st_size)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    with pytest.warns(bayesduel.errors.DamagedPartWarning):
        compare(tmp_path, part="1/1")
    bayesduel.merge(tmp_path)
    assert content(tmp_path) == whole


def test_summaries_are_not_cut(cut, played, tmp_path):
    compare(tmp_path / "out", record="quantiles")
    assert played == [range(6), range(6)]


def test_a_failure_in_the_rest_fails_the_policy(cut, monkeypatch):
    plain = driver.run_chunk

    def run_chunk(environment, policy, *, runs, **settings):
        if policy.label == "RUCB" and runs.start == 2:
            raise ZeroDivisionError("in the third run")
        return plain(environment, policy, runs=runs, **settings)

    monkeypatch.setattr(driver, "run_chunk", run_chunk)
    tree = compare(None)
    assert "third run" in tree["cyclic/RUCB"].attrs["error"]
    assert tree["cyclic/D-TS"].sizes["run"] == 6


def test_the_bar_never_goes_back(cut):
    shares = []

    class Bar:
        def add_task(self, description, total):
            assert total == 2
            return 0

        def update(self, task, *, completed=None, description=None):
            shares.append(completed)

    asked = bayesduel.Experiment("cyclic", POLICIES, **REQUEST)
    sweep = comparison_of(asked)
    for executor in (None, Here()):
        shares.clear()
        engines.run_jobs(
            sweep.jobs(1, []), 1, id, ProgressReport(Bar()), executor=executor
        )
        known = [share for share in shares if share is not None]
        assert known == sorted(known) and known[-1] == 2
        assert len({*known}) >= 10
