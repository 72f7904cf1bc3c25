"""``bayesduel plot``: draw saved results again."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.arguments.literals import literal
from bayesduel.cli import parse
from bayesduel.cli.errors import option_error
from bayesduel.cli.figures import save_figures
from bayesduel.cli.options import flag, quiet_flag

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.plots import StyledFigure


class Kind(StrEnum):
    """Which figure."""

    regret = "regret"
    slopes = "slopes"
    slope_ratios = "slope-ratios"
    survival = "survival"
    sweep = "sweep"


class Band(StrEnum):
    """What the band around a mean is."""

    standard_error = "standard-error"
    quantiles = "quantiles"
    none = "none"


class Format(StrEnum):
    """File formats of figures."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


_BANDS = {
    Band.standard_error: "standard error",
    Band.quantiles: "quantiles 10-90",
    Band.none: "none",
}


def plot(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Folder or file of saved results.")
    ],
    kind: Annotated[
        Kind,
        typer.Option(
            help="Regret with bounds; slopes written beside the lines; slopes over the "
            "lower bound, by instance; how often a run exceeds a regret; or regret "
            "against a parameter that took several values."
        ),
    ] = Kind.regret,
    instance: Annotated[
        str | None,
        typer.Option("-i", "--instance", help="Only this instance."),
    ] = None,
    notion: Annotated[
        str | None,
        typer.Option(
            "--regret",
            "--notion",
            help="Which recorded regret; the first one by default.",
        ),
    ] = None,
    band: Annotated[
        Band, typer.Option(help="± 1 standard error, or 10-90 % quantiles of runs.")
    ] = Band.standard_error,
    width: Annotated[
        str, typer.Option(help="column (3.4 in), full (7 in), or inches.")
    ] = "full",
    kinds: Annotated[
        list[Format] | None,
        typer.Option("-f", "--format", help="Repeatable. Default: png and svg."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Without ending. Default: beside the results."
        ),
    ] = None,
    from_round: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="T",
            help="Checkpoint where slopes and bounds start, or that survival is of.",
        ),
    ] = None,
    parameter: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of a sweep: which parameter, by default the one of most values.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="T",
            help="Of a sweep: checkpoint at which regret is read, by default the last. "
            "Repeatable.",
        ),
    ] = None,
    log_y: Annotated[
        bool,
        flag(
            "--log-y",
            help="Logarithmic regret axis, as where a bound of --bounds is far above.",
        ),
    ] = False,
    linear_x: Annotated[
        bool, flag("--linear-x", help="Linear axis of rounds, or of a parameter.")
    ] = False,
    bounds: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Of theory, by commas: lower, a policy (d-ts) for the theorems on it, "
            "all of those shown; auto, those that fit on the axes; or none.",
        ),
    ] = "auto",
    colors: Annotated[
        list[str] | None,
        typer.Option(
            "--color",
            metavar="POLICY=COLOR",
            help="Such as d-ts=#336699. Repeatable. By default each policy has the "
            "same color in all figures.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="POLICY=TEXT",
            help="What to call a policy, such as d-ts='Double TS'. Repeatable.",
        ),
    ] = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Draw saved results again: other regret, band, width, colors, names or format."""
    start = None if from_round is None else parse.rounds(from_round, "--from")
    size = literal(width.strip())
    tree = _saved(results, instance)
    shown = _notion(tree, notion), _BANDS[band]
    drawn = _names(bounds, kind)
    looks: dict[str, Any] = {
        "colors": _by_policy("--color", colors, tree),
        "names": _by_policy("--name", names, tree),
    }
    if kind is Kind.sweep:
        from bayesduel import plots

        rounds = [parse.rounds(each, "--at") for each in at or ()]
        figure = plots.sweep(
            tree, parameter, at=rounds or None,
            notion=shown[0], band=shown[1], log_x=False if linear_x else None,
            log_y=log_y, width=size, **looks,
        )  # fmt: skip
    else:
        figure = _figure(
            tree, kind, start, size, *shown,
            bounds=drawn, log_x=not linear_x, log_y=log_y, looks=looks,
        )  # fmt: skip
    stem = out or (results if results.is_dir() else results.parent) / kind.value
    formats = [each.value for each in kinds or (Format.png, Format.svg)]
    stem = stem.with_suffix("") if stem.suffix.lstrip(".") in list(Format) else stem
    save_figures({stem: figure}, formats, quiet=quiet)


def _names(text: str, kind: Kind) -> str | list[str] | None:
    """Return the bounds asked for, as figures have them."""
    names = [each.strip() for each in text.split(",") if each.strip()]
    if names in ([], ["none"]):
        return None
    if names == ["auto"]:
        return "auto"
    if kind not in (Kind.regret, Kind.slopes):
        raise option_error(
            "--bounds", f"does not go with --kind {kind.value}", remedy="leave it out"
        )
    return names


def _by_policy(
    option: str, given: list[str] | None, tree: xr.DataTree
) -> dict[str, str]:
    """Return what was given as POLICY=VALUE, where either may hold an equals sign."""
    from bayesduel.analysis import measurements
    from bayesduel.plots.policy_looks import check_color, check_name, label_called

    if not given:
        return {}
    found: dict[str, str] = {}
    labels = [each.policy for each in measurements(tree)]
    check = check_color if option == "--color" else check_name
    for text in given:
        parts = text.split("=")
        if len(parts) < 2:
            raise option_error(
                option, f"must be POLICY={'COLOR' if option == '--color' else 'TEXT'}",
                text, remedy="such as d-ts=#336699 or d-ts=Double",
            )  # fmt: skip
        # The longest beginning that is a policy: d-ts:alpha=2=#336699.
        for count in range(len(parts) - 1, 0, -1):
            key = "=".join(parts[:count])
            try:
                label_called(option, key, labels)
            except ValueError:
                if count == 1:
                    raise
                continue
            found[key] = check(option, "=".join(parts[count:]).strip())
            break
    return found


def _saved(path: Path, instance: str | None) -> xr.DataTree:
    """Read results; keep one instance if asked."""
    if not path.exists():
        raise option_error(
            "RESULTS",
            f"{path} does not exist",
            path,
            remedy="give the folder of --out, or a file in it",
        )
    from bayesduel import results
    from bayesduel.errors import near_names

    tree = results.load(path)
    if instance is None:
        return tree
    if instance not in tree.children:
        near = near_names(instance, tree.children)
        raise option_error(
            "--instance",
            f"{instance!r} is not in {path}",
            instance,
            remedy=f"{near}it holds {', '.join(tree.children)}",
        )
    return tree.children[instance]


def _notion(tree: xr.DataTree, asked: str | None) -> str:
    """Return the notion asked for, or the first one that was recorded everywhere."""
    from bayesduel.analysis import measurements

    if asked is not None:
        return asked.replace("-", "_")
    first = {
        each.instance: each.notions[0] for each in measurements(tree) if each.notions
    }
    if len(set(first.values())) > 1:
        texts = (f"{name} ({notion})" for name, notion in first.items())
        raise option_error(
            "--regret",
            f"instances have different regrets: {', '.join(texts)}",
            remedy="draw one of them with --instance",
        )
    return next(iter(first.values()), "copeland")


def _require_one_instance(tree: xr.DataTree) -> None:
    from bayesduel.analysis import measurements

    names = dict.fromkeys(each.instance for each in measurements(tree))
    if len(names) > 1:
        raise option_error(
            "--kind slopes",
            f"draws one instance, but there are {len(names)} ({', '.join(names)})",
            remedy=f"pick one, as with -i {next(iter(names))}",
        )


def _figure(
    tree: xr.DataTree,
    kind: Kind,
    start: int | None,
    width: str | float,
    notion: str,
    band: str,
    *,
    bounds: str | list[str] | None,
    log_x: bool,
    log_y: bool,
    looks: dict[str, Any],
) -> StyledFigure:
    from bayesduel import plots

    if kind is Kind.slopes:
        _require_one_instance(tree)
        return plots.slopes(
            tree, from_round=start, notion=notion, band=band, bound=bounds, width=width,
            **looks,
        )  # fmt: skip
    if kind is Kind.slope_ratios:
        return plots.slope_ratios(
            tree, from_round=start, notion=notion, width=width, **looks
        )
    if kind is Kind.survival:
        return plots.survival(
            tree, checkpoint=start, notion=notion, width=width, **looks
        )
    return plots.regret(
        tree, anchor=start, notion=notion, band=band, bounds=bounds, width=width,
        log_x=log_x, log_y=log_y or None, **looks,
    )  # fmt: skip
