"""RD-TS beside D-TS over the same posterior, on twelve random instances of a model.

``python -m benchmarks.rivals --only 0 3 --runs 24`` prints the rows of these instances
of the table in ``docs/theory/rival_directed.md``.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayesduel import policies
from bayesduel.policies.parameter_values import with_features
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from theory import structured_lower_bound

from .timing import report

POLICIES = {"RD-TS": "rd-ts", "D-TS": "bt-ts"}


@dataclass(frozen=True)
class Draw:
    """How an instance was drawn.

    Utilities are normal, or those of arms with random directions as features: their
    products with a random vector of length 3.
    """

    num_arms: int
    seed: int
    scale: float = 1.0
    num_features: int = 0
    horizon: int = 10**5

    @property
    def title(self) -> str:
        """The name in the table."""
        kind = f"N(0, {self.scale:g})"
        if self.num_features:
            kind = f"{self.num_features} features"
        return f"{self.num_arms} arms, {kind}"

    def utilities(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return utilities, and features if there are any."""
        rng = np.random.default_rng(self.seed)
        if not self.num_features:
            drawn = rng.normal(0, self.scale, self.num_arms)
            return np.sort(drawn)[::-1], None
        features = rng.normal(size=(self.num_arms, self.num_features))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        effects = rng.normal(size=self.num_features)
        return features @ (3 * effects / np.linalg.norm(effects)), features


DRAWS = (
    Draw(5, 11, 1.0),
    Draw(5, 12, 2.0),
    Draw(10, 13, 1.0, horizon=10**4),
    Draw(10, 5, 2.0),
    Draw(10, 14, 2.0),
    Draw(16, 15, 1.0),
    Draw(16, 16, 2.0),
    Draw(5, 17, num_features=3),
    Draw(10, 18, num_features=3),
    Draw(16, 3, num_features=3, horizon=10**4),
    Draw(10, 19, num_features=5),
    Draw(16, 20, num_features=5),
)


def regrets(draw: Draw, policy: str, num_runs: int) -> np.ndarray:
    """Return the Copeland regret of runs at 1/100 of the horizon and at its end."""
    utilities, features = draw.utilities()
    model = "bradley-terry,prior_scale=3" if features is None else "linear"
    asks = with_features(policies.parse_policy(f"{policy}:posterior={model}"), features)
    preference = expit(utilities[:, None] - utilities[None, :])
    records = run_chunk(
        PairwiseEnvironment(preference, shuffle=True, features=features),
        asks,
        runs=range(num_runs),
        checkpoints=np.array([draw.horizon // 100, draw.horizon]),
        seed=1,
    )
    above = (utilities[:, None] < utilities[None, :]).sum(axis=1)
    cost = (above[:, None] + above[None, :]) / (2 * (draw.num_arms - 1))
    return (records.ledger["plays"] * cost).sum(axis=(-1, -2))


def main() -> None:
    """Print regret and slopes of both, and by how many standard errors RD-TS leads."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=24)
    options.add_argument("--only", type=int, nargs="*", default=range(len(DRAWS)))
    given = options.parse_args()
    rows = []
    for draw in (DRAWS[number] for number in given.only):
        utilities, features = draw.utilities()
        bound = structured_lower_bound(utilities, features=features)
        row: dict[str, object] = {"instance": draw.title, "horizon": draw.horizon}
        row["C*"], ends = bound.value, []
        for name, policy in POLICIES.items():
            regret = regrets(draw, policy, given.runs)
            ends.append(regret[:, 1])
            row[name] = _mean(regret[:, 1])
            row[f"slope of {name}"] = _mean(
                (regret[:, 1] - regret[:, 0]) / np.log(100.0)
            )
        error = np.sqrt(sum(each.var(ddof=1) for each in ends) / given.runs)
        row["lead, errors"] = (ends[1].mean() - ends[0].mean()) / error
        rows.append(row)
        print(row, flush=True)
    report(f"RD-TS over a model beside D-TS, {given.runs} runs", rows)


def _mean(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.2f} ± {error:.2f}"


if __name__ == "__main__":
    main()
