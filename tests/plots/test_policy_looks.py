"""A policy looks the same in every figure, and users choose colors and names."""

import inspect
import itertools
import re
from functools import partial
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import bayesduel
from bayesduel import papers, plots, policies
from bayesduel.analysis import audit_stopping
from bayesduel.diagnostics import calibrate
from bayesduel.inference import fit
from bayesduel.models import ConditionalLogit, PairwiseBeta
from bayesduel.papers import recipes
from bayesduel.plots import policy_looks as module
from bayesduel.plots.policy_looks import POLICY_LOOKS, RULE_LOOKS, policy_looks
from bayesduel.policies import registry
from bayesduel.stopping.words import rules
from bayesduel.votes import Choices, Comparisons
from tests import fake_results as fake
from tests.figures import all_text

ACRONYMS = {name: registry.entry(name).acronym for name in registry.modules()}
ROOT = Path(__file__).parents[2]


def test_every_policy_of_the_package_has_a_look_of_its_own():
    """Looks come from the table or a checksum of the name; no two share one."""
    assert set(POLICY_LOOKS) <= set(ACRONYMS.values())
    assert len(set(POLICY_LOOKS.values())) == len(POLICY_LOOKS)
    looks = policy_looks([*ACRONYMS.values(), "New"])
    assert len({look[:2] for look in looks.values()}) == len(ACRONYMS) + 1
    assert "#F0E442" not in {color for color, _ in POLICY_LOOKS.values()}


def drawn_together():
    """Panels of papers, and lists of names in the pages, notebooks and the README."""
    for name in recipes.names():
        for panel in recipes.load(name).panels:
            yield name, (*panel.policies, *panel.optional)
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    for page in [ROOT / "README.md", *pages]:
        text = page.read_text("utf-8").replace("\\\n", " ").replace('\\"', '"')
        for line in text.splitlines():
            yield page.name, re.findall(r"-p ([a-z][\w+:=.,-]*)", line)
            yield page.name, re.findall(r'"([a-z][\w+:=.,-]*)"', line)


def test_policies_that_are_often_drawn_together_differ_in_color_and_marker():
    seen = 0
    for where, names in drawn_together():
        known = {ACRONYMS[x] for x in (n.partition(":")[0] for n in names)
                 if x in ACRONYMS}  # fmt: skip
        look = policy_looks(known)
        assert len({item[:2] for item in look.values()}) == len(known), where
        colors = {item.color for item in look.values()}
        assert len(colors) >= min(7, len(known)), (where, known)
        seen += len(known) > 1
    assert seen > 60


def test_every_rule_for_stopping_has_a_look_whatever_stands_beside_it():
    assert set(RULE_LOOKS) <= set(rules())
    assert len({color for color, _ in RULE_LOOKS.values()}) == len(RULE_LOOKS)
    some = ["anytime:delta=0.05", "p-value:alpha=0.05", "posterior|budget:budget=9"]
    for order in itertools.permutations(some):
        look = module.rule_looks(order)
        names = ("anytime", "p-value", "posterior")
        assert [look[x][:2] for x in some] == [RULE_LOOKS[name] for name in names]
    two = module.rule_looks(["anytime:delta=0.05", "anytime:delta=0.01"])
    assert len({item[:3] for item in two.values()}) == 2
    assert {item.color for item in two.values()} == {RULE_LOOKS["anytime"][0]}


LABELS = ("D-TS", "RUCB", "D-TS:alpha=0.6", "D-TS, told every 9 rounds", "Mine",
          "Mine:epsilon=0.3", "Yours", "RMED1")  # fmt: skip


def test_a_look_does_not_depend_on_the_other_policies_nor_on_their_order():
    alone = {label: policy_looks([label])[label] for label in LABELS}
    for order in itertools.islice(itertools.permutations(LABELS), 0, None, 997):
        look = policy_looks(order)
        assert list(look) == list(order)
        for label in order:
            assert look[label][:2] == alone[label][:2]
    assert alone["D-TS"].color == alone["D-TS:alpha=0.6"].color
    assert alone["D-TS"].color == alone["D-TS, told every 9 rounds"].color
    assert alone["Mine"].color == alone["Mine:epsilon=0.3"].color


@pytest.mark.parametrize("count", [7, 20, 44, 60])
def test_many_policies_of_any_kind_differ(count):
    results = [f"Own{number}" for number in range(count)]
    looks = policy_looks([*itertools.islice(POLICY_LOOKS, count), *results[:30]])
    assert len({look[:2] for look in looks.values()}) == len(looks)
    values = [f"D-TS:alpha={number}" for number in range(1, 5)]
    lines = policy_looks(["D-TS", *values[:3]])
    assert len({line.marker for line in lines.values()}) == 4
    assert len({line.line for line in lines.values()}) == 4


def test_colors_and_names_go_by_label_by_name_and_by_the_most_special_key():
    labels = ["D-TS", "D-TS:alpha=2.0", "RUCB", "Greedy:epsilon=0.3"]
    look = policy_looks(
        labels,
        colors={"d-ts": "#336699", "d-ts:alpha=2": "red", "mine:Greedy": "k"},
        names={"D-TS": "Double TS", "rucb": "UCB"},
    )
    assert [item.color for item in look.values()] == [
        "#336699", "#ff0000", policy_looks(["RUCB"])["RUCB"].color, "#000000",
    ]  # fmt: skip
    assert [item.name for item in look.values()] == [
        "Double TS", "Double TS:alpha=2.0", "UCB", "Greedy:epsilon=0.3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"colors": {"rmed1": "red"}}, "colors must be by policies that are shown"),
        ({"colors": {"d-tss": "red"}}, "did you mean d-ts"),
        ({"colors": {3: "red"}}, "they are D-TS, RUCB"),
        ({"colors": {"d-ts": "reddish"}}, "must hold colors of matplotlib"),
        ({"colors": ["red"]}, "colors must be a mapping"),
        ({"names": {"d-ts": " "}}, "must hold texts that are not empty"),
        ({"names": {"d-ts": 3}}, "must hold texts that are not empty"),
        ({"names": {"d-ts": "RUCB"}}, "must give every policy another name"),
    ],
)
def test_colors_and_names_that_cannot_be_meant(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        policy_looks(["D-TS", "RUCB"], **options)


def swept():
    names = ["d-ts:alpha=0.6|1|2", "rucb"]
    return bayesduel.compare("cyclic", names, num_runs=3, horizon=300)


TREE = fake.comparison(labels=("D-TS", "RUCB"), num_runs=9)
OF_POLICIES = {
    "regret": lambda **options: plots.regret(TREE, **options),
    "slopes": lambda **options: plots.slopes(TREE, **options),
    "slope_ratios": lambda **options: plots.slope_ratios(TREE, **options),
    "survival": lambda **options: plots.survival(TREE, **options),
    "sweep": lambda **options: plots.sweep(swept(), **options),
}


@pytest.mark.parametrize("kind", OF_POLICIES)
def test_every_figure_of_policies_uses_the_table_and_takes_colors_and_names(kind):
    draw = OF_POLICIES[kind]
    results = {line.get_gid(): line for line in lines_of(draw())}
    for policy in ("D-TS", "RUCB"):
        (line,) = (
            line for gid, line in results.items() if gid.split("/")[-1] == policy
        )
        assert line.get_color() == POLICY_LOOKS[policy][0]
    figure = draw(colors={"d-ts": "#123456"}, names={"d-ts": "Double TS"})
    assert "#123456" in {line.get_color() for line in lines_of(figure)}
    text = all_text(figure)
    assert "Double TS" in text and "D-TS" not in text.replace("of D-TS", "")
    with pytest.raises(ValueError, match="colors must be by policies that are shown"):
        draw(colors={"rmed2": "red"})


def lines_of(figure):
    return [x for axes in figure.axes for x in axes.lines if x.get_gid() is not None]


def test_lines_have_names_in_svg_files(tmp_path):
    (path,) = plots.save(plots.regret(TREE), tmp_path / "figure", ["svg"])
    text = path.read_text("utf-8")
    for name in ("D-TS", "D-TS/band", "RUCB", "bound-0/Copeland-lower-bound"):
        assert text.count(f'<g id="mslr5-condorcet/{name}">') == 1


def posterior():
    votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 8], [1, 2, 0]],
                                  arm_names=["tea", "milk", "ale"])  # fmt: skip
    return fit(PairwiseBeta(), votes)


def of_attributes():
    prices = [[3.0, 1.0], [2.0, 2.5], [1.0, 3.0], [2.0, 1.5]]
    choices = Choices.from_attributes(prices, [1, 0, 0, 0])
    return fit(ConditionalLogit(), choices, num_draws=50)


def calibrated():
    votes = Comparisons.from_wins([[0, 5], [5, 0]])
    return calibrate(PairwiseBeta(), votes, method="exact", num_simulations=20)


def audited():
    options = {"rules": ["p-value:alpha=0.05"], "budget": 99, "num_runs": 20}
    return audit_stopping("cyclic", "balanced", **options)


# By figure: the call, a key of its colors, a color, and a key of its names.
OF_OTHERS = {
    "forest": (lambda **x: plots.forest(posterior(), **x), "ale", "#123456", "tea"),
    "winners": (lambda **x: plots.winners(posterior(), **x), "borda", "#123456", "tea"),
    "pair": (lambda **x: plots.pair(posterior(), "tea", "ale", **x),
             "votes", "#123456", "tea"),
    "predictive_check": (lambda **x: plots.predictive_check(posterior(), **x),
                         "observed", "#123456", "tea"),
    "heat_map": (lambda **x: plots.heat_map(posterior(), **x),
                 "probabilities", "bwr", "tea"),
    "allocation": (lambda **x: plots.allocation(bayesduel.load("gap"), **x),
                   "duels", "viridis", "0"),
    "calibration": (lambda **x: plots.calibration(calibrated(), **x),
                    "preference", "#123456", "preference"),
    "coefficients": (lambda **x: plots.coefficients(of_attributes(), **x),
                     None, "#123456", None),
    "false_stops": (lambda **x: plots.false_stops(audited(), **x),
                    None, "#123456", None),
}  # fmt: skip
KEYS = {
    "coefficients": lambda: of_attributes().data.attribute_names[0],
    "false_stops": lambda: audited().rules[0].rule,
}


def artists_of(figure):
    return [item for axes in figure.axes for item in axes.get_children()]


@pytest.mark.parametrize("kind", OF_OTHERS)
def test_every_figure_of_something_else_takes_colors_and_names(kind):
    draw, color_key, color, name_key = OF_OTHERS[kind]
    if kind in KEYS:
        color_key = name_key = KEYS[kind]()
    figure = draw(colors={color_key: color}, names={name_key: "Called so"})
    assert "Called so" in all_text(figure)
    if color.startswith("#"):
        shown = {colored(item) for item in artists_of(figure)}
        assert color in shown
    else:
        maps = {x.get_cmap().name for x in artists_of(figure) if hasattr(x, "get_cmap")}
        assert color in maps
    with pytest.raises(ValueError, match="colors must be by .* that are shown"):
        draw(colors={"nobody": "red"})
    with pytest.raises(ValueError, match="names must be by .* that are shown"):
        draw(names={"nobody": "x"})


def colored(artist):
    """Return the color of a line, of its marker, or of an area."""
    if isinstance(artist, Line2D):
        pale = to_hex(artist.get_color()) == "#ffffff"
        return to_hex(artist.get_markeredgecolor() if pale else artist.get_color())
    if isinstance(artist, Patch):
        return to_hex(artist.get_facecolor())
    return ""


def test_no_figure_was_forgotten():
    functions = inspect.getmembers(plots, inspect.isfunction)
    drawing = {name for name, _ in functions if name[0] != "_"} - {"save"}
    assert drawing == {*OF_POLICIES, *OF_OTHERS}
    for draw in [papers.reproduction, *(getattr(plots, name) for name in drawing)]:
        assert {"colors", "names"} <= set(inspect.signature(draw).parameters)


def test_names_that_are_registered_later_are_known():
    assert module.label_called("names", "d-ts+", ["D-TS+"]) == "D-TS+"
    assert policies.get("d-ts").label in POLICY_LOOKS


def test_a_figure_is_written_as_contributing_shows_it():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    code = text.split("## Add a figure")[1].split("```python\n")[1].split("```")[0]
    space = {}
    exec(compile(code, "CONTRIBUTING.md", "exec"), space)
    draw = partial(space["most_wins"], posterior().data)
    figure = draw(colors={"ale": "#123456"}, names={"tea": "Called so"})
    assert [bar.get_width() for bar in figure.axes[0].patches] == [16.0, 11.0, 3.0]
    assert "#123456" in {colored(item) for item in artists_of(figure)}
    assert "Called so" in all_text(figure)
    with pytest.raises(ValueError, match="colors must be by arms that are shown"):
        draw(colors={"nobody": "red"})
    assert draw(width="full", height=2).get_size_inches().tolist() == [7.0, 2.0]
