"""The next question: the other order, anew, gold, for the floor, or by the rule."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool

from bayesduel.errors import StudyError, UnknownNameError, errors_about, near_and_all
from bayesduel.studies import rules
from bayesduel.studies.events import Asked, GoldAsked
from bayesduel.studies.rules import Rule
from bayesduel.studies.settings import RULES, Settings
from bayesduel.studies.state import StudyState
from theory import pair_prices
from theory.arguments import short_repr

if TYPE_CHECKING:
    from bayesduel.policies.policy import PolicyBase


_MOST_OPEN = 1000  # Questions of one judge without an answer.
_ROUNDING = 1e-9  # Rounding of sums of prices, relative to the cost that is allowed.


def rule_of(settings: Settings) -> Rule:
    """Return what asks, for pairs or for sets."""
    if settings.choose_from > 2:
        return rules.SetRule(settings)
    if settings.policy in RULES:
        return (
            rules.Balanced() if settings.policy == "balanced" else rules.Information()
        )
    # Only what asks is imported.
    from bayesduel.studies.policy_rule import PolicyRule

    return PolicyRule(check_policy(settings))


def check_policy(settings: Settings, num_arms: int | None = None) -> PolicyBase:
    """Return the policy that a study names."""
    from bayesduel import policies
    from bayesduel.arguments.limits import LONGEST_HORIZON
    from bayesduel.arguments.named_objects import is_own_name
    from bayesduel.policies.parameter_values import (
        check_fields,
        with_features,
        with_prices,
    )
    from bayesduel.policies.policy import declared
    from bayesduel.policies.subset_base import OfferingPolicy

    text, asking = settings.policy, dict.fromkeys((*policies.names(), *RULES))
    name = text.partition(":")[0].strip().lower()
    if not (name in asking or name in policies.subset_names() or is_own_name(text)):
        rule = f"there is no policy {short_repr(name)}"
        remedy = f"{near_and_all(name, asking)}; one of your own is module:Class"
        raise UnknownNameError("policy", rule, text, remedy=remedy)
    with errors_about("policy", text):
        policy: PolicyBase = policies.parse_policy(text)
    around = policies.DelayedFeedback | policies.MonitoredDueling
    if isinstance(policy, OfferingPolicy | around):
        rule = "must ask for pairs, and have no delay of its own and no monitor"
        remedy = f"take one such as 'd-ts+', or one of {', '.join(RULES)}"
        raise StudyError("policy", rule, text, remedy=remedy)
    if declared(policy, "needs_horizon") and settings.budget is None:
        rule = f"must be given for {policy.label}, which plans for its number of votes"
        raise StudyError("budget", rule, None)
    number = num_arms or len(settings.arms)
    # The policy is checked for the number of arms, whichever these are.
    known = getattr(settings.model, "features", None)
    if declared(policy, "contextual") and known is None:
        rule = f"must have features of the arms for {policy.label}"
        remedy = "give model=LinearUtilities(features), with a row for each arm"
        raise StudyError("model", rule, settings.model, remedy=remedy)
    check_fields(policy, number)
    # Arms that join later are free unless they have a price.
    paid = dict(settings.spending.arm_prices)
    arms = [paid.get(name, 0.0) for name in settings.arms[:number]]
    arms += [0.0] * (number - len(arms))
    prices = pair_prices(arms, settings.spending.price)
    informed = with_prices(with_features(policy, known and known[:number]), prices)
    informed.check(number, settings.budget or LONGEST_HORIZON)
    return policy


def next_question(
    state: StudyState, rule: Rule, judge: str | None, context: Any, now: float
) -> Asked | GoldAsked | str:
    """Return the next question, or why there is none."""
    record, settings = state.record(judge), state.settings
    if record.is_aside:
        return (
            f"{judge or 'whoever gave no name'} is set aside: {record.gold_right} of "
            f"{record.gold_answered} gold questions right, below "
            f"{settings.judging.gold_threshold:.0%}"
        )
    number, question = state.last + 1, len(state.questions) + 1
    first = next(iter(record.halves.values()), None)
    if first is not None:
        # It was paid for in advance, unless its first order was asked anew meanwhile.
        times, names = 1 + (first.answer is None), state.names_of(first)
        if dear := _too_dear(state, judge, names, times, replaces=first.number):
            return dear
        reason = f"the other order of question {first.number}"
        proposal = rules.question_about(
            first.arms[::-1], first.rule, reason, twin_of=first.number
        )
        context = context if first.context is None else first.context
    else:
        proposal = _proposal(state, rule, judge, number, state.clock_at(now))
        if isinstance(proposal, str):
            return proposal
        gold = None
        if proposal.replaces is None and state.golds:
            gold = _due_gold(state, judge)
        if gold is not None:
            index, order = gold
            if dear := _too_dear(state, judge, state.golds[index]):
                return dear
            event = GoldAsked(question, index, settings.lease, judge, context)
            if state.is_of_sets:
                return event._replace(order=order)
            return event._replace(swapped=order == [1, 0])
        names = tuple(state.arms[arm] for arm in proposal.arms)
        times, again = settings.num_orders, proposal.replaces
        if dear := _too_dear(state, judge, names, times, replaces=again):
            return dear
        if context is None and settings.contexts:
            context = _context_of(state, proposal, number)
        # From the left to the right: each order of a pair as often.
        cards, rng = [*proposal.arms], rules.generator(state, -number)
        if state.is_of_sets:
            rng.shuffle(cards)
        else:
            left, right = cards
            ahead = state.shown[left, right] - state.shown[right, left]
            if ahead > 0 or ahead == 0 and rng.random() < 0.5:
                cards = [right, left]
        proposal = proposal.about(cards)
    return proposal._replace(
        question=question, lease=settings.lease, judge=judge, context=context
    )


def _due_gold(state: StudyState, judge: str | None) -> tuple[int, list[int]] | None:
    # One comes in each run of 1 / share questions, at a random place; of all gold
    # questions one that this judge had least often, in random order.
    share, record = state.settings.judging.gold_share, state.record(judge)
    if not share:
        return None
    rng = random.Random(f"{state.settings.seed}/gold/{state.last + 1}")
    # The number of gold questions that are due by now.
    due = share * (record.num_asked + 1) - record.num_gold_asked
    if due <= 0 or (due < 1 and rng.random() >= share / (1 - due + share)):
        return None
    had = Counter(
        question.gold
        for question in state.questions.values()
        if question.gold is not None and question.judge == judge
    )
    fewest = min(had[names] for names in state.golds)
    places = [at for at, names in enumerate(state.golds) if had[names] == fewest]
    index, size = rng.choice(places), state.settings.choose_from
    if state.is_of_sets:
        return index, rng.sample(range(size), size)
    return index, [1, 0] if rng.random() < 0.5 else [0, 1]


def _too_dear(
    state: StudyState,
    judge: str | None,
    names: tuple[str, ...],
    times: int = 1,
    *,
    replaces: int | None = None,
) -> str:
    # Says that so many answers would cost more than is left, else "". What is left are
    # the cost without answers and questions that are out, but for the one that is asked
    # anew.
    cost = state.settings.spending.cost
    if cost is None:
        return ""
    out = [*state.open.values()]
    for record in state.judges.values():
        out += record.halves.values()
    due = sum(
        state.price_of(question.voter, state.names_of(question))
        for question in out
        if replaces is None or state.unit_of(question).number != replaces
    )
    more = times * state.price_of(judge, names)
    left = cost - state.spent - due
    if more <= left + _ROUNDING * cost:
        return ""
    return (
        f"the next question costs {more:g}, and {max(left, 0.0):g} of {cost:g} is left "
        f"({state.spent:g} paid, {due:g} for questions that are out)"
    )


def _proposal(
    state: StudyState, rule: Rule, judge: str | None, number: int, clock: float
) -> Asked | str:
    settings, record = state.settings, state.record(judge)
    allowed = state.may_ask(judge)
    if not allowed.any():
        whose = "" if judge is None else f" to {judge}"
        theirs = "" if record.arms is None else ", or are not theirs"
        why = f"all are blocked or were skipped{theirs}"
        return f"no pair may be put{whose}: {why}"
    mine = sum(question.judge == judge for question in state.open.values())
    most = record.limit
    if most is not None and record.answered + mine + settings.num_orders > most:
        return f"{judge} has had the {most} questions that they are to have"
    if (again := _asked_anew(state, allowed, clock)) is not None:
        return again
    if judge is not None and mine >= _MOST_OPEN:
        return f"{judge} has {mine} open questions, and gets no more of them"
    budget, policy = settings.budget, settings.policy
    if budget is not None and state.num_used + len(state.waiting) >= budget:
        # Whoever has nothing to do is not kept waiting for those who went away.
        if judge is not None and not mine and not state.is_spent:
            taken = _asked_anew(state, allowed, math.inf)
            if taken is not None:
                return taken
        if not state.waiting:
            thanks = "That was the last question. Thank you"
            return f"{thanks}: the budget of {budget} votes is complete."
        return (
            f"all questions of the budget of {budget} votes have been asked; "
            f"{len(state.waiting)} of them still wait for an answer"
        )
    floor, counts = settings.floor, state.policy_pairs
    if floor and (short := allowed & (counts < floor)).any():
        pair = rules.least_of(counts, short, rules.generator(state, number))
        reason = f"{int(counts[pair])} of the {floor} votes that every pair shall have"
        return rules.question_about(pair, "floor", reason)
    if state.shares and (late := _newcomers(state, allowed)):
        if rules.generator(state, f"late/{number}").random() < state.shares[late[0]]:
            return _for_newcomer(state, allowed, late[0])
        others = allowed.copy()
        others[late] = others[:, late] = False
        allowed = others if others.any() else allowed
    for request in state.unissued.values():
        pair = request.first, request.second
        if request.duel and allowed[pair]:
            total = request.duel["votes"]
            reason = f"vote {request.issued + 1} of {total} that were asked for"
            return rules.question_about(pair, policy, reason, request=request.number)
    return rule.propose(state, allowed, number)


def _asked_anew(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], clock: float
) -> Asked | None:
    # The oldest question whose time is over, if it may be asked here.
    for question in state.waiting.values():
        if clock - question.since < question.lease:
            break  # Those behind it were asked later, and have the same lease.
        arms = question.arms
        if allowed.any(axis=1)[[*arms]].all() and (question.is_set or allowed[arms]):
            reason = f"question {question.number} has no answer yet"
            request = question.request if question.request in state.requests else None
            return rules.question_about(
                arms, question.rule, reason, replaces=question.number, request=request
            )
    return None


def _context_of(state: StudyState, question: Asked, number: int) -> str:
    # The context in which a pair was compared least often, then all were. Of a set all
    # of its pairs together. A question that is asked anew keeps its own.
    before = state.questions.get(question.replaces or 0)
    if before is not None and before.context is not None:
        return before.context
    mine: Counter[str] = Counter()
    for pair in combinations(sorted(question.arms), 2):
        mine.update(state.drawn.get(pair, {}))
    counts = {
        text: (mine[text], state.all_drawn[text]) for text in state.settings.contexts
    }
    least = min(counts.values())
    pool = [text for text, count in counts.items() if count == least]
    return rules.generator(state, f"context/{number}").choice(pool)


def _newcomers(state: StudyState, allowed: Bool[np.ndarray, "K K"]) -> list[int]:
    # Arms that came late and have too few votes, the one with the fewest first.
    votes = state.policy_pairs.sum(axis=1)
    usual = np.median([votes[arm] for arm in state.active if arm not in state.shares])
    late = [arm for arm in state.shares if allowed[arm].any() and votes[arm] < usual]
    return sorted(late, key=lambda arm: votes[arm])


def _for_newcomer(
    state: StudyState, allowed: Bool[np.ndarray, "K K"], arm: int
) -> Asked:
    # The pair that tells most about where an arm stands. Of the arms that it met least
    # often, the one whose share of votes is nearest to its own; each share has two
    # votes more, one of them won, so that it begins at 1/2.
    won = state.policy_wins.sum(axis=1) + 1.0
    lost = state.policy_wins.sum(axis=0) + 1.0
    share = won / (won + lost)
    met = np.where(allowed[arm], state.policy_pairs[arm], np.iinfo(np.int64).max)
    apart = np.where(met == met.min(), np.abs(share - share[arm]), np.inf)
    reason = f"{state.arms[arm]} came late: near it, and met least often"
    pair = arm, int(apart.argmin())
    return rules.question_about(pair, state.settings.policy, reason)
