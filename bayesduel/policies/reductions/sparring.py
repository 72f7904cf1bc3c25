"""Sparring (Ailon, Karnin and Joachims 2014).

Bounds of UCB machines are kept as share and width. Every round feeds both machines, so
that the number of the pull is that of the round.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.models.in_policies.betas import BetaArms
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.ops.scalar.draws import draw_beta
from bayesduel.policies import scalar_kernel
from bayesduel.policies.parameter_values import check_beta
from bayesduel.policies.policy import Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_choices import among_largest
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_above, one_of

INNER = ("ucb", "ts")  # Names of the machines


@register("sparring", acronym="Sparring")
class Sparring(KernelPolicy):
    """Sparring: two ordinary bandit algorithms that choose one arm of the duel each.

    Sparring lets two ordinary bandit algorithms choose the two arms of each duel, one
    arm each. An algorithm receives a reward if its arm wins. So both learn to choose an
    arm that wins against the choices of the other one.

    Use it as a baseline for reductions to ordinary bandits. Without a Condorcet winner
    its regret is large.

    Parameters
    ----------
    inner : {"ucb", "ts"}
        The bandit algorithm: "ucb" for UCB, or "ts" for Thompson sampling.
    alpha : float
        Width of the UCB bounds, sqrt((alpha + 2) log s / (2 n)); 3 gives sqrt(2.5 log s
        / n).
    posterior : BetaArms
        Posterior of Thompson sampling; UCB does not use it. Its ``prior`` may be given
        by name instead, as in ``policies.get("sparring", inner="ts", prior=2)``.

    Notes
    -----
    **Rule.** In each round:

    1. The left and the right algorithm (UCB, or Thompson sampling) choose an arm each.
       Arms that an algorithm has never chosen come first.
    2. The left algorithm receives the reward 1 if its arm wins and 0 otherwise. The
       right one receives the opposite.

    A duel of an arm with itself is decided by a fair coin and gives rewards, too.
    Without these rewards it would be a different algorithm. Logarithms are natural, and
    ties are broken at random.

    **Assumptions.** A utility model. The rewards of each algorithm are not stationary,
    because the other one learns. No theorem covers other preferences.

    **Look-ahead.** None: every round gives rewards.

    References
    ----------
    N. Ailon, Z. Karnin, T. Joachims, "Reducing Dueling Bandits to Cardinal Bandits",
    ICML 2014, Algorithms 3 and 4.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("sparring", alpha=4.5).label
    'Sparring:alpha=4.5'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    inner: str = checked("ucb", one_of, INNER)
    alpha: float = checked(3.0, number_above, 0)
    posterior: BetaArms = BetaArms()

    title: ClassVar[str] = "Sparring"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        check_beta(self.posterior, BetaArms, num_arms)

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> SparringKernel:
            state = SparringKernel(
                machines=np.zeros((2, len(order)), dtype=_ARM),
                now=np.zeros(1, dtype=_NOW),
            )
            state.now["samples"] = self.inner == "ts"
            state.now["prior"] = self.posterior.prior
            state.now["numerator"] = 0.5 * (self.alpha + 2.0)
            # Arms that were never pulled come first.
            state.machines["share"] = np.inf
            return state

        return ScalarKernel("sparring", initial_state)


_LEFT, _RIGHT = 0, 1

# Fields that stay the same in a run
_NOW = np.dtype(
    [
        ("samples", np.int64),  # By Thompson sampling, and not by UCB.
        ("numerator", np.float64),  # Pulls times the square of the width.
        ("prior", np.float64),  # Pseudo-gains and pseudo-losses of each arm.
    ]
)
_ARM = np.dtype(
    [
        ("pulls", np.int64),
        ("gains", np.int64),
        # Its index before pull s is share + width * sqrt(log s).
        ("share", np.float64),
        ("width", np.float64),
    ]
)


class SparringKernel(NamedTuple):
    """The state of one run."""

    machines: Records  # 2 x K of ``_ARM``.
    now: Records  # One of ``_NOW``.


@compiled
def choose(state: SparringKernel, rng: Generator, round_: int) -> Duel:
    """Let each machine name an arm."""
    root = math.sqrt(math.log(float(round_)))
    if state.now[0].samples:
        first = _largest_draw(state, rng, _LEFT)
        second = _largest_draw(state, rng, _RIGHT)
    else:
        first = _largest_index(state.machines[_LEFT], rng, root)
        second = _largest_index(state.machines[_RIGHT], rng, root)
    return Duel(first, 0, first, second, True)


@compiled
def _largest_index(arms: Records, rng: Generator, root: float) -> int:
    """Return the arm that a machine names; ties at random."""
    best, largest, number = 0, -1.0, 0
    for arm in range(arms.size):
        index = arms[arm].share + arms[arm].width * root
        largest, number, leads = among_largest(rng, index, largest, number)
        if leads:
            best = arm
    return best


@compiled
def _largest_draw(state: SparringKernel, rng: Generator, side: int) -> int:
    """Return the arm with the largest draw; some may be rounded to 1."""
    best, largest, number, prior = 0, -1.0, 0, state.now[0].prior
    for arm in range(state.machines.shape[1]):
        machine = state.machines[side, arm]
        draw = draw_beta(
            rng, prior + machine.gains, prior + machine.pulls - machine.gains
        )
        largest, number, leads = among_largest(rng, draw, largest, number)
        if leads:
            best = arm
    return best


@compiled
def update(
    state: SparringKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Feed both machines; of a self-duel toss the coin."""
    if first == second:
        won = rng.random() < 0.5
    _feed(state, state.machines[_LEFT, first], won)
    _feed(state, state.machines[_RIGHT, second], not won)


@compiled
def reads_self_duels(state: SparringKernel) -> bool:
    """Say that each machine learns from every round."""
    return True


@compiled
def _feed(state: SparringKernel, arm: Records, gain: bool) -> None:
    arm.pulls += 1
    arm.gains += gain
    arm.share = arm.gains / arm.pulls
    arm.width = math.sqrt(state.now[0].numerator / arm.pulls)


@compiled
def recommend(state: SparringKernel, rng: Generator) -> int:
    """Return the arm with the most pulls over both machines; ties at random."""
    best, most, number = 0, -1, 0
    for arm in range(state.machines.shape[1]):
        pulls = state.machines[_LEFT, arm].pulls + state.machines[_RIGHT, arm].pulls
        most, number, leads = among_largest(rng, pulls, most, number)
        if leads:
            best = arm
    return best


scalar_kernel.implement(
    SparringKernel,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
)
