"""A request for simulations: instances, policies and runs, checked once."""

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import xarray as xr

from bayesduel.arguments.limits import MOST_RUNS
from bayesduel.code_digest import code_digest
from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.comparison import Comparison, Tables
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.problems import (
    ComparedInstance,
    Instance,
    InstanceLike,
    problem_of,
)
from bayesduel.experiments.request.arguments import (
    check_checkpoints,
    check_format,
    check_horizon,
    check_record,
    read_instances,
    read_notions,
    read_policies,
)
from bayesduel.experiments.request.toml_text import folder_files, to_toml
from bayesduel.experiments.store import Part, execute_sweep
from bayesduel.experiments.stored.run_ranges import Place
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.driver import check_stops, program_of
from bayesduel.simulation.environments import Environment
from bayesduel.stopping.base import StoppingRule, check_rule
from bayesduel.version import __version__
from theory.arguments import integer_from, seed_of, true_or_false


@dataclass(frozen=True, init=False)
class Experiment:
    """Every policy on every instance: what is asked for, before it is carried out.

    Everything is read and checked here, once; a request that can be made can be run.

    Parameters
    ----------
    instances : one or several of PreferenceMatrix, ChoiceWorld, str, array-like (K, K)
        Matrices, their names or files (see :func:`bayesduel.load`), or their values; or
        worlds of :mod:`bayesduel.instances.choice`, or their names.
    policies : one or several of Policy, str
        Policies, or their names with parameters such as ``"d-ts:alpha=0.6"``. A text
        may give several values of a parameter, ``"d-ts:alpha=0.51..2/10"`` for ten
        from 0.51 to 2, ``"d-ts:alpha=1..100/5log"`` for five in equal ratios,
        ``"rcs:prior=1|2"`` for these two, ``"rucb:alpha=1|2&every=1|10"`` for 1 with 1
        and 2 with 10; so may that of an instance.
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
        ``theory.choice.SUBSET_REGRET_NOTIONS``. By default "copeland", or the notion of
        each world's source.
    shuffle : bool
        Relabel the arms at random in each run (results keep the original labels), for
        every policy alike.
    record : {"plays", "regret", "quantiles"}, optional
        What is kept of every run: all that was played up to each checkpoint and the
        regret, or the regret alone; or of no single run, but of all together the mean,
        the covariance over checkpoints, the extremes and quantiles to 1 %, which
        takes neither memory nor disk in proportion to the number of runs. By default
        "plays" up to 10^4 runs, "regret" beyond. It changes no run.
    stopping : StoppingRule, optional
        Of :mod:`bayesduel.stopping`: looked at after every duel of different arms. A
        run that it ends plays nothing more, and its regret stays. Results have
        ``stopped_at`` (run), the round, and ``answer`` (run), the arm that is named;
        -1 where there is none. Not for policies over a NumPyro model or over sets.

    Attributes
    ----------
    instances : tuple of PreferenceMatrix or ChoiceWorld
        As they were read.
    policies : tuple of Policy
        As they were read.
    checkpoints : tuple of int
        Up to the horizon.
    regret : tuple of str or None
        Different notions; None stands for the usual one of each instance.
    record : str
        As given, or the usual one.
    num_runs, horizon, seed, shuffle, stopping
        As given.

    Raises
    ------
    ValueError
        For any argument that cannot be simulated; see ``errors.ArgumentError`` for the
        attributes that say which, why, and what to do.
    OSError
        For a file that cannot be read.

    Examples
    --------
    >>> import bayesduel
    >>> asked = bayesduel.Experiment(
    ...     "cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500
    ... )
    >>> asked.names, asked.labels, asked.checkpoints[-1]
    (('cyclic',), ('D-TS', 'RUCB'), 500)
    >>> tree = asked.run()
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
        asked = {
            "num_runs": integer_from(num_runs, 1, "num_runs", MOST_RUNS, kind=error),
            "horizon": check_horizon(horizon),
            "seed": seed_of(seed, "seed", kind=error),
            "shuffle": true_or_false(shuffle, "shuffle", kind=error),
            "stopping": None if stopping is None else check_rule("stopping", stopping),
        }
        asked["record"] = check_record(record, asked["num_runs"], stopping)
        asked["policies"] = read_policies(policies)
        asked["instances"] = read_instances(instances)
        object.__setattr__(self, "instances", asked["instances"])
        problems = self.problems
        asked["regret"] = read_notions(regret, problems)
        most_arms = max(each.num_arms for each in asked["instances"])
        asked["checkpoints"] = check_checkpoints(
            checkpoints, asked["horizon"], most_arms
        )
        for name, value in asked.items():
            object.__setattr__(self, name, value)
        for problem in problems:
            for index, policy in enumerate(self.policies):
                with errors_about("policies", policy, index):
                    problem.check_policy(policy, self.horizon, shuffle=self.shuffle)
                    if self.stopping is not None:
                        check_stops(self._environment(problem), policy)

    @classmethod
    def from_file(cls, path: Path | str) -> Self:
        r"""Read an experiment from a TOML file.

        Parameters
        ----------
        path : path
            Its keys are the arguments above, which have their defaults where they are
            missing. ``instances`` and ``policies`` are texts, or tables such as
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
        ...     asked = bayesduel.Experiment.from_file(path)
        >>> asked.labels, asked.horizon
        (('D-TS:alpha=0.6', 'D-TS:alpha=1.0'), 1000000)
        """
        from bayesduel.experiments.request.toml_files import (
            arguments_in_file,
            check_complete,
            errors_name_file,
        )

        found = arguments_in_file(path)
        check_complete(found, str(path))
        with errors_name_file(str(path)):
            return cls(**found)

    def to_toml(self) -> str:
        """Return the TOML text that :meth:`from_file` reads as the same experiment.

        Texts of several values are taken apart, defaults are written out, and a matrix
        stands there by its name if that loads the same one, by its numbers otherwise.

        Raises
        ------
        ValueError
            For what no text can say: a policy with a table among its parameters or from
            a script, a world or a rule for stopping of your own, a matrix of more than
            128 arms without a name.

        Examples
        --------
        >>> import bayesduel
        >>> asked = bayesduel.Experiment("gap", "d-ts:alpha=0.6..1/3", horizon=1000)
        >>> print(asked.to_toml())
        # An experiment of bayesduel ...
        instances = ["gap"]
        policies = ["d-ts:alpha=0.6", "d-ts:alpha=0.8", "d-ts:alpha=1.0"]
        num_runs = 100
        horizon = 1000
        seed = 0
        shuffle = true
        record = "plays"
        <BLANKLINE>
        """
        return to_toml(vars(self))

    def without_look_ahead(self) -> Self:
        """Return the same experiment with policies that step round by round."""
        stepping = [
            replace(policy, look_ahead=False)  # pyright: ignore
            if "look_ahead" in {each.name for each in fields(policy)}  # pyright: ignore
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
        >>> asked = bayesduel.Experiment("gap", "rucb", num_runs=2, horizon=100)
        >>> sorted(asked.run(jobs=1)["gap"].children)
        ['RUCB']
        """
        return run_experiment(
            self,
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

    @cached_property
    def problems(self) -> tuple[ComparedInstance, ...]:
        """What is asked about the instances."""
        return tuple(problem_of(each) for each in self.instances)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the instances in results."""
        return tuple(each.name for each in self.problems)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the policies in results."""
        return tuple(each.label for each in self.policies)

    @property
    def notions(self) -> dict[str, tuple[str, ...]]:
        """Notions of regret that are recorded, by the name of the instance."""
        return {
            problem.name: self.regret or problem.usual_notions
            for problem in self.problems
        }

    @cached_property
    def configurations(self) -> dict[Place, tuple[Configuration, PolicyBase]]:
        """What the results of each policy on each instance depend on."""
        own = {policy.label: (policy, code_digest(policy)) for policy in self.policies}
        notions = self.notions
        return {
            (name, label): (
                Configuration(
                    instance=problem.instance,
                    instance_name=name,
                    policy=label,
                    policy_name=policy.name,
                    parameters=parameters_json(policy),
                    checkpoints=self.checkpoints,
                    seed=self.seed,
                    shuffle=self.shuffle,
                    record=self.record,
                    stopping=self.stopping,
                    notions=notions[name],
                    code=code,
                    program=program_of(self._environment(problem), policy),
                ),
                policy,
            )
            for name, problem in zip(self.names, self.problems, strict=True)
            for label, (policy, code) in own.items()
        }

    def _environment(self, problem: ComparedInstance) -> Environment:
        """Return what answers on an instance."""
        return problem.environment(self.notions[problem.name], shuffle=self.shuffle)


def comparison_of(
    asked: Experiment, *, format: str = "netcdf", tables: Tables | None = None
) -> Comparison:
    """Return what is played of an experiment, kept and put together."""
    own = {at: each for at, (each, _) in asked.configurations.items()}
    marks = {at: each.fingerprint() for at, each in own.items()}
    stops = {} if asked.stopping is None else {"stopping": repr(asked.stopping)}
    return Comparison(
        num_runs=asked.num_runs,
        record=asked.record,
        attributes={
            **{key: getattr(asked, key) for key in ("seed", "num_runs", "horizon")},
            "version": __version__,
        },
        instances={each.name: each.dataset() for each in asked.problems},
        notions={at: each.notions for at, each in own.items()},
        fingerprints={at: json.loads(json.dumps(each)) for at, each in marks.items()},
        words=stops
        | {
            "record": asked.record,
            "instances": list(asked.names),
            "policies": list(asked.labels),
            "num_runs": asked.num_runs,
            "horizon": asked.horizon,
            "seed": asked.seed,
            "shuffle": asked.shuffle,
            "version": __version__,
        },
        format=check_format(format),
        configurations=asked.configurations,
        files=lambda: folder_files(vars(asked)),
        tables=tables,
    )


def run_experiment(
    asked: Experiment,
    *,
    format: str,
    part: str | None,
    tables: Tables | None = None,
    **options: Any,
) -> xr.DataTree:
    """Run what is missing of an experiment; see :meth:`bayesduel.Experiment.run`.

    Whoever goes on with tables of the results may make them, too.
    """
    comparison = comparison_of(asked, format=format, tables=tables)
    read = None if part is None else Part.read(part)
    return execute_sweep(comparison, part=read, **options)
