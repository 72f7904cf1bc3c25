"""Which model the options of a command stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bayesduel.cli.errors import option_error, refuse_given
from bayesduel.cli.options import integer_option, number_option
from bayesduel.cli.votes.options import Contradiction, Model

if TYPE_CHECKING:
    from bayesduel.votes import Comparisons


Warmup = Annotated[
    int | None,
    integer_option(
        metavar="N", least=1, help="nuts: steps of adaptation; default 1000."
    ),
]
TargetAcceptance = Annotated[
    float | None,
    number_option(
        metavar="A",
        help="nuts: acceptance that step sizes aim at, default 0.9; nearer to 1"
        " against divergences.",
    ),
]


def sampler_options(
    warmup: int | None, target_acceptance: float | None
) -> dict[str, Any]:
    """Return what was asked of Markov chains, as arguments of ``fit``."""
    given = {"num_warmup": warmup, "target_acceptance": target_acceptance}
    return {name: value for name, value in given.items() if value is not None}


def words_of_fit(model: Any, method: str) -> str:
    """Return what takes the time while a model is fitted."""
    name = model.usual_method if method == "auto" else method
    return "drawing by Markov chains" if name == "nuts" else f"fitting by {name}"


@contextmanager
def at_work(words: str, *, quiet: bool) -> Iterator[None]:
    """Say while a block runs what takes the time."""
    from bayesduel.experiments.progress import progress_reporter

    with progress_reporter(enabled=not quiet) as bar:
        bar.expect(1)
        bar.count(words, 0)
        yield


def check_model(
    model: Model,
    *,
    order_effect: bool,
    covariates: Path | None = None,
    residual: bool = False,
    judge: str | None = None,
    discrimination: bool = False,
    contest_covariate: Sequence[str] = (),
    contest_scale: float | None = None,
    of_utilities: Mapping[str, Any] | None = None,
) -> None:
    """Refuse options of a model that do not go together, before a file is read."""
    of_scales = {"--order-effect": order_effect, "--covariates": covariates,
                 "--contest-covariate": contest_covariate,
                 **(of_utilities or {})}  # fmt: skip
    if model is Model.beta:
        remedy = "choose bradley-terry or thurstone"
        refuse_given(of_scales, "a Beta per pair has none", remedy)
    if judge is not None and model is not Model.bradley_terry:
        raise option_error(
            "--judge", f"{model.value} has none", remedy="choose bradley-terry"
        )
    if residual and covariates is None:
        raise option_error(
            "--residual", "is what --covariates leave open", remedy="name a file"
        )
    twice = [name for name in contest_covariate if contest_covariate.count(name) > 1]
    if twice:
        raise option_error("--contest-covariate", "must be different columns", twice[0])
    if contest_scale is not None and not contest_covariate:
        raise option_error(
            "--contest-scale",
            "is that of a --contest-covariate",
            remedy="name a column",
        )
    if discrimination and judge is None:
        raise option_error(
            "--discrimination", "is one of judges", remedy="name their column: --judge"
        )


def check_both_orders(
    both_orders: Contradiction | None, *, order_effect: bool, discrimination: bool
) -> None:
    """Refuse what is about the order of votes that have none any more."""
    refused = {"--order-effect": order_effect, "--discrimination": discrimination}
    if both_orders is not None:
        rule = "is for votes in one order, and --both-orders makes one of two"
        refuse_given(refused, rule)


def preference_model(
    model: Model,
    data: Comparisons,
    prior: float | None,
    *,
    order_effect: bool,
    residual: bool = False,
    rao_kupper: bool = False,
    discrimination: bool = False,
    judged: bool = True,
    contest_scale: float | None = None,
) -> Any:
    """Return the model that was asked for, with what the data have: ties, covariates.

    The scale of a residual is learned: it must not drown what covariates tell.
    """
    from bayesduel.models import (
        BradleyTerry,
        JudgedBradleyTerry,
        PairwiseBeta,
        RaoKupper,
        Thurstone,
    )

    if model is Model.beta:
        return PairwiseBeta(prior=1.0 if prior is None else prior, ties=data.has_ties)
    kind = BradleyTerry if model is Model.bradley_terry else Thurstone
    if rao_kupper and data.has_ties:
        kind = RaoKupper
    own: dict[str, Any] = {}
    if judged and "judge" in data.columns:
        kind, order_effect = JudgedBradleyTerry, True
        own = {"discrimination": discrimination}
    explained = bool(data.covariate_names)
    scales: dict[str, Any] = {} if prior is None else {"prior_scale": prior}
    if explained and not residual and prior is not None:
        scales = {"covariate_scale": prior}
    if contest_scale is not None:
        scales["contest_scale"] = contest_scale
    return kind(
        zero_sum=True,
        ties=data.has_ties,
        order_effect=order_effect,
        covariates=explained,
        contest_covariates=bool(data.contest_covariates),
        residual=residual,
        learn_scale=residual,
        **scales,
        **own,
    )
