"""The votes of a study with who judged them, and a model of judges that asks."""

import sys
import textwrap

import numpy as np
import pytest

from bayesduel.studies import Study

ARMS = ("tea", "left", "milk")  # The name of an arm may be a word for an answer.


def answered(study, number=14):
    """Answer questions; one is skipped, one withdrawn, one undone, one arm retired."""
    told = []
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
        told.append((ticket.left, ticket.right, answer, judge, turn % 3))
    return told


def test_votes_come_with_their_judges(tmp_path):
    with Study.create(tmp_path / "one.study", ARMS, policy="balanced") as study:
        none = study.comparisons(judged=True)
        assert none.num_votes == 0 and none.arm_names == ARMS
        study.import_votes(_imported())
        told = answered(study)
        votes = study.comparisons(judged=True)
        assert votes.num_votes == len(told) == study.comparisons().num_votes - 3
        assert votes.order_known and votes.labels["judge"] == ("ann", "bob")
        counted = np.zeros((3, 3, 3, 2, 3))
        for left, right, answer, judge, turn in told:
            pair = ARMS.index(left), ARMS.index(right)
            said = ("left", "right", "tie").index(answer)
            counted[*pair, said, ("ann", "bob").index(judge), turn] += 1
        found = np.zeros_like(counted)
        for row, counts in enumerate(votes.counts):
            context = votes.labels["context"][votes.columns["context"][row]]
            turn, judge = int(context[-2]), votes.columns["judge"][row]
            found[votes.first[row], votes.second[row], :, judge, turn] += counts
        np.testing.assert_array_equal(found, counted)
        study.retire_arm("milk")
        left = study.comparisons(judged=True)
        assert left.arm_names == ARMS[:2]
        assert left.num_votes == counted[:2, :2].sum()


def _imported():
    from bayesduel.votes import Comparisons

    return Comparisons.from_votes(
        ["tea"] * 3, ["milk"] * 3, ["right"] * 3, columns={"judge": ["x", "y", "y"]}
    )


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
        with Study.create(path, ARMS, policy="judged_model:asks", seed=3) as study:
            answered(study, 16)
        with Study.open(path) as study:  # The same policy, from its name.
            assert len(study.ask(1, judge="ann")) == 1
    finally:
        sys.modules.pop("judged_model", None)
    with pytest.raises(Exception, match="no module 'judged_model'|judged_model"):
        Study.create(tmp_path / "three.study", ARMS, policy="judged_model:nothing")
