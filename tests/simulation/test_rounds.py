"""The loop over rounds, of policies in NumPy: in Python and compiled, and in bulk."""

import inspect
import sys
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import bayesduel
from bayesduel import Duel
from bayesduel.errors import PolicyParameterError, SimulationError
from bayesduel.ops.code_digest import code_digest, functions_digest
from bayesduel.policies import WithoutSelfDuels
from bayesduel.policies.policy_around import Manner
from bayesduel.simulation import compiled_rounds, rounds
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.rule_runs import run_chunk as run_rule
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.driving import assert_same
from tests.rules import ExploreFirst, FirstPair, Greedy, next_pair

FALSE_ALARM = 1e-6

LATE = (1, 7, 30, 31, 100, 1000)


def matrix(num_arms, seed=0):
    upper = np.triu(np.random.default_rng(seed).uniform(size=(num_arms, num_arms)), 1)
    return upper + np.tril(1 - upper.T, -1) + np.eye(num_arms) / 2


def played(policy, num_arms=4, *, checkpoints=LATE, runs=range(6), shuffle=True):
    environment = PairwiseEnvironment(matrix(num_arms), shuffle=shuffle)
    options = {"runs": runs, "checkpoints": np.array(checkpoints), "seed": 5}
    return run_chunk(environment, policy, **options)


def test_compiled_runs_are_those_of_python():
    for num_arms in (2, 5):
        plain, compiled = (
            played(ExploreFirst(compiled=flag), num_arms) for flag in (False, True)
        )
        assert_same(plain, compiled)
        assert len(np.unique(plain.ledger["plays"][:, -1], axis=0)) > 1


@pytest.mark.slow
def test_the_example_of_the_documentation_compiles_as_it_stands():
    plain, compiled = (played(Greedy(compiled=item), 3) for item in (0, 1))
    assert_same(plain, compiled)


def test_every_round_is_counted_up_to_every_checkpoint():
    for policy in (ExploreFirst(), Greedy(), FirstPair()):
        plays = played(policy).ledger["plays"]
        assert np.array_equal(plays.sum(axis=(2, 3)), np.tile(LATE, (6, 1)))
        assert not np.tril(plays, -1).any()


@pytest.mark.parametrize("compiled", [False, True])
def test_runs_depend_on_seed_and_number_alone(compiled):
    # Compiled the program of the test above.
    manner = "stay" if compiled else "ask again"
    policy = ExploreFirst(manner=manner, compiled=compiled)
    whole = played(policy).ledger["plays"]
    later = played(policy, runs=range(4, 6)).ledger["plays"]
    assert np.array_equal(whole[4:], later)
    coarse = played(policy, checkpoints=(31, 1000)).ledger["plays"]
    assert np.array_equal(whole[:, [3, 5]], coarse)


def test_a_stretch_is_cut_at_checkpoints_and_at_the_horizon():
    records = played(ExploreFirst(rounds=30), checkpoints=(30, 100, 1000))
    idle = np.diff(records.ledger["plays"], axis=1)
    best = records.recommendation
    for run, arm in enumerate(best):
        assert idle[run, :, arm, arm].tolist() == [70, 900]
        assert idle[run].sum() == 970
    assert np.array_equal(records.events, np.full(6, 31))


class BeyondTheEnd(bayesduel.Policy):
    """Ask for a stretch that passes any horizon, with a duel behind it."""

    def start(self, problem, rng):
        return {"told": []}

    def choose(self, state, rng, round_):
        idle = 3 if round_ == 1 else 10**6
        return Duel(0, idle, 1, 2)

    def update(self, state, rng, round_, first, second, won):
        state["told"].append(round_)

    def recommend(self, state, rng):
        return len(state["told"])


@pytest.mark.parametrize(("horizon", "reported"), [(3, 0), (4, 1), (5, 1), (50, 1)])
def test_nothing_is_played_or_told_behind_the_horizon(horizon, reported):
    """The duel behind a stretch is played where the stretch ends before the end."""
    policy = BeyondTheEnd()
    records = played(policy, checkpoints=(1, horizon), runs=range(2), shuffle=False)
    assert records.recommendation.tolist() == [reported] * 2
    plays = records.ledger["plays"][:, -1]
    assert (plays[:, 1, 2] == reported).all() and (
        plays.sum(axis=(1, 2)) == horizon
    ).all()


def test_who_waits_for_the_host_is_told_the_rest_afterwards(monkeypatch):
    """One outcome of three at a time, and none of them twice or never."""
    state: dict[str, Any] = {"waits": False, "told": []}

    class Waiting(FirstPair):
        def update(self, state, rng, round_, first, second, won):
            state["told"].append((round_, first, second, won))
            state["waits"] = True

    monkeypatch.setattr(rounds, "is_waiting", lambda state: state["waits"])
    monkeypatch.setattr(rounds, "recall", lambda *given: None)
    progress = rounds.new_progress(1)[0]
    progress[rounds.WAITING] = 3
    reports = np.array([[4, 0, 1, 1, 1, 0], [5, 1, 2, 0, 1, 0], [6, 2, 0, 1, 1, 0]])
    given = Waiting(), state, np.random.default_rng(0), reports, progress
    expected = [(4, 0, 1, True), (5, 1, 2, False), (6, 2, 0, True)]
    for number in (1, 2, 3, 3):
        state["waits"] = False
        rounds.tell(*given)
        assert state["told"] == expected[:number]
    assert progress[rounds.WAITING] == progress[rounds.REPORTED] == 0


def test_arms_and_their_preferences_are_relabeled_unless_told_otherwise():
    """Every arm beats all later ones for sure, whatever its position is."""
    sure = np.triu(np.ones((4, 4)), 1) + np.eye(4) / 2
    given = {"runs": range(1200), "checkpoints": np.array([1]), "seed": 0}
    fixed, shuffled = (
        run_chunk(PairwiseEnvironment(sure, shuffle=shuffle), FirstPair(), **given)
        for shuffle in (False, True)
    )
    assert np.all(fixed.ledger["plays"][:, 0, 0, 1] == 1)
    assert np.all(fixed.recommendation == 0)
    run, first, second = np.nonzero(shuffled.ledger["plays"][:, 0])
    assert len(run) == 1200 and np.all(first < second)
    assert np.array_equal(shuffled.recommendation, first)
    counts = np.unique(4 * first + second, return_counts=True)[1]
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > FALSE_ALARM


def test_answers_come_with_the_probabilities_of_the_matrix():
    records = played(FirstPair(), checkpoints=(1,), runs=range(3000), shuffle=False)
    wins = int(np.sum(records.recommendation == 0))
    expected = matrix(4)[0, 1]
    assert 0.1 < expected < 0.9
    assert stats.binomtest(wins, 3000, expected).pvalue > FALSE_ALARM


class Wrong(FirstPair):
    """Return something else in round 3, or write past the end of the state."""

    what: int = 0

    def choose(self, last, rng, round_):
        if round_ < 3:
            return Duel(0, 0, 0, 1, 1)
        if self.what == 0:
            return Duel(0, 0, 0, 4, 1)
        if self.what == 1:
            return Duel(-1, 0, 0, 1, 1)
        if self.what == 2:
            return Duel(0, -5, 0, 1, 1)
        return Duel(0, 0, 0, 1, 2 if self.what == 3 else -1)

    def update(self, last, rng, round_, first, second, won):
        last[round_ if self.what == 5 else 0] = 1

    def recommend(self, last, rng):
        return 9


@pytest.mark.parametrize("compiled", [False, True])
def test_what_cannot_be_played_is_named_with_round_and_run(compiled):
    said = (
        r"choose named the arm 4; arms are numbered 0 to 3 \(round 3 of run 2\)",
        r"choose named the arm -1; .* \(round 3 of run 2\)",
        r"choose asked for -5 idle rounds; .* \(round 3 of run 2\)",
        r"asked for 2 rounds of a pair; .* \(round 3 of run 2\)",
        r"asked for -1 rounds of a pair; .* \(round 3 of run 2\)",
    )
    for what, text in enumerate(said):
        with pytest.raises(SimulationError, match=text):
            played(Wrong(what=what, compiled=compiled), runs=range(2, 4))
    with pytest.raises(SimulationError, match="recommend named the arm 9; arms are"):
        played(Wrong(compiled=compiled), checkpoints=(2,))


class Raising(FirstPair):
    def choose(self, last, rng, round_):
        if round_ == 30:
            raise KeyError(round_)
        return 0, 1


def test_an_error_of_the_policy_is_raised_with_round_and_run():
    with pytest.raises(KeyError) as caught:
        played(Raising(), runs=range(3, 5))
    (note,) = caught.value.__notes__
    line = inspect.getsourcelines(Raising.choose)[1] + 2
    where = "raised by Raising in round 30 of run 3, test_rounds.py, line"
    assert note == f"{where} {line}"


class Stuck(FirstPair):
    def choose(self, last, rng, round_):
        return Duel(0, 0, 0, 1, round_ < 4)


@pytest.mark.parametrize("policy", [Stuck(), WithoutSelfDuels(Stuck())])
def test_a_rule_that_plays_no_round_is_not_asked_for_ever(policy):
    with pytest.raises(SimulationError, match=r"no round, .* \(round 4 of run 0\)"):
        played(policy)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_index_outside_of_the_state_is_an_error(compiled):
    with pytest.raises(IndexError):
        played(Wrong(what=5, compiled=compiled))


def altered(compiled=False, **names):
    """Return the rule that plays the first pair, but for some of its methods."""
    return type("Odd", (FirstPair,), names)(compiled=compiled)


TRIPLE = {"choose": lambda self, last, rng, round_: (0, 1, 2)}
HALVES = {"choose": lambda self, last, rng, round_: (0.5, 1)}
VAGUE = {"recommend": lambda self, last, rng: 1.5}
UNKNOWN = {"recommend": lambda self, last, rng: open("x")}
CALLING = {"choose": lambda self, last, rng, round_: (self.helper(), 1),
           "helper": lambda self: 0}  # fmt: skip
LISTED = {"table": ({},), "__annotations__": {"table": tuple}}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (altered(**TRIPLE), "must return a pair of arms, or a Duel, got (0, 1, 2)"),
        (altered(**HALVES), "must return a pair of arms, or a Duel, got (0.5, 1)"),
        (altered(**VAGUE), "recommend must return an arm, got 1.5"),
        (altered(True, **VAGUE), "recommend must return an arm, got something"),
        (altered(True, **TRIPLE),
         "must return a pair of arms, or a Duel, got something"),
        (altered(True, **CALLING), "reads self.helper, which is no field"),
        (altered(True, **UNKNOWN), "leave out compiled=True"),
        (altered(True, **LISTED), "table must be a number, a word or an array"),
    ],
)  # fmt: skip
def test_what_is_no_rule_is_said(policy, said):
    with pytest.raises(PolicyParameterError) as caught:
        played(policy)
    assert said in str(caught.value)


def test_what_a_compiled_rule_may_not_do_python_may():
    for names in (CALLING, LISTED):
        assert_same(played(altered(**names)), played(FirstPair()))


class Counts(NamedTuple):
    won: np.ndarray
    last: np.ndarray


FEW = 20


def better(counts, one, other):
    return one if counts.won[one] >= counts.won[other] else other


def best_from(counts, arm):
    """Return the best of an arm and those behind it; calls itself and another one."""
    if arm + 1 == len(counts.won):
        return arm
    return better(counts, arm, best_from(counts, arm + 1))


class Helped(ExploreFirst):
    """The same rule by helpers, with a named state and a constant."""

    def start(self, problem, rng):
        won = np.zeros(problem.num_arms, dtype=np.int64)
        return Counts(won, np.zeros(1, dtype=np.int64))

    def choose(self, counts, rng, round_):
        if round_ > FEW:
            best = best_from(counts, 0)
            return Duel(best, 10**6, best, best, False)
        return next_pair(counts, rng)

    def update(self, counts, rng, round_, first, second, won):
        before = Counts(counts.won.copy(), counts.last)
        counts.won[first if won else second] += 1
        counts.last[0] = best_from(before, 0)

    def recommend(self, counts, rng):
        return best_from(counts, 0)


@pytest.mark.slow
def test_plain_functions_are_compiled_with_the_rule():
    plain, compiled = (played(Helped(compiled=flag)) for flag in (False, True))
    assert_same(plain, compiled)
    assert np.array_equal(plain.events, np.full(6, FEW + 1))
    assert_same(plain, played(ExploreFirst(rounds=FEW)))
    # What is compiled are copies.
    assert isinstance(best_from, FunctionType)
    assert best_from.__globals__["better"] is better


def even(number):
    return number == 0 or odd(number - 1)


def odd(number):
    return number > 0 and even(number - 1)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(best_from, True), (odd, True), (better, False), (ExploreFirst.choose, False)],
)
def test_what_calls_itself_is_not_kept_on_disk(function, expected):
    """Read from disk, it would crash: so would this file at its second run."""
    assert compiled_rounds._calls_itself(function) is expected


def test_rules_are_kept_by_what_they_call_and_name(monkeypatch):
    def digest():
        return functions_digest([Helped.choose, Helped.update, Helped.recommend])

    one = digest()
    assert one == digest()
    here = sys.modules[__name__]
    changes = {
        "FEW": 21,
        "better": lambda counts, one, other: one,
        "Counts": NamedTuple("Counts", [("last", Any), ("won", Any)]),
    }
    for name, other in changes.items():
        with monkeypatch.context() as changed:
            changed.setattr(here, name, other)
            assert digest() != one, name
    # A function of ours, which the digest of a user's policy leaves out.
    with monkeypatch.context() as changed:
        changed.setattr(here, "next_pair", rounds.as_duel)
        before = digest(), code_digest(Helped)
        changed.setattr(rounds, "index", rounds.choose)
        assert digest() != before[0]
        assert code_digest(Helped) == before[1]


@pytest.mark.slow
def test_compiled_rules_are_kept_by_their_code(tmp_path, monkeypatch):
    def compiled_by(step):
        class Stepping(FirstPair):
            def update(self, last, rng, round_, first, second, won):
                last[0] += step

        best = played(Stepping(compiled=True), shuffle=False).recommendation
        files = tmp_path.rglob("rule-*/**/*.nbi")
        return {path.parent for path in files}, best[0]

    monkeypatch.setenv("BAYESDUEL_CACHE", str(tmp_path))
    one, none_won = compiled_by(0)
    assert (len(one), none_won) == (1, 0)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert compiled_by(0) == (one, 0)
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    with pytest.raises(SimulationError, match="recommend named the arm 1000"):
        compiled_by(1)


def test_compiling_does_without_private_places_of_numba(monkeypatch):
    index = "numba.np.random.generator_methods"
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, index, None)
        compiled_rounds._know_integers_below()
    assert_same(played(ExploreFirst(compiled=True)), played(ExploreFirst()))


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


def played_rule(policy, *, checkpoints=GRID, runs=range(6), matrix=MATRIX, **manner):
    environment = PairwiseEnvironment(matrix, shuffle=manner.pop("shuffle", True))
    return run_rule(
        environment, policy, runs=runs, checkpoints=np.array(checkpoints), seed=5,
        event_limit=10**6, segment_seconds=0.5, manner=Manner(**manner),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("manner", [{}, {"every": 16}, {"self_duels": False}])
def test_compiled_runs_in_bulk_are_those_of_python(manner):
    plain, compiled = (
        played_rule(Stretches(compiled=flag), **manner) for flag in (False, True)
    )
    assert_same(plain, compiled)
    plays = plain.ledger["plays"]
    assert plain.info.keys() == compiled.info.keys() == {"told", "rate"}
    for name, values in plain.info.items():
        assert values.shape == (6,)
        assert np.array_equal(values, compiled.info[name])
    assert np.array_equal(plays.sum(axis=(2, 3)), np.tile(GRID, (6, 1)))
    assert len(np.unique(plays[:, -1], axis=0)) == 6


def test_what_is_told_is_what_was_played():
    records = played_rule(Stretches())
    plays = records.ledger["plays"][:, -1]
    mine = np.trace(plays, axis1=1, axis2=2)
    assert np.array_equal(records.info["told"], plays.sum(axis=(1, 2)) - mine)
    assert records.info["told"].dtype == np.int64
    without = played_rule(Stretches(), self_duels=False)
    assert np.trace(without.ledger["plays"][:, -1], axis1=1, axis2=2).sum() == 0
    assert np.all(without.info["told"] == 1000)


class Once(Stretches):
    """Ask for the first pair, as many rounds as are allowed, after a few idle ones."""

    def choose(self, wins, rng, round_):
        return Duel(2, 5, 0, 1, self.longest)

    def info(self, wins):
        return {"won": wins[0, 1], "told": wins[0, 1] + wins[1, 0]}


def test_a_stretch_in_bulk_is_cut_at_checkpoints_and_at_the_horizon():
    records = played_rule(Once(longest=50), checkpoints=(20, 55, 70), shuffle=False)
    plays = records.ledger["plays"]
    assert plays[:, :, 2, 2].tolist() == [[5, 5, 10]] * 6
    assert plays[:, :, 0, 1].tolist() == [[15, 50, 60]] * 6
    assert records.info["told"].tolist() == [60] * 6
    assert records.events.tolist() == [2] * 6


def test_wins_have_the_distribution_of_duels_one_by_one():
    policy = Once(longest=20)
    records = played_rule(policy, checkpoints=(25,), runs=range(2000), shuffle=False)
    counts = np.bincount(records.info["won"], minlength=21)
    distribution = stats.binom(20, MATRIX[0, 1]).pmf(np.arange(21))
    few = distribution < 0.005
    counts = np.array([*counts[~few], counts[few].sum()])
    distribution = np.array([*distribution[~few], distribution[few].sum()])
    assert stats.chisquare(counts, 2000 * distribution).pvalue > FALSE_ALARM


def test_preferences_of_0_and_1_are_certain():
    sure = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])
    for matrix, won in ((sure, 2**61), (1 - sure, 0)):
        given = {"checkpoints": (5 + 2**61,), "matrix": matrix, "shuffle": False}
        records = played_rule(Once(longest=2**61), **given)
        assert records.info["won"].tolist() == [won] * 6


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
    played_rule(policy, checkpoints=(horizon,), runs=range(1), every=10)
    assert said == [notes]


def test_results_keep_what_a_rule_tells_of_its_runs():
    result = bayesduel.simulate(MATRIX, Stretches(), num_runs=3, horizon=100)
    reported = result["told"]
    assert reported.dims == ("run",)
    given = {"runs": range(3), "checkpoints": np.array([100]), "seed": 0}
    plain = run_chunk(PairwiseEnvironment(MATRIX), Stretches(), **given)
    assert reported.values.tolist() == plain.info["told"].tolist()


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
        played_rule(Changing())
