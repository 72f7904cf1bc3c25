"""Who asked in studies of sets: their questions are asked again, one by one."""

import random

import pytest

from bayesduel.studies import Judging, Study, verify_study
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, append

ARMS = [*DRINKS, "juice", "beer"]


@pytest.fixture(params=[None, "balanced"])
def played(make, request):
    """Make a study with 12 answers, contexts, gold sets and the worst."""
    study = make(
        request.param, ARMS, choose_from=3, worst=True, contexts=["loud", "quiet"],
        judging=Judging(gold_share=0.3),
    )  # fmt: skip
    study.add_gold("good", ("fair", "bad"))
    rng = random.Random(3)
    for _ in range(12):
        (ticket,) = study.ask(judge=rng.choice(["Ada", "Bob"]))
        best = min(range(3), key=lambda at: (ticket.shown[at] != "good",
                                             ticket.shown[at]))  # fmt: skip
        study.tell(ticket, (best + 1, (best + 1) % 3 + 1))
    found = verify_study(study.path)
    assert found.foreign == () and found.questions == 12
    return study


def next_body(study):
    """Return what the event of the next question would hold."""
    with Study.open(study.path) as other:
        copy = study.path.with_name("copy.study")
        other.copy(copy)
    with Study.open(copy) as other:
        other._clock = study.clock
        while other.ask()[0].rule == "gold":
            pass
        event = other.events()[-1]
    copy.unlink()
    return event.body | {"question": len(study._current().questions) + 1}


def forged(study, **changes):
    """Store a question of somebody's own, and return what is found of it."""
    body = next_body(study)
    number = body["question"]
    append(study, "asked", body | changes)
    found = verify_study(study.path)
    assert found.questions == number
    return body, found.foreign


def test_a_set_that_suits_somebody_is_found(played):
    body = next_body(played)
    arms = [body["left"], body["right"], *body["also"]]
    other = next(arm for arm in range(6) if arm not in arms)
    _, (foreign,) = forged(played, also=[other])
    shown = [*arms[:2], other]
    assert foreign.question == body["question"]
    assert foreign.asked.startswith(" against ".join(ARMS[arm] for arm in shown))
    assert foreign.own != foreign.asked
    result = invoke(["study", "verify", str(played.path)])
    assert result.exit_code == 2
    assert "questions that the study would have asked: 12 of 13" in result.stdout
    assert "not all of its questions are its own" in result.stderr


def test_another_order_of_the_same_set_is_found(played):
    body = next_body(played)
    _, foreign = forged(played, left=body["right"], right=body["left"])
    assert [each.question for each in foreign] == [body["question"]]


def test_whoever_asks_may_name_a_context_of_the_pool(played):
    body = next_body(played)
    other = {"loud": "quiet", "quiet": "loud"}[body["context"]]
    assert forged(played, context=other)[1] == ()


def test_gold_sets_out_of_turn_are_found(played):
    number = len(played._current().questions) + 1
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2]):  # One of them might be its own.
        body = {"question": number, "gold": 0, "order": order, "judge": "Ada",
                "lease": 3600.0}  # fmt: skip
        append(played, "gold asked", body)
        number += 1
    found = verify_study(played.path)
    assert found.questions == number - 1
    asked = [each.asked for each in found.foreign]
    assert len(asked) >= 2
    assert "good against bad against fair for gold" in asked or (
        "fair against good against bad for gold" in asked
    )


def test_other_answers_than_those_that_were_given_are_found(make):
    """Of a rule that learns: what it asked next does not follow on what is told now."""
    study = make(None, ARMS, choose_from=3, seed=4)
    for _ in range(15):
        (ticket,) = study.ask()
        study.tell(ticket, 1 + ticket.shown.index(min(ticket.shown)))
    path = study.path.with_name("forged.study")
    events = study.events()
    with Study.create(path, ARMS, None, choose_from=3, seed=4) as other:
        other._current().time = study.clock.now
        other._clock = study.clock
        for event in events[1:]:
            body = event.body
            if event.kind == "answered":
                shown = other._current().questions[body["question"]].arms
                worst = 1 + max(range(3), key=lambda at: ARMS[shown[at]])
                body = body | {"answer": str(worst)}
            append(other, event.kind, body)
    found = verify_study(path)
    assert found.questions == 15
    assert len(found.foreign) > 5
    assert all(each.question > 1 for each in found.foreign)
