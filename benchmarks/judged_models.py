"""How many votes a judge of language models needs, by who asks: 200 replays.

``python -m benchmarks.judged_models --figure judged_models.png`` prints the table of
``docs/how_to/judge_models.md`` and draws its figure. The judge is simulated: eight
models with the utilities below, of which the one shown first gains a little. Each
question is put in both orders, and two answers that contradict each other are no vote.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bayesduel.stopping import AnytimeEvidence
from benchmarks.recorded_votes import Recorded, played
from benchmarks.replay import Looked, Outcome, cell, first_name

UTILITIES = (1.6, 1.1, 0.9, 0.6, 0.3, 0.0, -0.4, -0.9)
"""Utilities of eight models, on the scale of Bradley-Terry."""

FIRST = 0.4
"""The advantage in utility of the answer that is shown first."""

DELTA, MOST = 0.05, 20_000
GRID = np.unique((28 * 1.1 ** np.arange(70)).astype(int))
GRID = GRID[GRID <= MOST]
"""Votes after which one looks."""

POLICIES = ("d-ts+", "balanced", "random:distinct=true", "d-optimal")
MOST_OPTIMAL = 1000
"""Votes on D-optimal pairs: each takes a fit."""

_MANY = 10**6


def judged() -> Recorded:
    """Return answers that are the same in both orders, so many that none runs out."""
    utilities = np.array(UTILITIES)
    gaps = utilities[:, None] - utilities
    first, second = (1 / (1 + np.exp(-gaps - bias)) for bias in (FIRST, -FIRST))
    same = first * second
    wins = np.round(_MANY * same / (same + same.T)).astype(np.int64)
    np.fill_diagonal(wins, 0)
    names = tuple(f"model {place}" for place in range(1, len(UTILITIES) + 1))
    return Recorded("a judge of eight models", names, wins, np.zeros_like(wins))


def mode_of(wins: np.ndarray, at: np.ndarray, scale: float = 2.0):
    """Return mode and covariance under Bradley-Terry and a normal prior."""
    duels = wins + wins.T
    for _ in range(100):
        expected = 1 / (1 + np.exp(at - at[:, None]))
        slope = (wins - duels * expected).sum(axis=1) - at / scale**2
        weights = duels * expected * (1 - expected)
        curvature = np.diag(weights.sum(axis=1) + 1 / scale**2) - weights
        covariance = np.linalg.inv(curvature)
        step = covariance @ slope
        at = at + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-8:
            break
    return at, covariance


def by_scale(wins: np.ndarray) -> Looked:
    """Say whether one model is the best with 95 % on one scale of utilities."""
    at, covariance = mode_of(wins, np.zeros(len(wins)))
    normal = np.random.default_rng(0).standard_normal((4000, len(wins)))
    best = (at + normal @ np.linalg.cholesky(covariance).T).argmax(axis=1)
    shares = np.bincount(best, minlength=len(wins)) / len(best)
    return Looked(bool(shares.max() >= 1 - DELTA), int(shares.argmax()))


def by_evidence(wins: np.ndarray) -> Looked:
    """Ask the rule with a guarantee."""
    found = AnytimeEvidence(DELTA).evaluate(wins)
    return Looked(bool(found.stopped), int(found.answer))


def d_optimal(judge: Recorded, rng: np.random.Generator, most: int):
    """Yield wins after each vote on the pair that most increases log det."""
    size = len(judge.arms)
    wins, at = np.zeros((size, size), dtype=np.int64), np.zeros(size)
    covariance, upper = np.eye(size) * 4.0, np.triu_indices(size, 1)
    for _ in range(most):
        expected = 1 / (1 + np.exp(at - at[:, None]))
        own = np.diag(covariance)
        spread = own[:, None] + own - 2 * covariance
        gains = (expected * (1 - expected) * spread)[upper]
        place = rng.choice(np.flatnonzero(gains > gains.max() * (1 - 1e-9)))
        one, other = upper[0][place], upper[1][place]
        won = rng.random() * _MANY < judge.wins[one, other]
        wins[(one, other) if won else (other, one)] += 1
        at, covariance = mode_of(wins, at)
        yield wins


def in_turn(judge: Recorded, rng: np.random.Generator) -> np.ndarray:
    """Return wins after the votes of the grid, whole rounds of all pairs alone."""
    size = len(judge.arms)
    upper = np.triu_indices(size, 1)
    rounds = MOST // len(upper[0])
    won = rng.random((rounds, len(upper[0]))) < judge.wins[upper] / _MANY
    found = np.zeros((rounds + 1, size, size), dtype=np.int64)
    found[1:, *upper] = np.cumsum(won, axis=0)
    found[1:, *upper[::-1]] = np.cumsum(~won, axis=0)
    return found[GRID // len(upper[0])]


def wins_of(judge: Recorded, who: str, run: int) -> np.ndarray:
    """Return the wins of one replay after the votes of the grid."""
    if who == "balanced":
        return in_turn(judge, np.random.default_rng((run, 37)))
    if who != "d-optimal":
        return played(judge, who, GRID, run)
    rng, found = np.random.default_rng((run, 31)), []
    grid = GRID[GRID <= MOST_OPTIMAL]
    for votes, wins in enumerate(d_optimal(judge, rng, grid[-1]), 1):
        if votes == grid[len(found)]:
            found.append(wins.copy())
            if by_scale(wins).stopped and by_evidence(wins).stopped:
                break
    return np.array(found)


RULES = {"anytime": by_evidence, "one scale": by_scale}


def drawn(outcomes: dict[tuple[str, str], list[Outcome]], path: Path) -> None:
    """Draw the share of replays that have named a model after so many votes."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    from bayesduel.plots.policy_looks import policy_looks
    from bayesduel.policies.registry import entries

    figure = Figure(figsize=(7.0, 2.9), layout="constrained")
    axes = figure.subplots(1, len(RULES), sharey=True)
    known_acronyms = {name: each.acronym for name, each in entries().items()}
    names = {policy: policy.partition(":")[0] for policy in POLICIES}
    look = policy_looks(known_acronyms.get(name, name) for name in names.values())
    for axis, rule in zip(axes, RULES, strict=True):
        for policy, style in zip(POLICIES, ("-", "--", ":", "-."), strict=True):
            votes = np.sort([each.votes for each in outcomes[policy, rule]])
            shares = np.arange(1, len(votes) + 1) / len(votes)
            known = np.isfinite(votes)
            label = names[policy]
            color = look[known_acronyms.get(label, label)].color
            axis.step(
                votes[known], shares[known], style, where="post", label=label,
                color=color,
            )  # fmt: skip
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(rule, fontsize="medium")
        axis.set_xlabel("votes")
    axes[0].set_ylabel("replays with a name")
    axes[0].legend(fontsize="small")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args(arguments)
    judge, outcomes = judged(), {}
    print(f"| who asks | {' | '.join(RULES)} |\n| --- | --- | --- |")
    for policy in POLICIES:
        replays = [wins_of(judge, policy, run) for run in range(asked.runs)]
        for title, rule in RULES.items():
            outcomes[policy, title] = [
                first_name(rule, GRID, wins, {judge.winner}) for wins in replays
            ]
        cells = " | ".join(cell(outcomes[policy, title]) for title in RULES)
        print(f"| {policy} | {cells} |", flush=True)
    if asked.figure is not None:
        drawn(outcomes, asked.figure)


if __name__ == "__main__":
    main()
