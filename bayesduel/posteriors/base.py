"""What a policy that samples preferences asks of a posterior of the pairs."""

from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from jax import Array
from jaxtyping import Float, Int

from bayesduel.types import Arm, Outcome, RunKey, State


@runtime_checkable
class PairPosterior(Protocol):
    """A posterior of all pairs inside compiled code, which takes vote after vote.

    Implementations are made by :func:`~bayesduel.ops.frozen_pytrees.frozen_pytree`:
    their numbers are leaves. Methods are pure and describe one run. The fields count as
    parameters of the policy that holds the posterior.
    """

    name: ClassVar[str]
    """In the parameters of a policy."""

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

    def init(self, num_arms: int) -> State:
        """Return the state before any vote: the prior."""
        ...

    def update(
        self, rng_key: RunKey, state: State, first: Arm, second: Arm, votes: Outcome
    ) -> State:
        """Take in ``votes.rounds`` votes, of which ``votes.wins`` are for ``first``."""
        ...

    def sample(
        self, rng_key: RunKey, state: State, num_draws: int
    ) -> Float[Array, "draw K K"]:
        """Draw preference matrices, independently; consumes ``rng_key``."""
        ...

    def mean(self, state: State) -> Float[Array, "K K"]:
        """Return the mean of the preference matrix."""
        ...

    def prob_better(self, state: State) -> Float[Array, "K K"]:
        """Return P(theta_ij > 1/2), 0 on the diagonal; where it is known exactly."""
        ...
