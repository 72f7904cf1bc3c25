"""Packages whose names are imported when they are first asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, to be assigned there.

    ``homes`` is the module of every public name, full or below the package
    (``".fitting"``). A module of the package is found by its name, too, as if it had
    been imported.

    Examples
    --------
    >>> get, names = lazily("json", {"JSONDecoder": ".decoder"})
    >>> names(), get("JSONDecoder").__module__
    (['JSONDecoder'], 'json.decoder')
    """

    def get(name: str) -> Any:  # noqa: ANN401
        if name in homes:
            return getattr(import_module(homes[name], package), name)
        return submodule(package, name)

    return get, lambda: sorted(homes)


def submodule(package: str, name: str) -> Any:  # noqa: ANN401
    """Import a module of a package that is asked for as an attribute.

    Raises
    ------
    AttributeError
        If there is none; names that begin with an underscore are not looked for.

    Examples
    --------
    >>> submodule("json", "decoder").__name__
    'json.decoder'
    """
    full = f"{package}.{name}"
    text = f"module {package!r} has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(text)
    try:
        return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise AttributeError(text) from None
