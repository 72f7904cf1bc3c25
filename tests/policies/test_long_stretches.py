"""Policies that offer subsets, in worlds where one event takes hundreds of rounds.

There, a stretch that is cut wrongly, or whose rewards are counted wrongly, shows.
"""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.instances import choice
from tests.policies.distributions import rejected, same_distribution
from tests.policies.subsets.subset_driving import NUM_RUNS, replay, simulate_offers
from tests.policies.subsets.test_twins import features
from tests.reference import subset_rivals as rivals
from tests.reference import subsets as twins

FALSE_ALARM = 1e-5

HORIZON = 6000

PATIENT = choice.multinomial_logit([90.0, 5.0, 160.0, 40.0, 70.0], 3)
"""Nobody is chosen once in 116 to 321 rounds: an epoch is that long on average."""

DECISIVE = choice.multinomial_logit([0.3, 9.0, 0.6, 0.2, 0.45], 3)
"""One arm is chosen far more often than all others: soon it is offered alone."""

CLEAR = choice.independent_rewards([0.95, 0.1, 0.9, 0.05, 0.85], 3)
"""Three arms with means far above the other ones, which soon stay outside."""


def assert_long(lengths):
    """Demand stretches of hundreds of rounds."""
    assert np.mean(lengths) > 50 and np.max(lengths) > 500


def test_epochs_of_exploration_are_those_of_the_twin():
    """Its rounds with a choice, then the one without, if the horizon leaves room."""
    policy = policies.get("mnl-ee", scale=0.5)
    runs = replay(policy, PATIENT, 4, HORIZON)
    lengths, starts = [], set()
    for events in runs:
        twin = twins.MNLExploration(5, 3, HORIZON, scale=0.5)
        assert len(events) < HORIZON / 15
        for event in events:
            rounds, choices = int(event.rounds), event.rewards.sum()
            assert twin.admits(event.subset)
            assert choices == rounds - (event is not events[-1])
            starts.add(tuple(event.subset))
            for arm in np.flatnonzero(event.subset):
                one = np.arange(5) == arm
                for _ in range(int(event.rewards[arm])):
                    twin.update(event.subset, one.astype(float))
            if choices < rounds:
                twin.update(event.subset, np.zeros(5))
            lengths.append(rounds)
    assert_long(lengths)
    assert len(starts) > 5


def test_stretches_of_choice_bandits_are_those_of_the_twin():
    """Every round of them: an arm that enters one round late would show."""
    runs = replay(policies.get("choice-bandits"), DECISIVE, 2, HORIZON)
    lengths = []
    for events in runs:
        twin = rivals.ChoiceBandits(5, 3, HORIZON)
        assert len(events) < HORIZON / 15
        for event in events:
            for _ in range(int(event.rounds)):
                assert twin.admits(event.subset)
                twin.update(event.subset, event.rewards)
            lengths.append(int(event.rounds))
        # Stretches end: sets come back after one of more than 500 rounds.
        assert any(length > 500 for length in lengths[-len(events) : -1])
    assert_long(lengths)


def test_stretches_of_an_index_rule_are_those_of_the_twin():
    """The set stays the best one all the time, whatever the rewards.

    With narrow bounds: wide ones bring all indices to one level, and stretches of
    hundreds of rounds are a matter of millions.
    """
    policy = policies.get("ucb-no-order", alpha=0.01)
    lengths = []
    for events in replay(policy, CLEAR, 4, HORIZON):
        twin = twins.ucb_without_order(5, 3, HORIZON, alpha=0.01)
        assert len(events) < HORIZON / 15
        for event in events:
            rounds = int(event.rounds)
            assert twin.admits(event.subset)
            assert twin.stays(event.subset, rounds)
            twin.update(event.subset * rounds, event.rewards)
            twin.round += rounds - 1
            lengths.append(rounds)
    assert_long(lengths)


CASES = {"mnl-ts": (PATIENT, 50), "maxmin-ucb": (DECISIVE, 50), "stagewise": (CLEAR, 5)}
"""World, and the rounds that an event takes on average at least. Of the other rules
every round of a stretch is followed above.

Stages are stepped: they leave one long stretch at the end.
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", CASES)
def test_both_forms_have_one_distribution(text):
    world, length = CASES[text]
    jump, step = (
        simulate_offers(
            policies.parse_policy(f"{text}:look_ahead={look_ahead}"),
            world,
            checkpoints=(200, 1500, HORIZON),
            notions=(world.default_notion,),
        )
        for look_ahead in ("true", "false")
    )
    assert np.all(step.events == HORIZON)
    assert NUM_RUNS * HORIZON / jump.events.sum() > length
    results = [features(value.ledger["offers"]) for value in (jump, step)]
    assert not rejected(same_distribution(*results), FALSE_ALARM)
    for offers in (jump.ledger["offers"], step.ledger["offers"]):
        assert len(np.unique(offers[:, -1], axis=0)) > NUM_RUNS / 8
