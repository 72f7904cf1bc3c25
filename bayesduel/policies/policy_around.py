"""Policies around another policy: delayed feedback, and no self-duels."""

from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import FrozenPolicy, Policy, PolicyBase, declared
from bayesduel.policies.subset_base import SubsetPolicy


class Manner(NamedTuple):
    """How duels are played."""

    every: int = 1  # After so many rounds the policy is told the outcomes so far
    self_duels: bool = True  # Whether the self-duels that it chooses are played

    # Where they are not: choices in a row without a duel after which it is done
    patience: int = LONGEST_HORIZON
    clock: int = 0  # Rounds of the policy's own clock before the first one

    # Segments and least change for which a monitor watches; None without one
    monitored: tuple[int, float] | None = None


STRAIGHT = Manner()


class PlaysAnother:
    """A policy that plays another one in a way of its own."""

    # How the loop over rounds plays it: fields of :class:`Manner`
    settings: ClassVar[dict[str, Any]]

    @property
    def played(self) -> PolicyBase:
        """The policy in the form that is played."""
        raise NotImplementedError


def step_form(policy: Any) -> PolicyBase:
    """Return a policy without look-ahead."""
    if any(field.name == "look_ahead" for field in fields(policy)):
        return replace(policy, look_ahead=False)
    return policy


def innermost(policy: PolicyBase) -> PolicyBase:
    """Return the policy that is played in the end, in the form that is played."""
    while isinstance(policy, PlaysAnother):
        policy = policy.played
    return policy


def rule_of(policy: PolicyBase) -> Policy | SubsetPolicy | None:
    """Return the rule in NumPy that a policy is, or is around."""
    inner = innermost(policy)
    return inner if isinstance(inner, Policy | SubsetPolicy) else None


def manner_of(policy: PolicyBase) -> Manner:
    """Return how a policy plays the one that it is around."""
    if not isinstance(policy, PlaysAnother):
        return STRAIGHT
    return manner_of(policy.played)._replace(**policy.settings)


class PolicyAround(PlaysAnother, FrozenPolicy):
    """A policy that plays another one, its field ``policy``, in a way of its own.

    Name and label are those of the policy with ``manner`` behind them.
    """

    policy: PolicyBase

    manner: ClassVar[str]  # How the policy is played, in the words of labels

    @property
    def played(self) -> PolicyBase:
        """The policy in the form that is played."""
        return self.policy

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it asks for several rounds of a pair at once."""
        return declared(self.policy, "explores_in_bulk")

    @property
    def needs_horizon(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the rule reads the horizon."""
        return declared(self.policy, "needs_horizon")

    @property
    def name(self) -> str:
        """Name of the policy, and how it is played."""
        return f"{self.policy.name}, {self.manner}"

    @property
    def label(self) -> str:
        """Acronym of the policy, and how it is played."""
        return f"{self.policy.label}, {self.manner}"


# --- Feedback that arrives in bunches -------------------------------------------------


class DelayedFeedback(PolicyAround):
    """Tell a policy the outcomes only once in ``every`` rounds.

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
    def manner(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How the policy is played, in the words of labels."""
        return f"told every {self.every} rounds"

    @property
    def settings(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How the loop over rounds plays it."""
        return {"every": self.every}

    @property
    def played(self) -> PolicyBase:
        """The policy in its round-by-round form."""
        return step_form(self.policy)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad delay or a bad parameter."""
        inner = self.policy
        fits = isinstance(inner, PolicyBase)
        if not fits or (
            isinstance(inner, PlaysAnother) and not isinstance(inner, WithoutSelfDuels)
        ):
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


# --- No self-duels --------------------------------------------------------------------


class WithoutSelfDuels(PolicyAround):
    """Play the duels of another policy in their order, without its self-duels.

    Policies that minimize regret let their champion meet itself nearly always. That
    teaches nothing; who pays for duels and wants a name, not regret, leaves it out. The
    policy counts its own rounds, self-duels included, so the distribution of its duels
    is the same; a run counts those that are played. Once a policy would explore no more
    within 2^62 rounds of its own, the arm that it recommends meets itself to the end.

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

    manner: ClassVar[str] = "no self-duels"
    settings: ClassVar[dict[str, Any]] = {"self_duels": False}

    @property
    def title(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name in words."""
        return f"{declared(self.policy, 'title')} without self-duels"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a policy that does not fit."""
        inner = self.policy
        fits = isinstance(inner, PolicyBase)
        is_around = isinstance(inner, PlaysAnother)
        fits = fits and (not is_around or isinstance(inner, DelayedFeedback))
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
