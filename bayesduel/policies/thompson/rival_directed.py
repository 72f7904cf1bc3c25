"""RD-TS, rival-directed Thompson sampling: a policy of this package's own."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import digamma
from jaxtyping import Bool, Float, Num

from bayesduel.ops.masks import (
    column_of,
    compute_if,
    entry_of,
    mark_largest,
    materialize,
    row_of,
)
from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.ops.sampling import choose_among, choose_weighted, waiting_time
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    check_beta_pairs,
    check_choice,
    others_mask,
    policy_class,
)
from bayesduel.policies.pair_counts import pair_mask
from bayesduel.policies.registry import register
from bayesduel.policies.thompson._rival_worlds import (
    EQUAL_COSTS,
    Signs,
    decisive_signs,
    dethroning_chances,
    dethroning_slopes,
    sample_world,
    signs_of_pairs,
)
from bayesduel.posteriors.beta_pairs import (
    BetaPairs,
    PairBeliefs,
    counts_after,
    pseudo_wins,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey
from theory.copeland_program import superiors_by_counting
from theory.copeland_program.efficient import ecw_costs


class RivalDirectedState(NamedTuple):
    """Counts, what a duel of each pair proves, and the leader."""

    beliefs: PairBeliefs

    divergence: Float[Array, "K K"]
    """d_ij, posterior mean of KL(theta_ij, 1/2); symmetric."""

    leader: Arm
    """w; drawn anew after every duel of different arms."""


@register("rd-ts", acronym="RD-TS")
@policy_class
class RivalDirectedThompson(Policy):
    """Rival-directed Thompson sampling (RD-TS). Ours; nothing is proved of it.

    The posterior decides when to explore, and a rival's world decides where. Let w be
    the leader, and Phi_i the posterior chance that arm i has more wins (a larger
    Copeland score) than w. A round explores with probability min(1, c sum_i Phi_i);
    else w meets itself. A round that explores draws a rival i in proportion to Phi_i,
    and the signs of its pairs and of the leader's *given* that the rival dethrones the
    leader, and plays one of the pairs whose sign is flipped against the majority of
    its duels. The cheapest ways to be wrong are the likeliest worlds, so play equalizes
    them, as the constraints of the optimal exploration program demand. No confidence
    bound, no round number, no horizon, no program is solved.

    In full, with independent posteriors Beta(a_ij, a_ji), Q_ij = P(theta_ij > 1/2),
    d_ij = E KL(theta_ij, 1/2) in nats, s_i = sum_j Q_ij, and the estimated regret of a
    duel r_ij = (max s - (s_i + s_j) / 2 + floor) / (K - 1):

    - The leader has the fewest losses by majority of the pseudo-counts, even pairs
      counting half; among several the one that the efficient program proves most
      cheaply at costs r_ij / d_ij (`ecw_costs`); remaining ties at random, anew after
      each duel of different arms.
    - With ``flips_only`` a majority that favors the rival against the leader is taken
      as certain, so that Phi_i is a sum over sets of flips.
    - With ``pairs="flipped"`` a flipped pair e is played with probability in proportion
      to (d_e / r_e) (n_e + 1)^eta, n_e its duels; even pairs count as flipped. With
      ``doubts`` a majority that was taken as certain is drawn as well, and where it is
      reversed its pair joins the flipped ones at ``doubts`` d_e / r_e: else a few duels
      that make a rival strong may long go unquestioned. With
      ``pairs="gradient"`` no world is drawn: the pair with the largest
      d_e Q_e (1 - Q_e) h_e / r_e is played (ties at random), where h_e is the sum over
      the rivals of the derivative of Phi_i by the chance of the pair.

    With ``cost="duels"`` every duel of different arms costs the same, and no arm meets
    itself: to *name* a winner with few duels, see :mod:`bayesduel.stopping`. Then
    r_ij = 1, the ``floor`` and ``c`` play no part, and each round explores; where every
    Phi_i is too small for a number, the leader meets any rival.

    Nothing changes between two duels of different arms, so the self-duels before the
    next one are geometric, and ``look_ahead`` draws their number at once. The law of
    all duels is that of the step form. With two equal Copeland winners Phi never
    vanishes, and every round is an event.

    Parameters
    ----------
    c : float
        Above 0. Exploration per unit of the chance to be wrong. Small ones keep a
        wrong leader for long.
    eta : float
        In [0, 1]. Weight of past duels. With 1 the optimal allocation is a fixed point.
    floor : float
        Above 0. Regret, in wins, that every duel of different arms is taken to cost.
    doubts : float
        Not below 0. Weight of pairs whose majority was taken as certain, in a round
        whose draw of the posterior reverses it. Of many arms (K = 32 and more) 0.5
        gives far less regret. Matters with ``flips_only`` and ``pairs="flipped"``
        alone.
    flips_only : bool
        Take majorities in favor of a rival as certain.
    pairs : {"flipped", "gradient"}
        Which pair of the rival's world is played.
    cost : {"regret", "duels"}
        What a duel costs: its estimated regret, or 1 each.
    look_ahead : bool
        Jump over self-duels.
    posterior : BetaPairs
        Its ``prior`` may be given in its place by name, as in
        ``policies.get("rd-ts", prior=8)``; 5 by default: skeptical, so that few duels
        prove little.

    References
    ----------
    J. Komiyama, J. Honda, H. Nakagawa, "Copeland Dueling Bandit Problem", ICML 2016
    (the lower bound and the efficient program). C. Qin, W. You, "Dual-Directed
    Algorithm Design for Efficient Pure Exploration", arXiv 2310.19319
    (information-directed selection in top-two sampling).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rd-ts", prior=8, c=3.0).label
    'RD-TS:c=3.0,prior=8'
    """

    c: float = 5.0
    eta: float = 0.5
    floor: float = 0.1
    doubts: float = 0.02
    flips_only: bool = field(default=True, metadata={"static": True})
    pairs: str = field(default="flipped", metadata={"static": True})
    cost: str = field(default="regret", metadata={"static": True})
    look_ahead: bool = field(default=True, metadata={"static": True})
    posterior: BetaPairs = BetaPairs(prior=5)

    title: ClassVar[str] = "Rival-directed Thompson sampling (ours, unproved)"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("c", self.c, 0.0)
        check_at_least("eta", self.eta, 0.0)
        check_above("floor", self.floor, 0.0, why="else a duel may seem free")
        check_at_least("doubts", self.doubts, 0.0)
        check_choice("pairs", self.pairs, ("flipped", "gradient"))
        check_choice("cost", self.cost, ("regret", "duels"))
        check_beta_pairs(self.posterior, num_arms)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> RivalDirectedState:
        """Return the state before the first round."""
        key_beliefs, key_leader = jax.random.split(rng_key)
        beliefs = self.posterior.init(key_beliefs, num_arms)
        counts = jnp.broadcast_to(pseudo_wins(beliefs), (num_arms, num_arms))
        counts = counts.astype(jnp.float64)
        divergence = expected_divergence(counts, counts.T)
        return RivalDirectedState(
            beliefs=beliefs,
            divergence=divergence,
            leader=self._leader(key_leader, beliefs, divergence),
        )

    def choose(
        self, rng_key: RunKey, state: RivalDirectedState, round_: RoundCount
    ) -> tuple[Duel, RivalDirectedState]:
        """Draw the self-duels of the leader, and the pair that is compared next."""
        num_arms = state.divergence.shape[0]
        leader, beliefs = state.leader, state.beliefs
        uniforms = jax.random.uniform(rng_key, (4 * num_arms + 5,), dtype=jnp.float64)
        counts = _pseudo_counts(beliefs)
        pairs = signs_of_pairs(
            beliefs.chance, counts > counts.T, flips_only=self.flips_only
        )
        signs = decisive_signs(pairs, leader)
        chances = dethroning_chances(signs, leader)
        rounds = NEVER + 1 - round_ if self.look_ahead else jnp.int64(1)
        if self.cost == "duels":
            idle, explores = jnp.int64(0), jnp.bool_(True)
        else:
            chance = jnp.minimum(1.0, self.c * jnp.sum(chances))
            idle, explores = waiting_time(uniforms[0], chance, rounds)
        if self.pairs == "flipped":
            first, second = self._flipped_pair(uniforms[1:], state, signs, chances)
        else:
            first, second = self._steepest_pair(uniforms[1], state, signs)
        duel = Duel(
            champion=leader,
            exploit_rounds=idle,
            first=first,
            second=second,
            explore_rounds=explores.astype(jnp.int64),
        )
        return duel, state

    def update(
        self,
        rng_key: RunKey,
        state: RivalDirectedState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> RivalDirectedState:
        """Count the outcome; refresh the pair, then the leader."""
        key_beliefs, key_leader = jax.random.split(rng_key)
        learnt = (duel.first != duel.second) & (outcome.rounds > 0)
        counts = counts_after(state.beliefs, duel.first, duel.second, outcome)
        beliefs = self.posterior.update(
            key_beliefs, state.beliefs, duel.first, duel.second, outcome
        )
        num_arms = state.divergence.shape[0]
        prior = jnp.broadcast_to(beliefs.prior, (num_arms, num_arms))
        won = counts[0] + entry_of(prior, duel.first, duel.second)
        lost = counts[1] + entry_of(prior, duel.second, duel.first)
        (refreshed,) = materialize(
            expected_divergence(won.astype(jnp.float64), lost.astype(jnp.float64))
        )
        here = pair_mask(num_arms, duel) & learnt
        divergence = jnp.where(here, refreshed, state.divergence)
        leader = self._leader(key_leader, beliefs, divergence)
        return RivalDirectedState(
            beliefs=beliefs,
            divergence=divergence,
            leader=jnp.where(learnt, leader, state.leader),
        )

    def recommend(self, rng_key: RunKey, state: RivalDirectedState) -> Arm:
        """Return the leader."""
        return state.leader

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        # Numba takes half a second to import.
        from bayesduel.policies.thompson._scalar_rival_directed import kernel

        return kernel(
            np.asarray(self.posterior.prior),
            c=float(self.c),
            eta=float(self.eta),
            floor=float(self.floor),
            costs_regret=self.cost == "regret",
            doubts=float(self.doubts),
            flips_only=self.flips_only,
            by_gradient=self.pairs == "gradient",
            steps=not self.look_ahead,
        )

    def _costs(self, beliefs: PairBeliefs) -> Float[Array, "K K"]:
        """Return r_ij: the estimated regret of a duel, with its floor; or 1."""
        num_arms = beliefs.chance.shape[0]
        if self.cost == "duels":
            return jnp.ones((num_arms, num_arms), dtype=beliefs.chance.dtype)
        wins = jnp.sum(beliefs.chance, axis=1)
        mean = 0.5 * (wins[:, None] + wins[None, :])
        return (jnp.max(wins) - mean + self.floor) / (num_arms - 1)

    def _leader(
        self, rng_key: RunKey, beliefs: PairBeliefs, divergence: Float[Array, "K K"]
    ) -> Arm:
        """Draw one of the arms with the fewest losses that are cheapest to prove."""
        counts = _pseudo_counts(beliefs)
        signs = jnp.sign(counts - counts.T).astype(jnp.float64)
        # Twice the losses, since an even pair is half a one; the diagonal counts alike.
        losses = jnp.sum(1.0 - signs, axis=1)
        fewest = mark_largest(-losses)

        def cheapest() -> Bool[Array, " K"]:
            (prices,) = materialize(self._costs(beliefs) / divergence)
            costs = ecw_costs(signs, superiors_by_counting(signs, prices))
            costs = jnp.where(fewest, costs, jnp.inf)
            least = jnp.min(costs)
            return fewest & (costs <= least * (1.0 + EQUAL_COSTS))

        several = jnp.sum(fewest, dtype=jnp.int32) > 1
        leaders = compute_if(several, cheapest, fewest)
        return choose_among(jax.random.uniform(rng_key, dtype=jnp.float64), leaders)

    def _flipped_pair(
        self,
        uniforms: Float[Array, " U"],
        state: RivalDirectedState,
        signs: Signs,
        chances: Float[Array, " K"],
    ) -> tuple[Arm, Arm]:
        """Draw a rival, its world, and a pair that is flipped there."""
        num_arms = chances.shape[0]
        beliefs, leader = state.beliefs, state.leader
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        known = jnp.any(chances > 0.0)
        others = (arms != leader).astype(chances.dtype)
        rival = choose_weighted(uniforms[0], jnp.where(known, chances, others))
        own = Signs(*(column_of(each, rival) for each in signs))
        num_rows = 2 * num_arms + 1
        favorable = sample_world(uniforms[2 : num_rows + 2], own)

        def decisive(table: Array) -> Array:
            return jnp.concatenate(
                [
                    entry_of(table, rival, leader)[None],
                    row_of(table, rival),
                    column_of(table, leader),
                ]
            )

        counts = _pseudo_counts(beliefs)
        lead = decisive(counts - counts.T)
        is_pair = (arms != rival) & (arms != leader)
        exists = jnp.concatenate([jnp.ones(1, dtype=bool), is_pair, is_pair])
        flipped = jnp.where(favorable, lead <= 0, lead >= 0)
        duels = (beliefs.wins + beliefs.wins.T).astype(jnp.float64)
        worth = state.divergence / self._costs(beliefs)
        weights = decisive(worth * (duels + 1.0) ** self.eta)
        certain = own.unfavorable == 0.0
        reversed_ = uniforms[num_rows + 2 :] < decisive(beliefs.chance.T)
        doubted = certain & reversed_ & (self.doubts > 0.0)
        flipped = jnp.where(certain, doubted, flipped)
        weights = jnp.where(certain, self.doubts * decisive(worth), weights)
        flipped = flipped & exists & known
        weights = jnp.where(flipped, weights, 0.0)
        # Without a flip, which only rounding can bring, the leader meets the rival.
        row = choose_weighted(uniforms[1], weights)
        row = jnp.where(jnp.any(flipped), row, 0)
        other = jnp.where(row <= num_arms, row - 1, row - 1 - num_arms)
        with_rival = row <= num_arms
        first = jnp.where(with_rival, rival, other)
        second = jnp.where(with_rival & (row > 0), other, leader)
        return first.astype(jnp.int32), second.astype(jnp.int32)

    def _steepest_pair(
        self, uniform: Float[Array, ""], state: RivalDirectedState, signs: Signs
    ) -> tuple[Arm, Arm]:
        """Return the pair that moves the sum of all Phi_i the most, per cost."""
        beliefs, leader = state.beliefs, state.leader
        num_arms = state.divergence.shape[0]
        arms = jnp.arange(num_arms, dtype=jnp.int32)
        # Rows without a pair are never favorable, certain ones never unfavorable.
        uncertain = (signs.favorable > 0.0) & (signs.unfavorable > 0.0)
        uncertain &= (arms != leader)[None, :]
        slopes = jnp.where(uncertain, dethroning_slopes(signs), 0.0)
        of_rivals = slopes[1 : num_arms + 1].T
        of_leader = slopes[0] + jnp.sum(slopes[num_arms + 1 :], axis=1)
        directed = of_rivals + jnp.where(arms == leader, of_leader[:, None], 0.0)
        steepness = directed + directed.T
        chance = beliefs.chance
        score = state.divergence * chance * chance.T * steepness
        score = score / self._costs(beliefs)
        upper = np.triu(others_mask(num_arms))
        score = jnp.where(upper, score, -1.0)
        best = (score >= jnp.max(score) * (1.0 - EQUAL_COSTS)).reshape(-1)
        found = choose_among(uniform, best & upper.reshape(-1))
        return (found // num_arms).astype(jnp.int32), (found % num_arms).astype(
            jnp.int32
        )


def expected_divergence(
    won: Float[Array, "..."], lost: Float[Array, "..."]
) -> Float[Array, "..."]:
    """Return E KL(theta, 1/2) of theta ~ Beta(won, lost), in nats.

    The mean, not the divergence of the mean: that is 0 at even counts, where a pair
    would never be worth a duel.

    Examples
    --------
    >>> one = jnp.ones(())
    >>> round(float(expected_divergence(one, one)), 4)
    0.1931
    """
    total = won + lost
    share = won / total
    up = digamma(won + 1.0) - digamma(total + 1.0)
    down = digamma(lost + 1.0) - digamma(total + 1.0)
    return np.log(2.0) + share * up + (1.0 - share) * down


def _pseudo_counts(beliefs: PairBeliefs) -> Num[Array, "K K"]:
    """Return counts whose differences are the leads of the posterior."""
    return beliefs.wins if beliefs.prior.ndim == 0 else pseudo_wins(beliefs)
