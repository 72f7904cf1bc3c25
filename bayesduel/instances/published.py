"""The matrices printed in the papers, digit for digit.

Rows and columns stand in the printed order; entry (i, j) is the probability that arm
i beats arm j. Arms are numbered from 0 here and from 1 in the papers.
"""

from dataclasses import dataclass

import numpy as np

from theory.preferences import PreferenceMatrix

_WU = "Wu and Liu (2016), Double Thompson Sampling for Dueling Bandits, NIPS"
_KOMIYAMA_2015 = (
    "Komiyama, Honda, Kashima and Nakagawa (2015), Regret Lower Bound and Optimal "
    "Algorithm in Dueling Bandit Problem, COLT"
)
_KOMIYAMA_2016 = (
    "Komiyama, Honda and Nakagawa (2016), Copeland Dueling Bandit Problem, ICML"
)
_ZOGHI = "Zoghi, Karnin, Whiteson and de Rijke (2015), Copeland Dueling Bandits, NIPS"

_SUSHI = (
    "mildly fatty tuna",
    "fatty tuna",
    "salmon",
    "tuna",
    "salmon roe",
    "sea bream",
    "sea eel",
    "scallop",
    "squid",
    "horse mackerel",
    "eel",
    "abalone",
    "mackerel",
    "squid feet",
    "Tori clam",
    "squilla",
)


@dataclass(frozen=True, kw_only=True)
class PublishedMatrix:
    """A preference matrix as a paper prints it.

    Attributes
    ----------
    name : str
        Name for `bayesduel.instances.load`.
    title, source, remarks : str
        What it is called, where it is printed, what is special about it.
    winners : tuple of int
        Copeland winners by the number of arms beaten, numbered from 0.
    table : str
        The printed numbers, one row a line.
    arm_names : tuple of str
        Names of the arms where the source gives them, else empty.
    """

    name: str
    title: str
    source: str
    remarks: str
    winners: tuple[int, ...]
    table: str
    arm_names: tuple[str, ...] = ()

    def matrix(self) -> PreferenceMatrix:
        """Return the validated matrix."""
        rows = [line.split() for line in self.table.strip().splitlines()]
        return PreferenceMatrix(
            np.array(rows, dtype=np.float64),
            name=self.name,
            arm_names=self.arm_names or None,
            source=self.source,
        )


_MATRICES = (
    PublishedMatrix(
        name="cyclic",
        title="Cyclic",
        source=_WU + ", Table 1; " + _KOMIYAMA_2016 + ", Table 2; " + _KOMIYAMA_2015,
        winners=(0,),
        remarks=(
            "Arm 0 beats every other arm with 0.6; the others beat each other in a "
            "cycle with 0.9."
        ),
        table="""
0.5 0.6 0.6 0.6
0.4 0.5 0.9 0.1
0.4 0.1 0.5 0.9
0.4 0.9 0.1 0.5
""",
    ),
    PublishedMatrix(
        name="gap",
        title="Gap",
        source=_KOMIYAMA_2016 + ", Table 3(b); " + _WU + ", Table 4",
        winners=(0,),
        remarks=(
            "No Condorcet winner. The regret constant of ECW-RMED is 113.6 times the "
            "optimal one. Published ECW-RMED runs differ strongly between this order "
            "of the arms and a shuffled one."
        ),
        table="""
0.50 0.80 0.80 0.51 0.20
0.20 0.50 0.80 0.20 0.80
0.20 0.20 0.50 0.80 0.80
0.49 0.80 0.20 0.50 0.20
0.80 0.20 0.20 0.80 0.50
""",
    ),
    PublishedMatrix(
        name="multisol",
        title="MultiSol",
        source=_KOMIYAMA_2016 + ", Table 3(c)",
        winners=(0, 1, 2),
        remarks=(
            "No Condorcet winner. Three Copeland winners; the optimal exploration is "
            "not unique."
        ),
        table="""
0.5 0.2 0.8 0.8 0.8
0.8 0.5 0.2 0.8 0.8
0.2 0.8 0.5 0.8 0.8
0.2 0.2 0.2 0.5 0.6
0.2 0.2 0.2 0.4 0.5
""",
    ),
    PublishedMatrix(
        name="arithmetic",
        title="Arithmetic",
        source=_KOMIYAMA_2015,
        winners=(0,),
        remarks=(
            "P(i beats j) = 0.5 + 0.05 (j - i): a total order with strong stochastic "
            "transitivity and the stochastic triangle inequality."
        ),
        table="""
0.50 0.55 0.60 0.65 0.70 0.75 0.80 0.85
0.45 0.50 0.55 0.60 0.65 0.70 0.75 0.80
0.40 0.45 0.50 0.55 0.60 0.65 0.70 0.75
0.35 0.40 0.45 0.50 0.55 0.60 0.65 0.70
0.30 0.35 0.40 0.45 0.50 0.55 0.60 0.65
0.25 0.30 0.35 0.40 0.45 0.50 0.55 0.60
0.20 0.25 0.30 0.35 0.40 0.45 0.50 0.55
0.15 0.20 0.25 0.30 0.35 0.40 0.45 0.50
""",
    ),
    PublishedMatrix(
        name="arxiv",
        title="ArXiv (six rankers)",
        source="Yue and Joachims (2011), Beat the Mean Bandit, ICML; "
        + _KOMIYAMA_2016
        + ", Table 3(d); "
        + _WU
        + ", Table 3",
        winners=(0,),
        remarks=(
            "Interleaving experiments with six retrieval functions of the search "
            "engine of arXiv.org. Arms 3 and 5 tie exactly (0.50), so counts of wins "
            "and of losses differ there."
        ),
        table="""
0.50 0.55 0.55 0.54 0.61 0.61
0.45 0.50 0.55 0.55 0.58 0.60
0.45 0.45 0.50 0.54 0.51 0.56
0.46 0.45 0.46 0.50 0.54 0.50
0.39 0.42 0.49 0.46 0.50 0.51
0.39 0.40 0.44 0.50 0.49 0.50
""",
    ),
    PublishedMatrix(
        name="sushi",
        title="Sushi",
        source=_KOMIYAMA_2016 + ", Table 3(a), from the survey of Kamishima (2003)",
        winners=(0,),
        remarks=(
            "Share of the people surveyed who prefer one of 16 kinds of sushi to "
            "another. A total order in which neither strong stochastic transitivity "
            "nor the stochastic triangle inequality holds."
        ),
        arm_names=_SUSHI,
        table="""
0.500 0.512 0.622 0.655 0.698 0.726 0.711 0.708 0.749 0.800 0.741 0.783 0.847 0.817 0.854 0.868
0.488 0.500 0.602 0.683 0.652 0.776 0.663 0.683 0.738 0.709 0.786 0.802 0.830 0.850 0.871 0.873
0.378 0.398 0.500 0.528 0.554 0.533 0.534 0.591 0.573 0.593 0.661 0.705 0.734 0.672 0.787 0.822
0.345 0.317 0.472 0.500 0.553 0.619 0.566 0.641 0.675 0.687 0.665 0.696 0.803 0.823 0.796 0.844
0.302 0.348 0.446 0.447 0.500 0.513 0.524 0.518 0.608 0.538 0.643 0.610 0.695 0.672 0.681 0.775
0.274 0.224 0.467 0.381 0.487 0.500 0.513 0.559 0.575 0.621 0.591 0.701 0.702 0.787 0.829 0.811
0.289 0.337 0.466 0.434 0.476 0.487 0.500 0.559 0.553 0.613 0.564 0.607 0.703 0.735 0.736 0.801
0.292 0.317 0.409 0.359 0.482 0.441 0.441 0.500 0.556 0.527 0.562 0.580 0.668 0.805 0.777 0.767
0.251 0.262 0.427 0.325 0.392 0.425 0.447 0.444 0.500 0.512 0.548 0.542 0.612 0.786 0.710 0.685
0.200 0.291 0.407 0.313 0.462 0.379 0.387 0.473 0.488 0.500 0.543 0.579 0.613 0.718 0.685 0.747
0.259 0.214 0.339 0.335 0.357 0.409 0.436 0.438 0.452 0.457 0.500 0.564 0.625 0.618 0.702 0.684
0.217 0.198 0.295 0.304 0.390 0.299 0.393 0.420 0.458 0.421 0.436 0.500 0.542 0.644 0.700 0.733
0.153 0.170 0.266 0.197 0.305 0.298 0.297 0.332 0.388 0.387 0.375 0.458 0.500 0.577 0.607 0.596
0.183 0.150 0.328 0.177 0.328 0.213 0.265 0.195 0.214 0.282 0.382 0.356 0.423 0.500 0.578 0.637
0.146 0.129 0.213 0.204 0.319 0.171 0.264 0.223 0.290 0.315 0.298 0.300 0.393 0.422 0.500 0.586
0.132 0.127 0.178 0.156 0.225 0.189 0.199 0.233 0.315 0.253 0.316 0.267 0.404 0.363 0.414 0.500
""",  # noqa: E501
    ),
    PublishedMatrix(
        name="strong-borda",
        title="StrongBorda",
        source=_WU + ", Table 2",
        winners=(0,),
        remarks=(
            "The Condorcet winner (arm 0) wins by 0.05 only, while arm 1 has by far "
            "the largest Borda score."
        ),
        table="""
0.50 0.55 0.55 0.55 0.55
0.45 0.50 0.95 0.95 0.95
0.45 0.05 0.50 0.95 0.95
0.45 0.05 0.05 0.50 0.95
0.45 0.05 0.05 0.05 0.50
""",
    ),
    PublishedMatrix(
        name="mslr5-condorcet",
        title="MSLR, five rankers, Condorcet",
        source=_ZOGHI + "; " + _WU + ", Table 7",
        winners=(0,),
        remarks=(
            "Entry (3, 1) is 0.273. Komiyama et al. (2016), Table 3(e), print 0.276 "
            "there, which cannot be: entry (1, 3) is 0.727 and the two must add up to "
            "1."
        ),
        table="""
0.500 0.535 0.613 0.757 0.765
0.465 0.500 0.580 0.727 0.738
0.387 0.420 0.500 0.659 0.669
0.243 0.273 0.341 0.500 0.510
0.235 0.262 0.331 0.490 0.500
""",
    ),
    PublishedMatrix(
        name="mslr5-non-condorcet",
        title="MSLR, five rankers, no Condorcet winner",
        source=_ZOGHI + "; " + _WU + ", Table 8; " + _KOMIYAMA_2016 + ", Table 3(f)",
        winners=(0, 1, 2),
        remarks=(
            "Three Copeland winners in a cycle; the smallest distance of an entry from "
            "1/2 is 0.003."
        ),
        table="""
0.500 0.484 0.519 0.529 0.518
0.516 0.500 0.481 0.530 0.539
0.481 0.519 0.500 0.504 0.512
0.471 0.470 0.496 0.500 0.503
0.482 0.461 0.488 0.497 0.500
""",
    ),
    PublishedMatrix(
        name="non-condorcet-cyclic",
        title="Non-Condorcet Cyclic",
        source=_WU + ", Table 6",
        winners=(0, 1, 2),
        remarks=(
            "Three groups of three arms with Copeland counts 6, 4 and 2. The Borda "
            "winners are the second group (arms 3, 4 and 5)."
        ),
        table="""
0.5 0.4 0.6 0.1 0.6 0.6 0.6 0.6 0.6
0.6 0.5 0.4 0.6 0.1 0.6 0.6 0.6 0.6
0.4 0.6 0.5 0.6 0.6 0.1 0.6 0.6 0.6
0.9 0.4 0.4 0.5 0.1 0.9 0.6 0.6 0.4
0.4 0.9 0.4 0.9 0.5 0.1 0.4 0.6 0.6
0.4 0.4 0.9 0.1 0.9 0.5 0.6 0.4 0.6
0.4 0.4 0.4 0.4 0.6 0.4 0.5 0.1 0.9
0.4 0.4 0.4 0.4 0.4 0.6 0.9 0.5 0.1
0.4 0.4 0.4 0.6 0.4 0.4 0.1 0.9 0.5
""",
    ),
    PublishedMatrix(
        name="non-condorcet-strong-borda",
        title="Non-Condorcet StrongBorda",
        source=_WU + ", Table 5",
        winners=(0,),
        remarks=(
            "The only Copeland winner (arm 0) loses to the Borda winner (arm 1) with "
            "0.95 and has a Borda score below 1/2."
        ),
        table="""
0.50 0.05 0.55 0.55 0.55 0.55
0.95 0.50 0.95 0.95 0.45 0.45
0.45 0.05 0.50 0.95 0.95 0.95
0.45 0.05 0.05 0.50 0.95 0.95
0.45 0.55 0.05 0.05 0.50 0.95
0.45 0.55 0.05 0.05 0.05 0.50
""",
    ),
)

PUBLISHED = {entry.name: entry for entry in _MATRICES}
