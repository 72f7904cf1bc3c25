"""``bayesduel show``: what a name stands for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bayesduel.cli.commands.list import REGRETS, SUBSET_REGRETS, typed
from bayesduel.cli.options import (
    JSON,
    argument,
    beginning,
    command,
    instance_names,
    policy_names,
)
from bayesduel.cli.output import console, print_json

if TYPE_CHECKING:
    from theory.theorems import Theorem

Entry = dict[str, Any]
"""A description of a name: ``kind``, ``name``, ``title``, ``about`` and more."""

_ORDERED = [[0.5, 0.6, 0.85], [0.4, 0.5, 0.8], [0.15, 0.2, 0.5]]
"""Any matrix with a total order and no ties, to ask theorems what they assume."""


def any_name(incomplete: str) -> list[str]:
    """Return all names that can be shown and that begin so, for the Tab key."""
    from bayesduel.models.catalog import sources
    from theory.theorems.catalog import known_theorems

    models = [_typed(source.kind) for source in sources()]
    theorems = [
        theorem.name for theorem in known_theorems() if theorem.name != theorem.policy
    ]
    return [
        *policy_names(incomplete),
        *instance_names(incomplete),
        *beginning(incomplete, [*models, *REGRETS, *SUBSET_REGRETS, *theorems]),
    ]


@command("show d-ts")
def show(
    name: str = argument(
        "NAME: A policy, matrix, family of matrices, world, model, notion of regret "
        "or bound, such as d-ts, sushi, mallows, bradley-terry or 'D-TS, refined'.",
        autocompletion=any_name,
    ),
    as_json: bool = JSON,
) -> None:
    """Say what a name stands for: its rule, parameters, theorems and sources."""
    entries = shown(name)
    if not entries:
        from bayesduel.errors import UnknownNameError, near_names

        near = near_names(name.lower(), any_name(""))
        rule = "must be one that bayesduel list or bounds prints"
        remedy = f"{near}see: bayesduel list"
        raise UnknownNameError("name", rule, name, remedy=remedy)
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        _print(entry)


def shown(name: str) -> list[Entry]:
    """Return what a name stands for, of every kind."""
    kinds = _policies, _instances, _pair_worlds, _worlds, _models, _regrets, _bounds
    return [entry for describe in kinds for entry in describe(name)]


def described_policies() -> list[Entry]:
    """Return the entries of all policies, in the order of the registry."""
    from bayesduel import policies

    names = (*policies.names(), *policies.subset_names())
    return [entry for name in names for entry in _policies(name)]


def _policies(name: str) -> Iterator[Entry]:
    from bayesduel import policies
    from bayesduel.models.in_policies.names import is_posterior
    from bayesduel.policies.lookup import AROUND, settable
    from bayesduel.policies.policy import declared
    from bayesduel.policies.registry import entries
    from theory.theorems.catalog import known_theorems

    known = entries()
    names = {key.lower(): key for key in (*known, *AROUND)}
    names |= {entry.acronym.lower(): key for key, entry in reversed(known.items())}
    key = names.get(name.lower())
    if key is None:
        return
    policy = policies.get(key)
    about, parameters, source = described(type(policy))
    for value in vars(policy).values():
        if is_posterior(value):  # Its numbers, and those of the model that it is over.
            parameters = described(type(value))[1] | parameters
            if (model := getattr(value, "model", None)) is not None:
                parameters = described(type(model))[1] | parameters
    acronym = known[key].acronym if key in known else ""
    bounds = known_theorems(acronym) if acronym else ()
    offers = key in policies.subset_names()
    played = "sushi"
    if offers:
        fewer = getattr(policy, "offers_fewer", False)
        played = "mnl:num_arms=8,subset_size=3" if fewer else "camera"
    elif declared(policy, "contextual"):
        played = "ginop-contexts"
    example = f"bayesduel compare -i {played} -p {key}"
    if key in known and known[key].family == "weak_regret":
        example = f"bayesduel compare -i cyclic -p {key} --regret weak_binary"
    yield {
        "kind": "policy that offers sets" if offers else "policy",
        "name": key,
        "title": f"{declared(policy, 'title')} ({policy.label})",
        "plain_title": declared(policy, "title"),
        "label": policy.label,
        "acronym": acronym,
        "about": about,
        "parameters": {
            parameter: {"default": value, "meaning": parameters.get(parameter, "")}
            for parameter, value in settable(policy).items()
        },
        "theorems": [_stated(value) for value in bounds],
        "source": source,
        "example": example,
    }


def _instances(name: str) -> Iterator[Entry]:
    from bayesduel import instances
    from bayesduel.instances.families import FAMILIES

    key = name.lower()
    if key not in (*instances.names(), *instances.family_names()):
        return
    description = instances.describe(key)
    entry: Entry = {"kind": "matrix", "name": key, "title": description.title}
    if description.num_arms:
        entry["about"] = description.remarks
        entry["num_arms"] = description.num_arms
        entry["copeland_winners"] = list(description.winners)
        entry["arms"] = list(description.arm_names)
        entry["source"] = description.source
        entry["example"] = f"bayesduel bounds {key}"
    else:
        entry["kind"] = "family of matrices"
        entry |= _of_family(FAMILIES[key].make, description.parameters)
        entry["source"] = description.source
        entry["example"] = (
            f"bayesduel bounds {_with_values(key, description.parameters)}"
        )
    yield entry


def _pair_worlds(name: str) -> Iterator[Entry]:
    from bayesduel.instances import describe, worlds
    from bayesduel.instances.worlds.lookup import default_world, settable_fields

    key = name.lower()
    if key not in worlds.pair_world_names():
        return
    world = default_world(key)
    about, meanings, source = described(type(world))
    meanings = described(type(world).__mro__[1])[1] | meanings
    needs = "table=FILE" if key == "adversarial" else ""
    yield {
        "kind": "world of duels",
        "name": key,
        "title": describe(key).title,
        "about": about,
        "parameters": {
            parameter: {
                "default": value if value != "" else None,
                "meaning": meanings.get(parameter, ""),
            }
            for parameter, value in settable_fields(world).items()
        },
        "regrets": list(world.notions),
        "source": source or world.source,
        "example": f"bayesduel compare -i {key}{':' * bool(needs)}{needs} -p d-ts",
    }


def _worlds(name: str) -> Iterator[Entry]:
    from bayesduel.instances import choice

    key = name.lower()
    if key not in choice.world_names():
        return
    description = choice.describe_world(key)
    typed = _with_values(key, description.parameters)
    world = choice.load_world(typed)
    yield {
        "kind": "world of subset choice",
        "name": key,
        "title": description.title,
        **_of_family(choice.catalog.maker(key), description.parameters),
        "feedback": world.feedback,
        "regrets": sorted(world.notions),
        "source": world.source,
        "example": f"bayesduel compare -i {typed} -p ucb-no-order",
    }


_OF_ALL = {
    "num_arms": "K, the number of arms.",
    "profile": "Name of the utilities: see bayesduel list families.",
    "seed": "The same seed, the same numbers.",
}
"""Parameters of families whose generators do not say what they mean."""


def _of_family(make: Callable[..., Any], parameters: tuple[str, ...]) -> Entry:
    about, meanings, _ = described(make)
    meanings = _OF_ALL | {name: text for name, text in meanings.items() if text}
    meant: Entry = {}
    for text in parameters:
        parameter, _, default = text.strip("[]").partition("=")
        optional = text.startswith("[")
        needed = "Optional." if optional else "" if default else "Required."
        if optional and parameter == "seed":
            meanings["seed"] = "Shuffles the arms; without it they keep their order."
        meant[parameter] = {
            "default": default or None,
            "meaning": f"{needed} {meanings.get(parameter, '')}".strip(),
        }
    # The first paragraph says what the title does.
    return {"about": about.partition("\n\n")[2], "parameters": meant}


_VALUES = {
    "num_arms": "10", "seed": "0", "step": "0.02", "gap": "0.1", "phi": "0.5",
    "batch": "2", "winner": "0", "runner_up": "1", "profile": "1good"
}  # fmt: skip
"""Values of parameters without a default, for an example that can be pasted."""


def _with_values(key: str, parameters: tuple[str, ...]) -> str:
    needed = [
        parameter
        for parameter in parameters
        if "=" not in parameter and "[" not in parameter
    ]
    if not needed:
        return key
    return (
        key
        + ":"
        + ",".join(f"{parameter}={_VALUES[parameter]}" for parameter in needed)
    )


def _typed(kind: str) -> str:
    """Return the name of a class as it is typed: bradley-terry of BradleyTerry."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def _models(name: str) -> Iterator[Entry]:
    from bayesduel.models.catalog import sources

    for source_file in sources():
        model_name, word = _typed(source_file.kind), source_file.word
        if name.lower() in (model_name, model_name.replace("-", "")):
            kind = source_file.cls
            about, parameters, source = described(kind)
            signature = inspect.signature(kind).parameters
            defaults = {
                key: one.default
                for key, one in signature.items()
                if one.default is not one.empty
            }
            usual = f"bayesduel.inference.fit({kind.__name__}(), votes)"
            if word and not source_file.needs:
                usual = f"bayesduel fit votes.csv --model {word}"
            yield {
                "kind": "model",
                "name": model_name,
                "title": kind.__name__,
                "about": about,
                "parameters": {
                    key: {"default": defaults.get(key), "meaning": text}
                    for key, text in parameters.items()
                },
                "source": source,
                "example": _FITTED.get(model_name, usual),
            }


_CHOICES = "bayesduel fit-choices trips.csv --attributes cost,time"
_FITTED = {
    "conditional-logit": f"{_CHOICES} --choice mode",
    "judged-bradley-terry": "bayesduel fit votes.csv --judge worker",
    "mixed-logit": f"{_CHOICES} --choice mode --model mixed --person who",
    "rao-kupper": "bayesduel fit votes.csv --ties rao-kupper",
}
"""How models that --model does not name are fitted at the shell."""


def _regrets(name: str) -> Iterator[Entry]:
    meanings = REGRETS | SUBSET_REGRETS
    if name.lower() in meanings:
        yield {
            "kind": "notion of regret",
            "name": name.lower(),
            "title": f"regret of one round: {meanings[name.lower()]}",
            "example": f"bayesduel compare -i sushi -p d-ts --regret {name.lower()}",
        }


def _bounds(name: str) -> Iterator[Entry]:
    from theory.theorems.catalog import known_theorems

    # As figures call it: `--bounds lower`.
    wanted = "copeland lower bound" if name.lower() == "lower" else name.lower()
    for theorem in known_theorems():
        # Where policy and theorem have one name, the former shows the latter.
        if theorem.name.lower() == wanted and theorem.name != theorem.policy:
            about, _, source = described(theorem.function)
            yield {
                "kind": "bound",
                "name": theorem.name,
                "title": f"on {theorem.policy}"
                if theorem.policy
                else "on every policy",
                "about": about,
                "theorems": [_stated(theorem)],
                "source": source,
                "example": "bayesduel bounds sushi --all",
            }


def _stated(theorem: Theorem) -> Entry:
    """Return what a theorem says, as far as it does not depend on the matrix."""
    import numpy as np

    import theory

    name, bound = theorem.function.__name__, None
    home = "theory" if hasattr(theory, name) else "theory.theorems"
    if theorem.about is theory.PreferenceMatrix:
        matrix = theory.PreferenceMatrix(np.array(_ORDERED))
        posterior = {"posterior": theorem.knows[0]} if theorem.knows else {}
        bound = next(
            iter(theorem.apply(matrix, posterior | {"num_batches": 16}).bounds), None
        )
    assumed = (bound.condition, *bound.assumptions) if bound else ()
    return {
        "name": theorem.name,
        "kind": bound.kind if bound else "",
        "regret": bound.regret if bound else "",
        "assumes": [text for text in assumed if text],
        "source": bound.source if bound else "",
        "function": f"{home}.{name}",
    }


_LABELS = {"num_arms": "number of arms", "copeland_winners": "Copeland winners"}


def _print(entry: Entry) -> None:
    """Write an entry for people, a part after the other."""
    from rich.padding import Padding
    from rich.text import Text

    screen = console()

    def say(text: str, indent: int = 0, style: str = "") -> None:
        padded = Padding(Text(text, style), (0, 0, 0, indent), expand=False)
        screen.print(padded)

    def begin(part: str) -> None:
        screen.print()
        say(part, style="bold")

    say(f"{entry['name']}: {entry['kind']}", style="bold")
    title, about = entry.get("title", ""), entry.get("about", "")
    if title and not about.startswith(title.partition(" (")[0]):
        say(title)  # Many a rule begins with its own title.
    if about:
        say(about)
    for key in ("num_arms", "copeland_winners", "arms", "feedback", "regrets"):
        if entry.get(key):
            value = entry[key]
            if key == "copeland_winners":
                value = [f"arm {arm}" for arm in value]
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            say(f"{_LABELS.get(key, key)}: {text}")
    if entry.get("parameters"):
        begin("Parameters")
    for name, parameter in (entry.get("parameters") or {}).items():
        default = parameter["default"]
        say(name if default is None else f"{name}={typed(default)}", 2)
        if parameter["meaning"]:
            say(parameter["meaning"], 6)
    if entry.get("theorems"):
        begin("Theorems")
    for theorem in entry.get("theorems") or ():
        kind = f": {theorem['kind']} bound on {theorem['regret']} regret"
        say(theorem["name"] + (kind if theorem["kind"] else ""), 2)
        if theorem["assumes"]:
            say("if " + "; ".join(theorem["assumes"]), 6)
        say(f"{theorem['source']}; {theorem['function']}".removeprefix("; "), 6)
    if entry.get("source"):
        begin("Source")
        say(entry["source"], 2)
    begin("Example")
    say(entry["example"], 2)


# --- Docstrings, in words for a terminal ------------------------------------------

# Marks of reStructuredText and the words that they leave. A star behind a letter, as in
# the i* of a paper, is no mark.
_MARKS = (
    (re.compile(r":\w+(?::\w+)*:`~?\.?([^`]+?)(?:\s*<[^`>]+>)?`"), r"\1"),
    (re.compile(r"``(.+?)``", re.DOTALL), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<([^`>]+)>`__?"), r"\1 (\2)"),
    (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])"), r"\2"),
    (re.compile(r"\s*\[(?:\d+|#\w*)\]_"), ""),
)
_MATH = re.compile(r":math:`([^`]+)`")

# Formulas in TeX as they are written with a keyboard.
_TEX = (
    (re.compile(r"\\(le|ge|ne|sim|in|pm)(?![a-zA-Z])"), lambda sign: _SIGNS[sign[1]]),
    (re.compile(r"\\(?:mathrm|text)\{([^{}]*)\}"), r"\\\1"),
    (re.compile(r"\\sqrt\s*(\w)"), r"\\sqrt(\1)"),
    (re.compile(r"\\sqrt\{((?:[^{}]|\{[^{}]*\})*)\}"), r"\\sqrt(\1)"),
    (re.compile(r"\\lfloor\s*"), r"\\floor("),
    (re.compile(r"\\lceil\s*"), r"\\ceil("),
    (re.compile(r"\\(?:rfloor|rceil)|\\\}"), ")"),
    (re.compile(r"\\\{"), "("),
    (re.compile(r"\\,"), " "),
    (re.compile(r"\\cdot\s*"), " * "),
    (re.compile(r"\\hat(?![a-zA-Z])"), ""),
    (re.compile(r"\\tilde\s*O"), "O~"),
    (re.compile(r"\^\\top(?![a-zA-Z])\s*"), "' "),
    (re.compile(r"(?<=[\w)])\\"), " "),
    (re.compile(r"\\"), ""),
    (re.compile(r"\^\*"), "*"),
    (re.compile(r"([_^])\{(\w+|\*)\}"), r"\1\2"),
    (re.compile(r"([_^])\{([^{}]*)\}"), r"\1(\2)"),
)
_SIGNS = {"le": " <= ", "ge": " >= ", "ne": " != ", "sim": " ~ ", "in": " in ",
          "pm": " +- "}  # fmt: skip

_ITEM = re.compile(r"(?:^|\n)(?=(?:[-*]|\d+\.) )")


def described(thing: Callable[..., Any]) -> tuple[str, dict[str, str], str]:
    """Return what a docstring says in words, of its parameters, and its sources."""
    sections = _sections(inspect.getdoc(thing) or "")
    parameters = _meanings(sections)
    for base in inspect.getmro(thing)[1:] if inspect.isclass(thing) else ():
        above = _meanings(_sections(base.__doc__ and inspect.cleandoc(base.__doc__)))
        for name, text in parameters.items():
            if text.startswith("As in ") and name in above:
                parameters[name] = above[name]
    words = [
        paragraph if paragraph.startswith(" ") else _one_line(_without_marks(paragraph))
        for part in f"{sections['']}\n\n{sections.get('Notes', '')}".split("\n\n")
        for paragraph in (_ITEM.split(part)[1:] if _ITEM.match(part) else [part])
    ]
    about = (
        "\n\n".join(filter(None, words)).replace("::\n", ":\n").replace(" :\n", ":\n")
    )
    references = _one_line(_without_marks(sections.get("References", "")))
    return about.strip(), parameters, references


def _meanings(sections: dict[str, str]) -> dict[str, str]:
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in sections.get("Parameters", "").splitlines():
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(" :")[0].split(",")]
        for name in names if line[:1].isspace() else ():
            meanings[name] = f"{meanings.get(name, '')}\n{line.strip()}"
    return {name: _one_line(_without_marks(text)) for name, text in meanings.items()}


def _without_marks(text: str) -> str:
    text = _MATH.sub(lambda match: _in_words(match[1]), text)
    for mark, words in _MARKS:
        text = mark.sub(words, text)
    return text


def _in_words(formula: str) -> str:
    for mark, words in _TEX:
        formula = mark.sub(words, formula)
    return " ".join(formula.split())


def _one_line(text: str) -> str:
    """Join lines, also of a word that has a hyphen where its line ends."""
    return " ".join(re.sub(r"(?<=\w)-\n\s*(?=\w)", "-", text).split())


def _sections(text: str | None) -> dict[str, str]:
    """Return the sections of a numpydoc docstring; what stands before them as ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
