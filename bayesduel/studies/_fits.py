"""The posterior of the votes of a study under its model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import DisconnectedComparisonsWarning
from bayesduel.inference.fitting import fit
from bayesduel.studies._state import StudyState
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    from bayesduel.inference.posterior import Posterior

__all__ = ["fit_votes", "votes_between"]

_CHAINS = 4


def votes_between(state: StudyState) -> Comparisons:
    """Return all votes between arms that are not retired."""
    arms = state.active
    both = np.ix_(arms, arms)
    names = [state.arms[arm] for arm in arms]
    return Comparisons.from_wins(
        state.wins[both], ties=state.ties[both], arm_names=names
    )


def fit_votes(
    state: StudyState, numbers: float, least: int, most: int, **options: Any
) -> Posterior:
    """Fit the model of the study, with as many draws as make that many numbers.

    By its quickest method: chains would take seconds for every look.
    """
    votes = votes_between(state)
    draws = int(np.clip(numbers / votes.num_arms**2, least, most)) // _CHAINS
    model = replace(state.settings.model, ties=votes.has_ties)  # pyright: ignore
    with warnings.catch_warnings():
        # In the beginning no arm has been compared.
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        return fit(
            model,
            votes,
            method=model.methods[0],
            rng_key=state.settings.seed,
            num_chains=_CHAINS,
            num_draws=draws,
            **options,
        )
