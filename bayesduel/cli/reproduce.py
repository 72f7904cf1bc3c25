"""``bayesduel reproduce``: repeat the experiments of papers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import FAILED, damage_warnings, ended, option_error
from bayesduel.cli.figures import save_figures
from bayesduel.cli.options import (
    flag,
    jobs_option,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    resume_flag,
    seed_option,
)
from bayesduel.cli.output import (
    console,
    print_json,
    save_json,
    say,
    say_warning,
    version,
)
from bayesduel.cli.parse import claim_folder, load_matrix

if TYPE_CHECKING:
    from bayesduel.papers.reproducing import Reproduction

_TALLY = {"holds": "hold", "does not hold": "do not hold", "open": "are open"}


def reproduce(
    figure: Annotated[
        str | None,
        typer.Argument(metavar="FIGURE", help="Name of a figure; see --list."),
    ] = None,
    list_them: Annotated[
        bool, flag("--list", help="List the figures, and what they are of.")
    ] = False,
    scale: Annotated[
        float,
        number_option(metavar="S", help="Multiplies runs and rounds: 0.1 to look."),
    ] = 1.0,
    full_horizon: Annotated[
        bool, flag("--full-horizon", help="Let --scale multiply the runs only.")
    ] = False,
    panel: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Only this panel, such as a. Repeatable."),
    ] = None,
    mslr: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The 136-armed MSLR matrix."),
    ] = None,
    seed: Annotated[int, seed_option] = 0,
    jobs: Annotated[int | None, jobs_option] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for results, figure and verdict, new or empty."
        ),
    ] = None,
    resume: Annotated[bool, resume_flag] = False,
    overwrite: Annotated[bool, overwrite_flag] = False,
    as_json: Annotated[bool, json_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Repeat the experiment behind a figure of a paper, and judge its statements.

    Says of every statement whether it holds by two standard errors, does not, or
    stays open. With --out, saves the results, the figure, and the verdict.
    """
    if list_them or figure is None:
        if figure is None and not list_them:
            raise option_error(
                "FIGURE",
                "name one",
                remedy="bayesduel reproduce --list names all",
            )
        _list(as_json=as_json)
        return
    options = {
        "scale": scale,
        "full_horizon": full_horizon,
        "seed": seed,
        "jobs": jobs,
        "resume": resume,
        "overwrite": overwrite,
    }
    found = _measure(figure, panel, mslr, out, progress=not quiet, **options)
    failures = [text for each in found.panels for text in each.failures]
    if as_json:
        print_json(_record(found))
    else:
        _print(found)
    if out is not None:
        _save(found, out, quiet=quiet)
    if failures:
        for text in failures:
            say_warning(text)
        raise typer.Exit(FAILED)


def _measure(
    name: str,
    panels: list[str] | None,
    mslr: Path | None,
    out: Path | None,
    *,
    resume: bool,
    overwrite: bool,
    **options: Any,
) -> Reproduction:
    from bayesduel.papers import reproducing

    matrix = None
    if mslr is not None:
        matrix = load_matrix(str(mslr), "mslr")
    # Says what is wrong with the request before a folder is made.
    reproducing.check(
        name, panels=panels, mslr=matrix, scale=options["scale"], jobs=options["jobs"]
    )
    if out is not None:
        claim_folder(out, kind="reproduction", resume=resume, overwrite=overwrite)
    kept = "the finished runs"
    try:
        with damage_warnings():
            return reproducing.reproduce(
                name,
                panels=panels,
                mslr=matrix,
                out=out,
                resume=resume,
                overwrite=overwrite,
                **options,
            )
    except KeyboardInterrupt as error:
        raise ended(error, out, kept) from error


def _list(*, as_json: bool) -> None:
    from bayesduel.cli.tables import table_of
    from bayesduel.papers import recipes

    found = [recipes.load(name) for name in recipes.names()]
    if as_json:
        print_json(
            [
                {
                    "name": each.name,
                    "paper": each.paper,
                    "figure": each.figure,
                    "title": each.title,
                    "panels": [
                        {
                            "key": panel.key,
                            "label": panel.label,
                            "runs": panel.runs,
                            "horizon": panel.horizon,
                        }
                        for panel in each.panels
                    ],
                }
                for each in found
            ]  # fmt: skip
        )
        return
    screen = console()
    for paper in dict.fromkeys(each.paper for each in found):
        screen.print(paper, style="bold", markup=False)
        rows = [(x.name, x.figure, x.title) for x in found if x.paper == paper]
        heads = ("name", "figure", "what it shows")
        screen.print(table_of(heads, rows, words=heads))
        screen.print()


def _record(found: Reproduction) -> dict[str, object]:
    return {
        "name": found.recipe.name,
        "paper": found.recipe.paper,
        "figure": found.recipe.figure,
        "scale": found.scale,
        "full_horizon": found.full_horizon,
        "panels": [
            {
                "key": each.panel.key,
                "label": each.panel.label,
                "runs": each.panel.runs,
                "horizon": each.panel.horizon,
                "policies": list(each.measured),
            }
            for each in found.panels
        ],
        "verdicts": [asdict(each) for each in found.verdicts],
        "notes": list(found.notes),
    }


def _lines(found: Reproduction) -> list[str]:
    """Return the verdict as text, one statement after the other."""
    recipe = found.recipe
    lines = [f"{recipe.paper}, {recipe.figure}: {recipe.title}"]
    for each in found.panels:
        panel = each.panel
        count = len(next(iter(each.measured.values()), ()))
        games = f" on each of {count} matrices" if count > 1 else ""
        lines.append(
            f"  {panel.label}: {panel.runs} runs{games}, {panel.horizon:,} rounds"
        )
    statement = ""
    for each in found.verdicts:
        if each.statement != statement:
            statement = each.statement
            lines += ["", f"{statement[0].upper()}{statement[1:]}."]
        pair = (
            each.first if each.first == each.second else f"{each.first}, {each.second}"
        )
        lines.append(f"  {each.word:13}  ({each.panel}) {pair}: {each.details}")
    lines.append("")
    if found.verdicts:
        words = [each.word for each in found.verdicts]
        counts = [f"{words.count(word)} {text}" for word, text in _TALLY.items()]
        lines.append(f"Of {len(words)} comparisons {', '.join(counts)}.")
    if found.scale < 1:
        text = f"{found.scale:g} times the runs of the full recipe"
        if not found.full_horizon:
            text += ", and as few of its rounds: statements on its horizon can fail"
        lines.append(f"{text}.")
    rule = "two standard errors of the runs seen decide"
    lines += [*found.notes, f"{rule}; bayesduel {version()}"]
    return lines


def _print(found: Reproduction) -> None:
    styles = {"  holds  ": "green", "  does no": "red", "  open   ": "yellow"}
    screen = console()
    for line in _lines(found):
        screen.print(
            line, style=styles.get(line[:9]), markup=False,
            soft_wrap=not screen.is_terminal,
        )  # fmt: skip


def _save(found: Reproduction, out: Path, *, quiet: bool) -> None:
    from bayesduel import papers

    text = "\n".join(_lines(found)) + "\n"
    (out / "verdict.txt").write_text(text, "utf-8")
    save_json(out / "verdict.json", _record(found), quiet=True)
    say(f"saved the results and the verdict in {out}", quiet=quiet)
    if not any(each.measured for each in found.panels):
        return
    figure = papers.reproduction(found)
    save_figures({out / found.recipe.name: figure}, quiet=quiet)
