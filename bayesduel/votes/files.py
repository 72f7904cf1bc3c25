"""Read votes from users' tables."""

import os
from collections.abc import Sequence

from bayesduel.votes._verdicts import Words
from bayesduel.votes._vote_columns import VoteFormat
from bayesduel.votes.comparisons import Comparisons
from bayesduel.votes.vote_rows import read_vote_rows

__all__ = ["read_comparisons"]


def read_comparisons(
    path: str | os.PathLike[str],
    *,
    arms: tuple[str, str] | None = None,
    winner: str | None = None,
    wins: tuple[str, str] | None = None,
    ties: Sequence[str] | None = None,
    scores: tuple[str, str] | None = None,
    weight: str | None = None,
    words: Words = ("left", "right", "tie"),
    where: str | None = None,
    missing: str = "refuse",
    arm_names: Sequence[str] | None = None,
    order_known: bool | None = None,
    judge: str | None = None,
    context: str | None = None,
    neutral: str | None = None,
    columns: Sequence[str] = (),
    contest_covariates: Sequence[str] = (),
) -> Comparisons:
    r"""Read votes from a table with a header, single or counted per pair.

    Parameters
    ----------
    path : str or path-like
        A table as CSV or TSV, or as JSON: an array of records, or one record a line;
        each perhaps compressed (.gz). Or Parquet, where pyarrow is installed. What a
        file is, is told from what is in it. A square table of wins, with a row and a
        column for each arm, is read without any option: its rows won against its
        columns.
    arms : (str, str), optional
        Columns with the names of the two arms; by default left and right, first and
        second, model_a and model_b, team_a and team_b, home_team and away_team,
        home and away, a and b, or winner and loser.
    winner : str, optional
        Column that names the winning arm or holds one of ``words``: a vote a row. By
        default "winner" if there is one. It may be one of ``arms``, as in a table of
        winners and losers: all its rows are decided, and none says who was shown first.
    wins : (str, str), optional
        Columns with the numbers of votes for either arm: a pair a row. By default
        wins_a and wins_b, wins_first and wins_second, or winner_model_a and
        winner_model_b, which hold a 1 in one of several columns for each single vote.
    ties : sequence of str, optional
        Columns that count ties, added up; by default "ties", "draws" or "tie", the one
        that is there, and winner_tie beside winner_model_a. Other columns that look
        like ties, by their titles or since they hold 1 in a row without a winner, are
        refused until they are named, or left out with an empty list. Only for counts
        per pair.
    scores : (str, str), optional
        Columns with the scores of either arm: the larger one wins, equal ones tie. By
        default home_score and away_score, home_goals and away_goals, or score_a and
        score_b, where nothing else says who won.
    weight : str, optional
        Column that says how many times a vote counts.
    words : tuple of three
        What stands in ``winner`` for the first arm, the second one, and a tie: for each
        a word, several in a list, or a mapping from words to how many votes they count,
        as in ``({"A>B": 1, "A>>B": 3}, {"B>A": 1, "B>>A": 3}, "A=B")``. A word that is
        also the name of the other arm of its row is refused.
    where : str, optional
        A condition on the columns, in the words of ``pandas.DataFrame.query``, such as
        ``"language == 'English' and turn == 1"``: other rows are left out. Columns of
        numbers are numbers in it, all others texts.
    missing : {"refuse", "skip"}
        What becomes of a row where one of the columns that are read is empty, NA, nan,
        null or None: an error, or left out and counted in a log message.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.
    order_known : bool, optional
        Whether the first arm was shown first; by default yes for single votes, no for
        counts per pair and for winners and losers.
    judge, context : str, optional
        Columns that say who judged, and of what (a prompt, a topic): labels that stay
        with every vote, for models that read them.
    neutral : str, optional
        Column that is true where neither arm was shown first, as on neutral ground.
    columns : sequence of str
        Further columns that stay with every vote, under their titles: numbers where all
        cells are some, else labels.
    contest_covariates : sequence of str
        Further columns of numbers that stay with every vote: what the first arm has
        more of than the second in this contest, such as the length of its answer.

    Returns
    -------
    Comparisons
        All votes of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If the file is no text in UTF-8, damaged, too large or no regular file; columns
        are missing or could be several; or a row breaks a rule; names the row, from 0.

    Notes
    -----
    Columns that are not read are named by a log message of level WARNING, and so are
    names that differ in capitals and spaces alone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("left,right,winner\ntea,milk,left\ntea,coffee,tie\n")
    ...     read_comparisons(path)
    Comparisons(3 arms, 2 of 3 pairs, 2 votes, 1 ties)
    """
    asked = VoteFormat(
        arms, winner, wins, ties, scores, weight, words, where, missing, order_known,
        judge, context, neutral, columns, contest_covariates=contest_covariates,
    )  # fmt: skip
    return read_vote_rows(path, asked).comparisons(arm_names)
