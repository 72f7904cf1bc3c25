"""Independent groups of votes, such as topics: a fit of each, and one table of all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import BayesduelError, DisconnectedComparisonsWarning, FitError
from bayesduel.models.base import PreferenceModel, check_kind, check_model
from bayesduel.models.fit.draws import generator_of
from bayesduel.models.fit.fit_result import Fit
from bayesduel.models.fit.fitting import fit, remarks_on
from bayesduel.models.fit.tables import standing_columns
from bayesduel.models.vote_arrays import columns_read
from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.types import RunKey


@dataclass(frozen=True, eq=False, repr=False)
class GroupFits:
    """A fit of each of several groups, as :func:`fit_groups` returns it.

    Attributes
    ----------
    by : str
        The column whose labels are the groups.
    fits : dict of str to Fit
        By group; without those that could not be fitted.
    remarks : dict of str to tuple of str
        What one should know of each group, also of those without a fit.
    """

    by: str
    fits: dict[str, Fit]
    remarks: dict[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"GroupFits({len(self.fits)} of {len(self.remarks)} groups by {self.by})"

    def to_dataframe(
        self, probability: float = 0.9, *, scale: str = "utility"
    ) -> pd.DataFrame:
        """Return who stands where in each group, as one table for pandas.

        Parameters
        ----------
        probability : float
            Of the central intervals, in (0, 1).
        scale : {"utility", "elo"}
            The unit of the score.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``group`` and ``arm``, with the columns of
            :func:`bayesduel.inference.standings`, each about the arms of the same
            group: scores are relative to their mean, and ``p_best`` is the probability
            of being the best of the group. Arms without a vote in it are left out.
        """
        import pandas as pd

        tables = {}
        for group, posterior in self.fits.items():
            names, columns, _ = standing_columns(posterior, probability, scale=scale)
            table = pd.DataFrame(columns, index=pd.Index(names, name="arm"))
            tables[group] = table[table["comparisons"] > 0]
        if not tables:
            raise FitError("self", "must have a group that was fitted", repr(self))
        return pd.concat(tables, names=["group"])


def fit_groups(
    model: PreferenceModel,
    data: Comparisons,
    by: str = "context",
    *,
    method: str = "auto",
    rng_key: RunKey | int = 0,
    on_progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> GroupFits:
    """Fit a model to each group of votes separately, for example to each of 50 topics.

    Nothing is shared between groups, so that an arm may be the best in one and the last
    in another; no probability of being the best across groups follows.

    Parameters
    ----------
    model : PreferenceModel
        As in :func:`fit`.
    data : Comparisons
        Votes with a column of labels that says the group of each.
    by : str
        Its name.
    method, **options
        As in :func:`fit`, the same for all groups.
    rng_key : int or typed key
        Every group has random numbers of its own.
    on_progress : callable, optional
        Called with the number of groups that are done, and that of all, before each.

    Returns
    -------
    GroupFits
        A fit of each group, to the arms that have votes in it. A group that cannot be
        fitted, or has fewer votes than arms, is remarked upon and stops no other one.

    Raises
    ------
    FitError
        If there is no such column of labels, or no group can be fitted.

    Notes
    -----
    Programs of JAX are compiled for shapes. Where a method may need them, groups are
    filled up to one shape by arms and rows without votes, which change no posterior of
    a difference: they are compiled once, and not for each group. Such arms stay in the
    fit, without a rank, and are left out of the table.

    Examples
    --------
    >>> from bayesduel.inference import fit_groups
    >>> from bayesduel.models import BradleyTerry
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_votes(
    ...     ["tea", "tea", "milk", "milk"],
    ...     ["milk", "milk", "tea", "tea"],
    ...     ["left", "left", "left", "left"],
    ...     columns={"context": ["dawn", "dawn", "night", "night"]},
    ... )
    >>> fits = fit_groups(BradleyTerry(), votes, num_draws=100)
    >>> table = fits.to_dataframe()
    >>> bool(table.loc[("dawn", "tea"), "p_best"] > 0.5)
    True
    >>> bool(table.loc[("night", "tea"), "p_best"] > 0.5)
    False
    """
    check_model(model)
    check_kind(model, data, Comparisons)
    if not isinstance(by, str) or by not in data.labels:
        rule = "must be a column of labels that the votes carry, of which there is "
        raise FitError("by", rule + (shortened([*data.labels]) or "none"), by)
    groups = _groups(data, by)
    # "auto" may end with Markov chains.
    compiles = model.methods[0] if method == "auto" else method
    if compiles == "laplace" and method != "auto":
        arrays = model.arrays(data)
        closed = model.closed_form(arrays) or model.at_scale(arrays, 1.0)
        compiles = "exact" if closed is not None else method
    shaped = groups if compiles == "exact" else _of_one_shape(model, groups)
    seeds = generator_of(rng_key).integers(2**62, size=len(data.labels[by])).tolist()
    fits: dict[str, Fit] = {}
    remarks: dict[str, tuple[str, ...]] = {}
    first = None
    for done, (label, seed) in enumerate(zip(data.labels[by], seeds, strict=True)):
        if on_progress is not None:
            on_progress(done, len(seeds))
        if label not in groups:
            remarks[label] = ("no vote is left in this group",)
            continue
        group, few = groups[label], ()
        if group.num_votes < group.num_arms:
            few = (
                f"few votes: {group.num_votes:g} on {group.num_arms} arms, so that the "
                "prior says most of it",
            )
        try:
            fits[label] = _fitted(model, group, shaped[label], method, seed, options)
        except BayesduelError as error:
            first = first or error
            remarks[label] = (*few, f"not fitted: {error}")
            continue
        remarks[label] = (*few, *fits[label].remarks)
    if not fits:
        raise first or FitError("data", "must hold votes", data.num_votes)
    return GroupFits(by, fits, remarks)


def _groups(data: Comparisons, by: str) -> dict[str, Comparisons]:
    # The votes of each group that has some, among the arms that they name.
    groups = {}
    voted = data.counts.sum(axis=1) > 0
    for code, label in enumerate(data.labels[by]):
        rows = np.flatnonzero((data.columns[by] == code) & voted)
        if not len(rows):
            continue
        arms = np.union1d(data.first[rows], data.second[rows])
        covariates = data.covariates[arms] if data.covariate_names else data.covariates
        groups[label] = replace(
            data,
            arm_names=tuple(data.arm_names[arm] for arm in arms),
            first=np.searchsorted(arms, data.first[rows]),
            second=np.searchsorted(arms, data.second[rows]),
            counts=data.counts[rows],
            covariates=covariates,
            columns={n: c[rows] for n, c in data.columns.items() if n != by},
            labels={n: names for n, names in data.labels.items() if n != by},
        )
    return groups


def _of_one_shape(
    model: PreferenceModel, groups: Mapping[str, Comparisons]
) -> dict[str, Comparisons]:
    # Votes with as many arms and rows in each group as in the largest one.
    least = {
        label: data if columns_read(model, data) else data.without_columns()
        for label, data in groups.items()
    }
    num_arms = max(data.num_arms for data in least.values())
    num_rows = max(len(data.first) for data in least.values())
    names = dict.fromkeys(name for data in least.values() for name in data.arm_names)
    for label, data in least.items():
        if not data.covariate_names:
            # Arms of other groups bring nothing that would be known of them.
            others = (name for name in names if name not in data.arm_names)
            more = tuple(islice(others, num_arms - data.num_arms))
            data = replace(data, arm_names=data.arm_names + more)
        least[label] = data
        missing = num_rows - len(data.first)
        if not missing:
            continue
        ways = permutations if data.order_known else combinations
        entries = list(dict.fromkeys(zip(*data.columns.values(), strict=True))) or [()]
        taken = set(zip(data.first, data.second, *data.columns.values(), strict=True))
        free = ((*pair, *rest) for pair, rest in
                product(ways(range(data.num_arms), 2), entries))  # fmt: skip
        added = list(islice((row for row in free if row not in taken), missing))
        if added:
            first, second, *rest = map(np.array, zip(*added, strict=True))
            least[label] = replace(
                data,
                first=np.append(data.first, first),
                second=np.append(data.second, second),
                counts=np.append(data.counts, np.zeros((len(added), 3)), axis=0),
                columns={
                    name: np.append(values, more)
                    for (name, values), more in zip(
                        data.columns.items(), rest, strict=True
                    )
                },
            )
    return least


def _fitted(
    model: PreferenceModel,
    group: Comparisons,
    shaped: Comparisons,
    method: str,
    seed: int,
    options: Mapping[str, Any],
) -> Fit:
    # Remarked on as it is, not on what it was filled up with.
    with warnings.catch_warnings():
        # It comes back among the remarks.
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        fitted = fit(model, shaped, method=method, rng_key=seed, **options)
        if shaped is group:
            return fitted
        of_method = len(fitted.remarks) - len(remarks_on(model, shaped))
        remarks = fitted.remarks[:of_method] + remarks_on(model, group)
    # Its own rows carry the columns that the model does not read, as judges.
    data = replace(group, arm_names=shaped.arm_names)
    return replace(fitted, data=data, arrays=model.arrays(data), remarks=remarks)
