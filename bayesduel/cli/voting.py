"""Options of commands on votes: how they are read, and which model is fitted how."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesduel.cli.errors import refuse_given
from bayesduel.cli.options import INTERVAL, SEED, option
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.parse import option_error
from bayesduel.cli.tables import show, table_of
from bayesduel.models.catalog import kind_of, words

if TYPE_CHECKING:
    from bayesduel.votes import Comparisons
    from bayesduel.votes.format import VoteFormat
    from bayesduel.votes.pairs import VoteRows

_COUNTED = re.compile(r"(.+)\*([0-9]+(?:\.[0-9]+)?)")
"""A word, and how many votes it counts."""


if TYPE_CHECKING:
    Model = str
else:
    Model = Literal[words("")]


Method = Literal["auto", "exact", "laplace", "svi", "nuts", "mode"]

WithoutAnswer = Literal["refuse", "skip", "keep"]

Mirrored = Literal["once", "twice"]

Decimal = Literal[".", ","]

Contradiction = Literal["tie", "nothing"]


WHERE = option(
    "COLUMN=VALUE: Rows to read; also with !=, <, <=, > and >=. Repeat for several "
    "conditions, all of which must hold."
)


@dataclass(frozen=True)
class VoteOptions:
    """Which columns of a table hold votes on pairs, and which rows are read."""

    arms: str | None = option(
        "A,B: Columns of the two arms. Default: left,right; first,second; home,away; "
        "a,b; model_a,model_b, also with team, item, player ...; or winner,loser."
    )
    winner: str | None = option(
        "COLUMN: Column of the winner. Default: winner. It may be one of the two "
        "arms; two columns, g1,g2, hold the answers in both orders."
    )
    words: str | None = option(
        "A,B,TIE: Words in the winner column for the first arm, the second, a tie. "
        "Synonyms: tie|'both bad'. Worth 3 votes: A>>B*3. Names of arms and of their "
        "columns are understood too. Default: left,right,tie."
    )
    wins: str | None = option("A,B: Columns of counts instead. Default: wins_a,wins_b.")
    tie_columns: str | None = option(
        "C,...: Columns that count ties. Default: ties, draws, or tie."
    )
    scores: str | None = option(
        "A,B: Columns of scores instead, the larger one wins. Default: "
        "home_score,away_score; home_goals,away_goals; or score_a,score_b."
    )
    weight: str | None = option(
        "COLUMN: Column of weights: votes that a row counts as."
    )
    where: list[str] | None = WHERE
    missing: WithoutAnswer = option(
        "Rows without an arm or an answer (empty, NA, null ...): an error, left out, "
        "or, of all but empty cells, names.",
        default="refuse",
    )
    decimal: Decimal | None = option(
        "Decimal sign of numbers. Default: point, and in files separated by "
        "semicolons also comma."
    )
    mirrored: Mirrored | None = option(
        "How often a match counts in a table that lists each from both sides."
    )

    def format(self) -> VoteFormat:
        """Return the format of a table by all options here that are its fields."""
        from bayesduel.votes.format import VoteFormat

        given = {
            field.name: getattr(self, field.name)
            for field in fields(VoteFormat)
            if hasattr(self, field.name)
        }
        winner = names_between("--winner", self.winner)
        ties = self.tie_columns
        given |= {
            "arms": names_between("--arms", self.arms),
            "winner": winner[0] if winner and len(winner) == 1 else winner,
            "words": None if self.words is None else _words(self.words),
            "wins": names_between("--wins", self.wins, 2),
            "ties": () if ties == "" else names_between("--tie-columns", ties),
            "scores": names_between("--scores", self.scores, 2),
            "where": tuple(self.where or ()),
            # Further parameters of a command.
            "order_known": given.get("order_known") or None,
            "group": getattr(self, "by", None),
            "contest_covariates": tuple(getattr(self, "contest_covariate", None) or ()),
        }
        if given.get("soft") is not None:
            from bayesduel.files.user_files import number

            column, *values = given["soft"].rsplit(":", 2)
            numbers = [number(value.strip()) for value in values]
            if len(numbers) != 2 or None in numbers or not column.strip():
                rule = "must be a column, and the values of a sure vote for either arm"
                remedy = "such as preference:1:2"
                raise option_error("--soft", rule, given["soft"], remedy=remedy)
            given["soft"] = column.strip(), *numbers
        return VoteFormat(**given)

    def read(self, votes: Path, *, with_judges: bool = False) -> Comparisons:
        """Read votes on pairs from a file, perhaps with its column "judge"."""
        reading = self.format()
        if with_judges:
            reading = replace(reading, judge="judge")
        require_file("VOTES", votes)
        from bayesduel.votes.pairs import parse_pairs

        return parse_pairs(votes, reading).comparisons()


@dataclass(frozen=True)
class JudgedVoteOptions(VoteOptions):
    """Also who judged what, and votes on sets."""

    worst: str | None = option(
        "COLUMN: Of sets: column of the worst arm. Default: worst, or least."
    )
    context: str | None = option("COLUMN: Column of contexts, such as prompts.")
    judge: str | None = option(
        "COLUMN: Column of judges. The effect of being shown first is then estimated "
        "for each judge."
    )
    both_orders: Contradiction | None = option(
        "Two votes on one pair in either order, of the same --context and --judge, "
        "are one vote; a contradiction is a tie, or nothing."
    )
    dry_run: bool = option("Print ten rows as they were read, and fit nothing.")


MODEL = option(
    "Arms on one scale (bradley-terry, thurstone), or each pair by itself (beta).",
    default="bradley-terry",
)


@dataclass(frozen=True)
class ModelOptions:
    """The model of votes on pairs."""

    model: Model = MODEL
    prior_scale: float | None = option(
        "S: Standard deviation of utilities, default 2; of coefficients with "
        "--covariates, default 1; pseudo-votes of a Beta, default 1."
    )
    order_effect: bool = option("Estimate the advantage of the arm shown first.")
    order_known: bool = option(
        "The first arm of each row of counts was shown first; for --order-effect."
    )
    contest_covariate: list[str] | None = option(
        "COLUMN: Column of what the first arm has more of in a contest, such as the "
        "length of its answer: taken as it is, 0 for equals. Repeat for several."
    )
    contest_scale: float | None = option(
        "S: Standard deviation of the prior of what one unit of a --contest-covariate "
        "adds to utility, default 1."
    )

    def check_model(self, **of_utilities: Any) -> None:
        """Refuse options that do not go together, before a file is read."""
        covariates = self.contest_covariate or []
        given = {
            "--order-effect": self.order_effect,
            "--contest-covariate": covariates,
            **of_utilities,
        }
        if self.model == "beta":
            *others, last = (word for word in words("") if word != "beta")
            remedy = f"choose {', '.join(others)} or {last}"
            refuse_given(given, "a Beta per pair has none", remedy)
        twice = [name for name in covariates if covariates.count(name) > 1]
        if twice:
            rule = "must be different columns"
            raise option_error("--contest-covariate", rule, twice[0])
        if self.contest_scale is not None and not covariates:
            rule, remedy = "is that of a --contest-covariate", "name a column"
            raise option_error("--contest-scale", rule, remedy=remedy)


def preference_model(
    model: Model,
    data: Comparisons,
    prior: float | None = None,
    *,
    order_effect: bool = False,
    residual: bool = False,
    rao_kupper: bool = False,
    discrimination: bool = False,
    judged: bool = True,
    contest_scale: float | None = None,
) -> Any:
    """Return the model that was named, with what the data have: ties, covariates."""
    from bayesduel.models import JudgedBradleyTerry, RaoKupper

    kind = kind_of(model)
    if model == "beta":
        return kind(prior=1.0 if prior is None else prior, ties=data.has_ties)
    if rao_kupper and data.has_ties:
        kind = RaoKupper
    explained = bool(data.covariate_names)
    more: dict[str, Any] = {}
    if judged and "judge" in data.columns:
        kind, order_effect = JudgedBradleyTerry, True
        more["discrimination"] = discrimination
    if prior is not None:
        narrow = explained and not residual
        more["covariate_scale" if narrow else "prior_scale"] = prior
    if contest_scale is not None:
        more["contest_scale"] = contest_scale
    return kind(
        zero_sum=True, ties=data.has_ties, order_effect=order_effect,
        covariates=explained, contest_covariates=bool(data.contest_covariates),
        residual=residual, learn_scale=residual, **more,
    )  # fmt: skip


@dataclass(frozen=True)
class FitOptions:
    """How a posterior is computed."""

    method: Method = option(
        "auto: exact for beta, nuts for mixed, else laplace, and nuts where that does "
        "not fit; mode for votes on pairs of more than 3000 arms, without draws.",
        default="auto",
    )
    probability: float = INTERVAL
    draws: int = option("N: Draws of each of 4 chains.", default=1000, least=10)
    warmup: int | None = option("N: nuts: steps of adaptation; default 1000.", least=1)
    target_acceptance: float | None = option(
        "A: nuts: acceptance that step sizes aim at, default 0.9; nearer to 1 against "
        "divergences."
    )
    seed: int = SEED

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``fit``."""
        arguments: dict[str, Any] = {
            "method": self.method,
            "rng_key": self.seed,
            "num_draws": self.draws,
        }
        if self.warmup is not None:
            arguments["num_warmup"] = self.warmup
        if self.target_acceptance is not None:
            arguments["target_acceptance"] = self.target_acceptance
        return arguments

    def fitting_words(self, model: Any) -> str:
        """Return what takes the time while a model is fitted."""
        is_auto = self.method == "auto"
        name = model.usual_method if is_auto else self.method
        return "drawing by Markov chains" if name == "nuts" else f"fitting by {name}"


def _words(text: str) -> tuple[dict[str, float], ...]:
    """Return what each word counts, of ``A>>B*3|A>B,B>A|B>>A*3,tie='both bad'``."""
    meanings: list[dict[str, float]] = []
    for entry in names_between("--words", text, 3) or ():
        words: dict[str, float] = {}
        for word in entry.removeprefix("tie=").split("|"):
            counted = _COUNTED.fullmatch(word.strip())
            name, votes = counted.groups() if counted else (word, "1")
            name = name.strip().strip("\"'")
            if name in words:
                raise option_error("--words", "must be different", name)
            words[name] = float(votes)
        meanings.append(words)
    return tuple(meanings)


def names_between(
    option: str, text: str | None, count: int | None = None
) -> tuple[str, ...] | None:
    """Return names between commas; None where nothing was typed."""
    if text is None:
        return None
    names = tuple(names_of(text, option))
    if not all(names) or (count is not None and len(names) != count):
        wanted = f"{count} names" if count else "names"
        raise option_error(option, f"must be {wanted} between commas", text)
    return names


def require_file(option: str, path: Path) -> None:
    """Raise where a file is not there; the remedy names near files of its folder."""
    if path.exists():
        return
    from bayesduel.errors import near_names

    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    near = near_names(path.name, [file.name for file in beside]).rstrip()
    raise option_error(option, f"{path} does not exist", path, remedy=near)


def print_rows(rows: VoteRows) -> None:
    """Print ten rows and their votes, which columns were read, and all that is left."""
    from bayesduel.cli.output import console

    names, words = rows.arm_names, ("row", "first arm", "second arm")
    sample = zip(rows.rows, rows.first, rows.second, rows.counts, strict=True)
    cells = [
        (str(row), names[first], names[second], *(f"{votes:g}" for votes in counts))
        for (row, first, second, counts), _ in zip(sample, range(10), strict=False)
    ]
    table = table_of((*words, "for first", "for second", "ties"), cells, words=words)
    read = "; ".join(
        f"{role}: {', '.join(titles)}" for role, titles in rows.read.items()
    )
    order = "first arm shown first" if rows.order_known else "order shown: not known"
    show(console(), f"{rows.name}: {rows.comparisons()}", table, read, order)


def print_whole(name: str, data: Any) -> None:
    """Print ten different rankings, or the choices of ten sets, and all there are."""
    from bayesduel.cli.output import console
    from bayesduel.votes import Rankings

    if isinstance(data, Rankings):
        rows = [
            (*(f"{position or ''}" for position in places), f"{voters:g}")
            for places, voters in zip(data.places[:10], data.counts[:10], strict=True)
        ]
        table = table_of((*data.arm_names, "voters"), rows)
    else:
        words = ("shown", "chosen")
        rows = [
            (shown, data.arm_names[arm], f"{counts[arm]:g}")
            for shown, counts in zip(data.row_names[:10], data.counts[:10], strict=True)
            for arm in counts.nonzero()[0].tolist()
        ]
        table = table_of((*words, "votes"), rows, words=words)
    show(console(), f"{name}: {data}", table)
