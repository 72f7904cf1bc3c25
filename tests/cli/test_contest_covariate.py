"""``bayesduel fit --contest-covariate``: what a longer answer is worth."""

import json

import pytest

from bayesduel.inference import fit, parameter_summary
from bayesduel.models import BradleyTerry
from bayesduel.votes import read_comparisons
from tests.models.test_contest_covariates import CONTEST, NAMES, drawn

OPTION = "--contest-covariate"


@pytest.fixture
def table(tmp_path):
    first, second, extra, said = drawn()
    rows = [
        f"{NAMES[a]},{NAMES[b]},{('left', 'right')[c]},{x:g},{y:g}"
        for a, b, (x, y), c in zip(first, second, extra * [300.0, 1.0], said,
                                   strict=True)
    ]  # fmt: skip
    path = tmp_path / "votes.csv"
    text = "\n".join(["left,right,winner,longer,politer", *rows])
    path.write_text(text, encoding="utf-8")
    return path


def test_a_command_says_what_a_covariate_adds(run, table, tmp_path):
    options = [OPTION, "longer", OPTION, "politer", "--order-effect", "--draws", "250"]
    result = run("fit", table, *options, "--check", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    data = read_comparisons(table, contest_covariates=CONTEST)
    model = BradleyTerry(zero_sum=True, order_effect=True, contest_covariates=True)
    assert found["parameters"] == parameter_summary(
        fit(model, data, rng_key=0, num_draws=250)
    )
    assert found["check"]["good"]
    printed = run("fit", table, *options, "--contest-scale", "1e-5")
    assert "contest_effect[longer]" in printed.stdout
    assert "0.00" not in printed.stdout.split("contest_effect[longer]")[1].split()[0]
    assert "the prior hardly lets longer, politer matter" in printed.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([OPTION, "longer"], "row 1 of column 'longer' is no number: ''"),
        ([OPTION, "winner"], "row 0 of column 'winner' is no number"),
        ([OPTION, "nobody"], "there is no column 'nobody'"),
        ([OPTION, "a", OPTION, "a"], f"{OPTION}: must be different"),
        ([OPTION, "a", "--model", "beta"], f"{OPTION}: a Beta per pair has"),
        (["--contest-scale", "1"], "--contest-scale: is that of a --contest-covariate"),
    ],
)
def test_a_command_says_what_is_wrong(run, tmp_path, options, said):
    path = tmp_path / "votes.csv"
    rows = "left,right,winner,longer\na,b,left,2\nb,a,left,\na,b,right,-1\n"
    path.write_text(rows, encoding="utf-8")
    result = run("fit", path, *options)
    assert result.exit_code == 2 and said in result.stderr
    if said.startswith("row 1"):
        skipped = run("fit", path, *options, "--missing", "skip", "--draws", "50")
        assert skipped.exit_code == 0, skipped.output
        assert "2 votes, with longer" in skipped.stderr
