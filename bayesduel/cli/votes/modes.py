"""A fit by the mode, of more arms than have room in a table of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.cli.output import (
    console,
    print_json,
    save_csv,
    say_remarks,
    say_warning,
    version,
)
from bayesduel.cli.votes.contrasts import (
    Reference,
    contrast_rows,
    print_contrasts,
)

if TYPE_CHECKING:
    from bayesduel.inference import ModeFit
    from bayesduel.votes import Comparisons

_MANY = 40


def show_mode(
    model: Any,
    data: Comparisons,
    probability: float,
    reference: Reference | None,
    *,
    everything: bool,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> None:
    """Print, and save, utilities; differences from a reference of those printed."""
    from bayesduel.inference import fit_mode

    found = say_remarks(lambda: fit_mode(model, data))
    if not found.converged:
        say_warning("the search for the mode did not end; a narrower prior helps")
    rows = _rows(found)
    shown = rows if everything else rows[:_MANY]
    compared: list[dict[str, Any]] = []
    if reference is not None:
        names = [row["arm"] for row in shown]
        compared = contrast_rows(
            found.contrasts(
                names,
                reference.arm,
                probability=probability,
                equivalent=reference.equivalent,
            )
        )
    if out is not None:
        tables = {"standings": rows} | ({"contrasts": compared} if compared else {})
        for name, table in tables.items():
            save_csv(out / f"{name}.csv", table, quiet=quiet)
    if as_json:
        print_json(
            {
                "model": repr(model),
                "method": "mode",
                "converged": found.converged,
                "votes": data.num_votes,
                "interval": probability,
                "remarks": list(found.remarks),
                "version": version(),
                "arms": rows,
                "contrasts": compared,
            }
        )
        return
    _print(found, shown, len(rows))
    if reference is not None:
        print_contrasts(console(), compared, reference)


def _rows(found: ModeFit) -> list[dict[str, Any]]:
    """Return a row for each arm, the best first."""
    data, ranking = found.data, found.ranking()
    number = data.counts.sum(axis=1)
    votes = np.bincount(data.first, number, data.num_arms)
    votes += np.bincount(data.second, number, data.num_arms)
    by_name = dict(zip(data.arm_names, votes.tolist(), strict=True))
    names, values = ranking["arm"].values.tolist(), ranking.values.tolist()
    return [
        {"arm": name, "utility": value, "comparisons": by_name[name]}
        for name, value in zip(names, values, strict=True)
    ]


def _print(found: ModeFit, rows: list[dict[str, Any]], number: int) -> None:
    from bayesduel.cli.tables import show, table_of

    cells = [
        (row["arm"], f"{row['utility']:z.3f}", f"{row['comparisons']:g}")
        for row in rows
    ]
    table = table_of(("arm", "utility", "votes"), cells)
    captions = [f"utility: at the mode; bayesduel {version()}"]
    if number > len(rows):
        captions.insert(0, f"left out: {number - len(rows)} more arms; see --all")
    show(console(), repr(found), table, *captions)
