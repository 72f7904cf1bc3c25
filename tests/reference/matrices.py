"""Published preference matrices; row beats column with the given probability."""

import numpy as np

CYCLIC = np.array(
    [
        [0.5, 0.6, 0.6, 0.6],
        [0.4, 0.5, 0.9, 0.1],
        [0.4, 0.1, 0.5, 0.9],
        [0.4, 0.9, 0.1, 0.5],
    ]
)
"""Komiyama et al. 2016, Table 2. Arm 0 is the Condorcet winner."""

GAP = np.array(
    [
        [0.50, 0.80, 0.80, 0.51, 0.20],
        [0.20, 0.50, 0.80, 0.20, 0.80],
        [0.20, 0.20, 0.50, 0.80, 0.80],
        [0.49, 0.80, 0.20, 0.50, 0.20],
        [0.80, 0.20, 0.20, 0.80, 0.50],
    ]
)
"""Komiyama et al. 2016, Table 3(b). Arm 0 is the only Copeland winner, with a loss."""

MULTISOL = np.array(
    [
        [0.5, 0.2, 0.8, 0.8, 0.8],
        [0.8, 0.5, 0.2, 0.8, 0.8],
        [0.2, 0.8, 0.5, 0.8, 0.8],
        [0.2, 0.2, 0.2, 0.5, 0.6],
        [0.2, 0.2, 0.2, 0.4, 0.5],
    ]
)
"""Komiyama et al. 2016, Table 3(c). Arms 0, 1 and 2 are Copeland winners."""

MSLR5_CONDORCET = np.array(
    [
        [0.500, 0.535, 0.613, 0.757, 0.765],
        [0.465, 0.500, 0.580, 0.727, 0.738],
        [0.387, 0.420, 0.500, 0.659, 0.669],
        [0.243, 0.273, 0.341, 0.500, 0.510],
        [0.235, 0.262, 0.331, 0.490, 0.500],
    ]
)
"""Wu and Liu 2016, Table 7. Arm 0 is the Condorcet winner."""

MSLR5_NON_CONDORCET = np.array(
    [
        [0.500, 0.484, 0.519, 0.529, 0.518],
        [0.516, 0.500, 0.481, 0.530, 0.539],
        [0.481, 0.519, 0.500, 0.504, 0.512],
        [0.471, 0.470, 0.496, 0.500, 0.503],
        [0.482, 0.461, 0.488, 0.497, 0.500],
    ]
)
"""Wu and Liu 2016, Table 8. Arms 0, 1 and 2 are Copeland winners."""

ARXIV = np.array(
    [
        [0.50, 0.55, 0.55, 0.54, 0.61, 0.61],
        [0.45, 0.50, 0.55, 0.55, 0.58, 0.60],
        [0.45, 0.45, 0.50, 0.54, 0.51, 0.56],
        [0.46, 0.45, 0.46, 0.50, 0.54, 0.50],
        [0.39, 0.42, 0.49, 0.46, 0.50, 0.51],
        [0.39, 0.40, 0.44, 0.50, 0.49, 0.50],
    ]
)
"""Yue and Joachims 2011; Komiyama et al. 2016, Table 3(d): arms 3 and 5 tie."""

ARITHMETIC = 0.5 + 0.05 * (np.arange(8)[None, :] - np.arange(8)[:, None])
"""Komiyama et al. 2015. Eight arms in order; the gap grows with the distance."""
