"""The interface of posteriors of pairs, for policies that sample preferences."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    TypeGuard,
    runtime_checkable,
)

if TYPE_CHECKING:
    # JAX takes a second to import.
    from collections.abc import Callable
    from typing import Self

    from jax import Array
    from jaxtyping import Bool, Float, Int

    from bayesduel.models.in_policies.modes import LevelWorld
    from bayesduel.types import Arm, Outcome, RunKey, State


# Newton steps of :class:`Laplace` for one update, unless told otherwise.
NEWTON_STEPS = 20


@runtime_checkable
class PairPosterior(Protocol):
    """A posterior of the preferences of all pairs, updated vote by vote.

    Implementations are frozen dataclasses that JAX knows as pytrees: their numbers are
    leaves. Methods are pure and describe one run. The fields count as parameters of
    the policy that holds the posterior.
    """

    independent_draws: ClassVar[bool]
    """Whether draws are independent of one another, also of those drawn before from the
    same state. A policy may then draw many rounds at once."""

    @property
    def name(self) -> str:
        """Return what it is called in the parameters of a policy."""
        ...

    @property
    def model(self) -> Any:
        """The model of `bayesduel.models` of which this is the posterior."""
        ...

    def check(self, num_arms: int | None = None) -> None:
        """Raise where a field is out of range, or does not fit ``num_arms``."""
        ...

    def in_order(self, order: Int[Array, " K"]) -> Self:
        """Return the same for arms in another order.

        ``order[position]`` is the arm that the policy knows as ``position``.
        """
        ...

    def init(self, rng_key: RunKey, num_arms: int) -> State:
        """Return the state before any vote: the prior; consumes ``rng_key``."""
        ...

    def update(
        self, rng_key: RunKey, state: State, first: Arm, second: Arm, votes: Outcome
    ) -> State:
        """Take in ``votes.rounds`` votes, of which ``votes.wins`` are for ``first``.

        ``first`` was shown first. Consumes ``rng_key``.
        """
        ...

    def sample(
        self, rng_key: RunKey, state: State, num_draws: int
    ) -> Float[Array, "draw K K"]:
        """Draw preference matrices, independently; consumes ``rng_key``."""
        ...

    def mean(self, state: State) -> Float[Array, "K K"]:
        """Return the mean of the preference matrix."""
        ...


@runtime_checkable
class _ScalePosterior(PairPosterior, Protocol):
    """A posterior that knows utilities, where a sample is described by them alone."""

    @property
    def on_a_scale(self) -> bool:
        """Whether i beats j exactly where its utility is larger."""
        ...

    def sample_utilities(
        self, rng_key: RunKey, state: State, num_draws: int
    ) -> Float[Array, "draw K"]: ...

    def utilities(self, state: State) -> Float[Array, " K"]: ...


class UtilitiesByNumber(NamedTuple):
    """Draws of utilities, of which many are never looked at."""

    # Whether a certain arm is surely the best one of a draw.
    stay: Bool[Array, " draw"]
    # Gives the draws of these numbers.
    at: Callable[[Int[Array, " place"]], Float[Array, "place K"]]


def utilities_by_number(
    posterior: _ScalePosterior,
    rng_key: RunKey,
    state: State,
    num_draws: int,
    leader: Arm,
) -> UtilitiesByNumber:
    """Draw the utilities of ``sample_utilities``; ``stay`` is about the leader."""
    lazily = getattr(posterior, "utilities_by_number", None)
    if lazily is not None:
        return lazily(rng_key, state, num_draws, leader)
    utility = posterior.sample_utilities(rng_key, state, num_draws)
    stay = utility.argmax(axis=1).astype(leader.dtype) == leader
    return UtilitiesByNumber(stay, lambda places: utility[places])


@runtime_checkable
class RivalPosterior(_ScalePosterior, Protocol):
    """A posterior on one scale that knows worlds in which a rival is level."""

    def level_world(self, state: State, leader: Arm, rival: Arm) -> LevelWorld:
        """Return the likeliest world in which two arms have the same utility."""
        ...


def is_on_a_scale(posterior: PairPosterior) -> TypeGuard[_ScalePosterior]:
    """Say whether samples of a posterior are described by utilities."""
    return isinstance(posterior, _ScalePosterior) and posterior.on_a_scale


@runtime_checkable
class SetPosterior(Protocol):
    """A posterior of choices from sets, such as :class:`SetLaplace`."""

    @property
    def model(self) -> Any:
        """The model of `bayesduel.models` of which this is the posterior."""
        ...

    def over(self, num_arms: int, subset_size: int, *, no_choice: bool) -> Any:
        """Return the model for the sets of a world."""
        ...
