"""A figure of runs for the page of every policy, from `policy_curves.json`."""

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import bayesduel
from theory import copeland_lower_bound

_Curve = dict[str, list[float]]

_BLUE, _GREY = "#0072B2", "#c9c9c9"


def draw_policy_figures(docs: Path, files: dict[str, str]) -> dict[str, list[str]]:
    """Draw what is newer than its picture, and return the lines that show each."""
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
            _draw(picture, curve, peers, settings)
        shown[name] = _lines(picture.name, curve, settings, stored["settings"])
    return shown


def _draw(picture: Path, curve: dict, peers: list[_Curve], settings: dict) -> None:
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False}):  # fmt: skip
        figure = Figure((6.0, 3.2), dpi=130, layout="constrained")
        axes = figure.subplots()
        rounds = np.array(curve["rounds"])
        axes.plot(rounds, curve["mean"], color=_BLUE, lw=2, label=curve["label"])
        axes.fill_between(rounds, curve["low"], curve["high"], color=_BLUE, alpha=0.2,
                          lw=0, label="10 to 90 % of runs")  # fmt: skip
        axes.plot(rounds, curve["run"], color=_BLUE, lw=0.8, ls=":", label="one run")
        for number, peer in enumerate(peers):
            label = None if number else "mean of each other policy"
            axes.plot(peer["rounds"], peer["mean"], color=_GREY, lw=0.8, zorder=0,
                      label=label)  # fmt: skip
        if curve["kind"] == "policy":
            constant = copeland_lower_bound(bayesduel.load(settings["instance"])).value
            axes.plot(rounds[1:], constant * np.log(rounds[1:]), "k--", lw=1,
                      label="lower bound $C^* \\log t$")  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="round t", xlim=(1, rounds[-1]),
                 ylabel="cumulative regret", ylim=(0.3, None))  # fmt: skip
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        figure.savefig(picture)


def _lines(picture: str, curve: dict, settings: dict, all_settings: dict) -> list[str]:
    """Return the figure and its caption as Markdown."""
    runs, name = all_settings["runs"], settings["instance"]
    notion = "Copeland regret" if curve["kind"] == "policy" else "Regret"
    text = (
        f"{notion} of {curve['label']} on `{name}`: the mean of {runs} runs (line), "
        f"where 10 to 90 % of them lie (band), and one run (dotted). Grey: the means "
        "of the other policies."
    )
    if curve["kind"] == "policy":
        text += (
            " Dashed: the asymptotic lower bound for policies that know no model, "
            "which a run can stay below for long."
        )
    return [f"```{{figure}} {picture}", f":alt: Regret of {curve['label']} by round",
            "", text, "```", ""]  # fmt: skip
