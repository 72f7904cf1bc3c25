"""Bounds beside measurements: where they are defined and where they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import ArgumentError
from theory.arguments import integer_from, items_of, number_from

if TYPE_CHECKING:
    from jaxtyping import Float64
    from numpy.typing import ArrayLike

    from theory import Optimum, PreferenceMatrix, RegretBound, StructuredBound

BOUNDED_NOTIONS = ("copeland", "copeland_losses")
"""Regrets in the unit of the Copeland lower bound.

Komiyama et al. (2016) define it by losses; without ties the two agree.
"""

_WITHOUT_MODEL = ("beta", "beta-per-pair")  # Posteriors that may learn any matrix.

_MOST_ARMS = 40
"""Arms up to which tables compute a bound under a model: 64 take seconds."""


@dataclass(frozen=True)
class AnchoredBound:
    """An asymptotic bound as a slope through one measured point.

    Attributes
    ----------
    bound : theory.RegretBound
        Its growth is used, its level is not.
    anchor_round : int
        The checkpoint where it touches the measurement.
    anchor_value : float
        The regret there.
    """

    bound: RegretBound
    anchor_round: int
    anchor_value: float

    def __call__(self, rounds: ArrayLike) -> Float64[np.ndarray, "*shape"]:
        """Return anchor_value + bound(rounds) - bound(anchor_round), float64."""
        level = np.asarray(self.bound(float(self.anchor_round)), dtype=np.float64)
        return self.anchor_value + np.asarray(self.bound(rounds)) - level


def anchored_bound(
    bound: RegretBound | Optimum | StructuredBound,
    anchor_round: int,
    anchor_value: float,
) -> AnchoredBound:
    """Anchor an asymptotic bound at a stated checkpoint.

    A lower bound ``C log T - o(log T)`` says nothing about the level of regret at a
    finite horizon (measured regret may lie below ``C log T``), only about its growth;
    so it is drawn as a slope through one point of the measurement.

    Parameters
    ----------
    bound : theory.RegretBound, theory.Optimum or theory.StructuredBound
        An optimum stands for its ``bound``.
    anchor_round : int
        At least 2.
    anchor_value : float
        Regret at that round, in the notion the bound speaks of.

    Returns
    -------
    AnchoredBound
        Callable on rounds.

    Raises
    ------
    ValueError
        When the round is below 2 or the value is not finite.

    Examples
    --------
    >>> from theory import copeland_lower_bound
    >>> optimum = copeland_lower_bound([[0.5, 0.6], [0.4, 0.5]])
    >>> line = anchored_bound(optimum, 1000, 120.0)
    >>> print(f"{optimum.value:.2f} {line(1000):.1f} {line(1000 * 2.718281828):.1f}")
    24.83 120.0 144.8
    """
    round_ = integer_from(anchor_round, 2, "anchor_round")
    value = number_from(anchor_value, -math.inf, "anchor_value")
    return AnchoredBound(regret_bound(bound), round_, value)


def regret_bound(bound: object) -> RegretBound:
    """Return the bound itself; an optimum stands for its ``bound``."""
    from theory import RegretBound

    # Also for an optimum under a model; its class is not imported for this.
    inner = bound if isinstance(bound, RegretBound) else getattr(bound, "bound", None)
    if not isinstance(inner, RegretBound):
        rule = "must be theory.RegretBounds, or optima of theory whose cost is a regret"
        raise ArgumentError("bounds", rule, bound)
    return inner


def model_known_by(parameters: Mapping[str, Any]) -> str:
    """Return the name of the model that a policy samples from, empty without one."""
    from theory.theorems.catalog import option_of

    posterior = option_of(parameters, "posterior")
    if not isinstance(posterior, str) or posterior in _WITHOUT_MODEL:
        return ""
    return posterior.removesuffix("-hmc")


def lower_bound(
    preference: ArrayLike | PreferenceMatrix,
    arms: tuple[str, ...] = (),
    *,
    method: str = "prefix",
    verify: bool = False,
) -> tuple[Optimum | None, str]:
    """Return the Copeland lower bound, or say why there is none.

    Parameters
    ----------
    preference : float (K, K)
        The matrix.
    arms : tuple of str, optional
        Labels for the text; otherwise the names of the matrix, or indices (zero-based).
    method : {"prefix", "cvxpy"}
    verify : bool
        As for `theory.copeland_lower_bound`.

    Returns
    -------
    optimum : theory.Optimum or None
        ``copeland_lower_bound`` of the matrix (Komiyama et al. 2016).
    note : str
        Empty, or e.g. "lower bound: not defined (tie between 4 and 6)".
    """
    from theory import ProgramError, TieError, copeland_lower_bound
    from theory.preferences import as_preference_matrix

    matrix = as_preference_matrix(preference)
    arms = items_of(arms, "arms")
    if arms and len(arms) != matrix.num_arms:
        raise ArgumentError(
            "arms", f"must name each of the {matrix.num_arms} arms", arms
        )
    labels = arms or matrix.arm_names or range(matrix.num_arms)
    if matrix.ties:
        first, second = matrix.ties[0]
        more = f" and {len(matrix.ties) - 1} more" if len(matrix.ties) > 1 else ""
        pair = f"tie between {labels[first]} and {labels[second]}{more}"
        return None, f"lower bound: not defined ({pair})"
    try:
        return copeland_lower_bound(matrix, method=method, verify=verify), ""
    except (TieError, ProgramError) as error:
        return None, f"lower bound: not computed ({error})"


def lower_slope(
    preference: ArrayLike | PreferenceMatrix,
    arms: tuple[str, ...],
    notion: str,
    model: str = "",
) -> tuple[RegretBound | None, int | None, str]:
    """Return the asymptotic lower bound on a regret, or say why there is none."""
    from theory.preferences import as_preference_matrix

    if model and notion in (*BOUNDED_NOTIONS, "condorcet_mean"):
        return _lower_under_model(as_preference_matrix(preference), notion, model)
    if notion in BOUNDED_NOTIONS:
        optimum, note = lower_bound(preference, arms)
        if optimum is None:
            return None, None, note
        return optimum.bound, int(optimum.winner), ""
    if notion != "condorcet_mean":
        stated = "stated for Copeland and condorcet_mean regret"
        return None, None, f"lower bound: {stated}, not for {notion}"
    from theory import condorcet_lower_bound

    matrix = as_preference_matrix(preference)
    try:
        return condorcet_lower_bound(matrix), matrix.condorcet_winner, ""
    except ValueError as error:  # A tie, or no Condorcet winner.
        return None, None, f"lower bound: not defined ({error})"


def _lower_under_model(
    matrix: PreferenceMatrix, notion: str, model: str
) -> tuple[RegretBound | None, int | None, str]:
    from theory import known_theorems, structured_lower_bound
    from theory.errors import ArgumentError, ProgramError

    linear = model == "linear" and matrix.features is not None
    if not linear and not any(model in theorem.knows for theorem in known_theorems("")):
        return None, None, f"lower bound: none is known for policies over {model!r}"
    if matrix.num_arms > _MOST_ARMS:
        return (
            None,
            None,
            (
                f"lower bound over {model!r}: not computed for {matrix.num_arms} arms, "
                "which takes long; theory.structured_lower_bound does, and bayesduel "
                "bounds --model"
            ),
        )
    cost = "gap" if notion == "condorcet_mean" else "copeland"
    known = ("bradley-terry", matrix.features) if linear else (model, None)
    try:
        bound = structured_lower_bound(matrix, known[0], features=known[1], cost=cost)
    except (ArgumentError, ProgramError) as error:
        rule = getattr(error, "rule", "")
        reason = f"the matrix {rule}" if rule.startswith("must obey") else str(error)
        return None, None, f"lower bound over {model!r}: not defined ({reason})"
    return bound.bound, bound.winner, ""
