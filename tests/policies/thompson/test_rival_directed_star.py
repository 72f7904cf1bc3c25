"""RD-TS*: its rounds against the list of all sets of flips, and what its proof uses."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import theory
from bayesduel import policies
from bayesduel.models.in_policies.scalar_betas import log_half_tail, tail_table
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies.parameter_values import with_prices
from bayesduel.policies.scalar_kernel import choose, init, update
from tests.compiling import called_compiled
from tests.policies.distributions import chi_square
from tests.policies.driving import simulate_runs
from tests.policies.thompson.test_rival_directed import waiting_counts
from tests.reference import RivalDirectedStar
from theory.divergences import bernoulli_kl

FALSE_ALARM = 1e-5
"""False-alarm rate of one test, all its p-values together."""

ALWAYS = {"c": 1e300}
"""Every round explores: the events are those of any other c."""


def new_state(num_arms, prices=None, **options):
    policy = with_prices(policies.get("rd-ts-star", **options), prices)
    kernel = policy.scalar_kernel()
    return kernel.new_state(np.arange(num_arms), 10**6)


def preferences(num_arms, index):
    """Return random, cyclic or sure preferences, equal winners, or small gaps."""
    rng = np.random.default_rng([90, num_arms, index])
    ahead = np.subtract.outer(np.arange(num_arms), np.arange(num_arms)) % num_arms
    table = (
        rng.uniform(0.05, 0.95, (num_arms, num_arms)),
        np.where(ahead <= num_arms // 2, 0.3, 0.7),
        (rng.random((num_arms, num_arms)) < 0.5) * 1.0,
        np.where(ahead % 3 == 1, 0.2, 0.9),
        rng.uniform(0.45, 0.55, (num_arms, num_arms)),
    )[index % 5]
    upper = np.triu(table, 1)
    return upper + np.tril(1.0 - upper.T, -1)


def play(state, rng, preference, duels, seen):
    """Play a new state; write down the duels with their outcomes, leaders and Phi."""
    init(state, rng)
    for row in range(len(duels)):
        duel = choose(state, rng, 1)
        won = rng.random() < preference[duel.first, duel.second]
        duels[row, 0], duels[row, 1], duels[row, 2] = duel.first, duel.second, won
        seen[row, 0], seen[row, 1] = state.now[0].leader, state.now[0].total
        update(state, rng, 1, duel.first, duel.second, won)


def played(num_arms, index, number, **options):
    """Return the duels of so many events, and leader and Phi before each."""
    duels, seen = np.zeros((number, 3), dtype=np.int64), np.zeros((number, 2))
    state = new_state(num_arms, **ALWAYS | options)
    rng = np.random.default_rng([91, num_arms, index])
    run_uncompiled(play, state, rng, preferences(num_arms, index), duels, seen)
    return duels, seen


def twin_of(num_arms, **options):
    rng = np.random.default_rng(92)
    return RivalDirectedStar(num_arms, rng, order=range(num_arms), **options)


OPTIONS = (
    {},
    {"prior": 1.0, "temper_after": 1.0},
    {"prior": 2.5, "cost": "duels"},
    {"temper_after": 1e6},
)


def priced(num_arms):
    """Return options with prices of the arms and of the judge."""
    prices = theory.pair_prices(1.0 + np.arange(num_arms) ** 2, judge=0.3)
    return {"cost": "prices", "prices": prices}


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_every_duel_is_that_of_the_twin(num_arms):
    """Leader, Phi and pair, event after event, where pairs are even and sure, too."""
    forced = even = 0
    leaders = set()
    for index in range(5):
        both = (*OPTIONS, priced(num_arms))
        options = both[(index + num_arms) % len(both)]
        duels, seen = played(num_arms, index, (60, 150)[index % 2], **options)
        twin = twin_of(num_arms, **options)
        for duel, (leader, total) in zip(duels.tolist(), seen, strict=True):
            assert twin.leader == leader
            assert total == pytest.approx(sum(twin.dethroned().values()), rel=1e-9)
            assert twin.next_pair() == tuple(duel[:2])
            counts = [twin.wins[x] + twin.wins.T[x] for x in twin.pairs]
            forced += min(counts) < np.sqrt(twin.events / len(counts))
            even += any(twin.tail[x] == 0.5 for x in twin.pairs)
            leaders.add((index, leader))
            twin.update(*duel)
    assert forced > 10 or num_arms == 2
    assert even > 10 and len(leaders) > 5


def test_another_bonus_is_noticed(monkeypatch):
    """Negative control: without the two standard deviations other pairs are played."""
    duels, _ = played(4, 1, 100)
    twin = twin_of(4)
    differs = 0
    for duel in duels.tolist():
        twin.hopeful = twin.divergence
        differs += twin.next_pair() != tuple(duel[:2])
        twin.update(*duel)
    assert differs > 5


def test_phi_lies_between_the_likeliest_set_and_all():
    """exp(-Z) <= Phi <= M exp(-Z), (3) of the page."""
    for index in range(5):
        twin = twin_of(4)
        for duel in played(4, index, 60)[0].tolist():
            twin.update(*duel)
            weights = [
                np.prod([twin.tail[pair] for pair in chosen])
                for _, _, chosen in twin.sets
            ]
            total = sum(twin.dethroned().values())
            assert max(weights) <= total * (1 + 1e-12)
            assert total <= len(weights) * max(weights) * (1 + 1e-12)


def ask(state, rng, duels, waits, pairs):
    """Tell a new state its duels, and ask often for the round after them."""
    init(state, rng)
    for row in range(len(duels)):
        update(state, rng, 1, duels[row, 0], duels[row, 1], duels[row, 2] > 0)
    for row in range(len(waits)):
        duel = choose(state, rng, len(duels) + 1)
        waits[row] = duel.idle_rounds
        pairs[row, 0], pairs[row, 1] = duel.first, duel.second


@pytest.mark.parametrize("look_ahead", [True, False])
def test_a_round_has_the_distribution_of_the_twin(look_ahead):
    """Idle rounds are geometric, and one pair follows; a step is idle or that pair."""
    p_values, idle = [], 0
    for index in range(6):
        duels, _ = played(4, index, 40)
        twin = twin_of(4, c=0.3)
        for duel in duels.tolist():
            twin.update(*duel)
        state = new_state(4, c=0.3, look_ahead=look_ahead)
        waits, pairs = np.zeros(3000, dtype=np.int64), np.zeros((3000, 2), dtype=int)
        run_uncompiled(ask, state, np.random.default_rng(93), duels, waits, pairs)
        explores = twin.explores()
        mine = pairs[:, 0] != pairs[:, 1]
        assert np.all(pairs[mine] == twin.next_pair())
        assert np.all(pairs[~mine] == twin.leader)
        idle += np.count_nonzero(~mine if not look_ahead else waits)
        if look_ahead:
            p_values.append(chi_square(*waiting_counts(explores, waits)))
        else:
            assert not waits.any()
            counts = np.array([np.count_nonzero(mine), np.count_nonzero(~mine)])
            p_values.append(chi_square(counts, np.array([explores, 1 - explores])))
    assert idle > 1000
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def overrule(state, rng, favorite, won, fewest):
    """Let another pair meet in every event that is not forced; ``won`` by its first."""
    init(state, rng)
    num_arms = state.arms.size
    number = num_arms * (num_arms - 1) // 2
    for events in range(len(fewest)):
        least = events
        for one in range(num_arms):
            for other in range(one + 1, num_arms):
                duels = state.pairs[one, other].wins + state.pairs[other, one].wins
                least = min(least, duels)
        fewest[events] = least
        first, second = favorite
        if least * least * number < events:
            duel = choose(state, rng, 1)
            first, second = duel.first, duel.second
        update(state, rng, 1, first, second, won[events])


@pytest.mark.parametrize("num_arms", [3, 4])
def test_no_pair_falls_far_behind(num_arms):
    """min n_e >= sqrt(N / m) - 2 whatever the other events are, whoever wins."""
    number = num_arms * (num_arms - 1) / 2
    rng = np.random.default_rng(94)
    for won in (np.ones(600), np.arange(600) % 2, rng.integers(0, 2, 600)):
        fewest = np.zeros(600, dtype=np.int64)
        state = new_state(num_arms, cost="duels")
        run_uncompiled(overrule, state, rng, (0, 1), won > 0, fewest)
        needed = np.sqrt(np.arange(600) / number)
        assert np.all(fewest >= needed - 2)
        assert np.any(fewest < needed)
        events = state.pairs["wins"].sum()
        forced = events - state.pairs["wins"][:2, :2].sum()
        assert forced <= np.sqrt(number * events) + number


@pytest.mark.parametrize("seed", range(8))
def test_one_duel_moves_the_evidence_as_the_proof_says(seed):
    """E[change of -log Q] = kl(mu, u) - kl(mu, mean), (8) there; u by quadrature."""
    rng = np.random.default_rng([95, seed])
    b = rng.uniform(1, 40)
    a, mu = b + rng.uniform(1, 60), rng.uniform(0.5, 0.999)
    posterior = stats.beta(a, b)
    parts = [
        integrate.quad(
            lambda x, k=k: x**k * posterior.pdf(x), 0, 0.5, epsabs=0, epsrel=1e-11
        )[0]
        for k in (0, 1)
    ]
    below, tail = parts[1] / parts[0], called_compiled(log_half_tail)
    now, won, lost = (
        -tail(*counts, tail_table()) for counts in ((a, b), (a + 1, b), (a, b + 1))
    )
    change = mu * (won - now) + (1 - mu) * (lost - now)
    expected = bernoulli_kl(mu, below) - bernoulli_kl(mu, posterior.mean())
    assert change == pytest.approx(float(expected), rel=1e-6)
    assert 0.25 <= below <= 0.5


def tail_against(won, lost, prior):
    """Return P(the one that won more is worse), arrays of counts."""
    more, less = np.maximum(won, lost) + prior, np.minimum(won, lost) + prior
    return special.betainc(more, less, 0.5)


def wrong_self_duels(mu, prior, c, most):
    """Return the expected self-duels of the wrong one of two arms, over all rounds.

    Every event is a duel of the two, so that counts are binomial; up to ``most``. At
    even counts the leader counts as wrong.
    """
    total = 0.0
    for events in range(most):
        won = np.arange(events // 2 + 1)
        tails = tail_against(won, events - won, prior)
        # Terms beyond are below 1e-20 at these mu.
        remaining = tails > 1e-150
        waits = np.maximum(1 / (c * tails[remaining]) - 1, 0)
        total += float(stats.binom.pmf(won[remaining], events, mu) @ waits)
    return total


@pytest.mark.parametrize(
    ("mu", "prior", "c", "most", "expected"),
    [
        (0.6, 5, 5, 900, 1.358),
        (0.7, 5, 5, 300, 0.0617),
        (0.9, 1, 5, 100, 0.0098),
        (0.7, 5, 1, 400, 6.62),
        pytest.param(0.55, 5, 5, 3000, 13.91, marks=pytest.mark.slow),
    ],
)
def test_wrong_leaders_of_two_arms_cost_what_the_page_says(
    mu, prior, c, most, expected
):
    result = wrong_self_duels(mu, prior, c, most)
    digits = f"{expected:g}".partition(".")[2]
    assert round(result, len(digits)) == expected


def wrong_self_duels_by(rounds, mu, prior, c):
    """Return the expected self-duels of the worse of two arms in so many rounds."""
    won, lost = np.indices((rounds + 1, rounds + 1))
    explores = np.minimum(c * tail_against(won, lost, prior), 1.0)
    at, total = np.zeros(won.shape), 0.0
    at[0, 0] = 1.0
    for _ in range(rounds):
        meets = at * explores
        total += float(((at - meets) * (lost > won)).sum())
        at = at - meets
        at[1:] += mu * meets[:-1]
        at[:, 1:] += (1 - mu) * meets[:, :-1]
    return total


@pytest.mark.slow
def test_wrong_leaders_of_two_arms_are_as_frequent_as_counts_say():
    """In 200 rounds of two arms, exactly; at even counts every round explores."""
    rounds, mu, options = 200, 0.6, {"prior": 1.0, "c": 2.0}
    expected = wrong_self_duels_by(rounds, mu, **options)
    records = simulate_runs(
        policies.get("rd-ts-star", **options), [[0.5, mu], [1 - mu, 0.5]],
        checkpoints=[rounds], runs=range(4000),
    )  # fmt: skip
    result = records.ledger["plays"][:, 0, 1, 1]
    error = result.std() / np.sqrt(len(result))
    assert expected > 1
    assert stats.norm.sf(abs(result.mean() - expected) / error) > FALSE_ALARM / 2


EXTREME = {
    "sure": np.triu(np.full((4, 4), 10**6), 1),
    "sure, few": np.triu(np.full((4, 4), 3), 1),
    "close": np.full((4, 4), 500_000) + np.triu(np.full((4, 4), 3000), 1),
    "mixed": np.array(
        [[0, 10**6, 60, 9], [0, 0, 10**6, 0], [55, 0, 0, 700_000], [9, 1, 300_000, 0]]
    ),
    "cycle": np.array([[0, 10**6, 0], [0, 0, 10**6], [10**6, 0, 0]]),
    "two": np.array([[0, 10**6], [900_000, 0]]),
}


@pytest.mark.parametrize("cost", ["regret", "duels"])
@pytest.mark.parametrize("wins", EXTREME.values(), ids=EXTREME)
def test_extreme_counts_are_played(wins, cost):
    """Where Q_e is below the smallest number, 0 or 1; a pair or the leader meets."""
    state = new_state(len(wins), cost=cost, prior=1.5)
    state.pairs["wins"] = wins
    state.now["events"] = wins.sum()
    none = np.zeros((0, 3), dtype=np.int64)
    waits, pairs = np.zeros(20, dtype=np.int64), np.zeros((20, 2), dtype=np.int64)
    run_uncompiled(ask, state, np.random.default_rng(96), none, waits, pairs)
    leader = int(state.now["leader"][0])
    losses = (wins < wins.T).sum(axis=1) + 0.5 * (wins == wins.T).sum(axis=1)
    assert losses[leader] == losses.min()
    assert 0.0 <= state.now["total"][0] < np.inf
    assert np.all(np.isfinite(state.surprise))
    if cost == "duels":
        assert not waits.any() and np.all(pairs[:, 0] < pairs[:, 1])
    else:
        alone = pairs[:, 0] == pairs[:, 1]
        assert np.all(pairs[alone] == leader)
        assert np.all(waits[alone] > 2**61)


def test_too_many_arms_are_refused():
    with pytest.raises(ValueError, match="num_arms must be at most 512 .* rd-ts takes"):
        policies.get("rd-ts-star").check(513, 10)
