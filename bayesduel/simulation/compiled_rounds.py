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

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import World
from bayesduel.models.in_policies.names import is_posterior
from bayesduel.ops.code_digest import functions_digest, global_names, is_users
from bayesduel.ops.scalar.compiled import compiled as marked
from bayesduel.ops.scalar.compiled import with_names
from bayesduel.ops.scalar.compiler import (
    RULE_PART_OPTIONS,
    cache_on_disk,
    learn_states,
    standalone,
)
from bayesduel.policies.policy import Duel, PolicyBase, Wins
from bayesduel.policies.subset_base import Offer, SubsetPolicy
from bayesduel.simulation import rounds, set_rounds
from bayesduel.simulation.open_worlds import loop_functions
from bayesduel.simulation.programs import kernel_names
from bayesduel.simulation.rounds import as_arm, as_duel, is_in_bulk
from bayesduel.simulation.set_rounds import as_mask, as_offer

_OPTIONS: Any = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}

# Python calls the whole program only
_OUR_OPTIONS: Any = {**_OPTIONS, "no_cpython_wrapper": True}

# Options of our rules, in which no function calls itself
_RULE_OPTIONS: Any = {**RULE_PART_OPTIONS, "no_cfunc_wrapper": True}

# Without, an index outside of an array would overwrite what belongs to others. Takes
# the time of a second rule; tests play ours in Python as well, which checks.
_USERS_OPTIONS: Any = {**_OUR_OPTIONS, "boundscheck": True}

# Options of methods of worlds, which may make arrays; callers make none, and would pass
# on their own options. To inline them takes half of the time of an event.
_WITH_ARRAYS: Any = {"_nrt": True, "forceinline": True}

# Compiled functions of our rules, which share most of them
_OUR_HELPERS: dict[FunctionType, Any] = {}
_WORD = np.dtype("U24")

_COMPILED = ("choose", "update", "recommend")

# Errors about answers of a type that the loop does not read, and remedies
_ASKED = {
    "as_arm": ("recommend must return an arm", "return an integer"),
    "as_duel": ("choose must return a pair of arms, or a Duel", "return two integers"),
    "as_offer": ("choose must return a set of arms, or an Offer", "return a mask"),
    "as_mask": ("recommend must return a set of arms", "return a mask"),
}
_OUR_FILES = (
    "simulation/rounds.py",
    "simulation/set_rounds.py",
    "simulation/open_worlds.py",
    "simulation/compiled_rounds.py",
)

_REMEDY = (
    "write it in what Numba knows of Python and NumPy (its documentation lists it), or "
    "leave out compiled=True"
)


# Functions between the loop over pairs and the rule, each calling only those before it.
# Other functions that the loop calls are compiled once for all rules.
_PARTS = rounds.play_pair, rounds.ask, rounds.tell, rounds.report

type Form = tuple[type[World], bool]  # A compiled world; if it has several notions


@cache
def compiled_rounds(
    kind: type[PolicyBase], form: Form | None = None
) -> Callable[..., None]:
    """Return the loop over rounds with the rule of a class, and a world, in it."""
    # It takes the fields of the policy from :func:`parameters_record`.
    learn_states()
    in_pairs = not issubclass(kind, SubsetPolicy)
    play, parts = (rounds.play, _PARTS) if in_pairs else (set_rounds.play, ())
    methods = {name: getattr(kind, name) for name in _COMPILED}
    options, around, made = _USERS_OPTIONS, _OUR_OPTIONS, {}
    if _is_ours(kind):
        options = around = _RULE_OPTIONS
        made = _OUR_HELPERS
    rule = {
        name: _with_helpers(function, made, options, is_method=True)
        for name, function in methods.items()
    }
    contextual = bool(getattr(kind, "contextual", False))
    names = rule | _asked_by(rule["choose"], contextual, around)
    ours = [play, *parts, _asked_by]
    in_bulk = in_pairs and is_in_bulk(kind)
    if in_pairs:
        names |= _played_by(rule["update"], in_bulk, contextual, around)
        ours += [_played_by, _in_bulk, _one_by_one]
    if contextual:
        parts = tuple(function for function in parts if function is not rounds.tell)
    if form is not None:
        methods |= world_methods(form[0])
        names |= world_functions(*form, contextual, names)
        ours.append(world_functions)
        parts = tuple(function for function in parts if function.__name__ not in names)
    for function in parts:
        names[function.__name__] = njit(**around)(with_names(function, names))
    program: Any = njit(**_OPTIONS)(with_names(play, names))
    if not any(_calls_itself(function) for function in methods.values()):
        digest = functions_digest([*methods.values(), *ours])
        cache_on_disk(program, f"{'bulk' if in_bulk else 'rule'}-{digest[:16]}")

    return _explained(program, [kind] if form is None else [kind, form[0]])


def world_methods(kind: type[World]) -> dict[str, Any]:
    """Return the methods of a class of worlds that Numba compiles."""
    answers = "answer" if kind.answer is not World.answer else "probability"
    names = ["advance", "unchanged_until", "regret", answers]
    if kind.features is not World.features:
        names.append("features")
    return {name: getattr(kind, name) for name in names}


def world_functions(
    kind: type[World], several_notions: bool, contextual: bool, names: dict[str, Any]
) -> dict[str, Any]:
    """Compile what stands in the loop in place of functions of a preference matrix."""
    made: dict[FunctionType, Any] = {}
    options = {**(_OUR_OPTIONS if _is_ours(kind) else _USERS_OPTIONS), **_WITH_ARRAYS}
    methods = {
        name: _with_helpers(method, made, options)
        for name, method in world_methods(kind).items()
    }
    regret = methods.pop("regret")

    def write_number(run, round_, first, second):  # noqa: ANN001, ANN202
        run.costs[0] = regret(run.world, run.state, round_, first, second)

    def write_numbers(run, round_, first, second):  # noqa: ANN001, ANN202
        values = regret(run.world, run.state, round_, first, second)
        for notion in range(run.costs.size):
            run.costs[notion] = values[notion]

    compiled = njit(**_OUR_OPTIONS, **_WITH_ARRAYS)
    methods["write_costs"] = compiled(
        write_numbers if several_notions else write_number
    )
    methods["count_wins"] = names["count_wins"]
    # Code that creates no arrays need not count references, which takes several times
    # as long as the work itself. Arrays that a method returns end in `write_costs`.
    functions = loop_functions(kind, methods, contextual=contextual, mark=marked)
    if contextual:
        functions["features_of_round"] = compiled(functions["features_of_round"])
    return functions


@cache
def kernel_rounds(name: str, form: Form) -> Callable[..., None]:
    """Return the loop over rounds with a kernel and a compiled world in it."""
    learn_states()
    names = kernel_names()
    names |= world_functions(*form, False, names)
    for function in (rounds.ask, rounds.tell, rounds.report):
        names[function.__name__] = marked(with_names(function, names))
    program: Any = standalone(with_names(rounds.play, names))
    methods = world_methods(form[0]).values()
    if not any(_calls_itself(function) for function in methods):
        digest = functions_digest([*methods, world_functions])
        cache_on_disk(program, f"{name}-in-{digest[:16]}")

    return _explained(program, [form[0]])


def _explained(program: Callable[..., None], kinds: list[type]) -> Callable[..., None]:
    """Return a program that says which class cannot be compiled, and why."""
    names = " in ".join(kind.__name__ for kind in kinds)

    def play_compiled(*arguments: Any) -> None:
        try:
            program(*arguments)
        except NumbaError as error:
            raise _not_compiled(names, error) from error
        except KeyError as error:  # Numba's, of a field that a record does not have.
            field = str(error.args[0]) if error.args else ""
            owner = next((kind for kind in kinds if hasattr(kind, field)), None)
            if owner is None or field in {known.name for known in fields(owner)}:
                raise
            raise PolicyParameterError(
                owner.__name__,
                f"cannot be compiled: it reads self.{field}, which is no field",
                remedy="make it a field or a function of the module, or leave out "
                "compiled=True",
            ) from error

    return play_compiled


def _asked_by(choose: Any, contextual: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Compile how a rule is asked: a contextual one with the features of the round."""

    def without(policy, state, rng, round_, features):  # noqa: ANN001, ANN202
        return choose(policy, state, rng, round_)

    if not contextual:
        return {"choose": njit(**options)(without)}

    def given(policy, state, rng, round_, features):  # noqa: ANN001, ANN202
        return choose(policy, state, rng, round_, features)

    def tell_nothing(policy, state, rng, reports, progress):  # noqa: ANN001, ANN202
        # Contextual policies are never told late; this has no features to give.
        return

    made = {"choose": given, "tell": tell_nothing}
    return {name: njit(**options)(function) for name, function in made.items()}


def _played_by(
    update: Any, in_bulk: bool, contextual: bool, options: dict[str, Any]
) -> dict[str, Any]:
    """Compile how a rule's rounds of a pair are drawn, and how they are reported."""
    # Binomials take Numba a second to compile: only rules that need them have them.
    # Binomials take Numba a second to compile: only rules that need them have them.
    draw, outcome = _in_bulk() if in_bulk else _one_by_one()

    def tell(policy, state, rng, round_, first, second, wins, rounds, features):  # noqa: ANN001, ANN202
        update(policy, state, rng, round_, first, second, outcome(wins, rounds))

    def tell_all(policy, state, rng, round_, first, second, wins, rounds, features):  # noqa: ANN001, ANN202
        won = outcome(wins, rounds)
        update(policy, state, rng, round_, first, second, won, features)

    def drawn(policy, rng, probability, rounds):  # noqa: ANN001, ANN202
        return draw(rng, probability, rounds)

    tell = tell_all if contextual else tell
    made = {"update": tell, "count_wins": drawn, "is_in_bulk": lambda policy: in_bulk}
    return {name: njit(**options)(function) for name, function in made.items()}


@cache
def _one_by_one() -> tuple[Any, Any]:
    """Compile this once for all rules that ask for a single round of a pair."""
    compiled = njit(**_OUR_OPTIONS)
    return (
        compiled(lambda rng, probability, rounds: int(rng.random() < probability)),
        compiled(lambda wins, rounds: wins > 0),
    )


@cache
def _in_bulk() -> tuple[Any, Any]:
    """Compile this once for all others."""
    compiled = njit(**_OUR_OPTIONS)
    return (
        compiled(lambda rng, probability, rounds: rng.binomial(rounds, probability)),
        compiled(lambda wins, rounds: Wins(wins, rounds)),
    )


def parameters_record(policy: PolicyBase | World) -> np.record:
    """Return the numbers, words and arrays of a policy or world as Numba reads them."""
    # Posteriors are left out, because the state holds their draws.
    # Posteriors are left out, because the state holds their draws.
    named = [field.name for field in fields(policy)]  # pyright: ignore[reportArgumentType]
    named = [name for name in named if not is_posterior(getattr(policy, name))]
    named = [name for name in named if getattr(policy, name) is not None]
    values = {name: np.asarray(getattr(policy, name)) for name in named}
    for name, value in values.items():
        if value.dtype.kind not in "biufU":
            raise PolicyParameterError(
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
    function: Callable[..., Any],
    made: dict[FunctionType, Any],
    options: dict[str, Any],
    *,
    is_method: bool = False,
) -> Any:
    """Compile a function, and the plain functions that it calls by their names."""
    # Helpers in ``made`` may call one another. A method is compiled for each class: two
    # classes that share it have other fields.
    # Helpers in ``made`` may call one another. A method is compiled for each class: two
    # classes that share it have other fields.
    plain: Any = inspect.unwrap(function)
    if plain in made:
        return made[plain]
    copied = with_names(plain, {})
    dispatcher = njit(**options)(copied)
    if not is_method:
        made[plain] = dispatcher
    for name in global_names(plain.__code__):
        if _is_helper(named := plain.__globals__.get(name)):
            copied.__globals__[name] = _with_helpers(named, made, options)
    return dispatcher


def _calls_itself(
    function: Callable[..., Any], above: tuple[FunctionType, ...] = ()
) -> bool:
    """Say whether some helper ends up calling itself."""
    # A process that reads such a program of Numba 0.68 from disk crashes.
    # A process that reads such a program of Numba 0.68 from disk crashes.
    plain: Any = inspect.unwrap(function)
    named = (plain.__globals__.get(name) for name in global_names(plain.__code__))
    return plain in above or any(
        _calls_itself(helper, (*above, plain)) for helper in named if _is_helper(helper)
    )


def _is_helper(named: Any) -> bool:
    if not isinstance(named, FunctionType):
        return False
    plain = inspect.unwrap(named)
    return is_users(plain.__module__) or _is_ours(plain)


def _is_ours(named: Any) -> bool:
    return str(named.__module__).partition(".")[0] == "bayesduel"


def _not_compiled(name: str, error: NumbaError) -> PolicyParameterError:
    """Say which function Numba cannot compile, in which line, and why in its words."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in")]
    for reader, what in _ASKED.items():
        if reader in lines[0]:
            kind = lines[1].partition(reader)[2]
            rule = f"{what[0]}, got something of the type {kind}"
            return PolicyParameterError(name, rule, kind, remedy=what[1])
    calls = [line for line in lines if line.startswith("During: typing of")]
    inside = [line for line in calls if not any(file in line for file in _OUR_FILES)]
    where = f" (at {inside[-1].partition(' at ')[2]})" if inside else ""
    rule = f"cannot be compiled, for Numba says: {' '.join(lines[:2])}{where}"
    return PolicyParameterError(name, rule, name, remedy=_REMEDY)


@overload(as_duel, strict=False)
def _as_duel(choice: Any) -> Any:
    kinds: Any = choice if isinstance(choice, types.BaseTuple) else (None,)
    if not all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds):
        return None
    if isinstance(choice, types.BaseNamedTuple) and len(choice) == len(Duel._fields):
        return lambda choice: Duel(
            choice[0], choice[1], choice[2], choice[3], choice[4]
        )
    if len(choice) == 2:
        return lambda choice: Duel(choice[0], 0, choice[0], choice[1], 1)
    return None


@overload(as_arm, strict=False)
def _as_arm(choice: Any) -> Any:
    is_integer = isinstance(choice, types.Integer | types.Boolean)
    return (lambda choice: choice) if is_integer else None


@overload(as_mask, strict=False)
def _as_mask(subset: Any) -> Any:
    return (lambda subset: subset) if _is_mask(subset) else None


@overload(as_offer, strict=False)
def _as_offer(choice: Any) -> Any:
    if _is_mask(choice):
        return lambda choice: Offer(choice, 1, False)
    kinds: Any = choice if isinstance(choice, types.BaseNamedTuple) else ()
    if len(kinds) != len(Offer._fields) or not _is_mask(kinds[0]):
        return None
    if not all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds[1:]):
        return None
    return lambda choice: Offer(choice[0], choice[1], choice[2])


def _is_mask(kind: Any) -> bool:
    is_array = isinstance(kind, types.Array) and kind.ndim == 1
    return is_array and isinstance(kind.dtype, types.Boolean)


def _know_integers_below() -> None:
    """Let compiled rules call ``rng.integers(n)``: Numba knows two bounds only."""
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
