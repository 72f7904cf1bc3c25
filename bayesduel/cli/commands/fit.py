"""``bayesduel fit``: who is best, from a file of votes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesduel.cli.errors import refuse_given
from bayesduel.cli.fits import (
    MANY,
    clusters_said,
    print_contrasts,
    print_parameters,
    print_standings,
    rows_of_arms,
    save_fit,
    standing_cells,
    with_doubt,
)
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.output import Output, console, print_json, say_warning, version
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.cli.voting import (
    FitOptions,
    JudgedVoteOptions,
    ModelOptions,
    names_between,
    preference_model,
    print_rows,
    print_whole,
    require_file,
)

if TYPE_CHECKING:
    from bayesduel.inference import GroupFits

# Seconds from which it is said beforehand how long a fit takes.
_LONG = 10.0
# Rows of groups that are printed without --all.
_MANY_ROWS = 200

Ties = Literal["model", "rao-kupper", "drop", "split"]


@dataclass(frozen=True)
class FitRequest(Output, FitOptions, ModelOptions, JudgedVoteOptions):
    """Options that say which model is fitted to which votes, and how it is printed."""

    votes: Path = argument(
        "VOTES: CSV, TSV, JSON, JSON lines, Excel, Parquet or Stata, perhaps "
        "compressed: a vote a row, or a pair a row with its counts; or a square table "
        "of wins; or arms that were shown in a row and the columns best, worst; or a "
        "ranking a row; or ballots of PrefLib (.soc, .soi, .toc, .toi)."
    )
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
        "COLUMN: Fit each group of votes, such as a topic, on its own; one table."
    )
    cluster: str | None = option(
        "COLUMN: Also print standard errors that allow for dependent votes, such as "
        "those of one judge or on one prompt."
    )
    tied: Ties = option(
        "Ties: model them (Davidson's model, or rao-kupper's threshold), drop them, or "
        "split each into two half votes.",
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
    scale: Literal["utility", "elo"] = option(
        "Unit of scores. elo: 400 points are odds of 10 to 1; mean 1500.",
        default="utility",
    )
    anchor: str | None = option("ARM=S: Shift scores so that this arm has this one.")
    reference: str | None = option("ARM: Also print differences from this arm.")
    equivalent: float | None = option(
        "EPS: With --reference: differences up to this size count as equal."
    )
    check: bool = option(
        "Also check the fit, in five lines: convergence, order effect, differences "
        "between judges, circles."
    )
    everything: bool = option("Print every arm, also of a long table.", "--all")
    out: Path | None = option(
        "DIR: Folder for CSV, JSON, Markdown, netCDF and figures."
    )
    log_likelihood: bool = option("With --out: save the log likelihood of every vote.")

    @cached_property
    def anchored(self) -> tuple[str, float] | None:
        """The arm of --anchor and its score; the name may hold = itself."""
        if self.anchor is None:
            return None
        from bayesduel.files.user_files import number

        name, equals, score = self.anchor.rpartition("=")
        value = number(score)
        if not equals or not name.strip() or value is None:
            rule = "must be an arm and a score, A=1000"
            raise option_error("--anchor", rule, self.anchor)
        return name.strip(), value

    def check_options(self) -> None:
        """Refuse options that do not go together, before a file is read."""
        from bayesduel.models.argument_checks import check_probability

        check_probability(self.probability)
        anchor, is_elo = {"--anchor": self.anchor}, {"--scale elo": self.scale == "elo"}
        self.check_model(**{"--covariates": self.covariates}, **is_elo, **anchor)
        judge, is_plain = self.judge, self.model == "bradley-terry"
        if judge is not None and not is_plain:
            rule, remedy = f"{self.model} has none", "choose bradley-terry"
            raise option_error("--judge", rule, remedy=remedy)
        if self.residual and self.covariates is None:
            rule, remedy = "is what --covariates leave open", "name a file"
            raise option_error("--residual", rule, remedy=remedy)
        if self.discrimination and judge is None:
            rule, remedy = "is one of judges", "name their column: --judge"
            raise option_error("--discrimination", rule, remedy=remedy)
        by_mode = self.method == "mode"
        of_draws = {"--check": self.check, "--log-likelihood": self.log_likelihood}
        if self.by is not None:
            if self.by == self.cluster:
                rule = "must be another column than --by: a group is one"
                raise option_error("--cluster", rule, self.cluster)
            of_one = anchor | of_draws | {"--reference": self.reference}
            of_one["--method"] = "mode" * by_mode
            refuse_given(of_one, "is for one fit, and --by makes several")
        if by_mode:
            rule = "is for a fit with draws, and --method mode has none"
            refuse_given(anchor | of_draws | is_elo, rule)
        if self.both_orders is not None:
            of_order = {"--order-effect": self.order_effect,
                        "--discrimination": self.discrimination}  # fmt: skip
            rule = "is for votes in one order, and --both-orders makes one of two"
            refuse_given(of_order, rule)
        if self.cluster is not None and self.method not in ("auto", "laplace"):
            rule = "needs the curvature at a mode, and --method "
            rule += f"{self.method} has none"
            raise option_error("--cluster", rule, remedy="choose laplace")
        if self.tied == "rao-kupper" and (not is_plain or judge is not None):
            rule = "rao-kupper is for bradley-terry without --judge"
            remedy = "thurstone has a threshold of its own"
            raise option_error("--ties", rule, remedy=remedy)
        if self.reference is None and self.equivalent is not None:
            rule = "needs an arm to be compared: --reference"
            raise option_error("--equivalent", rule, self.equivalent)
        _ = self.anchored


_PANELS = {
    "Options": "arms winner words judge model tied order_effect check scale out",
    "Columns and rows": "wins tie_columns scores weight where missing decimal mirrored "
    "worst context both_orders soft order places neutral order_known dry_run",
    "Groups and clusters": "by cluster",
    "Model": "prior_scale contest_covariate contest_scale discrimination covariates "
    "residual",
    "Computation": "method draws warmup target_acceptance seed",
    "Output": "probability anchor reference equivalent everything log_likelihood "
    "quiet as_json overwrite",
}


@command("fit votes.csv --scale elo --check", _PANELS)
def fit(*, request: FitRequest) -> None:
    """Fit a posterior model to votes, and print who stands where.

    Columns: interval of ranks, utility relative to the mean with its interval,
    probability of being the best, and the votes.
    """
    request.check_options()
    if request.cluster is not None:
        request = replace(request, method="laplace")
    data, model = _read(request)
    if request.dry_run:
        if model is None:
            print_rows(data)
        else:
            print_whole(request.votes.name, data)
        return
    arrays = model.arrays(data)  # Says what does not fit before a folder is made.
    from bayesduel.votes.checks import arm_positions

    if request.anchored is not None:
        arm_positions("anchor", [request.anchored[0]], data.arm_names)
    if request.reference is not None:
        arm_positions("reference", [request.reference], data.arm_names)
    if request.cluster is not None:
        from bayesduel.models.fit.fit_result import density_of_pairs

        density_of_pairs(model, arrays)
    if _is_for_the_mode(request, model, data):
        request = replace(request, method="mode")
        request.check_options()
    request.claim(request.out, "fit")
    request.say(f"{request.votes.name}: {data}")
    if request.by is not None:
        _fit_groups(request, model, data)
    elif request.method == "mode":
        _fit_mode(request, model, data)
    else:
        _fit_draws(request, model, data, arrays)


def _is_for_the_mode(request: FitRequest, model: Any, data: Any) -> bool:
    """Whether there are too many arms for draws, and the mode is what is left."""
    from bayesduel.arguments.limits import MOST_FITTED_ARMS
    from bayesduel.models import JudgedBradleyTerry
    from bayesduel.models.utilities import PairwiseUtilityModel

    return (
        request.method == "auto"
        and request.by is None
        and data.num_arms > MOST_FITTED_ARMS
        and isinstance(model, PairwiseUtilityModel)
        and not isinstance(model, JudgedBradleyTerry)
        and not request.residual
    )


def _fit_draws(request: FitRequest, model: Any, data: Any, arrays: Any) -> None:
    """Print, and save, who stands where, and whether to believe it."""
    from bayesduel.inference import fit as fit_model
    from bayesduel.models.fit.laplace_draws import expected_seconds

    check, out, report = request.check, request.out, None
    method = model.usual_method if request.method == "auto" else request.method
    by_laplace, draws = method == "laplace", 4 * request.draws
    seconds = expected_seconds(model, arrays, draws) if by_laplace else 0.0
    if seconds > _LONG:
        request.say(f"this takes {seconds:.0f} to {5 * seconds:.0f} seconds; by "
                    "--method mode, without draws, far less")  # fmt: skip
    with request.working(request.fitting_words(model)), _remarks_alone():
        posterior = fit_model(model, data, **request.arguments())
    # Doubts are said by the report, but in JSON.
    doubts = () if request.as_json else posterior.doubts
    for remark in posterior.remarks:
        if not remark.startswith(doubts):
            say_warning(remark)
    if posterior.method != "exact" or check or request.as_json:
        from bayesduel import diagnostics

        with request.working("checking the fit"):
            report = diagnostics.report(posterior, with_loo=check, with_votes=check)
    cluster = None if request.cluster is None else "cluster"
    record = posterior.as_record(
        request.probability, scale=request.scale, anchor=request.anchored,
        cluster=cluster,
    )  # fmt: skip
    if report is not None and check:
        record["check"] = report.as_record()
    if request.reference is not None:
        from bayesduel.inference import contrasts

        apart = contrasts(
            posterior, request.reference, probability=request.probability,
            equivalent=request.equivalent, scale=request.scale,
        )  # fmt: skip
        record |= {
            "reference": request.reference,
            "equivalent": request.equivalent,
            "difference": apart.attrs["difference"],
            "contrasts": rows_of_arms(apart),
        }
    if request.as_json:
        print_json(record | {"report": str(report).splitlines()})
    else:
        print_standings(repr(posterior), record, everything=request.everything)
        if report is not None and check:
            text = report.short()
            console().print(text, markup=False, highlight=False, soft_wrap=True)
        elif report is not None and not report.good:
            say_warning(report.against())
    if out is not None:
        save_fit(
            posterior, record, out, request.scale, report if check else None, request,
            log_likelihood=request.log_likelihood,
        )  # fmt: skip


def _read(request: FitRequest) -> tuple[Any, Any]:
    """Return votes and their model; to be previewed, rows on pairs and no model."""
    votes, format = request.votes, request.format()
    require_file("VOTES", votes)
    from bayesduel import models
    from bayesduel.votes import Choices, Rankings, read_covariates
    from bayesduel.votes.answers import parse_votes
    from bayesduel.votes.rankings import SUFFIXES

    data: Any = parse_votes(
        votes,
        format,
        worst=request.worst,
        order=names_between("--order", request.order),
        places=names_between("--places", request.places),
    )
    if isinstance(data, Rankings | Choices):
        refused = {
            "--model": request.model * (request.model != "bradley-terry"),
            "--ties": request.tied * (request.tied != "model"),
            "--method": "mode" * (request.method == "mode"),
            "--order-effect": request.order_effect,
            "--discrimination": request.discrimination,
            "--covariates": request.covariates,
            "--residual": request.residual,
        }
        rule = f"is for votes on pairs, and {votes.name} "
        if votes.suffix.lower() in SUFFIXES:
            rule = f"is for a table of votes, and {votes.name} holds ballots"
            remedy = "whole ballots are fitted by Plackett-Luce"
            refused["--dry-run"] = request.dry_run
        elif isinstance(data, Rankings):
            rule += "holds rankings"
            remedy = "rankings are fitted by Plackett-Luce"
        else:
            rule += "shows sets"
            remedy = "the best of sets are fitted by the multinomial logit"
        refuse_given(refused, rule, remedy)
        is_ranked = isinstance(data, Rankings)
        kind = models.PlackettLuce if is_ranked else models.MultinomialLogit
        scale = request.prior_scale
        return data, kind() if scale is None else kind(prior_scale=scale)
    if request.dry_run:
        return data, None
    data = data.comparisons()
    if not data.num_votes:
        raise option_error("VOTES", f"{votes} holds no vote", votes)
    if data.has_ties and request.tied == "drop":
        data = data.without_ties()
    if data.has_ties and request.tied == "split":
        data = data.with_split_ties()
    if request.covariates is not None:
        require_file("--covariates", request.covariates)
        numbers = read_covariates(request.covariates, data.arm_names)
        data = data.with_covariates(*numbers)
    chosen = preference_model(
        request.model, data, request.prior_scale, order_effect=request.order_effect,
        residual=request.residual, rao_kupper=request.tied == "rao-kupper",
        discrimination=request.discrimination, judged=request.both_orders is None,
        contest_scale=request.contest_scale,
    )  # fmt: skip
    return data, chosen


@contextmanager
def _remarks_alone() -> Iterator[None]:
    """Leave out warnings of a fit that come back among its remarks."""
    from bayesduel.errors import DisconnectedComparisonsWarning as Warned

    with warnings.catch_warnings(action="ignore", category=Warned):
        yield


def _fit_mode(request: FitRequest, model: Any, data: Any) -> None:
    """Print, and save, utilities; differences from a reference of those printed."""
    from bayesduel.inference import fit_mode

    with request.working("fitting by mode"), _remarks_alone():
        mode = fit_mode(model, data)
    for remark in mode.remarks:
        say_warning(remark)
    if not mode.converged:
        say_warning("the search for the mode did not end; a narrower prior helps")
    out, probability = request.out, request.probability
    with request.working("computing standard errors"):
        standings = mode.standings(request.probability, rng_key=request.seed)
    rows = rows_of_arms(standings)
    shown = rows if request.everything else rows[:MANY]
    compared: list[dict[str, Any]] = []
    if request.reference is not None:
        apart = mode.contrasts(
            [row["arm"] for row in shown], request.reference, probability=probability,
            equivalent=request.equivalent,
        )  # fmt: skip
        compared = rows_of_arms(apart)
    doubts = [] if mode.converged else ["the method did not converge"]
    record = {
        "model": repr(model),
        "method": "mode",
        "converged": mode.converged,
        "trusted": not doubts,
        "doubts": doubts,
        "votes": data.num_votes,
        "interval": request.probability,
        "score": "utility",
        "remarks": list(mode.remarks),
        "version": version(),
        "parameters": mode.parameters(probability),
        "arms": rows,
        "reference": request.reference,
        "equivalent": request.equivalent,
        "contrasts": compared,
    }
    if out is not None:
        for name in ("standings", "parameters", "contrasts"):
            if table := record["arms" if name == "standings" else name]:
                request.save_csv(out / f"{name}.csv", table)
        request.save_json(out / "standings.json", record)
    if request.as_json:
        print_json(record)
        return
    counts = ("comparisons", "wins", "losses", "ties")
    cells = [
        (
            row["arm"],
            f"{row['score']:z.3f}",
            f"{row['score_lower']:z.3f} to {row['score_upper']:z.3f}",
            f"{row['error']:.3f}",
            *(f"{row[key]:g}" for key in counts),
        )
        for row in shown
    ]
    off = (standings["mcse"] / standings["error"]).max().item()
    captions = [
        "utility: at the mode, relative to the mean of all arms; error: its standard "
        f"error, estimated from {standings.attrs['num_draws']} draws to "
        f"{100 * off:.2g} % or better",
        f"intervals hold {probability:.0%}, by a normal distribution; of differences: "
        f"--reference ARM; bayesduel {version()}",
    ]
    if len(rows) > len(shown):
        hidden = len(rows) - len(shown)
        captions.insert(0, f"left out: {hidden} more arms; see --all")
    heads = ("arm", "utility", "interval", "error", "votes", "won", "lost", "tied")
    table = table_of(heads, cells)
    show(console(), repr(mode), table, *captions)
    print_parameters(record["parameters"], probability)
    if request.reference is not None:
        print_contrasts(compared, request.reference, request.equivalent)


def _fit_groups(request: FitRequest, model: Any, data: Any) -> None:
    """Fit each group; print, and save, who stands where in it."""
    from bayesduel.experiments.progress import progress_reporter
    from bayesduel.inference import fit_groups

    # Fits take about half of the time, and their tables the other half.
    number, out = len(data.labels["group"]), request.out
    records = []
    with progress_reporter(enabled=not request.quiet) as bar:
        bar.expect(2 * number)
        fits = fit_groups(
            model, data, "group", **request.arguments(),
            on_progress=lambda done, _: bar.count("groups", done),
        )  # fmt: skip
        for number_done, group in enumerate(fits.remarks):
            bar.count("tables of groups", number + number_done)
            records.append(_group_record(request, fits, group))
    for record in records:
        for remark in record["remarks"]:
            say_warning(f"{record['group']}: {remark}")
    whole = {"model": repr(model), "interval": request.probability}
    whole |= {"version": version(), "groups": records}
    if out is not None:
        for name, part in (("standings", "arms"), ("parameters", "parameters")):
            rows = [
                {"group": record["group"]} | row
                for record in records
                if record[part]
                for row in with_doubt(record, part)
            ]
            if part == "arms":
                request.save_csv(out / f"{name}.csv", rows)
                request.save_json(out / f"{name}.json", whole)
            elif rows:
                request.save_csv(out / f"{name}.csv", rows)
    if request.as_json:
        print_json(whole)
        return
    fitted = [record for record in records if record["arms"]]
    # A column of parts where some group has several.
    parts = {"parts": max(record["parts"] for record in fitted)}
    heads, rows = [], []
    for record in fitted:
        heads, *cells = standing_cells(record | parts)
        rows += [[record["group"], *cell_row] for cell_row in cells]
    shown = rows if request.everything else rows[:_MANY_ROWS]
    captions = [
        "rank, shared rank, score and P(best) are among the arms of the same group",
        f"intervals hold {request.probability:.0%}; bayesduel {version()}",
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


def _group_record(request: FitRequest, fits: GroupFits, group: str) -> dict[str, Any]:
    """Return the record of a group; of one that has no fit, the reason."""
    from bayesduel.errors import FitError

    remarks = list(fits.remarks[group])
    if group not in fits.fits:
        return {"group": group, "remarks": remarks, "arms": [], "parameters": []}
    posterior = fits.fits[group]
    probability, scale = request.probability, request.scale
    by = None if request.cluster is None else "cluster"
    try:
        record = posterior.as_record(probability, scale=scale, cluster=by)
    except FitError as error:
        if by is None:
            raise
        # Such as a group of one cluster.
        remarks.append(f"no clustered errors: {error}")
        record = posterior.as_record(probability, scale=scale)
        for row in (*record["arms"], *record["parameters"]):
            row |= {"error": math.nan, "error_clustered": math.nan}
    arms = [row for row in record["arms"] if row["comparisons"] > 0]
    number = len({row["part"] for row in arms})
    return {"group": group, **record, "remarks": remarks, "arms": arms,
            "parts": number}  # fmt: skip
