"""Random pairs, the rule that learns nothing from what it sees."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import DRAWS, Duel, KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import count_win, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarKernel


@register("random", acronym="Random")
class RandomPairs(KernelPolicy):
    """Uniformly random pairs.

    Both arms of every duel are drawn at random, whatever the outcomes so far.

    Use it as a yardstick for other policies. With ``distinct=true`` it compares all
    pairs equally often on average.

    Parameters
    ----------
    distinct : bool
        Draw two different arms.

    Notes
    -----
    **Rule.** In each round draw both arms uniformly at random. So on average an arm
    meets itself in one of K rounds, and the mean regret of every round is the same.
    With ``distinct=True`` two different arms are drawn.

    **Look-ahead.** None. To play several rounds at once, all duels of one pair would
    have to come one after the other, and a checkpoint in between would record wrong
    counts.

    References
    ----------
    The baseline of J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound
    and Optimal Algorithm in Dueling Bandit Problem", COLT 2015.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("random").label
    'Random'
    """

    assumes = ()

    distinct: bool = False

    title: ClassVar[str] = "Random pairs"
    in_batches: ClassVar[str] = DRAWS

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> RandomPairsKernel:
            pairs = np.zeros((len(order), len(order)), dtype=_PAIR)
            return RandomPairsKernel(pairs, np.full(1, self.distinct, dtype=np.int64))

        return ScalarKernel("random_pairs", initial_state)


_PAIR = np.dtype([("wins", np.int64)])


class RandomPairsKernel(NamedTuple):
    """The state of one run."""

    pairs: Records
    distinct: Int[np.ndarray, " 1"]


@compiled
def choose(state: RandomPairsKernel, rng: Generator, round_: int) -> Duel:
    """Draw a pair."""
    num_arms = len(state.pairs)
    first = choose_index(rng, num_arms)
    if state.distinct[0]:
        second = (first + 1 + choose_index(rng, num_arms - 1)) % num_arms
    else:
        second = choose_index(rng, num_arms)
    return Duel(first, 0, first, second, True)


scalar_kernel.implement(
    RandomPairsKernel, choose=choose, update=count_win, recommend=recommend_most_beaten
)
