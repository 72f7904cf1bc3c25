"""Outcomes that arrive in bunches: a policy around a policy."""

from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import PolicyBase, declared, kernel_of, over_model
from bayesduel.policies.policy_around import PolicyAround
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel


class DelayedFeedback(PolicyAround):
    """Tell a policy the outcomes only every ``every`` rounds.

    After the rounds d, 2 d, 3 d, ... all outcomes so far are told, one after the other
    and each with its own round, as Wu and Liu (2016, Appendix D.2.3) do it. Meanwhile
    the policy goes on choosing: its loop positions advance, it counts the duels that it
    asked for, and the round counts on; what it knows of outcomes stands still. With
    d = 1 it is the policy itself. Several rounds of one pair that were asked for at
    once are told together, after the last of them.

    The policy is stepped round by round. A policy that looks ahead promises that
    nothing is learnt before its next duel; with outcomes on their way this fails, and
    the stretch would have to be drawn anew whenever some arrive. A policy without
    look-ahead that asks for long stretches of its own accord (batched ones) may do so.

    Regret, ties and the recommendation are those of the policy; the recommendation does
    not know the outcomes still on their way at the horizon.

    Parameters
    ----------
    policy : Policy
        Any policy of dueling bandits.
    every : int
        d, at least 1.

    References
    ----------
    H. Wu, X. Liu, "Double Thompson Sampling for Dueling Bandits", NIPS 2016, Appendix
    D.2.3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.DelayedFeedback(policies.get("rucb"), every=100).label
    'RUCB, told every 100 rounds'
    """

    every: int

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name in words."""
        return f"{declared(self.policy, 'title')} with delayed feedback"

    @property
    def manner(self) -> str:
        """How the policy is played, in the words of labels."""
        return f"told every {self.every} rounds"

    @property
    def settings(self) -> dict[str, Any]:
        """How the loop plays the rule, where that is in NumPy or over a model."""
        return {"every": self.every}

    @property
    def played(self) -> PolicyBase:
        """The policy in its round-by-round form."""
        policy: Any = self.policy
        if any(each.name == "look_ahead" for each in fields(policy)):
            return replace(policy, look_ahead=False)
        return policy

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad delay or a bad parameter."""
        fits = isinstance(self.policy, PolicyBase)
        if not fits or isinstance(self.policy, DelayedFeedback):
            raise PolicyParameterError(
                "policy",
                "must be a policy without a delay of its own, such as "
                "policies.get('d-ts')",
                self.policy,
            )
        whole = isinstance(self.every, int) and not isinstance(self.every, bool)
        if not whole or self.every < 1:
            raise PolicyParameterError(
                "every", "must be a number of rounds, at least 1", self.every
            )
        self.policy.check(num_arms, horizon)

    def scalar_kernel(self) -> Any:
        """Return the kernel, where the policy has one that is stepped."""
        inner = kernel_of(self.played)
        if inner is None:
            return None
        return _kernel_around(inner, every=self.every)

    def over_model(self) -> Any:
        """Return the rule over a model, where the policy has one."""
        return over_model(self.played)


_NOW = np.dtype(
    [
        ("every", np.int64),
        ("horizon", np.int64),
        ("number", np.int64),  # Of reports that arrive next,
        ("told", np.int64),  # and those of them that the policy was told already.
        ("due", np.int64),  # After this round they arrive.
        ("noted", np.int64),  # What the policy noted of its last choice.
        ("over_round", np.int64),  # Of the first report without room; 0 while none is,
        ("over_first", np.int64),  # and its arms.
        ("over_second", np.int64),
    ]
)

_REPORT = np.dtype(
    [
        ("round", np.int64),
        ("first", np.int64),
        ("second", np.int64),
        ("won", np.int64),
        ("noted", np.int64),
    ]
)


class DelayedFeedbackKernel(NamedTuple):
    """The state of the policy, and the reports that it has not been told."""

    inner: Any

    now: Records
    """One of ``_NOW``."""

    reports: Records
    """As many of ``_REPORT`` as there may be, in the order of their rounds."""


def _kernel_around(inner: ScalarKernel, *, every: int) -> ScalarKernel:
    """Return the kernel around that of a policy which is stepped round by round."""

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> DelayedFeedbackKernel:
        state = DelayedFeedbackKernel(
            inner.new_state(order, horizon),
            now=np.zeros(1, dtype=_NOW),
            reports=np.zeros(min(every, horizon), dtype=_REPORT),
        )
        state.now["every"] = state.now["due"] = every
        state.now["horizon"] = horizon
        return state

    def info(state: DelayedFeedbackKernel) -> dict[str, Any]:
        return inner.info(state.inner)

    def solve_on_host(state: DelayedFeedbackKernel) -> bool:
        _check_room(state)
        return inner.solve_on_host(state.inner)

    return ScalarKernel(f"{inner.name}_delayed", initial_state, info, solve_on_host)


def _check_room(state: DelayedFeedbackKernel) -> None:
    """Raise where more was told than was asked for, which compiled code cannot say."""
    now, room = state.now[0], len(state.reports)
    if now["over_round"]:
        pair = int(now["over_first"]), int(now["over_second"])
        rule = f"has no room for the vote of round {now['over_round']} between arms "
        rule += f"{pair[0]} and {pair[1]}: {room} are waiting to be told"
        remedy = "tell it what it asked for alone, or take the policy without the delay"
        raise SimulationArgumentError("DelayedFeedback", rule, pair, remedy=remedy)


@inlined
def init(state: DelayedFeedbackKernel, rng: Generator) -> None:
    """Prepare the policy."""
    scalar_kernel.init(state.inner, rng)


@inlined
def choose(state: DelayedFeedbackKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Tell the policy what has arrived, and let it choose."""
    now = state.now[0]
    if round_ > now.due:
        _tell(state, rng)
        if is_waiting(state):
            return ScalarDuel(0, 0, 0, 0, False)
        now.due = ((round_ - 1) // now.every + 1) * now.every
    duel = scalar_kernel.choose(state.inner, rng, round_)
    now.noted = scalar_kernel.note(state.inner)
    return duel


@inlined
def update(
    state: DelayedFeedbackKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """File a report; one that nobody asked for may have no room."""
    now = state.now[0]
    if now.number == len(state.reports):
        if now.over_round == 0:
            now.over_round, now.over_first, now.over_second = round_, first, second
        return
    report = state.reports[now.number]
    report.round, report.first, report.second = round_, first, second
    report.won, report.noted = won, now.noted
    now.number += 1


@compiled
def _tell(state: DelayedFeedbackKernel, rng: Generator) -> None:
    """Tell the policy all reports, in their order and each with its own round.

    Stops where the policy comes to wait for the host; it goes on from there.
    """
    now = state.now[0]
    while now.told < now.number:
        report = state.reports[now.told]
        now.told += 1
        first, second = report.first, report.second
        scalar_kernel.recall(state.inner, first, second, report.noted)
        won = report.won > 0
        scalar_kernel.update(state.inner, rng, report.round, first, second, won)
        if is_waiting(state):
            return
    now.number = now.told = 0


@inlined
def is_waiting(state: DelayedFeedbackKernel) -> bool:
    """Say what the policy says; the host also looks at what had no room."""
    return state.now[0].over_round > 0 or scalar_kernel.is_waiting(state.inner)


@inlined
def reads_self_duels(state: DelayedFeedbackKernel) -> bool:
    """Say what the policy says."""
    return scalar_kernel.reads_self_duels(state.inner)


@inlined
def recommend(state: DelayedFeedbackKernel, rng: Generator) -> int:
    """Return the recommendation of the policy, after what arrives with the last round.

    What is on its way at the horizon it does not know.
    """
    if state.now[0].horizon % state.now[0].every == 0:
        _tell(state, rng)
    return scalar_kernel.recommend(state.inner, rng)


scalar_kernel.implement(
    DelayedFeedbackKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
    is_waiting=is_waiting,
)
