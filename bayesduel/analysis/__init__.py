"""Numbers from simulation results: summaries, slopes, rankings, bounds.

Theorems are about slopes: a lower bound says that regret grows at least like ``C log
t``, where log is natural. The functions here measure that slope with its standard error
over runs, put it beside the constant of the bound, and say which differences between
policies are significant. `audit_stopping` measures the error rates of stopping rules.

They read the result trees of :func:`bayesduel.simulate` (one node) and
:func:`bayesduel.compare` (``/<instance>/<policy>``).
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
