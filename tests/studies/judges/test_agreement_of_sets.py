"""Agreement of judges about sets and the pairs that they imply; preferred places."""

import itertools
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from bayesduel.ops.shares import share_interval
from bayesduel.studies import Judging
from bayesduel.studies.judges import (
    Said,
    agreement_of_pairs,
    alpha_of,
    krippendorff_alpha,
    of_pairs,
    said_in_turn,
)
from bayesduel.studies.state import Question
from tests.command_line import invoke
from tests.studies.helpers import DRINKS


def tell(study, judge, best, worst=None, context=None):
    (ticket,) = study.ask(judge=judge, context=context)
    cards = [ticket.shown.index(arm) + 1 for arm in (best, worst) if arm]
    study.tell(ticket, cards[0] if worst is None else tuple(cards))


def test_alpha_of_sets_is_that_of_all_ways_to_number_their_arms():
    """Turning k of the arms suffices, and chance is 1/k whatever is often shown."""
    rng = random.Random(2)
    shared = [
        {"Ada": Said(rng.randrange(3), 0), "Bob": Said(rng.randrange(3), 0),
         "Cyd": Said(1, 0)}
        for _ in range(8)
    ]  # fmt: skip
    every = [
        [order[item.named] for item in said.values()]
        for said in shared
        for order in itertools.permutations(range(3))
    ]
    units, answers = len(shared), 3 * len(shared)
    apart = sum(
        first.named != second.named
        for said in shared
        for first, second in itertools.combinations(said.values(), 2)
    )
    # All of them, but for how many answers alpha takes chance to be made of.
    for copies, result in ((6, krippendorff_alpha(every)), (3, alpha_of(shared, 3))):
        number = copies * answers
        by_chance = (number - number / 3) / (number - 1)
        assert result == pytest.approx(1 - apart / (3 * units) / by_chance)


@pytest.mark.parametrize("contexts", [range(4), [None] * 4])
def test_agreement_of_two_judges_about_the_best(make, contexts):
    study = make("balanced", DRINKS[:3], choose_from=3)
    for turn, context in enumerate(contexts):
        tell(study, "Ada", "tea", context=context)
        tell(study, "Bob", "milk" if turn == 2 else "tea", context=context)
        tell(study, None, "coffee", context=context)  # Nobody knows whose it is.
    table = study.status().judges
    # Four units, numbered in three ways: 24 answers, 8 of each arm; 3 of 12 units with
    # two different ones. So alpha is 1 - 23 * 3 * 2 / (24 ** 2 - 3 * 8 ** 2).
    assert table.alpha_units == 4
    assert table.alpha == pytest.approx(1 - 23 * 6 / 384)
    ada, bob, nobody = table.lines
    assert (ada.others, ada.others_agree) == (bob.others, bob.others_agree) == (4, 0.75)
    assert (nobody.others, nobody.others_agree) == (0, None)
    repeats = (0, None) if contexts[0] == 0 else (6, 0.5)
    assert (bob.repeats, bob.repeats_agree) == repeats
    assert "alpha 0.64, of 4 times" in study.report()


def test_the_best_and_the_worst_agree_each_for_itself(make):
    study = make("balanced", DRINKS[:3], choose_from=3, worst=True)
    for _ in range(3):
        tell(study, "Ada", "tea", "milk")
        tell(study, "Bob", "tea", "coffee")
    table = study.status().judges
    # Agreed about each best one, and about no worst one.
    assert table.alpha_units == 6
    assert table.alpha == pytest.approx(1 - 35 * 18 / (36**2 - 3 * 12**2))
    for line in table.lines:
        assert (line.others, line.others_agree) == (6, 0.5)
        assert (line.repeats, line.repeats_agree) == (6, 1.0)


def test_gold_sets_are_no_agreement(make):
    study = make("balanced", DRINKS, choose_from=3, judging=Judging(gold_share=0.5))
    study.add_gold("tea", ("coffee", "milk"))
    for judge in ("Ada", "Bob"):
        for ticket in study.ask(8, judge=judge):
            if ticket.rule == "gold":
                study.tell(ticket, ticket.shown.index("tea") + 1)
    table = study.status().judges
    assert (table.alpha, table.alpha_units) == (None, 0)
    assert [line.repeats for line in table.lines] == [0, 0]
    assert [item.chosen for item in table.lines[0].best_at] == [0, 0, 0]


def test_a_place_that_a_judge_prefers_is_named(make):
    study = make("balanced", DRINKS, choose_from=3, worst=True)
    rng = random.Random(3)
    for ticket in study.ask(40, judge="Ada"):
        study.tell(ticket, (1, rng.choice([2, 3])))
    for ticket in study.ask(40, judge="Bob"):
        study.tell(ticket, tuple(rng.sample([1, 2, 3], 2)))
    status = study.status()
    ada, bob = status.judges.lines
    assert [item.chosen for item in ada.best_at] == [40, 0, 0]
    assert sum(item.chosen for item in ada.worst_at) == 40
    assert (ada.worst_at[0].chosen, ada.best_at[0].share) == (0, 1.0)
    # All three hold together with 95 %.
    low, high = share_interval(40, 40, 1 - 0.05 / 3)
    assert (ada.best_at[0].lower, ada.best_at[0].upper) == (low, high)
    said = status.judges.words(status.leader, status.stopping)
    ends = f"({low:.0%} to 100%)"
    (first,) = (text for text in said if "Ada names card 1 the best" in text)
    assert f"in 100% of 40 answers {ends}, where 33% would be even" in first
    assert any("Ada names card 1 the worst in 0%" in text for text in said)
    assert not any("Bob names" in text for text in said)
    cells = ada.cells()
    assert (cells["answers"], cells["best at"]) == ("40", "100 0 0 %")
    assert "on the left" not in cells and "contradictions" not in cells
    exported = [json.loads(text) for text in study.export_judges().splitlines()]
    assert exported[0]["best_at"][0]["chosen"] == 40
    page = study.report()
    assert "Ada names card 1 the best" in page
    assert "Best at, worst at: share of the answers" in page


def test_pairs_have_sides_and_no_cards(make):
    study = make("balanced", DRINKS)
    for ticket in study.ask(6, judge="Ada"):
        study.tell(ticket, "left")
    (ada,) = study.status().judges.lines
    assert (ada.best_at, ada.worst_at, ada.left_share) == ((), (), 1.0)
    assert "best at" not in ada.cells()


FALSE_ALARM = 1e-5


def shared_by(answers):
    """Return what judges said of pairs: of answers as (judge, cards, best, ...)."""
    questions = {}
    for number, (judge, cards, *named) in enumerate(answers, 1):
        said = ",".join(str(cards.index(arm) + 1) for arm in named)
        given = number, (*cards,), judge, None, "d-ts", "", 0.0, 1.0
        questions[number] = Question(*given, outcome=said)
    return said_in_turn(SimpleNamespace(questions=questions), of_pairs)


def by_lot(rng, *, number=150, size=3, num_arms=8):
    """Yield answers of three judges who choose by lot, each of sets of their own."""
    for judge, _ in itertools.product(("Ada", "Bob", "Cyd"), range(number // 3)):
        cards = rng.sample(range(num_arms), size)
        yield judge, cards, rng.choice(cards)


def test_what_a_choice_implies():
    question = Question(1, (3, 1, 2, 0), "Ada", None, "d-ts", "", 0.0, 1.0)
    result = {(arms, arms[named]) for (arms, *_), named in of_pairs(question, "2")}
    assert result == {((1, 3), 1), ((1, 2), 1), ((0, 1), 1)}
    both = {(arms, arms[named]) for (arms, *_), named in of_pairs(question, "2,4")}
    assert both == result | {((0, 3), 3), ((0, 2), 2)}
    assert [*of_pairs(question, "skip"), *of_pairs(question, None)] == []


def test_alpha_of_pairs_by_hand():
    """Sets that are never the same: 0 and 1 were judged by three, 0 and 2 by two."""
    cyd = ("Cyd", (2, 1, 4, 0), 0)
    shared = shared_by([("Ada", (0, 1, 2), 0), ("Bob", (1, 3, 0), 1), cyd])
    # 4 of 6 ordered pairs of three judges differ, each for 1/2; none of 2 of two.
    agreement = agreement_of_pairs(shared)
    assert agreement.alpha == pytest.approx(1 - 2 * (4 / 2) / (6 / 2 + 2))
    assert (agreement.times, agreement.answers) == (2, 3)
    assert (agreement.lower, agreement.upper) == (None, None)
    assert agreement_of_pairs(shared_by([("Ada", (0, 1, 2), 0)])) is None


def test_it_is_krippendorffs_but_for_what_chance_is_made_of():
    """That has one judgment fewer to draw from, and each of them in both orders."""
    shared = shared_by([*by_lot(random.Random(3))])
    judgments = 2 * sum(map(len, shared))
    agreement = agreement_of_pairs(shared)
    apart = (1 - agreement.alpha) * (judgments - 1) / judgments
    assert 1 - alpha_of(shared, 2) == pytest.approx(apart)


def test_judges_who_choose_by_lot_come_to_no_agreement():
    """And alpha errs as much as it says, though what answers imply is dependent."""
    number = 300
    rngs = map(random.Random, range(number))
    results = [agreement_of_pairs(shared_by(by_lot(rng))) for rng in rngs]
    alphas = np.array([result.alpha for result in results])
    assert abs(alphas.mean()) < 4.5 * alphas.std() / number**0.5
    missed = sum(not result.lower <= 0 <= result.upper for result in results)
    assert missed <= binom.ppf(1 - FALSE_ALARM, number, 0.05)
    errors = np.array([result.upper - result.lower for result in results]) / (2 * 1.96)
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
    one, other = map(agreement_of_pairs, map(shared_by, (others, answers)))
    assert one == other


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
