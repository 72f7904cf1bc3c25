"""Arms with features: utilities that are weighted sums of what is known of them."""

import numpy as np
from numpy.typing import ArrayLike

from bayesduel.instances.generators.instance import (
    GeneratedInstance,
    check_generator,
    check_num_arms,
    from_upper_triangle,
    make_instance,
    spell,
)
from theory.arguments import integer_from, number_that
from theory.errors import ArgumentError
from theory.validation import LARGEST_FEATURE, feature_table, finite_vector


def linear_utilities(
    rng: np.random.Generator | None,
    features: ArrayLike,
    coefficients: ArrayLike,
    *,
    shuffle: bool = True,
) -> GeneratedInstance:
    """Return p_ij = sigma((x_i - x_j)^T beta) for arms with the features x_i.

    sigma(x) = 1 / (1 + exp(-x)). The matrix keeps its features, and policies over
    ``LinearUtilities`` find them there: ``d-ts:posterior=linear``. SST and STI hold.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    features : float (K, d)
        x, a row per arm, K at least 2.
    coefficients : float (d,)
        beta.
    shuffle : bool

    References
    ----------
    A. Springall, "Response surface fitting using a generalization of the Bradley-Terry
    paired comparison model", Applied Statistics 22 (1973).

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> made = generators.linear_utilities(None, [[2.0], [1.0]], [1.0], shuffle=False)
    >>> made.matrix.values.round(3)
    array([[0.5  , 0.731],
           [0.269, 0.5  ]])
    >>> made.matrix.features.tolist()
    [[2.0], [1.0]]
    """
    table = feature_table(features)
    check_num_arms(len(table))
    weights = finite_vector(
        coefficients,
        "coefficients",
        rule=f"must be at most {LARGEST_FEATURE:g}",
        holds=lambda values: np.abs(values) <= LARGEST_FEATURE,
    )
    if len(weights) != table.shape[1]:
        rule = f"must be one number for each of the {table.shape[1]} features"
        raise ArgumentError("coefficients", rule, weights.shape)
    name = f"linear-utilities ({len(table)} arms, {len(weights)} features)"
    return _made(table, weights, rng, name, shuffle=shuffle)


def random_linear_utilities(
    rng: np.random.Generator,
    num_arms: int = 16,
    num_features: int = 3,
    *,
    length: float = 3.0,
    shuffle: bool = True,
) -> GeneratedInstance:
    """Draw features and coefficients: vectors of length 1, random directions.

    Utilities lie between -length and length. See :func:`linear_utilities`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the features, the coefficients, then the order of the arms.
    num_arms, num_features : int
        K and d.
    length : float
        Of the vector of coefficients.
    shuffle : bool
        Relabel the arms at random. The distribution is the same either way.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import generators
    >>> made = generators.random_linear_utilities(np.random.default_rng(3))
    >>> made.matrix.num_arms, made.matrix.features.shape
    (16, (16, 3))
    """
    num_arms = check_num_arms(num_arms)
    num_features = integer_from(num_features, 1, "num_features", 1000)
    length = number_that(
        length,
        "length",
        f"above 0, at most {LARGEST_FEATURE:g}",
        lambda x: 0 < x <= LARGEST_FEATURE,
    )
    draw = check_generator(rng).normal
    features, coefficients = (
        draw(size=(num_arms, num_features)),
        draw(size=num_features),
    )
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    coefficients *= length / np.linalg.norm(coefficients)
    name = spell(
        "linear-utilities", num_arms=num_arms, num_features=num_features, length=length
    )
    return _made(features, coefficients, rng, name, shuffle=shuffle)


def _made(
    features: np.ndarray,
    coefficients: np.ndarray,
    rng: np.random.Generator | None,
    name: str,
    *,
    shuffle: bool,
) -> GeneratedInstance:
    utilities = features @ coefficients
    # A difference of 700 is a probability of e^-700, which has no complement below 1.
    away = np.clip(utilities[None, :] - utilities[:, None], -700.0, 700.0)
    return make_instance(
        from_upper_triangle(1.0 / (1.0 + np.exp(away))),
        rng,
        shuffle=shuffle,
        name=name,
        source="utilities linear in features, logistic: Springall (1973)",
        features=features,
    )
