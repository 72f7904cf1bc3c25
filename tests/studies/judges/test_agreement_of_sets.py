"""Agreement of judges about sets, and whether they prefer a place."""

import itertools
import json
import random

import pytest

from bayesduel.ops.shares import share_interval
from bayesduel.studies import Judging
from bayesduel.studies.judges import Said, alpha_of, krippendorff_alpha
from tests.studies.helpers import DRINKS


def told(study, judge, best, worst=None, context=None):
    """Let a judge name arms of the next question."""
    (ticket,) = study.ask(judge=judge, context=context)
    cards = [ticket.shown.index(arm) + 1 for arm in (best, worst) if arm]
    study.tell(ticket, cards[0] if worst is None else tuple(cards))


def test_alpha_of_sets_is_that_of_all_ways_to_number_their_arms():
    """Of which k in turn suffice; and chance is 1/k, whatever else is often shown."""
    rng = random.Random(2)
    shared = [
        {"Ada": Said(rng.randrange(3), 0), "Bob": Said(rng.randrange(3), 0),
         "Cyd": Said(1, 0)}
        for _ in range(8)
    ]  # fmt: skip
    every = [
        [order[each.named] for each in said.values()]
        for said in shared
        for order in itertools.permutations(range(3))
    ]
    units, answers = len(shared), 3 * len(shared)
    apart = sum(one.named != other.named for said in shared
                for one, other in itertools.combinations(said.values(), 2))  # fmt: skip
    # All of them, but for how many answers alpha takes chance to be made of.
    for copies, found in ((6, krippendorff_alpha(every)), (3, alpha_of(shared, 3))):
        number = copies * answers
        by_chance = (number - number / 3) / (number - 1)
        assert found == pytest.approx(1 - apart / (3 * units) / by_chance)


@pytest.mark.parametrize("contexts", [range(4), [None] * 4])
def test_agreement_of_two_judges_about_the_best(make, contexts):
    study = make("balanced", DRINKS[:3], choose_from=3)
    for turn, context in enumerate(contexts):
        told(study, "Ada", "tea", context=context)
        told(study, "Bob", "milk" if turn == 2 else "tea", context=context)
        told(study, None, "coffee", context=context)  # Nobody knows whose it is.
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
        told(study, "Ada", "tea", "milk")
        told(study, "Bob", "tea", "coffee")
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
    assert [each.chosen for each in table.lines[0].best_at] == [0, 0, 0]


def test_a_place_that_a_judge_prefers_is_named(make):
    study = make("balanced", DRINKS, choose_from=3, worst=True)
    rng = random.Random(3)
    for ticket in study.ask(40, judge="Ada"):
        study.tell(ticket, (1, rng.choice([2, 3])))
    for ticket in study.ask(40, judge="Bob"):
        study.tell(ticket, tuple(rng.sample([1, 2, 3], 2)))
    status = study.status()
    ada, bob = status.judges.lines
    assert [each.chosen for each in ada.best_at] == [40, 0, 0]
    assert sum(each.chosen for each in ada.worst_at) == 40
    assert ada.worst_at[0].chosen == 0
    assert ada.best_at[0].share == 1.0
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
