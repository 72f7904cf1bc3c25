"""Simulations as they are asked for: grids of environment, policy and runs.

A grid is cut into jobs (one policy, one matrix, some runs) that run here or in worker
processes. A run is a function of the seed and its number, so the cut changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import cpu_count
from pathlib import Path
from typing import Any

import xarray as xr
from numpy.typing import ArrayLike

from bayesduel.errors import OutputWriteError
from bayesduel.experiments import checks, results
from bayesduel.experiments._code_digest import code_digest
from bayesduel.experiments.checks import Instance
from bayesduel.experiments.engines import Job, JobResult, run_jobs
from bayesduel.experiments.results import Configuration
from bayesduel.experiments.store import OutputFolder
from bayesduel.instances.choice import ChoiceWorld
from bayesduel.limits import MOST_JOBS, MOST_LANES, MOST_RUNS
from bayesduel.policies.base import Policy, parameters_json
from bayesduel.progress import progress_reporter
from bayesduel.simulation.driver import ARMS_OF_ONE_LANE
from bayesduel.version import package_version

InstanceLike = Instance | str | ArrayLike
"""A matrix or its values, a world of subset choice, or the name or file of one."""

_RUNS_PER_JOB = 256
"""Runs of a job at most: what an interrupt can lose, and what cores can share. A few
times as many as lanes, so that runs which need several times the events of others do
not leave the other lanes idle."""


def simulate(
    environment: InstanceLike,
    policy: Policy | str,
    *,
    num_runs: int = 100,
    horizon: float = 10**5,
    checkpoints: Sequence[int] | None = None,
    seed: int = 0,
    regret: Sequence[str] | None = None,
    shuffle: bool = True,
    num_lanes: int | None = None,
    progress: bool = False,
) -> xr.DataTree:
    """Simulate one policy on one matrix or world of subset choice, in this process.

    Parameters
    ----------
    environment : PreferenceMatrix, ChoiceWorld, str or array-like (K, K)
        A matrix, its name or file (see :func:`bayesduel.load`), or its values; or a
        world of :mod:`bayesduel.instances.choice`, or its name.
    policy : Policy or str
        A policy, or its name with parameters such as ``"d-ts:alpha=0.6"``.
    num_runs : int
        Independent runs; run r is the same whatever their number.
    horizon : int
        Rounds of each run; an integral float such as ``1e9`` is fine.
    checkpoints : sequence of int, optional
        Rounds at which plays and regret are recorded, increasing; the horizon is
        added. By default ten per decade. They change nothing else.
    seed : int
        The same seed gives the same runs.
    regret : sequence of str, optional
        Notions of regret to record; see ``theory.REGRET_NOTIONS`` and
        ``theory.SUBSET_REGRET_NOTIONS``. By default "copeland", or the notion of the
        world's source.
    shuffle : bool
        Relabel the arms at random in each run (results keep the original labels).
    num_lanes : int, optional
        Runs simulated side by side; a matter of speed only.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    xarray.DataTree
        ``regret`` (notion, run, checkpoint), cumulative; ``plays`` (run, checkpoint,
        arm, opponent): rounds per unordered pair in the upper triangle, self-duels on
        the diagonal; ``recommendation`` (run); provenance in the attributes. In a
        world of subset choice, ``offers`` (run, checkpoint, arm), rounds in which each
        arm was offered, in place of ``plays``, and ``recommendation`` (run, arm).

    Raises
    ------
    ValueError
        For any argument that cannot be simulated, before anything is computed.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("cyclic", "d-ts", num_runs=4, horizon=1000)
    >>> result["regret"].sizes["run"]
    4
    """
    checks.check_flag("progress", progress)
    plan = _plan(
        [environment], [policy], num_runs, horizon, checkpoints, seed, regret, shuffle
    )
    if num_lanes is not None:
        num_lanes = checks.check_count("num_lanes", num_lanes, MOST_LANES)
    (key,) = plan.configurations
    job = plan.job(key, range(plan.num_runs), num_lanes=num_lanes)
    with progress_reporter(enabled=progress) as report:
        result = job.run(report.update(job))
    if result.failure is not None:
        raise result.failure
    assert result.dataset is not None
    dataset = result.dataset.assign(results.problem_variables(job.configuration.matrix))
    dataset.attrs["created"] = _now()
    return xr.DataTree(dataset, name=plan.configurations[key].policy)


def compare(
    environments: InstanceLike | Sequence[InstanceLike],
    policies: Policy | str | Sequence[Policy | str],
    *,
    num_runs: int = 100,
    horizon: float = 10**5,
    checkpoints: Sequence[int] | None = None,
    seed: int = 0,
    regret: Sequence[str] | None = None,
    shuffle: bool = True,
    jobs: int | None = 1,
    progress: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> xr.DataTree:
    """Simulate every policy on every matrix, or in every world of subset choice.

    Parameters
    ----------
    environments, policies : one or several
        As in :func:`simulate`.
    jobs : int or None
        Worker processes; None takes one per core. They import the main module anew, so
        a script that asks for more than one needs ``if __name__ == "__main__":``.
    out : path, optional
        Folder to keep results in, new or empty: finished jobs are written at once, and
        ``results.nc`` at the end.
    resume : bool
        Go on from what ``out`` already holds of the same request. What is damaged there
        is computed again, with a ``DamagedPartWarning``.
    overwrite : bool
        Replace the results in ``out``; files of yours stay.
    num_runs, horizon, checkpoints, seed, regret, shuffle, progress
        As in :func:`simulate`. Every policy meets the same relabelings of the arms.

    Returns
    -------
    xarray.DataTree
        ``/environment/policy`` with a node as in :func:`simulate` each. A policy that
        failed leaves a node without variables whose attribute ``error`` says why.

    Raises
    ------
    ValueError
        For any argument that cannot be simulated, and for a folder that was not made
        by this function or that another process writes to, before anything is computed.
    OutputWriteError
        If ``out`` cannot be written to any more, as when its disk is full, with the
        finished runs as ``.partial``.
    KeyboardInterrupt
        After Ctrl-C, with the finished runs as ``.partial`` (also in ``out``).

    Examples
    --------
    >>> import bayesduel
    >>> tree = bayesduel.compare("cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500)
    >>> sorted(tree["cyclic"].children)
    ['D-TS', 'RUCB']
    """
    flags = {"progress": progress, "resume": resume, "overwrite": overwrite}
    for name, flag in flags.items():
        checks.check_flag(name, flag)
    plan = _plan(
        checks.as_sequence("environments", environments),
        checks.as_sequence("policies", policies),
        num_runs,
        horizon,
        checkpoints,
        seed,
        regret,
        shuffle,
    )
    jobs = (cpu_count() or 1) if jobs is None else jobs
    workers = checks.check_count("jobs", jobs, MOST_JOBS)
    with OutputFolder.prepare(out, resume=resume, overwrite=overwrite) as folder:
        wanted = [plan.job(key, range(plan.num_runs)) for key in plan.configurations]
        finished = {each.job.name: each for each in folder.finished_jobs(wanted)}
        todo = plan.jobs(workers, [each.job for each in finished.values()])
        folder.begin(plan.request())

        def keep(result: JobResult) -> None:
            finished[result.job.name] = result
            folder.keep(result)

        try:
            with progress_reporter(enabled=progress) as report:
                run_jobs(todo, workers, keep, report)
            tree = plan.tree(finished)
            folder.finish(tree)
        except (KeyboardInterrupt, OutputWriteError) as error:
            error.partial = plan.tree(finished)  # pyright: ignore
            raise
    return tree


@dataclass(frozen=True)
class _Plan:
    """A checked request."""

    environments: dict[str, Instance]
    policies: dict[str, Policy]
    configurations: dict[tuple[str, str], Configuration]
    num_runs: int

    def job(
        self, key: tuple[str, str], runs: range, *, num_lanes: int | None = None
    ) -> Job:
        """Return the job of some runs of one policy on one matrix."""
        return Job(
            configuration=self.configurations[key],
            policy=self.policies[key[1]],
            runs=runs,
            num_lanes=num_lanes,
        )

    def request(self) -> dict[str, Any]:
        """Return what was asked for, in words."""
        first = next(iter(self.configurations.values()))
        return {
            "environments": list(self.environments),
            "policies": list(self.policies),
            "num_runs": self.num_runs,
            "horizon": first.horizon,
            "seed": first.seed,
            "shuffle": first.shuffle,
            "version": package_version(),
        }

    def jobs(self, workers: int, finished: Sequence[Job]) -> list[Job]:
        """Cut what is missing; more finely for idle workers and for many arms."""
        parts = -(-self.num_runs // _RUNS_PER_JOB)
        parts = max(parts, -(-workers // len(self.configurations)))
        usual = -(-self.num_runs // min(parts, self.num_runs))
        found = []
        for key, configuration in self.configurations.items():
            # Runs that are played one by one gain nothing from a common job.
            size = 1 if configuration.matrix.num_arms >= ARMS_OF_ONE_LANE else usual
            done = [job.runs for job in finished if job.configuration == configuration]
            for gap in _gaps(self.num_runs, done):
                found += [
                    self.job(key, range(start, min(start + size, gap.stop)))
                    for start in range(gap.start, gap.stop, size)
                ]
        return found

    def tree(self, finished: dict[str, JobResult]) -> xr.DataTree:
        """Assemble what is finished; policies without a finished run are left out."""
        nodes: dict[tuple[str, str], xr.Dataset] = {}
        for key, configuration in self.configurations.items():
            own = [
                each
                for each in finished.values()
                if each.job.configuration == configuration
            ]
            failures = [each.failure for each in own if each.failure is not None]
            if failures:
                text = f"{type(failures[0]).__name__}: {failures[0]}"
                nodes[key] = results.failed_dataset(configuration, self.num_runs, text)
            elif own:
                nodes[key] = results.join_chunks(
                    [each.dataset for each in own if each.dataset is not None]
                )
        first = next(iter(self.configurations.values()))
        attributes = {
            "seed": first.seed,
            "num_runs": self.num_runs,
            "horizon": first.horizon,
            "version": package_version(),
            "created": _now(),
        }
        return results.build_tree(self.environments, nodes, attributes)


def _gaps(num_runs: int, done: Sequence[range]) -> list[range]:
    """Return the runs from 0 on that are in none of the disjoint ranges."""
    ordered = sorted(done, key=lambda runs: runs.start)
    starts = [0, *(runs.stop for runs in ordered)]
    stops = [*(runs.start for runs in ordered), num_runs]
    return [range(*ends) for ends in zip(starts, stops, strict=True)]


def _plan(
    environments: Sequence[InstanceLike],
    policies: Sequence[Policy | str],
    num_runs: int,
    horizon: float,
    checkpoints: Sequence[int] | None,
    seed: int,
    regret: Sequence[str] | None,
    shuffle: bool,
) -> _Plan:
    """Check the whole request, the cheap parts first."""
    num_runs = checks.check_count("num_runs", num_runs, MOST_RUNS)
    horizon = checks.check_horizon(horizon)
    seed = checks.check_seed(seed)
    shuffle = checks.check_flag("shuffle", shuffle)
    chosen = checks.resolve_policies(policies)
    matrices = checks.resolve_environments(environments)
    subsets = any(isinstance(each, ChoiceWorld) for each in matrices.values())
    notions = checks.check_notions(regret, subsets=subsets)
    most_arms = max(matrix.num_arms for matrix in matrices.values())
    grid = checks.check_checkpoints(checkpoints, horizon, most_arms)
    for name, matrix in matrices.items():
        for notion in notions:
            _check_notion(matrix, notion)
        for policy in chosen.values():
            checks.check_pairing(policy, name, matrix, horizon)
    configurations = {
        (environment, label): Configuration(
            matrix=matrix,
            environment=environment,
            policy=label,
            policy_name=policy.name,
            parameters=parameters_json(policy),
            checkpoints=grid,
            seed=seed,
            shuffle=shuffle,
            notions=notions or (_default_notion(matrix),),
            code=code_digest(policy),
        )
        for environment, matrix in matrices.items()
        for label, policy in chosen.items()
    }
    return _Plan(matrices, chosen, configurations, num_runs)


def _check_notion(matrix: Instance, notion: str) -> None:
    if isinstance(matrix, ChoiceWorld):
        matrix.check_notion(notion)
    else:
        matrix.regret_per_pair(notion)


def _default_notion(matrix: Instance) -> str:
    return matrix.regret if isinstance(matrix, ChoiceWorld) else "copeland"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


__all__ = ["InstanceLike", "compare", "simulate"]
