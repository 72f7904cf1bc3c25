"""``bayesduel bounds``: what theory says about a matrix."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from bayesduel.cli.errors import ended
from bayesduel.cli.options import (
    JOBS,
    REPAIR,
    RESUME,
    argument,
    command,
    matrix_names,
    option,
)
from bayesduel.cli.output import (
    Output,
    console,
    damage_warnings,
    font_warnings,
    print_json,
    say_warning,
    version,
)
from bayesduel.cli.parse import load_matrix
from bayesduel.cli.tables import FittingTable, show, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory import IdentificationBound, PreferenceMatrix, StructuredBound


Solver = Literal["prefix", "cvxpy"]

Structure = Literal["bradley-terry", "thurstone", "transitive", "linear"]

_MANY_ARMS = 500  # From here on the constants take more than a few seconds.
_PAIRS = 20  # The longest allocation that is printed whole without --all.
_NAMES = ("arm", "against")


@dataclass(frozen=True)
class BoundsOptions(Output):
    """Options that say which bounds of a matrix are computed and printed."""

    matrix: str = argument(
        "MATRIX: Name, or file (CSV, NPY, NPZ).", autocompletion=matrix_names
    )
    repair: bool = REPAIR
    everything: bool = option("Every pair, and what the other theorems say.", "--all")
    solver: Literal["prefix", "cvxpy"] = option(
        "How to solve it; cvxpy takes it as printed (extra verify).", default="prefix"
    )
    verify: bool = option("Solve it both ways, and compare (extra verify).")
    identify: bool = option("The least cost of naming a winner instead.")
    prices: Path | None = option(
        "FILE: With --identify: a table like MATRIX of the price of a duel of each "
        "pair, or columns arm and price; inf if it cannot be asked. Default: 1 each."
    )
    model: Structure | None = option(
        "The lower bound for policies that know that the matrix obeys it."
    )
    project: bool = option(
        "With --model: fit the model to the matrix first, as an estimated matrix obeys "
        "none."
    )
    num_batches: int = option(
        "B: Batches, in theorems on batched algorithms.",
        "--batches",
        default=16,  # As the batched policies have it.
        least=1,
    )
    num_submatrices: int | None = option(
        "N: Mean constants of N random submatrices instead.", "--submatrices"
    )
    size: int | None = option("K: Arms of a submatrix; default 16.")
    min_gap: float | None = option(
        "G: Leave out submatrices with a smaller gap; default 0.005."
    )
    seed: int | None = option("S: Seed of the random submatrices; default 0.", least=0)
    jobs: int | None = JOBS
    out: Path | None = option("DIR: Folder for results, new or empty.")
    resume: bool = RESUME

    def check(self) -> None:
        """Refuse options that do not go together."""
        from bayesduel.errors import ArgumentError

        if self.prices is not None and not self.identify:
            raise ArgumentError("prices", "needs --identify", self.prices)
        if self.project and self.model is None:
            remedy = "name one of " + ", ".join(get_args(Structure))
            raise ArgumentError("project", "needs --model", True, remedy=remedy)
        refused: dict[str, Any] = {}
        if self.model is not None or self.identify:
            beside = "--identify" if self.model is None else "--model"
            rule = f"does not go with {beside}"
            if self.solver != "prefix":
                remedy = "--verify solves it both ways" if self.model is None else ""
                raise ArgumentError("solver", rule, self.solver, remedy=remedy)
            refused = dict.fromkeys(("num_submatrices", "out"), rule)
            if self.model is not None:
                refused["verify"] = rule
        if refused or self.num_submatrices is None:
            rule = "needs --submatrices N, the number of random submatrices"
            of_parts = ("size", "min_gap", "seed", "jobs", "resume")
            refused |= dict.fromkeys(of_parts, rule)
        for name, rule in refused.items():
            value = getattr(self, name)
            if value is not None and value is not False:
                remedy = "--json prints all of it" if name == "out" else ""
                raise ArgumentError(name, rule, value, remedy=remedy)

    @cached_property
    def preference(self) -> PreferenceMatrix:
        """The matrix."""
        return load_matrix(self.matrix, "matrix", repair=self.repair)

    @cached_property
    def price_table(self) -> Any:
        """Prices of all pairs, None where each costs 1."""
        from bayesduel.instances import read_prices

        return None if self.prices is None else read_prices(self.prices)

    def print_head(self) -> None:
        """Print what is known of the matrix: winners and source."""
        preference, screen = self.preference, console()
        labels = arm_labels(preference)
        winners = ", ".join(labels[arm] for arm in preference.copeland_winners)
        kind = "Copeland" if preference.condorcet_winner is None else "Condorcet"
        noun = "winner" if len(preference.copeland_winners) == 1 else "winners"
        name = preference.name or self.matrix
        head = f"{name}: {preference.num_arms} arms, {kind} {noun} {winners}"
        screen.print(head, style="bold", markup=False)
        if preference.source:
            screen.print(preference.source, style="dim", markup=False)

    def print_pairs(
        self,
        title: str,
        heads: Sequence[str],
        rows: list[tuple[int, int, list[str]]],
        *notes: str,
        matrix: PreferenceMatrix | None = None,
        optional: Sequence[str] = (),
    ) -> None:
        """Print a row for each pair, of many the first ones."""
        matrix = matrix or self.preference
        labels, values = arm_labels(matrix), matrix.values
        shown = rows if self.everything else rows[:_PAIRS]
        cells = [
            (labels[first], labels[second], f"{values[first, second]:.3f}", *more)
            for first, second, more in shown
        ]
        table = table_of((*_NAMES, "P(wins)", *heads), cells, words=_NAMES,
                         names=_NAMES, optional=optional)  # fmt: skip
        hidden = len(rows) - len(shown)
        if hidden:
            notes += (f"left out: {hidden} of {len(rows)} pairs; see --all",)
        show(console(), title, table, *notes)

    def print_shares(
        self,
        title: str,
        bound: IdentificationBound | StructuredBound,
        *notes: str,
        least: float = -1.0,
        matrix: PreferenceMatrix | None = None,
    ) -> None:
        """Print the pairs of an allocation with prices, duels and shares."""
        rows = []
        for pair in _bought(bound):
            if pair["cost"] > least:
                share = f"{pair['cost'] / bound.value:.1%}" if bound.value else "-"
                numbers = [f"{pair['price']:.4g}", f"{pair['duels']:.4g}", share]
                rows.append((pair["first"], pair["second"], numbers))
        heads = ("price", "duels", "share")
        self.print_pairs(title, heads, rows, *notes, matrix=matrix)


@command("bounds sushi --all")
def bounds(*, request: BoundsOptions) -> None:
    """Print the constants of the regret bounds of a matrix, and the best allocations.

    The constants C* and C_E are regret per unit of natural log T; arms are numbered
    from 0. --all adds what every theorem says of this matrix.

    --out saves all of it: bounds.json, allocation.csv and a figure.

    With --identify: T*, what any procedure that names a wrong winner with
    probability at most delta pays per unit of natural log(1/delta), as delta
    goes to 0, and which duels to buy.

    With --model: the lower bound for policies that know the model, beside that of
    all matrices; with --identify the same for naming the winner. "linear" is
    Bradley-Terry with utilities linear in the features of the matrix. An
    estimated matrix obeys no model: --project takes the one of the model that
    is nearest by maximum likelihood, every pair with equal weight, and says
    what that alone changes, and what knowing the model saves.

    With --submatrices N: the mean constants of N random submatrices. Table 1
    of Komiyama, Honda and Nakagawa (2016) is --submatrices 10000 --size 16
    --min-gap 0.005 of the 136-armed MSLR matrix.
    """
    _ = request.preference
    request.check()
    if request.model is not None:
        _under_model(request, request.model)
    elif request.identify:
        _identification(request)
    elif request.num_submatrices is not None:
        _submatrices(request, request.num_submatrices)
    else:
        _both_constants(request)


def arm_labels(preference: PreferenceMatrix) -> list[str]:
    """Return "3" or "3 salmon" for every arm."""
    names, number = preference.arm_names, preference.num_arms
    if not names or list(names) == [str(arm) for arm in range(len(names))]:
        return [str(arm) for arm in range(number)]
    return [f"{arm} {name}" for arm, name in enumerate(names)]


def _both_constants(request: BoundsOptions) -> None:
    """Print, and save, C* and C_E, and the allocations that attain them."""
    from bayesduel.analysis import lower_bound
    from theory import ecw_rmed_constant
    from theory.copeland_program import allocation_table

    preference, out = request.preference, request.out
    request.claim(out, "bounds")
    if (number := preference.num_arms) >= _MANY_ARMS:
        # Time and memory grow with the number of pairs.
        pairs = number**2 / 2000**2
        request.say(
            f"{number} arms: the constants take about {max(1, round(25 * pairs))} s of "
            f"a processor and {max(0.1, 0.6 * pairs):.1f} GB; --submatrices N takes "
            "parts"
        )
    lower, note = lower_bound(
        preference, tuple(preference.arm_names or ()), method=request.solver,
        verify=request.verify,
    )  # fmt: skip
    if note:
        say_warning(note)
    optima = {}
    if lower is not None:
        optima = {"CW": lower, "ECW": ecw_rmed_constant(preference)}
    record: dict[str, Any] = {
        "num_arms": int(preference.num_arms),
        "copeland_winners": [int(arm) for arm in preference.copeland_winners],
    }
    for name, program in (("copeland_lower_bound", "CW"), ("ecw_rmed", "ECW")):
        best = optima.get(program)
        record[name] = None if best is None else float(best.value)
        record[f"{name}_winner"] = None if best is None else int(best.winner)
    tables = {x: allocation_table(best, preference) for x, best in optima.items()}
    if out is not None:
        request.save_json(out / "bounds.json", record | {"allocations": tables})
        if tables:
            from bayesduel import plots

            rows = [
                {"program": program, **row}
                for program, table in tables.items()
                for row in table
            ]
            request.save_csv(out / "allocation.csv", rows)
            # Labels are measured when the figure is made: their fonts are looked up
            # then.
            with font_warnings(quiet=request.quiet):
                figure = plots.allocation(preference)
                paths = plots.save(figure, out / "allocation", ("png", "svg"))
            for path in paths:
                request.say(f"saved {path}")
    if request.as_json:
        print_json(record)
        return
    request.print_head()
    if optima:
        best, efficient = optima.values()
        rows = [
            (str(arm), *(f"{optimum.value_by_winner[arm]:.6g}"
                         f"{' *' if arm == optimum.winner else '  '}"
                         for optimum in optima.values()))
            for arm in best.value_by_winner
        ]  # fmt: skip
        table = table_of(("winner", "lower bound C*", "ECW-RMED C_E"), rows)
        title = "Constants: Copeland regret per unit of natural log T"
        show(console(), title, table, "* the smallest: what a policy may aim at")
        pairs = [
            pair
            for pair in zip(*tables.values(), strict=True)
            if any(row["duels_per_log_round"] for row in pair)
        ]
        pairs.sort(key=lambda pair: [-row["duels_per_log_round"] for row in pair])
        kinds = ("duels_per_log_round", "regret_per_log_round")
        cells = [
            (pair[0]["first"], pair[0]["second"],
             [f"{x[key]:.2f}" if x[key] else "-" for key in kinds for x in pair])
            for pair in pairs
        ]  # fmt: skip
        request.print_pairs(
            "Allocations that attain C* (CW) and the ECW-RMED constant (ECW)",
            [f"{x} {what}" for what in ("duels", "regret") for x in optima],
            cells,
            "per unit of natural log T; CW explores for winner "
            f"{best.winner}, ECW for {efficient.winner}",
            optional=("ECW regret", "CW regret"),
        )
    screen = console()
    if request.everything:
        _print_theorems(request)
    else:
        screen.print("--all prints what every theorem says of this matrix", style="dim")
    screen.print(f"bayesduel {version()}; nothing here is random", style="dim")


def _print_theorems(request: BoundsOptions) -> None:
    """Print what theorems say of a matrix, and in words why one does not apply."""
    from theory import all_bounds

    table, letters = FittingTable(), dict[str, str]()
    for header in ("bound", "growth", "kind"):
        table.add_column(header)
    for header in ("regret", "if"):
        table.add_column(header, no_wrap=True)
    missing: dict[str, list[str]] = {}
    parameters = {"num_batches": request.num_batches}
    for applied in all_bounds(request.preference, parameters=parameters):
        theorem = applied.theorem
        if theorem.name in ("Copeland lower bound", "ECW-RMED") or theorem.knows:
            continue  # In tables of their own; --model has the latter.
        for bound in applied.bounds:
            needs = [
                letters.setdefault(text, chr(ord("a") + len(letters)))
                for text in (bound.condition, *bound.assumptions)
                if text
            ]
            table.add_row(bound.name, bound.formula_to(6), bound.kind, bound.regret,
                          "".join(sorted(needs)))  # fmt: skip
        if applied.reason:
            missing.setdefault(applied.reason, []).append(theorem.name)
    screen = console()
    if table.row_count:
        show(
            screen,
            "Other bounds: the terms that grow, with natural logarithms",
            table,
            *(f"{letter}: {text}" for text, letter in letters.items()),
            "D-TS with epsilon = 0.1, beta = 2.5",
            "asymptotic: of the growth, not of the level at a finite horizon",
        )
    for why, names in missing.items():
        text = f"{'; '.join(names)}: not defined ({why})"
        screen.print(text, style="yellow", markup=False)
    if missing:
        screen.print()


def _identification(request: BoundsOptions) -> None:
    """Print the cost of naming a winner, and which pairs it is spent on."""
    from theory import identification_bound

    preference = request.preference
    bound = identification_bound(preference, request.price_table, verify=request.verify)
    gap = bound.certificate.relative_gap
    if request.as_json:
        values = {str(arm): value for arm, value in bound.value_by_winner.items()}
        record = {
            "num_arms": int(preference.num_arms),
            "identification_bound": bound.value,
            "winner": bound.winner,
            "value_by_winner": values,
            "relative_gap": gap,
            "allocation": _bought(bound),
            "active": [asdict(constraint) for constraint in bound.active],
        }
        print_json(record)
        return
    request.print_head()
    name = arm_labels(preference)[bound.winner]
    request.print_shares(
        f"Naming arm {name} costs T* = {bound.value:.6g} at least",
        bound,
        "per unit of natural log(1/delta), delta the probability of a wrong name; "
        "duels, or the unit of the prices",
        f"certified: relative gap {gap:.1e}",
    )


def _bought(bound: IdentificationBound | StructuredBound) -> list[dict[str, Any]]:
    """Return the pairs that the allocation compares, the dearest in all first."""
    import numpy as np

    first, second = np.nonzero(np.triu(bound.duels))
    records = [
        {
            "first": i,
            "second": j,
            "price": float(bound.prices[i, j]),
            "duels": float(bound.duels[i, j]),
            "cost": float(bound.prices[i, j] * bound.duels[i, j]),
        }
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return sorted(records, key=lambda record: (-record["cost"], -record["duels"]))


def _under_model(request: BoundsOptions, model: str) -> None:
    """Print the lower bound under a model, beside that of all matrices."""
    from theory import (
        copeland_lower_bound,
        identification_bound,
        project_on_model,
        structured_lower_bound,
    )
    from theory.errors import InvalidPreferenceError, TieError

    preference, table, features = request.preference, request.price_table, None
    if model == "linear":
        model, features = "bradley-terry", preference.features
        if features is None:
            rule = "must have features for the model 'linear', and has none"
            remedy = "take an instance such as linear-utilities:seed=3"
            raise InvalidPreferenceError("matrix", rule, preference, remedy=remedy)

    def of_all(matrix: PreferenceMatrix) -> float:
        if request.identify:
            return identification_bound(matrix, table).value
        return copeland_lower_bound(matrix, ties="ignore").value

    projection, given, obeys = None, None, preference
    if request.project:
        projection = project_on_model(preference, model, features=features)
        obeys = projection.matrix
        with suppress(TieError):
            given = of_all(preference)
    cost = "duels" if request.identify else "copeland"
    try:
        known = structured_lower_bound(
            obeys, model, features=features, cost=cost if table is None else table
        )
    except TieError as error:
        if not request.project:
            raise
        rule = f"has no single best arm once it is projected on {model!r}: {error}"
        raise InvalidPreferenceError("matrix", rule, preference) from error
    free = of_all(obeys)
    changed = None if given is None else free / given - 1.0
    saves, gap = 1.0 - known.value / free, known.certificate.relative_gap
    if request.as_json:
        record = {
            "num_arms": len(known.prices),
            "model": known.model,
            "cost": known.cost,
            "lower_bound": known.value,
            "unstructured_lower_bound": free,
            "model_saves": saves,
            "winner": known.winner,
            "relative_gap": gap,
            "allocation": _bought(known),
        }
        if projection is not None:
            utilities = projection.utilities
            record["projection"] = {
                "matrix_lower_bound": given,
                "projection_changes": changed,
                "mean_divergence": projection.divergence,
                "largest_change": projection.largest_change,
                "pair": list(projection.pair),
                "utilities": None if utilities is None else utilities.tolist(),
                "preferences": projection.matrix.values.tolist(),
            }
        print_json(record)
        return

    request.print_head()
    unit = "Copeland regret per unit of natural log T"
    if known.cost != "copeland":
        unit = "duels, or the unit of the prices, per unit of natural log(1/delta)"
    notes = [unit, f"certified: relative gap {gap:.1e}"]
    heads = ["policies that know"]
    bounds = [(["nothing"], free), ([known.model], known.value)]
    if projection is not None:
        heads.append("matrix")
        bounds = [
            (["nothing", "as given"], given),
            (["nothing", "projected"], free),
            ([known.model, "projected"], known.value),
        ]
        labels, (i, j) = arm_labels(obeys), projection.pair
        alone = "" if changed is None else f"projection alone: {changed:+.1%}; "
        notes = [
            f"{alone}the model buys {saves:.1%}",
            "projected: fitted by maximum likelihood, every pair with equal weight; "
            f"best arm {labels[known.winner]}; mean KL {projection.divergence:.3g} "
            "nats a duel, the largest change of a probability "
            f"{projection.largest_change:.3g} ({labels[i]} against {labels[j]}, now "
            f"{obeys.values[i, j]:.3f})",
            *notes,
        ]
    rows = [
        [*names, "not defined (tie)", "-"]
        if value is None
        else [*names, f"{value:.6g}", f"{value / free:.1%}"]
        for names, value in bounds
    ]
    shown = table_of((*heads, "lower bound", "part"), rows, words=heads)
    show(console(), "What the model saves", shown, *notes)
    # Below this part of all an allocation is rounding of the certificate.
    least = 1e-5 * known.value
    title = f"An allocation that attains it under {known.model}"
    request.print_shares(title, known, least=least, matrix=obeys)


_ROWS = {
    "cw": "CW-RMED, lower bound C*",
    "ecw": "ECW-RMED",
    "ccb": "CCB, order of growth",
}


def _submatrices(request: BoundsOptions, count: int) -> None:
    """Compute, keep and print the mean constants of random submatrices."""
    from bayesduel.analysis.text import format_with_error
    from bayesduel.papers import submatrix_constants

    matrix, out, started = request.preference, request.out, time.perf_counter()
    size = 16 if request.size is None else request.size
    min_gap = 0.005 if request.min_gap is None else request.min_gap
    seed = request.seed or 0
    try:
        with damage_warnings():
            constants = submatrix_constants(
                matrix, count, size, min_gap=min_gap, seed=seed,
                jobs=request.jobs, progress=not request.quiet, out=out,
                resume=request.resume, overwrite=request.overwrite,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        finished = f"{getattr(error, 'kept', 0)} of {count} submatrices"
        raise ended(error, out, finished) from error
    number = len(constants.rows)
    record: dict[str, Any] = {"matrices": number, "size": size}
    rows = []
    for name, label in _ROWS.items():
        mean, error = constants.mean(name), constants.standard_error(name)
        ratio = mean / constants.mean("cw") if constants.mean("cw") > 0 else 1.0
        rows.append((label, format_with_error(mean, error), f"{ratio:.4g}"))
        record[f"{name}_mean"] = mean
        record[f"{name}_se"] = error if number > 1 else None
    record["seconds"] = seconds = time.perf_counter() - started
    if out is not None:
        saved = record | {"version": version()}
        Output(True, False, False).save_json(out / "submatrices.json", saved)
        request.say(f"saved {out / 'submatrices.csv'}")
    if request.as_json:
        print_json(record)
        return
    noun = "submatrix" if number == 1 else "submatrices"
    name = f"{matrix.name}: " if matrix.name else ""
    show(
        console(),
        f"{name}{number} random {noun} of {size} of {matrix.num_arms} arms",
        table_of(("constant", "mean ± se", "/ C*"), rows),
        "Copeland regret per unit of natural log T; every C* and ECW-RMED certified",
        f"all gaps at least {min_gap:g}: {constants.admissible_share:.3%} of random "
        "subsets, drawn by rejection",
        "CCB: K (C + L + 1) / Delta^2, Delta the smallest gap, its constant factor "
        "unknown (Komiyama et al. 2016, eq. 10); no bound",
        f"seed {seed}, {seconds:.1f} s, bayesduel {version()}",
    )
