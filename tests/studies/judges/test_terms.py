"""What a study agrees with judges: checked, kept, and replayed."""

import math
import random

import numpy as np
import pytest

from bayesduel.errors import StudyError
from bayesduel.models import BradleyTerry
from bayesduel.studies import Judging, Spending, Study
from tests.studies.helpers import DRINKS, WORDS, assert_replays, happens


@pytest.mark.parametrize(
    ("make_terms", "words"),
    [
        (lambda: Judging(both_orders="both"), "both_orders must be one of tie, no"),
        (lambda: Judging(gold_share=1.0), r"gold_share must be in \[0, 1\)"),
        (lambda: Judging(gold_threshold=1.1), r"gold_threshold must be in \[0, 1\]"),
        (lambda: Judging(gold_least=0), "gold_least must be an integer of at least 1"),
        (lambda: Judging(quickest=-1), "quickest must be a number of seconds"),
        (lambda: Spending(cost=0), "cost must be a number above 0"),
        (lambda: Spending(price=math.inf), "price must be a number from 0"),
        (lambda: Spending(arm_prices={"tea": -1}), r"arm_prices\['tea'\] must be"),
        (lambda: Spending(arm_prices=3), "arm_prices must map names of arms"),
    ],
)
def test_terms_out_of_range_are_refused(make_terms, words):
    with pytest.raises(StudyError, match=words):
        make_terms()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judging": "tie"}, r"judging must be a Judging\(...\), or None"),
        ({"spending": Spending(arm_prices={"ale": 1})}, "arm_prices must be an arm of"),
        ({"stop_when": "anytime"}, "stop_when must be a sequence of some of anytime"),
        ({"stop_when": ["never"]}, r"stop_when\[0\] must be one of anytime, posterior"),
        ({"stop_when": ["judges"] * 2}, r"stop_when\[1\] must be one of .* each once"),
    ],
)
def test_terms_that_fit_no_study_make_no_file(tmp_path, options, words):
    path = tmp_path / "drinks.study"
    with pytest.raises(StudyError, match=words):
        Study.create(path, DRINKS, "balanced", **options)
    assert not path.exists()


def test_terms_come_back_and_old_studies_have_the_usual_ones(make):
    terms = Judging(both_orders="tie", quickest=0.5)
    spending = Spending(cost=9, arm_prices={"tea": 1})
    study = make(
        judging=terms, spending=spending, stop_when=["posterior", "judges"],
        model=BradleyTerry(prior_scale=1.5), delta=0.01, width=0.1, seed=7, floor=2,
        blocked=[("tea", "milk")],
    )  # fmt: skip
    with Study.open(study.path) as other:
        assert other._settings == study._settings
        assert other._settings.model == BradleyTerry(prior_scale=1.5)
    plain = make()
    (created,) = plain.events()
    assert not {"judging", "spending", "stop_when"} & created.body.keys()
    assert plain._settings.judging == Judging()


@pytest.mark.parametrize(
    ("better", "worse", "words"),
    [
        ("good", "good", "worse must be another one than better"),
        ("", "bad", "better must be a name"),
        ("bad", "good", "better must not be better, as it is known to be worse"),
    ],
)
def test_gold_that_is_none(make, better, worse, words):
    study = make()
    study.add_gold("good", "bad")
    with pytest.raises(StudyError, match=words):
        study.add_gold(better, worse)
    assert len(study.events()) == 2


@pytest.mark.parametrize(("how", "seed"), [(None, 0), ("tie", 1), ("nothing", 2)])
def test_whatever_happens_replays_to_the_same(make, how, seed):
    rng = random.Random(seed)
    terms = Judging(both_orders=how, gold_share=0.4, gold_threshold=0.6, gold_least=2)
    study = make("balanced", arms=DRINKS, judging=terms, lease=30, budget=60)
    study.add_gold("good", "bad")
    happens(study, rng, 150, lambda: rng.choice(WORDS))
    state = study._current()
    assert_replays(study)
    assert_counts_are_those_of_the_questions(state)
    study.status()


def assert_counts_are_those_of_the_questions(state):
    """Count all over again, from what became of each question."""
    wins, ties, out = (np.zeros_like(state.wins) for _ in range(3))
    votes = skipped = aside = beyond = nothing = 0
    for unit in state.questions.values():
        if unit.gold is not None or unit.twin_of is not None:
            continue
        pair = unit.left, unit.right
        skipped += unit.outcome == "skip"
        counts = unit.outcome not in (None, "skip")
        assert not (unit.withdrawn and unit.outcome)
        aside += counts and unit.is_aside
        beyond += counts and unit.beyond and not unit.is_aside
        if unit.number in state.waiting:
            out[pair] += 1
        if not counts or unit.is_aside or unit.beyond:
            continue
        nothing += unit.outcome == "nothing"
        votes += unit.outcome != "nothing"
        if unit.outcome == "tie":
            ties[pair] += 1
        elif unit.outcome != "nothing":
            wins[pair if unit.outcome == "left" else pair[::-1]] += 1
    assert (state.wins == wins).all()
    assert (state.ties == ties + ties.T).all()
    assert (state.out == out + out.T).all()
    found = state.num_votes, state.num_skipped, state.num_aside, state.num_beyond
    assert found == (votes, skipped, aside, beyond)
    assert state.num_nothing == nothing
    for question in state.open.values():
        unit = state.unit_of(question)
        assert question.answer is None
        assert unit.gold is not None or unit.number in state.waiting
