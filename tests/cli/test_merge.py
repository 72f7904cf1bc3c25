"""``bayesduel merge``: parts of a sweep, joined or named."""

import pytest

import bayesduel

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture
def part(tmp_path):
    """Return a function that does a part of a sweep in a folder."""
    asked = bayesduel.Experiment("cyclic", ["rucb", "rmed1"], num_runs=4, horizon=99)

    def part(text):
        asked.run(out=tmp_path / "sweep", part=text)
        return tmp_path / "sweep"

    return part


def test_parts_are_joined_and_said(run, part):
    for text in ("1/2", "2/2"):
        folder = part(text)
    for _ in range(2):
        done = run("merge", folder)
        assert "RUCB" in done.stdout and "saved the results" in done.stderr
    children = bayesduel.results.load(folder)["cyclic"].children
    assert sorted(children) == ["RMED1", "RUCB"]


def test_what_is_missing_is_named_in_one_line(run, part):
    done = run("merge", part("2/2"), code=2)
    assert "lacks 1 chunks of 1 of its 2 parts: 1; do each" in done.stderr
    assert "1/2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_of_one_command_has_no_parts(run, tmp_path):
    asked = bayesduel.Experiment("cyclic", "rucb", num_runs=4, horizon=99)
    asked.run(out=tmp_path / "one")
    before = {x: x.read_bytes() for x in (tmp_path / "one").iterdir() if x.is_file()}
    done = run("merge", tmp_path / "one", code=2)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert (
        "holds the results of one command, and no parts of an experiment" in done.stderr
    )
    assert "bayesduel plot draws them" in done.stderr
    assert all(file.read_bytes() == content for file, content in before.items())
    with pytest.raises(ValueError, match="no parts of an experiment"):
        bayesduel.merge(tmp_path / "one")


def test_a_folder_of_others_is_none(run, tmp_path):
    done = run("merge", tmp_path, code=2)
    assert "holds no results of compare" in done.stderr
