"""Reading numbers and names that were typed."""

import typing
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command

from bayesduel.cli import parse
from bayesduel.cli.app import app


def checkpoints(horizon):
    return lambda text: parse.checkpoints(text, horizon)


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (parse.rounds, "1E+6", 10**6),
        (parse.rounds, "2.5e3", 2500),
        (parse.rounds, "1.0", 1),
        (parse.rounds, "10**6", 10**6),
        (parse.rounds, "2^62", 2**62),
        (parse.rounds, "1_000_000", 10**6),
        (parse.rounds, " 500 ", 500),
        (parse.rounds, "9007199254740993", 2**53 + 1),
        (parse.integer, "12", 12),
        (parse.integer, "+7", 7),
        (parse.integer, "-3", -3),
        (parse.integer, "1e3", 1000),
        (parse.integer, "10^3", 1000),
        (parse.integer, " 5 ", 5),
        (checkpoints(10**5), "100,1e3, 10^4", (100, 1000, 10**4)),
        (checkpoints(1000), "100,1000", (100, 1000)),
        (checkpoints(1000), "100,", (100,)),
        (checkpoints(1000), None, None),
    ],
)
def test_what_is_typed_is_read(reader, text, value):
    assert reader(text) == value


def numeric_options():
    """Return the options with a number, and whether they have a reader of ours."""
    results = []
    for command in get_command(app).commands.values():
        if hasattr(command, "commands"):
            continue
        hints = typing.get_type_hints(command.callback, include_extras=True)
        for name, hint in hints.items():
            kind, *extras = typing.get_args(hint) or (hint,)
            if {int, float} & {kind, *typing.get_args(kind)}:
                names = [extras[0].default, f"--{name.replace('_', '-')}"]
                option = next(name for name in names if str(name).startswith("--"))
                results.append((command.name, option, extras[0].parser))
    return results


def test_no_option_is_read_as_python_reads_numbers():
    options = numeric_options()
    assert len(options) >= 20
    assert not [option for option in options if option[2] is None]


@pytest.mark.parametrize("text", ["\uff11\uff12", "1_0", "many"])
def test_every_number_typed_wrongly_is_refused_by_its_option(run, text):
    for command, option, _ in numeric_options():
        result = run(command, option, text, code=2)
        assert option in result.stderr and "plain digits" in result.stderr


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_rounds_are_exact(value):
    """Whether they can be simulated is for the library to say."""
    assert parse.rounds(str(value)) == value


@given(st.integers(1, 100), st.integers(1, 2**62))
@example(5, 10**6)
def test_checkpoints_increase_to_the_horizon(per_decade, horizon):
    grid = parse.checkpoints(str(per_decade), horizon)
    assert grid[-1] == horizon
    assert all(a < b for a, b in zip(grid, grid[1:], strict=False))
    assert all(isinstance(item, int) for item in grid)
    assert {10**k for k in range(1, 19) if 10**k <= horizon} <= {*grid}
    if (per_decade, horizon) == (5, 10**6):
        assert (grid[0], len(grid)) == (10, 26)


@pytest.mark.parametrize(
    ("reader", "text", "rule"),
    [
        (parse.integer, "\u0663", "plain digits"),
        (parse.integer, "1_0e3", "plain digits"),
        (parse.integer, "1.5", "plain digits"),
        (parse.integer, "", "plain digits"),
        (parse.integer, "9" * 500, "below 2^63"),
        (parse.integer, "1e99", "below 2^63"),
        (partial(parse.integer, least=0), "-3", "at least 0"),
        (parse.number, "\uff11.5", "plain digits"),
        (parse.number, "1_0", "plain digits"),
        (parse.number, "", "plain digits"),
        (parse.number, "9" * 400, "below 1e308"),
        (parse.rounds, "", "whole number"),
        (parse.rounds, "1.55e1", "whole number"),
        (parse.rounds, "1 000", "whole number"),
        (parse.rounds, "٣", "whole number"),
        (parse.rounds, "x" * 5000, "whole number"),
        (parse.rounds, "9^999999999999", "below 2^63"),
        (parse.rounds, "1e999999999999", "below 2^63"),
        (parse.rounds, "9223372036854775808", "below 2^63"),
        (checkpoints(10**5), "100,abc", "whole number"),
        (checkpoints(10**5), "1000", "checkpoints per decade"),
        (checkpoints(10**5), "0", "checkpoints per decade"),
        (checkpoints(10**5), "-3", "checkpoints per decade"),
        (checkpoints(10**5), ",", "must name a round"),
    ],
)
def test_what_is_typed_wrongly_is_refused(reader, text, rule):
    with pytest.raises(ValueError) as caught:
        reader(text)
    assert rule in str(caught.value)
    if reader is parse.rounds:
        assert "--horizon must be" in str(caught.value)
        assert repr(text)[:40] in str(caught.value)
