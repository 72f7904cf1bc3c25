"""Do fits find the truth? Bias, and how often intervals of 90 % hold it, per model.

Truths are drawn from the prior, votes from the model given them, on pairs (or sets, or
ballots) at random. Then an interval of 90 % holds the truth with a probability of 90 %
if the fit is right. Prints the rows of `docs/models/recovery.md`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference import fit
from bayesduel.models import (
    BradleyTerry,
    JudgedBradleyTerry,
    MultinomialLogit,
    PairwiseBeta,
    PlackettLuce,
    RaoKupper,
    Thurstone,
)
from bayesduel.votes import Choices, Comparisons, Rankings

Truth = dict[str, np.ndarray]
SIZES = (10, 50, 200)
PER_ARM = 30
"""Votes for each arm that there is, of two arms each; a third of it of sets of four."""

_PROBABILITY = 0.9


class World(NamedTuple):
    """A model, and how truths and votes come about."""

    name: str
    model: Any
    draw: Callable[[Any, int, np.random.Generator], tuple[Truth, Any]]
    sizes: tuple[int, ...] = SIZES
    arms: int = 1000
    """Arms of all data sets of one size together: how exact a row is."""

    method: str = "laplace"
    num_draws: int = 250


def pairwise(
    model: Any, num_arms: int, rng: np.random.Generator
) -> tuple[Truth, Comparisons]:
    """Draw a truth from the prior of a model of utilities, and single votes."""
    number = PER_ARM * num_arms
    judges, columns = 0, {}
    if isinstance(model, JudgedBradleyTerry):
        # No judge sees a pair twice in one order: all data sets have as many rows, and
        # one compiled program serves them all.
        judges = num_arms
        cells = rng.choice(judges * num_arms * (num_arms - 1), number, replace=False)
        columns = {"judge": cells % judges}
        cells //= judges
        first, step = cells // (num_arms - 1), 1 + cells % (num_arms - 1)
    else:
        first = rng.integers(num_arms, size=number)
        step = rng.integers(1, num_arms, size=number)
    second = (first + step) % num_arms
    utility = model.prior_scale * rng.normal(size=num_arms)
    truth: Truth = {"utility": utility - utility.mean()}
    gap = utility[first] - utility[second]
    if model.order_effect:
        truth["first_advantage"] = model.order_scale * rng.normal(size=1)
        gap = gap + truth["first_advantage"]
    if judges:
        truth["judge_spread"] = model.spread_scale * np.abs(rng.normal(size=1))
        truth["judge_bias"] = truth["judge_spread"] * rng.normal(size=judges)
        gap = gap + truth["judge_bias"][columns["judge"]]
    if model.contest_covariates:
        truth["contest_effect"] = model.contest_scale * rng.normal(size=1)
        columns = {"longer": rng.normal(size=number)}
        gap = gap + truth["contest_effect"] * columns["longer"]
    tie = np.zeros(1)
    if model.ties:
        tie = truth[model.tie_name] = model.tie_scale * rng.normal(size=1)
    logs = model.outcome_logs(gap, np.broadcast_to(tie, gap.shape))
    bounds = np.cumsum(np.exp(logs), axis=0)[:-1]
    outcome = (rng.random(number) > bounds).sum(axis=0)
    names = [str(arm) for arm in range(num_arms)]
    votes = Comparisons.from_rows(
        names,
        first,
        second,
        np.eye(3)[outcome],
        order_known=True,
        columns=columns,
        contest_covariates=["longer"] if model.contest_covariates else (),
    )
    return truth, votes


def beta(
    model: PairwiseBeta, num_arms: int, rng: np.random.Generator
) -> tuple[Truth, Comparisons]:
    """Draw a probability for each pair, and ten votes of it."""
    upper = np.triu_indices(num_arms, 1)
    probability = rng.beta(model.prior, model.prior, size=len(upper[0]))
    wins = np.zeros((num_arms, num_arms))
    wins[upper] = rng.binomial(10, probability)
    wins.T[upper] = 10 - wins[upper]
    return {"preference": probability}, Comparisons.from_wins(wins)


def _gumbels(utility: np.ndarray, number: int, rng: np.random.Generator) -> Any:
    sets = [rng.permutation(len(utility))[:4] for _ in range(number)]
    return [each[np.argsort(-utility[each] - rng.gumbel(size=4))] for each in sets]


def sets_of_four(
    model: Any, num_arms: int, rng: np.random.Generator
) -> tuple[Truth, Any]:
    """Draw utilities, and what is chosen among four arms, or how four are ranked."""
    utility = model.prior_scale * rng.normal(size=num_arms)
    names = [f"{arm:03d}" for arm in range(num_arms)]
    orders = [
        [names[arm] for arm in each]
        for each in _gumbels(utility, PER_ARM * num_arms // 3, rng)
    ]
    truth = {"utility": utility - utility.mean()}
    if isinstance(model, PlackettLuce):
        return truth, Rankings.from_orders(orders, arm_names=names)
    chosen = [each[0] for each in orders]
    return truth, Choices.from_subsets(orders, chosen, arm_names=names)


_SCALE: dict[str, Any] = {"prior_scale": 1.0, "zero_sum": True}
_TIES: dict[str, Any] = _SCALE | {"ties": True, "tie_scale": 0.5}
_ORDER: dict[str, Any] = {"order_effect": True, "order_scale": 0.5}

WORLDS = (
    World("Bradley-Terry", BradleyTerry(**_SCALE), pairwise),
    World("Bradley-Terry, order", BradleyTerry(**_SCALE, **_ORDER), pairwise),
    World(
        "Bradley-Terry, covariate of the contest",
        BradleyTerry(**_SCALE, contest_covariates=True, contest_scale=0.5),
        pairwise,
    ),
    World(
        "Bradley-Terry, judges",
        JudgedBradleyTerry(**_SCALE, order_scale=0.5, spread_scale=0.5),
        pairwise,
        (10,),
        arms=300,
        method="nuts",
        num_draws=500,
    ),
    World("Bradley-Terry, ties (Davidson)", BradleyTerry(**_TIES), pairwise),
    World("Rao-Kupper", RaoKupper(**_TIES), pairwise),
    World("Thurstone", Thurstone(**_SCALE), pairwise),
    World("Multinomial logit", MultinomialLogit(**_SCALE), sets_of_four, (10, 50)),
    World("Plackett-Luce", PlackettLuce(**_SCALE), sets_of_four, (10, 50)),
    World("Beta per pair", PairwiseBeta(), beta, arms=400, method="exact"),
)


def recovered(world: World, num_arms: int, sets: int) -> dict[str, list[Any]]:
    """Return the error, the outward error, and whether intervals held, per quantity.

    An entry for each data set: an array with an entry for each number.
    """
    found: dict[str, list[Any]] = {}
    for seed in range(sets):
        rng = np.random.default_rng([num_arms, seed, len(world.name)])
        truth, votes = world.draw(world.model, num_arms, rng)
        posterior = fit(
            world.model,
            votes,
            method=world.method,
            rng_key=seed,
            num_draws=world.num_draws,
        )
        draws = posterior.flat_draws()
        for name, true in truth.items():
            values = draws[name].reshape(len(draws[name]), -1)
            if name == "utility":
                values = values - values.mean(axis=1, keepdims=True)
            tail = (1.0 - _PROBABILITY) / 2.0
            low, high = np.quantile(values, [tail, 1.0 - tail], axis=0)
            error = values.mean(axis=0) - true
            out = error * np.sign(true - np.median(true)) if len(true) > 1 else error
            held = (low <= true) & (true <= high)
            found.setdefault(name, []).append((error, out, held))
    return found


def rows_of(world: World) -> list[str]:
    """Return the rows of a table in Markdown."""
    rows = []
    for num_arms in world.sizes:
        sets = max(world.arms // num_arms, 2)
        for name, each in recovered(world, num_arms, sets).items():
            errors, out, held = (np.stack(part) for part in zip(*each, strict=True))
            # Numbers of one data set hang together: data sets are the unit.
            shares = held.mean(axis=1)
            spread = shares.std(ddof=1) / np.sqrt(sets)
            rows.append(
                f"| {world.name} | {num_arms} | {name} | {sets} | "
                f"{np.sqrt(np.mean(errors**2)):.3f} | {out.mean():+.3f} | "
                f"{shares.mean():.1%} ± {spread:.1%} |"
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print the table."""
    for world in WORLDS:
        rows_of(world)


if __name__ == "__main__":
    main()
