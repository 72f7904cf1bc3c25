"""States in which a round of D-TS is held to its distribution, and what holds it to it.

The states are random ones and late ones. The kernel is told single duels; the duel of
round t is read off its answer (a stretch that begins at t, or the duel played at t).
"""

from dataclasses import replace
from functools import cache

import numpy as np

from tests.policies.distributions import chi_square, pair_table
from tests.policies.thompson.oracle import Round

MOST_DUELS = 700
"""At most, in a state."""

LONGEST = 2000
"""Stretches are compared up to this length."""

NUM_RANDOM = 10


def state_of(num_arms, index):
    """Return random counts and a round, of a kind that cycles with ``index``."""
    rng = np.random.default_rng([50, num_arms, index])
    spread = (0.02, 0.1, 0.25, 0.45)[index % 4]
    most = (3, 20, 60, 110)[(index // 4) % 4] if index else 0
    late = (1, 3, 20)[(index // 2) % 3]
    # A cycle of the arms, the wider the surer, with some noise.
    lead = np.roll(np.arange(num_arms), index)
    ahead = (lead[None, :] - lead[:, None]) % num_arms <= num_arms // 2
    preference = 0.5 + spread * (ahead - 0.5) + rng.normal(0, 0.1, ahead.shape)
    preference = np.clip(preference, 0.05, 0.95)
    duels = np.triu(rng.integers(most // 2, most + 1, (num_arms, num_arms)), 1)
    won = rng.binomial(duels, preference)
    if index % 3 == 0:
        # An exact tie in one pair, as often early in a run.
        won[0, 1], duels[0, 1] = duels[0, 1] // 2, 2 * (duels[0, 1] // 2)
    wins = won + (duels - won).T
    return Round(wins, late * (int(duels.sum()) + 1))


# Late states: (won, lost) of the pairs 01, 02, 12 or 01, 02, 03, 12, 13, 23; the round.
LATE = {
    3: [
        (((60, 15), (16, 58), (62, 14)), 230),  # A sure cycle: all superiors excluded.
        (((40, 10), (45, 12), (20, 18)), 500),  # A sure Condorcet winner.
        (((31, 20), (36, 19), (5, 5)), 900),  # One candidate soon, not yet.
        (((9, 30), (28, 12), (50, 22)), 151),
    ],
    4: [
        # Two leaders, each with a sure superior; the same without certainty.
        (((50, 20), (60, 20), (22, 55), (52, 21), (58, 19), (50, 21)), 450),
        (((33, 20), (40, 20), (22, 29), (42, 21), (38, 19), (30, 21)), 900),
        (((30, 20), (35, 15), (40, 12), (12, 11), (13, 9), (8, 15)), 400),
        # A leader with a sure and an unsure superior; nobody beats everybody.
        (((60, 9), (13, 55), (25, 20), (70, 12), (9, 60), (14, 50)), 350),
    ],
    # An arm lacks two votes that pairs of few duels might bring: it trails in two such
    # pairs; in three of them; in two, behind two leaders.
    5: [
        (((9, 40), (41, 9), (40, 8), (44, 9), (8, 40), (9, 42), (2, 1), (9, 38),
          (1, 0), (8, 43)), 500),
        (((40, 9), (41, 9), (40, 8), (15, 17), (38, 8), (8, 40), (2, 1), (41, 9),
          (1, 0), (3, 1)), 600),
        (((20, 14), (41, 9), (17, 18), (44, 9), (40, 8), (22, 14), (43, 9), (2, 1),
          (38, 9), (1, 2)), 500),
    ],
}  # fmt: skip
NUM_RANDOMS = {3: NUM_RANDOM, 4: NUM_RANDOM, 5: 0}


def late_state(num_arms, counts, index):
    wins = np.zeros((num_arms, num_arms), dtype=np.int64)
    for i, j, (won, lost) in zip(*np.triu_indices(num_arms, 1), counts, strict=True):
        wins[i, j], wins[j, i] = won, lost
    return Round(wins, index)


@cache
def states(num_arms, name="d-ts"):
    """Return the states of a policy; pure D-TS has no bounds."""
    number = NUM_RANDOMS[num_arms]
    result = [state_of(num_arms, index) for index in range(number)] + [
        late_state(num_arms, *item) for item in LATE[num_arms]
    ]
    return [replace(item, elimination=name != "pure-d-ts") for item in result]


@cache
def duels_of(item):
    """Spell the counts out, one duel after the other, padded to MOST_DUELS."""
    first, second = np.nonzero(item.wins)
    times = item.wins[first, second]
    rows = np.repeat(np.stack([first, second], axis=1), times, axis=0)
    padded = np.full((MOST_DUELS, 2), -1, dtype=np.int32)
    padded[: len(rows)] = rows
    return padded


def duel_of_round(result):
    """Return (first, second) of the round asked for; a stretch is a self-duel."""
    champion, idle, first, second, _ = result
    return np.where(idle > 0, champion, first), np.where(idle > 0, champion, second)


def idle_distribution(name, item):
    """P(idle) of a round under the definition of the policy."""
    return (
        item.idle_with_regret_ties if name == "d-ts+" else item.idle_distribution.sum()
    )


def p_of_joint_distribution(item, result):
    """Idle with champion a, or a duel of (a, b): one chi-square over all cells."""
    champion, idle_rounds, first, second, _ = result
    idle = item.idle_distribution
    stays = idle_rounds > 0
    counts = np.bincount(champion[stays], minlength=item.num_arms)
    duels = pair_table(first[~stays], second[~stays], item.num_arms)
    busy = item.duel_distribution - np.diag(item.idle_distribution)
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


def p_of_next_duel(item, result):
    """The duel after idle rounds has the distribution of a round given that it is not
    idle."""
    _, _, first, second, played = result
    busy = item.duel_distribution - np.diag(item.idle_distribution)
    counts = pair_table(first[played], second[played], item.num_arms)
    return chi_square(counts, busy / busy.sum()) if counts.sum() > 50 else 1.0
