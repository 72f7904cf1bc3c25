"""What the loop asks of an environment."""

from typing import Any, Protocol

import numpy as np
from jax import Array
from jaxtyping import Int, Shaped

from bayesduel.types import RoundCount, RunKey


class Environment(Protocol):
    """Who answers, and the ledger of what was played.

    A frozen pytree, shared by all runs. Its state of one run, a *lane*, has a field
    ``order``: the arm that the policy knows by each position.
    """

    @property
    def num_arms(self) -> int:
        """Number of arms."""
        ...

    @property
    def shuffle(self) -> bool:
        """Whether the arms are relabeled at random in each run."""
        ...

    def init(self, order: Int[Array, " K"]) -> Any:
        """Return an empty ledger of a run with this order of arms."""
        ...

    def init_policy(
        self, policy: Any, rng_key: RunKey, lane: Any, horizon: RoundCount, /
    ) -> Any:
        """Let a policy prepare for a run: its state before the first round."""
        ...

    def play(
        self,
        rng_key: RunKey,
        lane: Any,
        request: Any,
        rounds_left: RoundCount,
        /,
        *,
        in_bulk: bool,
    ) -> tuple[Any, Any, RoundCount]:
        """Cut a request at the horizon and draw its outcome; consumes ``rng_key``.

        Returns the request as it was played, its outcome, and the rounds that it took.
        ``in_bulk=False`` promises that the request is for one informative round.
        """
        ...

    def cut(self, request: Any, rounds: Int[Array, "..."], /) -> Any:
        """Return the first ``rounds`` rounds of a request; also of many at once."""
        ...

    def record(self, lane: Any, request: Any, /) -> Any:
        """Add what was played to the ledger."""
        ...

    def ledger(self, lane: Any) -> dict[str, Shaped[Array, "..."]]:
        """Return what is written down at a checkpoint."""
        ...

    def with_original_labels(
        self,
        ledger: dict[str, Shaped[np.ndarray, "run C ..."]],
        recommendation: Shaped[np.ndarray, "run ..."],
        order: Int[np.ndarray, "run K"],
    ) -> tuple[
        dict[str, Shaped[np.ndarray, "run C ..."]], Shaped[np.ndarray, "run ..."]
    ]:
        """Turn positions into arms, in what was recorded and recommended."""
        ...
