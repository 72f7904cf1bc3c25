"""The loop over rounds and the rule of a policy, compiled by Numba into one program."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.errors import NumbaError
from numba.extending import overload, overload_method

from bayesduel.code_digest import functions_digest, global_names, is_users
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import Duel, Policy, Wins
from bayesduel.posteriors.names import is_posterior
from bayesduel.simulation.rounds import (
    add_rounds,
    as_duel,
    is_in_bulk,
    play,
    tell,
)
from bayesduel.simulation.scalar.programs import keep_on_disk

_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}

_OUR_OPTIONS: Any = {**_OPTIONS, "no_cpython_wrapper": True}
"""Python calls the whole program only."""

_USERS_OPTIONS: Any = {**_OUR_OPTIONS, "boundscheck": True}
"""Without, an index outside of an array would overwrite what belongs to others. Takes
the time of a second rule; tests play ours in Python as well, which checks."""

_WORD = np.dtype("U24")

_COMPILED = ("choose", "update", "recommend")

_REMEDY = (
    "write it in what Numba knows of Python and NumPy (its documentation lists it), or "
    "leave out compiled=True"
)


@cache
def compiled_rounds(kind: type[Policy]) -> Callable[..., None]:
    """Return :func:`bayesduel.simulation.rounds.play` with the rule of a class in it.

    It is given the fields of the policy, as :func:`parameters_record` makes them. What
    is compiled is kept on disk, by the code of the rule and of all that it names.
    """
    methods = {name: getattr(kind, name) for name in _COMPILED}
    made: dict[FunctionType, Any] = {}
    options = _OUR_OPTIONS if _is_ours(kind) else _USERS_OPTIONS
    rule = {name: _with_helpers(each, made, options) for name, each in methods.items()}
    names = rule | _played_by(rule["update"], is_in_bulk(kind))
    names["add_rounds"] = _add_rounds()
    names["tell"] = njit(**_OUR_OPTIONS)(_with_names(tell, names))
    program: Any = njit(**_OPTIONS)(_with_names(play, names))
    ours = play, add_rounds, tell, _played_by, _in_bulk, _one_by_one
    digest = functions_digest([*methods.values(), *ours])
    manner = "bulk" if is_in_bulk(kind) else "rule"
    keep_on_disk(program, f"{manner}-{digest[:16]}")

    def play_compiled(*arguments: Any) -> None:
        try:
            program(*arguments)
        except NumbaError as error:
            raise _not_compiled(kind, error) from error
        except KeyError as error:  # Numba's, of a field that a record does not have.
            name = error.args[0] if error.args else None
            if name in arguments[0].dtype.names or not hasattr(kind, str(name)):
                raise
            raise PolicyParameterError(
                f"{kind.__name__} cannot be compiled: it reads self.{name}, which is "
                "no field; make it a field or a function of the module, or leave out "
                "compiled=True"
            ) from error

    return play_compiled


@cache
def _add_rounds() -> Any:
    """Compile this once for all rules."""
    return njit(**_OUR_OPTIONS)(inspect.unwrap(add_rounds))


def _played_by(update: Any, in_bulk: bool) -> dict[str, Any]:
    """Compile how a rule's rounds of a pair are drawn, and how it is told of them.

    Binomials take Numba a second, so only those that need them have them.
    """
    draw, outcome = _in_bulk() if in_bulk else _one_by_one()

    def told(policy, state, rng, round_, first, second, wins, rounds):  # noqa: ANN001, ANN202
        update(policy, state, rng, round_, first, second, outcome(wins, rounds))

    def drawn(policy, rng, chance, rounds):  # noqa: ANN001, ANN202
        return draw(rng, chance, rounds)

    made = {"update": told, "count_wins": drawn, "is_in_bulk": lambda policy: in_bulk}
    return {name: njit(**_OUR_OPTIONS)(each) for name, each in made.items()}


@cache
def _one_by_one() -> tuple[Any, Any]:
    """Compile this once for all rules that ask for a single round of a pair."""
    compiled = njit(**_OUR_OPTIONS)
    return (
        compiled(lambda rng, chance, rounds: int(rng.random() < chance)),
        compiled(lambda wins, rounds: wins > 0),
    )


@cache
def _in_bulk() -> tuple[Any, Any]:
    """Compile this once for all others."""
    compiled = njit(**_OUR_OPTIONS)
    return (
        compiled(lambda rng, chance, rounds: rng.binomial(rounds, chance)),
        compiled(lambda wins, rounds: Wins(wins, rounds)),
    )


def parameters_record(policy: Policy) -> np.record:
    """Return the fields of a policy as Numba reads them: numbers, words and arrays.

    Posteriors are left out: what is drawn from them is in the state.

    Raises
    ------
    PolicyParameterError
        If one of them is nothing of the kind.
    """
    named = [each.name for each in fields(policy)]  # pyright: ignore[reportArgumentType]
    named = [name for name in named if not is_posterior(getattr(policy, name))]
    values = {name: np.asarray(getattr(policy, name)) for name in named}
    for name, value in values.items():
        if value.dtype.kind not in "biufU":
            raise PolicyParameterError.of(
                f"{type(policy).__name__}: {name}",
                "must be a number, a word or an array, so that a rule can be compiled",
                getattr(policy, name),
                remedy="make it one, or leave out compiled=True",
            )
    kinds = [(name, _kind(value), value.shape) for name, value in values.items()]
    record = np.zeros(1, dtype=kinds)
    for name, value in values.items():
        record[name][0] = value
    return record[0]


def _kind(value: Any) -> np.dtype:
    """Return the kind of a field; one for most words, which share a program so."""
    if value.dtype.kind == "U" and value.dtype.itemsize <= _WORD.itemsize:
        return _WORD
    return value.dtype


def _with_helpers(
    function: Callable[..., Any], made: dict[FunctionType, Any], options: dict[str, Any]
) -> Any:
    """Compile a function, and the plain functions that it calls by their names.

    Those of Numba's and of libraries stay as they are. ``made`` holds what is compiled
    already: helpers may call one another, and themselves.
    """
    plain: Any = inspect.unwrap(function)
    if plain not in made:
        copied = _with_names(plain, {})
        made[plain] = njit(**options)(copied)
        for name in global_names(plain.__code__):
            if _is_helper(named := plain.__globals__.get(name)):
                copied.__globals__[name] = _with_helpers(named, made, options)
    return made[plain]


def _is_helper(named: Any) -> bool:
    if not isinstance(named, FunctionType):
        return False
    plain = inspect.unwrap(named)
    return is_users(plain.__module__) or _is_ours(plain)


def _is_ours(named: Any) -> bool:
    return str(named.__module__).partition(".")[0] == "bayesduel"


def _with_names(function: Callable[..., Any], names: dict[str, Any]) -> FunctionType:
    """Return a function for which some names of its module mean something else."""
    plain: Any = inspect.unwrap(function)
    known = plain.__globals__ | names
    copied = FunctionType(
        plain.__code__, known, plain.__name__, plain.__defaults__, plain.__closure__
    )
    copied.__module__ = plain.__module__
    return copied


def _not_compiled(kind: type[Policy], error: NumbaError) -> PolicyParameterError:
    """Say which function Numba cannot compile, in which line, and why in its words."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in")]
    if "as_duel" in lines[0]:
        found = lines[1].partition("as_duel")[2]
        return PolicyParameterError(
            f"{kind.__name__}: choose must return a pair of arms, or a Duel, got "
            f"something of the type {found}; return two integers"
        )
    calls = [line for line in lines if line.startswith("During: typing of")]
    inside = [line for line in calls if "simulation/rounds.py" not in line]
    place = f" (at {inside[-1].partition(' at ')[2]})" if inside else ""
    return PolicyParameterError(
        f"{kind.__name__} cannot be compiled, for Numba says: {' '.join(lines[:2])}"
        f"{place}; {_REMEDY}"
    )


@overload(as_duel, strict=False)
def _as_duel(asked: Any) -> Any:
    kinds: Any = asked if isinstance(asked, types.BaseTuple) else (None,)
    if not all(isinstance(each, types.Integer | types.Boolean) for each in kinds):
        return None
    if isinstance(asked, types.BaseNamedTuple) and len(asked) == len(Duel._fields):
        return lambda asked: Duel(asked[0], asked[1], asked[2], asked[3], asked[4])
    if len(asked) == 2:
        return lambda asked: Duel(asked[0], 0, asked[0], asked[1], 1)
    return None


def _know_integers_below() -> None:
    """Let compiled rules say ``rng.integers(n)``: Numba knows ``integers(0, n)`` only.

    What it knows lies in a private place; without it, a rule has to give both bounds.
    """
    try:
        from numba.np.random.generator_methods import (
            NumPyRandomGeneratorType_integers as with_both_bounds,
        )
    except ImportError:
        return

    def below(inst, low, high=None, size=None, dtype=np.int64, endpoint=False):  # noqa: ANN001, ANN202
        return inst.integers(0, low, size, dtype, endpoint)

    # For a CPU, so that it is asked before what Numba has for any target.
    method: Any = overload_method

    @method(types.NumPyRandomGeneratorType, "integers", target="cpu", strict=False)
    def integers(inst, low, high=None, size=None, dtype=np.int64, endpoint=False):  # noqa: ANN001, ANN202
        if high is None or isinstance(high, types.Omitted | types.NoneType):
            return below
        return with_both_bounds(inst, low, high, size, dtype, endpoint)


_know_integers_below()
