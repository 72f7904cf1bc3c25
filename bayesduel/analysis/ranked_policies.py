"""A ranking: policies, their differences, and conclusions about them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bayesduel.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

CERTAIN, SEEN, OPEN = "certain", "in the runs seen", "open"
"""Conclusions about the order of two policies."""


@dataclass(frozen=True)
class Difference:
    """Regret of one policy minus that of another, run by run.

    Attributes
    ----------
    lower, higher : str
        Labels of the policies; `lower` has the smaller mean.
    mean, standard_error : float
        Of higher minus lower over runs.
    low, high : float
        Interval for the expected difference in runs of the kinds seen; infinite where
        nothing can be said.
    share : float
        Share of the runs in which `lower` has less regret; half of a tied run.
    median : float
        Difference of the medians; negative where they say the opposite of the means.
    reversal : float
        By how much more regret than `higher` in the same runs `lower` would lose its
        lead, if it had it in a share `Ranking.unseen` of the runs, which may be of a
        kind not seen; 0 if the interval holds 0.
    limit : float
        The largest such excess that a run is taken to have; infinite if that is not
        known.
    enough_runs : int
        Runs that make the order certain, if they are like these; 0 if none would, or
        that is not known.
    verdict : {"certain", "in the runs seen", "open"}
        Whether `reversal` exceeds `limit`; if not, whether the interval excludes 0.
    """

    lower: str
    higher: str
    mean: float
    standard_error: float
    low: float
    high: float
    share: float
    median: float
    reversal: float
    limit: float
    enough_runs: int
    verdict: str

    @property
    def is_certain(self) -> bool:
        """Whether neither noise nor runs of a kind not seen can undo the order."""
        return self.verdict == CERTAIN

    @property
    def is_apart(self) -> bool:
        """Whether the interval excludes 0: the order in runs of the kinds seen."""
        return self.verdict != OPEN


@dataclass(frozen=True)
class RankedPolicy:
    """A policy, and the ranks that the runs leave open for it.

    Attributes
    ----------
    policy : str
        Its label.
    best_rank, worst_rank : int
        One plus the number of policies that are certainly better; the number of
        policies minus those that are certainly worse.
    best_seen, worst_seen : int
        The same by the intervals alone: as if no run could be of a kind not seen.
    mean, median, quantile_10, quantile_90 : float
        Regret over runs.
    worst_share : float
        Share of the mean that the worst twentieth of the runs makes: 0.05 where all
        runs are equal, 0.2 in an exponential distribution.
    """

    policy: str
    best_rank: int
    worst_rank: int
    best_seen: int
    worst_seen: int
    mean: float
    median: float
    quantile_10: float
    quantile_90: float
    worst_share: float


@dataclass(frozen=True)
class Ranking:
    """The ranks of the policies on one instance.

    Attributes
    ----------
    instance, notion : str
        Where, and which regret.
    round_ : int
        Checkpoint: the last one that all policies have.
    num_runs : int
        Runs that all policies have.
    confidence : float
        Of all statements together.
    unseen : float
        Share of the runs that may be of a kind that none of these is of.
    policies : tuple of RankedPolicy
        In the order of their means; only `best_rank` and `worst_rank` say what can be
        concluded.
    differences : tuple of Difference
        All pairs, in the same order.
    note : str
        Why nothing can be concluded; empty if something can.
    """

    instance: str
    notion: str
    round_: int
    num_runs: int
    confidence: float
    unseen: float
    policies: tuple[RankedPolicy, ...]
    differences: tuple[Difference, ...]
    note: str

    def difference(self, lower: str, higher: str) -> Difference:
        """Return the difference of two policies, whichever has the smaller mean.

        Raises
        ------
        ValueError
            When one of them is not ranked here.
        """
        are_texts = isinstance(lower, str) and isinstance(higher, str)
        for found in self.differences if are_texts else ():
            if {found.lower, found.higher} == {lower, higher}:
                return found
        names = ", ".join(each.policy for each in self.policies)
        raise ArgumentError(
            "ranking",
            f"must be asked about two of {names} on {self.instance}",
            (lower, higher),
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per policy: its instance and the fields of its rank.

        Returns
        -------
        pandas.DataFrame
            In the order of the means. Frames of several instances can be
            concatenated.
        """
        return self._frame(self.policies)

    def differences_to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair of policies, with the fields of `Difference`."""
        return self._frame(self.differences)

    def _frame(self, rows: tuple[RankedPolicy | Difference, ...]) -> pd.DataFrame:
        import pandas as pd

        where = {"instance": self.instance, "notion": self.notion}
        return pd.DataFrame([where | asdict(each) for each in rows])
