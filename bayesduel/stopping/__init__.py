"""When to stop asking, and which arm to name then.

A rule looks at counts of duels, after each one if it is asked to, and says whether to
stop. `AnytimeEvidence` names each wrong arm with probability at most
delta, whoever chooses the duels and however often one looks (and any of them, too,
without exact ties); `PosteriorProbability` is what Bayesians look at, and has no such
guarantee; `Budget` gives up. ``one | other`` stops with the first of them.
`FixedNumber`, `SeparateIntervals` and `LeaderTest` are heuristics, which are here so
that their error can be measured.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.stopping.heuristics import (
        FixedNumber,
        LeaderTest,
        SeparateIntervals,
    )
    from bayesduel.stopping.rules import (
        AnytimeEvidence,
        Budget,
        FirstOf,
        LookEvery,
        PosteriorProbability,
        StoppingRule,
        StoppingState,
    )
    from bayesduel.stopping.words import parse_rule

_HOMES = {
    "AnytimeEvidence": ".rules",
    "Budget": ".rules",
    "FirstOf": ".rules",
    "FixedNumber": ".heuristics",
    "LeaderTest": ".heuristics",
    "LookEvery": ".rules",
    "PosteriorProbability": ".rules",
    "SeparateIntervals": ".heuristics",
    "StoppingRule": ".rules",
    "StoppingState": ".rules",
    "parse_rule": ".words",
}

_GONE = {"parse": "parse_rule"}

__all__ = [
    "AnytimeEvidence",
    "Budget",
    "FirstOf",
    "FixedNumber",
    "LeaderTest",
    "LookEvery",
    "PosteriorProbability",
    "SeparateIntervals",
    "StoppingRule",
    "StoppingState",
    "parse_rule",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES, _GONE)
