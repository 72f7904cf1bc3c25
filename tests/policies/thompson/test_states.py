"""How long D-TS and D-TS+ wait, in random states that no run may reach.

``waits`` says by which law.
"""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

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
)
from tests.policies.thompson.waits import (
    FALSE_ALARM,
    log_stay,
    p_values,
    sign_patterns,
    tails,
    tell_all,
    uniforms_of,
    windows,
)

MOST_QUESTIONS = 40
"""A policy is asked this often for a duel of different arms."""


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

    def waits_on(numbered):
        number, (_, _, over, *_) = numbered
        return (number < questions) & ~over

    def ask_again(numbered):
        number, carry = numbered
        return number + 1, ask_once(number, carry)

    def one_run(state, round_, most, key):
        no, none = jnp.bool_(False), jnp.int64(0)
        carry = (state, none, no, no, none, round_, most, key)
        _, carry = jax.lax.while_loop(waits_on, ask_again, (0, carry))
        return carry[1], carry[3], carry[4]

    # Small batches: each is asked as often as its longest wait needs.
    return jax.lax.map(
        lambda each: one_run(*each), (states, rounds, most, keys), batch_size=25
    )


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
                questions=1 if losing and number > 10_000 else MOST_QUESTIONS,
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


@pytest.mark.slow
@pytest.mark.parametrize(("num_arms", "number"), [(4, 3_000), (3, 100_000)])
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
    ("name", "number"),
    [
        ("d-ts", 3_000),  # By the program of the waits above.
        *(pytest.param(n, 20_000, marks=SLOW) for n in ("d-ts", "d-ts+", "pure-d-ts")),
    ],
)
def test_a_leader_with_a_sure_superior_is_not_idle(name, number):
    """The chances of a flip and of a success add up to next to 1, rarely above it."""
    found = waits(name, 4, number, losing=True)
    p = p_values(found.uniforms(1), found.differ[1])
    if name == "d-ts+":
        # The longest waits are no longer than with the ties broken the slowest way.
        p = p_values(found.uniforms(0), found.differ[0])
        p = {each: p[each] for each in p if "longest" in each}
    assert min(p.values()) > FALSE_ALARM / len(p), p
    assert np.mean(found.happened) > 0.3
