"""The page with all policies beside all matrices, from `benchmark.json`."""

import json
from pathlib import Path

from bayesduel import policies
from theory import TieError, copeland_lower_bound

_LEAD = """```{{index}}
single: ! benchmark
single: ! leaderboard of policies
```

# Policies side by side

Regret of {num_policies} policies on {num_matrices} matrices, measured alike: {runs} runs of
{horizon:,} rounds each, seed {seed}, arms in a new random order in each run, every policy as it is by
default. These are small numbers: a difference of two standard errors may be accidental, {runs} runs
can miss disasters that strike one run in ten ({{doc}}`how_to/rankings`), and {horizon:,} rounds are far from the asymptotic
regime on most matrices. {{doc}}`which_algorithm` has larger measurements. Smallest number of each column in bold.

The matrices are seven published ones, and three random ones by `uniform-random` with gaps of at least 0.03 and
fixed seeds ("random 5a" is `{random}`).

"""
_SEND = """
## Send a policy in

One file and one command fill a row. Write the policy as {doc}`how_to/my_policy` shows, put the file into a
checkout, and name it as `module:Class`:

```console
python -m benchmarks.table my_policy:MyPolicy
```

That takes some seconds for a policy whose rule Numba compiles, replaces no other row, and
writes `docs/benchmark.json`. Send both files in as one change, with the paper that the rule is from. The numbers must come from
the commit that you send, since a seed gives the same numbers to everyone, except the time per round.
`python -m benchmarks.table` without a name measures every row again.
"""


def write_benchmark_page(docs: Path) -> None:
    """Write ``benchmark.md``."""
    stored = json.loads((docs / "benchmark.json").read_text("utf-8"))
    settings, rows = stored["settings"], stored["rows"]
    names = list(next(iter(rows.values())))
    random = next(name for name in names if name.startswith("uniform-random"))
    text = _LEAD.format(num_policies=len(rows), num_matrices=len(names), random=random,
                        **settings)  # fmt: skip
    text += f"## Mean Copeland regret after {settings['at']:,} rounds, ± standard error\n\n"
    text += _table(rows, names, "regret", lambda x: f"{x['regret']:,.0f} ± {x['error']:.0f}")
    text += (
        "\n## Slope over the lower bound\n\nRegret per unit of $\\log t$ over the last two "
        "decades, divided by the constant $C^*$ of {doc}`theory/lower_bound`. Below 1 the "
        "asymptotic regime has not begun. A dash: two arms tie, and there is no constant.\n\n"
    )
    text += _table(
        rows, names, "ratio", lambda x: "-" if x["ratio"] is None else f"{x['ratio']:.2f}"
    )
    text += "| $C^*$ | " + " | ".join(map(_constant, names)) + " |\n"
    text += (
        "\n## Time per round\n\nNanoseconds of one core per round and run, without compiling; "
        "measured on a busy machine, so of use for orders of magnitude only. Policies with "
        "look-ahead jump over most rounds.\n\n"
    )
    text += _table(rows, names, "nanoseconds", lambda x: f"{x['nanoseconds']:,.0f}")
    (docs / "benchmark.md").write_text(text + _SEND, "utf-8")


def _constant(name: str) -> str:
    import bayesduel

    try:
        return f"{float(copeland_lower_bound(bayesduel.load(name))):.1f}"
    except TieError:
        return "-"


def _title(name: str) -> str:
    if not name.startswith("uniform-random"):
        return name
    size = name.partition("num_arms=")[2].partition(",")[0]
    return f"random {size}{'abc'[int(name[-1]) - 1]}"


def _table(rows: dict, names: list[str], key: str, written) -> str:  # noqa: ANN001
    head = ["policy", *map(_title, names)]
    lines = [f"| {' | '.join(head)} |", "|---" + "|--:" * len(names) + "|"]
    least = {
        name: min(row[name][key] for row in rows.values())
        for name in names
        if key != "ratio"
    }
    for policy, row in rows.items():
        label = policies.parse_policy(policy).label
        cells = [
            f"**{written(row[name])}**"
            if row[name][key] == least.get(name)
            else written(row[name])
            for name in names
        ]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
