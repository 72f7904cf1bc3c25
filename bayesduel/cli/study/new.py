"""``bayesduel study new``: who is compared, and who asks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import (
    flag,
    integer_option,
    number_option,
    quiet_flag,
    seed_option,
)
from bayesduel.cli.output import say
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.study.options import By, File
from bayesduel.cli.votes.options import Model

__all__ = ["new"]


class BothOrders(StrEnum):
    """What two answers are that contradict each other."""

    tie = "tie"
    nothing = "nothing"


class Stop(StrEnum):
    """Rules that may end the asking."""

    anytime = "anytime"
    posterior = "posterior"
    judges = "judges"


def new(
    file: File,
    arms: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Names between commas.")
    ] = None,
    arms_file: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Or a name a line.")
    ] = None,
    choose_from: Annotated[
        int,
        integer_option(
            metavar="N",
            least=2,
            help="Arms shown at once: of more than two, judges name the best.",
        ),
    ] = 2,
    worst: Annotated[
        bool, flag("--worst", help="Of a set judges name the worst, too.")
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--policy",
            metavar="NAME",
            help="What asks: a policy (see: bayesduel list policies; one of your own"
            " from the current folder as module:Class), information, or balanced; of"
            " sets d-ts, logit-ts or balanced. By default d-ts+, or d-ts.",
        ),
    ] = None,
    model: Annotated[
        Model | None,
        typer.Option(
            help="A Beta per pair (the default), or one scale of utilities; left out "
            "for sets."
        ),
    ] = None,
    delta: Annotated[
        float, number_option(metavar="D", help="Error that is accepted.")
    ] = 0.05,
    width: Annotated[
        float,
        number_option(metavar="W", help="Pairs so near 1/2 need not be told apart."),
    ] = 0.0,
    budget: Annotated[
        int | None, integer_option(metavar="N", least=1, help="Votes at most.")
    ] = None,
    floor: Annotated[
        int, integer_option(metavar="N", least=0, help="Votes of every pair first.")
    ] = 0,
    lease: Annotated[
        float,
        number_option(metavar="S", help="Seconds until a question is asked again."),
    ] = 3600.0,
    block: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="A pair never to be asked; repeatable."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="ARMS",
            help="CSV or TSV with a row per arm: its name, and numbers of about unit"
            " size. Utilities are then a weighted sum of these, in place of --model.",
        ),
    ] = None,
    both_orders: Annotated[
        BothOrders | None,
        typer.Option(
            help="Ask each question in both orders, as one vote; a contradiction is a "
            "tie, or no vote."
        ),
    ] = None,
    gold_share: Annotated[
        float, number_option(metavar="P", help="Share of questions from study gold.")
    ] = 0.1,
    gold_threshold: Annotated[
        float,
        number_option(metavar="P", help="Who has fewer of them right is set aside."),
    ] = 0.7,
    gold_least: Annotated[
        int, integer_option(metavar="N", least=1, help="Once they answered so many.")
    ] = 5,
    quickest: Annotated[
        float,
        number_option(metavar="S", help="Seconds; less is too fast to read."),
    ] = 1.0,
    cost: Annotated[
        float | None, number_option(metavar="C", help="What answers may cost in all.")
    ] = None,
    price: Annotated[
        float, number_option(metavar="C", help="Of an answer; see study judge, too.")
    ] = 0.0,
    arm_price: Annotated[
        list[str] | None,
        typer.Option(metavar="A=C", help="Of showing an arm; repeatable."),
    ] = None,
    stop_when: Annotated[
        list[Stop] | None,
        typer.Option(help="Ask no more once this rule, and each other named, stops."),
    ] = None,
    contexts: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A prompt a line: each question draws one."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="CSV or JSON lines with arm, context and text: arms and contexts.",
        ),
    ] = None,
    by: By = None,
    seed: Annotated[int, seed_option] = 0,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Make a study: one file, which holds everything that is asked and answered."""
    from bayesduel.models import LinearUtilities
    from bayesduel.studies import Items, Judging, Spending, Study
    from bayesduel.votes import read_covariates

    known_items = None if items is None else Items(items)
    if known_items is not None:
        if arms is not None or arms_file is not None or contexts is not None:
            remedy = "leave out the others"
            raise option_error("--items", "has arms and contexts", items, remedy=remedy)
        names, pool = list(known_items.arms), list(known_items.contexts)
    else:
        names = _names(arms, arms_file)
        pool = [] if contexts is None else _lines(contexts)
    blocked = [_pair(text) for text in block or ()]
    known = None
    if features is not None:
        known = LinearUtilities(read_covariates(features, names)[0])
    with Study.create(
        file,
        names,
        policy,
        model=known or (None if model is None else model.value),
        delta=delta,
        width=width,
        budget=budget,
        seed=seed,
        floor=floor,
        lease=lease,
        blocked=blocked,
        judging=Judging(
            both_orders=None if both_orders is None else both_orders.value,
            gold_share=gold_share,
            gold_threshold=gold_threshold,
            gold_least=gold_least,
            quickest=quickest,
        ),
        spending=Spending(
            cost=cost, price=price, arm_prices=dict(map(_priced, arm_price or ()))
        ),
        stop_when=[rule.value for rule in stop_when or ()],
        contexts=pool,
        choose_from=choose_from,
        worst=worst,
        by=by,
    ) as made:
        asks = made.policy
    say(f"made {file}: {len(names)} arms; {asks} asks", quiet=quiet)


def _names(arms: str | None, arms_file: Path | None) -> list[str]:
    if (arms is None) == (arms_file is None):
        raise option_error(
            "--arms",
            "needs names between commas, or --arms-file, not both",
            remedy="give one of them",
        )
    if arms is not None:
        return names_of(arms, "--arms")
    return _lines(arms_file or Path())


def _lines(path: Path) -> list[str]:
    """Return the lines of a file that are not empty."""
    from bayesduel.errors import StudyError
    from bayesduel.files.user_files import read_text

    lines = read_text(path, error=StudyError).splitlines()
    return [line.strip() for line in lines if line.strip()]


def _priced(text: str) -> tuple[str, float]:
    name, sign, price = text.rpartition("=")
    try:
        if sign:
            return name, float(price)
    except ValueError:
        pass
    raise option_error("--arm-price", "must be NAME=NUMBER", text)


def _pair(text: str) -> tuple[str, str]:
    names = names_of(text, "--block")
    if len(names) != 2:
        raise option_error("--block", "must be two names between commas", text)
    return names[0], names[1]
