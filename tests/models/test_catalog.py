"""Models by name: read from their sources, as CONTRIBUTING says how one is added."""

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import cauchy

from bayesduel import models, policies
from bayesduel.cli.voting import preference_model
from bayesduel.models.catalog import kind_of, sources, word_of, words
from bayesduel.models.in_policies.names import posterior_named
from bayesduel.studies import Study
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.models.in_policies.voting import (
    CASES,
    after_votes,
    comparisons,
    normal_of_fit,
)

ROOT = Path(__file__).parents[2]


def forget():
    sources.cache_clear()
    posterior_named.cache_clear()


@pytest.fixture
def cauchit(tmp_path, monkeypatch):
    """Put the file that CONTRIBUTING shows among those of the models."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.split("## Add a posterior model")[1].split("\n## ")[0]
    code = textwrap.dedent(section.split("```python\n")[1].split("   ```")[0])
    (tmp_path / "shown.py").write_text(code, "utf-8")
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    forget()
    yield kind_of("cauchit")
    forget()
    sys.modules.pop("bayesduel.models.shown")
    vars(models).pop("shown", None)


@pytest.mark.usefixtures("hardly_optimized")
@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_a_model_is_added_as_contributing_says(cauchit, tmp_path):
    """One file: commands, policies and studies know its name."""
    assert "cauchit" in words("") and word_of(cauchit) == "cauchit"
    policy = policies.parse_policy("d-ts:posterior=cauchit,prior_scale=1")
    assert policy.label == "D-TS:posterior=cauchit,prior_scale=1.0"
    assert policies.get("d-ts", posterior="cauchit-hmc").posterior.model == cauchit()
    data = Comparisons.from_wins([[0, 7], [3, 0]], ties=[[0, 4], [4, 0]])
    model = preference_model("cauchit", data)
    assert type(model) is cauchit and model.ties
    for theirs in (model, cauchit()):
        logs = np.asarray(theirs.outcome_logs(np.float64(0.7), np.log(0.2)))
        shares = cauchy.cdf([0.5, -0.9]) if theirs.ties else cauchy.cdf([0.7, -0.7])
        np.testing.assert_allclose(np.exp(logs[:2]), shares, rtol=1e-6)
        assert np.exp(logs).sum() == pytest.approx(1.0)
    Study.create(tmp_path / "a.study", ["a", "b"], model="cauchit").close()
    with Study.open(tmp_path / "a.study") as study:
        assert study.status().model.startswith("Cauchit(")
    # The state inside a policy is that of a fit.
    votes = CASES["lopsided"]
    state = after_votes(policies.get("d-ts", posterior="cauchit").posterior, *votes)
    mode = normal_of_fit(cauchit(), comparisons(*votes)).mode
    np.testing.assert_allclose(state.distribution.mode, mode, atol=1e-3)


def test_help_reference_and_fuzzing_follow_from_the_class(cauchit, monkeypatch):
    assert "fit votes.csv --model cauchit" in invoke(["show", "cauchit"]).output
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from policy_pages import model_tables

    assert "   Cauchit\n" in model_tables()
    from tests.fuzz.targets.of_models import of_models

    assert "Cauchit" in of_models()


def test_sources_say_what_classes_say():
    """Every model that is public, no other class, and texts as Python reads them."""
    public = [getattr(models, name) for name in models.__all__]
    classes = {item.__name__ for item in public if isinstance(item, type)}
    classes -= {"NumPyroModel", "PreferenceModel", "Votes"}
    assert {source.kind for source in sources()} == classes
    for source in sources():
        assert getattr(models, source.kind) is source.cls
        assert source.needs == source.cls.needs
        assert source.word == vars(source.cls).get("word", "")
    assert words() == words("", "features", "sets")
    assert not word_of(models.RaoKupper) and not word_of(int)
