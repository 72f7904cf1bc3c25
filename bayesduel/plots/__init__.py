"""Figures: regret with bands and bounds, sweeps, slopes, exploration, votes.

Every function returns a `StyledFigure`, which is not registered with pyplot. It is
readable at the width of a paper column ("column", 3.4 in) and of a page ("full", 7 in),
in colors that are safe for color-deficient readers. Each policy has the same color and
marker everywhere; all figures take ``colors=`` and ``names=``. Global matplotlib
settings are never touched.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
