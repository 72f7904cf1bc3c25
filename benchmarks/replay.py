"""Recorded votes replayed as studies: how many until the right arm is named.

``python -m benchmarks replay`` plays all of it, for an hour, and prints the tables of
``docs/how_to/studies_on_real_votes.md``. A part of it:
``python -m benchmarks.replay --data gpt4 --runs 5``. Each run draws its answers from
the votes of the pair, without replacement; a pair that has run out is asked no more.
Right is the arm that beats most others by all votes.
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.models import BradleyTerry
from bayesduel.models.fit.fitting import fit
from bayesduel.stopping import AnytimeEvidence, PosteriorProbability
from bayesduel.votes import Comparisons
from benchmarks.recorded_votes import (
    Recorded,
    most_voted,
    played,
    played_by_next_pairs,
    right_within,
)

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
DELTA, WIDTH = 0.05, 0.05
STEP = 1.05
"""The rules are asked after so many times as many votes."""

INFORMATION = "information/bradley-terry"
POLICIES = ("d-ts+", "rd-ts:cost=duels", "track-and-stop", INFORMATION, "balanced",
            "random:distinct=true")  # fmt: skip
MOST_FOR_INFORMATION = 10_000
"""Votes: a study asks for them through its file."""


def _arena(most: int, least: int) -> Recorded:
    path = SHARED / "chatbot_arena" / "arena_20240814_pairs.csv"
    title = f"Chatbot Arena, {most} models"
    return most_voted(path, title, most, least, ties=["ties", "both_bad"])


def _gpt4(most: int) -> Recorded:
    path = SHARED / "llmfao" / "gpt4-crowd-comparisons.csv"
    return most_voted(path, f"GPT-4 as the judge, {most} models", most)


DATA: dict[str, Callable[[], Recorded]] = {
    "arena-20": lambda: _arena(20, 100),
    "arena-15": lambda: _arena(15, 400),
    "gpt4": lambda: _gpt4(8),
}


class Looked(NamedTuple):
    """The answer of a stopping rule to counts."""

    stopped: bool
    answer: int


def by_posterior(wins: np.ndarray) -> Looked:
    """Look at one Beta distribution a pair."""
    found = PosteriorProbability(DELTA).evaluate(wins)
    return Looked(bool(found.stopped), int(found.answer))


def by_scale(wins: np.ndarray) -> Looked:
    """Look at a Bradley-Terry model of the votes that are no ties."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        votes = Comparisons.from_wins(wins)
        found = fit(
            BradleyTerry(),
            votes,
            rng_key=0,
            num_chains=4,
            num_draws=250,
            resample=False,
        )
    if len(found.parts) > 1:  # Which part has the best arm, only the prior says.
        return Looked(False, 0)
    shares = found.winner_shares()["copeland"]
    leader = int(np.argmax(shares))
    return Looked(bool(shares[leader] >= 1 - DELTA), leader)


def by_evidence(wins: np.ndarray) -> Looked:
    """Look at the anytime-valid evidence; pairs within the width count either way."""
    found = AnytimeEvidence(DELTA, width=WIDTH).evaluate(wins)
    return Looked(bool(found.stopped), int(found.answer))


RULES = {"posterior": by_posterior, "scale": by_scale, "anytime": by_evidence}
EVERY = {"scale": 2}
"""A rule that takes long looks at every second count only."""


class Outcome(NamedTuple):
    """Votes until something has happened in a run; infinite if it never did."""

    votes: float
    is_right: bool


def first_name(
    rule: Callable[[np.ndarray], Looked],
    grid: np.ndarray,
    wins: np.ndarray,
    right: set[int],
) -> Outcome:
    """Return when a rule first names an arm."""
    for votes, counts in zip(grid, wins, strict=False):
        said = rule(counts)
        if said.stopped:
            return Outcome(float(votes), said.answer in right)
    return Outcome(math.inf, False)


def right_for_good(grid: np.ndarray, wins: np.ndarray, right: int) -> Outcome:
    """Return from when on the leader of the posterior is the right arm."""
    leaders = [PosteriorProbability(DELTA).evaluate(each).leader for each in wins]
    wrong = np.flatnonzero(np.array(leaders) != right)
    place = wrong[-1] + 1 if wrong.size else 0
    found = place < len(leaders)
    return Outcome(float(grid[place]) if found else math.inf, found)


def median(outcomes: Sequence[Outcome]) -> str:
    """Return the median and its interval of at least 95 %, by order statistics."""
    votes = np.sort([each.votes for each in outcomes])
    number = len(votes)
    low = int(binom.ppf(0.025, number, 0.5))
    low -= binom.cdf(low - 1, number, 0.5) > 0.025
    places = (number - 1) // 2, max(0, low - 1), min(number - 1, number - low)
    middle, lower, upper = (
        f"{votes[place]:,.0f}" if math.isfinite(votes[place]) else "never"
        for place in places
    )
    return "never" if lower == "never" else f"{middle} ({lower} to {upper})"


def cell(outcomes: Sequence[Outcome]) -> str:
    """Return the median, and what runs named unless none or all named the right arm."""
    named = [each for each in outcomes if math.isfinite(each.votes)]
    right = sum(each.is_right for each in named)
    if not named or right == len(outcomes):
        return median(outcomes)
    return f"{median(outcomes)}; {right} right, {len(named) - right} wrong"


def outcomes(
    recorded: Recorded, who: str, runs: Iterable[int], most: int, size: int = 0
) -> dict[str, list[Outcome]]:
    """Play a policy, and return for each rule what came of the runs.

    With a ``size`` by ``next_pairs`` alone, so many questions at once and up to a name
    by the rule with anytime evidence.
    """
    last = min(most, recorded.num_votes)
    if who == INFORMATION:
        last = min(last, MOST_FOR_INFORMATION)
    begin = min(100, recorded.num_votes // 12)
    steps = int(math.log(last / begin) / math.log(STEP)) + 1
    grid = np.unique(np.geomspace(begin, last, steps).round().astype(np.int64))
    rights = {
        "posterior": {recorded.winner},
        "scale": {recorded.winner},
        "anytime": right_within(recorded.matrix.values, WIDTH),
    }
    found: dict[str, list[Outcome]] = {name: [] for name in ("leader", *RULES)}
    for run in runs:
        if size:
            wins = played_by_next_pairs(
                recorded, who, grid, run, size, lambda each: by_evidence(each).stopped
            )
        else:
            wins = played(recorded, who, grid, run)
        found["leader"].append(right_for_good(grid, wins, recorded.winner))
        for name, rule in RULES.items():
            step = EVERY.get(name, 1)
            counts = grid[::step], wins[::step]
            found[name].append(first_name(rule, *counts, rights[name]))
    return found


def row(who: str, found: dict[str, list[Outcome]]) -> str:
    """Return the row of a policy in the table."""
    cells = [median(found["leader"]), *(cell(found[name]) for name in RULES)]
    return f"| {who} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--policy", nargs="+", default=POLICIES)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--votes", type=int, default=200_000)
    parser.add_argument(
        "--size", type=int, default=0, help="ask by next_pairs alone, so many at once"
    )
    asked = parser.parse_args(list(arguments))
    if not SHARED.is_dir():
        sys.exit(f"the votes are not here: {SHARED}")
    for name in asked.data:
        recorded = DATA[name]()
        right = right_within(recorded.matrix.values, WIDTH)
        near = sorted(recorded.arms[arm] for arm in right)
        print(
            f"\n{recorded.title}: {recorded.num_votes:,} votes; right: "
            f"{recorded.arms[recorded.winner]}, within {WIDTH}: {', '.join(near)}; "
            f"{asked.runs} runs\n"
        )
        print("| who asks | leader right | posterior | scale | anytime |")
        print("| --- | --- | --- | --- | --- |")
        for who in asked.policy:
            runs = range(asked.first, asked.first + asked.runs)
            given = runs, asked.votes, asked.size
            print(row(who, outcomes(recorded, who, *given)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
