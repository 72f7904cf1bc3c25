"""Subset choice: bounds, consistency of tables, total order, and the proofs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import ChoiceTable
from theory.choice import find_inconsistency, find_missing_set, find_order_violation
from theory.theorems import (
    bounded_reward_order,
    choice_table_bounds,
    subset_gap_bound,
    subset_gap_free_bound,
    subset_lower_order,
)


def rows_of(table):
    """Return the probabilities of each set by arm."""
    sets, values = table.sets.tolist(), table.probabilities.tolist()
    return [dict(zip(*row, strict=True)) for row in zip(sets, values, strict=True)]


def test_inconsistency_is_named():
    def table(lost):
        """Arm 1 loses so much to arm 2 that it is chosen less than in the best set."""
        values = [[0.47, 0.45], [0.6, 0.3], [0.45 - lost, 0.45 + lost]]
        return ChoiceTable([[0, 1], [0, 2], [1, 2]], values)

    violation = find_inconsistency(table(0.01))
    assert (violation.offered, violation.arm) == ((1, 2), 1)
    assert violation.probability == pytest.approx(0.44)
    assert violation.in_best_set == pytest.approx(0.45)
    with pytest.raises(ValueError, match=r"arm 1 in set \(1, 2\) .*, got 0.44"):
        choice_table_bounds(table(0.01))
    # Just consistent: equality is allowed.
    assert find_inconsistency(table(0.0)) is None


@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(1, 3))
def test_tables_against_loops(seed, num_arms, set_size):
    rng = np.random.default_rng(seed)
    # Few different numbers: equalities, and all kinds of violations, occur.
    order = rng.permutation(num_arms) / num_arms
    spread = rng.choice([0.0, 0.5])
    table = ChoiceTable.from_rule(
        num_arms,
        set_size,
        lambda sets: (order[sets] + spread * rng.integers(0, 3, sets.shape)) / 4,
    )
    known = rows_of(table)
    best = max(known, key=lambda chosen: round(sum(chosen.values()), 9))
    assert tuple(best) == table.best_set
    broken = [
        (tuple(chosen), arm)
        for chosen in known
        for arm in chosen
        if arm in best and chosen[arm] < best[arm] - 1e-12
    ]
    result = find_inconsistency(table)
    assert (result is None) == consistent_by_loops(table)
    assert result is None or (result.offered, result.arm) == broken[0]

    def below(a, b):
        return all(s[a] <= s[b] + 1e-12 for s in known if a in s and b in s)

    arms = range(num_arms)
    pairs = [(a, b) for a in arms for b in arms if a < b]
    apart = [(a, b) for a, b in pairs if not below(a, b) and not below(b, a)]
    triples = {
        (a, b, c)
        for a in arms
        for b in arms
        for c in arms
        if len({a, b, c}) == 3 and below(a, b) and below(b, c) and not below(a, c)
    }
    violation = find_order_violation(table)
    if apart:
        assert violation.rule == "comparability" and violation.arms == apart[0]
    elif triples:
        assert violation.rule == "transitivity" and violation.arms in triples
        a, _, c = violation.arms
        (offered,) = violation.sets
        chosen = next(s for s in known if tuple(s) == offered)
        assert chosen[a] > chosen[c]
    else:
        assert violation is None


def test_several_best_sets_and_a_single_set():
    sets = [[0, 1], [0, 2], [1, 2]]
    table = ChoiceTable(sets, [[0.5, 0.2], [0.4, 0.3], [0.3, 0.3]])
    assert table.best_set == (0, 1) and table.gap == 0
    # Arm 0 is chosen less often in (0, 2) than in (0, 1): the former is the best set.
    assert find_inconsistency(table) is None
    with pytest.raises(ValueError, match="single best set"):
        choice_table_bounds(table)
    assert repr(table) == "ChoiceTable(3 sets of 2 of 3 arms, best set (0, 1))"
    # Neither of the two does: arm 0 is chosen less often in one, arm 1 in the other.
    three = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    neither = ChoiceTable(
        three, [[0.4, 0.2, 0.3], [0.2, 0.4, 0.3], [0.4, 0.3, 0.1], [0.4, 0.3, 0.1]]
    )
    assert len(neither.best_rows) == 2
    violation = find_inconsistency(neither)
    assert (violation.offered, violation.arm, violation.in_best_set) == (
        (0, 1, 3),
        0,
        0.4,
    )
    alone = ChoiceTable([[1, 0]], [[0.5, 0.2]])
    assert alone.gap == 0
    with pytest.raises(ValueError, match=r"the only one, so no round.*, got \(1, 0\)"):
        choice_table_bounds(alone)


def test_a_table_that_lacks_a_set_has_no_bounds():
    # (1, 2) could be the best set, or show that (0, 1) is not consistent.
    table = ChoiceTable([[0, 2], [1, 0]], [[0.6, 0.1], [0.3, 0.5]])
    assert find_missing_set(table) == (1, 2)
    assert find_inconsistency(table) is None
    with pytest.raises(ValueError, match=r"all sets of 2 out of 3 .* lacks \(1, 2\)"):
        choice_table_bounds(table)
    whole = ChoiceTable([[0, 2], [2, 1], [1, 0]], [[0.6, 0.1], [0.1, 0.4], [0.3, 0.5]])
    assert find_missing_set(whole) is None
    gap_bound, free_bound = choice_table_bounds(whole)
    assert find_order_violation(whole) is None
    direct = subset_gap_bound(3, 2, whole.gap)
    assert gap_bound.log_coefficient == direct.log_coefficient
    assert free_bound(1e4) == subset_gap_free_bound(3, 2)(1e4)


@given(st.data())
def test_missing_sets_against_enumeration(data):
    num_arms = data.draw(st.integers(2, 6))
    size = data.draw(st.integers(1, num_arms))
    everything = list(itertools.combinations(range(num_arms), size))
    remaining = data.draw(
        st.lists(st.sampled_from(everything), min_size=1, unique=True)
    )
    table = ChoiceTable(remaining, np.full((len(remaining), size), 0.1))
    questions = itertools.combinations(range(max(map(max, remaining)) + 1), size)
    lacking = [arms for arms in questions if arms not in remaining]
    assert find_missing_set(table) == (lacking[0] if lacking else None)


def consistent_by_loops(table):
    """Whether some best set has each of its arms chosen least in it."""
    known = rows_of(table)
    top = max(sum(chosen.values()) for chosen in known)
    return any(
        all(
            other[arm] >= best[arm] - 1e-12
            for other in known
            for arm in best.keys() & other.keys()
        )
        for best in known
        if sum(best.values()) >= top - 1e-12
    )


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4), st.data())
def test_order_of_rows_and_columns_does_not_matter(seed, num_arms, size, data):
    size = min(size, num_arms)
    rng = np.random.default_rng(seed)
    sets = np.array(list(itertools.combinations(range(num_arms), size)))
    # Few numbers: often several sets are best, and consistency holds or fails.
    values = rng.integers(1, 3, sets.shape) / 8 + rng.integers(0, 2, num_arms)[sets] / 4
    table = ChoiceTable(sets, values)
    rows = np.array(data.draw(st.permutations(range(len(sets)))))
    columns = np.array([rng.permutation(size) for _ in rows])
    turned = ChoiceTable(
        np.take_along_axis(sets[rows], columns, axis=1),
        np.take_along_axis(values[rows], columns, axis=1),
    )
    result, again = find_inconsistency(table), find_inconsistency(turned)
    assert (result is None) == consistent_by_loops(table)
    assert sorted(turned.best_set) == sorted(table.best_set)
    assert turned.gap == table.gap
    if result is not None:
        assert sorted(again.offered) == sorted(result.offered)
        assert replace(again, offered=()) == replace(result, offered=())
    else:
        assert again is None
    order, turned_order = find_order_violation(table), find_order_violation(turned)
    assert (order is None) == (turned_order is None)
    if order is not None:
        assert (order.rule, order.arms) == (turned_order.rule, turned_order.arms)
        sets, turned_sets = ([sorted(x) for x in v.sets] for v in (order, turned_order))
        assert sets == turned_sets


def test_tables_are_read_only_copies():
    sets, values = np.array([[0, 1], [1, 2]]), np.array([[0.5, 0.2], [0.4, 0.3]])
    table = ChoiceTable(sets, values)
    values[0, 0] = sets[0, 0] = 9
    assert table.probabilities[0, 0] == 0.5 and table.sets[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        table.probabilities[0, 0] = 0.1


@pytest.mark.parametrize(
    ("sets", "values", "text"),
    [
        ([0, 1], [0.5, 0.2], "one row per set"),
        ([[0, -1]], [[0.5, 0.2]], r"sets\[0, 1\] .*, got -1"),
        ([[0, 1], [2, 2]], np.full((2, 2), 0.1), r"sets\[1\] .*, got \(2, 2\)"),
        (
            [[0, 1], [1, 0]],
            np.full((2, 2), 0.1),
            r"sets must be different.*, got \(0, 1\)",
        ),
        ([[0, 1]], [[0.5, 0.2, 0.1]], r"shape \(1, 2\), got \(1, 3\)"),
        ([[0, 1]], [[0.5, 1.2]], r"arm 1 of set \(0, 1\).*, got 1.2"),
    ],
)
def test_bad_tables(sets, values, text):
    with pytest.raises(ValueError, match=text):
        ChoiceTable(sets, values)


def test_too_many_sets():
    with pytest.raises(ValueError, match="tabulate some"):
        ChoiceTable.from_rule(60, 10, lambda sets: np.zeros(sets.shape))
    with pytest.raises(ValueError, match="at most num_arms"):
        ChoiceTable.from_rule(3, 4, lambda sets: np.zeros(sets.shape))


# Bounds.


def test_explicit_bounds_by_hand():
    n, k, gap, alpha = 20, 5, 0.03, 2.5
    rounds = np.array([149.0, 1e4, 1e8])
    logs = np.log(rounds)
    bound = subset_gap_bound(n, k, gap, alpha=alpha, form="printed")
    first = 8 * alpha * k**1.5 * n * logs / gap
    second = 30 * alpha * k**2 * n * logs / gap
    assert bound(rounds) == pytest.approx(first + second + n, rel=1e-12)
    free = subset_gap_free_bound(n, k, alpha=alpha)
    first = 2 * np.sqrt(alpha * k * n * rounds * logs)
    second = 15 * k**2 * np.sqrt(alpha * n * rounds * logs)
    assert free(rounds) == pytest.approx(first + second, rel=1e-12)
    assert bound.kind == free.kind == "upper"
    assert bound.regret == free.regret == "expected_reward"
    for value in (bound, free, subset_gap_bound(n, k, gap, alpha=alpha)):
        assert (value.policy, value.condition) == ("UCB-no-order", "alpha = 2.5")
        assert not value.anytime
        with pytest.raises(ValueError, match="at least 149"):
            value(148)
    assert subset_gap_free_bound(1000, 5).minimum_horizon == 1000


def test_orders_by_hand():
    n, k, gap, alpha, top = 12, 4, 0.05, 3.0, 2.0
    rounds = np.array([10.0, 1e6])
    logs = np.log(rounds)
    bound = bounded_reward_order(n, k, gap, largest_reward=top, alpha=alpha)
    expected = alpha * k**2 * top**2 * n * logs / gap
    assert bound(rounds) == pytest.approx(expected, rel=1e-12)
    free = bounded_reward_order(n, k, largest_reward=top, alpha=alpha)
    expected = k**2 * top * np.sqrt(alpha * n * rounds * logs)
    assert free(rounds) == pytest.approx(expected, rel=1e-12)
    one = subset_lower_order(n, k, gap)
    several = subset_lower_order(n, k, gap, one_reward=False)
    assert one(rounds) == pytest.approx(n * logs / (k * gap), rel=1e-12)
    assert several(rounds) == pytest.approx(n * logs / gap, rel=1e-12)
    for value in (bound, free, one, several):
        assert value.order_only and value.regret == "expected_reward"
        assert value.source and value.assumptions and value.remainder


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: subset_gap_bound(3, 4, 0.1), "set_size must be at most"),
        (lambda: subset_gap_bound(3, 0, 0.1), "set_size"),
        (lambda: subset_gap_bound(3.5, 1, 0.1), "num_arms"),
        (lambda: subset_gap_bound(3, 2, 0.0), "gap"),
        (
            lambda: subset_gap_bound(3, 2, 0.1, alpha=1.9),
            "alpha must be a finite number of at least 2",
        ),
        (lambda: subset_gap_bound(3, 2, 0.1, form="best"), "form must be one of"),
        (lambda: subset_gap_free_bound(3, 2, alpha=1.9), "alpha"),
        (lambda: bounded_reward_order(3, 2, largest_reward=0), "largest_reward"),
        (lambda: bounded_reward_order(3, 2, -0.1), "gap"),
        (lambda: subset_lower_order(3, 2, -0.1), "gap"),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# Statements of the proofs.


def test_forms_of_the_gap_bound():
    def coefficient(k, form):
        return subset_gap_bound(100, k, 0.1, form=form).log_coefficient

    for k in range(1, 30):
        unit = 2.0 * 100 / 0.1
        # Lemma 8 for the last arm, with the constant 40 of Lemma 7.
        first = 2 * math.sqrt(2 * k * 100 * 40 * 2 * k * k * 100) / 0.1
        # Arm l < k: delta / (Delta + gap)^2 is at most 1 / (4 gap) for Delta >= gap/10,
        # and delta / gap^2 at most 1 / (10 gap) otherwise.
        item = 40 * max(1 / 4, 1 / 10)
        second = sum(item * arm * k for arm in range(1, k)) * unit
        assert coefficient(k, "lemmas") == pytest.approx(first + second, rel=1e-12)
        # The printed constants follow from the lemmas for small sets only.
        below = coefficient(k, "lemmas") <= coefficient(k, "printed")
        assert below == (k <= 6)
    with_8 = 8 * 3**1.5 + 30 * 9
    assert coefficient(3, "printed") == pytest.approx(with_8 * 2000, rel=1e-12)


def test_only_what_is_proved_is_an_upper_bound():
    for n, k, alpha in itertools.product((8, 500), range(1, 9), (2.0, 3.0)):
        proved = subset_gap_bound(n, k, 0.1, alpha=alpha)
        printed = subset_gap_bound(n, k, 0.1, alpha=alpha, form="printed")
        # n arms, T plays of each, both sides; then every round costs at most k.
        rounds = np.array([149.0, 1e3, 1e9])
        failure = 2 * n * rounds * rounds ** (-2 * alpha) * k * rounds
        good = proved.log_coefficient * np.log(rounds) + n
        assert (proved(rounds) >= good + failure * (1 - 1e-12)).all()
        assert proved.kind == "upper" and proved.remainder == ""
        assert (printed.kind == "upper") == (k <= 6)
        assert (printed.kind == "unproved") == (printed.remainder != "")
        if k <= 6:
            assert (printed(rounds) >= proved(rounds)).all()
