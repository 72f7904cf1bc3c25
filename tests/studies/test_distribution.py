"""A study asks what the simulator plays, but for the self-duels."""

import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from bayesduel.studies.events import Event
from bayesduel.studies.policy_rule import PolicyFollower
from bayesduel.studies.settings import Settings
from bayesduel.studies.state import StudyState
from tests.studies.helpers import DRINKS

FALSE_ALARM = 1e-5
MATRIX = np.array(
    [[0.5, 0.7, 0.6, 0.8], [0.3, 0.5, 0.65, 0.55], [0.4, 0.35, 0.5, 0.7],
     [0.2, 0.45, 0.3, 0.5]]
)  # fmt: skip
ROUNDS, STUDIES = 200, 120


def votes_of_a_study(policy, seed, rng):
    """Return the votes of all pairs within the first rounds, without a file."""
    settings = Settings(
        DRINKS, "balanced", "beta", 0.05, 0.0, ROUNDS, seed, 0, 3600.0, ()
    )
    state = StudyState.begin(Event(1, 0.0, "created", settings.as_body()))
    follower = PolicyFollower(policy, state)
    votes = np.zeros((4, 4), dtype=np.int64)
    while True:
        number, duel = state.last + 1, follower.next_duel(state)
        if duel is None or duel["round"] > ROUNDS:
            return votes[np.triu_indices(4, 1)]
        first, second = duel["first"], duel["second"]
        question = len(state.questions) + 1
        pair = {"left": first, "right": second, "request": number, "duel": duel}
        words = {"rule": "", "reason": "", "lease": 1.0}
        body = {"question": question, **pair, **words}
        state.apply(Event(number, 0.0, "asked", body))
        follower.has_asked(state)
        votes[first, second] += 1
        votes[second, first] += 1
        answer = "left" if rng.random() < MATRIX[first, second] else "right"
        body = {"question": question, "answer": answer}
        state.apply(Event(state.last + 1, 0.0, "answered", body))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["d-ts", "self-sparring"])
def test_pairs_meet_as_often_as_in_simulations(name):
    policy = policies.get(name)
    rng = np.random.default_rng(11)
    asked = np.array([votes_of_a_study(policy, seed, rng) for seed in range(STUDIES)])
    found = run_chunk(
        PairwiseEnvironment(MATRIX, shuffle=False),
        policy,
        runs=range(1000),
        checkpoints=np.array([ROUNDS]),
        seed=3,
    )
    row, column = np.triu_indices(4, 1)
    # Rounds of {i, j} stand in the upper half.
    simulated = found.ledger["plays"][:, -1, row, column]
    results = [
        stats.ttest_ind(one, other, equal_var=False).pvalue
        for one, other in zip(asked.T, simulated.T, strict=True)
    ]
    results.append(
        stats.ttest_ind(asked.sum(1), simulated.sum(1), equal_var=False).pvalue
    )
    assert min(results) > FALSE_ALARM / len(results)
