"""D-TS by look-ahead against stepping through the rounds."""

from dataclasses import replace

import jax.numpy as jnp

from bayesduel.policies import DoubleThompson, get
from bayesduel.policies.base import policy_class
from bayesduel.types import Duel, RoundCount, RunKey, State

from .timing import Timing, report, time_policy

CASES = (("mslr5-condorcet", 100, 10**6, 2_000), ("sushi", 20, 10**6, 500))
"""Matrix, runs, horizon of the look-ahead form, horizon of the step forms.

Later rounds cost a step form as much as early ones, so its time per round is taken
from a shorter horizon."""


@policy_class
class SteppedDoubleThompson(DoubleThompson):
    """The fastest step form we know: signs instead of Betas, one round at a time.

    Cutting a stretch of idle rounds after its first round is exact: what follows does
    not depend on it.
    """

    def choose(
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Duel, State]:
        """Play one round of what the look-ahead form would play."""
        duel, state = super().choose(rng_key, state, round_)
        idles = duel.exploit_rounds > 0
        return (
            duel._replace(
                exploit_rounds=jnp.minimum(duel.exploit_rounds, 1),
                explore_rounds=jnp.where(idles, 0, duel.explore_rounds),
            ),
            state,
        )


def main() -> None:
    """Print nanoseconds per round and run, and the ratios."""
    rows: list[dict[str, object]] = []
    for matrix, runs, horizon, short in CASES:
        ahead = time_policy(matrix, get("d-ts"), runs=runs, horizon=horizon)
        literal = replace(DoubleThompson(), look_ahead=False)
        forms: list[tuple[str, Timing]] = [
            ("step, draws its Betas", time_policy(
                matrix, literal, runs=runs, horizon=short, repetitions=1)),
            ("step, fastest", time_policy(
                matrix, SteppedDoubleThompson(), runs=runs, horizon=10 * short,
                repetitions=1)),
        ]  # fmt: skip
        rows.append(_row(matrix, "look-ahead", ahead, ahead))
        rows += [_row(matrix, name, timing, ahead) for name, timing in forms]
    report("D-TS per round and run, one core, compilation excluded", rows)


def _row(matrix: str, form: str, timing: Timing, ahead: Timing) -> dict[str, object]:
    return {
        "matrix": matrix,
        "form": form,
        "rounds x runs": timing.rounds,
        "ns per round": timing.nanoseconds_per_round,
        "times look-ahead": timing.nanoseconds_per_round / ahead.nanoseconds_per_round,
        "compile s": timing.compile_seconds,
    }
