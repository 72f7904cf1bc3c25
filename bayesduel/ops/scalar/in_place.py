"""``min``, ``max`` and ``int`` of kernels, written where they are called.

Numba compiles each as a function of its own for every combination of types, which took
a twentieth of the time of compiling a kernel.
"""

import operator
from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import intrinsic


def _first_unless(comparison: Callable[..., Any]) -> Any:
    """Return a function of two numbers: the first, unless the second compares so."""

    def choose(typing_context: Any, one: Any, other: Any) -> Any:
        kind = types.unliteral(typing_context.unify_types(one, other))

        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            first, second = arguments
            compare = context.get_function(comparison, types.boolean(kind, kind))
            is_chosen = compare(builder, (second, first))
            return builder.select(is_chosen, second, first)

        return kind(kind, kind), write

    return intrinsic(choose)


def _integer(typing_context: Any, number: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], signature.args[0], types.int64)

    return types.int64(types.unliteral(number)), write


IN_PLACE: dict[Any, Any] = {
    min: _first_unless(operator.lt),
    max: _first_unless(operator.gt),
    int: intrinsic(_integer),
}
"""What compiled code has in place of functions of Python, of two numbers or of one."""
