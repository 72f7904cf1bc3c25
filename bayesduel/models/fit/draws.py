"""Random numbers of a fit, and what a method of inference leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import FitError
from bayesduel.models.base import PreferenceModel
from theory.arguments import seed_of

if TYPE_CHECKING:
    from jaxtyping import Shaped

    from bayesduel.types import RunKey

    Fresh = Callable[[RunKey | int, int], dict[str, np.ndarray]]
    """Draws any number of times from the distribution that was fitted, given a seed."""


_WORD = 2**32


def seed_words(rng_key: RunKey | int) -> tuple[int, ...]:
    """Return a seed as numbers below 2^32, without JAX where it is an integer.

    An integer from 0 to 2^63 - 1 is its upper and lower 32 bits, which are also the
    data of ``jax.random.key(rng_key)`` for JAX's default generator: both are the same
    seed. A key of another generator is its data. ``FitError`` for anything else, such
    as an old-style key of two integers.

    Examples
    --------
    >>> import jax
    >>> seed_words(7), seed_words(jax.random.key(7))
    ((0, 7), (0, 7))
    """
    if isinstance(rng_key, int | np.integer) and not isinstance(rng_key, bool):
        seed = seed_of(rng_key, "rng_key", kind=FitError)
        return seed // _WORD, seed % _WORD
    import jax

    if isinstance(rng_key, jax.Array) and not rng_key.ndim:
        if jax.numpy.issubdtype(rng_key.dtype, jax.dtypes.prng_key):
            return tuple(np.asarray(jax.random.key_data(rng_key)).ravel().tolist())
    rule = "must be an integer or one typed key, jax.random.key(seed)"
    raise FitError("rng_key", rule, type(rng_key).__name__)


def generator_of(rng_key: RunKey | int) -> np.random.Generator:
    """Return NumPy's generator, seeded by :func:`seed_words`; consumes a key."""
    return np.random.default_rng(seed_words(rng_key))


def as_key(rng_key: RunKey | int) -> RunKey:
    """Return a typed key from an integer or a typed key."""
    import jax

    seed_words(rng_key)
    if not isinstance(rng_key, int | np.integer):
        return rng_key
    # In 32 bits JAX would drop the upper half of the seed.
    with jax.enable_x64(True):
        return jax.random.key(int(rng_key))


@dataclass(frozen=True)
class Sampled:
    """The result of a method of inference."""

    draws: dict[str, np.ndarray]  # Named quantities, (chain, draw, ...).
    # Statistics of each draw, (chain, draw).
    sample_stats: dict[str, np.ndarray] = field(default_factory=dict)
    # New draws, where the fitted distribution allows them.
    fresh: Fresh | None = None
    converged: bool = True
    remarks: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)  # Special to the method.


def sample_exact(
    model: PreferenceModel, arrays: Any, rng_key: RunKey | int, chains: int, draws: int
) -> Sampled:
    """Draw independently from the posterior in closed form."""
    posterior = model.exact_posterior(arrays)

    def fresh(rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        return posterior.sample(generator_of(rng_key), number)

    flat = fresh(rng_key, chains * draws)
    extras = {"posterior": posterior}
    return Sampled(draws=in_chains(flat, chains), fresh=fresh, extras=extras)


def in_one(
    draws: dict[str, Shaped[np.ndarray, "chain draw ..."]], step: int = 1
) -> dict[str, Shaped[np.ndarray, "every ..."]]:
    """Return draws of all chains (chain, draw, ...) one after the other, or some."""
    thinned = {name: values[:, ::step] for name, values in draws.items()}
    return {
        name: values.reshape(-1, *values.shape[2:]) for name, values in thinned.items()
    }


def in_blocks(
    flat: dict[str, Shaped[np.ndarray, "draw ..."]], entries: int, most: int
) -> Iterator[dict[str, Shaped[np.ndarray, "part ..."]]]:
    """Yield draws (draw, ...) in parts, each of so many entries at most in all."""
    size = max(1, most // entries)
    for start in range(0, len(next(iter(flat.values()))), size):
        yield {name: values[start : start + size] for name, values in flat.items()}


def in_chains(
    flat: dict[str, Shaped[np.ndarray, "draw ..."]], chains: int
) -> dict[str, Shaped[np.ndarray, "chain draws ..."]]:
    """Split draws (draw, ...) into as many for each chain."""
    return {
        name: values.reshape(chains, -1, *values.shape[1:])
        for name, values in flat.items()
    }
