"""An audit of a leaderboard on one page, as text, JSON and HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.audits.checks import CHECKS, POWER, Board, Check, MoreVotes, more_votes
from bayesduel.audits.fewest_votes import FewestVotes
from bayesduel.errors import ComparisonDataError
from bayesduel.models.fit.tables import votes_of_arms
from bayesduel.version import __version__
from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import seed_of, share_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ARMS = 40  # Arms that the page shows.

_MOST_JUDGES = 12
_VERDICTS = ("warning", "cannot be checked", "ok")


@dataclass(frozen=True)
class RankedArm:
    """Where an arm stands.

    Attributes
    ----------
    arm : str
    rank_lower, rank_upper : int
        The ranks that simultaneous intervals of all differences leave open.
    utility : float
        At the mode, relative to the mean of all arms.
    behind, behind_lower, behind_upper : float
        Utility minus that of the leader, with the simultaneous interval.
    votes : float
    """

    arm: str
    rank_lower: int
    rank_upper: int
    utility: float
    behind: float
    behind_lower: float
    behind_upper: float
    votes: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result of :func:`audit`; prints as a page of text.

    Attributes
    ----------
    arms : tuple of RankedArm
        The best arm first.
    checks : tuple of Check
    fewest_votes : tuple of FewestVotes
        The fewest votes whose removal unseats the leader: by Bradley and Terry's model,
        where votes connect all arms, by Copeland scores, and by votes won. Empty for
        weighted votes.
    more_votes : tuple of MoreVotes
        Of each pair of neighbors that is open.
    level : float
    board : Board
        The votes, and what was fitted to them.

    Examples
    --------
    >>> from bayesduel import audit
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 70, 90], [30, 0, 60], [10, 40, 0]])
    >>> report = audit(votes)
    >>> report
    Audit(3 arms, 300 votes: 7 ok, 7 cannot be checked)
    >>> report["leader"].verdict, report["drift"].evidence
    ('ok', 'no column says when votes were cast')
    >>> print(report.fewest_votes[1])
    copeland: removing 41 votes puts 1 in front of 0: 41 votes for 0 against 1
    """

    arms: tuple[RankedArm, ...]
    checks: tuple[Check, ...]
    fewest_votes: tuple[FewestVotes, ...]
    more_votes: tuple[MoreVotes, ...]
    level: float
    board: Board = field(repr=False)

    def __getitem__(self, name: str) -> Check:
        """Return the check of a name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    @property
    def warnings(self) -> tuple[Check, ...]:
        """The checks that warn."""
        return tuple(check for check in self.checks if check.verdict == "warning")

    @property
    def summary(self) -> str:
        """The warnings in one sentence."""
        if not self.warnings:
            return "Nothing speaks against this leaderboard."
        names = ", ".join(check.name for check in self.warnings)
        return f"Look at {names} before you rely on this leaderboard."

    def __repr__(self) -> str:
        number = Counter(check.verdict for check in self.checks)
        several = "warnings" if number["warning"] > 1 else "warning"
        words = {"ok": "ok", "cannot be checked": "cannot be checked"}
        words["warning"] = several
        counted = ", ".join(
            f"{number[verdict]} {text}"
            for verdict, text in words.items()
            if number[verdict]
        )
        data = self.board.data
        return f"Audit({data.num_arms} arms, {data.num_votes:g} votes: {counted})"

    def __str__(self) -> str:
        heads, rows = self.cells()
        table = [heads, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in table
        ]
        return "\n".join(
            [repr(self), *(f"  {line}" for line in lines), *self.words(), self.summary]
        )

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table of arms as texts: its heads, and its rows."""
        rows = [
            (
                line.arm,
                str(line.rank_lower)
                if line.rank_lower == line.rank_upper
                else f"{line.rank_lower}-{line.rank_upper}",
                f"{line.utility:.3f}",
                f"{line.behind:.3f}",
                f"{line.behind_lower:.3f} to {line.behind_upper:.3f}",
                f"{line.votes:g}",
            )
            for line in self.arms[:_MOST_ARMS]
        ]
        heads = "arm", "ranks", "utility", "to the first", "simultaneous", "votes"
        return heads, rows

    def words(self) -> Iterator[str]:
        """Yield the lines below the table of arms."""
        if len(self.arms) > _MOST_ARMS:
            yield f"  and {len(self.arms) - _MOST_ARMS} more arms"
        yield f"Checks; tests and intervals have the level {self.level:g}:"
        for check in self.checks:
            yield f"  {check}"
        if self.fewest_votes:
            yield "Fewest votes whose removal unseats the leader:"
            yield from (f"  {line}" for line in self.fewest_votes)
        if self.more_votes:
            yield f"More votes that settle open neighbors with probability {POWER:.0%}:"
            yield from (f"  {line}" for line in self.more_votes)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the votes as plain values."""
        return {
            "summary": self.summary,
            "votes": self.board.data.num_votes,
            "level": self.level,
            "seed": self.board.seed,
            "clusters": self.board.clusters,
            "arms": [asdict(line) for line in self.arms],
            "checks": [asdict(check) for check in self.checks],
            "fewest_votes": [
                {**asdict(line), "removed": [part._asdict() for part in line.removed]}
                for line in self.fewest_votes
            ],
            "more_votes": [asdict(line) for line in self.more_votes],
            "version": __version__,
        }

    def to_json(self) -> str:
        """Return everything but the votes as JSON.

        Returns
        -------
        str
            An object with ``summary``, ``arms``, ``checks``, ``fewest_votes`` and
            ``more_votes``, whose entries are the fields of these.
        """
        return json.dumps(self.as_dict(), indent=2, allow_nan=False)

    def to_html(self, title: str = "Audit of a leaderboard") -> str:
        """Return one page with figures, which needs no other file and runs nothing.

        Parameters
        ----------
        title : str

        Returns
        -------
        str
        """
        from bayesduel import plots
        from bayesduel.studies.report import (
            html_image,
            html_page,
            html_table,
            small_print,
        )

        heads, rows = self.cells()
        checks = [
            (check.name, check.verdict, check.threshold, check.evidence, check.remedy)
            for check in sorted(
                self.checks, key=lambda check: _VERDICTS.index(check.verdict)
            )
        ]
        parts = [
            f"<h1>{escape(title)}</h1>",
            f"<p>{escape(repr(self.board.data))}. "
            f"<strong>{escape(self.summary)}</strong></p>",
            "<h2>Standings</h2>",
            html_image(_ranks_figure(self), "differences from the leader, and ranks"),
            html_table(heads, rows),
            small_print(
                f"Ranks and intervals hold for all arms at once, with probability "
                f"{1.0 - self.level:.0%}. {self['neighbors'].evidence}."
            ),
            "<h2>Checks</h2>",
            html_table(
                ("check", "verdict", "warns if", "evidence", "what to do"),
                checks,
                numbers=False,
            ),
            small_print(
                f"A test warns with a probability of at most {self.level:.0%} where "
                "nothing is wrong."
            ),
        ]
        if self.fewest_votes:
            parts += [
                "<h2>Fewest votes whose removal unseats the leader</h2>",
                html_table(
                    ("score", "leader", "number", "in front then", "votes"),
                    [_fewest_cells(line) for line in self.fewest_votes],
                    numbers=False,
                ),
            ]
        if self.more_votes:
            pairs = [
                (line.better, line.worse, f"{line.gap:.3f}",
                 "no number" if line.votes is None else f"{line.votes:,}")
                for line in self.more_votes
            ]  # fmt: skip
            parts += [
                "<h2>More votes</h2>",
                html_table(("better", "worse", "difference", "votes"), pairs,
                           numbers=False),
                small_print(
                    "Votes on each pair that settle it with a probability of "
                    f"{POWER:.0%}, if the difference is as large as it looks."
                ),
            ]  # fmt: skip
        if self["single judges"].verdict != "cannot be checked":
            words = "lead without single judges"
            parts += ["<h2>Single judges</h2>", html_image(_judges_figure(self), words)]
        if len(self.arms) <= _MOST_ARMS:
            words = "probabilities and votes of all pairs"
            figure = plots.heat_map(self.board.posterior)
            parts += ["<h2>Who met whom</h2>", html_image(figure, words)]
        parts.append(small_print(f"bayesduel {__version__}; seed {self.board.seed}."))
        return html_page(title, parts)


def _fewest_cells(line: FewestVotes) -> tuple[str, ...]:
    number = "none" if line.number is None else str(line.number)
    if not line.is_exact:
        number += f" at most; at least {line.at_least}"
    removed = shortened([str(part) for part in line.removed], 4)
    return line.score, line.leader, number, line.rival or "", removed


def audit(
    votes: Comparisons,
    *,
    level: float = 0.05,
    cluster: str | None = None,
    time: str | None = None,
    seed: int = 0,
) -> Audit:
    """Audit a finished leaderboard: which ranks hold, and what speaks against them.

    Bradley and Terry's model is fitted to the votes, with Davidson's ties. Intervals of
    all differences of utilities hold at once (max-t), with errors that are clustered by
    judge, or else by context, where at least 10 labels of these are known.

    Parameters
    ----------
    votes : Comparisons
        Columns ``judge``, ``context`` (such as a prompt) and
        a time add checks; without them these say why nothing can be checked.
    level : float
        Probability, in (0, 1), with which a test warns at most where nothing is wrong,
        and with which some simultaneous interval fails.
    cluster : str, optional
        The column that errors are clustered by, of at least 2 labels.
    time : str, optional
        The column that says when votes were cast: numbers, or texts that sort as dates
        do. By default ``time``, where the votes carry it.
    seed : int
        Of the draws; the same seed gives the same audit.

    Returns
    -------
    Audit
        ``print(audit(votes))`` is a page of text; ``to_json()`` and ``to_html()`` are
        the same for programs and for readers.

    Raises
    ------
    ComparisonDataError
        If there are no votes, or no such column.

    Notes
    -----
    The checks, and when they warn:

    - votes: an arm has fewer than 30.
    - neighbors: fewer than half of the neighbors are told apart at once.
    - leader: another arm is not told apart from it.
    - connectivity: no votes connect some arms, or some never lost to the others.
    - order effect: Rao's score test of an advantage of the arm shown first.
    - ties: another arm leads where ties are dropped, or split in halves.
    - judges: they differ by more than noise (posterior predictive, 199 replicates).
    - share of judges: one casts more than a quarter of the votes, or more than twice
      the even share where there are few.
    - single judges: another arm leads without the votes of one of them.
    - cycles: more than votes on one scale have (posterior predictive).
    - duplicates: votes with the same entries in all columns, more than chance gives
      where the labels are permuted (199 permutations, fewer of more than 50,000 votes),
      by 1 % of all votes.
    - mirrored rows: each row is there with the arms in the other order, too.
    - drift: Rao's score test of utilities that change with the time.
    - fewest votes: the removal of less than 1 % of the votes unseats the leader.

    References
    ----------
    T. Hothorn, F. Bretz and P. Westfall, "Simultaneous inference in general parametric
    models", Biometrical Journal 50 (2008), 346-363.

    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, "Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across
    countries", Review of Economic Studies 91 (2024), 476-518.

    J. Y. Huang, Y. Shen, D. Wei and T. Broderick, "Dropping just a handful of
    preferences can change top large language model rankings", arXiv:2508.11847 (2025).

    Examples
    --------
    >>> from bayesduel import audit
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 52, 95], [48, 0, 90], [5, 10, 0]])
    >>> [check.name for check in audit(votes).warnings]
    ['leader']
    """
    if not isinstance(votes, Comparisons):
        hint = "use its to_comparisons()" if hasattr(votes, "to_comparisons") else ""
        hint = hint or "read them with votes.read_comparisons"
        name = type(votes).__name__
        raise ComparisonDataError("votes", "must be Comparisons", name, remedy=hint)
    if not votes.num_votes:
        raise ComparisonDataError("votes", "must hold a vote", votes.num_votes)
    for name, column in (("cluster", cluster), ("time", time)):
        if column is not None and column not in votes.columns:
            rule = "must be a column that the votes carry, of which there is "
            rule += shortened([*votes.columns]) or "none"
            raise ComparisonDataError(name, rule, column)
    if time is None and "time" in votes.columns:
        time = "time"
    level = share_of(level, "level", kind=ComparisonDataError)
    seed = seed_of(seed, "seed", kind=ComparisonDataError)
    board = Board(votes, level, seed, cluster, time)
    if cluster is not None and board.clusters is None:
        rule = "must tell at least 2 clusters of votes apart"
        raise ComparisonDataError("cluster", rule, cluster)
    apart, best = board.separation, int(board.order[0])
    number = votes_of_arms(board.pairs)["comparisons"]
    arms = []
    for arm in board.order.tolist():
        behind = float(board.utilities[arm] - board.utilities[best])
        half = apart.critical * float(apart.errors[arm, best])
        arms.append(
            RankedArm(
                votes.arm_names[arm],
                int(apart.lowest_ranks[arm]),
                int(apart.highest_ranks[arm]),
                float(board.utilities[arm]),
                behind,
                behind - half,
                behind + half,
                float(number[arm]),
            )
        )
    checks = tuple(check(board) for check in CHECKS)
    return Audit(tuple(arms), checks, board.fewest, more_votes(board), level, board)


def _ranks_figure(result: Audit) -> Figure:
    from bayesduel.plots import style
    from bayesduel.plots.posteriors import short_names

    arms = result.arms[:_MOST_ARMS]
    rows = np.arange(len(arms))
    with style.new_figure(7.0, 0.22 * len(arms) + 0.9) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        low, high = ([getattr(arm, f"behind_{end}") for arm in arms]
                     for end in ("lower", "upper"))  # fmt: skip
        left.axvline(0.0, color=style.FAINT, linewidth=0.8)
        left.hlines(rows, low, high, colors=style.BLUE, linewidth=1.0)
        left.plot([arm.behind for arm in arms], rows, "o", color=style.BLUE)
        left.set_xlabel("utility minus that of the leader")
        ranks = [(arm.rank_lower, arm.rank_upper) for arm in arms]
        right.hlines(rows, *zip(*ranks, strict=True), colors=style.ORANGE, linewidth=3)
        for ends in zip(*ranks, strict=True):
            right.plot(ends, rows, "o", color=style.ORANGE)
        right.set_xlabel("ranks left open")
        right.xaxis.get_major_locator().set_params(integer=True)
        left.set_yticks(rows, short_names([arm.arm for arm in arms]))
        left.invert_yaxis()
        for axes in (left, right):
            style.light_grid(axes, "x")
    return figure


def _judges_figure(result: Audit) -> Figure:
    from bayesduel.plots import style
    from bayesduel.plots.posteriors import short_names

    board = result.board
    lines = board.without_judges[:_MOST_JUDGES]
    now = float(board.utilities[board.order[0]] - board.utilities[board.order[1]])
    rows = np.arange(len(lines))
    with style.new_figure(7.0, 0.22 * len(lines) + 0.9) as figure:
        axes = figure.add_subplot()
        axes.axvline(0.0, color=style.INK, linewidth=0.8)
        axes.axvline(now, color=style.FAINT, linewidth=0.8)
        axes.plot([line[3] for line in lines], rows, "o", color=style.BLUE)
        names = short_names([line[0] for line in lines])
        axes.set_yticks(
            rows,
            [f"{name}, {line[1]:g} votes"
             for name, line in zip(names, lines, strict=True)],
        )  # fmt: skip
        axes.invert_yaxis()
        axes.set_xlabel(
            f"lead of {result.arms[0].arm} without this judge; gray: of all votes"
        )
        style.light_grid(axes, "x")
    return figure
