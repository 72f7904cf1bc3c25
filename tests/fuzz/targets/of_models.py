"""What is public in `bayesduel.models` and `bayesduel.inference`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesduel import inference, models
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target


def fitted(kind: type) -> Callable[..., Any]:
    """Return a function that makes a model and has it read data."""

    def make(data: Any, **parameters: Any) -> None:
        kind(**parameters).arrays(data)

    own = inspect.signature(kind).parameters.values()
    data = inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    make.__signature__ = inspect.Signature([data, *own])  # pyright: ignore
    return make


_UTILITY = {
    "prior_scale": [2.0, 1],
    "zero_sum": [False, True],
    "learn_scale": [False, True],
}
_PAIRWISE = _UTILITY | {
    "data": [Made(v.some_votes), Made(v.tied_votes), Made(v.ballots)],
    "ties": [False, True],
    "tie_scale": [2.0],
    "order_effect": [False, True],
    "order_scale": [1.0],
    "covariates": [False, True],
    "covariate_scale": [1.0],
    "residual": [False, True],
    "contest_covariates": [False, True],
    "contest_scale": [1.0],
}
_LOGIT = {
    "data": [Made(v.priced_choices), Made(v.choices), Made(v.ballots)],
    "constants": [False, True],
    "prior_scale": [100.0, 1],
}


def of_models() -> dict[str, Target]:
    """Return what is public in `bayesduel.models` and `bayesduel.inference`."""
    self = {"self": Made(v.utility_fit)}
    return {
        "BradleyTerry": Target(fitted(models.BradleyTerry), _PAIRWISE),
        "Thurstone": Target(fitted(models.Thurstone), _PAIRWISE),
        "RaoKupper": Target(
            fitted(models.RaoKupper), _PAIRWISE | {"ties": [True, False]}
        ),
        "JudgedBradleyTerry": Target(
            fitted(models.JudgedBradleyTerry),
            _PAIRWISE
            | {
                "data": [Made(v.shown_votes), Made(v.some_votes), Made(v.ballots)],
                "spread_scale": [1.0, 0],
                "discrimination": [False, True],
                "discrimination_scale": [0.5, 0],
                "order_effect": [True, False],
            },
        ),
        "LinearUtilities": Target(
            fitted(models.LinearUtilities),
            _PAIRWISE
            | {
                "data": [Made(v.known_votes), Made(v.some_votes), Made(v.ballots)],
                "features": [
                    np.eye(3),
                    None,
                    [[1.0], [0.0], [np.nan]],
                    np.eye(2),
                    3,
                    "x",
                    [[1e300], [-1e300], [0.0]],
                    [[1e9], [-1e9], [0.0]],
                    [[0.0], [0.0], [0.0]],
                ],
                "covariates": [True, False],
                "covariate_scale": [2.0, 1e6],
            },
        ),  # fmt: skip
        "MultinomialLogit": Target(
            fitted(models.MultinomialLogit), _UTILITY | {"data": [Made(v.choices)]}
        ),
        "ConditionalLogit": Target(fitted(models.ConditionalLogit), _LOGIT),
        "MixedLogit": Target(
            fitted(models.MixedLogit),
            _LOGIT
            | {
                "random": [None, ("attribute 1",), ("x",), (), "attribute 1", (1,)],
                "spread_scale": [3.0, 0],
            },
        ),
        "PlackettLuce": Target(
            fitted(models.PlackettLuce), _UTILITY | {"data": [Made(v.ballots)]}
        ),
        "NumPyroModel": Target(
            fitted(models.NumPyroModel),
            {
                "data": [Made(v.shown_votes), *v.DATA],
                "function": [v.one_scale, 3, None],
                "ties": [False, True],
                "order_effect": [False, True],
                "link": [None, 3],
            },
        ),
        "from_numpyro": Target(
            models.from_numpyro,
            {
                "function": [v.one_scale, 3, None],
                "ties": [False, True],
                "order_effect": [True, False],
                "link": [None, 3, "logit"],
            },
        ),
        "PairwiseBeta": Target(
            fitted(models.PairwiseBeta),
            {
                "data": v.DATA,
                "prior": [1.0, ((1.0,) * 3,) * 3, [[1.0] * 3] * 3, ((1.0, -1.0),) * 2],
                "ties": [False, True],
                "tie_prior": [(1.0, 2.0), (1.0,), (0.0, 1.0), [1.0, 2.0]],
            },
        ),
        "Fit.sample": Target(
            inference.Fit.sample,
            {"rng_key": v.KEYS, "num_draws": v.NUMBERS},
            self,
        ),
        "Fit.sample_utilities": Target(
            inference.Fit.sample_utilities,
            {"rng_key": v.KEYS, "num_draws": v.NUMBERS},
            self,
        ),
        "Fit.rank_intervals": Target(
            inference.Fit.rank_intervals,
            {"probability": v.PROBABILITIES, "by": [None, "borda", "utility", "elo"]},
            self,
        ),
        "Fit.ranks": Target(
            inference.Fit.ranks,
            {"probability": v.PROBABILITIES, "by": [None, "copeland"]},
            {"self": Made(v.beta_fit)},
        ),
        "Fit.to_dataframe": Target(
            inference.Fit.to_dataframe,
            {"probability": v.PROBABILITIES, "scale": ["utility", "elo", "odd"]},
            self,
        ),
        "Fit.clustered_errors": Target(
            inference.Fit.clustered_errors,
            {"cluster": ["judge", "prompt", 1, None, ["judge"]]},
            {"self": Made(v.judged_fit)},
        ),
        "Fit.to_datatree": Target(
            inference.Fit.to_datatree,
            v.TREE,
            {"self": Made(v.beta_fit)},
        ),
        "fit": Target(
            inference.fit,
            {
                "model": v.MODELS,
                "data": v.DATA,
                **v.OPTIONS,
                "num_chains": v.NUMBERS,
                "max_iterations": [100, 10**12],
                "resample": [True, False],
                "guide": ["normal", "odd"],
                "num_steps": [2000, 10**12],
                "step_size": [0.02],
                "num_warmup": [300, 10**12],
                "target_acceptance": [0.9, 1.0],
                "dense_mass": [False, True],
            },
        ),
        "contrasts": Target(
            inference.contrasts,
            {
                "posterior": v.POSTERIORS,
                "reference": ["tea", "mead", 1, None, ["tea"]],
                "probability": v.PROBABILITIES,
                "equivalent": [None, 0.1, -1.0, "x", np.inf],
                "scale": ["utility", "elo", "glicko"],
            },
        ),
        "fit_groups": Target(
            inference.fit_groups,
            {
                "model": [models.BradleyTerry(), *v.MODELS],
                "data": [Made(v.judged_votes), *v.DATA],
                "by": ["judge", "context", 1, None, ["judge"]],
                **v.OPTIONS,
            },
        ),
        "GroupFits.to_dataframe": Target(
            inference.GroupFits.to_dataframe,
            {"probability": v.PROBABILITIES, "scale": ["utility", "elo", "odd"]},
            {"self": Made(v.group_fits)},
        ),
        "fit_mode": Target(
            inference.fit_mode,
            {"model": [models.BradleyTerry(), *v.MODELS], "data": [*v.DATA, None]},
        ),
        "ModeFit.contrasts": Target(
            inference.ModeFit.contrasts,
            {
                "arms": [["tea"], "tea", ["mead"], 1, [["tea"]], []],
                "reference": ["tea", "mead", 1, None],
                "probability": v.PROBABILITIES,
                "equivalent": [None, 0.1, -1.0, "x"],
            },
            {"self": Made(v.mode_fit)},
        ),
        "standings": Target(
            inference.standings,
            {
                "posterior": v.POSTERIORS,
                "probability": v.PROBABILITIES,
                "scale": ["utility", "elo", "glicko"],
                "anchor": [None, ("tea", 1000.0), ("wine", 0), ("tea",), "tea"],
                "cluster": [None, "judge", 1],
            },
        ),
        "parameter_summary": Target(
            inference.parameter_summary,
            {
                "posterior": v.POSTERIORS,
                "probability": v.PROBABILITIES,
                "cluster": [None, "judge", 1],
            },
        ),
    }
