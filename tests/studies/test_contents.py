"""Arms that are renamed, restored and merged; votes of other studies, as tables."""

import random

import numpy as np
import pandas as pd
import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Judging, Spending, Study, verify_study
from bayesduel.votes import Comparisons, read_comparisons
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, append, assert_replays, refused

WORDS = ["left", "right", "tie", "skip"]


def vote(study, rng, number=1):
    """Ask and answer, most of the time."""
    for _ in range(number):
        for ticket in study.ask(judge=f"judge {rng.randrange(3)}"):
            if rng.random() < 0.9:
                word = rng.choices(WORDS, [4, 4, 2, 1])[0]
                study.tell(ticket, word, judge=ticket.judge)


def counted(study):
    """Return wins and ties by name from the history, written again in plain Python."""
    arguments, said, names, twins, gone, imports = {}, {}, [], {}, set(), {}
    for event in study.events():
        body, kind = event.body, event.kind
        if kind == "created":
            names = [[name] for name in body["arms"]]
        elif kind == "arm added":
            names.append([body["name"]])
        elif kind == "asked":
            arguments[body["question"]] = names[body["left"]], names[body["right"]]
        elif kind == "answered":
            said[body["question"]] = body["answer"]
        elif kind == "undone":
            del said[body["question"]]
        elif kind == "withdrawn":
            arguments.pop(body["question"], None)
        elif kind == "imported":
            rows = [(names[a], names[b], *n) for a, b, *n in body["counts"]]
            imports[event.number] = rows
        elif kind == "import undone":
            del imports[body["event"]]
        elif kind == "arm renamed":
            (box,) = (name for name in names if name[0] == body["name"])
            box[0] = body["to"]
        elif kind == "arms merged":
            twins[body["name"]] = body["into"]
            gone.add(body["name"])

    def named(box):
        name = box[0]
        while name in twins:
            name = twins[name]
        return name

    wins, ties = {}, {}
    rows = [
        (*arguments[number], *(int(word == item) for item in WORDS[:3]))
        for number, word in said.items()
        if number in arguments
    ]
    for first, second, won, lost, tied in [*rows, *sum(imports.values(), [])]:
        pair = named(first), named(second)
        if pair[0] == pair[1]:
            continue
        for (one, another), number in ((pair, won), (pair[::-1], lost)):
            wins[one, another] = wins.get((one, another), 0) + number
            ties[one, another] = ties.get((one, another), 0) + tied
    return wins, ties


def assert_counts(study):
    """Hold the tables of a study against its history."""
    state = study._current()
    wins, ties = counted(study)
    for index, first in enumerate(state.arms):
        for at, second in enumerate(state.arms):
            assert state.wins[index, at] == wins.get((first, second), 0)
            assert state.ties[index, at] == ties.get((first, second), 0)
    assert_replays(study)


def test_counts_are_those_of_the_history_whatever_becomes_of_arms(tmp_path):
    rng = random.Random(1)
    path = tmp_path / "drinks.study"
    with Study.create(path, [*DRINKS, "cola", "mate"], "balanced", seed=1) as study:
        wins, ties = rng_table(rng), np.ones((4, 4)) - np.eye(4)
        study.import_votes(Comparisons.from_wins(wins, ties=ties, arm_names=DRINKS))
        number = study.events()[-1].number
        vote(study, rng, 25)
        study.rename_arm("tea", "chai")
        study.merge_arms("cola", "chai")
        assert_counts(study)
        vote(study, rng, 8)
        study.add_arm("cocoa")
        vote(study, rng, 12)
        study.retire_arm("milk")
        vote(study, rng, 3)
        study.restore_arm("milk")
        study.merge_arms("milk", "chai")
        assert_counts(study)
        for question in rng.sample(range(1, 30), 8):
            rng.choice([study.undo, study.withdraw])(question)
        assert_counts(study)
        for ticket in study.open_tickets():
            study.tell(ticket, "left")
        assert_counts(study)
        assert study.undo_import(number)
        assert not study.undo_import(number)
        vote(study, rng, 5)
        assert_counts(study)
        assert study.arms == ("chai", "coffee", "water", "mate", "cocoa")
    assert verify_study(path).foreign == ()


def rng_table(rng):
    table = np.array([[rng.randrange(4) for _ in range(4)] for _ in range(4)])
    return table * (1 - np.eye(4, dtype=int))


def test_duels_between_merged_arms_use_the_budget_and_count_for_neither(make):
    study = make(arms=["tea", "chai", "milk"], budget=6)
    for ticket in study.ask(5):
        study.tell(ticket, "left")
    (late,) = study.ask()
    study.merge_arms("chai", "tea")
    state = study._current()
    between = [x for x in state.questions.values() if {x.left, x.right} == {0, 1}]
    assert state.num_within + state.num_votes == 5
    assert state.num_within == sum(item.answer is not None for item in between) > 0
    assert study.status().votes == state.wins.sum() == 5 - state.num_within
    # Open questions about the two are not asked again; a late answer is no vote.
    study.tell(late, "right")
    assert study.ask() == [] and "budget of 6" in study.resting
    assert_counts(study)
    refused("was merged into 'tea'", study.restore_arm, "chai")


def test_both_orders_survive_a_merger(make):
    study = make(arms=["a", "b", "c", "d"], judging=Judging(both_orders="tie"))
    for _ in range(14):
        (ticket,) = study.ask(judge="Ada")
        study.tell(ticket, "left" if ticket.left < ticket.right else "right")
    before = study._current().num_votes
    study.merge_arms("b", "a")
    state = study._current()
    assert state.num_votes + state.num_within == before and state.num_within
    assert state.wins[0, 2] + state.wins[0, 3] == state.wins[0].sum() > 0
    study.undo(1)
    assert_replays(study)


@pytest.mark.usefixtures("uncompiled")
def test_prices_judges_and_audits_follow_a_new_name(make):
    study = make(spending=Spending(arm_prices={"tea": 0.5}))
    study.set_judge("Ada", arms=["tea", "coffee"])
    study.audit_stopping(num_runs=20, budget=20)
    study.rename_arm("tea", "chai")
    (ticket,) = study.ask(judge="Ada")
    assert {ticket.left, ticket.right} == {"chai", "coffee"}
    study.tell(ticket, "left")
    status = study.status()
    assert status.spent == 0.5
    assert status.audit is not None and not status.audit.is_stale
    study.merge_arms("chai", "milk")
    assert study._current().record("Ada").arms == ("milk", "coffee")
    assert study._current().price_of(None, ("milk", "coffee")) == 0.5


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        (("rename_arm", "tee", "x"), "name must be an arm of the study"),
        (("rename_arm", "tea", "milk"), "to must be new"),
        (("rename_arm", "tea", ""), "to"),
        (("merge_arms", "tea", "tea"), "into must be another arm"),
        (("merge_arms", "water", "tea"), "name must not be retired"),
        (("undo_import", 1), "event must be one that imported votes, among"),
        (("import_study", "nowhere"), "nowhere does not exist"),
    ],
)
def test_what_cannot_be_done_stores_nothing(make, deed, words):
    study = make(arms=DRINKS)
    study.retire_arm("water")
    before = len(study.events())
    with pytest.raises((StudyError, OSError), match=words):
        getattr(study, deed[0])(*deed[1:])
    assert len(study.events()) == before


def test_votes_of_other_studies_count_once(tmp_path):
    rng = random.Random(1)
    judging = Judging(both_orders="tie")
    with Study.create(tmp_path / "own", DRINKS, "balanced", judging=judging) as given:
        vote(given, rng, 20)
        given.copy(tmp_path / "copy")
        mine = given._current().num_votes
        given.undo(1)
        given.export(tmp_path / "own.jsonl")
        with Study.open(tmp_path / "copy") as copy:
            vote(copy, rng, 20)
            more = copy._current().num_votes - mine
            copy.export(tmp_path / "copy.jsonl")
        assert more > 0
        # A vote undone here does not come back; an answer given there comes once.
        assert given.import_study(tmp_path / "copy") == (more, mine)
        number = given.events()[-1].number
        assert given.import_study(tmp_path / "copy.jsonl") == (0, mine + more)
        assert given.import_study(tmp_path / "own.jsonl")[0] == 0
        with Study.open(tmp_path / "copy") as copy:
            vote(copy, rng, 10)
            newer = copy._current().num_votes - mine - more
        assert given.import_study(tmp_path / "copy") == (newer, mine + more)
        assert given.undo_import(number)
        assert given.import_study(tmp_path / "copy") == (more, mine + newer)
        assert given._current().num_imported == more + newer
        assert_replays(given)


def test_imports_of_others_come_along_once(tmp_path):
    table = Comparisons.from_wins([[0, 3], [2, 0]], arm_names=["tea", "milk"])
    one, two, three = (
        Study.create(tmp_path / name, ["milk", "tea", name], "balanced")
        for name in "abc"
    )
    one.import_votes(table)
    two.import_votes(table)
    vote(one, random.Random(3), 4)
    one.retire_arm("a")
    state = one._current()
    mine = int(state.wins[:2, :2].sum() + state.ties[0, 1]) - 5
    assert two.import_study(one.path) == (mine, 5)
    assert three.import_study(two.path) == (mine + 5, 0)
    assert three.import_study(one.path) == (0, mine + 5)
    assert (three._current().wins[:2, :2] == state.wins[:2, :2]).all()
    vote(one, random.Random(4), 1)
    one.restore_arm("a")
    refused("other must be an arm of the study.*'a'", two.import_study, one.path)
    for item in (one, two, three):
        item.close()


def test_what_is_no_history_is_refused(make, tmp_path):
    study = make()
    for text in ("", "left,right", '{"kind": "created"}', "{}"):
        (tmp_path / "other").write_text(text)
        with pytest.raises(StudyError, match="other must be the file of a study"):
            study.import_study(tmp_path / "other")
    study.export(tmp_path / "cut")
    text = (tmp_path / "cut").read_text()
    (tmp_path / "cut").write_text(text + text)
    refused("event 2 of the study is missing", study.import_study, tmp_path / "cut")


def test_a_late_arm_has_its_share_and_begins_in_the_middle(make):
    arms = [f"arm {number}" for number in range(5)]
    study = make(arms=arms, seed=4)
    wins = 20 * np.triu(np.ones((5, 5)), 1)
    study.import_votes(Comparisons.from_wins(wins, arm_names=arms))
    study.add_arm("late", share=0.8)
    tickets = study.ask(90)
    late = [ticket for ticket in tickets if "late" in (ticket.left, ticket.right)]
    # The median arm has 80 votes; 72 of 90 with a standard deviation of 3.8.
    assert 55 < len(late) < 80
    assert {late[0].left, late[0].right} == {"late", "arm 2"}
    more = study.ask(100)
    late = [item for item in tickets + more if "late" in (item.left, item.right)]
    # Then it is asked about as often as any other: 2 of 6, of the rest.
    assert 80 <= len(late) < 150
    # Without a vote it has met all others as often.
    met = [sum(arm in (item.left, item.right) for item in late[:60]) for arm in arms]
    assert max(met) - min(met) <= 1
    refused("share must be in", study.add_arm, "later", share=1.0)
    with pytest.raises(StudyError, match="share must be left out where d-ts"):
        make("d-ts+").add_arm("late", share=0.5)


def test_answers_are_a_table_that_is_read_back(tmp_path, monkeypatch):
    with Study.create(tmp_path / "a", DRINKS, "balanced", by="Eve") as study:
        study.add_gold("good", "bad")
        vote(study, random.Random(2), 40)
        frame = study.to_dataframe()
        study.export_votes(tmp_path / "votes.csv")
        votes = read_comparisons(
            tmp_path / "votes.csv", winner="answer", where="counts == 'True'",
            arm_names=DRINKS,
        )  # fmt: skip
        judged = study.comparisons(judged=True)
        assert (votes.wins == judged.wins).all()
        assert (votes.ties == judged.ties).all()
        assert frame["gold"].any() and not (frame["gold"] & frame["counts"]).any()
        assert frame["judge"].str.startswith("judge").all()
        waits = (frame["answered"] - frame["asked"]).dt.total_seconds()
        assert (waits >= 0).all()
        assert study.events()[0].body["by"] == "Eve"
        assert study.events()[1].body["by"] == "Eve"

        def written(frame, path, *, index):
            raise ImportError("no pyarrow")

        monkeypatch.setattr(pd.DataFrame, "to_parquet", written)
        refused("install pyarrow", study.export_votes, tmp_path / "votes.parquet")
        monkeypatch.setattr(
            pd.DataFrame, "to_parquet", lambda frame, path, index: frame.to_csv(path)
        )
        study.export_votes(tmp_path / "votes.parquet")
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"a", "votes.csv", "votes.parquet"}
    with Study.create(tmp_path / "empty", DRINKS, "balanced") as study:
        assert len(study.to_dataframe()) == 0


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("balanced", {"judging": Judging(both_orders="tie"), "floor": 2}),
        ("d-ts+", {"budget": 300}),
        pytest.param("information", {"model": "bradley-terry"}, marks=pytest.mark.slow),
    ],
)
def test_verify_finds_questions_that_were_not_its_own(make, policy, options):
    study = make(policy, DRINKS, **options)
    study.add_gold("good", "bad")
    rng = random.Random(7)
    vote(study, rng, 12)
    study.retire_arm("milk")
    vote(study, rng, 6)
    study.clock.now += 4000.0  # Open questions are asked again.
    vote(study, rng, 4)
    number = len(study._current().questions)
    assert verify_study(study.path) == verify_study(study.path)
    assert verify_study(study.path).questions == number
    assert verify_study(study.path).foreign == ()
    (given,) = study.ask(judge="Bob")
    study.withdraw(given)
    with study._writing():
        body = {"question": number + 2, "left": 3, "right": 1, "rule": "mine"}
        append(study, "asked", body | {"reason": "", "lease": 3600.0})
    vote(study, rng, 5)
    verified = verify_study(study.path)
    (foreign,) = verified.foreign
    assert foreign.question == number + 2
    assert foreign.actual == "water against coffee for mine"
    assert foreign.expected != foreign.actual
    done = invoke(["study", "verify", str(study.path)])
    assert done.exit_code == 2
    assert f"question {number + 2}: water against coffee for mine" in done.stdout


def test_the_command_changes_arms_and_imports_studies(tmp_path):
    path, copy = (str(tmp_path / name) for name in ("a.study", "b.study"))

    def done(*line, code=0):
        result = invoke(["study", *line])
        assert result.exit_code == code, result.stderr
        return result.stdout + result.stderr

    done("new", path, "--arms", ",".join(DRINKS), "--policy", "balanced")
    done("ask", path, "-n", "4")
    done("copy", path, copy)
    done("tell", copy, "1", "left", "--judge", "Ada")
    assert "imported 1 vote; known before: 0" in done("import", path, copy)
    done("export", copy, "--out", str(tmp_path / "b.jsonl"))
    assert "known before: 1" in done("import", path, str(tmp_path / "b.jsonl"))
    done("rename-arm", path, "tea", "chai", "--by", "Eve")
    done("merge-arms", path, "chai", "milk", "--by", "Eve")
    done("retire-arm", path, "water")
    done("restore-arm", path, "water")
    done("add-arm", path, "mate", "--share", "0.3")
    refused = done("undo-import", path, "2", code=2)
    assert "must be one that imported votes, among [6]" in refused
    done("undo-import", path, "6")
    body = '{"name": "chai", "into": "milk", "by": "Eve"}'
    assert f'"kind": "arms merged", "body": {body}' in done("export", path)
    assert "question,left,right,answer" in done("export", copy, "--votes")
    done("export", copy, "--votes", "--judges", code=2)
    assert "4 of 4" in done("verify", path)
