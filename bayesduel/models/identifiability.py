"""Which effects votes tell apart from utilities: the null space of their design.

The lead of the first arm of a row is a linear function of what is unknown: utilities
(or coefficients of covariates), the advantage of the arm shown first, and effects of
covariates of the contest. Votes tell an effect only where no change of the others
leaves all leads as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import NEUTRAL, Comparisons

_ROUNDING = 1e-6
"""What is left of a column, in units of its length, that counts as nothing."""

_MOST_ENTRIES = 2 * 10**7
"""Rows times judges up to which the bias of every judge is looked at."""


NO_ORDER = "votes do not tell the advantage of the arm shown first from the rest"
"""How the remark on an order effect begins."""


class Alias(NamedTuple):
    """What can make up for an effect of size 1: no vote tells the two apart."""

    effects: Float[np.ndarray, " E"]  # Of which the effect itself is 0.
    utilities: Float[np.ndarray, " K"]  # The lowest of connected arms is 0.
    coefficients: Float[np.ndarray, " d"]  # What utilities are made of, or none.


def aliases(
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    num_arms: int,
    effects: Float[np.ndarray, "row E"],
    covariates: Float[np.ndarray, "K d"] | None = None,
) -> list[Alias | None]:
    """Return what can make up for each effect; None where votes tell it.

    Parameters
    ----------
    first, second : int (row,)
        The arms of the rows that have votes.
    num_arms : int
        K.
    effects : float (row, E)
        What each effect is multiplied by in a row.
    covariates : float (K, d), optional
        Where utilities are covariates @ coefficient; free utilities otherwise.

    Notes
    -----
    Free utilities explain a column if it is the difference of two numbers of the arms
    in every row. These are found along a spanning forest of the pairs, so that 100,000
    arms take a second, and what is left of the columns in the other rows decides.
    """
    lengths = np.linalg.norm(effects, axis=0)
    unit = effects / np.where(lengths > 0.0, lengths, 1.0)
    if covariates is None:
        parts = _potentials(first, second, num_arms, unit)
        slopes = np.zeros((0, len(lengths)))
    else:
        size = np.maximum(np.abs(covariates).max(axis=0), 1e-300)
        steps = (covariates[first] - covariates[second]) / size
        slopes = np.linalg.lstsq(steps, unit, rcond=_ROUNDING)[0] / size[:, None]
        parts = covariates @ slopes
    left = unit - (parts[first] - parts[second])
    sizes, directions = np.linalg.eigh(left.T @ left)
    null = directions[:, sizes <= _ROUNDING**2]
    found: list[Alias | None] = []
    for place in range(len(lengths)):
        along = null @ null[place]
        if along.size == 0 or along[place] <= _ROUNDING:
            found.append(None)
            continue
        # In units of the effect itself: its size is 1, and the others undo it.
        weight = along / along[place]
        own = lengths[place] if lengths[place] > 0.0 else 1.0
        others = -weight * own / np.where(lengths > 0.0, lengths, 1.0)
        others[place] = 0.0
        found.append(Alias(others, parts @ weight * own, slopes @ weight * own))
    return found


def _potentials(
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    num_arms: int,
    columns: Float[np.ndarray, "row E"],
) -> Float[np.ndarray, "K E"]:
    """Return numbers of arms whose differences are the columns along a forest.

    The lowest of each connected part is 0.
    """
    # Questions of a study make a model, and answer faster without these.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    low, high = np.minimum(first, second), np.maximum(first, second)
    _, rows = np.unique(low * num_arms + high, return_index=True)
    ends = low[rows], high[rows]
    graph = csr_array((np.ones(len(rows)), ends), shape=(num_arms, num_arms))
    number, part = connected_components(graph, directed=False)
    # One search for all parts, from a node that leads into each.
    _, entries = np.unique(part, return_index=True)
    root = np.full(number, num_arms)
    whole = csr_array(
        (
            np.ones(len(rows) + number),
            (np.concatenate([ends[0], root]), np.concatenate([ends[1], entries])),
        ),
        shape=(num_arms + 1, num_arms + 1),
    )
    order, before = breadth_first_order(whole, num_arms, directed=False)
    codes = low[rows] * num_arms + high[rows]
    found = np.zeros((num_arms + 1, columns.shape[1]))
    for arm in order[1:].tolist():
        earlier = int(before[arm])
        if earlier == num_arms:
            continue
        code = min(arm, earlier) * num_arms + max(arm, earlier)
        row = rows[np.searchsorted(codes, code)]
        sign = 1.0 if first[row] == arm else -1.0
        found[arm] = found[earlier] + sign * columns[row]
    lowest = np.full((number, columns.shape[1]), np.inf)
    np.minimum.at(lowest, part, found[:-1])
    return found[:-1] - lowest[part]


def why_order_is_unidentified(data: Comparisons, *, contest: bool = False) -> str:
    """Say why votes do not tell an advantage of the arm shown first; "" if they do.

    Parameters
    ----------
    data : Comparisons
        Votes whose order is known. Utilities are free.
    contest : bool
        The model has effects of covariates of the contest.
    """
    if not data.num_votes:
        return "there is no vote"
    names = data.contest_covariates if contest else ()
    (found, *_), _ = _looked_at(data, names, covariates=False, order=True)
    return "" if found is None else _order_in_words(data, found, names)


def unidentified_effects(
    data: Comparisons, *, order: bool, contest: bool, covariates: bool, judges: bool
) -> tuple[str, ...]:
    """Say of every effect of a model that votes do not tell it, and why.

    Parameters
    ----------
    data : Comparisons
    order, contest, judges : bool
        The model has an advantage of the arm shown first, effects of covariates of the
        contest, a bias of each judge.
    covariates : bool
        Utilities are covariates @ coefficient and nothing else.
    """
    names = data.contest_covariates if contest else ()
    if not (order or names) or not data.num_votes:
        return ()
    found, voted = _looked_at(data, names, covariates=covariates, order=order)
    remarks = []
    if order and found[0] is not None:
        remarks.append(
            f"{NO_ORDER}: {_order_in_words(data, found[0], names)}. It and what "
            "can make up for it say what the prior says; show pairs in both orders, or "
            "leave it out"
        )
    elif judges:
        remarks += _untold_judges(data, voted, covariates=covariates)
    for place, name in enumerate(names):
        alias = found[int(order) + place]
        if alias is not None:
            remarks.append(
                f"votes do not tell the effect of {name} from the rest: "
                f"{_contest_in_words(data, alias, name, names, order=order)}. It and "
                "what can make up for it say what the prior says; leave one out"
            )
    return tuple(remarks)


def _looked_at(
    data: Comparisons, names: tuple[str, ...], *, covariates: bool, order: bool
) -> tuple[list[Alias | None], Any]:
    """Return the alias of each effect, the order first, and which rows have votes."""
    voted = data.counts.sum(axis=1) > 0
    columns = [_shown(data)[voted]] if order else []
    columns += [data.columns[name][voted] for name in names]
    arms = data.first[voted], data.second[voted], data.num_arms
    known = data.covariates if covariates else None
    return aliases(*arms, np.stack(columns, axis=1), known), voted


def _shown(data: Comparisons) -> Float[np.ndarray, " row"]:
    """Return 1 where the first arm of a row was shown first, else 0."""
    return 1.0 - data.columns.get(NEUTRAL, np.zeros(len(data.first)))


def _untold_judges(data: Comparisons, voted: Any, *, covariates: bool) -> list[str]:
    """Say whose bias the votes of this judge do not tell."""
    names, judge = data.labels["judge"], data.columns["judge"][voted]
    if len(names) * len(judge) > _MOST_ENTRIES:
        return []
    own = (judge[:, None] == np.arange(len(names))) * _shown(data)[voted][:, None]
    known = data.covariates if covariates else None
    arms = data.first[voted], data.second[voted], data.num_arms
    found = aliases(*arms, own, known)
    untold = [name for name, each in zip(names, found, strict=True) if each is not None]
    if not untold:
        return []
    return [
        f"votes do not tell the bias of {shortened(untold)} for the arm shown first "
        "from the rest: utilities, or biases of others, can make up for it, and it "
        "says what the prior and the other judges say"
    ]


def _order_in_words(data: Comparisons, alias: Alias, names: tuple[str, ...]) -> str:
    voted = data.counts.sum(axis=1) > 0
    if not _shown(data)[voted].any():
        return "in no vote an arm was shown first"
    others = _others(data, alias, "", names, order=True)
    if others:
        return f"it does to every vote what {others} can do"
    shown = voted & (_shown(data) > 0.0)
    met = np.union1d(data.first[shown], data.second[shown])
    lift = alias.utilities[met]
    levels = np.abs(lift[:, None] - np.array([0.0, 1.0])) <= 1e-3
    ahead = [data.arm_names[arm] for arm in met[levels[:, 1]]]
    behind = [data.arm_names[arm] for arm in met[levels[:, 0]]]
    if not levels.any(axis=1).all():
        raised = [
            f"{data.arm_names[arm]} (by {size:.3g})"
            for arm, size in zip(met.tolist(), lift.tolist(), strict=True)
            if size > 1e-3
        ]
        return f"it does to every vote what higher utilities of {shortened(raised)} do"
    if len(behind) == 1 < len(ahead):
        return f"{behind[0]} is always shown second"
    verb = "is" if len(ahead) == 1 else "are"
    return f"{shortened(ahead)} {verb} always shown first"


def _contest_in_words(
    data: Comparisons, alias: Alias, name: str, names: tuple[str, ...], *, order: bool
) -> str:
    if not np.any(data.columns[name][data.counts.sum(axis=1) > 0]):
        return "it is 0 in every vote"
    others = _others(data, alias, name, names, order=order)
    return f"it does to every vote what {others or 'utilities of arms'} can do"


def _others(
    data: Comparisons, alias: Alias, name: str, names: tuple[str, ...], *, order: bool
) -> str:
    """Name what can make up for an effect; "" where utilities of arms alone can."""
    effects = ["the advantage of the arm shown first"] if order else []
    effects += [f"the effect of {each}" for each in names]
    said = [
        each
        for each, size in zip(effects, alias.effects.tolist(), strict=True)
        if abs(size) > 1e-9 and each != f"the effect of {name}"
    ]
    if len(alias.coefficients):
        reach = np.abs(alias.coefficients) * np.ptp(data.covariates, axis=0)
        told = zip(data.covariate_names, reach.tolist(), strict=True)
        said += [f"the coefficient of {each}" for each, far in told if far > 1e-6]
    elif said and np.ptp(alias.utilities) > 1e-6:
        said.append("utilities of arms")
    return " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
