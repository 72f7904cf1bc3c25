"""Runs in worlds other than a preference matrix: hidden states, and regret added up.

The loop over rounds is that of ``rounds``, with the functions of this module in place
of those of a matrix. Python plays them as they stand; where both the world and the
policy are compiled, Numba makes one program of all of them.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.instances.world import World, costs_of
from bayesduel.ops.scalar.compiled import BY_STATE, with_names
from bayesduel.ops.scalar.draws import raw_bits
from bayesduel.ops.scalar.splits import take_first
from bayesduel.policies import scalar_kernel
from bayesduel.policies.scalar_kernel import SEVERAL, ScalarKernel
from bayesduel.simulation import rounds
from bayesduel.simulation.kernel_calls import KernelCalls
from bayesduel.simulation.rounds import (
    CHECKPOINT,
    FAULT,
    NO_FAULT,
    WRONG,
    PairLedger,
    add_shared_rounds,
    count_wins,
)

# Faults of a world, beside those of a policy in ``rounds``
BAD_PROBABILITY, BAD_REGRET = 11, 12


class WorldRun(NamedTuple):
    """One run in a world, arms of arrays by the numbers that the world uses."""

    world: Any  # The world; for compiled code a record of its fields
    state: Any
    # The world's generator; the policy and the coins of answers have another one
    rng: Generator

    # ``order[position]`` is the arm that the policy knows as ``position``
    order: Int[np.ndarray, " K"]
    table: Float[np.ndarray, "K d"]  # Features that hold in all rounds, by positions
    advances: bool  # Whether the world defines ``advance``

    # The last round for which the state is valid; 0 before the first one
    until: Int[np.ndarray, " 1"]
    costs: Float[np.ndarray, " N"]  # Regret of one round, by notions
    regret: Float[np.ndarray, " N"]
    """Sums of all rounds so far."""

    regret_at: Float[np.ndarray, "C N"]  # The sums at the checkpoints

    # Rounds of a shared stretch that are charged already, by positions
    counts: Int[np.ndarray, " K"]
    wrong: Float[np.ndarray, " 1"]  # The number that was refused


# --- Methods of a world: Numba is given the compiled ones in their place -------------


def advance(world: Any, state: Any, rng: Generator, round_: int) -> None:
    """Change the state for a round."""
    world.advance(state, rng, round_)


def unchanged_until(world: Any, state: Any, round_: int) -> int:
    """Return the last round in which nothing has changed."""
    return world.unchanged_until(state, round_)


def probability(
    world: Any, state: Any, rng: Generator, round_: int, first: int, second: int
) -> float:
    """Return P(first is preferred to second)."""
    return world.probability(state, rng, round_, first, second)


def answer(
    world: Any, state: Any, rng: Generator, round_: int, first: int, second: int
) -> bool:
    """Return whether the first arm is preferred."""
    return world.answer(state, rng, round_, first, second)


def features(world: Any, state: Any, rng: Generator, round_: int) -> Any:
    """Return the features of a round."""
    return world.features(state, rng, round_)


def write_costs(run: WorldRun, round_: int, first: int, second: int) -> None:
    """Fill in the regret of a round."""
    value = run.world.regret(run.state, round_, first, second)
    if type(value) is float or type(value) is np.float64:
        run.costs[0] = value
    else:
        run.costs[:] = [*costs_of(run.world, value, check_finite=False).values()]


# --- The functions of a round, in Python or compiled ---------------------------------


def move(run: WorldRun, round_: int) -> None:
    """Bring the state of a world to a round."""
    if not run.advances and run.until[0] < round_:
        last = unchanged_until(run.world, run.state, round_)
        run.until[0] = max(last, round_)
    while run.until[0] < round_:
        following = run.until[0] + 1
        advance(run.world, run.state, run.rng, following)
        last = unchanged_until(run.world, run.state, following)
        run.until[0] = max(last, following)


def charge_costs(
    run: WorldRun,
    progress: Int[np.ndarray, " 12"],
    round_: int,
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Add up the regret of equal rounds of one pair."""
    write_costs(run, round_, run.order[first], run.order[second])
    for notion in range(run.costs.size):
        cost = run.costs[notion]
        if not math.isfinite(cost) and progress[FAULT] == NO_FAULT:
            progress[FAULT], progress[WRONG] = BAD_REGRET, round_
            run.wrong[0] = cost
        run.regret[notion] += cost * rounds


def charge(
    run: WorldRun,
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> None:
    """Add up the regret of rounds after ``played``, in all of which one pair meets."""
    begin, end, checkpoint = played, played + rounds, progress[CHECKPOINT]
    while begin < end:
        move(run, begin + 1)
        last = min(run.until[0], end)
        charge_costs(run, progress, begin + 1, first, second, last - begin)
        while (
            checkpoint < ledger.checkpoints.size
            and ledger.checkpoints[checkpoint] <= last
        ):
            missing = last - ledger.checkpoints[checkpoint]
            for notion in range(run.costs.size):
                total = run.regret[notion] - run.costs[notion] * missing
                run.regret_at[checkpoint, notion] = total
            checkpoint += 1
        begin = last


def charge_shared(
    run: WorldRun,
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    key: np.uint64,
    whole: int,
    rounds: int,
) -> None:
    """Add up the regret of the first ``rounds`` of ``whole`` shared self-duels."""
    gone, checkpoint = 0, progress[CHECKPOINT]
    for position in range(run.counts.size):
        run.counts[position] = 0
    while gone < rounds:
        move(run, played + gone + 1)
        last = min(run.until[0] - played, rounds)
        if checkpoint < ledger.checkpoints.size:
            last = min(last, ledger.checkpoints[checkpoint] - played)
        take_first(ledger.shares, whole, last, key)
        for position in range(run.counts.size):
            more = ledger.shares[2, position] - run.counts[position]
            if more > 0:
                round_ = played + gone + 1
                charge_costs(run, progress, round_, position, position, more)
                run.counts[position] += more
        gone = last
        if checkpoint < ledger.checkpoints.size:
            if ledger.checkpoints[checkpoint] == played + gone:
                for notion in range(run.costs.size):
                    run.regret_at[checkpoint, notion] = run.regret[notion]
                checkpoint += 1


def settle(run: WorldRun, progress: Int[np.ndarray, " 12"]) -> None:
    """Write down the sums at all checkpoints to come, of a run that has stopped."""
    for checkpoint in range(progress[CHECKPOINT], len(run.regret_at)):
        for notion in range(run.costs.size):
            run.regret_at[checkpoint, notion] = run.regret[notion]


def play_pair(
    policy: Any,
    run: WorldRun,
    rng: Generator,
    progress: Int[np.ndarray, " 12"],
    played: int,
    first: int,
    second: int,
    rounds: int,
) -> int:
    """Play rounds of one pair after ``played``, and count those its first arm wins."""
    begin, end, wins = played, played + rounds, 0
    while begin < end:
        move(run, begin + 1)
        last = min(run.until[0], end)
        wins += count_answers(
            policy, run, rng, progress, begin + 1, first, second, last - begin
        )
        begin = last
    return wins


def count_answers(
    policy: Any,
    run: WorldRun,
    rng: Generator,
    progress: Int[np.ndarray, " 12"],
    round_: int,
    first: int,
    second: int,
    rounds: int,
) -> int:
    """Play rounds in which nothing changes, by the probability of the pair."""
    arm, opponent = run.order[first], run.order[second]
    chance = probability(run.world, run.state, run.rng, round_, arm, opponent)
    if not 0.0 <= chance <= 1.0:
        progress[FAULT], progress[WRONG] = BAD_PROBABILITY, round_
        run.wrong[0] = chance
        return 0
    return count_wins(policy, rng, chance, rounds)


def ask_world(
    policy: Any,
    run: WorldRun,
    rng: Generator,
    progress: Int[np.ndarray, " 12"],
    round_: int,
    first: int,
    second: int,
    rounds: int,
) -> int:
    """Play rounds that a world answers itself, in place of :func:`count_answers`."""
    arm, opponent, wins = run.order[first], run.order[second], 0
    for later in range(rounds):
        if answer(run.world, run.state, run.rng, round_ + later, arm, opponent):
            wins += 1
    return wins


def finish(
    state: Any,
    rng: Generator,
    run: WorldRun,
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
) -> bool:
    """Say that no rule can draw the rest of a run, which may change at any time."""
    return False


def observe_table(run: WorldRun, round_: int) -> Any:
    """Return features that never change."""
    return run.table


def observe_features(run: WorldRun, round_: int) -> Any:
    """Return the features of a round, in the order of the run."""
    move(run, round_)
    return features(run.world, run.state, run.rng, round_)[run.order]


def add_shared(
    ledger: PairLedger,
    progress: Int[np.ndarray, " 12"],
    played: int,
    rng: Generator,
    run: WorldRun,
    rounds: int,
    idle: int,
) -> None:
    """Count and charge the first ``idle`` of so many self-duels that arms share."""
    key = raw_bits(rng)
    charge_shared(run, ledger, progress, played, key, rounds, idle)
    add_shared_rounds(ledger, progress, played, key, rounds, idle)


# --- Putting the functions together --------------------------------------------------


def loop_functions(
    kind: type[World],
    names: dict[str, Any],
    *,
    contextual: bool,
    mark: Callable[[Any], Any] = lambda function: function,
) -> dict[str, Any]:
    """Return what stands in the loop in place of functions of ``rounds``."""
    # ``names`` has further ones, such as compiled methods; ``mark`` compiles a
    # function.
    answers = kind.answer is not World.answer
    count = ask_world if answers else count_answers
    layers = {
        layer.__name__: layer
        for layer in (move, charge_costs, charge, charge_shared, settle, finish)
    } | {"count_answers": count, "play_pair": play_pair, "add_shared": add_shared}
    if contextual:
        varies = kind.features is not World.features
        layers["features_of_round"] = observe_features if varies else observe_table
    made = dict(names)
    for name, function in layers.items():
        made[name] = mark(with_names(function, made))
    return made


def python_loop(
    kind: type[World], *, contextual: bool, kernel: ScalarKernel | None = None
) -> Callable[..., None]:
    """Return the loop over rounds in a class of worlds, played by Python."""
    names = {} if kernel is None else _functions_of(kernel)
    names = loop_functions(kind, names, contextual=contextual)
    # The keys of splits are to overflow.
    names["add_shared"] = np.errstate(over="ignore")(names["add_shared"])
    for function in (rounds.ask, rounds.tell, rounds.report):
        names[function.__name__] = with_names(function, names)
    return with_names(rounds.play, names)


def _functions_of(kernel: ScalarKernel) -> dict[str, Any]:
    """Return what stands in the loop in place of functions that ask a policy."""
    from bayesduel.ops.scalar.compiler import is_disabled

    call = KernelCalls(kernel, compiled=not is_disabled()).call

    def defined(name: str, otherwise: Any) -> Callable[..., Any]:
        # Most kernels lack most of the optional functions; a call takes microseconds.
        known = BY_STATE[getattr(scalar_kernel, name)]
        return lambda state, *others: (
            call(name, state, *others) if type(state) in known else otherwise
        )

    return {
        "init": defined("init", None),
        "is_waiting": defined("is_waiting", False),
        "reads_self_duels": defined("reads_self_duels", False),
        "note": defined("note", 0),
        "recall": defined("recall", None),
        "share_idle_rounds": partial(call, "share_idle_rounds"),
        "choose": lambda policy, state, rng, round_, _: call(
            "choose", state, rng, round_
        ),
        "update": lambda policy, state, rng, round_, first, second, wins, *_: call(
            "update", state, rng, round_, first, second, wins > 0
        ),
        "recommend": lambda policy, state, rng: call("recommend", state, rng),
        "as_duel": lambda duel: duel,
        "is_in_bulk": lambda policy: False,
        "is_shared": lambda champion: champion == SEVERAL,
        "count_wins": lambda policy, rng, chance, _: int(rng.random() < chance),
    }
