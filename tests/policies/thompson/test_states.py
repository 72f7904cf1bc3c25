"""How long D-TS, RCS and CCB wait, in random states that no run may reach.

In each state the chance that a round teaches something is summed up over all signs of
the sample, from the rule alone: which flips are relevant does not enter. The rounds
before the first duel of different arms are geometric with that chance, so its survival
function, at what a policy drew, is uniform (with an independent uniform for the jump at
an integer). Where the waiting is cut, by a change of the sets or because enough was
asked, the rest of it is drawn: without memory, the law stays uniform.
"""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from bayesduel import policies
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.random_states import (
    ALPHA,
    LATEST,
    last_rounds,
    log_of,
    log_thresholds,
    losing_winners,
    random_counts,
    random_rounds,
    told_state,
)

FALSE_ALARM = 1e-5
"""Of one test, all its comparisons together."""

MOST_QUESTIONS = 40
"""A policy is asked this often for a duel of different arms."""


def tails(wins):
    """P(theta_ij > 1/2), (n, K, K), accurate in both tails; 0 if i = j."""
    chance = special.betainc(np.swapaxes(wins, 1, 2) + 1.0, wins + 1.0, 0.5)
    return np.where(np.eye(wins.shape[1], dtype=bool), 0.0, chance)


def sign_patterns(chance):
    """Return the votes of all sign patterns, (S, K), and their chances, (n, S)."""
    num_arms = chance.shape[1]
    votes = np.zeros((1, num_arms), dtype=int)
    weight = np.ones((len(chance), 1))
    for i, j in zip(*np.triu_indices(num_arms, 1), strict=True):
        arms = np.arange(num_arms)
        votes = np.concatenate([votes + (arms == i), votes + (arms == j)])
        weight = np.concatenate(
            [weight * chance[:, i, j, None], weight * chance[:, j, i, None]], axis=1
        )
    return votes, weight


def bounds(wins, rounds, *, elimination):
    """Candidates (n, K), eligible challengers (n, K, K), and the last round of both."""
    number, num_arms = wins.shape[:2]
    others = ~np.eye(num_arms, dtype=bool)
    if not elimination:
        everyone = np.ones((number, num_arms), dtype=bool)
        return everyone, np.broadcast_to(others, wins.shape), np.full(number, LATEST)
    level = log_thresholds(wins)
    is_open = log_of(rounds)[:, None, None] > level
    ahead = wins > np.swapaxes(wins, 1, 2)
    optimistic = np.count_nonzero((ahead | is_open) & others, axis=2)
    candidates = optimistic == optimistic.max(axis=1, keepdims=True)
    first_flip = np.where(is_open, np.inf, level).min(axis=(1, 2))
    return candidates, (~ahead | is_open) & others, last_rounds(first_flip)


def chances_of_dts(wins, rounds, *, elimination):
    """P(first != second) and P(first = second), and the last round for which they hold.

    As two pairs of equal arrays: the smallest and the largest value that any way to
    break ties between first arms can give.
    """
    chance = tails(wins)
    candidates, eligible, last = bounds(wins, rounds, elimination=elimination)
    votes, weight = sign_patterns(chance)
    among = np.where(candidates[:, None, :], votes[None, :, :], -1)
    winners = among == among.max(axis=2, keepdims=True)
    with np.errstate(divide="ignore"):
        stays = np.where(eligible, np.log(np.swapaxes(chance, 1, 2)), 0.0)
        fine = np.where(eligible, np.log1p(-chance), 0.0)
    stays = np.where(np.swapaxes(chance, 1, 2) < 0.5, stays, fine).sum(axis=1)
    meets, self_duels = -np.expm1(stays)[:, None, :], np.exp(stays)[:, None, :]
    shares = winners / winners.sum(axis=2, keepdims=True)
    found = {}
    for name, value in (("differ", meets), ("same", self_duels)):
        low = np.where(winners, value, np.inf).min(axis=2)
        high = np.where(winners, value, -np.inf).max(axis=2)
        mean = (shares * value).sum(axis=2)
        found[name] = [(weight * each).sum(axis=1) for each in (low, mean, high)]
    return found["differ"], found["same"], last


def windows(rounds, last):
    """Return the rounds from ``rounds`` to ``last``, at least and at most.

    Late in a run logarithms of neighboring rounds are hardly told apart.
    """
    blur = np.where((last > 10**9) & (last < LATEST), last // 10**13 + 1, 0)
    return np.maximum(last - rounds - blur + 1, 1), last - rounds + blur + 1


def log_stay(differ, same):
    """Log of the chance of a self-duel, from whichever of the two is accurate."""
    with np.errstate(divide="ignore"):
        return np.where(differ < 0.5, np.log1p(-np.minimum(differ, 0.5)), np.log(same))


def uniforms_of(waited, happened, log_stay, rng):
    """Return the randomized survival function of the rounds waited."""
    with np.errstate(invalid="ignore"):
        reached = np.where(waited > 0, waited * log_stay, 0.0)
    inside = rng.random(len(waited))
    step = np.where(happened, -np.expm1(log_stay), 1.0)
    return np.exp(reached) * (1.0 - inside * step)


@partial(quick_jit, static_argnames=("questions",))
def wait_for_duel(policy, states, rounds, most, keys, *, questions):
    """Ask for a duel of different arms, at most ``most`` rounds from ``rounds`` on.

    Returns rounds waited, whether there was one, and the longest stretch claimed.
    """

    def ask_once(number, carry):
        state, waited, over, happened, claimed, round_, most, key = carry
        key_choose, key_update = jax.random.split(jax.random.fold_in(key, number))
        duel, asked = policy.choose(key_choose, state, round_ + waited)
        left = most - waited
        exploit = jnp.minimum(duel.exploit_rounds, left)
        explore = jnp.minimum(duel.explore_rounds, left - exploit)
        differ = (duel.first != duel.second) & (explore > 0)
        idle = exploit + jnp.where(differ, 0, explore)
        outcome = Outcome(exploit, jnp.where(differ, 0, explore), jnp.int64(0))
        after = policy.update(key_update, asked, round_ + waited + idle, duel, outcome)
        after = jax.tree.map(lambda a, b: jnp.where(over, a, b), state, after)
        claims = waited + duel.exploit_rounds
        return (
            after,
            jnp.where(over, waited, waited + idle),
            over | differ | (waited + idle >= most),
            happened | (differ & ~over),
            jnp.where(over, claimed, jnp.maximum(claimed, claims)),
            round_,
            most,
            key,
        )

    def one_run(state, round_, most, key):
        no, none = jnp.bool_(False), jnp.int64(0)
        carry = (state, none, no, no, none, round_, most, key)
        carry = jax.lax.fori_loop(0, questions, ask_once, carry)
        return carry[1], carry[3], carry[4]

    return jax.vmap(one_run)(states, rounds, most, keys)


tell_all = quick_jit(jax.vmap(told_state, in_axes=(None, 0, 0)))


class Waits:
    """What a policy waited in random states, and what the rule says of it."""

    def __init__(self, name, num_arms, number, losing):
        rng = np.random.default_rng([310, num_arms, number])
        policy = policies.get(name, alpha=ALPHA)
        if losing:
            self.rounds, self.wins = losing_winners(rng, number, num_arms)
        else:
            self.rounds = random_rounds(rng, number)
            self.wins = random_counts(rng, self.rounds, num_arms)
        elimination = name != "pure-d-ts"
        self.differ, self.same, last = chances_of_dts(
            self.wins, self.rounds, elimination=elimination
        )
        self.most, self.longest = windows(self.rounds, last)
        with jax.enable_x64(True):
            states = tell_all(policy, jnp.asarray(self.wins), jnp.asarray(self.rounds))
            keys = jax.random.split(jax.random.key(311), number)
            found = wait_for_duel(
                policy,
                states,
                self.rounds,
                self.most,
                keys,
                questions=1 if losing else MOST_QUESTIONS,
            )
        self.waited, self.happened, self.claimed = map(np.asarray, found)
        self.rng = rng

    def uniforms(self, bound):
        """Survival function at the rounds waited; of 0 smallest, 1 mean, 2 largest."""
        stay = log_stay(self.differ[bound], self.same[2 - bound if bound != 1 else 1])
        return uniforms_of(self.waited, self.happened, stay, self.rng)


@cache
def waits(name, num_arms, number, *, losing=False):
    return Waits(name, num_arms, number, losing)


def p_values(uniforms, chance):
    """Kolmogorov-Smirnov in all states and by the chance of a duel; longest waits."""
    found = {}
    groups = {
        "all": np.ones(len(chance), dtype=bool),
        "rare": chance < 1e-6,
        "seldom": (chance >= 1e-6) & (chance < 0.1),
        "usual": (chance >= 0.1) & (chance < 1 - 1e-9),
        "sure": chance >= 1 - 1e-9,
    }
    for group, members in groups.items():
        if members.sum() >= 20:
            found[group] = stats.kstest(uniforms[members], "uniform").pvalue
            # The longest wait of all, for what it is likely.
            found[group, "longest"] = min(1, uniforms[members].min() * members.sum())
    return found


SLOW = pytest.mark.slow
SIZES = [
    ("d-ts", 4, 3_000),
    *(
        pytest.param(*each, marks=SLOW)
        for each in (
            ("d-ts", 2, 10_000),
            ("d-ts", 4, 90_000),
            ("pure-d-ts", 4, 3_000),
            ("pure-d-ts", 3, 90_000),
            ("pure-d-ts", 5, 10_000),
        )
    ),
]


@pytest.mark.parametrize(("name", "num_arms", "number"), SIZES)
def test_waits_for_a_duel_of_different_arms_are_geometric(name, num_arms, number):
    found = waits(name, num_arms, number)
    p = p_values(found.uniforms(1), found.differ[1])
    assert min(p.values()) > FALSE_ALARM / len(p), p
    # Both ends of a wait are reached, and no stretch outlasts its sets.
    assert np.mean(found.happened) > 0.5
    if name == "d-ts":
        assert np.mean(found.waited == found.most) > 0.02
    assert np.all(found.claimed <= found.longest)


PLUS_SIZES = [
    (4, 3_000),
    pytest.param(3, 100_000, marks=SLOW),
]


@pytest.mark.parametrize(("num_arms", "number"), PLUS_SIZES)
def test_waits_of_dts_plus_are_geometric(num_arms, number):
    """Where a tie can matter, its waits lie between those of all ways to break it."""
    found = waits("d-ts+", num_arms, number)
    low, _, high = found.differ
    known = high <= low * (1 + 1e-4)
    p = p_values(found.uniforms(1)[known], low[known])
    for bound, side in ((0, "greater"), (2, "less")):
        test = stats.kstest(found.uniforms(bound), "uniform", alternative=side)
        p[side] = test.pvalue
    assert min(p.values()) > FALSE_ALARM / len(p), p
    assert np.mean(known) > 0.2
    assert np.all(found.claimed <= found.longest)


@pytest.mark.parametrize(
    "name", ["d-ts", "d-ts+", pytest.param("pure-d-ts", marks=SLOW)]
)
def test_a_leader_with_a_sure_superior_is_not_idle(name):
    """The chances of a flip and of a success add up to next to 1, rarely above it."""
    found = waits(name, 4, 20_000, losing=True)
    p = p_values(found.uniforms(1), found.differ[1])
    if name == "d-ts+":
        # The longest waits are no longer than with the ties broken the slowest way.
        p = p_values(found.uniforms(0), found.differ[0])
        p = {each: p[each] for each in p if "longest" in each}
    assert min(p.values()) > FALSE_ALARM / len(p), p
    assert np.mean(found.happened) > 0.3


@quick_jit
def ask_all(policy, states, rounds, keys):
    """Ask once in every state."""
    return jax.vmap(lambda state, round_, key: policy.choose(key, state, round_))(
        states, rounds, keys
    )


def random_instances(policy, num_arms, number):
    """Random generator, rounds and counts, and the states of a policy told of them."""
    rng = np.random.default_rng([320, num_arms, number])
    rounds = random_rounds(rng, number)
    wins = random_counts(rng, rounds, num_arms)
    states = tell_all(policy, jnp.asarray(wins), jnp.asarray(rounds))
    return rng, rounds, wins, states, jax.random.split(jax.random.key(321), number)


ONCE = [(4, 4_000), pytest.param(4, 100_000, marks=SLOW)]


@pytest.mark.parametrize("fallback", ["least", pytest.param("random", marks=SLOW)])
@pytest.mark.parametrize(("num_arms", "number"), ONCE)
def test_waits_of_rcs_are_geometric(fallback, num_arms, number):
    policy = policies.get("rcs", fallback=fallback)
    with jax.enable_x64(True):
        rng, rounds, wins, states, keys = random_instances(policy, num_arms, number)
        reigns = (
            rng.integers(0, 4, (number, num_arms))
            * rng.choice([1, 10**9], number)[:, None]
        )
        states = states._replace(reigns=jnp.asarray(reigns))
        duel = jax.tree.map(np.asarray, ask_all(policy, states, rounds, keys)[0])
    level = log_thresholds(wins)
    beaten = (wins < np.swapaxes(wins, 1, 2)) & (log_of(rounds)[:, None, None] <= level)
    sure = (beaten | np.eye(num_arms, dtype=bool)).all(axis=1)
    among = (
        reigns == reigns.min(axis=1, keepdims=True)
        if fallback == "least"
        else sure | True
    )
    fallbacks = among / among.sum(axis=1, keepdims=True)
    votes, weight = sign_patterns(tails(wins))
    champion = (votes == num_arms - 1).astype(float)
    nobody = weight @ (champion.sum(axis=1) == 0)
    law = weight @ champion + nobody[:, None] * fallbacks
    same = np.where(sure, law, 0.0).sum(axis=1)
    differ = np.where(sure, 0.0, law).sum(axis=1)
    # In a reign of the sure winner others may become those that reigned least.
    jumps = (sure & ~(among if fallback == "least" else sure & False)).any(axis=1)
    assert np.all(duel.exploit_rounds[~jumps] == 0)
    assert np.all(duel.explore_rounds[~jumps] == 1)
    assert np.all(sure[np.arange(number), duel.champion][jumps])
    assert jumps.sum() > number / 50
    last = last_rounds(np.where(sure[:, None, :], level, np.inf).min(axis=(1, 2)))
    least, longest = windows(rounds, last)
    assert np.all(duel.exploit_rounds[jumps] <= longest[jumps])
    cut = jumps & (duel.explore_rounds == 0)
    assert np.all(duel.exploit_rounds[cut] >= least[cut])
    assert cut.sum() > 10
    p = p_values(
        uniforms_of(
            duel.exploit_rounds[jumps],
            duel.explore_rounds[jumps] > 0,
            log_stay(differ, same)[jumps],
            rng,
        ),
        differ[jumps],
    )
    assert min(p.values()) > FALSE_ALARM / len(p), p


@pytest.mark.parametrize(("num_arms", "number"), ONCE)
def test_waits_of_ccb_are_geometric(num_arms, number):
    """By the sets that the policy holds after it was asked, which then do not move."""
    policy = policies.get("ccb", alpha=ALPHA)
    with jax.enable_x64(True):
        rng, rounds, wins, states, keys = random_instances(policy, num_arms, number)
        believed = (
            rng.random(wins.shape) < rng.choice([0, 0.2, 0.7], number)[:, None, None]
        )
        believed &= ~np.eye(num_arms, dtype=bool)
        states = states._replace(
            beliefs=states.beliefs._replace(
                hopefuls=jnp.asarray(rng.random((number, num_arms)) < 0.5),
                superiors=jnp.asarray(believed),
                losses=jnp.asarray(rng.integers(0, num_arms + 1, number), jnp.int32),
            )
        )
        duel, after = ask_all(policy, states, rounds, keys)
        step = policies.get("ccb", alpha=ALPHA, look_ahead=False)
        ends = rounds + np.maximum(np.asarray(duel.exploit_rounds) - 1, 0)
        later = ask_all(step, after, ends, keys)[1].beliefs
        duel, after, later = jax.tree.map(np.asarray, (duel, after.beliefs, later))
    idles = duel.exploit_rounds > 1
    for one, other in zip(after, later, strict=True):
        np.testing.assert_array_equal(one[idles], other[idles])

    level = log_thresholds(wins)
    is_open = log_of(rounds)[:, None, None] > level
    behind = (wins < np.swapaxes(wins, 1, 2)) & ~is_open
    lost = np.count_nonzero(behind, axis=2)
    optimistic = lost == lost.min(axis=1, keepdims=True)
    both = optimistic & after.hopefuls
    pool = optimistic / optimistic.sum(axis=1, keepdims=True)
    loyal = both / np.maximum(both.sum(axis=1, keepdims=True), 1)
    pool = np.where(both.any(axis=1)[:, None], loyal * 2 / 3 + pool / 3, pool)
    check = np.where((after.superiors & is_open).any(axis=(1, 2)), 0.25, 0.0)
    busy = is_open.any(axis=2)
    differ = check + (1 - check) * np.where(busy, pool, 0).sum(axis=1)
    same = (1 - check) * np.where(busy, 0, pool).sum(axis=1)
    assert np.all(duel.exploit_rounds[same == 0] == 0)
    assert np.all(duel.explore_rounds[same == 0] == 1)
    assert not np.any(
        busy[np.arange(number), duel.champion] & (duel.exploit_rounds > 0)
    )
    last = last_rounds(np.where(is_open, np.inf, level).min(axis=(1, 2)))
    assert np.all(duel.exploit_rounds <= windows(rounds, last)[1])
    p = p_values(
        uniforms_of(
            duel.exploit_rounds, duel.explore_rounds > 0, log_stay(differ, same), rng
        ),
        differ,
    )
    assert min(p.values()) > FALSE_ALARM / len(p), p
    assert 0.02 < np.mean(idles) < 0.9
