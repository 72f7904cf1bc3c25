"""Delayed feedback: blocks of outcomes, and what is counted while none arrives.

Late twins: ``rmed.test_delayed``.
"""

import json

import jax.numpy as jnp
import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies import DelayedFeedback
from bayesduel.policies.over_models.base import ModelRule, model_rule, one_round
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.policies.policy import Duel, KernelPolicy
from tests.policies.driving import simulate_runs
from tests.policies.instances import CONDORCET, DECISIVE, TWO_WINNERS
from tests.policies.kernel_driving import play_policy

EVERY = 25


@model_rule
class DiaryRule(ModelRule):
    """Asks for 1 round, 1 after 1 idle one, 1, ... and writes down when it is told."""

    def init(self, rng_key, num_arms, horizon):
        none = jnp.full(16, -1, dtype=jnp.int64)
        return {"asked": jnp.int64(0), "told": jnp.int64(0), "when": none, "what": none}

    def choose(self, rng_key, state, round_):
        questions = state["asked"] + 1
        state = state | {"asked": questions}
        duel = one_round(jnp.int32(0), jnp.int32(1))
        idle = (questions % 2 == 0).astype(jnp.int64)
        return duel._replace(exploit_rounds=idle), state

    def update(self, rng_key, state, round_, duel, outcome):
        here = jnp.arange(16) == state["told"]
        return state | {
            "told": state["told"] + 1,
            "when": jnp.where(here, state["asked"], state["when"]),
            "what": jnp.where(here, round_, state["what"]),
        }

    def recommend(self, rng_key, state):
        return jnp.int32(0)

    def info(self, state):
        names = [(name, index) for name in ("when", "what") for index in range(9)]
        return {f"{name}_{index}": state[name][index] for name, index in names}


class Diary(KernelPolicy):
    """The same, as a policy."""

    title = "Diary"

    def over_model(self):
        return DiaryRule()


@pytest.mark.slow
def test_a_rule_over_a_model_is_told_in_blocks():
    """Rounds asked for: 1, 2-3, 4, 5-6, 7, 8-9, 10, 11-12 if a block is of three.

    If it is of five: 1, 2-3, 4, then an idle one alone, 5, before outcomes arrive; 6,
    7-8, 9, an idle one, 10; 11, 12 which is idle. Of idle ones alone nothing is told.
    """
    for every, what, when in (
        (3, [1, 3, 4, 6, 7, 9, 10, 12, -1], [2, 2, 4, 4, 6, 6, 8, 8, -1]),
        (5, [1, 3, 4, 6, 8, 9, -1, -1, -1], [4, 4, 4, 8, 8, 8, -1, -1, -1]),
    ):
        delayed = DelayedFeedback(Diary(), every=every)
        run = simulate_runs(delayed, DECISIVE, runs=range(1), checkpoints=(12,)).info
        assert [run[f"what_{i}"][0] for i in range(9)] == what
        assert [run[f"when_{i}"][0] for i in range(9)] == when


def late_duels(name, matrix):
    """Yield the duels of three runs of 300 rounds, told after every 100, in order."""
    policy = DelayedFeedback(policies.get(name), every=100)
    for seed in range(3):
        uniforms = np.random.default_rng(seed).random((*matrix.shape, 300))
        yield play_policy(policy, uniforms < matrix[:, :, None], 300, seed).duels


class Told(bayesduel.Policy):
    """Asks for 0 against 1, with idle rounds before, and notes what it is told when."""

    idle: int = 0

    def start(self, problem, rng):
        return {"asked": 0, "told": []}

    def choose(self, state, rng, round_):
        state["asked"] = round_
        return Duel(0, self.idle, 0, 1)

    def update(self, state, rng, round_, first, second, won):
        state["told"].append((state["asked"], round_))

    def recommend(self, state, rng):
        seen.append(state["told"])
        return 0


seen = []


def test_a_rule_is_told_in_blocks():
    """Outcomes that arrive with the last round are known at the end."""
    six = [(3, 1), (3, 2), (3, 3), (6, 4), (6, 5), (6, 6)]
    for horizon, idle, reported in (
        # Rounds 1 to 3 are told after round 3, when 3 was the last to be asked for.
        (7, 0, six),
        (6, 0, six),
        # After two idle rounds, the third; a stretch ends where an outcome arrives.
        (7, 2, [(1, 3), (4, 6)]),
        (7, 1, [(3, 2), (6, 5)]),
    ):
        seen.clear()
        delayed = DelayedFeedback(Told(idle=idle), every=3)
        simulate_runs(delayed, DECISIVE, runs=range(1), checkpoints=(horizon,))
        assert seen == [reported]


@pytest.mark.parametrize(("name", "length"), [("interleaved-filter", 3), ("rmed1", 6)])
def test_positions_advance_while_nothing_is_told(name, length, in_python):
    """The first sweep goes over its pairs although no outcome is known."""
    delayed = DelayedFeedback(policies.get(name), every=EVERY)
    rounds = tuple(range(1, 301))
    records = simulate_runs(delayed, DECISIVE, runs=range(3), checkpoints=rounds)
    plays = records.ledger["plays"]
    assert np.all(plays[:, length - 1].max(axis=(1, 2)) == 1)
    assert np.all(plays[:, -1].sum(axis=(1, 2)) == 300)


def test_the_pair_compared_least_often_is_another_one_next_time():
    """SAVAGE counts what it asked for: in any 6 rounds it asks for all 6 pairs."""
    for duels in late_duels("savage", CONDORCET):
        for begin in range(0, len(duels), 6):
            assert len(set(duels[begin : begin + 6])) == 6, begin


def test_the_arm_with_the_fewest_duels_is_another_one_next_time():
    """BTM counts what it asked for: in any 4 rounds every arm is first once."""
    for duels in late_duels("beat-the-mean", CONDORCET):
        firsts = [first for first, _ in duels]
        for begin in range(0, len(firsts), 4):
            assert sorted(firsts[begin : begin + 4]) == [0, 1, 2, 3], begin


def test_the_least_frequent_champion_is_another_one_next_time():
    """RCS counts the reigns that it chose: no arm has all of those without a sweep.

    Of four arms that beat each other in a cycle none beats all others in a sample.
    """
    gap = 0.4 * np.array([[0, 1, 1, -1], [-1, 0, 1, 1], [-1, -1, 0, 1], [1, -1, -1, 0]])
    for duels in late_duels("rcs", 0.5 + gap):
        firsts = [first for first, _ in duels]
        for begin in (100, 200):
            block = np.bincount(firsts[begin : begin + 100], minlength=4)
            assert block.max() < 60, block


def test_a_search_goes_on_while_reports_are_on_their_way():
    """SCB: all rounds are played, and the winner is found."""
    delayed = DelayedFeedback(
        policies.get("scb", first_length=16, compiled=False), every=7
    )
    records = simulate_runs(delayed, DECISIVE, runs=range(20), checkpoints=(300,))
    assert np.all(records.ledger["plays"].sum(axis=(1, 2, 3)) == 300)
    assert np.mean(records.recommendation == 0) > 0.9


class Seen(policies.ScalableCopelandBandits):
    """SCB, whose states at the end are seen."""

    def recommend(self, state, rng):
        seen.append(state)
        return super().recommend(state, rng)


@pytest.mark.parametrize(("every", "look_ahead"), [(300, True), (400, False)])
def test_epochs_have_their_lengths_while_reports_are_on_their_way(every, look_ahead):
    """SCB: rounds 1-16, 17-272, and the third from 273 on, told or not."""
    seen.clear()
    policy = Seen(first_length=16, look_ahead=look_ahead, compiled=False)
    delayed = DelayedFeedback(policy, every=every)
    simulate_runs(delayed, DECISIVE, runs=range(3), checkpoints=(300,))
    for state in seen:
        assert (state.epoch.begun, state.epoch.length) == (272, 256.0**2)
        # Only the last 28 of the 300 rounds belong to this epoch.
        assert state.search.now.duels <= 28
        assert state.wins.sum() == (300 if every == 300 else 0)
    assert len(seen) == 3


def test_results_say_so(in_python):
    policy = DelayedFeedback(policies.get("random"), every=10)
    assert json.loads(parameters_json(policy)) == {
        "every": 10,
        "policy": {"distinct": False, "name": "random"},
    }
    policy = DelayedFeedback(policies.get("rmed1"), every=EVERY)
    result = bayesduel.simulate(TWO_WINNERS, policy, num_runs=32, horizon=20)
    assert result.attrs["policy"] == "RMED1, told every 25 rounds"
    assert result.attrs["look_ahead"] == 0


def test_delays_do_not_nest():
    once = DelayedFeedback(policies.get("rucb"), every=2)
    with pytest.raises(PolicyParameterError, match="delay of its own"):
        DelayedFeedback(once, every=2).check(4, 100)
    with pytest.raises(PolicyParameterError, match="every must be"):
        DelayedFeedback(policies.get("d-ts"), every=True).check(4, 100)


def test_a_delay_is_a_parameter_of_a_name():
    policy = policies.parse_policy("d-ts:alpha=0.6,every=100")
    assert policy == DelayedFeedback(policies.get("d-ts", alpha=0.6), every=100)
    assert policies.get("rucb", every=1) == DelayedFeedback(policies.get("rucb"), 1)
