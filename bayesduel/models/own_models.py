"""Models of one's own: a NumPyro function of the columns of votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.base import Draws, PreferenceModel, check_kind, count_votes
from bayesduel.models.vote_arrays import Votes, votes_of, with_one_label
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array

__all__ = ["NumPyroModel", "from_numpyro"]

_NUM_ARMS, _FIRST_SIZE, _ROWS = 1009, 1013, 997
"""Lengths by which the axes of what a function samples are told apart: no other axis
is likely to be as long."""


def from_numpyro(
    function: Callable[[Votes], Any],
    *,
    ties: bool = False,
    order_effect: bool = True,
    link: Callable[[Any], Any] | None = None,
) -> NumPyroModel:
    """Return a model of votes that is written as a plain NumPyro function.

    Parameters
    ----------
    function : callable
        Samples what is unknown, with a site ``utility`` (K,) among it, sampled or
        deterministic; returns how likely each outcome of each row is, up to a common
        factor: logits (row, 2) for the first arm and the second, with ``ties`` (row, 3)
        for these and a tie; or (row,), the log odds of the first arm. It reads
        ``votes.first``, ``votes.second`` (row,), positions of arms, ``votes.num_arms``,
        and columns that the votes carry: ``votes["judge"]`` (row,), places among
        ``votes.size("judge")`` labels, or numbers. It must not count the votes.
    ties : bool
        Votes may be ties.
    order_effect : bool
        It makes a difference which arm of a row is the first, so the votes must say
        which was shown first.
    link : callable, optional
        P(i beats j), nobody shown first, of the difference of their utilities, in
        ``jax.numpy``: increasing, and 1/2 at 0. By default the logistic function.

    Returns
    -------
    NumPyroModel
        To be used as any other model: in ``fit``, ``diagnostics``, figures, and, within
        :class:`bayesduel.posteriors.Laplace`, by a policy. It is as hashable as the
        function, whose code is traced anew for another function only.

    Raises
    ------
    FitError
        If ``function`` or ``link`` is no function, or a flag is neither True nor False.
        What the function returns is checked as soon as it is given votes.

    Examples
    --------
    >>> import numpyro
    >>> from numpyro import distributions as dist
    >>> from bayesduel.inference import fit, parameter_summary
    >>> from bayesduel.votes import Comparisons
    >>> def judges(votes):
    ...     with numpyro.plate("arm", votes.num_arms):
    ...         utility = numpyro.sample("utility", dist.Normal(0.0, 2.0))
    ...     with numpyro.plate("judge", votes.size("judge")):
    ...         bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
    ...     difference = utility[votes.first] - utility[votes.second]
    ...     return difference + bias[votes["judge"]]
    >>> votes = Comparisons.from_votes(
    ...     ["tea", "milk", "tea"],
    ...     ["milk", "tea", "milk"],
    ...     ["left", "left", "right"],
    ...     columns={"judge": ["ann", "ann", "bob"]},
    ... )
    >>> posterior = fit(from_numpyro(judges), votes, num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(posterior)]
    ['bias[ann]', 'bias[bob]']
    """
    return NumPyroModel(function, ties, order_effect, link)


@dataclass(frozen=True, repr=False)
class NumPyroModel(PreferenceModel):
    """A model by a NumPyro function; made by :func:`from_numpyro`."""

    function: Callable[[Votes], Any]
    ties: bool = False
    order_effect: bool = True
    link: Callable[[Any], Any] | None = None

    methods: ClassVar[tuple[str, ...]] = ("laplace", "svi", "nuts")
    """Nothing is known of it in closed form."""

    def __post_init__(self) -> None:
        """Raise ``FitError`` for what is no function, or no flag."""
        for name, value in (("function", self.function), ("link", self.link)):
            if not callable(value) and not (name == "link" and value is None):
                raise FitError(name, "must be a function", value)
        true_or_false(self.ties, "ties", kind=FitError)
        true_or_false(self.order_effect, "order_effect", kind=FitError)

    def __repr__(self) -> str:
        # Without the address of the function, which differs from run to run.
        name = getattr(self.function, "__qualname__", repr(self.function))
        said = f", ties={self.ties}, order_effect={self.order_effect}"
        return f"from_numpyro({name}{said})"

    utility_decides: ClassVar[bool] = True

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name of the function, in words."""
        name = getattr(self.function, "__name__", "own model")
        return name.strip("_<>").replace("_", " ")

    def __call__(self, votes: Votes) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        import jax
        import jax.numpy as jnp

        counts = jnp.asarray(votes.counts)
        logits = jnp.asarray(self.function(votes))
        if logits.shape == counts.shape[:1] and not self.ties:
            logits = jnp.stack([logits, jnp.zeros_like(logits)], axis=1)
        if logits.shape != counts.shape:
            shapes = f"({len(counts)},) or " * (not self.ties) + str(counts.shape)
            raise FitError(
                self.title,
                f"must return an array of the shape {shapes}, one entry for each row "
                "and outcome",
                logits.shape,
                remedy="ties=True has three" if logits.shape[-1:] == (3,) else "",
            )
        return count_votes(counts, jax.nn.log_softmax(logits, axis=1))

    def arrays(self, data: Comparisons) -> Votes:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        check_kind(self, data, Comparisons)
        return replace(votes_of(self, data), covariates=data.covariates)

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns that the function reads."""
        return _layout(self).reads

    def completed(self, data: Comparisons) -> Comparisons:
        """Return votes with the columns that the function reads: one label, or 0."""
        layout = _layout(self)
        numbers = [name for name in layout.reads if name not in layout.labelled]
        return with_one_label(data, layout.labelled, numbers)

    def preference_matrices(self, draws: Draws) -> Values:
        """Return P(i beats j in a vote that is no tie), nobody shown first."""
        import jax
        import jax.numpy as jnp

        utility = draws["utility"]
        plain = namespace(utility) is np
        with jax.enable_x64(True):
            apart = jnp.asarray(utility)
            apart = apart[:, :, None] - apart[:, None, :]
            matrices = jnp.asarray((self.link or jax.nn.sigmoid)(apart))
            matrices = jnp.where(np.eye(apart.shape[1], dtype=bool), 0.5, matrices)
        return np.array(matrices) if plain else matrices

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity, told by their lengths."""
        return dict(_layout(self).dims)

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        labels = {name: list(known) for name, known in data.labels.items()}
        return {"arm": list(data.arm_names)} | labels


class _Layout(NamedTuple):
    """Arguments of a function, and the axes of the quantities that it names."""

    reads: tuple[str, ...]
    labelled: tuple[str, ...]
    dims: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Watched(Votes):
    """Votes that have any column, and take note of which are read."""

    seen: Any = None

    def __getitem__(self, name: str) -> Values:
        self.seen.setdefault(name, None)
        return np.zeros(len(self.first), dtype=np.int32)

    def size(self, name: str) -> int:
        sizes = [size for size in self.seen.values() if size is not None]
        if self.seen.get(name) is None:
            self.seen[name] = _FIRST_SIZE + 2 * len(sizes)
        return self.seen[name]


@lru_cache(maxsize=64)
def _layout(model: NumPyroModel) -> _Layout:
    import jax
    import jax.numpy as jnp
    from numpyro import handlers

    seen: dict[str, int | None] = {}
    none = np.zeros(_ROWS, dtype=np.int32)
    votes = _Watched(
        first=none,
        second=none,
        counts=np.zeros((_ROWS, 3 if model.ties else 2)),
        covariates=np.zeros((_NUM_ARMS, 0)),
        num_arms=_NUM_ARMS,
        seen=seen,
    )

    def sites() -> dict[str, Array]:
        seeded = handlers.seed(model, rng_seed=jax.random.key(0))
        trace = handlers.trace(seeded).get_trace(votes)
        return {
            name: jnp.asarray(site["value"])
            for name, site in trace.items()
            if site["type"] in ("sample", "deterministic") and name != "votes"
        }

    with jax.enable_x64(True):
        shapes = {name: value.shape for name, value in jax.eval_shape(sites).items()}
    if shapes.get("utility") != (_NUM_ARMS,):
        what = f"is not among {', '.join(shapes) or 'none'}"
        if "utility" in shapes:
            what = f"has the shape {shapes['utility']} for {_NUM_ARMS} arms"
        rule = f"{model.title} must have a site 'utility', one number for each arm, "
        rule += f"which {what}"
        remedy = "numpyro.deterministic('utility', ...) gives a quantity that name"
        raise FitError("model", rule, remedy=remedy)
    axes = {_NUM_ARMS: "arm"} | {size: name for name, size in seen.items() if size}
    dims = {
        name: tuple(
            axes.get(length, f"{name}_dim_{axis}") for axis, length in enumerate(shape)
        )
        for name, shape in shapes.items()
    }
    labelled = tuple(name for name, size in seen.items() if size is not None)
    return _Layout(tuple(seen), labelled, dims)
