"""``bayesduel list``: instances, policies and notions of regret by name."""

from __future__ import annotations

from typing import Any, Literal, get_args

from bayesduel.cli.options import JSON, argument, command
from bayesduel.cli.output import console, print_json, version
from bayesduel.cli.tables import show, table_of

KNOWN_FEATURES = "features of the arms"

What = Literal[
    "instances", "families", "pair-worlds", "policies", "regrets", "worlds",
    "subset-policies", "subset-regrets",
]  # fmt: skip

REGRETS = {
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
"""Notions of regret of one duel."""

SUBSET_REGRETS = {
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
"""Notions of regret of one offered set."""

_TITLES = {
    "instances": "Instances: -i NAME, or a file (CSV, NPY, NPZ)",
    "families": "Families of instances: -i NAME:PARAMETER=VALUE,...",
    "pair-worlds": "Worlds of duels that change: -i NAME:PARAMETER=VALUE,... "
    "or -i module:Class",
    "policies": "Policies: -p NAME or -p NAME:PARAMETER=VALUE,...; around one of them, "
    "for preferences\nthat change, -p mdb:inner=NAME,segments=M,delta=D",
    "regrets": "Notions of regret: --regret NAME",
    "worlds": "Worlds of subset choice: -i NAME or -i NAME:PARAMETER=VALUE,...",
    "subset-policies": "Policies that offer sets: -p NAME or "
    "-p NAME:PARAMETER=VALUE,...",
    "subset-regrets": "Notions of regret between sets: --regret NAME",
}
_FIXED = "preferences that stay as they are"
_SAID = {
    "fixed preferences": _FIXED,
    "a Condorcet winner": "an arm that beats all others",
    "a known horizon": "the number of rounds",
    KNOWN_FEATURES: "features of the arms, fixed or new in every round",
}
# Printed by --json only: tables have no room for it, or say it above.
_LEFT_OUT = {
    "policies": ("needs",),
    "pair-worlds": ("source",),
    "worlds": ("feedback", "source"),
    "subset-policies": ("label",),
}
_HEADS = {
    "num_arms": "K",
    "copeland_winners": "winners",
    "regret_of_one_duel": "regret of one duel",
    "regret_of_one_offer": "regret of one offer",
    "needs_condorcet_winner": "needs a Condorcet winner",
}


def _by_needs(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return policies by what they need to know, as a sentence."""
    by_needs: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(
        rows,
        key=lambda x: (not x["needs"], KNOWN_FEATURES in x["needs"], x["needs"]),
    ):
        needs = [str(_SAID.get(need, need)) for need in row["needs"]]
        # A single need stays as it is.
        needs = needs[1:] if len(needs) > 1 and needs[0] == _FIXED else needs
        said = f"They need {' and '.join(needs) or 'nothing'}:"
        by_needs.setdefault(said, []).append(row)
    return by_needs


@command("list policies")
def list_(
    what: What | None = argument("Only these; everything by default."),
    as_json: bool = JSON,
) -> None:
    """List instances, policies with their parameters, and notions of regret.

    Duels have matrices, families of them and pair-worlds, in which preferences change;
    worlds are the instances in which subset-policies offer sets of arms.
    """
    chosen: tuple[What, ...] = (what,) if what else get_args(What)
    entries = {kind: _entries(kind) for kind in chosen}
    if as_json:
        print_json(entries)
        return

    for kind, rows in entries.items():
        keys = [key for key in rows[0] if key not in _LEFT_OUT.get(kind, ())]
        heads = [_HEADS.get(key, key) for key in keys]
        groups = {"": rows} if kind != "policies" else _by_needs(rows)
        for number, (needs, group) in enumerate(groups.items()):
            cells = ([_cell(row[key]) for key in keys] for row in group)
            title = _TITLES[kind] if number == 0 else ""
            title += ("\n\n" if title and needs else "") + needs
            show(console(), title, table_of(heads, cells, words=heads))
    console().print(f"bayesduel {version()}; nothing here is random", style="dim")


def _entries(what: What) -> list[dict[str, Any]]:
    from bayesduel import instances, policies
    from bayesduel.instances import choice, worlds
    from bayesduel.instances.worlds.lookup import default_world
    from bayesduel.policies.lookup import usual_parameters
    from bayesduel.policies.policy import declared
    from bayesduel.policies.registry import entry
    from theory import REGRET_NOTIONS
    from theory.choice import SUBSET_REGRET_NOTIONS

    match what:
        case "instances":
            return [
                dict(name=known.name, num_arms=known.num_arms,
                     copeland_winners=list(known.winners), source=known.source)
                for known in map(instances.describe, instances.names())
            ]  # fmt: skip
        case "families":
            return [
                dict(name=known.name, parameters=list(known.parameters),
                     source=known.source)
                for known in map(instances.describe, instances.family_names())
            ]  # fmt: skip
        case "pair-worlds":
            return [
                dict(name=known.name, about=known.title,
                     parameters=list(known.parameters),
                     regrets=list(default_world(known.name).notions),
                     source=known.source)
                for known in map(instances.describe, worlds.pair_world_names())
            ]  # fmt: skip
        case "worlds":
            rows = []
            for known in map(choice.describe_world, choice.world_names()):
                seeded = ":seed=0" if "seed" in known.parameters else ""
                world = choice.load_world(f"{known.name}{seeded}")
                usual = world.default_notion
                notions = sorted(
                    world.notions, key=lambda name, first=usual: name != first
                )
                rows.append(
                    dict(name=known.name, about=known.title,
                         parameters=list(known.parameters), feedback=world.feedback,
                         regrets=notions, source=world.source)
                )  # fmt: skip
            return rows
        case "policies" | "subset-policies":
            of_sets = what == "subset-policies"
            rows = []
            for name in policies.subset_names() if of_sets else policies.names():
                known = entry(name)
                kind: Any = known.kind
                row = dict(name=name, label=known.acronym,
                           parameters=usual_parameters(name),
                           about=declared(kind, "title"))  # fmt: skip
                if of_sets:
                    more = dict(feedback=list(kind.feedbacks))
                else:
                    more = dict(needs=_needs(known))
                rows.append(row | more)
            return rows
        case "regrets":
            needs = ("condorcet", "weak", "strong")
            return [
                dict(name=name, regret_of_one_duel=REGRETS.get(name, ""),
                     needs_condorcet_winner=name.startswith(needs))
                for name in REGRET_NOTIONS
            ]  # fmt: skip
        case "subset-regrets":
            return [
                dict(name=name, regret_of_one_offer=SUBSET_REGRETS.get(name, ""))
                for name in SUBSET_REGRET_NOTIONS
            ]


def _needs(entry: Any) -> list[str]:
    """Return what a registered policy needs to know."""
    from bayesduel.instances.world import KNOWN_HORIZON
    from bayesduel.policies.policy import declared

    # To make a policy may load JAX, so only where its parameters matter.
    asks = isinstance(getattr(entry.kind, "needs_horizon", None), property)
    policy = entry.default if asks else entry.kind
    needs = [*declared(policy, "assumes")]
    needs += [KNOWN_FEATURES] * declared(policy, "contextual")
    return needs + [KNOWN_HORIZON] * declared(policy, "needs_horizon")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}={typed(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def typed(value: object) -> str:
    """Return a value as it is typed on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
