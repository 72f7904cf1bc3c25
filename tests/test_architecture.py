"""The floors of the house: who may import whom, no circles, folders that fit a screen.

And one way to refuse what was given.

Read from the source, with imports inside functions and those for type checkers.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

FLOORS = (
    "theory",
    "errors", "signals", "version", "arguments", "files", "types", "results",
    "ops",
    "instances", "votes", "models", "models.fit", "models.in_policies",
    "models.checks", "inference", "posteriors", "diagnostics", "policies",
    "stopping", "simulation", "analysis", "experiments",
    "analysis.simulated", "plots", "studies", "audits", "papers", "cli", "__main__",
)  # fmt: skip
"""From the ground up: a room uses only what stands before it."""

WITHOUT_PARTS = {
    # As a warning says it, or an error of another library: there are no parts to tell.
    "theory.errors: kind(str(self))",
    "theory.errors: kind(str(error))",
    # Typer puts the option before it.
    "bayesduel.cli.parse: option_error('', f'must be {rule}', _cut(text))",
}
"""Errors about input that name no argument or have no rule."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_name(path): path
    for package in ("bayesduel", "theory")
    for path in (ROOT / package).rglob("*.py")
}


tree_of = cache(ast.parse)
"""Parse a source once, because several checks read all of them."""


def imports_of(source: str, files=FILES) -> set[str]:
    """Return the modules of ours that a source imports, wherever that stands."""
    found = set()
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in files else node.module for name in names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & set(files)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return {name: imports_of(path.read_text()) - {name} for name, path in FILES.items()}


def floor(module: str) -> str:
    """Return the floor of a module: a room, or a room within one that stands higher."""
    first, *rest = module.split(".")
    inner = ".".join(rest[:2])
    room = inner if inner in FLOORS else "".join(rest[:1])
    return "theory" if first == "theory" else room


def upward(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return imports from a floor above; a package may offer what is inside it."""
    return [
        (module, other)
        for module, others in graph.items()
        for other in others
        if floor(module)
        and floor(other)
        and not other.startswith(f"{module}.")
        and FLOORS.index(floor(other)) > FLOORS.index(floor(module))
    ]


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return sets of modules that import one another, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def follow(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                follow(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            circle = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(circle) > 1:
                found.append(circle)

    for module in graph:
        if module not in index:
            follow(module)
    return found


def test_no_room_uses_what_stands_above_it(graph):
    assert upward(graph) == []


def test_no_circle_of_imports(graph):
    assert circles(graph) == []


def test_every_room_has_a_floor():
    assert {floor(module) for module in FILES} - {""} == set(FLOORS)


def family_of(sources: list[str]) -> set[str]:
    """Return the names of `ArgumentError` and all classes under it."""
    bases = {
        node.name: {ast.unparse(base).split(".")[-1] for base in node.bases}
        for source in sources
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.ClassDef)
    }
    family, grown = set(), {"ArgumentError"}
    while grown != family:
        family = grown
        grown = family | {name for name, above in bases.items() if above & family}
    return family


def plain_errors(source: str, family: set[str]) -> list[str]:
    """Return errors about input that do not name argument and rule.

    ``kind``, ``error``: classes that a check is given; ``option_error`` makes one.
    """
    found = []
    for node in ast.walk(tree_of(source)):
        raised = node.exc if isinstance(node, ast.Raise) else None
        if not isinstance(node, ast.Call):
            name = ast.unparse(raised) if raised is not None else ""
            found += [name] * (name in ("ValueError", "TypeError"))
            continue
        name = getattr(node.func, "id", "")
        made = name in family | {"kind", "error", "option_error"} and not any(
            isinstance(each, ast.Starred) for each in node.args
        )
        # A class of something else may be called kind, too: it is given fields.
        made = made and (bool(node.args) or name in family)
        first = node.args[0] if node.args else None
        named = not isinstance(first, ast.Constant) or first.value != ""
        if name in ("ValueError", "TypeError") or (
            made and (len(node.args) < 2 or not named)
        ):
            found.append(ast.unparse(node))
    return found


def test_errors_about_input_say_their_parts():
    sources = {name: path.read_text() for name, path in FILES.items()}
    family = family_of([*sources.values()])
    found = {
        f"{name}: {call}"
        for name, source in sources.items()
        for call in plain_errors(source, family)
    }
    assert found == WITHOUT_PARTS


def test_the_check_of_errors_sees_what_it_looks_for():
    sources = ["class A(B, e.ArgumentError): ...", "class C(A): ...\nclass D: 0"]
    family = family_of(sources)
    assert family == {"ArgumentError", "A", "C"}
    for plain in (
        "raise ValueError('n is wrong')", "raise TypeError", "raise C('n is wrong')",
        "raise A('', 'is wrong', 3)", "raise kind('n is wrong') from error",
        "def made():\n    return C()",
    ):  # fmt: skip
        assert len(plain_errors(plain, family)) == 1, plain
    for fine in (
        "raise A('n', 'must be odd', 4)", "raise kind(name, rule)",
        "raise KeyError(name)", "model = kind(prior=2)",
        "try:\n    0\nexcept ValueError:\n    raise",
    ):  # fmt: skip
        assert plain_errors(fine, family) == [], fine


def test_the_checks_see_what_they_look_for():
    files = {"bayesduel.plots": 0, "bayesduel.models": 0, "theory": 0}
    source = "def late():\n    from bayesduel import plots\nimport theory\n"
    assert imports_of(source, files) == {"bayesduel.plots", "theory"}
    hidden = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import theory\n"
    assert imports_of(hidden, files) == {"theory"}
    found = upward({"bayesduel.models": {"bayesduel.plots", "theory"}})
    assert found == [("bayesduel.models", "bayesduel.plots")]
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert circles(graph) == [{"b", "c"}]
