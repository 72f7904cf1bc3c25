"""Effects that runs of a kind not yet seen could have on a comparison of means."""

from __future__ import annotations

import math

PEAK = 50.0
"""No run is taken to cost more than that many times the mean of its policy.

Two policies share what makes a run hard, so that is said of the regret by which the one
exceeds the other in a run. The largest of 500 runs of ECW-RMED is 20.5 times their mean
on the five-armed matrix without a Condorcet winner of Wu and Liu (2016), at 10^6
rounds. A cost that strikes a share p of the runs is at most 1 / p times the mean it
takes part in, so 50 covers what strikes at least 1 run in 50, whatever it costs.
"""


def unseen_share(num_runs: int, error: float) -> float:
    """Bound the share of runs of a kind that none of the observed runs is of.

    1 - error^(1/n) for n independent runs, about log(1 / error) / n (Clopper and
    Pearson 1934 for no event in n; with 5 percent the "rule of three" of Hanley and
    Lippman-Hand 1983). With probability ``error`` at most, something that strikes a
    larger share of the runs was missed.

    Examples
    --------
    >>> [round(unseen_share(n, 0.05), 4) for n in (10, 100, 1000)]
    [0.2589, 0.0295, 0.003]
    """
    return -math.expm1(math.log(error) / num_runs)


def reversal(lead: float, share: float) -> float:
    """Return the excess at which a share of unseen runs undoes the lead of a policy.

    The excess of a run is the regret of the leader minus that of the other policy in
    the same run. It is -``lead`` on average in runs of the kinds seen. With the excess
    returned, lead (1 - share) / share, in a share of the runs the two expected regrets
    are equal, whatever the other policy costs in those runs: what the leader costs
    there is the excess plus that. 0 where there is no lead to undo.

    Examples
    --------
    Runs of the kind seen cost 60 and 100, so the lead is 40. One run in 16 costs 1000
    and 400, which is 600 more:

    >>> reversal(40.0, 1 / 16)
    600.0
    >>> (15 * 60 + 1000) / 16 == (15 * 100 + 400) / 16
    True
    """
    return max(0.0, lead * (1.0 - share) / share)


def enough_runs(lead: float, limit: float, error: float) -> int:
    """Return the fewest runs whose unseen share cannot undo a lead.

    The excess of a run, as of `reversal`, is ``limit`` at most. 0 where no number of
    runs is enough: there is no lead, or no limit.

    Examples
    --------
    >>> enough_runs(40.0, 5000.0, 0.025)
    463
    >>> reversal(40.0, unseen_share(463, 0.025)) > 5000.0
    True
    """
    if lead <= 0 or not math.isfinite(limit):
        return 0
    if not math.isfinite(lead):
        return 1
    return math.ceil(math.log(error) / math.log1p(-lead / (lead + limit)) + 1e-9)
