"""What is asked of any model that a posterior holds, of pairs or of sets."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from bayesduel.errors import FitError, PolicyParameterError, errors_about, errors_as
from bayesduel.models.base import PreferenceModel, check_model


def hyphenated(model: PreferenceModel) -> str:
    """Return the title of a model, in words joined by hyphens."""
    title = model.title or type(model).__name__
    return title.lower().replace(" ", "-")


def check_held(model: Any, make_arrays: Callable[[], Any]) -> None:
    """Raise ``PolicyParameterError`` where a model cannot be held by a policy.

    ``make_arrays`` makes the arrays of the model, for data without a vote.
    """
    try:
        with errors_as(PolicyParameterError), errors_about("model", model):
            check_model(model)
            hash(model)
            make_arrays()
    except TypeError as error:
        raise PolicyParameterError(
            "model",
            "must be hashable, as frozen dataclasses are whose fields are; "
            f"{type(model).__name__} is not ({error})",
            model,
        ) from error


def check_counts(
    model: PreferenceModel, arrays: Any, counts: Float[np.ndarray, "row outcome"]
) -> None:
    """Raise ``FitError`` unless arrays hold the counts of the data, row by row.

    Outcomes that the model has no place for may be missing at the end.
    """
    found = np.asarray(getattr(arrays, "counts", None))
    if found.ndim != 2 or not np.array_equal(found, counts[:, : found.shape[1]]):
        raise FitError(
            "model",
            "must have arrays with a field counts, with the votes row by row as "
            f"they are in the data, but those of {type(model).__name__} have none",
            model,
            remedy="a policy replaces it",
        )
