"""``bayesduel fit``: who is best, from a file of votes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesduel.cli.errors import refuse_given
from bayesduel.cli.fits import (
    MANY,
    as_record,
    clusters_said,
    contrast_rows,
    print_contrasts,
    print_parameters,
    print_standings,
    save_fit,
    standing_cells,
    with_doubt,
)
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.output import (
    Output,
    console,
    print_json,
    say_warning,
    version,
)
from bayesduel.cli.parse import option_error
from bayesduel.cli.voting import (
    FitOptions,
    JudgedVoteOptions,
    ModelOptions,
    names_between,
    print_rows,
    print_whole,
    require_file,
)

if TYPE_CHECKING:
    from bayesduel.inference import GroupFits
    from bayesduel.votes.format import VoteFormat

# Rows of groups that are printed without --all.
_MANY_ROWS = 200


ScoreScale = Literal["utility", "elo"]


Ties = Literal["model", "rao-kupper", "drop", "split"]


@dataclass(frozen=True)
class ReadOptions(JudgedVoteOptions):
    """All that ``fit`` reads of a table."""

    soft: str | None = option(
        "COLUMN:A:B: Column of a preference between two values instead: A is a sure "
        "vote for the first arm, B for the second, as in preference:1:2."
    )
    order: str | None = option(
        "C1,C2,...: A ballot a row: columns of the best arm, the second best ... "
        "Default: '1st choice','2nd choice' ..."
    )
    places: str | None = option(
        "ARM,ARM,...: A ballot a row: columns of arms, with the place of each. "
        "Default: those of a grid, 'Order \\[tea]','Order \\[milk]' ..."
    )
    neutral: str | None = option(
        "COLUMN: Column that is true where neither arm was shown first, or at home."
    )
    by: str | None = option(
        "COLUMN: Fit the votes of each group apart, such as topics; one table of all."
    )
    cluster: str | None = option(
        "COLUMN: Also say standard errors for votes that hang together, as those of "
        "one judge or of one prompt do."
    )

    def format(self, **others: Any) -> VoteFormat:
        """Return the format of a table; fields that no option here names are given."""
        return super().format(
            soft=None if self.soft is None else _soft(self.soft),
            neutral=self.neutral,
            group=self.by,
            cluster=self.cluster,
            **others,
        )


@dataclass(frozen=True)
class FittedModelOptions(ModelOptions):
    """The model that ``fit`` fits."""

    tied: Ties = option(
        "Model ties, by a share of the votes (Davidson) or a threshold (rao-kupper), "
        "drop them, or split each into two half votes.",
        "--ties",
        default="model",
    )
    discrimination: bool = option(
        "With --judge: each may also see differences more or less clearly."
    )
    covariates: Path | None = option(
        "ARMS: CSV or TSV with a row per arm: its name, and numbers of about unit "
        "size. Utilities are then a weighted sum of these."
    )
    residual: bool = option(
        "With --covariates: arms may differ in more than these, by a residual of a "
        "learned standard deviation."
    )

    def check_with(self, reading: ReadOptions, **of_utilities: Any) -> None:
        """Refuse options that do not go together, before a file is read."""
        self.check(**{"--covariates": self.covariates}, **of_utilities)
        judge, is_plain = reading.judge, self.model == "bradley-terry"
        if judge is not None and not is_plain:
            rule, remedy = f"{self.model} has none", "choose bradley-terry"
            raise option_error("--judge", rule, remedy=remedy)
        if self.residual and self.covariates is None:
            rule, remedy = "is what --covariates leave open", "name a file"
            raise option_error("--residual", rule, remedy=remedy)
        if self.discrimination and judge is None:
            rule, remedy = "is one of judges", "name their column: --judge"
            raise option_error("--discrimination", rule, remedy=remedy)
        if reading.both_orders is not None:
            refuse_given(
                {
                    "--order-effect": self.order_effect,
                    "--discrimination": self.discrimination,
                },
                "is for votes in one order, and --both-orders makes one of two",
            )
        if self.tied == "rao-kupper" and (not is_plain or judge is not None):
            rule = "rao-kupper is for bradley-terry without --judge"
            remedy = "thurstone has a threshold of its own"
            raise option_error("--ties", rule, remedy=remedy)


@dataclass(frozen=True)
class _Score:
    """The unit of scores, an arm with a score of its own, and one to compare with."""

    scale: str
    anchor: tuple[str, float] | None
    reference: str | None
    equivalent: float | None


@command("fit votes.csv --scale elo --check")
def fit(
    *,
    votes: Path = argument(
        "VOTES: CSV, TSV, JSON, JSON lines, Excel, Parquet or Stata, perhaps "
        "compressed: a vote a row, or a pair a row with its counts; or a square table "
        "of wins; or arms that were shown in a row and the columns best, worst; or a "
        "ranking a row; or ballots of PrefLib (.soc, .soi, .toc, .toi)."
    ),
    reading: ReadOptions,
    model: FittedModelOptions,
    fitting: FitOptions,
    scale: ScoreScale = option(
        "Unit of scores; elo: 400 for odds of 10 to 1, mean 1500.",
        default="utility",
    ),
    anchor: str | None = option("ARM=S: An arm, and the score it shall have."),
    reference: str | None = option("ARM: Also say how far all arms are from this one."),
    equivalent: float | None = option(
        "EPS: A difference from it that does not matter."
    ),
    check: bool = option(
        "Also say in five lines whether to believe the fit: computation, an order "
        "effect, judges that differ, circles."
    ),
    everything: bool = option("Print every arm of many.", "--all"),
    out: Path | None = option(
        "DIR: Save CSV, JSON, Markdown, netCDF and figures there."
    ),
    log_likelihood: bool = option("Save that of every vote as well (large)."),
    output: Output,
) -> None:
    """Fit a posterior model to votes, and print who stands where.

    Columns: interval of ranks, utility relative to the mean with its interval,
    probability of being the best, and the votes.
    """
    from bayesduel.models.argument_checks import check_probability

    probability, by, cluster = fitting.probability, reading.by, reading.cluster
    check_probability(probability)
    is_elo, by_mode = scale == "elo", fitting.method == "mode"
    model.check_with(reading, **{"--scale elo": is_elo, "--anchor": anchor})
    refused = {"--anchor": anchor, "--check": check,
               "--log-likelihood": log_likelihood}  # fmt: skip
    if by is not None:
        if by == cluster:
            rule = "must be another column than --by: a group is one"
            raise option_error("--cluster", rule, cluster)
        of_one = refused | {"--reference": reference, "--method": "mode" * by_mode}
        refuse_given(of_one, "is for one fit, and --by makes several")
    if by_mode:
        refused["--scale elo"] = is_elo
        refuse_given(refused, "is for a fit with draws, and --method mode has none")
    if cluster is not None:
        if fitting.method not in ("auto", "laplace"):
            name = fitting.method
            rule = f"needs the curvature at a mode, and --method {name} has none"
            raise option_error("--cluster", rule, remedy="choose laplace")
        fitting = replace(fitting, method="laplace")
    if reference is None and equivalent is not None:
        rule = "needs an arm to be compared: --reference"
        raise option_error("--equivalent", rule, equivalent)
    score = _Score(scale, _anchor(anchor), reference, equivalent)
    data, chosen = _read(votes, reading, model, by_mode=by_mode)
    if reading.dry_run:
        if chosen is None:
            print_rows(data)
        else:
            print_whole(votes.name, data)
        return
    arrays = chosen.arrays(data)  # Says what does not fit before a folder is made.
    from bayesduel.votes.checks import arm_positions

    for name, arm in (("anchor", score.anchor and score.anchor[0]),
                      ("reference", reference)):  # fmt: skip
        if arm is not None:
            arm_positions(name, [arm], data.arm_names)
    if cluster is not None:
        from bayesduel.inference.fits.errors_at_mode import density_of_pairs

        density_of_pairs(chosen, arrays)
    output.claim(out, "fit")
    output.say(f"{votes.name}: {data}")
    if by is not None:
        _fit_groups(chosen, data, fitting, score, cluster, everything, out, output)
        return
    if by_mode:
        _fit_mode(chosen, data, probability, score, everything, out, output)
        return
    from bayesduel.inference import fit as fit_model

    with output.working(fitting.words(chosen)), _remarks_alone():
        found = fit_model(chosen, data, **fitting.arguments())
    # Doubts are said by the report, but in JSON.
    doubts = () if output.as_json else found.doubts
    _say_remarks(found.remarks, but=doubts)
    judged = None
    if found.method != "exact" or check or output.as_json:
        from bayesduel.diagnostics import report

        with output.working("checking the fit"):
            judged = report(found, with_loo=check, with_votes=check)
    record = as_record(
        found, probability, scale=score.scale, anchor=score.anchor,
        check=judged if check else None, reference=reference, equivalent=equivalent,
        cluster=None if cluster is None else "cluster",
    )  # fmt: skip
    if output.as_json:
        print_json(record | {"report": str(judged).splitlines()})
    else:
        print_standings(repr(found), record, everything=everything)
        if judged is not None and check:
            text = judged.short()
            console().print(text, markup=False, highlight=False, soft_wrap=True)
        elif judged is not None and not judged.good:
            say_warning(judged.against())
    if out is not None:
        save_fit(found, record, out, score.scale, judged if check else None, output,
                 log_likelihood=log_likelihood)  # fmt: skip


def _anchor(text: str | None) -> tuple[str, float] | None:
    """Return an arm and its score; the name may hold = itself."""
    if text is None:
        return None
    from bayesduel.files.user_files import number

    name, equals, score = text.rpartition("=")
    value = number(score)
    if not equals or not name.strip() or value is None:
        raise option_error("--anchor", "must be an arm and a score, A=1000", text)
    return name.strip(), value


def _soft(text: str) -> tuple[str, float, float]:
    """Return a column and two values, of ``preference:1:2``."""
    from bayesduel.files.user_files import number

    column, *values = text.rsplit(":", 2)
    numbers = [number(each.strip()) for each in values]
    if len(numbers) != 2 or None in numbers or not column.strip():
        rule = "must be a column, and the values of a sure vote for either arm"
        raise option_error("--soft", rule, text, remedy="such as preference:1:2")
    return column.strip(), numbers[0], numbers[1]  # pyright: ignore[reportReturnType]


def _read(
    votes: Path, reading: ReadOptions, model: FittedModelOptions, *, by_mode: bool
) -> tuple[Any, Any]:
    """Return votes and their model; to be previewed, rows on pairs and no model."""
    format = reading.format(**model.columns)
    require_file("VOTES", votes)
    from bayesduel import models
    from bayesduel.votes import Choices, Rankings, read_covariates
    from bayesduel.votes.answers import parse_votes
    from bayesduel.votes.rankings import SUFFIXES

    data: Any = parse_votes(
        votes,
        format,
        worst=reading.worst,
        order=names_between("--order", reading.order),
        places=names_between("--places", reading.places),
    )
    if isinstance(data, Rankings | Choices):
        refused = {
            "--model": model.model * (model.model != "bradley-terry"),
            "--ties": model.tied * (model.tied != "model"),
            "--method": "mode" * by_mode,
            "--order-effect": model.order_effect,
            "--discrimination": model.discrimination,
            "--covariates": model.covariates,
            "--residual": model.residual,
        }
        rule = f"is for votes on pairs, and {votes.name} "
        if votes.suffix.lower() in SUFFIXES:
            rule = f"is for a table of votes, and {votes.name} holds ballots"
            remedy = "whole ballots are fitted by Plackett-Luce"
            refused["--dry-run"] = reading.dry_run
        elif isinstance(data, Rankings):
            rule += "holds rankings"
            remedy = "rankings are fitted by Plackett-Luce"
        else:
            rule += "shows sets"
            remedy = "the best of sets are fitted by the multinomial logit"
        refuse_given(refused, rule, remedy)
        is_ranked = isinstance(data, Rankings)
        kind = models.PlackettLuce if is_ranked else models.MultinomialLogit
        scale = model.prior_scale
        return data, kind() if scale is None else kind(prior_scale=scale)
    if reading.dry_run:
        return data, None
    data = data.comparisons()
    if not data.num_votes:
        raise option_error("VOTES", f"{votes} holds no vote", votes)
    if data.has_ties and model.tied == "drop":
        data = data.without_ties()
    if data.has_ties and model.tied == "split":
        data = data.with_split_ties()
    if model.covariates is not None:
        require_file("--covariates", model.covariates)
        numbers = read_covariates(model.covariates, data.arm_names)
        data = data.with_covariates(*numbers)
    chosen = model.model_of(
        data, residual=model.residual, rao_kupper=model.tied == "rao-kupper",
        discrimination=model.discrimination, judged=reading.both_orders is None,
    )  # fmt: skip
    return data, chosen


@contextmanager
def _remarks_alone() -> Iterator[None]:
    """Leave out warnings of a fit that come back among its remarks."""
    from bayesduel.errors import DisconnectedComparisonsWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        yield


def _say_remarks(remarks: Any, but: Any = ()) -> None:
    for remark in remarks:
        if not any(remark.startswith(doubt) for doubt in but):
            say_warning(remark)


def _fit_mode(
    model: Any,
    data: Any,
    probability: float,
    score: _Score,
    everything: bool,
    out: Path | None,
    output: Output,
) -> None:
    """Print, and save, utilities; differences from a reference of those printed."""
    import numpy as np

    from bayesduel.cli.tables import show, table_of
    from bayesduel.inference import fit_mode

    with output.working("fitting by mode"), _remarks_alone():
        found = fit_mode(model, data)
    _say_remarks(found.remarks)
    if not found.converged:
        say_warning("the search for the mode did not end; a narrower prior helps")
    won, lost, tied = data.counts.T
    both = np.concatenate([data.first, data.second])
    by_arm = {
        key: np.bincount(both, np.concatenate(of), data.num_arms).tolist()
        for key, of in {
            "comparisons": [data.counts.sum(axis=1)] * 2,
            "wins": [won, lost],
            "losses": [lost, won],
            "ties": [tied, tied],
        }.items()
    }
    columns = {"score": found.utility.tolist()} | by_arm
    rows: list[dict[str, Any]] = [
        {"arm": data.arm_names[arm]}
        | {name: values[arm] for name, values in columns.items()}
        for arm in np.argsort(-found.utility, kind="stable").tolist()
    ]
    shown = rows if everything else rows[:MANY]
    compared: list[dict[str, Any]] = []
    if score.reference is not None:
        apart = found.contrasts(
            [row["arm"] for row in shown], score.reference, probability=probability,
            equivalent=score.equivalent,
        )  # fmt: skip
        compared = contrast_rows(apart)
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
        "parameters": found.parameters(probability),
        "arms": rows,
        "reference": score.reference,
        "equivalent": score.equivalent,
        "contrasts": compared,
    }
    if out is not None:
        for name in ("standings", "parameters", "contrasts"):
            if table := record["arms" if name == "standings" else name]:
                output.save_csv(out / f"{name}.csv", table)
        output.save_json(out / "standings.json", record)
    if output.as_json:
        print_json(record)
        return
    cells = [
        (row["arm"], f"{row['score']:z.3f}", *(f"{row[key]:g}" for key in by_arm))
        for row in shown
    ]
    captions = [
        "utility: at the mode, relative to the mean of all arms; no intervals, but of "
        f"differences: --reference ARM; bayesduel {version()}"
    ]
    if len(rows) > len(shown):
        hidden = len(rows) - len(shown)
        captions.insert(0, f"left out: {hidden} more arms; see --all")
    table = table_of(("arm", "utility", "votes", "won", "lost", "tied"), cells)
    show(console(), repr(found), table, *captions)
    print_parameters(record["parameters"], probability)
    if score.reference is not None:
        print_contrasts(compared, score.reference, score.equivalent)


def _fit_groups(
    model: Any,
    data: Any,
    fitting: FitOptions,
    score: _Score,
    cluster: str | None,
    everything: bool,
    out: Path | None,
    output: Output,
) -> None:
    """Fit each group; print, and save, who stands where in it."""
    from bayesduel.cli.tables import show, table_of
    from bayesduel.experiments.progress import progress_reporter
    from bayesduel.inference import fit_groups

    # Fits take about half of the time, and their tables the other half.
    number, probability = len(data.labels["group"]), fitting.probability
    records = []
    with progress_reporter(enabled=not output.quiet) as bar:
        bar.expect(2 * number)
        found = fit_groups(
            model, data, "group", **fitting.arguments(),
            on_progress=lambda done, _: bar.count("groups", done),
        )  # fmt: skip
        for place, group in enumerate(found.remarks):
            bar.count("tables of groups", number + place)
            by = None if cluster is None else "cluster"
            records.append(_group_record(found, group, probability, score, by))
    for record in records:
        for remark in record["remarks"]:
            say_warning(f"{record['group']}: {remark}")
    whole = {"model": repr(model), "interval": probability, "version": version(),
             "groups": records}  # fmt: skip
    if out is not None:
        for name, part in (("standings", "arms"), ("parameters", "parameters")):
            rows = [
                {"group": record["group"]} | row
                for record in records
                if record[part]
                for row in with_doubt(record, part)
            ]
            if part == "arms":
                output.save_csv(out / f"{name}.csv", rows)
                output.save_json(out / f"{name}.json", whole)
            elif rows:
                output.save_csv(out / f"{name}.csv", rows)
    if output.as_json:
        print_json(whole)
        return
    fitted = [record for record in records if record["arms"]]
    # A column of parts where some group has several.
    parts = {"parts": max(record["parts"] for record in fitted)}
    heads, rows = [], []
    for record in fitted:
        heads, *cells = standing_cells(record | parts)
        rows += [[record["group"], *each] for each in cells]
    shown = rows if everything else rows[:_MANY_ROWS]
    captions = [
        "rank, shared rank, score and P(best) are among the arms of the same group",
        f"intervals hold {probability:.0%}; bayesduel {version()}",
    ]
    if "clustered" in heads:
        least = min(record.get("clusters", 1) for record in fitted)
        captions.insert(1, f"least of all groups: {clusters_said(least)}")
    doubtful = [record["group"] for record in fitted if record["doubts"]]
    if doubtful:
        captions.insert(0, f"DOUBTFUL: {', '.join(doubtful)}; see the warnings")
    if len(shown) < len(rows):
        captions.insert(0, f"left out: {len(rows) - len(shown)} more rows; see --all")
    table = table_of(("group", *heads), shown, words=("group", "arm"))
    show(console(), f"{model.title} of {len(fitted)} groups", table, *captions)


def _group_record(
    found: GroupFits, group: str, probability: float, score: _Score, by: str | None
) -> dict[str, Any]:
    """Return the record of a group; of one that has no fit, the reason."""
    from bayesduel.errors import FitError

    remarks = list(found.remarks[group])
    if group not in found.fits:
        return {"group": group, "remarks": remarks, "arms": [], "parameters": []}
    posterior = found.fits[group]
    unit: dict[str, Any] = {"scale": score.scale, "anchor": score.anchor}
    try:
        record = as_record(posterior, probability, **unit, cluster=by)
    except FitError as error:
        if by is None:
            raise
        # Such as a group of one cluster.
        remarks.append(f"no clustered errors: {error}")
        record = as_record(posterior, probability, **unit)
        for row in (*record["arms"], *record["parameters"]):
            row |= {"error": math.nan, "error_clustered": math.nan}
    arms = [row for row in record["arms"] if row["comparisons"] > 0]
    number = len({row["part"] for row in arms})
    return {"group": group, **record, "remarks": remarks, "arms": arms,
            "parts": number}  # fmt: skip
