"""Regret of RD-TS* beside RD-TS and others, from 10^3 to 10^12 rounds.

``python -m benchmarks.rival_variants`` makes the tables of
``docs/theory/rival_directed_star.md``; ``--matrix random`` takes the twenty random
matrices of `benchmarks.slopes`, ``--matrix hard`` two on which a constant floor of
costs, or a weight of past duels below 1, is known to be suboptimal.

Variants of RD-TS: with N events of m pairs so far and x = (1 + N / (100 m))^(-1/2),
``rising`` has eta = 1 - x / 2, ``vanishing`` the floor 0.1 x of costs, ``floor`` plays
the least compared pair if it has fewer than sqrt(N / m) duels, ``bonus`` takes the
divergence of a pair two standard deviations up, and ``all`` does all of this.
"""

import argparse
import math
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesduel import instances, policies
from bayesduel.models.in_policies.scalar_betas import kl_to_half
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import Duel, KernelPolicy
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.policies.thompson._scalar_rivals import is_due, least_compared
from bayesduel.policies.thompson.rival_directed import choose as choose_by_rule
from bayesduel.policies.thompson.rival_directed import init as init_rule
from bayesduel.policies.thompson.rival_directed import recommend
from bayesduel.policies.thompson.rival_directed import update as update_rule
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from theory import PreferenceMatrix, copeland_lower_bound

from .slopes import DRAWS
from .timing import report

PUBLISHED = ("cyclic", "gap", "multisol", "mslr5-condorcet")
POLICIES = ("rd-ts-star", "rd-ts", "d-ts+", "ecw-rmed")
ROUNDS = (10**3, 10**6, 10**9, 10**12)
SEED = 31

_ONE_WINNER = [0.707, 0.282, 0.767, 0.355, 0.651, 0.587, 0.878, 0.394, 0.874, 0.328]
_THREE_WINNERS = [0.687, 0.732, 0.44, 0.143, 0.386, 0.691]


_CHANGES = ("rising", "vanishing", "floor", "bonus")
_VARIANT = np.dtype([("events", np.int64), *((each, np.int64) for each in _CHANGES)])


class VariantKernel(NamedTuple):
    """The state of RD-TS, and what is changed of its rule."""

    now: Any
    arms: Any
    pairs: Any
    own_wins: Any
    defeats: Any
    spare: Any
    tails: Any
    flipped: Any
    table: Any
    variant: Any


class Variant(KernelPolicy):
    """RD-TS with one change, or all."""

    change: str = "all"

    def scalar_kernel(self) -> Any:
        """Return the kernel."""
        rule = policies.get("rd-ts").scalar_kernel()

        def new_state(order: Any, horizon: int) -> VariantKernel:
            variant = np.zeros(1, dtype=_VARIANT)
            for each in _CHANGES:
                variant[each] = self.change in (each, "all")
            return VariantKernel(*rule.new_state(order, horizon), variant=variant)

        text = zlib.crc32(Path(__file__).read_bytes())
        return ScalarKernel(f"rd_ts_variant_{text:x}", new_state)


@compiled
def init(state: VariantKernel, rng: Any) -> None:
    """Begin as the rule does."""
    init_rule(state, rng)
    _adjust(state)


@compiled
def choose(state: VariantKernel, rng: Any, round_: int) -> Duel:
    """Choose as the rule does, but for the least compared pair where it is due."""
    duel = choose_by_rule(state, rng, round_)
    first, second, fewest = least_compared(state)
    forced = is_due(fewest, state.variant[0].events, state.arms.size)
    if duel.first == duel.second or not (forced and state.variant[0].floor):
        first, second = duel.first, duel.second
    return Duel(duel.champion, duel.idle_rounds, first, second, duel.explores)


@compiled
def update(
    state: VariantKernel, rng: Any, round_: int, first: int, second: int, won: bool
) -> None:
    """Count an outcome as the rule does."""
    state.variant[0].events += 1
    if state.variant[0].vanishing:
        state.now[0].floor = 0.1 * _falling(state)
    update_rule(state, rng, round_, first, second, won)
    _adjust(state)


@compiled
def _falling(state: VariantKernel) -> float:
    pairs = state.arms.size * (state.arms.size - 1) / 2
    return 1.0 / math.sqrt(1.0 + state.variant[0].events / (100.0 * pairs))


@compiled
def _adjust(state: VariantKernel) -> None:
    """Find what a duel of each pair is worth anew."""
    eta = 1.0 - 0.5 * _falling(state) if state.variant[0].rising else 0.5
    for one in range(state.arms.size):
        for other in range(state.arms.size):
            pair = state.pairs[one, other]
            if one != other:
                won = pair.wins + pair.prior
                lost = state.pairs[other, one].wins + state.pairs[other, one].prior
                worth, total = pair.divergence, won + lost
                if state.variant[0].bonus:
                    mean = max(won, lost) / total
                    deviation = math.sqrt(mean * (1.0 - mean) / (total + 1.0))
                    worth = kl_to_half(min(mean - 0.5 + 2.0 * deviation, 0.5))
                pair.worth = worth * (total - 2.0 * pair.prior + 1.0) ** eta


scalar_kernel.implement(
    VariantKernel, init=init, choose=choose, update=update, recommend=recommend
)


def matrices(names: list[str]) -> dict[str, PreferenceMatrix]:
    """Return matrices by name."""
    found: dict[str, PreferenceMatrix] = {}
    for name in names:
        if name == "random":
            for place, draw in enumerate(DRAWS):
                title = f"{draw.kind}, K={draw.num_arms} ({place})"
                found[title] = draw.matrix()
        elif name == "hard":
            found["one winner, K=5, hard"] = _from_upper(5, _ONE_WINNER)
            found["three winners, K=4, hard"] = _from_upper(4, _THREE_WINNERS)
        else:
            found[name] = instances.load(name)
    return found


def _from_upper(num_arms: int, values: list[float]) -> PreferenceMatrix:
    matrix = np.full((num_arms, num_arms), 0.5)
    rows, columns = np.triu_indices(num_arms, 1)
    matrix[rows, columns] = values
    matrix[columns, rows] = 1 - np.array(values)
    return PreferenceMatrix(matrix)


def regrets(matrix: PreferenceMatrix, policy: str, num_runs: int) -> np.ndarray:
    """Return regret at `ROUNDS`, (run, rounds)."""
    records = run_chunk(
        PairwiseEnvironment(np.array(matrix.values), shuffle=True),
        Variant(policy)
        if policy in (*_CHANGES, "all")
        else policies.parse_policy(policy),
        runs=range(num_runs),
        checkpoints=np.array(ROUNDS),
        seed=SEED,
    )
    scores = matrix.wins / (matrix.num_arms - 1)
    costs = scores.max() - (scores[:, None] + scores[None, :]) / 2
    return (records.ledger["plays"] * costs).sum(axis=(-1, -2))


def main() -> None:
    """Print regret, and slopes from 10^6 to 10^12 over the lower bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--policy", nargs="+", default=list(POLICIES))
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    rows = []
    grew: dict[str, list[float]] = {}
    early: dict[str, list[float]] = {}
    largest: dict[str, list[float]] = {}
    for name, matrix in matrices(given.matrix).items():
        constant = copeland_lower_bound(matrix, ties="ignore").value
        for policy in given.policy:
            found = regrets(matrix, policy, given.runs)
            grown = (found[:, 3] - found[:, 1]) / np.log(ROUNDS[3] / ROUNDS[1])
            ratios = grown / constant
            row: dict[str, object] = {"matrix": name, "C*": constant, "policy": policy}
            row |= {
                f"10^{power}": _mean(values)
                for power, values in zip((3, 6, 9, 12), found.T, strict=True)
            }
            row["slope / C*"] = _mean(ratios)
            row["median"] = float(np.median(ratios))
            row["largest run to 10^6"] = float(found[:, 1].max())
            rows.append(row)
            grew.setdefault(policy, []).append(float(ratios.mean()))
            early.setdefault(policy, []).append(float(found[:, 1].mean()))
            largest.setdefault(policy, []).append(float(found[:, 1].max()))
    report(f"Regret, {given.runs} runs, seed {SEED}", rows)
    base = given.policy[0]
    overall = [
        {
            "policy": policy,
            "mean slope / C*": np.mean(grew[policy]),
            "median": np.median(grew[policy]),
            "worst": np.max(grew[policy]),
            f"regret at 10^6 over {base}": _mean_ratio(early[policy], early[base]),
            f"largest run over {base}": _mean_ratio(largest[policy], largest[base]),
        }
        for policy in given.policy
    ]
    report("All matrices together; ratios are geometric means", overall)


def _mean_ratio(values: list[float], others: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.array(values) / np.array(others)))))


def _mean(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.4g} ± {error:.2g}"


if __name__ == "__main__":
    main()
