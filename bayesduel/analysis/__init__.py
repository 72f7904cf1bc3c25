"""What a simulation says in numbers: slopes, summaries, anchored bounds.

Theory speaks about slopes: a lower bound says that regret grows at least like
``C log t``, where log is natural. The functions here measure that slope with its
standard error over runs and put it beside the constant of the bound, and say which
differences between policies are real. `audit_stopping` measures what rules for stopping
promise.

They read the result trees of :func:`bayesduel.simulate` (one node) and
:func:`bayesduel.compare` (``/<instance>/<policy>``).
"""

from typing import TYPE_CHECKING

from bayesduel.analysis.anchored_bounds import (
    AnchoredBound,
    anchored_bound,
    lower_bound,
)
from bayesduel.analysis.audited_rules import AuditedRule, AuditRow, StoppingAudit
from bayesduel.analysis.measurements import Measurement, measurements
from bayesduel.analysis.paired_bootstrap import PairedIntervals, paired_intervals
from bayesduel.analysis.ranked_policies import Difference, RankedPolicy, Ranking
from bayesduel.analysis.rankings import rankings
from bayesduel.analysis.regret_tables import regret_dataframe
from bayesduel.analysis.slopes import Slope, slope
from bayesduel.analysis.summaries import FinalRegret, Summary, SummaryRow, summary
from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.analysis.simulated.bayes_regret import (
        SimulatedBayesRegret,
        simulated_bayes_regret,
    )
    from bayesduel.analysis.simulated.stopping_audits import audit_stopping, usual_rules

# They import what fits models, of which tables of simulations have no need.
_HOMES = {
    "SimulatedBayesRegret": ".simulated.bayes_regret",
    "simulated_bayes_regret": ".simulated.bayes_regret",
    "audit_stopping": ".simulated.stopping_audits",
    "usual_rules": ".simulated.stopping_audits",
}

__all__ = [
    "AnchoredBound",
    "AuditRow",
    "AuditedRule",
    "Difference",
    "FinalRegret",
    "Measurement",
    "PairedIntervals",
    "RankedPolicy",
    "Ranking",
    "SimulatedBayesRegret",
    "Slope",
    "StoppingAudit",
    "Summary",
    "SummaryRow",
    "anchored_bound",
    "audit_stopping",
    "lower_bound",
    "measurements",
    "paired_intervals",
    "rankings",
    "regret_dataframe",
    "simulated_bayes_regret",
    "slope",
    "summary",
    "usual_rules",
]

__getattr__, _ = lazy_attributes(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
