"""Names of the axes of what a model is about, and the labels along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from bayesduel.errors import FitError

if TYPE_CHECKING:
    from bayesduel.models.base import PreferenceModel


def axes_of(model: PreferenceModel, name: str, number: int) -> tuple[str, ...]:
    """Return names of the axes of a quantity: the model's own, or numbered ones.

    ``FitError`` if the model names more or fewer axes than there are.
    """
    axes = model.dims().get(name)
    if axes is None:
        # As ArviZ calls them.
        return tuple(f"{name}_dim_{place}" for place in range(number))
    if isinstance(axes, str) or len(axes) != number:
        raise FitError(
            "model",
            f"must give {name} a tuple of {number} names of axes in "
            f"{type(model).__name__}.dims(): that is how many axes a draw of it has",
            axes,
        )
    return tuple(axes)


def labels_along(
    model: PreferenceModel, data: Any, sizes: Mapping[Any, int]
) -> dict[str, list[str]]:
    """Return the labels that the model has for axes of these lengths.

    ``FitError`` if there are more or fewer labels than entries along an axis.
    """
    found = {}
    for axis, labels in model.coords(data).items():
        if axis not in sizes:
            continue
        if len(labels) != sizes[axis]:
            raise FitError(
                "model",
                f"must give {axis} {sizes[axis]} labels in "
                f"{type(model).__name__}.coords(), one to each entry along it",
                len(labels),
            )
        found[axis] = list(labels)
    return found


def entries_of(
    model: PreferenceModel, data: Any, name: str, shape: Sequence[int]
) -> list[str]:
    """Name every entry of a quantity, such as "bias[judge 3]", the last axis fastest.

    Entries along an axis without labels are numbered from 0.
    """
    if not shape:
        return [name]
    axes = axes_of(model, name, len(shape))
    labels = labels_along(model, data, dict(zip(axes, shape, strict=True)))
    along = [
        labels.get(axis, range(size)) for axis, size in zip(axes, shape, strict=True)
    ]
    return [f"{name}[{', '.join(map(str, entry))}]" for entry in product(*along)]
