"""What the programs of the simulator ask of XLA on a CPU."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

HARDLY_OPTIMIZED = {"xla_backend_optimization_level": 0}
"""Options of programs that run for a moment: they compile in half of the time."""

FEW_ARMS = 16
"""Up to so many, an event takes less time than calling its operations one by one."""

_WIDE_VECTORS = {"xla_cpu_prefer_vector_width": 512}
"""LLVM takes half of a vector of AVX-512 by default, since the first CPUs that had them
were slowed down by them. Lanes fill the whole: an event takes a sixth less time. Every
entry is computed as before, so that no bit of a result depends on it."""

_ONE_FUNCTION = {"xla_cpu_experimental_ynn_fusion_type": ""}
"""XLA compiles a loop as one function where it contains nothing that is left to a
library; by default that are large sums as well. (A library may also add up in another
order where there are more lanes.) The events of few arms take a half to a quarter of
the time then; those of many, whose operations can share the cores, gain nothing."""

_LESS_OPTIMIZED = {"xla_backend_optimization_level": 1}
"""For a loop that is one function: level 3 unrolls so much that it takes twice as long
to compile and often runs longer."""


def options_of_loop(num_arms: int) -> tuple[tuple[str, Any], ...]:
    """Return what the loop over events asks of the compiler: names and values.

    Options that it does not know are left out. Who asks JAX for hardly any optimization
    gets that.
    """
    if jax.default_backend() != "cpu":
        return ()
    options = dict(_WIDE_VECTORS)
    if num_arms <= FEW_ARMS:
        options |= _ONE_FUNCTION
        if not jax.config.read("jax_disable_most_optimizations"):
            options |= _LESS_OPTIMIZED
    return _known(tuple(options.items()))


@cache
def _known(options: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """Return those that the compiler knows: most often all, which one trial tells."""
    try:
        jax.jit(jnp.int32, compiler_options=dict(options)).lower(0).compile()
    except jax.errors.JaxRuntimeError:
        alone = [_known((option,)) for option in options] if len(options) > 1 else []
        return sum(alone, ())
    return options
