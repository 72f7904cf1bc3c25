"""What a method of inference leaves behind, and draws in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.seeds import generator_of
from bayesduel.models.base import PreferenceModel

if TYPE_CHECKING:
    from jaxtyping import Shaped

    from bayesduel.types import RunKey

    Fresh = Callable[[RunKey | int, int], dict[str, np.ndarray]]
    """Draws any number of times from the distribution that was fitted, given a seed."""


@dataclass(frozen=True)
class Sampled:
    """What a method leaves behind."""

    draws: dict[str, np.ndarray]
    """Named quantities, (chain, draw, ...)."""

    sample_stats: dict[str, np.ndarray] = field(default_factory=dict)
    """What is known about each draw, (chain, draw)."""

    fresh: Fresh | None = None
    """New draws, where the fitted distribution allows them."""

    converged: bool = True
    remarks: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    """What is special to the method."""


def sample_exact(
    model: PreferenceModel,
    arrays: Any,
    rng_key: RunKey | int,
    chains: int,
    draws: int,
) -> Sampled:
    """Draw independently from the posterior in closed form."""
    posterior = model.exact_posterior(arrays)

    def fresh(rng_key: RunKey | int, number: int) -> dict[str, np.ndarray]:
        return posterior.sample(generator_of(rng_key), number)

    flat = fresh(rng_key, chains * draws)
    return Sampled(
        draws=in_chains(flat, chains),
        fresh=fresh,
        extras={"posterior": posterior},
    )


def in_chains(
    flat: dict[str, Shaped[np.ndarray, "draw ..."]], chains: int
) -> dict[str, Shaped[np.ndarray, "chain draws ..."]]:
    """Split draws (draw, ...) into as many for each chain."""
    return {
        name: values.reshape(chains, -1, *values.shape[1:])
        for name, values in flat.items()
    }
