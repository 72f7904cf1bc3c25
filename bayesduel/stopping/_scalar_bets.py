"""What bets on a pair are worth, one pair at a time: those of ``theory``'s evidence.

After w wins and l losses the bet on p > b, b + c = 1, with the mixture Beta(a, a) is
worth

    E = J(w + a, l + a) / (J(a, a) b^w c^l),   J(x, y) = integral from b to 1 of
                                                 p^(x - 1) (1 - p)^(y - 1) dp.

By the continued fraction of the incomplete Beta function (Abramowitz and Stegun 1964,
26.5.8) the part of it on the side of b away from the mean w / (w + l) is small and
found directly, without a Beta function; the other one is the rest of the whole. Bets
on p < b are those on 1 - p > c.
"""

import math

from bayesduel.ops.scalar.compiled import compiled, inlined
from theory.identification.beta_fraction import incomplete_beta_fraction

_fraction = compiled(incomplete_beta_fraction)


def log_whole(prior: float, bound: float) -> float:
    """Return the logarithm of J(a, a), once per run and bound."""
    from scipy.special import betainc, betaln

    return float(betaln(prior, prior) + math.log(betainc(prior, prior, 1.0 - bound)))


@compiled
def log_bets(
    won: int, lost: int, prior: float, bound: float, above: float, below: float
) -> tuple[float, float]:
    """Return log E of the bets on p > bound and on p < bound.

    ``above`` and ``below`` are `log_whole` of the bound and of 1 - bound.
    """
    x, y, rest = won + prior, lost + prior, 1.0 - bound
    log_bound, log_rest = math.log(bound), math.log(rest)
    both = math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
    both -= won * log_bound + lost * log_rest
    edge = prior * (log_bound + log_rest)
    if bound * (x + y + 2.0) >= x + 1.0:
        small = edge + math.log(_fraction(y, x, rest) / y)
        return small - above, both + math.log1p(-math.exp(small - both)) - below
    small = edge + math.log(_fraction(x, y, bound) / x)
    return both + math.log1p(-math.exp(small - both)) - above, small - below


@inlined
def lower_half(won: int, lost: int) -> float:
    """Return P(p < 1/2) of the distribution Beta(won, lost), won above lost."""
    both = math.lgamma(won) + math.lgamma(lost) - math.lgamma(won + lost)
    edge = -(won + lost) * math.log(2.0) - both
    return math.exp(edge + math.log(_fraction(won, lost, 0.5) / won))


@inlined
def log_stake(bet: float, stake: float) -> float:
    """Return log(1 - stake + stake exp(bet))."""
    if bet > 0.0:
        return bet + math.log(stake + (1.0 - stake) * math.exp(-bet))
    return math.log1p(stake * math.expm1(bet))
