"""One round of look-ahead D-TS and D-TS+ against its law, state by state.

The policy is only asked: a state is made by telling it single duels, and the duel of
round t is read off its answer (a stretch that begins at t, or the duel played at t).
"""

from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.types import Duel, Outcome
from tests.compiling import quick_jit
from tests.policies.laws import chi_square, pair_table, two_sample_chi_square
from tests.policies.thompson.round_states import NUM_STATES, states

FALSE_ALARM = 1e-5
"""Of all states of one test together."""

LONGEST = 2000
"""Stretches are compared up to this length."""

MOST_DUELS = 700


def test_states_cover_the_cases():
    """Several leaders, equal counts, unsure superiors, excluded challengers."""
    rounds = [each for num_arms in (3, 4) for each in states(num_arms)]
    several = [each.leaders.sum() > 1 for each in rounds]
    equal = [
        np.any((each.wins == each.wins.T)[np.triu_indices(each.num_arms, 1)])
        for each in rounds
    ]
    behind = [(each.wins < each.wins.T)[each.leaders].any() for each in rounds]
    others = [~np.eye(each.num_arms, dtype=bool) for each in rounds]
    excluded = [
        np.any((~each.eligible & other)[:, each.leaders])
        for each, other in zip(rounds, others, strict=True)
    ]
    one_candidate = [each.candidates.sum() == 1 for each in rounds]
    idle = [each.idle_law.sum() for each in rounds]
    for case in (several, equal, behind, excluded, one_candidate):
        assert 2 <= sum(case) <= len(rounds) - 2
    assert sum(each > 0.5 for each in idle) >= 4
    assert sum(each < 0.2 for each in idle) >= 4


@pytest.mark.parametrize("by_upsets", [False, True])
@pytest.mark.parametrize("num_arms", [3, 4, 5])
def test_winners_of_idle_rounds_are_the_leaders(num_arms, by_upsets):
    """What they rest on, by enumeration."""
    for state in states(num_arms) + states(num_arms, "pure-d-ts"):
        each = replace(state, by_upsets=by_upsets)
        for signs, _, flips in each.patterns:
            if not flips:
                np.testing.assert_array_equal(each.winners(signs), each.leaders)


def test_oracle_sums_to_one():
    for each in states(3) + states(4):
        assert each.duel_law.sum() == pytest.approx(1, abs=1e-9)
        leader = each.first_law[each.leaders].sum()
        assert each.idle_law.sum() <= leader + 1e-12


@cache
def duels_of(each):
    """Spell the counts out, one duel after the other, padded to MOST_DUELS."""
    first, second = np.nonzero(each.wins)
    times = each.wins[first, second]
    rows = np.repeat(np.stack([first, second], axis=1), times, axis=0)
    padded = np.full((MOST_DUELS, 2), -1, dtype=np.int32)
    padded[: len(rows)] = rows
    return padded


@partial(quick_jit, static_argnames=("num_arms",))
def ask(policy, duels, index, limit, keys, *, num_arms):
    """Tell a policy the duels (winner, loser) and ask it for round ``index``.

    As in the simulator, it is asked again while it wants nothing to be played. Stops at
    the first duel after the idle rounds, or after ``limit`` idle rounds.

    Returns
    -------
    champion, idle, first, second, played : one entry per key
        ``played`` is false where ``limit`` came first.
    """
    nobody = jnp.int32(-1)
    none, one = jnp.int64(0), jnp.int64(1)

    def tell(state, duel):
        winner, loser = duel
        asked = Duel(winner, none, winner, loser, one)
        told = policy.update(keys[0], state, one, asked, Outcome(none, one, one))
        real = winner >= 0
        return jax.tree.map(lambda a, b: jnp.where(real, a, b), told, state), None

    fresh = policy.init(keys[0], num_arms, jnp.int64(2**40))
    start, _ = jax.lax.scan(tell, fresh, duels)

    def ask_once(carry):
        number, key, state, idle, champion, *_ = carry
        key_choose, key_update = jax.random.split(jax.random.fold_in(key, number))
        duel, state = policy.choose(key_choose, state, index + idle)
        exploit = jnp.minimum(duel.exploit_rounds, limit - idle)
        over = idle + exploit >= limit
        explore = jnp.where(over, none, duel.explore_rounds)
        begins = (idle == 0) & (exploit > 0)
        idle = idle + exploit
        outcome = Outcome(exploit, explore, none)
        state = policy.update(
            key_update, state, index + idle + explore - 1, duel, outcome
        )
        return (
            number + 1,
            key,
            state,
            idle,
            jnp.where(begins, duel.champion, champion),
            duel.first,
            duel.second,
            explore > 0,
            over | (explore > 0),
        )

    def answer(key):
        carry = (jnp.uint32(0), key, start, none, nobody, nobody, nobody)
        carry = (*carry, jnp.bool_(False), jnp.bool_(False))
        ended = jax.lax.while_loop(lambda c: ~c[-1], ask_once, carry)
        _, _, _, idle, champion, first, second, played, _ = ended
        return champion, idle, first, second, played

    # Small batches: all lanes of a batch wait for its slowest.
    return jax.lax.map(answer, keys, batch_size=8)


@cache
def answers(name, each, num_draws):
    """Return the answers of a policy, and the number of rounds with the same sets."""
    limit = each.rounds_with_same_sets(LONGEST)
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(51), num_draws)
        found = ask(
            policies.get(name, alpha=0.51),
            jnp.asarray(duels_of(each)),
            jnp.int64(each.index),
            jnp.int64(limit),
            keys,
            num_arms=each.num_arms,
        )
        return [np.asarray(leaf) for leaf in found], limit


def duel_of_round(found):
    """Return (first, second) of the round asked for; a stretch is a self-duel."""
    champion, idle, first, second, _ = found
    return np.where(idle > 0, champion, first), np.where(idle > 0, champion, second)


def idle_law(name, each):
    """P(idle) of a round under the definition of the policy."""
    return each.idle_with_regret_ties if name == "d-ts+" else each.idle_law.sum()


def p_of_joint_law(each, found, idle=None):
    """Idle with champion a, or a duel of (a, b): one chi-square over all cells."""
    champion, idle_rounds, first, second, _ = found
    idle = each.idle_law if idle is None else idle
    stays = idle_rounds > 0
    counts = np.bincount(champion[stays], minlength=each.num_arms)
    duels = pair_table(first[~stays], second[~stays], each.num_arms)
    busy = each.duel_law - np.diag(each.idle_law)
    return chi_square(
        np.concatenate([counts, duels.ravel()]), np.concatenate([idle, busy.ravel()])
    )


def p_of_waiting(stay, idle_rounds, limit):
    """Idle rounds are geometric, cut at ``limit``."""
    edges = np.unique(
        np.ceil(np.log(np.linspace(1, 0.02, 20)) / np.log(min(stay, 1 - 1e-12)))
    ).astype(int)
    edges = np.unique(np.append(edges[edges < limit], limit))
    if edges[0] != 0:
        edges = np.append(0, edges)
    survival = stay ** edges.astype(float)
    # P(edges[k] <= idle < edges[k + 1]), and P(idle = limit) at the end.
    law = np.append(-np.diff(survival), survival[-1])
    cells = np.searchsorted(edges, idle_rounds, side="right") - 1
    return chi_square(np.bincount(cells, minlength=len(edges)), law)


def p_of_next_duel(each, found):
    """The duel after idle rounds has the law of a round given that it is not idle."""
    _, _, first, second, played = found
    busy = each.duel_law - np.diag(each.idle_law)
    counts = pair_table(first[played], second[played], each.num_arms)
    return chi_square(counts, busy / busy.sum()) if counts.sum() > 50 else 1.0


FEW = {"d-ts": 8_000, "d-ts+": 4_000, "pure-d-ts": 4_000}
MANY = {"d-ts": 60_000, "d-ts+": 20_000, "pure-d-ts": 30_000}
SLOW = pytest.mark.slow
SIZES = pytest.mark.parametrize(
    "num_draws", [FEW, pytest.param(MANY, marks=SLOW)], ids=["few", "many"]
)
ARMS = [3, 4]
QUICK_ARMS = [pytest.param(3, marks=SLOW), 4]
"""Of what runs compiled programs: kernels have tests like these, and are quick."""

WITH_PURE = ["d-ts", pytest.param("pure-d-ts", marks=SLOW)]


@SIZES
@pytest.mark.parametrize("num_arms", QUICK_ARMS)
@pytest.mark.parametrize("name", WITH_PURE)
def test_round_of_dts_has_its_exact_law(name, num_arms, num_draws):
    """(idle, champion) or (first, second), jointly, by enumeration and quadrature."""
    p_values = [
        p_of_joint_law(each, answers(name, each, num_draws[name])[0])
        for each in states(num_arms, name)
    ]
    assert min(p_values) > FALSE_ALARM / NUM_STATES, p_values


@SIZES
@pytest.mark.parametrize("num_arms", QUICK_ARMS)
@pytest.mark.parametrize("name", [*WITH_PURE, pytest.param("d-ts+", marks=SLOW)])
def test_waiting_time_is_geometric(name, num_arms, num_draws):
    p_values = []
    for each in states(num_arms, name):
        (_, idle, *_, played), limit = answers(name, each, num_draws[name])
        assert idle.max() <= limit
        assert np.all(played == (idle < limit))
        p_values.append(p_of_waiting(idle_law(name, each), idle, limit))
    assert min(p_values) > FALSE_ALARM / NUM_STATES, p_values


@SIZES
@pytest.mark.parametrize("num_arms", QUICK_ARMS)
@pytest.mark.parametrize("name", WITH_PURE)
def test_duel_after_the_stretch_has_its_exact_law(name, num_arms, num_draws):
    p_values = [
        p_of_next_duel(each, answers(name, each, num_draws[name])[0])
        for each in states(num_arms, name)
    ]
    assert min(p_values) > FALSE_ALARM / NUM_STATES, p_values


# Kernels play D-TS+ on a CPU, and have the law of its rounds in tests of their own.


@SLOW
@SIZES
@pytest.mark.parametrize("num_arms", QUICK_ARMS)
def test_round_of_dts_plus_has_the_law_of_the_rule(num_arms, num_draws):
    """Against the rule with all its Beta draws; two samples."""
    p_values = []
    for index, each in enumerate(states(num_arms)):
        first, second = duel_of_round(answers("d-ts+", each, num_draws["d-ts+"])[0])
        rule = each.sample(
            num_draws["d-ts+"], np.random.default_rng([52, index]), regret_ties=True
        )
        p_values.append(
            two_sample_chi_square(
                pair_table(first, second, num_arms), pair_table(*rule.T, num_arms)
            )
        )
    assert min(p_values) > FALSE_ALARM / NUM_STATES, p_values


@SLOW
@SIZES
@pytest.mark.parametrize("num_arms", QUICK_ARMS)
def test_informative_duel_of_dts_plus_has_the_law_of_the_rule(num_arms, num_draws):
    """Among duels of different arms only, which no definition of idle changes."""
    p_values = []
    for index, each in enumerate(states(num_arms)):
        _, _, first, second, played = answers("d-ts+", each, num_draws["d-ts+"])[0]
        ours = pair_table(first[played], second[played], num_arms)
        rule = each.sample(
            num_draws["d-ts+"], np.random.default_rng([53, index]), regret_ties=True
        )
        theirs = pair_table(*rule.T, num_arms)
        others = ~np.eye(num_arms, dtype=bool)
        p_values.append(two_sample_chi_square(ours[others], theirs[others]))
    assert min(p_values) > FALSE_ALARM / NUM_STATES, p_values


# Negative controls: the same tests reject what look-ahead could get wrong


def test_uniform_champion_is_rejected():
    """The champion of an idle stretch is not uniform on the leaders."""
    p_values = []
    for each in states(4):
        total = each.idle_law.sum()
        uniform = total * each.leaders / each.leaders.sum()
        p_values.append(
            p_of_joint_law(each, answers("d-ts", each, FEW["d-ts"])[0], uniform)
        )
    assert min(p_values) < FALSE_ALARM / NUM_STATES


def test_wrong_rate_is_rejected():
    """One pair's rate off by a fifth changes the waiting time visibly."""
    p_values = []
    for each in states(4):
        (_, idle, *_), limit = answers("d-ts", each, FEW["d-ts"])
        i, j = np.argwhere(each.relevant | (each.relevant.sum() == 0))[0]
        rate = -np.log1p(-min(each.chance[i, j], each.chance[j, i]))
        stay = each.idle_law.sum() * np.exp(0.2 * rate)
        p_values.append(p_of_waiting(min(stay, 0.999999), idle, limit))
    assert min(p_values) < FALSE_ALARM / NUM_STATES


@SLOW
def test_ties_at_random_are_rejected_for_dts_plus():
    """D-TS+ does not have the law of D-TS."""
    p_values = []
    for each in states(4):
        first, second = duel_of_round(answers("d-ts+", each, FEW["d-ts+"])[0])
        counts = pair_table(first, second, 4)
        p_values.append(chi_square(counts, each.duel_law))
    assert min(p_values) < FALSE_ALARM / NUM_STATES


def test_the_rule_has_the_enumerated_law():
    """Enumeration, quadrature and sampling of the oracle agree with one another."""
    p_values = [
        chi_square(
            pair_table(*each.sample(10_000, rng, regret_ties=False).T, each.num_arms),
            each.duel_law,
        )
        for rng in [np.random.default_rng(54)]
        for num_arms in ARMS
        for each in states(num_arms)
    ]
    assert min(p_values) > FALSE_ALARM / (2 * NUM_STATES), p_values
