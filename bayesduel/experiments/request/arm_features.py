"""Features of the arms of a matrix, from a user's table."""

import os

from bayesduel.votes.arm_tables import read_covariates
from theory.preferences import PreferenceMatrix


def with_features_of(
    matrix: PreferenceMatrix, path: str | os.PathLike[str]
) -> PreferenceMatrix:
    """Return a matrix with the features that a file tells of its arms.

    As :func:`bayesduel.votes.read_covariates` reads it; arms without names are called
    0, 1, ... there.
    """
    names = matrix.arm_names or [str(arm) for arm in range(matrix.num_arms)]
    table, _ = read_covariates(path, names)
    return PreferenceMatrix(
        matrix.values,
        name=matrix.name,
        arm_names=matrix.arm_names,
        source=matrix.source,
        features=table,
    )
