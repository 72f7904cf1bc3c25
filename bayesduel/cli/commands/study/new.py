"""``bayesduel study new``: who is compared, and who asks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bayesduel.cli.options import SEED, command, option
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import EditedStudy
from bayesduel.cli.voting import Contradiction, Model

Stop = Literal["anytime", "posterior", "judges"]

_PANELS = {
    "Options": "arms arms_file policy budget delta stop_when choose_from items "
    "both_orders model",
    "Which questions": "worst floor block lease contexts features width seed",
    "Judges": "gold_share gold_threshold gold_least quickest",
    "Costs": "cost price arm_price",
    "Output": "by quiet",
}


@command("study new drinks.study --arms tea,coffee,milk --budget 300", _PANELS)
def new(
    *,
    edited: EditedStudy,
    arms: str | None = option("A,B,...: Names of the arms, separated by commas."),
    arms_file: Path | None = option("PATH: File with the name of an arm in each line."),
    choose_from: int = option(
        "N: Arms shown at once. With more than two, judges name the best.",
        default=2,
        least=2,
    ),
    worst: bool = option("With --choose-from: judges also name the worst."),
    policy: str | None = option(
        "NAME: Rule that chooses the questions: a policy (names: bayesduel list "
        "policies; your own: module:Class), information or balanced. Default: d-ts+. "
        "With --choose-from: d-ts (default), logit-ts or balanced.",
        "-p",
        "--policy",
    ),
    model: Model | None = option(
        "Model of the votes: each pair by itself (beta, default), or one scale."
    ),
    delta: float = option(
        "D: Accepted probability of naming a wrong arm.", default=0.05
    ),
    width: float = option("W: Pairs this close to 1/2 count as tied.", default=0.0),
    budget: int | None = option("N: Largest number of votes.", least=1),
    floor: int = option("N: Ask every pair this often first.", default=0, least=0),
    lease: float = option(
        "S: Seconds after which an unanswered question is asked again.", default=3600.0
    ),
    block: list[str] | None = option("A,B: Never ask this pair. Repeatable."),
    features: Path | None = option(
        "ARMS: CSV or TSV with a row per arm: its name, and features of about unit "
        "size. Utilities are then a weighted sum of features, in place of --model."
    ),
    both_orders: Contradiction | None = option(
        "Ask each pair in both orders, as one vote. If the answers contradict each "
        "other: a tie, or no vote."
    ),
    gold_share: float = option(
        "P: Share of gold questions (see: study gold).", default=0.1
    ),
    gold_threshold: float = option(
        "P: Ignore the votes of judges with a smaller share of right gold answers.",
        default=0.7,
    ),
    gold_least: int = option("N: Gold answers before that.", default=5, least=1),
    quickest: float = option("S: Report faster answers as too fast.", default=1.0),
    cost: float | None = option("C: Budget: largest total price of the answers."),
    price: float = option(
        "C: Price of an answer (of one judge: study judge).", default=0.0
    ),
    arm_price: list[str] | None = option("A=C: Price of showing an arm. Repeatable."),
    stop_when: list[Stop] | None = option(
        "Stop asking once this rule holds. Repeatable: once all of them hold."
    ),
    contexts: Path | None = option(
        "PATH: File with a prompt per line; each question draws one."
    ),
    items: Path | None = option(
        "PATH: Texts to compare: CSV or JSON lines with arm, context and text."
    ),
    seed: int = SEED,
) -> None:
    """Make a study: one file, which holds everything that is asked and answered."""
    from bayesduel.models import LinearUtilities
    from bayesduel.studies import Items, Judging, Spending, Study
    from bayesduel.votes import read_covariates

    if items is not None:
        known = Items(items)
        if arms is not None or arms_file is not None or contexts is not None:
            remedy = "leave out the others"
            raise option_error("--items", "has arms and contexts", items, remedy=remedy)
        names, pool = list(known.arms), list(known.contexts)
    else:
        if (arms is None) == (arms_file is None):
            rule = "needs names between commas, or --arms-file, not both"
            raise option_error("--arms", rule, remedy="give one of them")
        named = None if arms is None else names_of(arms, "--arms")
        names = named if arms_file is None else _lines(arms_file)
        names, pool = names or [], [] if contexts is None else _lines(contexts)
    blocked = []
    for text in block or ():
        pair = names_of(text, "--block")
        if len(pair) != 2:
            raise option_error("--block", "must be two names between commas", text)
        blocked.append((pair[0], pair[1]))
    linear = None
    if features is not None:
        linear = LinearUtilities(read_covariates(features, names)[0])
    with Study.create(
        edited.file,
        names,
        policy,
        model=linear or (model),
        delta=delta,
        width=width,
        budget=budget,
        seed=seed,
        floor=floor,
        lease=lease,
        blocked=blocked,
        judging=Judging(
            both_orders=both_orders,
            gold_share=gold_share,
            gold_threshold=gold_threshold,
            gold_least=gold_least,
            quickest=quickest,
        ),
        spending=Spending(
            cost=cost, price=price, arm_prices=dict(map(_priced, arm_price or ()))
        ),
        stop_when=stop_when or (),
        contexts=pool,
        choose_from=choose_from,
        worst=worst,
        by=edited.by,
    ) as study:
        edited.say(f"made {edited.file}: {len(names)} arms; {study.policy} asks")


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
