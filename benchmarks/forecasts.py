"""How often forecasts of votes hold: simulated studies, and what became of them.

``python -m benchmarks.forecasts --studies 200`` prints a line per rule: the numbers of
``docs/how_to/study_reference.md``. Truths are drawn from the prior of the model. With
``--matrix gap`` the truth is a published matrix, its arms in a new order in each study.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel.analysis.audited_rules import share_interval
from bayesduel.studies import Study
from bayesduel.studies.fits import fit_votes
from bayesduel.studies.forecast import simulated_rules, votes_needed
from bayesduel.votes import Comparisons

_MOST_VOTES, _NUM_RUNS = 3000, 200


def truth(name: str | None, num_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return a matrix from a prior of uniform, independent pairs, or by name."""
    if name is not None:
        values = np.array(bayesduel.load(name).values)
        order = rng.permutation(len(values))
        return values[np.ix_(order, order)]
    upper = np.triu(rng.random((num_arms, num_arms)), 1)
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(num_arms)


def outcome(
    matrix: np.ndarray, policy: str, votes: int, delta: float, seed: int, path: Path
) -> dict[str, tuple[tuple[int | None, ...], float]]:
    """Return by rule the forecast of a study with so many votes, and what came."""
    rng, num_arms = np.random.default_rng([seed, 1]), len(matrix)
    wins = np.zeros((num_arms, num_arms))
    for _ in range(votes):
        first, second = rng.choice(num_arms, 2, replace=False)
        first_wins = rng.random() < matrix[first, second]
        wins[(first, second) if first_wins else (second, first)] += 1
    arms = [f"arm {number}" for number in range(num_arms)]
    with Study.create(path, arms, policy, delta=delta, seed=seed) as study:
        study.import_votes(Comparisons.from_wins(wins, arm_names=arms))
        state = study._current()
        found = study.forecast(most_votes=_MOST_VOTES, num_runs=_NUM_RUNS)
        rules = simulated_rules(state.settings, fit_votes(state, 0, 400, 400))
        return {
            line.rule: (
                (line.lower, line.median, line.upper),
                float(
                    votes_needed(
                        state, rules[line.rule], matrix[None], _MOST_VOTES, seed + 10**6
                    )[0]
                ),
            )
            for line in found.lines
        }


def main() -> None:
    """Print a line per rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--policy", default="d-ts+")
    parser.add_argument("--matrix")
    parser.add_argument("--arms", type=int, default=4)
    parser.add_argument("--votes", type=int, default=40)
    parser.add_argument("--delta", type=float, default=0.05)
    asked = parser.parse_args()
    rng, all_found = np.random.default_rng(20261123), []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.studies):
            matrix = truth(asked.matrix, asked.arms, rng)
            path = Path(folder, f"{number}.study")
            all_found.append(
                outcome(matrix, asked.policy, asked.votes, asked.delta, number, path)
            )
    print("rule studies inside interval below above decided-before undecided")
    for rule in all_found[0]:
        pairs = [found[rule] for found in all_found]
        ends = [[np.inf if each is None else each for each in p[0]] for p in pairs]
        low, _, high = np.array(ends, dtype=float).T
        came = np.array([p[1] for p in pairs])
        # A decision before the forecast cannot be missed.
        open_ = high > 0
        inside = (came >= low) & (came <= high)
        count, total = int(inside[open_].sum()), int(open_.sum())
        ends = share_interval(count, total)
        print(
            f"{rule} {total} {count / total:.3f} {ends[0]:.3f}-{ends[1]:.3f} "
            f"{(came < low)[open_].mean():.3f} {(came > high)[open_].mean():.3f} "
            f"{(~open_).sum()} {np.isinf(came[open_]).mean():.3f}"
        )


if __name__ == "__main__":
    main()
