"""Families of matrices that can be named with their parameters, as on a command line.

``mallows:num_arms=8,phi=0.5`` is the family's name, a colon, and ``key=value`` pairs
separated by commas.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesduel.arguments.literals import literal
from bayesduel.errors import ArgumentError, near_names
from bayesduel.instances import generators
from theory.arguments import seed_of
from theory.preferences import PreferenceMatrix

# Stands for the default of a parameter that has none
REQUIRED = inspect.Parameter.empty


class Family(NamedTuple):
    """A generator that can be called by name.

    Attributes
    ----------
    generator : str
        A function of `bayesduel.instances.generators`, imported when it is needed.
    words, source : str
        What it makes, with names of lists there in braces, and where it is from.
    is_random : bool
        Whether the matrix is random even when its arms are not shuffled.
    """

    generator: str
    words: str
    source: str
    is_random: bool = False

    @property
    def make(self) -> Callable[..., Any]:
        """The generator."""
        return getattr(generators, self.generator)

    @property
    def title(self) -> str:
        """The matrices of the family, in words."""
        lists = re.findall(r"{(\w+)}", self.words)
        named = {name: ", ".join(getattr(generators, name)) for name in lists}
        return self.words.format(**named)


_BATCHED = "Agarwal, Ghuge and Nagarajan (2022), Batched Dueling Bandits, ICML"

FAMILIES = {
    "linear-order": Family(
        "linear_order",
        "p_ij = 1/2 + step (j - i)",
        "generalizes the matrix Arithmetic of Komiyama et al. (2015), COLT",
    ),
    "geometric-order": Family(
        "geometric_order",
        "utilities top * ratio^i under a link function",
        "links of Ailon, Karnin and Joachims (2014), ICML",
    ),
    "equal-gap": Family("equal_gap", "p_ij = 1/2 + gap for i before j", "elementary"),
    "hard-condorcet": Family(
        "hard_condorcet",
        "p_ij = 1/2 + j / (2 K) for i before j, j counted from 1",
        "Urvoy, Clérot, Féraud and Naamane (2013), ICML, Section 5.2.1",
    ),
    "mallows": Family(
        "mallows",
        "pairwise probabilities of a Mallows model",
        "Mallows (1957), Biometrika 44",
    ),
    "utilities": Family(
        "from_utilities",
        "16 arms with the utilities of a profile ({UTILITY_PROFILES}) under a link "
        "({LINKS})",
        "Ailon, Karnin and Joachims (2014), ICML; Sui, Zhuang, Burdick and Yue (2017)",
    ),
    "uniform-random": Family(
        "uniform_random",
        "uniform entries given a condition on the winner ({WINNERS})",
        "after Agrawal and Chaporkar (2019), Section 4",
        is_random=True,
    ),
    "syn-btl": Family(
        "syn_btl",
        "Bradley-Terry with weights uniform on (0, 1]",
        f"{_BATCHED}, Section 5",
        is_random=True,
    ),
    "linear-utilities": Family(
        "random_linear_utilities",
        "arms with features of length 1, utilities linear in them",
        "Springall (1973), Applied Statistics 22",
        is_random=True,
    ),
    "syn-cd": Family(
        "syn_cd",
        "one arm beats all others by the same random margin, the rest tie",
        f"{_BATCHED}, Section 5",
        is_random=True,
    ),
    "zoghi500": Family(
        "zoghi500",
        "three Copeland winners in a cycle above totally ordered arms",
        "Zoghi, Karnin, Whiteson and de Rijke (2015), NIPS; probabilities chosen here",
    ),
    "batched-all-ties": Family(
        "batched_all_ties", "every entry 1/2", f"F of {_BATCHED}, Appendix C"
    ),
    "batched-one-winner": Family(
        "batched_one_winner",
        "one arm beats all others by the gap of a batch, the rest tie",
        f"E(j, k) of {_BATCHED}, Appendix C",
    ),
    "batched-two-levels": Family(
        "batched_two_levels",
        "a winner by two gaps of a batch, a runner-up by one, the rest tie",
        f"Q(j, k, l) of {_BATCHED}, Appendix C",
    ),
}

# A text can name a profile of utilities, not list the utilities themselves.
_ARGUMENTS = {"profile": "utilities"}


def family_parameters(family: str) -> dict[str, object]:
    """Return the parameters that a text may give, with defaults or `REQUIRED`."""
    family_entry = FAMILIES[family]
    signature = inspect.signature(family_entry.make).parameters
    renamed = {argument: text for text, argument in _ARGUMENTS.items()}
    allowed = {
        renamed.get(key, key): parameter.default
        for key, parameter in signature.items()
        if key not in ("rng", "shuffle")
    }
    if "rng" in signature:
        allowed["seed"] = REQUIRED if family_entry.is_random else None
    return allowed


def load_family(family: str, text: str, name_or_path: str) -> PreferenceMatrix:
    """Call a generator with the ``key=value`` pairs, separated by commas, of a text."""
    make = FAMILIES[family].make
    allowed = family_parameters(family)
    given = parse_parameters(family, text, allowed, "name_or_path", name_or_path)
    if "seed" in allowed:
        seed = given.pop("seed", None)
        rng = None
        if seed is not None:
            rng = np.random.default_rng(seed_of(seed, "seed"))
        given |= {"rng": rng, "shuffle": rng is not None}
    made = make(**{_ARGUMENTS.get(key, key): value for key, value in given.items()})
    matrix = made if isinstance(made, PreferenceMatrix) else made.matrix
    name = f"{family}:{text}" if text else family
    return PreferenceMatrix(
        matrix.values, name=name, source=matrix.source, features=matrix.features
    )


def parse_parameters(
    family: str, text: str, allowed: dict[str, object], argument: str, typed: str
) -> dict[str, Any]:
    """Read ``key=value,key=value`` as numbers, truth values and texts."""
    # ``allowed`` holds the default of every parameter, or `REQUIRED`. Errors are about
    # the ``argument`` in which all of this was ``typed``.

    def refused(rule: str, remedy: str) -> ArgumentError:
        return ArgumentError(argument, rule, typed, remedy=remedy)

    given: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            rule = f"parameters of {family!r} must be written key=value; got {part!r}"
            raise refused(rule, "separate them by commas")
        if key not in allowed:
            rule = f"{family!r} has no parameter {key!r}"
            raise refused(
                rule, f"{near_names(key, allowed)}it has {', '.join(allowed)}"
            )
        if key in given:
            rule = f"{family!r}: parameter {key!r} is given twice"
            raise refused(rule, "leave one out")
        given[key] = literal(value)
        if isinstance(allowed[key], bool) and not isinstance(given[key], bool):
            rule = f"{family!r}: {key} must be true or false; got {value!r}"
            raise refused(rule, f"write {key}=true or {key}=false")
    missing = [
        key
        for key, default in allowed.items()
        if default is REQUIRED and key not in given
    ]
    if missing:
        listed = ",".join([*filter(None, [text]), *(f"{key}=..." for key in missing)])
        rule = f"{family!r} needs {' and '.join(missing)}"
        raise refused(rule, f"write '{family}:{listed}'")
    return given
