"""Packages whose names are imported when they are first asked for."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_attributes(
    package: str, homes: Mapping[str, str], gone: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, to be assigned there.

    ``homes`` is the module of every public name, full or below the package
    (``".fitting"``). Modules of the package are found by themselves. ``gone`` has the
    names of today of what was called otherwise, and is still found, with a warning.

    Examples
    --------
    >>> get, names = lazy_attributes("json", {"JSONDecoder": ".decoder"})
    >>> names(), get("JSONDecoder").__module__
    (['JSONDecoder'], 'json.decoder')
    """

    def get(name: str) -> Any:  # noqa: ANN401
        if name in homes:
            return getattr(import_module(homes[name], package), name)
        if gone and name in gone:
            warn_of_other_name(package, name, gone[name])
            return get(gone[name])
        if not name.startswith("_") and find_spec(f".{name}", package) is not None:
            return import_module(f".{name}", package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(homes)


def warn_of_other_name(package: str, name: str, today: str) -> None:
    """Warn that something of a package is called otherwise today."""
    warnings.warn(
        f"{package}.{name} is called {package}.{today} now",
        DeprecationWarning,
        stacklevel=3,
    )
