"""Parts of twins: confidence bounds, divergences, ties, and the round loop."""

import math

import numpy as np

TIE_TOLERANCE = 1e-9
"""Values closer than this, relatively, are ties (see `first_minimum`)."""


def relative_bounds(wins, round_index, alpha):
    """Return upper and lower confidence bounds of every preference probability.

    For a pair compared N > 0 times, B/N +- sqrt(alpha log(t) / N). Every quotient
    with denominator 0 is 1, separately for the ratio and for the width, so a pair
    never compared has the bounds 1 + 1 = 2 and 1 - 1 = 0 (Zoghi et al. 2014; Wu and
    Liu 2016, Algorithm 1). The diagonals are 1/2. Nothing is clipped to [0, 1].

    Parameters
    ----------
    wins : int (K, K)
        Row beat column so often.
    round_index : int
        Index t >= 1 of the round about to be played; natural logarithm.
    alpha : float
        Factor of the logarithm.

    Returns
    -------
    upper, lower : float (K, K)

    Examples
    --------
    >>> upper, lower = relative_bounds([[0, 3], [2, 0]], 10, alpha=0.51)
    >>> float(upper[0, 1]), float(lower[1, 0])
    (1.0846274, -0.0846274)
    >>> upper, lower = relative_bounds([[0, 0], [0, 0]], 10, alpha=0.51)
    >>> float(upper[0, 1]), float(lower[0, 1])
    (2.0, 0.0)
    """
    wins = np.asarray(wins)
    plays = wins + wins.T
    never = plays == 0
    denominator = plays + never
    ratio = wins / denominator
    width = np.sqrt(alpha * math.log(round_index) / denominator)
    ratio[never] = width[never] = 1.0
    upper, lower = ratio + width, ratio - width
    upper.flat[:: len(wins) + 1] = lower.flat[:: len(wins) + 1] = 0.5
    return upper, lower


def bernoulli_divergence(p, q):
    """Return the Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q).

    Natural logarithm; 0 log 0 = 0; infinite when q is 0 or 1 and p is not q.

    Examples
    --------
    >>> bernoulli_divergence(1.0, 0.5) == math.log(2)
    True
    >>> bernoulli_divergence(0.5, 1.0)
    inf
    """
    if p == q:
        return 0.0
    if q in (0.0, 1.0):
        return math.inf
    total = 0.0
    if p > 0:
        total += p * math.log(p / q)
    if p < 1:
        total += (1 - p) * math.log((1 - p) / (1 - q))
    return total


def divergence_from_half(wins, losses):
    """Return d(mu, 1/2) for the empirical mean mu = wins / (wins + losses).

    The mean of a pair never compared is 1/2 by convention, so the value is 0. With
    n = wins + losses and x = (wins - losses) / n = 2 mu - 1, the terms mu log(1 + x)
    and (1 - mu) log(1 - x) lose fewer digits near 1/2 than logarithms of quotients.
    Both orientations of a pair give the same float.

    Examples
    --------
    >>> divergence_from_half(3, 1)
    0.130812
    >>> divergence_from_half(0, 0), divergence_from_half(2, 2)
    (0.0, 0.0)
    """
    if wins == losses:
        return 0.0
    plays = wins + losses
    excess = (wins - losses) / plays
    total = 0.0
    if wins:
        total += wins / plays * math.log1p(excess)
    if losses:
        total += losses / plays * math.log1p(-excess)
    return total


def first_minimum(values):
    """Return the lowest index whose value ties with the minimum.

    Equal sums of divergences, added in another order, may differ in the last digits.
    Values within the relative `TIE_TOLERANCE` of the minimum therefore count as equal.
    Values are non-negative.

    Examples
    --------
    >>> first_minimum([2.0, 1.0 + 1e-12, 1.0])
    1
    """
    values = list(values)
    bound = min(values) * (1 + TIE_TOLERANCE)
    return next(index for index, value in enumerate(values) if value <= bound)


def random_choice(rng, mask):
    """Return a uniformly random index at which the mask is true."""
    indices = np.flatnonzero(mask)
    if len(indices) == 1:
        return int(indices[0])
    return int(indices[rng.integers(len(indices))])


def most_beaten(wins, rng):
    """Return the arm that beats the most others empirically.

    Ties go to the arm with more wins in total, then to a random one.
    """
    beaten = np.count_nonzero(wins > wins.T, axis=1)
    best = beaten == beaten.max()
    totals = np.where(best, wins.sum(axis=1), -1)
    return random_choice(rng, totals == totals.max())


class CountingTwin:
    """State of most twins: the rounds, and who won how often.

    The parameters are attributes of the class, which has their usual values. `start`
    does what is left to do before the first round.
    """

    def __init__(self, num_arms, rng, **parameters):
        self.num_arms = num_arms
        self.rng = rng
        self.rounds = 0
        self.wins = np.zeros((num_arms, num_arms), dtype=np.int64)
        for name, value in parameters.items():
            assert hasattr(type(self), name), name
            setattr(self, name, value)
        self.start()

    def start(self):
        pass

    def update(self, first, second, first_won):
        """Count the outcome; a self-duel only advances the round."""
        self.rounds += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[winner, loser] += 1

    def recommend(self):
        """Return the arm that beats the most others empirically."""
        return most_beaten(self.wins, self.rng)


class OrderedTwin(CountingTwin):
    """A twin that walks through its arms in the order of the run.

    Everything inside works on positions, `order[position]` being the arm: pairs are
    lexicographic, lists start in this order, and ties go to the lowest position.
    """

    order = None

    def start(self):
        self.order = list(range(self.num_arms) if self.order is None else self.order)
        self.position = {arm: index for index, arm in enumerate(self.order)}

    def count(self, first, second, first_won):
        """Count the outcome at the positions of its arms."""
        self.rounds += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[self.position[winner]][self.position[loser]] += 1


def simulate(twin, preference, horizon, checkpoints, rng):
    """Play rounds 1 to `horizon`, one at a time.

    Returns
    -------
    plays : int64 (C, K, K)
        Rounds of each unordered pair up to each checkpoint: upper triangle, self-duels
        on the diagonal.
    """
    preference = np.asarray(preference, dtype=np.float64)
    current = np.zeros(preference.shape, dtype=np.int64)
    recorded = np.zeros((len(checkpoints), *preference.shape), dtype=np.int64)
    row = {int(checkpoint): index for index, checkpoint in enumerate(checkpoints)}
    for round_index in range(1, horizon + 1):
        first, second = twin.choose()
        twin.update(first, second, bool(rng.random() < preference[first, second]))
        current[min(first, second), max(first, second)] += 1
        if round_index in row:
            recorded[row[round_index]] = current
    return recorded


def duels_of(twin, outcomes, horizon):
    """Play rounds 1 to `horizon` with outcomes that are fixed in advance.

    Entry [i, j, n] with i < j says whether i wins the n-th duel, counted from 0, of the
    unordered pair {i, j}. Self-duels count as won by the first.

    Returns
    -------
    list of (int, int)
        The pairs in the order and orientation in which they were played.
    """
    seen = np.zeros(outcomes.shape[:2], dtype=np.int64)
    duels = []
    for _ in range(horizon):
        first, second = twin.choose()
        low, high = min(first, second), max(first, second)
        low_won = low == high or bool(outcomes[low, high, seen[low, high]])
        twin.update(first, second, low_won == (first == low))
        seen[low, high] += 1
        duels.append((first, second))
    return duels


def plays_of_twins(make, preference, checkpoints, num_runs, seed):
    """Return the plays of runs, (run, C, K, K), each of a twin that ``make`` makes."""
    results = []
    for run in range(num_runs):
        rng = np.random.default_rng([seed, run])
        twin = make(rng)
        results.append(simulate(twin, preference, checkpoints[-1], checkpoints, rng))
    return np.stack(results)


def copeland_regret(plays, preference):
    """Return the cumulative Copeland regret of counted duels.

    A duel of i and j costs z* - (z_i + z_j) / 2, where z_i is the number of arms that
    i beats with probability above 1/2, over K - 1 (Wu and Liu 2016, Equation 1).

    Examples
    --------
    >>> preference = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]
    >>> float(copeland_regret([[9, 2, 0], [0, 0, 1], [0, 0, 0]], preference))
    1.25
    """
    preference = np.asarray(preference, dtype=np.float64)
    scores = np.count_nonzero(preference > 0.5, axis=1) / (len(preference) - 1)
    regret = scores.max() - (scores[:, None] + scores[None, :]) / 2
    return (np.asarray(plays) * regret).sum(axis=(-2, -1))
