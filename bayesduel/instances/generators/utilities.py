"""Matrices that come from one number per arm: Bradley-Terry, links, random utility.

Every function here returns an `GeneratedInstance` with the arms shuffled by `rng`.
Without shuffling, the arms stand in the order of the numbers given.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.errors import ArgumentError
from bayesduel.instances.generators.instance import (
    GeneratedInstance,
    check_generator,
    check_num_arms,
    from_upper_triangle,
    make_instance,
    spell,
)
from theory.arguments import number_that, one_of, share_of
from theory.validation import finite_vector

UTILITY_PROFILES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "1good": (0.8,) + (0.2,) * 15,
        "2good": (0.8, 0.7) + (0.2,) * 14,
        "6good": (0.8,) + (0.7,) * 5 + (0.2,) * 10,
        "arith": (0.8, *np.linspace(0.7, 0.2, 15).tolist()),
        "geo": (0.8, *np.geomspace(0.7, 0.2, 15).tolist()),
    }
)
"""Utilities of 16 arms after Ailon, Karnin and Joachims (2014) and the table in Sui,
Zhuang, Burdick and Yue (2017). Offered as standard profiles: they were not compared
with the published tables. ``1good``, ``2good`` and ``6good`` contain exact ties."""

LINKS = ("linear", "natural", "logit")
"""Names of the link functions of `from_utilities`."""


def bradley_terry(
    rng: np.random.Generator | None, weights: ArrayLike, *, shuffle: bool = True
) -> GeneratedInstance:
    """Return p_ij = w_i / (w_i + w_j).

    The model of Bradley and Terry (1952); with x = log w it is logistic in x_i - x_j.
    SST and STI hold. Equal weights are exact ties.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    weights : float (K,)
        Positive, K at least 2.
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.bradley_terry(None, [3.0, 1.0], shuffle=False).matrix.values
    array([[0.5 , 0.75],
           [0.25, 0.5 ]])
    """
    vector = _positive(weights, "weights")
    return make_instance(
        _ratio(vector),
        rng,
        shuffle=shuffle,
        name=f"bradley-terry ({len(vector)} arms)",
        source="Bradley and Terry (1952), Rank Analysis of Incomplete Block Designs, "
        "Biometrika 39",
    )


def syn_btl(
    rng: np.random.Generator, num_arms: int = 100, *, shuffle: bool = True
) -> GeneratedInstance:
    """Draw a Bradley-Terry matrix with weights uniform on (0, 1].

    SYN-BTL of Agarwal, Ghuge and Nagarajan (2022), Section 5, with 100 arms.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the weights, then the order of the arms.
    num_arms : int
    shuffle : bool
        Relabel the arms at random. The distribution is the same either way.

    Returns
    -------
    GeneratedInstance
        The matrix and the permutation; unshuffled, the arms stand as drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesduel.instances import generators
    >>> generators.syn_btl(np.random.default_rng(1)).matrix.num_arms
    100
    """
    num_arms = check_num_arms(num_arms)
    weights = 1.0 - check_generator(rng).random(num_arms)
    return make_instance(
        _ratio(weights),
        rng,
        shuffle=shuffle,
        name=spell("syn-btl", num_arms=num_arms),
        source="SYN-BTL of Agarwal, Ghuge and Nagarajan (2022), Batched Dueling "
        "Bandits, ICML, Section 5",
    )


def from_utilities(
    rng: np.random.Generator | None,
    utilities: str | ArrayLike,
    *,
    link: str = "linear",
    shuffle: bool = True,
) -> GeneratedInstance:
    """Return the matrix of utilities v in [0, 1] under a link function.

    Ailon, Karnin and Joachims (2014), Reducing Dueling Bandits to Cardinal Bandits:
    linear p_ij = (1 + v_i - v_j) / 2, natural p_ij = v_i / (v_i + v_j), logit
    p_ij = 1 / (1 + exp(v_j - v_i)). Equal utilities are exact ties.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    utilities : str or float (K,)
        Name of a profile in `UTILITY_PROFILES`, or K at least 2 numbers in [0, 1];
        the natural link needs positive ones.
    link : {"linear", "natural", "logit"}
        The formula.
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> values = generators.from_utilities(None, "1good", shuffle=False).matrix.values
    >>> values[0, :3]
    array([0.5, 0.8, 0.8])
    """
    profile = utilities if isinstance(utilities, str) else ""
    if isinstance(utilities, str):
        if profile not in UTILITY_PROFILES:
            raise ArgumentError(
                "utilities",
                f"must be numbers or one of the profiles {', '.join(UTILITY_PROFILES)}",
                profile,
            )
        utilities = UTILITY_PROFILES[profile]
    vector = finite_vector(
        utilities,
        "utilities",
        2,
        rule="must lie in [0, 1]",
        holds=lambda noise: (noise >= 0) & (noise <= 1),
        remedy="rescale them, or use bradley_terry",
    )
    return make_instance(
        _linked(vector, link),
        rng,
        shuffle=shuffle,
        name=(
            spell("utilities", profile=profile, link=link)
            if profile
            else f"utilities ({len(vector)} arms, {link} link)"
        ),
        source="Ailon, Karnin and Joachims (2014), Reducing Dueling Bandits to "
        f"Cardinal Bandits, ICML, {link} link",
    )


def geometric_order(
    rng: np.random.Generator | None,
    num_arms: int,
    *,
    top: float = 0.8,
    ratio: float = 0.8,
    link: str = "linear",
    shuffle: bool = True,
) -> GeneratedInstance:
    """Return the matrix of utilities v_i = top * ratio^i, i = 0, 1, ..., K-1.

    Parameters
    ----------
    rng : numpy.random.Generator or None
    num_arms : int
    top : float
        Utility of the best arm, in (0, 1].
    ratio : float
        In (0, 1).
    link : {"linear", "natural", "logit"}
        As in `from_utilities`.
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> instance = generators.geometric_order(
    ...     None, 3, ratio=0.5, link="natural", shuffle=False
    ... )
    >>> instance.matrix.values[0]
    array([0.5       , 0.66666667, 0.8       ])
    """
    num_arms = check_num_arms(num_arms)
    top = number_that(top, "top", "in (0, 1]", lambda x: 0 < x <= 1)
    ratio = share_of(ratio, "ratio")
    utilities = top * np.float64(ratio) ** np.arange(num_arms)
    return make_instance(
        _linked(utilities, link),
        rng,
        shuffle=shuffle,
        name=spell(
            "geometric-order", num_arms=num_arms, top=top, ratio=ratio, link=link
        ),
        source=f"utilities top * ratio^i with the {link} link of Ailon et al. (2014)",
    )


def rum_gaussian(
    rng: np.random.Generator | None, means: ArrayLike, *, shuffle: bool = True
) -> GeneratedInstance:
    """Return p_ij = Phi((mu_i - mu_j) / sqrt 2).

    Random utility with independent normal utilities of variance 1 (Thurstone 1927,
    Case V; multinomial probit with two alternatives): i beats j when its draw is
    larger. Phi is the distribution function of the standard normal distribution.

    Parameters
    ----------
    rng : numpy.random.Generator or None
        Used once, to shuffle the arms; None is enough with ``shuffle=False``. The
        utilities themselves are integrated out, not drawn.
    means : float (K,)
        mu, K at least 2. Equal means are exact ties.
    shuffle : bool

    Examples
    --------
    >>> from bayesduel.instances import generators
    >>> generators.rum_gaussian(None, [1.0, 0.0], shuffle=False).matrix.values
    array([[0.5       , 0.76024994],
           [0.23975006, 0.5       ]])
    """
    # SciPy's special functions take longer to import than this whole package.
    from scipy.special import ndtr

    vector = finite_vector(means, "means", 2)
    upper = ndtr((vector[:, None] - vector[None, :]) / np.sqrt(2.0))
    return make_instance(
        from_upper_triangle(upper),
        rng,
        shuffle=shuffle,
        name=f"rum-gaussian ({len(vector)} arms)",
        source="Thurstone (1927), A Law of Comparative Judgment, Case V",
    )


def _positive(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check that all entries of a vector are positive."""
    rule = "must be positive"
    return finite_vector(
        values, argument, 2, rule=rule, holds=lambda numbers: numbers > 0
    )


def _ratio(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w_i / (w_i + w_j)."""
    # Dividing first cannot overflow into 0/0: an infinite quotient means p_ij = 0.
    with np.errstate(over="ignore"):
        upper = 1.0 / (1.0 + weights[None, :] / weights[:, None])
    return from_upper_triangle(upper)


def _linked(utilities: NDArray[np.float64], link: str) -> NDArray[np.float64]:
    """Apply a link function to utilities in [0, 1]."""
    one_of(link, LINKS, "link")
    if link == "natural":
        return _ratio(_positive(utilities, "utilities"))
    difference = utilities[:, None] - utilities[None, :]
    if link == "linear":
        return from_upper_triangle((1.0 + difference) / 2.0)
    return from_upper_triangle(1.0 / (1.0 + np.exp(-difference)))
