"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
CVXPY and HiGHS are loaded by the functions that need them.

What most questions need is here, by question; the rest of an answer is in the module of
its topic:

- who beats whom in an instance: `PreferenceMatrix`, `theory.divergences`;
- the constant of an instance, and the allocation behind it: `theory.copeland_program`;
- the same when preferences obey a model: `theory.structured`;
- how soon a winner can be named: `theory.identification`;
- the bound of a theorem: `theory.theorems`;
- choice out of subsets: `theory.choice`;
- the exact Bayes regret of three arms: `theory.bayes`.
"""

import warnings
from typing import Any

from theory import (
    bayes,
    choice,
    copeland_program,
    divergences,
    identification,
    structured,
    theorems,
)
from theory.bayes.forward import bayes_regret
from theory.bayes.optimal import bayes_optimal_regret
from theory.choice.tables import ChoiceTable
from theory.copeland_program.bottlenecks import bottlenecks
from theory.copeland_program.constants import copeland_lower_bound, ecw_rmed_constant
from theory.copeland_program.optimum import Certificate, IdentificationBound, Optimum
from theory.copeland_program.sensitivity import sensitivity
from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.identification.bound import identification_bound
from theory.identification.evidence import anytime_evidence
from theory.preferences import PreferenceMatrix
from theory.regret import REGRET_NOTIONS
from theory.regret_bound import PowerTerm, RegretBound
from theory.structured.bounds import StructuredBound, structured_lower_bound
from theory.theorems.catalog import all_bounds, known_theorems, theorem
from theory.theorems.lower_bounds import condorcet_lower_bound
from theory.transitivity import find_cycle, find_intransitive_triple

__all__ = [
    # The instance.
    "PreferenceMatrix",
    "REGRET_NOTIONS",
    "divergences",
    "find_cycle",
    "find_intransitive_triple",
    # The constant of an instance, and the allocation that attains it.
    "Certificate",
    "Optimum",
    "bottlenecks",
    "condorcet_lower_bound",
    "copeland_lower_bound",
    "copeland_program",
    "ecw_rmed_constant",
    "sensitivity",
    # The constant under a structure that the preferences obey.
    "StructuredBound",
    "structured",
    "structured_lower_bound",
    # Naming a winner.
    "IdentificationBound",
    "anytime_evidence",
    "identification",
    "identification_bound",
    # The bound of a theorem.
    "PowerTerm",
    "RegretBound",
    "all_bounds",
    "known_theorems",
    "theorem",
    "theorems",
    # Choice out of subsets.
    "ChoiceTable",
    "choice",
    # The Bayes regret of three arms.
    "bayes",
    "bayes_optimal_regret",
    "bayes_regret",
    # What is raised.
    "InvalidPreferenceError",
    "ProgramError",
    "TieError",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return what has moved to a topic, with a warning that names it."""
    for topic in (choice, copeland_program, divergences, identification, theorems):
        if name in topic.__all__:
            warnings.warn(
                f"theory.{name} is {topic.__name__}.{name} now",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(topic, name)
    raise AttributeError(f"module 'theory' has no attribute {name!r}")
