"""Best-arm identification: few duels, whatever their regret."""

# Pairs that are behind their shares by the same number of duels, but for rounding
EQUAL_LAGS = 1e-6
EQUAL_GAINS = 1e-9  # Relative difference of expected information that rounding may make
