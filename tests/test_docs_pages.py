"""The built pages are whole by themselves: they take nothing from the network."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.chromium import BROWSER

pytest.importorskip("sphinx", reason="the documentation needs its own packages")

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
    """What a page loads, what it shows, and how many formulas it has."""

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


@pytest.fixture(scope="module")
def theory_notes(tmp_path_factory):
    """The theory notes and one notebook, built."""
    notes = {
        f"theory/{path.name}": path.read_text("utf-8")
        for path in sorted((DOCS / "theory").glob("*.md"))
        if path.name != "index.md"
    }
    pages = notes | {"theory/kinds.md": KINDS}
    return build(tmp_path_factory.mktemp("pages"), pages)[0]


def built_pages(folder):
    pages = [
        *(folder / "theory").glob("*.html"),
        *(folder / "notebooks").glob("*.html"),
    ]
    assert len(pages) > 10
    return pages


def test_nothing_is_loaded_from_a_host(theory_notes):
    for path in built_pages(theory_notes):
        loads = Page(path.read_text("utf-8")).loads
        assert len(loads) > 5
        for address in loads:
            local = (path.parent / address.partition("?")[0]).resolve()
            assert address.startswith("data:") or local.is_file(), (path.name, address)
    for style in theory_notes.rglob("*.css"):
        outside = re.findall(
            r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)\s]*""",
            style.read_text("utf-8"),
        )
        assert not outside, style


def test_formulas_are_drawn_in_the_page(theory_notes):
    """No script is needed: every formula is there, and none as it was typed."""
    for path in built_pages(theory_notes):
        text = path.read_text("utf-8")
        page = Page(text)
        assert page.num_formulas == len(re.findall("math notranslate", text)) > 0
        assert text.count("<mjx-assistive-mml") == page.num_formulas
        assert "merror" not in text
        assert not re.search(r"\$|\\[a-zA-Z(\[]", page.shows), path.name
    kinds = (theory_notes / "theory" / "kinds.html").read_text("utf-8")
    assert Page(kinds).num_formulas == 4


def test_a_mistyped_formula_is_named(tmp_path):
    """`make docs` turns the warning into a failure."""
    wrong = [r"\nosuchname x", r"\frac{1", "a_b_c"]
    text = "\n\n".join(["# Wrong", *(f"Let ${formula}$ be." for formula in wrong)])
    _, stderr = build(tmp_path, {"wrong.md": text})
    lines = [line for line in stderr.splitlines() if "WARNING" in line]
    assert len(lines) == 3
    for place, formula, line in zip((3, 5, 7), wrong, lines, strict=True):
        assert f"wrong.md:{place}: WARNING: " in line
        assert line.endswith(f": {formula}")


@pytest.mark.browser
def test_a_browser_without_network_shows_the_formulas(theory_notes):
    """Every formula has a size, and the page fits a narrow window."""
    path = theory_notes / "theory" / "lower_bound.html"
    measure = """<script>addEventListener("load", () => {
        const boxes = [...document.querySelectorAll("mjx-container > svg")]
            .map((each) => each.getBoundingClientRect());
        document.title = JSON.stringify({
            sizes: boxes.map((box) => [box.width, box.height]),
            too_wide: document.documentElement.scrollWidth - innerWidth,
        });
    })</script>"""
    text = path.read_text("utf-8")
    measured = path.with_name("measured.html")
    measured.write_text(text.replace("</head>", f"{measure}</head>"), "utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command += ["--window-size=500,900", "--virtual-time-budget=5000", "--dump-dom"]
    done = subprocess.run(
        [*command, measured.as_uri()], capture_output=True, encoding="utf-8", check=True
    )
    title = re.search("<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title
    seen = json.loads(html.unescape(title[1]))
    assert len(seen["sizes"]) == Page(text).num_formulas
    assert min(min(size) for size in seen["sizes"]) > 1
    assert max(height for _, height in seen["sizes"]) < 200
    assert seen["too_wide"] <= 0
