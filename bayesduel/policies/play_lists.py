"""The lists of the RMED family (Komiyama et al. 2015, 2016).

A pass plays the elements of a current list, in order; meanwhile elements due again are
appended, in order, to the list of the next pass. Lists are kept as *ranks*: the place
of every element in the list, or -1. Finding the element to play and appending are then
comparisons and sums of fixed shape, and "not yet played in this pass" is rank >= place.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Int

from bayesduel.types import OnHost

_ABSENT = -1


class PlayLists(NamedTuple):
    """Where a run stands in its lists of M elements."""

    current: Int[Array, " M"]
    """Rank in the list of this pass, -1 if not in it."""

    place: Int[Array, ""]
    """Rank of the element to play next."""

    upcoming: Int[Array, " M"]
    """Rank in the list of the next pass, -1 if not (yet) in it."""

    last_due: Bool[Array, " M"]
    """What was due at the last `append`; before that, the first list."""


def first_pass(members: Bool[Array, " M"]) -> PlayLists:
    """Return lists whose first pass plays ``members`` in index order."""
    ranks = jnp.cumsum(members, dtype=jnp.int32) - 1
    return PlayLists(
        current=jnp.where(members, ranks, _ABSENT),
        place=jnp.int32(0),
        upcoming=jnp.full(members.shape, _ABSENT, dtype=jnp.int32),
        last_due=members,
    )


def begin_pass_if_over(passes: PlayLists) -> PlayLists:
    """Make the next list the current one when all of the current one was played.

    Without a delay the next list is never empty then. With outcomes on their way
    nothing may have been appended: what was due last, by all that is known, is due
    again.
    """
    over = passes.place > jnp.max(passes.current)
    fresh = jnp.any(passes.upcoming != _ABSENT)
    again = first_pass(passes.last_due)
    following = jnp.where(fresh, passes.upcoming, again.current)
    return passes._replace(
        current=jnp.where(over, following, passes.current),
        place=jnp.where(over, again.place, passes.place),
        upcoming=jnp.where(over, again.upcoming, passes.upcoming),
    )


def element_to_play(passes: PlayLists) -> Int[Array, ""]:
    """Return the element at the current place."""
    index = jnp.arange(passes.current.shape[0], dtype=jnp.int32)
    return jnp.sum(jnp.where(passes.current == passes.place, index, 0), dtype=jnp.int32)


def is_only_element(passes: PlayLists, element: Int[Array, ""]) -> Bool[Array, ""]:
    """Say whether a pass that contains nothing but ``element`` is about to begin."""
    index = jnp.arange(passes.current.shape[0], dtype=jnp.int32)
    alone = (passes.current != _ABSENT) == (index == element)
    return jnp.all(alone) & (passes.place == 0) & jnp.all(passes.upcoming == _ABSENT)


def take(passes: PlayLists, in_turn: Bool[Array, ""] | bool = True) -> PlayLists:
    """Move on from the element to play, unless another is played out of turn."""
    place = jnp.where(in_turn, passes.place + 1, passes.place)
    return passes._replace(place=place)


def append(
    passes: OnHost[PlayLists] | PlayLists,
    due: Bool[Array | np.ndarray, " M"],
    applies: Any = True,
) -> OnHost[PlayLists] | PlayLists:
    """Append the elements that are ``due``, in index order, to the next list.

    Elements that are already in it, or still to be played in this pass, stay as they
    are. ``place`` must already be past the element that was just played. Nothing
    happens unless it ``applies``. Of NumPy arrays as of JAX arrays.
    """
    xp = due.__array_namespace__()  # NumPy's on the host.
    still_to_come = passes.current >= passes.place
    new = due & applies & ~still_to_come & (passes.upcoming == _ABSENT)
    length = xp.max(passes.upcoming) + 1
    ranks = length + xp.cumsum(new, dtype=xp.int32) - 1
    return passes._replace(
        upcoming=xp.where(new, ranks, passes.upcoming),
        last_due=xp.where(applies, due, passes.last_due),
    )
