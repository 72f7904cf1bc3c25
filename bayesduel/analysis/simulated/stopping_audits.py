"""How often rules for stopping name a wrong arm, measured by simulating the design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesduel.analysis.audited_rules import AuditedRule, StoppingAudit
from bayesduel.analysis.simulated.asked_votes import asking_kernel, decisions
from bayesduel.errors import SimulationArgumentError, errors_as
from bayesduel.experiments.arguments import read_instances, several
from bayesduel.experiments.problems import PairProblem, problem_of
from bayesduel.models.fit.fit_result import Fit
from bayesduel.stopping.base import LookEvery, StoppingRule, check_rule
from bayesduel.stopping.heuristics import FixedNumber, LeaderTest, SeparateIntervals
from bayesduel.stopping.rules import AnytimeEvidence, PosteriorProbability
from bayesduel.stopping.words import parse_rule
from theory.arguments import integer_from, seed_of, share_of, width_of
from theory.validation import price_table

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

    from bayesduel.policies.policy import PolicyBase

_TIE = 1e-8
_MOST_RUNS = 10**7


def audit_stopping(
    instances: Any,
    policy: str | PolicyBase = "d-ts+",
    *,
    rules: Mapping[str, StoppingRule] | Sequence[str] | None = None,
    delta: float = 0.05,
    width: float = 0.0,
    budget: int = 2000,
    look_every: int = 1,
    num_runs: int = 1000,
    prices: ArrayLike | None = None,
    seed: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> StoppingAudit:
    """Measure how often rules for stopping name a wrong arm in a study of this design.

    Every run is a study: the policy asks its informative pairs, answers are drawn from
    the matrix, and the rule is looked at after every vote, or every so many. A *false
    stop* names an arm that is no Copeland winner; with a ``width``, one that would be
    none even if all pairs within it of 1/2 fell its way. All rules see the same votes.

    Parameters
    ----------
    instances : str, path, PreferenceMatrix, array-like (K, K), a list of them, or \
Posterior
        The truth, as for :func:`bayesduel.compare`; or a fit to votes: then every run
        has a preference matrix of its own, drawn from the posterior.
    policy : str or Policy
        Who asks: as for ``bayesduel.studies.Study``, of the policies those that a
        kernel plays. Self-duels are left out.
    rules : mapping of str to StoppingRule, or sequence of str, optional
        By name, or as :func:`bayesduel.stopping.parse_rule` reads them; by default
        those of :func:`usual_rules`.
    delta, width : float
        Error that is accepted, and what need not be told apart.
    budget : int
        Votes of a study at most.
    look_every : int
        Votes between two looks.
    num_runs, seed : int
        Studies that are simulated, and their randomness.
    prices : float (K,) or (K, K), optional
        Prices of the arms or of the pairs, for a policy with ``cost="prices"``; as for
        :class:`bayesduel.Player`.
    on_progress : callable, optional
        Told the share of the work that is done.

    Returns
    -------
    StoppingAudit

    Raises
    ------
    SimulationArgumentError, StoppingRuleError
        If an argument does not fit, or no kernel plays the policy.

    Examples
    --------
    >>> audit = audit_stopping(
    ...     "cyclic", "balanced", rules=["p-value:alpha=0.05"], budget=200, num_runs=100
    ... )
    >>> audit.rows()[0].false_share > 0.2
    True
    """
    error = SimulationArgumentError
    budget = integer_from(budget, 1, "budget", 10**9, kind=error)
    look_every = integer_from(look_every, 1, "look_every", 10**9, kind=error)
    num_runs = integer_from(num_runs, 1, "num_runs", _MOST_RUNS, kind=error)
    seed = seed_of(seed, "seed", kind=error)
    delta = share_of(delta, "delta", kind=error)
    width = width_of(width, "width", kind=error)
    looked = {
        name: rule if look_every == 1 else LookEvery(rule, look_every)
        for name, rule in _named_rules(rules, delta, width, budget).items()
    }
    truths = _truths(instances, num_runs, seed)
    audited = []
    for name, preferences in truths.items():
        num_arms = preferences.shape[1]
        paid = None
        if prices is not None:
            with errors_as(SimulationArgumentError):
                paid = price_table(prices, num_arms)
        kernel = asking_kernel(policy, num_arms, budget, prices=paid)
        right = right_answers(preferences, width)
        for label, rule in looked.items():
            done = len(audited) / (len(truths) * len(looked))
            runs = decisions(
                kernel, rule, preferences, budget=budget, seed=seed,
                on_progress=_part(on_progress, done, len(truths) * len(looked)),
            )  # fmt: skip
            named = np.flatnonzero(runs.answers >= 0)
            wrong = np.zeros(num_runs, dtype=bool)
            wrong[named] = ~right[named, runs.answers[named]]
            audited.append(AuditedRule(name, label, runs.votes, wrong))
    return StoppingAudit(
        policy=policy if isinstance(policy, str) else policy.name, delta=delta,
        budget=budget, look_every=look_every, seed=seed, rules=tuple(audited),
    )  # fmt: skip


def usual_rules(delta: float, width: float, budget: int) -> dict[str, StoppingRule]:
    """Return the rules of a study, and heuristics at the same level.

    ``anytime`` and ``posterior`` are those of ``Study.status``, with uniform priors;
    ``intervals``, ``p-value`` and ``fixed`` are
    :class:`~bayesduel.stopping.SeparateIntervals`,
    :class:`~bayesduel.stopping.LeaderTest` and, when the budget is spent,
    :class:`~bayesduel.stopping.FixedNumber`.

    Examples
    --------
    >>> list(usual_rules(0.05, 0.0, 1000))
    ['anytime', 'posterior', 'intervals', 'p-value', 'fixed']
    """
    return {
        "anytime": AnytimeEvidence(delta, width),
        "posterior": PosteriorProbability(delta),
        "intervals": SeparateIntervals(1.0 - delta),
        "p-value": LeaderTest(delta),
        "fixed": FixedNumber(budget),
    }


def right_answers(
    preferences: Float64[np.ndarray, "run K K"], width: float
) -> Bool[np.ndarray, "run K"]:
    """Mark the arms that may be named.

    Without a width the Copeland winners. With one, arms such that no rival is clearly
    better, by more than the width, than more arms than are not clearly better than it.

    Examples
    --------
    >>> matrix = np.array([[0.5, 0.51, 0.9], [0.49, 0.5, 0.9], [0.1, 0.1, 0.5]])
    >>> right_answers(matrix[None], 0.0).tolist()
    [[True, False, False]]
    >>> right_answers(matrix[None], 0.05).tolist()
    [[True, True, False]]
    """
    clear = preferences > 0.5 + max(width, _TIE)
    beaten = clear.sum(axis=2)
    if width == 0.0:
        return beaten == beaten.max(axis=1, keepdims=True)
    num_arms = preferences.shape[1]
    not_worse = num_arms - 1 - clear.sum(axis=1)
    others = ~np.eye(num_arms, dtype=bool)
    most = np.where(others, beaten[:, None, :], -1).max(axis=2)
    return not_worse >= most


def _named_rules(
    rules: Any, delta: float, width: float, budget: int
) -> dict[str, StoppingRule]:
    if rules is None:
        return usual_rules(delta, width, budget)
    if isinstance(rules, Mapping):
        named = {str(name): check_rule("rules", rule) for name, rule in rules.items()}
    else:
        texts = [rules] if isinstance(rules, str) else several("rules", rules)
        named = {str(text): parse_rule(text) for text in texts}
    if not named:
        raise SimulationArgumentError("rules", "must be at least one rule", rules)
    return named


def _truths(
    instances: Any, num_runs: int, seed: int
) -> dict[str, Float64[np.ndarray, "run K K"]]:
    """Return by name a matrix for every run."""
    if isinstance(instances, Fit):
        votes = f"{instances.data.num_votes:g} votes"
        name = f"draws given {votes}" if instances.data.num_votes else "draws"
        return {name: instances.sample(seed, num_runs)}
    problems = [problem_of(problem) for problem in read_instances(instances)]
    if not isinstance(problems[0], PairProblem):
        rule, remedy = f"must be {PairProblem.words}", "name one such as 'gap'"
        raise SimulationArgumentError("instances", rule, instances, remedy=remedy)
    tables = {problem.name: np.array(problem.instance.values) for problem in problems}
    return {
        name: np.broadcast_to(table, (num_runs, *table.shape))
        for name, table in tables.items()
    }


def _part(
    on_progress: Callable[[float], None] | None, done: float, parts: int
) -> Callable[[float], None] | None:
    if on_progress is None:
        return None
    return lambda share: on_progress(done + share / parts)
