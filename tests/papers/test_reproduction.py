"""Carrying out recipes: over a fake simulator, and once over the real one."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayesduel import papers, policies
from bayesduel.experiments import experiment
from bayesduel.papers import recipes, reproducing
from bayesduel.papers.reproducing import reproduce
from tests import fake_results as fake
from tests.command_line import invoke
from tests.figures import all_text
from tests.folders import visible
from theory import PreferenceMatrix


class FakeSimulator:
    """Stands for `experiment.compare`: records calls, returns made-up trees."""

    def __init__(self):
        self.calls = []
        self.failed = {}

    def __call__(self, matrices, texts, **options):
        call = SimpleNamespace(matrices=matrices, texts=texts, shuffle=True)
        call.__dict__.update(options)
        self.calls.append(call)
        if call.out is not None:
            call.out.mkdir(parents=True)
        return fake.comparison(
            {matrix.name: matrix.values for matrix in matrices},
            [policies.parse_policy(text).label for text in texts],
            failed=self.failed,
            rounds=options["checkpoints"],
            num_runs=options["num_runs"],
            notions=options["regret"],
        )


@pytest.fixture
def simulator(monkeypatch):
    result = FakeSimulator()
    monkeypatch.setattr(experiment, "compare", result)
    return result


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    return lambda *arguments: invoke([str(argument) for argument in arguments])


@pytest.fixture
def rankers(monkeypatch):
    """Return an ordered matrix of 136 arms in the place of the rankers of MSLR."""

    def first_arms(whole, selection):
        count = int(selection.partition("-")[0])
        return PreferenceMatrix(whole.values[:count, :count], name=selection)

    monkeypatch.setattr(reproducing, "mslr_submatrix", first_arms)
    strength = np.sort(np.random.default_rng(3).normal(0.0, 1.0, 136))
    values = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    return PreferenceMatrix(values, name="rankers")


def test_full_scale_is_the_experiment_of_the_paper(simulator):
    reproduced = reproduce("dts-1", seed=7)
    first, second = simulator.calls
    assert [first.matrices[0].name, second.matrices[0].name] == [
        "(a) MSLR, K = 5, Condorcet", "(b) MSLR, K = 5, non-Condorcet",
    ]  # fmt: skip
    assert np.allclose(second.matrices[0].values, fake.NON_CONDORCET)
    assert (first.num_runs, first.horizon, first.seed) == (500, 10**6, 7)
    assert first.checkpoints[-1] == 10**6
    assert {"d-ts", "d-ts+", "ecw-rmed", "ccb"} <= set(first.texts)
    assert {verdict.panel for verdict in reproduced.verdicts} == {"a", "b"}
    assert reproduced.full_horizon


def test_scale_multiplies_runs_and_rounds_down_to_a_floor(simulator):
    reproduced = reproduce("dts-1", scale=0.1)
    assert (simulator.calls[0].num_runs, simulator.calls[0].horizon) == (50, 10**5)
    assert reproduced.panels[0].panel.runs == 50
    assert not reproduced.full_horizon
    reproduce("dts-1", scale=1e-6)
    assert (simulator.calls[2].num_runs, simulator.calls[2].horizon) == (8, 1000)
    reproduce("dts-1", scale=0.1, full_horizon=True)
    assert (simulator.calls[4].num_runs, simulator.calls[4].horizon) == (50, 10**6)


def test_the_round_of_a_statement_is_recorded(simulator, rankers):
    options = {"panels": ["e"], "mslr": rankers}
    reproduce("dts-4", scale=0.01, **options)
    reproduce("dts-4", scale=0.01, full_horizon=True, **options)
    short, full = simulator.calls
    assert short.checkpoints[-1] == 100_000
    assert 50_000 in short.checkpoints
    assert full.checkpoints[-1] == 10**7
    assert 5_000_000 in full.checkpoints
    assert short.checkpoints == sorted(set(short.checkpoints))


def test_without_the_outside_matrix_its_panels_are_left_out(simulator, rankers):
    reproduced = reproduce("dts-3", scale=0.01)
    assert [panel.panel.key for panel in reproduced.panels] == ["a", "b", "c", "d"]
    assert "136-armed MSLR matrix: (e) MSLR, K = 16" in reproduced.notes[0]
    with pytest.raises(ValueError, match="mslr: every panel asked for needs"):
        reproduce("dts-3", panels=["e"])
    whole = reproduce("dts-3", scale=0.01, panels=["e"], mslr=rankers)
    assert whole.panels[0].panel.label.endswith("K = 16, Condorcet")
    assert simulator.calls[-1].matrices[0].num_arms == 16


def test_the_outside_matrix_must_be_the_one_of_the_paper(simulator):
    with pytest.raises(ValueError, match="136"):
        reproduce("dts-3", panels=["e"], mslr=PreferenceMatrix(fake.CONDORCET))
    assert simulator.calls == []


def test_the_rankers_of_the_paper_are_found(simulator, shared_dir):
    """Their Copeland counts are the printed ones, or the selection is refused."""
    file = shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"
    reproduce("dts-3", scale=0.01, panels=["e", "f"], mslr=file)
    assert [call.matrices[0].num_arms for call in simulator.calls] == [16, 32]
    reproduce("cw-rmed-1", scale=0.01, panels=["a", "b"], mslr=file)
    winners = [call.matrices[0].condorcet_winner for call in simulator.calls[2:]]
    assert winners[0] is not None
    assert winners[1] is None


def test_random_games_have_matrices_of_their_own(simulator):
    reproduced = reproduce("sup-klucb-a", scale=0.2, full_horizon=True)
    (call,) = simulator.calls
    assert len(call.matrices) == 5
    assert len({matrix.name for matrix in call.matrices}) == 5
    assert all(3 <= matrix.num_arms <= 36 for matrix in call.matrices)
    assert all(len(matrix.copeland_winners) == 1 for matrix in call.matrices)
    assert call.num_runs == 8
    assert [len(item) for item in reproduced.panels[0].measured.values()] == [5, 5, 5]


def test_a_policy_that_is_not_there_is_left_out_with_a_word(simulator, monkeypatch):
    recipe = recipes.load("dts-1")
    first, second = recipe.panels
    lacking = replace(recipe, panels=(replace(first, optional=("nobody",)), second))
    monkeypatch.setattr(reproducing, "load", lambda name: lacking)
    reproduced = reproduce("dts-1", scale=0.01)
    assert reproduced.panels[0].left_out == ("nobody",)
    assert "not available, left out: nobody" in reproduced.notes
    needing = replace(recipe, panels=(first, replace(second, policies=("nobody",))))
    monkeypatch.setattr(reproducing, "load", lambda name: needing)
    with pytest.raises(ValueError, match="policies that are not available: nobody"):
        reproduce("dts-1")


def test_the_order_of_arms_can_be_kept(simulator):
    reproduced = reproduce("dts-4", scale=0.01, panels=["c"])
    assert [call.shuffle for call in simulator.calls] == [True, False]
    assert simulator.calls[1].texts == ["ecw-rmed"]
    (fixed,) = reproduced.panels[0].measured["ecw-rmed (fixed order)"]
    assert fixed.policy == "ECW-RMED (fixed order)"
    results = [verdict for verdict in reproduced.verdicts if "fixed" in verdict.first]
    assert [result.second for result in results] == ["ecw-rmed"]


def test_a_failure_is_told_and_the_rest_goes_on(simulator, run):
    simulator.failed = {("(a) Cyclic", "RUCB"): "SimulationError: it broke"}
    reproduced = reproduce("dts-3", scale=0.01, panels=["a"])
    assert reproduced.panels[0].failures == (
        "RUCB on (a) Cyclic failed: SimulationError: it broke",
    )
    assert "rucb" not in reproduced.panels[0].measured
    assert any(verdict.second == "rcs" for verdict in reproduced.verdicts)
    few = ("--scale", 0.01, "--panel", "a", "--jobs", 1)
    result = run("reproduce", "dts-3", *few, "--json")
    assert result.exit_code == 1
    assert "it broke" in result.stderr
    record = json.loads(result.stdout)
    assert [panel["key"] for panel in record["panels"]] == ["a"]
    assert record["verdicts"] and record["full_horizon"] is False


@pytest.mark.slow
def test_the_camera_example_for_real(tmp_path):
    """A thousand rounds: far too few to converge, enough to draw and to judge."""
    reproduced = reproduce("subset-1", scale=0.01)
    assert [verdict.first for verdict in reproduced.verdicts] == ["ucb-no-order"] * 2
    converges, less = reproduced.verdicts
    assert "are of Nikon, Canon, Sony" in converges.details
    assert converges.holds is False
    assert less.holds is not None
    figure = papers.reproduction(reproduced)
    figure.draw_without_rendering()
    assert "Camera example" in all_text(figure)


NARROW = ("spread", "exploitation", "games", "games-by-arms")
"""Kinds that are drawn at column width too; for others `plots.regret` is tested so."""


DUELS = [name for name in recipes.all_names() if not name.startswith("subset")]
"""Figures whose results can be made up by the fake simulator."""


QUICK = {recipes.load(name).kind: name for name in DUELS}
"""One of each kind."""


@pytest.mark.parametrize("name", QUICK.values())
def test_every_figure_can_be_drawn(simulator, rankers, name):
    # Made-up plays of more panels than one take long to write down.
    few = [panel.key for panel in recipes.load(name).panels][:1]
    reproduced = reproduce(name, scale=0.01, mslr=rankers, panels=few)
    for width in ("full", "column") if recipes.load(name).kind in NARROW else ("full",):
        figure = papers.reproduction(reproduced, width=width)
        assert len(figure.axes) == len(reproduced.panels)
        figure.draw_without_rendering()
        text = all_text(figure)
        assert all(panel.panel.label in text for panel in reproduced.panels)
        for runs in reproduced.panels[0].measured.values():
            assert runs[0].policy.partition(", told")[0] in text
    key = next(iter(reproduced.panels[0].measured)).partition(":")[0]
    shown = {"colors": {key: "#123456"}, "names": {key: "Called so"}}
    figure = papers.reproduction(reproduced, **shown)
    assert "Called so" in all_text(figure)
    colors = {to_hex(line.get_color()) for line in figure.findobj(Line2D)}
    colors |= {to_hex(area.get_facecolor()) for area in figure.findobj(Patch)}
    assert "#123456" in colors


def test_bars_are_deviations_over_the_mean_of_ecw_rmed(simulator):
    reproduced = reproduce("dts-2", scale=0.05, panels=["b"])
    (axes,) = papers.reproduction(reproduced).axes
    final = {
        text: runs[0].regret()[:, -1]
        for text, runs in reproduced.panels[0].measured.items()
    }
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx(
        [item.std(ddof=1) / final["ecw-rmed"].mean() for item in final.values()]
    )
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "D-TS", "D-TS+", "ECW-RMED",
    ]  # fmt: skip


def test_the_list_names_all_figures(run):
    result = run("reproduce", "--list")
    assert result.exit_code == 0, result.stderr
    for name in recipes.names():
        assert name in result.stdout
    rows = json.loads(run("reproduce", "--list", "--json").stdout)
    assert {row["name"] for row in rows} == set(recipes.names())
    (row,) = [row for row in rows if row["name"] == "dts-1"]
    assert row["panels"][0]["runs"] == 500


def test_the_command_saves_results_figure_and_verdict(simulator, run, tmp_path):
    out = tmp_path / "out"
    result = run("reproduce", "dts-2", "--scale", 0.02, "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in ("NIPS, Figure 2: Standard deviation", "10 runs, 20,000 rounds",
                  "off the 0.1316 of the paper",
                  "two standard errors of the runs seen decide",
                  "0.02 times the runs of the full recipe, and as few"):  # fmt: skip
        assert words in text
    assert visible(out) == {
        "a", "b", "dts-2.png", "dts-2.svg", "verdict.json", "verdict.txt",
    }  # fmt: skip
    saved = json.loads((out / "verdict.json").read_text("utf-8"))
    assert saved["scale"] == 0.02
    assert {verdict["holds"] for verdict in saved["verdicts"]} <= {True, False, None}
    assert "Figure 2" in (out / "verdict.txt").read_text("utf-8")
    again = run("reproduce", "dts-2", "--scale", 0.02, "--out", out)
    assert again.exit_code == 2
    assert "is not empty" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dts-11",), "there is no figure 'dts-11'"),
        ((), "FIGURE: name one"),
        (("dts-1", "--scale", "2"), "--scale: must be above 0 and at most 1"),
        (("dts-1", "--scale", "0"), "--scale: must be above 0 and at most 1"),
        (("dts-1", "--panel", "z"), "no panel 'z'"),
        (("dts-1", "--resume"), "--resume: needs a folder"),
        (("dts-1", "--jobs", "0"), "--jobs"),
        (("dts-1", "--mslr", "nowhere.npz"), "nowhere.npz"),
    ],
)
def test_wrong_commands_end_with_exit_code_2(simulator, run, arguments, words):
    result = run("reproduce", *arguments)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.split())
    assert simulator.calls == []


def test_ctrl_c_says_how_to_go_on(monkeypatch, run, tmp_path):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproducing, "reproduce", interrupted)
    result = run("reproduce", "dts-1", "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert "--resume" in result.stderr


@pytest.mark.slow
def test_the_real_simulator_resumes_to_the_same_verdict(run, tmp_path):
    out = tmp_path / "out"
    arguments = ("reproduce", "dts-2", "--panel", "b", "--scale", 1e-3, "--jobs", 1,
                 "--out", out)  # fmt: skip
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    again = run(*arguments, "--resume")
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert (out / "b" / "results.nc").exists()
