"""The report on a fit, in words."""

from dataclasses import replace

import numpy as np

from bayesduel.diagnostics import report
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.models.fit import numpyro_models
from bayesduel.models.fit.chain_checks import check_chains
from bayesduel.votes import Comparisons

VOTES = Comparisons.from_wins([[0, 7, 9], [3, 0, 2], [1, 6, 0]], arm_names="abc")


def chains(shift=0.0, diverging=0, slow=1):
    """A fit by nuts whose draws are made up: known faults, no sampler."""
    rng = np.random.default_rng(4)
    base = fit(BradleyTerry(), VOTES, method="laplace")
    utility = rng.normal(size=(4, 1000 // slow, 3)).repeat(slow, axis=1)
    utility[0] += shift
    flags = np.zeros((4, 1000), dtype=bool)
    flags[0, :diverging] = True
    stats = {"diverging": flags, "energy": rng.normal(size=(4, 1000))}
    return replace(
        base, method="nuts", draws={"utility": utility}, sample_stats=stats, fresh=None,
        extras={},
    )  # fmt: skip


def findings(posterior, **options):
    summary = report(posterior, **options)
    return summary, {finding.name: finding.good for finding in summary.findings}


def test_good_chains_are_called_good():
    summary, good = findings(chains(), with_loo=False)
    assert summary.good and all(good.values()), str(summary)
    assert str(summary).endswith("Nothing speaks against this fit.")
    assert {"R-hat", "divergences", "energy"} < set(good)


def test_each_fault_has_its_own_words():
    summary, good = findings(chains(shift=0.5), with_loo=False)
    assert not good["R-hat"] and "run longer" in str(summary)
    summary, good = findings(chains(diverging=7), with_loo=False)
    assert not good["divergences"] and good["R-hat"]
    assert "7 of 4000 draws" in str(summary) and "target_acceptance" in str(summary)
    summary, good = findings(chains(slow=20), with_loo=False)
    assert not good["effective draws (middle)"]
    assert "Do not rely on this fit yet" in str(summary)


def test_what_chains_say_of_themselves_are_doubts():
    """In words that a table has room for; none where nothing speaks against them."""

    def doubts(**faults):
        made = chains(**faults)
        return check_chains(made.draws, made.sample_stats).doubts

    assert doubts() == ()
    assert "the chains do not agree (R-hat 1." in doubts(shift=0.5)[0]
    assert "7 of 4000 draws diverged" in doubts(diverging=7)[0]
    assert "are worth" in doubts(slow=20)[-1]
    short = {"utility": np.zeros((4, 3, 2))}
    assert check_chains(short, {}) is None


def test_doubts_of_chains_reach_the_answer(monkeypatch):
    made = chains(shift=0.5)
    every = ("accept_prob", "num_steps", "potential_energy")
    fields = made.sample_stats | {name: np.zeros((4, 1000)) for name in every}
    monkeypatch.setattr(numpyro_models, "run_nuts", lambda *given: (made.draws, fields))
    posterior = fit(BradleyTerry(), VOTES, method="nuts")
    assert "the chains do not agree" in posterior.doubts[0]
    assert f"{posterior.doubts[0]}; see diagnostics.report" in posterior.remarks
    assert not posterior.as_record()["trusted"]


def test_an_approximation_says_how_good_it_is():
    posterior, good = findings(fit(BradleyTerry(), VOTES, method="laplace"))
    assert posterior.good, str(posterior)
    assert "Pareto k" in str(posterior) and good["leave-one-out"]
