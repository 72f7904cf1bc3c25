"""The catalog of theorems: complete, and honest about what does not apply."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import theory
from bayesduel import policies
from bayesduel.policies.registry import entries
from tests.public_names import of_theory
from tests.theory.matrices import GAP
from theory import theorems
from theory.theorems import catalog

CYCLIC = np.array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
ORDERED = np.array([[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]])
TABLE = theory.ChoiceTable([[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0]])


def test_what_a_theorem_assumes_does_not_depend_on_the_matrix():
    # `bayesduel show` prints it without one. GAP has no Condorcet winner.
    results = [
        {
            (applied.theorem.name, bound.name): bound.assumptions
            for applied in theory.all_bounds(matrix, parameters={"num_batches": 4})
            for bound in applied.bounds
        }
        for matrix in (ORDERED, GAP)
    ]
    both = results[0].keys() & results[1].keys()
    assert ("D-TS, refined", "D-TS, refined") in both
    for name in both:
        assert results[0][name] == results[1][name]


def test_every_bound_of_one_instance_is_in_the_catalog_and_in_theory():
    modules = [
        import_module(f"theory.theorems.{entry.name}")
        for entry in iter_modules(theorems.__path__)
    ]
    public = {
        function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
        and next(iter(inspect.signature(function).parameters)) in {"matrix", "table"}
        and "RegretBound" in str(inspect.signature(function).return_annotation)
    }
    assert not {entry.__name__ for entry in public} - set(of_theory())
    # The catalog imports the files that enter something.
    entering = {x.__name__ for x in modules if hasattr(x, "theorem")} - {
        catalog.__name__
    }
    assert entering == {f"theory.theorems.{file}" for file in catalog._FILES}
    # Which it looks up by algorithm; what stands elsewhere is about all of them.
    for file, about in catalog._FILES.items():
        here = f"theory.theorems.{file}"
        every = theory.known_theorems()
        names = {x.policy for x in every if x.function.__module__ == here}
        assert (names or {""}) == set(about), file
    listed = {entry.function for entry in theory.known_theorems()}
    constants = {theory.copeland_lower_bound, theory.structured_lower_bound}
    assert public | constants == listed


def test_policies_name_their_theorems_and_theorems_their_policies():
    """Both ways: by acronym in the catalog, by function at the policy."""
    for entry in entries().values():
        listed = {x.function for x in theory.known_theorems(entry.acronym)}
        assert listed == set(entry.theorems), entry.acronym
    acronyms = {entry.acronym for entry in entries().values()}
    assert {theorem.policy for theorem in theory.known_theorems()} <= acronyms | {""}


@pytest.mark.parametrize("instance", [CYCLIC, ORDERED, TABLE])
def test_a_theorem_gives_bounds_or_a_reason(instance):
    applied = theory.all_bounds(instance, parameters={"num_batches": 4})
    assert any(item.bounds for item in applied)
    for item in applied:
        assert bool(item.bounds) != bool(item.reason)
        for bound in item.bounds:
            assert bound.policy == item.theorem.policy


def test_what_applies_is_what_the_functions_say():
    by_name = {x.theorem.name: x for x in theory.all_bounds(CYCLIC)}
    assert by_name["Copeland lower bound"].bounds == (
        theory.copeland_lower_bound(CYCLIC).bound,
    )
    assert by_name["D-TS"].bounds == (theory.theorems.double_thompson_bound(CYCLIC),)
    assert "beats all others" in by_name["RMED1"].reason
    assert "num_batches" in by_name["PCOMP"].reason
    ordered = {
        x.theorem.name: x
        for x in theory.all_bounds(ORDERED, parameters={"num_batches": 3})
    }
    assert ordered["PCOMP"].bounds == (theory.theorems.pcomp_bound(ORDERED, 3),)
    assert ordered["Condorcet lower bound, Copeland regret"].bounds == (
        theory.condorcet_lower_bound(ORDERED, regret="copeland"),
    )


def test_parameters_of_the_policy_reach_the_theorems_that_have_them():
    (first, _) = theory.all_bounds(CYCLIC, policy="D-TS", parameters={"alpha": 0.75})
    assert first.bounds == (theory.theorems.double_thompson_bound(CYCLIC, alpha=0.75),)
    # RUCB plays with 0.51 as its authors do; the theorem needs alpha > 1.
    (rucb,) = theory.all_bounds(
        ORDERED, policy="RUCB", parameters=policies.parameters(policies.get("rucb"))
    )
    assert not rucb.bounds and "alpha" in rucb.reason


def test_a_theorem_presumes_options_of_its_policy():
    """PCOMP plays with divergences by default; the theorem is of Hoeffding's form."""
    for name, applies in (("pcomp", False), ("pcomp:elimination=hoeffding", True)):
        parameters = policies.parameters(policies.parse_policy(name))
        applied = theory.all_bounds(ORDERED, policy="PCOMP", parameters=parameters)
        assert [bool(item.bounds) for item in applied] == [applies] * 2
        assert all(("'hoeffding', not of 'kl'" in x.reason) != applies for x in applied)


@pytest.mark.parametrize("posterior", ["bradley-terry", "bradley-terry-hmc"])
def test_lower_bounds_under_a_model_are_about_policies_that_know_it(posterior):
    obeys = theory.structured_lower_bound([3.0, 2.0, -1.0, -1.5, -2.0]).preferences
    title = "Bradley-Terry lower bound"
    for around in (dict, lambda mine: {"policy": {"name": "d-ts"} | mine, "every": 10}):
        parameters = around({"posterior": {"name": posterior, "prior_scale": 1.0}})
        by_name = {
            applied.theorem.name: applied
            for applied in theory.all_bounds(obeys, policy="", parameters=parameters)
        }
        (bound,) = by_name[title].bounds
        assert bound.log_coefficient == pytest.approx(2.411, abs=5e-4)
        assert bound.regret == "copeland"
        (gaps,) = by_name[f"{title}, gaps"].bounds
        assert gaps.regret == "condorcet_mean"
        assert "it is of policies over posterior='thurstone'" == (
            by_name["Thurstone lower bound"].reason
        )
        (misfit, _, _, _) = (
            applied
            for applied in theory.all_bounds(CYCLIC, policy="", parameters=parameters)
            if applied.theorem.knows
        )
        assert "must obey the model 'bradley-terry'" in misfit.reason
    for unknown in ({}, {"posterior": "beta"}, {"posterior": {"name": "own"}}):
        by_name = theory.all_bounds(obeys, policy="", parameters=unknown)
        assert all(bool(x.bounds) != bool(x.theorem.knows) for x in by_name)


def test_one_function_can_be_a_theorem_on_two_policies():
    (plus,) = theory.all_bounds(CYCLIC, policy="D-TS+")
    (_, plain) = theory.all_bounds(CYCLIC, policy="D-TS")
    assert plus.bounds[0].policy == "D-TS+" and plain.bounds[0].policy == "D-TS"
    assert plus.bounds[0].log_coefficient == plain.bounds[0].log_coefficient


def test_an_acronym_may_be_in_lower_case():
    assert theory.known_theorems("d-ts+") == theory.known_theorems("D-TS+") != ()
    (plus,) = theory.all_bounds(CYCLIC, policy="d-ts+")
    assert plus.theorem.policy == "D-TS+"


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="policy must be one .*D-TS.*, got 'DTS'"):
        theory.all_bounds(CYCLIC, policy="DTS")
    for wrong in (np.zeros((2, 2)), 3, ["D-TS"]):
        for function in (
            theory.known_theorems,
            lambda x: theory.all_bounds(CYCLIC, policy=x),
        ):
            with pytest.raises(ValueError, match="policy must be an acronym such as"):
                function(wrong)
    with pytest.raises(ValueError, match="parameters must be a mapping"):
        theory.all_bounds(CYCLIC, parameters=[3])  # pyright: ignore
    with pytest.raises(ValueError, match="name must be new.*, got 'D-TS'"):
        theory.theorem("D-TS")(theory.theorems.double_thompson_bound)


@pytest.mark.parametrize(
    ("posterior", "applies"),
    [
        ("beta", True),
        ({"name": "beta", "prior": 2}, True),
        ("thurstone", False),
        ({"name": "bradley-terry", "prior_scale": 1.0}, False),
    ],
)
def test_theorems_on_d_ts_are_about_beta_distributions(posterior, applies):
    parameters = {"posterior": posterior}
    applied = theory.all_bounds(CYCLIC, policy="D-TS", parameters=parameters)
    by_name = {item.theorem.name: item for item in applied}
    assert bool(by_name["D-TS"].bounds) == applies
    assert applies or "it is of posterior='beta'" in by_name["D-TS"].reason
