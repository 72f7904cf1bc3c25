"""An example of every subcommand, shown at the end of its ``--help``."""

from __future__ import annotations

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "compare": "compare -i gap -p d-ts -p rucb --horizon 1e6 --out results",
    "config": "config -i sushi -p d-ts --horizon 1e6 > sweep.toml",
    "merge": "merge results",
    "bounds": "bounds sushi --all",
    "plot": "plot results --bounds lower,d-ts",
    "fit": "fit votes.csv --scale elo --check",
    "fit-choices": "fit-choices trips.csv --attributes cost,time --choice mode",
    "calibrate": "calibrate votes.csv --model bradley-terry",
    "audit-stopping": "audit-stopping -i gap -p balanced --budget 1000",
    "reproduce": "reproduce dts-1 --scale 0.1 --out figure1",
    "list": "list policies",
    "show": "show d-ts",
    "demo": "demo --out demo-results",
    "study": "study new drinks.study --arms tea,coffee,milk",
    "study new": "study new drinks.study --arms tea,coffee,milk --budget 300",
    "study ask": "study ask drinks.study --judge Ada",
    "study tell": "study tell drinks.study 1 left",
    "study undo": "study undo drinks.study 1",
    "study withdraw": "study withdraw drinks.study 1",
    "study vote": "study vote drinks.study --judge Ada",
    "study page": "study page drinks.study",
    "study status": "study status drinks.study",
    "study report": "study report drinks.study",
    "study add-arm": "study add-arm drinks.study water",
    "study retire-arm": "study retire-arm drinks.study milk",
    "study restore-arm": "study restore-arm drinks.study milk",
    "study rename-arm": "study rename-arm drinks.study tea 'green tea'",
    "study merge-arms": "study merge-arms drinks.study latte coffee",
    "study gold": "study gold drinks.study tea dishwater",
    "study judge": "study judge drinks.study Ada --limit 50",
    "study import": "study import drinks.study votes.csv",
    "study undo-import": "study undo-import drinks.study 12",
    "study export": "study export drinks.study",
    "study copy": "study copy drinks.study copy.study",
    "study check": "study check drinks.study",
    "study verify": "study verify drinks.study",
    "study serve-stdin": "study serve-stdin drinks.study",
}
"""What is typed after ``bayesduel``, by subcommand."""
