"""How the runs of an audit of rules for stopping ended: numbers and shares."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.text import aligned
from bayesduel.ops.shares import share_interval

if TYPE_CHECKING:
    from jaxtyping import Bool, Int


@dataclass(frozen=True)
class AuditRow:
    """One rule on one instance, in numbers.

    Attributes
    ----------
    instance, rule : str
    num_runs : int
    false_stops : int
        Runs in which it named an arm that is no right answer.
    false_share, false_lower, false_upper : float
        Their share, with an exact interval of 95 % (Clopper and Pearson 1934).
    undecided_share : float
        Share of the runs in which it named no arm within the budget.
    median_votes : float or None
        Median of the votes until a name, None where most runs had none.
    """

    instance: str
    rule: str
    num_runs: int
    false_stops: int
    false_share: float
    false_lower: float
    false_upper: float
    undecided_share: float
    median_votes: float | None


@dataclass(frozen=True, eq=False)
class AuditedRule:
    """How the runs of one rule for stopping ended on one instance.

    Attributes
    ----------
    instance, rule : str
    votes : int64 (R,)
        Votes until an arm was named; -1 where none was within the budget.
    is_wrong : bool (R,)
        Whether an arm was named that is no right answer.
    """

    instance: str
    rule: str
    votes: Int[np.ndarray, " run"]
    is_wrong: Bool[np.ndarray, " run"]

    @property
    def num_runs(self) -> int:
        """Number of runs."""
        return len(self.votes)

    def row(self) -> AuditRow:
        """Return the numbers."""
        wrong = int(self.is_wrong.sum())
        low, high = share_interval(wrong, self.num_runs)
        undecided = self.votes < 0
        median = float(np.median(np.where(undecided, np.inf, self.votes)))
        return AuditRow(
            instance=self.instance, rule=self.rule, num_runs=self.num_runs,
            false_stops=wrong, false_share=wrong / self.num_runs, false_lower=low,
            false_upper=high, undecided_share=float(undecided.mean()),
            median_votes=median if math.isfinite(median) else None,
        )  # fmt: skip


@dataclass(frozen=True)
class StoppingAudit:
    """Result of :func:`audit_stopping`; prints as a table.

    Attributes
    ----------
    policy : str
        Who asked.
    delta : float
        The error that was accepted.
    budget, look_every, seed : int
        As asked for.
    rules : tuple of AuditedRule
        Rule by rule, of one instance after the other.
    remarks : tuple of str
        What of a study was simulated differently.
    """

    policy: str
    delta: float
    budget: int
    look_every: int
    seed: int
    rules: tuple[AuditedRule, ...]
    remarks: tuple[str, ...] = ()

    @property
    def num_runs(self) -> int:
        """Number of runs of every rule."""
        return self.rules[0].num_runs

    def rows(self) -> tuple[AuditRow, ...]:
        """Return the numbers of all rules."""
        return tuple(audited.row() for audited in self.rules)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values, for JSON."""
        return {
            "policy": self.policy,
            "delta": self.delta,
            "budget": self.budget,
            "look_every": self.look_every,
            "num_runs": self.num_runs,
            "seed": self.seed,
            "rules": [asdict(row) for row in self.rows()],
            "remarks": list(self.remarks),
        }

    HEADER = ("instance", "rule", "false stops", "95 %", "undecided", "median votes")

    def cells(self) -> list[tuple[str, ...]]:
        """Return the table as text, one tuple per row, in the order of ``HEADER``."""
        return [
            (
                row.instance,
                row.rule,
                f"{row.false_share:.2%}",
                f"{row.false_lower:.2%} to {row.false_upper:.2%}",
                f"{row.undecided_share:.1%}",
                "-" if row.median_votes is None else f"{row.median_votes:,.0f}",
            )
            for row in self.rows()
        ]

    def __str__(self) -> str:
        return "\n".join(aligned(self.HEADER, self.cells()))


def false_until(
    audited: AuditedRule, votes: Int[np.ndarray, " look"]
) -> Int[np.ndarray, " look"]:
    """Return how many runs have stopped at a wrong arm after so many votes.

    Examples
    --------
    >>> runs = AuditedRule("", "", np.array([7, 4, -1]), np.array([True, True, False]))
    >>> false_until(runs, np.array([3, 4, 9])).tolist()
    [0, 1, 2]
    """
    wrong = np.sort(audited.votes[audited.is_wrong])
    return np.searchsorted(wrong, votes, side="right")
