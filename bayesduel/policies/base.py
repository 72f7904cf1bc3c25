"""The protocol of a policy and what most of them share."""

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Int, Shaped

from bayesduel.errors import PolicyParameterError, checked_as
from bayesduel.ops.frozen_pytrees import frozen_pytree
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.policy import PolicyBase
from bayesduel.posteriors.base import PairPosterior
from bayesduel.posteriors.beta_arms import BetaArms
from bayesduel.posteriors.beta_pairs import BetaPairs
from bayesduel.posteriors.names import changed_numbers, is_posterior, numbers_of
from bayesduel.types import Arm, Duel, OnHost, Outcome, RoundCount, RunKey, State
from theory.arguments import as_number, one_of


class Policy(PolicyBase):
    """The form of a policy that JAX plays, many runs side by side.

    Subclasses are made by :func:`policy_class`: frozen dataclasses that JAX takes apart
    as pytrees. Numbers are leaves, so a sweep over them does not recompile; fields
    marked ``metadata={"static": True}`` change the program. Every method is pure and
    describes one run; the simulator adds the batch axis.
    """

    title: ClassVar[str] = ""
    """The name in words, for tables."""

    needs_horizon: ClassVar[bool] = False
    """Whether the rule reads the horizon (not "anytime")."""

    explores_in_bulk: ClassVar[bool] = False
    """Whether ``explore_rounds`` may exceed 1."""

    assisted: ClassVar[bool] = False
    """Whether it sometimes waits for the host (``is_waiting``, ``host_step``)."""

    def in_order(self, order: Int[Array, " K"]) -> Self:
        """Return the policy for arms in another order.

        Only what it knows of certain arms in advance changes, such as a table of prior
        counts. ``order[position]`` is the arm that it will know as ``position``.
        """
        moved = {
            name: value.in_order(order)
            for name, value in vars(self).items()
            if isinstance(value, Policy | PairPosterior)
        }
        return replace(self, **moved) if moved else self  # pyright: ignore

    def init(self, rng_key: RunKey, num_arms: int, horizon: RoundCount) -> State:
        """Return the state before the first round; consumes ``rng_key``."""
        raise NotImplementedError

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Say what to play from ``round_`` on; consumes ``rng_key``.

        Only loop positions may move in the state here, never statistics. How often
        each pair was asked for is a loop position: the learner knows its own draws
        before it is told what came of them.
        """
        raise NotImplementedError

    def update(
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        duel: Duel,
        outcome: Outcome,
    ) -> State:
        """Take in what was played; ``round_`` is the last round of it.

        What is judged is the ``duel`` that is reported, which need not be the one that
        was chosen last: with outcomes on their way the state has moved on, and only
        ``duel.note`` still says why this duel was asked for.
        """
        raise NotImplementedError

    def recommend(self, rng_key: RunKey, state: State) -> Arm:
        """Return the arm that the policy believes to be best."""
        raise NotImplementedError

    def info(self, state: State) -> dict[str, Shaped[Array, ""]]:
        """Return numbers of a finished run that are worth keeping, by name.

        The results hold them as variables; the dictionary has the same names and
        dtypes for every state.
        """
        return {}

    def scalar_kernel(self) -> Any:
        """Return what plays it run after run on a CPU, or None.

        A :class:`bayesduel.policies.scalar_kernel.ScalarKernel` with the law of the
        methods above. Only the class that defines this method is played so: others
        that inherit from it may have another rule.
        """
        return None

    def is_waiting(self, state: State) -> Bool[Array, ""]:
        """Say whether this run cannot go on before ``host_step`` has served it."""
        return jnp.bool_(False)

    def host_step(self, state: OnHost[State]) -> OnHost[State]:
        """Do on the host, in NumPy, what JAX cannot do well.

        Called between two events with the state of one waiting run; must leave it not
        waiting, and be a function of the state alone.
        """
        raise NotImplementedError


@dataclass_transform(frozen_default=True)
def policy_class[T: type](cls: T) -> T:
    """Turn a class into a frozen dataclass and a JAX pytree."""
    return frozen_pytree(cls)


def kernel_of(policy: PolicyBase) -> Any:
    """Return the kernel that plays a policy, or None.

    A class that inherits from one with a kernel may have changed its rule.
    """
    if "scalar_kernel" not in vars(type(policy)):
        return None
    return policy.scalar_kernel()  # pyright: ignore[reportAttributeAccessIssue]


def is_in_jax(policy: Any) -> bool:
    """Say whether a policy is written for JAX, and not as a kernel alone."""
    return isinstance(policy, Policy) and type(policy).choose is not Policy.choose


def has_kernel_above(policy: Any) -> bool:
    """Say whether a class that a policy inherits from defines a kernel."""
    above = [each for each in type(policy).__mro__[1:] if each is not Policy]
    return any("scalar_kernel" in vars(each) for each in above)


def check_kinds(policy: PolicyBase) -> None:
    """Raise where a field of a policy of ours is of another kind than its default.

    Before anything else is asked of it: even its label compares fields with defaults.
    """
    if type(policy).__module__.split(".")[0] != "bayesduel":
        return
    for field in fields(policy):  # pyright: ignore[reportArgumentType]
        value, kind = getattr(policy, field.name), type(field.default)
        if field.name == "policy":
            check_policy(value)
            check_kinds(value)
        elif kind in _KINDS and not _is_of_kind(value, kind):
            name = f"{type(policy).__name__}: {field.name}"
            raise PolicyParameterError.of(name, f"must be {_KINDS[kind]}", value)


def check_policy(value: Any) -> Any:
    """Return ``value`` if it is a policy."""
    if not isinstance(value, PolicyBase) or not is_dataclass(value):
        rule = "must be a policy, such as policies.get('d-ts')"
        raise PolicyParameterError.of("policy", rule, value)
    return value


_KINDS = {
    bool: "true or false",
    float: "a number",
    int: "an integer below 2^63",
    str: "a word",
}


def _is_of_kind(value: Any, kind: type) -> bool:
    if kind is str:
        return isinstance(value, str)
    if getattr(value, "shape", None) == ():
        dtype = str(getattr(value, "dtype", ""))
        return dtype.startswith(_DTYPES[kind])
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if not isinstance(value, int | float):
        return False
    # An integer beyond 64 bits fits into no array.
    whole = isinstance(value, int) or value.is_integer()
    return kind is float or (whole and abs(value) < 2**63)


_DTYPES = {
    bool: ("bool",),
    int: ("int", "uint"),
    float: ("float", "int", "uint"),
}


def parameters(policy: PolicyBase) -> dict[str, Any]:
    """Return the fields of a policy as plain Python values.

    A policy within a policy becomes a dictionary of its name and its fields.
    """
    check_policy(policy)
    values = {
        field.name: getattr(policy, field.name)
        for field in fields(policy)  # pyright: ignore[reportArgumentType]
    }
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, PolicyBase):
        return {"name": value.name, **parameters(value)}
    if is_posterior(value):
        return _plain_posterior(value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _plain_posterior(posterior: Any) -> Any:
    """Return the name of a posterior, with its fields if not all are the default."""
    if not changed_numbers(posterior):
        return posterior.name
    found = numbers_of(posterior).items()
    return {"name": posterior.name, **{name: _plain(value) for name, value in found}}


def parameters_json(policy: PolicyBase) -> str:
    """Return the fields of a policy as a JSON object, but for those of no consequence.

    Whether a rule is compiled is a matter of speed.
    """
    found = parameters(policy)
    for each in fields(policy):  # pyright: ignore[reportArgumentType]
        if not each.metadata.get("law", True):
            del found[each.name]
    return json.dumps(found, sort_keys=True)


def one_round(first: Arm, second: Arm) -> Duel:
    """Return a duel of a single round, as a step-by-step policy asks for it."""
    return Duel(
        champion=first,
        exploit_rounds=jnp.int64(0),
        first=first,
        second=second,
        explore_rounds=jnp.int64(1),
    )


def most_beaten(
    rng_key: RunKey, wins: Int[Array, "K K"], among: Bool[Array, " K"] | None = None
) -> Arm:
    """Return the arm that beats the most others empirically.

    Ties by the larger total of wins, then at random. ``among`` limits who is returned.
    """
    beaten = jnp.sum(wins > wins.T, axis=1, dtype=jnp.int32)
    if among is not None:
        beaten = jnp.where(among, beaten, -1)
    total = jnp.sum(wins, axis=1, dtype=wins.dtype)
    best = beaten == jnp.max(beaten)
    best = best & (total == jnp.max(jnp.where(best, total, -1)))
    return choose_among(jax.random.uniform(rng_key, dtype=jnp.float64), best)


def others_mask(num_arms: int) -> Bool[np.ndarray, "K K"]:
    """Mark everything off the diagonal."""
    return ~np.eye(num_arms, dtype=bool)


def check_above(name: str, value: float, bound: float, *, why: str = "") -> None:
    """Raise unless ``value`` is finite and above ``bound``."""
    _check_bound(name, value, as_number(value) > bound, f"above {bound}", why)


def check_at_least(name: str, value: float, bound: float, *, why: str = "") -> None:
    """Raise unless ``value`` is finite and at least ``bound``."""
    _check_bound(name, value, as_number(value) >= bound, f"not below {bound}", why)


def _check_bound(name: str, value: float, holds: bool, rule: str, why: str) -> None:
    if not (np.isfinite(as_number(value)) and holds):
        reason = f" ({why})" if why else ""
        law = f"must be a finite number {rule}{reason}"
        raise PolicyParameterError.of(name, law, value)


def check_beta_pairs(posterior: Any, num_arms: int) -> None:
    """Raise unless ``posterior`` is a Beta law per pair that fits ``num_arms``."""
    if not isinstance(posterior, BetaPairs):
        rule = "must be a Beta law per pair, such as BetaPairs(prior=2)"
        raise PolicyParameterError.of("posterior", rule, posterior)
    posterior.check(num_arms)


def check_beta_arms(posterior: Any) -> None:
    """Raise unless ``posterior`` is a Beta law per arm."""
    if not isinstance(posterior, BetaArms):
        rule = "must be a Beta law per arm, such as BetaArms(prior=2)"
        raise PolicyParameterError.of("posterior", rule, posterior)
    posterior.check()


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    checked_as(PolicyParameterError, one_of, value, choices, name)
