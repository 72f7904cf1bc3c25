"""Studies whose policy asks by prices: those of the arms, and of an answer."""

import numpy as np
import pytest

import theory
from bayesduel import Player
from bayesduel.errors import PolicyParameterError
from bayesduel.studies import Spending, Study

ARMS = ("tea", "milk", "coffee", "cocoa")
SPENDING = Spending(price=0.5, arm_prices={"coffee": 30.0, "tea": 1.0})
TABLE = theory.pair_prices([1, 0, 30, 0], judge=0.5)


@pytest.mark.parametrize("policy", ["rd-ts:cost=prices", "track-and-stop:cost=prices"])
def test_a_study_asks_as_a_player_with_its_prices(tmp_path, in_python, policy):
    rng = np.random.default_rng(1)
    given = {"arm_names": ARMS, "seed": 3, "compiled": None}
    player = Player(policy, prices=TABLE, **given)
    plain = Player(policy.replace("prices", "duels"), **given)
    player._num_events = plain._num_events = 1  # A study has one event at first.
    same = True
    path = tmp_path / "a.study"
    with Study.create(path, ARMS, policy, seed=3, spending=SPENDING) as study:
        for _ in range(40):
            (ticket,), pair = study.ask(), player.ask()
            assert {ticket.left, ticket.right} == {*pair}
            same = same and {*plain.ask()} == {*pair}
            won = bool(rng.random() < 0.7)
            study.tell(ticket, "left" if won else "right")
            player.tell(ticket.left, ticket.right, won)
            if same:
                plain.tell(ticket.left, ticket.right, won)
        assert not same
        assert study.forecast(num_runs=5, most_votes=30).num_runs == 5
        audit = study.audit_stopping(budget=15, num_runs=5)
        assert audit.policy == policy
        study.retire_arm("milk")
        assert {study.ask()[0].left, study.ask()[0].left} <= {*ARMS} - {"milk"}


def test_a_study_without_prices_is_refused(tmp_path):
    with pytest.raises(PolicyParameterError, match=r"prices\[0, 1\] must be finite"):
        Study.create(tmp_path / "a.study", ARMS, "rd-ts:cost=prices")
