"""Models and policies of studies: judges, features, and how often pairs are asked."""

import sys
import textwrap

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesduel import policies
from bayesduel.errors import PolicyParameterError, StudyError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, LinearUtilities
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from bayesduel.studies import Study
from bayesduel.studies.events import Event
from bayesduel.studies.policy_rule import PolicyFollower
from bayesduel.studies.settings import Settings
from bayesduel.studies.state import StudyState
from bayesduel.votes import Comparisons
from tests.studies.helpers import DRINKS, refused

THREE = ("tea", "left", "milk")  # The name of an arm may be a word for an answer.


def answered(study, number=14):
    """Answer questions; one is skipped, one withdrawn, one undone, one arm retired."""
    results = []
    for turn in range(number):
        judge = ("ann", "bob")[turn % 2]
        (ticket,) = study.ask(1, judge=judge, context={"turn": turn % 3} or None)
        answer = ("left", "right", "tie")[turn % 3]
        if turn == 3:
            study.skip(ticket, judge=judge)
            continue
        study.tell(ticket, answer, judge=judge)
        if turn == 5:
            study.withdraw(ticket)
            continue
        results.append((ticket.left, ticket.right, answer, judge, turn % 3))
    return results


def test_votes_come_with_their_judges(tmp_path):
    with Study.create(tmp_path / "one.study", THREE, policy="balanced") as study:
        none = study.comparisons(judged=True)
        assert none.num_votes == 0 and none.arm_names == THREE
        judges = {"judge": ["x", "y", "y"]}
        given = ["tea"] * 3, ["milk"] * 3, ["right"] * 3
        study.import_votes(Comparisons.from_votes(*given, columns=judges))
        votes_given = answered(study)
        votes = study.comparisons(judged=True)
        assert votes.num_votes == len(votes_given) == study.comparisons().num_votes - 3
        assert votes.order_known and votes.labels["judge"] == ("ann", "bob")
        counted = np.zeros((3, 3, 3, 2, 3))
        for left, right, answer, judge, turn in votes_given:
            pair = THREE.index(left), THREE.index(right)
            said = ("left", "right", "tie").index(answer)
            counted[*pair, said, ("ann", "bob").index(judge), turn] += 1
        result = np.zeros_like(counted)
        for row, counts in enumerate(votes.counts):
            context = votes.labels["context"][votes.columns["context"][row]]
            turn, judge = int(context[-2]), votes.columns["judge"][row]
            result[votes.first[row], votes.second[row], :, judge, turn] += counts
        np.testing.assert_array_equal(result, counted)
        study.retire_arm("milk")
        left = study.comparisons(judged=True)
        assert left.arm_names == THREE[:2]
        assert left.num_votes == counted[:2, :2].sum()


OWN = """
    import numpyro
    from numpyro import distributions as dist

    from bayesduel.models import from_numpyro
    from bayesduel.policies import DoubleThompson
    from bayesduel.posteriors import Laplace


    def judges(votes):
        with numpyro.plate("arm", votes.num_arms):
            utility = numpyro.sample("utility", dist.Normal(0.0, 2.0))
        with numpyro.plate("judge", votes.size("judge")):
            bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
        odds = utility[votes.first] - utility[votes.second]
        return odds + bias[votes["judge"]]


    asks = DoubleThompson(posterior=Laplace(from_numpyro(judges)))
"""


@pytest.mark.slow
def test_a_policy_over_a_model_of_judges_asks(tmp_path, monkeypatch):
    (tmp_path / "judged_model.py").write_text(textwrap.dedent(OWN))
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "two.study"
    try:
        with Study.create(path, THREE, policy="judged_model:asks", seed=3) as study:
            answered(study, 16)
        with Study.open(path) as study:  # The same policy, from its name.
            assert len(study.ask(1, judge="ann")) == 1
    finally:
        sys.modules.pop("judged_model", None)
    with pytest.raises(Exception, match="no module 'judged_model'|judged_model"):
        Study.create(tmp_path / "three.study", THREE, policy="judged_model:nothing")


NAMES = ["tea", "coffee", "water", "milk"]
FEATURES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]])
COEFFICIENTS = np.array([2.0, 1.0])


def answer(study, number, seed=0):
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
        status = study.status()
        assert status.model == repr(LinearUtilities(FEATURES[[0, 1, 3]]))
        # The expected status: a fit of the remaining votes with these features.
        posterior = fit(LinearUtilities(FEATURES[[0, 1, 3]]), votes)
        best = posterior.winner_shares()["condorcet"]
        shares = {standing.arm: standing.condorcet for standing in status.standings}
        given = [shares[name] for name in votes.arm_names]
        np.testing.assert_allclose(given, best, atol=0.05)
        refused("name must have features", study.add_arm, "juice")


def test_what_lacks_features_is_refused(tmp_path):
    path = tmp_path / "drinks.study"
    for model in ("linear", LinearUtilities(), LinearUtilities(FEATURES[:3])):
        with pytest.raises(StudyError, match="model must have features of each of the"):
            Study.create(path, NAMES, model=model)
    with pytest.raises(PolicyParameterError, match="features must be given"):
        Study.create(path, NAMES, "d-ts:posterior=linear", model=BradleyTerry())
    assert not path.exists()


FALSE_ALARM = 1e-5
MATRIX = np.array(
    [[0.5, 0.7, 0.6, 0.8], [0.3, 0.5, 0.65, 0.55], [0.4, 0.35, 0.5, 0.7],
     [0.2, 0.45, 0.3, 0.5]]
)  # fmt: skip
ROUNDS, STUDIES = 200, 120


def votes_of_a_study(policy, seed, rng):
    """Return the votes of all pairs within the first rounds, without a file."""
    given = ("balanced", "beta", 0.05, 0.0, ROUNDS, seed, 0, 3600.0, ())
    created = Settings(DRINKS, *given).as_body()
    state = StudyState.begin(Event(1, 0.0, "created", created))
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
    request = np.array([votes_of_a_study(policy, seed, rng) for seed in range(STUDIES)])
    options = {"runs": range(1000), "checkpoints": np.array([ROUNDS]), "seed": 3}
    result = run_chunk(PairwiseEnvironment(MATRIX, shuffle=False), policy, **options)
    row, column = np.triu_indices(4, 1)
    # Rounds of {i, j} stand in the upper half.
    simulated = result.ledger["plays"][:, -1, row, column]
    pairs = [
        *zip(request.T, simulated.T, strict=True),
        (request.sum(1), simulated.sum(1)),
    ]
    results = [stats.ttest_ind(*pair, equal_var=False).pvalue for pair in pairs]
    assert min(results) > FALSE_ALARM / len(results)
