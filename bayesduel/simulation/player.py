"""A policy in memory that asks one question at a time: ``Player``."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from jaxtyping import Bool, Float, Int64

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.errors import (
    ArgumentError,
    PolicyParameterError,
    SimulationArgumentError,
    SimulationError,
    errors_about,
    errors_as,
    near_and_all,
)
from bayesduel.policies.change.monitored_dueling import MonitoredDueling
from bayesduel.policies.lookup import parse_policy
from bayesduel.policies.parameter_values import (
    check_fields,
    check_kinds,
    check_policy,
    reads_prices,
    with_features,
    with_prices,
)
from bayesduel.policies.policy import (
    DRAWS,
    LIKELY_ANSWERS,
    Policy,
    PolicyBase,
    declared,
    kernel_of,
    over_model,
)
from bayesduel.policies.policy_around import DelayedFeedback, innermost, rule_of
from bayesduel.policies.subset_base import OfferingPolicy
from bayesduel.simulation.steppers import (
    KernelStepper,
    Question,
    RuleStepper,
    Stepper,
    coin,
    near_pairs,
)
from theory.arguments import arm_index, integer_from, seed_of, share_of, true_or_false
from theory.identification.evidence import against_better, eliminated_by
from theory.validation import numeric_array, price_table

if TYPE_CHECKING:
    from bayesduel.votes.pairs import GivenVotes

__all__ = ["Player", "stepper_of"]

type Arm = int | str  # An arm by its position, or by its name
MOST_QUESTIONS = 10**6  # Questions that are asked for at once

# The largest share of one pair in the questions that a policy draws at once. Late in a
# study most of them are about one pair, and should be.
_LARGEST_SHARE = 4, 5

# For each question of a batch: draws of pairs that were drawn often enough
_REDRAWS = 10
MOST_ARMS = 2000  # Arms of a player, which holds tables of all pairs


def stepper_of(
    policy: PolicyBase,
    num_arms: int,
    *,
    seed: int,
    epoch: int,
    horizon: int | None,
    features: Float[np.ndarray, "K d"] | None,
    compiled: bool | None = None,
) -> Stepper:
    """Return what advances a policy, of whatever kind, with all self-duels left out."""
    policy = innermost(policy)
    rule, kernel = rule_of(policy), kernel_of(policy)
    if rule is not None:
        assert isinstance(rule, Policy)
        return RuleStepper(rule, num_arms, seed, epoch, horizon, features)
    if kernel is not None:
        planned = horizon if declared(policy, "needs_horizon") else None
        return KernelStepper(kernel, num_arms, seed, epoch, planned, compiled)
    # JAX takes a second to import.
    from bayesduel.simulation.model_calls import ModelStepper

    return ModelStepper(over_model(policy), num_arms, seed, epoch)


@dataclass
class _Request:
    """A question of the policy, for one vote or several."""

    question: Question
    pair: tuple[int, int]
    """The arms, by the positions of the player."""

    issued: int = 0
    resolved: int = 0
    votes: int = 0
    wins: int = 0


class ChosenPair(NamedTuple):
    """A pair that is asked, by positions, and the one of the policy if it differs."""

    pair: tuple[int, int]
    instead_of: tuple[int, int] | None = None
    # Whether that one may not be asked; else it is asked often enough
    is_excluded: bool = False


def pair_of(
    first: Arm, second: Arm, num_arms: int, places: dict[str, int]
) -> tuple[int, int]:
    """Return two different arms by position; ``places`` of names, empty without."""
    first_arm = arm_of(first, "first", num_arms, places)
    second_arm = arm_of(second, "second", num_arms, places)
    if first_arm == second_arm:
        rule = "must differ from first"
        remedy = "an arm against itself teaches nothing"
        raise SimulationArgumentError("second", rule, second, remedy=remedy)
    return first_arm, second_arm


def arm_of(arm: Arm, argument: str, num_arms: int, places: dict[str, int]) -> int:
    """Return an arm by position."""
    if not isinstance(arm, str):
        return arm_index(arm, num_arms, argument, kind=SimulationArgumentError)
    if arm in places:
        return places[arm]
    if not places:
        rule, remedy = "must be a position", "give arm_names= to the player"
    else:
        rule, remedy = "must be the name of an arm", near_and_all(arm, places)
    raise SimulationArgumentError(argument, rule, arm, remedy=remedy)


class Player:
    """Plays a policy one question at a time, in memory.

    Ask for a pair, show it to somebody, and tell who won. Several questions may be open
    at once, and answers may come in any order or not at all. The policy is the one that
    simulations play, but rounds in which an arm would meet itself are left out, because
    they teach nothing. All results depend only on the seed and on the earlier calls.

    Parameters
    ----------
    policy : str or policy
        A name with parameters such as ``"d-ts+"`` or ``"rucb:alpha=0.6"``, or a policy
        of your own.
    num_arms : int, optional
        The number of arms K, at least 2. It can be left out if ``arm_names``,
        ``features`` or ``votes`` determine it.
    seed : int
        Seed of all random choices.
    arm_names : sequence of K str, optional
        Names of the arms. If they are given, here or in votes, pairs are pairs of
        names. Otherwise they are pairs of positions, counted from 0.
    features : float (K, d), optional
        Features of the arms, for policies that read them.
    prices : float (K,), float (K, K) or mapping from names to float, optional
        Price of a question, for policies with ``cost="prices"``, which need it: of each
        arm, where a pair costs the sum of its two arms, or of each pair. Finite and
        above 0. :func:`theory.pair_prices` adds the price of a judge.
    horizon : int, optional
        Planned number of votes. It is required by policies that need a horizon. The
        other policies of this package do not use it.
    votes : Comparisons, int (K, K), pandas.DataFrame, str or path-like, optional
        Votes from before: ``wins[i, j]`` votes for arm i against arm j, or a table or
        file as :func:`bayesduel.votes.read_comparisons` reads it. The policy begins
        from their counts; see :meth:`tell_counts`.
    prune : float, optional
        Retire an arm as soon as the votes show that another arm is better, with the
        error probability delta = ``prune``, in (0, 1); see the notes. By default no arm
        is retired in this way.
    compiled : bool or None
        Whether a policy of this package runs as compiled code. Loading the code takes a
        second, and compiling it for the first time on a machine takes several. With
        False, Python runs the policy, which takes milliseconds per question. With None,
        Python runs it unless there are more than 96 arms or very many votes are told at
        once. The questions are the same in all three cases.

    Attributes
    ----------
    policy : policy
        The policy.
    arm_names : tuple of K str, or None
        Names of all arms, retired ones included.
    num_arms : int
        Number of all arms K.

    Raises
    ------
    PolicyParameterError
        If the policy offers sets, has a delay of its own, does not allow this number of
        arms, or needs a horizon or features that are not given.
    SimulationArgumentError
        For any other argument that cannot be used.

    Notes
    -----
    After the first question, 10^4 questions and answers of D-TS+ with 20 arms take less
    than a second.

    *Arms come and go.* :meth:`add_arm` and :meth:`retire_arm` let the policy begin anew
    from the counts of the arms that are compared, as :meth:`tell_counts` does. A
    retired arm keeps its name or position and its votes, but these count no longer.

    *Pruning.* With ``prune=delta`` an arm is retired once its
    :func:`theory.elimination_evidence` reaches log(1/delta), the one with the most
    evidence first, until two arms are left. An arm that no arm of the pool beats with a
    probability above 1/2 is pruned with probability at most delta, however pairs are
    chosen and arms come and go. This assumes that the votes of a pair are independent,
    have the same probability, and are all told, whatever their outcome. If no arm beats
    all others, all but two arms may be retired.

    A player can be copied (``copy.deepcopy``) and pickled. A copy continues exactly as
    the original does.

    Examples
    --------
    >>> player = Player("d-ts+", num_arms=3, seed=0)
    >>> first, second = player.ask()
    >>> player.tell(first, second, won=True)
    >>> [len(pair) for pair in player.ask(4)], len(player.open_pairs)
    ([2, 2, 2, 2], 4)

    Start from votes of named arms:

    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 9], [3, 0]], arm_names=["tea", "coffee"])
    >>> player = Player("rucb", votes=votes)
    >>> player.recommend()
    'tea'
    """

    def __init__(
        self,
        policy: str | PolicyBase = "d-ts+",
        num_arms: int | None = None,
        *,
        seed: int = 0,
        arm_names: Sequence[str] | None = None,
        features: Float[np.ndarray, "K d"] | None = None,
        prices: Any = None,
        horizon: int | None = None,
        votes: Any = None,
        prune: float | None = None,
        compiled: bool | None = True,
    ) -> None:
        data = None if votes is None else _given(votes)
        self.arm_names = _names_of(arm_names, data)
        if features is not None:
            features = _checked_features(features)
        known = {
            "arm_names": self.arm_names and len(self.arm_names),
            "features": None if features is None else len(features),
            "votes": data and data.table.num_arms,
        }
        if self.arm_names is not None and data is not None and data.has_names:
            del known["votes"]  # Arms without a vote may be missing there.
        self.num_arms = _number_of_arms(num_arms, known)
        if compiled is not None:
            compiled = true_or_false(compiled, "compiled", kind=SimulationArgumentError)
        self._seed = seed_of(seed, "seed", kind=SimulationArgumentError)
        self._prices = None
        if prices is not None:
            with errors_as(SimulationArgumentError):
                self._prices = price_table(prices, self.num_arms, self.arm_names)
        self.policy = _checked_policy(
            policy, self.num_arms, features, self._prices, horizon
        )
        self._features, self._horizon, self._compiled = features, horizon, compiled
        self._threshold = np.inf
        if prune is not None:
            delta = share_of(prune, "prune", kind=SimulationArgumentError)
            self._threshold = -np.log(delta)
            self._check_grows("prune", prune, "leave it out, or take one such as d-ts+")
        self._places = {name: at for at, name in enumerate(self.arm_names or ())}
        self._compared = np.ones(self.num_arms, dtype=bool)
        self._pruned: list[int] = []
        # Arms that were retired and restored, for good.
        self._spared: set[int] = set()
        self._wins = np.zeros((self.num_arms, self.num_arms), dtype=np.int64)
        if data is not None:
            self._wins += self._counted(data)
        # Questions without an answer; a pair may stand in place of a request.
        self._open: list[tuple[int, int, _Request | None]] = []
        self._epoch = 0
        # Votes are events: with more of them other random numbers come.
        self._num_events = int(self._wins.sum())
        self._begin()
        self._prune(None)

    @property
    def wins(self) -> Int64[np.ndarray, "K K"]:
        """Votes so far: ``wins[i, j]`` for arm i against arm j, retired or not."""
        return self._wins.copy()

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are compared: names, or positions."""
        return self._named(*np.flatnonzero(self._compared).tolist())

    @property
    def pruned(self) -> tuple[Any, ...]:
        """The arms that were retired by evidence, in the order in which they went."""
        return self._named(*self._pruned)

    @property
    def open_pairs(self) -> list[tuple[Any, Any]]:
        """Questions without an answer, in the order in which they were asked."""
        return [self._named(first, second) for first, second, _ in self._open]

    @overload
    def ask(self) -> tuple[Any, Any]: ...

    @overload
    def ask(self, n: int) -> list[tuple[Any, Any]]: ...

    def ask(self, n: int | None = None) -> tuple[Any, Any] | list[tuple[Any, Any]]:
        """Return the next pair to be compared, or several for parallel answers.

        A question stays open until it is answered or skipped. Meanwhile the policy
        knows that the question has been asked, but not its answer, as with delayed
        feedback. A pair may be asked more than once.

        If ``n`` is above 1, policies that draw at random draw each pair independently,
        and no pair more than ceil(4 n / 5) times if there are several pairs. Policies
        that follow an index go on as if each open question had been answered by its
        most likely outcome. ``docs/how_to/batches.md`` has the details, and says
        what large batches cost.

        Parameters
        ----------
        n : int, optional
            How many pairs to return. By default one pair, which is not in a list.

        Returns
        -------
        pair or list of pairs
            Two different arms each: names where the player knows names, else positions.
            The list is shorter than ``n`` if the policy needs answers before it asks
            more, or has settled on an arm.

        Raises
        ------
        SimulationError
            Without ``n``, if the policy asks nothing now.
        """
        if n is None:
            chosen, _ = self._next_pair(None)
            if chosen is None:
                raise SimulationError(self._why_nothing())
            return self._named(*chosen.pair)
        number = integer_from(n, 1, "n", MOST_QUESTIONS, kind=SimulationArgumentError)
        chosen = self._next_pairs(number, None)
        return [self._named(*question.pair) for question in chosen]

    def tell(self, first: Arm, second: Arm, won: bool | None) -> None:
        """Tell who won a comparison.

        The answer belongs to the oldest open question about the two arms. If there is
        none, it is a vote that the policy did not ask for, and counts as well. Late
        answers also count, even after a vote was withdrawn.

        Parameters
        ----------
        first, second : int or str
            The two arms in either order: positions, or names where the player knows
            names.
        won : bool or None
            Whether ``first`` won. None stands for a tie: since policies know no ties, a
            fair coin decides for which arm it counts.

        Raises
        ------
        SimulationArgumentError
            For an unknown arm, an arm against itself, or anything else as ``won``.
        """
        pair = self._pair(first, second)
        if won is not None and not isinstance(won, bool | np.bool_):
            rule = (
                "must be True where first won, False where second did, None for a tie"
            )
            raise SimulationArgumentError("won", rule, won, remedy="give one of these")
        number = self._num_events + 1
        first_won = coin(self._seed, number) if won is None else bool(won)
        index = self._index_of_open(pair)
        request = None if index is None else self._open[index][2]
        if request is None:
            self._change(number, pair, int(first_won), 1)
        else:
            wins = first_won if pair[0] == request.pair[0] else not first_won
            self._resolve(number, request, int(wins), 1)
        self._num_events = number
        self._wins[pair if first_won else pair[::-1]] += 1
        if index is not None:
            del self._open[index]
        self._prune(pair)

    def skip(self, first: Arm, second: Arm) -> None:
        """Close the oldest open question about two arms without an answer.

        Raises
        ------
        SimulationArgumentError
            If no question about them is open.
        """
        pair = self._pair(first, second)
        index = self._index_of_open(pair)
        if index is None:
            rule, remedy = "must be open", "skip one of player.open_pairs"
            raise SimulationArgumentError("pair", rule, (first, second), remedy=remedy)
        request, number = self._open[index][2], self._num_events + 1
        if request is not None:
            self._resolve(number, request, 0, 0)
        self._num_events = number
        del self._open[index]

    def tell_counts(self, votes: Any) -> None:
        """Add many votes at once, and let the policy begin anew from all counts.

        This takes milliseconds for a million votes, except for policies in NumPy, which
        are told the votes one by one. If the state of a policy depends on the order of
        votes, it is told them pair by pair, in the order of the arms. Policies that
        plan many questions at once begin anew without these votes. Open questions stay
        open, and their answers count as votes that were not asked for.

        Parameters
        ----------
        votes : Comparisons, int (K, K), pandas.DataFrame, str or path-like
            As for the player.
        """
        data = _given(votes)
        if not data.has_names or self.arm_names is None:
            _number_of_arms(self.num_arms, {"votes": data.table.num_arms})
        self._begin_anew(self._wins + self._counted(data))
        self._prune(None)

    def add_arm(
        self,
        name: str | None = None,
        *,
        features: Float[np.ndarray, " d"] | None = None,
        prices: Any = None,
        anew: bool = False,
    ) -> Any:
        """Compare one more arm from now on.

        The policy begins anew from the counts of the arms that are compared. Open
        questions stay open; their answers count as votes not asked for. An arm that is
        added before the first question is treated like one that was there from the
        start.

        Parameters
        ----------
        name : str, optional
            A name that no arm has or had, where the player knows names. Without names
            the new arm has the next position.
        features : float (d,), optional
            Features of the arm, where the player has those of the others.
        prices : float or float (K,), optional
            Price of a question about it and each arm so far, retired ones included,
            where the player has prices: one number for all, or one for each.
        anew : bool
            For a policy that plans its questions in bulk, such as the batched ones: let
            it begin anew without the votes so far. By default it refuses.

        Returns
        -------
        int or str
            The position of the arm, or its name.

        Raises
        ------
        PolicyParameterError
            For a policy that cannot take in the votes so far, without ``anew``, or that
            does not fit one more arm.
        SimulationArgumentError
            For any other argument that cannot be used.

        Examples
        --------
        >>> player = Player("rucb", arm_names=["tea", "milk"], seed=0)
        >>> player.tell("tea", "milk", won=True)
        >>> player.add_arm("coffee")
        'coffee'
        >>> player.retire_arm("milk")
        >>> player.arms, sorted(player.ask())
        (('tea', 'coffee'), ['coffee', 'tea'])
        """
        names = self.arm_names
        if not isinstance(name, str if names is not None else type(None)):
            rule, remedy = "must be a text, as all arms have names", "name the arm"
            if names is None:
                rule = "must be left out, as the arms have no names"
                remedy = "call add_arm(), which returns its position"
            raise SimulationArgumentError("name", rule, name, remedy=remedy)
        if names is not None:
            if name in self._places:
                rule = "must be new"
                remedy = "retired arms keep their names; restore_arm brings one back"
                raise SimulationArgumentError("name", rule, name, remedy=remedy)
            try:
                names = _names_of([*names, name], None)  # pyright: ignore
            except ArgumentError as error:
                named = error.renamed("name", None)
                raise named.as_kind(SimulationArgumentError) from error
        number = _number_of_arms(self.num_arms + 1, {})
        self._check_grows("anew", anew)
        table = self._features
        if (table is None) != (features is None):
            rule = "must be given where the other arms have features, and only there"
            remedy = "give numbers such as those of the others, or leave them out"
            raise SimulationArgumentError("features", rule, features, remedy=remedy)
        if table is not None:
            row = _checked_features([features])
            if row.shape[1] != table.shape[1]:
                rule = f"must be {table.shape[1]} numbers"
                raise SimulationArgumentError("features", rule, features)
            table = np.concatenate([table, row])
        paid = self._prices
        if (paid is None) != (prices is None):
            rule = "must be given where the other arms have prices, and only there"
            remedy = "give the price of a question about it, or leave it out"
            raise SimulationArgumentError("prices", rule, prices, remedy=remedy)
        if paid is not None:
            paid = np.pad(paid, (0, 1))
            with errors_about("prices", prices), errors_as(SimulationArgumentError):
                more = numeric_array(prices, "prices")
                if more.shape not in ((), (number - 1,)):
                    rule = f"must be one number, or one for each of {number - 1} arms"
                    raise SimulationArgumentError("prices", rule, more.shape)
                paid[-1, :-1] = paid[:-1, -1] = more
                paid = price_table(paid, number)
        compared = np.append(self._compared, True)
        self._check_pool(compared, table, paid)
        self.num_arms, self.arm_names = number, names
        self._places = {arm_name: at for at, arm_name in enumerate(names or ())}
        self._features, self._prices, self._compared = table, paid, compared
        self._begin_anew(np.pad(self._wins, (0, 1)))
        self._prune(None)
        return self._named(number - 1)[0]

    def retire_arm(self, arm: Arm, *, anew: bool = False) -> None:
        """Ask about an arm no more; its votes are kept, but count no longer.

        The policy begins anew from the counts of the others. Open questions about the
        arm are closed. If an answer still arrives, it is kept with the other votes of
        the arm.

        Parameters
        ----------
        arm : int or str
            Its position, or its name where the player knows names.
        anew : bool
            As for :meth:`add_arm`.

        Raises
        ------
        PolicyParameterError
            As for :meth:`add_arm`.
        SimulationArgumentError
            For an unknown arm, or if fewer than two arms would be left.
        """
        position = self._arm(arm, "arm")
        if not self._compared[position]:
            return
        self._check_grows("anew", anew)
        compared = self._compared.copy()
        compared[position] = False
        if compared.sum() < 2:
            rule, remedy = "must leave two arms to be compared", "add another first"
            raise SimulationArgumentError("arm", rule, arm, remedy=remedy)
        self._check_pool(compared, self._features, self._prices)
        self._retire(compared)
        self._prune(None)

    def restore_arm(self, arm: Arm, *, anew: bool = False) -> None:
        """Ask about a retired arm again; its votes count again.

        It is not pruned any more.

        Parameters
        ----------
        arm : int or str
            Its position, or its name where the player knows names.
        anew : bool
            As for :meth:`add_arm`.

        Raises
        ------
        PolicyParameterError
            As for :meth:`add_arm`.
        SimulationArgumentError
            For an unknown arm.
        """
        position = self._arm(arm, "arm")
        if self._compared[position]:
            return
        self._check_grows("anew", anew)
        compared = self._compared.copy()
        compared[position] = True
        self._check_pool(compared, self._features, self._prices)
        self._spared.add(position)
        if position in self._pruned:
            self._pruned.remove(position)
        self._retire(compared)

    def withdraw(self, first: Arm, second: Arm, won: bool) -> None:
        """Take back a vote, and let the policy begin anew from all other counts.

        Parameters
        ----------
        first, second : int or str
            The two arms.
        won : bool
            Whether the vote was for ``first``.

        Raises
        ------
        SimulationArgumentError
            If there is no such vote.
        """
        pair = self._pair(first, second)
        won = true_or_false(won, "won", kind=SimulationArgumentError)
        winner = pair if won else pair[::-1]
        if self._wins[winner] == 0:
            rule = f"must be among the votes; none is for {self._named(*winner)[0]!r}"
            raise SimulationArgumentError("vote", rule, (first, second, won))
        wins = self._wins.copy()
        wins[winner] -= 1
        self._begin_anew(wins)
        self._prune(None)

    def recommend(self) -> Any:
        """Return the arm that the policy believes to be best.

        Its name if the player knows names, and its position otherwise. If several arms
        are equally good, repeated calls return the same one.
        """
        position = self._stepper.recommend(self._stepper.copied(self._memory))
        return self._named(int(self._active[position]))[0]

    def __repr__(self) -> str:
        votes, num_open = int(self._wins.sum()), len(self._open)
        return (
            f"Player({self.policy.label}, {len(self._active)} arms, {votes} votes, "
            f"{num_open} open)"
        )

    def __copy__(self) -> Player:
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in vars(self).items() if key != "_stepper"}
        return state | {"_memory": self._stepper.packed(self._memory)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._stepper = self._new_stepper()
        self._memory = self._stepper.restored(self._memory)

    def _new_stepper(self) -> Stepper:
        features, prices = self._of_pool(self._compared, self._features, self._prices)
        return stepper_of(
            with_prices(with_features(self.policy, features), prices),
            int(self._compared.sum()),
            seed=self._seed,
            epoch=self._epoch,
            horizon=self._horizon,
            features=features,
            compiled=self._compiled,
        )

    @staticmethod
    def _of_pool(compared: Any, features: Any, prices: Any) -> tuple[Any, Any]:
        """Return features and prices of the arms that are compared."""
        features = None if features is None else features[compared]
        return features, None if prices is None else prices[np.ix_(compared, compared)]

    def _check_pool(self, compared: Any, features: Any, prices: Any) -> None:
        """Raise where the policy does not fit the arms that would be compared."""
        given = self._of_pool(compared, features, prices)
        _checked_policy(self.policy, int(compared.sum()), *given, self._horizon)

    def _check_grows(self, argument: str, value: Any, remedy: str = "") -> None:
        """Raise where a policy cannot begin from counts, unless it is to forget."""
        kind, label = SimulationArgumentError, self.policy.label
        if argument == "anew" and true_or_false(value, "anew", kind=kind):
            return
        if declared(innermost(self.policy), "explores_in_bulk"):
            rule = f"needs a policy that begins from counts: {label} plans in bulk"
            if argument == "anew":
                rule = f"must be True: {label} plans in bulk, and forgets all votes"
                remedy = "give anew=True, or take a policy such as d-ts+"
            raise PolicyParameterError(argument, rule, value, remedy=remedy)

    def _retire(self, compared: Bool[np.ndarray, " K"]) -> None:
        """Let the policy begin anew with other arms, and close questions of others."""
        self._compared = compared
        self._open = [
            question for question in self._open if compared[[*question[:2]]].all()
        ]
        self._begin_anew(self._wins)

    def _prune(self, pair: tuple[int, int] | None) -> None:
        """Retire arms by the evidence, after votes on a pair or on any."""
        if not np.isfinite(self._threshold):
            return
        if pair is None:
            self._against = against_better(self._wins.astype(np.float64))
        else:
            both = np.ix_(pair, pair)
            self._against[both] = against_better(self._wins[both].astype(np.float64))
        compared = self._compared.copy()
        while compared.sum() > 2:
            evidence = eliminated_by(self._against, compared)
            evidence[~compared] = -np.inf
            evidence[[*self._spared]] = -np.inf
            arm = int(evidence.argmax())
            if evidence[arm] < self._threshold:
                break
            compared[arm] = False
            self._pruned.append(arm)
        if compared.sum() < self._compared.sum():
            self._retire(compared)

    def _begin(self) -> None:
        """Let the policy begin from counts."""
        self._stepper = self._new_stepper()
        # The arm at each position of the policy, and back.
        self._active = np.flatnonzero(self._compared)
        self._position = np.cumsum(self._compared) - 1
        pool = np.ix_(self._active, self._active)
        self._memory = self._stepper.begin(self._wins[pool])
        # Requests of which not every vote was asked for.
        self._unissued: list[_Request] = []
        self._open = [(first, second, None) for first, second, _ in self._open]

    def _begin_anew(self, wins: Int64[np.ndarray, "K K"]) -> None:
        more = int(wins.sum() - self._wins.sum())
        if self._num_events:
            self._epoch += 1
            more = max(more, 1)
        self._num_events += more
        self._wins = wins
        self._begin()

    def _next_pairs(
        self, number: int, allowed: Bool[np.ndarray, "K K"] | None
    ) -> list[ChosenPair]:
        """Open the next questions, as the policy asks several at once."""
        way = declared(innermost(self.policy), "in_batches")
        if number > 1 and way == LIKELY_ANSWERS:
            return self._with_likely_answers(number, allowed)
        chosen: list[ChosenPair] = []
        # With a single pair, all questions are about it.
        is_one = len(self._active) == 2 or (allowed is not None and allowed.sum() == 2)
        limit = (
            number if is_one else -(-_LARGEST_SHARE[0] * number // _LARGEST_SHARE[1])
        )
        times = np.zeros((self.num_arms, self.num_arms), dtype=np.int64)
        redraws = _REDRAWS * number
        while len(chosen) < number:
            full = times >= limit if way == DRAWS else None
            pair, redraws = self._next_pair(allowed, full, redraws)
            if pair is None:
                break
            chosen.append(pair)
            times[pair.pair] += 1
            times[pair.pair[::-1]] += 1
        return chosen

    def _next_pair(
        self,
        allowed: Bool[np.ndarray, "K K"] | None,
        full: Bool[np.ndarray, "K K"] | None = None,
        redraws: int = 0,
    ) -> tuple[ChosenPair | None, int]:
        """Open the next question, or one near it where that is not allowed."""
        # A question about a pair that is ``full`` is drawn again up to ``redraws``
        # times, and then replaced. Return what is left of these, too.
        if self._unissued:
            return ChosenPair(self._issue(self._unissued[0])), redraws
        while True:
            number = self._num_events + 1
            before = self._stepper.copied(self._memory)
            question = None
            try:
                question = self._stepper.ask(self._memory, number)
            finally:
                if question is None:  # Nothing has happened.
                    self._memory = before
            if question is None:
                return None, redraws
            self._num_events = number
            pair = self._arms_of(question)
            is_full = full is not None and bool(full[pair])
            if not is_full or redraws == 0:
                break
            self._memory, redraws = before, redraws - 1
        is_excluded = allowed is not None and not allowed[pair]
        if not is_full and not is_excluded:
            request = _Request(question, pair)
            self._unissued.append(request)
            return ChosenPair(self._issue(request)), redraws
        self._change(number, pair, 0, 0, question)
        if allowed is None:
            allowed = self._pairs_of_pool()
        left = allowed if full is None else allowed & ~full
        instead = ChosenPair(
            self._substitute(near_pairs(left, *pair), number), pair, is_excluded
        )
        self._open.append((*instead.pair, None))
        return instead, redraws

    def _with_likely_answers(
        self, number: int, allowed: Bool[np.ndarray, "K K"] | None
    ) -> list[ChosenPair]:
        """Open questions, each as if those before had their likely answer."""
        # The policy goes on in a copy; only its clock goes on in the original.
        memory = self._stepper.copied(self._memory)

        def imagine(question: Question | None, pair: tuple[int, int]) -> None:
            self._num_events += 1
            won, lost = self._wins[pair], self._wins[pair[::-1]]
            first_wins = won > lost
            if won == lost:
                first_wins = coin(self._seed, self._num_events)
            answer = self._num_events, question, self._places_of(pair)
            self._stepper.tell(memory, *answer, int(first_wins), 1)

        for first, second, request in self._open:
            question = None if request is None else request.question
            imagine(question, (first, second))
        chosen: list[ChosenPair] = []
        while len(chosen) < number:
            question = self._stepper.ask(memory, self._num_events + 1)
            if question is None:
                break
            self._num_events += 1
            pair = self._arms_of(question)
            next_pair = ChosenPair(pair)
            if allowed is not None and not allowed[pair]:
                places = self._places_of(pair)
                self._stepper.tell(memory, self._num_events, question, places, 0, 0)
                instead = self._substitute(near_pairs(allowed, *pair), self._num_events)
                next_pair, question = ChosenPair(instead, pair, is_excluded=True), None
            self._open.append((*next_pair.pair, None))
            imagine(question, next_pair.pair)
            chosen.append(next_pair)
        # Each answer to a question that the policy did not ask takes a round.
        unasked = sum(request is None for *_, request in self._open)
        self._memory.round = max(self._memory.round, memory.round - unasked)
        return chosen

    def _issue(self, request: _Request) -> tuple[int, int]:
        request.issued += 1
        if request.issued == request.question.votes:
            self._unissued.remove(request)
        self._open.append((*request.pair, request))
        return request.pair

    def _substitute(
        self, allowed: Bool[np.ndarray, "K K"], number: int
    ) -> tuple[int, int]:
        """Return the allowed pair with the fewest votes and open questions."""
        counts = self._wins + self._wins.T
        for first, second, _ in self._open:
            counts[first, second] += 1
            counts[second, first] += 1
        pairs = np.argwhere(np.triu(allowed))
        votes = counts[pairs[:, 0], pairs[:, 1]]
        least = pairs[votes == votes.min()]
        rng = np.random.default_rng((self._seed, self._epoch, number, 1))
        first, second = least[rng.integers(len(least))].tolist()
        return first, second

    def _resolve(self, number: int, request: _Request, wins: int, votes: int) -> None:
        """Take in the answer to a question of a request, or that there is none."""
        question = request.question
        if request.resolved + 1 == question.votes:
            total = request.wins + wins, request.votes + votes
            self._change(number, request.pair, *total, question)
        request.resolved += 1
        request.wins += wins
        request.votes += votes

    def _change(
        self,
        number: int,
        pair: tuple[int, int],
        wins: int,
        votes: int,
        question: Question | None = None,
    ) -> None:
        """Tell the policy of votes; of a retired arm it knows nothing."""
        if self._compared[[*pair]].all():
            places = self._places_of(pair)
            self._stepper.tell(self._memory, number, question, places, wins, votes)

    def _arms_of(self, question: Question) -> tuple[int, int]:
        return int(self._active[question.first]), int(self._active[question.second])

    def _places_of(self, pair: tuple[int, int]) -> tuple[int, int]:
        return int(self._position[pair[0]]), int(self._position[pair[1]])

    def _pairs_of_pool(self) -> Bool[np.ndarray, "K K"]:
        """Return the pairs of different arms that are compared."""
        return np.outer(self._compared, self._compared) & ~np.eye(
            self.num_arms, dtype=bool
        )

    def _why_nothing(self) -> str:
        waiting = len([question for question in self._open if question[2] is not None])
        if waiting:
            noun = "questions" if waiting > 1 else "question"
            return f"{self.policy.label} waits for answers to {waiting} open {noun}"
        return f"{self.policy.label} has settled: it would ask no informative pair"

    def _index_of_open(self, pair: tuple[int, int]) -> int | None:
        pairs = ({first, second} for first, second, _ in self._open)
        return next(
            (index for index, open_ in enumerate(pairs) if open_ == {*pair}), None
        )

    def _named(self, *arms: int) -> tuple[Any, ...]:
        names = self.arm_names
        return arms if names is None else tuple(names[arm] for arm in arms)

    def _pair(self, first: Arm, second: Arm) -> tuple[int, int]:
        return pair_of(first, second, self.num_arms, self._places)

    def _arm(self, arm: Arm, argument: str) -> int:
        return arm_of(arm, argument, self.num_arms, self._places)

    def _counted(self, data: GivenVotes) -> Int64[np.ndarray, "K K"]:
        """Return whole votes by position, ties as votes for either arm."""
        table = data.table.without_columns()
        if not table.is_whole:
            rule, remedy = "must hold whole votes", "count every vote once"
            raise SimulationArgumentError("votes", rule, data.table, remedy=remedy)
        places = np.arange(table.num_arms)
        if data.has_names and self.arm_names is not None:
            places = np.array([self._arm(name, "votes") for name in table.arm_names])
        first, second = places[table.first], places[table.second]
        won, lost, tied = table.counts.astype(np.int64).T
        # Half of the ties each, and the last one of an odd number by a coin.
        half = tied // 2
        for row in np.flatnonzero(tied % 2):
            half[row] += coin(
                self._seed, -int(first[row] * self.num_arms + second[row])
            )
        wins = np.zeros_like(self._wins)
        np.add.at(wins, (first, second), won + half)
        np.add.at(wins, (second, first), lost + tied - half)
        return wins


def _given(votes: Any) -> GivenVotes:
    # pandas takes long to import, and a player without votes does without.
    from bayesduel.votes.pairs import given_votes

    return given_votes(votes)


def _names_of(
    arm_names: Sequence[str] | None, data: GivenVotes | None
) -> tuple[str, ...] | None:
    if arm_names is not None:
        from bayesduel.votes.checks import arm_names_of

        return arm_names_of(arm_names, None)
    return data.table.arm_names if data is not None and data.has_names else None


def _checked_features(features: Any) -> Float[np.ndarray, "K d"]:
    try:
        given = np.array(features)
    except ValueError:  # Rows of several lengths.
        given = np.zeros(0)
    table = given.astype(np.float64) if given.dtype.kind in "biuf" else np.zeros(0)
    if table.ndim != 2 or not np.isfinite(table).all():
        rule, remedy = "must be a table of finite numbers", "give a row for each arm"
        raise SimulationArgumentError("features", rule, features, remedy=remedy)
    return table


def _number_of_arms(num_arms: int | None, known: dict[str, int | None]) -> int:
    """Return the number of arms; all that say it must agree."""
    if num_arms is not None:
        checked = integer_from(
            num_arms, 2, "num_arms", MOST_ARMS, kind=SimulationArgumentError
        )
        known = {"num_arms": checked, **known}
    numbers = {name: number for name, number in known.items() if number is not None}
    if not numbers:
        rule, remedy = "must be given", "or give arm_names=, features= or votes="
        raise SimulationArgumentError("num_arms", rule, None, remedy=remedy)
    (source, number), *others = numbers.items()
    if not 2 <= number <= MOST_ARMS:
        rule = f"must be of 2 to {MOST_ARMS} arms"
        remedy = "next_pairs(votes) asks about more" if number > MOST_ARMS else ""
        raise SimulationArgumentError(source, rule, number, remedy=remedy)
    for name, value in others:
        if value != number:
            rule = f"must be of {number} arms, as {source} is"
            raise SimulationArgumentError(name, rule, value)
    return number


def _checked_policy(
    policy: Any, num_arms: int, features: Any, prices: Any, horizon: int | None
) -> PolicyBase:
    """Return a policy that asks for pairs, and fits the arms and the horizon."""
    if isinstance(policy, str):
        with errors_about("policy", policy):
            policy = parse_policy(policy)
    checked: PolicyBase = check_policy(policy)
    check_kinds(checked)
    if isinstance(checked, OfferingPolicy | DelayedFeedback | MonitoredDueling):
        rule = "must ask for pairs, and have no delay of its own and no monitor"
        remedy = "take one such as 'd-ts+'; answers may come late anyway"
        raise PolicyParameterError("policy", rule, policy, remedy=remedy)
    way = declared(innermost(checked), "in_batches")
    if way not in ("", DRAWS, LIKELY_ANSWERS):
        rule = f"must be {DRAWS!r}, {LIKELY_ANSWERS!r}, or left out in the class"
        raise PolicyParameterError("in_batches", rule, way)
    if horizon is not None:
        horizon = integer_from(horizon, 1, "horizon", kind=SimulationArgumentError)
    elif declared(checked, "needs_horizon"):
        rule = f"must be given for {checked.label}, which plans for its number of votes"
        remedy = "give horizon=, or take a policy such as 'd-ts+'"
        raise PolicyParameterError("horizon", rule, None, remedy=remedy)
    check_fields(checked, num_arms)
    if prices is not None and not reads_prices(checked):
        rule = f"are not read by {checked.label}"
        remedy = "take a policy such as 'rd-ts:cost=prices', or leave them out"
        raise PolicyParameterError("prices", rule, policy, remedy=remedy)
    informed = with_prices(with_features(checked, features), prices)
    informed.check(num_arms, horizon or LONGEST_HORIZON)
    return checked
