"""Playing one arm for good, as rules do that explore first and then exploit."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool

from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.policies.base import one_round
from bayesduel.types import Arm, Duel


def commit(duel: Duel, arm: Arm, stopped: Bool[Array, ""], *, look_ahead: bool) -> Duel:
    """Replace ``duel`` by self-duels of ``arm`` once a rule has ``stopped`` for good.

    With ``look_ahead`` they are one stretch up to the horizon. Nothing is drawn and
    nothing is learnt from then on, so both forms play the same duels, seed by seed.
    """
    alone = one_round(arm, arm)
    if look_ahead:
        alone = alone._replace(
            exploit_rounds=jnp.int64(NEVER), explore_rounds=jnp.int64(0)
        )
    return jax.tree.map(partial(jnp.where, stopped), alone, duel)
