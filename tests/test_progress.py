"""What the bar says while jobs run."""

from types import SimpleNamespace

from bayesduel.progress import ProgressReport


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
    bar, job = Bar(), SimpleNamespace(words="D-TS on cyclic")
    report = ProgressReport(bar)
    report.expect(2)
    show = report.update(job)
    show(0.0)
    show(0.25)
    report.finished(job)
    report.compiling(job)
    assert bar.said == [
        ("simulating", 2),
        ("compiling D-TS on cyclic", 0.0),
        ("D-TS on cyclic", 0.25),
        ("D-TS on cyclic", 1),
        ("compiling D-TS on cyclic", None),
    ]


def test_nothing_is_said_without_a_bar():
    report = ProgressReport()
    assert report.update(SimpleNamespace(words="")) is None
    report.compiling(SimpleNamespace(words=""))
    report.finished(SimpleNamespace(words=""))
