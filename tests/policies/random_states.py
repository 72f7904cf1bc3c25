"""Counts that no run may ever reach: look-ahead must be right for them as well."""

import numpy as np

ALPHA = 0.51
LATEST = 2**62
"""The longest horizon."""


def wins_of(counts):
    """Return wins from (won, lost) of the pairs 01, 02, 03, 12, 13, 23."""
    wins = np.zeros((4, 4), dtype=np.int64)
    for i, j, (won, lost) in zip(*np.triu_indices(4, 1), counts, strict=True):
        wins[i, j], wins[j, i] = won, lost
    return wins


COUNTS = {
    "nothing": [(0, 0)] * 6,
    "early": [(1, 0), (0, 2), (1, 1), (3, 0), (0, 0), (1, 2)],
    "nobody beats all": [(20, 9), (11, 25), (15, 14), (30, 12), (22, 25), (8, 3)],
    "sure winner": [(40, 8), (45, 12), (38, 6), (20, 18), (11, 9), (3, 4)],
    "sure winner, others sure": [(40, 8), (45, 9), (38, 6), (50, 9), (51, 9), (60, 8)],
    "sure cycle": [(70, 10), (12, 80), (20, 15), (75, 14), (9, 4), (12, 18)],
}
FOUR_ARMS = {name: wins_of(counts) for name, counts in COUNTS.items()}
"""Wins of four arms that a run may reach, by what is known then."""


def random_rounds(rng, number):
    """Return rounds from the first to the last one, on a log scale."""
    rounds = np.floor(np.exp(rng.uniform(0, np.log(1e13), number))).astype(np.int64)
    kind = rng.integers(0, 20, number)
    rounds = np.where(kind == 0, rng.integers(1, 4, number), rounds)
    return np.where(kind == 1, LATEST - rng.integers(0, 10**6, number), rounds)


def random_counts(rng, rounds, num_arms):
    """Return wins, int64 (n, K, K): a kind of counts for each pair, or one for all.

    Never compared; few duels; some hundred; exactly tied; one duel apart; never lost;
    nearly even among up to a billion; bounds about to reach 1/2 at the round.
    """
    number, pairs = len(rounds), num_arms * (num_arms - 1) // 2
    shape = (number, pairs)
    kind = rng.integers(0, 8, shape)
    kind = np.where(rng.random((number, 1)) < 0.4, kind[:, :1], kind)

    def log_uniform(most):
        return np.floor(np.exp(rng.uniform(0, np.log(most), shape)))

    duels = log_uniform(2e9)
    level = np.sqrt(4 * ALPHA * np.log(rounds)[:, None] * duels)
    few = rng.integers(1, 9, shape)
    some = log_uniform(600)
    leads = [
        (np.zeros(shape), np.zeros(shape)),
        (few, rng.integers(0, 9, shape)),
        (some, some * rng.uniform(-1, 1, shape)),
        (duels, np.zeros(shape)),
        (duels, np.ones(shape)),
        (log_uniform(1e6), np.full(shape, np.inf)),
        (duels, rng.normal(0, 4, shape) * np.sqrt(duels)),
        (duels, level * rng.uniform(0.95, 1.2, shape)),
    ]
    duels = np.choose(kind, [item for item, _ in leads])
    lead = np.choose(kind, [item for _, item in leads])
    won = np.clip(np.round((duels + lead) / 2), 0, duels).astype(np.int64)
    lost = duels.astype(np.int64) - won
    # Every other state has a hidden order of the arms, so that someone is ahead.
    turn = np.where(rng.random((number, 1)) < 0.5, won < lost, rng.random(shape) < 0.5)
    won, lost = np.where(turn, lost, won), np.where(turn, won, lost)
    wins = np.zeros((number, num_arms, num_arms), dtype=np.int64)
    row, column = np.triu_indices(num_arms, 1)
    wins[:, row, column], wins[:, column, row] = won, lost
    order = np.argsort(rng.random((number, num_arms)), axis=1)
    return np.take_along_axis(
        np.take_along_axis(wins, order[:, :, None], axis=1), order[:, None, :], axis=2
    )


def log_thresholds(wins, alpha=ALPHA):
    """x of each pair: its bounds exclude 1/2 while log t <= x; in extended precision.

    -1 for a pair never compared, infinity on the diagonal.
    """
    won = wins.astype(np.longdouble)
    lost = np.swapaxes(won, 1, 2)
    duels = np.maximum(won + lost, 1)
    level = (won - lost) ** 2 / (4 * np.longdouble(alpha) * duels)
    level = np.where(won + lost > 0, level, -1)
    return np.where(np.eye(wins.shape[1], dtype=bool), np.inf, level)


def log_of(rounds):
    """Log of integer rounds, in extended precision."""
    return np.log(rounds.astype(np.longdouble))


def last_rounds(thresholds):
    """Return floor(exp(x)), at most 2^62."""
    far = thresholds > np.log(np.longdouble(LATEST))
    return np.where(far, LATEST, np.floor(np.exp(np.where(far, 0, thresholds)))).astype(
        np.int64
    )
