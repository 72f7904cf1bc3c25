"""A model that is not the package's: Bradley-Terry with an order effect, by hand."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist

from bayesduel.models.base import PreferenceModel, count_votes


class Rows(NamedTuple):
    """The data of the model; the shape of ``arms`` counts the arms."""

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    arms: np.ndarray


@dataclass(frozen=True)
class ShownFirst(PreferenceModel):
    """log odds = strength_i - strength_j + bonus for i, which is shown first."""

    scale: float = 2.0
    bonus_scale: float = 1.0

    title = "Shown first"

    def __call__(self, rows):
        number = len(rows.arms)
        strength = numpyro.sample(
            "strength", dist.Normal(0.0, self.scale).expand([number]).to_event(1)
        )
        bonus = numpyro.sample("bonus", dist.Normal(0.0, self.bonus_scale))
        odds = strength[rows.first] - strength[rows.second] + bonus
        logs = jax.nn.log_sigmoid(jnp.stack([odds, -odds], axis=1))
        return count_votes(jnp.asarray(rows.counts), logs)

    def arrays(self, data):
        return Rows(
            data.first, data.second, data.counts[:, :2], np.arange(data.num_arms)
        )

    def preference_matrices(self, draws):
        strength = draws["strength"]
        return jax.nn.sigmoid(strength[:, :, None] - strength[:, None, :])

    def dims(self):
        return {"strength": ("arm",)}

    def outcomes(self, data):
        return ("first", "second")


class InNumPy(ShownFirst):
    """The same, with preferences that compiled code cannot have."""

    def preference_matrices(self, draws):
        return np.array(super().preference_matrices(draws))


@dataclass(frozen=True)
class KnownArms(ShownFirst):
    """Arms that are not alike before any vote: they do not take part in a shuffle."""

    means: tuple[float, ...] = (1.5, 0.5, -0.5, -1.5)

    def __call__(self, rows):
        strength = numpyro.sample(
            "strength", dist.Normal(jnp.asarray(self.means), self.scale).to_event(1)
        )
        odds = strength[rows.first] - strength[rows.second]
        logs = jax.nn.log_sigmoid(jnp.stack([odds, -odds], axis=1))
        return count_votes(jnp.asarray(rows.counts), logs)


class OnAScale(ShownFirst):
    """The same, which says that the stronger arm wins more often."""

    @property
    def utility_decides(self):
        return True

    def utilities(self, draws):
        return draws["strength"]
