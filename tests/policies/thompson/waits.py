"""Checks of the rounds before a duel of different arms, in single states.

The probability that a round teaches something is summed up over all signs of the
sample, from the rule alone: which flips are relevant does not enter. The rounds before
the first duel of different arms are geometric with that probability, so its survival
function, at what a policy drew, is uniform (with an independent uniform for the jump at
an integer). Where the waiting is cut, by a change of the sets or because enough was
asked, the rest of it is drawn: without memory, the distribution stays uniform.
"""

import numpy as np
from scipy import special, stats

from tests.policies.random_states import LATEST

FALSE_ALARM = 1e-5
"""False-alarm rate of one test, all its comparisons together."""


def tails(wins):
    """P(theta_ij > 1/2), (n, K, K), accurate in both tails; 0 if i = j."""
    probability = special.betainc(np.swapaxes(wins, 1, 2) + 1.0, wins + 1.0, 0.5)
    return np.where(np.eye(wins.shape[1], dtype=bool), 0.0, probability)


def sign_patterns(probability):
    """Return the votes of all sign patterns, (S, K), and their probabilities, (n,
    S)."""
    num_arms = probability.shape[1]
    votes = np.zeros((1, num_arms), dtype=int)
    weight = np.ones((len(probability), 1))
    for i, j in zip(*np.triu_indices(num_arms, 1), strict=True):
        arms = np.arange(num_arms)
        votes = np.concatenate([votes + (arms == i), votes + (arms == j)])
        weight = np.concatenate(
            [weight * probability[:, i, j, None], weight * probability[:, j, i, None]],
            axis=1,
        )
    return votes, weight


def windows(rounds, last):
    """Return the rounds from ``rounds`` to ``last``, at least and at most.

    Late in a run logarithms of neighboring rounds are hardly told apart.
    """
    blur = np.where((last > 10**9) & (last < LATEST), last // 10**13 + 1, 0)
    return np.maximum(last - rounds - blur + 1, 1), last - rounds + blur + 1


def log_stay(differ, same):
    """Log of the probability of a self-duel, from whichever of the two is accurate."""
    with np.errstate(divide="ignore"):
        return np.where(differ < 0.5, np.log1p(-np.minimum(differ, 0.5)), np.log(same))


def uniforms_of(waited, happened, log_stay, rng):
    """Return the randomized survival function of the rounds waited."""
    with np.errstate(invalid="ignore"):
        reached = np.where(waited > 0, waited * log_stay, 0.0)
    inside = rng.random(len(waited))
    step = np.where(happened, -np.expm1(log_stay), 1.0)
    return np.exp(reached) * (1.0 - inside * step)


def p_values(uniforms, probability):
    """Kolmogorov-Smirnov in all states and by the probability of a duel; longest
    waits."""
    by_name = {}
    groups = {
        "all": np.ones(len(probability), dtype=bool),
        "rare": probability < 1e-6,
        "seldom": (probability >= 1e-6) & (probability < 0.1),
        "usual": (probability >= 0.1) & (probability < 1 - 1e-9),
        "sure": probability >= 1 - 1e-9,
    }
    for group, members in groups.items():
        if members.sum() >= 20:
            by_name[group] = stats.kstest(uniforms[members], "uniform").pvalue
            # The longest wait of all, for what it is likely.
            by_name[group, "longest"] = min(1, uniforms[members].min() * members.sum())
    return by_name
