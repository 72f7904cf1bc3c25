"""Rankings that say which differences are real, printed and saved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayesduel.analysis.policy_rankings import OPEN, SEEN
from bayesduel.analysis.text import format_number, format_rounds, regret_words
from bayesduel.cli.tables import show, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from bayesduel.analysis import Difference, Ranking

_HEADERS = (
    "rank", "seen", "policy", "above the first", "undone by", "better in", "mean",
    "median",
)  # fmt: skip
# Left out in this order until the table fits.
_OPTIONAL = ("median", "mean", "better in", "undone by", "seen")
# More pairs than that are counted and not named.
_NAMED_PAIRS = 4
# Where the worst twentieth of the runs makes more of the mean, the caption says so: an
# exponential distribution has 0.2.
_MUCH = 0.25


def print_rankings(screen: Console, rankings: list[Ranking]) -> None:
    """Print one table per instance."""
    for ranking in rankings:
        title = (
            f"{ranking.instance}: ranking at {format_rounds(ranking.round_)} by "
            f"{regret_words(ranking.notion)}"
        )
        show(screen, title, _table(ranking), *_captions(ranking))


def print_ranks(screen: Console, rankings: list[Ranking]) -> None:
    """Print two lines per instance: the ranks, and which of them are certain."""
    from bayesduel.cli.output import print_text

    for ranking in rankings:
        seen = ", ".join(
            f"{_rank(policy.best_seen, policy.worst_seen)} {policy.policy}"
            for policy in ranking.policies
        )
        head = f"{ranking.instance} at {format_rounds(ranking.round_)}"
        print_text(screen, f"{head}, ranks in the runs seen: {seen}")
        notes = [ranking.note] if ranking.note else _undecided(ranking)
        text = f"{'; '.join(notes)}; --ranking prints the intervals"
        print_text(screen, text, style="dim")


def _table(ranking: Ranking) -> Table:

    rows = []
    best = ranking.policies[0].policy
    for policy in ranking.policies:
        cells = {"rank": _rank(policy.best_rank, policy.worst_rank)}
        cells["seen"] = _rank(policy.best_seen, policy.worst_seen)
        cells["policy"] = policy.policy
        cells["mean"], cells["median"] = map(
            format_number, (policy.mean, policy.median)
        )
        cells |= dict.fromkeys(("above the first", "undone by", "better in"), "")
        if policy.policy != best:
            apart = ranking.difference(best, policy.policy)
            cells["above the first"] = _interval(apart)
            cells["undone by"] = format_number(apart.reversal) if apart.is_apart else ""
            cells["better in"] = f"{1 - apart.share:.0%}"
        rows.append([cells[name] for name in _HEADERS])
    words = ("rank", "seen", "policy")
    return table_of(_HEADERS, rows, words=words, names=("policy",), optional=_OPTIONAL)


def _rank(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _interval(apart: Difference) -> str:
    if not math.isfinite(apart.low):
        return f"{format_number(apart.mean)} [?]"
    # Decimals as the shorter half of the interval has them.
    reach = min(apart.mean - apart.low, apart.high - apart.mean)
    decimals = 0 if reach >= 9.95 else max(1, 1 - math.floor(math.log10(reach or 1)))
    low, high = (f"{end:.{decimals}f}" for end in (apart.low, apart.high))
    return f"{apart.mean:.{decimals}f} [{low}, {high}]"


def _captions(ranking: Ranking) -> list[str]:
    """Say what the numbers mean, and which pairs differ clearly."""
    if ranking.note:
        return [ranking.note]
    pairs = len(ranking.differences)
    together = "" if pairs == 1 else f" for all {pairs} pairs at once"
    return [
        f"difference of means over {ranking.num_runs} paired runs with a "
        f"{ranking.confidence:.0%} bootstrap interval{together}; better in: share of "
        "runs with less regret than the first",
        f"seen: rank by these intervals, if other runs are like these "
        f"{ranking.num_runs}; rank: allows for a rare disaster in up to "
        f"{100 * ranking.unseen:.2g}% of all runs, which {ranking.num_runs} runs can "
        "miss; undone by: how much more than the policy the first would have to cost "
        "in such runs to lose its lead",
        *_undecided(ranking),
        *_skewed(ranking),
    ]


def _undecided(ranking: Ranking) -> list[str]:
    """Say which pairs differ clearly in these runs only, and which do not."""
    pairs = ranking.differences
    only_seen = [pair for pair in pairs if pair.verdict == SEEN]
    left = [pair for pair in pairs if pair.verdict == OPEN]
    if not only_seen and not left:
        return ["the order of every pair is certain"]
    lines = []
    if only_seen:
        needed = [pair.enough_runs for pair in only_seen]
        lines.append(f"clearly different in these runs: {_named(only_seen, pairs)}")
        if min(needed):
            lines[-1] += f"; about {max(needed):,} runs would rule out a rare disaster"
    if left:
        lines.append(f"not clearly different: {_named(left, pairs)}")
    return lines


def _named(some: Sequence[Difference], pairs: Sequence[Difference]) -> str:
    if len(some) == len(pairs) > 1:
        return "every pair"
    if len(some) > _NAMED_PAIRS:
        return f"{len(some)} of the {len(pairs)} pairs"
    return "; ".join(f"{pair.lower} and {pair.higher}" for pair in some)


def _skewed(ranking: Ranking) -> list[str]:
    """Tell where a mean rests on few runs, or medians say the opposite."""
    lines = [
        f"{line.policy}: the worst 5% of its runs make {line.worst_share:.0%} of its "
        "mean"
        for line in ranking.policies
        if line.worst_share > _MUCH
    ]
    turned = [line for line in ranking.differences if line.median < 0]
    if turned:
        lines.append(f"the opposite by medians: {_named(turned, ranking.differences)}")
    return lines
