"""``bayesduel plot``: draw saved results again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from bayesduel.arguments.literals import literal
from bayesduel.cli import parse
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.output import Messages
from bayesduel.cli.parse import option_error

if TYPE_CHECKING:
    import xarray as xr


Kind = Literal["regret", "slopes", "slope-ratios", "survival", "sweep"]

Band = Literal["standard-error", "quantiles", "none"]

Format = Literal["png", "svg", "pdf"]

_BANDS = {
    "standard-error": "standard error",
    "quantiles": "quantiles 10-90",
    "none": "none",
}


@command("plot results --bounds lower,d-ts")
def plot(
    *,
    results: Path = argument("RESULTS: Folder or file of saved results."),
    kind: Kind = option(
        "Regret with bounds; slopes written beside the lines; slopes over the lower "
        "bound, by instance; how often a run exceeds a regret; or regret against a "
        "parameter that took several values.",
        default="regret",
    ),
    instance: str | None = option("Only this instance.", "-i", "--instance"),
    notion: str | None = option(
        "Which recorded regret; the first one by default.", "--regret", "--notion"
    ),
    band: Band = option(
        "± 1 standard error, or 10-90 % quantiles of runs.", default="standard-error"
    ),
    width: str = option("column (3.4 in), full (7 in), or inches.", default="full"),
    kinds: list[Format] | None = option(
        "Repeatable. Default: png and svg.", "-f", "--format"
    ),
    out: Path | None = option("FILE: Without ending. Default: beside the results."),
    from_round: str | None = option(
        "T: Checkpoint where slopes and bounds start, or that survival is of.", "--from"
    ),
    parameter: str | None = option(
        "NAME: Of a sweep: which parameter, by default the one of most values."
    ),
    at: list[str] | None = option(
        "T: Of a sweep: checkpoint at which regret is read, by default the last. "
        "Repeatable."
    ),
    log_y: bool = option(
        "Logarithmic regret axis, as where a bound of --bounds is far above."
    ),
    linear_x: bool = option("Linear axis of rounds, or of a parameter."),
    bounds: str = option(
        "NAMES: Of theory, by commas: lower, a policy (d-ts) for the theorems on it, "
        "all of those shown; auto, those that fit on the axes; or none.",
        default="auto",
    ),
    colors: list[str] | None = option(
        "POLICY=COLOR: Such as d-ts=#336699. Repeatable. By default each policy has "
        "the same color in all figures.",
        "--color",
    ),
    names: list[str] | None = option(
        "POLICY=TEXT: What to call a policy, such as d-ts='Double TS'. Repeatable.",
        "--name",
    ),
    messages: Messages,
) -> None:
    """Draw saved results again: other regret, band, width, colors, names or format."""
    start = None if from_round is None else parse.rounds(from_round, "--from")
    size = literal(width.strip())
    tree = _saved(results, instance)
    shown: dict[str, Any] = {"notion": _notion(tree, notion), "width": size}
    drawn = _bounds(bounds, kind)
    shown["colors"] = _by_policy("--color", colors, tree)
    shown["names"] = _by_policy("--name", names, tree)
    from bayesduel import plots
    from bayesduel.analysis import measurements

    match kind:
        case "sweep":
            rounds = [parse.rounds(text, "--at") for text in at or ()]
            figure = plots.sweep(
                tree, parameter, at=rounds or None, band=_BANDS[band],
                log_x=False if linear_x else None, log_y=log_y, **shown,
            )  # fmt: skip
        case "slopes":
            instances = dict.fromkeys(one.instance for one in measurements(tree))
            if len(instances) > 1:
                raise option_error(
                    "--kind slopes",
                    f"draws one instance, but there are {len(instances)} "
                    f"({', '.join(instances)})",
                    remedy=f"pick one, as with -i {next(iter(instances))}",
                )
            figure = plots.slopes(
                tree, from_round=start, band=_BANDS[band], bound=drawn, **shown
            )
        case "slope-ratios":
            figure = plots.slope_ratios(tree, from_round=start, **shown)
        case "survival":
            figure = plots.survival(tree, checkpoint=start, **shown)
        case "regret":
            figure = plots.regret(
                tree, anchor=start, band=_BANDS[band], bounds=drawn,
                log_x=not linear_x, log_y=log_y or None, **shown,
            )  # fmt: skip
    stem = out or (results if results.is_dir() else results.parent) / kind
    stem = stem.with_suffix("") if stem.suffix.lstrip(".") in get_args(Format) else stem
    formats = kinds or ("png", "svg")
    messages.save_figures({stem: figure}, formats)


def _bounds(text: str, kind: Kind) -> str | list[str] | None:
    """Return the bounds that were named, as figures have them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names in ([], ["none"]):
        return None
    if names == ["auto"]:
        return "auto"
    if kind not in ("regret", "slopes"):
        raise option_error(
            "--bounds", f"does not go with --kind {kind}", remedy="leave it out"
        )
    return names


def _by_policy(
    option: str, given: list[str] | None, tree: xr.DataTree
) -> dict[str, str]:
    """Return what was given as POLICY=VALUE, where either may hold an equals sign."""
    if not given:
        return {}
    from bayesduel.analysis import measurements
    from bayesduel.plots.policy_looks import check_color, check_name, label_called

    values: dict[str, str] = {}
    labels = [measured.policy for measured in measurements(tree)]
    check = check_color if option == "--color" else check_name
    for text in given:
        parts = text.split("=")
        if len(parts) < 2:
            rule = f"must be POLICY={'COLOR' if option == '--color' else 'TEXT'}"
            remedy = "such as d-ts=#336699 or d-ts=Double"
            raise option_error(option, rule, text, remedy=remedy)
        # The longest beginning that is a policy: d-ts:alpha=2=#336699.
        for count in range(len(parts) - 1, 0, -1):
            key = "=".join(parts[:count])
            try:
                label_called(option, key, labels)
            except ValueError:
                if count == 1:
                    raise
                continue
            values[key] = check(option, "=".join(parts[count:]).strip())
            break
    return values


def _saved(path: Path, instance: str | None) -> xr.DataTree:
    """Read results, or those of one instance."""
    if not path.exists():
        remedy = "give the folder of --out, or a file in it"
        raise option_error("RESULTS", f"{path} does not exist", path, remedy=remedy)
    from bayesduel import results
    from bayesduel.errors import near_names

    tree = results.load(path)
    if instance is None:
        return tree
    if instance not in tree.children:
        near = near_names(instance, tree.children)
        rule = f"{instance!r} is not in {path}"
        remedy = f"{near}it holds {', '.join(tree.children)}"
        raise option_error("--instance", rule, instance, remedy=remedy)
    return tree.children[instance]


def _notion(tree: xr.DataTree, named: str | None) -> str:
    """Return the notion that was named, or the first one that was recorded."""
    from bayesduel.analysis import measurements

    if named is not None:
        return named.replace("-", "_")
    first = {
        measured.instance: measured.notions[0]
        for measured in measurements(tree)
        if measured.notions
    }
    if len(set(first.values())) > 1:
        texts = (f"{name} ({notion})" for name, notion in first.items())
        rule = f"instances have different regrets: {', '.join(texts)}"
        raise option_error("--regret", rule, remedy="draw one of them with --instance")
    return next(iter(first.values()), "copeland")
