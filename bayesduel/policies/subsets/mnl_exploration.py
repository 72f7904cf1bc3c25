"""Exploration-Exploitation for the MNL bandit (Agrawal et al. 2019)."""

import math
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.policies.policy import Problem, checked
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import Offer
from bayesduel.policies.subsets._epochs import (
    EpochPolicy,
    Epochs,
    begin_epoch,
    best_assortment,
    no_epochs,
    offer_of_epoch,
)
from theory.arguments import number_above, one_of


class OptimisticState(NamedTuple):
    """The epochs, and what an index may be."""

    epochs: Epochs
    unseen: float  # The index of an arm never offered.
    most: float  # The largest index of other arms.


@register("mnl-ee", acronym="MNL-EE")
class MNLExploration(EpochPolicy):
    r"""Optimistic assortments in epochs, for multinomial logit.

    Offers the best set under upper confidence bounds of the weights of the arms, until
    nobody chooses.

    Use it to compare with MNL-TS, which has less regret.

    Parameters
    ----------
    scale : float
        48 in the paper.
    init_index : {"inf", "one"}
        Index of an arm never offered.
    cap : bool
        Cap indices at 1, which v_i <= 1 allows (not in the paper; ties at random).
    look_ahead : bool
        Play epochs in one go.

    Notes
    -----
    **Rule.** An epoch offers one set until nobody chooses. After epoch l, arm i has
    :math:`n_i` epochs, :math:`V_i` purchases in them and :math:`m_i=V_i/n_i`. With
    :math:`L=s\log(\sqrt n\,l+1)`, s being ``scale`` (natural logarithm):

    1. The index of an arm is :math:`m_i+\sqrt{m_iL/n_i}+L/n_i`.
    2. Offer the set with the largest expected revenue :math:`\sum r_iv_i/(1+\sum v_i)`
       under the indices, at most k arms (exactly k with equal revenues). Ties at
       random.

    The recommendation is the set of largest expected revenue under the means
    :math:`m_i`.

    **Assumptions.** Multinomial logit with weights :math:`v_i\le1` of that of choosing
    nothing.

    **Deviation.** In the paper arms never offered keep the index 1, far below the
    indices of offered ones for about a thousand epochs: taken literally, the first k
    arms are repeated all that time. Here such arms come first, which leaves the
    argument by optimism intact. ``init_index="one"`` gives the published rule.

    **Look-ahead.** An epoch is one event; the distribution is the same as round by
    round.

    References
    ----------
    S. Agrawal, V. Avadhanula, V. Goyal, A. Zeevi, "MNL-Bandit: A Dynamic Learning
    Approach to Assortment Selection", Operations Research 67(5), 2019, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("mnl-ee", scale=72.0).label
    'MNL-EE:scale=72.0'
    """

    scale: float = checked(48.0, number_above, 0)
    init_index: str = checked("inf", one_of, ("inf", "one"))
    cap: bool = False
    look_ahead: bool = True

    title: ClassVar[str] = "Exploration-Exploitation for the MNL bandit"
    assumes = (FIXED_PREFERENCES,)

    def start(self, problem: Problem, rng: Generator) -> OptimisticState:
        """Return the state before the first round."""
        return OptimisticState(
            epochs=no_epochs(problem),
            unseen=math.inf if self.init_index == "inf" else 1.0,
            most=1.0 if self.cap else math.inf,
        )

    def choose(self, state: OptimisticState, rng: Generator, round_: int) -> Offer:
        """Begin an epoch, or go on with the present one."""
        epochs = state.epochs
        if epochs.now.begins:
            upper = indices(state, self.scale)
            best = best_assortment(rng, upper, epochs.revenues, epochs.size)
            begin_epoch(epochs, best)
        return offer_of_epoch(epochs, self.look_ahead)


def indices(state: OptimisticState, scale: float) -> Float[np.ndarray, " n"]:
    """Return m_i + sqrt(m_i L/n_i) + L/n_i, capped if asked for."""
    epochs, num_arms = state.epochs, len(state.epochs.number)
    width = scale * math.log1p(math.sqrt(num_arms) * epochs.now.finished)
    upper = np.full(num_arms, state.unseen)
    for arm in range(num_arms):
        if epochs.number[arm] > 0:
            mean = epochs.purchases[arm] / epochs.number[arm]
            share = width / epochs.number[arm]
            upper[arm] = min(mean + math.sqrt(mean * share) + share, state.most)
    return upper
