"""Statements of papers, checked on measured regret with standard errors.

Kinds of statements, F being a policy of the first list and S one of the second:

- ``less``: the mean regret of F is below `factor` times that of S;
- ``similar``: it differs from that of S by at most `tolerance` times the latter;
- ``spread``: the standard deviation of F over the mean of S is `value`, up to
  `tolerance` times `value`;
- ``less-spread``: the standard deviation of F is below that of S;
- ``more-diverse``: in a run, the winner that F exploits most has a smaller share of its
  self-duels with winners than with S;
- ``converges``: in a world of subset choice, the arms of the best set make up more than
  `value` of all that F offers in the second half of the rounds;
- ``rises-less``: what the delay of feedback adds to the mean regret of F is below
  `factor` times what it adds to that of S;
- ``linear``: d log R / d log t over the last factor of two exceeds `value` for F, which
  is 1 for linear growth and near 0 for logarithmic growth.

Means are compared run by run, because runs share their relabelings; with several random
matrices, matrix by matrix. A statement holds, or does not, where it does so by two
standard errors. Otherwise, and where there are fewer than three runs, it is open.

That is about the runs that were made. Where runs of a kind not seen, as rare as these
may have missed, could undo the order of two means, the numbers say by how much the
policies would have to differ in those runs (:mod:`bayesduel.analysis.rare_runs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesduel.analysis.measured_nodes import Measurement
from bayesduel.papers._claim_kinds import KINDS, ClaimCase, exploitation
from theory.arguments import one_of

if TYPE_CHECKING:
    from bayesduel.papers.recipes import Claim

    Measured = Mapping[str, Sequence[Measurement]]

__all__ = ["Verdict", "check_claim", "exploitation"]

_FEWEST = 3
"""Values that a jackknife of standard deviations needs."""


@dataclass(frozen=True)
class Verdict:
    """Whether a statement holds for one pair of policies in one panel.

    Attributes
    ----------
    statement : str
        The statement of the paper.
    panel : str
        Key of the panel.
    first, second : str
        The policies.
    holds : bool or None
        None where the runs cannot tell.
    details : str
        The numbers, with standard errors.
    """

    statement: str
    panel: str
    first: str
    second: str
    holds: bool | None
    details: str

    @property
    def word(self) -> str:
        """Say it in two words at most."""
        if self.holds is None:
            return "open"
        return "holds" if self.holds else "does not hold"


def check_claim(
    claim: Claim, panel: str, measured: Measured, *, notion: str, scale: float = 1.0
) -> list[Verdict]:
    """Check one statement in one panel.

    Parameters
    ----------
    claim : bayesduel.papers.recipes.Claim
        The statement.
    panel : str
        Key of the panel.
    measured : mapping of str to sequence of Measurement
        For every policy, as the recipe spells it, one measurement per matrix.
    notion : str
        Which regret.
    scale : float
        By what the rounds of the paper were multiplied.

    Returns
    -------
    list of Verdict
        One per pair of policies that were measured; empty where none was.

    Raises
    ------
    ValueError
        When the kind is unknown.
    """
    one_of(claim.kind, KINDS, "kind")
    low, high = claim.arms
    chosen = {
        policy: [each for each in found if low <= _num_arms(each) <= high]
        for policy, found in measured.items()
    }
    verdicts = []
    for first in claim.first:
        for second in claim.second or (first,):
            texts = [first, second]
            if claim.kind == "rises-less":
                texts += [_without_delay(each) for each in texts]
            found = _matched(chosen.get(each, []) for each in texts)
            if not found[0]:
                continue
            holds, text = None, f"fewer than {_FEWEST} runs, or matrices, cannot tell"
            case = ClaimCase(claim, found[0], found[1], found[2:], notion, scale)
            if case.values()[0].size >= _FEWEST:
                holds, text = KINDS[claim.kind](case)
            verdicts.append(Verdict(claim.text, panel, first, second, holds, text))
    return verdicts


def _without_delay(policy: str) -> str:
    """Return the spelling of a policy without the delay of its feedback."""
    name, _, parameters = policy.partition(":")
    parts = [each for each in parameters.split(",") if not each.startswith("every=")]
    return ":".join(filter(None, (name, ",".join(parts))))


def _matched(found: Iterable[Sequence[Measurement]]) -> list[list[Measurement]]:
    """Keep the matrices on which all policies were measured, in the same order."""
    by_name = [{each.instance: each for each in own} for own in found]
    shared = [name for name in by_name[0] if all(name in own for own in by_name)]
    return [[own[name] for name in shared] for own in by_name]


def _num_arms(measured: Measurement) -> int:
    return measured.data.sizes.get("arm", 0)
