"""``bayesduel fit``: who is best, from a file of votes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import option_error, refuse_given
from bayesduel.cli.options import (
    flag,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    seed_option,
)
from bayesduel.cli.output import (
    console,
    print_json,
    say,
    say_remarks,
    say_warning,
    told_later,
)
from bayesduel.cli.parse import claim_folder
from bayesduel.cli.votes.chosen_models import (
    TargetAcceptance,
    Warmup,
    at_work,
    check_both_orders,
    check_model,
    preference_model,
    sampler_options,
    words_of_fit,
)
from bayesduel.cli.votes.contrasts import Reference
from bayesduel.cli.votes.grouped import By, Cluster, check_by, method_of
from bayesduel.cli.votes.options import (
    Arms,
    BothOrders,
    ContestCovariate,
    ContestScale,
    Context,
    Covariates,
    DecimalSign,
    Discrimination,
    Draws,
    DryRun,
    Interval,
    Judge,
    Method,
    MirroredRows,
    Missing,
    Model,
    ModelChoice,
    Neutral,
    Order,
    OrderEffect,
    OrderKnown,
    Places,
    Residual,
    Scale,
    Scores,
    Soft,
    TieColumns,
    Weight,
    Where,
    Winner,
    Wins,
    WithoutAnswer,
    Words,
    Worst,
    require_file,
    vote_format,
    with_covariates,
)
from bayesduel.cli.votes.preview import print_preview, print_whole_preview
from bayesduel.cli.votes.whole_answers import read_whole

if TYPE_CHECKING:
    from bayesduel.diagnostics import Report
    from bayesduel.inference import Fit
    from bayesduel.votes import Comparisons


class ScoreScale(StrEnum):
    """The unit of scores."""

    utility = "utility"
    elo = "elo"


class Ties(StrEnum):
    """What becomes of ties."""

    modelled = "model"
    rao_kupper = "rao-kupper"
    dropped = "drop"
    halved = "split"


def fit(
    votes: Annotated[
        Path,
        typer.Argument(
            metavar="VOTES",
            help="CSV, TSV, JSON, JSON lines, Excel, Parquet or Stata, perhaps"
            " compressed: a vote a row, or a pair a row with its counts; or a square"
            " table of wins; or arms that were shown in a row and the columns best,"
            " worst; or a ranking a row; or ballots of PrefLib (.soc, .soi, .toc,"
            " .toi).",
        ),
    ],
    arms: Arms = None,
    winner: Winner = None,
    words: Words = None,
    wins: Wins = None,
    tie_columns: TieColumns = None,
    scores: Scores = None,
    soft: Soft = None,
    weight: Weight = None,
    worst: Worst = None,
    order: Order = None,
    places: Places = None,
    where: Where = None,
    missing: Missing = WithoutAnswer.refuse,
    decimal: DecimalSign = None,
    mirrored: MirroredRows = None,
    dry_run: DryRun = False,
    ties: Annotated[
        Ties,
        typer.Option(
            help="Model ties, by a share of the votes (Davidson) or a threshold"
            " (rao-kupper), drop them, or split each into two half votes."
        ),
    ] = Ties.modelled,
    model: ModelChoice = Model.bradley_terry,
    prior_scale: Annotated[
        float | None,
        number_option(
            metavar="S",
            help="Standard deviation of utilities, default 2; of coefficients"
            " with --covariates, default 1; pseudo-votes of a Beta, default 1.",
        ),
    ] = None,
    order_effect: OrderEffect = False,
    order_known: OrderKnown = False,
    judge: Judge = None,
    discrimination: Discrimination = False,
    neutral: Neutral = None,
    covariates: Covariates = None,
    residual: Residual = False,
    contest_covariate: ContestCovariate = None,
    contest_scale: ContestScale = None,
    context: Context = None,
    both_orders: BothOrders = None,
    by: By = None,
    cluster: Cluster = None,
    method: Annotated[
        Method,
        typer.Option(
            help="auto: exact for beta, else laplace, and nuts where that does not fit."
            " mode: for thousands of arms, without draws."
        ),
    ] = Method.auto,
    probability: Interval = 0.9,
    draws: Draws = 1000,
    warmup: Warmup = None,
    target_acceptance: TargetAcceptance = None,
    seed: Annotated[int, seed_option] = 0,
    scale: Annotated[
        ScoreScale,
        typer.Option(help="Unit of scores; elo: 400 for odds of 10 to 1, mean 1500."),
    ] = ScoreScale.utility,
    anchor: Annotated[
        str | None,
        typer.Option(metavar="ARM=S", help="An arm, and the score it shall have."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="ARM", help="Also say how far all arms are from this one."
        ),
    ] = None,
    equivalent: Annotated[
        float | None,
        number_option(metavar="EPS", help="A difference from it that does not matter."),
    ] = None,
    check: Annotated[
        bool,
        flag(
            "--check",
            help="Also say in five lines whether to believe the fit: computation,"
            " an order effect, judges that differ, circles.",
        ),
    ] = False,
    everything: Annotated[bool, flag("--all", help="Print every arm of many.")] = False,
    as_json: Annotated[bool, json_flag] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Save CSV, JSON, Markdown, netCDF and figures there.",
        ),
    ] = None,
    log_likelihood: Annotated[
        bool,
        flag("--log-likelihood", help="Save that of every vote as well (large)."),
    ] = False,
    overwrite: Annotated[bool, overwrite_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Fit a posterior model to votes, and print who stands where.

    Columns: interval of ranks, utility relative to the mean with its interval,
    probability of being the best, and the votes.
    """  # fmt: skip
    from bayesduel.models.argument_checks import check_probability

    check_probability(probability)
    check_model(
        model,
        order_effect=order_effect,
        covariates=covariates,
        residual=residual,
        judge=judge,
        discrimination=discrimination,
        contest_covariate=contest_covariate or (),
        contest_scale=contest_scale,
        of_utilities={"--scale elo": scale is ScoreScale.elo, "--anchor": anchor},
    )
    refused = {"--anchor": anchor, "--check": check,
               "--log-likelihood": log_likelihood}  # fmt: skip
    by_mode = "mode" * (method is Method.mode)
    check_by(by, cluster, refused | {"--reference": reference, "--method": by_mode})
    if by_mode:
        refused["--scale elo"] = scale is ScoreScale.elo
        refuse_given(refused, "is for a fit with draws, and --method mode has none")
    check_both_orders(
        both_orders, order_effect=order_effect, discrimination=discrimination
    )
    method = method_of(method, cluster)
    by_threshold = ties is Ties.rao_kupper
    if by_threshold and (model is not Model.bradley_terry or judge is not None):
        raise option_error(
            "--ties",
            "rao-kupper is for bradley-terry without --judge",
            remedy="thurstone has a threshold of its own",
        )
    to = Reference.of(reference, equivalent)
    on = Scale(scale.value, _anchor(anchor))
    reading = vote_format(
        arms=arms, winner=winner, words=words, wins=wins, ties=tie_columns,
        weight=weight, scores=scores, soft=soft, where=where, missing=missing.value,
        decimal=decimal and decimal.value, mirrored=mirrored and mirrored.value,
        both_orders=both_orders and both_orders.value, order_known=order_known,
        judge=judge, neutral=neutral, context=context, group=by, cluster=cluster,
        contest_covariates=tuple(contest_covariate or ()),
    )  # fmt: skip
    require_file("VOTES", votes)
    from bayesduel.votes import read_table
    from bayesduel.votes.pairs import parse_pairs
    from bayesduel.votes.rankings import SUFFIXES

    frame = None if votes.suffix.lower() in SUFFIXES else read_table(votes)
    data: Any  # Votes on pairs, whole rankings, or choices out of sets.
    chosen: Any
    whole = read_whole(
        votes,
        frame,
        reading,
        {"--model": model.value * (model is not Model.bradley_terry),
         "--ties": ties.value * (ties is not Ties.modelled),
         "--method": by_mode,
         "--order-effect": order_effect, "--discrimination": discrimination,
         "--covariates": covariates, "--residual": residual},
        prior_scale,
        worst=worst,
        order=order,
        places=places,
        dry_run=dry_run,
    )  # fmt: skip
    if whole is not None:
        chosen, data = whole
        if dry_run:
            print_whole_preview(votes.name, data)
            return
    else:
        rows = parse_pairs(frame, reading)
        if dry_run:
            print_preview(rows)
            return
        read = _with_ties(rows.comparisons(), ties, votes)
        data = with_covariates(read, covariates)
        chosen = preference_model(
            model, data, prior_scale, order_effect=order_effect, residual=residual,
            rao_kupper=by_threshold, discrimination=discrimination,
            judged=both_orders is None, contest_scale=contest_scale,
        )  # fmt: skip
    arrays = chosen.arrays(data)  # Says what does not fit before a folder is made.
    _check_arms(data, {"anchor": on.anchor and on.anchor[0], "reference": reference})
    if cluster is not None:
        from bayesduel.models.fit.fit_result import density_of_pairs

        density_of_pairs(chosen, arrays)
    if out is not None:
        claim_folder(out, kind="fit", overwrite=overwrite)
    say(f"{votes.name}: {data}", quiet=quiet)
    of_chains = sampler_options(warmup, target_acceptance)
    if by is not None:
        from bayesduel.cli.votes.grouped import show_groups

        show_groups(chosen, data, probability, on, everything=everything,
                    as_json=as_json, out=out, quiet=quiet, method=method.value,
                    clustered=cluster is not None, rng_key=seed,
                    num_draws=draws, **of_chains)  # fmt: skip
        return
    if method is Method.mode:
        from bayesduel.cli.votes.modes import show_mode

        show_mode(chosen, data, probability, to, everything=everything,
                  as_json=as_json, out=out, quiet=quiet)  # fmt: skip
        return
    from bayesduel.inference import fit as fit_model

    with at_work(words_of_fit(chosen, method.value), quiet=quiet), told_later():
        found = fit_model(chosen, data, method=method.value, rng_key=seed,
                          num_draws=draws, **of_chains)  # fmt: skip
    say_remarks(found, with_doubts=as_json)
    with at_work("checking the fit", quiet=quiet):
        judged = _judged(found, check=check, as_json=as_json)
    looked_at = judged if check else None
    clusters = None if cluster is None else "cluster"
    from bayesduel.cli.votes.saved_fits import as_record, print_standings, save_fit

    record = as_record(found, probability, on, looked_at, to, clusters)
    if as_json:
        print_json(record | {"report": str(judged).splitlines()})
    else:
        screen = console()
        print_standings(screen, repr(found), record, everything=everything)
        if looked_at is not None:
            screen.print(
                looked_at.short(), markup=False, highlight=False, soft_wrap=True
            )
        elif judged is not None and not judged.good:
            say_warning(judged.against())
    if out is not None:
        save_fit(found, record, out, on, looked_at,
                 log_likelihood=log_likelihood, quiet=quiet)  # fmt: skip


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


def _check_arms(data: Any, named: dict[str, str | None]) -> None:
    """Raise where an option names an arm that the votes do not."""
    from bayesduel.votes.checks import arm_positions

    for option, arm in named.items():
        if arm is not None:
            arm_positions(option, [arm], data.arm_names)


def _with_ties(data: Comparisons, ties: Ties, votes: Path) -> Comparisons:
    """Return the votes, of which there must be some, with what becomes of ties."""
    if not data.num_votes:
        raise option_error("VOTES", f"{votes} holds no vote", votes)
    if data.has_ties and ties is Ties.dropped:
        return data.without_ties()
    if data.has_ties and ties is Ties.halved:
        return data.with_split_ties()
    return data


def _judged(found: Fit, *, check: bool, as_json: bool) -> Report | None:
    """Look at the fit, where there is something to look at."""
    if found.method == "exact" and not (check or as_json):
        return None
    from bayesduel.diagnostics import report

    return report(found, with_loo=check, with_votes=check)
