"""Published maximum-likelihood estimates, as posterior modes under wide priors."""

import csv

import numpy as np
import pytest

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, PlackettLuce
from bayesduel.votes import Comparisons, Rankings


def test_journal_citations(shared_dir):
    """Turner and Firth (2012, section 2.1), after Agresti (2002, p. 448)."""
    path = shared_dir / "data" / "journal_citations" / "citations_counts.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    wins = [[float(cell) for cell in row[1:]] for row in rows]
    votes = Comparisons.from_wins(wins, arm_names=header[1:], ignore_self=True)
    assert votes.num_votes == 3727
    posterior = fit(BradleyTerry(prior_scale=1000.0), votes, method="laplace")
    mode = posterior.extras["laplace"].mode
    published = {"Comm Statist": -2.94907, "JASA": -0.47957, "JRSS-B": 0.26895}
    errors = {"Comm Statist": 0.10255, "JASA": 0.06059, "JRSS-B": 0.07083}
    gap = posterior.draws["utility"] - posterior.draws["utility"][..., :1]
    for position, name in enumerate(votes.arm_names):
        if name in published:
            assert mode[position] - mode[0] == pytest.approx(published[name], abs=2e-5)
            spread = gap[..., position].std()
            # 4000 draws: the standard error of a spread is about 1.1 percent of it.
            assert spread == pytest.approx(errors[name], rel=0.055)


@pytest.mark.slow
def test_nascar_2002(shared_dir):
    """Hunter (2004, table 2): 83 drivers, four that never beat anyone left out."""
    folder = shared_dir / "data" / "nascar_2002"
    with (folder / "drivers.csv").open(encoding="utf-8", newline="") as file:
        drivers = [row[1] for row in csv.reader(file)][1:]
    left_out = {"Andy Hillenburg", "Gary Bradberry", "Jason Hedlesky", "Randy Renfrow"}
    with (folder / "orderings.csv").open(encoding="utf-8", newline="") as file:
        races = [[drivers[int(cell) - 1] for cell in row] for row in csv.reader(file)]
    ballots = Rankings.from_orders(
        [[name for name in race if name not in left_out] for race in races]
    )
    assert ballots.num_arms == 83
    model = PlackettLuce(prior_scale=300.0)
    # The mode is all that is looked at: no draws are weighed.
    posterior = fit(model, ballots, method="laplace", num_draws=10, resample=False)
    assert posterior.converged
    worth = np.exp(posterior.extras["laplace"].mode)
    worth = dict(zip(ballots.arm_names, worth / worth.sum(), strict=True))
    published = {
        "PJ Jones": 0.1864, "Scott Pruett": 0.1096, "Mark Martin": 0.0235,
        "Tony Stewart": 0.0184, "Rusty Wallace": 0.0230, "Jimmie Johnson": 0.0205,
    }  # fmt: skip
    assert {name: round(worth[name], 4) for name in published} == published
