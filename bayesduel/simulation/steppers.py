"""A policy of any kind, advanced by one question or one answer at a time.

A stepper knows the policy, and a :class:`Memory` what happened to it. All that is
random about an event is a function of the seed and the number of the event, so that the
same events give the same questions. Arms are positions from 0, in the order given.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.errors import PolicyParameterError, SimulationError
from bayesduel.ops.scalar.compiled import Records
from bayesduel.policies.policy import Policy, Problem, Wins, check_rule, declared
from bayesduel.simulation.kernel_calls import VOTES, KernelCalls
from bayesduel.simulation.runs import PROGRAMS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from numpy.random import Generator

    from bayesduel.policies.scalar_kernel import ScalarKernel


@dataclass
class Memory:
    """The policy in the middle of its questions, and the rounds on its clock."""

    state: Any
    round: int = 0


class Question(NamedTuple):
    """A pair that a policy asks for.

    Attributes
    ----------
    first, second : int
        The arms, which differ.
    votes : int
        How many votes of the pair the policy asks for at once.
    champion, exploit : int
        The arm that met itself last before, and for how many rounds.
    idle : int
        Rounds of self-duels since the last question.
    round : int
        The round of the last vote on the clock of the policy.
    note : tuple of int
        One number that a kernel must be reminded of with the answer, or none.
    """

    first: int
    second: int
    votes: int
    champion: int
    exploit: int
    idle: int
    round: int
    note: tuple[int, ...] = ()


def question_of(duel: Any, votes: int, exploit: int, before: int, now: int) -> Question:
    """Return the question of a duel that ends in round ``now``; last was ``before``."""
    return Question(
        first=int(duel.first),
        second=int(duel.second),
        votes=votes,
        champion=int(duel.champion),
        exploit=exploit,
        idle=now - before - votes,
        round=now,
    )


class Stepper(ABC):
    """Advances a policy; ``program`` is the version of its random stream, if any."""

    program: str | None = None

    def __init__(self, num_arms: int, seed: int, epoch: int) -> None:
        self._num_arms, self._seed, self._epoch = num_arms, seed, epoch
        # One generator throughout: compiled code takes long to get to know another.
        self._rng = np.random.Generator(np.random.PCG64(0))

    def _generator(self, number: int) -> Generator:
        """Return ``np.random.default_rng((seed, epoch, number))``, 0 at the start."""
        words = np.random.SeedSequence((self._seed, self._epoch, number))
        self._rng.bit_generator.state = np.random.PCG64(words).state
        return self._rng

    @abstractmethod
    def begin(self, wins: Int[np.ndarray, "K K"]) -> Memory:
        """Return the memory after votes that the policy did not ask for."""

    def copied(self, memory: Memory) -> Memory:
        """Return a copy that later events leave alone."""
        return deepcopy(memory)

    def packed(self, memory: Memory) -> Memory:
        """Return a memory to be pickled, without tables that all states share."""
        return memory

    def restored(self, memory: Memory) -> Memory:
        """Return what :meth:`packed` returned with these tables."""
        return memory

    def expect(self, more: int) -> None:  # noqa: B027
        """Prepare for so many more votes and questions."""

    @abstractmethod
    def ask(self, memory: Memory, number: int) -> Question | None:
        """Let the policy choose until it names different arms, if it does."""

    @abstractmethod
    def tell(
        self,
        memory: Memory,
        number: int,
        question: Question | None,
        pair: tuple[int, int],
        wins: int,
        votes: int,
    ) -> None:
        """Tell the policy of votes of a pair, of which the first arm won ``wins``."""
        # Votes without a question take rounds now. Votes of a question may be fewer
        # than it asked for, or none.

    @abstractmethod
    def recommend(self, memory: Memory) -> int:
        """Return the arm that the policy believes to be best."""


def coin(seed: int, number: int) -> bool:
    """Return a fair bit for each number, the same in every replay: who wins a tie."""
    return bool(zlib.crc32(f"{seed}/{number}".encode()) & 1)


def near_pairs(
    allowed: Bool[np.ndarray, "K K"], first: int, second: int
) -> Bool[np.ndarray, "K K"]:
    """Return the allowed pairs with one of two arms, or all where there are none."""
    among = np.isin(np.arange(len(allowed)), (first, second))
    near = allowed & (among[:, None] | among[None, :])
    return near if near.any() else allowed


def pairs_of(wins: Int[np.ndarray, "K K"]) -> list[tuple[tuple[int, int], int, int]]:
    """Return the pairs that have votes, wins of the lower arm, and their votes."""
    votes = np.triu(wins + wins.T)
    return [
        ((int(low), int(high)), int(wins[low, high]), int(votes[low, high]))
        for low, high in zip(*np.nonzero(votes), strict=True)
    ]


def votes_of(wins: Int[np.ndarray, "K K"]) -> Records:
    """Return rows of ``VOTES``, pair by pair, of votes that nobody asked for."""
    pairs = pairs_of(wins)
    rows = np.zeros(2 * len(pairs), dtype=VOTES)
    for row, ((low, high), won, votes) in enumerate(pairs):
        rows[2 * row] = low, high, 0, 0, 1, won
        rows[2 * row + 1] = low, high, 0, 0, 0, votes - won
    return rows[rows["count"] > 0]


class RuleStepper(Stepper):
    """Advances a policy in NumPy."""

    def __init__(
        self,
        policy: Policy,
        num_arms: int,
        seed: int,
        epoch: int,
        horizon: int | None,
        features: Float[np.ndarray, "K d"] | None,
    ) -> None:
        super().__init__(num_arms, seed, epoch)
        check_rule(policy)
        self._policy, self._in_bulk = policy, declared(policy, "explores_in_bulk")
        self._horizon = horizon or LONGEST_HORIZON
        self._features = features
        self._context: tuple[Any, ...] = ()
        if declared(policy, "contextual"):
            if features is None:
                rule = "must be given for a contextual policy"
                remedy = "give a table with a row for each arm, as features="
                raise PolicyParameterError("features", rule, None, remedy=remedy)
            self._context = (features,)

    def begin(self, wins: Int[np.ndarray, "K K"]) -> Memory:
        """Tell votes one by one; a policy that plans batches counts only its own."""
        problem = Problem(self._num_arms, self._horizon)
        if self._features is not None:
            problem = problem._replace(
                features=np.array(self._features), num_features=self._features.shape[1]
            )
        memory = Memory(self._policy.start(problem, self._generator(0)))
        if not self._in_bulk:
            for number, (pair, won, votes) in enumerate(pairs_of(wins)):
                self.tell(memory, number, None, pair, won, votes)
        return memory

    def ask(self, memory: Memory, number: int) -> Question | None:
        """Let the policy choose."""
        from bayesduel.simulation.rounds import as_duel

        rng, before = self._generator(number), memory.round
        choose: Any = self._policy.choose
        for _ in range(PATIENCE):
            round_ = memory.round + 1
            duel = as_duel(choose(memory.state, rng, round_, *self._context))
            for arm in (duel.champion, duel.first, duel.second):
                if not 0 <= arm < self._num_arms:
                    raise SimulationError(
                        f"{self._policy.label}: choose named the arm {arm} in its "
                        f"round {round_}; arms are numbered 0 to {self._num_arms - 1}"
                    )
            idle = min(int(duel.idle_rounds), self._horizon - memory.round)
            memory.round += idle
            if memory.round >= self._horizon:
                return None
            rounds = min(int(duel.explores), self._horizon - memory.round)
            memory.round += rounds
            if rounds > 0 and duel.first != duel.second:
                return question_of(duel, rounds, idle, before, memory.round)
        return None

    def tell(
        self,
        memory: Memory,
        number: int,
        question: Question | None,
        pair: tuple[int, int],
        wins: int,
        votes: int,
    ) -> None:
        """Tell the policy of votes, one by one unless it explores in bulk."""
        rng, update = self._generator(number), self._policy.update
        if self._in_bulk:
            if question is not None:
                # Also where nobody answered: then that is the outcome.
                won = Wins(wins, votes)
                update(memory.state, rng, question.round, *pair, won, *self._context)
            return
        for vote in range(votes):
            memory.round += question is None
            round_ = memory.round if question is None else question.round
            won = vote < wins
            update(memory.state, rng, round_, *pair, won, *self._context)

    def recommend(self, memory: Memory) -> int:
        """Return the arm that the policy recommends."""
        from bayesduel.simulation.rounds import as_arm

        rng = np.random.default_rng((self._seed, self._epoch, 0, 1))
        arm = as_arm(self._policy.recommend(memory.state, rng))
        if not 0 <= arm < self._num_arms:
            raise SimulationError(
                f"{self._policy.label}: recommend named the arm {arm}; arms are "
                f"numbered 0 to {self._num_arms - 1}"
            )
        return arm


class KernelStepper(Stepper):
    """Advances the kernel of a policy."""

    program = PROGRAMS["scalar"]

    def __init__(
        self,
        kernel: ScalarKernel,
        num_arms: int,
        seed: int,
        epoch: int,
        horizon: int | None,
        compiled: bool | None,
    ) -> None:
        super().__init__(num_arms, seed, epoch)
        self._kernel, self._horizon = kernel, horizon or LONGEST_HORIZON
        self._calls = KernelCalls(kernel, compiled, num_arms)

    def begin(self, wins: Int[np.ndarray, "K K"]) -> Memory:
        """Tell votes pair by pair."""
        memory = Memory(self._new_state())
        self._tell(memory, 0, votes_of(wins), begins=True)
        return memory

    def copied(self, memory: Memory) -> Memory:
        """Copy the arrays of the state, without tables that all states share."""
        return self._mapped(memory, np.ndarray.copy, lambda new: new)

    def packed(self, memory: Memory) -> Memory:
        """Leave out tables that all states share."""
        nothing = np.zeros(0)
        return self._mapped(memory, lambda array: array, lambda new: nothing)

    def restored(self, memory: Memory) -> Memory:
        """Put the tables that all states share in place of their copies."""
        return self._mapped(memory, lambda array: array, lambda new: new)

    def _mapped(self, memory: Memory, change: Any, change_shared: Any) -> Memory:
        """Return a memory with other arrays; those differ that all new states share."""

        def mapped(state: Any, first: Any, second: Any) -> Any:
            if isinstance(state, tuple):
                made: Any = state
                return made._make(map(mapped, state, first, second))
            return change_shared(first) if first is second else change(state)

        return Memory(mapped(memory.state, *self._two_new), memory.round)

    @cached_property
    def _two_new(self) -> tuple[Any, Any]:
        return self._new_state(), self._new_state()

    def _new_state(self) -> Any:
        order = np.arange(self._num_arms, dtype=np.int64)
        return self._kernel.new_state(order, self._horizon)

    def expect(self, more: int) -> None:
        """Let compiled code take over where much is to come."""
        self._calls.expect(more)

    def ask(self, memory: Memory, number: int) -> Question | None:
        """Let the policy choose."""
        rng, before = self._generator(number), memory.round
        ask, horizon = self._calls.ask, self._horizon
        memory.round, duel, note = ask(memory.state, rng, before, horizon)
        while self._kernel.solve_on_host(memory.state):
            memory.round, duel, note = ask(memory.state, rng, memory.round, horizon)
        if duel is None:
            return None
        champion, exploit, first, second, _ = duel
        since, round_ = memory.round - before - 1, memory.round
        return Question(first, second, 1, champion, exploit, since, round_, (note,))

    def tell(
        self,
        memory: Memory,
        number: int,
        question: Question | None,
        pair: tuple[int, int],
        wins: int,
        votes: int,
    ) -> None:
        """Tell the policy of votes, those for the first arm first."""
        rows = np.zeros(2, dtype=VOTES)
        round_, note = (0, 0) if question is None else (question.round, *question.note)
        rows[0] = *pair, round_, note, 1, wins
        rows[1] = *pair, round_, note, 0, votes - wins
        self._tell(memory, number, rows, begins=False)

    def _tell(
        self, memory: Memory, number: int, votes: np.ndarray, *, begins: bool
    ) -> None:
        tell, rng = self._calls.tell, self._generator(number)
        memory.round = tell(memory.state, rng, memory.round, votes, begins=begins)
        while self._kernel.solve_on_host(memory.state):
            memory.round = tell(memory.state, rng, memory.round, votes, begins=False)

    def recommend(self, memory: Memory) -> int:
        """Return the arm that the policy recommends."""
        rng = np.random.default_rng((self._seed, self._epoch, 0, 1))
        state = memory.state
        arm = self._calls.call("recommend", state, rng)
        while self._kernel.solve_on_host(state):
            arm = self._calls.call("recommend", state, rng)
        return arm
