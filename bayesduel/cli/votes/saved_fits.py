"""A fit as a table on the screen, and as files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.figures import save_figures
from bayesduel.cli.output import save_csv, save_json, say, say_warning, version
from bayesduel.cli.votes.contrasts import (
    Reference,
    compared,
    contrast_cells,
    print_contrasts,
)
from bayesduel.cli.votes.options import UTILITY, Scale

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

    from bayesduel.diagnostics import Report
    from bayesduel.inference import Fit

# Numbers in a variable from which compressing it is worth the time.
_LARGE = 10_000

# Arms that are printed without --all.
_MANY = 40


def belief_in(posterior: Fit) -> dict[str, Any]:
    """Return what was fitted, how, and whether to believe it."""
    return {
        "model": repr(posterior.model),
        "method": posterior.method,
        "converged": posterior.converged,
        "trusted": not posterior.doubts,
        "doubts": list(posterior.doubts),
    }


def as_record(
    posterior: Fit,
    probability: float,
    scale: Scale = UTILITY,
    check: Report | None = None,
    reference: Reference | None = None,
    cluster: str | None = None,
) -> dict[str, Any]:
    """Return the table and what was fitted as plain values, for JSON."""
    from bayesduel.models.fit.tables import parameter_summary, standing_columns

    names, columns, words = standing_columns(
        posterior, probability, scale=scale.name, anchor=scale.anchor, cluster=cluster
    )
    rows = [
        {"arm": name} | {key: _plain(values[place]) for key, values in columns.items()}
        for place, name in enumerate(names)
    ]
    return {
        **belief_in(posterior),
        "votes": posterior.data.num_votes,
        "interval": probability,
        "anchor": scale.anchor,
        **words,
        **({} if cluster is None else {"clusters": _number_of(posterior, cluster)}),
        "remarks": list(posterior.remarks),
        "version": version(),
        "parameters": parameter_summary(posterior, probability, cluster=cluster),
        "arms": rows,
        **({"check": _checked(check)} if check is not None else {}),
        **compared(posterior, probability, scale, reference),
    }


def _number_of(posterior: Fit, cluster: str) -> int:
    import numpy as np

    return len(np.unique(posterior.data.columns[cluster]))


def _checked(check: Report) -> dict[str, Any]:
    """Return what was found when the fit was looked at."""
    findings = [each.record() for each in check.findings]
    return {"good": check.good, "verdict": check.verdict, "findings": findings}


def _plain(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


_HEADERS = ("arm", "part", "rank", "shared", "score", "interval", "error", "clustered",
            "P(best)", "votes", "won", "lost", "tied")  # fmt: skip


_ERRORS = ("error", "error_clustered")
_COUNTS = ("comparisons", "wins", "losses", "ties")
"""Which whole ballots have not."""


def _cells(row: dict[str, Any], record: dict[str, Any]) -> list[str]:
    form = "z.0f" if record["score"] == "elo" else "z.3f"
    low, high = row["rank_lower"], row["rank_upper"]
    # An arm that is alone in its part has no rank.
    errors = [f"{row[key]:{form}}" for key in _ERRORS if key in row]
    standing = ["-"] * (5 + len(errors)) if math.isnan(low) else [
        str(low) if low == high else f"{low}-{high}",
        str(row["rank_shared"]),
        f"{row['score']:{form}}",
        f"{row['score_lower']:{form}} to {row['score_upper']:{form}}",
        *errors,
        f"{row['p_best']:.3f}",
    ]  # fmt: skip
    return [
        row["arm"],
        *([str(row["part"])] if record["parts"] > 1 else []),
        *standing,
        *(f"{row[key]:g}" if row[key] % 1 else f"{int(row[key])}"
          for key in _COUNTS if key in row),
    ]  # fmt: skip


def standing_cells(record: dict[str, Any]) -> list[list[str]]:
    """Return the table of arms, its heads first."""
    return [_heads(record), *(_cells(row, record) for row in record["arms"])]


_FEW_CLUSTERS = 40


def clusters_said(number: int) -> str:
    """Return what a table says of its two kinds of standard errors."""
    few = ", rather too small with so few" if number < _FEW_CLUSTERS else ""
    return (
        f"error: standard error by the model; clustered: where {number} clusters are "
        f"independent, and not votes{few}"
    )


_PARAMETER_HEADERS = ("parameter", "mean", "interval", "meaning")


def _parameter_table(parameters: list[dict[str, Any]]) -> list[list[str]]:
    """Return the table of what belongs to no arm, its heads first."""
    heads, *rows = [_PARAMETER_HEADERS, *map(_parameter_cells, parameters)]
    errors = ("error", "clustered") if len(rows[0]) > len(heads) else ()
    return [[*heads[:3], *errors, *heads[3:]], *rows]


def _parameter_cells(row: dict[str, Any]) -> list[str]:
    return [
        row["parameter"],
        _shown(row["mean"]),
        f"{_shown(row['lower'])} to {_shown(row['upper'])}",
        *(_shown(row[key]) for key in _ERRORS if key in row),
        row["meaning"],
    ]


def _shown(value: float) -> str:
    """Return three decimals; three digits of what is per unit of a large number."""
    return f"{value:z.3f}" if abs(value) >= 0.01 or not value else f"{value:.3g}"


def _heads(record: dict[str, Any]) -> list[str]:
    names = {"utility": "utility", "elo": "Elo"}
    score = names.get(record["score"], "P(win)")
    left_out = {"part"} if record["parts"] == 1 else set()
    if not record["arms"] or "error" not in record["arms"][0]:
        left_out |= {"error", "clustered"}
    if record["arms"] and _COUNTS[0] not in record["arms"][0]:
        left_out |= {"votes", "won", "lost", "tied"}
    headers = [head for head in _HEADERS if head not in left_out]
    return [score if head == "score" else head for head in headers]


def print_standings(
    screen: Console, title: str, record: dict[str, Any], *, everything: bool
) -> None:
    """Print a record with one row per arm, the best first."""
    from bayesduel.cli.tables import show, table_of

    heads, *rows = standing_cells(record)
    shown = rows if everything else rows[:_MANY]
    hidden, anchor = len(rows) - len(shown), record["anchor"]
    held = f"intervals hold {record['interval']:.0%}"
    several = record["parts"] > 1
    zero = "the mean of its part" if several else "the mean of all arms"
    if anchor is not None:
        zero = f"{anchor[0]}, which has {anchor[1]:g}"
    score = (
        f"{heads[3 + several]}: relative to {zero}"
        if record["score"] in ("utility", "elo")
        else "P(win): mean probability of beating another arm"
        + " of its part" * several
    )
    captions = [
        *_doubtful(record),
        f"{score}; {held}; P(best): {record['p_best']}",
        f"bayesduel {record['version']}",
    ]
    if several:
        captions.insert(
            0,
            f"no votes connect the {record['parts']} parts: rank, "
            f"{heads[4]} and P(best) are among the arms of the same part, "
            "and cannot be compared across parts",
        )
    elif record["score"] not in ("utility", "elo"):
        exists = record["condorcet_exists"]
        captions.insert(1, f"an arm that beats every other one exists: {exists:.2f}")
    if "clusters" in record:
        captions.insert(1, clusters_said(record["clusters"]))
    if hidden:
        captions.insert(0, f"left out: {hidden} more arms; see --all")
    show(screen, title, table_of(heads, shown), *captions)
    print_parameters(screen, record["parameters"])
    if "contrasts" in record:
        rows = record["contrasts"] if everything else record["contrasts"][:_MANY]
        print_contrasts(
            screen, rows, Reference(record["reference"], record["equivalent"])
        )


def print_parameters(
    screen: Console, parameters: list[dict[str, Any]], at_mode: float | None = None
) -> None:
    """Print what belongs to no arm, if anything; at a mode with that interval."""
    from bayesduel.cli.tables import show, table_of

    if not parameters:
        return
    heads, *rows = _parameter_table(parameters)
    table = table_of(heads, rows, words=("parameter", "meaning"))
    held = f"mean: at the mode; intervals hold {at_mode:.0%}" if at_mode else ""
    show(screen, "of all arms", table, *([held] if held else []))


def save_fit(
    posterior: Fit,
    record: dict[str, Any],
    out: Path,
    scale: Scale,
    check: Report | None,
    *,
    log_likelihood: bool,
    quiet: bool,
) -> None:
    """Write standings.csv, .json and .md, parameters.csv, fit.nc, and figures.

    With a report also check.txt; what it says in short is in .json and .md too.
    """
    from bayesduel import plots

    probability, text = record["interval"], markdown(record)
    save_csv(out / "standings.csv", with_doubt(record, "arms"), quiet=quiet)
    save_json(out / "standings.json", record, quiet=quiet)
    if check is not None:
        (out / "check.txt").write_text(f"{check}\n", encoding="utf-8")
        say(f"saved {out / 'check.txt'}", quiet=quiet)
        text += f"\n```\n{check.short()}\n```\n"
    (out / "standings.md").write_text(text, encoding="utf-8")
    say(f"saved {out / 'standings.md'}", quiet=quiet)
    for part in ("parameters", "contrasts"):
        if record.get(part):
            save_csv(out / f"{part}.csv", with_doubt(record, part), quiet=quiet)
    of_pairs = _COUNTS[0] in record["arms"][0]
    if not of_pairs or posterior.data.is_whole:
        tree = posterior.to_datatree(log_likelihood=log_likelihood)
        save_draws(tree, out, quiet=quiet)
    else:
        say_warning("no fit.nc: split or weighted votes cannot be drawn anew")
    figures = {
        "forest": plots.forest(
            posterior, probability=probability, scale=scale.name, anchor=scale.anchor
        ),
        "ranks": plots.forest(posterior, by="rank", probability=probability),
        "winners": plots.winners(posterior),
    }
    if of_pairs:
        figures["best-two"] = plots.pair(
            posterior,
            *(row["arm"] for row in record["arms"][:2]),
            probability=probability,
            scale="elo" if scale.name == "elo" else "probability",
        )
        figures["preferences"] = plots.heat_map(posterior)
        if posterior.data.is_whole and posterior.data.without_ties().num_votes:
            figures["check"] = plots.predictive_check(posterior)
    by_stem = {out / name: figure for name, figure in figures.items()}
    save_figures(by_stem, quiet=quiet)


def _doubtful(record: dict[str, Any]) -> list[str]:
    return [f"DOUBTFUL: {each}" for each in record["doubts"]]


def with_doubt(record: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """Return rows of a record with what speaks against all of them in each."""
    return [row | {"doubt": "; ".join(record["doubts"])} for row in record[part]]


def save_draws(tree: xr.DataTree, out: Path, *, quiet: bool) -> None:
    """Write fit.nc, its larger variables compressed, counts in few bytes."""
    import numpy as np

    encoding: dict[str, dict[str, dict[str, Any]]] = {}
    for node in tree.subtree:
        encoding[node.path] = {}
        for name, each in node.data_vars.items():
            if each.size > _LARGE:
                packed: dict[str, Any] = {"zlib": True, "complevel": 4}
                if each.dtype.kind == "i":
                    packed["dtype"] = np.min_scalar_type(-int(each.max()) - 1)
                encoding[node.path][str(name)] = packed
    tree.to_netcdf(out / "fit.nc", engine="h5netcdf", encoding=encoding)
    say(f"saved {out / 'fit.nc'}", quiet=quiet)


def markdown(record: dict[str, Any]) -> str:
    """Return a record as tables in Markdown."""
    heads, *rows = standing_cells(record)
    lines = [heads, [":--", *["--:"] * (len(heads) - 1)]]
    lines += [[cells[0].replace("|", "\\|"), *cells[1:]] for cells in rows]
    if record["parameters"]:
        heads, *rows = _parameter_table(record["parameters"])
        sides = [":--" if each in ("parameter", "meaning") else "--:" for each in heads]
        lines += [[], heads, sides, *rows]
    if "contrasts" in record:
        heads, *rows = contrast_cells(record["contrasts"], record["reference"])
        rows = [[each.replace("|", "\\|") for each in row] for row in (heads, *rows)]
        lines += [[], rows[0], [":--", *["--:"] * (len(heads) - 1)], *rows[1:]]
    text = "".join(f"| {' | '.join(line)} |\n" if line else "\n" for line in lines)
    return text + "".join(f"\n{each}\n" for each in _doubtful(record))
