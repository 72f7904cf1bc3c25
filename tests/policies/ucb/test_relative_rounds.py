"""One round of RUCB and of CCB against its rule, state by state.

A stretch of self-duels that begins at round t says who plays round t, too; so the pair
of round t is read off the kernel's answer and compared with what the slow twin
plays, over many draws.
"""

from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.scalar.compiler import cached_program
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from tests.policies.distributions import pair_table, two_sample_chi_square
from tests.policies.random_states import FOUR_ARMS
from tests.reference import CopelandConfidenceBound, RelativeUCB

FALSE_ALARM = 1e-5
"""False-alarm rate of all states of one test together."""

EARLY_DRAWS, NUM_DRAWS = 5000, 1000
"""Early, when nobody surely lost, every probability of the rule has a say."""


def ask_rucb(state, rng, wins, hypothesis, index, result):
    """Tell the kernel of RUCB the counts, and ask for the round many times."""
    scalar_kernel.init(state, rng)
    for i, j in np.argwhere(wins):
        for _ in range(wins[i, j]):
            scalar_kernel.update(state, rng, index - 1, i, j, True)
    for draw in range(len(result)):
        state.now[0].hypothesis = hypothesis
        duel = scalar_kernel.choose(state, rng, index)
        result[draw] = duel.first, duel.second


@pytest.mark.parametrize("hypothesis", [-1, 0])
@pytest.mark.parametrize("name", FOUR_ARMS)
def test_round_of_rucb_has_the_distribution_of_the_rule(name, hypothesis):
    """With and without a hypothesized best arm, which some states rule out.

    Look-ahead plays the same duels: ``simulation.test_kernels_step``.
    """
    wins, number = FOUR_ARMS[name], 1500
    index = int(wins.sum()) + 40
    kernel = policies.get("rucb", look_ahead=False).scalar_kernel()
    state, result = kernel.new_state(np.arange(4), 10**6), np.zeros((number, 2), int)
    rng = np.random.default_rng(77)
    run_uncompiled(ask_rucb, state, rng, wins, hypothesis, index, result)
    twin, played = RelativeUCB(4, np.random.default_rng(78)), np.zeros((4, 4))
    twin.wins[:] = wins
    for _ in range(number):
        twin.rounds, twin.hypothesis = (
            index - 1,
            hypothesis if hypothesis >= 0 else None,
        )
        played[twin.choose()] += 1
    ours = pair_table(*result.T, 4)
    assert two_sample_chi_square(ours, played) > FALSE_ALARM / (2 * len(FOUR_ARMS))


BELIEFS = {
    "none": (range(4), ((), (), (), ()), 4),
    "one winner": ([0], ((), (0,), (0,), (1,)), 0),
    "one loss": ([0, 3], ((), (0, 2), (0, 1), ()), 1),
    "many": ([1, 2], ((1, 2, 3), (), (0,), (0, 1, 2)), 4),
}
"""Potential winners, who is believed to beat each arm, and the losses of a winner."""


def convince(twin, potential, beaten_by, losses):
    twin.potential = set(potential)
    twin.beaten_by = [set(item) for item in beaten_by]
    twin.losses = losses


def draws_of(name):
    return EARLY_DRAWS if name == "early" else NUM_DRAWS


@cache
def rule_of_ccb(name, belief):
    """Return what the twin plays in a state: pairs, and superiors as numbers."""
    wins, sets = FOUR_ARMS[name], BELIEFS[belief]
    twin = CopelandConfidenceBound(4, np.random.default_rng(76))
    twin.wins[:] = wins
    played, believed = np.zeros((4, 4)), []
    for _ in range(draws_of(name)):
        twin.rounds = int(wins.sum()) + 39
        convince(twin, *sets)
        played[twin.choose()] += 1
        believed.append([sum(2**arm for arm in item) for item in twin.beaten_by])
    return played, np.array(believed), twin


def tables_of(*superiors):
    """Count the joint values of four sets of arms, each one number, in samples."""
    codes = [superior @ 16 ** np.arange(4) for superior in superiors]
    values = np.unique(np.concatenate(codes))
    return [
        np.bincount(np.searchsorted(values, superior), minlength=len(values))
        for superior in codes
    ]


def ask_kernel(state, rng, wins, beliefs, index, result, superiors):
    """Tell the kernel of CCB the counts, and ask for the round many times."""
    scalar_kernel.init(state, rng)
    for i in range(len(wins)):
        for j in range(len(wins)):
            for _ in range(wins[i, j]):
                scalar_kernel.update(state, rng, index - 1, i, j, True)
    for draw in range(len(result)):
        state.now[0].stale, state.now[0].losses = True, beliefs[0, -1]
        state.now[0].num_hopefuls = 0
        for i in range(len(wins)):
            state.arms[i].is_hopeful = beliefs[0, i]
            state.now[0].num_hopefuls += beliefs[0, i]
            state.arms[i].num_superiors = 0
            for j in range(len(wins)):
                if beliefs[1 + i, j]:
                    state.pairs[i, state.arms[i].num_superiors].superior = j
                    state.arms[i].num_superiors += 1
        duel = scalar_kernel.choose(state, rng, index)
        result[draw, 0] = duel.champion if duel.idle_rounds > 0 else duel.first
        result[draw, 1] = duel.champion if duel.idle_rounds > 0 else duel.second
        result[draw, 2] = duel.idle_rounds
        result[draw, 3] = state.now[0].losses
        for i in range(len(wins)):
            result[draw, 4] += 2**i * state.arms[i].is_hopeful
            for position in range(state.arms[i].num_superiors):
                superiors[draw, i] += 2 ** state.pairs[i, position].superior


@cache
def asking():
    return cached_program(ask_kernel, f"ask-ccb-{crc32(Path(__file__).read_bytes()):x}")


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("name", FOUR_ARMS)
def test_round_of_the_kernel_of_ccb_has_the_distribution_of_the_rule(name, belief):
    """Compare the pair that is played, and of all that is believed then.

    Step by step: ``simulation.test_kernels_step``.
    """
    wins, sets = FOUR_ARMS[name], BELIEFS[belief]
    index = int(wins.sum()) + 40
    potential, beaten_by, losses = sets
    beliefs = np.zeros((5, 5), dtype=np.int64)
    beliefs[0, list(potential)], beliefs[0, -1] = 1, losses
    for i, item in enumerate(beaten_by):
        beliefs[1 + i, list(item)] = 1
    kernel = policies.get("ccb").scalar_kernel()
    state = kernel.new_state(np.arange(4), 10**6)
    values = np.zeros((4 * draws_of(name), 5), dtype=np.int64)
    superiors = np.zeros((4 * draws_of(name), 4), dtype=np.int64)
    asking()(state, np.random.default_rng(75), wins, beliefs, index, values, superiors)
    assert (values[:, 2].max() > 10) == ("sure winner" in name)
    played, believed, twin = rule_of_ccb(name, belief)
    assert np.all(values[:, 3] == twin.losses)
    assert np.all(values[:, 4] == sum(2**arm for arm in twin.potential))
    p_values = [
        two_sample_chi_square(pair_table(values[:, 0], values[:, 1], 4), played),
        two_sample_chi_square(*tables_of(superiors, believed)),
    ]
    assert min(p_values) > FALSE_ALARM / (2 * len(FOUR_ARMS) * len(BELIEFS))
