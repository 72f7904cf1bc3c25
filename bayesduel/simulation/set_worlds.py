"""Who is chosen out of a set, and what comes of that: for one run, in scalar NumPy.

The formulas are those of ``theory.choice.rules`` and ``theory.choice.regret``, of one
set at a time. Plain functions, which Numba can compile too.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.instances.choice import (
    ChoiceWorld,
    GaussianRule,
    IndependentRule,
    LogitRule,
    TableRule,
)
from bayesduel.instances.subset_world import FEEDBACKS, SubsetWorld
from bayesduel.ops.scalar.compiled import compiled

# Kinds of rules; of the last one the loop asks the world
LOGIT, GAUSSIAN, TABLE, INDEPENDENT, OPEN = range(5)

# The kind of each rule
_RULES = {
    LogitRule: LOGIT,
    GaussianRule: GAUSSIAN,
    TableRule: TABLE,
    IndependentRule: INDEPENDENT,
}
WINNER, RANKING, REWARDS = range(3)  # Kinds of feedback, in the order of ``FEEDBACKS``
SUM_OF_PROBABILITIES, SUM, MEAN, PREFERRED = range(4)  # Forms of a notion of regret
_FORMS = ("rewards", "sum", "mean", "preferred")


_MOST_DRAWS = 2**62  # Draws that are counted at once


class SetWorld(NamedTuple):
    """The constants of all runs; arrays of rules other than this one are empty."""

    rule: int
    feedback: int
    has_no_choice: bool
    least_size: int
    most_size: int
    levels: int  # Steps from 0 to the largest reward of an arm in a round
    step: float
    places: int
    numbers: Float[np.ndarray, " n"]  # Weights of a logit rule, or means
    no_choice_weight: float
    log_cdf: Float[np.ndarray, "_ Q"]
    node_weights: Float[np.ndarray, "_ Q"]
    outside: Float[np.ndarray, " Q"]
    by_rank: Float[np.ndarray, "S _"]
    binomials: Int[np.ndarray, "_ k"]
    forms: Int[np.ndarray, " N"]
    best: Float[np.ndarray, " N"]
    values: Float[np.ndarray, "N n"]


class SetLane(NamedTuple):
    """One run in a world: the order of its arms, and the set that was offered last.

    The policy knows the arm ``order[position]`` as ``position``. The set and its P(i|s)
    are by arms, the rewards of the last offer by positions. ``nobody`` is P(nobody is
    chosen|s), and ``costs`` the regret of one round of the set, per notion.
    """

    order: Int[np.ndarray, " n"]
    offered: Bool[np.ndarray, " n"]
    probabilities: Float[np.ndarray, " n"]
    nobody: Float[np.ndarray, " 1"]
    costs: Float[np.ndarray, " N"]
    rewards: Float[np.ndarray, " n"]
    scratch: Float[np.ndarray, " n"]


_FORMULAS = ("start", "advance", "unchanged_until", "features", "answer")
_FORMULAS += ("probabilities", "regret")


def has_formulas(world: SubsetWorld) -> bool:
    """Say whether the formulas below hold for a world."""
    return (
        isinstance(world, ChoiceWorld)
        and type(world.rule) in _RULES
        and all(getattr(type(world), x) is getattr(ChoiceWorld, x) for x in _FORMULAS)
    )


def set_world(
    world: SubsetWorld, notions: tuple[str, ...], *, is_open: bool = False
) -> SetWorld:
    """Return what the loop reads of a world; of an open one no formulas."""
    num_arms, num_notions = world.num_arms, len(notions)
    formulas: dict[str, Any] = {
        "numbers": np.zeros(num_arms),
        "log_cdf": np.zeros((0, 0)),
        "node_weights": np.zeros((0, 0)),
        "outside": np.zeros(0),
        "by_rank": np.zeros((0, 0)),
        "binomials": np.zeros((0, 0), dtype=np.int64),
        "forms": np.zeros(num_notions, dtype=np.int64),
        "best": np.zeros(num_notions),
        "values": np.zeros((num_notions, num_arms)),
    }
    kind, weight, most = OPEN, 0.0, int(world.subset_size)
    if not is_open and isinstance(world, ChoiceWorld):
        rule, costs = world.rule, [world.cost(notion) for notion in notions]
        kind = _RULES[type(rule)]
        if isinstance(rule, GaussianRule):
            names = ("log_cdf", "node_weights", "outside")
            formulas |= zip(names, rule.nodes, strict=True)
        if isinstance(rule, TableRule):
            formulas |= {"by_rank": rule.by_rank, "binomials": rule.binomials}
        if isinstance(rule, LogitRule):
            weight = float(rule.no_choice_weight)
        if rule.values is not None:
            formulas["numbers"] = rule.values
        forms = [_FORMS.index(cost.form) for cost in costs]
        formulas["forms"] = np.array(forms, dtype=np.int64)
        formulas["best"] = np.array([cost.best for cost in costs])
        formulas["values"] = np.stack([cost.values for cost in costs])
    return SetWorld(
        rule=kind,
        feedback=FEEDBACKS.index(world.feedback),
        has_no_choice=bool(world.has_no_choice),
        least_size=1 if world.allows_fewer else most,
        most_size=most,
        levels=int(world.levels),
        step=float(world.largest_reward) / int(world.levels),
        places=int(world.places),
        no_choice_weight=weight,
        # Copies: arrays that may not be written to are of another type for Numba.
        **{name: np.array(value, order="C") for name, value in formulas.items()},
    )


def new_lane(world: SetWorld, order: Int[np.ndarray, " n"]) -> SetLane:
    """Return what a run has before its first offer."""
    num_arms = len(order)
    return SetLane(
        order=np.array(order, dtype=np.int64),
        offered=np.zeros(num_arms, dtype=bool),
        probabilities=np.zeros(num_arms),
        nobody=np.zeros(1),
        costs=np.zeros(len(world.forms)),
        rewards=np.zeros(num_arms),
        scratch=np.zeros(num_arms),
    )


@compiled
def put_forward(world: SetWorld, lane: SetLane, subset: Bool[np.ndarray, " n"]) -> None:
    """Note a set of positions, not empty, with its probabilities and costs."""
    is_new = False
    for position in range(len(subset)):
        arm = lane.order[position]
        if lane.offered[arm] != subset[position]:
            lane.offered[arm] = subset[position]
            is_new = True
    if is_new:
        probabilities_of(world, lane.offered, lane.probabilities)
        lane.nobody[0] = no_choice_probability(world, lane.offered, lane.probabilities)
        for notion in range(len(world.forms)):
            lane.costs[notion] = cost_of(world, lane, notion)


@compiled
def probabilities_of(
    world: SetWorld,
    offered: Bool[np.ndarray, " n"],
    probabilities: Float[np.ndarray, " n"],
) -> None:
    """Fill in P(i|s), 0 for arms outside the set."""
    if world.rule == LOGIT:
        total = world.no_choice_weight + sum_over(offered, world.numbers)
        for arm in range(len(offered)):
            probabilities[arm] = world.numbers[arm] / total if offered[arm] else 0.0
    elif world.rule == GAUSSIAN:
        gaussian_probabilities(world, offered, probabilities)
    elif world.rule == TABLE:
        rank = rank_of(world, offered)
        for arm in range(len(offered)):
            probabilities[arm] = world.by_rank[rank, arm]
    else:
        for arm in range(len(offered)):
            probabilities[arm] = world.numbers[arm] if offered[arm] else 0.0


@compiled
def sum_over(offered: Bool[np.ndarray, " n"], values: Float[np.ndarray, " n"]) -> float:
    """Return the sum of the values of the arms of a set."""
    total = 0.0
    for arm in range(len(offered)):
        if offered[arm]:
            total += values[arm]
    return total


@compiled
def gaussian_probabilities(
    world: SetWorld,
    offered: Bool[np.ndarray, " n"],
    probabilities: Float[np.ndarray, " n"],
) -> None:
    """Fill in P(i|s) of Gaussian utilities: ``theory.choice.rules``, by a sum."""
    for arm in range(len(offered)):
        probabilities[arm] = 0.0
    for node in range(len(world.outside)):
        below = world.outside[node]
        for arm in range(len(offered)):
            if offered[arm]:
                below += world.log_cdf[arm, node]
        density = math.exp(below)
        for arm in range(len(offered)):
            if offered[arm]:
                probabilities[arm] += density * world.node_weights[arm, node]


@compiled
def rank_of(world: SetWorld, offered: Bool[np.ndarray, " n"]) -> int:
    """Return the place of a set of k arms among all: the sum of "a_c choose c"."""
    rank, chosen = 0, 0
    for arm in range(len(offered)):
        if offered[arm]:
            rank += world.binomials[arm, chosen]
            chosen += 1
    return rank


@compiled
def no_choice_probability(
    world: SetWorld,
    offered: Bool[np.ndarray, " n"],
    probabilities: Float[np.ndarray, " n"],
) -> float:
    """Return P(nobody is chosen|s), of a logit rule also where 1 - it rounds to 1."""
    if not world.has_no_choice:
        return 0.0
    if world.rule == LOGIT:
        weight = world.no_choice_weight
        return weight / (weight + sum_over(offered, world.numbers))
    return min(max(1.0 - sum_over(offered, probabilities), 0.0), 1.0)


@compiled
def cost_of(world: SetWorld, lane: SetLane, notion: int) -> float:
    """Return the regret of offering the set once: ``theory.choice.subset_cost``."""
    form, best, values = world.forms[notion], world.best[notion], world.values[notion]
    if form == PREFERRED:
        return preferred_cost(world, lane, values)
    total, size = 0.0, 0.0
    for arm in range(len(values)):
        if lane.offered[arm]:
            size += 1.0
            share = lane.probabilities[arm] if form == SUM_OF_PROBABILITIES else 1.0
            total += values[arm] * share
    return best - total / size if form == MEAN else best - total


@compiled
def preferred_cost(
    world: SetWorld, lane: SetLane, values: Float[np.ndarray, " n"]
) -> float:
    """Return the sum of P(b) - P(i) in the set with the arm b of value 1 added."""
    leader = 0
    for arm in range(len(values)):
        if values[arm] == 1.0:
            leader = arm
    was_offered = lane.offered[leader]
    lane.offered[leader] = True
    probabilities_of(world, lane.offered, lane.scratch)
    lane.offered[leader] = was_offered
    total = 0.0
    for arm in range(len(values)):
        if lane.offered[arm]:
            total += lane.scratch[leader] - lane.scratch[arm]
    return total


# --- Answers: choices, rankings, and rewards of every arm ----------------------------


@compiled
def answer(
    world: SetWorld, lane: SetLane, rng: Generator, most: int, until_no_choice: bool
) -> int:
    """Play the set put forward for 1 to ``most`` rounds, whose number is returned."""
    # ``lane.rewards`` are the sums of rewards.
    for position in range(len(lane.rewards)):
        lane.rewards[position] = 0.0
    if world.feedback == REWARDS:
        draw_rewards(world, lane, rng, most)
        return most
    if world.feedback == RANKING:
        draw_ranking(world, lane, rng)
        return 1
    choices, nobody = most, lane.nobody[0]
    if until_no_choice:
        choices = rounds_with_choice(rng.standard_exponential(), nobody, most)
        nobody = 0.0
    if choices == 1:
        draw_winner(lane, rng, nobody)
    elif choices > 1:
        draw_winners(lane, rng, choices, nobody)
    return min(choices + 1, most) if until_no_choice else most


@compiled
def rounds_with_choice(waits: float, nobody: float, most: int) -> int:
    """Return how many of ``most`` rounds go before the first without a choice."""
    # By inversion: ``waits`` is a standard exponential variable.
    if nobody >= 1.0:
        return 0
    hazard = -math.log1p(-nobody)
    if waits >= hazard * most:
        return most
    return min(most - 1, int(waits / hazard))


@compiled
def draw_winner(lane: SetLane, rng: Generator, nobody: float) -> None:
    """Draw who is chosen in a round; ``nobody`` is the probability of no arm."""
    left = rng.random() * (nobody + sum_over(lane.offered, lane.probabilities))
    last = -1
    for position in range(len(lane.order)):
        probability = lane.probabilities[lane.order[position]]
        if probability > 0.0:
            last = position
            left -= probability
            if left < 0.0:
                break
    if last >= 0 and (left < 0.0 or nobody == 0.0):
        lane.rewards[last] = 1.0


@compiled
def draw_winners(lane: SetLane, rng: Generator, rounds: int, nobody: float) -> None:
    """Count who is chosen in so many rounds: of those left, each arm in its turn."""
    later, beyond = lane.scratch, nobody
    for position in range(len(lane.order) - 1, -1, -1):
        later[position] = beyond
        beyond += lane.probabilities[lane.order[position]]
    for position in range(len(lane.order)):
        probability = lane.probabilities[lane.order[position]]
        if rounds > 0 and probability > 0.0:
            hits = rng.binomial(rounds, probability / (probability + later[position]))
            lane.rewards[position] = hits
            rounds -= hits


@compiled
def draw_rewards(world: SetWorld, lane: SetLane, rng: Generator, rounds: int) -> None:
    """Draw the rewards of every arm of the set: binomial, in steps of the smallest."""
    at_once = world.levels if rounds <= _MOST_DRAWS // world.levels else 1
    for position in range(len(lane.order)):
        arm = lane.order[position]
        if lane.offered[arm]:
            hits = 0.0
            for _ in range(world.levels // at_once):
                hits += rng.binomial(
                    at_once * rounds, min(lane.probabilities[arm], 1.0)
                )
            lane.rewards[position] = hits * world.step


@compiled
def draw_ranking(world: SetWorld, lane: SetLane, rng: Generator) -> None:
    """Draw a Plackett-Luce ranking of the set."""
    # Arms arrive after exponential times with their weights as rates. The first is
    # worth ``places``, each later one 1 less, down to 0.
    arrival = lane.scratch
    for position in range(len(lane.order)):
        arm = lane.order[position]
        arrival[position] = np.inf
        if lane.offered[arm]:
            arrival[position] = rng.standard_exponential() / world.numbers[arm]
    for position in range(len(lane.order)):
        if arrival[position] < np.inf:
            earlier = 0
            for rival in range(len(lane.order)):
                earlier += arrival[rival] < arrival[position]
            lane.rewards[position] = max(world.places - earlier, 0)
