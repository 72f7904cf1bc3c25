"""Reading numbers and names that were typed."""

import re
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from bayesduel.cli import parse
from bayesduel.cli.app import app


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1E+6", 10**6),
        ("2.5e3", 2500),
        ("1.0", 1),
        ("10**6", 10**6),
        ("2^62", 2**62),
        ("1_000_000", 10**6),
        (" 500 ", 500),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_rounds(text, value):
    assert parse.rounds(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("+7", 7), ("-3", -3), ("1e3", 1000), ("10^3", 1000), (" 5 ", 5)],
)
def test_integers(text, value):
    assert parse.integer(text) == value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\u0663", "plain digits"),
        ("1_0e3", "plain digits"),
        ("1.5", "plain digits"),
        ("", "plain digits"),
        ("9" * 500, "below 2^63"),
        ("1e99", "below 2^63"),
        ("-3", "at least 0"),
    ],
)
def test_bad_integers(text, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        parse.integer(text, least=0)


@pytest.mark.parametrize("text", ["\uff11.5", "1_0", "", "9" * 400])
def test_bad_numbers(text):
    with pytest.raises(ValueError, match=r"plain digits|below 1e308"):
        parse.number(text)


def numeric_options():
    """Return the options with a number, and whether they have a reader of ours."""
    found = []
    for command in get_command(app).commands.values():
        if hasattr(command, "commands"):
            continue
        hints = typing.get_type_hints(command.callback, include_extras=True)
        for name, hint in hints.items():
            kind, *extras = typing.get_args(hint) or (hint,)
            if {int, float} & {kind, *typing.get_args(kind)}:
                # Typer keeps the first name that is given where a default would stand.
                names = [extras[0].default, f"--{name.replace('_', '-')}"]
                option = next(each for each in names if str(each).startswith("--"))
                found.append((command.name, option, extras[0].parser))
    return found


def test_no_option_is_read_as_python_reads_numbers():
    options = numeric_options()
    assert len(options) >= 20
    assert not [each for each in options if each[2] is None]


@pytest.mark.parametrize("text", ["\uff11\uff12", "1_0", "many"])
def test_every_number_typed_wrongly_is_refused_by_its_option(run, text):
    for command, option, _ in numeric_options():
        result = run(command, option, text, code=2)
        assert option in result.stderr and "plain digits" in result.stderr


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "whole number"),
        ("1.55e1", "whole number"),
        ("1 000", "whole number"),
        ("٣", "whole number"),
        ("x" * 5000, "whole number"),
        ("9^999999999999", "below 2^63"),
        ("1e999999999999", "below 2^63"),
        ("9223372036854775808", "below 2^63"),
    ],
)
def test_bad_rounds(text, rule):
    with pytest.raises(ValueError, match="--horizon must be") as caught:
        parse.rounds(text)
    assert rule in str(caught.value)
    assert repr(text)[:40] in str(caught.value)


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_rounds_are_exact(value):
    """Whether they can be simulated is for the library to say."""
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
    assert parse.checkpoints("100,1e3, 10^4", 10**5) == (100, 1000, 10**4)
    assert parse.checkpoints("100,1000", 1000) == (100, 1000)
    assert parse.checkpoints("100,", 1000) == (100,)
    assert parse.checkpoints(None, 1000) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("100,abc", "whole number"),
        ("1000", "checkpoints per decade"),
        ("0", "checkpoints per decade"),
        ("-3", "checkpoints per decade"),
        (",", "must name a round"),
    ],
)
def test_bad_checkpoints(text, words):
    with pytest.raises(ValueError, match=words):
        parse.checkpoints(text, 10**5)
