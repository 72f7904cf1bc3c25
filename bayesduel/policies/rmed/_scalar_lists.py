"""The lists of the RMED family (Komiyama et al. 2015, 2016) as one queue.

A pass plays the elements of a current list, in order; meanwhile elements due again are
appended, in order, to the list of the next pass.

What is left of a pass comes before what was appended for the next one, and no element
stands in both. So the two lists are a queue, whose elements know that they are in it;
where a pass ends is a number. The state of a kernel has ``now`` with head, num_listed
and left_in_pass, and an array of ``elements`` with listed and is_listed.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.models.in_policies.scalar_betas import kl_to_half
from bayesduel.ops import rules
from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.policies.scalar_kernel import NOT_ASKED

PAIR_FIELDS = [
    ("wins", np.int64),  # [i, j]: duels of the pair that i won.
    ("draws", np.int64),  # Duels that were asked for, answered or not.
    ("gap", np.float64),  # [i, j]: estimated P(i beats j) - 1/2; 0 before any duel.
    ("divergence", np.float64),  # KL(mu_ij, 1/2)
    ("evidence", np.float64),  # N_ij KL(mu_ij, 1/2)
]

lowest = compiled(rules.lowest)

# Fields of ``now``
DRAWS_FIELDS = [
    ("fewest", np.int64),  # Draws of the pairs that were drawn least often,
    ("num_fewest", np.int64),  # and how many pairs these are.
]


@compiled
def count_duel(state: Any, first: int, second: int, won: bool) -> None:
    """Count an outcome and refresh the evidence of its pair."""
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    forward.wins += won
    backward.wins += not won
    duels = forward.wins + backward.wins
    gap = 0.5 * (forward.wins - backward.wins) / duels
    forward.gap, backward.gap = gap, -gap
    divergence = kl_to_half(abs(gap))
    forward.divergence = backward.divergence = divergence
    forward.evidence = backward.evidence = duels * divergence


@compiled
def count_ahead(state: Any, first: int, second: int, won: bool, votes: int) -> int:
    """Count votes that were not asked for, and that they were drawn."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += votes
    draws = state.pairs[first, second].draws
    state.pairs[first, second].draws = state.pairs[second, first].draws = draws + votes
    if votes > 0 and draws == state.now[0].fewest:
        state.now[0].num_fewest -= 1
        if state.now[0].num_fewest == 0:
            find_fewest(state)
    return votes


@compiled
def count_draw(state: Any, first: int, second: int) -> None:
    """Count a duel that is asked for; how many there are is known at once."""
    draws = state.pairs[first, second].draws + 1
    state.pairs[first, second].draws = state.pairs[second, first].draws = draws
    if draws == state.now[0].fewest + 1:
        state.now[0].num_fewest -= 1
        if state.now[0].num_fewest == 0:
            find_fewest(state)


@compiled
def find_fewest(state: Any) -> None:
    """Find the pairs that were drawn least often."""
    now, num_arms = state.now[0], len(state.pairs)
    now.fewest, now.num_fewest = state.pairs[0, 1].draws, 0
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            draws = state.pairs[i, j].draws
            if draws < now.fewest:
                now.fewest, now.num_fewest = draws, 0
            now.num_fewest += draws == now.fewest


@compiled
def init(state: Any, rng: Generator) -> None:
    """Count the pairs that were never drawn."""
    find_fewest(state)


# Fields of ``now``
LIST_FIELDS = [
    ("head", np.int64),  # Where the element to be played next stands.
    ("num_listed", np.int64),
    ("left_in_pass", np.int64),  # 0 where a pass is about to begin.
    ("tests", np.int64),  # How often it was tested what is due.
    ("is_in_turn", np.int64),  # Whether the duel that was chosen is of the lists.
]
ELEMENT_FIELDS = [
    ("listed", np.int64),  # Not of the element: the queue, in a circle.
    ("is_listed", np.int64),
    ("last_due", np.int64),  # The last test by which it was due, -1 if there is none.
]


def first_pass(state: Any, elements: Records, count: int) -> None:
    """Let the first ``count`` elements be due in a new state; by the host."""
    state.now["num_listed"] = count
    elements["listed"] = np.arange(len(elements))
    elements["is_listed"][:count] = True
    elements["last_due"][count:] = -1


@compiled
def is_only_element(now: Any) -> bool:
    """Say whether a pass of the next element alone is about to begin."""
    return now.num_listed == 1 and now.left_in_pass == 0


@compiled
def refill_if_empty(now: Any, elements: Records) -> None:
    """Let what was due by the last test be due again where nothing is left."""
    # Only with outcomes on their way: then nothing may have been appended.
    if now.num_listed == 0:
        for element in range(elements.size):
            if elements[element].last_due == now.tests:
                append(now, elements, element)


@compiled
def append(now: Any, elements: Records, element: int) -> None:
    """Append an element that is due by the test now, unless it is still to come."""
    elements[element].last_due = now.tests
    if not elements[element].is_listed:
        elements[element].is_listed = True
        index = now.head + now.num_listed
        if index >= elements.size:
            index -= elements.size
        elements[index].listed = element
        now.num_listed += 1


@compiled
def take(now: Any, elements: Records) -> None:
    """Take the next element out of the queue."""
    elements[elements[now.head].listed].is_listed = False
    if now.left_in_pass == 0:
        now.left_in_pass = now.num_listed
    now.left_in_pass -= 1
    now.num_listed -= 1
    now.head += 1
    if now.head == elements.size:
        now.head = 0


@compiled
def reads_self_duels(state: Any) -> bool:
    """Say that there is a test after a self-duel, too."""
    return True


@compiled
def note(state: Any) -> int:
    """Return whether the duel is of the lists."""
    return state.now[0].is_in_turn


@compiled
def recall(state: Any, first: int, second: int, noted: int) -> None:
    """Recall whether the duel is of the lists; one that nobody asked for is not."""
    state.now[0].is_in_turn = max(noted, 0)
    if noted == NOT_ASKED:
        count_draw(state, first, second)
