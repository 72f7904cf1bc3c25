"""Agreement about the pairs that choices from sets imply."""

import itertools
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from bayesduel.studies.judges import (
    agreement_of_pairs,
    alpha_of,
    of_pairs,
    said_in_turn,
)
from bayesduel.studies.state import Question
from tests.command_line import invoke
from tests.studies.helpers import DRINKS

FALSE_ALARM = 1e-5


def asked(answers):
    """Return what judges said of pairs: of answers as (judge, cards, best, ...)."""
    questions = {}
    for number, (judge, cards, *named) in enumerate(answers, 1):
        said = ",".join(str(cards.index(arm) + 1) for arm in named)
        questions[number] = Question(
            number, (*cards,), judge, None, "d-ts", "", 0.0, 1.0, outcome=said
        )
    return said_in_turn(SimpleNamespace(questions=questions), of_pairs)


def by_lot(rng, *, number=150, size=3, num_arms=8):
    """Yield answers of three judges who choose by lot, each of sets of their own."""
    for judge, _ in itertools.product(("Ada", "Bob", "Cyd"), range(number // 3)):
        cards = rng.sample(range(num_arms), size)
        yield judge, cards, rng.choice(cards)


def test_what_a_choice_implies():
    question = Question(1, (3, 1, 2, 0), "Ada", None, "d-ts", "", 0.0, 1.0)
    found = {(arms, arms[named]) for (arms, *_), named in of_pairs(question, "2")}
    assert found == {((1, 3), 1), ((1, 2), 1), ((0, 1), 1)}
    both = {(arms, arms[named]) for (arms, *_), named in of_pairs(question, "2,4")}
    assert both == found | {((0, 3), 3), ((0, 2), 2)}
    assert [*of_pairs(question, "skip"), *of_pairs(question, None)] == []


def test_alpha_of_pairs_by_hand():
    """Sets that are never the same: 0 and 1 were judged by three, 0 and 2 by two."""
    shared = asked(
        [("Ada", (0, 1, 2), 0), ("Bob", (1, 3, 0), 1), ("Cyd", (2, 1, 4, 0), 0)]
    )
    # Of 6 ordered pairs of three judges 4 differ, each for 1/2; of 2 of two none.
    found = agreement_of_pairs(shared)
    assert found.alpha == pytest.approx(1 - 2 * (4 / 2) / (6 / 2 + 2))
    assert (found.times, found.answers) == (2, 3)
    assert (found.lower, found.upper) == (None, None)
    assert agreement_of_pairs(asked([("Ada", (0, 1, 2), 0)])) is None


def test_it_is_krippendorffs_but_for_what_chance_is_made_of():
    """That has one judgment fewer to draw from, and each of them in both orders."""
    shared = asked([*by_lot(random.Random(3))])
    judgments = 2 * sum(map(len, shared))
    found = agreement_of_pairs(shared)
    apart = (1 - found.alpha) * (judgments - 1) / judgments
    assert 1 - alpha_of(shared, 2) == pytest.approx(apart)


def test_judges_who_choose_by_lot_come_to_no_agreement():
    """And alpha errs as much as it says, though what answers imply is dependent."""
    number = 300
    found = [
        agreement_of_pairs(asked(by_lot(random.Random(seed)))) for seed in range(number)
    ]
    alphas = np.array([each.alpha for each in found])
    assert abs(alphas.mean()) < 4.5 * alphas.std() / number**0.5
    missed = sum(not each.lower <= 0 <= each.upper for each in found)
    assert missed <= binom.ppf(1 - FALSE_ALARM, number, 0.05)
    errors = np.array([each.upper - each.lower for each in found]) / (2 * 1.96)
    # The spread of so many has a relative error of 1 / sqrt(2 n); what is said may be
    # a tenth too large: comparisons of the same two answers count each for itself.
    assert abs(np.log(errors.mean() / alphas.std())) < 0.1 + 4.5 / (2 * number) ** 0.5


def test_names_of_arms_and_places_of_cards_say_nothing():
    rng = random.Random(6)
    answers = [*by_lot(rng)]
    renamed = rng.sample(range(8), 8)
    others = [
        (judge, rng.sample([renamed[arm] for arm in cards], 3), renamed[best])
        for judge, cards, best in answers
    ]
    assert others != answers
    assert agreement_of_pairs(asked(others)) == agreement_of_pairs(asked(answers))


def test_a_study_says_it_beside_that_of_sets(make):
    study = make("balanced", [*DRINKS, "cocoa", "juice"], choose_from=3)
    for _ in range(12):
        for judge in ("Ada", "Bob"):
            (ticket,) = study.ask(judge=judge)
            study.tell(ticket, 1 + ticket.shown.index(min(ticket.shown)))
    table = study.status().judges
    # Nothing has varied, which is not to say that nothing can.
    assert table.implied.alpha == 1.0
    assert table.implied.lower is table.implied.upper is None
    assert table.implied.times > table.alpha_units
    ada, _ = table.lines
    assert ada.implied_others >= table.implied.times > 0
    assert (ada.implied_others_agree, ada.implied_repeats_agree) == (1.0, 1.0)
    assert ada.cells()["like others"] == f"100% of {ada.implied_others}"
    said = "greement about the pairs that choices imply"
    assert said in study.report()
    (exported, _) = map(json.loads, study.export_judges().splitlines())
    assert exported["implied_others"] == ada.implied_others
    line = ["study", "status", str(study.path)]
    known = json.loads(invoke([*line, "--json"]).stdout)
    assert known["judges"]["implied"]["times"] == table.implied.times
    assert said in " ".join(invoke(line).stdout.split())


def test_pairs_imply_nothing_more(make):
    study = make("balanced", DRINKS)
    for judge in ("Ada", "Bob"):
        for _ in range(3):
            (ticket,) = study.ask(judge=judge)
            study.tell(ticket, "left")
    table = study.status().judges
    assert table.implied is None
    assert [line.implied_others for line in table.lines] == [0, 0]
