"""Monitored Dueling Bandits (Kolpaczki, Bengs and Hüllermeier 2022)."""

import math
from typing import Any, NamedTuple

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import KNOWN_HORIZON
from bayesduel.policies.policy import FrozenPolicy, PolicyBase, declared, kernel_of
from bayesduel.policies.policy_around import PlaysAnother, rule_of, step_form
from theory.arguments import integer_from, number_that


class Monitoring(NamedTuple):
    """The constants of a monitor, for a number of arms and a horizon T."""

    level: float  # C, the logarithm in the others.
    window: int  # w: outcomes of each pair that are compared, an even number.
    threshold: float  # b: a larger difference of wins is a change.
    share: float  # gamma: the part of all rounds that is spent on it, about.
    period: int  # Rounds from one look at all pairs to the next.


def monitoring(num_arms: int, horizon: int, segments: int, delta: float) -> Monitoring:
    """Return the constants that the authors' program computes."""
    # C = log((4T + 2) sqrt(T) / (sqrt(M) K)), w the smallest even number from 8 C /
    # delta^2 on, b = sqrt(w C / 2), gamma = sqrt(M w / T) (K - 1) / 2, and a period of
    # floor(K (K - 1) / (2 gamma)) rounds, with M ``segments``.
    root = math.sqrt(horizon)
    level = math.log((4 * horizon + 2) * root / (math.sqrt(segments) * num_arms))
    window = math.ceil(8 * level / delta**2)
    window += window % 2
    share = math.sqrt(segments * window / horizon) * (num_arms - 1) / 2
    period = math.floor(num_arms * (num_arms - 1) / 2 / share)
    threshold = math.sqrt(window * level / 2)
    return Monitoring(level, window, threshold, share, period)


class MonitoredDueling(PlaysAnother, FrozenPolicy):
    r"""Monitored Dueling Bandits (MDB): restart another policy after a change.

    MDB plays another policy, the inner one. From time to time it compares all pairs to
    see whether preferences have changed, and after a change the inner policy starts
    again from nothing.

    Use it if preferences change a few times, by jumps of a known size. If they never
    change, the inner policy alone has less regret.

    Parameters
    ----------
    inner : str
        A policy of dueling bandits by name, such as ``"rucb"``, or as
        ``"rucb:alpha=0.6"``.
    segments : int
        M, the number of segments in which preferences stay as they are; at least 1.
    delta : float
        In (0, 1]: some probability changes by at least this much from one segment to
        the next.

    Notes
    -----
    **Rule.** Let K be the number of arms and T the horizon.

    1. Each period begins with one duel of every pair of arms, in a fixed order. In the
       other rounds of the period the inner policy plays. It sees the outcomes of its
       own duels only, and counts its own rounds only.
    2. MDB keeps the last w outcomes of every pair from the duels of step 1. There is a
       change if a pair has w outcomes, and the wins of the first arm in the newer w/2
       differ from those in the older w/2 by more than b.
    3. After a change, MDB forgets all outcomes, and the inner policy starts again.

    The constants are those of the authors' program:
    :math:`C=\log\bigl((4T+2)\sqrt T/(\sqrt M\,K)\bigr)`; w is the smallest even
    number of at least :math:`8C/\delta^2`; :math:`b=\sqrt{wC/2}`;
    :math:`\gamma=\sqrt{Mw/T}\,(K-1)/2`; and a period has
    :math:`\lfloor K(K-1)/(2\gamma)\rfloor` rounds. :meth:`constants` returns w, b and
    the period.

    *Cost.* About :math:`\gamma T` of T rounds are spent on step 1, which is of order
    :math:`K\sqrt{MT\log T}/\delta`.

    *Differences from the paper.* The authors' program shuffles the pairs of step 1;
    here the arms have a random order in every run. There is no look-ahead, because a
    period is short.

    References
    ----------
    P. Kolpaczki, V. Bengs, E. Hüllermeier, "Non-Stationary Dueling Bandits",
    arXiv:2202.00935.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse_policy("mdb:inner=rucb,segments=5,delta=0.4").label
    'MDB of RUCB:segments=5,delta=0.4'
    """

    inner: str = "d-ts"
    segments: int = 10
    delta: float = 0.3

    title = "Monitored Dueling Bandits"
    needs_horizon = True
    assumes = (KNOWN_HORIZON,)

    @property
    def policy(self) -> PolicyBase:
        """The inner policy."""
        from bayesduel.policies.lookup import parse_policy

        return parse_policy(self.inner)

    @property
    def name(self) -> str:
        """Name for texts: ``mdb``."""
        return "mdb"

    @property
    def label(self) -> str:
        """Label of the inner policy, with the parameters of the monitor."""
        given = f"segments={self.segments},delta={self.delta:g}"
        return f"MDB of {self.policy.label}:{given}"

    @property
    def played(self) -> PolicyBase:
        """The inner policy in its round-by-round form."""
        return step_form(self.policy)

    @property
    def settings(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How the loop over rounds plays it."""
        return {"monitored": (self.segments, self.delta)}

    def constants(self, num_arms: int, horizon: int) -> Monitoring:
        """Return the constants of the monitor for a problem.

        Examples
        --------
        >>> from bayesduel import policies
        >>> constants = policies.MonitoredDueling(segments=10).constants(10, 10**6)
        >>> constants.window, constants.period, round(constants.threshold, 3)
        (1660, 77, 124.436)
        """
        return monitoring(num_arms, horizon, self.segments, self.delta)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` where no rounds are left to the policy."""
        kind = PolicyParameterError
        integer_from(self.segments, 1, "segments", kind=kind)
        number_that(
            self.delta, "delta", "in (0, 1]", lambda value: 0 < value <= 1, kind=kind
        )
        inner = self.policy
        is_plain = not isinstance(inner, PlaysAnother)
        if not is_plain or (rule_of(inner) is None and kernel_of(inner) is None):
            raise PolicyParameterError(
                "inner",
                "must be a policy of pairs that is told at once and is not over a "
                "NumPyro model",
                self.inner,
                remedy="take d-ts, d-ts+, rucb, ws-s or another one",
            )
        if declared(inner, "contextual"):
            raise PolicyParameterError(
                "inner",
                "must not be contextual: features change, not preferences",
                self.inner,
                remedy="take d-ts, d-ts+, rucb, ws-s or another one",
            )
        inner.check(num_arms, horizon)
        constants = self.constants(num_arms, horizon)
        pairs = num_arms * (num_arms - 1) // 2
        if constants.period <= pairs:
            raise PolicyParameterError(
                "horizon",
                f"must be longer for {self.label}: with {num_arms} arms it looks at "
                f"{pairs} pairs every {constants.period} rounds, so that none is left "
                "to the policy",
                horizon,
                remedy="take more rounds, a larger delta or fewer segments",
            )
