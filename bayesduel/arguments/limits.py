"""Sizes beyond which a request is refused, before anything is computed."""

LONGEST_HORIZON = 2**62  # Rounds are counted in 64 bits; two bits are left for sums.
MOST_RUNS = 2**30  # Numbers of runs have 32 bits.
# Runs side by side: the state of each is kept, and more gain no speed.
MOST_LANES = 2**16
MOST_JOBS = 1024  # Worker processes.
MOST_CHECKPOINTS = 10**5  # Rounds that are recorded: each of them is a table per run.
MOST_DRAWS = 10**7  # Draws of a fit, all chains together.
# Arms of a fit with draws, which makes tables of all their pairs.
MOST_FITTED_ARMS = 3000
MOST_ARMS_OF_MODE = 10**6  # Arms of a fit by the mode, which makes none.
MOST_FITTED_NUMBERS = 2**28  # Numbers that all draws hold together: 2 GB.
MOST_RESAMPLES = 10**6  # Resamples of a bootstrap; ten thousand are plenty.
MOST_STEPS = 10**6  # Steps of a search or of a warm-up; ten thousand are plenty.
# Rows of a table that is kept in memory; ten thousand took half a minute.
MOST_SUBMATRICES = 10**7


PATIENCE = 2000
"""Choices of a policy in a row without two different arms, after which a study takes it
as settled: D-TS+ with two equally good arms would ask again, after millions of them."""
