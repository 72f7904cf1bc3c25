"""Policies in NumPy and of kernels, asked by people: the rules of simulations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON, PATIENCE
from bayesduel.errors import SimulationError
from bayesduel.policies.policy import Policy, Problem, Wins, check_rule, declared
from bayesduel.simulation.kernel_calls import VOTES, KernelCalls
from bayesduel.simulation.runs import PROGRAMS
from bayesduel.studies.players.played import Player, PlayerState, generator
from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState

if TYPE_CHECKING:
    from bayesduel.policies.policy import PolicyBase
    from bayesduel.policies.scalar_kernel import ScalarKernel

__all__ = ["KernelPlayer", "RulePlayer"]


class RulePlayer(Player):
    """Asks a policy in NumPy."""

    def __init__(self, policy: Policy, state: StudyState) -> None:
        check_rule(policy)
        self._policy = policy
        self._in_bulk = declared(policy, "explores_in_bulk")
        self._horizon = state.settings.budget or LONGEST_HORIZON
        self._generator = partial(generator, state)
        known = getattr(state.model, "features", None)
        features = None if known is None else np.array(known)
        problem = Problem(len(state.active), self._horizon, features)
        began = policy.start(problem, self._generator(0))
        super().__init__(state, PlayerState(began))

    def _begin(self, told: list[PolicyEvent]) -> None:
        """Go through votes from before; one that plans batches counts its own only."""
        if not self._in_bulk:
            super()._begin(told)

    def _ask(self, number: int) -> dict[str, Any] | None:
        from bayesduel.simulation.rounds import as_duel

        game, rng = self._game, self._generator(number)
        before = game.round
        for _ in range(PATIENCE):
            duel = as_duel(self._policy.choose(game.state, rng, game.round + 1))
            self._check(duel, game.round + 1)
            idle = min(int(duel.idle_rounds), self._horizon - game.round)
            game.round += idle
            if game.round >= self._horizon:
                return None
            rounds = min(int(duel.explores), self._horizon - game.round)
            game.round += rounds
            if rounds > 0 and duel.first != duel.second:
                chosen = duel.champion, idle, duel.first, duel.second
                return self._duel(before, chosen, rounds)
        return None

    def _check(self, duel: Any, round_: int) -> None:
        for arm in (duel.champion, duel.first, duel.second):
            if not 0 <= arm < len(self.positions):
                raise SimulationError(
                    f"{self._policy.label}: choose named the arm {arm} in its round "
                    f"{round_}; arms are numbered 0 to {len(self.positions) - 1}"
                )

    def _tell(self, told: PolicyEvent) -> None:
        game, rng = self._game, self._generator(told.number)
        (first, second), duel = self._places(told), told.duel or {}
        if self._in_bulk:
            if told.asked_for:
                # Also where nobody answered: then that is what came of the duel.
                won = Wins(told.wins, told.votes)
                self._policy.update(game.state, rng, duel["round"], first, second, won)
            return
        for vote in range(told.votes):
            if not told.asked_for:
                game.round += 1
            round_ = duel.get("round", game.round)
            won = vote < told.wins
            self._policy.update(game.state, rng, round_, first, second, won)


class KernelPlayer(Player):
    """Asks the kernel of a policy."""

    program = PROGRAMS["scalar"]

    def __init__(
        self, policy: PolicyBase, kernel: ScalarKernel, state: StudyState
    ) -> None:
        plans = declared(policy, "needs_horizon")
        horizon = state.settings.budget if plans else None
        self._horizon = LONGEST_HORIZON if horizon is None else horizon
        self._generator = partial(generator, state)
        self._serve = kernel.solve_on_host
        self._calls = KernelCalls(kernel)
        order = np.arange(len(state.active), dtype=np.int64)
        game = PlayerState(kernel.new_state(order, self._horizon))
        super().__init__(state, game)

    def _begin(self, told: list[PolicyEvent]) -> None:
        votes = [self._votes(each) for each in told] or [np.zeros(0, dtype=VOTES)]
        self._hear(np.concatenate(votes), begins=True)

    def _expect(self, more: int) -> None:
        self._calls.expect(more)

    def _ask(self, number: int) -> dict[str, Any] | None:
        game, rng = self._game, self._generator(number)
        before, given = game.round, (game.state, rng)
        game.round, chosen, note = self._calls.ask(*given, game.round, self._horizon)
        while self._serve(game.state):
            rest = game.round, self._horizon
            game.round, chosen, note = self._calls.ask(*given, *rest)
        if chosen is None:
            return None
        duel = self._duel(before, chosen[:4])
        return duel | {"note": [note], "program": self.program}

    def _tell(self, told: PolicyEvent) -> None:
        self._hear(self._votes(told), told.number)

    def _votes(self, told: PolicyEvent) -> np.ndarray:
        """Return the votes of an event, those for its first arm first."""
        votes = np.zeros(2, dtype=VOTES)
        votes["first"], votes["second"] = self._places(told)
        votes["won"], votes["count"] = (1, 0), (told.wins, told.votes - told.wins)
        if told.duel and told.duel.get("program") == self.program:
            votes["round"], (votes["note"],) = told.duel["round"], told.duel["note"]
        return votes[votes["count"] > 0]

    def _hear(
        self, votes: np.ndarray, number: int = 0, *, begins: bool = False
    ) -> None:
        """Tell the policy of votes, a new one after its preparation."""
        game, tell, rng = self._game, self._calls.tell, self._generator(number)
        game.round = tell(game.state, rng, game.round, votes, begins=begins)
        while self._serve(game.state):
            game.round = tell(game.state, rng, game.round, votes, begins=False)
