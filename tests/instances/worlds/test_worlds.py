"""Built-in worlds against slow twins in NumPy, written from their descriptions.

Tests of distributions raise a false alarm with a probability of at most 1e-4 each;
their seeds are fixed.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import bayesduel
import theory
from bayesduel.errors import ArgumentError
from bayesduel.instances.world import LAST_ROUND, check_world, costs_of
from bayesduel.instances.worlds import (
    Adversarial,
    Corrupted,
    Drifting,
    GinopContexts,
    LinearContexts,
    Piecewise,
    Pool,
    VacdbContexts,
)
from bayesduel.instances.worlds.costs import costs_of_arms
from bayesduel.instances.worlds.lookup import default_world, pair_world_names
from theory import PreferenceMatrix

FALSE_ALARM = 1e-4


def random_matrix(rng, num_arms):
    upper = np.triu(rng.random((num_arms, num_arms)), 1)
    return upper + np.tril(1 - upper.T, -1) + np.eye(num_arms) / 2


def twin_costs(values):
    """The cost of the arms, from the wins that ``theory`` counts."""
    matrix = PreferenceMatrix(values)
    return np.array(
        [
            min(
                max(values[w][i] - 0.5, 0.0) if w != i else 0.0
                for w in matrix.copeland_winners
            )
            for i in range(matrix.num_arms)
        ]
    )


def played(world, horizon, seed=0):
    """Yield each round with the probabilities and the regret of all pairs."""
    rng = np.random.default_rng(seed)
    state = world.start(horizon, rng)
    arms = range(world.num_arms)
    for round_ in range(1, horizon + 1):
        world.advance(state, rng, round_)
        share = np.array(
            [
                [
                    0.5 if i == j else world.probability(state, rng, round_, i, j)
                    for j in arms
                ]
                for i in arms
            ]
        )
        regret = {
            (i, j): costs_of(world, world.regret(state, round_, i, j))
            for i in arms
            for j in arms
        }
        yield round_, state, share, regret


def check_dynamic(share, regret):
    costs = twin_costs(share)
    for (i, j), item in regret.items():
        assert item["dynamic"] == pytest.approx((costs[i] + costs[j]) / 2, abs=1e-12)
        assert item["weak"] == pytest.approx(min(costs[i], costs[j]), abs=1e-12)


WORLDS = {
    "piecewise": Piecewise(num_arms=4, segments=3),
    "geometric": Piecewise(num_arms=3, segments=4, spacing="geometric"),
    "walk": Drifting(speed=0.1, num_arms=4),
    "line": Drifting(matrix="gap", to=bayesduel.load("gap").values[::-1, ::-1]),
    "cycle": Adversarial(
        table=[random_matrix(np.random.default_rng(s), 3) for s in (0, 0, 1, 2)]
    ),
    "hold": Adversarial(
        table=[random_matrix(np.random.default_rng(s), 3) for s in (0, 1, 1)],
        after="hold",
    ),
    "fresh": LinearContexts(num_arms=4),
    "fixed": GinopContexts(),
    "vacdb": VacdbContexts(link="probit"),
    "table": LinearContexts(num_arms=3, rows=np.arange(12.0).reshape(6, 2) / 6),
    "contexts": LinearContexts(
        num_arms=3, rows=np.random.default_rng(4).normal(size=(4, 3, 2))
    ),
    "pool": Pool(num_arms=4, first=2, every=20),
    "arrivals": Pool(
        matrix=random_matrix(np.random.default_rng(5), 3), arrivals=[31, 1, 1]
    ),
    "corrupted": Corrupted(budget=3),
}


def test_every_world_of_the_package_is_among_them():
    kinds = {type(world) for world in WORLDS.values()}
    assert kinds >= {type(default_world(name)) for name in pair_world_names()}


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_changes_up_to_the_round_it_says(name):
    """And every form of the world passes the check, with complementary entries."""
    world = WORLDS[name]
    notions = check_world(world, 60)
    assert notions == tuple(world.notions)
    if world.defines("answer"):
        return
    last, before = 0, None
    for round_, state, share, regret in played(world, 60):
        assert np.all((share >= 0) & (share <= 1))
        assert np.allclose(share + share.T, 1, atol=1e-12)
        if round_ <= last:
            assert np.array_equal(share, before[0]) and regret == before[1]
        else:
            last, before = world.unchanged_until(state, round_), (share, regret)
            assert round_ <= last <= LAST_ROUND


@pytest.mark.parametrize(
    "name",
    [
        item if item == "table" else pytest.param(item, marks=pytest.mark.slow)
        for item in WORLDS
        if item != "corrupted"
    ],
)
def test_compiled_methods_give_the_same_digits(name):
    """Numba compiles the methods as they are, and draws the same numbers."""
    from bayesduel.simulation.compiled_rounds import _with_helpers

    world = WORLDS[name]
    made = {}
    compiled = {
        method: _with_helpers(getattr(type(world), method), made, {})
        for method in ("advance", "unchanged_until", "probability", "regret")
        if world.defines(method)
    }
    record = record_of(world)
    one, two = np.random.default_rng(7), np.random.default_rng(7)
    state, twin = world.start(40, one), world.start(40, two)
    for round_ in range(1, 41):
        world.advance(state, one, round_)
        if "advance" in compiled:
            compiled["advance"](record, twin, two, round_)
        last = world.unchanged_until(state, round_)
        if "unchanged_until" in compiled:
            assert compiled["unchanged_until"](record, twin, round_) == last
        share = world.probability(state, one, round_, 0, 1)
        assert compiled["probability"](record, twin, two, round_, 0, 1) == share
        regret = world.regret(state, round_, 2, 1)
        assert np.array_equal(compiled["regret"](record, twin, round_, 2, 1), regret)
    assert one.random() == two.random()


def record_of(world):
    from bayesduel.simulation.compiled_rounds import parameters_record

    return parameters_record(world)


def test_costs_of_arms_are_those_of_the_winners():
    rng = np.random.default_rng(1)
    without_winner, compiled = 0, njit(costs_of_arms)
    for num_arms in (2, 3, 4, 5, 6) * 8:
        values = random_matrix(rng, num_arms)
        without_winner += PreferenceMatrix(values).condorcet_winner is None
        assert np.allclose(costs_of_arms(values), twin_costs(values), atol=1e-15)
        assert np.array_equal(compiled(values), costs_of_arms(values))
    assert without_winner > 5
    sure = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])
    assert costs_of_arms(sure).tolist() == [0, 0.5, 0.5]
    assert costs_of_arms(np.full((3, 3), 0.5)).tolist() == [0, 0, 0]


# --- piecewise ------------------------------------------------------------------------


def test_matrices_hold_from_their_rounds_on():
    rng = np.random.default_rng(2)
    matrices = [random_matrix(rng, 3) for _ in range(3)]
    world = Piecewise(matrices=matrices, changes=[4, 9])
    for round_, state, share, regret in played(world, 20):
        segment = (round_ >= 4) + (round_ >= 9)
        assert np.allclose(share, matrices[segment])
        check_dynamic(share, regret)
        ends = (3, 8, LAST_ROUND)
        assert world.unchanged_until(state, round_) == ends[segment]


def test_rounds_that_are_skipped_do_not_matter():
    world = Piecewise(num_arms=3, segments=4)
    rng = np.random.default_rng(0)
    state = world.start(400, rng)
    for round_ in (1, 150, 399):
        world.advance(state, rng, round_)
    assert world.unchanged_until(state, 399) == LAST_ROUND
    assert np.array_equal(state[0][state[3][0]], world.segment_matrices[3])


@pytest.mark.parametrize("spacing", ["even", "geometric"])
@pytest.mark.parametrize(("horizon", "segments"), [(10, 10), (1000, 7), (10**6, 10)])
def test_segments_cover_the_horizon(spacing, horizon, segments):
    world = Piecewise(segments=segments, spacing=spacing)
    starts = world.segment_starts(horizon)
    lengths = np.diff([*starts, horizon + 1])
    assert starts[0] == 1 and len(starts) == segments and lengths.min() >= 1
    if spacing == "even":
        assert lengths.max() - lengths.min() <= 1
    elif horizon == 10**6:
        ratios = lengths[3:] / lengths[2:-1]
        assert np.allclose(ratios, 10**0.6, rtol=0.2)


@pytest.mark.parametrize("delta", [0.05, 0.3, 0.55])
@pytest.mark.parametrize("num_arms", [3, 6])
def test_random_segments_obey_their_description(num_arms, delta):
    for seed in range(20):
        world = Piecewise(num_arms=num_arms, segments=6, delta=delta, seed=seed)
        winners = []
        for values in world.segment_matrices:
            matrix = PreferenceMatrix(values)
            winner = matrix.condorcet_winner
            winners.append(winner)
            assert np.delete(values[winner], winner).min() == pytest.approx(0.55)
        for s in range(1, 6):
            assert winners[s] != winners[s - 1]
            old, new = world.segment_matrices[s - 1 : s + 1]
            moves = np.abs(new - old)[winners[s - 1]]
            assert np.any(np.isclose(moves, delta, atol=1e-12))


def test_entries_of_random_segments_are_uniform():
    """Count the first segment: those between losers, and all but one of the winner."""
    losers, wins = [], []
    for seed in range(400):
        values = Piecewise(num_arms=6, segments=1, seed=seed).segment_matrices[0]
        winner = PreferenceMatrix(values).condorcet_winner
        others = [arm for arm in range(6) if arm != winner]
        losers += [values[i, j] for i in others for j in others if i < j]
        wins += [values[winner, j] for j in others if values[winner, j] > 0.55]
    assert stats.kstest(losers, "uniform").pvalue > FALSE_ALARM
    scaled = (np.array(wins) - 0.55) / 0.45
    assert stats.kstest(scaled, "uniform").pvalue > FALSE_ALARM
    assert len(wins) == 400 * 4


def test_files_hold_segments(tmp_path):
    first, second = random_matrix(np.random.default_rng(0), 3), np.full((3, 3), 0.5)
    direct = Piecewise(matrices=[first, second], changes=[70])
    np.savetxt(tmp_path / "second.csv", second, delimiter=",")
    (tmp_path / "changes.toml").write_text(
        f"[[segments]]\nmatrix = {first.tolist()}\n"
        '[[segments]]\nstart = 70\nmatrix = "./second.csv"\n'
    )
    np.savez(tmp_path / "changes.npz", matrices=[first, second], changes=[70])
    for name in ("changes.toml", "changes.npz"):
        world = bayesduel.load(f"piecewise:file={tmp_path / name}")
        assert world.checksum == direct.checksum
        assert world.label == f"piecewise:file={tmp_path / name}"
        assert (world.num_arms, world.segment_starts(10).tolist()) == (3, [1, 70])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"matrices": ["gap", "arithmetic"], "changes": [5]}, "matrices of one size"),
        ({"matrices": ["gap", "gap"], "changes": [1]}, "changes"),
        ({"matrices": ["gap", "gap"]}, "must be 1 rounds for 2 matrices"),
        ({"matrices": ["gap"] * 3, "changes": [9, 9]}, "above the round before it, 9"),
        ({"changes": [9]}, "needs matrices"),
        ({"delta": 0.56}, "delta must be in"),
        ({"num_arms": 2}, "num_arms must be"),
        ({"spacing": "odd"}, "even, geometric"),
        ({"num_arms": 1000, "segments": 11}, "segments must be"),
        ({"seed": -1}, "seed must be"),
        ({"matrices": [[[0.5, 0.9], [0.2, 0.5]]]}, "must be 1 within"),
        ({"file": "nowhere.txt2"}, "nowhere"),
    ],
)
def test_what_piecewise_refuses(arguments, words):
    with pytest.raises((ArgumentError, OSError), match=words):
        Piecewise(**arguments)


def test_more_segments_than_rounds_are_refused():
    with pytest.raises(ArgumentError, match="segments must be at most the horizon, 9"):
        Piecewise().start(9, np.random.default_rng(0))


def test_guarantees_are_those_of_the_matrices():
    order = bayesduel.load("arithmetic").values
    one = Piecewise(matrices=[order])
    same = Piecewise(matrices=[order, order * 0.5 + 0.25], changes=[5])
    fixed, winner, known = "fixed preferences", "a Condorcet winner", "a known horizon"
    assert set(one.guarantees) == {fixed, winner, known}
    assert set(same.guarantees) == {winner, known}
    assert set(Piecewise().guarantees) == {known}
    assert set(Piecewise(matrices=["non-condorcet-cyclic"]).guarantees) == {
        fixed,
        known,
    }


# --- drifting -------------------------------------------------------------------------


def test_a_line_goes_from_one_matrix_to_the_other():
    first, last = (random_matrix(np.random.default_rng(s), 3) for s in (3, 4))
    world = Drifting(matrix=first, to=last)
    for round_, _, share, regret in played(world, 11):
        assert np.allclose(share, first + (round_ - 1) / 10 * (last - first))
        check_dynamic(share, regret)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_a_walk_has_the_law_of_a_reflected_normal_number(margin):
    """Reflection is symmetric: a reflected sum is the sum of reflected steps."""
    first = np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.5], [0.7, 0.5, 0.5]])
    world = Drifting(matrix=first, speed=0.15, margin=margin)
    steps, entries = 9, []
    for seed in range(500):
        *_, (_, _, share, _) = played(world, steps + 1, seed)
        entries.append([share[0, 1], share[0, 2], share[1, 2]])
    rng = np.random.default_rng(99)
    low, width = margin, 1 - 2 * margin
    for column, start in zip(np.transpose(entries), (0.7, 0.3, 0.5), strict=True):
        free = start + 0.15 * math.sqrt(steps) * rng.standard_normal(4000)
        # A triangle wave.
        expected = low + width * np.abs(
            (free - low) / width - 2 * np.round((free - low) / width / 2)
        )
        assert stats.ks_2samp(column, expected).pvalue > FALSE_ALARM


def test_walks_start_uniformly_in_each_run():
    world = Drifting(num_arms=3, margin=0.1)
    values = [next(played(world, 5, seed))[2] for seed in range(400)]
    entries = [(value[0, 1] - 0.1) / 0.8 for value in values]
    assert stats.kstest(entries, "uniform").pvalue > FALSE_ALARM


def test_a_walk_costs_what_its_matrix_says():
    world, lost = Drifting(speed=0.2, num_arms=4), 0
    for _, _, share, regret in played(world, 40):
        check_dynamic(share, regret)
        lost += PreferenceMatrix(share).condorcet_winner is None
        assert min(value["dynamic"] for value in regret.values()) == 0
    assert lost > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"speed": -1}, "speed"),
        ({"margin": 0.5}, "margin"),
        ({"to": "gap"}, "needs a matrix of the same size"),
        ({"matrix": "gap", "to": "arithmetic"}, "needs a matrix of the same size"),
        ({"matrix": "arithmetic", "margin": 0.4}, "leave room"),
        ({"matrix": "drifting"}, "is a world, no preference matrix"),
    ],
)
def test_what_drifting_refuses(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        Drifting(**arguments)


# --- adversarial ----------------------------------------------------------------------


@pytest.mark.parametrize("after", ["cycle", "hold"])
@pytest.mark.parametrize("horizon", [1, 3, 4, 5, 11])
def test_a_table_equals_its_matrices(after, horizon):
    rng = np.random.default_rng(6)
    table = np.array([random_matrix(rng, 3) for _ in range(4)])
    world = Adversarial(table=table, after=after)
    in_order = [
        table[(t % 4) if after == "cycle" else min(t, 3)] for t in range(horizon)
    ]
    best = int(np.argmax(sum(item.sum(axis=1) for item in in_order)))
    assert world.best_arm(horizon) == best
    for round_, _, share, regret in played(world, horizon):
        matrix = in_order[round_ - 1]
        assert np.array_equal(share, matrix)
        for (i, j), result in regret.items():
            expected = (matrix[best, i] + matrix[best, j] - 1) / 2
            assert result == {"external": pytest.approx(expected)}


def test_tables_come_from_files(tmp_path):
    table = np.array([random_matrix(np.random.default_rng(s), 3) for s in range(4)])
    np.save(tmp_path / "a.npy", table)
    np.savez(tmp_path / "a.npz", matrices=table, rest=[1])
    np.savetxt(tmp_path / "a.csv", table.reshape(4, 9), delimiter=",", fmt="%.17g")
    for ending in ("npy", "npz", "csv"):
        world = bayesduel.load(f"adversarial:table={tmp_path / 'a.'}{ending}")
        assert world.checksum == Adversarial(table=table).checksum
    np.savetxt(tmp_path / "b.csv", np.zeros((2, 5)), delimiter=",")
    with pytest.raises(ArgumentError, match="K x K numbers in each row, got 5"):
        check_world(bayesduel.load(f"adversarial:table={tmp_path / 'b.csv'}"), 10)
    with pytest.raises(ArgumentError, match="write adversarial:table=FILE"):
        check_world(Adversarial(), 10)


def test_equal_matrices_are_one_stretch():
    up = np.array([[0.5, 0.9], [0.1, 0.5]])
    world = Adversarial(table=[up, up, up.T, up], after="hold")
    state = world.start(10, np.random.default_rng(0))
    assert [world.unchanged_until(state, t) for t in (1, 2, 3)] == [2, 2, 3]
    assert world.unchanged_until(state, 4) == LAST_ROUND
    still = Adversarial(table=[up, up])
    state = still.start(10, np.random.default_rng(0))
    assert still.unchanged_until(state, 1) == LAST_ROUND


# --- pool -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "world",
    [
        Pool(num_arms=5, first=3, every=4),
        Pool(matrix="cyclic", arrivals="1; 6;1;6"),
        Pool(matrix="gap", first=2, every=1),
    ],
    ids=["random", "given", "every round"],
)
def test_regret_is_against_the_best_arm_that_is_there(world):
    for seed in range(4):
        state = world.start(12, np.random.default_rng(seed))
        rounds = world.first_rounds(state)
        assert rounds.dtype == np.int64 and np.sum(rounds == 1) >= 2
        later = sorted(rounds[rounds > 1].tolist())
        if world.arrivals:
            assert rounds.tolist() == [1, 6, 1, 6]
        else:
            missing = range(1, world.num_arms - world.first + 1)
            assert later == [1 + world.every * item for item in missing]
        for round_, state, share, regret in played(world, 12, seed):
            there = np.flatnonzero(rounds <= round_)
            costs = twin_costs(share[np.ix_(there, there)])
            for i, one in zip(there, costs, strict=True):
                for j, two in zip(there, costs, strict=True):
                    result = regret[int(i), int(j)]
                    assert result["dynamic"] == pytest.approx((one + two) / 2)
                    assert result["weak"] == pytest.approx(min(one, two))
            last = min(
                (item - 1 for item in later if item > round_), default=LAST_ROUND
            )
            assert world.unchanged_until(state, round_) == last


def test_which_arms_arrive_is_random_and_so_are_utilities():
    world, counts, gaps = Pool(num_arms=6, first=2, scale=2.0), np.zeros((6, 5)), []
    for seed in range(600):
        state = world.start(10, np.random.default_rng(seed))
        values, rounds = state[0], world.first_rounds(state)
        counts[np.arange(6), (rounds - 1) // world.every] += 1
        gaps.append(math.log(values[0, 1] / values[1, 0]) / (2 * math.sqrt(2)))
    expected = 600 / 6 * np.array([2, 1, 1, 1, 1])
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert stats.chi2.sf(statistic, 20) > FALSE_ALARM
    assert stats.kstest(gaps, "norm").pvalue > FALSE_ALARM


def test_pools_have_names_and_guarantees(tmp_path):
    matrix = bayesduel.load("arithmetic").values
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",")
    text = f"pool:matrix={tmp_path / 'm.csv'},arrivals=1;1;1;1;9;9;9;50"
    world = bayesduel.load(text)
    same = Pool(matrix=matrix, arrivals=[1, 1, 1, 1, 9, 9, 9, 50])
    assert world.checksum == same.checksum and world.num_arms == 8
    assert world.checksum != Pool(matrix=matrix).checksum
    assert Pool(anew=True).checksum != Pool().checksum
    fixed, winner, known = "fixed preferences", "a Condorcet winner", "a known horizon"
    assert {*same.guarantees} == {*Pool().guarantees} == {fixed, winner, known}
    assert {*Pool(matrix="non-condorcet-cyclic").guarantees} == {fixed, known}
    assert bayesduel.load("pool:first=3,anew=true").anew


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"first": 1}, "first must be"),
        ({"every": 0}, "every must be"),
        ({"scale": 0}, "scale must be"),
        ({"anew": 1}, "anew must be"),
        ({"num_arms": 1}, "num_arms must be"),
        ({"matrix": "gap", "arrivals": [1, 1]}, "must be the first rounds of"),
        ({"num_arms": 3, "arrivals": [1, 2, 2]}, "first rounds of 3 arms, two of them"),
        ({"num_arms": 3, "arrivals": [1, 1, 0]}, r"arrivals\[2\] must be"),
        ({"num_arms": 3, "arrivals": "1;1;x"}, r"arrivals\[2\] must be"),
        ({"arrivals": 5}, "arrivals must be a sequence"),
    ],
)
def test_what_pools_refuse(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        Pool(**arguments)


# --- corrupted ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["better", "any"])
def test_the_budget_is_used_up_exactly(kind):
    """The same coins without corruption tell which answers were turned."""
    matrix = bayesduel.load("arithmetic").values
    world = Corrupted(world=matrix, budget=40, kind=kind)
    coins, twin = np.random.default_rng(5), np.random.default_rng(5)
    state, turned = world.start(300, coins), []
    for round_ in range(1, 301):
        first, second = round_ % 7, (3 * round_ + 1) % 7
        if first == second:
            continue
        won = world.answer(state, coins, round_, first, second)
        honest = twin.random() < matrix[first, second]
        better = (matrix[first, second] > 0.5) == honest
        expected = len(turned) < 40 and (kind == "any" or better)
        assert (won != honest) == expected
        turned += [round_] * int(won != honest)
    assert len(turned) == 40 and state[1][0] == 0


def test_even_arms_have_no_better_one_and_sure_arms_do():
    ties = Corrupted(world=[[0.5, 0.5], [0.5, 0.5]], budget=5)
    rng = np.random.default_rng(0)
    state = ties.start(50, rng)
    for round_ in range(50):
        ties.answer(state, rng, round_, 0, 1)
    assert state[1][0] == 5
    sure = Corrupted(world=[[0.5, 1.0], [0.0, 0.5]], budget=5)
    state = sure.start(50, rng)
    assert [sure.answer(state, rng, t, 0, 1) for t in range(7)] == [False] * 5 + [
        True
    ] * 2
    state = sure.start(50, rng)
    assert [sure.answer(state, rng, t, 1, 0) for t in range(7)] == [True] * 5 + [
        False
    ] * 2


def test_regret_is_that_of_the_world_inside():
    matrix = bayesduel.load("arithmetic")
    world = Corrupted(world=matrix)
    for notion in ("copeland", "condorcet_mean", "weak"):
        table = matrix.regret_per_pair(notion)
        state = world.start(9, np.random.default_rng(0))
        assert world.regret(state, 1, 2, 3)[notion] == table[2, 3]
    around = Corrupted(world=Drifting(num_arms=3))
    state = around.start(9, np.random.default_rng(1))
    inner = Drifting(num_arms=3)
    same = inner.start(9, np.random.default_rng(1))
    assert around.regret(state, 1, 0, 2) == inner.regret(same, 1, 0, 2)
    assert around.notions == inner.notions
    assert Corrupted(world=GinopContexts()).arm_features.shape == (30, 10)
    assert not Corrupted(world="gap").defines("features")
    assert Corrupted(world=LinearContexts()).defines("features")


# --- linear contexts ------------------------------------------------------------------


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("contexts", ["fresh", "fixed"])
def test_utilities_are_linear_in_the_features_of_the_round(contexts, link):
    world = LinearContexts(contexts=contexts, link=link, num_arms=4, length=3.0)
    law = stats.logistic if link == "logistic" else stats.norm
    assert np.linalg.norm(world.theta) == pytest.approx(3)
    rng, seen = np.random.default_rng(0), []
    for round_, state, share, regret in played(world, 6):
        features = world.features(state, rng, round_)
        utilities = features @ world.theta
        gaps = utilities[:, None] - utilities
        assert np.allclose(share, law.cdf(gaps), atol=1e-12)
        for (i, j), item in regret.items():
            mean = utilities.max() - (utilities[i] + utilities[j]) / 2
            weak = utilities.max() - max(utilities[i], utilities[j])
            assert item == pytest.approx(
                {"utility_mean": mean, "utility_sum": 2 * mean, "utility_weak": weak}
            )
        seen.append(features.copy())
    fixed = all(np.array_equal(entry, seen[0]) for entry in seen)
    assert fixed == (contexts == "fixed")
    if fixed:
        assert np.array_equal(world.arm_features, seen[0])


def test_the_generator_of_ginop():
    features = GinopContexts(seed=1).arm_features
    assert np.allclose(np.abs(features), 1 / math.sqrt(10))
    assert np.linalg.norm(GinopContexts(seed=1).theta) == pytest.approx(2)
    signs = np.concatenate([GinopContexts(seed=s).arm_features > 0 for s in range(40)])
    plus = int(signs.sum())
    assert stats.binomtest(plus, signs.size).pvalue > FALSE_ALARM


def test_the_generator_of_vacdb():
    world = VacdbContexts(seed=2)
    assert np.count_nonzero(world.theta[:2]) == 2 and not world.theta[2:].any()
    assert np.linalg.norm(world.theta) == pytest.approx(1)
    rng = np.random.default_rng(0)
    state = world.start(100, rng)
    noise = []
    for round_ in range(1, 31):
        world.advance(state, rng, round_)
        features = world.features(state, rng, round_)
        noise.append(np.where(features > 0, features - 1, features + 1).ravel())
    assert (
        stats.kstest(np.concatenate(noise), stats.uniform(-0.1, 0.1).cdf).pvalue
        > FALSE_ALARM
    )


def test_directions_on_the_sphere_are_uniform():
    """In three dimensions a coordinate of a random direction is uniform in [-1, 1]."""
    world = LinearContexts(num_arms=200, num_features=3)
    rng = np.random.default_rng(0)
    state = world.start(10, rng)
    world.advance(state, rng, 1)
    features = world.features(state, rng, 1)
    assert np.allclose(np.linalg.norm(features, axis=1), 1)
    for column in features.T:
        assert stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue > FALSE_ALARM


def test_rows_of_a_table_are_different_and_uniform(tmp_path):
    np.savetxt(tmp_path / "rows.csv", np.arange(10.0).reshape(5, 2), delimiter=",")
    world = bayesduel.load(f"linear-contexts:num_arms=3,rows={tmp_path / 'rows.csv'}")
    assert world.num_features == 2
    rng, counts = np.random.default_rng(0), np.zeros(5)
    state = world.start(10, rng)
    for round_ in range(1, 2001):
        world.advance(state, rng, round_)
        rows = (world.features(state, rng, round_)[:, 0] / 2).astype(int)
        assert len({*rows}) == 3
        counts[rows] += 1
    # Rows of a round are different: the variance is 2000 p (1 - p), chi-square with
    # a factor of (n - 1) / (n - k).
    statistic = ((counts - 1200) ** 2 / 1200).sum() * 4 / 2
    assert stats.chi2.sf(statistic, 4) > FALSE_ALARM


def test_every_round_draws_one_context_of_a_table():
    world = WORLDS["contexts"]
    assert world.num_features == 2
    rng, counts = np.random.default_rng(0), np.zeros(4)
    state = world.start(10, rng)
    for round_ in range(1, 2001):
        world.advance(state, rng, round_)
        features = world.features(state, rng, round_)
        context = [np.array_equal(features, rows) for rows in world.rows]
        assert sum(context) == 1
        counts[context.index(True)] += 1
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_the_lower_bound_of_features_that_are_known(link):
    """In units of the world, whose probit has no factor sqrt(2)."""
    law = stats.logistic if link == "logistic" else stats.norm
    world = LinearContexts(
        num_arms=2, rows=[[[0.0], [1.0]], [[0.0], [0.4]]], link=link, length=1.5
    )
    # One coefficient: its sign is learnt from the cheapest pair of all contexts.
    rates = []
    for gap in 1.5 * np.array([1.0, 0.4]):
        p = law.cdf(gap)
        divergence = p * math.log(2 * p) + (1 - p) * math.log(2 * (1 - p))
        rates.append(gap / 2 / divergence)
    bounds = world.theory()
    assert bounds["utility_mean"] == pytest.approx(min(rates), rel=2e-6)
    assert bounds["utility_sum"] == pytest.approx(2 * min(rates), rel=2e-6)
    fixed = LinearContexts(contexts="fixed", num_arms=5, num_features=3, link=link)
    bounds = fixed.theory()
    unit = 1.0 if link == "logistic" else math.sqrt(2)
    known = theory.structured_lower_bound(
        unit * fixed.arm_features @ fixed.theta,
        "bradley-terry" if link == "logistic" else "thurstone",
        features=fixed.arm_features,
        cost="utility",
    )
    assert bounds["utility_mean"] == pytest.approx(known.value / unit, rel=2e-6)
    assert not LinearContexts(num_arms=5).theory()  # Features are new every time.
    signs = LinearContexts(contexts="fixed", rows="signs", num_features=1)
    assert not signs.theory()  # Tied.


def test_a_condorcet_winner_is_promised_where_there_is_one():
    promised = 0
    for seed in range(20):
        world = LinearContexts(
            contexts="fixed", rows="signs", num_features=2, seed=seed
        )
        utilities = world.arm_features @ world.theta
        best = np.sum(np.isclose(utilities, utilities.max()))
        assert ("a Condorcet winner" in world.guarantees) == (best == 1)
        promised += best == 1
    assert 0 < promised < 20
    assert world.guarantees[-1] == "a known horizon"
    assert VacdbContexts().guarantees == ("a known horizon",)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"contexts": "new"}, "fresh, fixed"),
        ({"rows": "cube"}, "sphere, signs, shifted-signs"),
        ({"rows": np.zeros((4, 2))}, "a row for each of the 10 arms"),
        ({"rows": np.zeros((4, 3, 2))}, r"shape \(C, 10, d\)"),
        (
            {"rows": np.ones((2, 3, 2)), "num_arms": 3, "contexts": "fixed"},
            "must be 'fresh' for a table of contexts",
        ),
        ({"length": 0}, "length"),
        ({"active": 9}, "active"),
    ],
)
def test_what_linear_contexts_refuse(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        LinearContexts(**arguments)
