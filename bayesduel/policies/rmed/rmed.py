"""RMED1, RMED2 and RMED2FH (Komiyama, Honda, Kashima and Nakagawa 2015)."""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.resolved_rounds import last_round_within
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.rmed._scalar_lists import (
    DRAWS_FIELDS,
    ELEMENT_FIELDS,
    LIST_FIELDS,
    PAIR_FIELDS,
    append,
    count_ahead,
    count_draw,
    count_duel,
    first_pass,
    init,
    is_only_element,
    lowest,
    note,
    reads_self_duels,
    recall,
    refill_if_empty,
    take,
)
from bayesduel.policies.scalar_kernel import ScalarKernel
from theory.arguments import number_above, number_from
from theory.theorems import rmed1_bound


@register("rmed1", acronym="RMED1", theorems=(rmed1_bound,))
class RMED1(KernelPolicy):
    r"""Relative Minimum Empirical Divergence, first version (RMED1).

    RMED1 measures for every arm how much evidence there is that it is not the Condorcet
    winner. Arms with little evidence against them are compared further, usually with
    the arm that has the least evidence against it.

    Use it if there is a Condorcet winner. Its regret has the optimal slope in log t if
    duels with the winner are the cheapest evidence against every other arm. Without a
    Condorcet winner it never settles on an arm.

    Parameters
    ----------
    f_scale, f_power : float
        The function f of the rule is f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** Let :math:`\hat\mu_{ij}` be the share of the :math:`n_{ij}` duels of arms
    i and j that i won. The evidence against arm i being the Condorcet winner is
    :math:`I_i=\sum_jn_{ij}\,\mathrm{KL}(\hat\mu_{ij},1/2)`, a sum over the arms j that
    i does not beat (:math:`\hat\mu_{ij}\le1/2`). The arm with the least evidence is
    called i*, and its evidence I*. Logarithms are natural.

    1. Compare every pair once.
    2. Pass through a list of arms and play one duel for each arm l in it. The first
       list has all arms. If i* is among the arms that l does not beat, or if l beats
       all others, l meets i*. Otherwise it meets the arm against which it does worst.
    3. After every duel, the arms j with :math:`I_j-I^*\le\log t+f(K)` enter the list of
       the next pass. Here :math:`f(K)=0.3K^{1.01}`.

    An arm meets itself if it is i* and beats all others. So in the end the list has
    only i*, which meets itself until log t has grown enough for another arm to enter.

    The list is in the order of the arms (the environment shuffles them by default).
    Ties of evidence, which are frequent at first, go to the arm that comes first. An
    arm leaves the list when its duel is asked for, even if the outcome arrives later
    (with ``every=`` and in studies).

    **Assumptions.** A Condorcet winner.

    **Look-ahead.** While i* is alone in the list, only log t changes. The round at
    which another arm enters is computed; that round is still a self-duel. The duels are
    the same as round by round.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed1", f_scale=0.45).label
    'RMED1:f_scale=0.45'
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    f_scale: float = checked(0.3, number_from, 0)
    f_power: float = checked(1.01, number_from, 0)
    look_ahead: bool = True

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 1"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed1", **vars(self))


# --- RMED2 ----------------------------------------------------------------------------


@register("rmed2", acronym="RMED2")
class RMED2(RMED1):
    r"""Relative Minimum Empirical Divergence, second version (RMED2).

    RMED2 is RMED1 with another choice of opponents: each arm meets the opponent that
    proves at the least cost that the arm is not the winner.

    Use it if there is a Condorcet winner and the other arms beat each other much more
    clearly than the winner beats them. Without a Condorcet winner it never settles on
    an arm.

    Parameters
    ----------
    f_scale, f_power : float
        The function f of RMED1 is f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Above 0. Factor of the forced duels (step 1); 3 in the paper.
    numerator_floor : float
        Smallest numerator of the cost in step 2, whose estimate may be negative early
        on. 0.01 as in the authors' program; -1 for no floor, as in the paper.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** As :class:`RMED1`, with its estimates :math:`\hat\mu_{ij}`, its arm i* and
    its lists, and with two changes (natural logarithms):

    1. *Forced duels.* At the beginning of each pass every pair with fewer than
       :math:`\alpha\log\log t` duels is compared, in lexicographic order, one per
       round. These duels do not belong to the list.
    2. *Opponent.* Arm l meets :math:`b_l` instead of RMED1's opponent. This is the arm
       j with :math:`\hat\mu_{lj}<1/2` for which a duel with l costs the least regret
       per evidence: it minimizes
       :math:`(\hat\mu_{i^*l}+\hat\mu_{i^*j}-1)/\mathrm{KL}(\hat\mu_{lj},1/2)`. But l
       meets RMED1's opponent if it has met i* fewer than :math:`n_{l b_l}/\log\log t`
       times.

    The numerator is twice the estimated regret of the pair; it is taken to be at least
    ``numerator_floor``. For log log t, t is taken to be at least 3 in step 1, and at
    least 16 in step 2, where log log t is about 1. Both steps count duels when they are
    asked for, including those whose outcomes have not arrived. The order of the list
    and ties are as in RMED1.

    **Assumptions.** A Condorcet winner.

    **Look-ahead.** As in RMED1.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2", f_scale=0.45).label
    'RMED2:f_scale=0.45'
    """

    alpha: float = checked(3.0, number_above, 0)
    numerator_floor: float = checked(0.01, number_from, -1)

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed2", **vars(self))


# --- RMED2FH --------------------------------------------------------------------------


@register("rmed2fh", acronym="RMED2FH")
class RMED2FH(RMED2):
    r"""Relative Minimum Empirical Divergence 2, fixed horizon (RMED2FH).

    RMED2FH is a simpler form of RMED2 for a known horizon T: the opponents of all arms
    are fixed after a first phase.

    Use it with a Condorcet winner and a known horizon, to compare with RMED2.

    Parameters
    ----------
    f_scale, f_power : float
        The function f of RMED1 is f(K) = f_scale K^f_power; 0.3 K^1.01 in the paper.
    alpha : float
        Above 0. Factor of the number of initial duels (step 1); 3 in the paper.
    numerator_floor : float
        Smallest numerator of the cost of an opponent, as in RMED2.
    look_ahead : bool
        Skip self-duels without stepping through them; the duels are the same.

    Notes
    -----
    **Rule.** The rule is that of :class:`RMED2`, with three changes. Logarithms are
    natural.

    1. At first every pair is compared :math:`L=\max(1,\lceil\alpha\log\log T\rceil)`
       times, in L sweeps over all pairs in lexicographic order (the paper does not name
       an order).
    2. Then the opponents :math:`b_l` are computed once and for all. From here on no
       duels are forced.
    3. Arm l meets its :math:`b_l`, if l does not beat it. But l meets RMED1's opponent
       if it has met i* fewer than :math:`n_{l b_l}/\log\log T` times.

    For log log T, T is taken to be at least 3 in step 1 and at least 16 in step 3.
    Duels count when they are asked for. The opponents are computed when the outcomes of
    all initial duels have arrived. The order of the lists and ties are as in RMED1.

    **Assumptions.** A Condorcet winner, and a known horizon.

    **Look-ahead.** As in RMED1.

    References
    ----------
    J. Komiyama, J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal
    Algorithm in Dueling Bandit Problem", COLT 2015, Algorithms 1 and 3.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rmed2fh", f_scale=0.45).label
    'RMED2FH:f_scale=0.45'
    """

    title: ClassVar[str] = "Relative Minimum Empirical Divergence 2, fixed horizon"
    needs_horizon: ClassVar[bool] = True

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        return kernel("rmed2fh", **vars(self))


# --- Rounds and idle rounds of all three ----------------------------------------------


_RULES = "rmed1", "rmed2", "rmed2fh"
_RMED1, _RMED2, _RMED2FH = range(3)

_NOBODY = -1

_NOW = np.dtype(
    [
        *LIST_FIELDS,
        *DRAWS_FIELDS,
        ("look_ahead", np.int64),  # Whether idle rounds are jumped over.
        ("allowance", np.float64),  # f(K)
        ("rule", np.int64),
        ("alpha", np.float64),
        ("numerator_floor", np.float64),
        ("horizon", np.int64),
        # Initial sweeps that are not over, and the pair of them to be drawn next.
        ("sweeps_left", np.int64),
        ("row", np.int64),
        ("column", np.int64),
        ("best", np.int64),  # i*
    ]
)

_ARM = np.dtype(
    [
        *ELEMENT_FIELDS,
        ("against", np.float64),  # I_i
        ("num_unbeaten", np.int64),
        ("cost", np.float64),  # Not of the arm: of all arms as targets of one.
        ("target", np.int64),  # b_l of RMED2FH, -1 if there is none.
    ]
)


class RMEDKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``PAIR_FIELDS``.


def kernel(
    rule: str,
    *,
    look_ahead: bool,
    f_scale: float,
    f_power: float,
    alpha: float = 1.0,
    numerator_floor: float = 0.0,
) -> ScalarKernel:
    """Return the kernel of a rule; RMED1 has not the last two parameters."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> RMEDKernel:
        num_arms = len(order)
        state = RMEDKernel(*tables(num_arms, _NOW, _ARM, np.dtype(PAIR_FIELDS)))
        state.now["look_ahead"] = look_ahead
        state.now["allowance"] = float(f_scale) * float(num_arms) ** float(f_power)
        state.now["rule"] = _RULES.index(rule)
        state.now["alpha"] = alpha
        state.now["numerator_floor"] = numerator_floor
        state.now["horizon"] = horizon
        draws = math.ceil(float(alpha) * math.log(math.log(max(horizon, 3))))
        state.now["sweeps_left"] = max(1, draws) if rule == "rmed2fh" else 1
        state.now["column"] = 1
        state.arms["num_unbeaten"] = num_arms - 1
        state.arms["target"] = _NOBODY
        first_pass(state, state.arms, num_arms)
        return state

    return ScalarKernel("rmed", initial_state)


@compiled
def choose(state: RMEDKernel, rng: Generator, round_: int) -> Duel:
    """Choose the next duel of the sweep or of the pass."""
    now, arms = state.now[0], state.arms
    now.is_in_turn = False
    if now.sweeps_left > 0:
        first, second = now.row, now.column
        now.column += 1
        if now.column == arms.size:
            now.row += 1
            if now.row == arms.size - 1:
                now.row = 0
                now.sweeps_left -= 1
            now.column = now.row + 1
        count_draw(state, first, second)
        return Duel(first, 0, first, second, True)
    if (
        now.rule == _RMED2
        and now.left_in_pass == 0
        and math.log(float(max(round_, 3))) > _count_limit(now)
    ):
        first, second = _first_rare_pair(state, round_)
        count_draw(state, first, second)
        return Duel(first, 0, first, second, True)
    now.is_in_turn = True
    refill_if_empty(now, arms)
    arm = arms[now.head].listed
    opponent = _opponent(state, arm, round_)
    idle = 0
    if opponent != arm:
        count_draw(state, arm, opponent)
    elif now.look_ahead and is_only_element(now):
        idle = _self_duels(state, round_) - 1
    take(now, arms)
    return Duel(arm, idle, arm, opponent, True)


@compiled
def _count_limit(now: Records) -> float:
    """Log of the last round at which all pairs were drawn often enough."""
    return math.exp(now.fewest / now.alpha)


@compiled
def _first_rare_pair(state: RMEDKernel, round_: int) -> tuple[int, int]:
    """Return the first pair in lexicographic order that was drawn too rarely."""
    now, num_arms = state.now[0], state.arms.size
    log_t = math.log(float(max(round_, 3)))
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            if log_t > math.exp(state.pairs[i, j].draws / now.alpha):
                return i, j
    return 0, 0


@compiled
def _opponent(state: RMEDKernel, arm: int, round_: int) -> int:
    """Return whom an arm of the lists meets."""
    now, best = state.now[0], state.now[0].best
    if now.rule != _RMED1:
        target = _pursued(state, arm, round_)
        if target >= 0:
            return target
    unbeaten = arm != best and state.pairs[arm, best].gap <= 0.0
    if unbeaten or state.arms[arm].num_unbeaten == 0:
        return best
    worst = -1
    for opponent in range(state.arms.size):
        if opponent != arm:
            if (
                worst < 0
                or state.pairs[arm, opponent].gap < state.pairs[arm, worst].gap
            ):
                worst = opponent
    return worst


@compiled
def _pursued(state: RMEDKernel, arm: int, round_: int) -> int:
    """Return b_l; -1 if there is none, or it is beaten, or was met too often."""
    now, row = state.now[0], state.pairs[arm]
    if now.rule == _RMED2FH:
        target, round_ = state.arms[arm].target, now.horizon
    else:
        target = _target(state, arm)
    if target < 0 or row[target].gap > 0.0:
        return _NOBODY
    scale = math.log(math.log(float(max(round_, 16))))
    enough = row[now.best].draws * scale >= row[target].draws
    return target if enough else _NOBODY


@compiled
def _target(state: RMEDKernel, arm: int) -> int:
    """Return who proves at the least cost that an arm is not the best one, or -1."""
    now, arms, best = state.now[0], state.arms, state.now[0].best
    row = state.pairs[arm]
    has_target = False
    for opponent in range(arms.size):
        arms[opponent].cost = math.inf
        if row[opponent].gap < 0.0:
            has_target = True
            regret = state.pairs[best, arm].gap + state.pairs[best, opponent].gap
            regret = max(regret, now.numerator_floor)
            arms[opponent].cost = regret / row[opponent].divergence
    return lowest(arms.cost) if has_target else _NOBODY


@compiled
def _self_duels(state: RMEDKernel, round_: int) -> int:
    """Count the rounds up to and with the first whose test lets another arm in."""
    now, arms = state.now[0], state.arms
    nearest = math.inf
    for i in range(arms.size):
        if i != now.best:
            nearest = min(nearest, arms[i].against)
    nearest = nearest - _least_against(state) - now.allowance
    rounds = 1
    if math.log(float(round_)) < nearest:
        rounds = last_round_within(nearest, round_) - round_ + 2
    if now.rule == _RMED2:
        until_rare = last_round_within(_count_limit(now), round_) - round_ + 1
        rounds = min(rounds, until_rare)
    return rounds


@compiled
def _least_against(state: RMEDKernel) -> float:
    """I*; that of i* may be larger by rounding."""
    least = math.inf
    for i in range(state.arms.size):
        least = min(least, state.arms[i].against)
    return least


@compiled
def update(
    state: RMEDKernel, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Count the outcome, then test which arms are due in the next pass."""
    if first != second:
        _learn(state, first, second, won)
    if state.now[0].is_in_turn:
        # Which arms are due in the next pass: I_j - I* - f(K) <= log t.
        now, arms = state.now[0], state.arms
        least, log_t = _least_against(state), math.log(float(round_))
        now.tests += 1
        for i in range(arms.size):
            if arms[i].against - least - now.allowance <= log_t:
                append(now, arms, i)


@compiled
def _learn(state: RMEDKernel, first: int, second: int, won: bool) -> None:
    """Count the outcome of different arms."""
    count_duel(state, first, second, won)
    _refresh_evidence_against(state, first)
    _refresh_evidence_against(state, second)
    state.now[0].best = lowest(state.arms.against)
    is_last = state.now[0].sweeps_left == 0 and not state.now[0].is_in_turn
    if state.now[0].rule == _RMED2FH and is_last:
        for arm in range(state.arms.size):
            state.arms[arm].target = _target(state, arm)


@compiled
def _refresh_evidence_against(state: RMEDKernel, arm: int) -> None:
    """Add up I_i and count the arms behind it: those that ``arm`` does not beat."""
    total, number = 0.0, 0
    for opponent in range(state.arms.size):
        pair = state.pairs[arm, opponent]
        if opponent != arm and pair.gap <= 0.0:
            total += pair.evidence
            number += 1
    state.arms[arm].against, state.arms[arm].num_unbeaten = total, number


@compiled
def recommend(state: RMEDKernel, rng: Generator) -> int:
    """Return i*."""
    return state.now[0].best


scalar_kernel.implement(
    RMEDKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    count_ahead=count_ahead,
    reads_self_duels=reads_self_duels,
    note=note,
    recall=recall,
)
