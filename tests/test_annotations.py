"""Shapes and dtypes: they are checked, and every public function has them."""

import importlib
import inspect
import pkgutil
import re
import sys
from functools import cached_property, partial
from types import FunctionType
from typing import Any, TypeAliasType, get_args, get_origin

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from beartype.door import is_bearable
from jax import Array
from jaxtyping import Float, Float64, Int64, TypeCheckError

import bayesduel
import theory
from bayesduel import policies
from bayesduel.models import BradleyTerry
from bayesduel.ops.scalar.compiled import IS_INLINED
from bayesduel.policies.over_models.base import ModelRule
from bayesduel.policies.over_models.counting import most_beaten
from bayesduel.policies.policy import KernelPolicy
from bayesduel.posteriors.base import PairPosterior
from bayesduel.posteriors.laplace import Laplace, LaplaceBeliefs
from tests.checked_annotations import (
    array_part,
    checks_arrays,
    hints_of,
    is_checked,
    without_alias,
)
from theory.choice.rules import logit_choice

MODULES = [
    importlib.import_module(found.name)
    for package in (theory, bayesduel)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith("__main__")
]


def plain_functions(value):
    """Return the functions as they are written behind a name of a module or a class."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    elif isinstance(value, property):
        return [each for each in (value.fget, value.fset) if each is not None]
    elif isinstance(value, cached_property):
        value = value.func
    return [value] if callable(value) and hasattr(value, "__module__") else []


def functions_of(owner):
    """Return the functions and methods written in a module or a class, by name."""
    module = owner.__name__ if inspect.ismodule(owner) else owner.__module__
    found = {}
    for value in vars(owner).values():
        if isinstance(value, type):
            if value.__module__ == module and inspect.ismodule(owner):
                found |= functions_of(value)
            continue
        for each in plain_functions(value):
            inner = inspect.unwrap(each)
            # Others are imported, or written by `dataclass` and its like.
            if isinstance(inner, FunctionType) and inner.__module__ == module:
                if inner.__code__.co_filename == sys.modules[module].__file__:
                    found[f"{module}.{inner.__qualname__}"] = each
    return found


FUNCTIONS = {
    name: function
    for module in MODULES
    for name, function in functions_of(module).items()
}
PUBLIC = {
    name: function
    for name, function in FUNCTIONS.items()
    if not re.search(r"\._(?!_)", name)
}


def test_all_functions_of_both_packages_are_checked():
    assert len(PUBLIC) > 1000
    unchecked = {n: each for n, each in FUNCTIONS.items() if not is_checked(each)}
    # Kernels call one another in compiled code; coroutines talk to browsers.
    assert not [
        name
        for name, each in unchecked.items()
        if each not in IS_INLINED and not inspect.iscoroutinefunction(each)
    ]


def fresh(function):
    """Return a function as at its first call, of which none goes unchecked."""
    return checks_arrays(inspect.unwrap(function))


def test_a_wrong_shape_is_refused():
    offered, no_choice = np.array([True, False, True]), 1.0
    choice = fresh(logit_choice)
    assert choice(offered, np.ones(3), no_choice).shape == (3,)
    with pytest.raises(TypeCheckError, match="weights"):
        choice(offered, np.ones(4), no_choice)


def test_a_wrong_dtype_is_refused_inside_a_program():
    with jax.enable_x64(True):
        wins, uniform = jnp.zeros((3, 3), dtype=jnp.int32), jnp.float64(0.5)
        best = jax.jit(fresh(most_beaten))
        assert best(uniform, wins).shape == ()
        with pytest.raises(TypeCheckError, match="wins"):
            best(uniform, wins[:2])
        recommend = partial(fresh(ModelRule.recommend), rule_of("bt-ts"))
        with pytest.raises(TypeCheckError, match="rng_key"):
            jax.jit(recommend)(jax.random.PRNGKey(0), None)


def rule_of(name):
    """Return the rule of a policy over a model."""
    return policies.get(name).over_model()


def test_a_wrong_result_is_refused():
    class Careless(Laplace):
        @checks_arrays
        def utilities(self, state: LaplaceBeliefs) -> Float[Array, " K"]:
            return state.law.factor

    with jax.enable_x64(True):
        state = Laplace(BradleyTerry()).init(jax.random.key(0), 3)
        assert Laplace(BradleyTerry()).utilities(state).shape == (3,)
        with pytest.raises(TypeCheckError, match="return"):
            Careless().utilities(state)


def test_the_fields_of_a_record_are_checked():
    with jax.enable_x64(True):
        state = Laplace(BradleyTerry()).init(jax.random.key(0), 3)
        mean = partial(fresh(Laplace.mean), Laplace(BradleyTerry()))
        votes = state.votes._replace(won=state.votes.won[0])
        with pytest.raises(TypeCheckError) as error:
            mean(state._replace(votes=votes))
    assert "LaplaceBeliefs.votes" in error.value.__notes__[0]


def test_containers_of_different_arrays_are_not_mixed_up():
    """The static types of both read alike, and so might what stands for them."""
    integers, floats = (
        array_part(tuple[str, list[kind[np.ndarray, " n"]]])
        for kind in (Int64, Float64)
    )
    one, other = np.zeros(2, dtype=np.int64), np.zeros(2)
    for hint, good, bad in ((integers, one, other), (floats, other, one)):
        assert is_bearable(("", [good]), hint)
        assert not is_bearable(("", [bad]), hint)


def test_what_a_user_may_get_wrong_is_left_to_our_own_checks():
    with pytest.raises(theory.InvalidPreferenceError):
        theory.ecw_costs([[0.0, 0.1]])


@pytest.mark.parametrize("name", policies.names())
def test_a_policy_checks_all_methods_of_the_protocol(name):
    policy = policies.get(name)
    kind = policies.Policy if isinstance(policy, policies.Policy) else KernelPolicy
    methods = {each for each in dir(kind) if inspect.isfunction(getattr(kind, each))}
    assert {"check"} | ({"start", "choose"} if kind is policies.Policy else set()) <= (
        methods
    )
    for each in methods - set(dir(object)) - {"__replace__"}:
        assert is_checked(getattr(type(policy), each)), each


@pytest.mark.parametrize("name", ["bt-ts", "logit-ts"])
def test_a_rule_over_a_model_checks_all_methods_of_the_protocol(name):
    for each in ("init", "choose", "update", "recommend", "info"):
        assert is_checked(getattr(type(rule_of(name)), each)), each


METHODS_OF_POSTERIORS = {
    name
    for name, method in vars(PairPosterior).items()
    if inspect.isfunction(method) and not name.startswith("_")
}
POSTERIORS = {
    kind
    for module in MODULES
    if module.__name__.startswith("bayesduel.posteriors.")
    for kind in vars(module).values()
    if isinstance(kind, type) and set(dir(kind)) >= METHODS_OF_POSTERIORS
}


@pytest.mark.parametrize("kind", sorted(POSTERIORS, key=lambda kind: kind.__name__))
def test_a_posterior_checks_all_methods_of_the_protocol(kind):
    assert Laplace in POSTERIORS
    assert {"init", "update", "sample", "mean"} <= METHODS_OF_POSTERIORS
    for name in METHODS_OF_POSTERIORS:
        assert is_checked(getattr(kind, name)), name


ARRAY_LIKE = {"ArrayLike", "AnyArrayLike"}
"""What a user may give: functions check it themselves, and return arrays of a shape."""


def bare_arrays(hint):
    """Yield the arrays without a shape inside a hint."""
    if isinstance(hint, TypeAliasType) and hint.__name__ in ARRAY_LIKE:
        return
    hint = without_alias(hint)
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
        for argument, hint in hints_of(inspect.unwrap(function)).items():
            if found := list(bare_arrays(hint)):
                bare[f"{name}({argument})"] = found
    assert bare == {}


DOCUMENTED = re.compile(r"^ *(\w+) : (?:float|int|bool|uint)\d* (?:array )?\(", re.M)


def test_documented_shapes_are_annotated():
    """Where the text gives a shape, `Any` does not do."""
    bare, num_documented = [], 0
    for name, function in PUBLIC.items():
        inner = inspect.unwrap(function)
        hints = hints_of(inner)
        for argument in DOCUMENTED.findall(inner.__doc__ or ""):
            if argument in hints:
                num_documented += 1
                if hints[argument] is Any:
                    bare.append(f"{name}({argument})")
    assert num_documented > 40
    assert bare == []
