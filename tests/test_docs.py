"""The documentation says what the package does, and leaves out nothing public."""

import inspect
import json
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import instances, plots, policies
from tests.public_names import PACKAGES, TOPICS, public
from theory import copeland_lower_bound

DOCS = Path(__file__).parents[1] / "docs"
PYTHON_BLOCK = re.compile(
    r"^```(?:python|\{code-cell\} ipython3)\n(?::tags:.*\n)?(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
PROMISE = re.compile(r"print\(.*\)  # (.+)$", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="the documentation is not part of the distribution"
)


CELLS = "file_format: mystnb"

LONG = {"index.md", "posteriors.md"}

POLICY_PAGES = DOCS / "policies"


def pages_with_code():
    """Return the pages whose code runs here.

    The build executes those of cells, and makes those of policies, of which
    ``test_policy_pages`` tries the code.
    """
    pages = [page for page in sorted(DOCS.rglob("*.md")) if page.parent != POLICY_PAGES]
    texts = {page: page.read_text("utf-8") for page in pages}
    return [
        pytest.param(page, marks=[pytest.mark.slow] * (page.name in LONG))
        for page, text in texts.items()
        if CELLS not in text and PYTHON_BLOCK.search(text)
    ]


@pytest.mark.usefixtures("hardly_optimized")
@pytest.mark.parametrize("page", pages_with_code(), ids=lambda page: page.stem)
def test_code_runs(page, tmp_path, monkeypatch, capsys):
    """The blocks of a page run one after the other, as a reader would run them.

    In the theory notes `print(...)  # 11.02` promises what is printed.
    """
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documentation"}
    for block in PYTHON_BLOCK.findall(page.read_text("utf-8")):
        exec(compile(block, page.name, "exec"), names)
        if page.parent.name == "theory":
            promised = PROMISE.findall(block)
            assert promised
            assert capsys.readouterr().out.splitlines() == promised


def test_the_readme_shows_the_code_of_the_first_page():
    readme, first = (
        PYTHON_BLOCK.findall(page.read_text("utf-8"))
        for page in (DOCS.parent / "README.md", DOCS / "index.md")
    )
    assert readme == first != []


def test_the_gallery_draws_every_figure():
    gallery = (DOCS / "gallery.md").read_text("utf-8")
    drawn = set(re.findall(r"^plots\.(\w+)\(", gallery, re.MULTILINE))
    assert drawn == {*plots.__all__} - {"StyledFigure", "save"}


def test_every_bound_has_its_note():
    """The table of bounds names all functions that return one."""
    page = (DOCS / "theory" / "bounds.md").read_text("utf-8")
    ends = ("_bound", "_order", "_constant")
    bounds = [name for name in public("theory", *TOPICS) if name.endswith(ends)]
    assert len(bounds) > 15
    assert not [name for name in bounds if f"{{func}}`~{name}`" not in page]


FULL_NAMES = {"btm": "beat the mean", "if": "interleaved filter"}
"""Full names of policies whose acronyms are words, or parts of words."""


def test_every_policy_is_explained():
    """Some theory note has its acronym, or its name; its class has an example.

    And what policy and twin share is said, in the table of the page on evidence or in a
    line "Twin of ..." of a note: no row, no claim. Every dueling bandit but the random
    one has a twin.
    """
    pages = (DOCS / "theory").glob("*.md")
    notes = "".join(page.read_text("utf-8") for page in pages).lower()
    evidence = (DOCS / "evidence.md").read_text("utf-8")
    section = evidence.partition("## What policy and twin share\n")[2]
    table = section.partition("\n## ")[0].lower()
    table += "\n".join(re.findall(r"^twin of .*$", notes, re.MULTILINE))
    duels = {*policies.names()} - {"random"}
    assert len(duels) > 15
    for name in (*policies.names(), *policies.subset_names()):
        policy = policies.get(name)
        label = FULL_NAMES.get(policy.label.lower(), policy.label.lower())
        assert name in notes or label in notes, name
        assert name not in duels or label in table, name
        assert ">>> " in (type(policy).__doc__ or ""), name


@cache
def in_the_reference():
    """Return what the tables of the reference list, and constants, by the full name."""
    generate = pytest.importorskip("sphinx.ext.autosummary.generate")
    pages = [str(page) for page in (DOCS / "reference").glob("*.md")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(DOCS)])
        from policy_pages import class_tables, model_tables
    found_entries = generate.find_autosummary_in_files(pages)
    for page in (class_tables(), model_tables()):
        found_entries += generate.find_autosummary_in_lines(page.splitlines())
    names = {entry.name for entry in found_entries}
    constant = re.compile(r"py:data:: (\w+)\n   :module: (\S+)")
    names |= {
        f"{module}.{name}"
        for page in pages
        for name, module in constant.findall(Path(page).read_text("utf-8"))
    }
    assert len(names) > 350
    return {name: found(name) for name in names}


def found(name):
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def test_every_public_name_is_in_the_reference():
    """With a docstring, which is all that its page has; modules have no page."""
    listed = [id(value) for value in in_the_reference().values()]
    offered = {
        name: value
        for name, value in public(*PACKAGES).items()
        if not inspect.ismodule(value) and name != "bayesduel.__version__"
    }
    assert not [name for name, value in offered.items() if id(value) not in listed]
    for name, value in in_the_reference().items():
        assert not callable(value) or (inspect.getdoc(value) or "").strip(), name


def test_no_two_public_functions_have_one_name():
    """But for names of lists and files, which say the same of something else."""
    homes = {}
    for name, value in public(*PACKAGES).items():
        if inspect.isfunction(value):
            homes.setdefault(name.rpartition(".")[2], set()).add(value)
    assert len(homes) > 100
    assert {name for name, functions in homes.items() if len(functions) > 1} == {
        "load",  # A matrix, results.
        "save",  # Results, figures.
        "names",  # Names of matrices, or of policies.
    }


def test_texts_import_from_public_packages_only():
    """README, pages and notebooks import only names that will stay."""
    root = DOCS.parent
    pages = [root / "README.md", *DOCS.rglob("*.md"), *root.glob("notebooks/*.ipynb")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    pattern = r"from ((?:bayesduel|theory)[\w.]*) import (\((?:[^)]*)\)|[\w, ]+)"
    found = {
        (module, name)
        for module, names in re.findall(pattern, text)
        for name in re.findall(r"\w+", names.replace("\\n", " "))
    }
    assert ("bayesduel.models", "PreferenceModel") in found
    homes = {*PACKAGES, *(name.rpartition(".")[0] for name in in_the_reference())}
    for module, name in found:
        assert module in homes and hasattr(import_module(module), name), (module, name)


def test_the_benchmark_page_states_what_its_table_shows(tmp_path, monkeypatch):
    for name in ("benchmark.json", "benchmark.template"):
        (tmp_path / name).write_bytes((DOCS / name).read_bytes())
    monkeypatch.syspath_prepend(DOCS)
    import_module("benchmark_page").write_benchmark_page(tmp_path)
    page = (tmp_path / "benchmark.md").read_text("utf-8")
    (row,) = re.findall(r"^\| \$C\^\*\$ \| (.*) \|$", page, re.MULTILINE)
    # Constants are rounded once: 27.549 and 261.954.
    names = instances.names()
    assert row.split(" | ")[: len(names)] == [
        f"{copeland_lower_bound(bayesduel.load(name), ties='ignore').value:.1f}"
        for name in names
    ]
    rows = json.loads((DOCS / "benchmark.json").read_text("utf-8"))["rows"]
    final = np.array([[x["final"] for x in row.values()] for row in rows.values()])
    times = final / final.min(axis=0)
    mean = np.exp(np.log(times).mean(axis=1))
    best = mean.argmin()
    label = policies.get([*rows][best]).label
    assert f"**All columns together, {label} has the least regret.**" in page
    finding = page.partition("**Read this first.**")[0]
    assert f"of these 13 ratios is {mean[best]:.1f}, and the " in finding
    assert f"largest is {times[best].max():.1f}. " in finding
    assert f"{(times.max(axis=1) > 100).sum()} of the {len(rows)} policies" in finding


# A link without a text of its own, before a verb or behind a preposition. The title of
# the changelog is a noun.
TITLE = r"\{doc\}`(?!changelog)[^`<]+`"
IN_A_SENTENCE = re.compile(
    rf"{TITLE}\s+[a-z]|\b(?:of|in|with|from|by|see|read|than|as)\s+{TITLE}"
)


def test_no_title_of_a_page_is_a_part_of_a_sentence():
    """A title such as "Simulation by look-ahead" is no noun that a verb can follow."""
    pages = [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]
    pages = [page for page in pages if page.parent.name not in ("policies", "paper")]
    assert len(pages) > 60
    for page in pages:
        found = IN_A_SENTENCE.search(page.read_text("utf-8"))
        assert not found, (page.name, found)
