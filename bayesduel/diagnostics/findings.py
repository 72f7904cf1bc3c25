"""What was found when a fit was looked at, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FALSE_ALARM = 0.01
"""Probability, at most, with which a test speaks against a fit that is right."""

OF_VOTES = ("order effect", "judges", "circles")
"""Findings that are tests of what a model takes for granted."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    # What, what was found, and what that means.
    name: str
    value: str
    good: bool  # False where it speaks against the fit.
    words: str
    remedy: str = ""  # What to do then.
    # Of a test, which is not good up to :data:`FALSE_ALARM`; None where nothing was
    # tested.
    p_value: float | None = None

    @property
    def mark(self) -> str:
        """How it is marked: "ok ", "BAD", or "-  " for a test that does not apply."""
        if self.name in OF_VOTES and self.p_value is None:
            return "-  "
        return "ok " if self.good else "BAD"

    def record(self) -> dict[str, Any]:
        """Return the finding as plain values, for a file."""
        return {
            "name": self.name,
            "good": self.good,
            "p_value": self.p_value,
            "value": self.value,
            "words": self.words,
            "remedy": "" if self.good else self.remedy,
        }


@dataclass(frozen=True)
class Report:
    """Whether a fit can be believed, in a few lines of text; ``print`` it."""

    title: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the fit."""
        return not self._bad

    @property
    def _bad(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.good]

    @property
    def verdict(self) -> str:
        """Say whether to rely on the fit."""
        if self.good:
            return "Nothing speaks against this fit."
        names = ", ".join(finding.name for finding in self._bad)
        return f"Do not rely on this fit yet: see {names}."

    def against(self) -> str:
        """Say in a line what speaks against the fit; empty where nothing does."""
        return "; ".join(
            f"{each.name}: {each.value}; {each.words} What to do: {each.remedy}"
            for each in self._bad
        )

    def short(self) -> str:
        """Return five lines: the verdict, the computation, and the tests of the votes.

        Each test speaks against a fit that is right in at most 1 of 100 data sets.
        """
        computed = [each for each in self.findings if each.name not in OF_VOTES]
        bad = [each for each in computed if not each.good]
        words = "; ".join(
            f"{each.name}: {each.value}. What to do: {each.remedy}" for each in bad
        )
        looked = ", ".join(each.name for each in computed) or "exact"
        lines = [
            self.verdict,
            f"  {'BAD' if bad else 'ok '}  computation: {words or looked}",
        ]
        for each in self.findings:
            if each.name in OF_VOTES:
                advice = "" if each.good else f" What to do: {each.remedy}"
                lines.append(
                    f"  {each.mark}  {each.name}: {each.value}. {each.words}{advice}"
                )
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [self.title]
        for each in self.findings:
            lines.append(f"  {each.mark}  {each.name}: {each.value}. {each.words}")
            if not each.good and each.remedy:
                lines.append(f"       What to do: {each.remedy}")
        lines += [f"  note {remark}" for remark in self.remarks]
        return "\n".join([*lines, self.verdict])
