"""``bayesduel reproduce``: repeat the experiments of papers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayesduel.cli.errors import FAILED, ended
from bayesduel.cli.options import JOBS, RESUME, SEED, argument, command, option
from bayesduel.cli.output import (
    Output,
    console,
    damage_warnings,
    print_json,
    say_warning,
    version,
)
from bayesduel.cli.parse import load_matrix, option_error
from bayesduel.cli.tables import table_of

if TYPE_CHECKING:
    from bayesduel.papers.reproducing import Reproduction

_TALLY = {"holds": "hold", "does not hold": "do not hold", "open": "are open"}


@command("reproduce dts-1 --scale 0.1 --out figure1")
def reproduce(
    *,
    figure: str | None = argument("FIGURE: Name of a figure; see --list."),
    list_them: bool = option("List the figures, and what they are of.", "--list"),
    scale: float = option("S: Multiplies runs and rounds: 0.1 to look.", default=1.0),
    full_horizon: bool = option("Let --scale multiply the runs only."),
    panel: list[str] | None = option("KEY: Only this panel, such as a. Repeatable."),
    mslr: Path | None = option("FILE: The 136-armed MSLR matrix."),
    seed: int = SEED,
    jobs: int | None = JOBS,
    out: Path | None = option(
        "DIR: Folder for results, figure and verdict, new or empty."
    ),
    resume: bool = RESUME,
    output: Output,
) -> None:
    """Repeat the experiment behind a figure of a paper, and judge its statements.

    Says of every statement whether it holds by two standard errors, does not, or
    stays open. With --out, saves the results, the figure, and the verdict.
    """
    if list_them:
        _list(as_json=output.as_json)
        return
    if figure is None:
        remedy = "bayesduel reproduce --list names all"
        raise option_error("FIGURE", "name one", remedy=remedy)
    from bayesduel.papers import reproducing, reproduction

    matrix = None if mslr is None else load_matrix(str(mslr), "mslr")
    # Says what is wrong with the request before a folder is made.
    reproducing.check(figure, panels=panel, mslr=matrix, scale=scale, jobs=jobs)
    output.claim(out, "reproduction", resume=resume)
    try:
        with damage_warnings():
            result = reproducing.reproduce(
                figure, panels=panel, mslr=matrix, out=out, resume=resume,
                overwrite=output.overwrite, scale=scale, full_horizon=full_horizon,
                seed=seed, jobs=jobs, progress=not output.quiet,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        raise ended(error, out, "the finished runs") from error
    lines = _lines(result)
    if output.as_json:
        print_json(_record(result))
    else:
        styles = {"  holds  ": "green", "  does no": "red", "  open   ": "yellow"}
        screen = console()
        for line in lines:
            screen.print(
                line, style=styles.get(line[:9]), markup=False,
                soft_wrap=not screen.is_terminal,
            )  # fmt: skip
    if out is not None:
        quiet = Output(True, False, False)
        quiet.save_text(out / "verdict.txt", "\n".join(lines) + "\n")
        quiet.save_json(out / "verdict.json", _record(result))
        output.say(f"saved the results and the verdict in {out}")
        if any(part.measured for part in result.panels):
            output.save_figures({out / result.recipe.name: reproduction(result)})
    failures = [text for part in result.panels for text in part.failures]
    for text in failures:
        say_warning(text)
    if failures:
        raise typer.Exit(FAILED)


def _list(*, as_json: bool) -> None:
    from bayesduel.papers import recipes

    known = [recipes.load(name) for name in recipes.names()]
    if as_json:
        of_panel, of_recipe = ("key", "label", "runs", "horizon"), ("name", "paper")
        print_json(
            [
                {key: getattr(recipe, key) for key in (*of_recipe, "figure", "title")}
                | {
                    "panels": [
                        {key: getattr(panel, key) for key in of_panel}
                        for panel in recipe.panels
                    ]
                }
                for recipe in known
            ]
        )
        return
    screen = console()
    for paper in dict.fromkeys(recipe.paper for recipe in known):
        screen.print(paper, style="bold", markup=False)
        rows = [(x.name, x.figure, x.title) for x in known if x.paper == paper]
        heads = ("name", "figure", "what it shows")
        screen.print(table_of(heads, rows, words=heads))
        screen.print()


def _record(result: Reproduction) -> dict[str, object]:
    recipe = result.recipe
    return {
        "name": recipe.name,
        "paper": recipe.paper,
        "figure": recipe.figure,
        "scale": result.scale,
        "full_horizon": result.full_horizon,
        "panels": [
            dict(key=part.panel.key, label=part.panel.label, runs=part.panel.runs,
                 horizon=part.panel.horizon, policies=list(part.measured))
            for part in result.panels
        ],
        "verdicts": [asdict(verdict) for verdict in result.verdicts],
        "notes": list(result.notes),
    }  # fmt: skip


def _lines(result: Reproduction) -> list[str]:
    """Return the verdict as text, one statement after the other."""
    recipe = result.recipe
    lines = [f"{recipe.paper}, {recipe.figure}: {recipe.title}"]
    for part in result.panels:
        panel = part.panel
        count = len(next(iter(part.measured.values()), ()))
        games = f" on each of {count} matrices" if count > 1 else ""
        lines.append(
            f"  {panel.label}: {panel.runs} runs{games}, {panel.horizon:,} rounds"
        )
    statement = ""
    for verdict in result.verdicts:
        if verdict.statement != statement:
            statement = verdict.statement
            lines += ["", f"{statement[0].upper()}{statement[1:]}."]
        pair = (
            verdict.first
            if verdict.first == verdict.second
            else f"{verdict.first}, {verdict.second}"
        )
        lines.append(
            f"  {verdict.word:13}  ({verdict.panel}) {pair}: {verdict.details}"
        )
    lines.append("")
    if result.verdicts:
        words = [verdict.word for verdict in result.verdicts]
        counts = [f"{words.count(word)} {text}" for word, text in _TALLY.items()]
        lines.append(f"Of {len(words)} comparisons {', '.join(counts)}.")
    if result.scale < 1:
        text = f"{result.scale:g} times the runs of the full recipe"
        if not result.full_horizon:
            text += ", and as few of its rounds: statements on its horizon can fail"
        lines.append(f"{text}.")
    rule = "two standard errors of the runs seen decide"
    return [*lines, *result.notes, f"{rule}; bayesduel {version()}"]
