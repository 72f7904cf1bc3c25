"""The policies inside a result tree, one by one.

A result of :func:`bayesduel.compare` is a tree ``/<instance>/<policy>``; one of
:func:`bayesduel.simulate` is a single node. Analysis and plots read both through the
list made here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.anchored_bounds import lower_slope, model_known_by
from bayesduel.analysis.text import regret_words
from bayesduel.errors import ArgumentError
from bayesduel.simulation.run_summaries import middles
from theory import REGRET_NOTIONS, PreferenceMatrix
from theory.arguments import integer_from

if TYPE_CHECKING:
    import xarray as xr
    from jaxtyping import Float64, Int64
    from numpy.typing import NDArray

    from theory import ChoiceTable, RegretBound

    Result = xr.DataTree | xr.Dataset | list[Any]


@dataclass(frozen=True)
class Measurement:
    """One policy on one instance, found in a result tree.

    Attributes
    ----------
    instance, policy : str
        Name of the instance and label of the policy.
    data : xarray.Dataset
        Variables ``regret (notion, run, checkpoint)`` and the rest; without
        variables if the policy failed.
    preference : float (K, K) or None
        The matrix, where the tree holds it.
    arms : tuple of str
        Labels of the arms; empty where the tree does not hold the matrix.
    features : float (K, d) or None
        What is known of the arms, where the tree holds it beside the matrix.
    """

    instance: str
    policy: str
    data: xr.Dataset
    preference: NDArray[np.float64] | None = None
    arms: tuple[str, ...] = ()
    features: NDArray[np.float64] | None = None
    _shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """Numbers computed from the matrix, shared by all policies on it."""

    @property
    def matrix(self) -> PreferenceMatrix | None:
        """The matrix, validated once for all policies on it.

        Raises
        ------
        InvalidPreferenceError
            If it is none.
        """
        if self.preference is None:
            return None
        if "matrix" not in self._shared:
            matrix = PreferenceMatrix(self.preference, features=self.features)
            self._shared["matrix"] = matrix
        return self._shared["matrix"]

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the policy, by name."""
        return json.loads(self.data.attrs.get("parameters", "{}"))

    @property
    def choice_table(self) -> ChoiceTable | None:
        """The table of a world of subset choice, where the result holds it."""
        if "choice_probabilities" not in self.data:
            return None
        if "table" not in self._shared:
            from theory import ChoiceTable

            parts = ("choice_sets", "choice_probabilities")
            arrays = (self.data[name].transpose("set", "place") for name in parts)
            self._shared["table"] = ChoiceTable(*(array.values for array in arrays))
        return self._shared["table"]

    def lower_slope(
        self, notion: str, model: str | None = None
    ) -> tuple[RegretBound | None, int | None, str]:
        """Return the lower bound on a regret, worked out once for all policies.

        The one that applies to this policy, or to policies that know a ``model``. See
        :func:`bayesduel.analysis.anchored_bounds.lower_slope`.
        """
        provided = json.loads(self.data.attrs.get("lower_bounds", "{}"))
        if notion in provided:
            from theory import RegretBound

            bound = RegretBound(
                name=f"lower bound of {self.instance}",
                log_coefficient=provided[notion],
                kind="asymptotic lower",
                regret=notion,
                source="the world itself",
            )
            return bound, None, ""
        if self.matrix is None:
            return None, None, "lower bound: the result does not hold the matrix"
        if not isinstance(notion, str) or not isinstance(model, str | None):
            raise ArgumentError(
                "notion, model", "must be the name of one", (notion, model)
            )
        known = model_known_by(self.parameters) if model is None else model
        if (notion, known) not in self._shared:
            lower = lower_slope(self.matrix, self.arms, notion, known)
            self._shared[notion, known] = lower
        return self._shared[notion, known]

    @property
    def error(self) -> str:
        """Why the policy failed; empty if it did not."""
        return str(self.data.attrs.get("error", ""))

    @property
    def has_regret(self) -> bool:
        """Whether regret was recorded, of every run or of all together."""
        return bool({"regret", "regret_mean"} & {*map(str, self.data.data_vars)})

    @property
    def rounds(self) -> Int64[np.ndarray, " checkpoint"]:
        """The checkpoints, int64 (checkpoint,), ascending."""
        return np.asarray(self.data["checkpoint"].values, dtype=np.int64)

    @property
    def notions(self) -> tuple[str, ...]:
        """The notions of regret that were recorded; empty if the policy failed."""
        if "notion" not in self.data.coords:
            return ()
        return tuple(str(name) for name in self.data["notion"].values)

    def regret(self, notion: str = "copeland") -> Float64[np.ndarray, "run checkpoint"]:
        """Return cumulative regret, float64 (run, checkpoint).

        Raises
        ------
        ValueError
            When the run failed, this notion was not recorded, or single runs were not.
        """
        index = self._index(notion)
        if "regret" not in self.data:
            raise ArgumentError(
                "result",
                f"of {self.policy} on {self.instance} no single run was kept, but "
                "this needs them",
                remedy="simulate it with record='regret'",
            )
        ordered = self.data["regret"].transpose("notion", "run", "checkpoint")
        values = np.asarray(ordered.values[index], dtype=np.float64)
        if not np.isfinite(values).all():
            run, column = (int(index) for index in np.argwhere(~np.isfinite(values))[0])
            raise ArgumentError(
                "result",
                f"the {regret_words(notion)} of {self.policy} on {self.instance} is "
                f"{values[run, column]} in row {run} at checkpoint "
                f"{self.rounds[column]}",
                float(values[run, column]),
                remedy="simulate it again",
            )
        return values

    def statistics(self, notion: str = "copeland") -> RunStatistics:
        """Return mean, spread and quantiles of regret over runs.

        Raises
        ------
        ValueError
            When the run failed or this notion was not recorded.
        """
        index = self._index(notion)
        if "regret" in self.data:
            return of_runs(self.regret(notion))
        return of_summaries(self.data.isel(notion=index))

    def _index(self, notion: str) -> int:
        """Return the place of a notion among those recorded."""
        if not self.has_regret:
            reason = self.error or "no variable 'regret'"
            rule = f"{self.policy} on {self.instance} holds no regret ({reason})"
            raise ArgumentError("result", rule, remedy="simulate it again")
        if not isinstance(notion, str) or notion not in self.notions:
            rule = f"must be one that was recorded, {', '.join(self.notions)}"
            remedy = "give notion= one of these, or simulate with yours in regret=(...)"
            raise ArgumentError("notion", rule, notion, remedy=remedy)
        return self.notions.index(notion)


def recorded_notion(result: Result, notion: str | None) -> str:
    """Return the notion asked for, else Copeland regret, or the first recorded."""
    if notion is not None:
        return notion
    recorded = [
        measured.notions for measured in measurements(result) if measured.has_regret
    ]
    if not recorded or any("copeland" in notions for notions in recorded):
        return "copeland"
    return recorded[0][0]


def measurements(result: Result) -> list[Measurement]:
    """List the policies of a result tree, in its order.

    Parameters
    ----------
    result : xarray.DataTree, xarray.Dataset or list of Measurement
        One node of :func:`bayesduel.simulate`, one instance, or the whole tree
        of :func:`bayesduel.compare`; or what this function has made of it, which is
        read no further: so several tables and figures can share what they work out.

    Returns
    -------
    list of Measurement
        Failed policies included (they carry ``error``).

    Raises
    ------
    ValueError
        When nothing in it is a result of bayesduel.
    """
    import xarray as xr

    if isinstance(result, list) and result:
        if all(isinstance(item, Measurement) for item in result):
            return result
    if not isinstance(result, xr.DataTree | xr.Dataset):
        rule = "must be what bayesduel.simulate or bayesduel.compare returned"
        raise ArgumentError("result", rule, result)
    listed = list(_walk(result, {}))
    if not listed:
        rule = "no policy with a variable 'regret' in it"
        remedy = "give what bayesduel.simulate or bayesduel.compare returned"
        raise ArgumentError("result", rule, remedy=remedy)
    return listed


def _walk(
    node: xr.DataTree | xr.Dataset, shared: dict[str, Any]
) -> Iterator[Measurement]:
    """List the policies from a node on; ``shared`` is of the matrix above it."""
    children: Mapping[str, Any] = getattr(node, "children", {})
    recorded = {"regret", "regret_mean"} & {*map(str, node.data_vars)}
    if recorded or "error" in node.attrs:
        of_matrix = {} if "preference" in node.data_vars else shared
        yield _measurement(node, of_matrix)
    below: dict[str, Any] = {}
    for child in children.values():
        yield from _walk(child, below)


def _measurement(node: xr.DataTree | xr.Dataset, shared: dict[str, Any]) -> Measurement:
    data: Any = node.to_dataset() if hasattr(node, "to_dataset") else node
    parent: Any = getattr(node, "parent", None)
    if "regret" in data:
        # Raise unless regret lies over notions, runs and ascending checkpoints.
        axes = {"notion", "run", "checkpoint"}
        regret, problem = data["regret"], ""
        if set(regret.dims) != axes or not {"notion", "checkpoint"} <= set(data.coords):
            problem = "must have the axes notion, run and checkpoint, with coordinates"
        elif not regret.size or regret.dtype.kind not in "fiu":
            problem = f"must hold numbers, but holds {regret.size} of {regret.dtype}"
        else:
            rounds = data["checkpoint"].values
            whole = rounds.dtype.kind in "iu"
            if not whole or rounds[0] < 1 or np.any(rounds[1:] <= rounds[:-1]):
                problem = "must be at ascending checkpoints, whole numbers from 1 on"
        if problem:
            rule, remedy = f"regret {problem}", "give what bayesduel.simulate returned"
            raise ArgumentError("result", rule, remedy=remedy)
    instance = data.attrs.get("instance") or getattr(parent, "name", None)
    policy = data.attrs.get("policy") or getattr(node, "name", None)
    source = next(
        (part for part in (node, parent) if part is not None and "preference" in part),
        None,
    )
    preference, arms, features = None, (), None
    if source is not None:
        array = source["preference"].transpose("arm", "opponent")
        preference = np.asarray(array.values, dtype=np.float64)
        named = "arm" in array.coords
        labels = array["arm"].values if named else range(preference.shape[0])
        arms = tuple(str(label) for label in labels)
        if "features" in source:
            features = source["features"].transpose("arm", "feature").values
    return Measurement(
        str(instance or "instance"), str(policy or "policy"), data, preference, arms,
        features, shared,
    )  # fmt: skip


def checkpoint_index(
    rounds: Int64[np.ndarray, " checkpoint"], round_: int, argument: str
) -> int:
    """Return the position of a round among the checkpoints."""
    round_ = integer_from(round_, 1, argument)
    position = int(np.searchsorted(rounds, round_))
    if position < rounds.size and rounds[position] == round_:
        return position
    near = rounds[max(0, position - 1) : position + 1]
    names = " and ".join(str(int(checkpoint)) for checkpoint in near)
    verb = "are" if near.size > 1 else "is"
    rule = f"must be one of the checkpoints; the nearest {verb} {names}"
    remedy = "simulate with it among the checkpoints"
    raise ArgumentError(argument, rule, round_, remedy=remedy)


def standard_error(values: Float64[np.ndarray, " run"]) -> float:
    """Return the standard error of the mean; ``math.inf`` for a single value."""
    return float(spread(values)) / math.sqrt(values.size)


def largest_regret(measured: Measurement, notion: str, round_: int) -> float:
    """Return the most that any run can have lost by a round."""
    worst = json.loads(measured.data.attrs.get("most_regret_per_round", "{}"))
    if notion in worst:
        return round_ * float(worst[notion])
    matrix = measured.matrix if notion in REGRET_NOTIONS else None
    if matrix is None:
        return math.inf
    return round_ * float(matrix.regret_per_pair(notion).max())


def run_numbers(measured: Measurement) -> Int64[np.ndarray, " run"]:
    """Return the numbers of the runs, int64 (run,)."""
    data = measured.data
    if "run" in data.coords:
        return np.asarray(data["run"].values, dtype=np.int64)
    return np.arange(data.sizes["run"], dtype=np.int64)


# --- Mean, spread and quantiles over runs: of the runs, or of what was kept of them ---


@dataclass(frozen=True)
class RunStatistics:
    """Regret in one notion at all checkpoints, over runs."""

    num_runs: int
    # The latter with n - 1; ``math.inf`` for a single run.
    mean: Float64[np.ndarray, " checkpoint"]
    standard_deviation: Float64[np.ndarray, " checkpoint"]
    # Quantiles of runs at some levels, float64 (level, checkpoint).
    quantiles: Callable[[Sequence[float]], Float64[np.ndarray, "level checkpoint"]]
    # Regret between two checkpoints, by their indices: the mean and its standard
    # error.
    increase: Callable[[int, int], tuple[float, float]]

    @property
    def standard_error(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard error of the mean; ``math.inf`` for a single run."""
        return self.standard_deviation / math.sqrt(self.num_runs)


def of_runs(regret: Float64[np.ndarray, "run checkpoint"]) -> RunStatistics:
    """Return the statistics of the regret of every run."""

    def increase(first: int, last: int) -> tuple[float, float]:
        lost = regret[:, last] - regret[:, first]
        return float(lost.mean()), float(spread(lost)) / math.sqrt(lost.size)

    def quantiles(levels: Sequence[float]) -> np.ndarray:
        return np.quantile(regret, levels, axis=0)

    mean = regret.mean(axis=0)
    return RunStatistics(len(regret), mean, spread(regret), quantiles, increase)


def of_summaries(summary: xr.Dataset) -> RunStatistics:
    """Return those of moments and a histogram of one notion."""
    num_runs = int(summary.attrs["num_runs"])
    mean, products, counts, least, most = (
        summary[f"regret_{name}"].to_numpy()
        for name in ("mean", "comoment", "histogram", "minimum", "maximum")
    )
    below = counts.cumsum(axis=-1)
    values = middles(summary["bin"].to_numpy())

    def deviation(squares: Any) -> Any:
        if num_runs < 2:
            return np.full_like(squares, math.inf)
        return np.sqrt(squares / (num_runs - 1))

    def ordered(rank: int) -> np.ndarray:
        """Return what stands at a place among the runs, from 0."""
        return np.clip(values[np.argmax(below > rank, axis=-1)], least, most)

    def quantiles(levels: Sequence[float]) -> np.ndarray:
        rows = []
        for level in levels:
            rank = level * (num_runs - 1)
            low, high = ordered(math.floor(rank)), ordered(math.ceil(rank))
            rows.append(low + (high - low) * (rank - math.floor(rank)))
        return np.stack(rows)

    def increase(first: int, last: int) -> tuple[float, float]:
        # Rounding may leave less than nothing of what all runs lose alike.
        square = products[first, first] + products[last, last]
        square = np.maximum(square - 2 * products[first, last], 0.0)
        error = float(deviation(square)) / math.sqrt(num_runs)
        return float(mean[last] - mean[first]), error

    deviations = deviation(np.diagonal(products))
    return RunStatistics(num_runs, mean, deviations, quantiles, increase)


def spread(values: Float64[np.ndarray, "run ..."]) -> Any:
    """Return the standard deviation over the first axis; ``math.inf`` of one."""
    if len(values) < 2:
        return np.full(values.shape[1:], math.inf)
    return values.std(axis=0, ddof=1)
