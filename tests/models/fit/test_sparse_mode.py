"""The mode of many arms: equal to the dense fit, and without any table of pairs."""

import numpy as np
import pytest
from scipy.special import expit

from bayesduel.errors import FitError
from bayesduel.inference import contrasts, fit, fit_mode
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.votes import Comparisons


def votes(arms, number, seed=0, columns=None):
    rng = np.random.default_rng(seed)
    utility = rng.normal(size=arms) * 1.5
    first = rng.integers(arms, size=number)
    second = (first + rng.integers(1, arms, size=number)) % arms
    # The last arm never wins, the first never loses.
    lead = utility[first] - utility[second] + 0.5
    lead += 50.0 * ((first == 0) | (second == arms - 1))
    lead -= 50.0 * ((second == 0) | (first == arms - 1))
    said = np.where(rng.random(number) < 0.15, 2, rng.random(number) > expit(lead))
    return Comparisons.from_rows([f"arm {k}" for k in range(arms)], first, second,
                                 np.eye(3)[said.astype(int)], order_known=True,
                                 columns=columns)  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            BradleyTerry(zero_sum=True, ties=True, order_effect=True),
            marks=pytest.mark.slow,
        ),
        Thurstone(ties=True, prior_scale=1.0),
        BradleyTerry(order_effect=True),
    ],
    ids=["davidson", "probit", "order"],
)
def test_the_mode_is_that_of_the_dense_fit(model):
    neutral = {"neutral": (np.arange(960) % 7 == 0).astype(float)}
    data = votes(120, 960, columns=neutral)
    data = data if model.ties else data.without_ties()
    found, dense = fit_mode(model, data), fit(model, data, method="laplace",
                                              num_draws=10, resample=False)  # fmt: skip
    assert found.converged
    utility = dense.mode["utility"].values
    np.testing.assert_allclose(found.utility, utility - utility.mean(), atol=1e-6)
    assert abs(found.utility.sum()) < 1e-6
    extras = [dense.mode[x].item() for x in ("first_advantage", model.tie_name)
              if x in dense.mode]  # fmt: skip
    np.testing.assert_allclose(found.point[: len(extras)], extras, atol=1e-6)
    # Variances from the factor of the dense curvature, zero-sum coordinates undone.
    state = dense.extras["laplace"]
    inverse = np.linalg.inv(state.factor @ state.factor.T)
    if model.zero_sum:
        count = len(extras)
        basis = np.array([dense_utilities(model, data, way) for way in
                          np.eye(len(state.mode))[count:]]).T  # fmt: skip
        inverse = basis @ inverse[count:, count:] @ basis.T
    else:
        inverse = inverse[len(extras) :, len(extras) :]
    said = found.contrasts(["arm 0", "arm 17", "arm 119"], "arm 5", probability=0.5)
    for name, low, high in zip(said["arm"].values, said["lower"].values,
                               said["upper"].values, strict=True):  # fmt: skip
        arm = int(name.split()[1])
        variance = inverse[arm, arm] + inverse[5, 5] - 2 * inverse[arm, 5]
        # Half of a normal distribution is within 0.67449 standard deviations.
        assert (high - low) / 2 == pytest.approx(0.6744897502 * variance**0.5, abs=1e-6)


def dense_utilities(model, data, way):
    return model.closed_form(model.arrays(data)).coordinates.utilities(way)


def test_differences_of_the_mode_are_those_of_draws():
    """With hundreds of votes per arm the normal distribution is close."""
    data = votes(5, 3000)
    model = BradleyTerry(ties=True)
    drawn = contrasts(fit(model, data, num_draws=5000), "arm 2", equivalent=0.3)
    names = drawn["arm"].values.tolist()
    normal = fit_mode(model, data).contrasts(names, "arm 2", equivalent=0.3)
    inner = [name for name in names if name not in ("arm 0", "arm 4")]
    for name, error in (("mean", 0.02), ("lower", 0.04), ("upper", 0.04),
                        ("p_better", 0.03), ("p_equivalent", 0.03)):  # fmt: skip
        one, other = (each[name].sel(arm=inner).values for each in (drawn, normal))
        np.testing.assert_allclose(one, other, atol=error)
    assert float(normal["p_equivalent"].sel(arm="arm 2")) == 1.0
    assert float(drawn["upper"].sel(arm="arm 2")) == 0.0


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_from_3000_arms_on_there_is_no_table_of_pairs(monkeypatch):
    """No array is made that is as long as the number of pairs."""
    data = votes(4000, 9000)
    made = []
    for name in ("zeros", "empty", "ones", "eye", "full"):
        plain = getattr(np, name)

        def watched(shape, *rest, plain=plain, **more):
            found = plain(shape, *rest, **more)
            made.append(found.size)
            return found

        monkeypatch.setattr(np, name, watched)
    found = fit_mode(BradleyTerry(ties=True), data)
    assert found.converged and len(data.parts()) >= 1 and data.strong_parts()
    found.contrasts(["arm 1"], "arm 2")
    assert made and max(made) < 4000 * 100
    assert "wins" not in vars(data)
    with pytest.raises(FitError, match="at most 3000 arms.*fit_mode"):
        fit(BradleyTerry(ties=True), data)


def test_what_has_no_sparse_mode_is_refused():
    data = votes(4, 30)
    for model in (BradleyTerry(ties=True, learn_scale=True), "bradley-terry"):
        with pytest.raises(FitError, match="model must.*use fit()"):
            fit_mode(model, data)
    found = fit_mode(BradleyTerry(ties=True), data)
    with pytest.raises(Exception, match="unknown arm 'milk'"):
        found.contrasts(["milk"], "arm 1")
    with pytest.raises(FitError, match="reference must be an arm"):
        contrasts(fit(BradleyTerry(ties=True), data, num_draws=10), "milk")
