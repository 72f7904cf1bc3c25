"""SCB: every duel against the twin, elimination, and duels in bulk."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.elimination._copeland_elimination import (
    _random_opponents,
    end_stage,
)
from bayesduel.policies.elimination._sequential_test import (
    duels_without_decision,
    sign_evidence,
)
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.instances import DECISIVE, random_outcomes
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


@partial(quick_jit, static_argnums=3)
def traced(policy, outcomes, key, num_events):
    """Play a run and return its duels and the searches between them."""
    before = jnp.cumsum(outcomes, axis=2, dtype=jnp.int64) - outcomes
    start = policy.init(key, outcomes.shape[0], jnp.int64(HORIZON))

    def advance(carry, number):
        state, played, counts = carry
        key_event = jax.random.fold_in(key, number)
        duel, chosen = policy.choose(key_event, state, played + 1)
        left = HORIZON - played
        exploit = jnp.minimum(duel.exploit_rounds, left)
        explore = jnp.minimum(duel.explore_rounds, left - exploit)
        low = jnp.minimum(duel.first, duel.second)
        high = jnp.maximum(duel.first, duel.second)
        done = counts[low, high]
        wins = before[low, high, done + explore] - before[low, high, done]
        wins = jnp.where(duel.first == low, wins, explore - wins)
        outcome = Outcome(exploit, explore, wins)
        now = played + exploit + explore
        state = policy.update(key_event, chosen, now, duel, outcome)
        duel = duel._replace(exploit_rounds=exploit, explore_rounds=explore)
        counts = counts.at[low, high].add(explore)
        return (state, now, counts), (duel, state.length, state.search)

    none = jnp.zeros(outcomes.shape[:2], dtype=jnp.int64)
    carry = (start, jnp.int64(0), none)
    numbers = jnp.arange(num_events, dtype=jnp.uint32)
    _, seen = jax.lax.scan(advance, carry, numbers)
    return seen, (start.length, start.search)


def told_and_duels(policy, outcomes, seed):
    """Return what a run drew, and its duels round by round."""
    with jax.enable_x64(True):
        key = jax.random.key(seed)
        seen, start = traced(policy, jnp.asarray(outcomes), key, HORIZON + 200)
        (duels, lengths, searches), (length, search) = jax.tree.map(
            np.asarray, (seen, start)
        )
    drawn = {(int(length), 1): search.opponents}
    answers = {}
    for index, length in enumerate(lengths.astype(int).tolist()):
        drawn.setdefault(
            (length, int(searches.stage[index])), searches.opponents[index]
        )
        if searches.answer[index] >= 0:
            answers.setdefault(length, int(searches.answer[index]))
    rounds = []
    for index in range(len(lengths)):
        champion, first, second = (
            int(each[index]) for each in (duels.champion, duels.first, duels.second)
        )
        rounds += [(champion, champion)] * int(duels.exploit_rounds[index])
        rounds += [(first, second)] * int(duels.explore_rounds[index])
    assert len(rounds) == HORIZON
    return drawn, answers, rounds


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
            marks=[pytest.mark.slow] * (not look_ahead and form != "anytime"),
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
    with jax.enable_x64(True):
        uniforms = jax.random.uniform(jax.random.key(1), (3000, 5), dtype=jnp.float64)
        drawn = np.asarray(quick_jit(jax.vmap(_random_opponents))(uniforms))
    for arm in range(5):
        counts = np.bincount(drawn[:, arm], minlength=5)
        assert counts[arm] == 0
        p_value = stats.chisquare(np.delete(counts, arm)).pvalue
        assert p_value > FALSE_ALARM / 5


def test_arms_are_eliminated_by_their_bounds():
    """Against bounds found by bisection, for random rewards and levels."""
    rng = np.random.default_rng(2)
    stages = rng.integers(2, 200, 80)
    rewards = rng.binomial(stages[:, None], rng.random((80, 4)))
    levels = rng.uniform(0.5, 20, 80)
    with jax.enable_x64(True):
        search = policies.get("scb").init(jax.random.key(0), 4, jnp.int64(9)).search
        search = search._replace(pending=jnp.zeros(4, dtype=bool))

        def end(stage, rewards, level):
            state = search._replace(stage=stage, rewards=rewards)
            uniform = jnp.full(4, 0.5)
            return end_stage(uniform, uniform[0], state, level, 0.25)

        after = quick_jit(jax.vmap(end))(
            jnp.asarray(stages), jnp.asarray(rewards), jnp.asarray(levels)
        )
    left, ended = np.asarray(after.remaining), np.asarray(after.answer) >= 0
    for index, stage in enumerate(stages):
        width = levels[index] / stage
        means = rewards[index] / stage
        upper = np.array([kl_upper(each, width) for each in means])
        lowest = max(kl_lower(each, width) for each in means)
        assert left[index].tolist() == (upper >= lowest).tolist()
        close = 1 - lowest <= 1.25 * (1 - upper.max())
        assert ended[index] == (close or np.sum(upper >= lowest) == 1)
    assert 0.05 < ended.mean() < 0.95


def test_bulk_never_passes_a_decision():
    """And takes nearly as many duels at once as it may."""
    rng = np.random.default_rng(3)
    duels = np.concatenate([np.zeros(5, dtype=int), rng.integers(0, 4000, 200)])
    wins = rng.binomial(duels, 0.5 + rng.uniform(-0.05, 0.05, len(duels)))
    levels = rng.uniform(0.5, 60, len(duels))
    with jax.enable_x64(True):
        bulk = np.asarray(
            jax.vmap(duels_without_decision)(
                jnp.asarray(wins), jnp.asarray(duels), jnp.asarray(levels)
            )
        )
        ahead = np.maximum(wins, duels - wins)
        for back, safe in ((1, True), (-2, False)):
            steps = np.maximum(bulk - back, 0)
            evidence = sign_evidence(
                jnp.asarray(ahead + steps), jnp.asarray(duels + steps)
            )
            undecided = np.asarray(evidence) <= levels
            begun = np.asarray(sign_evidence(jnp.asarray(wins), jnp.asarray(duels)))
            open_ = begun <= levels
            assert np.all((undecided == safe)[open_])
    assert bulk.min() == 1 and bulk.max() > 50


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
