"""PCOMP and SCOMP: the duels of the twins under the same outcomes."""

from functools import cache

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.policy import Problem
from tests.policies.instances import random_matrices, random_outcomes
from tests.policies.rule_driving import play_rule
from tests.reference import duels_of
from tests.reference.batched import TWINS

HORIZON = 2000
INSTANCES = 6
RUNS = range(20, 50)


@cache
def instances():
    """Outcomes of random matrices: weak and strong gaps, with and without order."""
    rng = np.random.default_rng(50)
    matrices = random_matrices(rng, INSTANCES, 4, (0.1, 0.3, 0.5), least=0.03)
    return [random_outcomes(matrix, HORIZON + 2, rng) for matrix in matrices]


def twin_of(policy, **options):
    chosen = {
        "horizon": HORIZON, "num_batches": policy.num_batches,
        "elimination": policy.elimination, "overflow": policy.overflow,
    }  # fmt: skip
    return TWINS[policy.name](4, np.random.default_rng(51), **(chosen | options))


def same_duels(policy):
    """Return, per run, whether rule and twin play the same duels.

    The arms that get one duel more in a batch cut at the horizon are random: there,
    only the totals per pair are compared.
    """
    results = []
    for run in RUNS:
        outcomes = instances()[run % INSTANCES]
        played = play_rule(policy, outcomes, HORIZON, seed=run)
        seeds = np.flatnonzero(seeds_of(policy, run)).tolist()
        options = {} if policy.name == "pcomp" else {"seeds": seeds}
        twin = twin_of(policy, **options)
        theirs = duels_of(twin, outcomes, HORIZON)
        ours = [(int(first), int(second)) for first, second in played.duels]
        assert len(ours) == HORIZON
        cut = HORIZON - len(twin.queue)
        last = [np.zeros((4, 4), dtype=int) for _ in range(2)]
        for table, duels in zip(last, (ours, theirs), strict=True):
            np.add.at(table, tuple(np.array(duels[cut:]).T), 1)
        same = ours[:cut] == theirs[:cut] and np.abs(last[0] - last[1]).max() <= 1
        same &= policy.info(played.state) == {"batches": twin.batches}
        results.append(same)
    return results


def seeds_of(policy, seed):
    """Return the seeds with which a run begins."""
    return policy.start(Problem(4, HORIZON), np.random.default_rng(seed)).seeds


@pytest.mark.parametrize(
    ("elimination", "overflow"), [("kl", "truncate"), ("hoeffding", "commit")]
)
def test_duels_of_pcomp_are_those_of_the_twin(elimination, overflow):
    policy = policies.get("pcomp", elimination=elimination, overflow=overflow)
    assert same_duels(policy) == [True] * len(RUNS)


@pytest.mark.parametrize("elimination", ["kl", "hoeffding"])
def test_duels_of_scomp_are_those_of_the_twin(elimination):
    """Without seeds, and with several of them."""
    policy = policies.get("scomp", elimination=elimination)
    numbers = {int(seeds_of(policy, run).sum()) for run in RUNS}
    assert numbers == {0, 1, 2, 3, 4}
    assert same_duels(policy) == [True] * len(RUNS)
