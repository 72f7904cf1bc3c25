"""Stretches of rules without chance, in random states that no run may ever reach.

The step form of the same policy is asked at the first round of a claimed stretch, at a
random and at its last one, each time after a self-duel: it must play the champion
against itself. After the stretch both forms go on with the same duel. Where the stretch
must end is computed once more from the counts, in extended precision.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.ucb._arm_groups import REMOVED
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
            lists=with_leader_alone(policy, state.lists),
            # As after a test that was passed: there is nothing to solve.
            program=state.program._replace(is_asked=jnp.bool_(False)),
        )
    if hasattr(state, "passes"):
        return with_leader_alone(policy, state)
    return with_leader_left(state, wins)


def with_leader_left(state, wins):
    """Let every other state of rules that explore first have one arm left."""
    over = wins[0, 1] > wins[1, 0]
    out = over & (jnp.arange(wins.shape[0]) != jnp.argmax(wins.sum(axis=1)))
    if hasattr(state, "rivals"):
        return state._replace(rivals=state.rivals & ~over)
    if hasattr(state, "groups"):
        label = jnp.where(out, REMOVED, state.groups.label)
        return state._replace(groups=state.groups._replace(label=label))
    return state


def with_leader_alone(policy, state):
    """Put the arm that a rule of the RMED family holds for best alone in its list."""
    if hasattr(state, "slack"):
        num_arms = state.slack.shape[0]
        element = num_arms * (num_arms - 1) // 2 + state.winner
        return state._replace(passes=alone(state.passes, element))
    best = policy.recommend(jax.random.key(0), state)
    return state._replace(passes=alone(state.passes, best))


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


@cache
def answers(name, num_arms, number):
    """Return rounds, counts, and the answers of both forms of a policy."""
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
    return rounds, wins, jax.tree.map(np.asarray, found)


LISTS = ("rmed1", "rmed2", "rmed2fh", "cw-rmed")
STOPPING = (
    "sup-klucb",
    "interleaved-filter",
    "merge-rucb",
)
SLOW = pytest.mark.slow
SIZES = [
    pytest.param("rmed1", 4, 2_000, marks=SLOW),
    *(
        pytest.param(name, num_arms, 100_000, marks=SLOW)
        for name, num_arms in (
            ("rmed1", 5),
            ("rmed2", 3),
            ("rmed2fh", 4),
            ("cw-rmed", 3),
            ("sup-klucb", 4),
            ("interleaved-filter", 3),
            ("merge-rucb", 4),
        )
    ),
]
LARGE = [(4, 2_000), pytest.param(5, 100_000, marks=SLOW)]


@pytest.mark.parametrize(("name", "num_arms", "number"), SIZES)
def test_every_round_of_a_stretch_is_a_self_duel_of_the_step_form(
    name, num_arms, number
):
    rounds, _, found = answers(name, num_arms, number)
    idles = found.stretch > 0
    bad = idles & ~found.agrees.all(axis=1)
    assert not bad.any(), np.flatnonzero(bad)[:5]
    assert idles.sum() > 20
    ends = idles & (rounds + found.stretch < LATEST)
    if name in LISTS:
        clear = ends & (rounds + found.stretch < TOLD_APART)
        differ = (found.next_look != found.next_step).any(axis=1) & clear
        assert not differ.any(), np.flatnonzero(differ)[:5]
        assert clear.sum() >= 10
    else:
        assert not ends.any()


@pytest.mark.slow
@pytest.mark.parametrize(("num_arms", "number"), LARGE)
def test_stretches_of_rmed1_end_with_the_first_arm_let_in(num_arms, number):
    """The first round t with I_j - I* <= log t + f(K) is still a self-duel."""
    rounds, wins, found = answers("rmed1", num_arms, number)
    against = evidence_against(wins)
    least = against.min(axis=1, keepdims=True)
    best = np.arange(num_arms) == found.champion[:, None]
    idles = found.stretch > 0
    chosen = np.where(best, against, 0).sum(axis=1)
    assert np.all(chosen[idles] <= least[idles, 0] * (1 + 2e-9))
    needed = np.where(best, np.inf, against - least).min(axis=1)
    needed = needed - np.longdouble(0.3) * num_arms ** np.longdouble(1.01)
    far = needed > np.log(np.longdouble(LATEST))
    first = np.ceil(np.exp(np.where(far, 0, needed)))
    last = np.where(far, LATEST, np.maximum(first, rounds)).astype(np.int64)
    error = 1e-14 * (1 + against.max(axis=1))
    blur = np.minimum(np.ceil(last * error), last).astype(np.int64)
    blur = np.where(last * error < 1e-3, 0, blur)
    # Where two are equally good, the one that is not taken is let in at once.
    check_ends(rounds, found.stretch, last, blur=blur, among=idles & ~far)
    assert np.all((rounds + found.stretch)[idles & far] >= LATEST)
    # It meets itself if it is ahead of everybody, once every pair was swept.
    ahead = (wins > np.swapaxes(wins, 1, 2)) | np.eye(num_arms, dtype=bool)
    leads = ahead[np.arange(number), found.champion].all(axis=1)
    swept = rounds > num_arms * (num_arms - 1) // 2
    np.testing.assert_array_equal(idles, leads & swept)


def evidence_against(wins):
    """I_i of RMED1, in extended precision."""
    won = wins.astype(np.longdouble)
    lost = np.swapaxes(won, 1, 2)
    duels = np.maximum(won + lost, 1)
    lead = (won - lost) / duels
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [(1 + x) * np.log1p(x) for x in (lead, -lead)]
    parts = [np.where(np.isfinite(each), each, 0) for each in parts]
    evidence = (won + lost) * (parts[0] + parts[1]) / 2
    return np.where(won <= lost, evidence, 0).sum(axis=2)


def check_ends(rounds, stretch, last, *, blur, among):
    """Stretches end with ``last``; where rounding blurs it, near it."""
    off = rounds + stretch - 1 - last
    bad = among & (np.abs(off) > blur)
    assert not bad.any(), [(int(rounds[i]), int(last[i]), int(off[i]))
                           for i in np.flatnonzero(bad)[:5]]  # fmt: skip
    exact = among & (blur == 0) & (stretch > 1)
    assert exact.sum() > 20
