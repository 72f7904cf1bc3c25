"""Preference models: a NumPyro function, and methods around it.

JAX and NumPyro are imported by what runs the function, not by what describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float, Float64, Shaped

from bayesduel.errors import FitError
from bayesduel.models.array_modules import Values, namespace
from bayesduel.votes.comparisons import OUTCOMES, Comparisons

if TYPE_CHECKING:
    from jax import Array

    from bayesduel.models.closed_forms import ClosedDensity


def axes_of(model: PreferenceModel, name: str, number: int) -> tuple[str, ...]:
    """Return names of the axes of a quantity: the model's own, or numbered ones."""
    axes = model.dims().get(name)
    if axes is None:
        # As ArviZ calls them.
        return tuple(f"{name}_dim_{axis}" for axis in range(number))
    if isinstance(axes, str) or len(axes) != number:
        rule = f"must give {name} a tuple of {number} names of axes in "
        rule += f"{type(model).__name__}.dims(): that is how many axes a draw of it has"
        raise FitError("model", rule, axes)
    return tuple(axes)


def labels_along(
    model: PreferenceModel, data: Any, sizes: Mapping[Any, int]
) -> dict[str, list[str]]:
    """Return the labels that the model has for axes of these lengths."""
    by_axis = {}
    for axis, labels in model.coords(data).items():
        if axis not in sizes:
            continue
        if len(labels) != sizes[axis]:
            rule = f"must give {axis} {sizes[axis]} labels in "
            rule += f"{type(model).__name__}.coords(), one to each entry along it"
            raise FitError("model", rule, len(labels))
        by_axis[axis] = list(labels)
    return by_axis


def entries_of(
    model: PreferenceModel, data: Any, name: str, shape: Sequence[int]
) -> list[str]:
    """Name the entries of a quantity, as "bias[judge 3]", the last axis fastest."""
    if not shape:
        return [name]
    axes = axes_of(model, name, len(shape))
    labels = labels_along(model, data, dict(zip(axes, shape, strict=True)))
    along = [
        labels.get(axis, range(size)) for axis, size in zip(axes, shape, strict=True)
    ]
    return [f"{name}[{', '.join(map(str, entry))}]" for entry in product(*along)]


NONE = "none"  # Name of the outside option among the outcomes.

Draws = Mapping[str, Any]
"""Values of the named quantities of a model, one row per draw."""


class PreferenceModel:
    """A joint distribution of votes and of what they depend on.

    Subclasses are frozen dataclasses. Calling one with the arrays of a data set *is*
    the NumPyro model: it samples the unknown quantities from their prior, adds the log
    likelihood of the votes, and returns log P(outcome) for every row of the data. All
    methods of inference, the predictions and the diagnostics share that one definition.
    """

    title: ClassVar[str] = ""
    """The name in words."""

    word: ClassVar[str] = ""
    """The name of the model in ``fit --model`` and ``d-ts:posterior=``. For models of
    the package it is read from the source of the class."""

    needs: ClassVar[str] = ""
    """The data of the model where they are not votes on pairs: "sets", "attributes" or
    "rankings"; "features" if it needs votes on pairs and features."""

    in_log_odds: ClassVar[bool] = True
    """Whether differences of utilities are logarithms of odds, as on Elo's scale."""

    methods: ClassVar[tuple[str, ...]] = ("laplace", "svi", "nuts")
    """Ways to compute the posterior, the quickest one first, last the reference."""

    auxiliary: ClassVar[tuple[str, ...]] = ()
    """Quantities that tables leave out: others say the same in a usual unit, or there
    are as many as persons."""

    utility_decides: ClassVar[bool] = False
    """Whether i beats j exactly where its utility is larger, the more the larger. The
    best arm is then the same one in every sense."""

    @property
    def usual_method(self) -> str:
        """The first method that "auto" tries."""
        return self.methods[0]

    def __call__(self, arrays: Any) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        raise NotImplementedError

    def arrays(self, data: Any) -> Any:
        """Check data against the model; return them as a pytree of NumPy arrays.

        It has a field ``counts`` (row, outcome), the votes. Rows may be others than
        those of the data, such as one per judge and pair: :meth:`dims` and
        :meth:`coords` then name them. For ``Comparisons`` fields ``first`` and
        ``second``, numbers of arms by row, let
        :func:`~bayesduel.diagnostics.compare_models` put the votes of several models
        side by side.

        Raises
        ------
        FitError
            If the data are of another kind, or hold what the model has no place for.
        """
        raise NotImplementedError

    def completed(self, data: Any) -> Any:
        """Return votes of which only the arms are known, with what the model reads.

        For policies, which are told who won, and not who judged: as if one judge had
        cast all votes.
        """
        return data

    def preference_matrices(self, draws: Draws) -> Float[np.ndarray, "draw K K"]:
        """Return P(i beats j in a vote that is no tie), diagonal 1/2, per draw."""
        raise NotImplementedError

    def utilities(self, draws: Draws) -> Values:
        """Return the utility of each arm for each draw, or None where there is none.

        By default the quantity ``utility``.
        """
        if "utility" not in draws:
            return None
        return namespace(draws["utility"]).asarray(draws["utility"])

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity.

        Axes that are not named are called ``<quantity>_dim_0`` and so on. Under
        ``votes``, (row, outcome): where rows are the model's own, the first is what
        they are called.
        """
        raise NotImplementedError

    def coords(self, data: Any) -> dict[str, list[str]]:
        """Return labels along the named axes, those of rows of the model's own too."""
        return {"arm": list(data.arm_names)}

    def parts(self, data: Any) -> list[list[str]]:
        """Return the names of arms whose order votes tell, the largest part first.

        Across parts the posterior says what the prior says.
        """
        return data.parts()

    def remarks(self, data: Any) -> tuple[str, ...]:
        """Return what one should know of the model for these data."""
        return ()

    def outcomes(self, data: Any) -> tuple[str, ...]:
        """Return what a vote can say, in the order of the counts.

        By default: first, second and, with ``ties``, tie; of ``Choices`` the arms, and
        "none" where there is an outside option.
        """
        if isinstance(data, Comparisons):
            return OUTCOMES if getattr(self, "ties", False) else OUTCOMES[:2]
        return (*data.arm_names, NONE) if data.outside else data.arm_names

    def hessian(
        self, arrays: Any
    ) -> Callable[[Float[Array, " D"]], Float[Array, "D D"]] | None:
        """Return the Hessian of the log joint density in closed form, or None.

        In the coordinates of :func:`~bayesduel.models.fit.numpyro_models.latent_of`.
        Without one it is found by automatic differentiation.
        """
        return None

    def closed_form(self, arrays: Any) -> Any:
        """Return the log joint density in closed form, or None.

        In the coordinates of :func:`~bayesduel.models.fit.numpyro_models.latent_of`, as
        :class:`~bayesduel.models.closed_forms.ClosedDensity` has it. With it Laplace's
        method needs neither JAX nor NumPyro.
        """
        return None

    def at_scale(self, arrays: Any, scale: float) -> ClosedDensity | None:
        """Return :meth:`closed_form` given a scale that is otherwise learned, or None.

        None where no scale is learned, too.
        """
        return None

    def exact_posterior(self, arrays: Any) -> Any:
        """Return the posterior in closed form, where "exact" is a method."""
        rule = f"must not be 'exact': {type(self).__name__} has no posterior in closed "
        rule += "form"
        raise FitError("method", rule, "exact")


def count_votes(
    counts: Float[Array, "row outcome"], log_probability: Float[Array, "row outcome"]
) -> Float[Array, "row outcome"]:
    """Add the log likelihood sum(counts * log_probability); return the latter.

    The unit is one vote, so no binomial coefficient enters. Outcomes that never
    happened add nothing, impossible ones included.
    """
    import jax.numpy as jnp
    import numpyro

    happened = counts > 0
    terms = jnp.where(happened, counts * jnp.where(happened, log_probability, 0.0), 0.0)
    numpyro.factor("votes", jnp.sum(terms))
    return log_probability


def sample(name: str, distribution: Any) -> Shaped[Array, "*shape"]:
    """Sample an unknown quantity of a model from its prior.

    Use it inside the function of a model of your own (:func:`from_numpyro`), once for
    each unknown quantity. Fits then have draws of the quantity under its name. It does
    what ``numpyro.sample`` does without observations; ``numpyro.sample`` works in a
    model as well.

    Parameters
    ----------
    name : str
        The name of the quantity, used only once in a model. ``utility`` is the name of
        the utilities of arms.
    distribution : numpyro.distributions.Distribution
        The prior.

    Returns
    -------
    jax.Array
        A value of the shape of one draw from the prior.

    Examples
    --------
    A Bradley-Terry model with a wide prior:

    >>> from numpyro import distributions as dist
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import from_numpyro, sample
    >>> from bayesduel.votes import Comparisons
    >>> def quality(votes):
    ...     prior = dist.ZeroSumNormal(3.0, event_shape=(votes.num_arms,))
    ...     utility = sample("utility", prior)
    ...     return utility[votes.first] - utility[votes.second]
    >>> votes = Comparisons.from_wins([[0, 14, 17], [6, 0, 12], [3, 8, 0]])
    >>> model = from_numpyro(quality, order_effect=False)
    >>> posterior = fit(model, votes, method="laplace")
    >>> posterior.draws["utility"].shape
    (4, 1000, 3)
    """
    import jax.numpy as jnp
    import numpyro

    return jnp.asarray(numpyro.sample(name, distribution))


def derived(
    name: str, value: Shaped[Array | np.ndarray, "*shape"]
) -> Shaped[Array, "*shape"]:
    """Name a quantity that is computed from sampled ones, so that fits report it.

    Use it inside the function of a model of your own (:func:`from_numpyro`), for
    everything that you want to read from the fit: a difference, an effect in another
    unit, a probability. It does not change the model, and the fit has draws of it and
    lists it in :func:`bayesduel.inference.parameter_summary`. It does what
    ``numpyro.deterministic`` does.

    Parameters
    ----------
    name : str
        The name of the quantity, used only once in a model.
    value : array-like
        The quantity, computed from values that :func:`sample` returned.

    Returns
    -------
    jax.Array
        ``value`` as an array of JAX.

    Examples
    --------
    The lead of arm 0 over arm 1, with its posterior mean:

    >>> from numpyro import distributions as dist
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import derived, from_numpyro, sample
    >>> from bayesduel.votes import Comparisons
    >>> def quality(votes):
    ...     prior = dist.ZeroSumNormal(2.0, event_shape=(votes.num_arms,))
    ...     utility = sample("utility", prior)
    ...     derived("lead", utility[0] - utility[1])
    ...     return utility[votes.first] - utility[votes.second]
    >>> votes = Comparisons.from_wins([[0, 14, 17], [6, 0, 12], [3, 8, 0]])
    >>> model = from_numpyro(quality, order_effect=False)
    >>> posterior = fit(model, votes, method="laplace")
    >>> round(float(posterior.draws["lead"].mean()), 1)
    1.0
    """
    import jax.numpy as jnp
    import numpyro

    return jnp.asarray(numpyro.deterministic(name, value))


def check_kind(model: Any, data: Any, kind: type, remedy: str = "") -> None:
    """Raise unless ``data`` is of the kind that the model is about."""
    if not isinstance(data, kind):
        rule = f"must be {kind.__name__}, which {type(model).__name__} is fitted to"
        raise FitError("data", rule, type(data).__name__, remedy=remedy)


def register_arrays[T: type](cls: T) -> T:
    """Register a frozen dataclass of arrays as a pytree.

    Its ``num_arms``, ``sizes`` of labels and units of covariates are static.
    """
    import jax

    names = list(cls.__dataclass_fields__)
    known = "num_arms", "sizes", "contest_units"
    static = [name for name in names if name in known]
    return jax.tree_util.register_dataclass(
        cls, [name for name in names if name not in static], static
    )


def pairwise(
    link: Any, utility: Float[np.ndarray, "draw K"]
) -> Float64[np.ndarray, "draw K K"]:
    """Return link(u_i - u_j) with the diagonal 1/2 exactly."""
    matrix = link(utility[:, :, None] - utility[:, None, :])
    arms = np.arange(utility.shape[1])
    matrix[:, arms, arms] = 0.5
    return matrix


def check_model(model: Any) -> None:
    """Raise unless something is a model, and not the class of one."""
    if not isinstance(model, PreferenceModel):
        remedy = "add parentheses to the class" if isinstance(model, type) else ""
        rule = "must be a model such as BradleyTerry()"
        raise FitError("model", rule, model, remedy=remedy)
