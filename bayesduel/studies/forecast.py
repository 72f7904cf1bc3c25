"""How many votes a study still needs, by playing it on in simulations."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.simulated.asked_votes import asking_kernel, decisions
from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import SimulationArgumentError
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.stopping.rules import AnytimeEvidence, PosteriorProbability
from bayesduel.studies.fits import fit_votes
from bayesduel.studies.settings import Settings
from bayesduel.studies.state import StudyState
from bayesduel.studies.stopping import evidence_in_order

if TYPE_CHECKING:
    from jaxtyping import Float64, Int

    from bayesduel.models.fit.fit_result import Fit
    from bayesduel.policies.policy import PolicyBase
    from bayesduel.stopping.base import StoppingRule


_STAND_IN = "d-ts+"  # In place of policies that no kernel plays.
_SEED = 1  # Folded into that of the study: the draws are not those of its questions.


@dataclass(frozen=True)
class ForecastLine:
    """How many votes a rule still needs.

    Attributes
    ----------
    rule : str
        "anytime" or "posterior".
    lower, median, upper : int or None
        Votes still to be asked for; None where that is more than were simulated.
    undecided : float
        Share of the simulated studies in which the rule named no arm within them.
    within_budget : float or None
        Share in which it did before the budget of the study was spent.
    """

    rule: str
    lower: int | None
    median: int | None
    upper: int | None
    undecided: float
    within_budget: float | None


@dataclass(frozen=True)
class Forecast:
    """How many votes a study still needs, by simulation; see ``Study.forecast``.

    Attributes
    ----------
    probability : float
        Of the intervals.
    most_votes, num_runs : int
        Votes and studies that were simulated.
    lines : tuple of ForecastLine
    remarks : tuple of str
        What of the study was simulated differently.
    """

    probability: float
    most_votes: int
    num_runs: int
    lines: tuple[ForecastLine, ...]
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def words(self, line: ForecastLine) -> str:
        """Return what a line says in words.

        Examples
        --------
        >>> line = ForecastLine("anytime", 120, 300, None, 0.2, None)
        >>> Forecast(0.8, 5000, 400, (line,), ()).words(line)
        'about 300 votes more (80%: 120 to more than 5,000)'
        """
        if line.upper == 0:
            return "none: it names an arm now"
        most = f"more than {self.most_votes:,}"
        low, mid, high = (
            most if votes is None else f"{votes:,}"
            for votes in (line.lower, line.median, line.upper)
        )
        if line.lower is None:
            share = f"{line.undecided:.0%} of the simulated studies"
            return f"{most} votes more, in {share}"
        about = mid if line.median is None else f"about {mid}"
        return f"{about} votes more ({self.probability:.0%}: {low} to {high})"

    def __str__(self) -> str:
        return "\n".join(f"{line.rule}: {self.words(line)}" for line in self.lines)


def forecast_of(
    state: StudyState, probability: float, most_votes: int, num_runs: int
) -> Forecast:
    """Return the forecast from a state; see ``Study.forecast``."""
    settings = state.settings
    posterior = fit_votes(state, 0, 400, 400)
    truths = posterior.sample(settings.seed + _SEED, num_runs)
    left = votes_left(state)
    tail = (1.0 - probability) / 2.0
    lines = []
    for name, rule in simulated_rules(settings, posterior).items():
        needed = votes_needed(state, rule, truths, most_votes, settings.seed)
        quantiles = np.quantile(needed, [tail, 0.5, 1.0 - tail], method="inverted_cdf")
        lines.append(
            ForecastLine(
                name,
                *(
                    int(quantile) if math.isfinite(quantile) else None
                    for quantile in quantiles
                ),
                undecided=float(np.isinf(needed).mean()),
                within_budget=None if left is None else float((needed <= left).mean()),
            )
        )
    remarks = _remarks(state)
    if len(lines) == 1:
        remarks.append("the posterior rule of this model is not simulated")
    return Forecast(probability, most_votes, num_runs, tuple(lines), tuple(remarks))


def votes_left(state: StudyState) -> int | None:
    """Return how many votes may still come, by budget and cost; None without either."""
    budget, cost = state.settings.budget, state.settings.spending.cost
    left = []
    if budget is not None:
        share = state.num_votes / state.num_used if state.num_used else 1.0
        left.append((budget - state.num_used) * share)
    if cost is not None and state.num_votes and state.spent > 0.0:
        left.append((cost - state.spent) * state.num_votes / state.spent)
    return None if not left else max(0, math.floor(min(left) + 1e-9))


def votes_needed(
    state: StudyState,
    rule: StoppingRule,
    truths: Float64[np.ndarray, "run K K"],
    most_votes: int,
    seed: int,
) -> Float64[np.ndarray, " run"]:
    """Play a study on with each matrix; return the votes until an arm is named."""
    both = np.ix_(state.active, state.active)
    if isinstance(rule, AnytimeEvidence):
        now = evidence_in_order(state, rule).outcome
    else:
        now = rule.evaluate(state.wins[both])
    if now.stopped:
        return np.zeros(len(truths))
    share = _decisive_share(state)
    rounds = [event.duel["round"] for event in state.policy_events if event.duel]
    kernel = asking_kernel(
        _who_asks(state)[0],
        len(state.active),
        state.settings.budget or LONGEST_HORIZON,
        rounds=max([int(state.epoch_wins.sum()), *rounds]),
        prices=state.pair_prices,
    )
    runs = decisions(
        kernel, rule, truths, budget=max(1, math.floor(most_votes * share)), seed=seed,
        votes=_votes_of(state),
    )  # fmt: skip
    return np.where(runs.votes < 0, np.inf, np.ceil(runs.votes / share))


def _votes_of(state: StudyState) -> Int[np.ndarray, "vote 3"]:
    # Winner and loser of every vote, and whether the rules count it: ties are votes by
    # a coin for the policy, and none for the rules.
    both, votes = np.ix_(state.active, state.active), []
    won = state.wins[both].astype(np.int64)
    for counts, counted in ((won, 1), (state.policy_wins[both] - won, 0)):
        first, second = np.nonzero(counts)
        pairs = np.column_stack([first, second, np.full(len(first), counted)])
        votes.append(np.repeat(pairs, counts[first, second], axis=0))
    return np.concatenate(votes).astype(np.int64)


def simulated_rules(settings: Settings, posterior: Fit) -> dict[str, StoppingRule]:
    """Return the rules of ``status`` that a simulation can look at."""
    weight = 1.0 / len(settings.arms)
    anytime = AnytimeEvidence(settings.delta, width=settings.width, weight=weight)
    rules: dict[str, StoppingRule] = {"anytime": anytime}
    model = posterior.model
    if isinstance(model, PairwiseBeta) and isinstance(model.prior, int | float):
        prior = float(model.prior)
        rules["posterior"] = PosteriorProbability(settings.delta, prior=prior)
    return rules


def _decisive_share(state: StudyState) -> float:
    both = np.ix_(state.active, state.active)
    won, tied = state.wins[both].sum(), state.ties[both].sum() / 2.0
    return float((won + 1.0) / (won + tied + 1.0))


def who_is_simulated(settings: Settings) -> tuple[str | PolicyBase, str]:
    """Return who asks as the study does, or nearly, and what to say of it."""
    if settings.policy != "information":
        return settings.policy, ""
    if not isinstance(settings.model, PairwiseBeta):
        return "balanced", "simulated studies ask the pair with the fewest votes"
    from bayesduel.models.in_policies.betas import BetaPairs
    from bayesduel.policies.identification.expected_information import (
        ExpectedInformation,
    )

    distributions = BetaPairs(np.asarray(settings.model.prior, dtype=np.float64))
    return ExpectedInformation(posterior=distributions), ""


def _who_asks(state: StudyState) -> tuple[str | PolicyBase, str]:
    # The same, or D-TS+ for what no kernel plays.
    policy, remark = who_is_simulated(state.settings)
    given = len(state.active), state.settings.budget or LONGEST_HORIZON
    try:
        asking_kernel(policy, *given, prices=state.pair_prices)
    except SimulationArgumentError:
        return _STAND_IN, f"simulated studies ask as {_STAND_IN} does"
    return policy, remark


def _remarks(state: StudyState) -> list[str]:
    settings, share = state.settings, _decisive_share(state)
    taken_back = any(
        question.withdrawn or question.answer != question.first_answer
        for question in state.questions.values()
    )
    remarks = (
        (True, _who_asks(state)[1]),
        (taken_back or state.open,
         "votes that are out or were taken back count for nothing here"),
        (share < 1.0, f"ties are taken to come in {1 - share:.0%} of the votes"),
        (settings.blocked or settings.floor or state.num_skipped,
         "the floor, and blocked or skipped pairs, are not simulated"),
        (state.num_nothing, "contradictions are taken to use up the budget as so far"),
        (settings.spending.cost is not None,
         "votes are taken to cost what they have cost so far"),
        (len(settings.stop_when) > 1,
         "the asking is taken to go on until the rule of each line stops"),
    )  # fmt: skip
    return [text for holds, text in remarks if holds and text]
