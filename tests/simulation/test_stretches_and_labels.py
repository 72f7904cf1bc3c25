"""Checkpoints inside stretches, the labels of the arms, and the answers."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from tests.policies.instances import CYCLIC
from tests.simulation.model_fakes import Scripted
from tests.simulation.runs import simulate_runs

FALSE_ALARM = 1e-5

CERTAIN = np.where(np.tri(4, k=-1), 0.0, 1.0) - 0.5 * np.eye(4)
"""The arm with the smaller number always wins."""


# Stretches and checkpoints


@pytest.mark.parametrize(("exploit", "explore"), [(5, 1), (0, 1), (3, 0)])
def test_checkpoints_inside_stretches(exploit, explore):
    """Rounds of a stretch are played one pair after the other: self-duels first."""
    horizon, grid = 29, tuple(range(1, 30))
    records = simulate_runs(
        Scripted(exploit, explore),
        shuffle=False,
        checkpoints=grid,
        runs=range(3),
        num_lanes=2,
    )
    script = ([(2, 2)] * exploit + [(0, 1)] * explore) * horizon
    expected = np.zeros((horizon, 4, 4), dtype=np.int64)
    for index in range(horizon):
        for pair in script[: index + 1]:
            expected[index][pair] += 1
    for plays in records.ledger["plays"]:
        np.testing.assert_array_equal(plays, expected)
    assert records.events.tolist() == [-(-horizon // (exploit + explore))] * 3


def test_only_the_horizon_cuts_a_stretch():
    """Stretches of the longest horizon, and one duel after them."""
    longest = 2**62
    for exploit, explore in ((longest, 1), (longest - 1, 1)):
        records = simulate_runs(
            Scripted(exploit, explore),
            shuffle=False,
            checkpoints=(1, longest - 8, longest),
            runs=range(2),
            num_lanes=2,
        )
        (plays, _) = records.ledger["plays"]
        assert plays[1, 2, 2] == longest - 8
        assert plays[2, 2, 2] == exploit
        assert plays[2, 0, 1] == longest - exploit
        assert records.events.tolist() == [1, 1]


def test_many_checkpoints_of_a_single_event():
    """More of them than lanes, and than the block they are padded to."""
    grid = tuple(range(1, 70))
    records = simulate_runs(
        Scripted(1000), shuffle=False, checkpoints=grid, runs=range(2), num_lanes=2
    )
    assert records.ledger["plays"].shape == (2, 69, 4, 4)
    assert records.ledger["plays"][:, :, 2, 2].tolist() == [[*grid]] * 2


# Labels


def shuffled_labels(num_runs):
    """Return champion, one and other arm of the pair, and recommendation per run."""
    records = simulate_runs(Scripted(), CERTAIN, runs=range(num_runs), num_lanes=64)
    last = records.ledger["plays"][:, -1]
    found = []
    for plays, best in zip(last, records.recommendation, strict=True):
        assert np.all(np.tril(plays, -1) == 0)
        ((champion,),) = (np.flatnonzero(np.diag(plays)),)
        ((one, other),) = np.argwhere(np.triu(plays, 1))
        assert plays[champion, champion] == 5 * 500
        assert plays[one, other] == 500
        found.append((champion, one, other, best))
    return np.array(found)


def test_results_have_the_original_labels():
    """Policies know positions; matrix, plays and recommendation speak of arms.

    Position 0 is recommended exactly if it beats position 1, so with certain answers
    the better arm of the pair is recommended whatever its position is.
    """
    found = shuffled_labels(600)
    champion, one, other, best = found.T
    assert np.all((champion != one) & (champion != other))
    np.testing.assert_array_equal(best, np.minimum(one, other))
    # Each arm is champion equally often, as is each pair of the three others.
    triples = [
        (c, i, j) for c, i, j in permutations(range(4), 3) if i < j
    ]  # 12 of them: the order of positions 0 and 1 does not show.
    counts = [np.sum(np.all(found[:, :3] == each, axis=1)) for each in triples]
    assert sum(counts) == 600
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


# Answers


def test_answers_follow_the_matrix():
    """Position 0 wins against position 1 as often as the matrix says.

    It is recommended as long as it has won every duel: 1 - p^40 is the probability of
    its recommendation being 1 after forty.
    """
    duels = 40
    matrix = CYCLIC.copy()
    matrix[0, 1], matrix[1, 0] = 0.97, 0.03
    records = simulate_runs(
        Scripted(2),
        matrix,
        shuffle=False,
        checkpoints=(3 * duels,),
        runs=range(2000),
        num_lanes=64,
    )
    lost = int(np.sum(records.recommendation == 1))
    assert stats.binomtest(lost, 2000, 1 - 0.97**duels).pvalue > FALSE_ALARM
