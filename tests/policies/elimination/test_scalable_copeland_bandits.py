"""SCB: every duel against the twin, both forms, and elimination."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.policies.elimination import scalable_copeland_bandits
from bayesduel.policies.elimination.scalable_copeland_bandits import (
    NOBODY,
    begin_search,
    draw_opponents,
    duels_without_decision,
    end_stage,
    evidence,
    new_search,
)
from bayesduel.policies.policy import Problem, Wins
from tests.policies.driving import simulate_runs
from tests.policies.instances import DECISIVE, DECISIVE_TIE, random_outcomes
from tests.policies.replaying import first_difference
from tests.policies.rule_driving import play_rule
from tests.reference.common import duels_of
from tests.reference.scalable_copeland_bandits import ScalableCopelandBandits as Twin
from tests.reference.scalable_copeland_bandits import kl_lower, kl_upper

FALSE_ALARM = 1e-5

HORIZON = 1400

CERTAIN = np.array(
    [[0.5, 1.0, 1.0, 0.8], [0.0, 0.5, 1.0, 0.0],
     [0.0, 0.0, 0.5, 0.6], [0.2, 1.0, 0.4, 0.5]]
)  # fmt: skip

FORMS = {
    "anytime": {"first_length": 16},
    "reference": {"first_length": 16, "stop_rule": "reference"},
    "slack": {"first_length": 300, "eps": 0.5},
}


class Told(Twin):
    """The twin, told whom the fast form drew as opponents and in ties."""

    def __init__(self, *args, drawn, answers, **options):
        self.drawn, self.drawn_answers = drawn, answers
        super().__init__(*args, **options)

    def opponent(self, i):
        return int(self.drawn[self.length, self.stage][i])

    def pick(self, tied):
        answer = self.drawn_answers[self.length]
        assert tied[answer], "the answer is one of the best arms"
        return answer


@cache
def instances():
    rng = np.random.default_rng(90)
    matrices = [DECISIVE, DECISIVE_TIE, CERTAIN, DECISIVE_TIE]
    return [random_outcomes(matrix, HORIZON + 1, rng) for matrix in matrices]


def told_and_duels(policy, outcomes, seed):
    """Return what a run drew, its answers by the length of epochs, and its duels."""
    drawn, answers, seen, questions = {}, {}, [], []

    def noted(opponents, rng):
        draw_opponents(opponents, rng)
        seen.append(opponents.copy())

    def watch(state, duel):
        length, now = int(state.epoch.length), state.search.now
        # Opponents of one epoch belong to its stages, in their order.
        begin = epochs.setdefault(length, len(seen) - now.stage)
        drawn.update({(length, n): item for n, item in enumerate(seen[begin:], 1)})
        questions.append(duel.explores)
        if now.answer != NOBODY:
            answers.setdefault(length, now.answer)

    epochs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scalable_copeland_bandits, "draw_opponents", noted)
        run = play_rule(policy, outcomes, HORIZON, seed, watch)
    assert (max(questions) > 1) == policy.look_ahead
    return drawn, answers, run.duels


def differences(policy, **options):
    """Return the first duel of each run in which the twin differs, and the answers."""
    result, exploited = [], 0
    for seed, outcomes in enumerate(instances()):
        drawn, answers, ours = told_and_duels(policy, outcomes, seed)
        rng = np.random.default_rng(0)
        twin = Told(4, rng, drawn=drawn, answers=answers, **options)
        theirs = duels_of(twin, outcomes, HORIZON)
        result.append(first_difference(ours, theirs))
        exploited += sum(a == b for a, b in ours)
    return result, exploited


@pytest.mark.parametrize("look_ahead", [False, True], ids=["step", "look-ahead"])
@pytest.mark.parametrize("form", FORMS)
def test_duels_are_those_of_the_twin(form, look_ahead):
    policy = policies.get("scb", look_ahead=look_ahead, **FORMS[form])
    result, exploited = differences(policy, **FORMS[form])
    assert result == [None] * 4
    assert exploited > HORIZON, "of four runs"


def test_rounds_at_once_never_pass_a_decision():
    """And are nearly as many as may be."""
    rng, result = np.random.default_rng(3), []
    for trial in range(300):
        duels = 0 if trial < 10 else int(rng.integers(4000))
        wins = int(rng.binomial(duels, 0.5 + rng.uniform(-0.05, 0.05)))
        level = rng.uniform(0.5, 60)
        if evidence(wins, duels) > level:
            continue
        more = duels_without_decision(wins, duels, level)
        ahead = max(wins, duels - wins)
        assert evidence(ahead + more - 1, duels + more - 1) <= level
        assert evidence(ahead + more + 2, duels + more + 2) > level
        result.append(more)
    assert len(result) > 150 and min(result) < 5 and max(result) > 50


def test_extreme_levels_are_asked_for_with_duels():
    for level in (5e-324, 1e-160, 1e300, np.inf):
        for wins, duels in ((0, 0), (1, 2), (40, 80)):
            assert duels_without_decision(wins, duels, level) >= 1
    assert duels_without_decision(0, 0, np.inf) > 2**50


@pytest.mark.parametrize("form", FORMS)
def test_rounds_that_nobody_answers_decide_nothing(form):
    policy, rng = policies.get("scb", **FORMS[form]), np.random.default_rng(4)
    state = policy.start(Problem(4, HORIZON), rng)
    duel = policy.choose(state, rng, 1)
    policy.update(state, rng, duel.explores, duel.first, duel.second, Wins(0, 0))
    assert state.wins.sum() == state.search.now.duels == 0
    assert not state.search.signs.any()
    again = policy.choose(state, rng, duel.explores + 1)
    assert (again.first, again.second) == (duel.first, duel.second)


@pytest.mark.usefixtures("in_python")
def test_self_duels_are_left_out_of_the_step_form():
    """The other form asks for many rounds at once, as batches do."""
    alone = policies.parse_policy(
        "scb:look_ahead=false,self_duels=false,first_length=16"
    )
    records = simulate_runs(alone, DECISIVE, checkpoints=(300,), runs=range(5))
    # Its own clock has gone on meanwhile.
    assert records.events.min() > 350
    plays = records.ledger["plays"]
    assert np.trace(plays, axis1=2, axis2=3).sum() == 0
    assert plays.sum() == 5 * 300


def test_opponents_are_uniform():
    rng, opponents = np.random.default_rng(1), np.zeros(5, dtype=np.int64)
    drawn = []
    for _ in range(3000):
        draw_opponents(opponents, rng)
        drawn.append(opponents.copy())
    drawn = np.array(drawn)
    for arm in range(5):
        counts = np.bincount(drawn[:, arm], minlength=5)
        assert counts[arm] == 0
        p_value = stats.chisquare(np.delete(counts, arm)).pvalue
        assert p_value > FALSE_ALARM / 5


def test_arms_are_eliminated_by_their_bounds():
    """Against bounds found by bisection, for random rewards and levels."""
    rng, num_ended = np.random.default_rng(2), 0
    for _ in range(80):
        stage, level = int(rng.integers(2, 200)), rng.uniform(0.5, 20)
        search = new_search(4)
        begin_search(search, rng)
        search.rewards[:] = rewards = rng.binomial(stage, rng.random(4))
        search.now.stage = stage
        end_stage(search, rng, level, 0.25)
        width, means = level / stage, rewards / stage
        upper = np.array([kl_upper(mean, width) for mean in means])
        lowest = max(kl_lower(mean, width) for mean in means)
        assert search.remaining.tolist() == (upper >= lowest).tolist()
        close = 1 - lowest <= 1.25 * (1 - upper.max())
        ends = close or np.sum(upper >= lowest) == 1
        assert (search.now.answer != NOBODY) == ends
        num_ended += ends
    assert 4 < num_ended < 76
