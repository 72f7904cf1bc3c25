"""Any model of pairs inside policies: the mode and draws from around it, or chains."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float, Int

from bayesduel.errors import NarrowPriorWarning, PolicyParameterError
from bayesduel.models.base import PreferenceModel
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.identifiability import narrow_covariates
from bayesduel.models.in_policies.base import NEWTON_STEPS, UtilitiesByNumber
from bayesduel.models.in_policies.modes import (
    LevelWorld,
    NormalApproximation,
    draw_on_rays,
    follow,
    level_point,
    normal_draws,
    points_at,
    points_on_rays,
    surely_before,
)
from bayesduel.models.in_policies.pair_models import (
    Covariates,
    PairModel,
    PointDensity,
    VoteTables,
    check_count,
    hyphenated,
)
from bayesduel.models.utilities import PairwiseUtilityModel
from bayesduel.types import Arm, Outcome, RunKey

# Rounding of the log likelihood of a vote in float32, with its utilities.
_ROUNDING = 1e-5
_NODES = 128  # Points, and as many mirrored ones, by which a mean is computed.


class LaplaceBeliefs(NamedTuple):
    """Votes, and the normal distribution close to their posterior."""

    votes: VoteTables
    distribution: NormalApproximation
    # The model's indices of the policy's arms; None where it makes no difference
    # between arms. Votes and distribution are in the model's order.
    order: Int[Array, " K"] | None
    # Where the chains of :class:`HMC` are.
    walkers: Float[Array, "chain D"] | None = None


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Laplace:
    """Laplace's approximation to the posterior of a model, with corrected tails.

    After every vote the mode is followed by Newton steps from where it was, and the
    normal distribution there is that of :func:`bayesduel.inference.fit` with
    ``method="laplace"``. A proper prior keeps it finite, also for an arm that never
    lost. Bradley-Terry and Thurstone with independent normal utilities have gradient
    and Hessian in closed form; any other model, one's own included, is differentiated
    automatically, and its steps are halved until they rise.

    A draw is moved along the ray from the mode, so that its tail probability agrees
    with that of the posterior. For large differences the tails of the normal
    distribution are far too heavy: a policy that draws from it explores up to six times
    too often. ``docs/theory/posteriors.md`` compares both with the exact posterior.

    Votes count with the order in which the two arms were shown, for models with an
    order effect; P(i beats j) is the one with nobody shown first.

    Parameters
    ----------
    model : PreferenceModel
        Of comparisons. It is a part of the program: another prior is another program.
    newton_steps : int
        Largest number of Newton steps per update, at least 1. If votes arrive one at a
        time, one or two suffice.
    covariates : (K, D), optional
        Whether utilities depend on covariates of the arms.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from bayesduel.models import Thurstone
    >>> from bayesduel.types import Outcome
    >>> posterior = Laplace(Thurstone())
    >>> with jax.enable_x64(True):
    ...     none, two = jnp.int64(0), jnp.int64(2)
    ...     key = jax.random.key(0)
    ...     state = posterior.update(
    ...         key,
    ...         posterior.init(key, 3),
    ...         jnp.int32(0),
    ...         jnp.int32(2),
    ...         Outcome(exploit_rounds=none, rounds=two, wins=two),
    ...     )
    ...     print(posterior.utilities(state).round(2))
    [ 0.97  0.   -0.97]
    """

    model: PreferenceModel = field(default=BradleyTerry(), metadata={"static": True})
    newton_steps: int = field(default=NEWTON_STEPS, metadata={"static": True})
    covariates: Covariates = field(default=None, metadata={"static": True})
    order: Any = field(default=None, repr=False, compare=False)

    independent_draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Keep a table as tuples, which programs are told apart by."""
        table = self.covariates
        if table is not None and not isinstance(table, tuple):
            rows = np.asarray(table, dtype=np.float64).tolist()
            object.__setattr__(self, "covariates", tuple(map(tuple, rows)))

    @property
    def name(self) -> str:
        """That of the model, in words joined by hyphens."""
        return hyphenated(self.model)

    @property
    def on_a_scale(self) -> bool:
        """Whether i beats j exactly where its utility is larger, the more the larger.

        A sample is then described by its utilities.
        """
        return self.model.utility_decides

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` where a field or the model does not fit."""
        check_count("newton_steps", self.newton_steps, 1)
        if getattr(self.model, "lacks_features", False) and num_arms is None:
            return  # An instance may have them.
        table = getattr(self.model, "features", None) or self.covariates
        known = len(table) if table is not None else num_arms
        if num_arms is not None and known != num_arms:
            raise PolicyParameterError(
                "covariates" if table is self.covariates else "features",
                f"must have a row for each of the {num_arms} arms",
                known,
            )
        pairs = self.pairs(known or 3)
        pairs.check()
        if num_arms is not None:
            pairs.check_traced()
            if table is not None and isinstance(self.model, PairwiseUtilityModel):
                features, scale = np.asarray(table), self.model.covariate_scale
                names = tuple(f"feature {at}" for at in range(features.shape[1]))
                for text in narrow_covariates(names, features, scale):
                    warnings.warn(text, NarrowPriorWarning, stacklevel=2)

    def in_order(self, order: Int[Array, " K"]) -> Self:
        """Return the posterior of arms in another order."""
        return replace(self, order=order)

    def pairs(self, num_arms: int) -> PairModel:
        """Return the model for so many arms."""
        return PairModel(self.model, num_arms, self.covariates)

    def init(self, rng_key: RunKey, num_arms: int) -> LaplaceBeliefs:
        """Return the state before any vote; ``rng_key`` is not used."""
        pairs = self.pairs(num_arms)
        votes = VoteTables.empty(num_arms)
        start = NormalApproximation(
            mode=jnp.zeros(pairs.size, dtype=jnp.float64),
            factor=jnp.eye(pairs.size, dtype=jnp.float64),
        )
        # Not every prior has its mode at 0.
        distribution = follow(
            pairs.density(votes), start, 1 if pairs.in_closed_form else 16
        )
        order = None
        if not pairs.arms_alike:
            order = jnp.arange(num_arms) if self.order is None else self.order
            order = order.astype(jnp.int32)
        return LaplaceBeliefs(votes=votes, distribution=distribution, order=order)

    def update(
        self,
        rng_key: RunKey,
        state: LaplaceBeliefs,
        first: Arm,
        second: Arm,
        votes: Outcome,
    ) -> LaplaceBeliefs:
        """Count votes and follow the mode; ``rng_key`` is not used."""
        if state.order is not None:
            first, second = (state.order[arm] for arm in (first, second))
        tables = state.votes.add(first, second, votes)
        density = self.pairs(tables.won.shape[0]).density(tables)
        distribution = follow(density, state.distribution, self.newton_steps)
        return LaplaceBeliefs(
            votes=tables, distribution=distribution, order=state.order
        )

    def sample(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int
    ) -> Float[Array, "draw K K"]:
        """Draw preference matrices, independently; consumes ``rng_key``."""
        return self.matrices_at(state, self._points(rng_key, state, num_draws))

    def sample_utilities(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int
    ) -> Float[Array, "draw K"]:
        """Draw the utilities of :meth:`sample` by the same key, if ``on_a_scale``."""
        return self.utilities_at(state, self._points(rng_key, state, num_draws))

    def utilities_by_number(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int, leader: Arm
    ) -> UtilitiesByNumber:
        """Draw the utilities of :meth:`sample_utilities`, each when it is asked for.

        Along a ray another arm is best from some share of the way on. Whether a draw
        gets there needs no solution.
        """
        pairs = self.pairs(state.votes.won.shape[0])
        density, distribution = pairs.falling(state.votes), state.distribution
        normal, depth = normal_draws(rng_key, distribution, num_draws)

        def at(places: Int[Array, " place"]) -> Float[Array, "place K"]:
            chosen = normal[places], depth[places]
            points = points_on_rays(density, distribution.mode, *chosen)
            return self.utilities_at(state, points)

        if not pairs.falls_along_rays:
            utility = at(jnp.arange(num_draws))
            top = jnp.argmax(utility, axis=1).astype(leader.dtype)
            return UtilitiesByNumber(top == leader, lambda places: utility[places])
        mode = distribution.mode
        ends = self.utilities_at(state, jnp.concatenate([mode[None], normal]))
        gaps = ends[:, leader, None] - ends
        nearing = gaps[:1] - gaps[1:]
        limit = jnp.where(nearing > 0, gaps[:1] / nearing, jnp.inf).min(axis=1)
        # A look at so many points need not be exact.
        top, ends, lengths, limit = (
            values.astype(jnp.float32) for values in (mode, normal, depth, limit)
        )
        votes = jnp.sum(state.votes.won + state.votes.lost)
        stay = surely_before(
            pairs.falling(state.votes, jnp.float32),
            top,
            ends,
            lengths,
            limit,
            _ROUNDING * votes.astype(jnp.float32),
        )
        return UtilitiesByNumber(stay, at)

    def _points(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int
    ) -> Float[Array, "draw D"]:
        density = self.pairs(state.votes.won.shape[0]).falling(state.votes)
        return draw_on_rays(rng_key, density, state.distribution, num_draws)

    def utilities(self, state: LaplaceBeliefs) -> Float[Array, " K"]:
        """Return the utilities at the mode, if ``on_a_scale``."""
        return self.utilities_at(state, state.distribution.mode[None, :])[0]

    def level_world(self, state: LaplaceBeliefs, leader: Arm, rival: Arm) -> LevelWorld:
        """Return the likeliest world in which two arms have the same utility.

        That is the mode where both are the same arm. Used if ``on_a_scale``. By at most
        ``newton_steps`` steps, which are too few only where the density is not concave.
        """
        pairs, mode = self.pairs(state.votes.won.shape[0]), state.distribution.mode
        quick = pairs.falling(state.votes).log_density

        def gaps(points: Array) -> Array:
            utility = self.utilities_at(state, points)
            return utility[:, leader] - utility[:, rival]

        point = level_point(
            pairs.density(state.votes),
            quick,
            mode,
            gaps,
            leader != rival,
            self.newton_steps,
        )
        fall = jnp.maximum(quick(mode) - quick(point), 0.0)
        return LevelWorld(self.matrices_at(state, point[None])[0], fall)

    def mean(self, state: LaplaceBeliefs) -> Float[Array, "K K"]:
        """Return the mean of the preference matrix under the normal distribution.

        By 256 points, in pairs on either side of the mode, that fill the space evenly
        (Sobol' points): a mean of 1/2 by symmetry is exact. Others were off by 0.0006
        in root mean square over 576 sets of votes on 2 to 7 arms, and by 0.014 at most,
        where utilities are far apart and unsure.
        """
        from scipy.special import ndtri
        from scipy.stats import qmc

        size = state.distribution.mode.shape[0]
        # Sobol points for as many dimensions as there are, the others random.
        even = qmc.Sobol(min(size, qmc.Sobol.MAXDIM), rng=np.random.default_rng(0))
        rest = np.random.default_rng(1).random((_NODES, size - even.d))
        shares = np.concatenate([even.random(_NODES), rest], axis=1)
        nodes = ndtri(np.clip(shares, 1e-9, 1.0 - 1e-9))

        def add(total: Array, white: Array) -> tuple[Array, None]:
            points = points_at(state.distribution, jnp.stack([white, -white], axis=1))
            return total + jnp.mean(self.matrices_at(state, points), axis=0), None

        num_arms = state.votes.won.shape[0]
        nothing = jnp.zeros((num_arms, num_arms), dtype=jnp.float64)
        total, _ = lax.scan(add, nothing, jnp.asarray(nodes))
        return total / _NODES

    def matrices_at(
        self, state: LaplaceBeliefs, points: Float[Array, "draw D"]
    ) -> Float[Array, "draw K K"]:
        """Return the preference matrices of points, in the policy's order of arms."""
        matrices = self.pairs(state.votes.won.shape[0]).matrices(points)
        if state.order is None:
            return matrices
        return matrices[:, state.order[:, None], state.order[None, :]]

    def utilities_at(
        self, state: LaplaceBeliefs, points: Float[Array, "draw D"]
    ) -> Float[Array, "draw K"]:
        """Return the utilities of points, in the policy's order of arms."""
        utilities = self.pairs(state.votes.won.shape[0]).utilities(points)
        return utilities if state.order is None else utilities[:, state.order]


# --- The exact posterior, by Markov chains that move every round ----------------------


_LEAPS = 3  # Leapfrog steps of one Hamiltonian trajectory.

_SHORTEST_LEAP = 0.4
_LONGEST_LEAP = 0.6
"""Three leaps of about 1/2 take a quarter of a period of a standard normal
distribution, after which nothing is left of the start; the length varies, so that no
distribution is met in step."""

# Trajectories before the first vote, where the prior is no normal distribution.
_WARM_UP = 64


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class HMC(Laplace):
    """The exact posterior of a model, by Hamiltonian Monte Carlo; slow.

    Independent chains follow the posterior. At every update, whether there was a vote
    or not, each moves a few trajectories, in coordinates in which Laplace's normal
    distribution is a standard one: that distribution decides how fast the chains mix,
    not where they go. Draws of one state are where the chains are, and there are as
    many as chains.

    Parameters
    ----------
    model : PreferenceModel
        As for :class:`~bayesduel.posteriors.Laplace`.
    mcmc_steps : int
        Trajectories per update, at least 1.
    chains : int
        At least 2, as many as D-TS has samples in a round.
    newton_steps, covariates
        As for :class:`~bayesduel.posteriors.Laplace`.

    References
    ----------
    R. M. Neal, "MCMC using Hamiltonian dynamics", in: Handbook of Markov Chain Monte
    Carlo, 2011.

    Examples
    --------
    >>> import jax
    >>> posterior = HMC(chains=3)
    >>> with jax.enable_x64(True):
    ...     key_start, key_draw = jax.random.split(jax.random.key(0))
    ...     state = posterior.init(key_start, 4)
    ...     posterior.sample(key_draw, state, 3).shape
    (3, 4, 4)
    """

    mcmc_steps: int = field(default=4, metadata={"static": True})
    chains: int = field(default=2, metadata={"static": True})

    independent_draws: ClassVar[bool] = False
    utilities_by_number: ClassVar[None] = None  # pyright: ignore

    @property
    def name(self) -> str:
        """That of the model, and "hmc"."""
        return f"{super().name}-hmc"

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` where a field or the model does not fit."""
        check_count("mcmc_steps", self.mcmc_steps, 1)
        check_count("chains", self.chains, 2)
        super().check(num_arms)

    def init(self, rng_key: RunKey, num_arms: int) -> LaplaceBeliefs:
        """Return the state before any vote; consumes ``rng_key``."""
        state = super().init(rng_key, num_arms)
        if state.order is None:  # The prior is that normal distribution.
            walkers = normal_draws(rng_key, state.distribution, self.chains)[0]
            return state._replace(walkers=walkers)
        key_start, key_walk = jax.random.split(rng_key)
        walkers = normal_draws(key_start, state.distribution, self.chains)[0]
        return self._moved(key_walk, state, walkers, _WARM_UP)

    def update(
        self,
        rng_key: RunKey,
        state: LaplaceBeliefs,
        first: Arm,
        second: Arm,
        votes: Outcome,
    ) -> LaplaceBeliefs:
        """Count votes, and move the chains; consumes ``rng_key``."""
        counted = super().update(rng_key, state, first, second, votes)
        return self._moved(rng_key, counted, state.walkers, self.mcmc_steps)

    def _moved(
        self, rng_key: RunKey, state: LaplaceBeliefs, walkers: Any, steps: int
    ) -> LaplaceBeliefs:
        density = self.pairs(state.votes.won.shape[0]).density(state.votes)
        walkers = _walk(rng_key, density, walkers, state.distribution, steps)
        return state._replace(walkers=walkers)

    def _points(
        self, rng_key: RunKey, state: LaplaceBeliefs, num_draws: int
    ) -> Float[Array, "draw D"]:
        # Where the chains are.
        if num_draws > self.chains:
            rule = f"must be at least {num_draws}, as many as draws are asked for"
            raise PolicyParameterError("chains", rule, self.chains)
        assert state.walkers is not None
        return state.walkers[:num_draws]


def _walk(
    rng_key: RunKey,
    density: PointDensity,
    points: Float[Array, "chain D"],
    distribution: NormalApproximation,
    steps: int,
) -> Float[Array, "chain D"]:
    """Move Markov chains that leave the exact posterior as it is; consumes the key."""
    # In coordinates z in which the distribution is standard normal, x = mode + L^-T z.
    # NumPyro takes long to import, and Laplace's method does without.
    from numpyro.infer.hmc import hmc

    size = distribution.mode.shape[0]
    inverse = lax.linalg.triangular_solve(
        distribution.factor,
        jnp.eye(size, dtype=jnp.float64),
        left_side=True,
        lower=True,
    )

    def point_of(white: Float[Array, " D"]) -> Float[Array, " D"]:
        return distribution.mode + white @ inverse

    start, move = hmc(lambda white: -density.log_density(point_of(white)), algo="HMC")

    def trajectory(state: Any, leap: Array) -> tuple[Any, None]:
        return move(state._replace(trajectory_length=_LEAPS * leap)), None

    def chain(rng_key: RunKey, point: Float[Array, " D"]) -> Float[Array, " D"]:
        key_start, key_leaps = jax.random.split(rng_key)
        state = start(
            (point - distribution.mode) @ distribution.factor,
            num_warmup=0,
            num_steps=_LEAPS,
            adapt_step_size=False,
            adapt_mass_matrix=False,
            inverse_mass_matrix=jnp.ones(size, dtype=jnp.float64),
            rng_key=key_start,
        )
        leaps = jax.random.uniform(
            key_leaps,
            (steps,),
            dtype=jnp.float64,
            minval=_SHORTEST_LEAP,
            maxval=_LONGEST_LEAP,
        )
        state, _ = lax.scan(trajectory, state, leaps)
        return point_of(state.z)

    return jax.vmap(chain)(jax.random.split(rng_key, points.shape[0]), points)
