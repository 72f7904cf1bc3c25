"""Copeland Confidence Bound (Zoghi, Karnin, Whiteson and de Rijke 2015).

Beliefs and champions are kept until a bound moves. As long as none does, rounds are
independent, and those that are idle are jumped over.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.ops.scalar.draws import choose_index, hazard_of, waiting_time
from bayesduel.ops.scalar.splits import binomial
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import LIKELY_ANSWERS, Duel, KernelPolicy, checked
from bayesduel.policies.registry import register
from bayesduel.policies.scalar_bounds import (
    ARM_FIELDS,
    NOW_FIELDS,
    PAIR_FIELDS,
    UPPER_BOUND_FIELDS,
    count_duel,
    let_expire,
    start_bounds,
    start_upper_bounds,
)
from bayesduel.policies.scalar_choices import (
    among_largest,
    place_by_weight,
    recommend_most_beaten,
)
from bayesduel.policies.scalar_kernel import SEVERAL, ScalarKernel
from theory.arguments import number_above
from theory.theorems import ccb_order

BELIEF_NOW_FIELDS = [
    ("num_hopefuls", np.int64),
    ("losses", np.int64),  # L_C: the most losses that a Copeland winner may have.
]

BELIEF_ARM_FIELDS = [
    ("is_hopeful", np.int64),  # B_t: whether it may be a Copeland winner.
    ("is_winner", np.int64),  # Optimistic champion all of whose pairs are decided.
    ("num_superiors", np.int64),
]

BELIEF_PAIR_FIELDS = [
    # [i, place]: not of the pair: the arms believed to beat i, B_t^i.
    ("superior", np.int64)
]


@compiled
def believe_nothing(state: Any) -> None:
    """Set everything as at the start."""
    state.now[0].num_hopefuls = state.now[0].losses = state.arms.size
    for i in range(state.arms.size):
        state.arms[i].is_hopeful, state.arms[i].num_superiors = True, 0


@compiled
def revise(state: Any, rng: Generator) -> None:
    """Bring the beliefs in line with the bounds, and say who is a winner."""
    # The state stays stale where revising again would change more, as after a reset.
    now, arms = state.now[0], state.arms
    now.stale = False
    if _is_disproved(state):
        believe_nothing(state)
    fewest, surest = arms.size, 0
    for i in range(arms.size):
        fewest = min(fewest, arms[i].sure_losses)
        surest = max(surest, arms[i].sure_wins)
    for i in range(arms.size):
        if arms[i].is_hopeful and arms.size - 1 - arms[i].sure_losses < surest:
            arms[i].is_hopeful = False
            now.num_hopefuls -= 1
            if arms[i].num_superiors != now.losses + 1:
                # Believe in the sure losses alone.
                count = 0
                for other in range(arms.size):
                    if other != i and not state.pairs[i, other].eligible:
                        state.pairs[i, count].superior = other
                        count += 1
                arms[i].num_superiors = count
    if now.num_hopefuls == 0:
        believe_nothing(state)
        now.stale = True
    is_disproved = False
    for i in range(arms.size):
        is_best = arms[i].sure_losses == fewest
        arms[i].is_winner = is_best and arms[i].sure_wins == arms.size - 1 - fewest
        if arms[i].is_winner:
            is_disproved = True
            now.num_hopefuls += not arms[i].is_hopeful
            arms[i].is_hopeful = True
    if is_disproved:
        now.losses = fewest
        for i in range(arms.size):
            _keep_some(state, rng, i)


@compiled
def _is_disproved(state: Any) -> bool:
    """Say whether an arm surely beats one that was believed to beat it."""
    for i in range(state.arms.size):
        for index in range(state.arms[i].num_superiors):
            superior = state.pairs[i, index].superior
            if not state.pairs[superior, i].eligible:
                return True
    return False


@compiled
def _keep_some(state: Any, rng: Generator, arm: int) -> None:
    """Keep one more superior than a winner has losses, or none if there are fewer."""
    most, pairs = state.now[0].losses + 1, state.pairs
    count = state.arms[arm].num_superiors
    if state.arms[arm].is_winner or count < most:
        state.arms[arm].num_superiors = 0
        return
    for index in range(most if count > most else 0):
        drawn = index + choose_index(rng, count - index)
        superior = pairs[arm, drawn].superior
        pairs[arm, drawn].superior = pairs[arm, index].superior
        pairs[arm, index].superior = superior
    state.arms[arm].num_superiors = most


@compiled
def count_open_beliefs(state: Any) -> int:
    """Count the believed losses that the bounds do not decide."""
    count = 0
    for i in range(state.arms.size):
        for index in range(state.arms[i].num_superiors):
            superior = state.pairs[i, index].superior
            count += state.pairs[i, superior].resolved_until == 0
    return count


@compiled
def open_belief(state: Any, number: int) -> tuple[int, int]:
    """Return the open belief of this number, from 0: who loses, and to whom."""
    for i in range(state.arms.size):
        for index in range(state.arms[i].num_superiors):
            superior = state.pairs[i, index].superior
            if state.pairs[i, superior].resolved_until == 0:
                if number == 0:
                    return i, superior
                number -= 1
    return 0, 0


@register("ccb", acronym="CCB", theorems=(ccb_order,))
class CopelandConfidenceBound(KernelPolicy):
    r"""Copeland Confidence Bound (CCB).

    CCB looks for a Copeland winner with confidence bounds. It keeps the arms that may
    still be winners. For each other arm it keeps a short list of arms that are believed
    to beat it, and checks these beliefs.

    Use it as a baseline for D-TS, which needs no Condorcet winner either and has less
    regret.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds. The theory needs more than 1/2.
    look_ahead : bool
        Skip self-duels without stepping through them.

    Notes
    -----
    **Rule.** Let arm i have won :math:`w_{ij}` of its :math:`n_{ij}` duels
    against arm j. The bounds are :math:`w_{ij}/n_{ij}\pm\sqrt{\alpha\log t/n_{ij}}`
    (natural logarithm). A pair without duels has the upper bound 2 and the lower bound
    0, so nothing is decided. In each round:

    1. *Optimistic champions.* Count for each arm the others that it may beat, by the
       upper bounds. The arms with the largest count are the optimistic champions.
    2. *Potential winners and superiors.* Keep the arms that may still be Copeland
       winners. For each other arm keep a list of arms that are believed to beat it, its
       *superiors*. The list is just long enough to prove that the arm is no winner.
       When the bounds disprove one of these beliefs, discard all lists and keep all
       arms again.
    3. *Check a belief.* With probability 1/4 play a pair of an arm and one of its
       superiors for which the bounds have not decided yet.
    4. *Challenge a champion.* Otherwise draw an optimistic champion, with probability
       2/3 from those that are potential winners, if there are any. It meets the arm
       with the largest upper bound against it, among the arms that do not surely beat
       it. With probability 1/2 only the superiors of the champion are considered.

    Ties among opponents are broken at random, never in favor of the champion. If no
    superior of the champion is admissible in step 4, all arms are. (The paper does not
    say this; the program of Wu and Liu 2016 does so.) The superiors to keep are drawn
    independently for each arm.

    **Assumptions.** :math:`\alpha>1/2`. No Condorcet winner is needed.

    **Look-ahead.** A champion meets itself when all its pairs are decided. Until a
    bound reaches 1/2 the sets stay the same, and rounds are independent. The number of
    such self-duels then has a geometric distribution, from which it is drawn in one
    step. How often each champion meets itself is drawn in the same step. All counts
    have the same distribution as round by round.

    References
    ----------
    M. Zoghi, Z. Karnin, S. Whiteson, M. de Rijke, "Copeland Dueling Bandits", NIPS
    2015, Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ccb", alpha=0.765).label
    'CCB:alpha=0.765'
    """

    alpha: float = checked(0.51, number_above, 0.5)
    look_ahead: bool = True

    title: ClassVar[str] = "Copeland Confidence Bound"
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def scalar_kernel(self) -> Any:
        """Return the kernel."""

        def initial_state(
            order: Int[np.ndarray, " K"], horizon: int
        ) -> CopelandConfidenceBoundKernel:
            state = CopelandConfidenceBoundKernel(
                *tables(len(order), _NOW, _ARM, _PAIR)
            )
            state.now["look_ahead"] = self.look_ahead
            start_bounds(state, alpha=float(self.alpha))
            start_upper_bounds(state)
            return state

        return ScalarKernel("copeland_confidence_bound", initial_state)


_CHECK = 0.25  # How often a believed loss is checked, if there is an open one (line 5)

# How often the champion is taken from the potential winners (line 6)
_LOYALTY = 2.0 / 3.0

# How often the challenger is a believed superior of the champion (line 8)
_RIVALS = 0.5
_NOBODY = -1

_NOW = np.dtype(
    [
        *NOW_FIELDS,
        *BELIEF_NOW_FIELDS,
        ("look_ahead", np.int64),  # Whether idle rounds are jumped over.
        ("num_open_beliefs", np.int64),
        ("num_winners", np.int64),
        ("hazard", np.float64),  # -log P(a round is idle)
        ("checks", np.float64),  # P(a belief is checked in a round that is not idle)
    ]
)

_ARM = np.dtype(
    [
        *ARM_FIELDS,
        *BELIEF_ARM_FIELDS,
        ("weight", np.float64),  # P(champion), unless it would meet itself.
    ]
)

_PAIR = np.dtype([*PAIR_FIELDS, *UPPER_BOUND_FIELDS, *BELIEF_PAIR_FIELDS])


class CopelandConfidenceBoundKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.


@compiled
def init(state: CopelandConfidenceBoundKernel, rng: Generator) -> None:
    """Believe nothing."""
    believe_nothing(state)


@compiled
def choose(state: CopelandConfidenceBoundKernel, rng: Generator, round_: int) -> Duel:
    """Revise the beliefs, then choose the duel and the self-duels before it."""
    now = state.now[0]
    if now.next_expiry < round_:
        let_expire(state, round_)
    window = now.next_expiry - round_ + 1
    if now.stale:
        revise(state, rng)
        _weigh_champions(state)
        if now.stale:
            window = 1
    if not now.look_ahead:
        window = 1
    idle, happens, host = 0, True, 0
    if now.num_winners > 0:
        idle, happens = waiting_time(rng, now.hazard, window)
        if not (now.look_ahead or happens):
            host = _winner(state, choose_index(rng, now.num_winners))
            return Duel(host, 0, host, host, True)
        host = _winner(state, 0) if now.num_winners == 1 else SEVERAL
        if not happens:
            return Duel(host, idle, host, host, False)
    if now.checks > 0.0 and rng.random() < now.checks:
        belief = choose_index(rng, now.num_open_beliefs)
        first, second = open_belief(state, belief)
    else:
        first = place_by_weight(state.arms, state.arms.size, rng)
        second = _challenger(state, rng, first, round_ + idle)
    return Duel(host, idle, first, second, True)


@compiled
def _weigh_champions(state: CopelandConfidenceBoundKernel) -> None:
    """Find the distribution of a round (lines 5 to 7)."""
    # Winners meet themselves when they are champions: such rounds are idle.
    now, arms = state.now[0], state.arms
    fewest = arms.size
    for i in range(arms.size):
        fewest = min(fewest, arms[i].sure_losses)
    optimistic = both = now.num_winners = 0
    for i in range(arms.size):
        if arms[i].sure_losses == fewest:
            optimistic += 1
            both += arms[i].is_hopeful
            now.num_winners += arms[i].is_winner
    of_any = (1.0 - _LOYALTY if both > 0 else 1.0) / optimistic
    of_hopeful = of_any + (_LOYALTY / both if both > 0 else 0.0)
    busy = 0.0
    for i in range(arms.size):
        arms[i].weight = 0.0
        if arms[i].sure_losses == fewest and not arms[i].is_winner:
            arms[i].weight = of_hopeful if arms[i].is_hopeful else of_any
            busy += arms[i].weight
    now.num_open_beliefs = count_open_beliefs(state)
    check = _CHECK if now.num_open_beliefs > 0 else 0.0
    # A sum of probabilities may be rounded on either side of 1.
    probability = min(check + (1.0 - check) * busy, 1.0) if now.num_winners > 0 else 1.0
    now.hazard = hazard_of(probability)
    now.checks = check / probability if probability > 0.0 else 0.0


@compiled
def _winner(state: CopelandConfidenceBoundKernel, number: int) -> int:
    """Return the winner of this number, from 0."""
    arm = 0
    while number > 0 or not state.arms[arm].is_winner:
        number -= state.arms[arm].is_winner
        arm += 1
    return arm


@compiled
def share_idle_rounds(
    state: CopelandConfidenceBoundKernel,
    rng: Generator,
    rounds: int,
    shares: Int[np.ndarray, " K"],
) -> None:
    """Share the idle rounds among the winners, all of which are equally likely."""
    left = state.now[0].num_winners
    for arm in range(state.arms.size):
        if state.arms[arm].is_winner and rounds > 0:
            share = rounds if left == 1 else binomial(rng, rounds, 1.0 / left)
            shares[arm] = share
            rounds -= share
            left -= 1


@compiled
def _challenger(
    state: CopelandConfidenceBoundKernel, rng: Generator, champion: int, round_: int
) -> int:
    """Return the arm most optimistic against the champion (line 8)."""
    among_rivals = rng.random() < _RIVALS
    best = _most_optimistic(state, rng, champion, round_, among_rivals)
    if best == _NOBODY:
        best = _most_optimistic(state, rng, champion, round_, False)
    return best


@compiled
def _most_optimistic(
    state: CopelandConfidenceBoundKernel,
    rng: Generator,
    champion: int,
    round_: int,
    is_believed: bool,
) -> int:
    """Return the arm with the largest upper bound, of all or of those believed in."""
    # Only of pairs that are open. -1 if there is none; ties at random.
    arms, pairs = state.arms, state.pairs
    root = math.sqrt(math.log(float(round_)))
    best, largest, number = _NOBODY, -1.0, 0
    for index in range(arms[champion].num_superiors if is_believed else arms.size):
        arm = pairs[champion, index].superior if is_believed else index
        pair = pairs[arm, champion]
        if pair.resolved_until == 0 and arm != champion:
            upper = pair.share + pair.width * root
            largest, number, leads = among_largest(rng, upper, largest, number)
            if leads:
                best = arm
    return best


scalar_kernel.implement(
    CopelandConfidenceBoundKernel,
    init=init,
    choose=choose,
    update=count_duel,
    recommend=recommend_most_beaten,
    share_idle_rounds=share_idle_rounds,
)
