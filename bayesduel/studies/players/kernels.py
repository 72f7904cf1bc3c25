"""A policy that a kernel plays, asked by people: the rule that simulations run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.policies.policy import declared
from bayesduel.simulation.runs import PROGRAMS
from bayesduel.simulation.scalar.asking import FOUND, VOTE, Asker
from bayesduel.studies.players.played import Player, PlayerState, generator
from bayesduel.studies.replay.questions import PolicyEvent
from bayesduel.studies.replay.state import StudyState

if TYPE_CHECKING:
    from bayesduel.policies.policy import PolicyBase
    from bayesduel.policies.scalar_kernel import ScalarKernel

__all__ = ["KernelPlayer"]

_PROGRAM = PROGRAMS["scalar"]


class KernelPlayer(Player):
    """Asks the kernel of a policy.

    What another program asked for, as in files of older versions, it takes for votes
    that nobody asked for: it was not in the state that chose them.
    """

    def __init__(
        self, policy: PolicyBase, kernel: ScalarKernel, state: StudyState
    ) -> None:
        plans = declared(policy, "needs_horizon")
        horizon = state.settings.budget if plans else None
        self._horizon = LONGEST_HORIZON if horizon is None else horizon
        self._generator = partial(generator, state)
        self._serve = kernel.solve_on_host
        self._asker = Asker(kernel.name)
        order = np.arange(len(state.active), dtype=np.int64)
        game = PlayerState(kernel.new_state(order, self._horizon))
        super().__init__(state, game)

    def _ask(self, game: PlayerState, number: int) -> dict[str, Any] | None:
        before, found = game.round, np.zeros(1, dtype=FOUND)
        rng = self._generator(number)
        self._asker.ask(game.state, rng, game.round, self._horizon, found)
        while self._serve(game.state):
            round_ = int(found[0]["round"])
            self._asker.ask(game.state, rng, round_, self._horizon, found)
        game.round = int(found[0]["round"])
        if not found[0]["has_duel"]:
            return None
        chosen = [found[0][name] for name in ("champion", "idle", "first", "second")]
        duel = self._duel(game, before, chosen)
        return duel | {"note": [int(found[0]["noted"])], "program": _PROGRAM}

    def _begin(self, told: list[PolicyEvent]) -> None:
        self._tell([row for each in told for row in self._votes(each)], begins=True)

    def _follow(self, told: Iterable[PolicyEvent]) -> None:
        told = list(told)
        for place, each in enumerate(told):
            self._asker.expect(len(told) - place)
            if each.duel is not None:
                self._tell(self._votes(each), each.number)
            elif each.program == _PROGRAM:
                self._ask(self._game, each.number)

    def _votes(self, told: PolicyEvent) -> list[tuple[int, ...]]:
        """Return the votes of an event, those for its first arm first."""
        first, second = self._places(told)
        duel = told.duel or {}
        mine = told.asked_for and duel.get("program") == _PROGRAM
        round_, noted = (duel["round"], *duel["note"]) if mine else (0, 0)
        counts = (told.wins, 1), (told.votes - told.wins, 0)
        return [
            (first, second, round_, noted, won, count) for count, won in counts if count
        ]

    def _tell(
        self, votes: list[tuple[int, ...]], number: int = 0, *, begins: bool = False
    ) -> None:
        """Tell the policy of votes; those it did not ask for take rounds now."""
        game, rows = self._game, np.array(votes, dtype=VOTE)
        rng = self._generator(number)
        game.round = self._asker.tell_votes(game.state, rng, game.round, begins, rows)
        while self._serve(game.state):
            game.round = self._asker.tell_votes(
                game.state, rng, game.round, False, rows
            )
