"""Leaderboards that are clean, and ones with a planted fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import expit

from bayesduel.votes import Comparisons, read_comparisons

ARMS = ("ada", "bell", "curie", "dirac")
UTILITIES = np.array([1.5, 0.5, -0.5, -1.5])


def rows(
    seed: int,
    number: int = 1000,
    utilities: np.ndarray = UTILITIES,
    lead: Callable[[pd.DataFrame], np.ndarray] | None = None,
    judges: int = 12,
) -> pd.DataFrame:
    """Draw votes of some judges on 10 prompts in 30 days, one a row, a tenth tied.

    ``lead`` adds to the utility of the arm shown first.
    """
    rng = np.random.default_rng(seed)
    names = np.array([*ARMS, *(f"arm {at}" for at in range(len(ARMS), 20))])
    first = rng.integers(len(utilities), size=number)
    second = (first + rng.integers(1, len(utilities), size=number)) % len(utilities)
    table = pd.DataFrame({"left": names[first], "right": names[second]})
    table["judge"] = [f"judge {at}" for at in rng.integers(judges, size=number)]
    table["prompt"] = [f"prompt {at}" for at in rng.integers(10, size=number)]
    table["time"] = np.sort(rng.integers(30, size=number))
    gap = utilities[first] - utilities[second]
    gap = gap if lead is None else gap + lead(table)
    won = np.where(rng.random(number) < expit(gap), "left", "right")
    table["winner"] = np.where(rng.random(number) < 0.1, "tie", won)
    return table


def read(table: pd.DataFrame) -> Comparisons:
    """Read votes with all that they carry."""
    return read_comparisons(
        table, judge="judge", context="prompt", columns=["time"], mirrored="twice"
    )


def mirror(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, and each of them with its arms in the other order."""
    turned = table.rename(columns={"left": "right", "right": "left"})
    sides = {"left": "right", "right": "left", "tie": "tie"}
    return pd.concat([table, turned.assign(winner=turned["winner"].map(sides))])


def _one_judge(table: pd.DataFrame) -> pd.DataFrame:
    half = np.arange(len(table)) % 2 == 0
    return table.assign(judge=np.where(half, "judge 7", table["judge"]))


def _circle(seed: int) -> pd.DataFrame:
    # Each of the three arms behind the first beats the next one.
    def lead(table: pd.DataFrame) -> np.ndarray:
        one, other = (
            table[side].map(ARMS.index).to_numpy() for side in ("left", "right")
        )
        among = (one > 0) & (other > 0)
        ahead = np.where((other - one) % 3 == 1, 1.0, -1.0)
        utilities = np.array([1.5, -0.5, -0.5, -0.5])
        gap = UTILITIES[one] - UTILITIES[other]
        return np.where(among, ahead, utilities[one] - utilities[other]) - gap

    return rows(seed, lead=lead)


def _drift(seed: int) -> pd.DataFrame:
    # The third arm comes up by 2.4 from the first day to the last.
    def lead(table: pd.DataFrame) -> np.ndarray:
        late = table["time"].to_numpy() / 15.0 - 1.0
        sides = ((table[side] == "curie").to_numpy() for side in ("left", "right"))
        one, other = sides
        return 1.2 * late * (1.0 * one - 1.0 * other)

    return rows(seed, lead=lead)


def _islands(seed: int) -> pd.DataFrame:
    table = rows(seed, 1600)
    front = {"ada", "bell"}
    same = table["left"].isin(front) == table["right"].isin(front)
    return table[same]


FAULTS: dict[str, tuple[str, Callable[[int], pd.DataFrame]]] = {
    "too few votes": ("votes", lambda seed: rows(seed, 50)),
    "duplicated votes": (
        "duplicates",
        lambda seed: pd.concat([rows(seed), rows(seed).iloc[200:400]]),
    ),
    "one judge casting half of them": (
        "share of judges",
        lambda seed: _one_judge(rows(seed)),
    ),
    "an order effect": (
        "order effect",
        lambda seed: rows(seed, lead=lambda table: np.full(len(table), 0.6)),
    ),
    "mirrored rows": ("mirrored rows", lambda seed: mirror(rows(seed))),
    "a disconnected graph": ("connectivity", _islands),
    "a cycle": ("cycles", _circle),
    "drift over time": ("drift", _drift),
    "a near tie": (
        "leader",
        lambda seed: rows(seed, utilities=np.array([1.0, 0.95, -0.5, -1.5])),
    ),
}
"""By what was planted, the check that has to warn, and the votes by seed."""
