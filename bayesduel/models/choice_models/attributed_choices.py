"""Choices as arrays, with the attributes of alternatives in units of their spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from bayesduel.errors import FitError
from bayesduel.votes.checks import shortened
from bayesduel.votes.choices import Choices

if TYPE_CHECKING:
    from jax import Array

_ROUNDING = 1e-9
"""Of a squared spread, in units of the largest one."""


@dataclass(frozen=True)
class AttributedChoices:
    """Choices as arrays; the last column is the outside option, where there is one.

    A pytree as soon as :mod:`bayesduel.inference.latent` is imported.
    """

    offered: Bool[Array | np.ndarray, "row outcome"]  # What was on offer.
    counts: Float[Array | np.ndarray, "row outcome"]  # What was chosen.
    # Attributes, in ``units``; 0 where an alternative was not on offer.
    design: Float[Array | np.ndarray, "row K d"]
    # Standard deviations of the attributes among the alternatives of a choice.
    units: Float[Array | np.ndarray, " d"]
    # The mean attributes of each alternative where it was on offer, in ``units``.
    usual: Float[Array | np.ndarray, "K d"]
    person: Int[Array | np.ndarray, " row"]  # Who chose.
    num_arms: int  # K.
    sizes: tuple[tuple[str, int], ...]  # The number of persons.
    # Attributes whose coefficients differ among persons.
    varying: Int[Array | np.ndarray, " r"]


def attributed_choices(data: Choices) -> AttributedChoices:
    """Return choices as arrays."""
    if data.attributes is None or not data.attribute_names:
        raise FitError(
            "data",
            "must carry attributes of the alternatives",
            repr(data),
            remedy="use Choices.from_attributes, read_wide_choices or "
            "read_long_choices(attributes=...); without attributes the model of "
            "choices is MultinomialLogit()",
        )
    rows = len(data.offered)
    offered = np.concatenate([data.offered, np.ones((rows, 1), dtype=bool)], axis=1)
    width = data.num_arms + data.outside
    apart = within_choices(data, data.attributes)
    spread = np.sqrt(np.mean(np.square(apart[offered[:, :width]]), axis=0))
    # What never differs within a choice says nothing, in whatever unit.
    size = np.abs(data.attributes).max(axis=(0, 1), initial=0.0)
    units = np.where(spread > 1e-12 * size, spread, np.where(size > 0.0, size, 1.0))
    design = data.attributes / units
    times = data.offered.sum(axis=0)[:, None]
    people = np.arange(rows) if data.persons is None else data.persons
    number = rows if data.persons is None else len(data.person_names)
    return AttributedChoices(
        offered=offered[:, :width],
        counts=data.counts[:, :width],
        design=design,
        units=units,
        usual=design.sum(axis=0) / np.maximum(times, 1),
        person=people.astype(np.int32),
        num_arms=data.num_arms,
        sizes=(("person", number),),
        varying=np.zeros(0, dtype=np.int32),
    )


def within_choices(
    data: Choices, table: Float[np.ndarray, "row K d"]
) -> Float[np.ndarray, "row outcome d"]:
    """Return what alternatives differ in from the mean of what was on offer.

    All that choices tell of coefficients is along these; 0 where nothing was on offer.
    The outside option, where there is one, has zeros for attributes.
    """
    offered = data.offered
    if data.outside:
        ones = np.ones((len(offered), 1), dtype=bool)
        offered = np.concatenate([offered, ones], axis=1)
        table = np.concatenate([table, np.zeros_like(table[:, :1])], axis=1)
    here = offered[:, :, None]
    mean = table.sum(axis=1, keepdims=True, where=here) / here.sum(
        axis=1, keepdims=True
    )
    return np.where(here, table - mean, 0.0)


def untold_attributes(data: Choices, *, constants: bool) -> tuple[str, ...]:
    """Say which coefficients no choice tells of: what does not differ, or collinear.

    With ``constants`` each alternative but the first has a constant of its own.
    """
    table, names = data.attributes, list(data.attribute_names)
    assert table is not None
    chosen = data.counts.sum(axis=1) > 0
    if constants:
        free = np.eye(data.num_arms)[:, 0 if data.outside else 1 :]
        own = np.broadcast_to(free, (len(table), *free.shape))
        table = np.concatenate([table, own], axis=2)
        names += [f"the constant of {each}" for each in free_arms(data)]
    apart = within_choices(data, table)[chosen].reshape(-1, len(names))
    size = np.maximum(np.sqrt(np.mean(np.square(apart), axis=0)), 1e-300)
    same = size < 1e-12 * np.maximum(np.abs(table).max(axis=(0, 1)), 1e-300)
    apart = np.where(same, 0.0, apart / size)
    values, directions = np.linalg.eigh(apart.T @ apart)
    unknown = directions[:, values <= _ROUNDING * max(values.max(initial=0.0), 1.0)]
    if not unknown.shape[1]:
        return ()
    untold = np.abs(unknown).max(axis=1) > 1e-6
    which = [name for name, each in zip(names, untold, strict=True) if each]
    return (
        f"choices tell {len(names) - unknown.shape[1]} of {len(names)} directions of "
        f"the coefficients; along the others, which {shortened(which)} have a part in, "
        "alternatives of one choice do not differ, and coefficients are as uncertain "
        "as their prior",
    )


def free_arms(data: Choices) -> list[str]:
    """Return the alternatives with a constant: all but the first, or but "none"."""
    return list(data.arm_names[0 if data.outside else 1 :])
