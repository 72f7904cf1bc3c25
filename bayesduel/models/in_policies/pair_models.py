"""A model of preferences inside compiled code: votes, densities, and what draws mean.

Votes are kept in tables of all ordered pairs. Where the model has derivatives in closed
form, and utilities with one normal prior, they are used on these tables; any other
NumPyro model is differentiated automatically, over one row per ordered pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int, Shaped

from bayesduel.errors import FitError, PolicyParameterError, errors_about, errors_as
from bayesduel.models.base import PreferenceModel, check_model
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.closed_forms import PairwiseDensity, come_from
from bayesduel.models.thurstone import Thurstone
from bayesduel.models.utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import PairTables, UnorderedPairs, with_counts
from bayesduel.types import Arm, Outcome
from bayesduel.votes.comparisons import Comparisons


def hyphenated(model: PreferenceModel) -> str:
    """Return the title of a model, in words joined by hyphens."""
    title = model.title or type(model).__name__
    return title.lower().replace(" ", "-")


def check_held(model: Any, make_arrays: Callable[[], Any]) -> None:
    """Raise ``PolicyParameterError`` where a model cannot be held by a policy."""
    try:
        with errors_as(PolicyParameterError), errors_about("model", model):
            check_model(model)
            hash(model)
            make_arrays()
    except TypeError as error:
        rule = "must be hashable, as frozen dataclasses are whose fields are; "
        rule += f"{type(model).__name__} is not ({error})"
        raise PolicyParameterError("model", rule, model) from error


def check_counts(
    model: PreferenceModel, arrays: Any, counts: Float[np.ndarray, "row outcome"]
) -> None:
    """Raise ``FitError`` unless arrays hold the counts of the data, row by row."""
    held = np.asarray(getattr(arrays, "counts", None))
    if held.ndim != 2 or not np.array_equal(held, counts[:, : held.shape[1]]):
        rule = "must have arrays with a field counts, with the votes row by row as "
        rule += f"they are in the data, but those of {type(model).__name__} have none"
        remedy = "a policy replaces it"
        raise FitError("model", rule, model, remedy=remedy)


Covariates = tuple[tuple[float, ...], ...] | None
"""A row of numbers per arm."""


class VoteTables(NamedTuple):
    """Votes of every ordered pair: the row was shown first, the column second."""

    won: Int[Array, "K K"]  # Votes for the arm of the row.
    lost: Int[Array, "K K"]  # Votes for the arm of the column.

    @classmethod
    def empty(cls, num_arms: int) -> VoteTables:
        """Return tables without a vote."""
        nothing = jnp.zeros((num_arms, num_arms), dtype=jnp.int64)
        return cls(won=nothing, lost=nothing)

    def add(self, first: Arm, second: Arm, votes: Outcome) -> VoteTables:
        """Count votes; an arm that meets itself teaches nothing."""
        rounds = jnp.where(first != second, votes.rounds, 0)
        won = jnp.minimum(votes.wins, rounds)
        return VoteTables(
            won=self.won.at[first, second].add(won),
            lost=self.lost.at[first, second].add(rounds - won),
        )


@dataclass(frozen=True)
class AutomaticDensity:
    """A log density with its derivatives by automatic differentiation."""

    log_density: Callable[[Array], Array]
    # In closed form, where the model has one.
    own_hessian: Callable[[Array], Array] | None = None

    def hessian(self, point: Float[Array, " D"]) -> Float[Array, "D D"]:
        """Return the Hessian."""
        return (self.own_hessian or jax.hessian(self.log_density))(point)

    def gradient_and_hessian(
        self, point: Float[Array, " D"]
    ) -> tuple[Float[Array, " D"], Float[Array, "D D"]]:
        """Return gradient and Hessian."""
        return jax.grad(self.log_density)(point), self.hessian(point)

    def fall(
        self, point: Float[Array, " D"], way: Float[Array, " D"]
    ) -> Callable[[Float[Array, ""]], tuple[Float[Array, ""], Float[Array, ""]]]:
        """Return the fall along a way, by one directional derivative."""
        top = self.log_density(point)

        def fall(share: Array) -> tuple[Array, Array]:
            heights = lambda share: self.log_density(point + share * way)  # noqa: E731
            value, slope = jax.jvp(heights, (share,), (jnp.ones_like(share),))
            return top - value, -slope

        return fall


PointDensity = PairwiseDensity | AutomaticDensity
"""The log joint density of a model and its votes, in unconstrained coordinates."""


@dataclass(frozen=True)
class PairModel:
    """A model over a number of arms, as compiled code needs it."""

    model: PreferenceModel
    num_arms: int
    covariates: Covariates = None

    @cached_property
    def arrays(self) -> Any:
        """The data of the model with every ordered pair, row by row."""
        return _template(self.model, self.num_arms, self.covariates)

    @cached_property
    def _closed(self) -> PairwiseDensity | None:
        # The log density of no votes, where the derivatives are written down.
        of_kind = getattr(type(self.model), "closed_form", None)
        if of_kind is not PairwiseUtilityModel.closed_form:
            return None
        nothing = PairTables(np.zeros((0, 2)), self.num_arms)
        return self.model.closed_form(nothing)  # pyright: ignore[reportReturnType]

    @property
    def in_closed_form(self) -> bool:
        """Whether the derivatives are written down."""
        return self._closed is not None

    @cached_property
    def _layout(self) -> Any:
        # The meaning of the coordinates.
        if self._closed is not None:
            return self._closed
        # NumPyro takes long to import, and a closed form does without.
        from bayesduel.models.fit.numpyro_models import latent_of

        return latent_of(self.model, self.arrays)

    @property
    def arms_alike(self) -> bool:
        """Whether there is a closed form, and nothing is known of the arms."""
        return self.in_closed_form and not getattr(self.model, "covariates", False)

    @property
    def size(self) -> int:
        """D, the number of unconstrained coordinates."""
        return self._layout.size

    def density(self, votes: VoteTables) -> PointDensity:
        """Return the log joint density."""
        counts = self._counts(votes)
        if self._closed is not None:
            return replace(self._closed, votes=PairTables(counts, self.num_arms))
        from bayesduel.models.fit.numpyro_models import latent_of

        # Without the rows of an arm and itself, by slices alone.
        others, width = self.num_arms - 1, counts.shape[1]
        rows = counts[1:].reshape(others, others + 2, width)[:, :-1]
        rows = rows.reshape(others * (others + 1), width)
        arrays = with_counts(self.arrays, rows)
        log_density = latent_of(self.model, arrays).log_density
        return AutomaticDensity(log_density, self.model.hessian(arrays))

    def falling(self, votes: VoteTables, dtype: Any = jnp.float64) -> PointDensity:
        """Return the log joint density where many points of few rows are looked at."""
        if self._closed is None or getattr(self.model, "order_effect", False):
            return self.density(votes)
        first, second = np.triu_indices(self.num_arms, 1)
        both = VoteTables(votes.won + votes.lost.T, votes.lost + votes.won.T)
        counts = self._counts(both)[first * self.num_arms + second]
        rows = UnorderedPairs(counts.astype(dtype), self.num_arms)
        return replace(self._closed, votes=rows)

    @property
    def falls_along_rays(self) -> bool:
        """Whether the log density is concave, and utilities grow in proportion."""
        model: Any = self.model
        if not self.in_closed_form or model.ties or model.order_effect:
            return False
        names = "outcome_logs", "vote_derivatives"
        return come_from(model, names, (BradleyTerry, Thurstone))

    def _counts(self, votes: VoteTables) -> Float[Array, "row outcome"]:
        columns = [votes.won.reshape(-1), votes.lost.reshape(-1)]
        # Nobody answers "tie" in a duel; the model may have a place for it.
        ties = bool(getattr(self.model, "ties", False))
        if not self.in_closed_form:
            ties = self.arrays.counts.shape[1] > 2
        columns += [jnp.zeros_like(columns[0])] * ties
        return jnp.stack(columns, axis=1).astype(jnp.float64)

    def named(
        self, points: Float[Array, "draw D"]
    ) -> dict[str, Shaped[Array, "draw ..."]]:
        """Return the named quantities of points."""
        layout = self._layout
        named = layout.named if self.in_closed_form else jax.vmap(layout.named)
        return named(points)

    def utilities(self, points: Float[Array, "draw D"]) -> Float[Array, "draw K"]:
        """Return the utilities at points."""
        return jnp.asarray(self.model.utilities(self.named(points)))  # pyright: ignore

    def matrices(self, points: Float[Array, "draw D"]) -> Float[Array, "draw K K"]:
        """Return P(i beats j), nobody shown first, at points."""
        return jnp.asarray(self.model.preference_matrices(self.named(points)))  # pyright: ignore

    def check(self) -> None:
        """Raise ``PolicyParameterError`` where the model cannot be held by a policy."""
        # Rows of identical arms are never made; many arms would have millions.
        few = replace(self, num_arms=3) if self.arms_alike else self
        check_held(self.model, lambda: few.arrays)

    def check_traced(self) -> None:
        """Raise ``PolicyParameterError`` where its preferences cannot be compiled."""
        name = type(self.model).__name__
        shape = (2, self.num_arms, self.num_arms)
        with jax.enable_x64(True):
            point = jax.ShapeDtypeStruct((2, self.size), jnp.float64)
            try:
                returned = jax.eval_shape(self.matrices, point).shape
            except (TypeError, IndexError, AttributeError) as error:
                rule = f"preference_matrices of {name} must run inside compiled code "
                rule += f"({type(error).__name__}: {str(error).splitlines()[0]})"
                remedy = "write it with jax.numpy, without NumPy functions, "
                remedy += "changes in place or branches on values"
                raise PolicyParameterError("model", rule, remedy=remedy) from error
        if returned != shape:
            rule = f"must have preference_matrices, in {name}, that return an array of "
            rule += f"the shape {shape} for two draws of {self.num_arms} arms"
            raise PolicyParameterError("model", rule, returned)


def check_count(name: str, value: int, least: int) -> None:
    """Raise unless ``value`` is an integer, at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        rule = f"must be an integer of at least {least}"
        raise PolicyParameterError(name, rule, value)


@lru_cache(maxsize=16)
def _template(model: PreferenceModel, num_arms: int, covariates: Covariates) -> Any:
    first, second = np.nonzero(~np.eye(num_arms, dtype=bool))
    number = np.arange(1.0, len(first) + 1.0)
    counts = np.stack([number, number + 0.5, np.zeros_like(number)], axis=1)
    votes = Comparisons(
        tuple(str(arm) for arm in range(num_arms)),
        first,
        second,
        counts,
        order_known=True,
    )
    if covariates is not None:
        votes = votes.with_covariates(np.asarray(covariates, dtype=np.float64))
    arrays = model.arrays(model.completed(votes))
    check_counts(model, arrays, counts)
    return arrays
