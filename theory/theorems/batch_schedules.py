"""Batch sizes and thresholds of the batched dueling bandits.

Agarwal, Ghuge and Nagarajan (2022), "Batched dueling bandits", ICML, section 3: with T
rounds, K arms and B batches, q = T^(1/B), c_r = floor(q^r) duels per pair in batch r,
delta = 1 / (6 T K^2 B), and gamma_r = sqrt(log(1/delta) / (2 c_r)). Everything here is
a plain number, known before the first duel. Natural logarithms.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

from theory.arguments import integer_from, number_above, number_that
from theory.errors import ArgumentError

MOST_BATCHES = 100_000  # Their sizes take a few seconds

# Bits of a number of rounds: no number is a higher power of an integer above 1
_MOST_BITS = 62
_MOST_PLACES = 1_000_000


def batch_ratio(horizon: int, num_batches: int) -> float:
    """Compute q = T^(1/B), the growth of the batches.

    Parameters
    ----------
    horizon, num_batches : int
        T >= 1, and B from 1 to T.

    Examples
    --------
    >>> round(batch_ratio(100_000, 16), 8)
    2.05352503
    """
    rounds, batches = _checked(horizon, num_batches)
    return math.exp(math.log(rounds) / batches)


def batch_sizes(horizon: int, num_batches: int) -> tuple[int, ...]:
    """Compute the number of duels of every pair in batches 1, ..., B.

    c_r = floor(T^(r/B)), without rounding: in floating point (1000^(1/3))^3 falls
    short of 1000, and no fixed correction is right for every T.

    Parameters
    ----------
    horizon, num_batches : int
        T >= 1, and B from 1 to T.

    Returns
    -------
    tuple of B int
        Not decreasing, from at least 1 to T. An algorithm cuts the batch that would
        pass T.

    Examples
    --------
    >>> batch_sizes(1000, 3)
    (10, 100, 1000)
    >>> batch_sizes(100_000, 16)[:8]
    (2, 4, 8, 17, 36, 74, 153, 316)
    """
    rounds, batches = _checked(horizon, num_batches)
    return tuple(_floor_of_power(rounds, r, batches) for r in range(1, batches + 1))


def log_inverse_delta(horizon: float, num_arms: int, num_batches: int) -> float:
    """Compute log(1/delta) = log(6 T K^2 B) of the Hoeffding tests.

    With it every estimate of every batch is within gamma_r of its probability with
    probability at least 1 - 1/T (Lemma 4.2). When the pairwise algorithm is called on
    the arms that a seeded one left over, T is what is left of the rounds and K the
    number of these arms.

    Parameters
    ----------
    horizon : float
        Number of rounds T > 0.
    num_arms, num_batches : int
        K and B, at least 1.

    Examples
    --------
    >>> round(log_inverse_delta(100_000, 100, 16), 7)
    25.287614
    """
    rounds = number_above(horizon, 0.0, "horizon")
    arms = integer_from(num_arms, 1, "num_arms")
    batches = integer_from(num_batches, 1, "num_batches")
    # A product could leave the range of floats.
    return math.log(6 * batches) + math.log(rounds) + 2 * math.log(arms)


def batch_radius(num_duels: float, log_inverse: float) -> float:
    """Compute gamma = sqrt(log(1/delta) / (2 c)), the radius of an estimate.

    Parameters
    ----------
    num_duels : float
        Duels c > 0 of the pair in this batch.
    log_inverse : float
        log(1/delta) > 0, from `log_inverse_delta`.

    Returns
    -------
    float
        Above 1/2 nothing can be concluded.

    Examples
    --------
    >>> round(batch_radius(74, log_inverse_delta(100_000, 100, 16)), 4)
    0.4134
    """
    duels = number_above(num_duels, 0.0, "num_duels")
    return math.sqrt(number_above(log_inverse, 0.0, "log_inverse") / (2 * duels))


def kl_threshold(horizon: float, num_arms: int) -> float:
    """Compute log(1/delta) = log(T K^2) of the divergence tests of the experiments.

    An arm j is removed when N_ij KL(P(j beats i), 1/2) exceeds it for an arm i that is
    ahead, with all duels so far. The paper (section 5) prints log(T delta), which is
    negative for its own delta = 1 / (T K^2) and would remove arms at once.

    Parameters
    ----------
    horizon : float
        Number of rounds T > 0.
    num_arms : int
        Number of arms K; T K^2 > 1.

    Examples
    --------
    >>> round(kl_threshold(100_000, 100), 7), round(kl_threshold(100_000, 6), 7)
    (20.7232658, 15.0964444)
    """
    arms = integer_from(num_arms, 1, "num_arms")
    rounds = number_above(horizon, 1.0 / arms**2, "horizon")
    return math.log(rounds) + 2 * math.log(arms)


def seed_rank_moments(
    num_arms: int, probability: float | None = None
) -> tuple[float, float]:
    """Compute the first two moments of the place of the best arm of a seed set.

    Every arm enters the set with the same probability p, independently. Its best arm
    has place R (1 for the best of all) with probability p (1 - p)^(R - 1); an empty set
    counts as place K, since all arms then go on to the pairwise phase. Lemma 4.5 says
    E[R] <= sqrt(K) and E[R^2] <= 2 K for p = 1 / sqrt(K).

    Parameters
    ----------
    num_arms : int
        Number of arms K >= 1, in a total order.
    probability : float, optional
        p in (0, 1]; 1 / sqrt(K) by default, and K^(-2/3) in Theorem 3.3.

    Returns
    -------
    mean, second_moment : float
        E[R] and E[R^2].

    Notes
    -----
    Lemma 4.6 prints E[R^2] <= K^(4/3) for p = K^(-2/3); the bound that holds is 2
    K^(4/3).

    Examples
    --------
    >>> mean, second = seed_rank_moments(100)
    >>> round(mean, 4), round(second, 3)
    (9.9997, 189.942)
    """
    arms = integer_from(num_arms, 1, "num_arms", _MOST_PLACES)
    p = number_that(
        1 / math.sqrt(arms) if probability is None else probability,
        "probability",
        "in (0, 1]",
        lambda share: 0 < share <= 1,
    )
    mean = second = 0.0
    for rank in range(1, arms + 1):
        # All that is left at the last place: an empty set counts there too.
        weight = (1 - p) ** (rank - 1) * (p if rank < arms else 1.0)
        mean += weight * rank
        second += weight * rank**2
    return mean, second


def _checked(horizon: object, num_batches: object) -> tuple[int, int]:
    rounds = integer_from(horizon, 1, "horizon")
    batches = integer_from(num_batches, 1, "num_batches")
    if batches > MOST_BATCHES:
        raise ArgumentError(
            "num_batches",
            f"must be at most {MOST_BATCHES}",
            batches,
            remedy="from 62 on a batch is not twice as long as the one before, "
            "whatever the horizon",
        )
    if batches > rounds:
        raise ArgumentError(
            "num_batches",
            f"must be at most the horizon {rounds}",
            batches,
            remedy="a batch has at least one duel",
        )
    return rounds, batches


def _floor_of_power(base: int, numerator: int, denominator: int) -> int:
    """Return floor(base^(numerator / denominator)) for an exponent of at most 1."""
    common = math.gcd(numerator, denominator)
    power, root = numerator // common, denominator // common
    if root <= _MOST_BITS or base == 1:
        return _integer_root(base**power, root)
    # This is no integer, so that some number of digits tells on which side of one.
    digits = 40
    while True:
        with localcontext(prec=digits):
            value = Decimal(base) ** (Decimal(power) / root)
            error = value.scaleb(3 - digits)
            low, high = int(value - error), int(value + error)
        if low == high:
            return low
        digits *= 2


def _integer_root(value: int, degree: int) -> int:
    """Return the largest integer whose power is at most the value, without rounding."""
    root = int(math.exp(math.log(value) / degree) * (1 + 1e-9)) + 1
    while True:  # Newton's method from above.
        lower = ((degree - 1) * root + value // root ** (degree - 1)) // degree
        if lower >= root:
            return root
        root = lower
