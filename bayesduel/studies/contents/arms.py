"""Arms that come, go, are renamed and merged, and votes from elsewhere."""

from __future__ import annotations

import os
from typing import Any

from bayesduel.arguments.control_characters import (
    refuse_control_characters,
    visible,
)
from bayesduel.errors import StudyError
from bayesduel.studies._answering import Answering
from bayesduel.studies._fits import num_votes_in
from bayesduel.studies._rules import check_policy_text
from bayesduel.studies._settings import MOST_ARMS, RULES, checked_arm, checked_name
from bayesduel.studies.contents.incoming import fitting_rows, rows_of
from bayesduel.studies.contents.other_studies import new_rows, votes_of
from bayesduel.studies.replay.questions import VoteRow
from bayesduel.studies.replay.state import StudyState
from bayesduel.votes.choices import Choices
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import integer_from, number_that

__all__ = ["Contents"]

_USUAL_SHARE = 0.5


class Contents(Answering):
    """Arms and imported votes of a study; each change is an event."""

    def add_arm(self, name: str, *, share: float | None = None) -> None:
        """Compare one more arm from now on.

        Parameters
        ----------
        name : str
        share : float, optional
            Share of the questions that are about it, in (0, 1), until it has had as
            many votes as the median of the other arms; by default 1/2. It first meets
            the arms in the middle, then those that are nearest to what it has shown.
            For "information" and "balanced" alone: a policy finds its place by itself.

        Raises
        ------
        StudyError
            If an arm has or had this name, there are too many, or the model of the
            study knows features of the others.
        """
        with self._writing() as state:
            name = checked_name(name, state.arms)
            if len(state.arms) == MOST_ARMS:
                rule = f"must be one of at most {MOST_ARMS} arms"
                raise StudyError("name", rule, name)
            if getattr(state.settings.model, "features", None) is not None:
                rule = "must have features, as all arms of a study with LinearUtilities"
                remedy = "make a new study with the features of all arms"
                raise StudyError("name", rule, name, remedy=remedy)
            body = {"name": name} | _share_of(share, state)
            self._check_policy(len(state.active) + 1)
            self._append("arm added", body)

    def retire_arm(self, name: str) -> None:
        """Ask about an arm no more; its votes are kept, but count no longer.

        Raises
        ------
        StudyError
            If there is no such arm, or fewer than two would be left.
        """
        with self._writing() as state:
            arm = checked_arm(name, state.arms)
            if state.is_retired[arm]:
                return
            self._check_one_fewer(state)
            self._append("arm retired", {"name": name})

    def restore_arm(self, name: str) -> None:
        """Ask about an arm again that was retired; its votes count again.

        Raises
        ------
        StudyError
            If there is no such arm, or it was merged into another one.
        """
        with self._writing() as state:
            arm = checked_arm(name, state.arms)
            if arm in state.merged:
                rule = f"was merged into {state.arms[state.merged[arm]]!r}"
                raise StudyError("name", rule, name, remedy="add it by another name")
            if state.is_retired[arm]:
                self._check_policy(len(state.active) + 1)
                self._append("arm restored", {"name": name})

    def rename_arm(self, name: str, to: str) -> None:
        """Call an arm by another name from now on, votes and prices unchanged.

        Raises
        ------
        StudyError
            If there is no such arm, or another one has or had the new name.
        """
        with self._writing() as state:
            checked_arm(name, state.arms)
            to = checked_name(to, state.arms, "to")
            self._append("arm renamed", {"name": name, "to": to})

    def merge_arms(self, name: str, into: str) -> None:
        """Let two arms be one: all votes for either of them count for the second.

        Votes between the two are kept and count for neither, though the budget was
        used for them; open questions between them are asked no more. Open questions of
        the first against others go on as those of the second. The policy begins anew
        from the votes that count. There is no way back.

        Parameters
        ----------
        name, into : str
            Two arms that are not retired. The first is asked no more; nothing else
            gets its name.

        Raises
        ------
        StudyError
            If there are no such arms, or fewer than two would be left.

        Notes
        -----
        The anytime rule takes the votes of a pair to have one probability: of two arms
        that differ, it judges a mixture.
        """
        with self._writing() as state:
            state.settings.check_of_pairs("merge_arms")
            for argument, each in (("name", name), ("into", into)):
                if state.is_retired[checked_arm(each, state.arms, argument)]:
                    rule = "must not be retired"
                    raise StudyError(argument, rule, each, remedy="restore it first")
            if name == into:
                raise StudyError("into", "must be another arm than name", into)
            self._check_one_fewer(state)
            self._append("arms merged", {"name": name, "into": into})

    def import_votes(
        self,
        votes: str | os.PathLike[str] | Comparisons | Choices,
        *,
        source: str = "",
        again: bool = False,
        **columns: Any,
    ) -> int:
        """Count votes that were collected elsewhere.

        Parameters
        ----------
        votes : path, Comparisons or Choices
            A table as :func:`bayesduel.votes.read_comparisons` reads it, or for a study
            of sets :func:`bayesduel.votes.read_sets`; every arm in it must be one of
            the study. A study of sets takes votes between two arms as choices out of
            these, if there are no ties.
        source : str, optional
            What the history says of where they are from; by default the path.
        again : bool
            Count votes that were imported before once more.
        **columns
            As for that function.

        Returns
        -------
        int
            Number of votes; the best and the worst of a set are one.

        Raises
        ------
        StudyError
            If an arm is unknown, votes are weighted or split, are of another kind than
            the study, or were imported before, whatever the file was called.
        OSError, ComparisonDataError
            If the file cannot be read.
        """
        from bayesduel.votes import read_comparisons, read_sets

        refuse_control_characters(source, "source", StudyError)
        of_sets = self._settings.choose_from > 2
        if isinstance(votes, Comparisons | Choices):
            data, named = votes, source
        else:
            data = (read_sets if of_sets else read_comparisons)(votes, **columns)
            named = source or visible(str(votes))
        found = rows_of(data)
        with self._writing() as state:
            own = fitting_rows(state, found, data.arm_names, "votes")
            rows = [row.written(row.arms) for row in own]
            if not again:
                self._check_new(rows, state)
            self._append("imported", {"source": named, "counts": rows})
        return num_votes_in(data)

    def import_study(
        self, other: str | os.PathLike[str], *, source: str = ""
    ) -> tuple[int, int]:
        """Count the votes of another study, each of them once.

        A vote is known by its content: the checksum of its answer, which the copies and
        exports of a study share. So a study that has grown brings what is new, and a
        copy of this study only what was answered in the copy. Votes that the other one
        imported come along.

        Parameters
        ----------
        other : path
            The file of a study, or its history as ``Study.export`` writes it. Every
            arm that votes are about must be one of this study.
        source : str, optional
            What the history says of where they are from; by default the path.

        Returns
        -------
        new, known : int
            Votes that count from now on, and those that did before.

        Raises
        ------
        StudyError
            If it is no study, or an arm is unknown.
        OutputWriteError
            If it cannot be stored.
        """
        refuse_control_characters(source, "source", StudyError)
        found = votes_of(other)
        with self._writing() as state:
            rows = new_rows(found, self.events(), state)
            rows = fitting_rows(state, rows, found.arms, "other")
            if rows:
                counts = [row.written(row.arms) for row in rows]
                keys = [row.key for row in rows]
                source = source or visible(str(other))
                body = {"source": source, "counts": counts, "keys": keys}
                self._append("imported", body)
        new = sum(row.num_votes for row in rows)
        return new, sum(row.num_votes for row in found.rows) - new

    def undo_import(self, event: int) -> bool:
        """Take imported votes back: they count no more.

        Parameters
        ----------
        event : int
            Number of the event that brought them; the history has it.

        Returns
        -------
        bool
            Whether this is new.

        Raises
        ------
        StudyError
            If that event brought no votes.
        """
        number = integer_from(event, 1, "event", kind=StudyError)
        with self._writing() as state:
            if number not in state.imports:
                events = self.events()
                if number > len(events) or events[number - 1].kind != "imported":
                    known = [each.number for each in events if each.kind == "imported"]
                    rule = f"must be one that imported votes, among {known}"
                    raise StudyError("event", rule, number)
                return False
            self._append("import undone", {"event": number})
        return True

    def _check_new(self, rows: list[list[Any]], state: StudyState) -> None:
        """Refuse votes that were imported before, by what they say."""
        given = sorted(rows)
        for event in self.events():
            known = event.number in state.imports
            if known and sorted(event.body["counts"]) == given:
                source = event.body["source"] or "a table"
                number = sum(VoteRow.of_numbers(row).num_votes for row in rows)
                raise StudyError(
                    "votes",
                    f"were imported before, by event {event.number} from {source}",
                    f"{number} votes",
                    remedy="nothing needs to be done; {again=True} counts them twice",
                )

    def _check_one_fewer(self, state: StudyState) -> None:
        least = state.settings.choose_from
        if len(state.active) == least:
            number = "two" if least == 2 else least
            rule = f"must leave {number} arms to be compared"
            remedy = "add another first"
            raise StudyError("name", rule, state.active, remedy=remedy)
        self._check_policy(len(state.active) - 1)

    def _check_policy(self, num_arms: int) -> None:
        if self._settings.policy not in RULES and self._settings.choose_from == 2:
            check_policy_text(self._settings, num_arms)


def _share_of(share: float | None, state: StudyState) -> dict[str, float]:
    if state.settings.policy not in RULES or state.is_of_sets:
        if share is not None:
            rule = f"must be left out where {state.settings.policy} asks"
            remedy = "it finds the place of a new arm by itself"
            raise StudyError("share", rule, share, remedy=remedy)
        return {}
    if share is None:
        return {"share": _USUAL_SHARE}

    def is_share(value: float) -> bool:
        return 0.0 < value < 1.0

    return {
        "share": number_that(share, "share", "in (0, 1)", is_share, kind=StudyError)
    }
