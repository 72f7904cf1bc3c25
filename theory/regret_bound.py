"""A regret bound: its constants, what it speaks of, and what it assumes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import integer_from, number_from, one_of, true_or_false
from theory.errors import ArgumentError, ArgumentTypeError
from theory.validation import numeric_array, refuse_entries

if TYPE_CHECKING:
    from jaxtyping import Float64


# Kinds of bounds; `RegretBound` tells what each of them claims
KINDS: tuple[str, ...] = (
    "asymptotic lower",
    "asymptotic upper",
    "worst-case lower",
    "upper",
    "order only",
    "unproved",
    "heuristic",
)
_TEXTS = ("name", "regret", "remainder", "source", "policy", "condition")


@dataclass(frozen=True)
class PowerTerm:
    """A term coefficient T^power (log T)^log_power of a regret bound.

    Parameters
    ----------
    coefficient : float
        The factor.
    power, log_power : float
        Exponents of T and of log T, not negative.

    Raises
    ------
    ValueError
        If the coefficient is not finite, or an exponent negative or not finite.
    """

    coefficient: float
    power: float
    log_power: float = 0.0

    def __post_init__(self) -> None:
        number_from(self.coefficient, -math.inf, "coefficient")
        for name in ("power", "log_power"):
            number_from(getattr(self, name), 0.0, name)

    def __call__(
        self, rounds: Float64[np.ndarray, "*shape"]
    ) -> Float64[np.ndarray, "*shape"]:
        """Evaluate the term at horizons that were checked."""
        value = self.coefficient * rounds**self.power
        return value * np.log(rounds) ** self.log_power if self.log_power else value

    def __str__(self) -> str:
        return self.text(4)

    def text(self, digits: int) -> str:
        """Return the term with so many significant digits, e.g. "2.5 T^0.5 log T"."""
        parts = [f"{self.coefficient:.{digits}g}"]
        if self.power:
            parts.append("T" if self.power == 1 else f"T^{self.power:.4g}")
        if self.log_power:
            parts.append(
                "log T" if self.log_power == 1 else f"(log T)^{self.log_power:.4g}"
            )
        return " ".join(parts)


@dataclass(frozen=True, kw_only=True)
class RegretBound:
    """Leading terms of a regret bound, callable on horizons.

    Its value at T is constant + log_coefficient log T + loglog_coefficient log log T
    plus the terms that grow faster, with natural logarithms. Terms without an explicit
    constant stand in `remainder` as text and are never added; an "upper" bound has
    none.

    Parameters
    ----------
    name : str
        What is bounded, and by whom.
    log_coefficient, loglog_coefficient, constant : float
        The three coefficients.
    kind : str
        What is claimed of expected regret, one of `KINDS`.

        "upper"
            At most this at every horizon from `minimum_horizon` on: every constant is
            in it, nothing is left out.
        "asymptotic upper"
            It grows at most like this as T goes to infinity. A factor 1 + delta, o(log
            T), or terms without T whose constants nobody names are left out, so at a
            finite horizon regret may lie above.
        "asymptotic lower"
            It grows at least like this; at a finite horizon regret may lie below.
        "worst-case lower"
            For every algorithm some instance of a family costs at least this. It says
            nothing of one given instance.
        "order only"
            An unspecified constant factor is missing: a shape, no number.
        "unproved"
            Printed as a theorem, with a gap in the proof.
        "heuristic"
            No theorem: a number to hold against a measurement.
    regret : str
        The notion of regret: one of `theory.REGRET_NOTIONS` for duels;
        "expected_reward" for subsets of arms and for bandits with one arm per round.
        Bounds of different notions must not be compared.
    assumptions : tuple of str
        What must hold. What can be read from the matrix was checked, unless it says
        otherwise.
    remainder : str
        The terms that are left out.
    source : str
        Author, year, theorem or equation.
    minimum_horizon : int
        Smallest horizon at which the bound can be evaluated.
    power_terms : tuple of PowerTerm
        Terms with a power of T or of log T.
    policy : str
        Acronym of the policy whose regret it bounds; empty if it speaks of any policy.
    condition : str
        Under which options of that policy, or on which event, it holds, for tables and
        legends; empty if there is no such condition.
    anytime : bool
        Whether it holds in every round of a run. Otherwise it holds at the end of a run
        whose horizon T the policy was told.

    Raises
    ------
    ValueError
        If the kind is unknown, a coefficient is not finite, or an upper bound leaves
        terms out.

    Examples
    --------
    >>> bound = RegretBound(
    ...     name="example", log_coefficient=2.0, kind="upper", regret="copeland"
    ... )
    >>> bound([10, 100])
    array([4.60517019, 9.21034037])
    >>> bound.formula
    '2 log T'
    """

    name: str
    log_coefficient: float
    loglog_coefficient: float = 0.0
    constant: float = 0.0
    kind: str
    regret: str
    assumptions: tuple[str, ...] = ()
    remainder: str = ""
    source: str = ""
    minimum_horizon: int = 2
    power_terms: tuple[PowerTerm, ...] = ()
    policy: str = ""
    condition: str = ""
    anytime: bool = True

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, "kind")
        for name in ("log_coefficient", "loglog_coefficient", "constant"):
            number_from(getattr(self, name), -math.inf, name)
        integer_from(self.minimum_horizon, 2, "minimum_horizon")
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise ArgumentTypeError(name, "must be a str", getattr(self, name))
        for name, kind in (("assumptions", str), ("power_terms", PowerTerm)):
            values = getattr(self, name)
            if not isinstance(values, tuple) or not all(
                isinstance(value, kind) for value in values
            ):
                raise ArgumentTypeError(
                    name, f"must be a tuple of {kind.__name__}", values
                )
        true_or_false(self.anytime, "anytime")
        if self.kind == "upper" and self.remainder:
            raise ArgumentError(
                "remainder",
                "must be empty where kind is 'upper'",
                self.remainder,
                remedy="with terms left out it is an 'asymptotic upper'",
            )

    @property
    def order_only(self) -> bool:
        """Whether an unspecified constant factor is missing: a shape, no number."""
        return self.kind == "order only"

    @property
    def formula(self) -> str:
        """The leading terms as text, the fastest first, e.g. "8 T^0.5 log T + 3"."""
        return self.formula_to(4)

    def formula_to(self, digits: int) -> str:
        """Return `formula` with so many significant digits of every coefficient.

        Parameters
        ----------
        digits : int
            At least 1.

        Returns
        -------
        str
            For instance "8 T^0.5 log T + 3".

        Examples
        --------
        >>> bound = RegretBound(
        ...     name="RMED1",
        ...     log_coefficient=11.15307,
        ...     kind="asymptotic upper",
        ...     regret="condorcet_mean",
        ... )
        >>> bound.formula, bound.formula_to(6)
        ('11.15 log T', '11.1531 log T')
        """
        precision = integer_from(digits, 1, "digits")
        terms = [term.text(precision) for term in self.power_terms]
        for coefficient, name in (
            (self.log_coefficient, " log T"),
            (self.loglog_coefficient, " log log T"),
            (self.constant, ""),
        ):
            if coefficient:
                terms.append(f"{coefficient:.{precision}g}{name}")
        return " + ".join(terms).replace("+ -", "- ") or "0"

    def __call__(self, horizons: ArrayLike) -> Float64[np.ndarray, "*shape"]:
        """Evaluate the leading terms.

        Parameters
        ----------
        horizons : array-like of numbers, any shape
            Numbers of rounds T.

        Returns
        -------
        float64 array, same shape
            Cumulative regret.

        Raises
        ------
        ValueError
            If a horizon is not finite or below `minimum_horizon`.
        """
        rounds = numeric_array(horizons, "horizons")
        bad = ~(np.isfinite(rounds) & (rounds >= self.minimum_horizon))
        rule = f"must be finite and at least {self.minimum_horizon} for {self.name!r}"
        refuse_entries(bad, rounds, "horizons", rule, kind=ArgumentError)
        logs = np.log(rounds)
        value = self.constant + self.log_coefficient * logs
        if self.loglog_coefficient:
            value = value + self.loglog_coefficient * np.log(logs)
        for term in self.power_terms:
            value = value + term(rounds)
        return np.asarray(value)
