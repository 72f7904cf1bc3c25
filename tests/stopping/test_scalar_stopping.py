"""Kernels of rules: they stop where the rules on counts do, and runs end there."""

import json
import math
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import bayesduel
from bayesduel import policies
from bayesduel.errors import SimulationArgumentError, StoppingRuleError
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.compiler import standalone
from bayesduel.ops.scalar.uncompiled import unpacked
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation.driver import run_chunk
from bayesduel.stopping import (
    AnytimeEvidence,
    Budget,
    FixedNumber,
    LeaderTest,
    LookEvery,
    PosteriorProbability,
    SeparateIntervals,
    StoppingState,
)
from bayesduel.stopping.base import GO_ON, observe, part_name
from bayesduel.stopping.rules import log_bets, log_whole
from tests.compiling import play_in_python
from tests.policies.instances import CONDORCET, TWO_WINNERS
from tests.rules import Greedy
from tests.simulation.runs import simulate_runs
from tests.simulation.set_cases import WINNER, Wandering
from tests.theory.identification.test_evidence import log_bet

slow = pytest.mark.slow

RULES = {
    "evidence": AnytimeEvidence(0.1),
    "width": AnytimeEvidence(0.1, 0.06, prior=1.5, weight=0.2),
    "posterior": PosteriorProbability(0.02),
    "skeptical": PosteriorProbability(1e-5, 5),
    "fixed": FixedNumber(40),
    "intervals": SeparateIntervals(0.9),
    "test": LeaderTest(0.01),
    "seldom": LookEvery(LeaderTest(0.03125), 7),
}


UNIFORM = policies.get("random", distinct=True)


@standalone
@compiled
def tell(state, first, second, won):
    return observe(state, first, second, won)


bets = standalone(log_bets)


@pytest.mark.parametrize("bound", [0.5, 0.41, 0.62])
@pytest.mark.parametrize("prior", [0.5, 1.0, 30.0])
def test_bets_are_those_of_many_digits(bound, prior):
    whole = log_whole(prior, bound), log_whole(prior, 1 - bound)
    for won, lost in [(0, 0), (1, 0), (0, 1), (9, 4), (200, 300), (41, 59), (900, 3)]:
        above, below = bets(won, lost, prior, bound, *whole)
        exact = log_bet(won, lost, prior, bound), log_bet(lost, won, prior, 1 - bound)
        assert (above, below) == pytest.approx(exact, rel=1e-11, abs=1e-11)


def test_bets_after_very_many_duels():
    whole = log_whole(0.5, 0.5)
    for won, lost in [(10**9, 10**9), (10**8, 10**8 + 10**4), (10**11, 0)]:
        above, below = bets(won, lost, 0.5, 0.5, whole, whole)
        duels = won + lost
        # Together they are the bet on both sides.
        both = math.lgamma(won + 0.5) + math.lgamma(lost + 0.5) - math.lgamma(duels + 1)
        both += (duels + 1) * math.log(2) - math.log(math.pi)
        assert np.logaddexp(above, below) == pytest.approx(both, rel=1e-12, abs=1e-5)
        assert (above < below) == (won < lost) or won == lost


COMPILED = "width", "posterior", "fixed", "intervals", "seldom"
"""Rules of which each has code of its own."""


@pytest.mark.parametrize(
    ("num_arms", "name"),
    [
        *((num_arms, name) for num_arms in (2, 3) for name in RULES),
        *(pytest.param(7, name, marks=pytest.mark.slow) for name in COMPILED),
    ],
)
def test_they_stop_where_rules_on_counts_do(num_arms, name):
    """In Python, and of many arms compiled."""
    rule, rng = RULES[name], np.random.default_rng(2100 + num_arms)
    is_compiled = num_arms == 7
    ask = tell if is_compiled else observe
    named = 0
    for run in range(3):
        clear = rng.uniform(0.1, 0.4, (num_arms, num_arms))
        matrix = np.triu(np.where(rng.random(clear.shape) < 0.8, clear, 1 - clear), 1)
        matrix += np.tril(1 - matrix.T, -1)
        state = rule.new_state(num_arms)
        state = state if is_compiled else unpacked(state)
        wins = np.zeros((num_arms, num_arms))
        for _ in range(1500):
            first, second = rng.choice(num_arms, 2, replace=False).tolist()
            won = bool(rng.random() < matrix[first, second])
            wins[(first, second) if won else (second, first)] += 1
            said = ask(state, first, second, won)
            expected = rule.evaluate(wins)
            assert said == (expected.answer if expected.stopped else GO_ON), run
            if name in ("evidence", "width"):
                now = state.now[0]
                bound = now["bound"] if is_compiled else now.bound
                assert bound >= expected.evidence - 1e-9
            if expected.stopped:
                break
        named += expected.stopped
    assert named


@pytest.mark.slow
def test_a_run_ends_when_its_rule_stops():
    rule = AnytimeEvidence(0.05)
    grid = (20, 1000, 30_000)
    records = simulate_runs(UNIFORM, checkpoints=grid, runs=range(12), stopping=rule)
    stopped, answer = records.info["stopped_at"], records.info["answer"]
    assert (stopped > 0).any() and ((stopped > 0) == (answer >= 0)).all()
    rounds = records.ledger["plays"].sum(axis=(2, 3))
    limits = np.where(stopped < 0, grid[-1], stopped)
    assert (rounds == np.minimum(grid, limits[:, None])).all()
    # CONDORCET has winner 0, by its original label.
    assert (answer[stopped > 0] == 0).mean() > 0.8
    # Before they stop runs are those without a rule.
    plain = simulate_runs(UNIFORM, checkpoints=grid, runs=range(12))
    late = stopped > grid[1]
    assert late.any()
    np.testing.assert_array_equal(
        records.ledger["plays"][late, 1], plain.ledger["plays"][late, 1]
    )
    assert "answer" not in plain.info


def answers_of(rule, matrix, num_runs, horizon):
    options = {"checkpoints": (horizon,), "runs": range(num_runs), "stopping": rule}
    return simulate_runs(UNIFORM, matrix, **options).info["answer"]


@pytest.mark.slow
def test_wrong_names_are_rare():
    """Arm 2 wins by a hair more than the width: the others are wrong."""
    width = 0.05
    away = 0.005 + width
    matrix = np.full((3, 3), 0.5)
    matrix[0, 1], matrix[1, 0] = 0.9, 0.1
    matrix[2, :2], matrix[:2, 2] = 0.5 + away, 0.5 - away
    delta, num_runs = 0.3, 3000
    answers = answers_of(AnytimeEvidence(delta, width), matrix, num_runs, 1000)
    wrong = int(np.isin(answers, [0, 1]).sum())
    # One false alarm in 100,000, were they as frequent as delta.
    assert wrong <= binom.isf(1e-5, num_runs, delta)
    # Some there are, or the test would be of no use.
    assert wrong > 10


@pytest.mark.slow
def test_the_posterior_is_no_rate_of_errors():
    """On StrongBorda, looked at after every duel, most names at 0.9 are wrong."""
    matrix = bayesduel.load("strong-borda")
    answers = answers_of(PosteriorProbability(0.1), matrix.values, 300, 10**4)
    assert ((answers != 0) & (answers >= 0)).mean() > 0.5


def test_a_budget_counts_duels_of_different_arms(in_python):
    records = simulate_runs(
        policies.get("random"),
        TWO_WINNERS,
        checkpoints=(10**5,),
        runs=range(6),
        stopping=AnytimeEvidence(1e-9) | Budget(77),
    )
    plays = records.ledger["plays"][:, -1]
    assert (np.triu(plays, 1).sum(axis=(1, 2)) == 77).all()
    assert (plays.sum(axis=(1, 2)) == records.info["stopped_at"]).all()
    assert (records.info["answer"] == -1).all()


class Counted(bayesduel.Policy):
    """Duel pairs at random, and count what is told; rounds of a pair in bulk or not."""

    most: int = 1
    explores_in_bulk = True

    def start(self, problem, rng):
        return np.zeros((problem.num_arms, problem.num_arms), dtype=np.int64)

    def choose(self, wins, rng, round_):
        first, second = rng.integers(0, len(wins)), rng.integers(0, len(wins))
        return bayesduel.Duel(0, rng.integers(0, 2), first, second, self.most)

    def update(self, wins, rng, round_, first, second, won):
        wins[first, second] += won.won
        wins[second, first] += won.rounds - won.won

    def recommend(self, wins, rng):
        return np.argmax(wins.sum(axis=1))

    def info(self, wins):
        return {f"wins_{i}{j}": wins[i, j] for i, j in np.ndindex(wins.shape)}


def stopped_runs(policy, rule=None, rounds=400, runs=range(20), **options):
    return simulate_runs(
        policy, [[0.5, 0.8], [0.2, 0.5]], checkpoints=(10, rounds), runs=runs,
        stopping=rule, **options,
    )  # fmt: skip


def wins_of(records):
    return np.array(
        [[records.info[f"wins_{i}{j}"] for j in range(2)] for i in range(2)]
    ).transpose(2, 0, 1)


@pytest.mark.parametrize("rule", [FixedNumber(9), LeaderTest(0.01)], ids=str)
@pytest.mark.parametrize("most", [1, 8])
def test_rules_in_numpy_end_where_their_counts_say(rule, most):
    """Not a duel earlier or later, in bulk or not; what is played before is the same.

    The rule sees each duel of a stretch: the counts up to one duel before do not stop.
    """
    policy = Counted(most=most)
    records = stopped_runs(policy, rule)
    stopped, wins = records.info["stopped_at"], wins_of(records)
    assert (stopped > 0).sum() > 10
    plays = records.ledger["plays"][:, -1]
    assert (plays.sum(axis=(1, 2))[stopped > 0] == stopped[stopped > 0]).all()
    assert (plays[:, 0, 1] == wins.sum(axis=(1, 2))).all()
    for item, answer, ended in zip(wins, records.info["answer"], stopped, strict=True):
        assert rule.evaluate(item.astype(float)).stopped == (ended > 0)
        before = [item - step for step in np.eye(4).reshape(4, 2, 2) if ended > 0]
        before = [one for one in before[1:3] if (one >= 0).all()]
        assert ended < 0 or not all(rule.evaluate(one).stopped for one in before)
        assert ended < 0 or answer in (0, 1)
    if most == 1:
        for run in np.flatnonzero(stopped > 10):
            part = stopped_runs(
                policy, rounds=int(stopped[run]), runs=range(run, run + 1)
            )
            assert (part.ledger["plays"][0] == records.ledger["plays"][run]).all()


@pytest.mark.slow
def test_compiled_rules_stop_as_in_python():
    rule = LeaderTest(0.01) | Budget(40)
    plain, compiled = (
        stopped_runs(Counted(most=8, compiled=item), rule) for item in (False, True)
    )
    assert (plain.info["stopped_at"] > 0).any()
    for name, values in plain.info.items():
        assert np.array_equal(values, compiled.info[name]), name
    assert np.array_equal(plain.ledger["plays"], compiled.ledger["plays"])


@pytest.mark.parametrize("wrap", [policies.DelayedFeedback, policies.WithoutSelfDuels])
def test_stopping_counts_duels_whatever_the_manner(wrap):
    """With outcomes on their way, or self-duels left out: Greedy by 25 duels."""
    policy = Greedy(epsilon=0.5)
    policy = wrap(policy, 7) if wrap is policies.DelayedFeedback else wrap(policy)
    records = stopped_runs(policy, Budget(25))
    plays, stopped = records.ledger["plays"][:, -1], records.info["stopped_at"]
    assert (stopped > 0).all() and (plays[:, 0, 1] == 25).all()
    assert (records.info["answer"] == -1).all()
    assert ((stopped == 25) == (plays.sum(axis=(1, 2)) == 25)).all()


def test_policies_over_models_or_sets_are_refused():
    with pytest.raises(SimulationArgumentError, match="stopping needs a policy"):
        simulate_runs(policies.get("bt-ts"), stopping=Budget(5))
    environment = SubsetEnvironment(WINNER, WINNER.notions)
    with pytest.raises(SimulationArgumentError, match="stopping needs a policy"):
        run_chunk(
            environment, Wandering(), runs=range(1), checkpoints=np.array([9]), seed=0,
            stopping=Budget(5),
        )  # fmt: skip
    with pytest.raises(StoppingRuleError, match="stopping must be a rule"):
        bayesduel.simulate("cyclic", "random", horizon=10, num_runs=1, stopping=0.05)


def test_results_say_when_runs_stopped(in_python):
    options = {"num_runs": 3, "horizon": 5000, "seed": 3}
    rule = AnytimeEvidence(0.3) | Budget(200)
    tree = bayesduel.compare(CONDORCET, ["random", UNIFORM], stopping=rule, **options)
    for node in tree[next(iter(tree.children))].children.values():
        assert (node["stopped_at"] > 0).all()
        assert set(node["answer"].values.tolist()) <= {-1, 0}
    alone = bayesduel.simulate(CONDORCET, UNIFORM, stopping=rule, **options)
    plain = bayesduel.Experiment(CONDORCET, UNIFORM, **options)
    chosen = bayesduel.Experiment(CONDORCET, UNIFORM, stopping=rule, **options)
    assert "stopped_at" in str(alone) and chosen.stopping == rule
    one, other = (
        json.loads(item.request()["places"][0]["request"]) for item in (plain, chosen)
    )
    assert {x for x in other if other[x] != one.get(x)} == {"stopping"}
    assert plain.chunks()[0].digest != chosen.chunks()[0].digest


def own_rule(tmp_path, monkeypatch):
    """Import the rule that CONTRIBUTING shows, as a file of the user's."""
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    section = text.split("## Add a stopping rule")[1]
    code = section.split("```python\n")[1].split("```")[0]
    (tmp_path / "rules_of_mine.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return import_module("rules_of_mine").Ahead


@pytest.mark.parametrize("played", ["in Python", pytest.param("compiled", marks=slow)])
def test_a_rule_of_ones_own_is_one_class(played, tmp_path, monkeypatch):
    """As CONTRIBUTING shows it."""
    if played == "in Python":
        play_in_python(monkeypatch)
    ahead = own_rule(tmp_path, monkeypatch)
    state = ahead(20).evaluate([[0, 50, 5], [30, 0, 5], [0, 1, 0]])
    assert state == StoppingState(True, 0, 0, 20.0, 20.0)
    assert not (ahead(21) | Budget(99)).evaluate([[0, 50], [30, 0]]).stopped
    with pytest.raises(StoppingRuleError, match="duels must be an integer"):
        ahead(0)
    # The numbers of duels won of two arms are a random walk, which ends at 5 or -5.
    records = stopped_runs(policies.get("random"), ahead(5), rounds=10**4)
    answers = records.info["answer"]
    assert (answers >= 0).all() and (answers == 0).mean() > 0.8
    plays = records.ledger["plays"][:, -1, 0, 1]
    assert (plays >= 5).all() and (plays % 2 == 1).all()
    name = part_name(ahead(5).new_state(2))
    assert name.startswith("Won-") and len(name) > 16
    sys.modules.pop("rules_of_mine")
