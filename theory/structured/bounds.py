"""The asymptotic lower bound when the preferences are known to obey a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from theory.arguments import number_that, one_of
from theory.copeland_program.optimum import Certificate, Certified
from theory.errors import InvalidPreferenceError, ProgramError
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.structured import transitive
from theory.structured.links import LINKS
from theory.structured.truth import (
    COSTS,
    Solved,
    Truth,
    UtilityModel,
    costs_of,
    read_contexts,
    read_transitive,
    read_utility_model,
    truth_of,
)

if TYPE_CHECKING:
    from jaxtyping import Float64


# Models whose lower bound is known here
STRUCTURES: tuple[str, ...] = (*LINKS, "transitive")

# Arms at most: they take half a minute, and twice as many ten times as long
MOST_UTILITIES = 100
_MANY = "twice as many take ten times as long"

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class StructuredBound(Certified):
    """A lower bound under a model, with both halves of its proof.

    Attributes
    ----------
    value : float
        Cost of the allocation: regret, duels or the unit of the prices, per unit of log
        T, or of log(1/delta) where it is the cost of naming the best arm.
    winner : int or int64 (C,)
        The best arm; with contexts, that of each.
    model, cost : str
        As they were asked for; "prices" for a table.
    duels : float64 (K, K) or (C, K, K)
        An optimal allocation: duels of every pair per unit of the logarithm, symmetric;
        with contexts, of every pair in each. Contexts of frequency 0 have none.
    prices : float64 (K, K) or (C, K, K)
        Price of a duel of every pair, symmetric; infinite where it cannot be asked.
    preferences : float64 (K, K) or (C, K, K)
        The true matrix P, that of the model; nan in contexts of frequency 0.
    rivals : int64 (R,) or (R, 2)
        The best arm of every alternative below; it is level with the winner there.
        With contexts, the context and the arm.
    alternatives : float64 (R, K, K) or (R, C, K, K)
        Matrices of the class that are hardest to tell from the truth.
    multipliers : float64 (R,)
        Non-negative; the sum of multipliers * KL(P, alternative) is at most the price
        on every pair, so their sum is a lower bound on the value.
    certificate : Certificate
        Both sides, and their relative gap.
    bound : RegretBound or None
        The value as a bound on the regret; None where the cost is no regret.
    """

    value: float
    winner: Any
    model: str
    cost: str
    duels: NDArray[np.float64]
    prices: NDArray[np.float64]
    preferences: NDArray[np.float64]
    rivals: NDArray[np.intp]
    alternatives: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    certificate: Certificate
    bound: RegretBound | None


def structured_lower_bound(
    preferences: PreferenceMatrix | ArrayLike,
    model: str = "bradley-terry",
    *,
    features: ArrayLike | None = None,
    contexts: ArrayLike | None = None,
    cost: str | ArrayLike = "copeland",
    tolerance: float = 1e-6,
) -> StructuredBound:
    """Compute the constant of the lower bound for policies that know the model.

    Let ``b`` be the best arm of P. Whoever knows that P lies in a class of matrices
    pays at least C log T - o(log T), where

        C = min over w >= 0 of  sum over pairs of price_ij w_ij   subject to
            sum of w_ij KL(P_ij, P'_ij) >= 1
            for every P' in the class in which another arm is at least level with b.

    The pair ``(b, b)`` costs nothing and teaches nothing, so the alternatives need not
    agree with P anywhere. With prices of duels this is the least cost of naming the
    best arm, per unit of log(1/delta), as in `identification_bound`.

    With finitely many contexts, each round has one of them, and its features are known
    before a pair is chosen. Then the sums are over the pairs of all contexts, and in
    the alternatives another arm is level with the best one *in some context*: what is
    learnt in a cheap context serves in the others. How often a context occurs does not
    matter as long as it does, for a policy has log T of them soon.

    Parameters
    ----------
    preferences : array-like (K,), PreferenceMatrix or array-like (K, K)
        Utilities, or a matrix that obeys the model: within 1e-6 in every probability,
        and within 1e-9 for "transitive". At most 100 arms, 6 for "transitive". With
        contexts: coefficients (d,), or utilities (C, K), of at most 100 arms in all.
    model : {"bradley-terry", "thurstone", "transitive"}
        The class. P(i beats j) = F(theta_i - theta_j) for any utilities, where F(x) is
        1 / (1 + exp(-x)) or Phi(x / sqrt 2), as in ``bayesduel.models.BradleyTerry``
        and ``Thurstone``; or strong stochastic transitivity: P(i beats k) >=
        max(P(i beats j), P(j beats k)) whenever i beats j and j beats k.
    features : array-like (K, d), optional
        The class of utilities ``features @ beta`` for any beta; not for "transitive".
        By default utilities are free. With contexts (C, K, d).
    contexts : array-like (C,), optional
        Frequencies of the contexts, with sum 1; those of frequency 0 are left out.
    cost : {"copeland", "gap", "utility", "duels"} or array-like (K, K)
        Price of a duel: its Copeland regret (from losses); the mean of both gaps to the
        best arm (notion ``condorcet_mean``); the mean of both differences in utility
        (``utility_mean``); 1; or a symmetric table of positive prices, infinite where a
        pair cannot be asked. With contexts also a table for each, (C, K, K).
    tolerance : float
        Relative gap between both sides of the proof, from 1e-9 on.

    Returns
    -------
    StructuredBound
        Constant, allocation, the alternatives that bind, and a checked certificate.

    Raises
    ------
    InvalidPreferenceError
        If the matrix does not obey the model (the text has the size of the misfit), no
        arm beats all others, there are too many arms, or the prices leave the constant
        infinite.
    TieError
        If the best arm is tied. Ties between other arms are allowed.
    ProgramError
        If the program is not solved to the tolerance.

    See Also
    --------
    copeland_lower_bound : The same for the class of all matrices; never less.
    project_on_model : The nearest matrix of a model, for one that was estimated.
    identification_bound : The same with prices, for the class of all matrices.

    Notes
    -----
    With utilities the inner minimum is a small convex program per rival, solved by
    Newton's method with a dual certificate; the outer one is solved by an
    interior-point method. With transitivity the inner minimum is over all orders of the
    arms, each an isotonic regression, and the outer one is a linear program with
    cutting planes (HiGHS). Tests compare it with the definition in CVXPY.

    References
    ----------
    Graves and Lai (1997), Theorem 1; attained by OSSB (Combes, Magureanu and Proutiere
    2017). We know no paper that computes it for dueling bandits. For contexts the same
    argument applies to each rival in each context; for linear bandits see Hao,
    Lattimore and Szepesvari (2020).

    Examples
    --------
    >>> bound = structured_lower_bound([3.0, 2.0, -1.0, -1.5, -2.0])
    >>> round(bound.value, 3), bound.winner
    (2.411, 0)
    >>> from theory import copeland_lower_bound
    >>> round(copeland_lower_bound(bound.preferences).value, 3)
    2.9
    >>> bound.duels[:2].round(1)
    array([[0. , 9. , 0.5, 0. , 0. ],
           [9. , 0. , 0.5, 0.7, 0.5]])

    Two contexts that share three coefficients:

    >>> features = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]]]
    >>> both = structured_lower_bound(
    ...     [1.0, 0.5, 0.0], features=features, contexts=[0.9, 0.1], cost="utility"
    ... )
    >>> both.winner, round(both.value, 3), both.duels.shape
    (array([0, 0]), 12.758, (2, 2, 2))
    """
    one_of(model, STRUCTURES, "model")
    aim = number_that(
        tolerance, "tolerance", "from 1e-9 to 0.1", lambda gap: 1e-9 <= gap <= 0.1
    )
    if contexts is not None:
        if model == "transitive" or features is None:
            raise InvalidPreferenceError(
                "contexts",
                "needs a model of utilities and features, shape (C, K, d)",
                model if model == "transitive" else None,
                remedy="without contexts leave it out",
            )
        return _with_contexts(preferences, model, features, contexts, cost, aim)
    if model == "transitive":
        transitive.refuse_features(features)
        matrix = read_transitive(preferences)
        _refuse_many(matrix.num_arms, transitive.MOST_ARMS, transitive.WHY)
        name, prices = costs_of(cost, matrix)
        truth = truth_of([matrix], prices[None])
        solved = transitive.solve(truth, aim)
    else:
        _refuse_many(
            np.shape(preferences)[0] if np.ndim(preferences) else 1,
            MOST_UTILITIES,
            _MANY,
        )
        matrix, utilities = read_utility_model(preferences, model, features)
        name, prices = costs_of(cost, matrix, utilities.utilities)
        truth = truth_of([matrix], prices[None])
        solved = _solve_utilities(truth, utilities, aim)
    structure = model if features is None else f"{model} with features"
    return _result([matrix], truth, solved, structure, name, prices=prices)


def _with_contexts(
    preferences: object,
    model: str,
    features: object,
    contexts: object,
    cost: str | ArrayLike,
    tolerance: float,
) -> StructuredBound:
    """Solve the program of several contexts: the arms of each count separately."""
    shape = np.shape(features)[:2]  # pyright: ignore
    _refuse_many(int(np.prod(shape)) if len(shape) == 2 else 1, MOST_UTILITIES, _MANY)
    matrices, kind, occurring = read_contexts(preferences, model, features, contexts)
    utilities = kind.utilities.reshape(len(matrices), -1)
    per_context = not isinstance(cost, str) and np.ndim(cost) == 3
    if per_context and np.shape(cost)[0] != shape[0]:
        raise InvalidPreferenceError(
            "cost",
            f"must be one table of prices, or one for each of the {shape[0]} contexts",
            np.shape(cost),
        )
    costs = [
        costs_of(cost[context] if per_context else cost, matrix, row)  # pyright: ignore
        for context, matrix, row in zip(occurring, matrices, utilities, strict=True)
    ]
    prices = np.stack([table for _, table in costs])
    truth = truth_of(matrices, prices)
    solved = _solve_utilities(truth, kind, tolerance)
    bound = _result(matrices, truth, solved, f"{model} with contexts", costs[0][0])
    # Each arm in its context, the contexts as they were given.
    num_contexts, num_arms = shape
    blocks = np.arange(len(occurring))

    def spread(table: NDArray[np.float64], nothing: float) -> NDArray[np.float64]:
        lead = table.shape[:-2]
        split = table.reshape(*lead, len(occurring), num_arms, len(occurring), num_arms)
        result = np.full((*lead, num_contexts, num_arms, num_arms), nothing)
        # The axis of the contexts comes first where it is picked by two arrays.
        result[..., occurring, :, :] = np.moveaxis(
            split[..., blocks, :, blocks, :], 0, -3
        )
        return result

    winner = np.zeros(num_contexts, dtype=np.intp)
    winner[occurring] = truth.best % num_arms
    values = np.full((num_contexts, num_arms, num_arms), np.nan)
    values[occurring] = [matrix.values for matrix in matrices]
    all_prices = np.full_like(values, np.nan)
    all_prices[occurring] = prices
    context, arm = np.divmod(bound.rivals, num_arms)
    return replace(
        bound,
        winner=winner,
        duels=spread(bound.duels, 0.0),
        prices=all_prices,
        preferences=values,
        rivals=np.stack([occurring[context], arm], axis=1),
        alternatives=spread(bound.alternatives, np.nan),
    )


def _result(
    matrices: list[PreferenceMatrix],
    truth: Truth,
    solved: Solved,
    model: str,
    cost: str,
    prices: NDArray[np.float64] | None = None,
) -> StructuredBound:
    """Check both sides anew, as they are returned."""
    divergences = truth.divergences(solved.alternatives)
    load = (solved.multipliers @ divergences / truth.prices).max()
    multipliers = np.maximum(solved.multipliers, 0.0) / max(load, 1.0)
    value, bound = float(truth.prices @ solved.duels), float(multipliers.sum())
    slack = float((divergences @ solved.duels).min())
    # Where both sides are equal rounding decides which is larger.
    fits = np.isfinite(value) and value >= bound * (1.0 - _ROUNDING)
    if not (fits and slack >= 1.0 - 1e-9):
        raise ProgramError(
            f"the program was not solved: value {value!r}, lower bound {bound!r}, an "
            f"alternative at {slack!r} (at least 1). Pairs next to a tie can be too "
            "close for floating point."
        )
    tied = any(matrix.ties for matrix in matrices)
    regret, without_ties = None, {} if tied else {"copeland": "copeland"}
    if cost in COSTS:
        regret = RegretBound(
            name=f"Lower bound ({model})",
            log_coefficient=value,
            kind="asymptotic lower",
            # Without ties both notions of Copeland regret are the same.
            regret=(COSTS | without_ties)[cost],
            assumptions=(
                f"expected regret o(T^a) for each a > 0 on every {model} matrix",
            ),
            remainder="- o(log T)",
            source="Graves and Lai (1997), Theorem 1, for dueling bandits under a "
            "model",
        )
    alternatives = np.full((len(multipliers), truth.num_arms, truth.num_arms), 0.5)
    alternatives[:, truth.behind, truth.ahead] = solved.alternatives
    alternatives[:, truth.ahead, truth.behind] = 1.0 - solved.alternatives
    return StructuredBound(
        value=value,
        winner=int(truth.best[0]),
        model=model,
        cost=cost,
        duels=truth.table(solved.duels),
        prices=truth.table(truth.prices) if prices is None else prices,
        preferences=np.array(matrices[0].values),
        rivals=solved.rivals,
        alternatives=alternatives,
        multipliers=multipliers,
        certificate=Certificate(
            status="optimal",
            primal_value=value,
            dual_bound=bound,
            relative_gap=(value - bound) / value,
            slack=slack,
            num_constraints=len(multipliers),
            num_rounds=solved.rounds,
        ),
        bound=regret,
    )


def _refuse_many(num_arms: int, most: int, why: str) -> None:
    if num_arms > most:
        raise InvalidPreferenceError(
            "preferences",
            f"must have at most {most} arms here, for {why}",
            num_arms,
            remedy="take fewer arms",
        )


# --- The bound under a utility model, by a primal-dual interior-point method ----------


MAXIMAL_ROUNDS = 300

_NOTHING = 1e-13
# A step keeps this part of every slack.
_KEPT = 0.05
# Conjugate gradients: at most so many products, or until the residual is that small.
_MAXIMAL_PRODUCTS = 500
_RESIDUAL = 1e-8


@dataclass(eq=False)
class _Point:
    """Duels u in units of their cost, and multipliers of both kinds of constraints."""

    u: NDArray[np.float64]
    of_rivals: NDArray[np.float64]
    of_pairs: NDArray[np.float64]
    alternatives: Alternatives

    def complementarity(self) -> float:
        slack = self.alternatives.values - 1.0
        total = self.of_rivals @ slack + self.of_pairs @ self.u
        return float(total) / (slack.size + self.u.size)


def _solve_utilities(truth: Truth, model: UtilityModel, tolerance: float) -> Solved:
    """Solve the program to a certified relative gap."""
    oracle = UtilityOracle(truth, model)
    point, scale = _start(oracle)
    unit = float(truth.prices @ (point.u * scale)) / float(point.u.sum())
    best, aim = 0.0, 0.3
    multipliers, proof = point.of_rivals, point.alternatives
    for rounds in range(MAXIMAL_ROUNDS):
        alternatives = point.alternatives
        load = (point.of_rivals @ (alternatives.divergences * scale)).max()
        bound = float(point.of_rivals.sum() / load)
        if bound > best:
            best, multipliers, proof = bound, point.of_rivals / load, alternatives
        if point.u.sum() / alternatives.values.min() * (1 - tolerance) <= best:
            least = float(oracle.lower_values(alternatives).min())
            upper = float(point.u.sum() / least) if least > 0 else np.inf
            if upper * (1 - tolerance) <= best:
                return Solved(
                    duels=point.u * scale / least,
                    multipliers=multipliers * unit,
                    rivals=oracle.rivals,
                    alternatives=model.link.probability(
                        proof.utilities[:, truth.behind]
                        - proof.utilities[:, truth.ahead]
                    ),
                    rounds=rounds + 1,
                )
        length = _advance(oracle, point, scale, aim)
        aim = 0.1 if length > 0.6 else 0.3 if length > 0.25 else 0.6
    raise ProgramError(
        f"the program was not solved: after {MAXIMAL_ROUNDS} rounds the relative gap "
        f"was still above {tolerance:g}. Pairs next to a tie, or prices far apart, can "
        "be too much for floating point."
    )


def _start(oracle: UtilityOracle) -> tuple[_Point, NDArray[np.float64]]:
    """Ask the best arm's pairs at the rate of the unstructured bound, others a bit."""
    truth = oracle.truth
    of_best = np.isin(truth.ahead, truth.best)
    information = truth.divergences(np.full_like(truth.shares, 0.5))
    floor = information[of_best].min() if of_best.any() else information.max()
    duels = 1.0 / np.maximum(information, floor)
    if len(set(truth.behind[of_best])) == truth.num_arms - len(truth.best):
        duels = np.where(of_best, duels, 0.0)
    spread = duels @ truth.prices / (2 * truth.prices.size * truth.prices)
    duels = duels + spread
    alternatives = oracle.solve(duels, oracle.start)
    least = alternatives.values.min()
    if not least > _NOTHING * alternatives.values.max(initial=1.0):
        arm = int(oracle.rivals[alternatives.values.argmin()])
        raise InvalidPreferenceError(
            "cost",
            "must let enough pairs be asked: those with a finite price do not tell "
            f"{truth.label(arm)} from an equal of the best one, and the constant is "
            "infinite",
            np.inf,
            remedy="make more of them finite",
        )
    duels = 2.0 * duels / least
    scale = float(duels @ truth.prices) / truth.prices
    u = duels / scale
    alternatives = oracle.solve(duels, alternatives.beta)
    mean = 1.0 / (u.size + alternatives.values.size)
    return _Point(u, mean / (alternatives.values - 1.0), mean / u, alternatives), scale


def _advance(
    oracle: UtilityOracle, point: _Point, scale: NDArray[np.float64], aim: float
) -> float:
    """Take one step towards ``aim`` times the complementarity; return its length."""
    alternatives, u = point.alternatives, point.u
    slack = alternatives.values - 1.0
    target = aim * point.complementarity()
    du, change = _direction(oracle, point, scale, target)
    d_rivals = target / slack - point.of_rivals - change
    d_pairs = (target - point.of_pairs * (u + du)) / u
    turn = oracle.derivative(alternatives, du * scale)
    length = _room(u, du)
    while True:
        start = alternatives.beta + length * turn
        after = oracle.solve((u + length * du) * scale, start)
        if (after.values - 1.0 > _KEPT * slack).all():
            break
        if length < 1e-10:
            raise ProgramError(
                "the program was not solved: no step keeps the allocation feasible."
            )
        length *= 0.6
    dual = min(_room(point.of_rivals, d_rivals), _room(point.of_pairs, d_pairs))
    # A step that short is cut by curvature, which the multipliers do not see.
    dual = min(dual, length) if length < 0.2 else dual
    point.u, point.alternatives = u + length * du, after
    point.of_rivals = point.of_rivals + dual * d_rivals
    point.of_pairs = point.of_pairs + dual * d_pairs
    return min(length, dual)


def _direction(
    oracle: UtilityOracle, point: _Point, scale: NDArray[np.float64], target: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the step of u, and the change of the rivals' multipliers without it.

    The linear system is (A + D + V^T W V) du = b with the curvature A of all c_a, and
    diagonal D and W. A has as many rows as there are pairs, and a product with it takes
    a step along the graph of pairs per rival, so conjugate gradients solve it: in about
    20 to 30 products at any K. The rows of V, the gradients of the c_a, have weights W
    that grow without bound towards the optimum; y = W V du is a second unknown, so that
    only its bounded inverse occurs (constraint preconditioning: Dollar, Gould,
    Schilders and Wathen 2006). The diagonal stands for A + D in the preconditioner.
    """
    alternatives, u = point.alternatives, point.u
    slack = alternatives.values - 1.0
    rows = alternatives.divergences * scale
    delta = slack / point.of_rivals
    right = (target / slack) @ rows + target / u - 1.0
    root = np.linalg.cholesky(alternatives.hessian)
    half = np.linalg.solve(root, np.swapaxes(oracle.bases, 1, 2))
    half *= np.sqrt(point.of_rivals)[:, None, None]
    slopes = alternatives.slopes * scale
    diagonal = point.of_pairs / u
    spread = diagonal.copy()
    for one, slope in zip(half, slopes, strict=True):
        spread += (oracle.along_pairs(one) ** 2).sum(axis=0) * slope**2
    # In units in which the diagonal is 1.
    unit = 1.0 / np.sqrt(spread)
    slopes, rows, right = slopes * unit, rows * unit, right * unit
    share = diagonal / spread
    factor = linalg.cho_factor(rows @ rows.T + np.diag(delta))
    turned = np.swapaxes(half, 1, 2)

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        flow = oracle.into_arms(slopes * v)[..., None]
        potential = np.matmul(turned, np.matmul(half, flow))[..., 0]
        return (slopes * oracle.along_pairs(potential)).sum(axis=0) + share * v

    def precondition(
        r: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        y = linalg.cho_solve(factor, rows @ r)
        return r - y @ rows, y

    x, y, rest = np.zeros_like(right), np.zeros_like(delta), right
    to_x, to_y = precondition(rest)
    first = left = float(to_x @ to_x + delta @ to_y**2)
    step_x, step_y = to_x, to_y
    for _ in range(_MAXIMAL_PRODUCTS):
        after = product(step_x)
        curved = float(step_x @ after + delta @ step_y**2)
        if not (left > _RESIDUAL**2 * first and curved > 0):
            break
        x, y = x + left / curved * step_x, y + left / curved * step_y
        rest = rest - left / curved * (after + step_y @ rows)
        to_x, to_y = precondition(rest)
        before, left = left, float(to_x @ to_x + delta @ to_y**2)
        step_x = to_x + left / before * step_x
        step_y = to_y + left / before * step_y
    # Rounding has moved x off the rows, whose slack may be 1e-9.
    mend = linalg.cho_solve(factor, delta * y - rows @ x)
    return (x + mend @ rows) * unit, y - mend


def _room(values: NDArray[np.float64], change: NDArray[np.float64]) -> float:
    """Return the longest step, at most 1, that keeps part of every value."""
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, (1 - _KEPT) * float((values / -change)[falling].min()))


# --- The utilities that are hardest to tell from the truth, one vector per rival ------


_MAXIMAL_STEPS = 200
# Half of Newton's decrement, in units of the constraint "sum >= 1", before a last step:
# divergences are as far off as its root.
_DECREMENT = 1e-12
# Share of the largest diagonal entry: rarely compared pairs leave directions open.
_RIDGE = 1e-14
_ENCLOSURE = 1e-5


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Minimizers for one allocation, R of them, one per rival."""

    weights: NDArray[np.float64]  # (E,): The allocation.
    beta: NDArray[np.float64]  # (R, n): Coordinates of the utilities.
    utilities: NDArray[np.float64]  # (R, K): The alternatives theta'.
    divergences: NDArray[np.float64]  # (R, E): KL(p_e, p'_e).
    values: NDArray[np.float64]  # (R,): Their sums with the weights: c_a, from above.
    slopes: NDArray[np.float64]  # (R, E): f'_e(x'_e).
    hessian: NDArray[np.float64]  # (R, n, n): Of the sum, by beta.
    # (R, n): What Newton's method would still subtract from beta.
    step: NDArray[np.float64]


class UtilityOracle:
    """Solve the inner programs of all ``rivals``, the arms but the best one."""

    # ``bases``, (R, K, n), lead from the coordinates of an alternative to utilities.

    def __init__(self, truth: Truth, model: UtilityModel) -> None:
        self.truth, self.link = truth, model.link
        self.rivals = np.delete(np.arange(truth.num_arms), truth.best)
        # The directions in which a rival and the best arm stay equal; of free utilities
        # those of all other arms.
        arms = self.rivals
        free = np.delete(np.eye(truth.num_arms), truth.best, axis=1)
        self._free: NDArray[np.intp] | None = None
        if np.array_equal(model.directions, free):
            self._free = np.stack([arms[arms != a] for a in self.rivals])
            self.bases = np.stack([np.eye(truth.num_arms)[:, x] for x in self._free])
        else:
            self.bases = np.stack(
                [
                    model.directions
                    @ np.linalg.qr(model.directions[a, :, None], mode="complete")[0][
                        :, 1:
                    ]
                    for a in self.rivals
                ]
            )
        self._incidence = np.zeros((truth.behind.size, truth.num_arms))
        pairs = np.arange(truth.behind.size)
        self._incidence[pairs, truth.behind] = 1.0
        self._incidence[pairs, truth.ahead] = -1.0
        fitted = [np.linalg.lstsq(b, model.utilities)[0] for b in self.bases]
        self.start: Float64[np.ndarray, "R n"] = np.stack(fitted)

    def along_pairs(
        self, utilities: Float64[np.ndarray, "*rows K"]
    ) -> Float64[np.ndarray, "*rows E"]:
        """Return differences of utilities on the pairs."""
        return utilities[..., self.truth.behind] - utilities[..., self.truth.ahead]

    def into_arms(
        self, flows: Float64[np.ndarray, "*rows E"]
    ) -> Float64[np.ndarray, "*rows K"]:
        """Return the transpose of :meth:`along_pairs`."""
        return flows @ self._incidence

    def utilities(self, beta: Float64[np.ndarray, "R n"]) -> Float64[np.ndarray, "R K"]:
        """Return the utilities of coordinates."""
        return np.matmul(self.bases, beta[..., None])[..., 0]

    def derivative(
        self, alternatives: Alternatives, change: Float64[np.ndarray, " E"]
    ) -> Float64[np.ndarray, "R n"]:
        """Return how the minimizers move with the allocation, in first order."""
        pull = self._coordinates(self.into_arms(change * alternatives.slopes))
        return -np.linalg.solve(alternatives.hessian, pull[..., None])[..., 0]

    def _coordinates(
        self, forces: Float64[np.ndarray, "R K"]
    ) -> Float64[np.ndarray, "R n"]:
        return np.matmul(forces[:, None, :], self.bases)[:, 0]

    def solve(
        self, weights: Float64[np.ndarray, " E"], start: Float64[np.ndarray, "R n"]
    ) -> Alternatives:
        """Run Newton's method; steps change no difference by much more than 1."""
        beta, last = start, False
        for _ in range(_MAXIMAL_STEPS):
            x, slopes, hessian, step, decrement = self._newton(weights, beta)
            if last:
                divergences = self.truth.divergences(self.link.probability(x))
                return Alternatives(
                    weights=weights,
                    beta=beta,
                    utilities=self.utilities(beta),
                    divergences=divergences,
                    values=divergences @ weights,
                    slopes=slopes,
                    hessian=hessian,
                    step=step,
                )
            last = bool(decrement.max(initial=0.0) <= _DECREMENT)
            size = np.abs(self.along_pairs(self.utilities(step))).max(axis=1)
            safe = np.log1p(size) / np.maximum(size, np.finfo(float).tiny)
            beta = beta - np.where(size > 0, safe, 1.0)[:, None] * step
        raise ProgramError(
            f"no nearest alternative was found in {_MAXIMAL_STEPS} steps of Newton's "
            "method: pairs next to a tie, or prices far apart, can be too much for "
            "floating point."
        )

    def lower_values(self, alternatives: Alternatives) -> Float64[np.ndarray, " R"]:
        """Return a lower bound on c_a(w) of every rival; minus infinity if unproved."""
        p, link, w = self.truth.shares, self.link, alternatives.weights
        x = self.along_pairs(alternatives.utilities)
        along = self.along_pairs(self.utilities(alternatives.step))
        target = alternatives.slopes - link.curvature(p, x) * along
        z = x - along
        for _ in range(4):
            z = z - (link.slope(p, z) - target) / link.curvature(p, z)
        error = np.abs(link.slope(p, z) - target)
        enclosed = (link.slope(p, z - _ENCLOSURE) < target) & (
            link.slope(p, z + _ENCLOSURE) > target
        )
        # Convex: over the enclosure it falls below its value at z by no more.
        least = self.truth.divergences(link.probability(z)) - target * (z - x)
        least = least - _ENCLOSURE * error
        return np.where(
            (enclosed | (w == 0)).all(axis=1), (w * least).sum(axis=1), -np.inf
        )

    def _newton(
        self, weights: Float64[np.ndarray, " E"], beta: Float64[np.ndarray, "R n"]
    ) -> tuple[NDArray[np.float64], ...]:
        truth = self.truth
        x = self.along_pairs(self.utilities(beta))
        slopes = self.link.slope(truth.shares, x)
        gradient = self._coordinates(self.into_arms(weights * slopes))
        pairs = weights * self.link.curvature(truth.shares, x)
        arms = np.arange(truth.num_arms)
        laplacian = np.zeros((len(x), truth.num_arms, truth.num_arms))
        laplacian[:, truth.behind, truth.ahead] = -pairs
        laplacian[:, truth.ahead, truth.behind] = -pairs
        laplacian[:, arms, arms] = -laplacian.sum(axis=2)
        if self._free is None:
            turned = np.swapaxes(self.bases, 1, 2)
            hessian = np.matmul(np.matmul(turned, laplacian), self.bases)
        else:
            rivals, free = np.arange(len(x))[:, None, None], self._free
            hessian = laplacian[rivals, free[:, :, None], free[:, None, :]]
        diagonal = np.arange(hessian.shape[1])
        largest = hessian[:, diagonal, diagonal].max(axis=1, initial=0.0)
        hessian[:, diagonal, diagonal] += _RIDGE * largest[:, None]
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        return x, slopes, hessian, step, (gradient * step).sum(axis=1) / 2
