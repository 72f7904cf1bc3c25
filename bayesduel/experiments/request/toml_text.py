"""Experiments as TOML: the text that is read back as the same experiment."""

import io
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.parameter_grids import expand
from bayesduel.experiments.problems import Instance, problem_of, read_instance
from bayesduel.experiments.request.arguments import check_checkpoints
from bayesduel.files.folders import REQUEST
from bayesduel.instances.catalog import is_name
from bayesduel.instances.choice.catalog import is_world_name
from bayesduel.policies.lookup import policy_text
from bayesduel.version import __version__
from theory.preferences import PreferenceMatrix

_LINE = 70
"""Characters of a list that stands in one line."""

_MOST_WRITTEN_OUT = 128
"""Arms of a matrix whose numbers stand in the text."""


def to_toml(asked: Mapping[str, Any], files: dict[str, bytes] | None = None) -> str:
    """Return the text of the checked arguments of a :class:`bayesduel.Experiment`.

    With ``files`` beside it, or where there are none by itself.
    """
    data: dict[str, Any] = {
        "instances": [
            _instance(each, index, files)
            for index, each in enumerate(asked["instances"])
        ],
        "policies": [
            _said(policy_text, each, "policies", index, files)
            for index, each in enumerate(asked["policies"])
        ],
        "num_runs": asked["num_runs"],
        "horizon": asked["horizon"],
    }
    most_arms = max(each.num_arms for each in asked["instances"])
    if asked["checkpoints"] != check_checkpoints(None, asked["horizon"], most_arms):
        data["checkpoints"] = list(asked["checkpoints"])
    data["seed"] = asked["seed"]
    if asked["regret"] is not None:
        data["regret"] = list(asked["regret"])
    data |= {"shuffle": asked["shuffle"], "record": asked["record"]}
    if asked["stopping"] is not None:
        from bayesduel.stopping.words import rule_text

        data["stopping"] = _said(rule_text, asked["stopping"], "stopping", None, files)
    lines = (f"{key} = {_toml(value)}" for key, value in data.items())
    head = f"# An experiment of bayesduel {__version__}.\n"
    return head + "\n".join(lines) + "\n"


def folder_files(asked: Mapping[str, Any]) -> dict[str, bytes]:
    """Return what a folder of results holds of its request, by the names of files.

    What no text can say is called by its name there, and refused when it is read; a
    large matrix is a file of its own.
    """
    files: dict[str, bytes] = {}
    text = to_toml(asked, files)
    return {REQUEST: text.encode("utf-8", "backslashreplace"), **files}


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


def _instance(instance: Instance, index: int, files: dict[str, bytes] | None) -> Any:
    """Return the name of a matrix or a world, or the matrix itself."""
    if name := _name_that_loads(instance):
        return name
    if not isinstance(instance, PreferenceMatrix):
        return _said(_refuse_world, instance, "instances", index, files)
    if instance.num_arms <= _MOST_WRITTEN_OUT:
        return _words_of(instance) | {"values": instance.values.tolist()}
    if files is None:
        raise SimulationArgumentError(
            "instances",
            f"a matrix of {instance.num_arms} arms is too large for a text, which "
            f"holds {_MOST_WRITTEN_OUT}",
            instance,
            index=index,
            remedy="save it with numpy.save, and give the path of that file",
        )
    name, stream = f"experiment-{index}.npy", io.BytesIO()
    np.save(stream, instance.values)
    files[name] = stream.getvalue()
    return {"file": name} | _words_of(instance)


def _refuse_world(instance: Instance) -> str:
    world = problem_of(instance)
    raise SimulationArgumentError(
        "instance",
        f"{world.name} is {world.words} of your own, which no text can name",
        instance,
        remedy="run it in Python, or take one of instances.choice.world_names()",
    )


def _words_of(matrix: PreferenceMatrix) -> dict[str, Any]:
    names = None if matrix.arm_names is None else list(matrix.arm_names)
    known = None if matrix.features is None else matrix.features.tolist()
    words = {"name": matrix.name, "source": matrix.source, "arm_names": names}
    words["features"] = known
    return {key: value for key, value in words.items() if value is not None}


def _name_that_loads(instance: Instance) -> str:
    """Return a name that stands for exactly this instance; empty if none does."""
    name = instance.name or ""
    if is_world_name(name) or is_name(name):
        with suppress(ValueError):
            if expand(name) == [name] and _same(read_instance(name), instance):
                return name
    return ""


def _same(one: Instance, other: Instance) -> bool:
    """Say whether two instances give results of the same bytes."""
    words = ("name", "source", "arm_names", "checksum")
    same = all(getattr(one, word) == getattr(other, word) for word in words)
    return same and type(one) is type(other) and _regret(one) == _regret(other)


def _regret(instance: Instance) -> str:
    return problem_of(instance).default_notion


# --- TOML ----------------------------------------------------------------------------


def _toml(value: Any, indent: str = "") -> str:
    """Write numbers, texts, lists and tables; floats are read back bit for bit."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key} = {_toml(each, indent)}" for key, each in value.items())
            + "}"
        )
    return "".join(_array(value, indent))


def _array(values: list[Any], indent: str) -> Iterator[str]:
    """Write numbers and what is short in one line, anything else in one each."""
    inner = [_toml(each, indent + "  ") for each in values]
    line = f"[{', '.join(inner)}]"
    numbers = all(isinstance(each, int | float) for each in values)
    texts = all(isinstance(each, str) for each in values)
    if numbers or (texts and len(line) <= _LINE):
        yield line
        return
    yield "[\n"
    for each in inner:
        yield f"{indent}  {each},\n"
    yield f"{indent}]"


def _string(text: str) -> str:
    """Write a text as TOML does, in characters that are read back as they are."""
    plain = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    if unicodedata.is_normalized("NFC", text):
        return plain
    # Files are read with composed characters.
    return "".join(each if each.isascii() else f"\\U{ord(each):08x}" for each in plain)
