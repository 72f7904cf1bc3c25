"""Votes that a study would ask for, simulated until a rule for stopping decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.arguments.limits import PATIENCE
from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.policies.lookup import parse_policy
from bayesduel.policies.parameter_values import with_prices
from bayesduel.policies.policy import KernelPolicy, PolicyBase, kernel_of
from bayesduel.policies.policy_around import (
    STRAIGHT,
    Manner,
    WithoutSelfDuels,
    innermost,
    manner_of,
)
from bayesduel.simulation.driver import EVENT_LIMIT
from bayesduel.simulation.rule_runs import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment

if TYPE_CHECKING:
    from jaxtyping import Float64, Int

    from bayesduel.policies.scalar_kernel import ScalarKernel
    from bayesduel.stopping.base import StoppingRule

_MOST_COUNTS = 2**22  # Counts of pairs in all runs that are simulated at once: 32 MiB.

_SEGMENT_SECONDS = 0.2


class Decisions(NamedTuple):
    """When runs were decided, and how."""

    # Votes that were asked for until then; -1 where the rule named no arm.
    votes: Int[np.ndarray, " run"]
    answers: Int[np.ndarray, " run"]  # The arm that was named, or -1.


class Asking(NamedTuple):
    """A policy that asks for pairs, and the manner in which it is played."""

    kernel: ScalarKernel
    manner: Manner


def asking_kernel(
    policy: str | PolicyBase,
    num_arms: int,
    budget: int,
    *,
    rounds: int = 0,
    prices: Float64[np.ndarray, "K K"] | None = None,
) -> Asking:
    """Return what asks for the informative pairs of a policy, one after the other."""
    if isinstance(policy, str) and policy == "balanced":
        from bayesduel.policies.identification._scalar_fewest_duels import kernel

        return Asking(kernel(), STRAIGHT)
    with errors_about("policy", policy):
        chosen = parse_policy(policy) if isinstance(policy, str) else policy
    if not isinstance(chosen, WithoutSelfDuels):
        chosen = WithoutSelfDuels(chosen)
    chosen = with_prices(chosen, prices)
    inner = innermost(chosen)
    inner_kernel = kernel_of(inner) if isinstance(inner, KernelPolicy) else None
    if inner_kernel is None:
        rule = "must be one that a kernel plays"
        remedy = "take d-ts+, rd-ts:cost=duels, track-and-stop, rucb or balanced"
        raise SimulationArgumentError("policy", rule, policy, remedy=remedy)
    chosen.check(num_arms, budget)
    manner = manner_of(chosen)._replace(patience=PATIENCE, clock=rounds)
    return Asking(inner_kernel, manner)


def decisions(
    asking: Asking,
    rule: StoppingRule,
    preferences: Float64[np.ndarray, "run K K"],
    *,
    budget: int,
    seed: int,
    votes: Int[np.ndarray, "vote 3"] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Decisions:
    """Simulate a run with each matrix until a rule stops, or the budget is spent."""
    num_runs, num_arms = preferences.shape[:2]
    size = max(1, _MOST_COUNTS // num_arms**2)
    outcomes = []
    for start in range(0, num_runs, size):
        part = preferences[start : start + size]

        def report(share: float, start: int = start, count: int = len(part)) -> None:
            if on_progress is not None:
                on_progress((start + share * count) / num_runs)

        records = run_chunk(
            PairwiseEnvironment(part[0]), asking.kernel,
            runs=range(start, start + len(part)), checkpoints=np.array([budget]),
            seed=seed, event_limit=EVENT_LIMIT, segment_seconds=_SEGMENT_SECONDS,
            on_progress=report, stopping=rule, manner=asking.manner,
            preferences=part, votes=votes,
        )  # fmt: skip
        outcomes.append((records.info["stopped_at"], records.info["answer"]))
    stopped_at, answers = (
        np.concatenate(parts) for parts in zip(*outcomes, strict=True)
    )
    return Decisions(np.where(answers >= 0, stopped_at, -1), answers)
