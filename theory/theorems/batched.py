"""Regret bounds of batched dueling bandits (Agarwal, Ghuge and Nagarajan 2022).

All outcomes of a batch arrive together, and an algorithm may use a given number B of
batches. Regret of a duel: (eps_i + eps_j) / 2, "condorcet_mean", where eps_j is the gap
of the Condorcet winner to arm j. Natural logarithms. B is fixed while T varies; with B
= log2 T the factor T^(1/B) is 2. Sizes of the batches are in
`theory.theorems.batch_schedules`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import integer_from, number_from, one_of, true_or_false
from theory.errors import ArgumentError
from theory.preferences import (
    PreferenceMatrix,
    as_preference_matrix,
    require_strong_transitivity,
)
from theory.regret_bound import PowerTerm, RegretBound
from theory.theorems.catalog import CONDORCET, condorcet_winner, theorem

_REGRET = "condorcet_mean"
_TRANSITIVE = "strong stochastic transitivity and the stochastic triangle inequality"
_PAPER = "Agarwal, Ghuge and Nagarajan (2022)"
# True of every algorithm for some j.
_LIKELY_BATCH = "batch {j} is the first past T^({j}/{b}) with probability >= 0.914/{b}"


# The proof removes arms by Hoeffding's inequality, not by divergences.
_HOEFFDING = {"elimination": "hoeffding"}


@theorem("PCOMP, worst case", policy="PCOMP", only_if=_HOEFFDING, worst_case=True)
@theorem("PCOMP", policy="PCOMP", only_if=_HOEFFDING)
def pcomp_bound(
    matrix: PreferenceMatrix | ArrayLike, num_batches: int, *, worst_case: bool = False
) -> RegretBound:
    """Compute the regret bound of PCOMP, all pairs in B batches.

    3 K T^(1/B) log(6 T K^2 B) times the sum over j of 1/eps_j, or, in the worst case of
    given K and smallest gap, 3 K^2 T^(1/B) log(6 T K^2 B) / eps_min.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), with a Condorcet winner
    num_batches : int
        Number of batches B >= 2.
    worst_case : bool
        Bound every 1/eps_j by 1/eps_min, the winner included.

    Returns
    -------
    RegretBound
        Regret "condorcet_mean"; kind "upper", for a run of T rounds with
        elimination="hoeffding" and overflow="truncate". The default of the policy is
        "kl", the rule of the experiments, which the theorem does not cover. It holds
        from T = 2^B on: the proof adds up the batches as a geometric sum.

    References
    ----------
    Agarwal, Ghuge and Nagarajan (2022), Theorem 3.1 (1.1).

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> bound = pcomp_bound(matrix, 10)
    >>> round(float(bound(10**5)), 2)
    6334.06
    """
    checked, gaps = _condorcet_gaps(matrix)
    # T >= 2^B: the largest horizon that is counted.
    batches = integer_from(num_batches, 2, "num_batches", 62)
    true_or_false(worst_case, "worst_case")
    num_arms = checked.num_arms
    sum_of_inverses = num_arms / gaps.min() if worst_case else (1 / gaps).sum()
    factor = float(3 * num_arms * sum_of_inverses)
    return RegretBound(
        name=f"PCOMP, {batches} batches" + (", worst case" if worst_case else ""),
        log_coefficient=0.0,
        power_terms=(
            PowerTerm(factor, 1 / batches, 1),
            PowerTerm(factor * math.log(6 * num_arms**2 * batches), 1 / batches),
        ),
        kind="upper",
        regret=_REGRET,
        assumptions=(CONDORCET, f"at most {batches} batches", "T >= 2^B"),
        source=f"{_PAPER}, Theorem 3.1",
        minimum_horizon=max(num_arms, 2**batches),
        policy="PCOMP",
        condition=f'num_batches={batches}, elimination="hoeffding"',
        anytime=False,
    )


@theorem("SCOMP", policy="SCOMP")
def scomp_order(
    matrix: PreferenceMatrix | ArrayLike, num_batches: int, *, form: str = "instance"
) -> RegretBound:
    """Return the order of growth of the regret of SCOMP, a seed set in B + 1 batches.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    num_batches : int
        B >= 2; the algorithm uses at most B + 1 batches.
    form : {"instance", "worst case", "larger seed set"}
        "instance": sum over j of sqrt(K) T^(1/B) log T / eps_j (Theorem 3.2). "worst
        case": K^(3/2) T^(1/B) log T / eps_min. "larger seed set": K^(4/3) T^(1/B) log T
        / eps_min, where arms enter the seed set with probability K^(-2/3) instead of
        K^(-1/2) (Theorem 3.3).

    Returns
    -------
    RegretBound
        Regret "condorcet_mean"; kind "order only".

    Raises
    ------
    InvalidPreferenceError
        If no arm beats all others, or it is not strongly stochastically transitive with
        the triangle inequality; the arms that break the rule are named.

    References
    ----------
    Agarwal, Ghuge and Nagarajan (2022), Theorems 3.2 (1.2) and 3.3.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.65], [0.4, 0.5, 0.6], [0.35, 0.4, 0.5]]
    >>> scomp_order(matrix, 10).formula
    '28.87 T^0.1 log T'
    """
    checked, gaps = _transitive_gaps(matrix, "the bound of SCOMP")
    batches = integer_from(num_batches, 2, "num_batches")
    num_arms, least = checked.num_arms, gaps.min()
    factors = {
        "instance": math.sqrt(num_arms) * (1 / gaps).sum(),
        "worst case": num_arms**1.5 / least,
        "larger seed set": num_arms ** (4 / 3) / least,
    }
    one_of(form, factors, "form")
    theorem = "Theorem 3.3" if form == "larger seed set" else "Theorem 3.2"
    label = "" if form == "instance" else f", {form}"
    return _order("SCOMP" + label, factors[form], batches, batches + 1, theorem)


@theorem("SCOMP2", policy="SCOMP2")
def scomp2_order(matrix: PreferenceMatrix | ArrayLike, num_batches: int) -> RegretBound:
    """Return the order of growth of the regret of SCOMP2, K B T^(1/B) log T / eps_min.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    num_batches : int
        B >= 2; the algorithm uses at most 2 B + 1 batches.

    Returns
    -------
    RegretBound
        Regret "condorcet_mean"; kind "order only".

    Raises
    ------
    InvalidPreferenceError
        As for `scomp_order`.

    References
    ----------
    Agarwal, Ghuge and Nagarajan (2022), Theorem 3.4 (1.3).

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.65], [0.4, 0.5, 0.6], [0.35, 0.4, 0.5]]
    >>> scomp2_order(matrix, 10).formula
    '300 T^0.1 log T'
    """
    checked, gaps = _transitive_gaps(matrix, "the bound of SCOMP2")
    batches = integer_from(num_batches, 2, "num_batches")
    factor = checked.num_arms * batches / gaps.min()
    return _order("SCOMP2", factor, batches, 2 * batches + 1, "Theorem 3.4")


def hard_gap(
    num_arms: int, horizon: float, num_batches: int, gap_index: int = 1
) -> float:
    """Compute the gap Delta_j = sqrt(K) / (24 B) T^(-(j - 1) / (2 B)).

    It is the gap of the Condorcet winner in the instances E_{j,k} of the lower bound;
    the instances Q_{j,k,l} of the proof have twice the gap.

    Parameters
    ----------
    num_arms : int
        Number of arms K >= 2.
    horizon : float
        Number of rounds T >= 1.
    num_batches : int
        Number of batches B >= 1.
    gap_index : int
        j, from 1 to B.

    Returns
    -------
    float
        At most 1/4, so that 1/2 + 2 Delta_j is a probability.

    Raises
    ------
    ValueError
        If an argument is out of range, or 2 Delta_1 > 1/2.

    References
    ----------
    Agarwal, Ghuge and Nagarajan (2022), "Batched dueling bandits", ICML, appendix C.

    Examples
    --------
    >>> [round(hard_gap(100, 1e5, 16, j), 6) for j in (1, 2, 3, 4)]
    [0.026042, 0.018173, 0.012681, 0.00885]
    """
    largest, exponent = _hard_gap(num_arms, num_batches, gap_index)
    rounds = number_from(horizon, 1, "horizon")
    return largest * rounds**-exponent


def batched_lower_bound(
    num_arms: int, num_batches: int, gap_index: int = 1, *, form: str = "order"
) -> RegretBound:
    """Return the lower bound for at most B batches, of the order K T^(1/B) / B^2 eps.

    It is no bound for one given matrix: for every algorithm some instance of a family,
    whose gap eps = Delta_j (`hard_gap`) shrinks as T grows, costs that much for some j.
    The value at j = 1 is the smallest, so it holds whichever j that is; a value at j >
    1 holds for an algorithm with that j only.

    Parameters
    ----------
    num_arms : int
        Number of arms K >= 2.
    num_batches : int
        Number of batches B >= 2.
    gap_index : int
        j, from 1 to B.
    form : {"order", "printed", "explicit"}
        "order": the theorem, K T^(1/B) / (B^2 Delta_j), up to a constant. "printed":
        the last line of its proof, Delta_j T^(j/B) / (4 B), which is K T^(1/B) / (2304
        B^3 Delta_j): a power of B less than the theorem states. "explicit": a third of
        that, Delta_j T^(j/B) / (12 B), with the constants that the notes derive; for K
        >= 3 and sqrt(K) <= 3 B.

    Returns
    -------
    RegretBound
        Regret "condorcet_mean"; kind "worst-case lower" if explicit, "order only"
        otherwise. At j > 1 its `condition` says what it needs of the algorithm.

    Notes
    -----
    The constants of the printed proof do not hold literally. A duel of the winner k of
    E_{j,k} with another arm costs Delta_j / 2, not Delta_j; the instances Q_{j,k,l}
    have the gap 2 Delta_j, so the family has two gaps per j; the sum over l lacks the
    term l = k, which leaves a factor (K - 1) / K; and P(l beats k) moves by 3 Delta_j,
    not 2. With Delta_1 <= 1/8: KL(1/2, 1/2 + Delta) <= 4.267 Delta^2 gives p_j >= 0.914
    / B for some j; KL <= 48 Delta^2 per duel with l gives a mean total variation of at
    most sqrt(48 / 576) / B; hence a regret of at least (Delta_j T^(j/B) / 2) (0.914 (K
    - 1) / K - 0.4331) / B, and that is more than Delta_j T^(j/B) / (12 B) for K >= 3.

    References
    ----------
    Agarwal, Ghuge and Nagarajan (2022), Theorem C.1 (1.4), Lemmas C.2 and C.3.

    Examples
    --------
    >>> bound = batched_lower_bound(16, 4)
    >>> bound.formula, bound.order_only
    ('24 T^0.25', True)
    """
    largest, exponent = _hard_gap(num_arms, num_batches, gap_index)
    batches, index = integer_from(num_batches, 2, "num_batches"), int(gap_index)
    # T^(1/B) / Delta_j, the gap written out.
    inverse = num_arms / largest
    factors = {
        "order": inverse / batches**2,
        "printed": inverse / (2304 * batches**3),
        "explicit": inverse / (6912 * batches**3),
    }
    one_of(form, factors, "form")
    explicit = form == "explicit"
    if explicit and not (num_arms >= 3 and largest <= 0.125):
        raise ArgumentError(
            "num_arms",
            f"must be at least 3, with sqrt(K) <= 3 B for the B = {batches} batches, "
            "in the explicit form",
            num_arms,
            remedy="take another form, or more batches",
        )
    return RegretBound(
        name=f"batched lower bound, {batches} batches, gap {index}",
        log_coefficient=0.0,
        power_terms=(PowerTerm(factors[form], 1 / batches + exponent),),
        kind="worst-case lower" if explicit else "order only",
        regret=_REGRET,
        assumptions=(
            f"at most {batches} batches",
            "for some instance of a family whose gap depends on T",
        ),
        remainder="" if explicit else "unspecified constant factor, in B too",
        source=f"{_PAPER}, Theorem C.1",
        minimum_horizon=max(2, num_arms, batches),
        condition="" if index == 1 else _LIKELY_BATCH.format(j=index, b=batches),
        anytime=False,
    )


def _order(
    name: str, factor: float, batches: int, used: int, theorem: str
) -> RegretBound:
    return RegretBound(
        name=f"{name}, {used} batches",
        log_coefficient=0.0,
        power_terms=(PowerTerm(float(factor), 1 / batches, 1),),
        kind="order only",
        regret=_REGRET,
        assumptions=(CONDORCET, _TRANSITIVE, f"at most {used} batches"),
        remainder="unspecified constant factor",
        source=f"{_PAPER}, {theorem}",
        policy=name.partition(",")[0],
        condition='elimination="hoeffding"',
        anytime=False,
    )


def _condorcet_gaps(
    matrix: PreferenceMatrix | ArrayLike,
) -> tuple[PreferenceMatrix, np.ndarray]:
    """Return the matrix and the gaps of the winner to the other arms, all positive."""
    checked = as_preference_matrix(matrix)
    winner = condorcet_winner(checked)
    return checked, np.delete(checked.gaps[winner], winner)


def _transitive_gaps(
    matrix: PreferenceMatrix | ArrayLike, bound: str
) -> tuple[PreferenceMatrix, np.ndarray]:
    checked, gaps = _condorcet_gaps(matrix)
    require_strong_transitivity(checked, bound)
    return checked, gaps


def _hard_gap(
    num_arms: object, num_batches: object, gap_index: object
) -> tuple[float, float]:
    """Return Delta_1 and the exponent (j - 1) / (2 B) with which Delta_j falls in T."""
    arms = integer_from(num_arms, 2, "num_arms")
    batches = integer_from(num_batches, 1, "num_batches")
    index = integer_from(gap_index, 1, "gap_index")
    if index > batches:
        raise ArgumentError("gap_index", f"must be at most {batches}", index)
    largest = math.sqrt(arms) / (24 * batches)
    if largest > 0.25:
        raise ArgumentError(
            "num_batches",
            f"must be B with sqrt(K) <= 6 B for K = {arms} arms, so that 1/2 + 2 "
            "Delta_1 is a probability",
            batches,
            remedy="take more batches",
        )
    return largest, (index - 1) / (2 * batches)
