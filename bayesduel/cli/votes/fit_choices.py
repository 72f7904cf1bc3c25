"""``bayesduel fit-choices``: what attributes are worth, from a file of choices."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import (
    flag,
    json_flag,
    number_option,
    overwrite_flag,
    quiet_flag,
    seed_option,
)
from bayesduel.cli.output import console, print_json, say, say_remarks
from bayesduel.cli.parse import claim_folder
from bayesduel.cli.votes.chosen_models import (
    TargetAcceptance,
    Warmup,
    at_work,
    sampler_options,
    words_of_fit,
)
from bayesduel.cli.votes.options import (
    Draws,
    DryRun,
    Interval,
    Long,
    Method,
    Where,
    names_between,
    require_file,
)

if TYPE_CHECKING:
    from bayesduel.votes import Choices


class ChoiceModel(StrEnum):
    """What is assumed of the persons."""

    conditional = "conditional"
    mixed = "mixed"


def fit_choices(
    choices: Annotated[
        Path,
        typer.Argument(
            metavar="CHOICES",
            help="CSV, TSV, JSON or JSON lines, perhaps .gz: a choice a row, with a"
            " column per alternative for each attribute; or --long.",
        ),
    ],
    attributes: Annotated[
        str,
        typer.Option(
            metavar="A,...",
            help="price reads price1, price_2 ..., or bus_price; or name the columns:"
            " wait=wait_bus|wait_car, an empty one is 0. Words become 0 and 1.",
        ),
    ],
    choice: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Column of the chosen alternative."),
    ] = "choice",
    alternatives: Annotated[
        str | None,
        typer.Option(
            metavar="A,...", help="Default: all with a column for each attribute."
        ),
    ] = None,
    long: Long = None,
    available: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="1 where an alternative was on offer; named as an attribute is.",
        ),
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of who chose.")
    ] = None,
    none: Annotated[
        str | None,
        typer.Option(metavar="WORD", help='What stands for "none of them".'),
    ] = None,
    where: Where = None,
    dry_run: DryRun = False,
    model: Annotated[
        ChoiceModel,
        typer.Option(help="One coefficient for all, or one for each person."),
    ] = ChoiceModel.conditional,
    constants: Annotated[
        bool,
        flag("--constants", help="Each alternative but the first has a constant."),
    ] = False,
    random: Annotated[
        str | None,
        typer.Option(
            metavar="A,...", help="mixed: the coefficients that differ; default: all."
        ),
    ] = None,
    prior_scale: Annotated[
        float,
        number_option(
            metavar="S",
            help="Standard deviation of coefficients, in units of the spread of their"
            " attributes; the default is as good as flat.",
        ),
    ] = 100.0,
    method: Annotated[
        Method, typer.Option(help="auto: laplace for conditional, nuts for mixed.")
    ] = Method.auto,
    probability: Interval = 0.9,
    draws: Draws = 1000,
    warmup: Warmup = None,
    target_acceptance: TargetAcceptance = None,
    seed: Annotated[int, seed_option] = 0,
    as_json: Annotated[bool, json_flag] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save CSV, JSON, netCDF and a figure there."),
    ] = None,
    overwrite: Annotated[bool, overwrite_flag] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Fit a logit to choices, and print what each attribute is worth.

    Columns: estimate and standard error at the mode, which are those of maximum
    likelihood where the prior is wide; mean and interval of the posterior.
    """  # fmt: skip
    from bayesduel.models.argument_checks import check_probability

    check_probability(probability)
    if random is not None and model is not ChoiceModel.mixed:
        raise option_error(
            "--random", "is for --model mixed", remedy="there coefficients differ"
        )
    data = _read(choices, attributes, choice, alternatives, long, available, person,
                 none, where or [])  # fmt: skip
    if dry_run:
        from bayesduel.cli.votes.preview import print_choice_preview

        print_choice_preview(choices.name, data)
        return
    from bayesduel.inference import fit as fit_model
    from bayesduel.models import ConditionalLogit, MixedLogit

    chosen: Any = ConditionalLogit(constants=constants, prior_scale=prior_scale)
    if model is ChoiceModel.mixed:
        varying = None if random is None else names_between("--random", random, None)
        chosen = MixedLogit(
            constants=constants, prior_scale=prior_scale, random=varying
        )
    chosen.arrays(data)  # Says what does not fit before a folder is made.
    if out is not None:
        claim_folder(out, kind="fit", overwrite=overwrite)
    say(f"{choices.name}: {data}", quiet=quiet)
    of_chains = sampler_options(warmup, target_acceptance)
    with at_work(words_of_fit(chosen, method.value), quiet=quiet):
        found = fit_model(chosen, data, method=method.value, rng_key=seed,
                          num_draws=draws, **of_chains)  # fmt: skip
    say_remarks(found)
    from bayesduel.cli.votes.saved_choices import (
        choice_record,
        print_coefficients,
        save_choices,
    )

    record = choice_record(found, probability)
    if as_json:
        print_json(record)
    else:
        print_coefficients(console(), record)
    if out is not None:
        save_choices(found, record, out, probability, quiet=quiet)


def _read(
    path: Path,
    attributes: str,
    choice: str,
    alternatives: str | None,
    long: str | None,
    available: str | None,
    person: str | None,
    none: str | None,
    where: list[str],
) -> Choices:
    """Read a table of either shape, by the columns that were named."""
    require_file("CHOICES", path)
    from bayesduel.votes import read_long_choices, read_wide_choices

    names = names_between("--attributes", attributes, None) or ()
    arms = names_between("--alternatives", alternatives, None)
    if long is None:
        asked: dict[str, list[str] | None] = {}
        for entry in names:
            name, equals, titles = entry.partition("=")
            asked[name.strip()] = titles.split("|") if equals else None
        return read_wide_choices(
            path, choice=choice, attributes=asked, alternatives=arms,
            available=available, person=person, none=none, where=where,
        )  # fmt: skip
    if choice != "choice":
        rule = "is for a choice a row, and --long names the column of what was chosen"
        raise option_error("--choice", rule, choice)
    case, alternative, chosen = names_between("--long", long, 3) or ("", "", "")
    return read_long_choices(
        path, case=case, alternative=alternative, chosen=chosen, attributes=names,
        arm_names=arms, available=available, person=person, none=none, where=where,
    )  # fmt: skip
