"""``bayesduel bounds``: what theory says about a matrix."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesduel.cli.allocations import (
    arm_labels,
    identification_json,
    save_allocations,
    show_allocations,
    show_identification,
    show_structured,
    structured_bounds,
    structured_json,
)
from bayesduel.cli.completion import instance_names
from bayesduel.cli.options import (
    flag,
    integer_option,
    jobs_option,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    repair_flag,
    resume_flag,
)
from bayesduel.cli.output import console, print_json, say, say_warning, version
from bayesduel.cli.parse import claim_folder, load_matrix
from bayesduel.cli.submatrices import SubmatrixRequest, submatrices

if TYPE_CHECKING:
    from rich.console import Console

    from theory import (
        Optimum,
        PreferenceMatrix,
    )

_BATCHES = 16
"""As the batched policies have it."""


class Solver(StrEnum):
    """Ways to solve the optimal program."""

    prefix = "prefix"
    cvxpy = "cvxpy"


class Structure(StrEnum):
    """Models of the preferences that change the lower bound."""

    bradley_terry = "bradley-terry"
    thurstone = "thurstone"
    transitive = "transitive"
    linear = "linear"


_MANY_ARMS = 500
"""From here on the constants take more than a few seconds."""


def bounds(
    matrix: Annotated[
        str,
        typer.Argument(
            metavar="MATRIX",
            help="Name, or file (CSV, NPY, NPZ).",
            autocompletion=instance_names,
        ),
    ],
    as_json: Annotated[bool, json_flag] = False,
    repair: Annotated[bool, repair_flag] = False,
    everything: Annotated[
        bool, flag("--all", help="Every pair, and what the other theorems say.")
    ] = False,
    solver: Annotated[
        Solver,
        typer.Option(help="How to solve it; cvxpy takes it as printed (extra verify)."),
    ] = Solver.prefix,
    verify: Annotated[
        bool,
        flag(
            "--verify",
            help="Solve it both ways, and compare (extra verify).",
        ),
    ] = False,
    identify: Annotated[
        bool, flag("--identify", help="The least cost of naming a winner instead.")
    ] = False,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --identify: a table like MATRIX of the price of a duel of each "
            "pair; inf if it cannot be asked. Default: 1 each.",
        ),
    ] = None,
    model: Annotated[
        Structure | None,
        typer.Option(
            help="The lower bound for policies that know that the matrix obeys it."
        ),
    ] = None,
    project: Annotated[
        bool,
        flag(
            "--project",
            help="With --model: fit the model to the matrix first, as an estimated"
            " matrix obeys none.",
        ),
    ] = False,
    num_batches: Annotated[
        int,
        integer_option(
            "--batches",
            metavar="B",
            least=1,
            help="Batches, in theorems on batched algorithms.",
        ),
    ] = _BATCHES,
    num_submatrices: Annotated[
        int | None,
        integer_option(
            "--submatrices",
            metavar="N",
            help="Mean constants of N random submatrices instead.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        integer_option(metavar="K", help="Arms of a submatrix; default 16."),
    ] = None,
    min_gap: Annotated[
        float | None,
        number_option(
            metavar="G", help="Leave out submatrices with a smaller gap; default 0.005."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        integer_option(
            metavar="S", least=0, help="Seed of the random submatrices; default 0."
        ),
    ] = None,
    jobs: Annotated[int | None, jobs_option] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for results, new or empty."),
    ] = None,
    resume: Annotated[bool, resume_flag] = False,
    overwrite: Annotated[bool, overwrite_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
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
    from bayesduel.cli.tables import print_theorems

    request = SubmatrixRequest(size, min_gap, seed, jobs, out, resume, overwrite, quiet)
    preference = load_matrix(matrix, "matrix", repair=repair)
    if prices is not None and not identify:
        from bayesduel.errors import ArgumentError

        raise ArgumentError("prices", "needs --identify", prices)
    if project and model is None:
        from bayesduel.errors import ArgumentError

        remedy = "name one of " + ", ".join(Structure)
        raise ArgumentError("project", "needs --model", True, remedy=remedy)
    if model is not None:
        refused = {"num_submatrices": num_submatrices, "out": out}
        refused |= {"verify": verify or None}
        _refuse_beside("--model", solver, refused)
        request.refuse_without_submatrices()
        found = structured_bounds(
            preference, model.value, prices, identify=identify, project=project
        )
        if as_json:
            print_json(structured_json(found))
            return
        screen = console()
        _print_head(screen, matrix, preference)
        show_structured(screen, found, everything=everything)
        return
    if identify:
        refused = {"num_submatrices": num_submatrices, "out": out}
        _refuse_beside("--identify", solver, refused)
        request.refuse_without_submatrices()
        from bayesduel.instances import read_prices
        from theory import identification_bound

        table = None if prices is None else read_prices(prices)
        cost = identification_bound(preference, table, verify=verify)
        if as_json:
            print_json(identification_json(cost, preference))
            return
        screen = console()
        _print_head(screen, matrix, preference)
        show_identification(screen, preference, cost, everything=everything)
        return
    if num_submatrices is not None:
        submatrices(preference, num_submatrices, request, as_json=as_json)
        return
    request.refuse_without_submatrices()
    if out is not None:
        claim_folder(out, kind="bounds", overwrite=overwrite)
    if preference.num_arms >= _MANY_ARMS:
        say(_cost(preference.num_arms), quiet=quiet)
    lower, efficient, note = _constants(preference, solver, verify=verify)
    if note:
        say_warning(note)
    record = _json(preference, lower, efficient)
    if out is not None:
        save_allocations(out, record, preference, lower, efficient, quiet=quiet)
    if as_json:
        print_json(record)
        return
    screen = console()
    _print_head(screen, matrix, preference)
    if lower is not None and efficient is not None:
        _show_constants(screen, lower, efficient)
        show_allocations(screen, preference, lower, efficient, everything=everything)
    if everything:
        print_theorems(screen, preference, num_batches)
    else:
        screen.print("--all prints what every theorem says of this matrix", style="dim")
    screen.print(f"bayesduel {version()}; nothing here is random", style="dim")


def _refuse_beside(option: str, solver: Solver, others: dict[str, object]) -> None:
    """Raise for what does not go with --identify or --model."""
    from bayesduel.errors import ArgumentError

    rule = f"does not go with {option}"
    if solver is not Solver.prefix:
        remedy = "--verify solves it both ways" if option == "--identify" else ""
        raise ArgumentError("solver", rule, solver.value, remedy=remedy)
    for name, value in others.items():
        if value is not None:
            remedy = "--json prints all of it" if name == "out" else ""
            raise ArgumentError(name, rule, value, remedy=remedy)


def _cost(num_arms: int) -> str:
    """Say what to expect: time and memory grow with the number of pairs."""
    pairs = num_arms**2 / 2000**2
    return (
        f"{num_arms} arms: the constants take about {max(1, round(25 * pairs))} s of a "
        f"processor and {max(0.1, 0.6 * pairs):.1f} GB; --submatrices N takes parts"
    )


def _constants(
    preference: PreferenceMatrix, solver: Solver, *, verify: bool
) -> tuple[Optimum | None, Optimum | None, str]:
    """Return both optima, or why they are not defined."""
    from bayesduel.analysis import lower_bound
    from theory import ecw_rmed_constant

    labels = preference.arm_names or ()
    lower, note = lower_bound(
        preference, tuple(labels), method=solver.value, verify=verify
    )
    if lower is None:
        return None, None, note
    return lower, ecw_rmed_constant(preference), ""


def _json(
    preference: PreferenceMatrix, lower: Optimum | None, efficient: Optimum | None
) -> dict[str, object]:
    return {
        "num_arms": int(preference.num_arms),
        "copeland_winners": [int(arm) for arm in preference.copeland_winners],
        "copeland_lower_bound": None if lower is None else float(lower.value),
        "copeland_lower_bound_winner": None if lower is None else int(lower.winner),
        "ecw_rmed": None if efficient is None else float(efficient.value),
        "ecw_rmed_winner": None if efficient is None else int(efficient.winner),
    }


def _print_head(screen: Console, text: str, preference: PreferenceMatrix) -> None:
    labels = arm_labels(preference)
    winners = ", ".join(labels[arm] for arm in preference.copeland_winners)
    kind = "Copeland" if preference.condorcet_winner is None else "Condorcet"
    noun = "winner" if len(preference.copeland_winners) == 1 else "winners"
    name = preference.name or text
    screen.print(
        f"{name}: {preference.num_arms} arms, {kind} {noun} {winners}",
        style="bold",
        markup=False,
    )
    if preference.source:
        screen.print(preference.source, style="dim", markup=False)


def _show_constants(screen: Console, lower: Optimum, efficient: Optimum) -> None:
    """Print one row per Copeland winner; the best of each column is marked."""
    from bayesduel.cli.tables import show, table_of

    rows = [
        [str(arm)]
        + [
            f"{each.value_by_winner[arm]:.6g}{' *' if arm == each.winner else '  '}"
            for each in (lower, efficient)
        ]
        for arm in lower.value_by_winner
    ]
    table = table_of(("winner", "lower bound C*", "ECW-RMED C_E"), rows)
    title = "Constants: Copeland regret per unit of natural log T"
    show(screen, title, table, "* the smallest: what a policy may aim at")
