"""The pairs to ask next, after votes from before, with the reason for each."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from jaxtyping import Float, Float64
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtr

from bayesduel.errors import (
    DisconnectedComparisonsWarning,
    SimulationArgumentError,
    errors_about,
)
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.fit.differences import ModeFit, fit_mode
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.player import (
    MOST_ARMS,
    MOST_QUESTIONS,
    Arm,
    ChosenPair,
    Player,
    pair_of,
)
from bayesduel.votes.checks import arm_names_of, arm_positions
from bayesduel.votes.comparisons import Comparisons
from bayesduel.votes.pairs import GivenVotes, given_votes
from theory.arguments import integer_from, items_of, seed_of

USUAL_POLICY = "d-ts+"  # The policy of few arms
_POOL = 40  # Solutions of perturbed equations of which all draws of a call are made
_AT_ONCE = 32  # Questions that are chosen at once, by two draws each of all utilities


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
    policy: str | PolicyBase | None = None,
    n: int = 1,
    *,
    prices: ArrayLike | Mapping[str, float] | None = None,
    exclude: Iterable[tuple[Arm, Arm]] = (),
    judge: str | None = None,
    seed: int = 0,
    arm_names: Sequence[str] | None = None,
    features: Float[np.ndarray, "K d"] | None = None,
    horizon: int | None = None,
    retired: Iterable[Arm] = (),
    prune: float | None = None,
) -> list[NextPair]:
    """Return the pairs that a policy asks next, after the votes so far.

    They are the questions that Player(policy, votes=votes, seed=seed).ask(n) returns.
    They can be answered in parallel. The result depends on nothing but the arguments.
    The random numbers depend on the seed and on the number of votes, so a loop can call
    this function again and again with the same seed.

    Parameters
    ----------
    votes : Comparisons, ModeFit, int (K, K), pandas.DataFrame, str or path-like, list
        The votes so far: ``wins[i, j]`` votes for arm i against arm j; a table or file
        as :func:`bayesduel.votes.read_comparisons` reads it; or a list with an entry
        for each vote, a tuple ``(winner, loser)``, ``(first, second, won)`` or
        ``(first, second, won, judge)``, or a dictionary by the titles of columns.
        ``won`` is True where ``first`` won, False where ``second`` did, None for a tie,
        or the name of the winner. Arms without a vote are known by ``arm_names``; an
        empty list, before the first vote, needs these. A fit by
        :func:`bayesduel.inference.fit_mode` stands for its votes, and saves the time of
        another fit.
    policy : str or policy, optional
        The policy that chooses, such as ``"rucb"``; by default ``"d-ts+"``. Policies
        keep tables of all pairs, which allow at most 2,000 arms. With more arms, or if
        votes is a ``ModeFit``, it must be left out. Pairs then come from draws of a
        Bradley-Terry fit; see Notes.
    n : int
        How many questions to return. A pair may occur more than once; see
        :meth:`Player.ask`.
    prices : float (K,), float (K, K) or mapping from names to float, optional
        Prices for policies with cost="prices": one per arm, so that a pair costs the
        sum of its two arms, or one per pair. :func:`theory.pair_prices` adds the price
        of a judge.
    exclude : iterable of pairs
        Pairs that must not be asked, in either order, by names or positions. Such a
        pair is replaced by an allowed pair that contains one of its arms, the one with
        the fewest votes and questions.
    judge : str, optional
        The judge who will answer. Pairs that this judge has already answered are
        excluded. The votes must say who judged, in a column "judge" or in the last
        entry of each tuple. A judge without a vote may be asked any pair. Policies
        themselves do not distinguish judges.
    seed : int
        Seed of all random choices.
    arm_names : sequence of K str, optional
        Names of the arms, by default those of the votes. Arms without a vote are
        compared as well. Retired arms need not be named.
    features : float (K, d), optional
        Features of the arms, for policies that read them.
    horizon : int, optional
        Planned number of votes, for policies that need a horizon.
    retired : iterable of arms
        Arms that are no longer compared, by names or positions. Their votes do not
        count.
    prune : float, optional
        Leave out arms for which the votes show that another arm is better, with this
        error probability, as Player does with its argument prune.

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
    FitError
        If there are more than a million arms.

    Notes
    -----
    With more than 2,000 arms ``fit_mode(BradleyTerry(zero_sum=True), votes)`` is
    fitted, with ties if there are any, and each question takes two draws of all
    utilities from the normal distribution at the mode: the best arm of one draw meets
    the best arm of the other, or its second best where both have the same one. This is
    double Thompson sampling on one scale, without its rounds in which an arm would meet
    itself. Each draw is exactly of that distribution, but those of one call are random
    combinations of 40 draws by perturbation (:meth:`ModeFit.sample_utilities`), and
    depend on each other through these. The probabilities in the reasons are theirs.

    Examples
    --------
    >>> votes = [("tea", "milk"), ("tea", "coffee"), ("tea", "milk"), ("milk", "tea")]
    >>> pair = next_pairs(votes, "track-and-stop")[0]
    >>> pair.first, pair.second
    ('coffee', 'milk')
    >>> print(pair.reason)
    'coffee' against 'milk', neither the leader 'tea': no vote yet

    A new arm, and one that is no longer compared:

    >>> pool = {"arm_names": ["tea", "coffee", "cocoa"], "retired": ["milk"]}
    >>> [sorted(pair[:2]) for pair in next_pairs(votes, "track-and-stop", **pool)]
    [['cocoa', 'tea']]

    A square table of wins, without names:

    >>> [len(pair) for pair in next_pairs([[0, 9], [3, 0]], "rucb")]
    [3]
    """
    number = integer_from(n, 1, "n", MOST_QUESTIONS, kind=SimulationArgumentError)
    if judge is not None and not isinstance(judge, str):
        rule, remedy = "must be the name of a judge", "give a text, or leave it out"
        raise SimulationArgumentError("judge", rule, judge, remedy=remedy)
    gone = items_of(retired, "retired", kind=SimulationArgumentError)
    names = None if arm_names is None else arm_names_of(arm_names, None)
    if names is not None:
        names += tuple(arm for arm in gone if arm not in names)
    fitted = votes if isinstance(votes, ModeFit) else None
    given, answered = _votes_and_answered(
        votes if fitted is None else fitted.data, judge
    )
    if names is not None:
        num_arms = len(names)
    elif given is not None:
        num_arms = given.table.num_arms
    else:
        rule, remedy = "must be given before the first vote", "name the arms"
        raise SimulationArgumentError("arm_names", rule, None, remedy=remedy)
    excluded = items_of(exclude, "exclude", kind=SimulationArgumentError)
    if fitted is not None or num_arms > MOST_ARMS:
        unread = {"policy": policy, "prices": prices, "features": features}
        unread |= {"retired": gone or None, "prune": prune}
        unread["arm_names"] = None if fitted is None else names
        for name, value in unread.items():
            if value is not None:
                rule = f"must be left out with more than {MOST_ARMS} arms, or of a fit"
                remedy = "pairs come from draws of the fit by the mode"
                raise SimulationArgumentError(name, rule, value, remedy=remedy)
        seed = seed_of(seed, "seed", kind=SimulationArgumentError)
        if fitted is None:
            fitted = _mode_fit(given, names)
        has_names = names is not None or (given is not None and given.has_names)
        return _pairs_of_draws(
            fitted, has_names, number, excluded, answered, judge, seed
        )
    # Few questions are asked before a program would be loaded.
    player = Player(
        USUAL_POLICY if policy is None else policy,
        seed=seed,
        arm_names=names,
        features=features,
        prices=prices,
        horizon=horizon,
        votes=given,
        prune=prune,
        compiled=None,
    )
    for arm in gone:
        with errors_about("retired", arm):
            player.retire_arm(arm)
    closed = _closed(player._pair, excluded, answered)
    allowed = None
    if closed:
        allowed = player._pairs_of_pool()
        rows = np.array(closed)
        allowed[rows, rows[:, ::-1]] = False
        if not allowed.any():
            _refuse_all(judge if answered else None, excluded)
    leader = player._arm(player.recommend(), "leader")
    # P(i is better than j) of a uniform prior; no arm is better than itself.
    better = betainc(player.wins.T + 1.0, player.wins + 1.0, 0.5)
    np.fill_diagonal(better, 0.0)
    chosen = player._next_pairs(number, allowed)
    if len(chosen) < number:
        rule = f"must be at most {len(chosen)}: {player._why_nothing()}"
        remedy = "collect these answers first, or take another policy"
        raise SimulationArgumentError("n", rule, n, remedy=remedy)
    hidden = {frozenset(player._pair(*pair)) for pair in answered}
    return [
        NextPair._make(
            (*player._named(*pair.pair), _reason(player, pair, leader, better, hidden))
        )
        for pair in chosen
    ]


def _votes_and_answered(
    votes: Any, judge: str | None
) -> tuple[GivenVotes | None, list[tuple[str, str]]]:
    """Return the votes, and the pairs that a judge has answered."""
    if isinstance(votes, list | tuple) and not votes:
        return None, []
    # A loop calls this again and again.
    given = given_votes(votes, with_judges=judge is not None, level=logging.DEBUG)
    if judge is None:
        return given, []
    table = given.table
    if "judge" not in table.columns:
        rule = "must say who judged, where judge= is given"
        remedy = (
            "read them with read_comparisons(..., judge=COLUMN), or give tuples "
            "(first, second, won, judge)"
        )
        raise SimulationArgumentError("votes", rule, table, remedy=remedy)
    judges = table.labels["judge"]
    if judge not in judges:
        return given, []
    mine = table.columns["judge"] == judges.index(judge)
    mine &= table.counts.sum(axis=1) > 0
    names = table.arm_names
    rows = np.column_stack([table.first[mine], table.second[mine]]).tolist()
    return given, [(names[first], names[second]) for first, second in rows]


def _closed(
    pair_of: Callable[[Arm, Arm], tuple[int, int]],
    excluded: tuple[Any, ...],
    answered: list[tuple[str, str]],
) -> list[tuple[int, int]]:
    """Return the pairs, by positions, that may not be asked."""
    closed = [pair_of(*pair) for pair in answered]
    for number, arms in enumerate(excluded):
        pair = items_of(arms, f"exclude[{number}]", 2, kind=SimulationArgumentError)
        closed.append(pair_of(*pair))
    return closed


def _refuse_all(judge: str | None, excluded: tuple[Any, ...]) -> NoReturn:
    if judge is not None:
        rule = f"has answered every pair that may be asked: {judge!r}"
        remedy = "ask another judge"
        raise SimulationArgumentError("judge", rule, judge, remedy=remedy)
    rule, remedy = "must leave a pair to be asked", "exclude fewer pairs"
    raise SimulationArgumentError("exclude", rule, len(excluded), remedy=remedy)


def _mode_fit(given: GivenVotes | None, names: tuple[str, ...] | None) -> ModeFit:
    """Fit Bradley-Terry to votes on many arms; some may have no vote."""
    if given is None:
        none = np.zeros(0, dtype=np.int64)
        data = Comparisons.from_rows(names or (), none, none, np.zeros((0, 3)))
    else:
        data = given.table.without_columns()
        if names is not None:
            known = data.arm_names if given.has_names else names[: data.num_arms]
            positions = arm_positions("votes", known, names)
            rows = positions[data.first], positions[data.second], data.counts
            data = Comparisons.from_rows(names, *rows)
    with warnings.catch_warnings():
        # Arms without a vote are what the next pairs are about.
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        return fit_mode(BradleyTerry(zero_sum=True, ties=data.has_ties), data)


def _pairs_of_draws(
    fitted: ModeFit,
    has_names: bool,
    number: int,
    excluded: tuple[Any, ...],
    answered: list[tuple[str, str]],
    judge: str | None,
    seed: int,
) -> list[NextPair]:
    """Return pairs of the best arms of two draws of all utilities each."""
    names, mode = fitted.data.arm_names, fitted.utility
    places = {name: at for at, name in enumerate(names)} if has_names else {}
    closed = _closed(lambda i, j: pair_of(i, j, len(names), places), excluded, answered)
    partners: dict[int, set[int]] = {}
    for i, j in closed:
        partners.setdefault(i, set()).add(j)
        partners.setdefault(j, set()).add(i)
    # Arms of which no pair is left.
    full = [arm for arm, others in partners.items() if len(others) == len(names) - 1]
    if len(full) == len(names):
        _refuse_all(judge if answered else None, excluded)
    rng = np.random.default_rng((seed, int(fitted.data.num_votes)))
    pool = fitted.sample_utilities(int(rng.integers(2**62)), _POOL) - mode
    first, second = np.empty((2, number), dtype=np.int64)
    for start in range(0, number, _AT_ONCE):
        size = min(_AT_ONCE, number - start)
        # A combination of independent normal vectors is normal with the same covariance
        # if the squares of its coefficients add up to 1.
        ways = rng.standard_normal((2 * size, _POOL))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        draws = ways @ pool
        draws += mode
        draws[:, full] = -np.inf
        best, rivals = draws[:size].argmax(axis=1), draws[size:]
        rivals[np.arange(size), best] = -np.inf
        for row, arm in enumerate(best.tolist()):
            if arm in partners:
                rivals[row, [*partners[arm]]] = -np.inf
        first[start : start + size] = best
        second[start : start + size] = rivals.argmax(axis=1)
    apart = np.linalg.norm(pool[:, first] - pool[:, second], axis=0) / math.sqrt(_POOL)
    better = ndtr((mode[first] - mode[second]) / apart)
    leader, chosen = int(mode.argmax()), []
    shown: Sequence[Any] = names if has_names else range(len(names))
    for i, j, share in zip(first.tolist(), second.tolist(), better, strict=True):
        if leader in (i, j):
            rival, share = (j, 1.0 - share) if i == leader else (i, share)
            reason = f"leader {shown[leader]!r} against {shown[rival]!r}, which may be "
            reason += f"better with probability {share:.2g}"
        else:
            reason = f"{shown[i]!r} against {shown[j]!r}, neither the leader "
            reason += f"{shown[leader]!r}: {shown[i]!r} is better with probability "
            reason += f"{share:.2g}"
        chosen.append(NextPair(shown[i], shown[j], reason))
    return chosen


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
        others = better[player._compared, leader]
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
        old_first, old_second = chosen.instead_of
        why = "which is asked often enough in this batch"
        if chosen.is_excluded:
            is_answered = frozenset(chosen.instead_of) in hidden
            why = (
                "which this judge has answered" if is_answered else "which is excluded"
            )
        words += f"; in place of {name(old_first)} against {name(old_second)}, {why}"
    return words
