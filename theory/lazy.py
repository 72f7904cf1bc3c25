"""Packages whose public names are imported when they are first asked for."""

from collections.abc import Callable
from functools import cache
from importlib import import_module


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, to be assigned there."""
    # The stub beside ``file`` says in imports where each public name is at home. No
    # module may be called as a public name is.

    @cache
    def homes() -> dict[str, tuple[str, str]]:
        import ast
        from pathlib import Path

        stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
        return {
            alias.asname or alias.name: (
                f"{'.' * line.level}{line.module or ''}",
                alias.name,
            )
            for line in stub.body
            if isinstance(line, ast.ImportFrom)
            for alias in line.names
        }

    def get(name: str) -> object:
        if name == "__all__":
            return list(homes())
        if name in homes():
            home, original = homes()[name]
            if home == ".":
                return import_module(f".{original}", package)
            return getattr(import_module(home, package), original)
        from importlib.util import find_spec

        if not name.startswith("__") and find_spec(f".{name}", package) is not None:
            return import_module(f".{name}", package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(homes())
