"""Beat the Winner (Peköz, Ross and Zhang 2022), and the form that starts anew."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.rules import record
from bayesduel.policies.policy import Duel, Policy, Problem, Wins
from bayesduel.policies.registry import register


class BeatTheWinnerState(NamedTuple):
    """Who has won so far, and who waits."""

    # K - 1 arms: the challenger at ``now.head``, and those who wait behind it.
    queue: Int[np.ndarray, " waiting"]
    # The ``incumbent``, the iteration r as ``target``, and wins of the two in it.
    now: Any


@register("btwr", acronym="BtWR", resets=True)
@register("btw", acronym="BtW")
class BeatTheWinner(Policy):
    """Beat the Winner (BtW), and Beat the Winner Reset (BtWR).

    BtW and BtWR keep weak regret small. Weak regret counts the rounds in which the best
    arm is not one of the two. In both policies the present winner, called the
    *incumbent*, meets the other arms in turn, in series that become longer and longer.
    So a good incumbent becomes ever harder to replace. BtWR returns to short series
    whenever the incumbent has lost.

    Use ``btwr`` for weak regret if preferences change now and then, with long stable
    periods between the changes. ``btw`` is there for comparison. If they never change
    use ``ws-w``, which had less weak regret in our measurements.

    Parameters
    ----------
    resets : bool
        Return to series of one win when the incumbent loses. False is BtW, True BtWR.

    Notes
    -----
    **Rule.** At first the arms stand in a queue in random order, and the first of them
    is the incumbent. Set r = 1. Then repeat:

    1. The incumbent and the arm at the head of the queue meet until one of them has won
       r duels.
    2. The one that has won r duels is the next incumbent. The other one goes to the end
       of the queue.
    3. r grows by 1. In BtWR, r returns to 1 instead if the incumbent has lost.

    There are no ties. The recommendation is the incumbent.

    The longer an arm of BtW has been the incumbent, the harder it is to replace. So in
    the end nearly all pairs contain the best arm. In BtWR a new incumbent is easy to
    replace, however late it comes. So another arm can take over after the preferences
    have changed. If they never change, this makes BtWR slower where gaps are small.

    **Assumptions.** A Condorcet winner. No bound on the weak regret with explicit
    constants is known here.

    **Look-ahead.** A series cannot end before one of the two arms has won the duels
    that it still lacks. That number of duels is requested at once. A run of BtW of
    :math:`10^{12}` rounds has about a million series, with at most a dozen such
    requests each.

    **Source of the rule.** Both forms follow the public program of the authors of the
    second reference, who name the first reference as the source of BtW. We had no
    access to the first reference.

    References
    ----------
    .. [1] E. Peköz, S. M. Ross, Z. Zhang, "Dueling Bandit Problems", Probability in the
       Engineering and Informational Sciences 36, 2022.
    .. [2] P. Kolpaczki, V. Bengs, E. Hüllermeier, "Non-Stationary Dueling Bandits",
       arXiv:2202.00935.

    Examples
    --------
    >>> import bayesduel
    >>> policy = bayesduel.policies.get("btwr", compiled=False)  # For a few rounds.
    >>> policy.label
    'BtWR'
    >>> result = bayesduel.simulate(
    ...     "cyclic", policy, num_runs=2, horizon=50, regret=["weak_binary"]
    ... )
    >>> result["regret"].sizes["run"]
    2
    """

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    resets: bool = False
    compiled = True

    title: ClassVar[str] = "Beat the Winner"
    explores_in_bulk: ClassVar[bool] = True

    def start(self, problem: Problem, rng: Generator) -> BeatTheWinnerState:
        """Draw the order of the queue."""
        order = rng.permutation(problem.num_arms).astype(np.int64)
        now = record(
            incumbent=int(order[0]), head=0, target=1, incumbent_wins=0, rival_wins=0
        )
        return BeatTheWinnerState(queue=order[1:].copy(), now=now)

    def choose(self, state: BeatTheWinnerState, rng: Generator, round_: int) -> Duel:
        """Let the incumbent meet the challenger as often as they do in any case."""
        now = state.now
        lacks = now.target - max(now.incumbent_wins, now.rival_wins)
        challenger = int(state.queue[now.head])
        return Duel(now.incumbent, 0, now.incumbent, challenger, lacks)

    def update(
        self,
        state: BeatTheWinnerState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: Wins,
    ) -> None:
        """Count wins; those of a pair from before say nothing."""
        now, queue = state.now, state.queue
        if first != now.incumbent or second != queue[now.head]:
            return
        now.incumbent_wins += won.won
        now.rival_wins += won.rounds - won.won
        if max(now.incumbent_wins, now.rival_wins) < now.target:
            return
        now.target += 1
        if now.rival_wins > now.incumbent_wins:
            now.incumbent, queue[now.head] = second, first
            if self.resets:
                now.target = 1
        now.incumbent_wins = now.rival_wins = 0
        now.head = (now.head + 1) % len(queue)

    def recommend(self, state: BeatTheWinnerState, rng: Generator) -> int:
        """Return the incumbent."""
        return state.now.incumbent
