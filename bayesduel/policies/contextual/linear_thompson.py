"""D-TS and RD-TS over linear utilities where features are new in every round."""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import World
from bayesduel.ops.rules import among_largest, one_of_largest, record
from bayesduel.policies.contextual.estimation import (
    log_one_plus_exp,
    logistic,
    lower_root,
    products,
    proposal,
    utilities,
)
from bayesduel.policies.contextual.feel_good import FeelGoodThompson
from bayesduel.policies.contextual.linear_policy import LinearPolicy, LinearState
from bayesduel.policies.policy import DRAWS, PolicyBase, Problem, checked
from theory.arguments import one_of

_LEAST_GAIN = 1e-20

# Least cost of a pair, in units of the largest estimated one: estimates may be 0
_LEAST_COST = 0.01


class LinearRivals(LinearPolicy):
    r"""RD-TS over linear utilities, for features that are new in every round.

    ``rd-ts:posterior=linear`` is played in this form wherever features change.

    Parameters
    ----------
    cost : {"regret", "duels"}
        What a duel costs: its estimated regret ``utility_mean``, or 1 each.
    ridge : float
        The precision of the normal prior of the coefficients, above 0.

    Notes
    -----
    **Rule.** In every round:

    1. The leader has the largest utility :math:`x^\top\hat\theta` at the mode.
    2. Draw :math:`\theta'` from the normal distribution at the mode. If the leader is
       the best arm of the draw it meets itself; otherwise the best arm is the rival.
    3. The rival's world is the likeliest :math:`\theta''` in which leader and rival
       have the same utility, in the normal approximation. Show the pair whose outcome
       has the largest divergence from that world per regret, at the mode.

    With ``cost="duels"`` every duel costs the same, no arm meets itself, and a rival is
    drawn in proportion to the likelihood of its world.

    Examples
    --------
    >>> import bayesduel
    >>> from bayesduel.instances.worlds import LinearContexts
    >>> from bayesduel.policies.contextual.linear_thompson import LinearRivals
    >>> policy = LinearRivals(compiled=False)  # Python is faster for a few rounds.
    >>> result = bayesduel.simulate(LinearContexts(), policy, num_runs=2, horizon=50)
    >>> result["regret"].sizes["run"]
    2
    """

    cost: str = checked("regret", one_of, ("regret", "duels"))

    title: ClassVar[str] = "Rival-directed Thompson sampling of linear utilities"
    needs_horizon: ClassVar[bool] = False
    in_batches: ClassVar[str] = DRAWS

    def numbers(self, size: int, problem: Problem) -> Any:
        """Return nothing that is needed."""
        return record(rival=-1)

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: LinearState,
        rng: Generator,
        round_: int,
        features: Float[np.ndarray, "K d"],
    ) -> tuple[int, int]:
        """Draw a rival, and show the pair that tells most of it per cost."""
        fit = state.fit
        utility = utilities(features, fit.theta)
        state.latest[:] = utility
        leader = one_of_largest(rng, utility)
        values = products(features, fit.inverse)
        by_regret = self.cost == "regret"
        if by_regret:
            drawn = proposal(fit, lower_root(fit.inverse), rng, 1.0)[0]
            rival = one_of_largest(rng, utilities(features, drawn))
        else:
            rival = likely_rival(rng, utility, values, leader)
        state.now.rival = rival
        if rival == leader:
            return leader, leader
        gap = utility[rival] - utility[leader]
        norm = values[rival, rival] + values[leader, leader]
        norm = max(norm - 2.0 * values[rival, leader], 1e-300)
        # theta'' = theta - H^-1 z (z' theta) / (z' H^-1 z), with z of rival and leader.
        moved = np.zeros(len(utility))
        for arm in range(len(utility)):
            shift = values[arm, rival] - values[arm, leader]
            moved[arm] = utility[arm] - shift * gap / norm
        best, lowest = utility[leader], utility.min()
        least = _LEAST_COST * (best - lowest) + 1e-12
        first, second, number, largest = leader, rival, 0, -np.inf
        for i in range(len(utility)):
            for j in range(i):
                gain = divergence(utility[i] - utility[j], moved[i] - moved[j])
                if (i == leader and j == rival) or (i == rival and j == leader):
                    gain = max(gain, _LEAST_GAIN)
                if by_regret:
                    gain /= max(best - (utility[i] + utility[j]) / 2, least)
                largest, number, leads = among_largest(rng, gain, largest, number)
                if leads:
                    first, second = i, j
        if rng.random() < 0.5:
            return second, first
        return first, second


def likely_rival(
    rng: Generator,
    utility: Float[np.ndarray, " K"],
    values: Float[np.ndarray, "K K"],
    leader: int,
) -> int:
    """Draw a rival in proportion to the likelihood of its world."""
    falls = np.zeros(len(utility))
    for arm in range(len(utility)):
        norm = values[arm, arm] + values[leader, leader] - 2 * values[arm, leader]
        gap = utility[arm] - utility[leader]
        falls[arm] = math.inf if arm == leader else gap * gap / (2 * max(norm, 1e-300))
    least, total = falls.min(), 0.0
    for arm in range(len(utility)):
        falls[arm] = math.exp(least - falls[arm])
        total += falls[arm]
    left, rival = rng.random() * total, -1
    for arm in range(len(utility)):
        if arm != leader and (rival < 0 or left >= 0.0):
            rival = arm
        left -= falls[arm]
    return rival


def divergence(gap: float, assumed: float) -> float:
    """Return KL of the outcomes of a duel, in nats, of two gaps of utilities."""
    p = logistic(gap)
    won = log_one_plus_exp(-assumed) - log_one_plus_exp(-gap)
    return max(p * won + (1 - p) * (won + assumed - gap), 0.0)


# --- Which form a policy has ----------------------------------------------------------


def in_world(policy: PolicyBase, world: World) -> PolicyBase:
    """Return a policy in the form that plays in a world with its features."""
    if world.arm_features is not None or not world.defines("features"):
        return policy
    return contextual_form(policy)


def contextual_form(policy: PolicyBase) -> PolicyBase:
    """Return a policy over linear utilities in the form for features of a round."""
    # D-TS without bounds on pairs is that of FGTS: two independent draws.
    from bayesduel.models.linear_utilities import LinearUtilities
    from bayesduel.policies.thompson.double_thompson import DoubleThompson
    from bayesduel.policies.thompson.rival_directed import RivalDirectedThompson

    inner = getattr(policy, "policy", None)
    if isinstance(inner, PolicyBase):
        changed = contextual_form(inner)
        form: Any = policy
        return policy if changed is inner else replace(form, policy=changed)
    model = getattr(getattr(policy, "posterior", None), "model", None)
    if not isinstance(model, LinearUtilities) or not model.lacks_features:
        return policy
    plain = LinearUtilities(covariate_scale=model.covariate_scale)
    if model != plain:
        raise PolicyParameterError(
            "model",
            "must be LinearUtilities() with no parameter but covariate_scale, where "
            "features are new in every round",
            model,
            remedy="leave out the others",
        )
    ridge = model.covariate_scale**-2
    if isinstance(policy, DoubleThompson):
        return FeelGoodThompson(eta=1.0, feel_good=0.0, ridge=ridge, steps=2)
    if isinstance(policy, RivalDirectedThompson) and policy.cost != "prices":
        return LinearRivals(cost=policy.cost, ridge=ridge)
    return policy
