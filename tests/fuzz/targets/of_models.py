"""Public functions to fuzz in `bayesduel.models` and `bayesduel.inference`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesduel import inference, models
from bayesduel.models.catalog import sources
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target


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
    found = Made(v.utility_fit)
    return {
        **{
            each.kind: target(fitted(each.cls), _PAIRWISE)
            for each in sources()
            if each.word and not each.needs and each.word != "beta"
        },
        "RaoKupper": target(fitted(models.RaoKupper), _PAIRWISE, ties=[True, False]),
        "JudgedBradleyTerry": target(
            fitted(models.JudgedBradleyTerry),
            _PAIRWISE,
            data=[Made(v.shown_votes), Made(v.some_votes), Made(v.ballots)],
            spread_scale=[1.0, 0],
            discrimination=[False, True],
            discrimination_scale=[0.5, 0],
            order_effect=[True, False],
        ),
        "LinearUtilities": target(
            fitted(models.LinearUtilities),
            _PAIRWISE,
            data=[Made(v.known_votes), Made(v.some_votes), Made(v.ballots)],
            features=[
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
            covariates=[True, False],
            covariate_scale=[2.0, 1e6],
        ),  # fmt: skip
        "MultinomialLogit": target(
            fitted(models.MultinomialLogit), _UTILITY, data=[Made(v.choices)]
        ),
        "ConditionalLogit": target(fitted(models.ConditionalLogit), _LOGIT),
        "MixedLogit": target(
            fitted(models.MixedLogit),
            _LOGIT,
            random=[None, ("attribute 1",), ("x",), (), "attribute 1", (1,)],
            spread_scale=[3.0, 0],
        ),
        "PlackettLuce": target(
            fitted(models.PlackettLuce), _UTILITY, data=[Made(v.ballots)]
        ),
        "NumPyroModel": target(
            fitted(models.NumPyroModel),
            data=[Made(v.shown_votes), *v.DATA],
            function=[v.one_scale, 3, None],
            ties=[False, True],
            order_effect=[False, True],
            link=[None, 3],
        ),
        "from_numpyro": target(
            models.from_numpyro,
            function=[v.one_scale, 3, None],
            ties=[False, True],
            order_effect=[True, False],
            link=[None, 3, "logit"],
        ),
        "PairwiseBeta": target(
            fitted(models.PairwiseBeta),
            data=v.DATA,
            prior=[1.0, ((1.0,) * 3,) * 3, [[1.0] * 3] * 3, ((1.0, -1.0),) * 2],
            ties=[False, True],
            tie_prior=[(1.0, 2.0), (1.0,), (0.0, 1.0), [1.0, 2.0]],
        ),
        "Fit.sample": target(
            inference.Fit.sample, of=found, rng_key=v.KEYS, num_draws=v.NUMBERS
        ),
        "Fit.sample_utilities": target(
            inference.Fit.sample_utilities,
            of=found,
            rng_key=v.KEYS,
            num_draws=v.NUMBERS,
        ),
        "Fit.rank_intervals": target(
            inference.Fit.rank_intervals,
            of=found,
            probability=v.PROBABILITIES,
            by=[None, "borda", "utility", "elo"],
        ),
        "Fit.ranks": target(
            inference.Fit.ranks,
            of=Made(v.beta_fit),
            probability=v.PROBABILITIES,
            by=[None, "copeland"],
        ),
        "Fit.as_record": target(
            inference.Fit.as_record,
            of=found,
            probability=v.PROBABILITIES,
            scale=["utility", "elo", "glicko"],
            anchor=[None, ("tea", 1000.0), ("wine", 0), ("tea",), "tea"],
            cluster=[None, "judge", 1],
        ),
        "Fit.to_dataframe": target(
            inference.Fit.to_dataframe,
            of=found,
            probability=v.PROBABILITIES,
            scale=["utility", "elo", "odd"],
        ),
        "Fit.clustered_errors": target(
            inference.Fit.clustered_errors,
            of=Made(v.judged_fit),
            cluster=["judge", "prompt", 1, None, ["judge"]],
        ),
        "Fit.to_datatree": target(
            inference.Fit.to_datatree, v.TREE, of=Made(v.beta_fit)
        ),
        "fit": target(
            inference.fit,
            v.OPTIONS,
            model=v.MODELS,
            data=v.DATA,
            num_chains=v.NUMBERS,
            max_iterations=[100, 10**12],
            resample=[True, False],
            guide=["normal", "odd"],
            num_steps=[2000, 10**12],
            step_size=[0.02],
            num_warmup=[300, 10**12],
            target_acceptance=[0.9, 1.0],
            dense_mass=[False, True],
        ),
        "contrasts": target(
            inference.contrasts,
            posterior=v.POSTERIORS,
            reference=["tea", "mead", 1, None, ["tea"]],
            probability=v.PROBABILITIES,
            equivalent=[None, 0.1, -1.0, "x", np.inf],
            scale=["utility", "elo", "glicko"],
        ),
        "fit_groups": target(
            inference.fit_groups,
            v.OPTIONS,
            model=[models.BradleyTerry(), *v.MODELS],
            data=[Made(v.judged_votes), *v.DATA],
            by=["judge", "context", 1, None, ["judge"]],
            on_progress=[None],
        ),
        "GroupFits.to_dataframe": target(
            inference.GroupFits.to_dataframe,
            of=Made(v.group_fits),
            probability=v.PROBABILITIES,
            scale=["utility", "elo", "odd"],
        ),
        "fit_mode": target(
            inference.fit_mode,
            model=[models.BradleyTerry(), *v.MODELS],
            data=[*v.DATA, None],
        ),
        "ModeFit.contrasts": target(
            inference.ModeFit.contrasts,
            of=Made(v.mode_fit),
            arms=[["tea"], "tea", ["mead"], 1, [["tea"]], []],
            reference=["tea", "mead", 1, None],
            probability=v.PROBABILITIES,
            equivalent=[None, 0.1, -1.0, "x"],
        ),
        "ModeFit.sample_utilities": target(
            inference.ModeFit.sample_utilities,
            of=Made(v.mode_fit),
            rng_key=v.KEYS,
            num_draws=v.NUMBERS,
        ),
        "ModeFit.standings": target(
            inference.ModeFit.standings,
            of=Made(v.mode_fit),
            probability=v.PROBABILITIES,
            num_draws=v.NUMBERS,
            rng_key=v.KEYS,
        ),
        "ModeFit.parameters": target(
            inference.ModeFit.parameters,
            of=Made(v.mode_fit),
            probability=v.PROBABILITIES,
        ),
        "standings": target(
            inference.standings,
            posterior=v.POSTERIORS,
            probability=v.PROBABILITIES,
            scale=["utility", "elo", "glicko"],
            anchor=[None, ("tea", 1000.0), ("wine", 0), ("tea",), "tea"],
            cluster=[None, "judge", 1],
        ),
        "parameter_summary": target(
            inference.parameter_summary,
            posterior=v.POSTERIORS,
            probability=v.PROBABILITIES,
            cluster=[None, "judge", 1],
        ),
    }
