"""Simulating a chunk of runs: by the rule, the kernel or the model of a policy.

A run is a function of the seed and its own number: how runs are put into chunks, or
beside one another, changes no bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Int

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.instances.world import World, arrivals_of
from bayesduel.policies.parameter_values import with_features, with_prices
from bayesduel.policies.policy import (
    PolicyBase,
    declared,
    has_kernel_above,
    kernel_of,
    over_model,
)
from bayesduel.policies.policy_around import STRAIGHT, innermost, manner_of, rule_of
from bayesduel.simulation.pools import begins_from_counts
from bayesduel.simulation.rule_runs import run_chunk as run_rule
from bayesduel.simulation.runs import (
    PROGRAMS,
    Environment,
    PairwiseEnvironment,
    RunRecords,
    WorldEnvironment,
)
from bayesduel.stopping.base import StoppingRule

# Events that one run may take. Their number is folded into 32 bits of its key, and most
# policies count duels of a pair, one per event, as int32.
EVENT_LIMIT = 2**31 - 2
ARMS_OF_ONE_LANE = 256  # With so many arms, lanes beside one another only cost memory

# Aim for the length of a segment: short enough for Ctrl-C and a progress bar
_SEGMENT_SECONDS = 0.5


def run_chunk(
    environment: Environment,
    policy: PolicyBase,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    num_lanes: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    stopping: StoppingRule | None = None,
) -> RunRecords:
    """Simulate the runs numbered ``runs`` up to the last checkpoint."""
    # ``num_lanes`` runs over a model are simulated side by side. ``stopping`` looks at
    # every duel of two arms; a run that it ends keeps its counts up to the last
    # checkpoint.
    if on_progress is not None:
        on_progress(0.0)
    settings: dict[str, Any] = {
        "runs": runs,
        "checkpoints": checkpoints,
        "seed": seed,
        "event_limit": EVENT_LIMIT,
        "segment_seconds": _SEGMENT_SECONDS,
        "on_progress": on_progress,
    }
    label, policy = policy.label, as_played(environment, policy)
    if stopping is not None:
        check_stops(environment, policy)
    manner = manner_of(policy)
    played = rule_of(policy) or kernel_for(environment, policy)
    if played is not None:
        return run_rule(
            environment,
            played,
            stopping=stopping,
            manner=manner,
            label=label,
            **settings,
        )
    # JAX takes a second to import.
    from bayesduel.simulation.model_rounds import run_chunk as run_models

    lanes = num_lanes or default_num_lanes(len(runs), environment.num_arms)
    lanes = min(lanes, 8 * -(-len(runs) // 8))  # More would have nothing to do.
    known = getattr(environment, "features", None)
    rule = over_model(with_features(innermost(policy), known))
    settings |= {"num_lanes": lanes, "manner": manner}
    return run_models(environment, rule, label, **settings)  # pyright: ignore[reportArgumentType]


def as_played(environment: Environment, policy: PolicyBase) -> PolicyBase:
    """Return a policy in the form that plays here."""
    if not isinstance(environment, WorldEnvironment):
        return policy
    from bayesduel.policies.contextual.linear_thompson import in_world

    return in_world(policy, environment.world)


def check_stops(environment: Environment, policy: PolicyBase) -> None:
    """Raise unless runs of a policy can be stopped."""
    duels = isinstance(environment, PairwiseEnvironment | WorldEnvironment)
    world = getattr(environment, "world", None)
    if duels and world is not None and world.defines("first_rounds"):
        rule = f"cannot end runs in {world.label}, where arms arrive"
        remedy = "leave stopping out"
        raise SimulationArgumentError("stopping", rule, policy.label, remedy=remedy)
    if not duels or (rule_of(policy) is None and not kernel_for(environment, policy)):
        raise SimulationArgumentError(
            "stopping",
            "needs a policy of duels that is not over a NumPyro model",
            policy.label,
            remedy="take another policy, such as d-ts+ or rucb",
        )


def check_arrivals(world: World, policy: PolicyBase, horizon: int) -> None:
    """Raise where a policy cannot play while arms arrive."""
    state = world.start(horizon, np.random.default_rng(0))
    first = int((arrivals_of(world, state) == 1).sum())
    policy.check(first, horizon)
    inner, manner, label = innermost(policy), manner_of(policy), policy.label
    rule, remedy = "", "take a policy such as d-ts+ or rucb"
    if manner.every > 1 or manner.monitored is not None:
        rule = "must be told of each duel at once, and have no monitor"
    elif rule_of(policy) is None and not kernel_for(WorldEnvironment(world, 1), policy):
        rule = "must not be over a NumPyro model, which begins with all arms"
        remedy += ", or let a bayesduel.Player add arms"
    elif begins_from_counts(world):
        if declared(inner, "explores_in_bulk"):
            rule = "plans in bulk, and cannot begin from counts when an arm arrives"
        elif declared(inner, "contextual"):
            rule = "reads features of rounds that are past when an arm arrives"
        remedy += ", or let all policies forget: anew=true in the world"
    if rule:
        raise PolicyParameterError(
            "policies", f"{rule}, in {world.label}", label, remedy=remedy
        )


def kernel_for(environment: Environment, policy: PolicyBase) -> Any:
    """Return the kernel that plays a policy; None where JAX does."""
    duels = isinstance(environment, PairwiseEnvironment | WorldEnvironment)
    prices = getattr(environment, "prices", None)
    policy = with_prices(innermost(policy), prices)
    kernel = kernel_of(policy) if duels else None
    if kernel is None and has_kernel_above(policy) and over_model(policy) is None:
        raise SimulationArgumentError(
            "policy",
            f"must have a rule of its own, but {type(policy).__name__} inherits from a "
            "policy that is a kernel, which may be another rule",
            policy.label,
            remedy="write it as a bayesduel.Policy, or define scalar_kernel",
        )
    return kernel


def program_of(environment: Environment, policy: PolicyBase) -> str:
    """Return the name of what plays a policy here: "kernel-1", "jax-3" or "numpy-1"."""
    policy = as_played(environment, policy)
    if rule_of(policy) is not None:
        return PROGRAMS["numpy"]
    if kernel_for(environment, policy) is not None:
        return PROGRAMS["scalar"]
    return PROGRAMS["jax" if manner_of(policy) == STRAIGHT else "late"]


def compiled_as(
    environment: Environment, policy: PolicyBase, stopping: StoppingRule | None = None
) -> str | None:
    """Return the name of the program of Numba that plays a policy, if any does."""
    policy = as_played(environment, policy)
    kernel = None if rule_of(policy) is not None else kernel_for(environment, policy)
    if kernel is None:
        return None
    from bayesduel.simulation.programs import program_name

    return program_name(kernel.name, stopping)


def default_num_lanes(num_runs: int, num_arms: int = 2) -> int:
    """Return how many lanes suit this machine, a multiple of 8 or 1."""
    # Waves of lanes are of about the same size: one of few runs costs as much as any.
    import jax  # Takes a second.

    on_cpu = jax.default_backend() == "cpu"
    if on_cpu and num_arms >= ARMS_OF_ONE_LANE:
        return 1
    waves = -(-num_runs // (64 if on_cpu else 4096))
    return 8 * -(-num_runs // (8 * waves))
