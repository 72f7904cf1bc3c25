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

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.policies.rmed._scalar_pairs import count_draw
from bayesduel.policies.scalar_kernel import NOT_ASKED

LIST_FIELDS = [
    ("head", np.int64),  # Where the element to be played next stands.
    ("num_listed", np.int64),
    ("left_in_pass", np.int64),  # 0 where a pass is about to begin.
    ("tests", np.int64),  # How often it was tested what is due.
    ("is_in_turn", np.int64),  # Whether the duel that was chosen is of the lists.
]
"""Of ``now``."""

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


@inlined
def is_only_element(now: Any) -> bool:
    """Say whether a pass of the next element alone is about to begin."""
    return now.num_listed == 1 and now.left_in_pass == 0


@compiled
def refill_if_empty(now: Any, elements: Records) -> None:
    """Let what was due by the last test be due again where nothing is left.

    Without a delay that never happens. With outcomes on their way nothing may have been
    appended, and by all that is known the same elements are due.
    """
    if now.num_listed == 0:
        for element in range(elements.size):
            if elements[element].last_due == now.tests:
                append(now, elements, element)


@inlined
def append(now: Any, elements: Records, element: int) -> None:
    """Append an element that is due by the test now, unless it is still to come."""
    elements[element].last_due = now.tests
    if not elements[element].is_listed:
        elements[element].is_listed = True
        place = now.head + now.num_listed
        if place >= elements.size:
            place -= elements.size
        elements[place].listed = element
        now.num_listed += 1


@inlined
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


@inlined
def reads_self_duels(state: Any) -> bool:
    """Say that there is a test after a self-duel, too."""
    return True


@inlined
def note(state: Any) -> int:
    """Return whether the duel is of the lists."""
    return state.now[0].is_in_turn


@inlined
def recall(state: Any, first: int, second: int, noted: int) -> None:
    """Recall whether the duel is of the lists; one that nobody asked for is not."""
    state.now[0].is_in_turn = max(noted, 0)
    if noted == NOT_ASKED:
        count_draw(state, first, second)
