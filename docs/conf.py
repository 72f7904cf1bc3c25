"""Configuration of the documentation."""

import inspect
import logging
import os
import shutil
import socket
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from sphinx.util.index_entries import split_index_msg

project = "bayesduel"
author = "The bayesduel authors"
copyright = "The bayesduel authors"  # noqa: A001
release = version = version_of("bayesduel")

sys.path.insert(0, str(Path(__file__).parent))  # Two are imported, two extensions.
from benchmark_page import write_benchmark_page  # noqa: E402
from policy_pages import write_policy_pages  # noqa: E402

extensions = [
    "formulas",
    "myst_nb",
    "numpydoc",
    "reference_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "paper"]
nitpicky = False

# The notebooks lie beside the documentation, without outputs. Sphinx reads copies,
# executes them with few runs, and keeps what it executed until a notebook changes.
_HERE = Path(__file__).parent
shutil.rmtree(_HERE / "notebooks", ignore_errors=True)
shutil.copytree(
    _HERE.parent / "notebooks",
    _HERE / "notebooks",
    ignore=shutil.ignore_patterns(".*"),
)
if (_HERE / "install.md").exists():  # Tests build a few pages without the others.
    write_policy_pages(_HERE)
    write_benchmark_page(_HERE)
os.environ.setdefault("BAYESDUEL_NOTEBOOK_RUNS", "16")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_HERE / "_build" / "compiled"))
for _path in (_HERE / "notebooks").glob("*.ipynb"):
    _notebook = nbformat.read(_path, as_version=4)
    if any("BAYESDUEL_NOTEBOOK_RUNS" in _cell.source for _cell in _notebook.cells):
        _notebook.cells[0].source += (
            "\n\n:::{note}\nTo build quickly, this page plays fewer runs than "
            "the 50 or more behind its conclusions, and its outputs may differ.\n:::"
        )
        nbformat.write(_notebook, _path)
nb_execution_mode = "cache"
nb_execution_cache_path = str(_HERE / "_build" / "executed")
nb_execution_timeout = 900
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "remove"  # Progress bars, and what they miss.

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"


def _is_reachable(url):
    try:
        socket.create_connection((urlsplit(url).hostname, 443), timeout=2).close()
    except OSError:
        return False
    return True


# Links to a project whose pages cannot be reached become plain text, without a warning.
intersphinx_mapping = {
    name: (url, None)
    for name, url in {
        "python": "https://docs.python.org/3",
        "numpy": "https://numpy.org/doc/stable",
        "jax": "https://docs.jax.dev/en/latest",
        "xarray": "https://docs.xarray.dev/en/stable",
    }.items()
    if _is_reachable(url)
}

html_theme = "furo"
html_title = f"bayesduel {release}"
html_static_path = ["_static"]
html_css_files = ["extra.css"]
html_math_renderer = "drawn"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _without_imported_names(app, what, name, obj, skip, options):  # noqa: PLR0913
    """Leave out what a module imports but does not offer."""
    module = inspect.getmodule(obj)
    if what == "module" and inspect.ismodule(module):
        return skip or not module.__name__.startswith(("bayesduel", "theory"))
    return skip


_NOTEBOOK = {"name": "nbformat", "type": "plugin"}
_CELLS = {"name": "myst_nb_md", "type": "plugin"}
"""How the cache reads what it executes."""


def _execute_notebooks(app, env, docnames):
    """Execute notebooks and pages of cells side by side; Sphinx takes one at a time.

    It finds them in the cache, and executes again what failed, to say why.
    """
    pages = [str(env.doc2path(name)) for name in docnames]
    readers = {
        page: _NOTEBOOK if page.endswith(".ipynb") else _CELLS
        for page in sorted(pages)
        if page.endswith(".ipynb")
        or Path(page).read_text("utf-8").startswith("---\nfile_format: mystnb")
    }
    notebooks = list(readers)
    if not notebooks or app.config.nb_execution_mode != "cache":
        return
    cache = get_cache(app.config.nb_execution_cache_path)
    for notebook, reader in readers.items():
        cache.add_nb_to_project(notebook, read_data=reader)
    logger = logging.getLogger("jupyter_cache")
    logger.setLevel(logging.WARNING)
    executor = load_executor("temp-parallel", cache, logger)
    executor.run_and_cache(
        filter_uris=notebooks, timeout=app.config.nb_execution_timeout
    )


def _complete_search_index(app):
    """Let the search know the words of `index` directives of pages not written anew.

    Sphinx fills these in while it writes pages, after it has saved its environment, so
    that the next build would know those of changed pages only.
    """
    known = app.builder.indexer._index_entries
    for page, entries in app.env.domains.index_domain.entries.items():
        words = {
            (word, target or "", main)
            for kind, value, target, main, _ in entries
            for word in split_index_msg(kind, value)
        }
        known.setdefault(page, sorted(words))
    return ()


def _describe_figures(app, doctree):
    # Figures that cells draw have no text of their own for those who cannot see them.
    for image in doctree.findall(nodes.image):
        section = image.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        if "alt" not in image and section is not None:
            image["alt"] = f"Figure: {section[0].astext()}"


def setup(app):
    """Connect the handlers above."""
    app.connect("doctree-read", _describe_figures)
    app.connect("env-before-read-docs", _execute_notebooks)
    app.connect("html-collect-pages", _complete_search_index)
    app.connect("autodoc-skip-member", _without_imported_names)
