"""A fit as a table on the screen, and as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.output import defined, say, say_warning, version

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

    from bayesduel.models import Posterior

__all__ = ["as_record", "print_standings", "save_fit"]

# Numbers in a variable from which compressing it is worth the time.
_LARGE = 100_000

# Arms that are printed without --all.
_MANY = 40


def as_record(posterior: Posterior, probability: float) -> dict[str, Any]:
    """Return the table and what was fitted as plain values, for JSON."""
    from bayesduel.models import standings

    table = standings(posterior, probability)
    rows = [
        {"arm": str(name)}
        | {
            key: _plain(value)
            for key, value in ((k, table[k].values[place]) for k in table.data_vars)
        }
        for place, name in enumerate(table["arm"].values)
    ]
    best = posterior.winner_probabilities()
    return {
        "model": repr(posterior.model),
        "method": posterior.method,
        "converged": posterior.converged,
        "votes": posterior.data.num_votes,
        "interval": probability,
        "score": table.attrs["score"],
        "p_best": table.attrs["p_best"],
        "condorcet_exists": float(best["condorcet_exists"]),
        "remarks": list(posterior.remarks),
        "version": version(),
        "arms": rows,
    }


def _plain(value: Any) -> int | float:  # noqa: ANN401
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


_HEADERS = ("arm", "rank", "score", "interval", "P(best)", "votes", "won", "lost",
            "tied")  # fmt: skip


def _cells(row: dict[str, Any]) -> list[str]:
    low, high = row["rank_lower"], row["rank_upper"]
    return [
        row["arm"],
        str(low) if low == high else f"{low}-{high}",
        f"{row['score']:z.3f}",
        f"{row['score_lower']:z.3f} to {row['score_upper']:z.3f}",
        f"{row['p_best']:.3f}",
        *(f"{row[key]:g}" if row[key] % 1 else f"{int(row[key])}"
          for key in ("comparisons", "wins", "losses", "ties")),
    ]  # fmt: skip


def _heads(record: dict[str, Any]) -> list[str]:
    score = "utility" if record["score"] == "utility" else "P(win)"
    return [score if head == "score" else head for head in _HEADERS]


def print_standings(
    screen: Console, posterior: Posterior, probability: float, *, everything: bool
) -> None:
    """Print one row per arm, the best first."""
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    record = as_record(posterior, probability)
    rows = record["arms"] if everything else record["arms"][:_MANY]
    table = new_table()
    for head in _heads(record):
        left = head == "arm"
        table.add_column(head, justify="left" if left else "right", no_wrap=not left)
    for row in rows:
        name, *numbers = _cells(row)
        table.add_row(escape(name), *numbers)
    hidden = len(record["arms"]) - len(rows)
    score = (
        "utility: relative to the mean of all arms"
        if record["score"] == "utility"
        else "P(win): mean probability of beating another arm"
    )
    captions = [
        f"{score}; intervals hold {probability:.0%}; P(best): {record['p_best']}",
        f"bayesduel {record['version']}",
    ]
    if record["score"] != "utility":
        exists = record["condorcet_exists"]
        captions.insert(1, f"an arm that beats every other one exists: {exists:.2f}")
    if hidden:
        captions.insert(0, f"left out: {hidden} more arms; see --all")
    show(screen, repr(posterior), table, *captions)


def save_fit(
    posterior: Posterior, out: Path, probability: float, *, quiet: bool
) -> None:
    """Write standings.csv, .json and .md, fit.nc, and figures."""
    from bayesduel import plots

    record = as_record(posterior, probability)
    names = [out / f"standings.{kind}" for kind in ("csv", "json", "md")]
    with names[0].open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(record["arms"][0]))
        writer.writeheader()
        writer.writerows(record["arms"])
    text = json.dumps(defined(record), indent=2, allow_nan=False, ensure_ascii=False)
    names[1].write_text(text + "\n", encoding="utf-8")
    names[2].write_text(_markdown(record), encoding="utf-8")
    if posterior.data.is_whole:
        names.append(out / "fit.nc")
        tree = posterior.to_datatree()
        tree.to_netcdf(names[-1], engine="h5netcdf", encoding=_packed(tree))
    else:
        say_warning("no fit.nc: split or weighted votes cannot be drawn anew")
    figures = {
        "forest": plots.forest(posterior, probability=probability),
        "ranks": plots.forest(posterior, by="rank", probability=probability),
        "winners": plots.winners(posterior),
        "preferences": plots.heat_map(posterior),
        "best-two": plots.pair(
            posterior, *(row["arm"] for row in record["arms"][:2]),
            probability=probability,
        ),
    }  # fmt: skip
    if posterior.data.is_whole and posterior.data.without_ties().num_votes:
        figures["check"] = plots.predictive_check(posterior)
    for name, figure in figures.items():
        names += plots.save(figure, out / name, ("png", "svg"))
    for path in names:
        say(f"saved {path}", quiet=quiet)


def _packed(tree: xr.DataTree) -> dict[str, dict[str, dict[str, Any]]]:
    """Return how to compress what has an entry per draw and vote: most repeat."""
    return {
        node.path: {
            str(name): {"zlib": True, "complevel": 1}
            for name, each in node.data_vars.items()
            if each.size > _LARGE
        }
        for node in tree.subtree
    }


def _markdown(record: dict[str, Any]) -> str:
    heads = _heads(record)
    lines = [heads, [":--", *["--:"] * (len(heads) - 1)]]
    for row in record["arms"]:
        cells = _cells(row)
        lines.append([cells[0].replace("|", "\\|"), *cells[1:]])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
