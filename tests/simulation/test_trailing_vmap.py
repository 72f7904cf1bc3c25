"""``map_lanes`` gives what ``jax.vmap`` gives, with the lane axis last.

Every rule is met by a small function whose traced program is checked to contain the
operation in question, with batched, shared and mixed inputs.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from bayesduel.simulation import trailing_vmap
from tests.compiling import names_in, quick_jit

NUM_LANES = 3
"""No other axis below is that long, so a confused axis cannot pass unnoticed."""

RNG = np.random.default_rng(20)
X = RNG.uniform(0.1, 0.9, (4, 5, NUM_LANES))
Y = RNG.uniform(0.1, 0.9, (4, 5, NUM_LANES))
ROW = RNG.uniform(0.1, 0.9, (5, NUM_LANES))
SCALAR = RNG.uniform(0.1, 0.9, NUM_LANES)
ARM = np.array([2, 0, 1], dtype=np.int32)
WHOLE = RNG.integers(1, 60, (4, 5, NUM_LANES), dtype=np.int32)
SHIFT = RNG.integers(0, 4, (4, 5, NUM_LANES), dtype=np.int32)
TRUE = RNG.random((4, 5, NUM_LANES)) < 0.5
ALSO = RNG.random((4, 5, NUM_LANES)) < 0.5
SHARED = RNG.uniform(0.1, 0.9, (4, 5))
SHARED_ROW = RNG.uniform(0.1, 0.9, 5)


def operations(function, *arguments):
    single = [jax.tree.map(lambda leaf: leaf[..., 0], each) for each in arguments]
    return names_in(jax.make_jaxpr(function)(*single).jaxpr)


def check(function, *arguments, num_lanes=NUM_LANES, contains=()):
    """Compare with vmap; ``contains`` are operations that must be among the traced."""
    with jax.enable_x64(True):
        arguments = jax.tree.map(jnp.asarray, arguments)
        missing = {*contains} - operations(function, *arguments)
        assert not missing, f"the test does not meet {missing}"
        one = jax.vmap(function, in_axes=-1, out_axes=-1)
        other = trailing_vmap.map_lanes(function, num_lanes)
        # One program: by itself, each operation of the first would be another.
        both = quick_jit(lambda *lanes: (one(*lanes), other(*lanes)))
        expected, found = both(*arguments)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        for ours, theirs in zip(
            jax.tree.leaves(found), jax.tree.leaves(expected), strict=True
        ):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(
                np.asarray(ours), np.asarray(theirs), rtol=1e-12, atol=0
            )


# One function per elementwise operation and its arguments

UNARY = {
    "abs": lax.abs, "acos": lax.acos, "asin": lax.asin, "atan": lax.atan,
    "cbrt": lax.cbrt, "ceil": lax.ceil, "cos": lax.cos, "cosh": lax.cosh,
    "erf": lax.erf, "erf_inv": lax.erf_inv, "erfc": lax.erfc, "exp": lax.exp,
    "exp2": lax.exp2, "expm1": lax.expm1, "floor": lax.floor,
    "is_finite": lax.is_finite, "lgamma": lax.lgamma, "log": lax.log,
    "log1p": lax.log1p, "logistic": lax.logistic, "neg": lax.neg,
    "round": lax.round, "rsqrt": lax.rsqrt, "sign": lax.sign, "sin": lax.sin,
    "sinh": lax.sinh, "sqrt": lax.sqrt, "square": lax.square, "tan": lax.tan,
    "tanh": lax.tanh, "copy": jnp.copy, "stop_gradient": lax.stop_gradient,
    "real": lambda x: lax.real(lax.complex(x, x)),
    "integer_pow": lambda x: lax.integer_pow(x, 3),
    "convert_element_type": lambda x: x.astype(jnp.float32),
    "optimization_barrier": lax.optimization_barrier,
}  # fmt: skip
BINARY = {
    "add": lax.add, "atan2": lax.atan2, "div": lax.div, "eq": lax.eq, "ge": lax.ge,
    "gt": lax.gt, "le": lax.le, "lt": lax.lt, "max": lax.max, "min": lax.min,
    "mul": lax.mul, "ne": lax.ne, "nextafter": lax.nextafter, "pow": lax.pow,
    "rem": lax.rem, "sub": lax.sub,
}  # fmt: skip
LOGICAL = {"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor}
SHIFTS = {
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
}
OTHERS = {
    "not": (lax.bitwise_not, TRUE),
    "clamp": (lax.clamp, 0.5 * X, Y, X),
    "select_n": (lax.select_n, TRUE, X, Y),
}
NOT_TRACED = {"stop_gradient"}
"""Leaves no operation in the program; listed for other versions of JAX."""

ELEMENTWISE = {
    **{name: (function, X) for name, function in UNARY.items()},
    **{name: (function, X, Y) for name, function in BINARY.items()},
    **{name: (function, TRUE, ALSO) for name, function in LOGICAL.items()},
    **{name: (function, WHOLE, SHIFT) for name, function in SHIFTS.items()},
    **OTHERS,
}


def test_every_elementwise_rule_has_a_test():
    assert set(ELEMENTWISE) == trailing_vmap._ELEMENTWISE


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    function, *arguments = ELEMENTWISE[name]
    check(function, *arguments, contains={name} - NOT_TRACED)


@pytest.mark.parametrize("name", sorted(BINARY))
def test_elementwise_with_a_shared_side(name):
    function = BINARY[name]
    check(lambda x: function(x, SHARED), X, contains=[name])
    check(lambda x: function(SHARED, x), X, contains=[name])


MIXES = {
    "a batched scalar beside an array": (lambda x, s: x * s, X, SCALAR),
    "a batched scalar beside a shared array": (lambda s: s - SHARED, SCALAR),
    "a number beside an array": (lambda x: 2.0 - x, X),
    "a shared scalar beside an array": (lambda x: x / jnp.float64(7.0), X),
    "a batched scalar beside a scalar": (lambda s: s + 1.5, SCALAR),
    "clamp between scalars": (
        lambda x, s: lax.clamp(jnp.float64(0.3), x, s + 0.1), X, SCALAR),
    "select by a batched scalar": (
        lambda s, x, y: lax.select_n(s > 0.5, x, y), SCALAR, X, Y),
    "select by a shared scalar": (
        lambda x, y: lax.select_n(jnp.bool_(SHARED[0, 0] > 0), x, y), X, Y),
    "select between batched and shared": (
        lambda w, x: jnp.where(w, x, SHARED), TRUE, X),
    "select between shared arrays": (lambda w: jnp.where(w, SHARED, -1.0), TRUE),
    "barrier around batched and shared": (
        lambda x: lax.optimization_barrier((x, jnp.asarray(SHARED_ROW))), X),
    "small integers and literals": (lambda n: (n * 3 - 1) // 2, WHOLE),
    "32 bits stay 32 bits": (lambda n: n.astype(jnp.float32) * 2 + 0.5, WHOLE),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXES)
def test_mixed_ranks_and_dtypes(name):
    function, *arguments = MIXES[name]
    check(function, *arguments)


# Operations that name axes from the front

REDUCTIONS = {
    "reduce_sum": (jnp.sum, X),
    "reduce_max": (jnp.max, X),
    "reduce_min": (jnp.min, X),
    "reduce_prod": (jnp.prod, X),
    "reduce_and": (jnp.all, TRUE),
    "reduce_or": (jnp.any, TRUE),
    "argmax": (jnp.argmax, X),
    "argmin": (jnp.argmin, X),
    "cumsum": (jnp.cumsum, X),
    "cumprod": (jnp.cumprod, X),
    "cummax": (lambda x, axis: lax.cummax(x, axis, reverse=True), X),
    "cummin": (lambda x, axis: lax.cummin(x, axis), X),
    "rev": (jnp.flip, X),
    "split": (lambda x, axis: lax.split(x, (1, x.shape[axis] - 1), axis), X),
    "squeeze": (lambda x, axis: jnp.squeeze(jnp.expand_dims(x, axis), axis), X),
}


def test_every_rule_along_axes_has_a_test():
    assert set(REDUCTIONS) == trailing_vmap._SAME_PARAMETERS


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_along_an_axis(name, axis):
    function, argument = REDUCTIONS[name]
    check(lambda x: function(x, axis=axis), argument, contains=[name])


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_and"])
def test_reductions_to_a_scalar(name):
    function, argument = REDUCTIONS[name]
    check(lambda x: (function(x), function(x, axis=(0, 1))), argument, contains=[name])


# Operations with a rule of their own

SHAPES = {
    "broadcast a row": (
        "broadcast_in_dim", lambda r: jnp.broadcast_to(r, (4, 5)), ROW),
    "broadcast a column": (
        "broadcast_in_dim", lambda r: jnp.broadcast_to(r[:, None], (5, 4)), ROW),
    "broadcast a scalar": ("broadcast_in_dim", lambda s: jnp.full((4, 5), s), SCALAR),
    "outer differences": (
        "broadcast_in_dim", lambda r: r[:, None] - r[None, :], ROW),
    "flatten": ("reshape", lambda x: jnp.reshape(x, 20), X),
    "reshape": ("reshape", lambda x: jnp.reshape(x, (2, 5, 2)), X),
    "flatten column by column": ("reshape", lambda x: jnp.ravel(x, order="F"), X),
    "reshape after a permutation": (
        "reshape", lambda x: lax.reshape(x, (10, 2), (1, 0)), X),
    "transpose": ("transpose", lambda x: x.T, X),
    "move three axes": (
        "transpose",
        lambda x: jnp.transpose(jnp.stack([x, -x]), (2, 0, 1)), X),
    "concatenate": ("concatenate", lambda x, y: jnp.concatenate([x, y]), X, Y),
    "concatenate along the last axis": (
        "concatenate", lambda x, y: jnp.concatenate([x, y[:, :2]], axis=1), X, Y),
    "concatenate with a shared array": (
        "concatenate", lambda x: jnp.concatenate([SHARED, x], axis=1), X),
    "slice": ("slice", lambda x: lax.slice(x, (1, 0), (3, 4)), X),
    "slice with strides": ("slice", lambda x: lax.slice(x, (0, 1), (4, 5), (2, 3)), X),
    "slice with one stride": (
        "slice", lambda x: lax.slice(x, (0, 0), (4, 5), (2, 1)), X),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    operation, function, *arguments = SHAPES[name]
    check(function, *arguments, contains=[operation])


def count_down(s):
    """Each lane takes a different number of steps; the results stay as they were."""
    return lax.while_loop(
        lambda carry: carry[0] > 0.1,
        lambda carry: (carry[0] * 0.8, carry[1] + 1),
        (s, jnp.int32(0)),
    )


WHILES = {
    "lanes of different length": (count_down, SCALAR),
    "arrays in the carry": (
        lambda x, s: lax.while_loop(
            lambda carry: jnp.sum(carry[0]) > s * 4.0,
            lambda carry: (0.7 * carry[0], carry[1] - carry[0] * SHARED),
            (x, jnp.asarray(SHARED)),
        ), X, SCALAR),
    "batched values in the test alone": (
        lambda s: lax.while_loop(
            lambda carry: carry < 10.0 * s, lambda carry: carry + 1.0,
            jnp.float64(0.0)), SCALAR),
    "batched values in the step alone": (
        lambda s: lax.while_loop(
            lambda carry: carry[0] < 4,
            lambda carry: (carry[0] + 1, carry[1] + s),
            (jnp.int32(0), jnp.float64(0.0))), SCALAR),
    "a shared loop": (
        lambda s: s + lax.while_loop(
            lambda carry: carry < 4.5, lambda carry: 2 * carry, jnp.float64(0.3)),
        SCALAR),
    "a loop in a loop": (
        lambda s: lax.while_loop(
            lambda carry: carry[1] < 3,
            lambda carry: (count_down(carry[0] + 0.5)[0] + s, carry[1] + 1),
            (s, jnp.int32(0))), SCALAR),
    "no step for some": (
        lambda s: lax.while_loop(
            lambda carry: carry < 0.5, lambda carry: carry + 10.0, s),
        np.array([0.1, 0.9, 0.7])),
}  # fmt: skip


@pytest.mark.parametrize("name", WHILES)
def test_while(name):
    function, *arguments = WHILES[name]
    check(function, *arguments, contains=["while"])


@jax.custom_vjp
def twice(x):
    return 2 * x


twice.defvjp(lambda x: (twice(x), None), lambda _, slope: (2 * slope,))

NESTED = {
    "jit": ("jit", lambda x, s: jax.jit(lambda a, b: a + jax.jit(jnp.sin)(b))(x, s),
            X, SCALAR),
    "jit of shared values": (
        "jit", lambda x: x + jax.jit(lambda a: a - a.sum())(SHARED), X),
    "custom derivative": ("custom_jvp_call", lambda x: jax.nn.relu(x - 0.5), X),
    "custom backward pass": ("custom_vjp_call", lambda x: twice(x) + 1, X),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_nested_programs(name):
    operation, function, *arguments = NESTED[name]
    check(function, *arguments, contains=[operation])


FALLBACKS = {
    "dynamic index": ("gather", lambda x, arm: jnp.take(x, arm, axis=0), X, ARM),
    "dynamic index into a shared array": (
        "gather", lambda arm: jnp.take(SHARED, arm, axis=0), ARM),
    "dynamic slice": (
        "dynamic_slice", lambda x, arm: lax.dynamic_slice_in_dim(x, arm, 2),
        X, ARM),
    "scatter": ("scatter-add", lambda x, arm: x.at[arm].add(1.0), X, ARM),
    "sort": ("sort", lambda x: jnp.sort(x, axis=0), X),
    "sort by another": ("sort", lambda r: jnp.argsort(r), ROW),
    "matrix product": ("dot_general", lambda x, r: x @ r, X, ROW),
    "product with a shared matrix": ("dot_general", lambda r: SHARED @ r, ROW),
    "pad": ("pad", lambda x: jnp.pad(x, ((1, 0), (0, 2))), X),
    "scan": ("scan", lambda r: lax.scan(lambda c, e: (c + e, c * e), 0.0, r), ROW),
    "conditional": (
        "cond", lambda s, x: lax.cond(s > 0.5, jnp.sin, jnp.cos, x), SCALAR, X),
    "binomial": (
        "while",
        lambda arm: jax.random.binomial(
            jax.random.key(arm), 30.0 + arm, 0.3, dtype=jnp.float64), ARM),
}  # fmt: skip


@pytest.mark.parametrize("name", FALLBACKS)
def test_fallback_through_vmap(name):
    operation, function, *arguments = FALLBACKS[name]
    check(function, *arguments, contains=[operation])


def test_random_keys_travel_in_lanes():
    keys = jax.random.split(jax.random.key(21), NUM_LANES)

    def draw(key, arm):
        one, other = jax.random.split(jax.random.fold_in(key, arm))
        return jax.random.uniform(one, (4,)), jax.random.bernoulli(other, 0.3, (2, 5))

    check(draw, keys, ARM, contains=["random_fold_in", "random_split", "random_bits"])

    def hand_on(key):
        return jax.random.fold_in(key, 1)

    with jax.enable_x64(True):
        found = trailing_vmap.map_lanes(hand_on, NUM_LANES)(keys)
        assert jnp.all(found == jax.vmap(hand_on)(keys))


def test_results_that_no_lane_changes():
    """Constants, inputs as they came, and nested containers."""

    def function(x, pair):
        constants = {"array": SHARED, "literal": jnp.int32(3), "number": 1.5}
        return constants, x, (pair["b"], [jnp.arange(4), pair["a"]])

    check(function, X, {"a": ROW, "b": SCALAR})


def test_one_lane():
    check(lambda x: x.T / x.sum(), X[..., :1], num_lanes=1)


@given(
    shape=st.lists(st.sampled_from([1, 2, 4, 5]), min_size=2, max_size=3),
    axis=st.integers(0, 1),
    seed=st.integers(0, 9),
)
@settings(max_examples=8)
def test_shapes_at_random(shape, axis, seed):
    """Axes of length one broadcast; nothing else may."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.1, 0.9, (2, *shape, NUM_LANES))
    shared = rng.uniform(0.1, 0.9, shape)
    thin = y.mean(axis=axis, keepdims=True)

    def function(x, y, thin):
        joined = jnp.concatenate([x * thin, shared - y], axis=axis)
        best = joined.max(axis=axis, keepdims=True)
        return jnp.where(best > shared, joined.sum(axis=axis, keepdims=True), thin)

    check(function, x, y, thin)
