"""Records that policies and the simulator exchange.

Each describes one run; the simulator adds an axis for runs.
"""

from typing import Annotated, Any, NamedTuple

from jax import Array
from jaxtyping import Bool, Float, Int, Key

State = Any
"""A pytree of arrays: what a policy needs to know for its next decision."""

RunKey = Key[Array, ""]
"""A typed random key, as made by :func:`jax.random.key`."""

RoundCount = Int[Array, ""]
"""A number of rounds, int64."""

Arm = Int[Array, ""]
"""A zero-based arm index, int32."""


class Duel(NamedTuple):
    """A choice of a policy of duels.

    ``champion`` duels itself for ``exploit_rounds`` rounds, then ``first`` is compared
    with ``second`` for ``explore_rounds`` rounds. Only the horizon cuts it short. Both
    parts may be empty; with both empty the policy is asked again at the same round.
    """

    champion: Arm
    exploit_rounds: RoundCount
    first: Arm
    second: Arm
    explore_rounds: RoundCount


class Outcome(NamedTuple):
    """Outcomes of a :class:`Duel`, as far as it was played.

    ``exploit_rounds`` and ``rounds`` are the two parts as really played (0 is
    possible); ``wins`` counts the rounds of the second part that ``first`` won.
    """

    exploit_rounds: RoundCount
    rounds: RoundCount
    wins: RoundCount


class Offer(NamedTuple):
    """The set that a policy over subsets offers, and for how many rounds.

    ``subset`` is offered for ``rounds`` rounds, or, with ``until_no_choice``, until
    the first round in which nothing is chosen, that one included, but for ``rounds``
    rounds at most. Only the horizon cuts it short.
    """

    subset: Bool[Array, " n"]
    rounds: RoundCount
    until_no_choice: Bool[Array, ""]


class Rewards(NamedTuple):
    """Outcomes of an :class:`Offer`, as far as it was played.

    ``rewards`` has the sum of the rewards of every arm, 0 for those that were not
    offered. What one round gives is said by the environment.
    """

    rounds: RoundCount
    rewards: Float[Array, " n"]


type Batch[Record] = Annotated[Record, "with one more axis, of runs"]
"""Many of a record, whose arrays have one axis more than is annotated."""

type OnHost[Record] = Annotated[Record, "with arrays of NumPy"]
"""A record that a policy computes with outside of compiled code."""

Action = Duel | Offer
"""A choice of a policy."""
