"""Runs in worlds: a fixed one is the matrix, a changing one adds up round by round.

The twin of a changing world walks through every round with the generator of the run,
and sums the regret of what a policy says it has played. It shares no code with the
loop, which skips whatever does not change.
"""

import warnings

import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel import Duel
from bayesduel.errors import (
    AssumptionWarning,
    PolicyParameterError,
    SimulationArgumentError,
    SimulationError,
)
from bayesduel.instances.world import LAST_ROUND, FixedWorld
from bayesduel.policies import parse_policy
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import (
    PairwiseEnvironment,
    WorldEnvironment,
    orders_and_words,
)
from bayesduel.stopping import parse_rule
from tests.policies.driving import assert_same
from tests.policies.instances import CONDORCET
from tests.rules import Greedy
from theory import PreferenceMatrix

FALSE_ALARM = 1e-6
GRID = (1, 2, 7, 30, 31, 100, 400)


either_form = pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)]
)


class Fixed(bayesduel.World):
    values: object = None

    @property
    def num_arms(self):
        return len(self.values)

    def start(self, horizon, rng):
        return np.zeros(1)

    def unchanged_until(self, state, round_):
        return LAST_ROUND

    def probability(self, state, rng, round_, first, second):
        return self.values[first, second]

    def regret(self, state, round_, first, second):
        return (self.values[0, first] + self.values[0, second] - 1) / 2


class Walk(bayesduel.World):
    """Utilities follow random walks, which move every ``pause`` rounds."""

    num_arms: int = 4
    pause: int = 1
    notions = ("mean", "weak")

    def start(self, horizon, rng):
        return rng.normal(size=self.num_arms)

    def advance(self, state, rng, round_):
        for arm in range(len(state)):
            state[arm] += 0.1 * rng.normal()

    def unchanged_until(self, state, round_):
        return round_ + self.pause - 1

    def probability(self, state, rng, round_, first, second):
        return 1 / (1 + np.exp(state[second] - state[first]))

    def regret(self, state, round_, first, second):
        one, other = state.max() - state[first], state.max() - state[second]
        return (one + other) / 2, min(one, other)


class Logging(bayesduel.Policy):
    """Plays stretches and duels at random, and logs the rounds of each."""

    longest: int = 0

    def start(self, problem, rng):
        LOG.append([])
        return np.array([problem.num_arms])

    def choose(self, state, rng, round_):
        champion, first, second = rng.integers(state[0], size=3)
        idle = int(rng.integers(self.longest + 1))
        LOG[-1].append((idle, champion, champion))
        LOG[-1].append((1, first, second))
        return Duel(int(champion), idle, int(first), int(second))

    def update(self, state, rng, round_, first, second, won):
        pass

    def recommend(self, state, rng):
        return 0


LOG: list = []
"""Stretches of the runs of ``Logging``: rounds and the two arms, by positions."""


def played(world, policy, *, runs=range(4), grid=GRID, seed=5, **options):
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    environment = PairwiseEnvironment(np.array(world))
    if isinstance(world, bayesduel.World):
        environment = WorldEnvironment(world, len(world.notions) or 1)
    return run_chunk(
        environment, policy, runs=runs, checkpoints=np.array(grid), seed=seed, **options
    )


def check_fixed(policy, compiled, grid=GRID, **options):
    """Compare a matrix with a world that never changes, played in the open loop."""
    matrix = played(CONDORCET, policy, grid=grid, **options)
    world = Fixed(np.array(CONDORCET), compiled=compiled)
    opened = played(world, policy, grid=grid, **options)
    assert_same(matrix, opened, "plays")
    values = np.array(CONDORCET)
    gaps = (values[0][:, None] + values[0][None, :] - 1) / 2
    regret = np.einsum("rcij,ij->rc", matrix.ledger["plays"], gaps)
    np.testing.assert_allclose(opened.ledger["regret"][..., 0], regret, atol=1e-9)
    assert regret[:, -1].min() > 0


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("rucb", {"compiled": False}), (Greedy(), {"compiled": False}),
        ("rucb:every=7", {"compiled": False}), ("d-ts+", {"compiled": False}),
        ("rucb", {"compiled": True, "grid": (10, 3000)}),
    ],
)  # fmt: skip
def test_a_fixed_world_gives_the_runs_of_its_matrix(policy, options):
    check_fixed(policy, **options)


IN_FIXED = ["d-ts", "d-ts:every=5", "cw-rmed", "sup-klucb", "rucb:self_duels=false"]
IN_FIXED += ["ccb", "savage", "sparring"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "compiled"),
    # Compiled, the first three: ``instances.worlds.test_worlds_in_the_loop``.
    [(item, False) for item in ("rmed1", "ecw-rmed", "scomp", *IN_FIXED)]
    + [(item, True) for item in IN_FIXED],
)
def test_fixed_worlds_give_the_runs_of_their_matrix(policy, compiled):
    check_fixed(policy, compiled, grid=(10, 999, 1000))


@pytest.mark.slow
def test_models_play_in_a_fixed_world():
    """JAX draws by other keys here, so the law is compared: wins of the best arm."""
    policy = parse_policy("d-ts:posterior=bradley-terry")
    world, runs, grid = Fixed(np.array(CONDORCET)), range(48), (60,)
    straight = played(CONDORCET, policy, runs=runs, grid=grid)
    opened = played(world, policy, runs=runs, grid=grid)
    first, second = (value.ledger["plays"][:, -1, 0, 0] for value in (straight, opened))
    assert stats.ks_2samp(first, second).pvalue > FALSE_ALARM
    assert not np.array_equal(first, second)


def walked(world, run, horizon, seed=5):
    """Return the states of all rounds, by the generator of the run."""
    environment = WorldEnvironment(world, 1)
    orders, words = orders_and_words(environment, range(run, run + 1), seed)
    seeds = np.random.SeedSequence([*map(int, words[0]), 1])
    rng = np.random.Generator(np.random.SFC64(seeds))
    state = world.start(horizon, rng)
    states, pause = [], getattr(world, "pause", 1)
    for round_ in range(1, horizon + 1):
        if (round_ - 1) % pause == 0:
            world.advance(state, rng, round_)
        states.append(state.copy())
    return orders[0], states


@pytest.mark.parametrize("pause", [1, 6])
@pytest.mark.parametrize("longest", [0, 25])
def test_regret_of_a_changing_world_is_the_sum_over_its_rounds(pause, longest):
    LOG.clear()
    world, runs = Walk(pause=pause), range(3)
    records = played(world, Logging(longest=longest), runs=runs)
    logs = LOG[-len(runs) :]
    for run in runs:
        order, states = walked(world, run, GRID[-1])
        sums, total, round_ = [], np.zeros(2), 0
        for rounds, first, second in logs[run]:
            for _ in range(min(rounds, GRID[-1] - round_)):
                state = states[round_]
                round_ += 1
                away = state.max() - state[order[[first, second]]]
                total = total + [away.mean(), away.min()]
                if round_ in GRID:
                    sums.append(total)
        np.testing.assert_allclose(records.ledger["regret"][run], sums, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("pause", [1, 6])
@pytest.mark.parametrize("policy", [Greedy(), "d-ts", "scomp2"])
def test_compiled_worlds_give_the_runs_of_plain_ones(policy, pause):
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    if isinstance(policy, Greedy):
        policy = Greedy(compiled=True)
    worlds = (Walk(pause=pause, compiled=compiled) for compiled in (False, True))
    one, other = (played(world, policy) for world in worlds)
    assert_same(one, other, "plays")
    np.testing.assert_allclose(one.ledger["regret"], other.ledger["regret"], rtol=1e-12)


def test_the_path_of_a_world_does_not_depend_on_the_policy_or_the_chunk():
    class Level(Walk):
        notions = ()

        def regret(self, state, round_, first, second):
            return state[0]

    whole = played(Level(), "rucb", runs=range(5)).ledger["regret"]
    other = played(Level(), Logging(longest=9), runs=range(5)).ledger["regret"]
    later = played(Level(), "rucb", runs=range(3, 5)).ledger["regret"]
    np.testing.assert_allclose(whole, other, rtol=1e-9)
    np.testing.assert_array_equal(whole[3:], later)


class Priced(Fixed):
    """A self-duel of the first arm costs less and less."""

    def regret(self, state, round_, first, second):
        return 1.0 / (1 + round_ // 5) if first == 0 and second == 0 else 1.0

    def unchanged_until(self, state, round_):
        return round_ - round_ % 5 + 4


CYCLE = [[0.5, 0.95, 0.05], [0.05, 0.5, 0.95], [0.95, 0.05, 0.5]]
"""Three Copeland winners."""


@pytest.mark.slow
def test_champions_that_share_a_stretch_share_its_regret():
    """Look-ahead and round by round: one law of regret, in a world that changes.

    Whichever checkpoints cut the stretches, as is shown below.
    """
    world, runs, grid = Priced(np.array(CYCLE)), range(300), (3, 150, 277, 400)
    fast = played(world, "d-ts", runs=runs, grid=grid)
    slow = played(world, "d-ts:look_ahead=false", runs=runs, grid=grid)
    assert fast.events.mean() < 0.7 * slow.events.mean()
    for index in range(len(grid)):
        one, other = (value.ledger["regret"][:, index, 0] for value in (fast, slow))
        assert stats.ks_2samp(one, other).pvalue > FALSE_ALARM


def test_checkpoints_inside_a_shared_stretch_do_not_change_its_regret():
    world, runs = Priced(np.array(CYCLE)), range(10)
    every = played(world, "d-ts", runs=runs, grid=range(1, 401))
    last = played(world, "d-ts", runs=runs, grid=(400,))
    ends = (value.ledger["regret"][:, -1] for value in (every, last))
    np.testing.assert_allclose(*ends, rtol=1e-10)
    rises = np.diff(every.ledger["regret"][..., 0], axis=1)
    assert rises.min() > 0 and rises.max() <= 1 + 1e-12


class Switched(bayesduel.World):
    """Arm 0 always wins up to a round, and always loses after it."""

    num_arms: int = 2
    change: int = 30

    def start(self, horizon, rng):
        return np.zeros(1)

    def unchanged_until(self, state, round_):
        return self.change if round_ <= self.change else LAST_ROUND

    def probability(self, state, rng, round_, first, second):
        return 1.0 if (first == 0) == (round_ <= self.change) else 0.0

    def regret(self, state, round_, first, second):
        return 0.0


class InTurn(bayesduel.Policy):
    def start(self, problem, rng):
        return np.zeros(1, dtype=np.int64)

    def choose(self, state, rng, round_):
        return 0, 1

    def update(self, state, rng, round_, first, second, won):
        pass

    def recommend(self, state, rng):
        return 0


class Batches(InTurn):
    """Asks for the pair 0, 1 in batches of 20, and counts wins of position 0."""

    explores_in_bulk = True

    def choose(self, state, rng, round_):
        return Duel(0, 0, 0, 1, 20)

    def update(self, state, rng, round_, first, second, won):
        state[0] += won.won

    def info(self, state):
        return {"wins": state[0]}


@either_form
def test_a_batch_is_answered_part_by_part(compiled):
    world = Switched(compiled=compiled)
    records = played(world, Batches(compiled=compiled), runs=range(12), grid=(100,))
    assert {*records.info["wins"]} == {30, 70}


class Alternating(Switched):
    """The arm with the smaller number wins every other comparison."""

    def answer(self, state, rng, round_, first, second):
        state[0] += 1
        return (first < second) == (state[0] % 2 == 1)


@either_form
def test_a_world_may_answer_by_its_history(compiled):
    world = Alternating(compiled=compiled)
    records = played(world, Batches(compiled=compiled), runs=range(3), grid=(100,))
    assert {*records.info["wins"]} == {50}


def test_a_stopped_run_keeps_its_regret():
    class Costly(Switched):
        def regret(self, state, round_, first, second):
            return 1.0

    world, rule = Costly(change=10**6), parse_rule("anytime:delta=0.05")
    records = played(world, "rucb", grid=(5, 50, 500, 1000), stopping=rule)
    stopped = records.info["stopped_at"]
    assert np.all((stopped > 5) & (stopped < 500))
    plays = records.ledger["plays"].sum(axis=(2, 3))
    np.testing.assert_allclose(records.ledger["regret"][..., 0], plays)
    assert np.all(plays[:, -1] == stopped)


class Fresh(bayesduel.World):
    """Features that are new in every round."""

    num_arms: int = 3

    def start(self, horizon, rng):
        return np.zeros((self.num_arms, 2))

    def advance(self, state, rng, round_):
        for arm in range(state.shape[0]):
            state[arm, 0] = rng.normal()
            state[arm, 1] = arm

    def features(self, state, rng, round_):
        return state

    def probability(self, state, rng, round_, first, second):
        return 1 / (1 + np.exp(state[second, 0] - state[first, 0]))

    def regret(self, state, round_, first, second):
        best = state[:, 0].max()
        return best - (state[first, 0] + state[second, 0]) / 2


class Informed(InTurn):
    """Plays the arm of the largest first feature, and another one."""

    contextual = True

    def start(self, problem, rng):
        return np.zeros(2)

    def choose(self, state, rng, round_, features):
        best = features[:, 0].argmax()
        state[0] = features[best, 1]
        return best, (best + 1) % len(features)

    def update(self, state, rng, round_, first, second, won, features):
        # The features of the round that was played, in the same order.
        state[1] += features[first, 1] == state[0]

    def info(self, state):
        return {"agreed": state[1]}


@either_form
def test_contextual_policies_see_the_features_of_the_round(compiled):
    world = Fresh(compiled=compiled)
    records = played(world, Informed(compiled=compiled))
    assert {*records.info["agreed"]} == {GRID[-1]}
    for run in range(2):
        _, states = walked(world, run, GRID[-1])
        # The best arm meets the one at the next position, whichever that is.
        away = np.array([state[:, 0].max() - state[:, 0] for state in states])
        largest = away.max(axis=1).sum() / 2
        assert 0 < records.ledger["regret"][run, -1, 0] <= largest


def test_a_contextual_policy_plays_on_a_matrix_with_features():
    table = np.arange(8.0).reshape(4, 2)
    matrix = PreferenceMatrix(np.array(CONDORCET)[:4, :4], features=table)
    result = bayesduel.simulate(matrix, Informed(), num_runs=3, horizon=50)
    plays = result["plays"].values[:, -1]
    # The largest first feature is that of arm 3, in every order.
    assert np.all(plays[:, :, 3].sum(axis=1) + plays[:, 3, :].sum(axis=1) >= 50)
    assert result["regret"].values[0, :, -1].min() > 0


def test_contextual_policies_need_features_and_no_delay():
    with pytest.raises(SimulationArgumentError, match="has no features of the arms"):
        bayesduel.simulate("cyclic", Informed(), num_runs=1, horizon=9)
    late = bayesduel.policies.DelayedFeedback(Informed(), 5)
    with pytest.raises(SimulationArgumentError, match="must be told at once"):
        bayesduel.simulate(Fresh(), late, num_runs=1, horizon=9)

    class Forgot(InTurn):
        def choose(self, state, rng, round_, features):
            return 0, 1

    with pytest.raises(PolicyParameterError, match="contextual = True"):
        bayesduel.simulate(Fresh(), Forgot(), num_runs=1, horizon=9)


class Faulty(bayesduel.World):
    num_arms: int = 3
    what: str = "probability"
    round_: int = 17

    def start(self, horizon, rng):
        return np.zeros(1)

    def probability(self, state, rng, round_, first, second):
        if round_ >= self.round_:
            if self.what == "probability":
                return 1.5
            if self.what == "nan":
                return np.nan
            if self.what == "raise":
                raise ZeroDivisionError
        return 0.5

    def regret(self, state, round_, first, second):
        return np.inf if self.what == "regret" and round_ >= self.round_ else 1.0


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("probability", "probability returned 1.5"),
        ("nan", "probability returned nan"),
        ("regret", "regret returned inf"),
    ],
)
@either_form
def test_a_bad_number_of_a_world_names_run_and_round(what, text, compiled):
    world = Faulty(what=what, compiled=compiled)
    with pytest.raises(SimulationError, match=text) as caught:
        played(world, InTurn(compiled=compiled), runs=range(2, 4))
    for part in ("Faulty:what=" if what != "probability" else "Faulty", "InTurn"):
        assert part in str(caught.value)
    assert "round 17 of run 2" in str(caught.value)


def test_a_bad_number_is_that_of_its_own_run_beside_others():
    world = Faulty(what="regret", round_=5)
    policy = parse_policy("d-ts:posterior=bradley-terry")
    words = "regret returned inf.*round 5 of run 0, played by D-TS:"
    with pytest.raises(SimulationError, match=words):
        played(world, policy, runs=range(3), num_lanes=8)


def test_what_is_no_world_is_refused_before_anything_is_simulated():
    class Nameless(bayesduel.World):
        start, probability, regret = Faulty.start, Faulty.probability, Faulty.regret

    class Short(Faulty):
        def regret(self, round_, first, second):
            return 0.0

    class Early(Faulty):
        def start(self, horizon, rng):
            return {}[horizon]

    cases = {
        Nameless(): "Nameless: num_arms must be a number of arms",
        Short(): r"Short: regret must take \(state, round_, first, second\), and takes",
        Early(): "Early: start must work in round 1, but raised KeyError",
        Faulty(round_=1): "Faulty: probability must be a number from 0 to 1",
        Faulty(what="regret", round_=1): "Faulty: regret must be a finite number",
    }
    for world, words in cases.items():
        with pytest.raises(ValueError, match=words):
            bayesduel.simulate(world, InTurn(), num_runs=1, horizon=9)
    with pytest.raises(SimulationArgumentError, match=r"write Faulty\(\)"):
        bayesduel.compare([Faulty], InTurn(), num_runs=1, horizon=9)


def test_an_error_in_a_world_names_the_world_run_and_round():
    with pytest.raises(ZeroDivisionError) as caught:
        played(Faulty(what="raise"), InTurn())
    (note,) = caught.value.__notes__
    assert note.startswith("raised by Faulty:what=raise, in which InTurn plays")
    assert "round 17 of run 0" in note and "test_open_worlds.py" in note


def test_results_hold_every_notion_and_no_matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        tree = bayesduel.compare(Walk(), ["rucb", Greedy()], num_runs=3, horizon=50)
    node = tree["Walk/RUCB"]
    assert node.to_dataset()["notion"].values.tolist() == ["mean", "weak"]
    assert "preference" not in tree["Walk"]
    chosen = bayesduel.simulate(Walk(), Greedy(), num_runs=3, horizon=50, regret="weak")
    assert chosen.to_dataset()["notion"].values.tolist() == ["weak"]
    weak = tree["Walk/Greedy/regret"].values[1]
    np.testing.assert_array_equal(chosen["regret"].values[0], weak)


def test_policies_that_assume_more_than_a_world_guarantees_say_so():
    with pytest.warns(AssumptionWarning, match="RUCB assumes fixed preferences and a "):
        bayesduel.Experiment(Walk(), "rucb")

    class Sure(Fixed):
        guarantees = bayesduel.instances.world.GUARANTEES

    class Endless(Fixed):
        guarantees = ("fixed preferences", "a Condorcet winner")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bayesduel.Experiment(Sure(np.array(CONDORCET)), ["rucb", "d-ts", "rmed2fh"])
        bayesduel.Experiment(Walk(), [Greedy(), "random"])
    words = "assumes a known horizon, which Endless"
    with pytest.warns(AssumptionWarning, match=words):
        bayesduel.Experiment(Endless(np.array(CONDORCET)), ["rucb", "rmed2fh"])


def test_fixed_world_is_a_matrix_with_every_guarantee():
    world = FixedWorld(np.array(CONDORCET))
    assert world.guarantees == bayesduel.instances.world.GUARANTEES
    assert_same(played(world, "rucb"), played(CONDORCET, "rucb"), "plays")
