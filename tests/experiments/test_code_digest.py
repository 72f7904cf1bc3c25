"""The digest of a user's own policy follows what it executes, and nothing else."""

import sys

import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import OutputFolderError
from bayesduel.ops.code_digest import code_digest
from bayesduel.policies import Policy
from tests.fake_policies import Wanderer

SOURCE = """
import math
from bayesduel.policies import DoubleThompson, Policy

WARM_UP = 10
TABLE = {"a": 1.0, "b": (2, 3)}


def helper(x):
    return inner(x) + 1


def inner(x):
    return 2 * x


def unrelated(x):
    return x


class Base(Policy):
    def shared(self):
        return 1


class Own(Base):
    '''Text.'''

    factor: float = 1.0

    def choose(self, state, rng, round_):
        return helper(round_) + WARM_UP + TABLE["a"] + self.shared()

    def update(self, state, rng, round_, first, second, won):
        return [each + 1 for each in (1, 2)]
"""


@pytest.fixture
def digest_of(tmp_path, monkeypatch):
    """Return the digest of ``Own()`` as an edited module defines it."""
    monkeypatch.syspath_prepend(tmp_path)
    count = iter(range(100))

    def digest(*edits):
        source = SOURCE
        for old, new in edits:
            assert old in source
            source = source.replace(old, new)
        folder = tmp_path / str(next(count))
        folder.mkdir()
        (folder / "mine.py").write_text(source)
        monkeypatch.syspath_prepend(folder)
        sys.modules.pop("mine", None)
        import mine

        return code_digest(mine.Own())

    yield digest
    sys.modules.pop("mine", None)


@pytest.mark.parametrize(
    "edit",
    [
        ("helper(round_) +", "helper(round_) -"),
        ("return inner(x) + 1", "return inner(x) + 2"),
        ("return 2 * x", "return 3 * x"),
        ("WARM_UP = 10", "WARM_UP = 11"),
        ('"b": (2, 3)', '"b": (2, 4)'),
        ("        return 1\n", "        return 2\n"),
        ("each + 1 for", "each + 2 for"),
        ("Own(Base):", "Own(DoubleThompson):"),
    ],
)
def test_what_is_executed_counts(digest_of, edit):
    assert digest_of(edit) != digest_of()


@pytest.mark.parametrize(
    "edit",
    [
        ("def unrelated(x):\n    return x", "def unrelated(x):\n    return 2 * x"),
        ("import math\n", "import math  # for later\n\n\n"),
        ("def update", "# A comment.\n    def update"),
    ],
)
def test_comments_places_and_what_is_not_used_do_not(digest_of, edit):
    assert digest_of(edit) == digest_of()


def test_our_own_policies_have_none():
    for name in ("d-ts", "bt-ts", "ucb-no-order"):
        assert code_digest(policies.get(name)) == ""
    assert code_digest(policies.get("d-ts", every=10)) == ""
    assert code_digest(policies.DelayedFeedback(Wanderer(), 5)) != ""


def test_resuming_after_an_edit_is_refused_and_says_why(tmp_path, monkeypatch):
    out, request = tmp_path / "out", {"num_runs": 2, "horizon": 50}
    bayesduel.compare("cyclic", Wanderer(), out=out, **request)
    plain = Wanderer.start

    def edited(self, problem, rng):
        return plain(self, problem, rng)

    monkeypatch.setattr(Wanderer, "start", edited)
    with pytest.raises(OutputFolderError, match="the source of the policy has changed"):
        bayesduel.compare("cyclic", Wanderer(), out=out, resume=True, **request)


def test_a_class_without_a_file():
    """As in an interactive session, where there is no source to read."""
    space = {"__name__": "__main__", "Policy": Policy}
    digests = []
    for body in ("return 1", "return 2", "return 1"):
        exec(f"class Own(Policy):\n    def choose(self, *a):\n        {body}", space)
        digests.append(code_digest(space["Own"]()))
    assert digests[0] == digests[2] != digests[1]
