"""Look-ahead has the distribution of the rounds it jumps over.

Forms that draw are compared with the slow twin; with the step form of the policy in
``thompson.test_scalar_steps`` and ``simulation.test_kernels_step``:
regret and informative duels at checkpoints, rounds of each pair of different arms, and
of each arm with itself, by Kolmogorov-Smirnov tests. Look-ahead D-TS+ and BT-TS draw
one champion per idle stretch; where several arms lead, the split of self-duels among
them has the same mean and another variance, so there means are compared. Rules without
chance play the duels of their twins, look-ahead or not: ``test_duel_by_duel``.
"""

from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.scalar.compiled import inlined
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel
from bayesduel.policies.scalar_kernel import ScalarKernel
from tests.policies.distributions import (
    borda_regret,
    features,
    rejected,
    same_distribution,
    same_mean,
    self_duels,
)
from tests.policies.driving import NUM_RUNS, simulate_runs
from tests.policies.instances import MATRICES
from tests.reference import (
    BayesianBradleyTerry,
    CopelandConfidenceBound,
    DoubleThompson,
    DoubleThompsonPlus,
    RelativeConfidenceSampling,
    RelativeUCB,
    RivalDirected,
    SelfSparring,
    plays_of_twins,
)

FALSE_ALARM = 1e-5
"""Of one test, all features together."""

TWINS = {
    "d-ts": DoubleThompson,
    "d-ts+": DoubleThompsonPlus,
    "pure-d-ts": partial(DoubleThompson, elimination=False),
    "rucb": RelativeUCB,
    "rcs": RelativeConfidenceSampling,
    "ccb": CopelandConfidenceBound,
    "bt-ts": BayesianBradleyTerry,
    "rd-ts": RivalDirected,
    "self-sparring": SelfSparring,
}
ONE_CHAMPION = {"d-ts+", "bt-ts"}
"""Policies that draw one champion per stretch."""

SLOW_TWIN = {"bt-ts"}
"""Its twin takes 5 ms a round, a hundred times as long as others: it plays few rounds
of one matrix. The distribution of single rounds, ``thompson`` and ``posteriors`` hold
more sharply."""

FEW_MATRICES = SLOW_TWIN | {"rd-ts"}
"""Followed on one of them: the twin of RD-TS lists worlds for a quarter of a minute,
and ``thompson.test_scalar_steps`` follows it on another one."""

EARLY = (30, 100, 200, 300)
LATE = (50, 200, 500, 1000)


@cache
def plays_of(policy, matrix, checkpoints, batches, seed):
    """Simulate batches of NUM_RUNS runs, all with one program."""
    chunks = [
        simulate_runs(
            policy,
            MATRICES[matrix],
            checkpoints=checkpoints,
            runs=range(batch * NUM_RUNS, (batch + 1) * NUM_RUNS),
            seed=seed,
            at_once=NUM_RUNS,
            num_lanes=24,
        ).ledger["plays"]
        for batch in range(batches)
    ]
    return np.concatenate(chunks)


@cache
def twin_plays(name, matrix, checkpoints, num_runs):
    make = partial(TWINS[name], 4)
    return plays_of_twins(make, MATRICES[matrix], checkpoints, num_runs, 60)


def disagreements(name, matrix, ours, theirs):
    """Return the features whose distributions, or means where only those agree,
    differ."""
    one, other = (features(each, MATRICES[matrix]) for each in (ours, theirs))
    compare = same_mean if name in ONE_CHAMPION else same_distribution
    p_values = {
        **same_distribution(one, other),
        **compare(*(_who_met_itself(each, matrix) for each in (ours, theirs))),
    }
    return rejected(p_values, FALSE_ALARM)


def _who_met_itself(plays, matrix):
    borda = borda_regret(plays, MATRICES[matrix])[:, -1]
    return {**self_duels(plays), "Borda regret": borda}


def late_cases(names):
    """One matrix for every policy in turn; early rounds are compared on all."""
    return [
        (name, matrix)
        for turn, name in enumerate(names)
        for index, matrix in enumerate(MATRICES)
        if (turn - index) % 3 == 0
    ]


ELSEWHERE = {"bt-ts", "ccb", "d-ts", "d-ts+", "pure-d-ts", "rcs", "rd-ts"}
"""Forms of another policy of the list, and those of which their own tests quickly hold
single rounds to their distribution."""


def early_cases():
    """Quickly, every policy in turn on one matrix; slowly, where no late ones are.

    Of the late rounds some are early.
    """
    quick = {(n, m) for n, m in late_cases(TWINS) if n not in ELSEWHERE}
    late = {*late_cases([each for each in TWINS if each not in SLOW_TWIN])}
    return [
        pytest.param(*case, marks=[pytest.mark.slow] * (case not in quick))
        for case in product(TWINS, MATRICES)
        if case in quick or (case not in late and case[0] not in FEW_MATRICES)
    ] + [pytest.param("bt-ts", "cyclic", marks=pytest.mark.slow)]


@pytest.mark.parametrize(("name", "matrix"), early_cases())
def test_early_rounds_have_the_distribution_of_the_twin(name, matrix):
    slow = name in SLOW_TWIN
    checkpoints, num_runs = ((20, 50), 60) if slow else (EARLY, 100)
    ours = plays_of(policies.get(name), matrix, checkpoints, 2, seed=61)
    theirs = twin_plays(name, matrix, checkpoints, num_runs)
    assert not disagreements(name, matrix, ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "matrix"), late_cases([each for each in TWINS if each not in SLOW_TWIN])
)
def test_late_rounds_have_the_distribution_of_the_twin(name, matrix):
    ours = plays_of(policies.get(name), matrix, LATE, 8, seed=62)
    theirs = twin_plays(name, matrix, LATE, 80)
    assert not disagreements(name, matrix, ours, theirs)


class HurriedKernel(NamedTuple):
    """Wrong on purpose: only half of the idle rounds before a duel are played."""

    inner: Any


@inlined
def init(state, rng):
    scalar_kernel.init(state.inner, rng)


@inlined
def choose(state, rng, round_):
    duel = scalar_kernel.choose(state.inner, rng, round_)
    idle = duel.idle_rounds // 2
    return Duel(duel.champion, idle, duel.first, duel.second, duel.explores)


@inlined
def update(state, rng, round_, first, second, won):
    scalar_kernel.update(state.inner, rng, round_, first, second, won)


@inlined
def recommend(state, rng):
    return scalar_kernel.recommend(state.inner, rng)


@inlined
def share_idle_rounds(state, rng, rounds, shares):
    scalar_kernel.share_idle_rounds(state.inner, rng, rounds, shares)


scalar_kernel.implement(
    HurriedKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    share_idle_rounds=share_idle_rounds,
)


class Hurrying(type(policies.get("d-ts"))):
    def scalar_kernel(self):
        inner = super().scalar_kernel()

        def new_state(order, horizon):
            return HurriedKernel(inner.new_state(order, horizon))

        return ScalarKernel(
            f"hurried-{crc32(Path(__file__).read_bytes()):x}", new_state
        )


@pytest.mark.slow
def test_another_alpha_is_noticed():
    """Negative control: bounds that are 8 percent wider."""
    wider = plays_of(policies.get("d-ts", alpha=0.6), "cyclic", LATE, 8, seed=62)
    theirs = twin_plays("d-ts", "cyclic", LATE, 80)
    assert disagreements("d-ts", "cyclic", wider, theirs)


@pytest.mark.slow
def test_wrong_stretches_are_noticed():
    """Negative control: the comparison with the twin rejects them."""
    ours = plays_of(Hurrying(), "cyclic", LATE, 8, seed=62)
    theirs = twin_plays("d-ts", "cyclic", LATE, 80)
    assert disagreements("d-ts", "cyclic", ours, theirs)
