"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Deterministic, NumPy arrays in and out, natural logarithms. Arms are numbered from 0.
CVXPY and HiGHS are loaded by the functions that need them.

What most questions need is here. The rest is by topic: `theory.theorems` has the regret
bounds of the literature one by one, `theory.copeland_program` the optimal exploration
program behind the lower bound, `theory.choice` choice out of subsets, `theory.bayes`
rules on three arms whose Bayes regret is exact, and `theory.divergences`
Kullback-Leibler divergences of Bernoulli distributions.
"""

import warnings
from typing import Any

from theory import bayes, choice, copeland_program, divergences, theorems
from theory.bayes.forward import bayes_regret
from theory.bayes.optimal import bayes_optimal_regret
from theory.choice.tables import ChoiceTable
from theory.copeland_program.bottlenecks import bottlenecks
from theory.copeland_program.constants import copeland_lower_bound, ecw_rmed_constant
from theory.copeland_program.evidence import anytime_evidence
from theory.copeland_program.identification import identification_bound
from theory.copeland_program.optimum import Certificate, IdentificationBound, Optimum
from theory.copeland_program.sensitivity import sensitivity
from theory.errors import InvalidPreferenceError, ProgramError, TieError
from theory.preferences import PreferenceMatrix
from theory.regret import REGRET_NOTIONS
from theory.regret_bound import PowerTerm, RegretBound
from theory.structured.bounds import StructuredBound, structured_lower_bound
from theory.theorems.catalog import all_bounds, known_theorems, theorem
from theory.theorems.lower_bounds import condorcet_lower_bound
from theory.transitivity import find_cycle, find_intransitive_triple

__all__ = [
    "Certificate",
    "ChoiceTable",
    "IdentificationBound",
    "InvalidPreferenceError",
    "Optimum",
    "PowerTerm",
    "PreferenceMatrix",
    "ProgramError",
    "REGRET_NOTIONS",
    "RegretBound",
    "StructuredBound",
    "TieError",
    "all_bounds",
    "anytime_evidence",
    "bayes",
    "bayes_optimal_regret",
    "bayes_regret",
    "bottlenecks",
    "choice",
    "condorcet_lower_bound",
    "copeland_lower_bound",
    "copeland_program",
    "divergences",
    "ecw_rmed_constant",
    "find_cycle",
    "find_intransitive_triple",
    "identification_bound",
    "known_theorems",
    "sensitivity",
    "structured_lower_bound",
    "theorem",
    "theorems",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return what has moved to a topic, with a warning that names it."""
    for topic in (choice, copeland_program, divergences, theorems):
        if name in topic.__all__:
            warnings.warn(
                f"theory.{name} is {topic.__name__}.{name} now",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(topic, name)
    raise AttributeError(f"module 'theory' has no attribute {name!r}")
