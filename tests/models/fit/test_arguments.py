"""Wrong arguments are refused before the computation begins, in one line."""

import re

import numpy as np
import pytest

from bayesduel.diagnostics import (
    calibrate,
    compare_models,
    leave_pairs_out,
    to_datatree,
    transitivity,
)
from bayesduel.errors import ComparisonDataError, FitError
from bayesduel.inference import Fit, fit, parameter_summary, standings
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.votes import (
    Choices,
    Comparisons,
    Rankings,
    read_choices,
    read_comparisons,
)

VOTES = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
HUGE = range(10**12)
BETA = PairwiseBeta()
ABC = tuple("abc")
ROWS = np.array([0, 1]), np.array([1, 2]), np.array([[1.0, 0, 0], [0, 2, 0]])


@pytest.fixture(scope="module")
def posterior() -> Fit:
    return fit(PairwiseBeta(), VOTES, num_draws=25)


def fitted(model=None, **options):
    """Ask for a fit."""
    return fit(model or BradleyTerry(), VOTES, **options)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda p: fitted(num_draws=True), "an integer of at least 1, got True"),
        (lambda p: fitted(num_draws=1e300), "at most 10000000 in all chains, for 3 a"),
        (lambda p: fitted(method=np.zeros(2)), "method must be one of"),
        (lambda p: fitted(method="svi", num_steps=10**12), "must be at most 1000000"),
        (lambda p: fitted(method="nuts", num_warmup=10**12), "num_warmup must be at"),
        (lambda p: fitted(method="nuts", target_acceptance=1.0), "must be in"),
        (lambda p: fitted(method="laplace", resample=0), "must be True or False"),
        (lambda p: fitted(BradleyTerry(zero_sum=1)), "must be True or False"),
        # A list has no hash, which compiled programs are found by.
        (lambda p: fitted(PairwiseBeta(prior=[[1.0] * 3] * 3)), "must be a number"),
        (lambda p: fitted(PairwiseBeta(prior=((1.0, -1, 1),) * 3)), "prior[0, 1] must"),
        (lambda p: fitted(PairwiseBeta(tie_prior=(1.0,))), "must be two numbers"),
        (lambda p: fitted(PairwiseBeta(tie_prior=(1.0, np.inf))), "tie_prior[1] must"),
        # XLA ends the whole process where it gets no memory.
        (lambda p: p.sample(0, 10**9), "num_draws must be at most"),
        (lambda p: p.ranks(1e-300), "probability must be in (0, 1)"),
        (lambda p: p.ranks(by=""), "by must be borda, copeland"),
        (lambda p: standings("fit"), "posterior must be a fit"),
        (lambda p: parameter_summary(Fit), "posterior must be a fit"),
        (lambda p: to_datatree(p, num_prior_draws=10**9), "num_prior_draws must be at"),
        (lambda p: compare_models({"a": p}), "at least two fits"),
        (lambda p: compare_models({"a": p, "b": None}), "posterior must be a fit"),
        (lambda p: compare_models({"a": p, "b": p}, nonsense="x"), "options of compar"),
        (lambda p: compare_models({"a": p, "b": p}, method="x"), "method must be one"),
        (lambda p: compare_models({"a": p, "b": p}, round_to=-1), "round_to must be"),
        (lambda p: calibrate(BETA, VOTES, num_draws=10**9),
         "num_draws must be at most"),
        (lambda p: leave_pairs_out(BETA, 3), "data must be Comparisons"),
        (lambda p: transitivity(VOTES, num_replicates=0), "num_replicates must be an"),
    ],
)  # fmt: skip
def test_questions_to_models_and_fits(posterior, ask, words):
    with pytest.raises(FitError, match=re.escape(words)):
        ask(posterior)


def test_a_table_of_pseudo_votes_need_not_have_a_diagonal():
    prior = ((np.nan, 2.0, 2.0), (1.0, np.nan, 2.0), (1.0, 1.0, np.nan))
    PairwiseBeta(prior=prior).arrays(VOTES)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Comparisons(["a", "b", "c"], *ROWS), "arm_names must be a tuple"),
        (lambda: Comparisons(("a", "b"), *ROWS),
         "second[1] must be an arm, numbered from 0 to 1, got 2"),
        (lambda: Comparisons(ABC, [0, 1], *ROWS[1:]),
         "first must be an array of integers of the shape (n), got [0, 1]; use"),
        (lambda: Comparisons(ABC, *ROWS[:2], ROWS[2][:, :2]),
         "an array of floats of the shape (2, 3), got 'float64[2, 2]'; use"),
        (lambda: Comparisons(ABC, *ROWS[:2], -ROWS[2]),
         "counts[0, 0] must not be negative"),
        (lambda: Rankings(("a", "b"), np.array([[1, -2]]), np.ones(1)),
         "places[0, 1] must not be negative, got -2"),
        (lambda: Choices.from_counts([[1, 1, 2]], [[1, 0, 0]]),
         "offered[0, 2] must be 1 where an arm was on offer, else 0, got 2"),
        (lambda: Choices.from_subsets([["a", "b"]] * 2, ["a", "b"], weight=[1]),
         "weight must have the shape (2,), one number for each of the choices"),
        (lambda: Rankings.from_orders([5]), "orders: ballot 0 must be a sequence"),
        (lambda: Rankings.from_places(np.zeros((2, 2, 2))), "shape (ballot, arm)"),
        (lambda: Comparisons.from_wins([[0]], arm_names=["a"]), "at least two arms"),
        (lambda: Comparisons.from_wins(HUGE), "wins must hold at most 25,000,000"),
        (lambda: Comparisons.from_wins(np.ma.masked_equal([[0, 7], [3, 0]], 7)),
         "wins must not have masked entries"),
        (lambda: VOTES.with_covariates([1, 2, 3], names=5), "names must be a sequence"),
    ],
)  # fmt: skip
def test_tables_of_votes(make, words):
    with pytest.raises(ComparisonDataError, match=re.escape(words)):
        make()


@pytest.mark.parametrize("name", ["a\0", "\ud800", None, b"a", np.nan, ["a"]])
def test_names_that_no_file_can_hold(name):
    rule = "must be a name that can be written to a file, got"
    missing = name is None or name is np.nan
    words = r"arm_names\[1\]:? " + ("is missing; name it" if missing else rule)
    with pytest.raises(ComparisonDataError, match=words):
        Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["b", name])


def test_names_may_be_numbers_or_letters_of_a_text():
    names = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=[2, 0.5]).arm_names
    assert names == ("2", "0.5")
    assert Comparisons.from_wins([[0, 7], [3, 0]], arm_names="ab").arm_names[1] == "b"


def test_a_tie_may_mix_texts_and_numbers():
    assert Rankings.from_orders([[{"a", 1}, "b"]]).places.tolist() == [[1, 1, 2]]


def test_columns_and_numbers_of_a_file(tmp_path):
    votes, choices = tmp_path / "votes.csv", tmp_path / "choices.csv"
    votes.write_text("left,right,winner\ntea,milk,left\n", encoding="utf-8")
    choices.write_text("tea,milk,Choice\n1,1,1\n", encoding="utf-8")
    for read, path, options, words in (
        (read_comparisons, votes, {"arms": ("left",)}, "arms must name two columns"),
        (read_comparisons, votes, {"wins": [1, [2]]}, "wins[1] must be a name that ca"),
        (read_choices, choices, {"first_index": 10**30}, "first_index must be at most"),
        (read_choices, choices, {"none": "x"}, "none must be an integer"),
    ):
        with pytest.raises(ComparisonDataError, match=re.escape(words)):
            read(path, **options)
