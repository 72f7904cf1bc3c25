"""Votes one by one: a program that was compiled serves the next fit as well."""

from dataclasses import dataclass

import numpy as np
import pytest

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons

TRACES: list[int] = []


@dataclass(frozen=True, kw_only=True)
class Watched(BradleyTerry):
    """Bradley-Terry that counts how often it is traced."""

    def __call__(self, votes):
        TRACES.append(len(votes.counts))
        return super().__call__(votes)


@pytest.mark.slow
def test_the_first_vote_on_another_pair_compiles_nothing():
    wins = np.zeros((5, 5))
    wins[0, 1] = 3.0
    wins[1, 2] = 2.0
    wins[2, 3] = wins[3, 4] = 1.0
    model = Watched(zero_sum=True)
    options = {"method": "laplace", "num_draws": 50}
    before = fit(model, Comparisons.from_wins(wins), **options)
    assert TRACES
    traced = len(TRACES)
    for pair in ((4, 0), (3, 1), (2, 0)):
        wins[pair] += 1.0
        after = fit(model, Comparisons.from_wins(wins), **options)
    assert len(TRACES) == traced
    # Rows without votes say nothing: the same fit as of the rows that have some.
    votes = Comparisons.from_wins(wins).without_empty_pairs()
    assert len(votes.counts) == 7
    other = fit(model, votes, **options)
    np.testing.assert_allclose(other.mode["utility"], after.mode["utility"], atol=1e-9)
    assert not np.allclose(before.mode["utility"], after.mode["utility"], atol=0.01)
