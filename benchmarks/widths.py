"""Contextual policies with tuned confidence widths: who is best, and by how much.

``python -m benchmarks.widths --out docs/widths.json`` takes 40 instances of each of two
published generators. Every policy plays the first 20 with all widths of a grid; the
width with the least mean regret then plays the other 20, beside the width that the
authors use. So no instance on which policies are compared has been used for tuning.
``docs/theory/widths.md`` draws the result.
"""

import argparse
import json
import math
from functools import cache
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel import World
from bayesduel.instances.worlds import GinopContexts, VacdbContexts

HORIZON, INSTANCES, RUNS = 2000, 40, 3

GENERATORS = {
    "ginop-contexts": (GinopContexts, "utility_mean"),
    "vacdb-contexts": (VacdbContexts, "utility_sum"),
}

WIDTHS = (0.125, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 8.0, 16.0)
"""The factor c of a norm."""

ETAS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The weight of a duel, of policies that draw."""

POLICIES = {
    # By policy: the text with a width, the widths, and the text of its authors.
    "GINOP": ("ginop:width={constant}", WIDTHS, "ginop"),
    "MaxPairUCB": ("max-pair-ucb:width={multiple}", WIDTHS, "max-pair-ucb"),
    "MaxInP": ("max-in-p:width={multiple}", WIDTHS, "max-in-p"),
    "CoLSTIM": (
        "colstim:explored=0,width={multiple}",
        WIDTHS,
        "colstim:explored=0,width=2",
    ),
    "VACDB": ("vacdb:width={multiple}", WIDTHS, "vacdb"),
    "FGTS": ("fgts:eta={constant}", ETAS, "fgts"),
    "Thompson": ("fgts:feel_good=0,eta={constant}", ETAS, "fgts:feel_good=0"),
}


@cache
def instance(generator: str, seed: int) -> World:
    """Return an instance, whose lower bound is computed once."""
    return GENERATORS[generator][0](seed=seed)


def regrets(generator: str, text: str, instances: range) -> list[float]:
    """Return the final regret on each instance, the mean of a few runs."""
    notion = GENERATORS[generator][1]
    return [
        float(
            bayesduel.simulate(
                instance(generator, seed),
                text,
                num_runs=RUNS,
                horizon=HORIZON,
                checkpoints=[HORIZON],
                seed=seed,
                regret=[notion],
            )["regret"]
            .values[0, :, -1]
            .mean()
        )
        for seed in instances
    ]


def measured(generator: str, name: str) -> dict:
    """Tune one policy on the first half of the instances, and play the second."""
    pattern, widths, usual = POLICIES[name]
    tuning = range(INSTANCES // 2)
    test = range(INSTANCES // 2, INSTANCES)
    unit = math.sqrt(GENERATORS[generator][0]().num_features * math.log(HORIZON))
    texts = [
        pattern.format(constant=width, multiple=f"{width / unit:.6g}")
        for width in widths
    ]
    tuned = [regrets(generator, text, tuning) for text in texts]
    best = int(np.argmin(np.mean(tuned, axis=1)))
    return {
        "widths": list(widths),
        "tuning": np.round(tuned, 2).tolist(),
        "best": best,
        "text": texts[best],
        "tuned": np.round(regrets(generator, texts[best], test), 2).tolist(),
        "usual_text": usual,
        "usual": np.round(regrets(generator, usual, test), 2).tolist(),
    }


def main() -> None:
    """Measure all policies on both generators, and write after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    path = parser.parse_args().out
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for generator in GENERATORS:
        for name in POLICIES:
            done = found.setdefault(generator, {})
            if name in done:
                continue
            done[name] = measured(generator, name)
            mean = np.mean(done[name]["tuned"])
            print(generator, name, done[name]["text"], f"{mean:.1f}", flush=True)
            path.write_text(json.dumps(found) + "\n", "utf-8")


if __name__ == "__main__":
    main()
