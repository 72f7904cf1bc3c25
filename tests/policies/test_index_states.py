"""Stretches of rules without chance, in random states that no run may ever reach.

The step form of the same policy is asked at the first round of a claimed stretch, at a
random and at its last one, each time after a self-duel: it must play the champion
against itself. After the stretch both forms go on with the same duel.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.policies.random_states import (
    LATEST,
    random_counts,
    random_rounds,
    told_state,
)

TOLD_APART = 10**11
"""Up to this round logarithms of neighboring rounds are far apart for rounding, also
for that of evidence which two programs add up in another order."""


class Answer(NamedTuple):
    """What both forms say in a state; one entry per state."""

    stretch: Any
    champion: Any
    agrees: Any
    """(n, 3): whether the step form plays the champion against itself."""

    next_look: Any
    """(n, 2): the pair after the stretch."""

    next_step: Any


def alone(passes, element):
    """Return lists at the head of a pass that plays one element and nothing else."""
    place = jnp.arange(passes.current.shape[0], dtype=jnp.int32)
    return passes._replace(
        current=jnp.where(place == element, 0, -1).astype(jnp.int32),
        place=jnp.int32(0),
        upcoming=jnp.full_like(passes.upcoming, -1),
    )


def ready_state(policy, wins, round_):
    """Return a state told of all duels, where the leader is the only one due."""
    state = told_state(policy, wins, round_)
    if hasattr(state, "program"):
        return state._replace(
            lists=with_leader_alone(state.lists),
            # As after a test that was passed: there is nothing to solve.
            program=state.program._replace(is_asked=jnp.bool_(False)),
        )
    return state


def with_leader_alone(lists):
    """Put the arm that CW-RMED holds for best alone in its list."""
    num_arms = lists.slack.shape[0]
    element = num_arms * (num_arms - 1) // 2 + lists.winner
    return lists._replace(passes=alone(lists.passes, element))


@quick_jit
def answer_all(look, step, states, rounds, places, keys):
    one = jnp.int64(1)
    none = jnp.int64(0)

    def answer(state, round_, place, key):
        duel, asked = look.choose(key, state, round_)
        last = round_ + jnp.maximum(duel.exploit_rounds, 1) - 1
        middle = round_ + (place * (last - round_ + 1)).astype(jnp.int64)
        middle = jnp.clip(middle, round_, last)

        def play_self_duel(at, state):
            duel, asked = step.choose(key, state, at)
            played = Outcome(none, one, one)
            return step.update(key, asked, at, duel, played)

        # What is decided in the first round, such as who is removed, stays so.
        begun = play_self_duel(round_, state)

        def after_self_duel(at):
            later = play_self_duel(at, begun)
            return jax.tree.map(lambda a, b: jnp.where(at > round_, a, b), later, begun)

        def step_duel(at, state):
            duel, _ = step.choose(key, state, at)
            return jnp.stack([duel.first, duel.second])

        def at(round_now):
            before = after_self_duel(round_now - 1)
            before = jax.tree.map(
                lambda a, b: jnp.where(round_now > round_, a, b), before, state
            )
            return jnp.all(step_duel(round_now, before) == duel.champion)

        jumped = look.update(
            key, asked, last, duel, Outcome(duel.exploit_rounds, none, none)
        )
        return Answer(
            duel.exploit_rounds,
            duel.champion,
            jnp.stack([at(round_), at(middle), at(last - last // TOLD_APART)]),
            jnp.where(
                duel.explore_rounds > 0,
                jnp.stack([duel.first, duel.second]),
                step_duel(last + 1, jumped),
            ),
            step_duel(last + 1, after_self_duel(last)),
        )

    return jax.vmap(answer)(states, rounds, places, keys)


@quick_jit
def ready_all(policy, wins, rounds):
    return jax.vmap(partial(ready_state, policy))(wins, rounds)


def seed_of(name):
    return list(policies.names()).index(name)


def answers(name, num_arms, number):
    """Return rounds, and the answers of both forms of a policy."""
    rng = np.random.default_rng([330, num_arms, seed_of(name)])
    rounds = random_rounds(rng, number)
    wins = random_counts(rng, rounds, num_arms)
    look = policies.get(name)
    with jax.enable_x64(True):
        states = ready_all(look, jnp.asarray(wins), jnp.asarray(rounds))
        found = answer_all(
            look,
            policies.get(name, look_ahead=False),
            states,
            jnp.asarray(rounds),
            jnp.asarray(rng.random(number)),
            jax.random.split(jax.random.key(331), number),
        )
    return rounds, jax.tree.map(np.asarray, found)


SIZES = {"cw-rmed": 3}
"""Arms that the states of each rule have."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "num_arms"), SIZES.items())
def test_every_round_of_a_stretch_is_a_self_duel_of_the_step_form(name, num_arms):
    rounds, found = answers(name, num_arms, 100_000)
    idles = found.stretch > 0
    bad = idles & ~found.agrees.all(axis=1)
    assert not bad.any(), np.flatnonzero(bad)[:5]
    assert idles.sum() > 20
    ends = idles & (rounds + found.stretch < LATEST)
    if name == "cw-rmed":
        clear = ends & (rounds + found.stretch < TOLD_APART)
        differ = (found.next_look != found.next_step).any(axis=1) & clear
        assert not differ.any(), np.flatnonzero(differ)[:5]
        assert clear.sum() >= 10
    else:
        assert not ends.any()
