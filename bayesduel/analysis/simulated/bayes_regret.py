"""Regret on average over preferences that are drawn anew in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.arguments import check_checkpoints, check_horizon
from bayesduel.experiments.problems import PairProblem
from bayesduel.policies import parse_policy
from bayesduel.policies.parameter_values import check_policy
from bayesduel.simulation.driver import run_chunk
from theory import PreferenceMatrix
from theory.arguments import integer_from, number_above, seed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float64, Int64

    from bayesduel.policies.policy import PolicyBase

_NOTIONS = ("copeland",)
_MOST_ARMS = 1000
_MOST_RUNS = 10**7


@dataclass(frozen=True)
class SimulatedBayesRegret:
    """Copeland regret on average over preferences and runs.

    Attributes
    ----------
    rounds : int64 (C,)
        Checkpoints.
    mean, standard_error : float64 (C,)
        Of the regret up to each checkpoint, over runs.
    """

    rounds: Int64[np.ndarray, " C"]
    mean: Float64[np.ndarray, " C"]
    standard_error: Float64[np.ndarray, " C"]


def simulated_bayes_regret(
    policy: str | PolicyBase,
    *,
    num_arms: int = 3,
    horizon: float = 20,
    checkpoints: Sequence[int] | None = None,
    prior: float = 1.0,
    num_runs: int = 1000,
    seed: int = 0,
) -> SimulatedBayesRegret:
    """Measure the Bayes regret of a policy of duels.

    In every run each preference p[i, j] with i < j is drawn anew, independently, from
    Beta(prior, prior). For three arms, :func:`theory.bayes_optimal_regret` is the least
    that any policy can have, and :func:`theory.bayes_regret` computes the same number
    exactly for rules whose probabilities of a choice are known.

    Parameters
    ----------
    policy : str or Policy
        As for :func:`bayesduel.compare`.
    num_arms : int
        Arms K, from 2 to 1000.
    horizon, checkpoints, seed
        As in :class:`bayesduel.Experiment`.
    prior : float
        Both parameters of the Beta distributions, positive.
    num_runs : int
        Runs, at least 2: with as many preference matrices.

    Returns
    -------
    SimulatedBayesRegret

    Raises
    ------
    SimulationArgumentError, PolicyParameterError
        If an argument does not fit.

    Examples
    --------
    >>> regret = simulated_bayes_regret("d-ts", horizon=10, num_runs=400)
    >>> bool(abs(regret.mean[-1] - 3.028) < 5 * regret.standard_error[-1])
    True
    """
    error = SimulationArgumentError
    with errors_about("policy", policy):
        named = parse_policy(policy) if isinstance(policy, str) else policy
    chosen = check_policy(named)
    num_arms = integer_from(num_arms, 2, "num_arms", _MOST_ARMS, kind=error)
    num_runs = integer_from(num_runs, 2, "num_runs", _MOST_RUNS, kind=error)
    strength = number_above(prior, 0.0, "prior", kind=error)
    last, seed = check_horizon(horizon), seed_of(seed, "seed", kind=error)
    grid = np.array(check_checkpoints(checkpoints, last, num_arms))
    regrets = np.zeros((num_runs, len(grid)))
    rng = np.random.default_rng(seed)
    for run in range(num_runs):
        problem = PairProblem(_drawn(num_arms, strength, rng))
        if run == 0:
            problem.check_policy(chosen, last)
        records = run_chunk(
            problem.environment(_NOTIONS, shuffle=True), chosen,
            runs=range(run, run + 1), checkpoints=grid, seed=seed,
        )  # fmt: skip
        regret = problem.measured(records.ledger, records.recommendation, _NOTIONS)
        regrets[run] = regret["regret"][1][0, 0]
    spread = regrets.std(axis=0, ddof=1) / np.sqrt(num_runs)
    return SimulatedBayesRegret(grid, regrets.mean(axis=0), spread)


def _drawn(num_arms: int, prior: float, rng: np.random.Generator) -> PreferenceMatrix:
    """Return a preference matrix whose pairs are drawn from the prior."""
    above = np.triu_indices(num_arms, 1)
    values = np.full((num_arms, num_arms), 0.5)
    values[above] = rng.beta(prior, prior, len(above[0]))
    values.T[above] = 1.0 - values[above]
    return PreferenceMatrix(values)
