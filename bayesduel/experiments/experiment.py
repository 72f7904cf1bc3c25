"""A request for simulations: instances, policies and runs, checked once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import xarray as xr

from bayesduel.errors import SimulationArgumentError, said_of
from bayesduel.experiments import checks
from bayesduel.experiments._code_digest import code_digest
from bayesduel.experiments.comparison import Comparison, Place
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.parameter_grids import expand
from bayesduel.experiments.problems import (
    Instance,
    InstanceLike,
    Problem,
    problem_of,
    read_instance,
)
from bayesduel.experiments.store import Part, carry_out
from bayesduel.limits import MOST_RUNS
from bayesduel.policies.base import Policy, check_kinds, parameters_json
from bayesduel.policies.lookup import parse
from bayesduel.stopping.rules import StoppingRule, check_rule

_TAKEN = ("arm", "best_set", "opponent", "preference")
"""What a node of an environment holds besides its policies."""


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
        from 0.51 to 2, ``"rcs:prior=1|2"`` for these two; so may that of an instance.
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
        ``theory.SUBSET_REGRET_NOTIONS``. By default "copeland", or the notion of each
        world's source.
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
        -1 where there is none. Needs a CPU and policies with a kernel.

    Attributes
    ----------
    instances : tuple of PreferenceMatrix or ChoiceWorld
        As they were read.
    policies : tuple of Policy
        As they were read.
    num_runs, horizon, seed : int
        As given.
    checkpoints : tuple of int
        Up to the horizon.
    regret : tuple of str or None
        Different notions; None stands for the usual one of each instance.
    shuffle : bool
        As given.
    record : str
        As given, or the usual one.
    stopping : StoppingRule or None
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
    policies: tuple[Policy, ...]
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
        policies: Policy | str | Sequence[Policy | str],
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
        asked = {
            "num_runs": checks.check_count("num_runs", num_runs, MOST_RUNS),
            "horizon": checks.check_horizon(horizon),
            "seed": checks.check_seed(seed),
            "shuffle": checks.check_flag("shuffle", shuffle),
            "stopping": _read_stopping(stopping),
        }
        asked["record"] = checks.check_record(record, asked["num_runs"], stopping)
        asked["policies"] = _read_policies(policies)
        asked["instances"] = read_instances(instances)
        problems = [problem_of(each) for each in asked["instances"]]
        asked["regret"] = _read_notions(regret, problems)
        most_arms = max(each.num_arms for each in asked["instances"])
        asked["checkpoints"] = checks.check_checkpoints(
            checkpoints, asked["horizon"], most_arms
        )
        for name, value in asked.items():
            object.__setattr__(self, name, value)
        for problem in problems:
            for index, policy in enumerate(self.policies):
                with _about("policies", policy, index):
                    problem.check_policy(policy, self.horizon)
                    if self.stopping is not None:
                        _check_kernel(problem, policy, self.shuffle)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the instances in results."""
        return tuple(problem_of(each).name for each in self.instances)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the policies in results."""
        return tuple(each.label for each in self.policies)

    @property
    def notions(self) -> dict[str, tuple[str, ...]]:
        """Notions of regret that are recorded, by the name of the instance."""
        return {
            problem.name: self.regret or (problem.default_notion,)
            for problem in map(problem_of, self.instances)
        }

    @cached_property
    def configurations(self) -> dict[Place, tuple[Configuration, Policy]]:
        """What the results of each policy on each instance depend on."""
        own = {policy.label: (policy, code_digest(policy)) for policy in self.policies}
        return {
            (name, label): (
                Configuration(
                    instance=instance,
                    environment=name,
                    policy=label,
                    policy_name=policy.name,
                    parameters=parameters_json(policy),
                    checkpoints=self.checkpoints,
                    seed=self.seed,
                    shuffle=self.shuffle,
                    record=self.record,
                    stopping=self.stopping,
                    notions=self.notions[name],
                    code=code,
                ),
                policy,
            )
            for name, instance in zip(self.names, self.instances, strict=True)
            for label, (policy, code) in own.items()
        }

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
        format: str = "netcdf",  # noqa: A002
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
        return carry_out(
            Comparison(self, checks.check_format(format)),
            jobs=jobs,
            executor=executor,
            part=None if part is None else Part.read(part),
            shared=shared,
            progress=progress,
            out=out,
            resume=resume,
            overwrite=overwrite,
        )


def _read_stopping(given: Any) -> StoppingRule | None:
    return None if given is None else check_rule("stopping", given)


def _check_kernel(problem: Problem, policy: Policy, shuffle: bool) -> None:
    """Raise unless runs of a policy can be stopped."""
    from bayesduel.simulation.driver import kernel_for, without_kernel

    environment = problem.environment((problem.default_notion,), shuffle=shuffle)
    if kernel_for(environment, policy) is None:
        raise without_kernel(policy)


@contextmanager
def _about(argument: str, value: Any, index: int | None) -> Iterator[None]:
    """Let errors say in which argument they were found."""
    try:
        yield
    except ValueError as error:
        raise said_of(error, argument, value, index) from error


def _read_grids(argument: str, given: Any) -> tuple[list[Any], bool]:
    """Return one or several things, with texts of several values taken apart."""
    values, numbered = checks.as_sequence(argument, given)
    found = []
    for index, value in enumerate(values):
        with _about(argument, value, index if numbered else None):
            found += expand(value) if isinstance(value, str) else [value]
    return found, numbered


def _read_policies(given: Any) -> tuple[Policy, ...]:
    values, numbered = _read_grids("policies", given)
    found = []
    for position, value in enumerate(values):
        index = position if numbered else None
        with _about("policies", value, index):
            policy = parse(value) if isinstance(value, str) else value
            if not isinstance(policy, Policy):
                raise SimulationArgumentError.of(
                    "policies",
                    "must be a policy or the name of one",
                    value,
                    remedy="bayesduel.policies.names() lists them",
                )
            check_kinds(policy)
            found.append(policy)
    _check_names("policies", [each.label for each in found], values)
    return tuple(found)


def read_instances(given: Any) -> tuple[Instance, ...]:
    """Return matrices or worlds, of one kind, under different names."""
    values, numbered = _read_grids("instances", given)
    found = []
    for position, value in enumerate(values):
        with _about("instances", value, position if numbered else None):
            found.append(read_instance(value))
    problems = [problem_of(each) for each in found]
    _check_names("instances", [each.name for each in problems], values)
    first = problems[0]
    for index, other in enumerate(problems):
        if type(other) is not type(first):
            raise SimulationArgumentError.of(
                "instances",
                f"{first.name} is {first.words} and {other.name} {other.words}",
                found[index],
                index=index,
                remedy="compare duels and sets separately",
            )
    return tuple(found)


def _read_notions(given: Any, problems: Sequence[Problem]) -> tuple[str, ...] | None:
    """Return the notions of regret, each once; None where none is asked for."""
    if given is None:
        return None
    single = isinstance(given, str)
    notions = [given] if single else list(checks.several("regret", given))
    if not notions:
        raise SimulationArgumentError.of(
            "regret",
            "must name at least one notion",
            given,
            remedy=f"name one, such as {problems[0].default_notion!r}",
        )
    for index, notion in enumerate(notions):
        for problem in problems:
            with _about("regret", notion, None if single else index):
                problem.check_notion(notion)
    return tuple(dict.fromkeys(notions))


def _check_names(argument: str, names: Sequence[str], values: Sequence[Any]) -> None:
    """Raise unless every name is one that a group of a results file can have."""
    if not names:
        raise SimulationArgumentError.of(
            argument, "must hold at least one", values, remedy="name one"
        )
    for index, name in enumerate(names):
        printable = name.isprintable() and name == name.strip()
        if not printable or "/" in name or name in {"", ".", "..", *_TAKEN}:
            raise SimulationArgumentError.of(
                argument,
                f"results cannot be kept under the name {name!r}",
                values[index],
                index=index,
                remedy="give it another one: printable, without a slash or spaces "
                f"around it, and none of ., .., {', '.join(_TAKEN)}",
            )
        if name in names[:index]:
            one, other = values[names.index(name)], values[index]
            texts = isinstance(one, str) and isinstance(other, str) and one != other
            twice = f"{name!r} is given twice"
            raise SimulationArgumentError.of(
                argument,
                f"{one!r} and {other!r} are both called {name!r}" if texts else twice,
                other,
                index=index,
                remedy="results need different names",
            )
