"""Parameters out of bounds: the error names them, before anything is played."""

from dataclasses import fields, replace

import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.policies import DoubleThompson, RivalDirectedThompson
from bayesduel.policies.lookup import settable, usual_parameters
from bayesduel.posteriors import BetaPairs, Laplace
from tests.models.in_policies.models_of_ones_own import InNumPy, ShownFirst

PRIOR = "prior must be a number above 0"
POSTERIOR = "posterior must be one of beta, bradley-terry"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((f"d-ts:prior={bad}", PRIOR) for bad in ("0", "nan", "inf", "many", "true")),
        *((f"{name}:prior=-1", PRIOR) for name in ("d-ts+", "pure-d-ts", "rcs")),
        ("d-ts:priors=2", "all: .*posterior, prior"),
        ("d-ts:posterior=bradley-terry,prior=2", "has no parameter 'prior'"),
        ("d-ts:posterior=normal", POSTERIOR),
        ("d-ts:posterior=thurstone,prior_scale=-1", "prior_scale must be"),
        ("d-ts+:posterior=thurstone", "tie_break must be random with"),
        ("bt-ts:prior_scale=0", "prior_scale must be"),
        ("bt-ts:newton_steps=0", "newton_steps must be"),
        ("bt-ts:posterior=nuts", POSTERIOR),
        ("bt-ts:posterior=mcmc,mcmc_steps=0", "mcmc_steps must be"),
        ("bt-ts:posterior=mcmc,chains=0", "chains must be"),
        ("bt-ts:posterior=mcmc,chains=1", "chains must be an integer of at least 2"),
        ("bt-ts:prior_variance=4", "no parameter 'prior_variance'; did you mean"),
        ("bt-ts:alpha=0.5", "alpha must be"),
        ("rd-ts:c=0", "c must be"),
        ("rd-ts:eta=-0.1", "eta must be"),
        ("rd-ts:floor=0", "floor must be"),
        ("rd-ts:doubts=-1", "doubts must be"),
        ("rd-ts:pairs=all", "pairs must be one of flipped, gradient"),
        ("rd-ts:posterior=thurstone,c=3", "c must stay 5.0 .* for Beta.*got 3.0"),
        ("rd-ts:posterior=thurstone,pairs=gradient", "pairs must stay .* for Beta"),
        ("rd-ts:posterior=thurstone,cost=gap", "cost must be"),
        ("rd-ts-star:prior=0.9", "prior must be from 1 to"),
        ("rd-ts-star:prior=1e10", "prior must be from 1 to"),
        ("rd-ts-star:c=0", "c must be"),
        ("rd-ts-star:temper_after=0.5", "temper_after must be"),
        ("rd-ts-star:cost=gap", "cost must be one of regret, duels"),
        ("rd-ts-star:posterior=thurstone", "no parameter 'posterior'"),
        ("information:posterior=normal", POSTERIOR),
        ("information:draws=1", "draws must be a finite number of at least 2"),
        ("d-optimal:prior_scale=0", "prior_scale"),
        ("track-and-stop:growth=-0.1", "growth must be from 0 to 1"),
        ("track-and-stop:sticky=1", "sticky must be from 0 to below 1"),
        ("cw-rmed:resolve_every=0", "resolve_every .* got 0"),
        ("sup-klucb:score=wins", "score"),
        ("sup-klucb:log_scale=-1", "log_scale"),
        ("sup-klucb:loglog_scale=nan", "loglog_scale"),
        ("sup-klucb:min_plays=0", "min_plays"),
        ("merge-rucb:alpha=0.5", "alpha"),
        ("merge-rucb:delta=0", "delta"),
        ("merge-rucb:delta=1", "delta"),
        ("merge-rucb:group_size=3", "group_size"),
        ("sparring:inner=exp3", "inner"),
        ("sparring:alpha=0", "alpha"),
        ("multisbm:alpha=-1", "alpha"),
        ("doubler:alpha=inf", "alpha"),
        ("scb:eps=-0.1", "eps"),
        ("scb:alpha_ref=0", "alpha_ref"),
        ("scb:first_length=1", "first_length"),
        ("scb:stop_rule=never", "stop_rule"),
        ("scb:self_duels=false", "asks for a duel at a time"),
        ("savage:goal=borda", "goal"),
        ("savage:delta=1", "delta"),
        ("savage-copeland:delta=-0.1", "delta"),
        ("interleaved-filter:variant=if3", "variant"),
        ("beat-the-mean:gamma=0.9", "gamma"),
        ("pcomp:num_batches=0", "num_batches must be an integer of at least 1"),
        ("pcomp:num_batches=101", "the horizon is 100"),
        ("pcomp:num_batches=2.5", "num_batches must be an integer"),
        ("pcomp:elimination=chernoff", "elimination must be one of kl, hoeffding"),
        ("scomp:overflow=stop", "overflow must be one of truncate, commit"),
        ("scomp2:num_batches=0", "num_batches must be an integer of at least 1"),
        ("scomp:seed_power=-0.5", "seed_power"),
        ("rucb:every=0", "every must be a number of rounds, at least 1, got 0"),
        ("rucb:every=1.5", "every must be an integer, got 1.5"),
        ("rucb:alpha=0.1,every=2", "alpha"),
        ("mnl-ts:every=2", "mnl-ts has no parameter 'every'"),
    ],
)
def test_parameters_are_checked(text, words):
    with pytest.raises(PolicyParameterError, match=words):
        policies.parse_policy(text).check(4, 100)


@pytest.mark.parametrize(
    ("kind", "posterior", "words"),
    [
        (DoubleThompson, Laplace(InNumPy()), "preference_matrices of InNumPy must run"),
        (DoubleThompson, 3, f"{POSTERIOR}.*got 3"),
        (DoubleThompson, BradleyTerry(), "such as Laplace.Thurstone.*got BradleyTerry"),
        (RivalDirectedThompson, BradleyTerry(), "such as Laplace.Thurstone.*got Bradl"),
        (RivalDirectedThompson, Laplace(ShownFirst()), "must be on one scale.*shown"),
        (RivalDirectedThompson, Laplace(PairwiseBeta()), "must be on one scale"),
        (RivalDirectedThompson, Laplace(newton_steps=0), "newton_steps must be"),
        (policies.ExpectedInformation, BetaPairs(0), "prior must be"),
        (policies.RelativeConfidenceSampling, "normal",
         "posterior must be a Beta distribution"),
    ],
)  # fmt: skip
def test_posteriors_are_checked(kind, posterior, words):
    with pytest.raises(PolicyParameterError, match=words):
        kind(posterior=posterior).check(4, 100)


def test_sizes_have_limits():
    with pytest.raises(PolicyParameterError, match="num_arms must be at most 64"):
        policies.get("track-and-stop").check(65, 100)
    with pytest.raises(PolicyParameterError, match="num_batches must be at most 1000"):
        policies.get("pcomp", num_batches=100_001).check(4, 10**6)


def test_usual_parameters_are_those_of_the_default_policy():
    for name in (*policies.names(), *policies.subset_names()):
        result, expected = usual_parameters(name), settable(policies.get(name))
        assert list(result.items()) == list(expected.items())


def test_every_checked_parameter_refuses_what_is_no_value_of_it():
    """Whatever the class: the check is that of its field, and called by its policy."""
    seen = 0
    for name in (*policies.names(), *policies.subset_names()):
        policy = policies.get(name)
        for field in fields(policy):
            if "check" in field.metadata:
                wrong = replace(policy, **{field.name: "nothing of the kind"})
                with pytest.raises(
                    PolicyParameterError, match=f"^{field.name} must be"
                ):
                    wrong.check(4, 100)
                seen += 1
    assert seen > 60


def test_a_subclass_with_another_default_is_checked_as_well():
    class Bolder(policies.RelativeUCB):
        alpha: float = 0.6

    Bolder().check(4, 100)
    with pytest.raises(PolicyParameterError, match="alpha must be .* above 0.5"):
        Bolder(alpha=0.5).check(4, 100)
