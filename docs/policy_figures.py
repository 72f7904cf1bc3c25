"""A figure of runs for the page of every policy, from `policy_curves.json`."""

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import bayesduel
from bayesduel.analysis.anchored_bounds import anchored_bound
from bayesduel.analysis.slopes import last_decades
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import BLUE, SHADE
from theory import Optimum, copeland_lower_bound

_Curve = dict[str, list[float]]

_GREY = "#c9c9c9"


def draw_policy_figures(
    docs: Path, files: dict[str, str], knowing: set[str]
) -> dict[str, list[str]]:
    """Draw what is newer than its picture, and return the lines that show each.

    The lower bound holds for policies that know no model, so that it is not drawn for
    those named in ``knowing``.
    """
    source = docs / "policy_curves.json"
    stored = json.loads(source.read_text("utf-8"))
    curves = {name: each for name, each in stored["curves"].items() if name in files}
    newest = max(each.stat().st_mtime for each in (source, Path(__file__)))
    shown = {}
    for name, curve in curves.items():
        settings = stored["settings"][curve["kind"]]
        picture = docs / "policies" / f"{files[name]}.png"
        if not picture.exists() or picture.stat().st_mtime < newest:
            peers = [
                other
                for key, other in curves.items()
                if key != name and other["kind"] == curve["kind"]
            ]
            bound = None
            if _is_bounded(name, curve, knowing):
                matrix = bayesduel.load(settings["instance"])
                bound = slope_of_bound(curve, copeland_lower_bound(matrix))
            _draw(picture, curve, peers, bound)
        shown[name] = _lines(
            picture.name, curve, settings, stored["settings"],
            is_bounded=_is_bounded(name, curve, knowing),
        )  # fmt: skip
    return shown


def _is_bounded(name: str, curve: dict, knowing: set[str]) -> bool:
    return curve["kind"] == "policy" and name not in knowing


def slope_of_bound(curve: dict, bound: Optimum) -> tuple[np.ndarray, np.ndarray]:
    """Return the slope of a lower bound, from the mean two decades before the end.

    The bound is one on growth: C log t itself may lie above all that was measured.
    """
    rounds = np.array(curve["rounds"])
    anchor, horizon = last_decades(rounds)
    at = int(np.flatnonzero(rounds == anchor)[0])
    shown = np.geomspace(anchor, horizon, 64)
    return shown, anchored_bound(bound, anchor, curve["mean"][at])(shown)


def _draw(
    picture: Path,
    curve: dict,
    peers: list[_Curve],
    bound: tuple[np.ndarray, np.ndarray] | None,
) -> None:
    color = policy_looks([curve["label"]])[curve["label"]].color
    if len({*to_rgb(color)}) == 1:  # The others are grey.
        color = BLUE
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False}):  # fmt: skip
        figure = Figure((6.0, 3.2), dpi=130, layout="constrained")
        axes = figure.subplots()
        rounds = np.array(curve["rounds"])
        axes.plot(rounds, curve["mean"], color=color, lw=2, label=curve["label"])
        axes.fill_between(rounds, curve["low"], curve["high"], color=color, alpha=0.2,
                          lw=0, label="10 to 90 % of runs")  # fmt: skip
        axes.plot(rounds, curve["run"], color=color, lw=0.8, ls=":", label="one run")
        for number, peer in enumerate(peers):
            label = None if number else "mean of each other policy"
            axes.plot(peer["rounds"], peer["mean"], color=_GREY, lw=0.8, zorder=0,
                      label=label)  # fmt: skip
        if bound is not None:
            since, values = bound
            label = "slope of the lower bound"
            axes.plot(since, values, "k--", lw=1, label=label)
            axes.plot(since[:1], values[:1], "o", color="white", mec="black", ms=4)
            axes.axvspan(since[0], since[-1], color=SHADE, zorder=-1, lw=0)
        axes.set(xscale="log", yscale="log", xlabel="round t", xlim=(1, rounds[-1]),
                 ylabel="cumulative regret", ylim=(0.3, None))  # fmt: skip
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        figure.savefig(picture)


def _lines(
    picture: str, curve: dict, settings: dict, all_settings: dict, *, is_bounded: bool
) -> list[str]:
    """Return the figure and its caption as Markdown."""
    runs, name = all_settings["runs"], settings["instance"]
    notion = "Copeland regret" if curve["kind"] == "policy" else "Regret"
    text = (
        f"{notion} of {curve['label']} on `{name}`. Line: mean of {runs} runs. Band: "
        "10 to 90 % of the runs. Dotted: one run. Grey: means of the other policies."
    )
    if is_bounded:
        anchor, _ = last_decades(np.array(curve["rounds"]))
        text += (
            " Dashed: slope of the asymptotic lower bound $C^*\\log t$ for policies "
            f"without a model, starting at the circle (round {anchor:,}). Compare "
            "how much both rise after it, not their height."
        )
    elif curve["kind"] == "policy":
        text += (
            " No lower bound is drawn, because that of this matrix does not apply to "
            "policies with a model."
        )
    if curve["label"] in ("WS-W", "WS-S", "BtW", "BtWR"):
        text += " {doc}`/theory/weak_regret` draws the weak regret of this policy."
    return [f"```{{figure}} {picture}", f":alt: Regret of {curve['label']} by round",
            "", text, "```", ""]  # fmt: skip
