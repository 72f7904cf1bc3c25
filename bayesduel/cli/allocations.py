"""Optimal allocations of duels: printed as a table, saved as JSON, CSV and figure."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesduel.cli.figures import font_warnings
from bayesduel.cli.output import save_csv, save_json, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from theory import (
        IdentificationBound,
        Optimum,
        PreferenceMatrix,
        Projection,
        StructuredBound,
    )
    from theory.copeland_program import AllocationRecord

# Longest allocation that is printed whole without --all.
_PAIRS = 20
_PROGRAMS = ("CW", "ECW")
_NAMES = ("arm", "against")


def arm_labels(preference: PreferenceMatrix) -> list[str]:
    """Return "3" or "3 salmon" for every arm."""
    names = preference.arm_names
    if not names or list(names) == [str(arm) for arm in range(len(names))]:
        return [str(arm) for arm in range(preference.num_arms)]
    return [f"{arm} {name}" for arm, name in enumerate(names)]


def show_allocations(
    screen: Console,
    preference: PreferenceMatrix,
    lower: Optimum,
    efficient: Optimum,
    *,
    everything: bool,
) -> None:
    """Print which pairs both programs let be compared, and how often per log T."""
    from bayesduel.cli.tables import show
    from theory.copeland_program import allocation_table

    columns = zip(
        allocation_table(lower, preference),
        allocation_table(efficient, preference),
        strict=True,
    )
    pairs = [
        pair for pair in columns if any(each["duels_per_log_round"] for each in pair)
    ]
    pairs.sort(key=lambda pair: [-each["duels_per_log_round"] for each in pair])
    shown = pairs if everything else pairs[:_PAIRS]
    labels = arm_labels(preference)
    table = _table(labels, shown)
    hidden = len(pairs) - len(shown)
    more = [f"left out: {hidden} of {len(pairs)} pairs; see --all"] if hidden else []
    show(
        screen,
        "Allocations that attain C* (CW) and the ECW-RMED constant (ECW)",
        table,
        "per unit of natural log T; "
        f"CW explores for winner {lower.winner}, ECW for {efficient.winner}",
        *more,
    )


def _table(
    labels: list[str],
    pairs: list[tuple[AllocationRecord, ...]],
) -> Table:
    """Return a table with a column per quantity and program."""
    from bayesduel.cli.tables import table_of

    rows = []
    for pair in pairs:
        numbers = [
            *(each["duels_per_log_round"] for each in pair),
            *(each["regret_per_log_round"] for each in pair),
        ]
        rows.append(
            [
                labels[pair[0]["first"]],
                labels[pair[0]["second"]],
                f"{pair[0]['preference']:.3f}",
                *(f"{number:.2f}" if number else "-" for number in numbers),
            ]
        )
    heads = [f"{x} {what}" for what in ("duels", "regret") for x in _PROGRAMS]
    optional = [f"{program} regret" for program in reversed(_PROGRAMS)]
    heads = (*_NAMES, "P(wins)", *heads)
    return table_of(heads, rows, words=_NAMES, names=_NAMES, optional=optional)


def identification_json(
    found: IdentificationBound, preference: PreferenceMatrix
) -> dict[str, Any]:
    """Return what is said of the cost of naming a winner, ready for JSON."""
    return {
        "num_arms": int(preference.num_arms),
        "identification_bound": found.value,
        "winner": found.winner,
        "value_by_winner": {str(arm): v for arm, v in found.value_by_winner.items()},
        "relative_gap": found.certificate.relative_gap,
        "allocation": _bought(found),
        "active": [asdict(constraint) for constraint in found.active],
    }


class UnderModel(NamedTuple):
    """The lower bound under a model, and what it is compared with."""

    preference: PreferenceMatrix  # Obeys the model.
    known: StructuredBound
    free: float  # The bound of all matrices there.
    projection: Projection | None  # What made it obey the model.
    given: float | None  # The bound of all matrices at the matrix before.


def structured_bounds(
    preference: PreferenceMatrix,
    model: str,
    prices: Path | None,
    *,
    identify: bool,
    project: bool,
) -> UnderModel:
    """Return the lower bound under a model, and that of all matrices."""
    from bayesduel.instances import read_prices
    from theory import (
        copeland_lower_bound,
        identification_bound,
        project_on_model,
        structured_lower_bound,
    )
    from theory.errors import InvalidPreferenceError, TieError

    cost = "duels" if identify else "copeland"
    table = None if prices is None else read_prices(prices)
    features = None
    if model == "linear":
        model, features = "bradley-terry", preference.features
        if features is None:
            rule = "must have features for the model 'linear', and has none"
            remedy = "take an instance such as linear-utilities:seed=3"
            raise InvalidPreferenceError("matrix", rule, preference, remedy=remedy)

    def of_all(matrix: PreferenceMatrix) -> float:
        if identify:
            return identification_bound(matrix, table).value
        return copeland_lower_bound(matrix, ties="ignore").value

    projection, given = None, None
    obeys = preference
    if project:
        projection = project_on_model(preference, model, features=features)
        obeys = projection.matrix
        with suppress(TieError):
            given = of_all(preference)
    try:
        known = structured_lower_bound(
            obeys, model, features=features, cost=cost if table is None else table
        )
    except TieError as error:
        if not project:
            raise
        rule = f"has no single best arm once it is projected on {model!r}: {error}"
        raise InvalidPreferenceError("matrix", rule, preference) from error
    return UnderModel(obeys, known, of_all(obeys), projection, given)


def structured_json(found: UnderModel) -> dict[str, Any]:
    """Return the lower bound under a model beside that of all matrices, for JSON."""
    known, fitted = found.known, found.projection
    record = {
        "num_arms": len(known.prices),
        "model": known.model,
        "cost": known.cost,
        "lower_bound": known.value,
        "unstructured_lower_bound": found.free,
        "model_saves": 1.0 - known.value / found.free,
        "winner": known.winner,
        "relative_gap": known.certificate.relative_gap,
        "allocation": _bought(known),
    }
    if fitted is None:
        return record
    utilities = fitted.utilities
    return record | {
        "projection": {
            "matrix_lower_bound": found.given,
            "projection_changes": _changed(found),
            "mean_divergence": fitted.divergence,
            "largest_change": fitted.largest_change,
            "pair": list(fitted.pair),
            "utilities": None if utilities is None else utilities.tolist(),
            "preferences": fitted.matrix.values.tolist(),
        }
    }


def _changed(found: UnderModel) -> float | None:
    """Return by which part projection alone changes the bound of all matrices."""
    return None if found.given is None else found.free / found.given - 1.0


def show_structured(screen: Console, found: UnderModel, *, everything: bool) -> None:
    """Print the lower bounds, and which pairs that of the model is spent on."""
    from bayesduel.cli.tables import show, table_of

    preference, known, free = found.preference, found.known, found.free
    unit = "Copeland regret per unit of natural log T"
    if known.cost != "copeland":
        unit = "duels, or the unit of the prices, per unit of natural log(1/delta)"
    bounds = [(["nothing"], free), ([known.model], known.value)]
    heads = ["policies that know"]
    notes = [unit, f"certified: relative gap {known.certificate.relative_gap:.1e}"]
    if found.projection is not None:
        bounds = [
            (["nothing", "as given"], found.given),
            (["nothing", "projected"], free),
            ([known.model, "projected"], known.value),
        ]
        heads.append("matrix")
        notes = _projection_notes(found, arm_labels(preference)) + notes
    rows = [
        [*names, "not defined (tie)", "-"]
        if value is None
        else [*names, f"{value:.6g}", f"{value / free:.1%}"]
        for names, value in bounds
    ]
    table = table_of((*heads, "lower bound", "part"), rows, words=heads)
    show(screen, "What the model saves", table, *notes)
    # Below this part of all an allocation is rounding of the certificate.
    least = 1e-5 * known.value
    pairs = [pair for pair in _bought(known) if pair["cost"] > least]
    shown = pairs if everything else pairs[:_PAIRS]
    hidden = len(pairs) - len(shown)
    more = [f"left out: {hidden} of {len(pairs)} pairs; see --all"] if hidden else []
    labels = arm_labels(preference)
    title = f"An allocation that attains it under {known.model}"
    share = _share_table(labels, preference, shown, known.value)
    show(screen, title, share, *more)


def _projection_notes(found: UnderModel, labels: list[str]) -> list[str]:
    """Say what projection alone does, what the model buys, and how far off it is."""
    fitted = found.projection
    assert fitted is not None
    i, j = fitted.pair
    changed = _changed(found)
    buys = f"the model buys {1.0 - found.known.value / found.free:.1%}"
    alone = "" if changed is None else f"projection alone: {changed:+.1%}; "
    return [
        f"{alone}{buys}",
        "projected: fitted by maximum likelihood, every pair with equal weight; best "
        f"arm {labels[found.known.winner]}; mean KL {fitted.divergence:.3g} nats a "
        f"duel, the largest change of a probability {fitted.largest_change:.3g} "
        f"({labels[i]} against {labels[j]}, now "
        f"{fitted.matrix.values[i, j]:.3f})",
    ]


def _bought(found: IdentificationBound | StructuredBound) -> list[dict[str, Any]]:
    """Return the pairs that the allocation compares, the dearest in all first."""
    import numpy as np

    first, second = np.nonzero(np.triu(found.duels))
    records = [
        {
            "first": i,
            "second": j,
            "price": float(found.prices[i, j]),
            "duels": float(found.duels[i, j]),
            "cost": float(found.prices[i, j] * found.duels[i, j]),
        }
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return sorted(records, key=lambda each: (-each["cost"], -each["duels"]))


def show_identification(
    screen: Console,
    preference: PreferenceMatrix,
    found: IdentificationBound,
    *,
    everything: bool,
) -> None:
    """Print the cost of naming a winner, and which pairs it is spent on."""
    from bayesduel.cli.tables import show

    labels = arm_labels(preference)
    pairs = _bought(found)
    shown = pairs if everything else pairs[:_PAIRS]
    table = _share_table(labels, preference, shown, found.value)
    notes = [
        "per unit of natural log(1/delta), delta the probability of a wrong name; "
        "duels, or the unit of the prices",
        f"certified: relative gap {found.certificate.relative_gap:.1e}",
    ]
    if len(shown) < len(pairs):
        hidden = len(pairs) - len(shown)
        notes.append(f"left out: {hidden} of {len(pairs)} pairs; see --all")
    title = f"Naming arm {labels[found.winner]} costs T* = {found.value:.6g} at least"
    show(screen, title, table, *notes)


def _share_table(
    labels: list[str],
    preference: PreferenceMatrix,
    pairs: list[dict[str, Any]],
    value: float,
) -> Table:
    """Return a table of pairs with prices, duels, and their part of the whole cost."""
    from bayesduel.cli.tables import table_of

    rows = [
        (
            labels[pair["first"]],
            labels[pair["second"]],
            f"{preference.values[pair['first'], pair['second']]:.3f}",
            f"{pair['price']:.4g}",
            f"{pair['duels']:.4g}",
            f"{pair['cost'] / value:.1%}" if value else "-",
        )
        for pair in pairs
    ]
    heads = (*_NAMES, "P(wins)", "price", "duels", "share")
    return table_of(heads, rows, words=_NAMES, names=_NAMES)


def save_allocations(
    out: Path,
    record: dict[str, Any],
    preference: PreferenceMatrix,
    lower: Optimum | None,
    efficient: Optimum | None,
    *,
    quiet: bool,
) -> None:
    """Write bounds.json; where bounds are defined also allocation.csv and a figure."""
    from theory.copeland_program import allocation_table

    optima = dict(zip(_PROGRAMS, (lower, efficient), strict=True))
    tables = {
        program: allocation_table(optimum, preference)
        for program, optimum in optima.items()
        if optimum is not None
    }
    save_json(out / "bounds.json", record | {"allocations": tables}, quiet=quiet)
    if not tables:
        return
    rows = [
        {"program": program, **row}
        for program, table in tables.items()
        for row in table
    ]
    save_csv(out / "allocation.csv", rows, quiet=quiet)
    from bayesduel import plots

    # Labels are measured when the figure is made, and so their fonts are found then.
    with font_warnings(quiet=quiet):
        figure = plots.allocation(preference)
        paths = plots.save(figure, out / "allocation", ("png", "svg"))
    for path in paths:
        say(f"saved {path}", quiet=quiet)
