"""Experiments as TOML: the arguments that a file gives."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayesduel.errors import (
    ArgumentError,
    SimulationArgumentError,
    UnknownNameError,
    errors_about,
    near_and_all,
)
from bayesduel.experiments.request.arguments import with_features_of
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import read_text
from bayesduel.instances.catalog import is_path
from bayesduel.instances.files import read_matrix
from bayesduel.stopping.base import StoppingRule
from theory.arguments import short_repr
from theory.preferences import PreferenceMatrix

KEYS = (
    "instances",
    "policies",
    "num_runs",
    "horizon",
    "checkpoints",
    "seed",
    "regret",
    "shuffle",
    "record",
    "stopping",
)
"""What a file can say: the arguments of an experiment, in this order."""

_CALLED = {
    "environment": "instances",
    "instance": "instances",
    "environments": "instances",
    "matrices": "instances",
    "rounds": "horizon",
    "no_shuffle": "shuffle",
}
"""What users call a key besides names that look like it."""

_OF_A_RUN = ("dask", "executor", "jobs", "out", "overwrite", "part", "resume")
"""How an experiment is carried out, which changes no result."""

_LARGEST = 10**8
"""Bytes of a file."""

_OF_VALUES = ("values", "name", "arm_names", "source", "features")
_OF_A_FILE = ("file", "key", "repair", "name", "arm_names", "source", "features")


def arguments_in_file(path: Path | str) -> dict[str, Any]:
    """Return the arguments of :class:`bayesduel.Experiment` that a TOML file gives.

    Some may be missing, and texts of several values are not yet taken apart. Paths of
    matrices are relative to the folder of the file, which errors name.
    """
    path = as_path("path", path, SimulationArgumentError)
    text = read_text(path, error=SimulationArgumentError, largest=_LARGEST)
    return arguments_in(text, path.parent, str(path))


def arguments_in(text: str, folder: Path, called: str) -> dict[str, Any]:
    """Return the arguments that a text in TOML gives; ``called`` names it in errors."""
    try:
        data = tomllib.loads(text)
    # Arrays within arrays, a thousand deep; integers of 5000 digits.
    except (RecursionError, ValueError) as error:
        rule, remedy = f"is not TOML: {error}", "mend that place"
        raise SimulationArgumentError(called, rule, text, remedy=remedy) from error
    _check_keys(data, KEYS, called)
    with errors_name_file(called):
        for key, read in (("instances", _instance), ("policies", _policy)):
            if key in data:
                data[key] = _each(key, data[key], lambda one, r=read: r(one, folder))
        if "stopping" in data:
            data["stopping"] = _stopping(data["stopping"])
        rounds = data.get("checkpoints", [])
        if not isinstance(rounds, list):
            rule = "must be a list of rounds, such as [100, 1_000]"
            raise SimulationArgumentError("checkpoints", rule, rounds)
    return data


def check_complete(found: Mapping[str, Any], called: str) -> None:
    """Raise unless arguments say what is compared."""
    for key, example in (("instances", "gap"), ("policies", "d-ts")):
        if key not in found:
            raise SimulationArgumentError(
                f"{called}: {key}",
                "is not there",
                None,
                remedy=f'add a line such as {key} = ["{example}"]',
            )


@contextmanager
def errors_name_file(called: str, keys: Sequence[str] = KEYS) -> Iterator[None]:
    """Let errors about arguments that a file gives name the file."""
    try:
        yield
    except ArgumentError as error:
        if error.argument not in keys:
            raise
        argument = f"{called}: {error.argument}"
        raise error.renamed(argument, error.index) from error


def _check_keys(data: Mapping[str, Any], known: Sequence[str], argument: str) -> None:
    for key in data:
        if key in known:
            continue
        if key in _OF_A_RUN and known is KEYS:
            remedy = "the file says what is simulated; say how where it is carried out"
        elif key in _CALLED and known is KEYS:
            remedy = f"did you mean {_CALLED[key]}?"
        else:
            remedy = near_and_all(key, known)
        rule = f"there is no key {short_repr(key)}"
        raise UnknownNameError(argument, rule, key, remedy=remedy)


def _each(argument: str, given: Any, read: Callable[[Any], Any]) -> Any:
    """Read one thing, or each of several."""
    several = isinstance(given, list)
    found = []
    for index, one in enumerate(given if several else [given]):
        with errors_about(argument, one, index if several else None):
            found.append(read(one))
    return found if several else found[0]


def _instance(given: Any, folder: Path) -> Any:
    """Return a name, or a matrix of a table; paths start where the file is."""
    if isinstance(given, str):
        return str(folder / given) if is_path(given) else given
    if not isinstance(given, dict):
        return given
    if "values" in given:
        _check_keys(given, _OF_VALUES, "instances")
        rest = {key: given[key] for key in given if key != "values"}
        return PreferenceMatrix(given["values"], **rest)
    if "file" in given:
        _check_keys(given, _OF_A_FILE, "instances")
        file = folder / as_path("file", given["file"], SimulationArgumentError)
        reading = {key: given[key] for key in ("key", "repair") if key in given}
        matrix = read_matrix(file, **reading)
        words = {
            key: given.get(key, getattr(matrix, key))
            for key in ("name", "arm_names", "source", "features")
        }
        table = words["features"]
        if not isinstance(table, str):
            return PreferenceMatrix(matrix.values, **words)
        plain = PreferenceMatrix(matrix.values, **words | {"features": None})
        return with_features_of(plain, folder / table)
    return _text(given)


def _policy(given: Any, _: Path) -> Any:
    return _text(given) if isinstance(given, dict) else given


def _text(table: dict[str, Any]) -> str:
    """Return the text that says the same as a table of a name and parameters.

    Raises ``SimulationArgumentError`` for a table without a name, or values that no
    text can hold.
    """
    if "python" in table:
        raise SimulationArgumentError(
            "table",
            f"{table['python']} was made in Python and has no name in words",
            table,
            remedy="make this experiment in Python, or name another one here",
        )
    name, together = table.get("name"), table.get("zip", [])
    parameters = {key: table[key] for key in table if key not in ("name", "zip")}
    if not isinstance(name, str):
        raise SimulationArgumentError(
            "table",
            "must have a name",
            table,
            remedy='such as {name = "d-ts", alpha = [0.6, 1]}',
        )
    if not isinstance(together, list) or not all(
        isinstance(each, str) and each in parameters for each in together
    ):
        rule = f"must be a list of parameters of {name}, {', '.join(parameters)}"
        remedy = 'such as ["alpha", "prior"]'
        raise SimulationArgumentError("zip", rule, together, remedy=remedy)
    texts = {key: f"{key}={_words(key, parameters[key])}" for key in parameters}
    zipped = "&".join(texts[key] for key in dict.fromkeys(together))
    # They stand where the first of them stands.
    first = next((key for key in texts if key in together), None)
    parts = [
        zipped if key == first else text
        for key, text in texts.items()
        if key == first or key not in together
    ]
    return f"{name}:{','.join(parts)}" if parts else name


def _words(key: str, value: Any) -> str:
    if isinstance(value, list) and value:
        return "|".join(_words(key, each) for each in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str) or not value or set(value) & set(",&=\n"):
        rule = "must be a number, true, false, a word or a list of these"
        remedy = "no text holds anything else"
        raise SimulationArgumentError(key, rule, value, remedy=remedy)
    return value


def _stopping(given: Any) -> StoppingRule:
    if not isinstance(given, str):
        raise SimulationArgumentError(
            "stopping",
            "must be a rule in words",
            given,
            remedy='such as "anytime:delta=0.05|budget:duels=1000"',
        )
    from bayesduel.stopping.words import parse_rule

    return parse_rule(given)
