"""``bayesduel bounds MATRIX --submatrices N``."""

import json

import pytest

from bayesduel.cli.output import version
from bayesduel.papers import random_submatrices

KEYS = [
    "matrices", "size", "cw_mean", "cw_se", "ecw_mean", "ecw_se", "ccb_mean", "ccb_se",
    "seconds",
]  # fmt: skip
BASIC = ("bounds", "sushi", "--submatrices", 12, "--size", 4, "--min-gap", "0.01",
         "--seed", 3, "--jobs", 1)  # fmt: skip


def _without_seconds(text):
    found = json.loads(text)
    assert list(found) == KEYS
    assert found.pop("seconds") > 0
    return found


def test_json_has_exactly_the_promised_keys(run, tmp_path):
    result = run(*BASIC, "--json")
    found = _without_seconds(result.stdout)
    assert (found["matrices"], found["size"]) == (12, 4)
    assert 0 < found["cw_mean"] <= found["ecw_mean"] < found["ccb_mean"]
    assert 0 < found["cw_se"] < found["cw_mean"]
    assert _without_seconds(run(*BASIC, "--json", "-q").stdout) == found
    single = run("bounds", "gap", "--submatrices", 1, "--size", 5, "--json")
    found = _without_seconds(single.stdout)
    assert found["cw_mean"] == pytest.approx(11.024943, rel=1e-6)
    assert found["ecw_mean"] == pytest.approx(1252.510763, rel=1e-6)
    assert found["ccb_mean"] == pytest.approx(150000, rel=1e-9)
    assert found["cw_se"] is found["ecw_se"] is found["ccb_se"] is None


def test_table(run):
    result = run(*BASIC)
    for words in ("12 random submatrices of 4 of 16 arms", "CW-RMED", "ECW-RMED",
                  "CCB", "natural log T", "seed 3", "gaps at least 0.01",
                  f"bayesduel {version()}"):  # fmt: skip
        assert words in result.stdout


def test_the_folder_keeps_what_is_finished(run, tmp_path, monkeypatch):
    out = tmp_path / "out"
    plain, calls = random_submatrices.submatrix_rows, []

    def interrupted(sampler, numbers, on_progress=None):
        calls.append(numbers)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(sampler, numbers)

    monkeypatch.setattr(random_submatrices, "PER_JOB", 5)
    monkeypatch.setattr(random_submatrices, "submatrix_rows", interrupted)
    result = run(*BASIC, "--json", "--out", out, code=130)
    assert result.stdout == ""
    assert f"kept 5 of 12 submatrices in {out}" in result.stderr
    assert "--resume" in result.stderr
    resumed = run(*BASIC, "--json", "--out", out, "--resume")
    kept = json.loads((out / "submatrices.json").read_text())
    assert _without_seconds(resumed.stdout).items() <= kept.items()
    calls.clear()
    nothing = run(*BASIC, "--json", code=130)
    assert "nothing was kept" in nothing.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--submatrices", "0"], "--submatrices: must be an integer of at least 1"),
        (["--submatrices", "2", "--size", "17"], "--size: must be at most 16"),
        (["--submatrices", "2", "--min-gap", "0.45"], "--min-gap: 0.45 leaves no"),
        (["--submatrices", "2", "--resume"], "--resume: needs a folder; give --out"),
        (["--size", "4"], "--size: needs --submatrices"),
        (["--min-gap", "0"], "--min-gap: needs --submatrices"),
        (["--seed", "0"], "--seed: needs --submatrices"),
        (["--resume"], "--resume: needs --submatrices"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(run, tmp_path, arguments, words):
    result = run("bounds", "sushi", *arguments, "--json", code=2)
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    out = tmp_path / "out"
    if "--resume" not in arguments and "--submatrices" in arguments:
        run("bounds", "sushi", *arguments, "--out", out, code=2)
        assert not out.exists()
