"""Carrying out the recipes of the papers' figures: simulate, compare, judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import Measurement, measurements
from bayesduel.errors import ArgumentError
from bayesduel.experiments.arguments import worker_count
from bayesduel.experiments.problems import Instance
from bayesduel.files.folders import require_folder
from bayesduel.instances import choice
from bayesduel.instances.generators import uniform_random
from bayesduel.instances.mslr import mslr_submatrix, random_submatrix
from bayesduel.papers.claims import Verdict, check_claim
from bayesduel.papers.recipes import Panel, Recipe, load
from theory import PreferenceMatrix
from theory.arguments import as_number

if TYPE_CHECKING:
    import xarray as xr

FIXED_ORDER = " (fixed order)"
"""Suffix of policies whose runs keep the printed order of the arms."""

_FEWEST_RUNS, _SHORTEST_HORIZON, _FEWEST_GAMES = 8, 1000, 3


@dataclass(frozen=True)
class PanelResult:
    """Measurements of one panel.

    Attributes
    ----------
    panel : Panel
        With the runs and the horizon that were really used.
    measured : mapping of str to tuple of Measurement
        For every policy, as the recipe spells it, one measurement per matrix.
    left_out : tuple of str
        Policies of the paper that are not available.
    failures : tuple of str
        Policies that failed, and why.
    """

    panel: Panel
    measured: Mapping[str, tuple[Measurement, ...]]
    left_out: tuple[str, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """A figure of a paper, and what was measured for each of its panels.

    Attributes
    ----------
    recipe : Recipe
        What the paper did.
    scale : float
        By what the runs were multiplied, and the rounds unless the horizon is full.
    full_horizon : bool
        Whether the rounds are those of the paper.
    panels : tuple of PanelResult
        Those that could be measured.
    verdicts : tuple of Verdict
        On the statements of the paper.
    notes : tuple of str
        What was left out, and what the paper leaves open.
    """

    recipe: Recipe
    scale: float
    full_horizon: bool
    panels: tuple[PanelResult, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]


def reproduce(
    name: str,
    *,
    scale: float = 1.0,
    full_horizon: bool = False,
    panels: Sequence[str] | None = None,
    mslr: PreferenceMatrix | str | Path | None = None,
    seed: int = 0,
    jobs: int | None = 1,
    progress: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Reproduction:
    """Repeat the experiment behind a figure of a paper.

    Parameters
    ----------
    name : str
        One of `bayesduel.papers.recipes.names`.
    scale : float
        Multiplies runs, rounds and random matrices, for a quick look: above 0, at most
        1. At least 8 runs (or as many as the paper has) and 1000 rounds are left. What
        a paper says of its horizon need not be true of a shorter one.
    full_horizon : bool
        Scale the runs only. Look-ahead makes rounds cheap for most policies.
    panels : sequence of str, optional
        Keys of the panels to measure, such as ``["a", "b"]``; all by default.
    mslr : PreferenceMatrix or path, optional
        The 136-armed MSLR matrix of the informational click model, for the panels that
        need it. Without it they are left out.
    seed : int
        Of the simulation. The matrices of a recipe have seeds of their own.
    jobs, progress, resume, overwrite
        As in :func:`bayesduel.compare`.
    out : path, optional
        Folder to keep the results in, one folder per panel.

    Returns
    -------
    Reproduction
        Measurements and verdicts; :func:`bayesduel.papers.reproduction` draws them.

    Raises
    ------
    ValueError
        When an argument breaks its rule, a policy of the recipe is not available, or
        nothing of it can be measured.
    KeyboardInterrupt
        After Ctrl-C; ``out`` keeps what is finished.
    """
    from bayesduel.instances import load as load_matrix

    rounds_scale = 1.0 if full_horizon else scale
    recipe, whole = load(name), mslr
    if not (whole is None or isinstance(whole, PreferenceMatrix)):
        whole = load_matrix(str(whole))
    require_folder(out, resume=resume, overwrite=overwrite)
    chosen, notes = check(name, panels=panels, mslr=whole, scale=scale, jobs=jobs)
    scaled = [_scaled(panel, scale, rounds_scale) for panel in chosen]
    matrices = {panel.key: _matrices(panel, whole) for panel in scaled}
    results = []
    for panel in scaled:
        options = {
            "num_runs": panel.runs,
            "horizon": panel.horizon,
            "checkpoints": _checkpoints(recipe, panel, rounds_scale),
            "seed": seed,
            "regret": (recipe.notion,),
            "jobs": jobs,
            "progress": progress,
            "resume": resume,
            "overwrite": overwrite,
        }
        folder = None if out is None else Path(out) / panel.key
        results.append(_measure(panel, matrices[panel.key], folder, options))
    missing = dict.fromkeys(name for result in results for name in result.left_out)
    if missing:
        notes.append(f"not available, left out: {', '.join(missing)}")
    verdicts = tuple(
        verdict
        for claim in recipe.claims
        for result in results
        if result.panel.key in claim.panels
        for verdict in check_claim(
            claim,
            result.panel.key,
            result.measured,
            notion=recipe.notion,
            scale=rounds_scale,
        )
    )
    return Reproduction(
        recipe=recipe,
        scale=scale,
        full_horizon=full_horizon or scale == 1.0,
        panels=tuple(results),
        verdicts=verdicts,
        notes=(*notes, *recipe.notes),
    )


def check(
    name: str,
    *,
    panels: Sequence[str] | None = None,
    mslr: PreferenceMatrix | None = None,
    scale: float = 1.0,
    jobs: int | None = 1,
) -> tuple[list[Panel], list[str]]:
    """Return the panels that can be measured, and a note on those that cannot be.

    Parameters
    ----------
    name, panels, mslr, scale, jobs
        As in :func:`reproduce`.

    Raises
    ------
    ValueError
        When a policy of the recipe is not available, there is no such panel, or every
        panel needs the MSLR matrix and it is not given or another one.
    """
    if not 0 < as_number(scale) <= 1:
        rule = "must be above 0 and at most 1"
        raise ArgumentError("scale", rule, scale, remedy="1 repeats all of it")
    worker_count(jobs)
    recipe = load(name)
    if recipe.missing:
        missing = ", ".join(recipe.missing)
        rule = f"{name!r} needs policies that are not available: {missing}"
        remedy = "register them, or choose another figure"
        raise ArgumentError("name", rule, name, remedy=remedy)
    known = [panel.key for panel in recipe.panels]
    for key in panels or ():
        if key not in known:
            rule = f"{recipe.name} has no panel {key!r}, only {', '.join(known)}"
            raise ArgumentError("panels", rule, key)
    wanted = [panel for panel in recipe.panels if not panels or panel.key in panels]
    outside = [panel for panel in wanted if {"mslr", "mslr_random"} & {*panel.instance}]
    if mslr is not None:
        for panel in outside:
            _matrices(panel, mslr)
        return wanted, []
    left = [panel for panel in wanted if panel not in outside]
    if not left:
        rule = (
            "every panel asked for needs the 136-armed MSLR matrix of the "
            "informational click model, which cannot be shipped"
        )
        raise ArgumentError("mslr", rule, mslr, remedy="give its file")
    labels = ", ".join(panel.label for panel in outside)
    text = f"left out without the 136-armed MSLR matrix: {labels}"
    return left, [text] if outside else []


def _scaled(panel: Panel, scale: float, rounds_scale: float) -> Panel:
    fewest = min(panel.runs, _FEWEST_RUNS)
    shortest = min(panel.horizon, _SHORTEST_HORIZON)
    instance = dict(panel.instance)
    runs = max(fewest, round(panel.runs * scale))
    if "games" in instance:
        games = instance["games"]
        count = max(min(games["count"], _FEWEST_GAMES), round(games["count"] * scale))
        instance["games"] = games | {"count": count}
        few, many = games["fewest_arms"], games["most_arms"]
        panel = replace(panel, label=f"{count} random matrices of {few} to {many} arms")
    return replace(
        panel,
        instance=instance,
        runs=runs,
        horizon=max(shortest, round(panel.horizon * rounds_scale)),
    )


def _matrices(panel: Panel, whole: PreferenceMatrix | None) -> list[Instance]:
    """Return the matrices, or the world, of a panel, named by its label."""
    from bayesduel.instances import load as load_matrix

    ((kind, what),) = panel.instance.items()
    if kind == "games":
        return _games(**what)
    if kind == "world":
        return [replace(choice.load_world(what), name=panel.label)]
    if kind == "matrix":
        matrix = load_matrix(what)
    elif kind == "mslr":
        assert whole is not None
        matrix = mslr_submatrix(whole, what)
    else:
        assert whole is not None
        matrix = random_submatrix(
            np.random.default_rng(what["seed"]),
            whole,
            what["arms"],
            min_gap=what["min_gap"],
            winner=what["winner"],
            max_tries=100_000,
        ).matrix
    return [_named(matrix, panel.label)]


def _named(matrix: PreferenceMatrix, name: str) -> PreferenceMatrix:
    return PreferenceMatrix(
        matrix.values, name=name, arm_names=matrix.arm_names, source=matrix.source
    )


def _games(
    *, count: int, fewest_arms: int, most_arms: int, seed: int
) -> list[Instance]:
    """Draw matrices with one Copeland winner, their sizes uniform between two."""
    rngs = np.random.default_rng(seed).spawn(count)
    return [
        _named(
            uniform_random(
                rng, int(rng.integers(fewest_arms, most_arms + 1)), shuffle=False
            ).matrix,
            f"game {index}",
        )
        for index, rng in enumerate(rngs)
    ]


def _checkpoints(recipe: Recipe, panel: Panel, scale: float) -> list[int]:
    """Return the rounds to record: equal steps or decades, and those of statements."""
    horizon = panel.horizon
    if recipe.log_x:
        decades = np.log10(horizon) - 1.0
        steps = max(1, round(decades * panel.checkpoints))
        grid = np.geomspace(10, horizon, steps + 1)
    else:
        grid = np.linspace(0, horizon, panel.checkpoints + 1)[1:]
    rounds = set(np.rint(grid).astype(int).tolist()) | {horizon, horizon // 2}
    for claim in recipe.claims:
        if claim.at and panel.key in claim.panels:
            rounds.add(min(horizon, round(claim.at * scale)))
    return sorted(rounds)


def _measure(
    panel: Panel, matrices: list[Instance], folder: Path | None, options: dict
) -> PanelResult:
    """Simulate all policies of a panel, and those that keep the order of the arms."""
    from bayesduel import experiments, policies

    texts = [
        text
        for text in (*panel.policies, *panel.optional)
        if text.partition(":")[0] in (*policies.names(), *policies.subset_names())
    ]
    labels = {text: policies.parse_policy(text).label for text in texts}
    tree = experiments.compare(matrices, texts, out=folder, **options)
    failures: list[str] = []
    measured = {text: _of(tree, labels[text], failures) for text in texts}
    for text in panel.unshuffled:
        beside = None if folder is None else folder.with_name(f"{folder.name}-fixed")
        fixed = experiments.compare(
            matrices, [text], out=beside, shuffle=False, **options
        )
        label = policies.parse_policy(text).label
        measured[text + FIXED_ORDER] = tuple(
            replace(one, policy=label + FIXED_ORDER)
            for one in _of(fixed, label, failures)
        )
    left_out = tuple(text for text in panel.optional if text not in texts)
    done = {text: results for text, results in measured.items() if results}
    return PanelResult(panel, done, left_out, tuple(failures))


def _of(tree: xr.DataTree, label: str, failures: list[str]) -> tuple[Measurement, ...]:
    """Return the measurements of a policy that did not fail; write down the others."""
    of_policy = [one for one in measurements(tree) if one.policy == label]
    failures.extend(
        f"{label} on {one.instance} failed: {one.error}"
        for one in of_policy
        if one.error
    )
    return tuple(one for one in of_policy if not one.error)
