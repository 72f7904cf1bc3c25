"""Compiling what only tests run, or nothing at all, and looking into programs."""

import inspect
from functools import cache, partial
from zlib import crc32

import jax
import jax.extend
import jax.numpy as jnp

quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
"""``jax.jit`` for what is called a few times: hardly optimized, it compiles in half the
time."""


@cache
def called_compiled(function):
    """Return a part of kernels as Python calls it: compiled once, and kept on disk."""
    from bayesduel.ops.scalar.compiler import cached_program

    digest = crc32(inspect.getsource(function).encode())
    return cached_program(function, f"test-{function.__name__}-{digest:x}")


def play_in_python(monkeypatch):
    """Play rules and kernels in Python, to the same digits.

    A program takes seconds to compile, as long as thousands of rounds in Python.
    """
    from bayesduel.ops.scalar import compiler
    from bayesduel.simulation import programs, rule_runs

    monkeypatch.setattr(rule_runs, "is_compiled", lambda policy: False)
    monkeypatch.setattr(compiler, "is_disabled", lambda: True)
    monkeypatch.setattr(programs, "program", programs.program.__wrapped__)


_KEEPS_NUMBERS = frozenset(
    """broadcast_in_dim reshape transpose squeeze slice dynamic_slice gather rev copy
    reduce_max reduce_min max min select_n""".split()
)
_EXISTS_ONCE = frozenset("optimization_barrier while scan cond".split())
_COMPARES = frozenset("eq ne lt le gt ge".split())
_INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "custom_jvp_call": "call_jaxpr"}


def compared_with_themselves(jaxpr):
    """Return the comparisons of floats both sides of which hold the same numbers.

    XLA may compute a number once for either side of such a comparison and round it
    differently: then it is larger than itself, or no entry has the largest value.
    Numbers exist once if they are given, come out of a loop, or passed a barrier.
    """
    found = []
    _follow(jaxpr, {}, found)
    return found


def _follow(jaxpr, origins, found):
    """Follow from where the numbers of every variable come; return that of the results.

    ``origins`` has sets of computations, for variables that are given as well.
    """

    def of(atom):
        literal = isinstance(atom, jax.extend.core.Literal)
        return frozenset() if literal else origins.get(atom, frozenset())

    for equation in jaxpr.eqns:
        name, atoms = equation.primitive.name, equation.invars
        own = [of(atom) for atom in atoms]
        if name in _INLINED:
            inner = equation.params[_INLINED[name]].jaxpr
            results = _follow(inner, dict(zip(inner.invars, own, strict=True)), found)
            origins.update(zip(equation.outvars, results, strict=True))
            continue
        if name == "while":
            for part in ("cond_jaxpr", "body_jaxpr"):
                _follow(equation.params[part].jaxpr, {}, found)
        is_nan_test = len(atoms) == 2 and atoms[0] is atoms[1]
        if name in _COMPARES and own[0] & own[1] and not is_nan_test:
            found.append(equation)
        for result in equation.outvars:
            is_float = jnp.issubdtype(result.aval.dtype, jnp.floating)
            if not is_float or name in _EXISTS_ONCE:
                origins[result] = frozenset()
            elif name in _KEEPS_NUMBERS:
                origins[result] = frozenset().union(*own)
            else:
                origins[result] = frozenset([object()])
    return [of(atom) for atom in jaxpr.outvars]
