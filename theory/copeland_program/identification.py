"""Whether the duels so far single out a winner."""

from __future__ import annotations

from numpy.typing import ArrayLike

from theory.arguments import arm_index, number_above, one_of
from theory.copeland_program._constraints import candidate_slack, ecw_slack
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.validation import symmetric_amounts

PROGRAMS: tuple[str, ...] = ("cw", "ecw")
"""The optimal and the efficient exploration program."""

_TOLERANCE = 1e-12


def counts_suffice(
    counts: ArrayLike,
    log_rounds: float,
    matrix: PreferenceMatrix | ArrayLike,
    winner: int,
    *,
    program: str = "cw",
) -> bool:
    """Return whether the numbers of duels suffice to call an arm a Copeland winner.

    They do if the evidence N_ij d_ij / log t satisfies every constraint "sum >= 1" with
    an absolute tolerance of 1e-12. More than one unit on a pair never hurts.

    Parameters
    ----------
    counts : array-like (K, K)
        Numbers of duels N_ij, symmetric; the diagonal is ignored.
    log_rounds : float
        log t > 0, natural logarithm.
    matrix : PreferenceMatrix or array-like (K, K)
        True or estimated preference matrix. A tied pair belongs to no constraint, even
        if it touches a winner.
    winner : int
        An arm with the fewest losses.
    program : {"cw", "ecw"}
        "cw": all families (P) of `theory.copeland_program._constraints` (Komiyama
        et al. 2016, eq. 2); this is the test of CW-RMED and of ECW-RMED. "ecw": the
        stronger demands of the efficient program (eqs. 4 and 5).

    Returns
    -------
    bool
        Whether all constraints hold; true if there is none.

    Raises
    ------
    InvalidPreferenceError
        If the arm has not the fewest losses.
    ValueError
        If the counts have the wrong shape, are negative, not finite or asymmetric, if
        log_rounds is not positive, or the program is unknown.

    Examples
    --------
    >>> matrix = [[0.5, 0.7], [0.3, 0.5]]
    >>> counts_suffice([[0, 100], [100, 0]], 7.0, matrix, 0)
    True
    >>> counts_suffice([[0, 80], [80, 0]], 7.0, matrix, 0)
    False
    """
    one_of(program, PROGRAMS, "program")
    checked = as_preference_matrix(matrix)
    arm = arm_index(winner, checked.num_arms, "winner")
    if arm not in checked.loss_winners:
        raise InvalidPreferenceError(
            f"winner must be an arm with the fewest losses, one of "
            f"{list(checked.loss_winners)}; got {arm}."
        )
    elapsed = number_above(log_rounds, 0.0, "log_rounds")
    duels = symmetric_amounts(counts, checked.num_arms, "counts")
    evidence = duels * kl_to_half(checked.gaps) / elapsed
    slack = candidate_slack if program == "cw" else ecw_slack
    return bool(slack(evidence, checked.gaps, arm) >= 1.0 - _TOLERANCE)
