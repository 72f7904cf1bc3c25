"""How large the two packages are, counted from their syntax trees.

`python -m benchmarks.sizes` prints a table. Lines include docstrings and blank lines. A
function of a single statement has one besides its docstring. A base class counts as one
with a single subclass if both are ours and nothing else names it. A module has a
single importer if only one other module of its folder imports it.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bayesduel", "theory")
VAGUE = {"asked", "each", "found", "kept", "other", "own", "place", "told"}
"""Names that do not say what a variable holds."""

type Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, ast.Module]:
    """Return the syntax trees of all modules, by their names."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def single_statement(function: Function) -> bool:
    """Say whether a function consists of one statement besides its docstring."""
    body = function.body
    has_docstring = ast.get_docstring(function) is not None
    return len(body) - has_docstring == 1


def imports_of(name: str, tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Yield the modules among those known that a module imports anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def single_importers(trees: dict[str, ast.Module]) -> list[str]:
    """Return the modules that only one other module imports, which is beside them."""
    importers = defaultdict[str, set[str]](set)
    for name, tree in trees.items():
        for imported in imports_of(name, tree, {*trees}):
            if imported != name:
                importers[imported].add(name)
    folder = {name: name.rpartition(".")[0] for name in trees}
    return [
        name
        for name, users in importers.items()
        if len(users) == 1 and folder[next(iter(users))] == folder[name]
    ]


def single_subclasses(trees: dict[str, ast.Module]) -> list[str]:
    """Return base classes of ours that exist for a single subclass of ours.

    A class that is made, annotated, asked for or registered is there for itself.
    """
    classes: dict[str, ast.ClassDef] = {}
    bases, names = Counter[str](), Counter[str]()
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names[node.id] += 1
        if isinstance(node, ast.Attribute):
            names[node.attr] += 1
        if isinstance(node, ast.ClassDef):
            classes[node.name] = node
            bases.update(x.id for x in node.bases if isinstance(x, ast.Name))
            marks = {x.func.id for x in node.decorator_list if isinstance(x, ast.Call)
                     and isinstance(x.func, ast.Name)}  # fmt: skip
            names[node.name] += bool(marks - {"dataclass"})
    return [
        name
        for name, count in bases.items()
        if count == 1 and name in classes and names[name] == 1
    ]


def vague_names(nodes: list[ast.AST]) -> int:
    """Return how often a variable or a parameter gets one of the vague names."""
    variables = (
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    parameters = (node.arg for node in nodes if isinstance(node, ast.arg))
    return sum(name in VAGUE for name in (*variables, *parameters))


def sizes() -> dict[str, int]:
    """Return the numbers by their names."""
    trees = modules()
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    functions = [x for x in nodes if isinstance(x, Function.__value__)]
    files = [path for x in PACKAGES for path in (ROOT / x).rglob("*.py")]
    tests = [*(ROOT / "tests").rglob("*.py")]
    return {
        "lines": sum(map(num_lines, files)),
        "files": len(files),
        "functions": len(functions),
        "functions of a single statement": sum(map(single_statement, functions)),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "base classes with a single subclass": len(single_subclasses(trees)),
        "modules with a single importer beside them": len(single_importers(trees)),
        "variables with a vague name": vague_names(nodes),
        "lines of tests": sum(map(num_lines, tests)),
    }


def num_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print the numbers, and the lines of every package."""
    for name, number in sizes().items():
        print(f"{number:>7,}  {name}")
    print()
    folders = defaultdict[str, list[Path]](list)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).parts
            nested = package == "bayesduel" and len(parts) > 2
            folders["/".join(parts[:2]) if nested else package].append(path)
    for folder, paths in sorted(folders.items()):
        print(f"{sum(map(num_lines, paths)):>7,}  {folder} ({len(paths)} files)")


if __name__ == "__main__":
    main()
