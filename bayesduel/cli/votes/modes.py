"""A fit by the mode, of more arms than have room in a table of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.cli.output import (
    console,
    print_json,
    save_csv,
    save_json,
    say_remarks,
    say_warning,
    told_later,
    version,
)
from bayesduel.cli.votes.chosen_models import at_work
from bayesduel.cli.votes.contrasts import (
    Reference,
    contrast_rows,
    print_contrasts,
)
from bayesduel.cli.votes.saved_fits import print_parameters

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

    with at_work("fitting by mode", quiet=quiet), told_later():
        found = fit_mode(model, data)
    say_remarks(found)
    if not found.converged:
        say_warning("the search for the mode did not end; a narrower prior helps")
    rows, parameters = _rows(found), found.parameters(probability)
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
    doubts = [] if found.converged else ["the method did not converge"]
    record = {
        "model": repr(model),
        "method": "mode",
        "converged": found.converged,
        "trusted": not doubts,
        "doubts": doubts,
        "votes": data.num_votes,
        "interval": probability,
        "score": "utility",
        "remarks": list(found.remarks),
        "version": version(),
        "parameters": parameters,
        "arms": rows,
        "reference": reference and reference.arm,
        "equivalent": reference and reference.equivalent,
        "contrasts": compared,
    }
    if out is not None:
        for name in ("standings", "parameters", "contrasts"):
            table = record["arms" if name == "standings" else name]
            if table:
                save_csv(out / f"{name}.csv", table, quiet=quiet)
        save_json(out / "standings.json", record, quiet=quiet)
    if as_json:
        print_json(record)
        return
    _print(found, shown, len(rows))
    print_parameters(console(), parameters, probability)
    if reference is not None:
        print_contrasts(console(), compared, reference)


def _rows(found: ModeFit) -> list[dict[str, Any]]:
    """Return a row for each arm, the best first."""
    data, utility = found.data, found.utility
    won = data.counts
    both = np.concatenate([data.first, data.second])

    def by_arm(of_first: Any, of_second: Any) -> list[float]:
        return np.bincount(
            both, np.concatenate([of_first, of_second]), data.num_arms
        ).tolist()

    columns = {
        "score": utility.tolist(),
        "comparisons": by_arm(won.sum(axis=1), won.sum(axis=1)),
        "wins": by_arm(won[:, 0], won[:, 1]),
        "losses": by_arm(won[:, 1], won[:, 0]),
        "ties": by_arm(won[:, 2], won[:, 2]),
    }
    return [
        {"arm": data.arm_names[arm]}
        | {name: values[arm] for name, values in columns.items()}
        for arm in np.argsort(-utility, kind="stable").tolist()
    ]


def _print(found: ModeFit, rows: list[dict[str, Any]], number: int) -> None:
    from bayesduel.cli.tables import show, table_of

    cells = [
        (
            row["arm"],
            f"{row['score']:z.3f}",
            *(f"{row[key]:g}" for key in ("comparisons", "wins", "losses", "ties")),
        )
        for row in rows
    ]
    table = table_of(("arm", "utility", "votes", "won", "lost", "tied"), cells)
    captions = [
        "utility: at the mode, relative to the mean of all arms; no intervals, but of "
        f"differences: --reference ARM; bayesduel {version()}"
    ]
    if number > len(rows):
        captions.insert(0, f"left out: {number - len(rows)} more arms; see --all")
    show(console(), repr(found), table, *captions)
