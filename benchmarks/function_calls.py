"""Functions of this project that one command calls, by file: how long a way is.

`python -m benchmarks.function_calls` counts those of `compare("m.csv", ["rucb",
"rmed1"])`, of the command `bayesduel fit v.csv`, and of `ask` and `status` of a small
study under "balanced" and "d-ts+".
Imports do not count: the command runs once before it is counted.
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType

import bayesduel
from bayesduel.cli import main as command_line
from bayesduel.studies import Study

ROOT = Path(bayesduel.__file__).parent.parent
MATRIX = "0.5,0.6,0.7\n0.4,0.5,0.6\n0.3,0.4,0.5\n"


def called_functions(action: Callable[[], object]) -> dict[str, list[str]]:
    """Return the names of our functions that an action calls, by file.

    Comprehensions and lambdas belong to the functions around them.
    """
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for code in codes:
        path = Path(code.co_filename)
        if path.is_relative_to(ROOT) and not code.co_name.startswith("<"):
            file = str(path.relative_to(ROOT))
            if file.startswith(("bayesduel/", "theory/")):
                found[file].add(code.co_qualname.replace("<locals>.", ""))
    return {file: sorted(found[file]) for file in sorted(found)}


def compare_functions() -> dict[str, list[str]]:
    """Return the functions of a comparison of two policies on a matrix in a file."""
    with TemporaryDirectory() as folder:
        matrix = Path(folder, "m.csv")
        matrix.write_text(MATRIX)

        def compare() -> None:
            bayesduel.compare(str(matrix), ["rucb", "rmed1"], num_runs=4, horizon=100)

        compare()
        return called_functions(compare)


def fit_functions() -> dict[str, list[str]]:
    """Return the functions of the command that fits a model to votes in a file."""
    with TemporaryDirectory() as folder:
        votes = Path(folder, "v.csv")
        rows = ["tea,coffee", "tea,milk", "coffee,milk", "milk,tea"] * 10
        votes.write_text("\n".join(["winner,loser", *rows]))

        def fit() -> None:
            arguments = sys.argv
            sys.argv = ["bayesduel", "fit", str(votes)]
            try:
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                    with suppress(SystemExit):
                        command_line()
            finally:
                sys.argv = arguments

        fit()
        return called_functions(fit)


def study_functions(policy: str) -> dict[str, dict[str, list[str]]]:
    """Return the functions of a question and of the status of a study of four arms."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "drinks.study")
        with Study.create(path, ["tea", "coffee", "milk", "water"], policy) as study:
            for _ in range(3):
                (ticket,) = study.ask(judge="Ada")
                study.tell(ticket, "left", judge="Ada")
            study.status()
            return {
                f"ask ({policy})": called_functions(lambda: study.ask(judge="Ada")),
                f"status ({policy})": called_functions(study.status),
            }


def main() -> None:
    """Print the functions by file, and how many there are."""
    commands = {"compare": compare_functions(), "fit": fit_functions()}
    for policy in ("balanced", "d-ts+"):
        commands |= study_functions(policy)
    for found in commands.values():
        for file, names in found.items():
            print(f"{file} ({len(names)}): {', '.join(names)}")
        print()
    for command, found in commands.items():
        number = sum(map(len, found.values()))
        print(f"{command}: {number} functions in {len(found)} files")


if __name__ == "__main__":
    main()
