"""SCB: every duel against the twin, and elimination."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.elimination import _copeland_elimination
from bayesduel.policies.elimination._copeland_elimination import (
    NOBODY,
    begin_search,
    draw_opponents,
    end_stage,
    new_search,
)
from tests.policies.instances import DECISIVE, random_outcomes
from tests.policies.rule_driving import play_rule
from tests.reference.common import simulate
from tests.reference.scalable_copeland_bandits import ScalableCopelandBandits as Twin
from tests.reference.scalable_copeland_bandits import kl_lower, kl_upper

FALSE_ALARM = 1e-5

HORIZON = 1400

DECISIVE_TIE = np.array(
    [
        [0.50, 0.93, 0.96, 0.08],
        [0.07, 0.50, 0.90, 0.95],
        [0.04, 0.10, 0.50, 0.91],
        [0.92, 0.05, 0.09, 0.50],
    ]
)
"""Arms 0 and 1 beat two others each: elimination alone never ends."""

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
    matrices = [DECISIVE, DECISIVE_TIE, DECISIVE, DECISIVE_TIE]
    return matrices, np.stack(
        [random_outcomes(each, HORIZON + 1, rng) for each in matrices]
    )


def told_and_duels(policy, outcomes, seed):
    """Return what a run drew, its answers by the length of epochs, and its duels."""
    drawn, answers, seen = {}, {}, []

    def noted(opponents, rng):
        draw_opponents(opponents, rng)
        seen.append(opponents.copy())

    def watch(state, duel):
        length, now = int(state.epoch.length), state.search.now
        # Opponents of one epoch belong to its stages, in their order.
        begin = epochs.setdefault(length, len(seen) - now.stage)
        drawn.update({(length, n): each for n, each in enumerate(seen[begin:], 1)})
        if now.answer != NOBODY:
            answers.setdefault(length, now.answer)

    epochs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_copeland_elimination, "draw_opponents", noted)
        run = play_rule(policy, outcomes, HORIZON, seed, watch)
    return drawn, answers, run.duels


def first_difference(one, other):
    """Return round and duels of the first disagreement, or None."""
    for index, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b:
            return index + 1, a, b
    return None


def differences(policy, **options):
    """Return the first duel of each run in which the twin differs, and the answers."""
    found, exploited = [], 0
    for seed, (preference, outcomes) in enumerate(zip(*instances(), strict=True)):
        drawn, answers, ours = told_and_duels(policy, outcomes, seed)
        rng = np.random.default_rng(0)
        twin = Told(4, rng, drawn=drawn, answers=answers, **options)
        _, theirs = simulate(
            twin, preference, HORIZON, [HORIZON], rng, outcomes, return_duels=True
        )
        found.append(first_difference(ours, theirs))
        exploited += sum(a == b for a, b in ours)
    return found, exploited


@pytest.mark.parametrize(
    ("form", "look_ahead"),
    [
        pytest.param(
            form,
            look_ahead,
            id=f"{form}-{'look-ahead' if look_ahead else 'step'}",
        )
        for form in FORMS
        for look_ahead in (False, True)
    ],
)
def test_duels_are_those_of_the_twin(form, look_ahead):
    policy = policies.get("scb", look_ahead=look_ahead, **FORMS[form])
    found, exploited = differences(policy, **FORMS[form])
    assert found == [None] * 4
    assert exploited > HORIZON, "of four runs"


def test_another_confidence_is_noticed():
    """Negative control: the twin with epochs of another length."""
    policy = policies.get("scb", first_length=16, alpha_ref=0.6, stop_rule="reference")
    found, _ = differences(policy, **FORMS["reference"])
    assert all(found)


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
        upper = np.array([kl_upper(each, width) for each in means])
        lowest = max(kl_lower(each, width) for each in means)
        assert search.remaining.tolist() == (upper >= lowest).tolist()
        close = 1 - lowest <= 1.25 * (1 - upper.max())
        ends = close or np.sum(upper >= lowest) == 1
        assert (search.now.answer != NOBODY) == ends
        num_ended += ends
    assert 4 < num_ended < 76


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("scb:eps=-0.1", "eps"),
        ("scb:alpha_ref=0", "alpha_ref"),
        ("scb:first_length=1", "first_length"),
        ("scb:stop_rule=never", "stop_rule"),
    ],
)
def test_parameters_are_checked(text, word):
    with pytest.raises(PolicyParameterError, match=word):
        policies.parse(text).check(4, 100)
