"""Mean constants of random submatrices: any number of processes, resumed or not."""

import math

import numpy as np
import pytest

from bayesduel.errors import OutputFolderError, ProgramError
from bayesduel.instances import SubmatrixSampler, load
from bayesduel.papers import random_submatrices, submatrix_constants
from tests.folders import chunks_of
from theory import copeland_lower_bound, ecw_rmed_constant
from theory.theorems import ccb_order

REQUEST = {"size": 5, "min_gap": 0.01, "seed": 8}


@pytest.fixture(scope="module")
def constants():
    """Return what one process finds, uninterrupted."""
    return submatrix_constants(load("sushi"), 60, **REQUEST)


def test_rows_are_the_constants_of_the_drawn_submatrices(constants):
    sampler = SubmatrixSampler.of(load("sushi"), **REQUEST)
    assert [row.number for row in constants.rows] == list(range(60))
    for row in constants.rows[::20]:
        arms, num_draws = sampler.draw(row.number)
        part = load("sushi").submatrix(arms.tolist())
        assert row.arms == tuple(arms.tolist())
        assert row.num_draws == num_draws
        assert row.cw == copeland_lower_bound(part).value
        assert row.ecw == ecw_rmed_constant(part).value
        assert row.ccb == ccb_order(part).log_coefficient
        assert row.cw <= row.ecw * (1 + 1e-9)
    for name in ("cw", "ecw", "ccb"):
        values = [getattr(row, name) for row in constants.rows]
        assert constants.mean(name) == pytest.approx(np.mean(values))
        error = np.std(values, ddof=1) / math.sqrt(60)
        assert constants.standard_error(name) == pytest.approx(error)
    tries = sum(row.num_draws for row in constants.rows)
    assert constants.admissible_share == 60 / tries


def test_more_processes_find_the_same(constants):
    assert submatrix_constants(load("sushi"), 60, **REQUEST, jobs=2) == constants


def test_a_longer_table_begins_with_the_shorter_one(constants):
    single = submatrix_constants(load("sushi"), 1, **REQUEST)
    assert single.rows == constants.rows[:1]
    assert single.standard_error("cw") == math.inf


def test_interrupted_and_resumed_equals_uninterrupted(constants, tmp_path, monkeypatch):
    plain, arguments = random_submatrices.submatrix_rows, []

    def rows(sampler, numbers, on_progress=None):
        arguments.extend(numbers)
        if len(arguments) == 36:
            raise KeyboardInterrupt
        return plain(sampler, numbers)

    monkeypatch.setattr(random_submatrices, "submatrix_rows", rows)
    monkeypatch.setattr(random_submatrices, "PER_JOB", 12)
    with pytest.raises(KeyboardInterrupt) as interrupt:
        submatrix_constants(load("sushi"), 60, **REQUEST, out=tmp_path)
    assert interrupt.value.kept == 24
    assert len(chunks_of(tmp_path)) == 2
    again = submatrix_constants(load("sushi"), 60, **REQUEST, out=tmp_path, resume=True)
    assert again == constants
    assert arguments == [*range(36), *range(24, 60)]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {".bayesduel", "submatrices.csv"}
    # A finished table grows, and gives back its beginning.
    arguments.clear()
    more = submatrix_constants(load("sushi"), 65, **REQUEST, out=tmp_path, resume=True)
    assert more.rows[:60] == constants.rows
    assert arguments == list(range(60, 65))
    less = submatrix_constants(load("sushi"), 10, **REQUEST, out=tmp_path, resume=True)
    assert less.rows == constants.rows[:10]
    assert len((tmp_path / "submatrices.csv").read_text().splitlines()) == 66


def test_folders_of_others_are_refused(tmp_path):
    submatrix_constants(load("sushi"), 2, **REQUEST, out=tmp_path)
    for name, value in (("size", 4), ("min_gap", 0.02), ("seed", 9)):
        with pytest.raises(OutputFolderError, match=f"another {name}"):
            submatrix_constants(
                load("sushi"), 2, **(REQUEST | {name: value}), out=tmp_path, resume=True
            )
    with pytest.raises(OutputFolderError, match="another matrix_sha256"):
        submatrix_constants(load("arithmetic"), 2, **REQUEST, out=tmp_path, resume=True)
    changed = REQUEST | {"seed": 9}
    result = submatrix_constants(
        load("sushi"), 3, **changed, out=tmp_path, overwrite=True
    )
    assert result == submatrix_constants(load("sushi"), 3, **changed)


def test_wrong_requests_are_refused_before_a_folder_is_made(tmp_path):
    for arguments, words in (
        ({"num_submatrices": 0}, "num_submatrices must be"),
        ({"size": 17}, "size must be at most 16"),
        ({"min_gap": 0.45}, "leaves no submatrix"),
        ({"jobs": 0.5}, "jobs must be"),
    ):
        request = {"num_submatrices": 2, "size": 4} | arguments
        with pytest.raises(ValueError, match=words):
            submatrix_constants(load("sushi"), **request, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_constant_without_a_certificate_names_its_submatrix(tmp_path, monkeypatch):
    """Matrices that were finished before are kept."""
    solved = []

    def fails(part):
        solved.append(part)
        if len(solved) == 3:
            raise ProgramError("the program was not solved.")
        return copeland_lower_bound(part)

    monkeypatch.setattr(random_submatrices, "PER_JOB", 1)
    monkeypatch.setattr(random_submatrices, "copeland_lower_bound", fails)
    with pytest.raises(ProgramError, match=r"submatrix 2 \(arms .*larger smallest gap"):
        submatrix_constants(load("sushi"), 5, **REQUEST, out=tmp_path)
    assert len(chunks_of(tmp_path)) == 2


@pytest.mark.slow
@pytest.mark.shared
def test_table_1(shared_dir):
    """Komiyama et al. (2016), Table 1: 6.7e2, 7.3e2, 8.8e5 over 10^4 submatrices.

    1200 of them suffice for five standard errors of the sampling distribution; CCB is
    an order of growth, whose printed constant uses another Delta.
    """
    matrix = load(str(shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"))
    constants = submatrix_constants(matrix, 1200, 16, min_gap=0.005, seed=0)
    for name, printed, rounding in (("cw", 670, 5), ("ecw", 730, 5)):
        # The paper's mean is a sample as well, of 10^4.
        error = constants.standard_error(name) * math.sqrt(1 + 1200 / 10_000)
        assert abs(constants.mean(name) - printed) < 5 * error + rounding
    assert 5e5 < constants.mean("ccb") < 2e6
