"""Values for the targets: what takes long to make is made once, when it is needed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpyro
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from numpyro import distributions as dist

import bayesduel
import theory
from bayesduel import analysis, diagnostics, inference, models, papers, votes
from bayesduel.papers.reproducing import PanelResult, Reproduction
from tests import fake_results as fake
from tests.fuzz.fuzzing import HOSTILE


@dataclass(frozen=True)
class Made:
    """A value that is made when it is needed."""

    make: Callable[[], Any]

    def __repr__(self) -> str:
        return f"<{self.make.__name__}>"


@dataclass(frozen=True)
class Target:
    """Something to call, and the values of its arguments."""

    function: Callable[..., Any]
    values: Mapping[str, list[Any]]
    fixed: Mapping[str, Any]
    """Arguments that are never wrong: ``self``."""

    def needed(self) -> set[str]:
        """Return the arguments without a default."""
        kinds = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
        return {
            name
            for name, each in inspect.signature(self.function).parameters.items()
            if each.default is each.empty and each.kind not in kinds
        } - set(self.fixed)


def target(
    function: Callable[..., Any],
    /,
    *shared: Mapping[str, list[Any]],
    of: Any = None,
    **values: list[Any],
) -> Target:
    """Return a target, a method with what it is a method of.

    Each argument has values that are right, the first of which go together, and some
    that are nearly so; later ones replace those that are shared. Any other argument has
    its default.
    """
    given = {name: each for one in (*shared, values) for name, each in one.items()}
    if function.__module__.startswith(("bayesduel.plots.", "bayesduel.papers.")):
        named = inspect.signature(function).parameters
        given |= {name: each for name, each in LOOKS.items() if name in named}
    return Target(function, given, {} if of is None else {"self": of})


LOOKS = {
    "colors": [None, {"d-ts": "#336699", "tea": "C3"}, {"d-ts": "none such"}, "x", 3],
    "names": [None, {"d-ts": "Double", "tea": "Tee"}, {"d-ts": 3}, {3: "x"}, "x"],
}
"""Arguments about lines that every figure takes."""

NAMES = ["tea", "milk", "coffee"]
WINS = [[0, 7, 9], [3, 0, 6], [1, 4, 0]]
ORDERS = [["tea", "milk", "coffee"], ["milk", "tea"], ["coffee", ("tea", "milk")]]
ODD_NAMES = [["a", "a", "b"], ["a\0", "b/c", "d"], ["", "b", "c"], ["a", 1, None]]
FILES = {
    "votes.csv": "left,right,winner,n\ntea,milk,left,1\nmilk,coffee,right,2\n",
    "counts.csv": "a,b,wins_a,wins_b,ties\ntea,milk,7,3,1\ntea,coffee,9,1,0\n",
    "arms.csv": "arm,heat\ntea,1\nmilk,-1\ncoffee,2\na,0\nb,0\nc,0\n",
    "choices.csv": "tea,milk,coffee,Choice\n1,1,0,1\n1,1,1,3\n0,1,1,2\n",
    "long.csv": "id,alternative,chosen,here,who\n1,tea,1,1,a\n1,milk,0,1,a\n"
    "2,coffee,1,1,b\n2,tea,0,1,b\n2,milk,0,0,b\n",
    "wide.csv": "choice,pf1,pf2,here1,here2,who\n1,3,2,1,1,a\n2,4,5,1,1,b\n",
    "best.csv": "one,two,three,best,worst\ntea,milk,coffee,tea,milk\n",
    "ranked.csv": "1st choice,2nd choice,n\ntea,milk,2\nmilk,coffee,1\n",
    "votes.json": '[{"left": "tea", "right": "milk", "winner": null, "n": [1]}]',
    "drinks.toi": "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: tea\n"
    "# ALTERNATIVE NAME 2: milk\n5: 1,2\n2: 2,1\n",
    "noise.soc": "\x00\x01: {1,2",
}
PATHS = [*FILES, ".", "nowhere", "/dev/null", Path("votes.csv")]


@cache
def audit() -> analysis.StoppingAudit:
    runs = np.array([4, -1, 9]), np.array([True, False, False])
    rules = tuple(
        analysis.AuditedRule(name, rule, *runs) for name in "ab" for rule in "cd"
    )
    return analysis.StoppingAudit("D-TS", 0.05, 20, 3, 0, rules)


def one_scale(votes: models.Votes) -> Any:
    """A model of one's own."""
    prior = dist.Normal(0.0, 1.0).expand([votes.num_arms]).to_event(1)
    utility = numpyro.sample("utility", prior)
    return utility[votes.first] - utility[votes.second]  # pyright: ignore


@cache
def some_votes() -> votes.Comparisons:
    return votes.Comparisons.from_wins(WINS, arm_names=NAMES)


@cache
def shown_votes() -> votes.Comparisons:
    return votes.Comparisons.from_votes(
        ["tea", "tea", "milk"],
        ["milk", "coffee", "coffee"],
        ["left", "right", "left"],
        order_known=True,
        columns={"judge": ["ann", "bob", "ann"]},
    )


@cache
def known_votes() -> votes.Comparisons:
    return some_votes().with_covariates([1.0, 0.0, -1.0])


@cache
def tied_votes() -> votes.Comparisons:
    return votes.Comparisons.from_votes(
        ["a", "b", "a"], ["b", "c", "c"], ["left", "tie", "right"], weight=[1, 2, 0.5]
    ).with_covariates([1.0, 0.0, -1.0])


@cache
def ballots() -> votes.Rankings:
    return votes.Rankings.from_orders([["a", "b", "c"], ["b", "a"], ["a", "c", "b"]])


@cache
def choices() -> votes.Choices:
    return votes.Choices.from_counts(
        [[1, 1, 0], [1, 1, 1]], [[7, 2, 0], [5, 1, 3]], none=[4, 2]
    )


@cache
def priced_choices() -> votes.Choices:
    table = np.arange(18.0).reshape(3, 3, 2) ** 2 % 7
    return votes.Choices.from_attributes(table, [0, 2, None], persons=["a", "b", "a"])


@cache
def priced_fit() -> inference.Fit:
    return inference.fit(models.ConditionalLogit(), priced_choices(), num_draws=50)


@cache
def beta_fit() -> inference.Fit:
    return inference.fit(models.PairwiseBeta(), some_votes(), num_draws=50)


@cache
def weighted_fit() -> inference.Fit:
    return inference.fit(models.PairwiseBeta(ties=True), tied_votes(), num_draws=50)


@cache
def utility_fit() -> inference.Fit:
    return inference.fit(
        models.BradleyTerry(), some_votes(), method="laplace", num_draws=50
    )


@cache
def choice_fit() -> inference.Fit:
    return inference.fit(
        models.MultinomialLogit(), choices(), method="laplace", num_draws=50
    )


@cache
def ballot_fit() -> inference.Fit:
    return inference.fit(
        models.PlackettLuce(), ballots(), method="laplace", num_draws=50
    )


@cache
def judged_votes() -> votes.Comparisons:
    return votes.Comparisons.from_votes(
        ["tea", "tea", "milk", "milk"] * 2, ["milk", "milk", "tea", "tea"] * 2,
        ["left"] * 8,
        columns={"judge": ["ann"] * 4 + ["bob"] * 4, "context": ["art", "bio"] * 4},
    )  # fmt: skip


@cache
def judged_fit() -> inference.Fit:
    return inference.fit(
        models.BradleyTerry(), judged_votes(), method="laplace", num_draws=50
    )


@cache
def group_fits() -> inference.GroupFits:
    return inference.fit_groups(
        models.BradleyTerry(), judged_votes(), "judge", num_draws=50
    )


@cache
def mode_fit() -> inference.ModeFit:
    return inference.fit_mode(models.BradleyTerry(), some_votes())


@cache
def calibration() -> diagnostics.Calibration:
    ranks = np.arange(200) % 20
    return diagnostics.Calibration(ranks={"utility": ranks}, num_draws=19)


@cache
def node() -> xr.Dataset:
    return fake.policy_node(num_runs=9)


@cache
def tree() -> xr.DataTree:
    return fake.comparison(labels=("D-TS", "RUCB"), num_runs=9)


@cache
def swept_tree() -> xr.DataTree:
    return fake.swept({f"D-TS:alpha={x}": {"alpha": x} for x in (1.0, 2.0)})


@cache
def failed_tree() -> xr.DataTree:
    where = "mslr5-condorcet", "D-TS"
    return fake.comparison(labels=("D-TS",), failed={where: "ran out of memory"})


@cache
def measurement() -> analysis.Measurement:
    return analysis.measurements(node())[0]


@cache
def ranking() -> analysis.Ranking:
    return analysis.rankings(tree(), num_resamples=100)[0]


@cache
def constants() -> papers.SubmatrixConstants:
    return papers.submatrix_constants(bayesduel.load("sushi"), 2, 4)


@cache
def bound() -> theory.Optimum:
    return theory.copeland_lower_bound(fake.CONDORCET)


@cache
def anchored() -> analysis.AnchoredBound:
    return analysis.anchored_bound(bound(), 1000, 120.0)


@cache
def reproduced() -> Reproduction:
    from bayesduel.papers import recipes

    recipe = recipes.load("dts-1")
    measured = {"d-ts": (measurement(),)}
    panel = PanelResult(recipe.panels[0], measured, ())
    return Reproduction(recipe, 1.0, False, (panel,), (), ())


@cache
def plain_figure() -> Figure:
    return Figure()


@cache
def frame() -> pd.DataFrame:
    return pd.DataFrame(WINS, index=NAMES, columns=["milk", "tea", "wine"])


def two_fits() -> dict[str, inference.Fit]:
    other = inference.fit(models.PairwiseBeta(prior=0.5), some_votes(), num_draws=50)
    return {"one": beta_fit(), "other": other}


def other_fits() -> dict[str, inference.Fit]:
    return {"one": beta_fit(), "other": ballot_fit()}


def one_fit() -> dict[str, inference.Fit]:
    return {"one": beta_fit()}


def optima() -> dict[str, theory.Optimum]:
    return {"CW": bound()}


@cache
def structured() -> dict[str, theory.StructuredBound]:
    utilities = [2.0, 1.0, 0.5, 0.0, -1.0]
    return {"known": theory.structured_lower_bound(utilities, tolerance=1e-3)}


@cache
def applied() -> tuple[theory.theorems.AppliedTheorem, ...]:
    return theory.all_bounds(fake.CONDORCET, policy="D-TS")


POSTERIORS = [Made(beta_fit), Made(utility_fit), Made(choice_fit), Made(ballot_fit)]
POSTERIORS += [Made(weighted_fit), inference.Fit, Made(some_votes)]
DATA = [Made(some_votes), Made(tied_votes), Made(ballots), Made(choices)]
RESULTS = [Made(tree), Made(node), Made(failed_tree), xr.DataTree(), xr.Dataset()]
RESULTS += [
    xr.Dataset({"regret": (("notion", "run", "checkpoint"), np.ones((1, 2, 3)))}),
    xr.Dataset({"regret": ("x", ["a", "b"])}),
    xr.Dataset(
        {"regret": (("notion", "run", "checkpoint"), np.full((1, 2, 2), np.nan))},
        coords={"notion": ["copeland"], "checkpoint": [10, 100]},
    ),
    xr.Dataset(
        {"regret": (("notion", "run", "checkpoint"), np.ones((1, 2, 2)))},
        coords={"notion": ["copeland"], "checkpoint": ["a", "b"]},
    ),
]
FIGURE_SIZES = {"width": ["full", "column", 5.0, 41], "height": [3.0, None, 0, 1e5]}
NOTION = ["copeland", "weak", "no_choice"]
KEYS = [0, 1, 2**63, -1]
NUMBERS = [20, 1, 10**9, 50.0, True]
PROBABILITIES = [0.9, 0.5, 1.0, 1e-300]
OPTIONS = {
    "method": ["auto", "exact", "laplace", "svi", "nuts", "mcmc"],
    "rng_key": KEYS,
    "num_draws": NUMBERS,
}
MODELS = [models.PairwiseBeta(), models.BradleyTerry(), models.PlackettLuce()]
MODELS += [models.MultinomialLogit(), models.BradleyTerry, models.Thurstone(ties=True)]
TREE = {
    "unit": ["vote", "row", "pair"],
    "log_likelihood": [True, False],
    "num_prior_draws": NUMBERS,
    "rng_key": KEYS,
}

WRONG = [
    *HOSTILE,
    *(Made(frame), Made(tree), Made(beta_fit), Made(plain_figure), Made(some_votes)),
    *(
        Path(),
        Path("a", "b\0"),
        Figure,
        pd.NA,
        np.datetime64("NaT", "s"),
        range(10**12),
    ),
    *(np.zeros((0, 3)), np.random.default_rng(0), "\ud800", {"a", 1}, slice(None)),
    *(xr.DataArray([1.0, 2.0]), np.array([[0, 2], [1, 0]], dtype=object)),
]
"""Values that are wrong for most arguments, such as those of fits and figures."""
