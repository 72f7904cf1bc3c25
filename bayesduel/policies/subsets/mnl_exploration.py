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

    MNL-EE computes an upper confidence bound on the weight of each arm, and finds the
    set that would be best with these weights. It offers this set until a customer
    chooses nothing, and then updates the bounds.

    Use it to compare with MNL-TS, which has less regret.

    Parameters
    ----------
    scale : float
        Factor s of the confidence bounds; 48 in the paper.
    init_index : {"inf", "one"}
        Index of an arm that was never offered.
    cap : bool
        Cap indices at 1, which is right if v_i <= 1 (not in the paper; ties at random).
    look_ahead : bool
        Play an epoch in one step.

    Notes
    -----
    **Rule.** In an *epoch* one set is offered until a customer chooses nothing. Up to
    the end of epoch l, arm i was offered in :math:`n_i` epochs and was purchased
    :math:`V_i` times in them, :math:`m_i=V_i/n_i` times per epoch. Let
    :math:`L=s\log(\sqrt n\,l+1)`, where s is ``scale`` and n the number of arms
    (natural logarithm). At the start of an epoch:

    1. Compute the index of every arm, :math:`m_i+\sqrt{m_iL/n_i}+L/n_i`.
    2. Offer the set with the largest expected revenue :math:`\sum r_iv_i/(1+\sum v_i)`,
       with the indices as the weights :math:`v_i`, of at most k arms (exactly k with
       equal revenues). Ties are broken at random.

    The recommendation is the set with the largest expected revenue if :math:`m_i` are
    the weights.

    **Assumptions.** Multinomial logit, where no weight :math:`v_i` is larger than that
    of choosing nothing, which is 1.

    **Deviation.** In the paper an arm that was never offered keeps the index 1. For
    about a thousand epochs this is far below the indices of the other arms. Taken
    literally, the rule offers the first k arms during all that time. Here such arms
    come first, and the argument by optimism remains valid. ``init_index="one"`` gives
    the published rule.

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
