"""Whether Markov chains have found a posterior: R-hat, effective draws, divergences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped

LARGEST_R_HAT = 1.01  # Vehtari et al. 2021.
# Effective draws, of the bulk and of the tails (Vehtari et al. 2021).
LEAST_DRAWS_PER_CHAIN = 100

MOST_DIVERGING = 1e-3
"""Share of the draws after a divergence, up to which intervals are believed: so few
places that the sampler could not follow move a quantile by less than its own error."""

LEAST_BFMI = 0.3  # Energy Bayesian fraction of missing information (Betancourt 2016).

_FEWEST = 4  # Draws of a chain without which none of these numbers exists.


@dataclass(frozen=True)
class Worst:
    """The largest or smallest value of all quantities, and whose it is."""

    value: float
    name: str


@dataclass(frozen=True)
class ChainCheck:
    """Diagnostics of Markov chains."""

    chains: int
    draws: int
    r_hat: Worst | None
    bulk: Worst
    tail: Worst
    diverging: int
    bfmi: float

    @property
    def least(self) -> int:
        """Effective draws that are enough."""
        return LEAST_DRAWS_PER_CHAIN * self.chains

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why intervals and probabilities may be wrong; empty where nothing says so."""
        doubts = []
        if self.r_hat is not None and not self.r_hat.value <= LARGEST_R_HAT:
            doubts.append(
                f"the chains do not agree (R-hat {self.r_hat.value:.2f} of "
                f"{self.r_hat.name}): intervals and probabilities may be far off"
            )
        fewest = min(self.bulk, self.tail, key=lambda size: size.value)
        if not fewest.value >= self.least:
            doubts.append(
                f"{self.draws} draws of the chains are worth {fewest.value:.0f} "
                f"independent ones of {fewest.name}, so that intervals and "
                "probabilities are rough"
            )
        if self.diverging > MOST_DIVERGING * self.draws:
            doubts.append(
                f"{self.diverging} of {self.draws} draws diverged: some region is too "
                "narrow for the sampler, and is missing"
            )
        if not self.bfmi >= LEAST_BFMI:
            doubts.append(
                f"the chains hardly reach the tails (BFMI {self.bfmi:.2f}): intervals "
                "may be too narrow"
            )
        return tuple(doubts)

    @property
    def remark(self) -> str:
        """A remark on draws that pass the checks."""
        if not 0 < self.diverging <= MOST_DIVERGING * self.draws:
            return ""
        return (
            f"{self.diverging} of {self.draws} draws diverged, too few to doubt "
            f"intervals (up to {MOST_DIVERGING:g} of all)"
        )


def check_chains(
    draws: dict[str, Shaped[np.ndarray, "chain draw ..."]],
    stats: dict[str, Shaped[np.ndarray, "chain draw"]],
) -> ChainCheck | None:
    """Look at chains; None where they are too short to say anything."""
    # xarray comes with them, so not before.
    from arviz_stats.base import (
        array_stats as functions,  # pyright: ignore[reportPrivateImportUsage]
    )

    array_stats: Any = functions
    names, values = [], []
    for name, array in draws.items():
        flat = array.reshape(*array.shape[:2], -1)
        for index in np.flatnonzero(np.ptp(flat, axis=(0, 1)) > 0):
            names.append(f"{name}[{index}]" if array.ndim > 2 else name)
            values.append(flat[:, :, index])
    chains, number = next(iter(draws.values())).shape[:2]
    if number < _FEWEST or not names:
        return None
    stacked = np.stack(values)
    axes: dict[str, Any] = {"chain_axis": 1, "draw_axis": 2}
    tails = {"method": "tail", "prob": (0.05, 0.95)}

    def worst(statistics: Any, pick: Callable[[Any], Any]) -> Worst:
        index = int(pick(np.asarray(statistics)))
        return Worst(float(np.asarray(statistics)[index]), names[index])

    return ChainCheck(
        chains=chains,
        draws=chains * number,
        r_hat=worst(array_stats.rhat(stacked, **axes), np.argmax)
        if chains > 1
        else None,
        bulk=worst(array_stats.ess(stacked, method="bulk", **axes), np.argmin),
        tail=worst(array_stats.ess(stacked, **tails, **axes), np.argmin),
        diverging=int(stats["diverging"].sum()),
        bfmi=float(
            np.min(array_stats.bfmi(stats["energy"], chain_axis=0, draw_axis=1))
        ),
    )
