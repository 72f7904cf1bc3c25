"""Requests for simulations, checked once, and the functions that carry them out."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import xarray as xr

from bayesduel.arguments.limits import MOST_LANES, MOST_RUNS
from bayesduel.errors import ArgumentError, SimulationArgumentError, errors_about
from bayesduel.experiments.arguments import (
    check_checkpoints,
    check_horizon,
    check_record,
    read_instances,
    read_notions,
    read_policies,
)
from bayesduel.experiments.chunk import (
    Chunk,
    Settings,
    runs_of_chunks,
    settings_of,
    simulate_chunk,
)
from bayesduel.experiments.problems import (
    ComparedInstance,
    Instance,
    InstanceLike,
    problem_of,
)
from bayesduel.experiments.progress import progress_reporter
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.driver import check_stops
from bayesduel.stopping.base import StoppingRule, check_rule
from bayesduel.version import __version__
from theory.arguments import integer_from, seed_of, true_or_false


@dataclass(frozen=True, init=False)
class Experiment:
    """The specification of an experiment: every policy on every instance.

    All arguments are read and checked when the object is made. An Experiment that can
    be made can also be run.

    Parameters
    ----------
    instances : one or several of PreferenceMatrix, ChoiceWorld, str, array-like (K, K)
        Matrices, their names or files (see :func:`bayesduel.load`), or their values; or
        worlds of :mod:`bayesduel.instances.choice`, or their names.
    policies : one or several of Policy, str
        Policies, or their names with parameters such as ``"d-ts:alpha=0.6"``. A name,
        also that of an instance, may give several values of a parameter:
        ``"d-ts:alpha=0.51..2/10"`` stands for ten values from 0.51 to 2,
        ``"d-ts:alpha=1..100/5log"`` for five values with equal ratios, and
        ``"rcs:prior=1|2"`` for the values 1 and 2. ``"rucb:alpha=1|2&every=1|10"``
        combines two parameters: alpha=1 with every=1, and alpha=2 with every=10.
    num_runs : int
        Number of independent runs. Run r is the same whatever this number is.
    horizon : int
        Number of rounds of each run. A float with an integral value, such as ``1e9``,
        is allowed.
    checkpoints : sequence of int, optional
        Rounds at which plays and regret are recorded, in increasing order. The horizon
        is always added. By default there are ten per decade. Checkpoints do not change
        the runs.
    seed : int
        The same seed gives the same runs.
    regret : sequence of str, optional
        Notions of regret to record; see ``theory.REGRET_NOTIONS`` and
        ``theory.choice.SUBSET_REGRET_NOTIONS``. By default "copeland" for matrices, and
        the notion of its source for each world.
    shuffle : bool
        Whether the arms are relabeled at random in each run, in the same way for every
        policy. Results have the original labels.
    record : {"plays", "regret", "quantiles"}, optional
        What is kept. "plays": for each run the numbers of plays up to each checkpoint,
        and the regret. "regret": for each run the regret alone. "quantiles": only
        statistics of all runs together, which are the mean, the covariance over
        checkpoints, the extremes, and quantiles to 1 %; memory and disk space then do
        not grow with the number of runs. The default is "plays" up to 10^4 runs, and
        "regret" beyond. The runs themselves are the same.
    stopping : StoppingRule, optional
        A rule of bayesduel.stopping, which is checked after every duel of different
        arms. When it ends a run, nothing more is played, and the regret of the run
        stays constant. Results then have ``stopped_at`` (run), the round, and
        ``answer`` (run), the arm that is named; both are -1 if the rule did not stop.
        Not available for policies with a NumPyro model or policies on sets.

    Attributes
    ----------
    instances : tuple of PreferenceMatrix or ChoiceWorld
        As they were read.
    policies : tuple of Policy
        As they were read.
    checkpoints : tuple of int
        Up to the horizon.
    regret : tuple of str or None
        The notions of regret. None stands for the default of each instance.
    record : str
        As given, or the default.
    num_runs, horizon, seed, shuffle, stopping
        As given.

    Raises
    ------
    ValueError
        If an argument cannot be used. Its attributes say which argument, why, and what
        to do; see errors.ArgumentError.
    OSError
        For a file that cannot be read.

    Examples
    --------
    >>> import bayesduel
    >>> experiment = bayesduel.Experiment(
    ...     "cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500
    ... )
    >>> experiment.names, experiment.labels, experiment.checkpoints[-1]
    (('cyclic',), ('D-TS', 'RUCB'), 500)
    >>> tree = experiment.run()
    >>> tree["cyclic/D-TS/regret"].sizes["run"]
    2
    >>> try:
    ...     bayesduel.Experiment("cyclic", "d-ts", horizon=0)
    ... except ValueError as error:
    ...     print(error.argument, error.value, error.remedy, sep="; ")
    horizon; 0; give 1 or more
    """

    instances: tuple[Instance, ...]
    policies: tuple[PolicyBase, ...]
    num_runs: int
    horizon: int
    checkpoints: tuple[int, ...]
    seed: int
    regret: tuple[str, ...] | None
    shuffle: bool
    record: str
    stopping: StoppingRule | None

    def __init__(
        self,
        instances: InstanceLike | Sequence[InstanceLike],
        policies: PolicyBase | str | Sequence[PolicyBase | str],
        *,
        num_runs: int = 100,
        horizon: float = 10**5,
        checkpoints: Sequence[int] | None = None,
        seed: int = 0,
        regret: Sequence[str] | str | None = None,
        shuffle: bool = True,
        record: str | None = None,
        stopping: StoppingRule | None = None,
    ) -> None:
        # The cheap parts first.
        error = SimulationArgumentError
        checked = {
            "num_runs": integer_from(num_runs, 1, "num_runs", MOST_RUNS, kind=error),
            "horizon": check_horizon(horizon),
            "seed": seed_of(seed, "seed", kind=error),
            "shuffle": true_or_false(shuffle, "shuffle", kind=error),
            "stopping": None if stopping is None else check_rule("stopping", stopping),
        }
        checked["record"] = check_record(record, checked["num_runs"], stopping)
        checked["policies"] = read_policies(policies)
        checked["instances"] = read_instances(instances)
        object.__setattr__(self, "instances", checked["instances"])
        problems = self.problems
        checked["regret"] = read_notions(regret, problems)
        most_arms = max(one.instance.num_arms for one in problems)
        checked["checkpoints"] = check_checkpoints(
            checkpoints, checked["horizon"], most_arms
        )
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for problem in problems:
            for index, policy in enumerate(self.policies):
                with errors_about("policies", policy, index):
                    problem.check_policy(policy, self.horizon, shuffle=self.shuffle)
                    if self.stopping is not None:
                        notions = self.notions[problem.name]
                        environment = problem.environment(notions, shuffle=shuffle)
                        check_stops(environment, policy)

    @classmethod
    def from_file(cls, path: Path | str) -> Self:
        r"""Read an experiment from a TOML file.

        Parameters
        ----------
        path : path
            The keys of the file are the arguments above. Missing keys have the default
            values. ``instances`` and ``policies`` are strings, or tables such as
            ``{name = "d-ts", alpha = [0.6, 1], every = [1, 10], zip = ["alpha",
            "every"]}``; a matrix may be ``{file = "mine.csv"}`` or ``{values = [[0.5,
            0.6], [0.4, 0.5]]}``. Paths are relative to the folder of the file.
            ``stopping`` is a text, as for :func:`bayesduel.stopping.parse_rule`.

        Raises
        ------
        ValueError
            For what is no TOML, an unknown key, and whatever cannot be simulated; the
            text names the file.
        OSError
            For a file that cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile, bayesduel
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "sweep.toml")
        ...     _ = path.write_text(
        ...         'instances = "gap"\npolicies = "d-ts:alpha=0.6|1"\nhorizon = 1e6'
        ...     )
        ...     experiment = bayesduel.Experiment.from_file(path)
        >>> experiment.labels, experiment.horizon
        (('D-TS:alpha=0.6', 'D-TS:alpha=1.0'), 1000000)
        """
        from bayesduel.experiments.toml import (
            arguments_in_file,
            check_complete,
            errors_name_file,
        )

        arguments = arguments_in_file(path)
        check_complete(arguments, str(path))
        with errors_name_file(str(path)):
            return cls(**arguments)

    def to_toml(self) -> str:
        """Return the TOML text that :meth:`from_file` reads as the same experiment.

        Names with several values of a parameter are written as one name for each value,
        and defaults are written out. A matrix is written as its name if that name loads
        the same matrix, and as numbers otherwise.

        Raises
        ------
        ValueError
            If something has no TOML form: a policy with a table among its parameters, a
            policy from a script, a world or stopping rule of your own, or a matrix of
            more than 128 arms without a name.

        Examples
        --------
        >>> import bayesduel
        >>> experiment = bayesduel.Experiment(
        ...     "gap", "d-ts:alpha=0.6..1/3", horizon=1000
        ... )
        >>> print(experiment.to_toml())
        # An experiment of bayesduel ...
        instances = [
            "gap",
        ]
        policies = [
            "d-ts:alpha=0.6",
            "d-ts:alpha=0.8",
            "d-ts:alpha=1.0",
        ]
        num_runs = 100
        horizon = 1000
        seed = 0
        shuffle = true
        record = "plays"
        <BLANKLINE>
        """
        from bayesduel.experiments.toml import to_toml

        return to_toml(vars(self))

    def without_look_ahead(self) -> Self:
        """Return the same experiment with policies that step round by round."""
        stepping = [
            replace(policy, look_ahead=False)  # pyright: ignore
            if "look_ahead" in {field.name for field in fields(policy)}  # pyright: ignore
            else policy
            for policy in self.policies
        ]
        return replace(self, policies=stepping)

    def run(
        self,
        *,
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
        """Carry it out; arguments, result and errors as :func:`bayesduel.compare`.

        Examples
        --------
        >>> import bayesduel
        >>> experiment = bayesduel.Experiment("gap", "rucb", num_runs=2, horizon=100)
        >>> sorted(experiment.run(jobs=1)["gap"].children)
        ['RUCB']
        """
        from bayesduel.experiments.execute import run_experiment

        return run_experiment(
            self, jobs=jobs, executor=executor, part=part, shared=shared, format=format,
            progress=progress, out=out, resume=resume, overwrite=overwrite,
        )  # fmt: skip

    def chunks(self) -> list[Chunk]:
        """Return the chunks of runs that make up the experiment.

        How runs are divided into chunks depends only on the experiment: 20 runs per
        chunk, one run per chunk from 256 arms on, and 256 or 1024 runs if they are
        summarized as quantiles. A request for more runs has the same chunks and further
        ones.

        Examples
        --------
        >>> import bayesduel
        >>> experiment = bayesduel.Experiment("gap", "rucb", num_runs=30, horizon=100)
        >>> [chunk.runs for chunk in experiment.chunks()]
        [range(0, 20), range(20, 30)]
        """
        return [
            Chunk(problem.instance, policy, runs, settings)
            for problem, policy, settings in self._settings
            for runs in runs_of_chunks(
                self.num_runs, problem.instance.num_arms, self.record
            )
        ]

    def request(self) -> dict[str, Any]:
        """Return the experiment as a dictionary that can be written as JSON.

        Returns
        -------
        dict
            ``attributes`` of the results, ``record``, and ``places``: for every policy
            on every instance their names, the number of arms, and as canonical JSON
            everything that the results depend on.

        Examples
        --------
        >>> import bayesduel
        >>> experiment = bayesduel.Experiment("gap", "rucb", num_runs=30, horizon=100)
        >>> experiment.request()["places"][0]["policy"]
        'RUCB'
        """
        return {
            "attributes": {
                "seed": self.seed,
                "num_runs": self.num_runs,
                "horizon": self.horizon,
                "version": __version__,
            },
            "record": self.record,
            "places": [
                {
                    "instance": settings.node_names[0],
                    "policy": settings.node_names[1],
                    "num_arms": problem.instance.num_arms,
                    "request": settings.request,
                }
                for problem, _, settings in self._settings
            ],
        }

    @cached_property
    def problems(self) -> tuple[ComparedInstance, ...]:
        """The instances, as experiments and results use them."""
        return tuple(problem_of(instance) for instance in self.instances)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the instances in results."""
        return tuple(problem.name for problem in self.problems)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the policies in results."""
        return tuple(policy.label for policy in self.policies)

    @property
    def notions(self) -> dict[str, tuple[str, ...]]:
        """Notions of regret that are recorded, by the name of the instance."""
        return {
            problem.name: self.regret or problem.usual_notions
            for problem in self.problems
        }

    @cached_property
    def _settings(self) -> list[tuple[ComparedInstance, PolicyBase, Settings]]:
        return [
            (problem, policy, settings_of(self, problem, policy))
            for problem in self.problems
            for policy in self.policies
        ]


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
        A tree with these variables, with their dimensions in parentheses. ``regret``
        (notion, run, checkpoint): cumulative regret. ``plays`` (run, checkpoint, arm,
        opponent): number of rounds of each pair, in the upper triangle, with self-duels
        on the diagonal. ``recommendation`` (run): the arm that the policy recommends at
        the end. The attributes record how the result was made. In a world of subset
        choice, plays is replaced by ``offers`` (run, checkpoint, arm), the number of
        rounds in which each arm was offered, and ``recommendation`` has the dimensions
        (run, arm).

    Raises
    ------
    ValueError
        If an argument cannot be used. It is raised before anything is computed.

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
        experiment = Experiment(
            [instance], [policy], num_runs=num_runs, horizon=horizon,
            checkpoints=checkpoints, seed=seed, regret=regret, shuffle=shuffle,
            record="plays", stopping=stopping,
        )  # fmt: skip
    ((problem, played, settings),) = experiment._settings
    chunk = Chunk(problem.instance, played, range(experiment.num_runs), settings)
    with progress_reporter(enabled=progress) as report:
        report.expect(1)
        shown = report.update(f"{played.label} on {problem.name}")
        dataset = simulate_chunk(chunk, shown, num_lanes=num_lanes)
    dataset = dataset.assign(problem.variables())
    dataset.attrs["created"] = datetime.now(UTC).isoformat(timespec="seconds")
    return xr.DataTree(dataset, name=played.label)


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
    """Simulate several policies on several matrices or worlds.

    Parameters
    ----------
    instances, policies : one or several
        As in :func:`simulate`.
    jobs : int or None
        Number of worker processes. With None there is one per core, except for runs
        that take only seconds, which are simulated in this process. Classes that are
        defined in the main script are sent to the workers.
    executor : concurrent.futures.Executor, optional
        An executor that simulates the chunks in place of worker processes, such as
        ``client.get_executor()`` of a Dask cluster. Its processes must be able to
        import this package and the policies. It is not closed.
    part : str, optional
        "3/10" simulates every tenth chunk, from the third one on, and writes it to
        ``out``, as nine other processes may do with theirs at the same time, also from
        other machines that see the folder. The result holds this part only; when all
        are done, :func:`merge` puts them together.
    shared : bool
        Whether the workers of the ``executor`` see ``out`` under the same path. If so,
        they write their results there and send nothing back.
    format : {"netcdf", "zarr"}
        Format of the finished file: ``results.nc`` or ``results.zarr.zip``.
    out : path, optional
        Folder for the results, new or empty. Each chunk is written when it is finished,
        and all results are written to one file at the end.
    resume : bool
        Continue from the chunks in out. The request must contain everything that the
        earlier one had, and may have more runs, policies and instances. A damaged chunk
        is simulated again, with a ``DamagedPartWarning``.
    overwrite : bool
        Replace the results in ``out``. Your own files in the folder are kept.
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
        If an argument cannot be used, or if the folder was not made by this function or
        another process writes to it. It is raised before anything is computed.
    ExecutorError
        If the executor stops before all chunks are done. The attribute partial holds
        the finished runs.
    OutputWriteError
        If ``out`` can no longer be written to, for example because the disk is full.
        The attribute partial holds the finished runs.
    KeyboardInterrupt
        After Ctrl-C, as soon as the present chunk is finished. It is an
        errors.Interrupted, whose attribute partial puts the finished runs together when
        it is read; they are also in out. A second Ctrl-C stops at once.

    Examples
    --------
    >>> import bayesduel
    >>> tree = bayesduel.compare("cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500)
    >>> sorted(tree["cyclic"].children)
    ['D-TS', 'RUCB']
    """
    experiment = Experiment(
        instances, policies, num_runs=num_runs, horizon=horizon,
        checkpoints=checkpoints, seed=seed, regret=regret, shuffle=shuffle,
        record=record, stopping=stopping,
    )  # fmt: skip
    return experiment.run(
        jobs=jobs, executor=executor, part=part, shared=shared, format=format,
        progress=progress, out=out, resume=resume, overwrite=overwrite,
    )  # fmt: skip


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
