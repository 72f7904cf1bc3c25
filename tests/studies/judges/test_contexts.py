"""Pools of contexts: how questions draw from them, and who wins in which."""

import random
from collections import Counter

import numpy as np
import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Items, Judging, Study, verify_study
from bayesduel.studies.page.server import JudgePage
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, assert_replays, refused

POOL = ["hot", "cold", "at night"]


def by_pair(study):
    """Count the contexts of each pair, one of both orders."""
    results = {}
    for question in study._current().questions.values():
        if question.twin_of is None and question.replaces is None:
            pair = frozenset((question.left, question.right))
            context = question.context if isinstance(question.context, str) else ""
            results.setdefault(pair, Counter())[context] += 1
    return results


@pytest.mark.parametrize(("policy", "orders"), [("balanced", "tie"), ("random", None)])
def test_each_pair_meets_in_all_contexts_as_often(make, policy, orders):
    judging = Judging(both_orders=orders)
    study = make(policy, contexts=POOL, judging=judging, seed=2)
    rng = random.Random(3)
    for _ in range(60):
        for ticket in study.ask(judge="Ada"):
            if rng.random() < 0.9:
                study.tell(ticket, rng.choice(["left", "right"]))
    study.clock.now += 4000.0
    anew = study.ask(judge="Bob")
    state = study._current()
    for item in anew:
        before = state.questions[item.number].replaces
        assert before is None or item.context == state.questions[before].context
    for counts in by_pair(study).values():
        numbers = [counts[item] for item in POOL]
        assert max(numbers) - min(numbers) <= 1
    every = Counter()
    for counts in by_pair(study).values():
        every.update(counts)
    assert set(every) == set(POOL)
    assert max(every.values()) - min(every.values()) <= 3
    for item in state.questions.values():
        if item.twin_of is not None:
            assert item.context == state.questions[item.twin_of].context
    assert_replays(study)
    assert verify_study(study.path).foreign == ()


def test_a_context_of_ones_own_and_mergers(make):
    study = make(contexts=POOL, arms=DRINKS)
    (ticket,) = study.ask(context={"mine": 1})
    assert ticket.context == {"mine": 1}
    study.ask(1, context="hot")
    study.ask(20)
    study.merge_arms("tea", "milk")
    state = study._current()
    left = by_pair(study)
    for (first, second), counts in state.drawn.items():
        if state.is_retired[first] or state.is_retired[second]:
            continue
        known = left[frozenset((first, second))]
        assert counts == Counter({item: known[item] for item in POOL if known[item]})
    assert verify_study(study.path).foreign == ()
    assert_replays(study)


def test_each_context_is_fitted_by_itself(make):
    better = {"hot": 0, "cold": 1, "at night": 2}
    study = make(contexts=[*POOL, "never"], seed=5)
    for number in range(72):
        for ticket in study.ask():
            if ticket.context == "never":  # Nobody answers.
                continue
            best = DRINKS[better[ticket.context]]
            word = "right" if best == ticket.right or number % 9 == 0 else "left"
            study.tell(ticket, word)
    table = study.by_context()
    scores = []
    for line, context in zip(table.lines, POOL, strict=False):
        part = make(seed=5)
        part.import_votes(select(study, context, part.arms))
        status = part.status()
        assert (line.context, line.votes) == (context, status.imported)
        assert line.leader == status.leader == DRINKS[better[context]]
        assert line.probability == status.standings[0].copeland
        scores.append({row.arm: row.score for row in status.standings})
    assert table.lines[-1].votes == 0 and table.lines[-1].leader is None
    assert table.leads == {"tea": 1, "coffee": 1, "milk": 1}
    for arm, mean in table.mean_scores.items():
        assert mean == pytest.approx(np.mean([score[arm] for score in scores]))
    means = [*table.mean_scores.values()]
    assert means == sorted(means, reverse=True)
    assert "By context" in study.report()


def select(study, context, names):
    wins = np.zeros((len(names), len(names)))
    for question in study._current().questions.values():
        if question.context == context and study._current().is_vote(question):
            pair = question.left, question.right
            wins[pair if question.outcome == "left" else pair[::-1]] += 1
    return Comparisons.from_wins(wins, arm_names=names)


@pytest.mark.parametrize(
    ("contexts", "words"),
    [
        ("hot", "must be a sequence of texts"),
        (["hot", "hot"], "each once"),
        (["hot", 3], "must be a text"),
        ([""], "must be a text"),
        (list(map(str, range(10_001))), "must be at most 10000"),
    ],
)
def test_a_pool_that_is_none_is_refused(tmp_path, contexts, words):
    with pytest.raises(StudyError, match=f"contexts.*{words}"):
        Study.create(tmp_path / "a.study", DRINKS, contexts=contexts)
    assert list(tmp_path.iterdir()) == []


ITEMS = "arm,context,text\nsmall,2+2?,4\nlarge,2+2?,four\nsmall,3?,5\nlarge,3?,three\n"


def test_items_are_shown_in_their_context(page, tmp_path):
    path, file = tmp_path / "a.study", tmp_path / "items.csv"
    file.write_text(ITEMS)
    done = invoke(["study", "new", str(path), "--items", str(file), "-p", "balanced"])
    assert done.exit_code == 0, done.stderr
    with Study.open(path) as study:
        shown = page(study, items=Items(file)).question()
        (ticket,) = study.open_tickets()
    texts = {("small", "2+2?"): "4", ("large", "2+2?"): "four",
             ("small", "3?"): "5", ("large", "3?"): "three"}  # fmt: skip
    assert shown["context"] == ticket.context
    assert shown["cards"] == [
        {"answer": side, "name": None, "image": None,
         "text": texts[getattr(ticket, side), ticket.context]}
        for side in ("left", "right")
    ]  # fmt: skip
    for options in (["--contexts"], ["--contexts", "--json"]):
        done = invoke(["study", "status", str(path), *options])
        assert done.exit_code == 0 and "2+2?" in done.stdout
    more = ["--items", str(file), "--arms", "a,b"]
    assert invoke(["study", "new", str(tmp_path / "b"), *more]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arm,words\na,b\n", "must have a column 'text'"),
        (ITEMS + "small,3?,6\n", r"items\[4\].*must be there once"),
        (ITEMS + "tiny,3?,6\n", "must have a text for each arm in each context"),
        (ITEMS + "tiny,,6\n", r"items\[4\].*must name an arm"),
    ],
)
def test_items_that_are_not_whole_are_refused(tmp_path, text, words):
    (tmp_path / "items.csv").write_text(text)
    refused(words, Items, tmp_path / "items.csv")


def test_an_arm_without_contexts_shows_the_same_always(tmp_path):
    (tmp_path / "items.csv").write_text("arm,text\na,A\nb,B\n")
    items = Items(tmp_path / "items.csv")
    assert items.text("a", None) == items.text("a", "any") == "A"
    assert items.text("c", None) is None
    with Study.create(tmp_path / "a.study", ["a", "b"], "balanced") as study:
        assert JudgePage(study, items=items).num_answered == 0
