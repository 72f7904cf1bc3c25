"""The kernel of RCS: the distribution of its rounds, and of how long it waits, in
single states.

A stretch of self-duels that begins at round t says who plays round t, too. ``waits``
says what distribution the stretches of random states have, which no run may reach.
"""

from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.scalar.compiler import cached_program
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_bounds import refresh_bounds, refresh_upper_bounds
from tests.policies.distributions import pair_table, two_sample_chi_square
from tests.policies.random_states import (
    FOUR_ARMS,
    last_rounds,
    log_of,
    log_thresholds,
    random_counts,
    random_rounds,
)
from tests.policies.thompson.waits import (
    log_stay,
    p_values,
    sign_patterns,
    tails,
    uniforms_of,
    windows,
)
from tests.reference import RelativeConfidenceSampling

FALSE_ALARM = 1e-5
"""False-alarm rate of all states of one test together."""

SLOW = pytest.mark.slow

NUM_DRAWS = 1500

REIGNS = {"never": [0, 0, 0, 0], "longest": [90, 5, 3, 7], "shortest": [2, 5, 2, 9]}


def ask(state, rng, round_, reigns, result):
    """Ask for a round often, in a state whose wins the host has entered."""
    scalar_kernel.init(state, rng)
    for i in range(len(reigns)):
        for j in range(i + 1, len(reigns)):
            if state.pairs[i, j].wins + state.pairs[j, i].wins > 0:
                refresh_upper_bounds(state, i, j)
                refresh_bounds(state, i, j, round_)
    for draw in range(len(result)):
        for i in range(len(reigns)):
            state.arms[i].reigns = reigns[i]
        duel = scalar_kernel.choose(state, rng, round_)
        result[draw, 0] = duel.champion
        result[draw, 1] = duel.idle_rounds
        result[draw, 2] = duel.first
        result[draw, 3] = duel.second
        result[draw, 4] = duel.explores
        for arm in range(len(reigns)):
            result[draw, 5] += state.arms[arm].reigns - reigns[arm]


@cache
def asking():
    return cached_program(ask, f"ask-rcs-{crc32(Path(__file__).read_bytes()):x}")


def answers(kernel, wins, reigns, round_, rng, number):
    """Return champions, idle rounds, first, second, and whether they were played."""
    state = kernel.new_state(np.arange(len(wins)), 10**6)
    state.pairs["wins"] = wins
    values = np.zeros((number, 6), dtype=np.int64)
    asking()(state, rng, round_, np.asarray(reigns, dtype=np.int64), values)
    # Every round that is played is somebody's reign.
    *rest, grown = values.T
    assert np.array_equal(grown, rest[1] + rest[4])
    return np.array(rest)


def twin_pairs(wins, reigns, round_, **options):
    """Count the pairs that the twin plays in that round."""
    twin = RelativeConfidenceSampling(4, np.random.default_rng(71), **options)
    twin.wins[:] = wins
    pairs = np.zeros((4, 4))
    for _ in range(NUM_DRAWS):
        twin.rounds = round_ - 1
        twin.reigns[:] = reigns
        pairs[twin.choose()] += 1
    return pairs


@pytest.mark.parametrize(
    ("fallback", "prior", "look_ahead"),
    [
        ("least", 0.5, True),
        ("least", 1, False),
        pytest.param("random", 1, True, marks=SLOW),
        pytest.param("random", 0.5, False, marks=SLOW),
    ],
)
def test_round_has_the_distribution_of_the_rule(fallback, prior, look_ahead):
    """Also where the fallback may pick the sure winner, and where it may not."""
    options = {"fallback": fallback, "prior": prior}
    policy = policies.get("rcs", look_ahead=look_ahead, **options)
    kernel, rng, result = policy.scalar_kernel(), np.random.default_rng(70), {}
    for name, wins in FOUR_ARMS.items():
        round_ = int(wins.sum()) + 40
        for reign, reigns in REIGNS.items():
            champion, idle, first, second, _ = answers(
                kernel, wins, reigns, round_, rng, 4 * NUM_DRAWS
            )
            one, other = (np.where(idle > 0, champion, arm) for arm in (first, second))
            theirs = twin_pairs(wins, reigns, round_, **options)
            ours = pair_table(one, other, 4)
            result[name, reign] = two_sample_chi_square(ours, theirs)
            jumps = "sure winner" in name and (
                fallback == "random" or reign == "longest"
            )
            assert (idle.max() > 1) == (jumps and look_ahead), (name, reign)
    assert min(result.values()) > FALSE_ALARM / len(result), result


def champion_distribution(wins, among):
    """Return the distribution of the champion, from all signs of a sample."""
    fallbacks = among / among.sum(axis=1, keepdims=True)
    votes, weight = sign_patterns(tails(wins))
    champion = (votes == wins.shape[1] - 1).astype(float)
    nobody = weight @ (champion.sum(axis=1) == 0)
    return weight @ champion + nobody[:, None] * fallbacks


@pytest.mark.parametrize("fallback", ["least", pytest.param("random", marks=SLOW)])
def test_waits_are_geometric(fallback):
    number = 4_000
    rng = np.random.default_rng([320, 4, number])
    # Before the first round nothing was compared: even pairs are resolved there.
    rounds = np.maximum(random_rounds(rng, number), 2)
    wins = random_counts(rng, rounds, 4)
    reigns = rng.integers(0, 4, (number, 4)) * rng.choice([1, 10**9], number)[:, None]
    kernel = policies.get("rcs", fallback=fallback).scalar_kernel()
    states = zip(wins, reigns, rounds, strict=True)
    results = [answers(kernel, *state, rng, 1)[:, 0] for state in states]
    champion, idle, _, _, explores = np.array(results).T
    level = log_thresholds(wins)
    beaten = (wins < np.swapaxes(wins, 1, 2)) & (log_of(rounds)[:, None, None] <= level)
    sure = (beaten | np.eye(4, dtype=bool)).all(axis=1)
    least = fallback == "least"
    fewest = reigns == reigns.min(axis=1, keepdims=True)
    distribution = champion_distribution(
        wins, fewest if least else np.ones_like(fewest)
    )
    # In a reign of the sure winner others may become those that reigned least.
    jumps = (sure & ~(fewest & least)).any(axis=1)
    assert np.all(idle[~jumps] == 0) and np.all(explores[~jumps] == 1)
    assert np.all(sure[np.arange(number), champion][jumps])
    assert jumps.sum() > number / 50
    last = last_rounds(np.where(sure[:, None, :], level, np.inf).min(axis=(1, 2)))
    at_least, at_most = windows(rounds, last)
    assert np.all(idle[jumps] <= at_most[jumps])
    cut = jumps & (explores == 0)
    assert np.all(idle[cut] >= at_least[cut])
    assert cut.sum() > 10
    differ = np.where(sure, 0.0, distribution).sum(axis=1)
    stay = log_stay(differ, np.where(sure, distribution, 0.0).sum(axis=1))
    results = p_values(
        uniforms_of(idle[jumps], explores[jumps] > 0, stay[jumps], rng), differ[jumps]
    )
    assert min(results.values()) > FALSE_ALARM / len(results), results
