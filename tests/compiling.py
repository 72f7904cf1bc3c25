"""Compiling what only tests run."""

from functools import partial

import jax

quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
"""``jax.jit`` for what is called a few times: hardly optimized, it compiles in half the
time. The loop of the simulator is compiled as users compile it."""
