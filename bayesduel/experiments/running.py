"""Simulations in one call: of one policy, or of a grid of instances and policies."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

import xarray as xr

from bayesduel.arguments.limits import MOST_LANES
from bayesduel.errors import ArgumentError, SimulationArgumentError
from bayesduel.experiments.comparison import now
from bayesduel.experiments.experiment import Experiment
from bayesduel.experiments.problems import InstanceLike
from bayesduel.experiments.progress import progress_reporter
from bayesduel.experiments.simulation_jobs import SimulationJob
from bayesduel.policies.policy import PolicyBase
from bayesduel.stopping.base import StoppingRule
from theory.arguments import integer_from, true_or_false


def simulate(
    instance: InstanceLike,
    policy: PolicyBase | str,
    *,
    num_runs: int = 100,
    horizon: float = 10**5,
    checkpoints: Sequence[int] | None = None,
    seed: int = 0,
    regret: Sequence[str] | None = None,
    shuffle: bool = True,
    stopping: StoppingRule | None = None,
    num_lanes: int | None = None,
    progress: bool = False,
) -> xr.DataTree:
    """Simulate one policy on one matrix or world of subset choice, in this process.

    Parameters
    ----------
    instance : PreferenceMatrix, ChoiceWorld, str or array-like (K, K)
        A matrix, its name or file (see :func:`bayesduel.load`), or its values; or a
        world of :mod:`bayesduel.instances.choice`, or its name.
    policy : Policy or str
        A policy, or its name with parameters such as ``"d-ts:alpha=0.6"``.
    num_runs, horizon, checkpoints, seed, regret, shuffle, stopping
        As in :class:`bayesduel.Experiment`.
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
    true_or_false(progress, "progress", kind=SimulationArgumentError)
    if num_lanes is not None:
        num_lanes = integer_from(
            num_lanes, 1, "num_lanes", MOST_LANES, kind=SimulationArgumentError
        )
    with _called(instances="instance", policies="policy"):
        asked = Experiment(
            [instance],
            [policy],
            num_runs=num_runs,
            horizon=horizon,
            checkpoints=checkpoints,
            seed=seed,
            regret=regret,
            shuffle=shuffle,
            record="plays",
            stopping=stopping,
        )
    ((configuration, played),) = asked.configurations.values()
    job = SimulationJob(configuration, played, range(asked.num_runs), num_lanes)
    with progress_reporter(enabled=progress) as report:
        dataset = job.run(report.update(job))
    dataset = dataset.assign(configuration.problem.variables())
    dataset.attrs["created"] = now()
    return xr.DataTree(dataset, name=configuration.policy)


def compare(
    instances: InstanceLike | Sequence[InstanceLike],
    policies: PolicyBase | str | Sequence[PolicyBase | str],
    *,
    num_runs: int = 100,
    horizon: float = 10**5,
    checkpoints: Sequence[int] | None = None,
    seed: int = 0,
    regret: Sequence[str] | None = None,
    shuffle: bool = True,
    record: str | None = None,
    stopping: StoppingRule | None = None,
    jobs: int | None = 1,
    executor: Executor | None = None,
    part: str | None = None,
    shared: bool = False,
    format: str = "netcdf",
    progress: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> xr.DataTree:
    """Simulate every policy on every matrix, or in every world of subset choice.

    Parameters
    ----------
    instances, policies : one or several
        As in :func:`simulate`.
    jobs : int or None
        Worker processes; None takes one per core for what is not done here within
        seconds. They import the main module anew, so a script that asks for more than
        one needs ``if __name__ == "__main__":``.
    executor : concurrent.futures.Executor, optional
        What runs the jobs in place of worker processes, such as
        ``client.get_executor()`` of a cluster of Dask. It must be one of processes that
        can import this package and the policies, and stays open. Jobs are cut for
        ``jobs`` workers at least.
    part : str, optional
        "3/10" does the third of ten parts of all jobs and writes them to ``out``, as
        nine other processes may do with theirs at the same time, also from other
        machines that see the folder. The result holds this part only; when all are
        done, :func:`merge` joins them.
    shared : bool
        ``out`` is seen by the workers of the ``executor`` under the same name: they
        write what they compute there, and send nothing.
    format : {"netcdf", "zarr"}
        Of the finished file, ``results.nc`` or ``results.zarr.zip``.
    out : path, optional
        Folder to keep results in, new or empty: finished jobs are written at once, of
        long ones what is finished every few seconds where runs are played one by one,
        and all results in one file at the end.
    resume : bool
        Go on from what ``out`` already holds of the same request. What is damaged there
        is computed again, with a ``DamagedPartWarning``.
    overwrite : bool
        Replace the results in ``out``; files of yours stay.
    num_runs, horizon, checkpoints, seed, regret, shuffle, record, stopping
        As in :class:`bayesduel.Experiment`.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    xarray.DataTree
        ``/instance/policy`` with a node as in :func:`simulate` each, or what of it
        ``record`` keeps; see :mod:`bayesduel.simulation.run_summaries` for quantiles.
        A policy that failed leaves a node without variables whose attribute ``error``
        says why.

    Raises
    ------
    ValueError
        For any argument that cannot be simulated, and for a folder that was not made
        by this function or that another process writes to, before anything is computed.
    ExecutorError
        If the executor is gone before all jobs are done, with the finished runs as
        ``.partial``.
    OutputWriteError
        If ``out`` cannot be written to any more, as when its disk is full, with the
        finished runs as ``.partial``.
    KeyboardInterrupt
        After Ctrl-C, with the finished runs as ``.partial`` (also in ``out``): an
        ``errors.Interrupted``, which puts them together when they are asked for.

    Examples
    --------
    >>> import bayesduel
    >>> tree = bayesduel.compare("cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500)
    >>> sorted(tree["cyclic"].children)
    ['D-TS', 'RUCB']
    """
    asked = Experiment(
        instances,
        policies,
        num_runs=num_runs,
        horizon=horizon,
        checkpoints=checkpoints,
        seed=seed,
        regret=regret,
        shuffle=shuffle,
        record=record,
        stopping=stopping,
    )
    return asked.run(
        jobs=jobs,
        executor=executor,
        part=part,
        shared=shared,
        format=format,
        progress=progress,
        out=out,
        resume=resume,
        overwrite=overwrite,
    )


@contextmanager
def _called(**names: str) -> Iterator[None]:
    """Let errors name the arguments of the caller, which takes one of each."""
    try:
        yield
    except ArgumentError as error:
        name = names.get(error.argument)
        if name is None:
            raise
        raise error.renamed(name) from error
