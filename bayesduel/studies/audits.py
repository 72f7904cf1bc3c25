"""How often the rules of a study stop wrongly: measured once, and kept with it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from bayesduel.errors import SimulationArgumentError
from bayesduel.studies.events import Audited
from bayesduel.studies.fits import fit_votes
from bayesduel.studies.state import StudyState
from bayesduel.studies.stopping import MeasuredRate
from theory.arguments import integer_from

if TYPE_CHECKING:
    from bayesduel.analysis import StoppingAudit


_BUDGET = 2000  # Votes of an audited study without a budget.


@dataclass(frozen=True)
class StoredAudit:
    """The last audit of a study, and the design that it was made for.

    Attributes
    ----------
    policy, model : str
        Who asked, and what the truths were drawn from, given ``votes``.
    arms : tuple of str
        That were compared then.
    votes : int
        Of the study when it was made, imported ones included.
    delta, width : float
    budget, look_every, num_runs, seed : int
        As for ``Study.audit_stopping``.
    rates : tuple of MeasuredRate
    remarks : tuple of str
        What of the study was simulated differently.
    added, retired : tuple of str
        Arms that came or went since: then the numbers are about another design.
    votes_since : int
        Votes that came since; negative where more were taken back.
    """

    policy: str
    model: str
    arms: tuple[str, ...]
    votes: int
    delta: float
    width: float
    budget: int
    look_every: int
    num_runs: int
    seed: int
    rates: tuple[MeasuredRate, ...]
    remarks: tuple[str, ...]
    added: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    votes_since: int = 0

    @property
    def is_stale(self) -> bool:
        """Whether the design has changed since."""
        return bool(self.added or self.retired)

    def rate(self, rule: str) -> MeasuredRate | None:
        """Return the numbers of a rule, None where it was not measured."""
        return next((rate for rate in self.rates if rate.rule == rule), None)

    def words(self, rule: str) -> str:
        """Return in words how often a rule stopped wrongly."""
        rate = self.rate(rule)
        if rate is None:
            return "not measured for this model"
        return (
            f"{rate.false_share:.1%} wrong (95%: {rate.false_lower:.1%} to "
            f"{rate.false_upper:.1%}), {rate.undecided_share:.0%} undecided"
        )

    def about(self) -> str:
        """Return in words what was measured."""
        looks = "vote" if self.look_every == 1 else f"{self.look_every} votes"
        parts = [
            f"measured in {self.num_runs:,} simulated studies of at most "
            f"{self.budget:,} votes: {self.policy} asks {len(self.arms)} arms, "
            f"delta {self.delta:g}, width {self.width:g}, looked at after every "
            f"{looks}; truths from the posterior given {self.votes:,} votes",
            *self.remarks,
        ]
        if self.votes_since:
            more = "more" if self.votes_since > 0 else "fewer"
            parts.append(f"votes since then: {abs(self.votes_since):,} {more}")
        return "; ".join(parts)

    def stale_words(self) -> str:
        """Return in words how the design has changed since, or ""."""
        changes = [
            f"{word} {', '.join(names)}"
            for word, names in (("added", self.added), ("retired", self.retired))
            if names
        ]
        if not changes:
            return ""
        return (
            "these errors are of another design, as the arms have changed since "
            f"({'; '.join(changes)}): measure again"
        )


def record_of_audit(state: StudyState, audit: StoppingAudit) -> Audited:
    """Return the event that keeps an audit of a study in this state."""
    names = [field.name for field in fields(MeasuredRate)]
    return Audited(
        policy=audit.policy,
        model=repr(state.settings.model),
        arms=[*state.active_names],
        votes=state.num_all,
        delta=audit.delta,
        width=state.settings.width,
        budget=audit.budget,
        look_every=audit.look_every,
        num_runs=audit.num_runs,
        seed=audit.seed,
        rates=[{name: getattr(row, name) for name in names} for row in audit.rows()],
        remarks=[*audit.remarks],
    )


def stored_audit(state: StudyState) -> StoredAudit | None:
    """Return the last audit among the events, None where there is none."""
    if state.audit is None:
        return None
    body = dict(state.audit)
    for name in ("arms", "remarks"):
        body[name] = tuple(body[name])
    body["rates"] = tuple(MeasuredRate(**rate) for rate in body["rates"])
    then, now = body["arms"], state.active_names
    return StoredAudit(
        **body,
        added=tuple(name for name in now if name not in then),
        retired=tuple(name for name in then if name not in now),
        votes_since=state.num_all - body["votes"],
    )


def audit_of(state: StudyState, budget: int | None, **options: Any) -> StoppingAudit:
    """Measure the design of a study; see ``Study.audit_stopping``."""
    from bayesduel.analysis import audit_stopping, usual_rules
    from bayesduel.studies.forecast import simulated_rules, who_is_simulated

    settings = state.settings
    posterior = fit_votes(state, 0, 400, 400)
    if budget is None:
        budget = settings.budget or _BUDGET
    error = SimulationArgumentError
    budget = integer_from(budget, 1, "budget", 10**9, kind=error)
    usual = usual_rules(settings.delta, settings.width, budget)
    rules = simulated_rules(settings, posterior)
    if "posterior" not in rules:
        rules["posterior by pair"] = usual["posterior"]
    rules |= {name: rule for name, rule in usual.items()
              if name not in ("anytime", "posterior")}  # fmt: skip
    policy, remark = who_is_simulated(settings)
    audit = audit_stopping(
        posterior, policy, rules=rules, delta=settings.delta, width=settings.width,
        budget=budget, prices=state.pair_prices, **options,
    )  # fmt: skip
    remarks = [remark] if remark else []
    if settings.blocked or settings.floor:
        remarks.append("the floor and blocked pairs are not simulated")
    if settings.spending.cost is not None or settings.stop_when:
        remarks.append("what ends the asking, but for the budget, is not simulated")
    if settings.judging.both_orders == "nothing":
        remarks.append("contradictions, which use up the budget, are not simulated")
    return replace(audit, policy=settings.policy, remarks=tuple(remarks))
