"""A stopping rule says when to stop asking, and which arm to name then.

A rule reads the counts of wins, after every duel if you want, and says whether to stop.
If no two arms tie exactly, `AnytimeEvidence` names a wrong arm with probability at most
delta, whatever the policy and however often you look. With exact ties, this bound holds
for each wrong arm separately, and 2 delta for all of them together.
`PosteriorProbability` stops at a posterior probability, and has no such guarantee.
`Budget` stops after a number of duels and names no arm. The combination ``one | other``
stops as soon as one of the two rules stops. `FixedNumber`, `SeparateIntervals` and
`LeaderTest` are heuristics, which are here so that their error can be measured.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
