"""Policies by name."""

from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from bayesduel.errors import PolicyParameterError, UnknownNameError
from bayesduel.literals import literal
from bayesduel.policies.base import Policy, check_policy
from bayesduel.policies.batched.candidate_comparisons import CandidateComparisons
from bayesduel.policies.batched.pairwise_comparisons import PairwiseComparisons
from bayesduel.policies.batched.seeded_comparisons import SeededComparisons
from bayesduel.policies.delayed_feedback import DelayedFeedback
from bayesduel.policies.elimination.beat_the_mean import BeatTheMean
from bayesduel.policies.elimination.interleaved_filter import InterleavedFilter
from bayesduel.policies.elimination.savage import Savage
from bayesduel.policies.elimination.scalable_copeland_bandits import (
    ScalableCopelandBandits,
)
from bayesduel.policies.own_policies import (
    default_of,
    is_own_name,
    own_label,
    own_policy,
)
from bayesduel.policies.random_pairs import RandomPairs
from bayesduel.policies.reductions.doubler import Doubler
from bayesduel.policies.reductions.multi_sbm import MultiSBM
from bayesduel.policies.reductions.sparring import Sparring
from bayesduel.policies.rmed.copeland_winner import CWRMED
from bayesduel.policies.rmed.efficient_copeland_winner import ECWRMED
from bayesduel.policies.rmed.rmed1 import RMED1
from bayesduel.policies.rmed.rmed2 import RMED2
from bayesduel.policies.rmed.rmed2_fixed_horizon import RMED2FH
from bayesduel.policies.subset_base import SubsetPolicy
from bayesduel.policies.subsets.choice_bandits import ChoiceBandits
from bayesduel.policies.subsets.combinatorial_ucb import CombinatorialUCB
from bayesduel.policies.subsets.efficient_sampling import ESCB
from bayesduel.policies.subsets.logit_thompson import LogitThompson
from bayesduel.policies.subsets.maxmin_ucb import MaxMinUCB, RecursiveMaxMinUCB
from bayesduel.policies.subsets.mnl_exploration import MNLExploration
from bayesduel.policies.subsets.mnl_thompson import MNLThompson
from bayesduel.policies.subsets.random_subsets import RandomSubsets
from bayesduel.policies.subsets.stagewise_elimination import StagewiseElimination
from bayesduel.policies.subsets.ucb_without_order import UCBWithoutOrder
from bayesduel.policies.thompson.bradley_terry_thompson import BayesianBradleyTerry
from bayesduel.policies.thompson.double_thompson import DoubleThompson
from bayesduel.policies.thompson.relative_confidence_sampling import (
    RelativeConfidenceSampling,
)
from bayesduel.policies.thompson.self_sparring import SelfSparring
from bayesduel.policies.ucb.copeland_confidence_bound import CopelandConfidenceBound
from bayesduel.policies.ucb.merge_relative_ucb import MergeRUCB
from bayesduel.policies.ucb.relative_ucb import RelativeUCB
from bayesduel.policies.ucb.sup_kl_ucb import SupKLUCB
from theory.arguments import as_number, shown


@dataclass(frozen=True)
class Entry:
    """A registered policy: its acronym, and its default form."""

    acronym: str
    default: Policy


_ENTRIES: dict[str, Entry] = {
    "d-ts": Entry("D-TS", DoubleThompson()),
    "d-ts+": Entry("D-TS+", DoubleThompson(tie_break="regret")),
    "pure-d-ts": Entry("Pure D-TS", DoubleThompson(elimination=False)),
    "doubler": Entry("Doubler", Doubler()),
    "multisbm": Entry("MultiSBM", MultiSBM()),
    "random": Entry("Random", RandomPairs()),
    "rucb": Entry("RUCB", RelativeUCB()),
    "sparring": Entry("Sparring", Sparring()),
    "sup-klucb": Entry("Sup-KLUCB", SupKLUCB()),
    "rcs": Entry("RCS", RelativeConfidenceSampling()),
    "ccb": Entry("CCB", CopelandConfidenceBound()),
    "scb": Entry("SCB", ScalableCopelandBandits()),
    "merge-rucb": Entry("MergeRUCB", MergeRUCB()),
    "savage": Entry("SAVAGE", Savage()),
    "savage-copeland": Entry("SAVAGE-Copeland", Savage(goal="copeland")),
    "beat-the-mean": Entry("BTM", BeatTheMean()),
    "interleaved-filter": Entry("IF", InterleavedFilter()),
    "bt-ts": Entry("BT-TS", BayesianBradleyTerry()),
    "self-sparring": Entry("Self-Sparring", SelfSparring()),
    "rmed1": Entry("RMED1", RMED1()),
    "rmed2": Entry("RMED2", RMED2()),
    "rmed2fh": Entry("RMED2FH", RMED2FH()),
    "cw-rmed": Entry("CW-RMED", CWRMED()),
    "ecw-rmed": Entry("ECW-RMED", ECWRMED()),
    "pcomp": Entry("PCOMP", PairwiseComparisons()),
    "scomp": Entry("SCOMP", SeededComparisons()),
    "scomp2": Entry("SCOMP2", CandidateComparisons()),
}

_SUBSET_ENTRIES: dict[str, Entry] = {
    "ucb-no-order": Entry("UCB-no-order", UCBWithoutOrder()),
    "cucb": Entry("CUCB", CombinatorialUCB()),
    "combucb1": Entry("CombUCB1", CombinatorialUCB(previous_round=True)),
    "escb": Entry("ESCB", ESCB()),
    "mnl-ee": Entry("MNL-EE", MNLExploration()),
    "mnl-ts": Entry("MNL-TS", MNLThompson()),
    "logit-ts": Entry("Logit-TS", LogitThompson()),
    "stagewise": Entry("Stagewise Elimination", StagewiseElimination()),
    "maxmin-ucb": Entry("MaxMin-UCB", MaxMinUCB()),
    "rec-maxmin-ucb": Entry("Rec-MaxMin-UCB", RecursiveMaxMinUCB()),
    "choice-bandits": Entry("WBA", ChoiceBandits()),
    "random-subsets": Entry("Random subsets", RandomSubsets()),
}

_ALL = _ENTRIES | _SUBSET_ENTRIES


def names() -> tuple[str, ...]:
    """Return the names of all policies of dueling bandits.

    Examples
    --------
    >>> from bayesduel import policies
    >>> "d-ts" in policies.names()
    True
    """
    return tuple(_ENTRIES)


def subset_names() -> tuple[str, ...]:
    """Return the names of all policies that offer subsets.

    Examples
    --------
    >>> from bayesduel import policies
    >>> "ucb-no-order" in policies.subset_names()
    True
    """
    return tuple(_SUBSET_ENTRIES)


def get(name: str, **parameters: Any) -> Policy:
    """Return the policy called ``name``, with some of its parameters changed.

    Parameters
    ----------
    name : str
        One of :func:`names` or :func:`subset_names`.
    **parameters
        Fields of the policy; the others keep their defaults. A policy of dueling
        bandits also takes ``every``: it is told the outcomes only every so many rounds
        (:class:`DelayedFeedback`).

    Raises
    ------
    UnknownNameError
        For an unknown name; near ones are suggested.
    PolicyParameterError
        For a parameter that the policy does not have, or a value of the wrong kind.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rucb", alpha=1.0)
    RelativeUCB(alpha=1.0, look_ahead=True)
    >>> policies.get("rucb", every=100).label
    'RUCB, told every 100 rounds'
    """
    if not isinstance(name, str) or name not in _ALL:
        raise UnknownNameError(
            f"there is no policy {shown(name)}; {_near(str(name), _ALL)}all: "
            f"{', '.join(_ALL)}"
        )
    return _changed(name, _ALL[name].default, parameters, told=name in _ENTRIES)


def _changed(
    name: str, default: Policy, parameters: dict[str, Any], *, told: bool
) -> Policy:
    """Return ``default`` with other parameters; ``told`` allows ``every``."""
    known = {field.name for field in fields(default)}  # pyright: ignore
    every = None
    if told and "every" in parameters and "every" not in known:
        every = _as_kind(name, "every", parameters.pop("every"), 1)
    for parameter, value in parameters.items():
        if parameter not in known:
            raise PolicyParameterError(
                f"{name} has no parameter {parameter!r}; {_near(parameter, known)}"
                f"all: {', '.join(sorted(known))}"
            )
        parameters[parameter] = _as_kind(
            name, parameter, value, getattr(default, parameter)
        )
    policy = replace(default, **parameters)  # pyright: ignore[reportArgumentType]
    return policy if every is None else DelayedFeedback(policy, every)


def parse(text: str) -> Policy:
    """Read a policy with parameters, as the command line writes it.

    Parameters
    ----------
    text : str
        ``name`` or ``name:parameter=value,parameter=value``. A policy of one's own is
        named ``module:Class`` or ``module:Class:parameter=value``.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.parse("d-ts:alpha=0.6,look_ahead=false").alpha
    0.6
    >>> policies.parse("ecw-rmed:every=300").label
    'ECW-RMED, told every 300 rounds'
    """
    if not isinstance(text, str):
        raise UnknownNameError(
            f"a policy must be named by a text such as 'd-ts', got {shown(text)}"
        )
    name, _, rest = text.strip().partition(":")
    name = name.strip().lower()
    if name not in _ALL and is_own_name(text):
        kind, rest = own_policy(text)
        default = default_of(kind)
        parameters = _parameters(text, rest, default)
        told = not isinstance(default, SubsetPolicy)
        return _changed(kind.__name__, default, parameters, told=told)
    default = _ALL[name].default if name in _ALL else None
    return get(name, **_parameters(text, rest, default))


def _parameters(text: str, rest: str, default: Policy | None) -> dict[str, Any]:
    """Read ``parameter=value`` between commas."""
    parameters: dict[str, Any] = {}
    for part in filter(None, (each.strip() for each in rest.split(","))):
        parameter, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not parameter or not value:
            raise PolicyParameterError(
                f"{text!r}: {part!r} is not of the form parameter=value"
            )
        if parameter in parameters:
            raise PolicyParameterError(f"{text!r} gives {parameter} twice")
        # A word stays one, even "inf".
        word = isinstance(getattr(default, parameter, None), str)
        parameters[parameter] = value.lower() if word else literal(value)
    return parameters


def name_of(policy: Policy) -> str:
    """Return the registered name that fits ``policy`` best, or its class's name.

    Among forms of one class, the one that shares the most parameters.
    """
    check_policy(policy)
    same = [
        (sum(a == b for a, b in _pairs(policy, entry.default)), name)
        for name, entry in _ALL.items()
        if type(entry.default) is type(policy)
    ]
    if not same:
        return type(policy).__name__
    most = max(count for count, _ in same)
    return next(name for count, name in same if count == most)


def label_of(policy: Policy) -> str:
    """Return the acronym, with the parameters that are not the default ones.

    Of a policy that is not registered, its title with them.
    """
    name = name_of(policy)
    if name not in _ALL:
        return own_label(policy)
    entry = _ALL[name]
    changed = [
        f"{field.name}={getattr(policy, field.name)}"
        for field in fields(policy)  # pyright: ignore
        if getattr(policy, field.name) != getattr(entry.default, field.name)
    ]
    return entry.acronym + (":" + ",".join(changed) if changed else "")


def _pairs(one: Policy, other: Policy) -> list[tuple[Any, Any]]:
    return [
        (getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)  # pyright: ignore
    ]


def _as_kind(policy: str, parameter: str, value: Any, default: Any) -> Any:
    """Check ``value`` against the kind of the default; ints become floats."""
    kind = type(default)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return as_number(value)
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    words = {bool: "true or false", float: "a number", int: "an integer", str: "a word"}
    raise PolicyParameterError(
        f"{policy}: {parameter} must be {words.get(kind, kind.__name__)}, got "
        f"{shown(value)}"
    )


def _near(name: str, known: Any) -> str:
    close = get_close_matches(name.lower(), list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}? " if close else ""
