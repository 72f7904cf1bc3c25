"""Posteriors by name, and their numbers by name: those of a model count as well."""

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from bayesduel.arguments.named_objects import field_default
from bayesduel.errors import PolicyParameterError
from bayesduel.models.base import PreferenceModel
from bayesduel.models.catalog import kind_of, words
from bayesduel.models.in_policies.base import NEWTON_STEPS, PairPosterior, SetPosterior
from bayesduel.models.in_policies.betas import BetaArms, BetaPairs

_OTHER_NAMES = {
    "laplace": "bradley-terry",
    "mcmc": "bradley-terry-hmc",
    "bradley-terry-mcmc": "bradley-terry-hmc",
}


def is_posterior(value: Any) -> bool:
    """Say whether something is a posterior, of pairs, arms or sets, inside a policy."""
    kinds = BetaPairs | BetaArms | PairPosterior | SetPosterior
    return isinstance(value, kinds) and not isinstance(value, type)


@cache
def posterior_named(name: str) -> Any:
    """Return the posterior of that name, None if there is none."""
    name = _OTHER_NAMES.get(name, name)
    if name == "beta":
        return BetaPairs()
    of_sets = name in words("sets")
    if not of_sets and name not in _names_of_pairs():
        return None
    # JAX takes a second to import.
    if of_sets:
        from bayesduel.models.in_policies.set_laplace import SetLaplace as Kind
    elif name.endswith("-hmc"):
        from bayesduel.models.in_policies.laplace import HMC as Kind
    else:
        from bayesduel.models.in_policies.laplace import Laplace as Kind
    return Kind(kind_of(name.removesuffix("-hmc"))())


def _names_of_pairs() -> tuple[str, ...]:
    # As the command line has them; Betas have no Markov chains.
    known = [word for word in words("", "features") if word != "beta"]
    return "beta", *known, *(f"{word}-hmc" for word in known)


def take_by_name(policy: Any) -> None:
    """Put the posterior in its place that a new policy names in ``posterior``."""
    word = policy.posterior
    if isinstance(word, str):
        posterior = posterior_named(word)
        object.__setattr__(policy, "posterior", posterior or word)


def check_pair_posterior(posterior: Any, num_arms: int | None = None) -> Any:
    """Return what is a posterior of pairs that fits, else raise an error."""
    if not isinstance(posterior, BetaPairs | PairPosterior):
        rule = f"must be one of {', '.join(_names_of_pairs())}, or a posterior such as "
        rule += "Laplace(Thurstone())"
        raise PolicyParameterError("posterior", rule, posterior)
    posterior.check(num_arms)
    return posterior


def numbers_of(posterior: Any) -> dict[str, Any]:
    """Return the parameters of a posterior by name, those of its model among them.

    Examples
    --------
    >>> numbers_of(BetaPairs(prior=2))
    {'prior': 2}
    """
    return {
        field.name: getattr(holder, field.name)
        for holder, field in _parameters(posterior)
    }


def numbers_named(name: str) -> dict[str, Any]:
    """Return :func:`numbers_of` of :func:`posterior_named`, mostly without JAX."""
    name = _OTHER_NAMES.get(name, name)
    if name == "beta" or name.endswith("-hmc"):
        return numbers_of(posterior_named(name))
    model = kind_of(name)()
    numbers = {field.name: getattr(model, field.name) for field in fields(model)}
    steps = {} if name in words("sets") else {"newton_steps": NEWTON_STEPS}
    return numbers | steps


def changed_numbers(posterior: Any, usual: Any = None) -> dict[str, Any]:
    """Return the parameters that are not at their defaults, or as in another posterior.

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.posteriors import Laplace
    >>> changed_numbers(Laplace(BradleyTerry(prior_scale=1.0)))
    {'prior_scale': 1.0}
    """
    known = {field.name: field_default(field) for _, field in _parameters(posterior)}
    known = known if usual is None else numbers_of(usual)
    return {
        name: value
        for name, value in numbers_of(posterior).items()
        if not np.array_equal(value, known[name])
    }


def with_numbers(posterior: Any, changes: dict[str, Any]) -> Any:
    """Return a posterior with other parameters, which are checked."""
    of_posterior: dict[str, Any] = {}
    of_model: dict[str, Any] = {}
    for holder, field in _parameters(posterior):
        if field.name in changes:
            value = changes[field.name]
            whole = isinstance(value, int) and not isinstance(value, bool)
            if whole and isinstance(field_default(field), float):
                value = float(value)
            (of_posterior if holder is posterior else of_model)[field.name] = value
    if of_model:
        of_posterior["model"] = replace(posterior.model, **of_model)
    changed = replace(posterior, **of_posterior)
    changed.check()
    return changed


def _parameters(posterior: Any) -> list[tuple[Any, Any]]:
    # The object and the field of every parameter.
    parameters = []
    for field in fields(posterior):
        value = getattr(posterior, field.name)
        if isinstance(value, PreferenceModel) and is_dataclass(value):
            parameters += [(value, parameter) for parameter in fields(value)]
        elif field.compare and value is not None:
            parameters.append((posterior, field))
    return parameters
