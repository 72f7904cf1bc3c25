"""The documentation says what the package does, and leaves out nothing public."""

import re
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="the documentation is not part of the distribution"
)


LONG = {"index.md", "tutorial.md"}


def pages_with_code():
    pages = sorted(DOCS.rglob("*.md"))
    return [
        pytest.param(page, marks=[pytest.mark.slow] if page.name in LONG else [])
        for page in pages
        if PYTHON_BLOCK.search(page.read_text("utf-8"))
    ]


@pytest.mark.parametrize("page", pages_with_code(), ids=lambda page: page.stem)
def test_code_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documentation"}
    for block in PYTHON_BLOCK.findall(page.read_text("utf-8")):
        exec(compile(block, page.name, "exec"), names)


def test_the_readme_shows_the_code_of_the_first_page():
    readme, first = (
        PYTHON_BLOCK.findall(page.read_text("utf-8"))
        for page in (DOCS.parent / "README.md", DOCS / "index.md")
    )
    assert readme == first != []


def test_numbers_in_comments_are_printed(tmp_path, monkeypatch, capsys):
    """`print(...)  # 11.024943` prints that number."""
    page = (DOCS / "theory" / "lower_bound.md").read_text("utf-8")
    (block,) = PYTHON_BLOCK.findall(page)
    exec(compile(block, "lower_bound.md", "exec"), {})
    promised = re.findall(r"# ([\d.]+)$", block, re.MULTILINE)
    assert len(promised) == 2
    assert capsys.readouterr().out.split() == promised


def documented_modules():
    text = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*"))
    assert "automodule" in text
    return set(re.findall(r"automodule:: ([\w.]+)", text)), text


@pytest.mark.parametrize(
    "name",
    [
        "theory",
        "bayesduel.analysis",
        "bayesduel.datasets",
        "bayesduel.diagnostics",
        "bayesduel.errors",
        "bayesduel.models",
        "bayesduel.plots",
        "bayesduel.policies",
    ],
)
def test_every_public_name_is_in_the_reference(name):
    """`automodule` lists what `__all__` names, if each of them has a docstring."""
    modules, _ = documented_modules()
    assert name in modules
    module = import_module(name)
    offered = [getattr(module, each) for each in module.__all__]
    bare = [
        str(each)
        for each in offered
        if callable(each) and not (getattr(each, "__doc__", None) or "").strip()
    ]
    assert not bare


def test_every_name_of_the_package_itself_is_in_the_reference():
    import bayesduel

    modules, text = documented_modules()
    for name in bayesduel.__all__:
        described = f"bayesduel.{name}" in modules
        assert (
            described
            or f"autofunction:: bayesduel.{name}\n" in text
            or name == ("__version__")
        )
