"""Laplace's method over sets: fits, models of one's own, and what is refused."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
from jax.scipy.special import logsumexp
from numpyro import distributions as dist

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.inference import fit
from bayesduel.instances import choice
from bayesduel.models import BradleyTerry, MultinomialLogit
from bayesduel.models.base import PreferenceModel, count_votes
from bayesduel.models.fit.laplace_draws import density_of
from bayesduel.models.in_policies import modes
from bayesduel.models.in_policies.set_laplace import all_sets
from bayesduel.posteriors import SetLaplace
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation.driver import run_chunk
from bayesduel.votes import Choices
from tests.compiling import quick_jit
from tests.reference.rays import points_on_rays


class Offers(NamedTuple):
    """The data of the model below."""

    offered: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class HeavyTails(PreferenceModel):
    """Multinomial logit without an outside option, worths with heavy tails."""

    scale: float = 1.0

    title = "Heavy tails"

    def __call__(self, offers):
        number = offers.offered.shape[1]
        distribution = dist.StudentT(5.0, 0.0, self.scale).expand([number])
        worth = numpyro.sample("worth", distribution.to_event(1))
        table = jnp.broadcast_to(worth[None, :], offers.offered.shape)
        offered = jnp.asarray(offers.offered)
        total = logsumexp(table, axis=1, where=offered, keepdims=True)
        logs = jnp.where(offered, table - total, -jnp.inf)
        return count_votes(jnp.asarray(offers.counts), logs)

    def arrays(self, data):
        return Offers(data.offered, data.counts[:, : data.num_arms])

    def utilities(self, draws):
        return draws["worth"]

    def dims(self):
        return {"worth": ("arm",)}

    def outcomes(self, data):
        return data.arm_names


MODELS = {"logit": (MultinomialLogit(), True), "own": (HeavyTails(), False)}

LOPSIDED = np.array(
    [
        [30, 1, 0, 0], [4, 0, 2, 0],
        [9, 0, 0, 9], [0, 0, 0, 0],
        [0, 3, 0, 11], [0, 0, 1, 2],
    ]
)  # fmt: skip
"""Choices of the six pairs of four arms: arm 0 hardly ever loses, one pair is idle."""


def after_votes(posterior, counts, nobody):
    """Return the posterior and its state after all choices, a set at a time."""
    model = posterior.over(4, 2, no_choice=nobody is not None)
    update = quick_jit(model.update)
    with jax.enable_x64(True):
        state = quick_jit(model.init)()
        for row, subset in enumerate(all_sets(4, 2)):
            outcome = counts[row].astype(float)
            if nobody is not None:
                outcome = np.append(outcome, nobody[row])
            state = update(state, jnp.asarray(subset), jnp.asarray(outcome))
    return model, state


@pytest.mark.parametrize("votes", [LOPSIDED, np.zeros((6, 4))], ids=["votes", "none"])
@pytest.mark.parametrize("name", ["logit", pytest.param("own", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_state_is_that_of_a_fit(name, votes, monkeypatch):
    if name == "own":
        # Heavy tails are no line: three steps leave 3 % of the fall.
        monkeypatch.setattr(modes, "_STEPS", 6)
    choice_model, no_choice = MODELS[name]
    nobody = np.array([2, 0, 5, 1, 0, 0]) * bool(votes.any()) if no_choice else None
    model, state = after_votes(SetLaplace(choice_model), votes, nobody)
    names, offered = ("a", "b", "c", "d"), all_sets(4, 2)
    last = np.zeros(6) if nobody is None else nobody
    table = np.column_stack([votes, last]).astype(float)
    data = Choices(names, offered, table, outside=no_choice)
    posterior = fit(choice_model, data, method="laplace", num_draws=10)
    result = posterior.extras["laplace"]
    np.testing.assert_allclose(state.mode, result.mode, atol=1e-6)
    ours, theirs = (
        np.linalg.inv(np.asarray(x) @ np.asarray(x).T)
        for x in (state.factor, result.factor)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    with jax.enable_x64(True):
        utility = np.asarray(quick_jit(model.utilities)(state))
        # Hardly optimized, XLA makes nan of some of these logarithms.
        sample = jax.jit(model.sample_utilities, static_argnums=2)
        draws = np.asarray(sample(jax.random.key(5), state, 200))
        shape = len(state.mode), 200
        white = np.asarray(jax.random.normal(jax.random.key(5), shape, jnp.float64)).T
    np.testing.assert_allclose(utility, result.mode, atol=1e-6)
    # Coordinates are utilities here.
    density = density_of(choice_model, choice_model.arrays(data)).log_densities
    ways = np.linalg.solve(np.asarray(state.factor).T, white.T).T
    depth = np.linalg.norm(white, axis=1)
    points = points_on_rays(density, np.asarray(state.mode), ways, depth)
    error = np.abs(draws - points)
    assert np.quantile(error, 0.99) < 2e-3 and np.max(error) < 0.05


@pytest.mark.slow
def test_a_model_of_ones_own_drives_the_policy():
    world = choice.multinomial_logit([4.0, 3.0, 0.4, 0.3, 0.2], 2, no_choice_weight=0.0)
    environment = SubsetEnvironment(world, (world.default_notion,))
    policy = policies.get(
        "logit-ts", posterior=SetLaplace(HeavyTails()), no_choice=False
    )
    records = run_chunk(
        environment, policy, runs=range(24), checkpoints=np.array([400]), seed=6
    )
    right = np.all(records.recommendation == world.mask(world.best_set), axis=1)
    assert right.mean() > 0.9


def test_the_prior_has_one_name():
    policy = policies.parse_policy("logit-ts:prior_scale=1")
    assert policy.posterior == SetLaplace(MultinomialLogit(prior_scale=1.0))
    assert policy.label == "Logit-TS:prior_scale=1.0"


@pytest.mark.parametrize(
    ("posterior", "words"),
    [
        (SetLaplace(BradleyTerry()),
         "must be Comparisons, which BradleyTerry is fitted to"),
        (SetLaplace(MultinomialLogit(prior_scale=0.0)), "prior_scale must be"),
        (SetLaplace("logit"), "model must be a model"),
        ("logit", "posterior must be one of sets"),
    ],
)  # fmt: skip
def test_what_is_refused(posterior, words):
    with pytest.raises(PolicyParameterError, match=words):
        policies.get("logit-ts", posterior=posterior).check(5, 100)


def test_many_arms_are_checked_without_all_their_sets():
    """A thousand arms have half a million pairs."""
    SetLaplace().check(1000)
