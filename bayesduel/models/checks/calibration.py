"""Simulation-based calibration: posteriors hold the truth as often as they say.

If a quantity is drawn from the prior, data from the model given it, and the posterior
is computed from the data, then the rank of the true value among independent posterior
draws is uniform (Cook, Gelman and Rubin 2006; Talts et al. 2018). Approximations may
fail that; how far they do tells what they are good for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import NDArray
from scipy import stats

from bayesduel.arguments.limits import MOST_STEPS
from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_numbers, check_probability
from bayesduel.models.base import PreferenceModel, check_model
from bayesduel.models.fit.draws import as_key, generator_of
from bayesduel.models.fit.laplace_draws import sample_laplace
from bayesduel.models.fit.numpyro_models import (
    SamplerSettings,
    log_probabilities_of,
    run_nuts,
    sample_prior,
)
from bayesduel.models.fit.predictions import (
    check_whole,
    log_probabilities_of_rows,
    simulate_arrays,
)
from bayesduel.models.fit.variational import sample_svi
from bayesduel.votes.rankings import Rankings
from theory.arguments import integer_from, one_of, seed_of, true_or_false

_SIDE_BY_SIDE = 40  # Data sets that one program fits at once, at most.
# A quantity of the data too: it notices a posterior that ignores them.
_LOG_LIKELIHOOD = "log_likelihood"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Ranks of true values among posterior draws.

    Attributes
    ----------
    ranks : dict of int arrays (simulation, ...)
        For each named quantity, and for ``log_likelihood``: how many of ``num_draws``
        posterior draws lie below the true value.
    num_draws : int
        L; ranks are uniform on 0, ..., L.
    """

    ranks: dict[str, NDArray[np.int64]]
    num_draws: int

    def histograms(self, bins: int = 10) -> dict[str, Int64[np.ndarray, "bin ..."]]:
        """Count ranks in bins of equal width, (bin, ...).

        Parameters
        ----------
        bins : int
            At least 2; must divide ``num_draws + 1``.

        Raises
        ------
        FitError
            For another number of bins.
        """
        # In one bin there is nothing to compare.
        bins = check_numbers("bins", bins, least=2)
        if (self.num_draws + 1) % bins:
            raise FitError("bins", f"must divide {self.num_draws + 1}", bins)
        width = (self.num_draws + 1) // bins
        return {
            name: np.stack(
                [np.sum(ranks // width == bin_, axis=0) for bin_ in range(bins)]
            )
            for name, ranks in self.ranks.items()
        }

    def p_values(self, bins: int = 10) -> dict[str, Float64[np.ndarray, "..."]]:
        """Return chi-square p-values of uniform ranks, one per quantity."""
        return {
            name: np.asarray(stats.chisquare(counts, axis=0).pvalue)
            for name, counts in self.histograms(bins).items()
        }

    def coverage(
        self, probability: float = 0.9
    ) -> dict[str, Float64[np.ndarray, "..."]]:
        """Return how often the central interval of the draws held the truth.

        Parameters
        ----------
        probability : float
            Of the interval, in (0, 1); rounded so that a whole number of ranks lies on
            either side.
        """
        probability = check_probability(probability)
        ranks = self.num_draws + 1
        tail = round(0.5 * (1.0 - probability) * ranks)
        return {
            name: np.mean((rank >= tail) & (rank < ranks - tail), axis=0)
            for name, rank in self.ranks.items()
        }

    def smallest_p_value(self, bins: int = 10) -> float:
        """Return the smallest p-value times the number of quantities (Bonferroni)."""
        every = np.concatenate(
            [np.ravel(values) for values in self.p_values(bins).values()]
        )
        return float(min(1.0, every.min() * every.size))


def calibrate(
    model: PreferenceModel,
    data: Any,
    *,
    method: str = "nuts",
    num_simulations: int = 200,
    num_draws: int = 99,
    thinning: int = 4,
    num_warmup: int = 300,
    resample: bool = True,
    rng_key: int = 0,
    on_progress: Callable[[int], object] | None = None,
) -> Calibration:
    """Simulate true values and votes, fit the model, and rank the true values.

    Parameters
    ----------
    model : PreferenceModel
        Its priors are what the truths are drawn from: wide ones need no data to be
        right, so choose those of an application.
    data : Comparisons, Rankings or Choices
        How many votes each row has; what they say is not used. Each ballot must be
        cast once.
    method : {"nuts", "auto", "exact", "laplace", "svi"}
        How the posterior is computed; auto: as :func:`~bayesduel.inference.fit` does.
    num_simulations : int
        Data sets; nuts fits up to 40 side by side in one program.
    num_draws : int
        L posterior draws that each truth is ranked among.
    thinning : int
        nuts: every how manieth draw is used, so that they are nearly independent.
    num_warmup : int
        nuts: steps of adaptation.
    resample : bool
        laplace and svi: resample draws by importance, as
        :func:`~bayesduel.inference.fit` does, or take them from the normal
        distribution.
    rng_key : int
    on_progress : callable, optional
        Called with the number of data sets that were fitted, after each, or after some.

    Returns
    -------
    Calibration
        The ranks.

    Raises
    ------
    FitError
        For a method that the model does not have, a number below 1, weighted votes, no
        vote at all, or a ballot that was cast more than once.

    Examples
    --------
    >>> from bayesduel.diagnostics import calibrate
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> votes = Comparisons.from_wins([[0, 5, 5], [5, 0, 5], [5, 5, 0]])
    >>> calibration = calibrate(
    ...     PairwiseBeta(), votes, method="exact", num_simulations=40
    ... )
    >>> calibration.smallest_p_value() > 0.001
    True
    """
    check_model(model)
    one_of(method, ("auto", *model.methods), "method", kind=FitError)
    method = model.usual_method if method == "auto" else method
    num_warmup = integer_from(num_warmup, 1, "num_warmup", MOST_STEPS, kind=FitError)
    thinning = check_numbers("thinning", thinning)
    num_draws = check_numbers("num_draws", num_draws, thinning)
    num_simulations = check_numbers(
        "num_simulations", num_simulations, num_draws * thinning
    )
    true_or_false(resample, "resample", kind=FitError)
    key = as_key(seed_of(rng_key, "rng_key", kind=FitError))
    arrays = model.arrays(data)
    numbers = len(data.arm_names) * num_draws * thinning
    check_numbers("num_simulations", num_simulations, numbers)
    check_whole(data, "calibrate", arrays)
    if not data.num_votes:
        # Without any, every posterior is the prior, and every likelihood the same.
        raise FitError("data", "must hold votes to be calibrated on", data)
    if isinstance(data, Rankings) and np.any(data.counts != 1):
        row = int(np.argmax(data.counts != 1))
        rule = "must hold ballots that are cast once each, to be calibrated on "
        rule += f"({data.row_names[row]} was cast more often)"
        raise FitError("data", rule, float(data.counts[row]), index=row)
    key_prior, key_data, key_fit = jax.random.split(key, 3)
    truths = sample_prior(model, arrays, key_prior, num_simulations)
    rng = generator_of(key_data)
    simulated = [
        simulate_arrays(rng, model, arrays, {k: v[index] for k, v in truths.items()})
        for index in range(num_simulations)
    ]
    parts: Iterator[dict[str, np.ndarray]]
    if method == "exact":
        parts = (
            {
                name: draws[None]
                for name, draws in model.exact_posterior(simulation)
                .sample(rng, num_draws)
                .items()
            }
            for simulation in simulated
        )
    elif method == "nuts":
        settings = SamplerSettings(1, num_draws * thinning, num_warmup)
        parts = _fit_in_groups(model, settings, simulated, key_fit)
        parts = ({name: v[:, ::thinning] for name, v in part.items()} for part in parts)
    else:
        sampler = sample_laplace if method == "laplace" else sample_svi
        keys = jax.random.split(key_fit, len(simulated))
        parts = (
            sampler(model, simulation, key_each, 1, num_draws, resample=resample).draws
            for simulation, key_each in zip(simulated, keys, strict=True)
        )
    fits: list[dict[str, np.ndarray]] = []
    done = 0
    for part in parts:
        fits.append(part)
        done += len(next(iter(part.values())))
        if on_progress is not None:
            on_progress(done)
    draws = {
        name: np.concatenate([fitted[name] for fitted in fits]) for name in fits[0]
    }
    return _ranked(model, simulated, truths, draws)


def _ranked(
    model: PreferenceModel,
    simulated: list[Any],
    truths: dict[str, np.ndarray],
    draws: dict[str, np.ndarray],
) -> Calibration:
    # Log likelihoods of the truth and of the draws, by simulation.
    logs = []
    for index, arrays in enumerate(simulated):
        both = {
            name: np.concatenate([truths[name][index, None], values[index]])
            for name, values in draws.items()
        }
        of_rows = log_probabilities_of(model, arrays, both)
        logs.append(log_probabilities_of_rows(arrays.counts, of_rows).sum(axis=1))
    every = np.array(logs)
    truths[_LOG_LIKELIHOOD], draws[_LOG_LIKELIHOOD] = every[:, 0], every[:, 1:]
    ranks = {
        name: np.sum(draws[name] < values[:, None], axis=1)
        for name, values in truths.items()
        if name in draws
    }
    return Calibration(ranks=ranks, num_draws=every.shape[1] - 1)


def _fit_in_groups(
    model: PreferenceModel,
    settings: SamplerSettings,
    simulated: list[Any],
    rng_key: Any,
) -> Iterator[dict[str, np.ndarray]]:
    number = len(simulated)
    size = max(n for n in range(1, _SIDE_BY_SIDE + 1) if number % n == 0)
    with jax.enable_x64(True):
        keys = jax.random.split(rng_key, number)
        program = jax.jit(jax.vmap(partial(run_nuts, model, settings)))
    for start in range(0, number, size):
        group = slice(start, start + size)
        with jax.enable_x64(True):
            stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *simulated[group])
            draws, _ = program(stacked, keys[group])
        yield {
            name: np.asarray(values)[:, 0]
            for name, values in draws.items()
            if name != "votes"
        }
