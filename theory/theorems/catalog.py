"""Which theorem bounds the regret of an instance, and which assumption fails.

A theorem enters the catalog where it is written, by `theorem`. What a command or a
figure shows of theory follows from the catalog alone; no other list of bounds exists.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from theory.errors import ArgumentError, ArgumentTypeError, InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.regret_bound import RegretBound

if TYPE_CHECKING:
    from theory.choice.tables import ChoiceTable


NO_TIES = "no two arms tie"
CONDORCET = "a Condorcet winner exists"


def condorcet_winner(matrix: PreferenceMatrix) -> int:
    """Return the arm that beats all others.

    `InvalidPreferenceError` if no arm does; one that the best arm does not beat is
    named.
    """
    winner = matrix.condorcet_winner
    if winner is None:
        best = matrix.copeland_winners[0]
        other = int(np.flatnonzero(np.delete(matrix.gaps[best], best) <= 0)[0])
        other += other >= best
        raise InvalidPreferenceError(
            "matrix",
            "must be above 1/2: the theorem needs an arm that beats all others, and "
            f"the best arm {best} does not beat arm {other}",
            matrix.values[best, other],
            index=(best, other),
            remedy="copeland_lower_bound and ecw_rmed_constant need none",
        )
    return winner


def smallest_gap(matrix: PreferenceMatrix) -> float:
    """Return Delta, the smallest abs(P - 1/2) over pairs of different arms."""
    return float(np.abs(matrix.gaps[~np.eye(matrix.num_arms, dtype=bool)]).min())


@dataclass(frozen=True)
class Theorem:
    """A bound of the literature, as a function of an instance.

    Attributes
    ----------
    name : str
        In tables, also where it does not apply.
    policy : str
        Acronym of the algorithm that it is about; empty for a bound on all of them.
    function : callable
        Takes the instance first. Further parameters are those of the policy, by name.
    fixed : mapping
        Arguments that make this form of the function.
    about : type
        `PreferenceMatrix` or `ChoiceTable`.
    only_if : mapping
        Options of the policy that the theorem presumes, by name.
    knows : tuple of str
        Names of posteriors over one model: it is about policies that sample from one of
        them. Empty where it is about policies that presume no model.
    """

    name: str
    policy: str
    function: Callable[..., Any]
    fixed: Mapping[str, Any]
    about: type
    only_if: Mapping[str, Any] = field(default_factory=dict)
    knows: tuple[str, ...] = ()

    def apply(
        self, instance: Any, parameters: Mapping[str, Any] | None = None
    ) -> AppliedTheorem:
        """Apply it to an instance: with bounds, or with the reason why there are none.

        Parameters of the policy that the theorem does not have are left aside.
        """
        parameters = parameters or {}
        for name, value in self.only_if.items():
            found = option_of(parameters, name)
            if found not in (None, value):
                reason = f"it is of {name}={value!r}, not of {found!r}"
                return AppliedTheorem(self, (), reason)
        if self.knows and option_of(parameters, "posterior") not in self.knows:
            reason = f"it is of policies over posterior={self.knows[0]!r}"
            return AppliedTheorem(self, (), reason)
        known = list(inspect.signature(self.function).parameters.values())[1:]
        given = {
            each.name: parameters[each.name]
            for each in known
            if each.name in parameters
        } | dict(self.fixed)
        for each in known:
            if each.default is inspect.Parameter.empty and each.name not in given:
                reason = f"it depends on {each.name}; give it among the parameters"
                return AppliedTheorem(self, (), reason)
        try:
            found = self.function(instance, **given)
        except ValueError as error:
            return AppliedTheorem(self, (), str(error))
        many = found if isinstance(found, tuple) else (found,)
        bounds = [x if isinstance(x, RegretBound) else x.bound for x in many]
        for place, bound in enumerate(bounds):
            if bound.policy != self.policy:  # One function on several algorithms.
                bounds[place] = replace(bound, name=self.name, policy=self.policy)
        return AppliedTheorem(self, tuple(bounds))


@dataclass(frozen=True)
class AppliedTheorem:
    """A theorem applied to one instance.

    Attributes
    ----------
    theorem : Theorem
        The theorem.
    bounds : tuple of RegretBound
        Empty where it does not apply.
    reason : str
        Which assumption fails then; empty where it applies.
    """

    theorem: Theorem
    bounds: tuple[RegretBound, ...]
    reason: str = ""


_CATALOG: dict[str, Theorem] = {}

_FILES = {
    "lower_bounds": ("",),
    "adversarial": ("Versatile-DB",),
    "batched": ("PCOMP", "SCOMP", "SCOMP2"),
    "rival_directed": ("RD-TS*",),
    "rmed": ("ECW-RMED", "RMED1"),
    "subsets": ("UCB-no-order",),
    "thompson": ("D-TS", "D-TS+"),
    "ucb": ("CCB", "RUCB", "Sup-KLUCB"),
    "weak_regret": ("WS-S", "WS-W"),
}
"""Where the theorems are written, and the algorithms that they are about there."""


def _catalog(policy: str | None = None) -> dict[str, Theorem]:
    """Return the catalog, with all that this folder has on an algorithm, or at all."""
    for file, about in _FILES.items():
        if policy is None or policy in about:
            import_module(f"theory.theorems.{file}")
    return _CATALOG


def option_of(parameters: Mapping[str, Any], name: str) -> Any:
    """Return an option of a policy, or of the policy within it; None without it.

    Of an option with parameters of its own, its name. A model that is given features of
    arms has another one: whoever knows them knows more than the class of that name.
    """
    found = parameters.get(name)
    if found is None and isinstance(parameters.get("policy"), Mapping):
        return option_of(parameters["policy"], name)
    if not isinstance(found, Mapping):
        return found
    own = found.get("name")
    return f"{own} with features of its own" if found.get("covariates") else own


def theorem[F: Callable[..., Any]](
    name: str,
    *,
    policy: str = "",
    about: type = PreferenceMatrix,
    only_if: Mapping[str, Any] | None = None,
    knows: tuple[str, ...] = (),
    **fixed: Any,
) -> Callable[[F], F]:
    """Register a function as a theorem, so that ``all_bounds`` applies it.

    Parameters
    ----------
    name : str
        In tables.
    policy : str
        Acronym of the algorithm; empty for a bound on all algorithms.
    about : type
        `PreferenceMatrix` or `ChoiceTable`, the first argument of the function.
    only_if : mapping, optional
        Options of the algorithm that the theorem presumes, by name.
    knows : tuple of str
        Names of posteriors; see `Theorem`.
    **fixed
        Arguments of this form.

    Returns
    -------
    callable
        A decorator that returns the function as it is.

    Raises
    ------
    ValueError
        If the name is taken.
    """

    def enter(function: F) -> F:
        ours = function.__module__.startswith("theory.")
        if name in (_CATALOG if ours else _catalog()):
            raise ArgumentError(
                "name", "must be new, and not be in the catalog already", name
            )
        _CATALOG[name] = Theorem(
            name, policy, function, fixed, about, only_if or {}, knows
        )
        return function

    return enter


def known_theorems(policy: str | None = None) -> tuple[Theorem, ...]:
    """Return the catalog, or the theorems on one algorithm.

    Parameters
    ----------
    policy : str, optional
        Acronym, "D-TS" or "d-ts" for instance; empty for the bounds on all algorithms.

    Returns
    -------
    tuple of Theorem
        Bounds on all algorithms first, then by algorithm.

    Examples
    --------
    >>> import theory
    >>> [each.name for each in theory.known_theorems("D-TS")]
    ['D-TS', 'D-TS, refined']
    """
    asked = _acronym(policy)
    known = _catalog(asked).values()
    found = [each for each in known if asked in (None, each.policy)]
    return tuple(sorted(found, key=lambda each: each.policy))


def all_bounds(
    instance: PreferenceMatrix | ChoiceTable | ArrayLike,
    *,
    policy: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[AppliedTheorem, ...]:
    """Apply every theorem to an instance: its bound, or which assumption fails.

    Parameters
    ----------
    instance : PreferenceMatrix or array-like (K, K), or ChoiceTable
        Preferences for duels, or the choice probabilities of all offered sets.
    policy : str, optional
        Only the theorems on this algorithm, by its acronym, in upper or lower case.
    parameters : mapping, optional
        Parameters of the algorithm by name, such as ``alpha`` or ``num_batches``;
        theorems without such a parameter are not affected, and the others take their
        defaults. Lower bounds under a model apply where ``posterior`` is one over it.

    Returns
    -------
    tuple of AppliedTheorem
        One per theorem on this kind of instance, in the order of `known_theorems`.

    Raises
    ------
    ValueError
        For an algorithm that no theorem is about; all that have one are named.

    Examples
    --------
    >>> import theory
    >>> cyclic = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    >>> for each in theory.all_bounds(cyclic, policy="RMED1"):
    ...     print(each.bounds, each.reason)
    () matrix[0, 2] must be above 1/2: the theorem needs an arm that beats all ...
    """
    known = _acronyms() - {""}
    if _acronym(policy) not in {*known, "", None}:
        raise ArgumentError(
            "policy",
            f"must be one that a theorem is about, one of {', '.join(sorted(known))}",
            policy,
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ArgumentTypeError(
            "parameters", "must be a mapping from names to values", parameters
        )
    checked: Any = instance
    if not isinstance(instance, PreferenceMatrix):
        from theory.choice.tables import ChoiceTable

        if not isinstance(instance, ChoiceTable):
            checked = as_preference_matrix(instance)
    return tuple(
        each.apply(checked, parameters)
        for each in known_theorems(policy)
        if isinstance(checked, each.about)
    )


def _acronyms() -> set[str]:
    """Return the algorithms that theorems are about; empty for all of them."""
    entered = {each.policy for each in _CATALOG.values()}
    return entered.union(*_FILES.values())


def _acronym(policy: str | None) -> str | None:
    """Return an acronym as theorems have it, also of one in lower case."""
    if policy is None:
        return None
    if not isinstance(policy, str):
        raise ArgumentTypeError(
            "policy", "must be an acronym such as 'D-TS', or None", policy
        )
    written = {each.lower(): each for each in _acronyms()}
    return written.get(policy.lower(), policy)
