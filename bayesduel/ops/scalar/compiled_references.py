"""The state of a kernel by reference, where this version of Numba allows it.

Else the named tuple itself is passed on: the same digits, a third slower.
"""

from typing import Any

from numba import types

from bayesduel.ops.scalar import references

NAMED_TUPLE: Any = types.BaseNamedTuple
"""The class of types of named tuples, whose fields the static checker does not know."""

Reference: Any
"""The type of a reference; ``target`` is that of the named tuple."""

reference: Any
"""What compiled code has in place of that of ``ops.scalar.references``."""

try:
    from bayesduel.ops.scalar._own_references import Reference, reference
except (ImportError, AttributeError):
    Reference, reference = type("Reference", (), {}), references.reference
