"""The base of policies over a logistic model with linear utilities."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.ops.rules import one_of_largest
from bayesduel.policies.contextual.estimation import (
    LogisticFit,
    add_duel,
    add_to_inverse,
    new_fit,
    number_of_features,
    refit,
)
from bayesduel.policies.policy import LIKELY_ANSWERS, Policy, Problem, checked
from theory.arguments import number_above


class LinearState(NamedTuple):
    """The fit to all duels, and the matrix of the confidence width."""

    fit: LogisticFit
    inverse: Float[np.ndarray, "d d"]  # V^-1, with V = ridge I + sum z z'.
    latest: Float[np.ndarray, " K"]  # Estimated utilities of the last round.
    now: Any  # Numbers of the policy.


class LinearPolicy(Policy):
    """Fits theta to all duels, and recommends the best arm of the last round."""

    ridge: float = checked(1.0, number_above, 0.0)
    compiled = True

    contextual: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True
    in_batches: ClassVar[str] = LIKELY_ANSWERS

    def numbers(self, size: int, problem: Problem) -> Any:
        """Return the numbers of the policy as a record, for ``state.now``."""
        raise NotImplementedError

    def start(self, problem: Problem, rng: Generator) -> LinearState:
        """Return the fit to no duels."""
        size = number_of_features(problem, self.label)
        return LinearState(
            fit=new_fit(problem, size, self.ridge),
            inverse=np.eye(size) / self.ridge,
            latest=np.zeros(problem.num_arms),
            now=self.numbers(size, problem),
        )

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        state: LinearState,
        rng: Generator,
        round_: int,
        first: int,
        second: int,
        won: bool,
        features: Float[np.ndarray, "K d"],
    ) -> None:
        """Fit theta again."""
        add_duel(state.fit, first, second, won, 1.0, features)
        refit(state.fit)
        add_to_inverse(state.inverse, first, second, 1.0, features)

    def recommend(self, state: LinearState, rng: Generator) -> int:
        """Return the arm with the largest estimated utility in the last round."""
        return one_of_largest(rng, state.latest)
