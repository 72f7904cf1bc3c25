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
`bayesduel show NAME` prints the same text. {doc}`The advice on algorithms
<which_algorithm>` says which one to take. The last column counts the theorems about the
policy that `theory` computes. Policies that wrap another policy, such as `mdb`, are
described in {doc}`the reference <reference/policies>`.

"""

_HEAD = ("| policy | name | in words | theorems |", "|---|---|---|---|")

_CLASSES = """# Policy classes

Each policy is a class with its parameters as fields. {doc}`The list of policies
<../policies>` has a page with rule, theorems and bounds for each. {doc}`The advice on
algorithms <../which_algorithm>` says which one to take.
"""

_MODELS = """# Model classes

Each model is a class of `bayesduel.models`, with its parameters as fields. {doc}`The
page on models and posteriors <models>` says how a model is fitted. {doc}`The pages on
single models <../models/index>` say when to take which.
"""

_RULE = "**Rule.**"
"""How the notes of a policy begin."""

_OF_PAIRS = ("", "features")
"""Values of ``needs`` of models of votes on pairs."""

_NOTES = {
    "thompson": "thompson", "ucb": "confidence_bounds", "rmed": "rmed",
    "elimination": "exploring_first", "reductions": "exploring_first",
    "batched": "batched", "weak_regret": "weak_regret", "adversarial": "adversaries",
    "identification": "stopping", "subsets": "subsets", "contextual": "contexts",
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
    described = described_policies()
    figures = draw_policy_figures(
        docs,
        {each["name"]: _file(each) for each in described},
        knowing={each["name"] for each in described if _knows_a_model(each)},
    )
    for entry in described:
        page = _page(entry, figures.get(entry["name"], []))
        write_if_other(folder / f"{_file(entry)}.md", page)
    known = set(map(_file, described))
    for stale in [page for page in folder.iterdir() if page.stem not in known]:
        stale.unlink()
    (docs / "reference").mkdir(exist_ok=True)
    write_if_other(docs / "reference" / "policy_classes.md", class_tables())
    write_if_other(docs / "reference" / "model_classes.md", model_tables())
    families: dict[str, list[dict]] = {}
    for entry in described:
        families.setdefault(entries()[entry["name"]].family, []).append(entry)
    table = []
    for family, members in families.items():
        table += [f"## {_family_title(family)}", "", *_HEAD]
        for entry in members:
            page = f"{{doc}}`{entry['label']} <policies/{_file(entry)}>`"
            cells = [page, f"`{entry['name']}`", _in_words(entry)]
            table.append(f"| {' | '.join(cells)} | {len(entry['theorems']) or ''} |")
        table.append("")
    contents = ["", "```{toctree}", ":hidden:", ""]
    contents += [f"policies/{_file(entry)}" for entry in described] + ["```", ""]
    write_if_other(docs / "policies.md", _LEAD + "\n".join(table + contents))


def class_tables() -> str:
    """Return the page of the reference that lists the class of every policy."""
    families: dict[str, dict[str, None]] = {}
    for entry in entries().values():
        families.setdefault(entry.family, {})[entry.kind.__name__] = None
    lines = [_CLASSES]
    for family, classes in families.items():
        lines += _table(_family_title(family), "bayesduel.policies", classes)
    return "\n".join(lines)


def _family_title(family: str) -> str:
    if not family:
        return "Baselines"
    words = import_module(f"bayesduel.policies.{family}").__doc__ or ""
    return words.partition("\n")[0].rstrip(".")


def _in_words(entry: dict) -> str:
    """Return the title of a policy, and how it differs from its class's other names."""
    item = re.search(
        rf"^- ``{re.escape(entry['name'])}``: (.*?\.)(?:\s|$)",
        inspect.getdoc(type(policies.get(entry["name"]))) or "",
        re.MULTILINE | re.DOTALL,
    )
    if item is None:
        return f"{entry['plain_title']}."
    return f"{entry['plain_title']}: {_markdown(' '.join(item[1].split()))}"


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
    rule, notes = _rule_and_notes(text["Notes"] or text["Extended Summary"])
    lines = ["```{eval-rst}", ".. index::", *(f"   ! single: {x}" for x in sought),
             "```", "", f"# {label}", "",
             f"{_in_words(entry)} Name in Python and the shell: `{name}`.", "",
             *(_restructured(intro) if intro else []),
             "## The rule", "", *_restructured(rule),
             "## Example", "", *_examples(entry, text["Examples"]),
             *(["## Measured regret", "", *figure] if figure else []),
             "## Parameters", "",
             "| name | default | meaning |", "|---|---|---|"]  # fmt: skip
    for key, each in entry["parameters"].items():
        meaning = _markdown(each["meaning"])
        lines.append(f"| `{key}` | `{each['default']}` | {meaning} |")
    none = [
        "bayesduel has no theorem with explicit constants for this policy. If a paper "
        "proves the order of its regret, the notes below say so under *Assumptions*."
    ]
    lines += ["", "## Theorems", "", *(_theorems(entry) or none), ""]
    if notes:
        lines += ["## Notes", "", *_restructured(notes)]
    note = _NOTES.get(entries()[name].family)
    if note is not None:
        page = f"{{doc}}`The theory page on this family </theory/{note}>`"
        lines += [f"{page} explains its policies and compares them.", ""]
    lines += ["## Source", "", _markdown(entry["source"]) or "This project.", ""]
    return "\n".join(lines)


def _rule_and_notes(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the rule, without its name, and what follows: from the next bold name."""
    if not (lines and lines[0].startswith(_RULE)):
        return lines, []
    lines = [lines[0].removeprefix(_RULE).lstrip(), *lines[1:]]
    bold = (
        i
        for i in range(1, len(lines))
        if lines[i].startswith("**") and not lines[i - 1].strip()
    )
    end = next(bold, len(lines))
    return lines[:end], lines[end:]


def _examples(entry: dict, lines: list[str]) -> list[str]:
    """Return a comparison at the shell and in Python, and what the docstring shows."""
    words = entry["example"].split()
    given = dict(zip(words[2::2], words[3::2], strict=True))
    options = ["num_runs=10", "horizon=10_000"]
    if "--regret" in given:
        options.append(f'regret=["{given["--regret"]}"]')
    said = [
        "At the shell:", "", "```console", entry["example"], "```", "",
        "In Python, with fewer runs and rounds:", "", "```python",
        "import bayesduel", "",
        "result = bayesduel.compare(",
        f'    "{given["-i"]}", "{given["-p"]}", {", ".join(options)}',
        ")",
        "print(bayesduel.analysis.summary(result))", "```", "",
    ]  # fmt: skip
    if not lines:
        return said
    return [*said, "The policy as an object:", "", "```{eval-rst}", *lines, "```", ""]


def _restructured(lines: list[str]) -> list[str]:
    """Return a part of a docstring as Sphinx reads it; a page of ours is a link."""
    # A title reads as a part of the sentence around it, if no words say that it is one.
    link = r'the page ":doc:`/\1`"'
    linked = [re.sub(r"``docs/([\w/]+)\.md``", link, line) for line in lines]
    return ["```{eval-rst}", *linked, "```", ""]


_REGRETS = {
    "copeland": "Copeland regret",
    "condorcet_mean": "the mean gap to the Condorcet winner (`condorcet_mean`)",
    "weak_binary": "weak regret (`weak_binary`: rounds without the best arm)",
    "strong_binary": "strong regret (`strong_binary`: rounds in which not both arms "
    "are the best one)",
}


def _theorems(entry: dict) -> list[str]:
    lines = []
    for each in entry["theorems"]:
        lines += [f"**{each['name']}**, {{func}}`{each['function']}`.", ""]
        if each["kind"]:
            regret = _REGRETS.get(each["regret"], f"`{each['regret']}` regret")
            lines += [f"{each['kind'].capitalize()} bound on {regret}: "
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
        lambda found: f'the page "{{doc}}`/{found[1].replace(chr(92), "")}`"',
        escaped,
    )
