"""``bayesduel list``: instances, policies and notions of regret by name."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from bayesduel.cli.options import json_flag
from bayesduel.cli.output import console, print_json, version


class What(StrEnum):
    """What can be listed."""

    instances = "instances"
    families = "families"
    pair_worlds = "pair-worlds"
    policies = "policies"
    regrets = "regrets"
    worlds = "worlds"
    subset_policies = "subset-policies"
    subset_regrets = "subset-regrets"


def list_(
    what: Annotated[
        What | None, typer.Argument(help="Only these; everything by default.")
    ] = None,
    as_json: Annotated[bool, json_flag] = False,
) -> None:
    """List instances, policies with their parameters, and notions of regret.

    Duels have matrices, families of them and pair-worlds, in which preferences change;
    worlds are the instances in which subset-policies offer sets of arms.
    """
    makers = {
        What.instances: _instances,
        What.families: _families,
        What.pair_worlds: _pair_worlds,
        What.policies: _policies,
        What.regrets: _regrets,
        What.worlds: _worlds,
        What.subset_policies: partial(_policies, of_sets=True),
        What.subset_regrets: _subset_regrets,
    }
    chosen = [what] if what else list(What)
    entries = {each.value: makers[each]() for each in chosen}
    if as_json:
        print_json(entries)
        return
    for name, rows in entries.items():
        _print(name, rows)
    console().print(f"bayesduel {version()}; nothing here is random", style="dim")


def _instances() -> list[dict[str, object]]:
    from bayesduel import instances

    return [
        {
            "name": entry.name,
            "num_arms": entry.num_arms,
            "copeland_winners": list(entry.winners),
            "source": entry.source,
        }
        for entry in map(instances.describe, instances.names())
    ]


def _families() -> list[dict[str, object]]:
    from bayesduel import instances

    return [
        {
            "name": entry.name,
            "parameters": list(entry.parameters),
            "source": entry.source,
        }
        for entry in map(instances.describe, instances.family_names())
    ]


def _pair_worlds() -> list[dict[str, object]]:
    from bayesduel.instances import describe, worlds
    from bayesduel.instances.worlds.lookup import default_world

    return [
        {
            "name": entry.name,
            "about": entry.title,
            "parameters": list(entry.parameters),
            "regrets": list(default_world(entry.name).notions),
            "source": entry.source,
        }
        for entry in map(describe, worlds.pair_world_names())
    ]


def _worlds() -> list[dict[str, object]]:
    from bayesduel.instances import choice

    found = []
    for description in map(choice.describe_world, choice.world_names()):
        name, parameters = description.name, list(description.parameters)
        world = choice.load_world(f"{name}:seed=0" if "seed" in parameters else name)
        found.append(
            {
                "name": name,
                "about": description.title,
                "parameters": parameters,
                "feedback": world.feedback,
                "regrets": sorted(
                    world.notions, key=lambda each: each != world.default_notion
                ),
                "source": world.source,
            }
        )
    return found


def _policies(*, of_sets: bool = False) -> list[dict[str, object]]:
    from bayesduel import policies
    from bayesduel.policies.lookup import settable
    from bayesduel.policies.policy import declared

    found = []
    for name in policies.subset_names() if of_sets else policies.names():
        policy: Any = policies.get(name)
        entry = {
            "name": name,
            "label": policy.label,
            "parameters": settable(policy),
            "about": declared(policy, "title"),
        }
        found.append(entry | ({"feedback": list(policy.feedbacks)} if of_sets else {}))
    return found


_MEANINGS = {
    "copeland": "best score minus the mean score of the two arms (default)",
    "copeland_losses": "the same from losses; differs only under ties",
    "copeland_zoghi": "twice copeland",
    "copeland_binary": "1 unless both arms are Copeland winners",
    "borda": "best Borda score minus the mean of the two",
    "condorcet_mean": "mean of the gaps to the Condorcet winner",
    "condorcet_sum": "sum of these gaps (strong regret)",
    "condorcet_max": "larger of these gaps",
    "weak": "smaller of these gaps",
    "weak_binary": "1 unless one of the two is the Condorcet winner",
    "strong_binary": "1 unless both are the Condorcet winner",
}


def _regrets() -> list[dict[str, object]]:
    from theory import REGRET_NOTIONS

    needs = ("condorcet", "weak", "strong")
    return [
        {
            "name": name,
            "regret_of_one_duel": _MEANINGS.get(name, ""),
            "needs_condorcet_winner": name.startswith(needs),
        }
        for name in REGRET_NOTIONS
    ]


_SUBSET_MEANINGS = {
    "expected_reward": "expected reward of the best set minus that of the offered one",
    "mnl_no_choice": "probability that nobody is chosen, minus that of the best set",
    "no_choice": "the same number under another name",
    "revenue": "largest expected revenue minus that of the offered set",
    "utility_sum": "mean utilities of the best set minus those of the offered one",
    "topk": "mean weight of the k best arms minus that of the offered ones",
    "topk_means": "mean rewards of the k best arms minus those of the offered ones",
    "winner": "weight of the best arm minus the mean weight of the offered ones",
    "choice_bandit": "lead of the best arm, if it were there, over each offered one",
}


def _subset_regrets() -> list[dict[str, object]]:
    from theory.choice import SUBSET_REGRET_NOTIONS

    return [
        {"name": name, "regret_of_one_offer": _SUBSET_MEANINGS.get(name, "")}
        for name in SUBSET_REGRET_NOTIONS
    ]


def regret_meanings() -> dict[str, str]:
    """Return what every notion of regret is, of duels and of offered sets."""
    return _MEANINGS | _SUBSET_MEANINGS


_TITLES = {
    "instances": "Instances: -i NAME, or a file (CSV, NPY, NPZ)",
    "families": "Families of instances: -i NAME:PARAMETER=VALUE,...",
    "pair-worlds": "Worlds of duels that change: -i NAME:PARAMETER=VALUE,... "
    "or -i module:Class",
    "policies": "Policies: -p NAME or -p NAME:PARAMETER=VALUE,...",
    "regrets": "Notions of regret: --regret NAME",
    "worlds": "Worlds of subset choice: -i NAME or -i NAME:PARAMETER=VALUE,...",
    "subset-policies": "Policies that offer sets: -p NAME or -p NAME:PARAMETER=VALUE,"
    "...",
    "subset-regrets": "Notions of regret between sets: --regret NAME",
}


def _print(name: str, rows: list[dict[str, object]]) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table, show

    table = new_table()
    headers = [each for each in rows[0] if each not in _LEFT_OUT.get(name, ())]
    for index, header in enumerate(headers):
        # A word too long for its column goes on below, it is never cut.
        table.add_column(
            _SHORT.get(header, header), no_wrap=index == 0, overflow="fold"
        )
    for row in rows:
        table.add_row(*(escape(_cell(row[header])) for header in headers))
    show(console(), _TITLES[name], table)


_LEFT_OUT = {
    "pair-worlds": ("source",),
    "worlds": ("feedback", "source"),
    "subset-policies": ("label",),
}
"""What only --json tells: tables have no room for it."""

_SHORT = {
    "num_arms": "K",
    "copeland_winners": "winners",
    "regret_of_one_duel": "regret of one duel",
    "regret_of_one_offer": "regret of one offer",
    "needs_condorcet_winner": "needs a Condorcet winner",
}


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}={_typed(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _typed(value: object) -> str:
    """Return a value as it is typed on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
