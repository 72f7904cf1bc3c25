"""Predictions of votes by a fit: log probabilities, and votes drawn anew."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped

from bayesduel.errors import FitError
from bayesduel.models.base import PreferenceModel, labels_along
from bayesduel.models.fit.draws import in_one
from bayesduel.models.fit.numpyro_models import log_probabilities_of
from bayesduel.models.plackett_luce import Ballots, PlackettLuce
from bayesduel.models.vote_arrays import is_whole, with_counts
from bayesduel.votes.comparisons import OUTCOMES, Comparisons

# Log probabilities held at once; beyond, every n-th draw is used.
_MOST_LOGS = 4 * 10**7

UNITS = ("vote", "row")  # Units that count as one prediction.

# Names of the axis of rows, by the kind of data.
_ROW_NAMES = {"Comparisons": "comparison", "Choices": "subset", "Rankings": "ballot"}


class Rows(NamedTuple):
    """The rows of the arrays of a model: those of the data, or its own."""

    axis: str
    names: list[str]


def rows_of(posterior: Any) -> Rows:
    """Return what the axis of rows is called, and what its rows are."""
    model, data = posterior.model, posterior.data
    number = len(posterior.arrays.counts)
    if isinstance(data, Comparisons) and len(data.counts) != number:
        data = data.without_columns()  # A model that reads none has a row per pair.
    pairs = pairs_of(model, data, posterior.arrays)
    totals = np.asarray(posterior.arrays.counts).sum(axis=1)
    votes = np.asarray(data.counts).reshape(len(data.counts), -1).sum(axis=1)
    same_votes = len(totals) == len(votes) and np.allclose(totals, votes)
    if same_votes and pairs is not None:
        same_votes = all(map(np.array_equal, pairs, (data.first, data.second)))
    usual = _ROW_NAMES.get(type(data).__name__, "row") if same_votes else "row"
    axis = model.dims().get("votes", (usual,))[0]
    labels = labels_along(model, data, {axis: number}).get(axis)
    if labels is None and same_votes:
        labels = data.row_names
    elif labels is None and pairs is not None:
        names = data.arm_names
        labels = [
            f"{row}: {names[first]} vs {names[second]}"
            for row, (first, second) in enumerate(zip(*pairs, strict=True))
        ]
    return Rows(axis, labels or [str(row) for row in range(number)])


class Pairs(NamedTuple):
    """Which two arms each row is about."""

    first: Int[np.ndarray, " row"]
    second: Int[np.ndarray, " row"]

    def by_pair(self) -> tuple[Int[np.ndarray, " row"], Bool[np.ndarray, " row"]]:
        """Return the order of rows by pair, and which have the later arm first."""
        turned = self.first > self.second
        low, high = np.minimum(*self), np.maximum(*self)
        return np.lexsort((turned, high, low)), turned


def pairs_of(model: PreferenceModel, data: Any, arrays: Any) -> Pairs | None:
    """Return the pairs of the rows, or None where they are not known."""
    outcomes, number = tuple(model.outcomes(data)), len(arrays.counts)
    usual = len(outcomes) == 2 or outcomes == OUTCOMES
    if not usual or not isinstance(data, Comparisons):
        return None
    sides = [np.asarray(getattr(arrays, name, ())) for name in Pairs._fields]
    known = all(side.shape == (number,) and side.dtype.kind in "iu" for side in sides)
    return Pairs(*(side.astype(np.int64) for side in sides)) if known else None


def thinned_log_probabilities(
    posterior: Any,
) -> tuple[Float[np.ndarray, "chain draw row outcome"], int]:
    """Return log P(outcome) for the kept draws, or every n-th of them; and n."""
    counts = np.asarray(posterior.arrays.counts)
    step = -(-posterior.num_draws * counts.size // _MOST_LOGS)
    flat = in_one(posterior.draws, step)
    logs = log_probabilities_of(posterior.model, posterior.arrays, flat)
    return logs.reshape(posterior.num_chains, -1, *counts.shape), step


def log_probabilities_of_rows(
    counts: Num[np.ndarray, "row outcome"], logs: Float[np.ndarray, "... row outcome"]
) -> Float[np.ndarray, "... row"]:
    """Add up the log probabilities of all votes of each row."""
    happened = counts > 0
    # An outcome with no vote may be impossible: 0 times minus infinity is nan.
    return np.sum(counts * np.where(happened, logs, 0.0), axis=-1)


class Cells(NamedTuple):
    """Rows and outcomes with votes, in an order that does not depend on the model."""

    row: Int[np.ndarray, " cell"]
    outcome: Int[np.ndarray, " cell"]
    times: Int[np.ndarray, " cell"]  # How many votes say that.
    # The answers in words, in either order of the arms: "tea beats milk".
    names: list[str]

    def vote_ids(self) -> Shaped[np.ndarray, " vote"]:
        """Name every single vote: what it says, and a running number."""
        numbers: dict[str, Any] = defaultdict(lambda: count(1))
        names = np.repeat(self.names, self.times).tolist()
        return np.array([f"{name} {next(numbers[name])}" for name in names], np.str_)


def cells_of(posterior: Any) -> Cells:
    """Return the cells of the data that have votes, in the order of their votes."""
    # Models with and without an order effect have the same votes in the same places.
    arrays, data = posterior.arrays, posterior.data
    counts = np.asarray(arrays.counts)
    row, outcome = np.nonzero(counts > 0)
    pairs = pairs_of(posterior.model, data, arrays)
    if pairs is not None:
        row_order, turned = pairs.by_pair()
        position = np.empty(len(row_order), dtype=np.int64)
        position[row_order] = np.arange(len(row_order))
        pair = (np.minimum(*pairs) * posterior.num_arms + np.maximum(*pairs))[row]
        said = np.where(turned[row] & (outcome < 2), 1 - outcome, outcome)
        order = np.lexsort((position[row], said, pair))
        row, outcome, said = row[order], outcome[order], said[order]
        names = []
        for code, what in zip(pair[order].tolist(), said.tolist(), strict=True):
            low, high = (data.arm_names[arm] for arm in divmod(code, data.num_arms))
            beats = f"{low} beats {high}", f"{high} beats {low}"
            names.append((*beats, f"{low} ties {high}")[what])
    else:
        said = np.array(posterior.model.outcomes(data))[outcome]
        labels = np.array(rows_of(posterior).names)[row]
        names = [
            f"{label}: {answer}" for label, answer in zip(labels, said, strict=True)
        ]
    times = counts[row, outcome].astype(np.int64)
    return Cells(row, outcome, times, names)


def rows_in_order(posterior: Any) -> Int[np.ndarray, " row"]:
    """Return the rows with votes by pair, then by which arm was shown first."""
    voted = np.asarray(posterior.arrays.counts).sum(axis=1) > 0
    pairs = pairs_of(posterior.model, posterior.data, posterior.arrays)
    rows = np.arange(len(voted)) if pairs is None else pairs.by_pair()[0]
    return rows[voted[rows]]


def check_whole(data: Any, purpose: str, arrays: Any = None) -> None:
    """Raise unless all counts are numbers of votes, those of the arrays too."""
    if not is_whole(data, arrays):
        raise FitError(
            "data",
            f"must hold whole numbers of votes for {purpose}, but these are weighted "
            "or split",
            data,
            remedy="fit data without weights, and drop ties with .without_ties() "
            "instead of splitting them",
        )


def votes_drawn(
    rng: np.random.Generator,
    counts: Float[np.ndarray, "row outcome"],
    logs: Float[np.ndarray, "draw row outcome"],
) -> Int[np.ndarray, "draw row outcome"]:
    """Draw as many votes per row as there were, for each draw of probabilities."""
    probabilities = np.exp(logs)
    probabilities = probabilities / probabilities.sum(axis=-1, keepdims=True)
    totals = counts.sum(axis=1).astype(np.int64)
    return rng.multinomial(
        np.broadcast_to(totals, probabilities.shape[:2]), probabilities
    )


def places_of(ballots: Ballots) -> Int[np.ndarray, "row K"]:
    """Return the place of each arm on each ballot: 0 where it was not on it."""
    order, present = np.asarray(ballots.order), np.asarray(ballots.present)
    row, rank = np.nonzero(present)
    filled = np.asarray(ballots.chosen).sum(axis=1)
    places = np.zeros(order.shape, dtype=np.int64)
    places[row, order[row, rank]] = np.minimum(rank, filled[row]) + 1
    return places


def ballots_drawn(
    rng: np.random.Generator,
    model: PreferenceModel,
    ballots: Ballots,
    utilities: Float[np.ndarray, "draw K"],
) -> Int[np.ndarray, "draw row K"]:
    """Draw the places of one ballot per row and draw, with as many places filled."""
    if type(model).__call__ is not PlackettLuce.__call__:
        raise FitError(
            "model",
            f"must be PlackettLuce, to draw ballots from: {type(model).__name__} has "
            "a distribution of ballots of its own",
            model,
        )
    present = places_of(ballots) > 0
    noise = rng.gumbel(size=(len(utilities), *present.shape))
    score = np.where(present, utilities[:, None, :] + noise, -np.inf)
    places = np.argsort(np.argsort(-score, axis=-1), axis=-1) + 1
    filled = np.asarray(ballots.chosen).sum(axis=1)[:, None]
    return np.where(present, np.minimum(places, filled + 1), 0)


def simulate_arrays(
    rng: np.random.Generator, model: PreferenceModel, arrays: Any, draw: dict
) -> Any:
    """Return arrays like the given ones, with votes drawn anew from one draw."""
    flat = {name: np.asarray(values)[None] for name, values in draw.items()}
    if isinstance(arrays, Ballots):
        places = ballots_drawn(rng, model, arrays, flat["utility"])[0]
        hidden = np.where(places > 0, places, places.shape[1] + 1)
        order = np.argsort(hidden, axis=1, kind="stable")
        return replace(
            arrays,
            order=np.where(np.asarray(arrays.present), order, 0).astype(np.int32),
        )
    logs = log_probabilities_of(model, arrays, flat)
    counts = votes_drawn(rng, np.asarray(arrays.counts), logs)[0]
    return with_counts(arrays, counts.astype(np.float64))


def row_constants(posterior: Any) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return what was given in each row, with the names of the axes."""
    row, arrays = rows_of(posterior).axis, posterior.arrays
    counts = np.asarray(arrays.counts)
    constants: dict[str, tuple[tuple[str, ...], Any]] = {
        "total": ((row,), counts.sum(axis=1))
    }
    if isinstance(arrays, Ballots):
        return constants
    given = arrays._asdict() if hasattr(arrays, "_asdict") else dict(vars(arrays))
    for name, given_value in (given | given.pop("columns", {})).items():
        values = np.asarray(given_value)
        if name in ("counts", row, "outcome", "total"):
            continue
        if name == "covariates":
            if values.shape[-1:] > (0,):
                constants[name] = (("arm", "covariate"), values)
        elif values.shape == counts.shape[:1]:
            constants[name] = ((row,), values)
        elif values.shape == counts.shape:
            constants[name] = ((row, "outcome"), values)
    return constants
