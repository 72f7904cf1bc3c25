"""A study whose arms have features: who knows them, and what becomes of them."""

import numpy as np
import pytest
from scipy.special import expit

from bayesduel.errors import PolicyParameterError, StudyError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, LinearUtilities
from bayesduel.studies import Study

NAMES = ["tea", "coffee", "water", "milk"]
FEATURES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]])
COEFFICIENTS = np.array([2.0, 1.0])


def answer(study, number, seed=0):
    """Answer questions as the utilities have it."""
    rng = np.random.default_rng(seed)
    utility = dict(zip(NAMES, FEATURES @ COEFFICIENTS, strict=True))
    for _ in range(number):
        (ticket,) = study.ask()
        gap = utility[ticket.left] - utility[ticket.right]
        study.tell(ticket, "left" if rng.random() < expit(gap) else "right")


@pytest.mark.parametrize(
    "policy",
    ["balanced", pytest.param("d-ts:posterior=linear", marks=pytest.mark.slow)],
)
def test_a_study_knows_the_features_of_its_arms(tmp_path, policy):
    path = tmp_path / "drinks.study"
    model = LinearUtilities(FEATURES)
    with Study.create(path, NAMES, policy, model=model) as study:
        answer(study, 12)
        study.retire_arm("water")
        answer(study, 3)
    with Study.open(path) as study:
        answer(study, 3)
        votes = study.comparisons()
        assert votes.arm_names == ("tea", "coffee", "milk")
        found = study.status()
        assert found.model == repr(LinearUtilities(FEATURES[[0, 1, 3]]))
        # What the votes that are left tell, under the features of these arms.
        own = fit(LinearUtilities(FEATURES[[0, 1, 3]]), votes)
        best = own.winner_shares()["condorcet"]
        shares = {each.arm: each.condorcet for each in found.standings}
        given = [shares[name] for name in votes.arm_names]
        np.testing.assert_allclose(given, best, atol=0.05)
        with pytest.raises(StudyError, match="name must have features"):
            study.add_arm("juice")


def test_what_lacks_features_is_refused(tmp_path):
    path = tmp_path / "drinks.study"
    for model in ("linear", LinearUtilities(), LinearUtilities(FEATURES[:3])):
        with pytest.raises(StudyError, match="model must have features of each of the"):
            Study.create(path, NAMES, model=model)
    with pytest.raises(PolicyParameterError, match="features must be given"):
        Study.create(path, NAMES, "d-ts:posterior=linear", model=BradleyTerry())
    assert not path.exists()
