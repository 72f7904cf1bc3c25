"""``bayesduel study serve-stdin``: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import sys

from bayesduel.cli.options import command
from bayesduel.cli.studying import StudyFile


@command("study serve-stdin drinks.study")
def serve_stdin(*, opened: StudyFile) -> None:
    """Answer JSON lines on standard input, for programs in any language.

    {"do": "ask", "n": 1, "judge": "Ada", "context": ...} gives {"tickets": [...],
    "resting": ""}. {"do": "tell", "ticket": 1, "answer": "left"} gives {"new": true},
    after it is stored, and "remark" where it does not count. Also: skip, undo and
    withdraw (ticket), all with "judge" for who does it; add_arm (name, share),
    retire_arm and restore_arm (name), rename_arm (name, to), merge_arms (name, into);
    add_gold (better, worse; of a set a list); set_judge (name, limit, arms, price,
    trusted); status ("forecast": true simulates how many votes more). What cannot be
    done gives {"error": ...}, and the next line is read.
    """
    from bayesduel.studies import answer_line

    with opened.open() as study:
        for line in sys.stdin:
            if line.strip():
                sys.stdout.write(answer_line(study, line) + "\n")
                sys.stdout.flush()
