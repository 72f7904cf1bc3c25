"""What the bar says while jobs run."""

import pytest

from bayesduel.experiments import progress
from bayesduel.experiments.progress import (
    ProgressLines,
    ProgressReport,
    progress_reporter,
)


class Bar:
    """Takes the place of a bar of rich."""

    def __init__(self):
        self.said = []

    def add_task(self, description, total):
        self.said.append((description, total))
        return 7

    def update(self, task, *, completed=None, description=None):
        assert task == 7
        self.said.append((description, completed))


def test_a_job_says_that_it_compiles_then_how_far_it_is():
    bar, words = Bar(), "D-TS on cyclic"
    report = ProgressReport(bar)
    report.expect(2)
    show = report.update(words)
    show(0.0)
    show(0.25)
    report.finished(words)
    report.compiling(words)
    assert bar.said == [
        ("simulating", 2),
        ("compiling D-TS on cyclic", 0.0),
        ("D-TS on cyclic", 0.25),
        ("D-TS on cyclic", 1),
        ("compiling D-TS on cyclic", None),
    ]


def test_lines_go_on_while_a_job_lasts_and_end():
    """Worker processes tell nothing of a job before its end."""
    lines, said, waited = ProgressLines(), [], []
    report = ProgressReport(lines)
    report.expect(4)
    report.compiling("RUCB on gap")
    report.finished("D-TS on gap")

    def wait(delay):
        waited.append(delay)
        return len(waited) == 3

    lines.speak(said.append, wait, [4, 10, 10, 10])
    assert waited == [4, 10, 10]
    assert said == ["0 s, 25% of 4 chunks: D-TS on gap"] * 2


def test_of_a_single_job_a_line_says_how_long_it_lasts():
    lines = ProgressLines()
    report = ProgressReport(lines)
    report.expect(1)
    report.count("drawing by Markov chains", 0)
    assert lines.line(12.3) == "12 s: drawing by Markov chains"
    report.count("drawing by Markov chains", 1)
    assert lines.line(14) == "14 s, 100% of 1 chunks: drawing by Markov chains"


@pytest.mark.parametrize("enabled", [True, False])
def test_a_log_hears_of_progress(capsys, monkeypatch, enabled):
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.0)
    spoken = progress.ProgressLines.speak

    def speak(own, say, wait, delays):  # The first line, however fast the block is.
        spoken(own, say, lambda _: False, [next(iter(delays))])

    monkeypatch.setattr(progress.ProgressLines, "speak", speak)
    with progress_reporter(enabled=enabled) as report:
        report.expect(3)
    assert ("of" in capsys.readouterr().err) is enabled
