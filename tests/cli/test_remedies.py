"""Remedies name what exists: options of the command, arguments of the function."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import bayesduel
from bayesduel.cli.app import app
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.models.checks.fit_report import report
from bayesduel.models.fit import chain_checks
from bayesduel.models.fit.chain_checks import MOST_DIVERGING, ChainCheck, Worst
from bayesduel.models.fit.numpyro_models import sample_nuts
from bayesduel.votes import Comparisons

PACKAGE = Path(bayesduel.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
SETTINGS = {
    "num_draws": "--draws", "num_warmup": "--warmup",
    "target_acceptance": "--target-acceptance", "method='nuts'": "--method nuts",
}  # fmt: skip
"""Arguments that remedies of fits name, and the options of the same."""


def options_of(command):
    return {name for param in get_command(app).commands[command].params
            for name in param.opts}  # fmt: skip


def texts_in(*folders):
    """Yield every string of the code in some folders, with the file it is in."""
    for folder in folders:
        for path in (PACKAGE / folder).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            joined = {id(part) for node in ast.walk(tree)
                      if isinstance(node, ast.JoinedStr) for part in node.values
                      }  # fmt: skip
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr):
                    parts = (getattr(value, "value", "") for value in node.values)
                    yield path, "".join(x for x in parts if isinstance(x, str))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    if id(node) not in joined:
                        yield path, node.value


def test_every_option_that_a_text_about_votes_names_exists():
    commands = get_command(app).commands
    groups = [command for command in commands.values() if hasattr(command, "commands")]
    known = {name for command in (*commands.values(), *(
        inner for group in groups for inner in group.commands.values()
    )) for param in command.params for name in param.opts}  # fmt: skip
    known |= {"--help", "--version"}
    seen = 0
    for path, text in texts_in("models", "cli"):
        for name in OPTION.findall(text):
            assert name in known, f"{path}: {name}"
            seen += 1
    assert seen > 50


def test_remedies_of_reports_name_options_of_fit_beside_arguments():
    known, seen = options_of("fit"), set()
    arguments = {*inspect.signature(sample_nuts.__wrapped__).parameters,
                 *inspect.signature(fit).parameters}  # fmt: skip
    for path, text in texts_in("models/checks", "models/fit"):
        if "\n" in text or "calibration" in path.name:
            continue  # Docstrings.
        for argument, option in SETTINGS.items():
            if re.search(rf"{argument} \(", text):
                seen.add(argument)
                assert option in text and option.split()[0] in known, (path, text)
                assert argument.split("=")[0] in arguments
    assert seen == {*SETTINGS}


def written(folder):
    path = folder / "votes.csv"
    path.write_text("left,right,winner\n" + "a,b,left\nb,a,left\na,b,right\n" * 30)
    return path


def checked(diverging, draws=4000):
    good = Worst(1e4, "x")
    return ChainCheck(4, draws, Worst(1.0, "x"), good, good, diverging, 1.0)


def test_a_single_divergence_is_a_remark_and_no_doubt():
    limit = int(MOST_DIVERGING * 4000)
    assert limit >= 1
    for number in (1, limit):
        assert checked(number).doubts == ()
        assert f"{number} of 4000 draws diverged" in checked(number).remark
    assert not checked(0).remark and not checked(limit + 1).remark
    assert "diverged" in checked(limit + 1).doubts[0]
    assert checked(1, draws=400).doubts and not checked(1, draws=400).remark


@pytest.mark.parametrize(
    ("diverging", "doubtful"),
    [pytest.param(1, False, marks=pytest.mark.slow), (40, True)],
)
def test_divergences_are_said_once(run, tmp_path, monkeypatch, diverging, doubtful):
    """A sampler whose chains are good but for so many draws."""
    path = written(tmp_path)
    known = chain_checks.check_chains

    def with_divergences(draws, stats):
        outcome = known(draws, stats)
        fields = vars(outcome) | {"diverging": diverging, "draws": 4000}
        good = Worst(1e4, "utility[0]")
        fields |= {"r_hat": Worst(1.0, "x"), "bulk": good, "tail": good, "bfmi": 1.0}
        return ChainCheck(**fields)

    for module in ("fit.numpyro_models", "checks.fit_report"):
        name = f"bayesduel.models.{module}.check_chains"
        monkeypatch.setattr(name, with_divergences)
    options = ["--method", "nuts", "--draws", "50", "--warmup", "50"]
    result = run("fit", path, *options)
    said = " ".join((result.stdout + result.stderr).split())
    assert ("DOUBTFUL" in result.stdout) is doubtful
    assert said.count("draws diverged") == 1
    # The warning says what to do about many, and there is none about one.
    assert ("--target-acceptance" in said) is doubtful
    checked = " ".join(run("fit", path, *options, "--check").stdout.split())
    assert ("BAD computation: divergences" in checked) is doubtful


@pytest.mark.slow
def test_options_of_the_sampler_reach_it(run, tmp_path):
    path = written(tmp_path)
    few = ["--method", "nuts", "--draws", "20", "--warmup", "20"]
    run("fit", path, *few, "--target-acceptance", "0.95", "-q")
    wrong = run("fit", path, *few, "--target-acceptance", "1.5", code=2).stderr
    assert "--target-acceptance" in wrong
    wrong = run("fit", path, "--warmup", "20", code=2).stderr
    assert "--warmup: must be left out: method 'laplace' has no such option" in wrong


@pytest.mark.slow
def test_reports_of_rough_chains_say_what_to_do():
    votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    rough = fit(BradleyTerry(), votes, method="nuts", num_draws=20, num_warmup=10)
    result = report(rough, with_loo=False)
    bad = [finding for finding in result.findings if not finding.good]
    assert bad
    known = options_of("fit")
    for item in bad:
        assert set(OPTION.findall(item.remedy)) & known
    assert np.isfinite(rough.flat_draws()["utility"]).all()
