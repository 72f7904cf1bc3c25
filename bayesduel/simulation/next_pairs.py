"""The pairs to ask next, after votes from before, with the reason for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float64
from numpy.typing import ArrayLike

from bayesduel.errors import SimulationArgumentError
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.player import MOST_QUESTIONS, Arm, ChosenPair, Player
from theory.arguments import integer_from, items_of


class NextPair(NamedTuple):
    """A question, as :func:`bayesduel.next_pairs` returns it.

    Attributes
    ----------
    first, second : str or int
        The two arms: names, or positions where the votes have no names.
    reason : str
        Why it is asked, in a sentence without a full stop.
    """

    first: Any
    second: Any
    reason: str


def next_pairs(
    votes: Any,
    policy: str | PolicyBase = "d-ts+",
    n: int = 1,
    *,
    prices: ArrayLike | Mapping[str, float] | None = None,
    exclude: Iterable[tuple[Arm, Arm]] = (),
    judge: str | None = None,
    seed: int = 0,
    arm_names: Sequence[str] | None = None,
    features: Float[np.ndarray, "K d"] | None = None,
    horizon: int | None = None,
) -> list[NextPair]:
    """Return the pairs that a policy asks next, after the votes so far.

    They are the questions of a :class:`Player` that was told the votes, to be answered
    in parallel: ``Player(policy, votes=votes, seed=seed).ask(n)``. They are a function
    of the arguments and of nothing else. Random numbers depend on the number of votes,
    too, so that a loop may call this again and again with one seed.

    Parameters
    ----------
    votes : Comparisons, int (K, K), pandas.DataFrame, str or path-like, list
        The votes so far: ``wins[i, j]`` votes for arm i against arm j; a table or file
        as :func:`bayesduel.votes.read_comparisons` reads it; or a list with an entry
        for each vote, a tuple ``(winner, loser)``, ``(first, second, won)`` or
        ``(first, second, won, judge)``, or a dictionary by the titles of columns.
        ``won`` is True where ``first`` won, False where ``second`` did, None for a tie,
        or the name of the winner. Arms without a vote are known by ``arm_names``; an
        empty list, before the first vote, needs these.
    policy : str or policy
        What chooses, such as ``"d-ts+"``.
    n : int
        How many questions to return. A pair may occur more than once; see
        :meth:`Player.ask`.
    prices : float (K,), float (K, K) or mapping from names to float, optional
        Prices of the arms, where a pair costs the sum of its two, or of the pairs, for
        policies with ``cost="prices"``. :func:`theory.pair_prices` adds the price of a
        judge.
    exclude : iterable of pairs
        Pairs that must not be asked, in either order, by names or positions. In place
        of such a pair comes an allowed pair with one of its arms, that with the fewest
        votes and questions.
    judge : str, optional
        Who answers. Pairs that this judge has answered are excluded; policies know no
        judges. The votes must say who judged, in a column "judge" or in the last entry
        of a tuple. A judge without a vote may answer every pair.
    seed : int
        Seed of all random choices.
    arm_names : sequence of K str, optional
        Names of the arms, by default those of the votes.
    features : float (K, d), optional
        Features of the arms, for policies that read them.
    horizon : int, optional
        How many votes are planned, for policies that plan for it.

    Returns
    -------
    list of NextPair
        Tuples ``(first, second, reason)`` in the order of asking. A reason names the
        *leader*, the arm that the policy recommends now. The probabilities in it are
        those of a Beta distribution per pair, uniform before the votes. A data frame of
        the list, with a column ``winner`` added, is read by
        :func:`bayesduel.votes.read_comparisons`.

    Raises
    ------
    SimulationArgumentError
        If the policy asks for fewer than ``n`` questions before it gets answers, no
        pair is left to be asked, or another argument cannot be used.
    PolicyParameterError
        For a policy that does not fit.
    ComparisonDataError
        For votes that cannot be read, or do not say who judged.

    Examples
    --------
    >>> votes = [("tea", "milk"), ("tea", "coffee"), ("tea", "milk"), ("milk", "tea")]
    >>> pair = next_pairs(votes, "track-and-stop")[0]
    >>> pair.first, pair.second
    ('coffee', 'milk')
    >>> print(pair.reason)
    'coffee' against 'milk', neither the leader 'tea': no vote yet

    A square table of wins, without names:

    >>> [len(pair) for pair in next_pairs([[0, 9], [3, 0]], "rucb")]
    [3]
    """
    number = integer_from(n, 1, "n", MOST_QUESTIONS, kind=SimulationArgumentError)
    if judge is not None and not isinstance(judge, str):
        rule, remedy = "must be the name of a judge", "give a text, or leave it out"
        raise SimulationArgumentError("judge", rule, judge, remedy=remedy)
    table, answered = _told(votes, judge)
    if table is None and arm_names is None:
        rule, remedy = "must be given before the first vote", "name the arms"
        raise SimulationArgumentError("arm_names", rule, None, remedy=remedy)
    # Few questions are asked before a program would be loaded.
    player = Player(
        policy,
        seed=seed,
        arm_names=arm_names,
        features=features,
        prices=prices,
        horizon=horizon,
        votes=table,
        compiled=None,
    )
    allowed = _allowed(player, exclude, answered, judge)
    leader = player._arm(player.recommend(), "leader")
    beaten = _likely_wins(player.wins)
    chosen = player._next_pairs(number, allowed)
    if len(chosen) < number:
        rule = f"must be at most {len(chosen)}: {player._why_nothing()}"
        remedy = "collect these answers first, or take another policy"
        raise SimulationArgumentError("n", rule, n, remedy=remedy)
    hidden = {frozenset(player._pair(*pair)) for pair in answered}
    return [
        NextPair(
            *player._named(*each.pair), _reason(player, each, leader, beaten, hidden)
        )
        for each in chosen
    ]


def _told(votes: Any, judge: str | None) -> tuple[Any, list[tuple[str, str]]]:
    """Return the votes for a player, and the pairs that a judge has answered."""
    if isinstance(votes, list | tuple) and not votes:
        return None, []
    if judge is None:
        return votes, []
    from bayesduel.votes.pairs import given_votes

    table = given_votes(votes, with_judges=True).table
    if "judge" not in table.columns:
        rule = "must say who judged, where judge= is given"
        remedy = (
            "read them with read_comparisons(..., judge=COLUMN), or give tuples "
            "(first, second, won, judge)"
        )
        raise SimulationArgumentError("votes", rule, table, remedy=remedy)
    judges = table.labels["judge"]
    if judge not in judges:
        return table, []
    own = table.columns["judge"] == judges.index(judge)
    own &= table.counts.sum(axis=1) > 0
    names = table.arm_names
    rows = np.column_stack([table.first[own], table.second[own]]).tolist()
    return table, [(names[first], names[second]) for first, second in rows]


def _allowed(
    player: Player,
    exclude: Iterable[tuple[Arm, Arm]],
    answered: list[tuple[str, str]],
    judge: str | None,
) -> Bool[np.ndarray, "K K"] | None:
    """Return the pairs that may be asked, None for all."""
    pairs = items_of(exclude, "exclude", kind=SimulationArgumentError)
    if not pairs and not answered:
        return None
    allowed = ~np.eye(player.num_arms, dtype=bool)
    for first, second in (player._pair(*pair) for pair in answered):
        allowed[first, second] = allowed[second, first] = False
    for place, each in enumerate(pairs):
        pair = items_of(each, f"exclude[{place}]", 2, kind=SimulationArgumentError)
        first, second = player._pair(*pair)
        allowed[first, second] = allowed[second, first] = False
    if not allowed.any():
        rule, remedy = "must leave a pair to be asked", "exclude fewer pairs"
        if answered:
            rule = f"has answered every pair that may be asked: {judge!r}"
            remedy = "ask another judge"
            raise SimulationArgumentError("judge", rule, judge, remedy=remedy)
        raise SimulationArgumentError("exclude", rule, len(pairs), remedy=remedy)
    return allowed


def _likely_wins(wins: np.ndarray) -> Float64[np.ndarray, "K K"]:
    """Return P(i is better than j) of a uniform prior for every pair."""
    from scipy.special import betainc

    return betainc(wins.T + 1.0, wins + 1.0, 0.5)


def _reason(
    player: Player,
    chosen: ChosenPair,
    leader: int,
    better: Float64[np.ndarray, "K K"],
    hidden: set[frozenset[int]],
) -> str:
    def name(arm: int) -> str:
        return repr(player._named(arm, arm)[0])

    first, second = chosen.pair
    votes = player._wins[first, second] + player._wins[second, first]
    if leader in chosen.pair:
        rival = second if first == leader else first
        probability = f"{better[rival, leader]:.2g}"
        others = np.delete(better[:, leader], leader)
        words = f"leader {name(leader)} against "
        if votes == 0:
            words += f"{name(rival)}: no vote yet"
        elif better[rival, leader] >= others.max():
            words += f"its likeliest rival: {name(rival)} may be better with "
            words += f"probability {probability}"
        else:
            words += f"{name(rival)}, which may be better with probability "
            words += probability
    else:
        words = f"{name(first)} against {name(second)}, neither the leader "
        words += f"{name(leader)}: "
        probability = f"{better[first, second]:.2g}"
        if votes == 0:
            words += "no vote yet"
        else:
            words += f"{name(first)} is better with probability {probability}"
    if player._prices is not None:
        words += f"; it costs {player._prices[chosen.pair]:g}"
    if chosen.instead_of is not None:
        one, other = chosen.instead_of
        why = "which is asked often enough in this batch"
        if chosen.is_excluded:
            is_answered = frozenset(chosen.instead_of) in hidden
            why = (
                "which this judge has answered" if is_answered else "which is excluded"
            )
        words += f"; in place of {name(one)} against {name(other)}, {why}"
    return words
