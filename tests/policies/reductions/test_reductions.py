"""Sparring, MultiSBM, Doubler and random pairs: distributions, machines, epochs,
self-duels."""

from functools import cache, partial

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.policies.policy import Problem
from bayesduel.policies.reductions import ucb_machines
from tests.policies.distributions import disagreements
from tests.policies.driving import NUM_RUNS, simulate_runs
from tests.policies.instances import DECISIVE, TWO_WINNERS, random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.policies.rule_driving import play_rule
from tests.reference import plays_of_twins
from tests.reference.reductions import Doubler, MultiSBM, Sparring, UCBMachine

pytestmark = pytest.mark.usefixtures("in_python")

FALSE_ALARM = 1e-5
"""False-alarm rate of one test, all features together."""

MATRICES = {"decisive": DECISIVE, "two winners": TWO_WINNERS}
CHECKPOINTS = (30, 100, 200)
LATE = (100, 300, 1000)
NUM_LATE = 150
"""Runs of a twin: as few notice another alpha, below."""

FORMS = {
    "sparring": ({}, Sparring),
    "sparring of ts": ({"inner": "ts"}, partial(Sparring, inner="ts")),
    "multisbm": ({}, MultiSBM),
    "doubler": ({}, Doubler),
}


def policy_of(form):
    return policies.get(form.split()[0], **FORMS[form][0])


def plays_of(policy, matrix, checkpoints, seed, num_runs=NUM_RUNS):
    records = simulate_runs(
        policy, MATRICES[matrix], checkpoints=checkpoints, seed=seed,
        runs=range(num_runs),
    )  # fmt: skip
    return records.ledger["plays"]


@cache
def twin_plays(form, matrix, checkpoints, num_runs):
    make = partial(FORMS[form][1], 4)
    return plays_of_twins(make, MATRICES[matrix], checkpoints, num_runs, 80)


@pytest.mark.parametrize(
    ("form", "matrix"), [("sparring", "decisive"), ("sparring of ts", "two winners")]
)
def test_early_rounds_have_the_distribution_of_the_twin(form, matrix):
    """The rest is compared duel by duel below."""
    ours = plays_of(policy_of(form), matrix, CHECKPOINTS, 81, num_runs=100)
    theirs = twin_plays(form, matrix, CHECKPOINTS, 100)
    assert not disagreements(ours, theirs, MATRICES[matrix])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sparring", "sparring of ts"])
def test_late_rounds_have_the_distribution_of_the_twin(form):
    ours = plays_of(policy_of(form), "decisive", LATE, seed=82)
    theirs = twin_plays(form, "decisive", LATE, NUM_LATE)
    assert not disagreements(ours, theirs, DECISIVE)


@pytest.mark.slow
def test_another_alpha_is_noticed():
    """Negative control: bounds that are 40 percent narrower."""
    narrower = policies.get("sparring", alpha=0.1)
    ours = plays_of(narrower, "decisive", LATE, seed=82)
    theirs = twin_plays("sparring", "decisive", LATE, NUM_LATE)
    assert disagreements(ours, theirs, DECISIVE)


def tell(twin, duel, outcomes, seen):
    """Feed a forced outcome to a twin; of a self-duel, that the first arm won."""
    first, second = duel
    low, high = min(first, second), max(first, second)
    low_won = low == high or bool(outcomes[low, high, seen[low, high]])
    twin.update(first, second, low_won == (first == low))
    seen[low, high] += 1


def best_of(machine):
    """Arms that a machine of the twin may name."""
    index = np.array([machine.index(arm) for arm in range(4)])
    return set(np.flatnonzero(index >= index.max() - 1e-12).tolist())


class Beside:
    """A twin beside a rule; the coins of self-duels are the gains it lacks."""

    def __init__(self, make_twin, outcomes):
        self.twin = make_twin(4, np.random.default_rng(0))
        self.outcomes = outcomes
        self.seen = np.zeros((4, 4), dtype=int)
        self.coins = []

    def __call__(self, state, duel):
        first, second = int(duel.first), int(duel.second)
        if isinstance(self.twin, MultiSBM):
            if not any(self.twin.played):
                self.twin.last = first
            assert first == self.twin.last
            machine, gains = self.twin.machines[first], state.gains[first]
            self.twin.last = second
        else:
            if self.twin.epoch == self.twin.machine.pull == 1:
                self.twin.left = [first]
            assert first in self.twin.left
            machine, gains = self.twin.machine, state.machine.gains
        assert second in best_of(machine)
        if first == second:
            self.coins.append(int(gains[second]) - machine.sums[second])
            self.twin.update(first, second, not self.coins[-1])
        else:
            tell(self.twin, (first, second), self.outcomes, self.seen)


@pytest.mark.parametrize("form", ["multisbm", "doubler"])
def test_every_arm_has_the_largest_index_of_the_twin(form):
    """The same of rules of one run, which also toss the coins of self-duels."""
    rng, coins = np.random.default_rng(83), []
    for matrix in list(MATRICES.values()) * 2:
        forced = random_outcomes(matrix, 300, rng)
        beside = Beside(FORMS[form][1], forced)
        play_rule(policy_of(form), forced, 300, watch=beside)
        coins += beside.coins
    assert set(coins) == {0, 1}
    assert stats.binomtest(sum(coins), len(coins)).pvalue > FALSE_ALARM


def doubler_state(left, right):
    """Return the state of Doubler with these arms of the last epoch and of this one."""
    rng = np.random.default_rng(1)
    state = policies.get("doubler").start(Problem(len(left), 100), rng)
    state.left[:], state.right[:] = left, right
    state.epoch.rounds, state.epoch.num_asked = 2 * sum(left), sum(right)
    return state, rng


def test_doubler_draws_from_the_last_epoch():
    """Left arms by their frequency, not by their presence."""
    counts = np.zeros(4, dtype=int)
    _, rng = doubler_state([1, 0], [0, 0])
    for _ in range(800):
        state, _ = doubler_state([1, 0, 6, 1], [3, 2, 1, 0])
        counts[policies.get("doubler").choose(state, rng, 21)[0]] += 1
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], [100, 600, 100]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 1, 0], [0, 0, 0], {1}),  # Round 1: the first left arm.
        ([0, 1, 0], [2, 0, 0], {0}),  # After round 2 the first epoch is over.
        ([1, 0, 3], [5, 2, 0], {2}),
        ([1, 0, 3], [4, 4, 0], {0, 1}),
    ],
)
def test_doubler_recommends_from_the_last_complete_epoch(left, right, expected):
    state, rng = doubler_state(left, right)
    arms = {policies.get("doubler").recommend(state, rng) for _ in range(40)}
    assert arms == expected


def test_doubler_ignores_outcomes_of_an_earlier_epoch():
    # Epoch 3 is rounds 7 to 14.
    for round_, pulls in ((6, 0), (7, 1), (14, 1)):
        state, rng = doubler_state([3, 1], [2, 0])
        policies.get("doubler").update(state, rng, round_, 0, 1, False)
        assert state.machine.pulls.tolist() == [0, pulls]
        assert state.machine.gains.tolist() == [0, pulls]


def test_index_of_a_machine():
    """The index of the twin is sqrt(2.5 log s / n) above the mean at alpha 3."""
    machine = UCBMachine(2, np.random.default_rng(0))
    for arm, reward in [(0, 1), (1, 0), (0, 0), (0, 1)]:
        machine.feedback(arm, reward)
    assert machine.index(0) == pytest.approx(2 / 3 + np.sqrt(2.5 * np.log(5) / 3))
    assert machine.index(1) == pytest.approx(np.sqrt(2.5 * np.log(5)))


def test_unpulled_arms_come_first_in_random_order():
    machine = ucb_machines.UCBState(np.array([5, 0, 0, 1]), np.array([5, 0, 0, 1]))
    rng = np.random.default_rng(0)
    arms = [ucb_machines.advance(rng, machine, 3.0) for _ in range(100)]
    assert set(arms) == {1, 2}


def test_random_pairs_are_uniform():
    for options, probabilities in (
        ({}, np.full((4, 4), 1 / 16)),
        ({"distinct": True}, (1 - np.eye(4)) / 12),
    ):
        kernel = policies.get("random", **options).scalar_kernel()
        outcomes = np.zeros((4, 4, 3000), dtype=bool)
        duels = np.array(play_kernel(kernel, outcomes, 3000, seed=84).duels)
        counts = np.zeros((4, 4))
        np.add.at(counts, tuple(duels.T), 1)
        drawn = probabilities > 0
        assert counts[~drawn].sum() == 0
        expected = 3000 * probabilities[drawn]
        assert stats.chisquare(counts[drawn], expected).pvalue > FALSE_ALARM
