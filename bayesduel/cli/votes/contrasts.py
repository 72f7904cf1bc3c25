"""Differences from a reference arm, as rows, cells and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bayesduel.cli.errors import option_error
from bayesduel.cli.votes.options import Scale

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

    from bayesduel.inference import Fit


class Reference(NamedTuple):
    """The arm that all are compared with, and up to where a difference is none."""

    arm: str
    equivalent: float | None = None

    @classmethod
    def of(cls, arm: str | None, equivalent: float | None) -> Reference | None:
        """Return what was asked for."""
        if arm is None and equivalent is not None:
            rule = "needs an arm to be compared: --reference"
            raise option_error("--equivalent", rule, equivalent)
        return None if arm is None else cls(arm, equivalent)


def compared(
    posterior: Fit, probability: float, scale: Scale, reference: Reference | None
) -> dict[str, Any]:
    """Return differences from the reference arm, where there is one."""
    if reference is None:
        return {}
    from bayesduel.inference import contrasts

    found = contrasts(
        posterior,
        reference.arm,
        probability=probability,
        equivalent=reference.equivalent,
        scale=scale.name,
    )
    return {
        "reference": reference.arm,
        "equivalent": reference.equivalent,
        "difference": found.attrs["difference"],
        "contrasts": contrast_rows(found),
    }


def contrast_rows(found: xr.Dataset) -> list[dict[str, Any]]:
    """Return a row for each arm."""
    columns = {str(name): each.values.tolist() for name, each in found.items()}
    names = found["arm"].values.tolist()
    return [
        {"arm": arm} | {name: each[place] for name, each in columns.items()}
        for place, arm in enumerate(names)
    ]


def contrast_cells(rows: list[dict[str, Any]], reference: str) -> list[list[str]]:
    """Return the table of differences, its heads first."""
    equivalent = "p_equivalent" in rows[0]
    heads = ["arm", f"minus {reference}", "interval", "P(better)"]
    table = [heads + ["P(equivalent)"] * equivalent]
    for row in rows:
        form = "z.0f" if max(abs(row["lower"]), abs(row["upper"])) >= 50 else "z.3f"
        cells = [
            row["arm"],
            f"{row['mean']:{form}}",
            f"{row['lower']:{form}} to {row['upper']:{form}}",
            f"{row['p_better']:.3f}",
        ]
        table.append([*cells, f"{row['p_equivalent']:.3f}"] if equivalent else cells)
    return table


def print_contrasts(
    screen: Console, rows: list[dict[str, Any]], reference: Reference
) -> None:
    """Print how far arms are from the reference arm."""
    from bayesduel.cli.tables import show, table_of

    heads, *cells = contrast_cells(rows, reference.arm)
    least = reference.equivalent
    captions = [] if least is None else [f"equivalent: differ by at most {least:g}"]
    title = f"differences from {reference.arm}"
    show(screen, title, table_of(heads, cells), *captions)
