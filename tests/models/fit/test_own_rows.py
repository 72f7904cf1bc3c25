"""A model whose rows are not those of the data: votes of 24 judges, each by name."""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
from numpyro import distributions as dist
from scipy.special import log_expit

from bayesduel.diagnostics import compare_models, leave_pairs_out, loo, report
from bayesduel.errors import FitError
from bayesduel.inference import fit, parameter_summary
from bayesduel.models import BradleyTerry
from bayesduel.models.base import PreferenceModel, count_votes
from bayesduel.votes import Comparisons

NUM_JUDGES = 24
ARMS = ("tea", "milk", "water")


class Ballots(NamedTuple):
    """A row per vote: who cast it, and on what."""

    judge: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray


class Unpaired(NamedTuple):
    """The same, in fields that the package cannot know."""

    judge: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Judges(PreferenceModel):
    """Every judge favors the arm that is shown first in a way of his own."""

    ballots: tuple[tuple[int, int, int, int], ...]
    kind: type = Ballots
    named: bool = True
    title = "Judges"

    def __call__(self, votes):
        distribution = dist.Normal(0.0, 1.0).expand([len(ARMS)]).to_event(1)
        strength = numpyro.sample("strength", distribution)
        distribution = dist.Normal(0.0, 0.5).expand([NUM_JUDGES]).to_event(1)
        bias = numpyro.sample("bias", distribution)
        _, first, second, counts = votes
        odds = strength[first] - strength[second] + bias[votes.judge]
        logs = jax.nn.log_sigmoid(jnp.stack([odds, -odds], axis=1))
        return count_votes(jnp.asarray(counts), logs)

    def arrays(self, data):
        judge, first, second, won = np.array(self.ballots).T
        return self.kind(judge, first, second, np.stack([won, 1.0 - won], axis=1))

    def preference_matrices(self, draws):
        strength = draws["strength"]
        return jax.nn.sigmoid(strength[:, :, None] - strength[:, None, :])

    def dims(self):
        names = {"bias": ("judge",), "votes": ("ballot", "outcome")}
        return {"strength": ("arm",)} | (names if self.named else {})

    def coords(self, data):
        judges = {"judge": [f"judge {number}" for number in range(NUM_JUDGES)]}
        rows = [f"ballot {row} of judge {item[0]}" for row, item in enumerate(BALLOTS)]
        expected = judges | {"ballot": rows} if self.named else {}
        return super().coords(data) | expected

    def outcomes(self, data):
        return ("first", "second")


def cast():
    """Two votes of every judge, on pairs in both orders."""
    rng = np.random.default_rng(7)
    pairs = np.array([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
    judge = np.repeat(np.arange(NUM_JUDGES), 2)
    first, second = pairs[rng.integers(6, size=len(judge))].T
    won = (rng.random(len(judge)) < 0.5 + 0.15 * (second - first)).astype(int)
    return tuple(zip(*(x.tolist() for x in (judge, first, second, won)), strict=True))


BALLOTS = cast()
VOTES = Comparisons.from_votes(
    [ARMS[first] for _, first, _, _ in BALLOTS],
    [ARMS[second] for _, _, second, _ in BALLOTS],
    ["left" if won else "right" for *_, won in BALLOTS],
    arm_names=ARMS,
)


@cache
def fitted(kind=Ballots, named=True):
    model = Judges(BALLOTS, kind, named)
    return fit(model, VOTES, method="laplace", num_draws=100)


def log_likelihood(result):
    """Log P(vote) of each ballot for each draw, in plain NumPy."""
    judge, first, second, won = np.array(BALLOTS).T
    strength, bias = result.draws["strength"], result.draws["bias"]
    odds = strength[..., first] - strength[..., second] + bias[..., judge]
    return log_expit(np.where(won == 1, odds, -odds))


def test_single_votes_carry_the_name_of_their_row():
    posterior = fitted()
    tree = posterior.to_datatree(num_prior_draws=10)
    logs = tree["log_likelihood"]["votes"]
    rows = [int(name.split()[1]) for name in logs["ballot"].values]
    assert sorted(rows) == list(range(len(BALLOTS)))
    np.testing.assert_allclose(logs, log_likelihood(posterior)[:, :, rows], rtol=1e-9)
    # Outcomes of votes have the same names as in every other model of pairs.
    assert {name.rsplit(" ", 1)[0] for name in logs["vote"].values} <= {
        f"{one} beats {other}" for one in ARMS for other in ARMS
    }
    assert tree["posterior"]["bias"].dims == ("chain", "draw", "judge")
    judges = tree["constant_data"]["judge"]
    order = [int(name.split()[1]) for name in judges["ballot"].values]
    assert judges.values.tolist() == [BALLOTS[row][0] for row in order]


def test_leave_one_out_and_comparisons():
    posterior = fitted()
    for unit in ("vote", "row"):
        assert loo(posterior, unit=unit).n_data_points == len(BALLOTS)
    with pytest.raises(FitError, match="row"):
        compare_models(
            {"judges": posterior, "pairs": fit(BradleyTerry(), VOTES)}, unit="row"
        )
    table = compare_models(
        {"judges": posterior, "one scale": fit(BradleyTerry(), VOTES)}
    )
    assert set(table.index) == {"judges", "one scale"}
    assert "leave-one-out" in str(report(posterior))


def test_rows_that_the_package_cannot_pair():
    posterior = fitted(Unpaired, named=False)
    assert loo(posterior).n_data_points == len(BALLOTS)
    tree = posterior.to_datatree(num_prior_draws=10)
    assert "row" in tree["log_likelihood"]["votes"].coords
    assert tree["observed_data"]["votes"].dims == ("row", "outcome")
    assert tree["posterior"]["bias"].dims[-1] == "bias_dim_0"
    other = fit(BradleyTerry(), VOTES)
    with pytest.raises(FitError, match="fields first and second"):
        compare_models({"judges": posterior, "pairs": other})
    with pytest.raises(FitError, match="fields first and second"):
        leave_pairs_out(posterior.model, VOTES)


def test_parameters_have_the_labels_of_their_entries():
    rows = parameter_summary(fitted())
    # No table has the strengths of a model without utilities.
    assert [row["parameter"] for row in rows] == [
        *(f"bias[judge {number}]" for number in range(NUM_JUDGES)),
        *(f"strength[{arm}]" for arm in ARMS),
    ]
    draws = fitted().draws["bias"].reshape(-1, NUM_JUDGES)
    assert rows[5]["mean"] == pytest.approx(draws[:, 5].mean())
    assert rows[5]["upper"] == pytest.approx(np.quantile(draws[:, 5], 0.95))
    plain = parameter_summary(fitted(Unpaired, named=False))
    assert plain[3]["parameter"] == "bias[3]" and len(plain) == NUM_JUDGES + 3


@dataclass(frozen=True)
class Mislabeled(Judges):
    """Names that do not fit what they name."""

    wrong: str = ""

    def dims(self):
        axes = ("judge", "arm") if self.wrong == "axes" else ("judge",)
        return super().dims() | {"bias": axes}

    def coords(self, data):
        short = {"judge": ["only one"]} if self.wrong == "labels" else {}
        short |= {"ballot": ["only one"]} if self.wrong == "rows" else {}
        return super().coords(data) | short


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("axes", r"give bias a tuple of 1 names of axes in Mislabeled.dims\(\)"),
        ("labels", r"give judge 24 labels in Mislabeled.coords\(\).* got 1"),
        ("rows", r"give ballot 48 labels in Mislabeled.coords\(\).* got 1"),
    ],
)
def test_names_that_do_not_fit_are_refused_in_words(wrong, words):
    posterior = replace(fitted(), model=Mislabeled(BALLOTS, wrong=wrong))
    with pytest.raises(FitError, match=words):
        posterior.to_datatree(num_prior_draws=10)
