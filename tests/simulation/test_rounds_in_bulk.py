"""The loop over rounds, of rules that ask for many rounds of a pair at once."""

import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel import Duel
from bayesduel.errors import SimulationError
from bayesduel.policies.policy_around import Manner
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.rule_runs import run_chunk as run_rule
from bayesduel.simulation.runs import PairwiseEnvironment

FALSE_ALARM = 1e-6

MATRIX = np.array(
    [[0.5, 0.8, 0.3, 1.0], [0.2, 0.5, 0.6, 0.5],
     [0.7, 0.4, 0.5, 0.1], [0.0, 0.5, 0.9, 0.5]]
)  # fmt: skip

GRID = (1, 7, 30, 31, 100, 1000)


class Stretches(bayesduel.Policy):
    """Ask for stretches of random pairs, of random length; the state counts wins."""

    longest: int = 20
    explores_in_bulk = True

    def start(self, problem, rng):
        return np.zeros((problem.num_arms, problem.num_arms), dtype=np.int64)

    def choose(self, wins, rng, round_):
        first, second = rng.integers(0, len(wins)), rng.integers(0, len(wins))
        idle = rng.integers(0, 3)
        # A champion that depends on all that happened: a slip shows up in the plays.
        champion = wins.sum() % len(wins)
        return Duel(champion, idle, first, second, rng.integers(0, self.longest))

    def update(self, wins, rng, round_, first, second, won):
        wins[first, second] += won.won
        wins[second, first] += won.rounds - won.won

    def recommend(self, wins, rng):
        return np.argmax(wins.sum(axis=1))

    def info(self, wins):
        return {"told": wins.sum(), "rate": wins[0, 1] / wins.sum()}


def played(policy, *, checkpoints=GRID, runs=range(6), matrix=MATRIX, **manner):
    return run_rule(
        PairwiseEnvironment(matrix, shuffle=manner.pop("shuffle", True)),
        policy,
        runs=runs,
        checkpoints=np.array(checkpoints),
        seed=5,
        event_limit=10**6,
        segment_seconds=0.5,
        manner=Manner(**manner),
    )


@pytest.mark.slow
@pytest.mark.parametrize("manner", [{}, {"every": 16}, {"self_duels": False}])
def test_compiled_runs_are_those_of_python(manner):
    plain, compiled = (
        played(Stretches(compiled=each), **manner) for each in (False, True)
    )
    plays = plain.ledger["plays"]
    assert np.array_equal(plays, compiled.ledger["plays"])
    assert np.array_equal(plain.recommendation, compiled.recommendation)
    assert np.array_equal(plain.events, compiled.events)
    assert plain.info.keys() == compiled.info.keys() == {"told", "rate"}
    for name, values in plain.info.items():
        assert values.shape == (6,)
        assert np.array_equal(values, compiled.info[name])
    assert np.array_equal(plays.sum(axis=(2, 3)), np.tile(GRID, (6, 1)))
    assert len(np.unique(plays[:, -1], axis=0)) == 6


def test_what_is_told_is_what_was_played():
    found = played(Stretches())
    plays = found.ledger["plays"][:, -1]
    own = np.trace(plays, axis1=1, axis2=2)
    assert np.array_equal(found.info["told"], plays.sum(axis=(1, 2)) - own)
    assert found.info["told"].dtype == np.int64
    without = played(Stretches(), self_duels=False)
    assert np.trace(without.ledger["plays"][:, -1], axis1=1, axis2=2).sum() == 0
    assert np.all(without.info["told"] == 1000)


class Once(Stretches):
    """Ask for the first pair, as many rounds as are allowed, after a few idle ones."""

    def choose(self, wins, rng, round_):
        return Duel(2, 5, 0, 1, self.longest)

    def info(self, wins):
        return {"won": wins[0, 1], "told": wins[0, 1] + wins[1, 0]}


def test_a_stretch_is_cut_at_checkpoints_and_at_the_horizon():
    found = played(Once(longest=50), checkpoints=(20, 55, 70), shuffle=False)
    plays = found.ledger["plays"]
    assert plays[:, :, 2, 2].tolist() == [[5, 5, 10]] * 6
    assert plays[:, :, 0, 1].tolist() == [[15, 50, 60]] * 6
    assert found.info["told"].tolist() == [60] * 6
    assert found.events.tolist() == [2] * 6


def test_wins_have_the_distribution_of_duels_one_by_one():
    policy = Once(longest=20)
    found = played(policy, checkpoints=(25,), runs=range(2000), shuffle=False)
    counts = np.bincount(found.info["won"], minlength=21)
    distribution = stats.binom(20, MATRIX[0, 1]).pmf(np.arange(21))
    few = distribution < 0.005
    counts = np.array([*counts[~few], counts[few].sum()])
    distribution = np.array([*distribution[~few], distribution[few].sum()])
    assert stats.chisquare(counts, 2000 * distribution).pvalue > FALSE_ALARM


def test_preferences_of_0_and_1_are_certain():
    sure = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])
    for matrix, won in ((sure, 2**61), (1 - sure, 0)):
        found = played(
            Once(longest=2**61), checkpoints=(5 + 2**61,), matrix=matrix, shuffle=False
        )
        assert found.info["won"].tolist() == [won] * 6


class Listening(Stretches):
    """Note when it is asked and told, of stretches of always the same length."""

    def start(self, problem, rng):
        return []

    def choose(self, notes, rng, round_):
        notes.append(round_)
        return Duel(0, 0, 0, 1, self.longest)

    def update(self, notes, rng, round_, first, second, won):
        notes.append((round_, won.rounds))

    def recommend(self, notes, rng):
        return 0

    def info(self, notes):
        said.append(notes)
        return {}


said = []


@pytest.mark.parametrize(
    ("longest", "horizon", "notes"),
    [
        (4, 20, [1, 5, 9, (4, 4), (8, 4), 13, 17, (12, 4), (16, 4), (20, 4)]),
        (4, 13, [1, 5, 9, (4, 4), (8, 4), 13]),
        (25, 60, [1, 26, (25, 25), (50, 25), 51, (60, 10)]),
        (30, 70, [1, (30, 30), 31, (60, 30), 61, (70, 10)]),
    ],
)
def test_late_outcomes_are_told_after_the_end_of_a_stretch(longest, horizon, notes):
    """Told after every 10 rounds: what overlaps such an end arrives with the next."""
    said.clear()
    policy = Listening(longest=longest)
    played(policy, checkpoints=(horizon,), runs=range(1), every=10)
    assert said == [notes]


def test_results_keep_what_a_rule_tells_of_its_runs():
    result = bayesduel.simulate(MATRIX, Stretches(), num_runs=3, horizon=100)
    told = result["told"]
    assert told.dims == ("run",)
    plain = run_chunk(
        PairwiseEnvironment(MATRIX),
        Stretches(),
        runs=range(3),
        checkpoints=np.array([100]),
        seed=0,
    )
    assert told.values.tolist() == plain.info["told"].tolist()


class Telling(Stretches):
    name_told: str = "told"
    value: object = 1

    def info(self, wins):
        return {self.name_told.replace("|", "/"): self.value}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"value": np.arange(4)}, "info of 'told' must be one number, got array"),
        ({"value": "much"}, "info of 'told' must be one number, got 'much'"),
        ({"name_told": "regret"}, "no number of the name 'regret' can be kept"),
        ({"name_told": "a|b"}, "no number of the name 'a/b' can be kept"),
    ],
)
def test_what_results_cannot_keep_fails_its_own_policy_only(given, said):
    rules = [Telling(**given), Stretches()]
    tree = bayesduel.compare(MATRIX, rules, num_runs=2, horizon=20, shuffle=False)
    one, other = tree["4-arms"].children.values()
    assert said in one.attrs["error"]
    assert other["told"].shape == (2,)


class Changing(Stretches):
    def info(self, wins):
        return {f"told_{wins.sum() % 2}": 1}


def test_every_run_tells_the_same_numbers():
    with pytest.raises(SimulationError, match="the same numbers after every run"):
        played(Changing())
