"""Kernels under priors: the distribution of the twin, and of both forms;
favorites."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.posteriors import BetaPairs
from tests.policies.distributions import disagreements
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.policies.thompson.round_states import duel_of_round
from tests.policies.thompson.test_scalar_rounds import program
from tests.reference import (
    DoubleThompson,
    DoubleThompsonPlus,
    RelativeConfidenceSampling,
    plays_of_twins,
)

MATRIX = MATRICES["cyclic"]
CHECKPOINTS = (30, 100, 300)
LATE = (100, 1000, 3000)

FAVORITE = np.array(
    [[1, 1, 1, 0.5], [2, 1, 1, 0.1], [1, 3.5, 1, 0.5], [9, 9, 7.5, 1]]
)  # fmt: skip
"""Arm 3 is thought to be the best one, wrongly or not."""

FALSE_ALARM = 1e-5

PRIORS = {"half": 0.5, "table": FAVORITE}
TWINS = {
    "d-ts": DoubleThompson,
    "d-ts+": DoubleThompsonPlus,
    "rcs": RelativeConfidenceSampling,
}


def plays_of(policy, seed, num_runs=512, grid=CHECKPOINTS):
    """Simulate by the kernel, arms shuffled in every run."""
    records = simulate_runs(
        policy, MATRIX, checkpoints=grid, runs=range(num_runs), seed=seed
    )
    return records.ledger["plays"]


@pytest.mark.parametrize(
    ("name", "prior"),
    [("d-ts", "table"), pytest.param("d-ts+", "half", marks=pytest.mark.slow),
     pytest.param("rcs", "table", marks=pytest.mark.slow)],
)  # fmt: skip
def test_kernel_has_the_distribution_of_the_twin(name, prior):
    """Single rounds of RD-TS are held to its twin elsewhere."""
    make = partial(TWINS[name], 4, prior=PRIORS[prior])
    theirs = plays_of_twins(make, MATRIX, CHECKPOINTS, 50, 91)
    ours = plays_of(policies.get(name, prior=PRIORS[prior]), 1)
    assert not disagreements(ours, theirs, MATRIX)


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("d-ts", "table"),
        ("d-ts+", "half"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("rcs", "table"), ("rcs:fallback=random", "half"))
        ),
        pytest.param("rd-ts", "table", marks=pytest.mark.slow),
    ],
)
def test_steps_have_the_distribution_of_look_ahead(text, prior):
    """The arms are shuffled in every run: a table goes with them."""
    policy = replace(
        policies.parse_policy(text), posterior=BetaPairs(prior=PRIORS[prior])
    )
    step = replace(policy, look_ahead=False)
    jump, steps = (
        plays_of(value, 2 + (value is step), grid=LATE) for value in (policy, step)
    )
    assert not disagreements(jump, steps, MATRIX)


def test_another_prior_is_noticed():
    """Negative control: a half and five pseudo-wins; a table that stays in place."""
    one, other = (plays_of(policies.get("d-ts", prior=item), 4) for item in (0.5, 5))
    assert disagreements(one, other, MATRIX)
    policy = policies.get("d-ts", prior=FAVORITE)

    class Staying(type(policy)):
        def scalar_kernel(self):
            kernel = super().scalar_kernel()

            def initial_state(order, horizon):
                return kernel.new_state(np.arange(len(order)), horizon)

            return replace(kernel, new_state=initial_state)

    wrong = Staying(posterior=policy.posterior)
    assert disagreements(plays_of(policy, 1), plays_of(wrong, 2), MATRIX)


@pytest.mark.parametrize("prior", [1e-3, 12345.6])
@pytest.mark.parametrize("name", ["d-ts", "rcs", "rd-ts"])
def test_extreme_priors_are_played(name, prior, uncompiled):
    """Every round is, and some arms meet."""
    plays = plays_of(policies.get(name, prior=prior), 5, num_runs=3)[:, -1]
    assert np.all(plays.sum(axis=(1, 2)) == CHECKPOINTS[-1])
    assert np.all(np.triu(plays, 1).sum(axis=(1, 2)) > 0)


@pytest.mark.parametrize("look_ahead", [True, False])
@pytest.mark.parametrize("name", ["d-ts", "d-ts+", "pure-d-ts"])
def test_a_table_makes_its_favorite_the_first_champion(name, look_ahead):
    table = np.full((5, 5), 0.5)
    table[3], table[:, 3] = 400, 1.5
    policy = policies.get(name, prior=table, look_ahead=look_ahead)
    state = policy.scalar_kernel().new_state(np.arange(5), 1000)
    # Rounds are stepped at first, until many of them were self-duels.
    values = np.zeros((200, 5), dtype=np.int64)
    reported, shares = np.zeros((0, 2), dtype=np.int64), np.zeros(5, dtype=np.int64)
    program()(state, np.random.default_rng(73), reported, 1, values, shares)
    assert np.any(values[:, 1] > 0) == look_ahead
    assert np.all(duel_of_round(values.T)[0] == 3)
