"""Handing over what was typed: a matrix, or a whole experiment, before computing."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel import Experiment
    from theory import PreferenceMatrix

__all__ = ["load_matrix", "read_experiment"]


def load_matrix(text: str, argument: str, *, repair: bool = False) -> PreferenceMatrix:
    """Return a matrix by name or from a file; an error says in which argument.

    Raises
    ------
    ValueError
        When the name is unknown (near ones are suggested) or the file is no matrix.
    OSError
        When there is no such file.
    """
    from bayesduel import instances
    from bayesduel.errors import said_of

    try:
        return instances.load(text, repair=repair)
    except ValueError as error:
        raise said_of(error, argument, text) from error


def read_experiment(
    environments: Sequence[str],
    policies: Sequence[str],
    *,
    regret: Sequence[str],
    look_ahead: bool,
    repair: bool,
    **options: Any,  # noqa: ANN401
) -> tuple[Experiment, list[str]]:
    """Return an experiment, and what it warns of.

    Parameters
    ----------
    environments, policies : sequence of str
        As typed.
    regret : sequence of str
        Notions beside the usual one of each environment, which stands first.
    look_ahead, repair : bool
        Switches look-ahead off in every policy that has it; mends files.
    **options
        The other arguments of :class:`bayesduel.Experiment`.

    Raises
    ------
    ValueError
        For whatever cannot be simulated, and for notions beside those of worlds that do
        not agree in their own.
    """
    from bayesduel import Experiment
    from bayesduel.instances.choice import is_world_name
    from bayesduel.policies.own_policies import is_own_name

    if any(map(is_own_name, policies)):
        # An installed command does not look for modules where it is called.
        sys.path.insert(0, os.getcwd())
    instances = [
        load_matrix(text, "instances", repair=True)
        if repair and not is_world_name(text)
        else text
        for text in environments
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = Experiment(instances, policies, **options)
        if not look_ahead:
            asked = asked.without_look_ahead()
        if regret:
            asked = replace(asked, regret=(_common_notion(asked), *map(_word, regret)))
    return asked, list(dict.fromkeys(str(each.message) for each in caught))


def _word(notion: str) -> str:
    return notion.strip().replace("-", "_")


def _common_notion(asked: Experiment) -> str:
    """Return the usual notion of regret of all environments."""
    usual = {name: notions[0] for name, notions in asked.notions.items()}
    if len(set(usual.values())) > 1:
        both = ", ".join(f"{name} ({notion})" for name, notion in usual.items())
        raise ValueError(
            "--regret: cannot be added to worlds with regrets of their own that "
            f"differ: {both}; compare them separately"
        )
    return next(iter(usual.values()))
