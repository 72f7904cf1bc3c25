"""Thompson sampling with a Bradley-Terry posterior: Laplace's method, or MCMC."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import ordered_pair_mask
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import (
    Policy,
    check_above,
    check_at_least,
    check_choice,
    policy_class,
)
from bayesduel.policies.confidence_bounds import resolutions
from bayesduel.policies.registry import register
from bayesduel.policies.thompson._idle_rounds import RoundSets, round_sets
from bayesduel.posteriors.bradley_terry import (
    UtilityLaw,
    draw_utilities,
    follow_mode,
    walk,
)
from bayesduel.types import Arm, Duel, Outcome, RoundCount, RunKey


class BradleyTerryState(NamedTuple):
    """Counts, the normal law close to the posterior, and where its chains are."""

    wins: Int[Array, "K K"]
    mode: Float[Array, " K"]
    factor: Float[Array, "K K"]
    """L, lower triangular; L L^T is minus the Hessian of the log posterior."""

    walkers: Float[Array, "chain K"]
    """Two independent draws from the posterior with "mcmc"; else none."""


@register("bt-ts", acronym="BT-TS")
@policy_class
class BayesianBradleyTerry(Policy):
    """Double Thompson sampling over utilities (Bradley-Terry).

    P(i beats j) = 1 / (1 + exp(w_j - w_i)) with w ~ Normal(0, prior_variance I). In
    every round two utility vectors are drawn, independently, from the posterior; the
    best arms of the two meet. When they are the same arm the round exploits, which is
    what brings regret to rest.

    One scale shares what is learnt between all pairs: with K arms there are K unknowns
    where D-TS has K (K - 1) / 2. This *is* pure D-TS with another posterior: under
    utilities the sampled Copeland winner is the arm with the largest one, and so is the
    arm that does best against any other. With ``elimination`` the confidence bounds of
    D-TS, which assume nothing about the pairs, restrict both: the first arm to possible
    Copeland winners, the second to arms that are not known to beat the first.

    The price is the assumption. The model is wrong for cyclic preferences: the policy
    may then settle on an arm with high log-odds against those it meets, which need not
    be a Copeland winner, and the bounds do not save it, since an arm that only meets
    itself is never ruled out. ``diagnostics.transitivity`` looks for cycles in votes.

    With "laplace" the posterior is the normal law around its mode. After every
    comparison the mode is followed by ``newton_steps`` damped Newton steps; the prior
    makes it finite also for an arm that never lost, and identifies the scale. That law
    stays as it is until different arms meet, so several rounds are drawn at once: the
    law of all counts of different arms and the mean of every regret are those of
    drawing round by round; the champion of an idle stretch is drawn once. There is no
    look-ahead beyond that: the probability that two draws have the same best arm has no
    closed form. With "mcmc", the slow truth, two independent Markov chains follow the
    exact posterior, every round a few steps of Hamiltonian Monte Carlo each; rounds are
    drawn one by one.

    Ties among utilities have probability 0; before the first comparison all arms are
    equally likely to be recommended.

    Parameters
    ----------
    prior_variance : float
        Of each utility, > 0.
    newton_steps : int
        At least 1.
    rounds_at_once : int
        How many rounds are drawn together; 1 is the algorithm step by step. Not read
        with "mcmc".
    posterior : {"laplace", "mcmc"}
        What the two utility vectors are drawn from.
    mcmc_steps : int
        Trajectories per round, at least 1; not read with "laplace".
    elimination : bool
        Use the confidence bounds of D-TS.
    alpha : float
        Their width, > 1/2 in the theory of D-TS; not read without ``elimination``.

    Notes
    -----
    No regret bound is known to us for this combination. The Bradley-Terry posterior is
    log-concave, and its mode and curvature are computed exactly as in
    :func:`bayesduel.inference.fit` with ``method="laplace"``.

    References
    ----------
    R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
    Biometrika 39 (1952). H. Wu and X. Liu, "Double Thompson Sampling for Dueling
    Bandits", NIPS 2016 (the double sampling, and the bounds). O. Chapelle and L. Li,
    "An empirical evaluation of Thompson sampling", NIPS 2011 (Laplace's method in
    Thompson sampling). R. M. Neal, "MCMC using Hamiltonian dynamics", in: Handbook of
    Markov Chain Monte Carlo, 2011.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("bt-ts", prior_variance=1.0).label
    'BT-TS:prior_variance=1.0'
    """

    prior_variance: float = 4.0
    newton_steps: int = field(default=3, metadata={"static": True})
    rounds_at_once: int = field(default=16, metadata={"static": True})
    posterior: str = field(default="laplace", metadata={"static": True})
    mcmc_steps: int = field(default=4, metadata={"static": True})
    elimination: bool = field(default=False, metadata={"static": True})
    alpha: float = 0.51

    title: ClassVar[str] = "Bradley-Terry Thompson Sampling"

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("prior_variance", self.prior_variance, 0.0)
        check_at_least("newton_steps", self.newton_steps, 1)
        check_at_least("rounds_at_once", self.rounds_at_once, 1)
        check_choice("posterior", self.posterior, ("laplace", "mcmc"))
        check_at_least("mcmc_steps", self.mcmc_steps, 1)
        check_above("alpha", self.alpha, 0.5)

    def init(
        self, rng_key: RunKey, num_arms: int, horizon: RoundCount
    ) -> BradleyTerryState:
        """Return the state before the first round: the prior."""
        precision = 1.0 / jnp.asarray(self.prior_variance, dtype=jnp.float64)
        identity = jnp.eye(num_arms, dtype=jnp.float64)
        chains = 2 if self.posterior == "mcmc" else 0
        white = jax.random.normal(rng_key, (chains, num_arms), dtype=jnp.float64)
        return BradleyTerryState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            mode=jnp.zeros(num_arms, dtype=jnp.float64),
            factor=jnp.sqrt(precision) * identity,
            walkers=white / jnp.sqrt(precision),
        )

    def choose(
        self, rng_key: RunKey, state: BradleyTerryState, round_: RoundCount
    ) -> tuple[Duel, BradleyTerryState]:
        """Draw rounds up to the first in which different arms meet."""
        number = 1 if self.posterior == "mcmc" else self.rounds_at_once
        if self.posterior == "mcmc":
            utility = state.walkers.T
        else:
            law = UtilityLaw(mode=state.mode, factor=state.factor)
            utility = draw_utilities(rng_key, law, 2 * number)
        place = jnp.arange(number, dtype=jnp.int32)
        if self.elimination:
            sets = self._sets(state.wins, round_)
            one, other = _best_allowed(utility[:, :number], utility[:, number:], sets)
            # Later rounds may have other sets.
            holds = place.astype(jnp.int64) <= sets.last_round - round_
        else:
            best = jnp.argmax(utility, axis=0).astype(jnp.int32)
            one, other = best[:number], best[number:]
            holds = jnp.ones(number, dtype=bool)
        differ = one != other if number > 1 else jnp.ones(1, dtype=bool)
        idle = (jnp.cumsum(differ.astype(jnp.int32)) == 0) & holds
        happens = jnp.any(differ & holds)
        waited = jnp.sum(idle, dtype=jnp.int32)
        first, second = (
            jnp.sum(jnp.where(place == waited, arms, 0), dtype=jnp.int32)
            for arms in (one, other)
        )
        duel = Duel(
            champion=one[0],
            exploit_rounds=waited.astype(jnp.int64),
            first=first,
            second=second,
            explore_rounds=happens.astype(jnp.int64),
        )
        return duel, state

    def update(
        self,
        rng_key: RunKey,
        state: BradleyTerryState,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> BradleyTerryState:
        """Count the outcome, follow the mode, and move the chains if there are any."""
        forward = ordered_pair_mask(state.mode.shape[0], duel.first, duel.second)
        forward = forward & (duel.first != duel.second)
        won = outcome.wins.astype(jnp.int64)
        lost = outcome.rounds.astype(jnp.int64) - won
        nothing = jnp.int64(0)
        wins = state.wins + jnp.where(forward, won, nothing)
        wins = wins + jnp.where(forward.T, lost, nothing)
        precision = 1.0 / jnp.asarray(self.prior_variance, dtype=jnp.float64)
        law = follow_mode(wins, state.mode, precision, self.newton_steps)
        walkers = state.walkers
        if self.posterior == "mcmc":
            walkers = walk(rng_key, wins, walkers, law, precision, self.mcmc_steps)
        return BradleyTerryState(
            wins=wins, mode=law.mode, factor=law.factor, walkers=walkers
        )

    def recommend(self, rng_key: RunKey, state: BradleyTerryState) -> Arm:
        """Return the arm with the largest utility at the mode."""
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, state.mode == jnp.max(state.mode))

    def _sets(self, wins: Int[Array, "K K"], round_: RoundCount) -> RoundSets:
        """Return the arms that the bounds of D-TS allow at ``round_``."""
        ahead = wins > wins.T
        resolution = resolutions(wins, self.alpha)
        return round_sets(ahead, resolution, round_, elimination=True)


def _best_allowed(
    one: Float[Array, "K n"], other: Float[Array, "K n"], sets: RoundSets
) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """Return the arms of n rounds: the best of two draws each that the bounds allow."""
    num_arms = one.shape[0]
    first = jnp.argmax(jnp.where(sets.candidates[:, None], one, -jnp.inf), axis=0)
    first = first.astype(jnp.int32)
    is_first: Bool[Array, "K n"] = (
        jnp.arange(num_arms, dtype=jnp.int32)[:, None] == first[None, :]
    )
    allowed = jnp.any(sets.eligible[:, :, None] & is_first[None, :, :], axis=1)
    second = jnp.argmax(jnp.where(allowed | is_first, other, -jnp.inf), axis=0)
    return first, second.astype(jnp.int32)
