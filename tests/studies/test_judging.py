"""Gold questions, agreement, both orders as one vote, and what answers cost."""

import itertools
import json
import math
import random

import numpy as np
import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Judging, Spending, Study
from bayesduel.studies.judges.agreement import krippendorff_alpha
from bayesduel.studies.lines import answer_line
from tests.studies.helpers import DRINKS, Clock, assert_replays


@pytest.fixture
def make(tmp_path):
    clock, made = Clock(), []

    def make(policy="balanced", arms=DRINKS[:3], **options):
        study = Study.create(tmp_path / f"{len(made)}.study", arms, policy, **options)
        study._clock = clock
        study._current().time = clock.now
        study.clock = clock
        made.append(study)
        return study

    yield make
    for study in made:
        study.close()


def better_of(ticket, order=("good", *DRINKS, "bad")):
    """Return what somebody says who always knows."""
    return "left" if order.index(ticket.left) < order.index(ticket.right) else "right"


WORDS = ("left", "right", "tie", "skip")


def mirrored(word):
    return {"left": "right", "right": "left"}.get(word, word)


# Agreement


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [
        # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, A, B and C.
        (["0100000010", "1110010000"], 0.095),
        (["aabbdcccedda", "babbbccceddd"], 0.692),
        (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 0.743),
    ],
)
def test_alpha_is_that_of_the_published_examples(observers, alpha):
    units = [
        [said for said in column if said != "."]
        for column in zip(*observers, strict=True)
    ]
    assert round(krippendorff_alpha(units), 3) == alpha


def test_alpha_by_counting_all_pairs():
    rng = random.Random(3)
    for _ in range(20):
        units = [rng.choices("abc", k=rng.randint(1, 5)) for _ in range(6)]
        whole = [unit for unit in units if len(unit) > 1]
        said = list(itertools.chain(*whole))
        observed = sum(
            sum(one != other for one, other in itertools.permutations(unit, 2))
            / (len(unit) - 1)
            for unit in whole
        ) / len(said)
        pairs = list(itertools.permutations(said, 2))
        expected = sum(one != other for one, other in pairs) / len(pairs)
        assert krippendorff_alpha(units) == pytest.approx(1 - observed / expected)
    assert math.isnan(krippendorff_alpha([]))
    assert math.isnan(krippendorff_alpha(["aa", "aaa", "b"]))
    assert krippendorff_alpha(["ab", "ab"]) == -0.5


@pytest.mark.parametrize("arms", [["tea", "coffee"], ["coffee", "tea"]])
@pytest.mark.parametrize("contexts", [range(4), [None] * 4])
def test_agreement_of_two_judges(make, arms, contexts):
    study = make(arms=arms)
    for turn, context in enumerate(contexts):
        for judge in ("Ada", "Bob"):
            (ticket,) = study.ask(judge=judge, context=context)
            errs = judge == "Bob" and turn == 2
            study.tell(
                ticket, mirrored(better_of(ticket)) if errs else better_of(ticket)
            )
        (alone,) = study.ask(context=context)
        study.tell(alone, "tie")  # Whoever has no name agrees with nobody.
    table = study.status().judges
    # Four units and their mirror images: 16 answers, 8 of each kind, and 2 of 8 units
    # with two different ones. So alpha is 1 - 15 * 2 * 2 / (16 ** 2 - 2 * 8 ** 2).
    assert (table.alpha, table.alpha_units) == (1 - 60 / 128, 4)
    ada, bob, nobody = table.lines
    assert (ada.others, ada.others_agree) == (bob.others, bob.others_agree) == (4, 0.75)
    assert (nobody.others, nobody.others_agree) == (0, None)
    # In a context of its own nothing is repeated; else 3 of 6 pairs differ.
    repeats = (0, None) if contexts[0] == 0 else (6, 0.5)
    assert (bob.repeats, bob.repeats_agree) == repeats


# Gold questions


def test_gold_comes_as_often_as_said_and_is_no_vote(make):
    study = make(judging=Judging(gold_share=0.25, gold_threshold=0.0))
    assert study.add_gold("good", "bad")
    assert not study.add_gold("good", "bad")
    study.add_gold("good", "tea")
    tickets = study.ask(40, judge="Ada") + study.ask(4, judge="Bob")
    gold = [each.number for each in tickets[:40] if each.rule == "gold"]
    assert len(gold) == 10
    assert len({number % 4 for number in gold}) > 1
    assert sum(each.rule == "gold" for each in tickets[40:]) == 1
    asked = [{each.left, each.right} for each in tickets[:40] if each.rule == "gold"]
    assert asked.count({"good", "tea"}) == asked.count({"good", "bad"}) == 5
    for ticket in tickets:
        study.tell(ticket, better_of(ticket))
    assert study.comparisons().num_votes == 44 - 11
    ada, bob = study.status().judges.lines
    assert (ada.gold, ada.gold_right, bob.gold) == (10, 10, 1)
    assert study.status().aside == 0
    assert_replays(study)


def told(study, judge, number, answer):
    """Ask and tell, one after the other."""
    for _ in range(number):
        for ticket in study.ask(judge=judge):
            study.tell(ticket, answer(ticket))


def test_who_fails_gold_questions_is_set_aside_and_comes_back(make):
    terms = Judging(gold_share=0.5, gold_threshold=0.6, gold_least=4)
    study = make(judging=terms, budget=200)
    study.add_gold("good", "bad")
    told(study, "Ada", 20, better_of)
    before = study.comparisons()
    waiting = next(each for each in study.ask(2, judge="Bob") if each.rule != "gold")
    told(study, "Bob", 30, lambda ticket: mirrored(better_of(ticket)))
    assert study.comparisons().wins.tolist() == before.wins.tolist()
    assert study.ask(judge="Bob") == []
    assert "Bob is set aside: 0 of 4 gold questions right" in study.resting
    status = study.status()
    lines = {line.judge: line for line in status.judges.lines}
    assert lines["Bob"].is_aside
    assert not lines["Ada"].is_aside
    assert status.aside == lines["Bob"].left + lines["Bob"].right > 0
    assert status.votes == before.num_votes
    everyone = status.judges.everyone
    assert everyone is not None
    assert everyone.votes == status.aside
    # What was out is asked no more; its late answer is kept, and no vote.
    assert study.open_tickets("Bob") == []
    study.tell(waiting, "left")
    assert "set aside" in study.remark
    assert study.comparisons().num_votes == before.num_votes
    assert_replays(study)
    report = study.report()
    # The late answer is one more of them.
    assert f"With their {everyone.votes + 1} votes tea would lead, too" in report
    assert "set aside" in report
    aside = study.status().aside
    study.set_judge("Bob", trusted=True)
    assert study.comparisons().num_votes == before.num_votes + aside
    assert study.status().aside == 0
    assert study.ask(judge="Bob")
    assert_replays(study)


def test_an_undone_gold_answer_counts_no_more(make):
    study = make(judging=Judging(gold_share=0.9, gold_threshold=1.0, gold_least=1))
    told(study, "Ada", 3, better_of)
    study.add_gold("good", "bad")
    (ticket,) = study.ask(judge="Ada")
    assert ticket.rule == "gold"
    votes = study.comparisons().num_votes
    assert votes == 3
    study.tell(ticket, mirrored(better_of(ticket)))
    assert study.comparisons().num_votes == 0
    study.undo(ticket)
    assert study.comparisons().num_votes == votes
    assert study.open_tickets("Ada") == [ticket]
    study.tell(ticket, "skip")
    assert study.status().judges.lines[0].gold == 0
    assert not study.status().judges.lines[0].is_aside
    study.undo(ticket)
    study.tell(ticket, better_of(ticket))
    assert study.status().judges.lines[0].gold_right == 1
    study.withdraw(ticket)
    assert study.status().judges.lines[0].gold == 0
    assert_replays(study)


def test_set_aside_changes_what_the_report_says(make):
    study = make(judging=Judging(gold_share=0.3, gold_threshold=0.5, gold_least=2))
    study.add_gold("good", "bad")
    told(study, "Ada", 12, better_of)
    for name in ("Bob", "Cyd"):
        study.set_judge(name, trusted=True)
        told(study, name, 30, lambda ticket: mirrored(better_of(ticket)))
    assert study.status().leader == "milk"
    for name in ("Bob", "Cyd"):
        study.set_judge(name)
    status = study.status()
    assert status.leader == "tea"
    assert status.judges.everyone.leader == "milk"
    *_, names, words = status.judges.words("tea", status.stopping)
    assert "right: Bob, Cyd" in names
    assert f"with their {status.aside} votes milk would lead, and not tea" in words


# Each judge


def test_limits_and_assignments(make):
    study = make(arms=DRINKS)
    study.set_judge("Ada", limit=5, arms=["tea", "milk"])
    tickets = study.ask(9, judge="Ada")
    assert len(tickets) == 5
    assert all({each.left, each.right} == {"tea", "milk"} for each in tickets)
    assert "Ada has had the 5 questions" in study.resting
    for ticket in tickets:
        study.tell(ticket, "left")
    assert study.ask(judge="Ada") == []
    assert len(study.ask(9, judge="Bob")) == 9
    study.set_judge("Ada")
    assert study.ask(judge="Ada")
    assert_replays(study)
    with pytest.raises(StudyError, match="arms must be an arm of the study"):
        study.set_judge("Ada", arms=["tea", "ale"])
    with pytest.raises(StudyError, match="arms must be at least two"):
        study.set_judge("Ada", arms=["tea", "tea"])
    with pytest.raises(StudyError, match="price must be a number from 0"):
        study.set_judge("Ada", price=-1)
    with pytest.raises(StudyError, match="name must be that of a judge"):
        study.set_judge(None)


def test_time_sides_and_repeats_of_a_judge(make):
    study = make(arms=DRINKS[:2], judging=Judging(quickest=2.0))
    tickets = study.ask(4, judge="Ada")
    for ticket, seconds in zip(tickets, (1.0, 5.0, 3.0, 10.0), strict=True):
        study.clock.now += seconds
        study.tell(ticket, "left")
    (line,) = study.status().judges.lines
    # Of four questions at once the second is read after the first answer.
    assert line.seconds == 4.0
    assert line.too_fast == 1
    # Two of them one way round, two the other: two pairs of six agree.
    assert (line.left_share, line.repeats, line.repeats_agree) == (1.0, 6, 2 / 6)
    # Clopper and Pearson: all of four, lower end 0.025 ** (1 / 4).
    assert line.left_lower == pytest.approx(0.025**0.25)
    assert line.left_upper == 1.0
    exported = [json.loads(text) for text in study.export_judges().splitlines()]
    assert exported[0]["judge"] == "Ada"
    assert exported[0]["seconds"] == 4.0


# Both orders


@pytest.mark.parametrize("how", ["tie", "nothing"])
@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("left", "right", "left"),
        ("right", "left", "right"),
        ("tie", "tie", "tie"),
        ("left", "left", None),
        ("right", "right", None),
        ("tie", "left", None),
        ("left", "skip", "skip"),
    ],
)
def test_two_answers_are_one_vote(make, how, first, second, outcome):
    study = make(judging=Judging(both_orders=how), budget=9)
    one, other = study.ask(2, judge="Ada", context=7)
    assert (one.left, one.right, one.context) == (other.right, other.left, 7)
    study.tell(other, second)
    state = study._current()
    assert state.num_votes == 0
    assert state.out.sum() == (0 if second == "skip" else 2)
    study.tell(one, first)
    state = study._current()
    outcome = outcome or how
    left, right = DRINKS.index(one.left), DRINKS.index(one.right)
    assert state.num_votes == (outcome in ("left", "right", "tie"))
    assert state.wins[left, right] == (outcome == "left")
    assert state.wins[right, left] == (outcome == "right")
    assert state.ties[left, right] == (outcome == "tie")
    assert state.num_nothing == (outcome == "nothing")
    assert state.out.sum() == 0
    assert_replays(study)
    for ticket in (one, other):
        study.undo(ticket)
        study.undo(ticket)
    state = study._current()
    assert state.num_votes == state.wins.sum() == state.num_nothing == 0
    assert len(study.open_tickets("Ada")) == 2
    assert_replays(study)
    study.withdraw(other)
    assert study.open_tickets("Ada") == []
    assert study._current().shown.sum() == study._current().out.sum() == 0
    assert_replays(study)


def test_the_other_order_goes_to_the_same_judge(make):
    study = make(judging=Judging(both_orders="tie"), lease=60, budget=2)
    (ada,) = study.ask(judge="Ada")
    (bob,) = study.ask(judge="Bob")
    (again,) = study.ask(judge="Ada")
    assert (again.left, again.right) == (ada.right, ada.left)
    study.tell(ada, "left")
    study.tell(bob, "left")
    study.clock.now += 61
    # Both orders are asked anew, of somebody else.
    one, other = study.ask(2, judge="Cyd")
    assert (one.left, one.right) == (other.right, other.left)
    assert {one.left, one.right} == {ada.left, ada.right}
    assert study.open_tickets("Ada") == []
    # Ada's late second answer still makes a vote of the two.
    study.tell(again, "right")
    assert study.comparisons().num_votes == 1
    assert_replays(study)


@pytest.mark.parametrize("policy", ["d-ts+", "rucb", "information"])
def test_a_policy_is_told_one_vote_for_both_orders(make, policy):
    study = make(policy, judging=Judging(both_orders="tie"), budget=12)
    while tickets := study.ask(3, judge="Ada"):
        for ticket in tickets:
            study.tell(ticket, better_of(ticket))
    state = study._current()
    assert state.num_votes == 12
    assert len(state.questions) == 24
    assert sum(each.votes for each in state.told) == 12
    assert study.status().leader == "tea"
    assert_replays(study)


def test_the_anytime_rule_counts_both_orders_once(make):
    alone = make(arms=DRINKS[:2])
    both = make(arms=DRINKS[:2], judging=Judging(both_orders="nothing"))
    for _ in range(7):
        for study in (alone, both):
            tickets = study.ask(1 if study is alone else 2, judge="Ada")
            for ticket in tickets:
                study.tell(ticket, better_of(ticket))
    contradictory = both.ask(2, judge="Ada")
    for ticket in contradictory:
        both.tell(ticket, "left")
    one, other = (study.status().stopping[0] for study in (alone, both))
    assert one.evidence == other.evidence > 0
    assert both.status().contradictions == 1
    # A judge may not choose after seeing where the two lead: an undo counts against.
    both.undo(contradictory[0])
    both.tell(contradictory[0], "right")
    assert both.status().stopping[0].evidence < one.evidence


def test_a_judge_who_always_says_left_spends_the_budget(make):
    study = make(judging=Judging(both_orders="nothing"), budget=5)
    while tickets := study.ask(judge="Ada"):
        study.tell(tickets[0], "left")
    status = study.status()
    assert (status.votes, status.contradictions) == (0, 5)
    assert status.judges.lines[0].contradictions == 5
    (line,) = [each for each in status.stopping if each.rule == "budget"]
    assert line.stopped
    assert_replays(study)


# Budgets


def test_no_question_is_asked_that_costs_more_than_is_left(make):
    spending = Spending(cost=1.0, price=0.1, arm_prices={"milk": 0.05})
    study = make(spending=spending)
    study.set_judge("Bob", price=0.3)
    while tickets := study.ask(judge="Ada", n=2) + study.ask(judge="Bob"):
        for ticket in tickets:
            study.tell(ticket, better_of(ticket))
        assert study.status().spent <= 1.0 + 1e-9
    assert "the next question costs" in study.resting
    status = study.status()
    milk = sum(
        "milk" in (study._current().names_of(each))
        for each in study._current().questions.values()
    )
    by_judge = {line.judge: line for line in status.judges.lines}
    number = {
        name: line.left + line.right for name, line in by_judge.items()
    }  # fmt: skip
    expected = 0.1 * number["Ada"] + 0.3 * number["Bob"] + 0.05 * milk
    assert status.spent == pytest.approx(expected)
    assert math.fsum(line.cost for line in by_judge.values()) == pytest.approx(expected)
    assert_replays(study)


def test_a_price_that_divides_the_cost_is_spent_to_the_end(make):
    study = make(spending=Spending(cost=0.3, price=0.1))
    (undone, *others) = study.ask(9)
    assert len(others) == 2
    for ticket in (undone, *others):
        study.tell(ticket, "left")
    # What is undone was paid, and its second answer is not paid again.
    study.undo(undone)
    study.tell(undone, "right")
    (line,) = [each for each in study.status().stopping if each.rule == "cost"]
    assert line.stopped
    assert study.status().spent == pytest.approx(0.3)
    assert study.ask() == []


def test_money_for_questions_out_is_free_when_they_are_asked_anew(make):
    both = Judging(both_orders="tie")
    study = make(spending=Spending(cost=1.0, price=0.5), judging=both, lease=60)
    (away,) = study.ask(judge="Ada")
    assert study.ask(judge="Bob") == []
    assert "the next question costs 1, and 0 of 1 is left" in study.resting
    study.clock.now += 61
    tickets = study.ask(2, judge="Bob")
    assert {tickets[0].left, tickets[0].right} == {away.left, away.right}
    for ticket in tickets:
        study.tell(ticket, better_of(ticket))
    assert (study.status().votes, study.status().spent) == (1, 1.0)
    # A late answer is kept, and paid.
    study.tell(away, "left")
    assert study.status().spent == 1.5
    assert study.ask(judge="Ada") == []
    assert "the next question costs 0.5, and 0 of 1 is left" in study.resting
    assert_replays(study)


def test_nothing_is_asked_once_it_is_certain(make):
    study = make(arms=DRINKS[:2], stop_when=["anytime"], delta=0.2, budget=500)
    while tickets := study.ask():
        assert not study.status().stopping[0].stopped
        study.tell(tickets[0], better_of(tickets[0]))
    assert study.resting == "anytime says stop: tea"
    assert study.status().votes < 500


def test_judges_stop_when_none_of_them_changes_the_leader(make):
    study = make(arms=DRINKS[:2], stop_when=["judges"])
    told(study, "Ada", 3, better_of)
    assert study.ask(judge="Ada")  # Without her there would be no vote.
    told(study, "Bob", 1, lambda ticket: mirrored(better_of(ticket)))
    line = study.status().stopping[2]
    assert (line.leader, line.evidence, line.threshold) == ("tea", 1, 2)
    assert not line.stopped
    assert study.status().judges.leaders_without == {"Ada": "coffee", "Bob": "tea"}
    told(study, "Cyd", 4, better_of)
    assert study.resting == "judges says stop: tea"
    line = study.status().stopping[2]
    assert line.stopped
    assert line.answer == "tea"
    assert line.amounts() == ("3 judges", "3 judges")


def test_lines_of_json_know_gold_and_judges(make):
    study = make()

    def say(**words):
        return json.loads(answer_line(study, json.dumps(words)))

    gold = {"do": "add_gold", "better": "good", "worse": "bad"}
    assert say(**gold) == {"new": True}
    assert say(**gold) == {"new": False}
    assert say(do="set_judge", name="Ada", limit=0) == {"new": True}
    assert "Ada has had the 0 questions" in say(do="ask", judge="Ada")["resting"]
    assert "at least two" in say(do="set_judge", name="Ada", arms=["tea"])["error"]


# Terms


@pytest.mark.parametrize(
    ("make_terms", "words"),
    [
        (lambda: Judging(both_orders="both"), "both_orders must be one of tie, noth"),
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
    study = make(judging=terms, spending=spending, stop_when=["posterior", "judges"])
    with Study.open(study.path) as other:
        assert other._settings == study._settings
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


@pytest.mark.parametrize("how", [None, "tie", "nothing"])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_replays_to_the_same(make, how, seed):
    rng = random.Random(seed)
    terms = Judging(both_orders=how, gold_share=0.4, gold_threshold=0.6, gold_least=2)
    study = make("balanced", arms=DRINKS, judging=terms, lease=30, budget=60)
    study.add_gold("good", "bad")
    judges = ["Ada", "Bob", None]
    for _ in range(150):
        study.clock.now += rng.choice([0, 1, 40])
        number = len(study._current().questions)
        deed = rng.choice(["ask", "ask", "tell", "tell", "tell", "undo", "withdraw",
                           "judge", "retire"])  # fmt: skip
        if deed == "ask":
            study.ask(rng.randint(1, 3), judge=rng.choice(judges))
        elif deed == "judge":
            study.set_judge(rng.choice(["Ada", "Bob"]), trusted=rng.random() < 0.5)
        elif deed == "retire" and rng.random() < 0.1 and len(study.arms) > 3:
            study.retire_arm(rng.choice(study.arms))
        elif number and deed != "retire":
            question = study._current().questions[rng.randint(1, number)]
            if question.withdrawn:
                continue
            if deed == "tell" and question.answer is None:
                study.tell(question.number, rng.choice(WORDS))
            elif deed == "undo":
                study.undo(question.number)
            elif deed == "withdraw" and rng.random() < 0.2:
                study.withdraw(question.number)
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
