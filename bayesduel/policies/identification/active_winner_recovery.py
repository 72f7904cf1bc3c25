"""PARWiS (Sheth and Rajkumar 2021): a winner by a few duels per arm."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import column_of, row_of
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import Policy, one_round, policy_class
from bayesduel.policies.pair_counts import add_wins
from bayesduel.policies.registry import register
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey

_EQUAL = 1e-9
"""Relative difference of scores, or of changes of them, that rounding may make."""


class ActiveWinnerState(NamedTuple):
    """Counts, and how far the first pass over the arms has come."""

    wins: Int[Array, "K K"]
    king: Arm
    """Winner of the last duel of the first pass."""

    met: Int[Array, ""]
    """Arms that were asked about in the first pass."""


class Chain(NamedTuple):
    """The Markov chain of Rank Centrality, with a virtual arm as the last state."""

    moves: Float[Array, "N N"]
    """[i, j]: probability of a step from i to j, i and j different."""

    scores: Float[Array, " N"]
    """Its stationary distribution."""

    inverse: Float[Array, "N N"]
    """(I - P + 1 1^T / N)^-1; the stationary distribution is its mean row."""


@register("parwis", acronym="PARWiS")
@policy_class
class ActiveWinnerRecovery(Policy):
    """PARWiS: challenge the top arm where the answer would change scores most.

    For budgets of a few duels per arm. K - 1 duels come first: arm 2 against arm 1, and
    each further arm against the winner of the duel before. Then scores are the
    stationary distribution pi of Rank Centrality: from arm i the chain moves to j with
    probability w_ji / (n_ij K), w_ji being the wins of j over i among n_ij duels, and a
    virtual arm that has won and lost one duel with every arm keeps it connected. The
    top arm a duels the arm b that maximizes the expected change of scores,

        (pi_a d(a beats b) + pi_b d(b beats a)) / (pi_a + pi_b),

    d(...) being the Euclidean distance, over all K + 1 states, of pi from the
    stationary distribution after one more duel with that outcome. An outcome changes
    I - P by a matrix of rank one, so that both changes of an arm take K operations
    after one inverse. Ties, to a relative 1e-9, are broken at random. The top arm is
    recommended.

    Made for Bradley-Terry probabilities; on others the scores need not rank a Copeland
    winner first, however many duels there are. Nothing is proved about its errors.

    Deviation: arms come in random order in each run, as they are relabeled.

    Notes
    -----
    A round takes about K^3 operations. There is no look-ahead, as every round teaches.

    References
    ----------
    D. Y. Sheth, A. Rajkumar, "PARWiS: Winner Determination from Active Pairwise
    Comparisons under a Shoestring Budget", ICDM 2021; constants, the virtual arm and
    the weights are those of the authors' program (exact update, weighted average). S.
    Negahban, S. Oh, D. Shah, "Rank Centrality: Ranking from Pairwise Comparisons",
    Operations Research 65(1), 2017.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("sushi", "parwis", num_runs=5, horizon=64, seed=1)
    >>> result.attrs["policy"]
    'PARWiS'
    """

    title: ClassVar[str] = "PARWiS"

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> ActiveWinnerState:
        """Return the state before the first round."""
        return ActiveWinnerState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
            king=jnp.int32(0),
            met=jnp.int32(1),
        )

    def choose(
        self, rng_key: RunKey, state: ActiveWinnerState, round_: RoundCount
    ) -> tuple[Duel, ActiveWinnerState]:
        """Take the next arm of the first pass, or the challenger of the top arm."""
        num_arms = state.wins.shape[0]
        passing = state.met < num_arms
        uniforms = jax.random.uniform(rng_key, (2,), dtype=jnp.float64)
        chain = _chain_of(state.wins)
        top = choose_among(uniforms[0], _highest(chain.scores[:-1]))
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        change = jnp.where(arms == top, -1.0, _expected_changes(chain, state.wins, top))
        challenger = choose_among(uniforms[1], _highest(change))
        duel = one_round(
            jnp.where(passing, state.king, top),
            jnp.where(passing, state.met, challenger),
        )
        return duel, state._replace(met=state.met + passing.astype(jnp.int32))

    def update(
        self,
        rng_key: RunKey,
        state: ActiveWinnerState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> ActiveWinnerState:
        """Count the outcome; in the first pass the winner stays."""
        num_arms = state.wins.shape[0]
        # The duels of the first pass are the rounds up to K - 1.
        stays = (outcome.rounds > 0) & (round_ < num_arms)
        winner = jnp.where(outcome.wins > 0, duel.first, duel.second)
        return state._replace(
            wins=add_wins(state.wins, duel, outcome),
            king=jnp.where(stays, winner, state.king),
        )

    def recommend(self, rng_key: RunKey, state: ActiveWinnerState) -> Arm:
        """Return the arm with the largest score, at random among equal ones."""
        scores = _chain_of(state.wins).scores[:-1]
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, _highest(scores))


def _highest(values: Float[Array, " K"]) -> Bool[Array, " K"]:
    """Mark the largest values, but for rounding."""
    most = jnp.max(values)
    return values >= most - _EQUAL * jnp.abs(most)


def _chain_of(wins: Int[Array, "K K"]) -> Chain:
    """Return the chain of counts, its stationary distribution and its inverse."""
    num_arms = wins.shape[0]
    size = num_arms + 1
    won = jnp.ones((size, size), dtype=jnp.float64)
    won = won.at[:num_arms, :num_arms].set(wins.astype(jnp.float64))
    moves = won.T / jnp.maximum(won + won.T, 1.0) / num_arms
    moves = jnp.where(np.eye(size, dtype=bool), 0.0, moves)
    generator = jnp.diag(jnp.sum(moves, axis=1)) - moves
    inverse = jnp.linalg.inv(generator + 1.0 / size)
    return Chain(moves=moves, scores=jnp.mean(inverse, axis=0), inverse=inverse)


def _expected_changes(
    chain: Chain, wins: Int[Array, "K K"], top: Arm
) -> Float[Array, " K"]:
    """Return what a duel of the top arm with each arm is expected to change."""
    won = row_of(wins, top).astype(jnp.float64)
    lost = column_of(wins, top).astype(jnp.float64)
    if_won, if_lost = (
        _changes(chain, top, won + one, lost + 1.0 - one) for one in (1.0, 0.0)
    )
    scores = chain.scores[:-1]
    own = scores[top]
    return (own * if_won + scores * if_lost) / (own + scores)


def _changes(
    chain: Chain, top: Arm, won: Float[Array, " K"], lost: Float[Array, " K"]
) -> Float[Array, " K"]:
    """Return |pi' - pi| for each opponent that has so many duels with ``top`` then.

    Steps from ``top`` to an arm become more likely by d, those back by e. I - P then
    changes by x y^T, x being d at ``top`` and -e at the arm, y 1 at ``top`` and -1 at
    the arm; Sherman and Morrison give the new inverse Z' and pi' = 1^T Z' / N.
    """
    num_arms = won.shape[0]
    inverse, scores = chain.inverse, chain.scores
    steps = lost / (won + lost) / num_arms - chain.moves[top, :-1]
    back = won / (won + lost) / num_arms - chain.moves[:-1, top]
    apart = inverse[top][None, :] - inverse[:-1]
    at_top, at_arm = apart[:, top], jnp.diagonal(apart[:, :-1])
    factor = scores[top] * steps - scores[:-1] * back
    factor = factor / (1.0 + at_top * steps - at_arm * back)
    return jnp.abs(factor) * jnp.linalg.norm(apart, axis=1)
