"""Rounds of the kernel of D-TS against their distribution, state by state, in both
forms.

The states and the distributions are those of ``round_states``; a state is made by
telling the kernel its duels, and asked for the same round again and again.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import comb
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from scipy import stats

from bayesduel.models.in_policies.scalar_betas import kl_to_half, offset_above_half
from bayesduel.ops.scalar.compiler import cached_program
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_kernel import SEVERAL
from bayesduel.policies.thompson.double_thompson import LOOK_AHEAD, STEP, kernel
from tests.compiling import called_compiled
from tests.policies.distributions import chi_square, pair_table, two_sample_chi_square
from tests.policies.thompson.oracle import ALPHA, Round
from tests.policies.thompson.round_states import (
    LONGEST,
    duel_of_round,
    duels_of,
    idle_distribution,
    p_of_joint_distribution,
    p_of_next_duel,
    p_of_waiting,
    states,
)
from theory.divergences import kl_to_half as kl_of_arrays

FALSE_ALARM = 1e-5
"""False-alarm rate of all p-values of one test together."""

NUM_DRAWS = 20_000
NUM_RULE_DRAWS = 8_000
"""As above, of the rule with all its Beta draws, which cost more."""


def ask(state, rng, duels, round_, result, shares):
    """Tell a new state its duels, one a round; then ask for ``round_``, often."""
    scalar_kernel.init(state, rng)
    for index in range(len(duels)):
        winner, loser = duels[index, 0], duels[index, 1]
        if winner >= 0:
            scalar_kernel.update(state, rng, index + 1, winner, loser, True)
    for index in range(len(result)):
        duel = scalar_kernel.choose(state, rng, round_)
        result[index, 0] = duel.champion
        if duel.champion == SEVERAL and duel.idle_rounds > 0:
            shares[:] = 0
            scalar_kernel.share_idle_rounds(state, rng, duel.idle_rounds, shares)
            # That of the first round: each is as likely to be any.
            left = int(rng.random() * duel.idle_rounds)
            arm = 0
            while left >= shares[arm]:
                left -= shares[arm]
                arm += 1
            result[index, 0] = arm
        result[index, 1] = duel.idle_rounds
        result[index, 2] = duel.first
        result[index, 3] = duel.second
        result[index, 4] = duel.explores


@cache
def program():
    return cached_program(ask, f"ask-{crc32(Path(__file__).read_bytes()):x}")


def kernel_of(name, form, prior=1):
    return kernel(
        np.array(prior), alpha=ALPHA, elimination=name != "pure-d-ts",
        ties_by_regret=name == "d-ts+", form=form,
    )  # fmt: skip


def state_after(name, item, form, result):
    """Return a state that was told its duels, and write down what it asked for."""
    state = kernel_of(name, form).new_state(np.arange(item.num_arms), 10**6)
    rng = np.random.default_rng([70, item.num_arms])
    shares = np.zeros(item.num_arms, dtype=np.int64)
    program()(state, rng, duels_of(item).astype(np.int64), item.index, result, shares)
    return state


@cache
def answers(name, item, form, num_draws=NUM_DRAWS):
    """Return champion, idle rounds, first, second, whether it was played; the limit."""
    limit = item.rounds_with_same_sets(LONGEST)
    values = np.zeros((num_draws, 5), dtype=np.int64)
    state_after(name, item, form, values)
    champion, idle, first, second, explores = values.T
    assert np.all((explores == 1) | (idle >= limit))
    return (champion, np.minimum(idle, limit), first, second, idle < limit), limit


FORMS = pytest.mark.parametrize("form", [STEP, LOOK_AHEAD], ids=["step", "look-ahead"])
ARMS = pytest.mark.parametrize("num_arms", [3, 4, 5])


@ARMS
@FORMS
@pytest.mark.parametrize("name", ["d-ts", "pure-d-ts"])
def test_round_has_its_exact_distribution(name, form, num_arms):
    """By enumeration of the signs and quadrature."""
    p_values = []
    for state in states(num_arms, name):
        first, second = duel_of_round(answers(name, state, form)[0])
        p_values.append(
            chi_square(pair_table(first, second, num_arms), state.duel_distribution)
        )
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


@ARMS
@pytest.mark.parametrize("name", ["d-ts", "pure-d-ts"])
def test_idle_rounds_and_the_next_one_have_their_exact_distribution(name, num_arms):
    p_values = []
    for state in states(num_arms, name):
        result, _ = answers(name, state, LOOK_AHEAD)
        p_values += [
            p_of_joint_distribution(state, result),
            p_of_next_duel(state, result),
        ]
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


@ARMS
@pytest.mark.parametrize("name", ["d-ts", "d-ts+", "pure-d-ts"])
def test_waiting_time_is_geometric(name, num_arms):
    p_values = []
    for state in states(num_arms, name if name == "pure-d-ts" else "d-ts"):
        (_, idle, *_), limit = answers(name, state, LOOK_AHEAD)
        p_values.append(p_of_waiting(idle_distribution(name, state), idle, limit))
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


@ARMS
@FORMS
def test_round_of_dts_plus_has_the_distribution_of_the_rule(form, num_arms):
    """Against the rule with all its Beta draws; two samples.

    Of stretches only the first round has one champion by distribution.
    """
    p_values = []
    for index, state in enumerate(states(num_arms)):
        first, second = duel_of_round(answers("d-ts+", state, form)[0])
        rng = np.random.default_rng([52, index])
        rule = state.sample(NUM_RULE_DRAWS, rng, regret_ties=True)
        p_values.append(
            two_sample_chi_square(
                pair_table(first, second, num_arms), pair_table(*rule.T, num_arms)
            )
        )
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def few_duels(num_duels):
    """Return a round of 7 arms, some pairs of which were hardly ever compared."""
    rng = np.random.default_rng([396, num_duels])
    lead = np.triu(np.where(rng.random((7, 7)) < 0.3, -1, 1), 1)
    duels = np.triu(rng.integers(0, num_duels, (7, 7)), 1)
    won = rng.binomial(duels, 0.5 + 0.35 * lead)
    return Round(won + (duels - won).T, 400, elimination=False)


def exact_upset(item, arm, lacking):
    """P(an arm that trails others than the leaders flips ``lacking`` of these pairs).

    In rational numbers.
    """
    ways = [Fraction(1)]
    for other in np.flatnonzero(item.majority[:, arm] & ~item.leaders):
        won, lost = int(item.wins[arm, other]), int(item.wins[other, arm])
        total = won + lost + 1
        flips = Fraction(sum(comb(total, k) for k in range(won + 1)), 2**total)
        ways = [
            stays * (1 - flips) + moves * flips
            for stays, moves in zip([*ways, 0], [0, *ways], strict=True)
        ]
    return float(sum(ways[lacking:]))


@pytest.mark.parametrize("num_duels", [2, 12, 60])
def test_probabilities_of_upsets_keep_their_digits(num_duels):
    item = few_duels(num_duels)
    values = np.zeros((1, 5), dtype=np.int64)
    arms = state_after("pure-d-ts", item, LOOK_AHEAD, values).arms
    votes = item.majority.sum(axis=1)
    for arm in np.flatnonzero(~item.leaders):
        probability = exact_upset(item, arm, lacking := int(votes.max() - votes[arm]))
        assert arms["lacking"][arm] == (lacking if probability > 0 else 0)
        expected = -np.log1p(-probability)
        assert arms["upset_rate"][arm] == pytest.approx(expected, rel=1e-11, abs=0)


def play(state, rng, begin, end):
    """Play rounds; of seven arms each wins against the next three more often."""
    if begin == 1:
        scalar_kernel.init(state, rng)
    for round_ in range(begin, end):
        duel = scalar_kernel.choose(state, rng, round_)
        if duel.explores and duel.first != duel.second:
            won = (rng.random() < 0.6) == ((duel.second - duel.first) % 7 < 4)
            scalar_kernel.update(state, rng, round_, duel.first, duel.second, won)


def test_kept_rates_of_upsets_are_those_of_now():
    """A duel changes the upset of one arm; those of the others stay."""
    program = partial(run_uncompiled, play)
    state = kernel_of("pure-d-ts", LOOK_AHEAD).new_state(np.arange(7), 10**6)
    rng = np.random.default_rng(79)
    looked_at = 0
    for begin in range(1, 4000, 10):
        program(state, rng, begin, begin + 10)
        known = (state.arms["upset_is_known"] > 0) & (state.now["stale"][0] == 0)
        rates = state.arms["upset_rate"].copy()
        state.now["stale"] = True
        program(state, rng, begin + 10, begin + 11)
        known &= state.arms["upset_is_known"] > 0
        looked_at += np.count_nonzero(known & (state.arms["lacking"] > 1))
        np.testing.assert_array_equal(rates[known], state.arms["upset_rate"][known])
    assert looked_at > 100


LOPSIDED = np.array(
    [[0, 90, 2, 60, 0], [1, 0, 70, 40, 1], [80, 3, 0, 30, 0],
     [0, 2, 1, 0, 50], [0, 0, 1, 0, 0]]
)  # fmt: skip
"""Two leaders, probabilities next to 0 and 1, a pair that was never compared."""


@FORMS
@pytest.mark.parametrize("name", ["d-ts", "pure-d-ts", "d-ts+"])
def test_rounds_of_lopsided_and_of_few_duels(name, form):
    """Several of 7 arms lack two votes or three; against the rule with all its
    draws."""
    p_values = []
    for value in (Round(LOPSIDED, 600), few_duels(2), few_duels(12)):
        value = replace(value, elimination=name != "pure-d-ts")
        first, second = duel_of_round(answers(name, value, form)[0])
        rng = np.random.default_rng(78)
        rule = value.sample(NUM_RULE_DRAWS, rng, regret_ties=name == "d-ts+")
        tables = (first, second), rule.T
        p_values.append(
            two_sample_chi_square(
                *(pair_table(*arms, value.num_arms) for arms in tables)
            )
        )
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


@cache
def many_arms():
    """Return a round of 40 arms with some candidates: rows of signs fill vectors."""
    rng = np.random.default_rng(75)
    utility = np.sort(rng.normal(size=40))[::-1]
    preference = 1 / (1 + np.exp(utility[None, :] - utility[:, None]))
    duels = np.triu(rng.integers(0, 40, (40, 40)), 1)
    won = rng.binomial(duels, preference)
    return Round(won + (duels - won).T, 16_000)


@cache
def rule_of_many_arms(name, count):
    """Draw from the rule: 780 Betas a round."""
    rng = np.random.default_rng(76)
    return many_arms().sample(count, rng, regret_ties=name == "d-ts+")


@FORMS
@pytest.mark.parametrize("name", ["d-ts", "d-ts+"])
def test_rounds_of_many_arms(name, form, monkeypatch):
    monkeypatch.setattr("tests.policies.thompson.round_states.MOST_DUELS", 16_000)
    item, count = many_arms(), 3_000
    assert 3 < item.candidates.sum() < 30
    first, second = duel_of_round(answers(name, item, form)[0])
    rule = rule_of_many_arms(name, count)
    p_values = [
        two_sample_chi_square(*(np.bincount(arms, minlength=40) for arms in both))
        for both in ((first, rule[:, 0]), (second, rule[:, 1]))
    ]
    mine, other = np.mean(first == second), np.mean(rule[:, 0] == rule[:, 1])
    assert min(p_values) > FALSE_ALARM / 3, p_values
    scale = np.sqrt((mine * (1 - mine)) * (1 / count + 1 / NUM_DRAWS))
    assert abs(mine - other) <= 4.7 * scale


def test_a_wrong_distribution_is_noticed():
    """Negative control: the rounds of D-TS+ are not those of D-TS."""
    p_values = []
    for state in states(4):
        first, second = duel_of_round(answers("d-ts+", state, STEP)[0])
        p_values.append(
            chi_square(pair_table(first, second, 4), state.duel_distribution)
        )
    assert min(p_values) < 1e-9


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 1), (2, 1), (1, 2), (3, 2), (5, 5), (4, 9), (2, 40), (40, 2), (300, 290),
     (280, 300), (1, 60), (60, 1), (1.5, 1.5), (80.1, 83.1), (0.5, 0.5), (2.5, 0.5),
     (0.5, 2.5), (0.5, 60.5), (60.5, 0.5), (0.1, 0.3), (0.1, 30.1), (1.5, 400.5)],
)  # fmt: skip
def test_offsets_above_half_have_their_distribution(first, second):
    rng = np.random.default_rng([72, int(first), int(second)])
    draw = called_compiled(offset_above_half)
    drawn = np.array([draw(float(first), float(second), rng) for _ in range(4000)])
    # In terms of the mirrored distribution, whose small tails have all their digits.
    mirrored = stats.beta(second, first)
    above = mirrored.cdf(0.5)

    def distribution(offset):
        return 1.0 - mirrored.cdf(0.5 - offset) / above

    assert abs(stats.beta(first, second).sf(0.5) - above) < 1e-12
    assert stats.kstest(drawn, distribution).pvalue > FALSE_ALARM / 22


def test_divergence_is_that_of_theory():
    gaps = np.concatenate([np.geomspace(1e-12, 0.5, 200), [0.25, 0.499999]])
    result = list(map(called_compiled(kl_to_half), gaps))
    np.testing.assert_allclose(result, kl_of_arrays(gaps), rtol=1e-14)
