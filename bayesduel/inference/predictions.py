"""What a fit says of votes: their log probabilities, and votes drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num, Shaped
from numpy.typing import NDArray

from bayesduel.errors import FitError
from bayesduel.inference.numpyro_models import log_probabilities_of
from bayesduel.models.base import PreferenceModel
from bayesduel.models.plackett_luce import Ballots, PlackettLuce
from bayesduel.models.vote_arrays import Votes

if TYPE_CHECKING:
    from bayesduel.inference.posterior import Posterior

_MOST_LOGS = 4 * 10**7
"""Log probabilities held at once; beyond, every n-th draw is used."""

UNITS = ("vote", "row")
"""What counts as one prediction."""

ROW_NAMES = {"Comparisons": "comparison", "Choices": "subset", "Rankings": "ballot"}
"""Names of the axis of rows, by the kind of data."""


def kept_log_probabilities(
    posterior: Posterior,
) -> tuple[Float[np.ndarray, "chain draw row outcome"], int]:
    """Return log P(outcome) for the kept draws, or every n-th of them; and n."""
    counts = np.asarray(posterior.arrays.counts)
    step = -(-posterior.num_draws * counts.size // _MOST_LOGS)
    thinned = {name: values[:, ::step] for name, values in posterior.draws.items()}
    first = next(iter(thinned.values()))
    chains, draws = first.shape[:2]
    flat = {
        name: values.reshape(chains * draws, *values.shape[2:])
        for name, values in thinned.items()
    }
    logs = log_probabilities_of(posterior.model, posterior.arrays, flat)
    return logs.reshape(chains, draws, *counts.shape), step


def log_probabilities_of_rows(
    counts: Num[np.ndarray, "row outcome"],
    logs: Float[np.ndarray, "... row outcome"],
) -> Float[np.ndarray, "... row"]:
    """Add up the log probabilities of all votes of each row."""
    happened = counts > 0
    # What never happened may be impossible: 0 times minus infinity is no number.
    return np.sum(counts * np.where(happened, logs, 0.0), axis=-1)


class Cells(NamedTuple):
    """Rows and outcomes with votes, in an order that does not depend on the model."""

    row: Int[np.ndarray, " cell"]
    outcome: Int[np.ndarray, " cell"]
    times: Int[np.ndarray, " cell"]
    """How many votes say that."""

    names: list[str]
    """What they say, whichever arm was shown first: "tea beats milk"."""

    def vote_ids(self) -> Shaped[np.ndarray, " vote"]:
        """Name every single vote: what it says, and a running number."""
        found: dict[str, int] = {}
        ids = []
        for name, times in zip(self.names, self.times.tolist(), strict=True):
            start = found.get(name, 0)
            ids += [
                f"{name} {number}" for number in range(start + 1, start + times + 1)
            ]
            found[name] = start + times
        return np.array(ids, dtype=np.str_)


def cells_of(posterior: Posterior) -> Cells:
    """Return the cells of the data that have votes, in the order of their votes.

    By pair, by what is said of it, and only then by which arm was shown first: models
    with and without an order effect have the same votes in the same places.
    """
    arrays, data = posterior.arrays, posterior.data
    counts = np.asarray(arrays.counts)
    row, outcome = np.nonzero(counts > 0)
    if isinstance(arrays, Votes):
        row_order, turned = _rows_by_pair(arrays)
        place = np.empty(len(row_order), dtype=np.int64)
        place[row_order] = np.arange(len(row_order))
        pair = np.minimum(arrays.first, arrays.second) * arrays.num_arms
        pair = (pair + np.maximum(arrays.first, arrays.second))[row]
        said = np.where(turned[row] & (outcome < 2), 1 - outcome, outcome)
        order = np.lexsort((place[row], said, pair))
        row, outcome, said = row[order], outcome[order], said[order]
        names = [_words(data.arm_names, *each) for each in
                 zip(pair[order].tolist(), said.tolist(), strict=True)]  # fmt: skip
    else:
        said = np.array(posterior.model.outcomes(data))[outcome]
        labels = np.array(data.row_names)[row]
        names = [f"{label}: {each}" for label, each in zip(labels, said, strict=True)]
    times = counts[row, outcome].astype(np.int64)
    return Cells(row, outcome, times, names)


def _words(names: tuple[str, ...], pair: int, said: int) -> str:
    low, high = names[pair // len(names)], names[pair % len(names)]
    return (f"{low} beats {high}", f"{high} beats {low}", f"{low} ties {high}")[said]


def rows_in_order(posterior: Posterior) -> Int[np.ndarray, " row"]:
    """Return the rows with votes by pair, then by which arm was shown first."""
    voted = np.asarray(posterior.arrays.counts).sum(axis=1) > 0
    rows = np.arange(len(voted))
    if isinstance(posterior.arrays, Votes):
        rows = _rows_by_pair(posterior.arrays)[0]
    return rows[voted[rows]]


def _rows_by_pair(votes: Votes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    first, second = np.asarray(votes.first), np.asarray(votes.second)
    turned = first > second
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.lexsort((turned, high, low)), turned


def check_whole(data: Any, purpose: str) -> None:
    """Raise unless all counts are numbers of votes."""
    if not data.is_whole:
        raise FitError(
            f"{purpose} needs whole numbers of votes, but these are weighted or split; "
            "fit data without weights, and drop ties with .without_ties() instead of "
            "splitting them"
        )


def votes_drawn(
    rng: np.random.Generator,
    counts: Float[np.ndarray, "row outcome"],
    logs: Float[np.ndarray, "draw row outcome"],
) -> Int[np.ndarray, "draw row outcome"]:
    """Draw as many votes per row as there were, for each draw of probabilities."""
    chances = np.exp(logs)
    chances = chances / chances.sum(axis=-1, keepdims=True)
    totals = counts.sum(axis=1).astype(np.int64)
    return rng.multinomial(np.broadcast_to(totals, chances.shape[:2]), chances)


def ballots_drawn(
    rng: np.random.Generator,
    model: PreferenceModel,
    ballots: Ballots,
    utilities: Float[np.ndarray, "draw K"],
) -> Int[np.ndarray, "draw row K"]:
    """Draw the places of one ballot per row and draw, with as many places filled.

    The order of utility + Gumbel noise has the law of Plackett and Luce, and no other:
    a subclass with another one is refused.
    """
    if type(model).__call__ is not PlackettLuce.__call__:
        raise FitError(
            f"{type(model).__name__} has a law of ballots of its own, from which no "
            "ballots can be drawn here; only PlackettLuce's can"
        )
    rows, num_arms = ballots.order.shape
    present = np.zeros((rows, num_arms), dtype=bool)
    row = np.broadcast_to(np.arange(rows)[:, None], ballots.order.shape)
    mask = np.asarray(ballots.present)
    present[row[mask], np.asarray(ballots.order)[mask]] = True
    noise = rng.gumbel(size=(len(utilities), rows, num_arms))
    score = np.where(present, utilities[:, None, :] + noise, -np.inf)
    places = np.argsort(np.argsort(-score, axis=-1), axis=-1) + 1
    filled = np.asarray(ballots.chosen).sum(axis=1)[:, None]
    return np.where(present, np.minimum(places, filled + 1), 0)


def simulate_arrays(
    rng: np.random.Generator, model: PreferenceModel, arrays: Any, draw: dict
) -> Any:
    """Return arrays like the given ones, with votes drawn anew from one draw.

    For rankings every ballot becomes a ballot of its own; all counts must be 1.
    """
    from dataclasses import replace

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
    return replace(arrays, counts=counts.astype(np.float64))


def row_constants(posterior: Posterior) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return what was given in each row, with the names of the axes."""
    row = ROW_NAMES[type(posterior.data).__name__]
    arrays = posterior.arrays
    constants: dict[str, tuple[tuple[str, ...], Any]] = {
        "total": ((row,), np.asarray(arrays.counts).sum(axis=1))
    }
    if isinstance(arrays, Votes):
        constants["first"] = ((row,), np.asarray(arrays.first))
        constants["second"] = ((row,), np.asarray(arrays.second))
        if arrays.covariates.shape[1]:
            constants["covariates"] = (("arm", "covariate"), arrays.covariates)
    elif not isinstance(arrays, Ballots):
        constants["offered"] = ((row, "outcome"), np.asarray(arrays.offered))
    return constants
