"""Tables of preferences that worlds share: what arms cost, and reading of files."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from bayesduel.arguments.named_objects import title_with_changes
from bayesduel.errors import ArgumentError
from bayesduel.files.user_files import read_bytes
from theory.preferences import TIE_TOLERANCE
from theory.validation import SYMMETRY_TOLERANCE, probability_matrix

__all__ = [
    "array_of_file",
    "costs_of_arms",
    "digest_of",
    "label_without",
    "matrices_of",
]


def costs_of_arms(matrix: Float[np.ndarray, "K K"]) -> Float[np.ndarray, " K"]:
    """Return by how much each arm loses to the nearest of the best arms."""
    # These are the Condorcet winner or, without one, the Copeland winners. Arm i costs
    # max(0, P(w beats i) - 1/2) for the best arm w for which this is least. For Numba.
    num_arms = len(matrix)
    wins = np.zeros(num_arms, dtype=np.int64)
    for i in range(num_arms):
        for j in range(num_arms):
            if (matrix[i, j] - matrix[j, i]) / 2 >= TIE_TOLERANCE:
                wins[i] += 1
    most = wins.max()
    costs = np.zeros(num_arms)
    for i in range(num_arms):
        least = 1.0
        for w in range(num_arms):
            if wins[w] == most:
                gap = 0.0 if w == i else (matrix[w, i] - matrix[i, w]) / 2
                least = min(least, max(gap, 0.0))
        costs[i] = least
    return costs


def matrices_of(values: Any, argument: str) -> Float[np.ndarray, "rounds K K"]:
    """Check a table of preference matrices, (n, K, K), and copy it."""
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            argument,
            "must be matrices of one size, (n, K, K)",
            values,
            remedy="give an array of three axes",
        ) from error
    if table.ndim != 3 or len(table) == 0:
        raise ArgumentError(
            argument,
            f"must be matrices of one size, (n, K, K); got the shape {table.shape}",
            values,
            remedy="give an array of three axes",
        )
    off = np.abs(table + table.transpose(0, 2, 1) - 1) if _is_square(table) else None
    valid = off is not None and off.max() <= SYMMETRY_TOLERANCE
    if not (valid and table.min() >= 0 and table.max() <= 1):
        # The check of a single matrix says what is wrong, and where.
        for index, matrix in enumerate(table):
            probability_matrix(matrix, f"{argument}[{index}]")
    table.setflags(write=False)
    return table


def _is_square(table: Shaped[np.ndarray, "n K L"]) -> bool:
    return table.shape[1] == table.shape[2] >= 2 and bool(np.isfinite(table).all())


def array_of_file(path: str, argument: str) -> dict[str, Shaped[np.ndarray, "*shape"]]:
    """Read the arrays of an NPY, NPZ or CSV file; "" is the name of the only one."""
    ending = Path(path).suffix.lower()
    content = io.BytesIO(read_bytes(Path(path), error=ArgumentError))
    try:
        if ending == ".npy":
            return {"": np.load(content, allow_pickle=False)}
        if ending == ".npz":
            with np.load(content, allow_pickle=False) as arrays:
                return dict(arrays)
        if ending in (".csv", ".txt"):
            return {"": np.loadtxt(content, delimiter=",", ndmin=2)}
    except (ValueError, EOFError, OSError) as error:
        raise ArgumentError(
            argument, f"cannot be read: {error}", path, remedy="save it with NumPy"
        ) from error
    raise ArgumentError(
        argument, "must end in .npy, .npz or .csv", path, remedy="save it as one"
    )


def digest_of(*parts: Any) -> str:
    """Return a digest of texts and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        array = np.asarray(part)
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def label_without(world: Any, field: str) -> str:
    """Return the label of a world without one of its parameters."""
    title, _, changes = title_with_changes(world).partition(":")
    parts = [part for part in changes.split(",") if not part.startswith(f"{field}=")]
    return f"{title}:{','.join(parts)}" if any(parts) else title
