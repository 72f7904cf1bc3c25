"""What a shell offers when the Tab key is pressed in the middle of a name."""

from __future__ import annotations

MODELS = (
    "bradley-terry", "conditional-logit", "judged-bradley-terry", "linear-utilities",
    "mixed-logit", "multinomial-logit", "pairwise-beta", "plackett-luce", "rao-kupper",
    "thurstone"
)  # fmt: skip
"""Classes of `bayesduel.models`, as they are typed."""


def policy_names(incomplete: str) -> list[str]:
    """Return the policies whose names begin so, those that offer sets included."""
    from bayesduel.policies import names, subset_names

    return _beginning(incomplete, [*names(), *subset_names()])


def instance_names(incomplete: str) -> list[str]:
    """Return the matrices, families and worlds whose names begin so."""
    from bayesduel.instances import choice, family_names, names, worlds

    changing = worlds.pair_world_names()
    known = [*names(), *family_names(), *changing, *choice.world_names()]
    return _beginning(incomplete, known)


def any_name(incomplete: str) -> list[str]:
    """Return all that ``bayesduel show`` knows whose names begin so."""
    from bayesduel.cli.listing import regret_meanings
    from theory.theorems.catalog import known_theorems

    theorems = [each.name for each in known_theorems() if each.name != each.policy]
    return [
        *policy_names(incomplete),
        *instance_names(incomplete),
        *_beginning(incomplete, [*MODELS, *regret_meanings(), *theorems]),
    ]


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    return [each for each in names if each.lower().startswith(incomplete.lower())]
