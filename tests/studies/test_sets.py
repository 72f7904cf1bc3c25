"""Studies in which judges choose the best of a set, and whether they asked it."""

import itertools
import json
import pickle
import random
import re

import numpy as np
import pytest
from scipy import stats

from bayesduel.errors import StudyError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, MultinomialLogit
from bayesduel.studies import Judging, Study, answer_line, verify_study
from bayesduel.studies.rules import SetRule
from bayesduel.votes import Choices, Comparisons, read_sets
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, append, assert_replays, refused, same

ARMS = [*DRINKS, "juice"]
UTILITIES = dict(zip(ARMS, [1.2, 0.4, 0.0, -0.5, 0.1], strict=True))
FALSE_ALARM = 1e-6


def chosen(ticket, rng):
    """Return the number of a card, as the multinomial logit draws it."""
    worths = [np.exp(UTILITIES[arm]) for arm in ticket.shown]
    return rng.choices(range(1, len(worths) + 1), worths)[0]


def play(study, number, rng, judges=("Ada", "Bob")):
    """Answer questions; return what was shown, and what was best."""
    record = []
    for _ in range(number):
        (ticket,) = study.ask(judge=rng.choice(judges))
        card = chosen(ticket, rng)
        study.tell(ticket, card)
        record.append((ticket.shown, ticket.shown[card - 1]))
    return record


def test_what_is_chosen_is_what_is_fitted(make):
    study, rng = make(None, ARMS, choose_from=3), random.Random(2)
    record = play(study, 20, rng)
    assert all(len({*shown}) == 3 for shown, _ in record)
    (skipped,) = study.ask(judge="Ada")
    study.skip(skipped)
    (back, gone) = study.ask(2, judge="Bob")
    study.tell(back, 1)
    study.undo(back)
    study.tell(back, "3")
    record.append((back.shown, back.shown[2]))
    study.tell(gone, 2)
    study.withdraw(gone)
    assert_replays(study)
    state = study._current()
    assert same(state, pickle.loads(pickle.dumps(state)))
    votes = Choices.from_subsets(*zip(*record, strict=True), arm_names=ARMS)
    given = study.choices()
    for first, second in ((votes, given), (given, votes)):
        rows = dict(zip(map(tuple, first.offered), first.counts.tolist(), strict=True))
        for offered, counts in zip(second.offered, second.counts.tolist(), strict=True):
            assert rows.get(tuple(offered), [0] * 6) == counts
    status = study.status()
    posterior = fit(MultinomialLogit(), votes, method="laplace", num_draws=1000)
    shares = dict(zip(ARMS, posterior.winner_shares()["copeland"], strict=True))
    for row in status.standings:
        assert row.copeland == pytest.approx(shares[row.arm], abs=0.05)
        assert row.won == sum(best == row.arm for _, best in record)
        assert row.votes == sum(row.arm in shown for shown, _ in record)
    assert (status.votes, status.skipped, status.ties) == (21, 1, 0)
    assert [line.rule for line in status.stopping] == ["posterior"]
    # An arm that goes takes its choices with it; the others stay choices of the rest.
    study.retire_arm("juice")
    results = [best for shown, best in record if best != "juice"]
    assert study.choices().num_votes == len(results)
    assert not study.choices().offered.all(axis=1).any()
    assert all("juice" not in item.shown for item in study.ask(5))
    assert verify_study(study.path).foreign == ()
    frame = study.to_dataframe()
    winners = frame.loc[frame["counts"], "winner"]
    assert [*winners] == [best for _, best in record]
    assert json.loads(frame["shown"][0]) == [*record[0][0]]


def test_a_report_of_sets_has_no_table_of_pairs(make):
    study = make(None, ARMS, choose_from=3)
    play(study, 1, random.Random(1))
    page = study.report()
    assert ("Who met whom" in page, "scores of the arms" in page) == (False, True)


@pytest.mark.parametrize("policy", ["d-ts", "logit-ts"])
def test_sets_have_the_distribution_of_the_rule(make, policy):
    study = make(policy, ARMS, choose_from=3)
    play(study, 12, random.Random(5))
    state, rule, number = study._current(), SetRule(study._settings), 400
    allowed = state.may_ask(None)
    pairs = np.zeros((5, 5))
    for event in range(number):
        result = rule.propose(state, allowed, event)
        pairs[result.left, result.right] += 1
    # From draws of its own, 50 times as many.
    draws = rule._posterior.sample_utilities(7, 50 * number)
    expected = np.zeros((5, 5))
    if policy == "logit-ts":
        order = np.argsort(-draws, axis=1)
        np.add.at(expected, (order[:, 0], order[:, 1]), 1.0)
    else:
        best = np.bincount(draws.argmax(axis=1), minlength=5) / len(draws)
        for first in range(5):
            left = draws.copy()
            left[:, first] = -np.inf
            second = np.bincount(left.argmax(axis=1), minlength=5)
            expected[first] = best[first] * second
    expected *= number / expected.sum()
    often = expected > 10
    assert not pairs[expected == 0].any()
    seen = [*pairs[often], pairs[~often].sum()]
    wanted = [*expected[often], expected[~often].sum()]
    assert stats.chisquare(seen, wanted).pvalue > FALSE_ALARM


def test_balanced_sets_show_every_arm_as_often(make):
    study = make("balanced", ARMS, choose_from=4)
    tickets = study.ask(25)
    shown = [arm for ticket in tickets for arm in ticket.shown]
    assert {shown.count(arm) for arm in ARMS} == {20}
    first = [ticket.shown[0] for ticket in tickets]
    assert len({*first}) == 5


def test_a_set_is_asked_anew_as_a_whole(make):
    study = make("balanced", ARMS, choose_from=4, lease=10.0, budget=1)
    (late,) = study.ask()
    study.clock.now += 11
    (again,) = study.ask()
    assert {*again.shown} == {*late.shown}
    assert again.reason == "question 1 has no answer yet"
    study.tell(again, 4)
    study.tell(late, 1)
    assert (study.status().beyond, study.choices().num_votes) == (1, 1)
    assert_replays(study)


def test_contexts_of_sets_are_drawn_evenly_and_tell_who_wins_in_which(make):
    pool, rng = ["loud", "quiet"], random.Random(4)
    study = make("balanced", ARMS, choose_from=3, contexts=pool)
    for _ in range(40):
        (ticket,) = study.ask()
        first = "tea" if ticket.context == "loud" else "water"
        study.tell(ticket, ticket.shown.index(first) + 1 if first in ticket.shown
                   else chosen(ticket, rng))  # fmt: skip
    drawn, questions = {}, study._current().questions.values()
    for question in questions:
        for pair in itertools.combinations(sorted(question.arms), 2):
            drawn.setdefault(pair, []).append(question.context)
    # No set is asked where its pairs have been seen more often.
    assert all(
        abs(2 * question.count("loud") - len(question)) <= 6
        for question in drawn.values()
    )
    table = study.by_context()
    assert [line.votes for line in table.lines] == [20, 20]
    assert [line.leader for line in table.lines] == ["tea", "water"]
    assert verify_study(study.path).foreign == ()
    assert_replays(study)


def test_the_worst_is_named_after_the_best(make, tmp_path):
    study, rng = make(None, ARMS, choose_from=4, worst=True), random.Random(6)
    shown, best, worst = [], [], []
    for number in range(14):
        (ticket,) = study.ask(judge="Ada")
        assert ticket.worst and [*ticket.answers] == ["1", "2", "3", "4"]
        first = chosen(ticket, rng)
        last = rng.choice([card for card in range(1, 5) if card != first])
        given = (first, last) if number % 2 else f"{first},{last}"
        assert study.tell(ticket, given)
        assert not study.tell(ticket, f"{first},{last}")
        shown.append(ticket.shown)
        best.append(ticket.shown[first - 1])
        worst.append(ticket.shown[last - 1])
    skipped, undone = study.ask(2)
    study.skip(skipped)
    study.tell(undone, (2, 1))
    study.undo(undone)
    for bad in (1, "1", "1,1", (1, 5), (1, 2, 3), [True, 2], "1, 2", "left", None, ()):
        refused("must be the best card and the worst", study.tell, undone, bad)
    votes = Choices.from_subsets(shown, best, worst=worst, arm_names=ARMS)
    choices = study.choices()
    assert choices.row_names == votes.row_names
    assert choices.counts.tolist() == votes.counts.tolist()
    state, status = study._current(), study.status()
    assert same(state, pickle.loads(pickle.dumps(state)))
    assert_replays(study)
    assert (status.votes, status.skipped) == (14, 1)
    fitted = fit(MultinomialLogit(), votes, method="laplace", num_draws=1000)
    shares = dict(zip(ARMS, fitted.winner_shares()["copeland"], strict=True))
    for row in status.standings:
        assert row.copeland == pytest.approx(shares[row.arm], abs=0.05)
        assert (row.won, row.lost) == (best.count(row.arm), worst.count(row.arm))
        assert row.votes == sum(row.arm in item for item in shown)
    # Elsewhere they are what they were, and one vote each.
    study.export_votes(tmp_path / "votes.csv")
    read = read_sets(tmp_path / "votes.csv", arm_names=ARMS)
    assert (read.row_names, read.counts.tolist()) == (
        votes.row_names, votes.counts.tolist(),
    )  # fmt: skip
    table, whole = (make("balanced", ARMS, choose_from=3) for _ in range(2))
    assert table.import_votes(tmp_path / "votes.csv") == 14
    assert whole.import_study(study.path) == (14, 0)
    assert whole.import_study(study.path) == (0, 14)
    for second in (table, whole):
        assert second.choices().counts.tolist() == votes.counts.tolist()
        assert second.status().imported == 14
        assert_replays(second)
    # A worst arm that goes takes its row along, and the best stays.
    study.retire_arm("tea")
    left = study.choices()
    results = [arm for arm in ARMS if arm != "tea"]
    for rows, named in ((~left.worst, best), (left.worst, worst)):
        counts = left.counts[rows].sum(axis=0)[:-1]
        assert counts.max() > 0
        assert all(count <= named.count(arm)
                   for count, arm in zip(counts, results, strict=True))  # fmt: skip
    assert left.counts[~left.worst].sum() == 14 - best.count("tea")
    assert verify_study(study.path).foreign == ()


def test_choices_come_from_tables_and_other_studies(make, tmp_path):
    study, rng = make(None, ARMS, choose_from=3), random.Random(8)
    record = play(study, 12, rng)
    study.skip(study.ask()[0])
    sets = [["tea", "milk"], ARMS]
    given = Choices.from_subsets(sets, ["milk", "tea"], weight=[2, 1])
    assert study.import_votes(given, source="by hand") == 3
    pairs = Comparisons.from_wins([[0, 3], [1, 0]], arm_names=["milk", "tea"])
    assert study.import_votes(pairs) == 4
    shown = [*record, *[(("tea", "milk"), "milk")] * 2, (ARMS, "tea")]
    shown += [(("milk", "tea"), best) for best in ["milk"] * 3 + ["tea"]]
    expected = Choices.from_subsets(*zip(*shown, strict=True), arm_names=ARMS)
    choices = study.choices()
    assert choices.row_names == expected.row_names
    assert choices.counts.tolist() == expected.counts.tolist()
    assert study.status().imported == 7
    assert same(study._current(), pickle.loads(pickle.dumps(study._current())))
    assert_replays(study)
    # An export is read back, by itself or as the history of a study.
    study.export_votes(tmp_path / "votes.csv")
    study.export(tmp_path / "votes.jsonl")
    second = make("balanced", ARMS[::-1], choose_from=4)
    assert second.import_votes(tmp_path / "votes.csv") == 12
    with pytest.raises(StudyError, match="were imported before, by event 2"):
        second.import_votes(read_sets(tmp_path / "votes.csv", arm_names=ARMS))
    assert second.undo_import(2)
    assert second.choices().num_votes == 0
    assert second.import_study(tmp_path / "votes.jsonl") == (19, 0)
    assert second.import_study(study.path) == (0, 19)
    study.tell(study.ask(judge="Eve")[0], 1)
    assert second.import_study(study.path) == (1, 19)
    assert_replays(second)
    results = [ARMS.index(name) for name in second.choices().arm_names]
    assert (second.choices().counts.sum(axis=0)[:-1]
            == study.choices().counts.sum(axis=0)[results]).all()  # fmt: skip
    of_pairs = make("balanced", ARMS)
    for deed, bad, words in [
        (of_pairs.import_votes, given, "votes must be .* as this is a study of pairs"),
        (of_pairs.import_study, tmp_path / "votes.jsonl", "other must be votes betw"),
    ]:
        refused(words, deed, bad)
    (ticket,) = of_pairs.ask()
    of_pairs.tell(ticket, "tie")
    for bad, words in [
        (Choices.from_subsets([ARMS], [None]), "must choose an arm in each row"),
        (Choices.from_subsets([ARMS], ["tea"], weight=[0.5]), "must hold whole votes"),
        (Comparisons.from_wins(np.zeros((2, 2)), ties=[[0, 1], [1, 0]],
                               arm_names=ARMS[:2]), "must hold no ties"),
        (Choices.from_subsets([["tea", "gin"]], ["tea"]), "votes must be an arm of"),
    ]:  # fmt: skip
        refused(words, study.import_votes, bad)
    refused("other must hold no ties", study.import_study, of_pairs.path)


@pytest.mark.parametrize("row", [
    [0, 1, 1, 0, 0], [[0, 1], [1]], [[0, 0], [1, 2]], [[0, 9], [1, 2]], [[0], [1]],
    [[0, 1], [1, 1], 2], [[0, 1], [1, -1]],
])  # fmt: skip
def test_imported_sets_that_nobody_could_have_written_are_refused(make, row):
    study = make(None, ARMS, choose_from=3)
    with pytest.raises(StudyError, match="event 2 of the study is broken"):
        append(study, "imported", {"source": "", "counts": [row]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"choose_from": 6}, "choose_from must be at most 5"),
        ({"choose_from": 3, "policy": "d-ts+"}, "policy must be one of d-ts, logit-ts"),
        ({"choose_from": 3, "model": BradleyTerry()}, "model must be MultinomialLogit"),
        ({"choose_from": 3, "floor": 2}, "floor must be left out"),
        ({"choose_from": 3, "stop_when": ["anytime"]}, "anytime: for .* single pairs"),
        ({"choose_from": 3, "judging": Judging("tie")}, "both_orders: for .* place; l"),
        ({"model": MultinomialLogit()}, "model must be one of pairs"),
        ({"worst": True}, "worst must be False for pairs"),
        ({"choose_from": 3, "worst": 1}, "worst must be True or False"),
    ],
)
def test_what_a_study_of_sets_cannot_be_is_refused(tmp_path, options, words):
    policy = options.pop("policy", None)
    refused(words, Study.create, tmp_path / "no.study", ARMS, policy, **options)
    assert not (tmp_path / "no.study").exists()


def test_what_needs_pairs_is_refused_and_stores_nothing(make):
    study = make(None, ARMS, choose_from=3)
    (ticket,) = study.ask()
    before = study.events()
    for deed, why, instead in (
        (study.comparisons, "its votes are choices", "choices()"),
        (study.forecast, "no compiled rule asks for sets", "give budget"),
        (study.audit_stopping, "look at pairs", "bayesduel.compare"),
        (lambda: study.merge_arms("tea", "milk"), "may have shown both", "retire"),
    ):
        with pytest.raises(StudyError) as caught:
            deed()
        rule = "for studies of pairs alone, and this one shows sets of 3: "
        assert re.search(f"{rule}.*{why}.*; .*{re.escape(instead)}", str(caught.value))
    for answer in ("left", "tie", 0, 4, "0", True, None):
        refused("answer must be one of 1, 2, 3, skip", study.tell, ticket, answer)
    assert study.events() == before
    said = answer_line(study, '{"do": "tell", "ticket": 1, "answer": 2}')
    assert json.loads(said) == {"new": True}
    for arm in ARMS[:2]:
        study.retire_arm(arm)
    refused("must leave 3 arms", study.retire_arm, ARMS[2])


SIX = [*DRINKS, "juice", "beer"]


@pytest.fixture(params=[None, "balanced"])
def played(make, request):
    """Make a study with 12 answers, contexts, gold sets and the worst."""
    study = make(
        request.param, SIX, choose_from=3, worst=True, contexts=["loud", "quiet"],
        judging=Judging(gold_share=0.3),
    )  # fmt: skip
    study.add_gold("good", ("fair", "bad"))
    rng = random.Random(3)
    for _ in range(12):
        (ticket,) = study.ask(judge=rng.choice(["Ada", "Bob"]))
        best = min(range(3), key=lambda at: (ticket.shown[at] != "good",
                                             ticket.shown[at]))  # fmt: skip
        study.tell(ticket, (best + 1, (best + 1) % 3 + 1))
    verified = verify_study(study.path)
    assert verified.foreign == () and verified.questions == 12
    return study


def next_body(study):
    """Return what the event of the next question would hold."""
    with Study.open(study.path) as second:
        copy = study.path.with_name("copy.study")
        second.copy(copy)
    with Study.open(copy) as second:
        second._clock = study.clock
        while second.ask()[0].rule == "gold":
            pass
        event = second.events()[-1]
    copy.unlink()
    return event.body | {"question": len(study._current().questions) + 1}


def forged(study, **changes):
    """Store a question of somebody's own, and return what is found of it."""
    body = next_body(study)
    number = body["question"]
    append(study, "asked", body | changes)
    verified = verify_study(study.path)
    assert verified.questions == number
    return body, verified.foreign


def test_a_set_that_suits_somebody_is_found(played):
    body = next_body(played)
    arms = [body["left"], body["right"], *body["also"]]
    first = next(arm for arm in range(6) if arm not in arms)
    _, (foreign,) = forged(played, also=[first])
    shown = [*arms[:2], first]
    assert foreign.question == body["question"]
    assert foreign.actual.startswith(" against ".join(SIX[arm] for arm in shown))
    assert foreign.expected != foreign.actual
    result = invoke(["study", "verify", str(played.path)])
    assert result.exit_code == 2
    assert "questions that the study would have asked: 12 of 13" in result.stdout
    assert "not all of its questions are its own" in result.stderr


def test_another_order_of_the_same_set_is_found(played):
    body = next_body(played)
    _, foreign = forged(played, left=body["right"], right=body["left"])
    assert [item.question for item in foreign] == [body["question"]]


def test_whoever_asks_may_name_a_context_of_the_pool(played):
    body = next_body(played)
    second = {"loud": "quiet", "quiet": "loud"}[body["context"]]
    assert forged(played, context=second)[1] == ()


def test_gold_sets_out_of_turn_are_found(played):
    number = len(played._current().questions) + 1
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2]):  # One of them might be its own.
        body = {"question": number, "gold": 0, "order": order, "judge": "Ada",
                "lease": 3600.0}  # fmt: skip
        append(played, "gold asked", body)
        number += 1
    verified = verify_study(played.path)
    assert verified.questions == number - 1
    request = {item.actual for item in verified.foreign}
    assert len(verified.foreign) >= 2
    assert request & {"good against bad against fair for gold",
                    "fair against good against bad for gold"}  # fmt: skip


def test_other_answers_than_those_that_were_given_are_found(make):
    """A rule that learns is refused: its next question does not follow this answer."""
    study = make(None, SIX, choose_from=3, seed=4)
    for _ in range(15):
        (ticket,) = study.ask()
        study.tell(ticket, 1 + ticket.shown.index(min(ticket.shown)))
    path = study.path.with_name("forged.study")
    events = study.events()
    with Study.create(path, SIX, None, choose_from=3, seed=4) as second:
        second._current().time = study.clock.now
        second._clock = study.clock
        for event in events[1:]:
            body = event.body
            if event.kind == "answered":
                shown = second._current().questions[body["question"]].arms
                worst = 1 + max(range(3), key=lambda at: SIX[shown[at]])
                body = body | {"answer": str(worst)}
            append(second, event.kind, body)
    verified = verify_study(path)
    assert verified.questions == 15
    assert len(verified.foreign) > 5
    assert all(item.question > 1 for item in verified.foreign)
