"""``show``, the example of every help, and what Tab completes."""

import json
import re
import shlex
from importlib import import_module

import pytest
import typer

import bayesduel
from bayesduel import instances, policies
from bayesduel.cli.app import app
from bayesduel.cli.commands.show import any_name, described
from bayesduel.cli.commands.show import shown as shown_of
from theory.theorems.catalog import known_theorems


def commands(group, within=""):
    for name, command in group.commands.items():
        yield f"{within}{name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} ")


def test_every_help_ends_with_an_example_that_is_understood(run):
    result = dict(commands(typer.main.get_command(app)))
    assert len(result) > 35
    for name, command in result.items():
        lead, _, example = command.epilog.partition("bayesduel ")
        assert lead == "Example: "
        words = shlex.split(example.partition(" >")[0])
        inside = name.split()
        assert words[: len(inside)] == inside
        command.make_context(name, words[len(inside) :])
    assert "Example: bayesduel show d-ts" in run("show", "--help").stdout


def test_no_help_shows_a_type_of_python_or_a_mark(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    names = ["", *dict(commands(typer.main.get_command(app)))]
    assert len(names) > 35
    for name in names:
        text = run(*name.split(), "--help").stdout
        assert "--help" in text
        result = re.search(r"<(bool|int|str|float|path|list)\b|BOOL|`|\\[_*]", text)
        assert not result, (name, result)
        for line in text.splitlines():
            if "--help" in line and "│" in line:
                words = line.strip("│ ").split()
                assert words[words.index("Show") - 1] in ("--help", "-h", "-h,--help")


@pytest.mark.parametrize(
    "name, first, last",
    [
        ("compare", "--instance", "--config"),
        ("fit", "--arms", "--out"),
        ("study new", "--arms", "--model"),
    ],
)
def test_long_helps_begin_with_the_ten_most_common_options(run, name, first, last):
    text = run(*name.split(), "--help").stdout
    titles = re.findall(r"╭─ (.+?) ─", text)
    common = text.partition("╭─ Options ─")[2].partition("╭─")[0]
    flags = re.findall(r"(?m)^│ (--[\w-]+)", common)
    assert (flags[0], flags[-2:], len(flags)) == (first, [last, "--help"], 11)
    assert titles[-1] == "Output" and len(titles) >= 5


@pytest.fixture(scope="module")
def shown():
    """Return what is shown of every name that Tab offers."""
    names = any_name("")
    assert {*policies.names(), *instances.names(), "copeland"} < set(names)
    return {name: shown_of(name) for name in names}


def test_every_name_is_shown_with_its_parameters_theorems_and_an_example(shown):
    known = dict(commands(typer.main.get_command(app)))
    stated = set()
    for name, entries in shown.items():
        assert entries, name
        for entry in entries:
            assert entry["title"] and entry["example"], name
            if entry["kind"] == "matrix":
                assert entry["source"] and entry["num_arms"] > 1
            if entry["example"].startswith("bayesduel "):
                # Every option is one that the command has.
                _, name_, *words = shlex.split(entry["example"])
                known[name_].make_context(name_, words)
            if entry["kind"] == "family of matrices":
                instances.load(entry["example"].split()[-1])
            if entry["kind"].startswith(("family", "world")):
                for parameter, item in entry["parameters"].items():
                    assert item["meaning"].removeprefix("Required."), (name, parameter)
            if entry["kind"].startswith("policy"):
                assert entry["about"] and name == entry["name"]
                words = entry["example"].split()
                given = dict(zip(words[2::2], words[3::2], strict=True))
                notions = [given["--regret"]] if "--regret" in given else None
                bayesduel.Experiment(given["-i"], given["-p"], regret=notions)
                for parameter, item in entry["parameters"].items():
                    assert item["meaning"], (name, parameter)
            for item in entry.get("theorems", ()):
                stated.add(item["name"])
                module, _, function = item["function"].rpartition(".")
                assert callable(getattr(import_module(module), function))
    assert stated == {known_theorem.name for known_theorem in known_theorems()}


MARKS = re.compile(r"`|\\\\|:\w+:|(?<!\w)\*{1,2}\w[^*]*\w\*{1,2}(?!\w)|\[\d+\]_")


def texts_in(entry):
    if isinstance(entry, dict):
        entry = list(entry.values())
    if isinstance(entry, list):
        return [text for item in entry for text in texts_in(item)]
    return [entry] if isinstance(entry, str) else []


def test_nothing_that_is_shown_has_marks_of_docstrings(shown):
    checked = 0
    for name, entries in shown.items():
        for text in texts_in(entries):
            # Displayed formulas stand apart, as they are.
            for part in text.split("\n\n"):
                assert part.startswith(" ") or not MARKS.search(part), (name, part)
                checked += 1
    assert checked > 500


def test_marks_of_docstrings_become_words():
    class Marked:
        """A *given* sign, **never** :class:`~bayesduel.Policy` or ``x_i``, `code`.

        The arm i* with I*, 2 * 3 * 4, and a source [1]_ at `its page <http://x.y>`_.

        - One *item*
          of two lines and a self-
          duel;
        - another one.

        As here::

            a * b * c

        Parameters
        ----------
        alpha : float
            Of :func:`theory.copeland_lower_bound`, *not* below ``1/2``.
        """

    about, parameters, _ = described(Marked)
    assert about.split("\n\n") == [
        "A given sign, never bayesduel.Policy or x_i, code.",
        "The arm i* with I*, 2 * 3 * 4, and a source at its page (http://x.y).",
        "- One item of two lines and a self-duel;", "- another one.", "As here:",
        "    a * b * c",
    ]  # fmt: skip
    assert parameters == {"alpha": "Of theory.copeland_lower_bound, not below 1/2."}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("D-TS", ["d-ts: policy", "alpha=0.51", "look_ahead=true", "Proposition 1",
                  "no two arms tie", "NIPS 2016", "compare -i sushi -p d-ts"]),
        ("Mallows", ["mallows: family", "phi", "Required. Dispersion", "phi=0.5"]),
        ("camera", ["world of subset choice", "feedback: winner"]),
        ("thurstone", ["thurstone: model", "prior_scale=2.0", "Standard deviation"]),
        ("d-ts, refined", ["bound", "Theorem 1", "beta > 2"]),
        ("arxiv", ["number of arms: 6", "Copeland winners: arm 0"]),
        ("lower", ["Copeland lower bound: bound", "Theorem 2"]),
        ("ccb", ["such self-duels then has", "2/3 from those that are potential"]),
    ],
)  # fmt: skip
def test_a_name_in_any_case(run, name, words):
    result = run("show", name)
    text = " ".join(result.stdout.split())
    for word in words:
        assert word in text


def test_the_kind_of_a_name_is_shown(run):
    record = json.loads(run("show", "copeland", "--json").stdout)
    assert [item["kind"] for item in record] == ["notion of regret"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["compare", "-p", "rmed"], ["rmed1", "rmed2", "rmed2fh"]),
        (["bounds", "su"], ["sushi"]),
        (["study", "stat"], ["status"]),
    ],
)
def test_tab_completes(run, monkeypatch, words, offered):
    monkeypatch.setenv("_BAYESDUEL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["bayesduel", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    assert run().stdout.split() == offered
