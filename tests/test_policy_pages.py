"""Pages of policies say what `show` says, and draw bounds as slopes."""

import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from theory import copeland_lower_bound

DOCS = Path(__file__).parents[1] / "docs"

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="the documentation is not part of the distribution"
)


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(DOCS)])
    import policy_pages

    return policy_pages


def read(markdown):
    """Return the words that a page shows, and the kinds of marks in it."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    tokens = parser.enable("table").parse(markdown)
    inside = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inside for child in token.children}
    shown = [
        "".join(
            " " if child.type in ("softbreak", "hardbreak") else child.content
            for child in token.children or [token]
        )
        for token in tokens
        if token.type in ("inline", "fence")
    ]
    return " ".join(" ".join(shown).split()), kinds


def test_pages_have_the_rule_of_the_docstring(pages):
    """In the docstring's own marks, which the build turns into formulas and links."""
    count = 0
    for entry in pages.described_policies():
        text = inspect.getdoc(type(policies.get(entry["name"])))
        page = pages._page(entry, [])
        rule = page.partition("## The rule\n\n```{eval-rst}\n")[2].partition("\n```")[0]
        notes = text.partition("\nNotes\n-----\n**Rule.**")[2].lstrip()
        if not notes:
            continue
        count += 1
        said = re.sub(r"``docs/([\w/]+)\.md``", r'the page ":doc:`/\1`"', notes)
        assert rule.strip() and said.startswith(rule.strip()), entry["name"]
        assert "\nUse " in text, entry["name"]
    assert count > 40


def test_pages_show_the_words_of_docstrings_and_none_of_their_marks(pages):
    entries = pages.described_policies()
    assert len(entries) > 40
    for entry in entries:
        texts = [entry["source"]]
        texts += [each["meaning"] for each in entry["parameters"].values()]
        texts += ["; ".join(each["assumes"]) for each in entry["theorems"]]
        for text in texts:
            shown, kinds = read(pages._markdown(text))
            said = re.sub(r"docs/(\S+)\.md", r'the page "{doc}/\1"', text)
            said = re.sub(r"(^|\n)- ", r"\1", said)
            assert shown == " ".join(said.split()), entry["name"]
            assert kinds <= {"text", "text_special", "softbreak", "code_inline"}


@pytest.mark.parametrize(
    "text",
    ["x_i * y_j and *this*", 'a_b="c_d", "q" and e="*f*"', "a | b",
     "[1] {doc}`x` ~y~ #z", "$a$ <b> \\alpha `c`"],
)  # fmt: skip
def test_signs_of_markdown_are_shown_as_they_are(pages, text):
    shown, kinds = read(pages._markdown(text))
    assert shown == text
    assert kinds <= {"text", "text_special", "code_inline"}
    assert ("code_inline" in kinds) == ('="' in text)


def test_the_lower_bound_is_a_slope_from_the_mean_of_the_policy(pages):
    """Nowhere is it a level: D-TS and RD-TS are below C* log t at every round."""
    import policy_figures

    stored = json.loads((DOCS / "policy_curves.json").read_text("utf-8"))
    matrix = bayesduel.load(stored["settings"]["policy"]["instance"])
    bound = copeland_lower_bound(matrix)
    for name in ("d-ts", "rd-ts", "rucb", "information"):
        curve = stored["curves"][name]
        rounds, values = policy_figures.slope_of_bound(curve, bound)
        anchor = curve["rounds"].index(round(rounds[0]))
        assert rounds[-1] == pytest.approx(100 * rounds[0])
        assert values[0] == pytest.approx(curve["mean"][anchor])
        grown = (values[1:] - values[0]) / np.log(rounds[1:] / rounds[0])
        assert np.allclose(grown, bound.value)
        level = bound.value * np.log(np.array(curve["rounds"][1:]))
        below = np.array(curve["mean"][1:]) < level
        assert below.all() == (name in ("d-ts", "rd-ts"))


def test_pages_say_what_the_dashed_line_is_and_where_there_is_none(pages, tmp_path):
    stored = json.loads((DOCS / "policy_curves.json").read_text("utf-8"))
    names = ("d-ts", "bt-ts", "cucb")
    stored["curves"] = {name: stored["curves"][name] for name in names}
    (tmp_path / "policy_curves.json").write_text(json.dumps(stored), "utf-8")
    pages.write_policy_pages(tmp_path)
    folder = tmp_path / "policies"
    texts = {name: (folder / f"{name}.md").read_text("utf-8") for name in names}
    assert "starts at the circle (round 1,000)" in texts["d-ts"]
    assert "No lower bound is drawn" in texts["bt-ts"]
    assert "bound" not in texts["cucb"].partition("```{figure}")[2].partition("```")[0]
    assert all((folder / f"{name}.png").stat().st_size for name in names)


def test_pages_of_policies_for_weak_regret_draw_weak_regret(pages, tmp_path):
    """With the bound of the theorem where it is on weak regret: that is WS-W."""
    import policy_figures

    stored = json.loads((DOCS / "policy_curves.json").read_text("utf-8"))
    names = ("ws-w", "ws-s", "btw", "btwr")
    stored["curves"] = {name: stored["curves"][name] for name in names}
    (tmp_path / "policy_curves.json").write_text(json.dumps(stored), "utf-8")
    pages.write_policy_pages(tmp_path)
    for name in names:
        curve = stored["curves"][name]
        assert curve["kind"] == policy_figures.WEAK
        # None arises late, in the mean of all runs.
        late = np.array(curve["mean"])[np.array(curve["rounds"]) > 1e6]
        assert len({*late}) == 1
        page = (tmp_path / "policies" / f"{name}.md").read_text("utf-8")
        figure = page.partition("```{figure}")[2].partition("```")[0]
        assert "weak regret" in figure
        assert "Copeland" not in figure
        assert ("upper bound of the theorem" in figure) == (name == "ws-w")
        assert "--regret weak_binary" in page
        assert (tmp_path / "policies" / f"{name}.png").stat().st_size
    assert "1,300 rounds" in (tmp_path / "policies" / "ws-w.md").read_text("utf-8")


def test_a_page_has_the_example_of_the_docstring_and_the_fine_print_apart(pages):
    entries = {entry["name"]: entry for entry in pages.described_policies()}
    page = pages._page(entries["rucb"], [])
    parts = re.split("^## ", page, flags=re.MULTILINE)
    headings = [part.partition("\n")[0] for part in parts[1:]]
    assert headings == [
        "The rule", "Example", "Parameters", "Theorems", "Notes", "Source"
    ]  # fmt: skip
    rule, example, notes = (parts[index] for index in (1, 2, 5))
    assert "**" not in rule
    assert "bayesduel compare" in example and ">>> " in example
    assert "**Assumptions.**" in notes


@pytest.mark.parametrize("name", ["random", "btw", "random-subsets"])
def test_the_example_of_a_page_runs(pages, capsys, name):
    entries = {entry["name"]: entry for entry in pages.described_policies()}
    page = pages._page(entries[name], [])
    code = page.partition("```python\n")[2].partition("```")[0]
    exec(code.replace("10_000", "100"), {})
    printed = capsys.readouterr().out
    assert entries[name]["label"] in printed
    assert ("weak_binary regret" in printed) == (name == "btw")
