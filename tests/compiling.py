"""Compiling what only tests run, and looking into programs."""

from functools import partial

import jax

quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
"""``jax.jit`` for what is called a few times: hardly optimized, it compiles in half the
time. The loop of the simulator is compiled as users compile it."""


def names_in(jaxpr, found=None):
    """Collect the operations of a program, those inside others included."""
    found = set() if found is None else found
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for inner in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda each: hasattr(each, "eqns")
        ):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                names_in(inner, found)
    return found
