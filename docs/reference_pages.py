"""A page for every public object, from the tables of ``reference/*.md``: an extension.

autosummary writes them into ``reference/objects``, by ``_templates``. They belong to no
table of contents, which would put hundreds of names beside every page.
"""

import re
from collections import Counter
from itertools import chain
from pathlib import Path

from sphinx.ext.autosummary import autosummary_toc
from sphinx.ext.autosummary.generate import find_autosummary_in_files

# Where methods of a base class are what one calls, and the base has no page.
_INHERITING = re.compile(
    r"bayesduel\.(Experiment|(votes|inference|stopping|studies)\.)"
)


def listed_topics(docs: Path) -> dict[str, dict[str, object]]:
    """Return of each public object the page that lists it, by its full name."""
    return {
        entry.name: {
            "page": page.stem,
            "title": re.findall("(?m)^# (.+)$", page.read_text("utf-8"))[0],
            "inherits": bool(_INHERITING.match(entry.name)),
        }
        for page in sorted((docs / "reference").glob("*.md"))
        for entry in find_autosummary_in_files([str(page)])
    }


def file_names(names: list[str]) -> dict[str, str]:
    """Part ``Slope`` from ``slope`` for file systems that see no difference."""
    count = Counter(map(str.lower, names))
    return {
        name: f"{name}-class"
        for name in names
        if count[name.lower()] > 1 and name.rpartition(".")[2][0].isupper()
    }


def _leave_out_of_contents(app, doctree):
    for node in list(doctree.findall(autosummary_toc)):
        node.parent.remove(node)


def _share_navigation(app, pagename, templatename, context, doctree):  # noqa: PLR0913
    """Beside pages outside the contents stands the same: compute it once per folder."""
    inside = {app.config.root_doc, *chain(*app.env.toctree_includes.values())}
    if pagename in inside or "toctree" not in context:
        return
    compute, folder = context["toctree"], pagename.rpartition("/")[0]

    def shared(**wanted):
        key = folder, *sorted(wanted.items())
        if key not in _navigation:
            _navigation[key] = compute(**wanted)
        return _navigation[key]

    context["toctree"] = shared


_navigation = {}


def setup(app):
    """Connect what is above."""
    app.setup_extension("sphinx.ext.autosummary")
    docs = Path(app.srcdir)
    topics = listed_topics(docs)
    renamed = file_names(list(topics))
    for page in (docs / "reference" / "objects").glob("*.rst"):
        if page.stem not in {renamed.get(name, name) for name in topics}:
            page.unlink()
    app.config.autosummary_generate = True
    app.config.autosummary_context = {"topics": topics}
    app.config.autosummary_filename_map = renamed
    app.connect("doctree-read", _leave_out_of_contents, priority=100)
    app.connect("html-page-context", _share_navigation, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
