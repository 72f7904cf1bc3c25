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
from theory.theorems import winner_stays_bound

_Curve = dict[str, list[float]]

_GREY = "#c9c9c9"

WEAK = "policy for weak regret"
"""The kind of curve that shows weak regret, as `benchmarks.curves` writes it."""

_NOTIONS = {
    "policy": ("Copeland regret", ""),
    WEAK: ("weak regret", ""),
    "contextual policy": (
        "regret (utility_mean)",
        " One round costs the largest utility minus the mean utility of the two arms.",
    ),
    "policy that offers sets": (
        "regret (mnl_no_choice)",
        " One round costs the probability that nobody is chosen, minus that of the "
        "best set.",
    ),
}
"""What each kind of figure has on its axis, and what that is, where it needs saying."""


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
        is_bounded = _is_bounded(name, curve, knowing)
        picture = docs / "policies" / f"{files[name]}.png"
        if not picture.exists() or picture.stat().st_mtime < newest:
            peers = [
                other
                for key, other in curves.items()
                if key != name and other["kind"] == curve["kind"]
            ]
            if curve["kind"] == WEAK:
                level = _weak_bound(name, settings)
                _draw(picture, curve, peers, level=level, other=stored["yardstick"])
            else:
                slope = None
                if is_bounded:
                    matrix = bayesduel.load(settings["instance"])
                    slope = slope_of_bound(curve, copeland_lower_bound(matrix))
                _draw(picture, curve, peers, slope=slope)
        text = _caption(name, curve, settings, stored, is_bounded=is_bounded)
        title = f"Cumulative {_notion(curve)} of {curve['label']} by round"
        shown[name] = [f"```{{figure}} {picture.name}", f":alt: {title}", "", text,
                       "```", ""]  # fmt: skip
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


def _weak_bound(name: str, settings: dict) -> float | None:
    """Return what the theorem on weak regret allows at every horizon; of WS-W alone."""
    if name != "ws-w":
        return None
    return winner_stays_bound(bayesduel.load(settings["instance"])).constant


def _notion(curve: dict) -> str:
    return _NOTIONS[curve["kind"]][0]


def _draw(
    picture: Path,
    curve: dict,
    peers: list[_Curve],
    *,
    slope: tuple[np.ndarray, np.ndarray] | None = None,
    level: float | None = None,
    other: dict | None = None,
) -> None:
    """Draw a curve, grey ones of ``peers``, and one of another policy, by its name."""
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
            label = None if number else f"mean of each other {curve['kind']}"
            axes.plot(peer["rounds"], peer["mean"], color=_GREY, lw=0.8, zorder=0,
                      label=label)  # fmt: skip
        if other is not None:
            label = f"mean of {other['label']}"
            axes.plot(other["rounds"], other["mean"], "k-.", lw=1, label=label)
        if slope is not None:
            since, values = slope
            label = "slope of the lower bound"
            axes.plot(since, values, "k--", lw=1, label=label)
            axes.plot(since[:1], values[:1], "o", color="white", mec="black", ms=4)
            axes.axvspan(since[0], since[-1], color=SHADE, zorder=-1, lw=0)
        if level is not None:
            label = "upper bound of the theorem"
            axes.axhline(level, color="black", ls="--", lw=1, label=label)
        axes.set(xscale="log", yscale="log", xlabel="round t", xlim=(1, rounds[-1]),
                 ylabel=f"cumulative {_notion(curve)}", ylim=(0.3, None))  # fmt: skip
        if curve["kind"] == WEAK:  # In many a run it is 0, and later it stands still.
            axes.set_yscale("symlog", linthresh=1)
            axes.set_ylim(-0.1, None)
            axes.legend(frameon=False, fontsize=8, loc="lower right", ncols=2)
        else:
            axes.legend(frameon=False, fontsize=8, loc="upper left")
        figure.savefig(picture)


def _caption(
    name: str, curve: dict, settings: dict, stored: dict, *, is_bounded: bool
) -> str:
    """Return what the figure shows, as Markdown."""
    runs = settings.get("runs", stored["settings"]["runs"])
    of = "policies for weak regret" if curve["kind"] == WEAK else "policies"
    text = (
        f"Cumulative {_notion(curve)} of {curve['label']} on "
        f"`{settings['instance']}`. Line: mean of {runs} runs. Band: 10 to 90 % of the "
        f"runs. Dotted: one run. Grey: means of the other {of}."
        f"{_NOTIONS[curve['kind']][1]}"
    )
    if curve["kind"] == WEAK:
        text += f" {_on_weak_regret(name, settings)}"
    elif is_bounded:
        anchor, _ = last_decades(np.array(curve["rounds"]))
        text += (
            " Dashed: slope of the asymptotic lower bound $C^*\\log t$, which holds "
            "for policies that assume no model. It starts at the circle (round "
            f"{anchor:,}). Compare how much both lines rise after the circle, not how "
            "high they are."
        )
    elif curve["kind"] == "policy":
        text += (
            " No lower bound is drawn, because that of this matrix does not apply to "
            "policies with a model."
        )
    return text


def _on_weak_regret(name: str, settings: dict) -> str:
    """Return what weak regret is, and which bound on it there is."""
    text = (
        "Weak regret (`weak_binary`) is the number of rounds in which the best arm is "
        "not one of the two. The vertical axis is linear below 1. Dash-dotted: mean of "
        "D-TS, which is made for another kind of regret. "
    )
    level = _weak_bound(name, settings)
    if level is not None:
        return text + (
            f"Dashed: the upper bound of the theorem below, {level:,.0f} rounds at "
            "every horizon."
        )
    if name == "ws-s":
        return text + "No bound is drawn: the theorem below is on strong regret."
    return text + "No bound is drawn: no theorem with explicit constants is known here."
