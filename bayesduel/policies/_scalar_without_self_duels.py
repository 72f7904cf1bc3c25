"""The kernel of a policy without its self-duels: ``without_self_duels``."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import inlined
from bayesduel.ops.scalar.resolved_rounds import NEVER
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel


class WithoutSelfDuelsKernel(NamedTuple):
    """The state of the policy, and its own rounds so far."""

    inner: Any
    clock: Int[np.ndarray, " 1"]
    patience: Int[np.ndarray, " 2"]
    """Choices in a row without a duel after which there will be none, and how many are
    left of them."""


def kernel(
    inner: ScalarKernel, *, patience: int = NEVER, rounds: int = 0
) -> ScalarKernel:
    """Return the kernel around that of a policy, which has lived through ``rounds``."""

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> WithoutSelfDuelsKernel:
        return WithoutSelfDuelsKernel(
            inner.new_state(order, horizon),
            clock=np.full(1, rounds, dtype=np.int64),
            patience=np.full(2, patience, dtype=np.int64),
        )

    def info(state: WithoutSelfDuelsKernel) -> dict[str, Any]:
        return inner.info(state.inner)

    def solve_on_host(state: WithoutSelfDuelsKernel) -> bool:
        return inner.solve_on_host(state.inner)

    return ScalarKernel(
        f"{inner.name}_without_self_duels", initial_state, info, solve_on_host
    )


@inlined
def init(state: WithoutSelfDuelsKernel, rng: Generator) -> None:
    """Prepare the policy."""
    scalar_kernel.init(state.inner, rng)


@inlined
def choose(state: WithoutSelfDuelsKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Return the next duel of the policy; nothing where it asks for none."""
    clock = state.clock[0]
    if clock >= NEVER:
        arm = scalar_kernel.recommend(state.inner, rng)
        return ScalarDuel(arm, NEVER, arm, arm, False)
    duel = scalar_kernel.choose(state.inner, rng, clock + 1)
    state.clock[0] = clock + duel.idle_rounds + int(duel.explores)
    explores = duel.explores and duel.first != duel.second
    state.patience[1] = state.patience[0] if explores else state.patience[1] - 1
    alone = duel.explores and duel.first == duel.second
    if alone and scalar_kernel.reads_self_duels(state.inner):
        clock, arm = state.clock[0], duel.first
        scalar_kernel.update(state.inner, rng, clock, arm, arm, False)
    if state.patience[1] <= 0:
        state.clock[0] = NEVER
    return ScalarDuel(duel.champion, 0, duel.first, duel.second, explores)


@inlined
def update(
    state: WithoutSelfDuelsKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Tell the policy, in its own rounds."""
    scalar_kernel.update(state.inner, rng, state.clock[0], first, second, won)


@inlined
def note(state: WithoutSelfDuelsKernel) -> int:
    """Return what the policy notes."""
    return scalar_kernel.note(state.inner)


@inlined
def recall(state: WithoutSelfDuelsKernel, first: int, second: int, noted: int) -> None:
    """Let the policy recall."""
    scalar_kernel.recall(state.inner, first, second, noted)


@inlined
def is_waiting(state: WithoutSelfDuelsKernel) -> bool:
    """Say what the policy says."""
    return scalar_kernel.is_waiting(state.inner)


@inlined
def recommend(state: WithoutSelfDuelsKernel, rng: Generator) -> int:
    """Return the recommendation of the policy."""
    return scalar_kernel.recommend(state.inner, rng)


scalar_kernel.implement(
    WithoutSelfDuelsKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    note=note,
    recall=recall,
    is_waiting=is_waiting,
)
