"""The loop over rounds: a run depends on the seed and its number, and on nothing else.

The policies here are small fakes whose plays are known, or depend on every bit of
their history. ``tests/policies/test_contract.py`` repeats the most important of these
checks with every registered policy.
"""

import threading
from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel import event_loop, policies, simulator
from bayesduel.environments.pairwise import PairwiseEnvironment
from bayesduel.errors import SimulationError
from bayesduel.simulator import default_num_lanes, run_chunk
from tests.fake_policies import Asking, Scripted, Wanderer
from tests.policies.instances import CONDORCET, CYCLIC

FALSE_ALARM = 1e-5

CHECKPOINTS = (10, 100, 1000, 3000)
RUNS = range(48)
CERTAIN = np.where(np.tri(4, k=-1), 0.0, 1.0) - 0.5 * np.eye(4)
"""The arm with the smaller number always wins."""


def simulate_runs(policy, matrix=CONDORCET, shuffle=True, **options):
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    settings = {"runs": RUNS, "seed": 7, "num_lanes": 48} | options
    environment = PairwiseEnvironment(np.array(matrix), shuffle)
    return run_chunk(environment, policy, checkpoints=checkpoints, **settings)


def same(one, other, pick_one=slice(None), pick_other=slice(None)):
    """Assert that runs agree bit for bit."""
    for ours, theirs in (
        (one.ledger["plays"], other.ledger["plays"]),
        (one.recommendation, other.recommendation),
        (one.events, other.events),
        (one.finished, other.finished),
    ):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours[pick_one], theirs[pick_other])


@pytest.fixture(scope="module")
def wandering():
    """All runs side by side, packed when few are left."""
    return simulate_runs(Wanderer())


def test_the_fake_can_tell_runs_apart(wandering):
    """Otherwise the comparisons below would prove nothing."""
    last = wandering.ledger["plays"][:, -1].reshape(len(RUNS), -1)
    assert len(np.unique(last, axis=0)) == len(RUNS)
    assert wandering.events.max() > 20 * wandering.events.min()
    assert len(np.unique(wandering.recommendation)) == 4
    assert wandering.finished.all()


SLOW = pytest.mark.slow
"""For what another test almost shows: what costs here is each new program."""


@pytest.mark.parametrize(
    "num_lanes", [1, 8, 100, pytest.param(7, marks=SLOW), pytest.param(33, marks=SLOW)]
)
def test_number_of_lanes(wandering, num_lanes):
    same(simulate_runs(Wanderer(), num_lanes=num_lanes), wandering)


def test_number_of_lanes_by_default(wandering):
    same(simulate_runs(Wanderer(), num_lanes=None), wandering)
    for num_runs in (1, 8, 9, 64, 65, 100, 1000):
        lanes = default_num_lanes(num_runs)
        assert lanes % 8 == 0
        assert lanes >= min(num_runs, 64) / 2
        if jax.default_backend() == "cpu":
            assert lanes <= 64


@pytest.mark.parametrize("run", [0, 5, 47])
def test_a_run_alone(wandering, run):
    alone = simulate_runs(Wanderer(), runs=range(run, run + 1), num_lanes=8)
    same(alone, wandering, pick_other=slice(run, run + 1))


@pytest.mark.parametrize("cut", [20, pytest.param(1, marks=SLOW)])
def test_chunks(wandering, cut):
    for runs in (range(cut), range(cut, len(RUNS))):
        part = simulate_runs(Wanderer(), runs=runs, num_lanes=8)
        same(part, wandering, pick_other=slice(runs.start, runs.stop))


def test_chunks_that_overlap(wandering):
    part = simulate_runs(Wanderer(), runs=range(9, 9 + len(RUNS)))
    same(part, wandering, slice(0, -9), slice(9, None))


def test_runs_far_from_the_first_are_others(wandering):
    far = simulate_runs(Wanderer(), runs=range(10**9, 10**9 + len(RUNS)))
    assert np.mean(far.events == wandering.events) < 0.2


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_length_of_segments(wandering, seconds, monkeypatch):
    shares = []
    monkeypatch.setattr(simulator, "_SEGMENT_SECONDS", seconds)
    same(simulate_runs(Wanderer(), on_progress=shares.append), wandering)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1
    assert shares[-1] == pytest.approx(1)
    # Segments of 64 events, or of a million after the first.
    assert (len(shares) > 10) if seconds < 1 else (len(shares) <= 3)


def test_packing_the_last_runs(wandering, monkeypatch):
    """The other tests pack where there are 32 lanes and more: here we look at it."""
    plain, sizes = simulator._pack, []

    def spy(carry, *others):
        packed = plain(carry, *others)
        sizes.append((carry.lanes.run.shape[0], packed.lanes.run.shape[0]))
        return packed

    monkeypatch.setattr(simulator, "_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(simulator, "_PATIENCE", 0.0)
    monkeypatch.setattr(simulator, "_pack", spy)
    same(simulate_runs(Wanderer()), wandering)
    assert [one for one in sizes if one[0] != one[1]] == [(48, 8)]
    # Few lanes are few enough.
    del sizes[:]
    same(simulate_runs(Wanderer(), num_lanes=8), wandering)
    assert {*sizes} == {(8, 8)}
    monkeypatch.setattr(simulator, "_pack", lambda carry, *others: carry)
    same(simulate_runs(Wanderer()), wandering)


@pytest.mark.parametrize(
    "grid",
    [
        (3000,),
        (1, 2, 3, 10, 11, 99, 100, 999, 1000, 2999, 3000),
        pytest.param(tuple(range(1, 3001)), marks=SLOW),
    ],
    ids=lambda grid: f"{len(grid)} checkpoints",
)
def test_grid_of_checkpoints(wandering, grid):
    """Checkpoints that grids share agree; so do events and recommendations."""
    other = simulate_runs(Wanderer(), checkpoints=grid)
    shared = [each for each in CHECKPOINTS if each in grid]
    np.testing.assert_array_equal(
        other.ledger["plays"][:, [grid.index(each) for each in shared]],
        wandering.ledger["plays"][:, [CHECKPOINTS.index(each) for each in shared]],
    )
    np.testing.assert_array_equal(other.events, wandering.events)
    np.testing.assert_array_equal(other.recommendation, wandering.recommendation)
    assert np.all(other.ledger["plays"].sum(axis=(2, 3)) == grid)
    steps = np.diff(other.ledger["plays"], axis=1)
    assert np.all(steps >= 0)


def test_horizon_does_not_change_the_rounds_before():
    """For a policy that does not read it."""
    near, far = (
        simulate_runs(Wanderer(), checkpoints=(10, 100, last)) for last in (900, 3000)
    )
    np.testing.assert_array_equal(
        near.ledger["plays"][:, :2], far.ledger["plays"][:, :2]
    )


def test_seeds():
    seeds = (0, 1, 2**32, 2**32 + 1, 2**63 - 1)
    found = [simulate_runs(Wanderer(), seed=seed).events.tolist() for seed in seeds]
    assert len({*map(tuple, found)}) == len(seeds)


# Stretches and checkpoints


@pytest.mark.parametrize(("exploit", "explore"), [(5, 3), (0, 4), (3, 0), (1, 1)])
def test_checkpoints_inside_stretches(exploit, explore):
    """Rounds of a stretch are played one pair after the other: self-duels first."""
    horizon, grid = 29, tuple(range(1, 30))
    records = simulate_runs(
        Scripted(exploit, explore),
        shuffle=False,
        checkpoints=grid,
        runs=range(3),
        num_lanes=2,
    )
    script = ([(2, 2)] * exploit + [(0, 1)] * explore) * horizon
    expected = np.zeros((horizon, 4, 4), dtype=np.int64)
    for index in range(horizon):
        for pair in script[: index + 1]:
            expected[index][pair] += 1
    for plays in records.ledger["plays"]:
        np.testing.assert_array_equal(plays, expected)
    assert records.events.tolist() == [-(-horizon // (exploit + explore))] * 3


def test_only_the_horizon_cuts_a_stretch():
    """Stretches of the longest horizon, and one duel after them."""
    longest = 2**62
    for exploit, explore in ((longest, longest), (longest - 7, 9)):
        records = simulate_runs(
            Scripted(exploit, explore),
            shuffle=False,
            checkpoints=(1, longest - 8, longest),
            runs=range(2),
            num_lanes=2,
        )
        (plays, _) = records.ledger["plays"]
        assert plays[1, 2, 2] == longest - 8
        assert plays[2, 2, 2] == exploit
        assert plays[2, 0, 1] == longest - exploit
        assert records.events.tolist() == [1, 1]


def test_many_checkpoints_of_a_single_event():
    """More of them than lanes, and than the block they are padded to."""
    grid = tuple(range(1, 70))
    records = simulate_runs(
        Scripted(1000), shuffle=False, checkpoints=grid, runs=range(2), num_lanes=2
    )
    assert records.ledger["plays"].shape == (2, 69, 4, 4)
    assert records.ledger["plays"][:, :, 2, 2].tolist() == [[*grid]] * 2


# Labels


def test_unshuffled_arms_are_positions():
    records = simulate_runs(
        Scripted(), CERTAIN, shuffle=False, runs=range(3), num_lanes=2
    )
    plays = records.ledger["plays"]
    assert np.all(plays[:, -1, 2, 2] == 5 * 375)
    assert np.all(plays[:, -1, 0, 1] == 3 * 375)
    assert np.all(plays[:, -1].sum(axis=(1, 2)) == 3000)
    assert np.all(records.recommendation == 0)


def shuffled_labels(num_runs):
    """Return champion, one and other arm of the pair, and recommendation per run."""
    records = simulate_runs(Scripted(), CERTAIN, runs=range(num_runs), num_lanes=64)
    last = records.ledger["plays"][:, -1]
    found = []
    for plays, best in zip(last, records.recommendation, strict=True):
        assert np.all(np.tril(plays, -1) == 0)
        ((champion,),) = (np.flatnonzero(np.diag(plays)),)
        ((one, other),) = np.argwhere(np.triu(plays, 1))
        assert plays[champion, champion] == 5 * 375
        assert plays[one, other] == 3 * 375
        found.append((champion, one, other, best))
    return np.array(found)


def test_results_have_the_original_labels():
    """Policies know positions; matrix, plays and recommendation speak of arms.

    Position 0 is recommended exactly if it beats position 1, so with certain answers
    the better arm of the pair is recommended whatever its position is.
    """
    found = shuffled_labels(600)
    champion, one, other, best = found.T
    assert np.all((champion != one) & (champion != other))
    np.testing.assert_array_equal(best, np.minimum(one, other))
    # Each arm is champion equally often, as is each pair of the three others.
    triples = [
        (c, i, j) for c, i, j in permutations(range(4), 3) if i < j
    ]  # 12 of them: the order of positions 0 and 1 does not show.
    counts = [np.sum(np.all(found[:, :3] == each, axis=1)) for each in triples]
    assert sum(counts) == 600
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_every_policy_meets_the_same_labels():
    """Their difference is then one of policies alone."""
    short, long = (
        simulate_runs(
            Scripted(exploit), checkpoints=(200,), runs=range(600), num_lanes=64
        )
        for exploit in (5, 9)
    )
    for run in range(600):
        one, other = (
            np.argwhere(records.ledger["plays"][run, 0] > 0)
            for records in (short, long)
        )
        np.testing.assert_array_equal(one, other)


# Answers


@pytest.mark.parametrize("explore", [1, 40])
def test_answers_follow_the_matrix(explore):
    """Position 0 wins against position 1 as often as the matrix says.

    It is recommended as long as it has won every duel: (1 - p) is the probability of
    its recommendation being 1 after one duel, 1 - p^40 after forty.
    """
    matrix = CYCLIC.copy()
    matrix[0, 1], matrix[1, 0] = 0.97, 0.03
    records = simulate_runs(
        Scripted(2, explore),
        matrix,
        shuffle=False,
        checkpoints=(2 + explore,),
        runs=range(2000),
        num_lanes=64,
    )
    lost = int(np.sum(records.recommendation == 1))
    assert stats.binomtest(lost, 2000, 1 - 0.97**explore).pvalue > FALSE_ALARM


# The host's help


@pytest.fixture
def served(monkeypatch):
    """Collect the states that the host is given."""
    states, plain = [], Asking.assist

    def spy(self, state):
        states.append(jax.tree.map(np.copy, state))
        return plain(self, state)

    monkeypatch.setattr(Asking, "assist", spy)
    return states


def requests_of(records, runs, horizon):
    """Play ``Asking`` again in plain Python: the number of its requests, per run."""
    with jax.enable_x64(True):
        key = jax.random.key(7)
        found = []
        for run in runs:
            own = jax.random.fold_in(key, jnp.uint32(run))
            _, policy_key = jax.random.split(
                jax.random.fold_in(own, jnp.uint32(2**32 - 1))
            )
            state = Asking().init(policy_key, 4, horizon)
            found.append(int(state.patience))
    counts = []
    for run, patience in zip(runs, found, strict=True):
        played, asked, events = 0, 0, 0
        while played < horizon:
            if events % patience == 0:
                asked += 1
            played += asked + 1
            events += 1
        assert records.events[run - runs.start] == events
        counts.append(asked)
    return counts


def test_exactly_the_lanes_that_ask_are_served(served):
    records = simulate_runs(Asking(), shuffle=False, num_lanes=5)
    assert records.finished.all()
    assert all(bool(state.waiting) for state in served)
    counts = requests_of(records, RUNS, CHECKPOINTS[-1])
    assert len(served) == sum(counts)
    # The help was used: a run that was served c times has stretches of c rounds.
    assert len({*counts}) > 5


def test_help_does_not_depend_on_company_or_segments(monkeypatch):
    reference = simulate_runs(Asking(), shuffle=False, num_lanes=5)
    same(simulate_runs(Asking(), shuffle=False), reference)
    monkeypatch.setattr(simulator, "_SEGMENT_SECONDS", 1e-9)
    same(simulate_runs(Asking(), shuffle=False), reference)
    part = simulate_runs(Asking(), shuffle=False, runs=range(9, 20), num_lanes=3)
    same(part, reference, pick_other=slice(9, 20))


# Running out of event numbers


@pytest.mark.parametrize("num_lanes", [1, 8, 48])
def test_event_limit_names_run_and_round(wandering, num_lanes, monkeypatch):
    """The first run that needs too many, and the round at which it stopped."""
    limit = int(np.median(wandering.events))
    monkeypatch.setattr(simulator, "EVENT_LIMIT", limit)
    monkeypatch.setattr(simulator, "_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(simulator, "_PATIENCE", 0.0)
    runs = range(3, 3 + len(RUNS))
    slow = int(np.flatnonzero(wandering.events[3:] > limit)[0]) + 3
    with pytest.raises(SimulationError) as raised:
        simulate_runs(Wanderer(), runs=runs, num_lanes=num_lanes)
    text = str(raised.value)
    assert f"run {slow} stopped at round " in text
    assert f"after {limit} events" in text
    assert "look-ahead" in text
    # Its round: after so many events, by the same run with a horizon that it reaches.
    stopped = int(text.split("round ")[1].split()[0])
    monkeypatch.undo()
    reached = simulate_runs(
        Wanderer(), runs=range(slow, slow + 1), checkpoints=(stopped - 1,), num_lanes=8
    )
    assert reached.events.tolist() == [limit]


def test_a_run_that_needs_every_event_number_finishes(wandering, monkeypatch):
    most = int(wandering.events.max())
    monkeypatch.setattr(simulator, "EVENT_LIMIT", most)
    same(simulate_runs(Wanderer()), wandering)
    monkeypatch.setattr(simulator, "EVENT_LIMIT", most - 1)
    with pytest.raises(SimulationError, match=f"run {wandering.events.argmax()} "):
        simulate_runs(Wanderer())


def test_a_stuck_run_is_named_after_lanes_were_packed(wandering, monkeypatch):
    """Its lane is idle, but must not be given up: it knows the round."""
    first = int(np.argmax(wandering.events))
    settings = {"runs": range(first, first + len(RUNS)), "num_lanes": 8}
    events = simulate_runs(Wanderer(), **settings).events
    limit = int(events[0]) - 1
    assert np.count_nonzero(events > limit) < 4, "the other lanes play on"
    sizes, plain = [], simulator._pack

    def spy(carry, *others):
        sizes.append(carry.lanes.run.shape[0])
        return plain(carry, *others)

    monkeypatch.setattr(simulator, "EVENT_LIMIT", limit)
    monkeypatch.setattr(simulator, "_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(simulator, "_PATIENCE", 0.0, raising=False)
    monkeypatch.setattr(simulator, "_FEW_LANES", 1)
    monkeypatch.setattr(simulator, "_pack", spy)
    with pytest.raises(SimulationError, match=f"run {first} .* after {limit} events"):
        simulate_runs(Wanderer(), **settings)
    assert {*sizes} == {8}, "never packed while a run is stuck"


# JAX as the user has set it


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_global_changes(fails, monkeypatch):
    before = dict(jax.config.values)
    if fails:
        monkeypatch.setattr(simulator, "EVENT_LIMIT", 2)
        with pytest.raises(SimulationError):
            simulate_runs(Wanderer())
    else:
        simulate_runs(Wanderer())
    assert dict(jax.config.values) == before
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(1.5).dtype == jnp.float32
    assert jnp.arange(2).dtype == jnp.int32


def test_a_thread_gives_the_same_runs(wandering):
    """64 bit is switched on in the thread that simulates, and only there."""
    found, dtypes = [], []
    worker = threading.Thread(target=lambda: found.append(simulate_runs(Wanderer())))

    def on_progress(share):
        other = threading.Thread(target=lambda: dtypes.append(jnp.ones(1).dtype))
        other.start()
        other.join()

    simulate_runs(Wanderer(), on_progress=on_progress)
    worker.start()
    worker.join()
    same(found[0], wandering)
    assert {*dtypes} == {np.dtype(np.float32)}


def test_a_user_with_64_bits_gets_the_same_runs(wandering):
    with jax.enable_x64(True):
        same(simulate_runs(Wanderer()), wandering)


@pytest.mark.parametrize("policy", [Wanderer(bulk=3), Asking(), Scripted()], ids=repr)
def test_strict_dtypes_and_keys(policy, strict_jax):
    """Nothing mixes dtypes or uses a key twice; both are checked in tracing."""
    with jax.enable_x64(True):
        problem = simulator._problem(
            PairwiseEnvironment(CONDORCET), policy, RUNS, np.array([10, 30]), 7
        )
        jax.jit(lambda run: one_run(problem, run)).lower(jnp.int32(0))
        # The check of keys stumbles over a batch of them (a bug of JAX 0.12).
        with jax.debug_key_reuse(False):
            carry = simulator.start.lower(problem, 6, 4).out_info
            simulator.play_segment.lower(problem, carry, np.int64(9), num_runs=6)


def one_run(problem, run):
    lane, _ = event_loop._event(problem, event_loop._new_lane(problem, run))
    key = jax.random.fold_in(lane.key, lane.event)
    return problem.policy.recommend(key, lane.policy)


STEPPED_FOR_LONG = {"beat-the-mean", "interleaved-filter", "savage", "savage-copeland"}
"""Policies that look ahead only after millions of rounds that they step through."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in sorted(set(policies.names()) - STEPPED_FOR_LONG)
        if getattr(policies.get(name), "look_ahead", False)
    ],
)
def test_registered_policies_far_out(name):
    """The floats of real policies do not depend on the number of lanes either.

    An event in lane 3 of 8 is computed by other vector instructions than one alone.
    """
    policy, part = policies.get(name), range(2, 9)
    grid = (100, 10**4, 10**6, 10**8)
    matrix = bayesduel_matrix()
    whole, other = (
        simulate_runs(policy, matrix, checkpoints=grid, runs=runs, num_lanes=num_lanes)
        for num_lanes, runs in ((16, range(16)), (3, part))
    )
    same(other, whole, pick_other=slice(part.start, part.stop))


def bayesduel_matrix():
    import bayesduel

    return bayesduel.load("mslr5-condorcet").values
