"""A user's subclass: closed forms hold for the density they belong to, and no other."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro import distributions as dist
from scipy.special import expit

from bayesduel.diagnostics import leave_pairs_out
from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import (
    BradleyTerry,
    LinearUtilities,
    MultinomialLogit,
    PairwiseBeta,
    PlackettLuce,
    Thurstone,
)
from bayesduel.models.base import count_votes, sample
from bayesduel.models.fit.draws import generator_of
from bayesduel.models.fit.numpyro_models import as_jax, laplace, latent_of
from bayesduel.models.fit.predictions import simulate_arrays
from bayesduel.models.newton import newton_mode
from bayesduel.models.vote_arrays import PairTables
from bayesduel.votes import Choices, Comparisons, Rankings

pytestmark = pytest.mark.usefixtures("hardly_optimized")

VOTES = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]], arm_names="abc")
LAPSE = 0.1


class HeavyTails:
    """A mixin, in front of the model in the order of methods."""

    def sample_utilities(self, num_arms, covariates=None, slope_scale=1.0):
        return sample("utility", dist.StudentT(4.0).expand([num_arms]).to_event(1))


class HeavyTerry(HeavyTails, BradleyTerry):
    """Bradley-Terry whose utilities have another prior than its closed form knows."""


class Tight(BradleyTerry):
    """The distribution of ``_normal`` instead of its caller."""

    def _normal(self, num_arms, scale):
        return dist.Laplace(0.0, 0.3).expand([num_arms]).to_event(1)


class Nudged(BradleyTerry):
    """The advantage of the first arm is known."""

    def sample_difference(self, votes):
        return 0.3 + 2.0 * super().sample_difference(votes)


@dataclass(frozen=True, kw_only=True)
class Lapsing(BradleyTerry):
    """One vote in ten is cast at random: another likelihood."""

    def outcome_logs(self, difference, tie):
        probability = jax.nn.sigmoid(jnp.stack([difference, -difference]))
        return jnp.log((1.0 - LAPSE) * probability + LAPSE / 2.0)


class Reversed(BradleyTerry):
    """The larger utility loses."""

    def preference_matrices(self, draws):
        return 1.0 - super().preference_matrices(draws)


def altered(kind, **names):
    """Return a model of a subclass that defines some names anew."""
    return type("Altered", (kind,), names)()


def test_only_stock_densities_have_a_closed_form():
    arrays = BradleyTerry().arrays(VOTES)
    # A tie parameter that comes after the utilities in the order of names.
    renamed = altered(Thurstone, tie_name="width")
    own = HeavyTerry(), Tight(), Nudged(), renamed
    for model in (*own, BradleyTerry(learn_scale=True), PairwiseBeta()):
        assert model.closed_form(arrays) is None, model
        assert model.hessian(arrays) is None, model
    # In a policy there is no closed form, so JAX differentiates its state.
    for option in ("residual", "order_effect", "ties"):
        model = LinearUtilities(np.eye(3), **{option: True})
        assert model.closed_form(arrays) is not None, model
        assert model.hessian(arrays) is None, model
        assert model.closed_form(PairTables(np.zeros((9, 2)), 3)) is None, model
    # The likelihood enters the curvature as it is, and a field is no other density.
    several = altered(
        BradleyTerry,
        logs_of_rows=lambda self, difference, tie: BradleyTerry.logs_of_rows(
            self, 2.0 * difference, tie
        ),
    )
    for model in (Lapsing(), several):
        assert model.closed_form(arrays) is None, model
        assert model.hessian(arrays) is not None, model
    for model in (Reversed(), BradleyTerry(prior_scale=0.3, ties=True)):
        assert model.closed_form(arrays) is not None, model
    choices = MultinomialLogit().arrays(Choices.from_subsets([["a", "b"]], ["a"]))
    stock = MultinomialLogit
    sharper = altered(stock, __call__=lambda self, votes: stock.__call__(self, votes))
    wider = altered(stock, _normal=lambda self, n, scale: stock._normal(self, n, 2))
    for model in (sharper, wider, MultinomialLogit(learn_scale=True)):
        assert model.closed_form(choices) is None, model
        assert model.hessian(choices) is None, model
    decides = [model.utility_decides for model in (Lapsing(), Reversed(), Thurstone())]
    assert decides == [False, False, True]
    assert BradleyTerry(learn_scale=True).utility_decides
    assert not PairwiseBeta().utility_decides


@pytest.mark.parametrize("model", [Nudged(), Lapsing()], ids=type)
def test_laplace_is_that_of_the_density_itself(model):
    """Mode and curvature against automatic differentiation of the NumPyro model."""
    with jax.enable_x64(True):
        arrays = as_jax(model.arrays(VOTES))
        latent = latent_of(model, arrays)
        result = laplace(model, arrays)
        expected = newton_mode(latent.log_density, jnp.zeros(latent.size))
    np.testing.assert_allclose(result.mode, expected.mode, atol=1e-7)
    np.testing.assert_allclose(result.factor, expected.factor, rtol=1e-6, atol=1e-9)


def test_the_best_utility_need_not_win():
    posterior = fit(Reversed(), VOTES, method="laplace", num_draws=50)
    shares = posterior.winner_shares()
    utility = posterior.flat_draws()["utility"]
    for name, arms in (("best_utility", utility), ("condorcet", -utility)):
        expected = np.bincount(arms.argmax(axis=1), minlength=3) / len(arms)
        np.testing.assert_allclose(shares[name], expected)


def test_preferences_are_those_of_the_user_s_likelihood():
    utility = np.array([[0.7, -0.4, 40.0]])
    gap = utility[0, :, None] - utility[0, None, :]
    expected = (1.0 - LAPSE) * expit(gap) + LAPSE / 2.0
    np.testing.assert_allclose(
        Lapsing().preference_matrices({"utility": utility})[0], expected, rtol=1e-12
    )


class Shy(PairwiseBeta):
    """Sixty pseudo-votes per pair, whatever the fields say."""

    def __call__(self, votes):
        many = jnp.full(votes.num_arms * (votes.num_arms - 1) // 2, 30.0)
        preference = sample("preference", dist.Beta(many, many).to_event(1))
        # The rows of VOTES are the pairs in their order.
        logs = jnp.log(jnp.stack([preference, 1.0 - preference], axis=1))
        return count_votes(jnp.asarray(votes.counts), logs)


class Generous(PairwiseBeta):
    """Only the prior's parameters differ, which the closed form reads too."""

    def _prior_of_pairs(self, num_arms):
        one, other = super()._prior_of_pairs(num_arms)
        return 30.0 * one, 30.0 * other


@pytest.mark.slow
def test_the_beta_posterior_belongs_to_its_density():
    assert "exact" not in Shy.methods and "exact" in Generous.methods
    with pytest.raises(FitError, match="Shy has laplace, svi, nuts"):
        fit(Shy(), VOTES, method="exact")
    exact = fit(PairwiseBeta(prior=30.0), VOTES, num_draws=4000)
    expected = exact.draws["preference"].mean(axis=(0, 1))
    for model, method in ((Shy(), "laplace"), (Generous(), "exact")):
        posterior = fit(model, VOTES, method=method, num_draws=4000)
        mean = posterior.draws["preference"].mean(axis=(0, 1))
        # Spreads of about 0.06; 16000 draws on both sides.
        np.testing.assert_allclose(mean, expected, atol=0.008)
    closed = leave_pairs_out(PairwiseBeta(prior=30.0), VOTES)
    assert leave_pairs_out(Shy(), VOTES).elpd == pytest.approx(closed.elpd, abs=0.1)
    assert closed.elpd - leave_pairs_out(PairwiseBeta(), VOTES).elpd < -0.3


def test_ballots_are_drawn_by_the_distribution_of_the_model_only():
    class Reversed(PlackettLuce):
        def __call__(self, ballots):
            return -1.0 * super().__call__(ballots)

    data = Rankings.from_orders([["a", "b", "c"], ["b", "a"]])
    draw = {"utility": np.zeros(3)}
    rng = generator_of(jax.random.key(0))
    simulate_arrays(rng, PlackettLuce(), PlackettLuce().arrays(data), draw)
    with pytest.raises(
        FitError, match="Reversed has a distribution of ballots of its own"
    ):
        simulate_arrays(rng, Reversed(), Reversed().arrays(data), draw)
