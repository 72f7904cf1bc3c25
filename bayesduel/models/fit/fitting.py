"""Fitting a model to data: one entry for all models and all methods."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesduel.arguments.limits import MOST_DRAWS, MOST_FITTED_ARMS, MOST_FITTED_NUMBERS
from bayesduel.errors import DisconnectedComparisonsWarning, FitError
from bayesduel.models.argument_checks import check_options
from bayesduel.models.base import PreferenceModel, check_model
from bayesduel.models.fit.draws import seed_words
from bayesduel.models.fit.fit_result import Fit
from bayesduel.models.utilities import UtilityModel
from bayesduel.votes.checks import shortened
from theory.arguments import integer_from, one_of

if TYPE_CHECKING:
    from bayesduel.models.fit.draws import Sampled
    from bayesduel.types import RunKey

_HOMES = {
    "exact": "draws",
    "laplace": "laplace_draws",
    "svi": "variational",
    "nuts": "numpyro_models",
}
"""Modules of the methods; JAX is imported by those that need it."""


# Unknown numbers for which "auto" runs Markov chains where it has to: a minute.
_MOST_FOR_CHAINS = 256


def _sampler(method: str) -> Callable[..., Sampled]:
    home = import_module(f"bayesduel.models.fit.{_HOMES[method]}")
    return getattr(home, f"sample_{method}")


def fit(
    model: PreferenceModel,
    data: Any,
    *,
    method: str = "auto",
    rng_key: RunKey | int = 0,
    num_draws: int = 1000,
    num_chains: int = 4,
    **options: Any,
) -> Fit:
    """Compute the posterior of a model given data, as draws.

    Parameters
    ----------
    model : PreferenceModel
        For example ``BradleyTerry()``.
    data : Comparisons, Rankings or Choices
        The votes. Without any vote the result is the prior.
    method : {"auto", "exact", "laplace", "svi", "nuts"}
        How draws are made. "exact": independent draws from the conjugate posterior.
        "laplace": draws from the normal distribution around the mode, which Newton's
        method finds. If a scale is learned, there is one such distribution for each of
        many values of the scale. "svi": draws from the closest normal distribution,
        found by stochastic variational inference. Draws of "laplace" and "svi" are
        resampled by importance. This turns them into draws from the posterior itself
        where Pareto k is good; see ``extras["correction"]``. "nuts": Hamiltonian Monte
        Carlo, the reference. "auto": "exact" if the model allows it, and "laplace"
        otherwise. "auto" takes "nuts" if laplace does not fit and there are at most 256
        unknown numbers, or if a scale is learned in a model whose density has no closed
        form given the scale.
    rng_key : int or typed key
        Seed. The same seed gives the same draws. An integer s from 0 to 2^63 - 1 stands
        for ``jax.random.key(s)``; JAX is loaded only if the method needs it.
    num_draws, num_chains : int
        Number of draws per chain, and number of chains. Independent draws are divided
        into the same number of chains. At most 10^7 draws in all, and 2^28 numbers.
    **options
        laplace: ``max_iterations=100``, ``resample=True``; ``resample=False`` keeps the
        draws of the fitted distribution. svi: ``guide="multivariate-normal"`` or
        ``"normal"``, ``num_steps=2000``, ``step_size=0.02``, ``resample=True``. nuts:
        ``num_warmup=1000``, ``target_acceptance=0.9``, ``dense_mass=False``.

    Returns
    -------
    Fit
        The draws, and methods that compute answers from them. No error is raised if a
        method did not converge: see ``converged``, ``remarks``, and
        ``diagnostics.report``.

    Raises
    ------
    FitError
        If the method or the data do not suit the model, or an argument is out of range.

    Warns
    -----
    DisconnectedComparisonsWarning
        If the arms fall into groups that were never compared with one another. The
        posterior is still proper, but differences between groups come from the prior
        alone.

    Notes
    -----
    Everything is computed in 64 bits. For Bradley-Terry and Thurstone with a normal
    prior "laplace" runs on NumPy arrays, with derivatives in closed form, and imports
    no JAX; so does "exact". For Bradley-Terry with many rows, Numba compiles the sum
    over the rows. Everything else is computed by JAX programs, which are reused for
    data of the same shapes. "exact", "laplace" and the draws of "svi" take their random
    numbers from NumPy's generator, seeded by the 32-bit words of the key.

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> posterior = fit(BradleyTerry(), votes, method="laplace")
    >>> posterior
    Fit(Bradley-Terry by laplace, resampled, 3 arms, 30 votes, 4 x 1000 draws)
    """
    check_model(model)
    if not isinstance(method, str):
        one_of(method, _HOMES, "method", kind=FitError)
    name = model.usual_method if method == "auto" else method
    if name not in model.methods:
        unknown = "" if name in _HOMES else f"there is no method {name!r}; "
        raise FitError(
            "method",
            f"{unknown}{type(model).__name__} has {', '.join(model.methods)}"
            + (" (its posterior has no closed form)" if name == "exact" else ""),
            method,
        )
    parameters = inspect.signature(_sampler(name)).parameters.values()
    known = [param.name for param in parameters if param.kind is param.KEYWORD_ONLY]
    options = check_options(name, options, known)
    # How many are too many depends on the arms, and is said below.
    num_draws = integer_from(num_draws, 1, "num_draws", 10**400, kind=FitError)
    num_chains = integer_from(num_chains, 1, "num_chains", 10**400, kind=FitError)
    num_arms = len(getattr(data, "arm_names", ()))
    if num_arms > MOST_FITTED_ARMS:
        rule = f"must have at most {MOST_FITTED_ARMS} arms, since tables of all pairs "
        rule += f"({8 * num_arms**2 / 1e9:.1f} GB each) are made"
        remedy = "use fit_mode() (--method mode), which makes none, or fit the arms "
        remedy += "with the most votes"
        raise FitError("data", rule, num_arms, remedy=remedy)
    arrays = model.arrays(data)
    # More draws would not fit into memory, or take hours to look at.
    numbers = num_arms * (num_arms - 1) // 2 if name == "exact" else num_arms
    most = min(MOST_DRAWS, MOST_FITTED_NUMBERS // numbers)
    if num_draws * num_chains > most:
        rule = f"must be at most {most} in all chains, for {num_arms} arms"
        total = num_draws * num_chains
        raise FitError("num_draws", rule, total, remedy="ask for fewer")
    seed_words(rng_key)
    remarks = remarks_on(model, data)
    began = time.perf_counter()
    size = num_chains, num_draws
    sampled = _sampler(name)(model, arrays, rng_key, *size, **options)
    correction = sampled.extras.get("correction")
    if method == "auto" and correction is not None and "nuts" in model.methods:
        doubtful = bool(correction.doubts) or not sampled.converged
        # Chains would have an answer within a minute.
        few = sampled.extras["num_unknown"] <= _MOST_FOR_CHAINS
        if correction.wanted and doubtful and few:
            name, options = "nuts", {}
            sampled = _sampler(name)(model, arrays, rng_key, *size)
            doubt = f"Pareto k {correction.pareto_k:.2f}"
            why = doubt if correction.doubts else "the mode was not found"
            chains = "drawn by Markov chains, since draws by method='laplace' would be "
            remarks = (f"{chains}in doubt here ({why})", *remarks)
    return Fit(
        model=model,
        data=data,
        arrays=arrays,
        method=name,
        draws=sampled.draws,
        sample_stats=sampled.sample_stats,
        converged=sampled.converged,
        remarks=(*sampled.remarks, *remarks),
        seconds=time.perf_counter() - began,
        options=options,
        extras=sampled.extras,
        fresh=sampled.fresh,
    )


def remarks_on(model: PreferenceModel, data: Any) -> tuple[str, ...]:
    """Say what the data leave open; warn where arms were never compared."""
    remarks = [*model.remarks(data)]
    if not data.is_whole:
        remarks.append(
            "some counts are no whole numbers (weighted or split votes): each vote "
            "enters the likelihood to the power of its weight, and intervals are as "
            "wide as the sum of weights makes them"
        )
    parts = model.parts(data)
    if len(parts) > 1:
        names = "; ".join(shortened(part) for part in parts[:4])
        more = f"; and {len(parts) - 4} more parts" if len(parts) > 4 else ""
        text = (
            f"the arms fall into {len(parts)} parts that were never compared with one "
            f"another ({names}{more}): across them the posterior says what the prior "
            "says; compare arms of one part, as ranks and probabilities of being the "
            "best do"
        )
        warnings.warn(text, DisconnectedComparisonsWarning, stacklevel=3)
        remarks.append(text)
    elif (
        isinstance(model, UtilityModel)
        and hasattr(data, "strong_parts")
        # Covariates can tell what no vote says: their estimate may well exist.
        and not getattr(model, "covariates", False)
    ):
        strong = data.strong_parts()
        if len(strong) > 1:
            names = "; ".join(shortened(part, 3) for part in strong[:4])
            more = "; ..." if len(strong) > 4 else ""
            remarks.append(
                f"the votes split the arms into {len(strong)} groups, one of which "
                f"never lost to another ({names}{more}): no maximum-likelihood "
                "estimate exists, and the prior decides how far apart they are"
            )
    return tuple(remarks)
