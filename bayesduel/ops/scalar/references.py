"""The state of a kernel by reference, where this version of Numba allows it.

Else the named tuple itself is passed on: the same digits, a third slower.
"""

from typing import Any

from numba import njit, types

NAMED_TUPLE: Any = types.BaseNamedTuple
"""The class of types of named tuples, whose fields the static checker does not know."""


def _itself(state: Any) -> Any:
    return state


Reference: Any
"""The type of a reference; ``target`` is that of the named tuple."""

reference: Any
"""``reference(state)``: of a named tuple, for as long as the caller runs."""

try:
    from bayesduel.ops.scalar._own_references import Reference, reference
except (ImportError, AttributeError):
    Reference, reference = type("Reference", (), {}), njit(_itself)
