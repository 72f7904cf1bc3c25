"""Runs: who answers, the order of the arms, the seeds, and playing in segments.

The order and the seed of a run are a function of the seed and the number of the run,
and of nothing else: in NumPy, so that nothing is compiled for it, by the rules of
``jax.random`` for its default generator.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num, UInt32

from bayesduel.errors import SimulationError
from bayesduel.instances.subset_world import SubsetWorld
from bayesduel.instances.world import World

# --- Who answers ---------------------------------------------------------------------


@dataclass(frozen=True)
class PairwiseEnvironment:
    """Independent answers with fixed probabilities.

    Parameters
    ----------
    preference : float64 (K, K)
        P(arm i is preferred to arm j).
    shuffle : bool
        Relabel the arms at random in each run, so that no policy profits from their
        order.
    features : float64 (K, d), optional
        What policies know of the arms.
    prices : float64 (K, K), optional
        What duels cost, for policies that go by prices.
    """

    preference: Float[np.ndarray, "K K"]
    shuffle: bool = True
    features: Float[np.ndarray, "K d"] | None = None
    prices: Float[np.ndarray, "K K"] | None = None

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.preference.shape[0]

    def with_original_labels(
        self,
        ledger: dict[str, Num[np.ndarray, "run C ..."]],
        recommendation: Int[np.ndarray, " run"],
        order: Int[np.ndarray, "run K"],
    ) -> tuple[dict[str, Num[np.ndarray, "run C ..."]], Int[np.ndarray, " run"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        best = np.take_along_axis(order, recommendation[:, None], axis=1)[:, 0]
        plays = plays_by_arm(ledger["plays"], order)
        return ledger | {"plays": plays}, best.astype(np.int64)


@dataclass(frozen=True)
class WorldEnvironment:
    """A world other than a preference matrix, which adds up regret itself."""

    world: World
    num_notions: int
    shuffle: bool = True

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.world.num_arms  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def features(self) -> Float[np.ndarray, "K d"] | None:
        """Features of the arms that hold in all rounds."""
        return self.world.arm_features

    with_original_labels = PairwiseEnvironment.with_original_labels


def num_features(environment: Any) -> int:
    """Return how many features arms have, fixed or new in every round; 0 if unknown."""
    if environment.features is not None:
        return environment.features.shape[1]
    return int(getattr(getattr(environment, "world", None), "num_features", 0))


@dataclass(frozen=True, eq=False)
class SubsetEnvironment:
    """A world of subset choice, and what is recorded there.

    Parameters
    ----------
    world : SubsetWorld
        Answers offers.
    notions : tuple of str
        The notions of regret that are recorded.
    shuffle : bool
        Relabel the arms at random in each run.
    """

    world: SubsetWorld
    notions: tuple[str, ...]
    shuffle: bool = True

    @property
    def num_arms(self) -> int:
        """Number of arms n."""
        return self.world.num_arms

    @property
    def features(self) -> Float[np.ndarray, "n d"] | None:
        """Features of the arms that hold in all rounds."""
        table = self.world.arm_features
        return None if table is None else np.array(table, dtype=np.float64)

    def with_original_labels(
        self,
        ledger: dict[str, Num[np.ndarray, "run C ..."]],
        recommendation: Bool[np.ndarray, "run n"],
        order: Int[np.ndarray, "run n"],
    ) -> tuple[dict[str, Num[np.ndarray, "run C ..."]], Bool[np.ndarray, "run n"]]:
        """Turn positions into arms, in what was recorded and recommended."""
        position = np.argsort(order, axis=1)
        offers = np.take_along_axis(ledger["offers"], position[:, None, :], axis=2)
        best = np.take_along_axis(recommendation, position, axis=1)
        return {"offers": offers, "regret": ledger["regret"]}, best


# Environments in which policies are simulated: duels, or offers of sets
type Environment = PairwiseEnvironment | WorldEnvironment | SubsetEnvironment


def plays_by_arm(
    plays: Int[np.ndarray, "run C K K"], order: Int[np.ndarray, "run K"]
) -> Int[np.ndarray, "run C K K"]:
    """Return plays by arms, in the upper triangle, from plays by positions."""
    num_arms = plays.shape[-1]
    position = np.argsort(order, axis=1)
    run = np.arange(len(plays))[:, None, None, None]
    checkpoint = np.arange(plays.shape[1])[None, :, None, None]
    row = position[:, None, :, None]
    column = position[:, None, None, :]
    plays_in_order = plays[run, checkpoint, row, column]
    both = plays_in_order + np.swapaxes(plays_in_order, 2, 3)
    upper = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
    diagonal = np.eye(num_arms, dtype=bool)
    return np.where(upper, both, np.where(diagonal, plays_in_order, 0))


# --- Orders and seeds ----------------------------------------------------------------

Word = UInt32[np.ndarray, "..."]

# Number that is folded in instead of an event number when a run starts
INIT = 2**32 - 1


def orders_and_words(
    environment: Environment, runs: range, seed: int
) -> tuple[Int[np.ndarray, "run K"], UInt32[np.ndarray, "run 2"]]:
    """Return the order of the arms in every run, and the words of its key."""
    # Words are those of ``jax.random.key_data(fold_in(key(seed), number))``. An order
    # is drawn by ``split(fold_in(key, INIT))[0]``: arms are sorted by 32 random bits
    # each, as by ``jax.random.permutation``. Seeds are below 2^63, numbers of runs
    # below 2^32.
    num_arms, shuffle = environment.num_arms, environment.shuffle
    # Chunks are short, and a few hundred numbers take NumPy as long as twenty.
    size = max(16, 2048 // num_arms)
    blocks = range(runs.start // size, -(-runs.stop // size))
    drawn = [
        _draw_block(num_arms, shuffle, seed, range(block * size, (block + 1) * size))
        for block in blocks
    ]
    order, words = (np.concatenate(arrays) for arrays in zip(*drawn, strict=True))
    first = runs.start - blocks.start * size
    return order[first : first + len(runs)], words[first : first + len(runs)]


@lru_cache(maxsize=4)
def _draw_block(
    num_arms: int, shuffle: bool, seed: int, runs: range
) -> tuple[Int[np.ndarray, "run K"], UInt32[np.ndarray, "run 2"]]:
    root = (_row(seed >> 32), _row(seed & 0xFFFFFFFF))
    key = _folded(root, np.arange(runs.start, runs.stop, dtype=np.uint32)[:, None])
    words = np.concatenate(key, axis=1)
    if not shuffle:
        order = np.arange(num_arms, dtype=np.int32)
        return np.tile(order, (len(runs), 1)), words
    key_environment = _folded(_folded(key, _row(INIT)), _row(0))
    key_bits = _folded(key_environment, _row(1))
    high, low = threefry(key_bits, (_row(0), _row(*range(num_arms))))
    order = np.argsort(high ^ low, axis=1, kind="stable")
    return order.astype(np.int32), words


def _folded(key: tuple[Word, Word], number: Word) -> tuple[Word, Word]:
    """Return ``fold_in(key, number)``, which is ``split(key, n)[number]`` as well."""
    return threefry(key, (np.zeros_like(number), number))


def _row(*numbers: int) -> UInt32[np.ndarray, "1 n"]:
    return np.array([numbers], dtype=np.uint32)


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_WORD = 32


def threefry(key: tuple[Word, Word], count: tuple[Word, Word]) -> tuple[Word, Word]:
    """Return Threefry-2x32 with 20 rounds of counts by keys, the generator of JAX."""
    # Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers", SC 2011.
    schedule = (*key, key[0] ^ key[1] ^ _PARITY)
    left_word, right_word = count[0] + schedule[0], count[1] + schedule[1]
    for group in range(1, 6):
        for rotation in _ROTATIONS[(group - 1) % 2]:
            left_word = left_word + right_word
            left = right_word << np.uint32(rotation)
            right_word = (left | right_word >> np.uint32(_WORD - rotation)) ^ left_word
        left_word = left_word + schedule[group % 3]
        right_word = right_word + schedule[(group + 1) % 3] + np.uint32(group)
    return left_word, right_word


# --- Playing -------------------------------------------------------------------------

# Names of the engines in results, with a version of their random streams: it grows
# where run r of a seed becomes another one. ``late`` is JAX where duels are told late,
# or self-duels left out.
PROGRAMS = {"scalar": "kernel-1", "jax": "jax-3", "late": "jax-4", "numpy": "numpy-1"}


@dataclass(frozen=True)
class RunRecords:
    """NumPy results of a chunk of runs, in the original labels of the arms."""

    ledger: dict[str, np.ndarray]
    recommendation: np.ndarray
    info: dict[str, np.ndarray]
    events: np.ndarray
    run_seconds: float
    compile_seconds: float
    device: str = "cpu"  # The device, as JAX calls it


type GoOn = Callable[[int], tuple[Any, Any]]


def play_runs(
    policy_runs: Any,
    words: UInt32[np.ndarray, "run W"],
    *,
    runs: range,
    horizon: int,
    event_limit: int,
    segment_seconds: float,
    on_progress: Callable[[float], None] | None = None,
) -> RunRecords:
    """Play the runs numbered ``runs``, each with a generator seeded by its words."""
    # In segments of about ``segment_seconds``; ``on_progress`` is called in between
    # with the share of rounds played, on a log scale.
    began = time.perf_counter()
    rng = new_generator()
    policy_runs.compile(rng)
    compiled = reported = time.perf_counter()
    infos: list[dict[str, Any]] = []
    more = 1  # Events of a segment; of an expensive model, one takes seconds.
    for done in range(0, len(runs), policy_runs.side_by_side):
        reseed(rng, words[done])
        beside = runs[done : done + policy_runs.side_by_side]
        go_on, limit, plays = policy_runs.begin(done, rng), 0, np.array([True])
        while plays.any():
            limit = min(limit + more, event_limit)
            start = time.perf_counter()
            events, played = (np.atleast_1d(x)[: len(beside)] for x in go_on(limit))
            now = time.perf_counter()
            plays = played < horizon
            for row in np.flatnonzero(plays & (events >= event_limit)):
                raise SimulationError(
                    f"run {beside[row]} stopped at round {played[row] + 1} after "
                    f"{events[row]} events: at most {events[row]} fit into its counts; "
                    "shorten the horizon or use look-ahead"
                )
            if plays.any():
                longer = more * segment_seconds / max(now - start, 1e-3)
                more = int(np.clip(longer, 1, 1e9))
            finished = done + len(beside) - int(plays.sum())
            is_due = finished == len(runs) or now - reported > segment_seconds
            if on_progress is not None and is_due:
                others = np.log1p(played[plays]).sum() / np.log1p(horizon)
                on_progress(float((finished + others) / len(runs)))
                reported = now
        infos.append(policy_runs.info())
    if any(info.keys() != infos[0].keys() for info in infos):
        raise SimulationError("info must name the same numbers after every run")
    numbers = {
        name: np.concatenate([np.atleast_1d(info[name]) for info in infos])[: len(runs)]
        for name in infos[0]
    }
    ledger, recommendation, events, stops = policy_runs.results(len(runs))
    return RunRecords(
        ledger=ledger,
        recommendation=recommendation,
        info=numbers | stops,
        events=events,
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=policy_runs.device,
    )


def new_generator() -> np.random.Generator:
    """Return a generator that :func:`reseed` seeds run after run."""
    # NumPy's fastest. Another one costs compiled code the time of 50 duels.
    return np.random.Generator(np.random.SFC64(0))


def reseed(rng: np.random.Generator, seed: UInt32[np.ndarray, " W"]) -> None:
    """Seed the generator for a run."""
    rng.bit_generator.state = np.random.SFC64(np.random.SeedSequence(seed)).state


OF_WORLDS = 1  # Added to the words that seed a run, for the generator of its world
