"""Where a study stands, and what simulations of it say: its errors, and its end."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesduel.errors import StudyError
from bayesduel.files.folders import as_path
from bayesduel.studies._study_file import StudyFile
from bayesduel.studies.status import StudyStatus, status_of
from bayesduel.studies.stored.event_log import write_new
from bayesduel.studies.stored.snapshots import without_collector
from theory.arguments import integer_from, share_of, true_or_false

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.analysis import StoppingAudit
    from bayesduel.studies.contents.contexts import ContextTable
    from bayesduel.studies.forecast import Forecast

__all__ = ["StudyAnalysis"]

_MOST_VOTES, _MOST_RUNS = 10**9, 10**6


class StudyAnalysis(StudyFile):
    """A study that is looked at, and played on or again in simulations."""

    def status(
        self, probability: float = 0.9, *, forecast: bool = False, full: bool = False
    ) -> StudyStatus:
        """Return where the study stands, and whether one may stop.

        Parameters
        ----------
        probability : float
            Of the intervals of the standings.
        forecast : bool
            Simulate how many votes are still needed, too; see :meth:`forecast`.
        full : bool
            Of more than 200 arms, too, say whether one may stop, and draw what needs
            draws of all pairs: ranks and the probabilities of being the best under
            ``PairwiseBeta``. Of 1,000 arms that takes ten seconds.
        """
        foreseen = self.forecast() if forecast else None
        full = true_or_false(full, "full", kind=StudyError)
        with self._turn, without_collector():  # It would look at every question.
            found = status_of(self._current(), probability, self._clock(), full=full)
        return replace(found, forecast=foreseen)

    def report(self, probability: float = 0.9, *, forecast: bool = False) -> str:
        """Return one HTML page that needs no other file.

        Standings with their intervals, who met whom, the probability of being the best
        and the evidence over the votes, and what the rules for stopping say.

        Parameters
        ----------
        probability : float
            Of the intervals.
        forecast : bool
            Simulate how many votes are still needed, too; see :meth:`forecast`.
        """
        from bayesduel.studies.report import report_html

        foreseen = self.forecast() if forecast else None
        now = self._clock()
        return report_html(self.events(), self.path, probability, now, foreseen)

    def export_judges(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return what is known of judges as JSON lines, one judge a line.

        Fields are those of ``status().judges.lines``; written to a new file, too, where
        one is named.
        """
        from bayesduel.studies.judges.reliability import judge_table

        with self._turn:
            text = judge_table(self._current(), leave_out=False).as_lines()
        if path is not None:
            write_new(as_path("path", path, StudyError), text)
        return text

    def by_context(self) -> ContextTable:
        """Return who wins in each context of the pool, and over them.

        Each context is fitted by itself, with the votes that were asked for in it; over
        contexts each of them has the same weight, however many votes it has. Empty
        where the study has no pool.
        """
        from bayesduel.studies.contents.contexts import context_table

        with self._turn:
            return context_table(self._current())

    def to_dataframe(self) -> pd.DataFrame:
        """Return all answers to questions of this study, one a row.

        Imported votes are not among them: nobody knows who gave them, or when;
        :meth:`Study.comparisons` counts them.

        Returns
        -------
        pandas.DataFrame
            ``question``, ``left``, ``right``, ``answer``; ``winner``, an arm, "tie", or
            missing; ``counts``, whether it is a vote, or one half of it;
            ``gold``; ``other_order_of``, the first question of both orders; ``judge``,
            ``context`` (as JSON where it is no text), ``rule``; ``seconds`` and
            ``cost`` of the answer; ``asked`` and ``answered``, times in UTC; ``shown``,
            all arms that were shown, as JSON; ``worst``, where it was named.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesduel.studies import Study
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "drinks.study")
        ...     with Study.create(path, ["tea", "milk"], "balanced") as study:
        ...         _ = study.tell(study.ask()[0], "left", judge="Ada")
        ...         table = study.to_dataframe()
        >>> table[["question", "answer", "judge"]].to_dict("records")
        [{'question': 1, 'answer': 'left', 'judge': 'Ada'}]
        """
        from bayesduel.studies.contents.vote_table import answers_frame

        with self._turn:
            state = self._current()
            return answers_frame(self.events()[: state.last], state)

    def export_votes(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_dataframe` to a new file.

        Parameters
        ----------
        path : path
            In Parquet where it ends in ``.parquet``, which needs pyarrow; else in CSV.

        Raises
        ------
        StudyError
            If pyarrow is missing.
        FileExistsError, OutputWriteError
            If the file exists, or cannot be written.
        """
        from bayesduel.studies.contents.vote_table import write_frame

        write_frame(self.to_dataframe(), as_path("path", path, StudyError))

    def forecast(
        self,
        probability: float = 0.8,
        *,
        most_votes: int = 10_000,
        num_runs: int = 400,
    ) -> Forecast:
        """Say how many votes are still needed until the rules of the study decide.

        Simulated studies go on from the votes there are: each draws its preference
        matrix from the posterior of this study's model, and its policy asks until a
        rule names an arm, whichever that is. So the intervals hold if the model does.

        Parameters
        ----------
        probability : float
            Of the intervals.
        most_votes : int
            Votes that a simulated study is played on at most.
        num_runs : int
            Simulated studies.

        Returns
        -------
        Forecast
            Of "anytime", and of "posterior" where the model is a Beta distribution per
            pair. Its remarks say what was simulated differently: a policy without a
            kernel is replaced by D-TS+, and ties come in proportion.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesduel.studies import Study
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "drinks.study")
        >>> with Study.create(path, ["tea", "milk"], "balanced") as study:
        ...     for ticket in study.ask(12):
        ...         better = "left" if ticket.left == "tea" else "right"
        ...         _ = study.tell(ticket, better)
        ...     found = study.forecast()
        >>> print(found.words(found.lines[1]))
        none: it names an arm now
        >>> folder.cleanup()
        """
        from bayesduel.studies.forecast import forecast_of

        error = StudyError
        self._settings.check_of_pairs("forecast")
        level = share_of(probability, "probability", kind=error)
        most = integer_from(most_votes, 1, "most_votes", _MOST_VOTES, kind=error)
        runs = integer_from(num_runs, 1, "num_runs", _MOST_RUNS, kind=error)
        with self._turn:
            return forecast_of(self._current(), level, most, runs)

    def audit_stopping(
        self,
        *,
        budget: int | None = None,
        look_every: int = 1,
        num_runs: int = 1000,
        seed: int = 0,
        keep: bool = True,
        on_progress: Callable[[float], None] | None = None,
    ) -> StoppingAudit:
        """Measure how often rules would stop wrongly in studies like this one.

        Each of them begins without a vote, with this policy, delta and width; its truth
        is drawn from the posterior of this study's model, given the votes there are.
        The result is kept with the study, as an event: :meth:`status` and
        :meth:`report` have it from then on.

        Parameters
        ----------
        budget : int, optional
            Votes at most; by default the budget of the study, or 2000.
        look_every, num_runs, seed, on_progress
            As for :func:`bayesduel.analysis.audit_stopping`.
        keep : bool
            Keep the numbers with the study.

        Returns
        -------
        StoppingAudit
            Of the two rules of :meth:`Study.status` and of the usual heuristics. Where
            the model is no Beta distribution per pair, the posterior rule stands there
            as "posterior by pair": it is that of such a distribution. Remarks say what
            was simulated differently.

        Raises
        ------
        SimulationArgumentError
            If no kernel plays the policy of the study.
        OutputWriteError
            If the file cannot be written.
        """
        from bayesduel.studies.audits import StoredAudit, audit_of

        self._settings.check_of_pairs("audit_stopping")
        with self._turn:
            # A copy: votes and arms may come meanwhile, and the event says of what.
            state = deepcopy(self._current())
        keep = true_or_false(keep, "keep", kind=StudyError)
        found = audit_of(
            state,
            budget=budget,
            look_every=look_every,
            num_runs=num_runs,
            seed=seed,
            on_progress=on_progress,
        )
        if keep:
            made = StoredAudit.made(state, found, state.settings.width)
            with self._writing():
                self._append("audited", made.as_body())
        return found
