"""Functions of this project that one command calls, by file: how long a way is.

`python -m benchmarks.function_calls` counts those of `compare("m.csv", ["rucb",
"rmed1"])`. Imports do not count: the command runs once before it is counted.
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType

import bayesduel

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


def main() -> None:
    """Print the functions by file, and how many there are."""
    found = compare_functions()
    for file, names in found.items():
        print(f"{file} ({len(names)}): {', '.join(names)}")
    print(f"{sum(map(len, found.values()))} functions in {len(found)} files")


if __name__ == "__main__":
    main()
