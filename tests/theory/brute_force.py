"""Slow and obvious solutions of the exploration programs, for small matrices.

Nothing here knows about families, prefixes, or closed forms.
"""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

MAXIMAL_ARMS = 7


def quantities(matrix):
    """Gaps, numbers of losses, and cost of one unit of evidence per pair."""
    values = np.asarray(matrix, dtype=float)
    num_arms = len(values)
    gaps = (values - values.T) / 2
    gaps[np.abs(gaps) < 1e-8] = 0.0
    losses = (gaps < 0).sum(axis=1)
    costs = np.zeros_like(gaps)
    for i, j in combinations(range(num_arms), 2):
        if gaps[i, j] != 0:
            p = [0.5 + gaps[i, j], 0.5 - gaps[i, j]]
            divergence = sum(q * np.log(2 * q) for q in p if q > 0)
            regret = (losses[i] + losses[j] - 2 * losses.min()) / (2 * (num_arms - 1))
            costs[i, j] = costs[j, i] = regret / divergence
    return gaps, losses, costs


def solve_cover(costs, sets, num_arms, *, with_solution=False):
    """Minimize the cost of x in [0, 1] with sum(x over every set of pairs) >= 1."""
    pairs = list(combinations(range(num_arms), 2))
    number = {pair: k for k, pair in enumerate(pairs)}
    sets = {frozenset(s) for s in sets}
    price = np.array([costs[pair] for pair in pairs])
    if not sets:
        return 0.0
    rows, columns = [], []
    for row, members in enumerate(sets):
        for i, j in members:
            rows.append(row)
            columns.append(number[min(i, j), max(i, j)])
    shape = (len(sets), len(pairs))
    matrix = csr_array((-np.ones(len(rows)), (rows, columns)), shape=shape)
    # Divided by the largest price, because the tolerances of the solver are absolute.
    scale = price.max() or 1.0
    result = linprog(
        price / scale, A_ub=matrix, b_ub=-np.ones(len(sets)), bounds=(0, 1)
    )
    assert result.status == 0, result.message
    if with_solution:
        x = np.zeros((num_arms, num_arms))
        for pair, value in zip(pairs, result.x, strict=True):
            x[pair] = x[pair[::-1]] = value
        return result.fun * scale, x
    return result.fun * scale


def dethroning_sets(signs, leader):
    """All sets of pairs whose reversal gives a rival more wins than the leader.

    Entry [i][j] of ``signs`` is 1, -1 or 0 where i beats j, loses or ties. Only pairs
    that do not speak for the rival against the leader are reversed, in its favor; of a
    tied pair that is not, the side against the rival holds.

    Returns
    -------
    list of (int, tuple of pairs, set of pairs)
        Rival, the pairs that might be reversed, and those that are. Pairs (i, j) are
        such that "i beats j" speaks for the rival.
    """
    results = []
    for rival in range(len(signs)):
        if rival == leader:
            continue
        others = [j for j in range(len(signs)) if j not in (rival, leader)]
        decisive = [(rival, leader), *((rival, j) for j in others)]
        decisive += [(j, leader) for j in others]
        turned = tuple((i, j) for i, j in decisive if signs[i][j] <= 0)
        for choice in product((False, True), repeat=len(turned)):
            chosen = {pair for pair, yes in zip(turned, choice, strict=True) if yes}
            ahead = 0
            for i, j in decisive:
                winner = i if signs[i][j] > 0 or (i, j) in chosen else j
                ahead += int(winner == rival) - int(winner == leader)
            if ahead > 0:
                results.append((rival, turned, chosen))
    return results


def constraints(matrix, winner):
    """All sets of pairs of the program (P), by enumeration of l, H and O."""
    gaps, losses, _ = quantities(matrix)
    num_arms = len(gaps)
    if num_arms > MAXIMAL_ARMS:
        raise ValueError(f"enumeration needs K <= {MAXIMAL_ARMS}; got {num_arms}")
    least, second = np.sort(losses)[:2]
    inferiors = [j for j in range(num_arms) if gaps[winner, j] > 0]
    results = []
    for rival in range(num_arms):
        if rival == winner:
            continue
        superiors = [j for j in range(num_arms) if gaps[rival, j] < 0 and j != winner]
        for level in range(max(0, least - 1), second + 1):
            for chosen in combinations(inferiors, level + 1 - least):
                size = max(0, losses[rival] - level - (rival in chosen))
                for others in combinations(superiors, size):
                    pairs = [(winner, j) for j in chosen] + [(rival, j) for j in others]
                    assert pairs, "a constraint without pairs cannot hold"
                    results.append(frozenset(tuple(sorted(pair)) for pair in pairs))
    return results


def enumerate_program(matrix, winner):
    """Optimum of (P) by enumeration, K <= 7."""
    _, _, costs = quantities(matrix)
    return solve_cover(costs, constraints(matrix, winner), len(costs))


def efficient_constraints(matrix, winner):
    """All sets of pairs of the efficient program, by its sets of superiors."""
    gaps, losses, _ = quantities(matrix)
    arms = range(len(gaps))
    results = [[(winner, j)] for j in arms if gaps[winner, j] > 0]
    for rival in arms:
        if rival == winner:
            continue
        pool = [j for j in arms if gaps[rival, j] < 0 and j != winner]
        for chosen in combinations(pool, losses[rival] - losses.min() + 1):
            results.append([(rival, j) for j in chosen])
    return results


def enumerate_efficient_program(matrix, winner):
    """Optimum of the efficient program by enumeration."""
    _, _, costs = quantities(matrix)
    return solve_cover(costs, efficient_constraints(matrix, winner), len(costs))


def reversal_program(matrix, winner, *, free_ties=True):
    """Optimum when every set of reversals that dethrones the winner must be excluded.

    Knows nothing of l, H and O: enumerates all sets of pairs, K <= 5. Tied pairs may
    fall either way at no cost (`free_ties`), or are left out.
    """
    gaps, losses, costs = quantities(matrix)
    num_arms = len(gaps)
    assert num_arms <= 5
    pairs = list(combinations(range(num_arms), 2))
    decided = [pair for pair in pairs if gaps[pair] != 0]
    tied = [pair for pair in pairs if gaps[pair] == 0] if free_ties else []
    dethroning = []
    for size in range(len(decided) + 1):
        for chosen in combinations(decided, size):
            members = frozenset(chosen)
            if any(smaller <= members for smaller in dethroning):
                continue
            for fall in product((-1, 1), repeat=len(tied)):
                turned = np.sign(gaps)
                for (i, j), sign in zip(tied, fall, strict=True):
                    turned[i, j], turned[j, i] = sign, -sign
                for i, j in chosen:
                    turned[i, j], turned[j, i] = turned[j, i], turned[i, j]
                after = (turned < 0).sum(axis=1)
                if after[winner] > after.min():
                    dethroning.append(members)
                    break
    if frozenset() in dethroning:
        return np.inf
    return solve_cover(costs, dethroning, num_arms)
