"""Comparisons without the rounds in which an arm meets itself: around a policy."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.scalar.compiled import inlined
from bayesduel.ops.scalar.resolved_rounds import NEVER
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import PolicyBase, declared, kernel_of, over_model
from bayesduel.policies.policy_around import PolicyAround
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel


class WithoutSelfDuels(PolicyAround):
    """Play the duels of a policy, in their order, and leave its self-duels out.

    Policies that minimize regret let their champion meet itself nearly always. That
    teaches nothing; who pays for duels and wants a name, not regret, leaves it out. The
    policy counts its own rounds, self-duels included, so the distribution of its duels
    is the same; a run counts those that are played. Once a policy would explore no more
    within 2^62 rounds of its own, its choice meets itself to the end.

    Regret, ties and the recommendation are those of the policy.

    Parameters
    ----------
    policy : Policy
        Any policy of dueling bandits that asks for one duel at a time; SCB does with
        ``look_ahead=False``.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.WithoutSelfDuels(policies.get("d-ts")).label
    'D-TS, no self-duels'
    >>> policies.parse_policy("d-ts:self_duels=false").name
    'd-ts, no self-duels'
    """

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name in words."""
        return f"{declared(self.policy, 'title')} without self-duels"

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        return "no self-duels"

    @property
    def settings(self) -> dict[str, Any]:
        """How the loop plays the rule, where that is in NumPy or over a model."""
        return {"self_duels": False}

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a policy that does not fit."""
        inner = self.policy
        fits = isinstance(inner, PolicyBase)
        fits = fits and not isinstance(inner, WithoutSelfDuels)
        # Without look-ahead a policy asks for one duel at a time.
        in_bulk = fits and declared(inner, "explores_in_bulk")
        if not fits or (in_bulk and getattr(inner, "look_ahead", True)):
            raise PolicyParameterError(
                "policy",
                "must be one that asks for a duel at a time, such as "
                "policies.get('d-ts')",
                inner,
            )
        inner.check(num_arms, horizon)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where the policy has one."""
        inner = kernel_of(self.policy)
        if inner is None:
            return None
        return kernel_around(inner)

    def over_model(self) -> Any:
        """Return the rule over a model, where the policy has one."""
        return over_model(self.played)


class WithoutSelfDuelsKernel(NamedTuple):
    """The state of the policy, and its own rounds so far."""

    inner: Any
    clock: Int[np.ndarray, " 1"]
    patience: Int[np.ndarray, " 2"]
    """Choices in a row without a duel after which there will be none, and how many are
    left of them."""


def kernel_around(
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
