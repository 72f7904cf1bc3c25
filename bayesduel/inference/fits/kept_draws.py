"""What a fit keeps: its data, its draws, and new ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Float64, Shaped

from bayesduel.errors import FitError
from bayesduel.inference.resampling import Correction
from bayesduel.inference.seeds import generator_of, seed_words
from bayesduel.models.argument_checks import check_numbers
from bayesduel.models.base import PreferenceModel

if TYPE_CHECKING:
    from bayesduel.inference.draws import Fresh
    from bayesduel.types import RunKey

_BLOCK = 2**22
"""Entries of preference matrices that are held at once."""


@dataclass(frozen=True, eq=False, repr=False)
class KeptDraws:
    """Draws and what they are of, as described by :class:`bayesduel.inference.Fit`."""

    model: PreferenceModel
    data: Any
    arrays: Any
    method: str
    draws: dict[str, np.ndarray]
    sample_stats: dict[str, np.ndarray]
    converged: bool
    remarks: tuple[str, ...]
    seconds: float
    options: dict[str, Any]
    extras: dict[str, Any] = field(default_factory=dict)
    fresh: Fresh | None = None

    @property
    def correction(self) -> Correction | None:
        """How far what laplace or svi fitted is from the posterior, else None."""
        return self.extras.get("correction")

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why intervals and probabilities may be wrong; empty where nothing says so.

        They are among the ``remarks``, too.
        """
        failed = () if self.converged else ("the method did not converge",)
        judged = self.correction or self.extras.get("chains")
        return (*failed, *(judged.doubts if judged else ()))

    @property
    def inference(self) -> str:
        """The method, and whether its draws were resampled by importance."""
        resampled = self.correction is not None and self.correction.resampled
        return f"{self.method}, resampled" if resampled else self.method

    @property
    def arm_names(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.data.arm_names

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.arm_names)

    @property
    def num_chains(self) -> int:
        """Number of chains."""
        return next(iter(self.draws.values())).shape[0]

    @property
    def num_draws(self) -> int:
        """Number of draws that are kept, of all chains together."""
        return self.num_chains * next(iter(self.draws.values())).shape[1]

    def flat_draws(self) -> dict[str, Shaped[np.ndarray, "draw ..."]]:
        """Return the draws of all chains, one after the other: (draw, ...)."""
        return {
            name: values.reshape(self.num_draws, *values.shape[2:])
            for name, values in self.draws.items()
        }

    def sample(
        self, rng_key: RunKey | int, num_draws: int
    ) -> Float64[np.ndarray, "draw K K"]:
        """Draw preference matrices.

        New draws where the posterior, or the distribution that stands for it, can be
        drawn from at will; otherwise (nuts) some of the kept draws, without
        replacement.

        Parameters
        ----------
        rng_key : int or typed key
            The same key gives the same draws.
        num_draws : int
            How many.

        Returns
        -------
        float64 (num_draws, K, K)
            P(i beats j in a vote that is no tie); diagonal 1/2.

        Raises
        ------
        FitError
            If more are asked for than were kept.
        """
        return self.model.preference_matrices(self._some_draws(rng_key, num_draws))

    def sample_utilities(
        self, rng_key: RunKey | int, num_draws: int
    ) -> Float64[np.ndarray, "draw K"]:
        """Draw utilities, float64 (num_draws, K); as :meth:`sample`.

        Raises
        ------
        FitError
            If the model has none, or too many draws are asked for.
        """
        utilities = self.model.utilities(self._some_draws(rng_key, num_draws))
        if utilities is None:
            raise FitError("model", "must have utilities", self.model)
        return utilities

    def _some_draws(
        self, rng_key: RunKey | int, num_draws: int
    ) -> dict[str, np.ndarray]:
        num_draws = check_numbers("num_draws", num_draws, self.num_arms**2)
        seed_words(rng_key)
        if self.fresh is not None:
            return self.fresh(rng_key, num_draws)
        if num_draws > self.num_draws:
            raise FitError(
                "num_draws",
                f"must be at most {self.num_draws}, which the {self.method} fit holds",
                num_draws,
                remedy=f"fit again with num_draws={-(-num_draws // self.num_chains)} "
                "or more per chain",
            )
        index = generator_of(rng_key).choice(self.num_draws, num_draws, replace=False)
        return {name: values[index] for name, values in self.flat_draws().items()}

    def matrices(self) -> Iterator[Float[np.ndarray, "draw K K"]]:
        """Yield the preference matrices of all kept draws, in blocks."""
        flat = self.flat_draws()
        size = max(1, _BLOCK // self.num_arms**2)
        for start in range(0, self.num_draws, size):
            block = {name: each[start : start + size] for name, each in flat.items()}
            yield self.model.preference_matrices(block)
