"""Packages whose names are imported when they are first asked for."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
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


class CalledEnvironment:
    """What says of which ``instance`` it is, and called that ``environment`` once."""

    @property
    def environment(self) -> str:
        """The ``instance``, with a `DeprecationWarning`."""
        warn_of_other_name(type(self).__name__, "environment", "instance")
        return self.instance  # pyright: ignore[reportAttributeAccessIssue]


def called_before[**P, T](**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function say what an argument is called that once had another name.

    Parameters
    ----------
    **names : str
        The name of today of each argument, by the one before.

    Raises
    ------
    TypeError
        From the function, where an argument has the name of before.

    Examples
    --------
    >>> @called_before(environment="instance")
    ... def simulate(instance):
    ...     return instance
    >>> simulate(environment="cyclic")
    Traceback (most recent call last):
    TypeError: simulate: the argument environment is called instance now
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for name, today in names.items():
                if name in kwargs:
                    raise TypeError(
                        f"{function.__name__}: the argument {name} is called {today} "
                        "now"
                    )
            return function(*args, **kwargs)

        return call

    return decorate
