"""A page for every policy, from what ``bayesduel show`` says of it."""

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from numpydoc.docscrape import NumpyDocString
from policy_figures import draw_policy_figures

from bayesduel import policies
from bayesduel.analysis.anchored_bounds import model_known_by
from bayesduel.cli.commands.show import described_policies
from bayesduel.policies.registry import entries
from theory import all_bounds

_LEAD = """# Policies

Each policy has a page with its rule, measured regret, parameters and theorems.
`bayesduel show NAME` prints the same text. {doc}`which_algorithm` says which one to
take.

"""

_CLASSES = """# Policy classes

Each policy is a class with its parameters as fields. {doc}`../policies` has a page with
rule, theorems and bounds for each, {doc}`../which_algorithm` says which one to take.
"""

_MODELS = """# Model classes

In `bayesduel.models`: each is a class with its parameters as fields. {doc}`models` says
how one is fitted, the pages under {doc}`../models/index` when to take which.
"""

_RULE = "**Rule.**"
"""How the notes of a policy begin."""

_OF_PAIRS = ("", "features")
"""Values of ``needs`` of models of votes on pairs."""

_NOTES = {
    "thompson": "thompson", "ucb": "confidence_bounds", "rmed": "rmed",
    "elimination": "exploring_first", "reductions": "exploring_first",
    "batched": "batched", "weak_regret": "weak_regret", "adversarial": "adversaries",
    "identification": "stopping", "subsets": "subsets",
}  # fmt: skip
"""The theory note on each family of policies."""

_TABLE = """.. currentmodule:: {package}

.. autosummary::
   :nosignatures:
   :toctree: objects
"""


def write_policy_pages(docs: Path) -> None:
    """Write ``policies/NAME.md`` for all, and the two pages that list them."""
    folder = docs / "policies"
    folder.mkdir(exist_ok=True)
    entries = described_policies()
    figures = draw_policy_figures(
        docs,
        {each["name"]: _file(each) for each in entries},
        knowing={each["name"] for each in entries if _knows_a_model(each)},
    )
    for entry in entries:
        page = _page(entry, figures.get(entry["name"], []))
        write_if_other(folder / f"{_file(entry)}.md", page)
    known = set(map(_file, entries))
    for stale in [page for page in folder.iterdir() if page.stem not in known]:
        stale.unlink()
    (docs / "reference").mkdir(exist_ok=True)
    write_if_other(docs / "reference" / "policy_classes.md", class_tables())
    write_if_other(docs / "reference" / "model_classes.md", model_tables())
    rows = [
        f"| {{doc}}`{entry['label']} <policies/{_file(entry)}>` | `{entry['name']}` "
        f"| {entry['plain_title']} | {len(entry['theorems']) or ''} |"
        for entry in entries
    ]
    table = ["| policy | name | in words | theorems |", "|---|---|---|---|", *rows]
    contents = ["", "```{toctree}", ":hidden:", ""]
    contents += [f"policies/{_file(entry)}" for entry in entries] + ["```", ""]
    write_if_other(docs / "policies.md", _LEAD + "\n".join(table + contents))


def class_tables() -> str:
    """Return the page of the reference that lists the class of every policy."""
    families: dict[str, dict[str, None]] = {}
    for entry in entries().values():
        families.setdefault(entry.family, {})[entry.kind.__name__] = None
    lines = [_CLASSES]
    for family, classes in families.items():
        words = import_module(f"bayesduel.policies.{family}".rstrip(".")).__doc__ or ""
        title = words.partition("\n")[0].rstrip(".") if family else "Yardsticks"
        lines += _table(title, "bayesduel.policies", classes)
    return "\n".join(lines)


def model_tables() -> str:
    """Return the page of the reference that lists the class of every model."""
    from bayesduel.models.catalog import sources

    pairs = [each.kind for each in sources() if each.needs in _OF_PAIRS]
    rest = [each.kind for each in sources() if each.needs not in _OF_PAIRS]
    lines = [_MODELS, *_table("Models of pairs", "bayesduel.models", pairs)]
    lines += _table("Models of choices and rankings", "bayesduel.models", rest)
    return "\n".join(lines)


def _table(title: str, package: str, classes: Iterable[str]) -> list[str]:
    rows = [f"   {name}" for name in classes]
    head = _TABLE.format(package=package)
    return [f"## {title}", "", "```{eval-rst}", head, *rows, "```", ""]


def write_if_other(page: Path, text: str) -> None:
    """Leave a page that says the same as it is: Sphinx reads what was written anew."""
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")


def _file(entry: dict) -> str:
    return entry["name"].replace("+", "-plus")


def _knows_a_model(entry: dict) -> bool:
    defaults = {key: each["default"] for key, each in entry["parameters"].items()}
    return bool(model_known_by(defaults))


def _page(entry: dict, figure: list[str]) -> str:
    label, name = entry["label"], entry["name"]
    sought = dict.fromkeys([label, name, entry["plain_title"]])
    text = NumpyDocString(inspect.getdoc(type(policies.get(name))) or "")
    intro = text["Extended Summary"] if text["Notes"] else []
    rule = text["Notes"] or text["Extended Summary"]
    if rule and rule[0].startswith(_RULE):  # As the heading above it.
        rule = [rule[0].removeprefix(_RULE).lstrip(), *rule[1:]]
    lines = ["```{eval-rst}", ".. index::", *(f"   ! single: {x}" for x in sought),
             "```", "", f"# {label}", "",
             f"*{entry['plain_title']}*. Name in Python and the shell: `{name}`.", "",
             *(_restructured(intro) if intro else []),
             "```console", entry["example"], "```", "",
             "## The rule", "", *_restructured(rule),
             *(["## Measured regret", "", *figure] if figure else []),
             "## Parameters", "",
             "| name | default | meaning |", "|---|---|---|"]  # fmt: skip
    for key, each in entry["parameters"].items():
        meaning = _markdown(each["meaning"])
        lines.append(f"| `{key}` | `{each['default']}` | {meaning} |")
    none = [
        "No theorem with explicit constants. If the order of the regret is proved, it "
        "stands under *Assumptions*."
    ]
    lines += ["", "## Theorems", "", *(_theorems(entry) or none)]
    note = _NOTES.get(entries()[name].family)
    if note is not None:
        lines += ["", f"{{doc}}`/theory/{note}` explains and compares the family."]
    lines += ["", "## Source", "", _markdown(entry["source"]) or "This project.", ""]
    return "\n".join(lines)


def _restructured(lines: list[str]) -> list[str]:
    """Return a part of a docstring as Sphinx reads it; a page of ours is a link."""
    linked = [re.sub(r"``docs/([\w/]+)\.md``", r":doc:`/\1`", line) for line in lines]
    return ["```{eval-rst}", *linked, "```", ""]


_REGRETS = {
    "copeland": "Copeland",
    "condorcet_mean": "gap (`condorcet_mean`)",
    "weak_binary": "weak (`weak_binary`: rounds without the best arm)",
}


def _theorems(entry: dict) -> list[str]:
    lines = []
    for each in entry["theorems"]:
        lines += [f"**{each['name']}**, {{func}}`{each['function']}`.", ""]
        if each["kind"]:
            regret = _REGRETS.get(each["regret"], f"`{each['regret']}`")
            lines += [f"{each['kind'].capitalize()} bound on {regret} regret, "
                      f"{each['source']}."]  # fmt: skip
        if each["assumes"]:
            lines += [f"Assumptions: {_markdown('; '.join(each['assumes']))}."]
        lines.append("")
    return lines + _values(entry)


_MATRICES = ("cyclic", "mslr5-condorcet", "sushi")


def _values(entry: dict) -> list[str]:
    """Return the bounds of the theorems on three matrices."""
    import bayesduel

    parameters = {key: each["default"] for key, each in entry["parameters"].items()}
    rows, reasons = [], set()
    for name in _MATRICES:
        try:
            found = all_bounds(
                bayesduel.load(name), policy=entry["acronym"], parameters=parameters
            )
        except ValueError:
            return []
        for applied in found:
            reasons.add("" if applied.bounds else applied.reason)
            # The printed coefficient of an order of growth has an unknown factor.
            said = [
                f"of the order of {each.formula_to(4)}"
                if each.kind == "order only"
                else each.formula_to(4)
                for each in applied.bounds
            ]
            text = "; ".join(said) or f"not defined: {applied.reason}"
            rows.append(f"| {name} | {applied.theorem.name} | {_markdown(text)} |")
    if len(reasons) == 1 and all(reasons):
        reason = _markdown(reasons.pop())
        return [f"With the default parameters the theorem does not apply: {reason}."]
    return ["| matrix | theorem | bound, default parameters |", "|---|---|---|", *rows]


def _markdown(text: str) -> str:
    """Keep what a docstring says in signs that Markdown reads otherwise."""
    parts = [
        f"```text\n{part}\n```" if part.startswith(" ") else _escaped(part)
        for part in text.split("\n\n")
    ]
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """Escape what Markdown reads as marks; a page of this documentation is a link.

    The mark of a list that begins the text stays one, and a parameter with a text, such
    as ``pairs="gradient"``, is code: its quotes stay straight.
    """
    parts = re.split(r'(\b\w+="[^"`]*")', text)
    code = [f"`{part}`" for part in parts[1::2]] + [""]
    return "".join(map("".join, zip(map(_words, parts[::2]), code, strict=True)))


def _words(text: str) -> str:
    escaped = re.sub(r"[\\`*_<$|{}\[\]#~]", r"\\\g<0>", text)
    escaped = re.sub(r"^\\\* ", "* ", escaped)
    return re.sub(
        r"docs/([\w/\\]+)\.md",
        lambda found: f"{{doc}}`/{found[1].replace(chr(92), '')}`",
        escaped,
    )
