"""Fits of Bradley-Terry, with a plain Newton method in NumPy as the unit.

Whole fits, with draws, are beside the mode alone, by L-BFGS of SciPy.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse.linalg import cg
from scipy.special import expit, log_expit

from bayesduel import next_pairs
from bayesduel.inference import fit, fit_mode
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons, read_comparisons

from .timing import report, time_call

SIZES = ((20, 190), (129, 3_460), (2_000, 20_000))
"""Arms and pairs: an experiment, a leaderboard, a large catalog."""


WHOLE = ((100, 100_000, 0), (200, 200_000, 0), (1_000, 10**6, 20), (1_000, 10**6, 0))
"""Arms and votes, and how many others each arm met; 0: random pairs of all."""


def world(num_arms: int, num_pairs: int) -> Comparisons:
    """Draw votes on random pairs of a Bradley-Terry world."""
    rng = np.random.default_rng(num_arms)
    row, column = np.triu_indices(num_arms, 1)
    chosen = rng.choice(len(row), num_pairs, replace=False)
    row, column = row[chosen], column[chosen]
    utility = rng.normal(size=num_arms)
    total = rng.integers(1, 200, num_pairs)
    won = rng.binomial(total, expit(utility[row] - utility[column]))
    counts = np.stack([won, total - won, np.zeros(num_pairs)], axis=1)
    names = [str(arm) for arm in range(num_arms)]
    return Comparisons.from_rows(names, row, column, counts)


def plain_newton(wins: np.ndarray, variance: float = 4.0) -> np.ndarray:
    """Find the same mode, on a table of wins, by full Newton steps."""
    total = wins + wins.T
    utility = np.zeros(len(wins))
    for _ in range(50):
        probability = expit(utility[:, None] - utility[None, :])
        gradient = (wins - total * probability).sum(axis=1) - utility / variance
        weight = total * probability * (1.0 - probability)
        precision = np.diag(weight.sum(axis=1) + 1.0 / variance) - weight
        step = cho_solve(cho_factor(precision), gradient)
        utility = utility + step
        if np.abs(step).max() < 1e-9:
            break
    return utility


def votes_of(num_arms: int, num_votes: int, met: int) -> Comparisons:
    """Draw single votes of a Bradley-Terry world with normal utilities."""
    rng = np.random.default_rng(0)
    utility = rng.normal(size=num_arms)
    one = rng.integers(num_arms, size=num_votes)
    other = (one + rng.integers(1, num_arms, size=num_votes)) % num_arms
    if met:
        circles = [rng.permutation(num_arms) for _ in range(met // 2)]
        beside = [np.stack([each, np.roll(each, 1)], axis=1) for each in circles]
        one, other = rng.choice(np.concatenate(beside), num_votes).T
    won = rng.random(num_votes) < expit(utility[one] - utility[other])
    pair = np.minimum(one, other) * num_arms + np.maximum(one, other)
    pairs, row = np.unique(pair, return_inverse=True)
    of_first = won == (one < other)
    counts = [np.bincount(row, each) for each in (of_first, ~of_first)]
    table = np.stack([*counts, np.zeros(len(pairs))], axis=1)
    names = [str(arm) for arm in range(num_arms)]
    return Comparisons.from_rows(names, *np.divmod(pairs, num_arms), table)


def lbfgs_mode(votes: Comparisons, variance: float = 4.0) -> np.ndarray:
    """Find the mode by SciPy's L-BFGS, on rows."""
    first, second, num_arms = votes.first, votes.second, votes.num_arms
    won, lost = votes.counts[:, 0], votes.counts[:, 1]

    def fall(utility: np.ndarray) -> tuple[float, np.ndarray]:
        apart = utility[first] - utility[second]
        logs = log_expit(apart)
        slope = won - (won + lost) * np.exp(logs)
        gradient = np.bincount(first, slope, num_arms)
        gradient -= np.bincount(second, slope, num_arms)
        height = (won + lost) @ logs - lost @ apart
        height -= 0.5 * utility @ utility / variance
        return -height, utility / variance - gradient

    exact = {"ftol": 0.0, "gtol": 1e-4}
    start = np.zeros(num_arms)
    return minimize(fall, start, jac=True, method="L-BFGS-B", options=exact).x


def whole_fits() -> list[dict[str, object]]:
    """Time fits with draws, compilation and imports included, and their memory."""
    rows: list[dict[str, object]] = []
    for num_arms, num_votes, met in WHOLE:
        votes = votes_of(num_arms, num_votes, met)
        began = time.process_time()
        posterior = fit(BradleyTerry(zero_sum=True), votes)
        seconds = time.process_time() - began
        assert posterior.correction is not None and posterior.correction.trusted
        began = time.process_time()
        mode = lbfgs_mode(votes)
        of_peer = time.process_time() - began
        utility = posterior.flat_draws()["utility"]
        nearly = np.abs(utility.mean(axis=0) - (mode - mode.mean()))
        assert np.all(nearly < utility.std(axis=0))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows.append(
            {
                "arms": num_arms,
                "votes": num_votes,
                "pairs": len(votes.counts),
                "seconds": seconds,
                "L-BFGS, the mode alone": of_peer,
                "Pareto k": posterior.correction.pareto_k,
                "peak so far, MB": peak / (1e6 if sys.platform == "darwin" else 1024),
            }
        )
    return rows


MANY_ARMS, MANY_VOTES, QUESTIONS = 30_000, 500_000, 1_000


def many_arms() -> list[dict[str, object]]:
    """Time all that one does with votes on 30,000 arms, from the file on.

    Beside L-BFGS, and variances of some arms by a system of equations for each.
    """
    rng, names = np.random.default_rng(0), np.arange(MANY_ARMS).astype(str)
    utility = rng.normal(size=MANY_ARMS)
    one = rng.integers(MANY_ARMS, size=MANY_VOTES)
    other = (one + rng.integers(1, MANY_ARMS, size=MANY_VOTES)) % MANY_ARMS
    won = rng.random(MANY_VOTES) < expit(utility[one] - utility[other])
    columns = {"first": names[one], "second": names[other]}
    columns["winner"] = names[np.where(won, one, other)]
    rows: list[dict[str, object]] = []

    def timed(title: str, call: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = call()
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak /= 1e6 if sys.platform == "darwin" else 1024
        rows.append({"30,000 arms": title, "seconds": seconds, "peak so far, MB": peak})
        return result

    with TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        pd.DataFrame(columns).to_csv(path, index=False)
        votes = timed("read a CSV file", lambda: read_comparisons(path))
    found = timed("mode", lambda: fit_mode(BradleyTerry(zero_sum=True), votes))
    table = timed("standard errors of all", found.standings)
    timed(f"next {QUESTIONS:,} pairs", lambda: next_pairs(found, n=QUESTIONS))
    mode = timed("L-BFGS, the mode alone", lambda: lbfgs_mode(votes))
    assert np.abs(found.utility - (mode - mode.mean())).max() < 0.01

    def solved(arm: int) -> float:
        way = (np.arange(MANY_ARMS) == arm) - 1.0 / MANY_ARMS
        return np.sqrt(way @ cg(found.precision, way, rtol=1e-6)[0])

    some = rng.choice(MANY_ARMS, 20, replace=False)
    exact = timed("SciPy's cg, errors of 20 arms", lambda: [*map(solved, some)])
    told = table.sel(arm=[votes.arm_names[arm] for arm in some])
    assert np.all(np.abs(told["error"] - exact) < 6.0 * told["mcse"])
    return rows


def main() -> None:
    """Print processor time per fit, compilation excluded, and of whole fits."""
    report("Votes on many arms", many_arms())
    report("Whole fits, draws and intervals included", whole_fits())
    rows: list[dict[str, object]] = []
    for num_arms, num_pairs in SIZES:
        votes = world(num_arms, num_pairs)
        plain = time_call(lambda wins=votes.wins: plain_newton(wins))
        for title, model in (
            ("independent", BradleyTerry()),
            ("zero-sum", BradleyTerry(zero_sum=True)),
        ):
            density = model.closed_form(model.arrays(votes))
            assert density is not None
            seconds = time_call(density.laplace)
            rows.append(
                {
                    "arms": num_arms,
                    "pairs": num_pairs,
                    "prior": title,
                    "milliseconds": 1e3 * seconds,
                    "times plain NumPy": seconds / plain,
                }
            )
    report("Laplace fits of Bradley-Terry", rows)
    report("NUTS, 4 chains of 1,000 draws", [nuts_row()])


def nuts_row() -> dict[str, object]:
    """Time the reference on a leaderboard, the second of two fits."""
    num_arms, num_pairs = SIZES[1]
    votes = world(num_arms, num_pairs)
    plain = time_call(lambda: plain_newton(votes.wins))
    seconds = 0.0
    for seed in range(2):
        began = time.process_time()
        fit(BradleyTerry(zero_sum=True), votes, method="nuts", rng_key=seed)
        seconds = time.process_time() - began
    return {
        "arms": num_arms,
        "pairs": num_pairs,
        "seconds": seconds,
        "times plain NumPy": seconds / plain,
    }
