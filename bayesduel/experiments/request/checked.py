"""What is asked for: instances, policies and runs, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bayesduel.arguments.limits import MOST_RUNS
from bayesduel.code_digest import code_digest
from bayesduel.errors import SimulationArgumentError, errors_about
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.problems import Instance, InstanceLike, Problem, problem_of
from bayesduel.experiments.request.arguments import (
    check_checkpoints,
    check_horizon,
    check_record,
    read_instances,
    read_notions,
    read_policies,
)
from bayesduel.experiments.stored.run_ranges import Place
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation.driver import check_stops, program_of
from bayesduel.simulation.environments import Environment
from bayesduel.stopping.rules import StoppingRule, check_rule
from theory.arguments import integer_from, seed_of, true_or_false


@dataclass(frozen=True, init=False)
class CheckedRequest:
    """Every policy on every instance; :class:`bayesduel.Experiment` can be run, too."""

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
                    problem.check_policy(policy, self.horizon)
                    if self.stopping is not None:
                        check_stops(self._environment(problem), policy)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
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
            problem.name: self.regret or (problem.default_notion,)
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

    def _environment(self, problem: Problem) -> Environment:
        """Return what answers on an instance."""
        return problem.environment(self.notions[problem.name], shuffle=self.shuffle)
