"""The votes of one sample of D-TS among many arms, in few passes over all pairs.

With hundreds of arms the signs of a sample are the dear part of an event: a uniform for
each pair, compared with the chance of its flip. Only 32 of the uniform's bits are drawn
at first. They leave a pair open if its chance lies between them and the next ones up,
which happens in one sample of 30,000 with 500 arms; then further bits are drawn.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int, UInt32

from bayesduel.ops.masks import materialize
from bayesduel.policies.thompson._idle_rounds import Majority
from bayesduel.types import RunKey

_WORD = 2.0**-32
"""What the first 32 bits of a uniform leave open."""


def votes_given_first_flip(
    rng_key: RunKey,
    first_flip: Int[Array, ""],
    chance: Float[Array, "K K"],
    now: Majority,
    wanted: Bool[Array, ""],
) -> Int[Array, " K"]:
    """Count how many arms each arm beats in a sample, given its first relevant flip.

    Relevant pairs before the first flip keep the sign of the majority, all others flip
    freely. Where the sample is not ``wanted``, nothing is drawn and the votes are those
    of the majority. Consumes ``rng_key``.

    Parameters
    ----------
    first_flip : int32
        K * row + column of the pair.
    chance : float64 (K, K)
        P(i beats j) in a sample.
    now : Majority
        The majority signs.
    wanted : bool
        Whether the votes are read.
    """
    num_arms = chance.shape[0]
    position = np.arange(num_arms * num_arms, dtype=np.int32).reshape(num_arms, -1)

    def draw(loop: tuple[Array, Array]) -> tuple[Array, Array]:
        free = _free_flips(rng_key, chance, now.trailing)
        flips = free & ((position > first_flip) | ~now.relevant)
        (flips,) = materialize(flips | (position == first_flip))
        gained = jnp.sum(flips, axis=1, dtype=jnp.int32)
        lost = jnp.sum(flips, axis=0, dtype=jnp.int32)
        return jnp.zeros_like(loop[0]), now.votes + gained - lost

    # A loop that runs at most once: a conditional would cost both branches.
    return lax.while_loop(lambda loop: loop[0], draw, (wanted, now.votes))[1]


def _free_flips(
    rng_key: RunKey, chance: Float[Array, "K K"], trailing: Bool[Array, "K K"]
) -> Bool[Array, "K K"]:
    """Let every arm that trails another beat it with its chance."""
    key_words, key_rest = jax.random.split(rng_key)
    (words,) = materialize(_words(key_words, chance.shape[0]))

    def start(words: UInt32[Array, "K K"]) -> Float[Array, "K K"]:
        return words.astype(jnp.float64) * _WORD

    def is_open(words: UInt32[Array, "K K"]) -> Bool[Array, "K K"]:
        low = start(words)
        return trailing & (low < chance) & (low + _WORD > chance)

    def decide(loop: tuple[Array, Array]) -> tuple[Array, Array]:
        rest = jax.random.uniform(key_rest, chance.shape, dtype=jnp.float64)
        flips = is_open(words) & (rest < (chance - start(words)) / _WORD)
        return jnp.zeros_like(loop[0]), loop[1] | flips

    sure = trailing & (start(words) + _WORD <= chance)
    some_open = jnp.any(is_open(words))
    return lax.while_loop(lambda loop: loop[0], decide, (some_open, sure))[1]


def _words(rng_key: RunKey, num_arms: int) -> UInt32[Array, "K K"]:
    """Draw 32 bits for every pair: the generator makes 64 at the cost of 32."""
    half = -(-num_arms // 2)
    both = jax.random.bits(rng_key, (num_arms, half), jnp.uint64)
    low, high = both.astype(jnp.uint32), (both >> 32).astype(jnp.uint32)
    return jnp.concatenate([low, high], axis=1)[:, :num_arms]
