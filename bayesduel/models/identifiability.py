"""Which effects votes tell apart from utilities: the null space of their design.

The lead of the first arm of a row is a linear function of what is unknown: utilities
(or coefficients of covariates), the advantage of the arm shown first, and effects of
covariates of the contest. Votes tell an effect only where no change of the others
leaves all leads as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int

from bayesduel.votes.checks import components, shortened
from bayesduel.votes.comparisons import NEUTRAL, Comparisons

_LEAST_REACH = 0.25
"""Standard deviation of what a covariate adds to utilities, before any vote. Below, a
thousand votes do not outweigh the prior."""

# Differences of covariates that count as 0, in units of the largest value.
_FLAT = 1e-6


def joined_by_covariates(data: Comparisons, parts: list[list[str]]) -> list[list[str]]:
    """Join parts of arms whose utilities differ by what votes tell."""
    table, unknown = _unknown_directions(data)
    position = {name: arm for arm, name in enumerate(data.arm_names)}
    some = table[[position[part[0]] for part in parts]] @ unknown
    close = np.abs(some[:, None] - some).max(axis=2, initial=0.0) <= _FLAT
    groups = components(close, [str(at) for at in range(len(parts))])
    joined = [[name for at in group for name in parts[int(at)]] for group in groups]
    return sorted(
        (sorted(part, key=position.__getitem__) for part in joined),
        key=len,
        reverse=True,
    )


def _unknown_directions(
    data: Comparisons,
) -> tuple[Float64[np.ndarray, "K d"], Float64[np.ndarray, "d unknown"]]:
    voted = data.counts.sum(axis=1) > 0
    table = data.covariates / np.maximum(np.abs(data.covariates).max(axis=0), 1e-300)
    steps = table[data.first[voted]] - table[data.second[voted]]
    sizes, directions = np.linalg.eigh(steps.T @ steps)
    return table, directions[:, sizes <= _FLAT**2 * max(sizes.max(), 1.0)]


def untold_coefficients(data: Comparisons) -> tuple[str, ...]:
    """Say how many directions of the coefficients no vote tells of."""
    why = "arms that were compared do not differ (the covariates are constant or "
    why += "collinear there)"
    _, unknown = _unknown_directions(data)
    return said_of_directions("votes", data.covariate_names, unknown, why)


def said_of_directions(
    source: str,
    names: Sequence[str],
    unknown: Float[np.ndarray, "d unknown"],
    why: str,
) -> tuple[str, ...]:
    """Say along which directions of coefficients votes, or choices, tell nothing."""
    if not unknown.shape[1]:
        return ()
    reach = np.abs(unknown).max(axis=1).tolist()
    untold = [name for name, far in zip(names, reach, strict=True) if far > _FLAT]
    return (
        f"{source} tell {len(names) - unknown.shape[1]} of {len(names)} directions "
        f"of the coefficients; along the others, which {shortened(untold)} have a part "
        f"in, {why}, and coefficients are as uncertain as their prior",
    )


def narrow_covariates(
    names: tuple[str, ...],
    covariates: Float64[np.ndarray, "K d"],
    scale: float,
    option: str = "",
) -> tuple[str, ...]:
    """Say which covariates the prior of their coefficients hardly lets matter."""
    sizes = np.std(covariates, axis=0)
    # Rounding may leave a remainder of a constant; no factor makes it matter.
    sizes[sizes <= 1e-12 * np.abs(covariates).max(axis=0, initial=0.0)] = 0.0
    setting = f"covariate_scale{option}"
    return _narrow(names, sizes, "standard deviation over arms", scale, setting)


def narrow_effects(data: Comparisons, scale: float) -> tuple[str, ...]:
    """Say which covariates of the contest the prior of an effect hardly lets matter."""
    names, votes = data.contest_covariates, data.counts.sum(axis=1)
    table = np.stack([data.columns[name] for name in names], axis=1)
    sizes = np.sqrt(votes @ table**2 / max(votes.sum(), 1.0))
    setting = "contest_scale (--contest-scale)"
    return _narrow(names, sizes, "root mean square over votes", scale, setting)


def _narrow(
    names: tuple[str, ...],
    sizes: Float64[np.ndarray, " d"],
    measure: str,
    scale: float,
    setting: str,
) -> tuple[str, ...]:
    narrow = [
        (name, size, 10.0 ** round(-np.log10(size * scale)))
        for name, size in zip(names, sizes.tolist(), strict=True)
        if 0.0 < size * scale < _LEAST_REACH
    ]
    if not narrow:
        return ()
    small = ", ".join(f"{name} ({size:.2g})" for name, size, _ in narrow)
    factors = ", ".join(f"{name} by {factor:g}" for name, _, factor in narrow)
    wide = scale * max(factor for *_, factor in narrow)
    return (
        f"the prior hardly lets {shortened([name for name, *_ in narrow])} matter, and "
        f"shrinks what votes tell of it: the {measure} is {small}, and a coefficient "
        f"per unit has the standard deviation {scale:g} before any vote; multiply "
        f"{factors} (its coefficient is divided by that), or widen the prior: "
        f"{setting} {wide:g}",
    )


_ROUNDING = 1e-6  # The rest of a column that counts as nothing, in units of its length.
# Rows times judges up to which the bias of every judge is looked at.
_MOST_ENTRIES = 2 * 10**7


# How the remark on an order effect begins.
NO_ORDER = "votes do not tell the advantage of the arm shown first from the rest"


class _Alias(NamedTuple):
    """Changes that offset an effect of size 1: no vote tells the two apart."""

    effects: Float[np.ndarray, " E"]  # Directions in which the effect itself is 0.
    utilities: Float[np.ndarray, " K"]  # The lowest of connected arms is 0.
    coefficients: Float[np.ndarray, " d"]  # Coefficients of the utilities, or none.


def aliases(
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    num_arms: int,
    effects: Float[np.ndarray, "row E"],
    covariates: Float[np.ndarray, "K d"] | None = None,
) -> list[_Alias | None]:
    """Return what can make up for each effect; None where votes tell it."""
    # Of effects (row, E) in rows with votes. Free utilities explain a column that is
    # the difference of two numbers of the arms in every row: these are found along a
    # spanning forest of the pairs, so that 100,000 arms take a second.
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
    explained: list[_Alias | None] = []
    for index in range(len(lengths)):
        along = null @ null[index]
        if along.size == 0 or along[index] <= _ROUNDING:
            explained.append(None)
            continue
        # In units of the effect itself: its size is 1, and the others undo it.
        weight = along / along[index]
        length = lengths[index] if lengths[index] > 0.0 else 1.0
        others = -weight * length / np.where(lengths > 0.0, lengths, 1.0)
        others[index] = 0.0
        explained.append(
            _Alias(others, parts @ weight * length, slopes @ weight * length)
        )
    return explained


def _potentials(
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    num_arms: int,
    columns: Float[np.ndarray, "row E"],
) -> Float[np.ndarray, "K E"]:
    """Return numbers of arms whose differences are the columns along a forest."""
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
    potentials = np.zeros((num_arms + 1, columns.shape[1]))
    for arm in order[1:].tolist():
        earlier = int(before[arm])
        if earlier == num_arms:
            continue
        code = min(arm, earlier) * num_arms + max(arm, earlier)
        row = rows[np.searchsorted(codes, code)]
        sign = 1.0 if first[row] == arm else -1.0
        potentials[arm] = potentials[earlier] + sign * columns[row]
    lowest = np.full((number, columns.shape[1]), np.inf)
    np.minimum.at(lowest, part, potentials[:-1])
    return potentials[:-1] - lowest[part]


def why_order_is_unidentified(data: Comparisons, *, contest: bool = False) -> str:
    """Say why votes do not tell an advantage of the arm shown first; "" if they do."""
    if not data.num_votes:
        return "there is no vote"
    names = data.contest_covariates if contest else ()
    (alias, *_), _ = _looked_at(data, names, covariates=False, order=True)
    return "" if alias is None else _order_in_words(data, alias, names)


def unidentified_effects(
    data: Comparisons, *, order: bool, contest: bool, covariates: bool, judges: bool
) -> tuple[str, ...]:
    """Say of every effect of a model that votes do not tell it, and why."""
    names = data.contest_covariates if contest else ()
    if not (order or names) or not data.num_votes:
        return ()
    offsets, voted = _looked_at(data, names, covariates=covariates, order=order)
    remarks = []
    judge = data.columns["judge"][voted] if judges else np.zeros(0)
    names_of_judges = data.labels["judge"] if judges else ()
    if order and offsets[0] is not None:
        remarks.append(
            f"{NO_ORDER}: {_order_in_words(data, offsets[0], names)}. It and what "
            "can make up for it say what the prior says; show pairs in both orders, or "
            "leave it out"
        )
    elif judges and len(names_of_judges) * len(judge) <= _MOST_ENTRIES:
        by_judge = judge[:, None] == np.arange(len(names_of_judges))
        arms = data.first[voted], data.second[voted], data.num_arms
        known = data.covariates if covariates else None
        biases = aliases(*arms, by_judge * _shown(data)[voted][:, None], known)
        untold = [
            name
            for name, alias in zip(names_of_judges, biases, strict=True)
            if alias is not None
        ]
        if untold:
            remarks.append(
                f"votes do not tell the bias of {shortened(untold)} for the arm shown "
                "first from the rest: utilities, or biases of others, can make up for "
                "it, and it says what the prior and the other judges say"
            )
    for index, name in enumerate(names):
        alias = offsets[int(order) + index]
        if alias is None:
            continue
        others = _others(data, alias, name, names, order=order)
        why = f"it does to every vote what {others or 'utilities of arms'} can do"
        if not np.any(data.columns[name][voted]):
            why = "it is 0 in every vote"
        remarks.append(
            f"votes do not tell the effect of {name} from the rest: {why}. It and "
            "what can make up for it say what the prior says; leave one out"
        )
    return tuple(remarks)


def _looked_at(
    data: Comparisons, names: tuple[str, ...], *, covariates: bool, order: bool
) -> tuple[list[_Alias | None], Any]:
    voted = data.counts.sum(axis=1) > 0
    columns = [_shown(data)[voted]] if order else []
    columns += [data.columns[name][voted] for name in names]
    arms = data.first[voted], data.second[voted], data.num_arms
    known = data.covariates if covariates else None
    return aliases(*arms, np.stack(columns, axis=1), known), voted


def _shown(data: Comparisons) -> Float[np.ndarray, " row"]:
    return 1.0 - data.columns.get(NEUTRAL, np.zeros(len(data.first)))


def _order_in_words(data: Comparisons, alias: _Alias, names: tuple[str, ...]) -> str:
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


def _others(
    data: Comparisons, alias: _Alias, name: str, names: tuple[str, ...], *, order: bool
) -> str:
    effects = ["the advantage of the arm shown first"] if order else []
    effects += [f"the effect of {contest}" for contest in names]
    said = [
        effect
        for effect, size in zip(effects, alias.effects.tolist(), strict=True)
        if abs(size) > 1e-9 and effect != f"the effect of {name}"
    ]
    if len(alias.coefficients):
        reach = np.abs(alias.coefficients) * np.ptp(data.covariates, axis=0)
        reaches = zip(data.covariate_names, reach.tolist(), strict=True)
        said += [
            f"the coefficient of {covariate}"
            for covariate, far in reaches
            if far > 1e-6
        ]
    elif said and np.ptp(alias.utilities) > 1e-6:
        said.append("utilities of arms")
    return " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
