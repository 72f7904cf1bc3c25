"""Policies for identifying a winner with few duels, whatever their regret."""

EQUAL_LAGS = 1e-6
"""Pairs that are behind their shares by the same number of duels, but for rounding."""

EQUAL_GAINS = 1e-9
"""Relative difference of expected information that rounding may make."""
