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

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
