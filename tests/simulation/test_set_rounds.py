"""The loop over rounds, of policies over subsets: in Python and compiled."""

import numpy as np
import pytest

from bayesduel.errors import PolicyParameterError, SimulationError
from bayesduel.instances import choice
from bayesduel.policies import Offer
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation.driver import run_chunk
from tests.policies.driving import assert_same
from tests.simulation.set_cases import RANKED, SHARES, TABLE, WINNER, WORLDS, Wandering

LATE = (1, 7, 30, 31, 100, 1000)


def played(policy, world=WINNER, *, checkpoints=LATE, runs=range(6), **options):
    options = {"notions": world.notions} | options
    grid = np.array(checkpoints)
    environment = SubsetEnvironment(world, **options)
    return run_chunk(environment, policy, runs=runs, checkpoints=grid, seed=5)


@pytest.mark.parametrize(
    ("world", "longest", "until"),
    [*((world, 60, False) for world in WORLDS),
     *((world, 1, False) for world in (WINNER, SHARES)),
     *((world, 200, True) for world in (WINNER, RANKED, TABLE))],
    ids=lambda flag: getattr(flag, "name", flag),
)  # fmt: skip
def test_compiled_runs_are_those_of_python(world, longest, until):
    """Test every kind of rule, feedback and notion, to the last digit."""
    given = {"checkpoints": (1, 7, 30, 31, 100, 400), "runs": range(2)}
    plain, compiled = (
        played(Wandering(longest=longest, until=until, compiled=flag), world, **given)
        for flag in (False, True)
    )
    assert_same(plain, compiled)
    assert len(np.unique(plain.ledger["offers"][:, -1], axis=0)) > 1
    is_stepped = longest == 1 or world is RANKED
    assert np.all(plain.events == 400) == is_stepped


@pytest.mark.parametrize("longest", [1, 60])
def test_every_round_is_counted_up_to_every_checkpoint(longest):
    """And what it costs: regret that is linear in the offers is that of these."""
    records = played(Wandering(longest=longest), SHARES, notions=("topk_means",))
    offers, rounds = records.ledger["offers"], np.array(LATE)
    assert offers.dtype == np.int64
    assert np.array_equal(offers.sum(axis=2), np.tile(3 * rounds, (6, 1)))
    cost = SHARES.cost("topk_means")
    expected = cost.best * rounds - offers @ cost.values
    np.testing.assert_allclose(records.ledger["regret"][:, :, 0], expected, atol=1e-9)


def test_a_run_may_take_as_many_events_as_it_has_rounds():
    (events,) = played(Wandering(longest=1), checkpoints=(5000,), runs=range(1)).events
    assert events == 5000


@pytest.mark.parametrize("compiled", [False, True])
def test_runs_depend_on_seed_and_number_alone(compiled):
    policy = Wandering(longest=60, compiled=compiled)
    whole = played(policy)
    later = played(policy, runs=range(4, 6))
    assert np.array_equal(whole.ledger["offers"][4:], later.ledger["offers"])
    coarse = played(policy, checkpoints=(31, 1000))
    for name in ("offers", "regret"):
        assert np.array_equal(whole.ledger[name][:, [3, 5]], coarse.ledger[name])


def test_arms_are_relabeled_unless_told_otherwise():
    class Always(Wandering):
        def choose(self, state, rng, round_):
            return np.array([True, False, True, False])

    fixed = played(Always(), TABLE, shuffle=False).ledger
    assert np.all(fixed["offers"][:, -1] == [1000, 0, 1000, 0])
    # The best set is {0, 1}, of which somebody is always chosen; of this one, 0.6.
    np.testing.assert_allclose(fixed["regret"][:, -1], 400.0)
    few = played(Always(), TABLE, runs=range(60), checkpoints=(9,))
    shuffled = few.ledger["offers"][:, -1]
    assert len(np.unique(shuffled, axis=0)) == 6


def test_revenues_are_told_by_position():
    class Knowing(Wandering):
        def start(self, problem, rng):
            assert problem.horizon == 1000 and problem.subset_size == 2
            return problem.revenues, np.full(1, problem.subset_size)

        def update(self, state, rng, round_, subset, rounds, rewards):
            pass

        def recommend(self, state, rng):
            return state[0] == 1.0

    records = played(Knowing(), WORLDS[1])
    assert np.all(records.recommendation == [False, True, False, False])
    # In a world without revenues each choice earns 1.
    untold = choice.multinomial_logit([0.9, 0.2, 0.5, 0.3], 2)
    assert np.all(played(Knowing(), untold).recommendation)


def test_a_policy_is_told_what_was_played():
    """Up to the horizon, in rounds that follow one another."""
    results = []

    class Listening(Wandering):
        def update(self, state, rng, round_, subset, rounds, rewards):
            results.append((int(round_), int(rounds), subset.copy(), rewards.copy()))

    records = played(Listening(longest=60), runs=range(1))
    ends = [end for end, *_ in results]
    assert ends[-1] == 1000
    assert np.array_equal(
        np.diff(ends, prepend=0), [rounds for _, rounds, *_ in results]
    )
    assert len(results) == records.events[0]
    for _, rounds, subset, rewards in results:
        assert subset.sum() == 3 and np.all(rewards[~subset] == 0)
        assert rewards.sum() <= rounds and np.all(rewards >= 0)
    # In a world with one winner at most, of 1.7 beside 1 on average.
    assert 400 < sum(rewards.sum() for *_, rewards in results) < 800


class Wrong(Wandering):
    what: int = 0

    def choose(self, state, rng, round_):
        subset = np.array([True, False, True, True])
        if round_ < 3:
            return Offer(subset, 1, False)
        sets = subset[:3], subset & ~subset, subset | ~subset, subset
        return Offer(sets[self.what], -5 if self.what == 3 else 1, False)

    def recommend(self, state, rng):
        return np.zeros(9, dtype=np.bool_)


def test_sets_that_are_none_are_named_with_round_and_run():
    said = (
        r"choose returned a set with 3 entries; there are 4 arms \(round 3 of run 2\)",
        r"choose offered 0 arms; offer 1 to 3 \(round 3 of run 2\)",
        r"choose offered 4 arms; offer 1 to 3 \(round 3 of run 2\)",
        r"choose asked for -5 rounds; ask for 1 or more \(round 3 of run 2\)",
    )
    for what, text in enumerate(said):
        with pytest.raises(SimulationError, match=text):
            played(Wrong(what=what), runs=range(2, 4))
    with pytest.raises(SimulationError, match="recommend returned a set with 9 entr"):
        played(Wrong(), checkpoints=(2,))
    with pytest.raises(SimulationError, match="choose offered 3 arms; offer 2 "):
        played(Wrong(), TABLE)


class Raising(Wandering):
    def choose(self, state, rng, round_):
        raise KeyError(round_)


def altered(compiled=False, **methods):
    """Return the wandering rule, but for one of its methods."""
    return type("Altered", (Wandering,), methods)(compiled=compiled)


LISTED = {"choose": lambda self, state, rng, round_: [True, True, True, False]}
NUMBERS = {"choose": lambda self, state, rng, round_: np.ones(4)}
HALVES = {"choose": lambda self, state, rng, round_: Offer(np.ones(4) > 0, 0.5, False)}
BEST = {"recommend": lambda self, state, rng: 0}
DEAF = {"update": Wandering.__mro__[1].update}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (altered(**LISTED), "must return a set of arms, got"),
        (altered(**NUMBERS), "must return a set of arms, got"),
        (altered(**HALVES), "must offer a set for a number of rounds, got 0.5"),
        (altered(**BEST), "must return a set of arms, got 0"),
        (altered(**DEAF), "has no update, but must define"),
        (altered(True, **HALVES), "must return a set of arms, or an Offer, got so"),
        (altered(True, **BEST),
         "recommend must return a set of arms, got something of"),
    ],
)  # fmt: skip
def test_what_is_no_rule_is_said(policy, said):
    with pytest.raises(PolicyParameterError) as caught:
        played(policy)
    assert said in str(caught.value)


def test_an_error_of_the_policy_is_raised_with_round_and_run():
    with pytest.raises(KeyError) as caught:
        played(Raising(), runs=range(3, 5))
    (note,) = caught.value.__notes__
    assert note.startswith("raised by Raising in round 1 of run 3, test_set_rounds.py")
