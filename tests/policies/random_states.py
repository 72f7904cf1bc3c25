"""Counts that no run may ever reach: look-ahead must be right for them as well."""

import jax
import jax.numpy as jnp
import numpy as np

from bayesduel.types import Duel, Outcome
from tests.compiling import quick_jit

ALPHA = 0.51
LATEST = 2**62
"""The longest horizon."""


def random_rounds(rng, number):
    """Return rounds from the first to the last one, on a log scale."""
    rounds = np.floor(np.exp(rng.uniform(0, np.log(1e13), number))).astype(np.int64)
    kind = rng.integers(0, 20, number)
    rounds = np.where(kind == 0, rng.integers(1, 4, number), rounds)
    return np.where(kind == 1, LATEST - rng.integers(0, 10**6, number), rounds)


def random_counts(rng, rounds, num_arms):
    """Return wins, int64 (n, K, K): a kind of counts for each pair, or one for all.

    Never compared; few duels; some hundred; exactly tied; one duel apart; never lost;
    nearly even among up to a billion; bounds about to reach 1/2 at the round.
    """
    number, pairs = len(rounds), num_arms * (num_arms - 1) // 2
    shape = (number, pairs)
    kind = rng.integers(0, 8, shape)
    kind = np.where(rng.random((number, 1)) < 0.4, kind[:, :1], kind)

    def log_uniform(most):
        return np.floor(np.exp(rng.uniform(0, np.log(most), shape)))

    duels = log_uniform(2e9)
    level = np.sqrt(4 * ALPHA * np.log(rounds)[:, None] * duels)
    few = rng.integers(1, 9, shape)
    some = log_uniform(600)
    leads = [
        (np.zeros(shape), np.zeros(shape)),
        (few, rng.integers(0, 9, shape)),
        (some, some * rng.uniform(-1, 1, shape)),
        (duels, np.zeros(shape)),
        (duels, np.ones(shape)),
        (log_uniform(1e6), np.full(shape, np.inf)),
        (duels, rng.normal(0, 4, shape) * np.sqrt(duels)),
        (duels, level * rng.uniform(0.95, 1.2, shape)),
    ]
    duels = np.choose(kind, [each for each, _ in leads])
    lead = np.choose(kind, [each for _, each in leads])
    won = np.clip(np.round((duels + lead) / 2), 0, duels).astype(np.int64)
    lost = duels.astype(np.int64) - won
    # Every other state has a hidden order of the arms, so that someone is ahead.
    turn = np.where(rng.random((number, 1)) < 0.5, won < lost, rng.random(shape) < 0.5)
    won, lost = np.where(turn, lost, won), np.where(turn, won, lost)
    wins = np.zeros((number, num_arms, num_arms), dtype=np.int64)
    row, column = np.triu_indices(num_arms, 1)
    wins[:, row, column], wins[:, column, row] = won, lost
    order = np.argsort(rng.random((number, num_arms)), axis=1)
    return np.take_along_axis(
        np.take_along_axis(wins, order[:, :, None], axis=1), order[:, None, :], axis=2
    )


def losing_winners(rng, number, num_arms):
    """Return rounds and wins where arms ahead of most others lose to one for sure.

    Late enough for the bounds to leave the superior eligible.
    """
    rounds = np.floor(np.exp(rng.uniform(np.log(1e12), np.log(4e18), number)))
    wins = np.zeros((number, num_arms, num_arms), dtype=np.int64)
    for i, j in zip(*np.triu_indices(num_arms, 1), strict=True):
        duels = rng.integers(10, 600, number)
        lead = np.exp(rng.uniform(-0.7, 2, number)) * np.sqrt(duels)
        # Arm 1 loses to all others.
        lead = np.where(i == 1, -lead, lead)
        won = np.clip(np.round((duels + lead) / 2), 0, duels).astype(np.int64)
        wins[:, i, j], wins[:, j, i] = won, duels - won
    # In every other state 0, 2 and 1 beat one another for sure, in a circle.
    circle = rng.random(number) < 0.5
    for i, j, here in ((1, 0, circle | True), (0, 2, circle), (2, 1, circle)):
        wins[here, i, j] = rng.integers(50, 80, number)[here]
        wins[here, j, i] = 0
    return rounds.astype(np.int64), wins


def told_state(policy, wins, round_, horizon=LATEST):
    """Tell a policy all duels of each pair at once; one state."""
    num_arms = wins.shape[0]
    row, column = (
        jnp.asarray(each, jnp.int32) for each in np.triu_indices(num_arms, 1)
    )
    key, none = jax.random.key(0), jnp.int64(0)
    fresh = policy.init(key, num_arms, jnp.int64(horizon))
    asked = jax.eval_shape(lambda: policy.choose(key, fresh, jnp.int64(1))[0])
    # Lists are told that all duels were in turn.
    note = jax.tree.map(lambda each: jnp.ones(each.shape, each.dtype), asked.note)

    def tell(state, pair):
        i, j = pair
        duels = wins[i, j] + wins[j, i]
        duel = Duel(jnp.int32(0), none, i, j, duels, note)
        outcome = Outcome(none, duels, wins[i, j])
        return policy.update(key, state, round_, duel, outcome), None

    return _with_draws(jax.lax.scan(tell, fresh, (row, column))[0], wins + wins.T)


tell = quick_jit(told_state)
"""The same as one program, for whoever asks it many times."""


def _with_draws(state, duels):
    """Count all duels as asked for: a policy counts its own draws when it chooses."""
    if not hasattr(state, "_fields"):
        return state
    parts = {
        name: duels.astype(part.dtype)
        if name == "asked" and part.shape == duels.shape
        else _with_draws(part, duels)
        for name, part in state._asdict().items()
    }
    return state._replace(**parts)


def log_thresholds(wins, alpha=ALPHA):
    """x of each pair: its bounds exclude 1/2 while log t <= x; in extended precision.

    -1 for a pair never compared, infinity on the diagonal.
    """
    won = wins.astype(np.longdouble)
    lost = np.swapaxes(won, 1, 2)
    duels = np.maximum(won + lost, 1)
    level = (won - lost) ** 2 / (4 * np.longdouble(alpha) * duels)
    level = np.where(won + lost > 0, level, -1)
    return np.where(np.eye(wins.shape[1], dtype=bool), np.inf, level)


def log_of(rounds):
    """Log of integer rounds, in extended precision."""
    return np.log(rounds.astype(np.longdouble))


def last_rounds(thresholds):
    """Return floor(exp(x)), at most 2^62."""
    far = thresholds > np.log(np.longdouble(LATEST))
    return np.where(far, LATEST, np.floor(np.exp(np.where(far, 0, thresholds)))).astype(
        np.int64
    )
