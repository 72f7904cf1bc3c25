"""When to stop asking, and which arm to name then.

A rule looks at counts of duels, after each one if it is asked to, and says whether to
stop. If no two arms tie exactly, `AnytimeEvidence` names a wrong arm with probability
at most delta, however duels are chosen and however often one looks; with ties this
holds for each wrong arm separately. `PosteriorProbability` is what Bayesians look at,
and has no such guarantee; `Budget` gives up. ``one | other`` stops with the first of
them. `FixedNumber`, `SeparateIntervals` and `LeaderTest` are heuristics, which are here
so that their error can be measured.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
