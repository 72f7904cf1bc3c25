"""Batch a function of one run over lanes, with the lane axis *last*.

``jax.vmap`` puts the batch axis first wherever a broadcast occurs. A policy works on
(K, K) arrays with K of about 5, so compiled loops would run over an innermost axis of
length 5 and not vectorize. With the lanes innermost every loop is as long as there are
lanes: on a CPU that is three to five times faster, on a GPU neighboring threads read
neighboring numbers. The result is that of ``vmap``, with the axis moved.

The function is traced for one run, and each of its primitive operations is replayed on
arrays with one more, trailing axis. Operations that need no thought (elementwise, sums,
broadcasts, reshapes) have a rule here; all others go through their ``vmap`` rule.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.extend import core as jex_core

from bayesduel.simulation import lane_generators

Batched = tuple[Any, bool]
"""A value, and whether it has the trailing lane axis."""

_ELEMENTWISE = frozenset(
    """abs acos add and asin atan atan2 cbrt ceil clamp convert_element_type cos cosh
    div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le lgamma
    log log1p logistic lt max min mul ne neg nextafter not or pow real rem round rsqrt
    select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh
    sqrt square sub tan tanh xor copy stop_gradient optimization_barrier""".split()
)

# These name axes counted from the front, which a trailing axis does not move.
_SAME_PARAMETERS = frozenset(
    """reduce_sum reduce_max reduce_min reduce_and reduce_or reduce_prod argmax argmin
    cumsum cummax cummin cumprod rev squeeze split""".split()
)

_INLINED = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}


def map_lanes(function: Callable[..., Any], num_lanes: int) -> Callable[..., Any]:
    """Return ``function`` over a trailing lane axis of all its arguments.

    Equal to ``jax.vmap(function, in_axes=-1, out_axes=-1)`` up to rounding, of so many
    lanes. Arrays that the function closes over are shared by all of them.
    """

    def mapped(*arguments: Any) -> Any:
        leaves, structure = jax.tree.flatten(arguments)
        single = [jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype) for leaf in leaves]
        closed, shape = jax.make_jaxpr(
            lambda *flat: function(*jax.tree.unflatten(structure, flat)),
            return_shape=True,
        )(*single)
        values = [(leaf, True) for leaf in leaves]
        outputs = _replay(closed.jaxpr, closed.consts, values, num_lanes)
        full = [_with_lanes(value, batched, num_lanes) for value, batched in outputs]
        return jax.tree.unflatten(jax.tree.structure(shape), full)

    return mapped


def _replay(
    jaxpr: Any, constants: Sequence[Any], arguments: Sequence[Batched], num_lanes: int
) -> list[Batched]:
    """Evaluate a jaxpr operation by operation."""
    values: dict[Any, Batched] = {}
    values.update(zip(jaxpr.constvars, ((c, False) for c in constants), strict=True))
    values.update(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Any) -> Batched:
        if isinstance(atom, jex_core.Literal):
            return atom.val, False
        return values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(atom) for atom in equation.invars]
        outputs = _apply(equation, inputs, num_lanes)
        values.update(zip(equation.outvars, outputs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Batched]:
    name = equation.primitive.name
    if name in _INLINED:
        inner = equation.params[_INLINED[name]]
        return _replay(inner.jaxpr, inner.consts, inputs, num_lanes)
    batched = any(flag for _, flag in inputs)
    if not batched:
        result = _bind(equation, [value for value, _ in inputs], equation.params)
        return [(each, False) for each in result]
    rule = _RULES.get(name)
    if name in _ELEMENTWISE:
        rule = _elementwise
    elif name in _SAME_PARAMETERS:
        rule = _same_parameters
    elif rule is None:
        rule = lane_generators.rule_of(equation, inputs)
    result = (rule or _by_vmap)(equation, inputs, num_lanes)
    return [(each, True) for each in result]


def _bind(equation: Any, values: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    result = equation.primitive.bind(*values, **params)
    return list(result) if equation.primitive.multiple_results else [result]


def _with_lanes(value: Any, batched: bool, num_lanes: int) -> Array:
    """Give a shared value its lane axis."""
    if batched:
        return value
    value = jnp.asarray(value)
    return lax.broadcast_in_dim(
        value, (*value.shape, num_lanes), tuple(range(value.ndim))
    )


def _elementwise(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    if equation.primitive.multiple_results:  # optimization_barrier
        values = [_with_lanes(value, flag, num_lanes) for value, flag in inputs]
        return _bind(equation, values, equation.params)
    rank = len(equation.outvars[0].aval.shape)
    shape = (*equation.outvars[0].aval.shape, num_lanes)

    def fit(value: Any, flag: bool) -> Any:
        own = np.ndim(value) - flag
        if own == rank:
            return _with_lanes(value, flag, num_lanes)
        # A scalar beside arrays: one per lane, or one for all.
        return lax.broadcast_in_dim(jnp.asarray(value), shape, (rank,) if flag else ())

    values = [fit(value, flag) for value, flag in inputs]
    return _bind(equation, values, equation.params)


def _same_parameters(
    equation: Any, inputs: list[Batched], num_lanes: int
) -> list[Array]:
    values = [_with_lanes(value, flag, num_lanes) for value, flag in inputs]
    return _bind(equation, values, equation.params)


def _broadcast_in_dim(
    equation: Any, inputs: list[Batched], num_lanes: int
) -> list[Array]:
    shape = equation.params["shape"]
    dimensions = (*equation.params["broadcast_dimensions"], len(shape))
    ((value, _),) = inputs
    return [lax.broadcast_in_dim(value, (*shape, num_lanes), dimensions)]


def _reshape(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    dimensions = equation.params["dimensions"]  # A permutation first, order="F" say.
    ((value, _),) = inputs
    if dimensions is not None:
        value = lax.transpose(value, (*dimensions, len(dimensions)))
    return [lax.reshape(value, (*equation.params["new_sizes"], num_lanes))]


def _transpose(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    permutation = equation.params["permutation"]
    ((value, _),) = inputs
    return [lax.transpose(value, (*permutation, len(permutation)))]


def _concatenate(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    values = [_with_lanes(value, flag, num_lanes) for value, flag in inputs]
    return [lax.concatenate(values, equation.params["dimension"])]


def _slice(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    ((value, _),) = inputs
    start = (*equation.params["start_indices"], 0)
    limit = (*equation.params["limit_indices"], num_lanes)
    strides = equation.params["strides"]
    return [lax.slice(value, start, limit, strides and (*strides, 1))]


def _while(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    """Loop until the slowest lane is done; the others keep what they have."""
    params = equation.params
    split = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    shared_test, shared_step = inputs[: split[0]], inputs[split[0] : split[1]]
    start = [_with_lanes(value, flag, num_lanes) for value, flag in inputs[split[1] :]]

    def run(jaxpr: Any, shared: list[Batched], carry: list[Array]) -> list[Array]:
        arguments = [*shared, *((value, True) for value in carry)]
        outputs = _replay(jaxpr.jaxpr, jaxpr.consts, arguments, num_lanes)
        return [_with_lanes(value, flag, num_lanes) for value, flag in outputs]

    def going(carry: list[Array]) -> Array:
        (test,) = run(params["cond_jaxpr"], shared_test, carry)
        return test

    def step(loop: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        test, carry = loop
        new = run(params["body_jaxpr"], shared_step, carry)
        kept = [_keep(test, a, b) for a, b in zip(new, carry, strict=True)]
        return going(kept), kept

    return lax.while_loop(lambda loop: jnp.any(loop[0]), step, (going(start), start))[1]


def _keep(which: Array, one: Array, other: Array) -> Array:
    return jnp.where(jnp.expand_dims(which, tuple(range(one.ndim - 1))), one, other)


def _by_vmap(equation: Any, inputs: list[Batched], num_lanes: int) -> list[Array]:
    axes = [-1 if flag else None for _, flag in inputs]
    call = jax.vmap(
        lambda *values: tuple(_bind(equation, values, equation.params)),
        in_axes=axes,
        out_axes=-1,
        axis_size=num_lanes,
    )
    return list(call(*(value for value, _ in inputs)))


_RULES = {
    "broadcast_in_dim": _broadcast_in_dim,
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "slice": _slice,
    "while": _while,
}
