"""What holds for any sweep: cut, kept, read back, put together."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bayesduel.errors import OutputFolderError
from bayesduel.experiments.jobs import JobResult, Sweep, refuse_others
from bayesduel.experiments.store import execute_sweep
from tests.folders import visible

PLAIN = {
    "jobs": 1, "out": None, "resume": False, "overwrite": False, "progress": False,
}  # fmt: skip


@dataclass(frozen=True)
class Power:
    """One power of a number."""

    base: int
    exponent: int
    happens: Callable[[int], None]

    program = None

    @property
    def name(self):
        return f"power {self.exponent}"

    words = name

    def run(self, on_progress=None):
        self.happens(self.exponent)
        return self.base**self.exponent


@dataclass(frozen=True)
class Powers(Sweep):
    """Powers of a number: one job each, one file each, a list in the end."""

    base: int
    count: int
    happens: Callable[[int], None] = lambda exponent: None

    kind, file, ending = "powers", "powers.json", "json"

    def request(self):
        return {"base": self.base}

    def read_back(self, folder):
        refuse_others(folder, "powers", self.request(), folder.marker()["request"])
        return [
            JobResult(Power(self.base, exponent, self.happens), value)
            for exponent, value in map(json.loads, folder.parts())
        ]

    def jobs(self, workers, finished):
        done = {job.exponent for job in finished}
        return [
            Power(self.base, exponent, self.happens)
            for exponent in range(self.count)
            if exponent not in done
        ]

    @staticmethod
    def to_bytes(value):
        exponent = len(str(value)) - 1
        return json.dumps([exponent, value]).encode()

    @staticmethod
    def from_bytes(data):
        return json.loads(data)[1]

    def assemble(self, finished):
        return {each.job.exponent: each.failure or each.value for each in finished}

    def to_file(self, found):
        return str(sorted(found)).encode(), {"note": len(found)}

    def is_whole(self, found):
        return all(isinstance(value, int) for value in found.values())


def stops_at(*exponents, error=KeyboardInterrupt):
    def happens(exponent):
        if exponent in exponents:
            raise error(f"at {exponent}")

    return happens


WHOLE = {exponent: 10**exponent for exponent in range(5)}


def test_without_a_folder():
    assert execute_sweep(Powers(10, 5), **PLAIN) == WHOLE


def test_interrupted_and_resumed(tmp_path):
    options = PLAIN | {"out": tmp_path}
    with pytest.raises(KeyboardInterrupt) as raised:
        execute_sweep(Powers(10, 5, stops_at(3)), **options)
    assert raised.value.partial == {0: 1, 1: 10, 2: 100}
    assert visible(tmp_path) == set()
    with pytest.raises(OutputFolderError, match="another base \\(10, not 7\\)"):
        execute_sweep(Powers(7, 5), **options | {"resume": True})
    # What is there is not computed again.
    resumed = Powers(10, 5, stops_at(0, 1, 2))
    assert execute_sweep(resumed, **options | {"resume": True}) == WHOLE
    assert visible(tmp_path) == {"powers.json"}
    assert not [*tmp_path.rglob("parts/*")]
    marker = json.loads((tmp_path / ".bayesduel/marker.json").read_text())
    assert (marker["request"], marker["note"]) == ({"base": 10}, 5)


def test_a_failure_is_part_of_the_result_and_tried_again(tmp_path):
    options = PLAIN | {"out": tmp_path}
    failing = Powers(10, 5, stops_at(3, error=ValueError))
    found = execute_sweep(failing, **options)
    assert str(found.pop(3)) == "at 3"
    assert found == {0: 1, 1: 10, 2: 100, 4: 10**4}
    assert len([*tmp_path.rglob("parts/*")]) == 4
    assert execute_sweep(Powers(10, 5), **options | {"resume": True}) == WHOLE


def test_a_failure_that_ends_the_sweep_keeps_what_was_finished(tmp_path):
    class Strict(Powers):
        ends_with_failure = True

    with pytest.raises(ValueError, match="at 2"):
        execute_sweep(
            Strict(10, 5, stops_at(2, error=ValueError)), **PLAIN | {"out": tmp_path}
        )
    assert len([*tmp_path.rglob("parts/*")]) == 2
