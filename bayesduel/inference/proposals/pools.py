"""Proposals with their weights, and what every way to make them has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float, Int, Shaped

from bayesduel.inference.resampling import (
    LEAST_BLOCK,
    can_trust,
    smoothed_weights,
    systematic,
)
from bayesduel.inference.seeds import generator_of

if TYPE_CHECKING:
    from bayesduel.types import RunKey

    Propose = Callable[[np.random.Generator, int], "Pool"]
    """Makes blocks of so many proposals."""


class Pool(NamedTuple):
    """Proposals, and what each weighs."""

    points: Float[np.ndarray, "draw D"]
    named: dict[str, np.ndarray]
    lp: Float[np.ndarray, " draw"]
    log_weight: Float[np.ndarray, " draw"]
    """Log posterior minus log density of the distribution that they come from."""

    @classmethod
    def joined(cls, blocks: list[Pool]) -> Pool:
        """Return all proposals of some pools."""
        points, named, *logs = zip(*blocks, strict=True)
        together = {
            name: np.concatenate([each[name] for each in named]) for name in named[0]
        }
        return cls(np.concatenate(points), together, *map(np.concatenate, logs))

    def kept(
        self, index: Int[np.ndarray, " kept"]
    ) -> dict[str, Shaped[np.ndarray, "kept ..."]]:
        """Return the named quantities of some proposals."""
        return {name: values[index] for name, values in self.named.items()}


class Weighed(NamedTuple):
    """Proposals with their weights, and what makes more of them if they are good."""

    pool: Pool
    weights: Float[np.ndarray, " draw"]
    pareto_k: float
    kind: str
    propose: Propose | None

    @classmethod
    def of(cls, pool: Pool, kind: str = "normal", propose: Propose | None = None):  # noqa: ANN206
        """Smooth the weights of a pool."""
        return cls(pool, *smoothed_weights(pool.log_weight), kind, propose)

    @property
    def is_good(self) -> bool:
        """Whether draws resampled by these weights are those of the posterior."""
        largest = len(self.weights) * np.max(self.weights)
        return can_trust(self.pareto_k, len(self.weights), largest)


class Proposer(Protocol):
    """A distribution that was fitted to a posterior, and others that reach further."""

    def plain(self, rng: np.random.Generator, number: int) -> Pool:
        """Draw from the fitted distribution."""
        ...

    def better(self, rng: np.random.Generator, plain: Weighed) -> Iterator[Weighed]:
        """Make pools to resample from, what is cheapest first."""
        ...


def draw_again(
    propose: Propose, rng_key: RunKey | int, number: int
) -> dict[str, Shaped[np.ndarray, "number ..."]]:
    """Draw anew, resampled from other proposals of the same kind."""
    rng = generator_of(rng_key)
    found = propose(rng, max(number, LEAST_BLOCK))
    weights, _ = smoothed_weights(found.log_weight)
    return found.kept(systematic(rng, weights, number))
