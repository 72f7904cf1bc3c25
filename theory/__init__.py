"""Pure mathematics of preference matrices: winners, regret, and regret bounds.

Its functions are deterministic. They take and return NumPy arrays, and use natural
logarithms. Arms are numbered from 0. CVXPY and HiGHS are imported only by the functions
that need them.

The functions that you need most often are in theory itself. The others are in one
module per topic:

- the matrix, its winners and its divergences: `PreferenceMatrix`, `theory.divergences`;
- the constant of the lower bound of an instance, and the allocation that attains it:
  `theory.copeland_program`;
- the same when preferences obey a model: `theory.structured`;
- how soon a winner can be named: `theory.identification`;
- the bound of a theorem: `theory.theorems`;
- choice out of subsets: `theory.choice`;
- the exact Bayes regret of three arms: `theory.bayes`.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
