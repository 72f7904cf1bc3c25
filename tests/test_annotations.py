"""Shapes and dtypes: they are checked, and every public function has them."""

import importlib
import inspect
import pkgutil
import re
import sys
from collections import Counter
from typing import Any, Optional, TypeAliasType, Union, get_args, get_origin

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jaxtyping import Float, Int64, TypeCheckError, jaxtyped
from numpy.typing import NDArray

import bayesduel
import theory
from bayesduel import policies
from bayesduel.models import BradleyTerry
from bayesduel.models.in_policies.laplace import Laplace
from bayesduel.policies.over_models.base import most_beaten
from bayesduel.policies.policy import over_model
from tests import checked_annotations
from tests.checked_annotations import hints_of, look_again, misfit, plain_functions
from theory.choice.rules import logit_choice

MODULES = [
    importlib.import_module(found.name)
    for package in (theory, bayesduel)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith("__main__")
]


def functions_of(owner):
    """Return the functions and methods written in a module or a class, by name."""
    module = owner.__name__ if inspect.ismodule(owner) else owner.__module__
    found = {}
    for value in vars(owner).values():
        if isinstance(value, type):
            if value.__module__ == module and inspect.ismodule(owner):
                found |= functions_of(value)
            continue
        for inner in plain_functions(value):
            # Others are imported, or written by `dataclass` and its like.
            if inner.__module__ == module:
                if inner.__code__.co_filename == sys.modules[module].__file__:
                    found[f"{module}.{inner.__qualname__}"] = inner
    return found


FUNCTIONS = {}
for each in MODULES:
    FUNCTIONS |= functions_of(each)
PUBLIC = {name: x for name, x in FUNCTIONS.items() if not re.search(r"\._(?!_)", name)}


def test_all_functions_of_both_packages_are_found_by_their_code():
    assert len(PUBLIC) > 1000
    for name, each in FUNCTIONS.items():
        assert (
            checked_annotations.function_of.__wrapped__(each.__code__, each.__module__)
            is each
        ), name


@pytest.fixture(autouse=True)
def all_calls_are_checked(monkeypatch):
    monkeypatch.setattr(checked_annotations, "_num_calls", Counter())
    look_again()


def test_a_wrong_shape_is_refused():
    offered, no_choice = np.array([True, False, True]), 1.0
    assert logit_choice(offered, np.ones(3), no_choice).shape == (3,)
    with pytest.raises(TypeCheckError, match="weights"):
        logit_choice(offered, np.ones(4), no_choice)


def test_a_wrong_dtype_is_refused_inside_a_program():
    with jax.enable_x64(True):
        wins, uniform = jnp.zeros((3, 3), dtype=jnp.int32), jnp.float64(0.5)
        best = jax.jit(most_beaten)
        assert best(uniform, wins).shape == ()
        with pytest.raises(TypeCheckError, match="wins"):
            best(uniform, wins[:2])
        rule = over_model(policies.get("bt-ts"))
        with pytest.raises(TypeCheckError, match="rng_key"):
            jax.jit(rule.recommend)(jax.random.PRNGKey(0), None)


def test_a_wrong_result_and_a_wrong_field_of_a_record_are_refused(monkeypatch):
    with jax.enable_x64(True):
        rule = Laplace(BradleyTerry())
        state = rule.init(jax.random.key(0), 3)
        wrong = jnp.zeros((1, 3, 3))
        monkeypatch.setattr(Laplace, "utilities_at", lambda *_: wrong)
        with pytest.raises(TypeCheckError, match="return"):
            rule.utilities(state)
        votes = state.votes._replace(won=state.votes.won[0])
        with pytest.raises(TypeCheckError, match=r"\w+\.won"):
            rule.mean(state._replace(votes=votes))


@pytest.mark.parametrize("num_calls", [60, 2000])
def test_calls_are_checked_again_in_the_next_test(num_calls):
    offered, weights, no_choice = np.array([True, False]), np.ones(2), 1.0
    for _ in range(num_calls):
        logit_choice(offered, weights, no_choice)
    logit_choice(offered, np.ones(1), no_choice)  # Not looked at any more.
    look_again()
    with pytest.raises(TypeCheckError, match="weights"):
        logit_choice(offered, np.ones(4), no_choice)


LIST = list[Int64[np.ndarray, " n"]]


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (NDArray[np.int64], np.zeros(2, dtype=np.int64), np.zeros(2)),
        (Float[np.ndarray, ""], np.float64(1), np.int64(1)),
        (Float[Array, " n"], jnp.zeros(2), np.zeros(2)),
        (Optional[Float[np.ndarray, " n"]], None, np.zeros((2, 2))),  # noqa: UP045
        (tuple[str, LIST], ("", [np.array([1])]), ("", [np.array([1]), np.zeros(2)])),
        (dict[str, LIST], {"a": [np.array([1])]}, {"a": [np.zeros(2)]}),
        (tuple[LIST, ...], ([],), ([], [np.zeros(2)])),
        (tuple[int, Float[np.ndarray, ""]], (1, np.float64(1)), (np.float64(1),)),
    ],
)
def test_what_fits_a_hint(hint, good, bad):
    assert misfit(good, hint, "it") == ""
    assert misfit(bad, hint, "it").startswith("it")


def test_the_same_letter_is_the_same_size():
    hint = tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]
    with jaxtyped("context"):
        assert misfit((np.zeros(2), np.zeros(2)), hint, "it") == ""
    with jaxtyped("context"):
        assert misfit((np.zeros(2), np.zeros(3)), hint, "it")
    # Entries of a list may be of several sizes.
    assert misfit([np.zeros(2), np.zeros(3)], list[Float[np.ndarray, " n"]], "it") == ""


def test_what_a_user_may_get_wrong_is_left_to_our_own_checks():
    assert misfit(np.zeros((2, 2)), Union[Float[np.ndarray, " n"], str], "it") == ""  # noqa: UP007
    with pytest.raises(theory.InvalidPreferenceError):
        theory.copeland_program.ecw_costs([[0.0, 0.1]])


ARRAY_LIKE = {"ArrayLike", "AnyArrayLike"}
"""Annotations of arguments from users, which functions check themselves."""


def bare_arrays(hint):
    """Yield the arrays without a shape inside a hint."""
    if isinstance(hint, TypeAliasType) and hint.__name__ in ARRAY_LIKE:
        return
    hint = checked_annotations.without_alias(hint)
    if hint in (np.ndarray, jax.Array) or get_origin(hint) is np.ndarray:
        yield hint
    elif isinstance(hint, list | tuple):
        for each in hint:
            yield from bare_arrays(each)
    else:
        for each in get_args(hint):
            yield from bare_arrays(each)


def test_public_functions_name_the_shapes_of_arrays():
    bare = {}
    for name, function in PUBLIC.items():
        for argument, hint in hints_of(function).items():
            if found := list(bare_arrays(hint)):
                bare[f"{name}({argument})"] = found
    assert bare == {}


DOCUMENTED = re.compile(r"^ *(\w+) : (?:float|int|bool|uint)\d* (?:array )?\(", re.M)


def test_documented_shapes_are_annotated():
    """Where the text gives a shape, `Any` does not do."""
    bare, num_documented = [], 0
    for name, function in PUBLIC.items():
        hints = hints_of(function)
        for argument in DOCUMENTED.findall(function.__doc__ or ""):
            if argument in hints:
                num_documented += 1
                if hints[argument] is Any:
                    bare.append(f"{name}({argument})")
    assert num_documented > 40
    assert bare == []
