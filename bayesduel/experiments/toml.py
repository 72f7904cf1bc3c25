"""Experiments as TOML files: read, and written so that they are read as the same."""

import io
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from bayesduel.errors import (
    ArgumentError,
    SimulationArgumentError,
    UnknownNameError,
    errors_about,
    near_and_all,
)
from bayesduel.experiments.arguments import (
    check_checkpoints,
    expand,
    with_features_of,
    with_prices_of,
)
from bayesduel.experiments.problems import Instance, problem_of, read_instance
from bayesduel.files.folders import REQUEST, as_path
from bayesduel.files.user_files import read_text
from bayesduel.instances.catalog import is_name, is_path, world_text
from bayesduel.instances.choice.catalog import is_world_name
from bayesduel.instances.files import read_matrix
from bayesduel.policies.lookup import policy_text
from bayesduel.version import __version__
from theory.arguments import short_repr
from theory.preferences import PreferenceMatrix

KEYS = (
    "instances", "policies", "num_runs", "horizon", "checkpoints", "seed", "regret",
    "shuffle", "record", "stopping",
)  # fmt: skip
"""Keys of a file: the arguments of an experiment, in this order."""

_CALLED = {
    "environment": "instances", "instance": "instances", "environments": "instances",
    "matrices": "instances", "rounds": "horizon", "no_shuffle": "shuffle",
}  # fmt: skip
"""Names that users give to keys, beside those that are spelled alike."""

_OF_A_RUN = ("dask", "executor", "jobs", "out", "overwrite", "part", "resume")
"""How an experiment is carried out, which changes no result."""

_LARGEST = 10**8  # Bytes of a file.

_OF_VALUES = ("values", "name", "arm_names", "source", "features", "prices")
_OF_A_FILE = ("file", "key", "repair", *_OF_VALUES[1:])

_MOST_WRITTEN_OUT = 128  # Arms of a matrix whose numbers stand in the text.


def arguments_in_file(path: Path | str) -> dict[str, Any]:
    """Return the arguments of :class:`bayesduel.Experiment` that a TOML file gives."""
    path = as_path("path", path, SimulationArgumentError)
    text = read_text(path, error=SimulationArgumentError, largest=_LARGEST)
    folder, called = path.parent, str(path)
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
                several = isinstance(data[key], list)
                values = []
                for index, value in enumerate(data[key] if several else [data[key]]):
                    with errors_about(key, value, index if several else None):
                        values.append(read(value, folder))
                data[key] = values if several else values[0]
        if "stopping" in data:
            if not isinstance(data["stopping"], str):
                rule = "must be a rule in words"
                remedy = 'such as "anytime:delta=0.05|budget:duels=1000"'
                raise SimulationArgumentError(
                    "stopping", rule, data["stopping"], remedy=remedy
                )
            from bayesduel.stopping.words import parse_rule

            data["stopping"] = parse_rule(data["stopping"])
        rounds = data.get("checkpoints", [])
        if not isinstance(rounds, list):
            rule = "must be a list of rounds, such as [100, 1_000]"
            raise SimulationArgumentError("checkpoints", rule, rounds)
    return data


def check_complete(arguments: Mapping[str, Any], called: str) -> None:
    """Raise unless arguments say what is compared."""
    for key, example in (("instances", "gap"), ("policies", "d-ts")):
        if key not in arguments:
            rule, remedy = "is not there", f'add a line such as {key} = ["{example}"]'
            raise SimulationArgumentError(f"{called}: {key}", rule, None, remedy=remedy)


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
        words = {  # An empty text stands for none.
            key: given.get(key, getattr(matrix, key)) or None
            for key in ("name", "arm_names", "source")
        }
        # A text is the path of a file.
        plain, tables = {}, {}
        for key, read in (("features", with_features_of), ("prices", with_prices_of)):
            table = given.get(key, getattr(matrix, key))
            if isinstance(table, str):
                tables[folder / table] = read
            else:
                plain[key] = table
        instance = PreferenceMatrix(matrix.values, **words, **plain)
        for path, read in tables.items():
            instance = read(instance, path)
        return instance
    return _text(given)


def _policy(given: Any, _: Path) -> Any:
    return _text(given) if isinstance(given, dict) else given


def _text(table: dict[str, Any]) -> str:
    """Return the text that says the same as a table of a name and parameters."""
    if "python" in table:
        rule = f"{table['python']} was made in Python and has no name in words"
        remedy = "make this experiment in Python, or name another one here"
        raise SimulationArgumentError("table", rule, table, remedy=remedy)
    name, together = table.get("name"), table.get("zip", [])
    parameters = {key: table[key] for key in table if key not in ("name", "zip")}
    if not isinstance(name, str):
        rule, remedy = "must have a name", 'such as {name = "d-ts", alpha = [0.6, 1]}'
        raise SimulationArgumentError("table", rule, table, remedy=remedy)
    if not isinstance(together, list) or not all(
        isinstance(parameter, str) and parameter in parameters for parameter in together
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
        return "|".join(_words(key, item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str) or not value or set(value) & set(",&=\n"):
        rule = "must be a number, true, false, a word or a list of these"
        remedy = "no text holds anything else"
        raise SimulationArgumentError(key, rule, value, remedy=remedy)
    return value


# --- Written -------------------------------------------------------------------------


def to_toml(
    experiment: Mapping[str, Any], files: dict[str, bytes] | None = None
) -> str:
    """Return the text of the checked arguments of a :class:`bayesduel.Experiment`."""
    data: dict[str, Any] = {
        "instances": [
            _written_instance(instance, index, files)
            for index, instance in enumerate(experiment["instances"])
        ],
        "policies": [
            _said(policy_text, policy, "policies", index, files)
            for index, policy in enumerate(experiment["policies"])
        ],
        "num_runs": experiment["num_runs"],
        "horizon": experiment["horizon"],
    }
    most_arms = max(instance.num_arms for instance in experiment["instances"])
    if experiment["checkpoints"] != check_checkpoints(
        None, experiment["horizon"], most_arms
    ):
        data["checkpoints"] = list(experiment["checkpoints"])
    data["seed"] = experiment["seed"]
    if experiment["regret"] is not None:
        data["regret"] = list(experiment["regret"])
    data |= {"shuffle": experiment["shuffle"], "record": experiment["record"]}
    if experiment["stopping"] is not None:
        from bayesduel.stopping.words import rule_text

        data["stopping"] = _said(
            rule_text, experiment["stopping"], "stopping", None, files
        )
    # Files are read with composed characters.
    plain = "".join(
        letter if letter.isascii() else f"\\U{ord(letter):08x}"
        for letter in tomli_w.dumps(data)
    )
    return f"# An experiment of bayesduel {__version__}.\n{plain}"


def folder_files(experiment: Mapping[str, Any]) -> dict[str, bytes]:
    """Return what a folder of results holds of its request, by the names of files."""
    files: dict[str, bytes] = {}
    text = to_toml(experiment, files)
    return {REQUEST: text.encode(), **files}


def _said(
    spell: Callable[[Any], str],
    value: Any,
    argument: str,
    index: int | None,
    files: dict[str, bytes] | None,
) -> Any:
    """Return a text for something; in a folder its name where there is none."""
    with errors_about(argument, value, index):
        try:
            return spell(value)
        except ValueError:
            if files is None:
                raise
    named = getattr(value, "label", None) or getattr(value, "name", None)
    return {"python": named or type(value).__name__}


def _written_instance(
    instance: Instance, index: int, files: dict[str, bytes] | None
) -> Any:
    """Return the name of a matrix or a world, or the matrix itself."""
    if name := _name_that_loads(instance):
        return name
    if not isinstance(instance, PreferenceMatrix):
        from bayesduel.instances.choice import ChoiceWorld

        # A world of choice is made by a function, whose parameters it does not hold.
        spell = _refuse_world if isinstance(instance, ChoiceWorld) else world_text
        return _said(spell, instance, "instances", index, files)
    if files is not None:
        name, stream = f"experiment-{index}.csv", io.StringIO()
        np.savetxt(stream, instance.values, "%.17g", ",")
        files[name] = stream.getvalue().encode()
        return {"file": name, "name": "", "source": ""} | _words_of(instance)
    if instance.num_arms > _MOST_WRITTEN_OUT:
        raise SimulationArgumentError(
            "instances",
            f"a matrix of {instance.num_arms} arms is too large for a text, which "
            f"holds {_MOST_WRITTEN_OUT}",
            instance,
            index=index,
            remedy="save it with numpy.save, and give the path of that file",
        )
    return _words_of(instance) | {"values": instance.values.tolist()}


def _refuse_world(instance: Instance) -> str:
    world = problem_of(instance)
    rule = f"{world.name} is {world.words} of your own, which no text can name"
    remedy = "run it in Python, or take one of instances.choice.world_names()"
    raise SimulationArgumentError("instance", rule, instance, remedy=remedy)


def _words_of(matrix: PreferenceMatrix) -> dict[str, Any]:
    names = None if matrix.arm_names is None else list(matrix.arm_names)
    words = {"name": matrix.name, "source": matrix.source, "arm_names": names}
    for key in ("features", "prices"):
        table = getattr(matrix, key)
        words[key] = None if table is None else table.tolist()
    return {key: value for key, value in words.items() if value is not None}


def _name_that_loads(instance: Instance) -> str:
    """Return a name that stands for exactly this instance; empty if none does."""
    name = instance.name or ""
    if is_world_name(name) or is_name(name):
        with suppress(ValueError):
            loaded = read_instance(name)
            words = ("name", "source", "arm_names", "checksum")
            same = all(getattr(loaded, x) == getattr(instance, x) for x in words)
            if expand(name) == [name] and same and type(loaded) is type(instance):
                both = problem_of(loaded), problem_of(instance)
                if both[0].usual_notions == both[1].usual_notions:
                    return name
    return ""
