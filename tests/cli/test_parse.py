"""Reading numbers and names that were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesduel.cli import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1000000", 10**6),
        ("1e6", 10**6),
        ("1E6", 10**6),
        ("1e+6", 10**6),
        ("2.5e3", 2500),
        ("1.0", 1),
        ("10^6", 10**6),
        ("10**6", 10**6),
        ("2^62", 2**62),
        ("1_000_000", 10**6),
        (" 500 ", 500),
        ("4611686018427387904", 2**62),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_rounds(text, value):
    assert parse.rounds(text) == value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("abc", "whole number"),
        ("", "whole number"),
        ("1.5", "whole number"),
        ("1e-3", "whole number"),
        ("1.55e1", "whole number"),
        ("nan", "whole number"),
        ("inf", "whole number"),
        ("0x10", "whole number"),
        ("1 000", "whole number"),
        ("٣", "whole number"),
        ("x" * 5000, "whole number"),
        ("0", "at least 1"),
        ("0e5", "at least 1"),
        ("-5", "at least 1"),
        ("-1e6", "at least 1"),
        ("1e400", "at most 2^62"),
        ("10^400", "at most 2^62"),
        ("9^999999999999", "at most 2^62"),
        ("1e999999999999", "at most 2^62"),
        ("9" * 5000, "at most 2^62"),
        ("4611686018427387905", "at most 2^62"),
    ],
)
def test_bad_rounds(text, rule):
    with pytest.raises(ValueError, match="--horizon: must be") as caught:
        parse.rounds(text)
    assert rule in str(caught.value)
    assert repr(text) in str(caught.value)


@given(st.integers(1, 2**62))
def test_rounds_are_exact(value):
    assert parse.rounds(str(value)) == value


def test_checkpoints_per_decade():
    grid = parse.checkpoints("5", 10**6)
    assert grid[0] == 10
    assert grid[-1] == 10**6
    assert len(grid) == 26
    assert {10**k for k in range(1, 7)} <= set(grid)
    assert list(grid) == sorted(set(grid))


@given(st.integers(1, 100), st.integers(1, 2**62))
def test_checkpoints_increase_to_the_horizon(per_decade, horizon):
    grid = parse.checkpoints(str(per_decade), horizon)
    assert grid[-1] == horizon
    assert all(a < b for a, b in zip(grid, grid[1:], strict=False))
    assert all(isinstance(each, int) for each in grid)


def test_checkpoints_by_list():
    assert parse.checkpoints("100,1e3, 10^4", 10**5) == (100, 1000, 10**4, 10**5)
    assert parse.checkpoints("100,1000", 1000) == (100, 1000)
    assert parse.checkpoints("100,", 1000) == (100, 1000)
    assert parse.checkpoints(None, 1000) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1000,100", "must increase"),
        ("100,100", "must increase"),
        ("100,1e9", "must not exceed the horizon"),
        ("100,abc", "whole number"),
        ("1000", "checkpoints per decade"),
        ("0", "at least 1"),
        (",", "names no round"),
    ],
)
def test_bad_checkpoints(text, words):
    with pytest.raises(ValueError, match=words):
        parse.checkpoints(text, 10**5)


def test_notions_keep_the_first_and_suggest():
    known = ("copeland", "copeland_losses", "borda", "weak")
    assert parse.notions(["borda"], known, first="copeland") == ("copeland", "borda")
    assert parse.notions(["copeland-losses", "copeland"], known, first="copeland") == (
        "copeland",
        "copeland_losses",
    )
    assert parse.notions(["copeland"], known, first="weak") == ("weak", "copeland")
    with pytest.raises(ValueError, match=r"no notion 'brda'; did you mean borda\?"):
        parse.notions(["brda"], known, first="copeland")


def test_folder(tmp_path):
    def check(folder, **options):
        parse.check_folder(folder, kind="test", **options)

    deep = tmp_path / "new" / "deep"
    check(deep)
    assert deep.is_dir()
    check(deep)
    (deep / "regret.png").write_text("drawn")
    with pytest.raises(ValueError, match=r"--out: .* go on .*\(--resume\), replace"):
        check(deep)
    check(deep, resume=True)
    check(deep, overwrite=True)
    with pytest.raises(ValueError, match="exclude each other"):
        check(deep, resume=True, overwrite=True)
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(ValueError, match="--out: .* may hold files of yours"):
            check(tmp_path / "new", **options)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(ValueError, match="is a file"):
        check(file)
    with pytest.raises(ValueError, match="Not a directory"):
        check(file / "below")
