"""The distribution of one round of D-TS and D-TS+, state by state, and what holds a
round to it.

``test_scalar_rounds`` asks the kernel: a state is made by telling it single duels, and
the duel of round t is read off its answer (a stretch that begins at t, or the duel
played at t).
"""

from functools import cache

import numpy as np
import pytest

from tests.policies.distributions import chi_square, pair_table
from tests.policies.thompson.round_states import NUM_STATES, states

FALSE_ALARM = 1e-5
"""Of all states of one test together."""

MOST_DUELS = 700
"""Of a state."""

LONGEST = 2000
"""Stretches are compared up to this length."""


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
    idle = [each.idle_distribution.sum() for each in rounds]
    for case in (several, equal, behind, excluded, one_candidate):
        assert 2 <= sum(case) <= len(rounds) - 2
    assert sum(each > 0.5 for each in idle) >= 4
    assert sum(each < 0.2 for each in idle) >= 4


@pytest.mark.parametrize("num_arms", [3, 4, 5])
def test_winners_of_idle_rounds_are_the_leaders(num_arms):
    """What they rest on, by enumeration."""
    for each in states(num_arms) + states(num_arms, "pure-d-ts"):
        for signs, _, flips in each.patterns:
            if not flips:
                np.testing.assert_array_equal(each.winners(signs), each.leaders)


@cache
def duels_of(each):
    """Spell the counts out, one duel after the other, padded to MOST_DUELS."""
    first, second = np.nonzero(each.wins)
    times = each.wins[first, second]
    rows = np.repeat(np.stack([first, second], axis=1), times, axis=0)
    padded = np.full((MOST_DUELS, 2), -1, dtype=np.int32)
    padded[: len(rows)] = rows
    return padded


def duel_of_round(found):
    """Return (first, second) of the round asked for; a stretch is a self-duel."""
    champion, idle, first, second, _ = found
    return np.where(idle > 0, champion, first), np.where(idle > 0, champion, second)


def idle_distribution(name, each):
    """P(idle) of a round under the definition of the policy."""
    return (
        each.idle_with_regret_ties if name == "d-ts+" else each.idle_distribution.sum()
    )


def p_of_joint_distribution(each, found):
    """Idle with champion a, or a duel of (a, b): one chi-square over all cells."""
    champion, idle_rounds, first, second, _ = found
    idle = each.idle_distribution
    stays = idle_rounds > 0
    counts = np.bincount(champion[stays], minlength=each.num_arms)
    duels = pair_table(first[~stays], second[~stays], each.num_arms)
    busy = each.duel_distribution - np.diag(each.idle_distribution)
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
    distribution = np.append(-np.diff(survival), survival[-1])
    cells = np.searchsorted(edges, idle_rounds, side="right") - 1
    return chi_square(np.bincount(cells, minlength=len(edges)), distribution)


def p_of_next_duel(each, found):
    """The duel after idle rounds has the distribution of a round given that it is not
    idle."""
    _, _, first, second, played = found
    busy = each.duel_distribution - np.diag(each.idle_distribution)
    counts = pair_table(first[played], second[played], each.num_arms)
    return chi_square(counts, busy / busy.sum()) if counts.sum() > 50 else 1.0


def test_the_rule_has_the_enumerated_distribution():
    """Enumeration, quadrature and sampling of the oracle agree with one another."""
    p_values = [
        chi_square(
            pair_table(*each.sample(10_000, rng, regret_ties=False).T, each.num_arms),
            each.duel_distribution,
        )
        for rng in [np.random.default_rng(54)]
        for num_arms in (3, 4)
        for each in states(num_arms)
    ]
    assert min(p_values) > FALSE_ALARM / (2 * NUM_STATES), p_values
