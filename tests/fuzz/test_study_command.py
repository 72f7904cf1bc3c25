"""``bayesduel study`` answers whatever is typed, or refuses in one line."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesduel.studies import Judging, Study
from tests.fuzz.fuzzing import MANY_EXAMPLES
from tests.fuzz.test_command import FILES, SAMPLE, WORDS, check

COMMANDS = """new ask tell undo withdraw vote page status report add-arm retire-arm
import export copy gold judge serve-stdin sing rename-arm restore-arm merge-arms
undo-import verify check""".split()

RIGHT = shlex.split(
    """--arms a,b,c --arms-file votes.csv --policy balanced -p information --model beta
    --delta 0.05 --width 0.1 --budget 5 --floor 2 --lease 1 --block a,b --seed 3
    -n 2 --number 3 --judge Ada --context {} --json --out page.html --overwrite
    --interval 0.9 --texts taken --images taken --port 0 --token {} --winner winner
    --words left,right,tie -q --help --both-orders tie --gold-share 0.5 --gold-least 1
    --cost 3 --price 0.5 --arm-price a=1 --stop-when judges --limit 2 --trusted --judges
    --by Eve --share 0.3 --votes --contexts votes.csv --items votes.csv
    --public https://a.org --choose-from 3 --worst 1,3
    1 2 3 left right tie skip a b c votes.csv counts.csv bad_votes.csv new.study"""
)


@st.composite
def study_lines(draw):
    """Draw what is typed after ``bayesduel study``."""

    def word():
        return draw(st.sampled_from(RIGHT if draw(st.integers(0, 4)) else WORDS))

    line = ["study", draw(st.sampled_from(COMMANDS))]
    if draw(st.integers(0, 19)):
        files = ["good.study"] * 4 + ["sets.study"] * 2
        files += ["old.study", "other.study", *FILES]
        line.append(draw(st.sampled_from(files)))
    return line + [word() for _ in range(draw(st.integers(0, 5)))]


def no_server(*_):
    """Stand for a port that is taken: a page would be served to the end."""
    raise OSError("taken")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Go to a folder of strange files, a study among them."""
    folder = tmp_path_factory.mktemp("studies")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "taken").mkdir()
    for name in ("good.study", "old.study"):
        with Study.create(folder / name, ["a", "b", "c"], "balanced") as study:
            for ticket in study.ask(4):
                study.tell(ticket, "left")
            study.ask(3)
    options = {"choose_from": 3, "worst": True, "judging": Judging(gold_share=0.5)}
    with Study.create(folder / "sets.study", ["a", "b", "c", "d"], **options) as study:
        study.add_gold("a", ["b", "c"])
        for ticket in study.ask(4, judge="Ada"):
            study.tell(ticket, (1, 3))
        study.ask(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("socket.create_server", no_server)
        patch.setenv("COLUMNS", "100")
        patch.setenv("TERM", "dumb")
        yield folder


@settings(SAMPLE, max_examples=40)
@given(line=study_lines())
def test_a_sample_of_lines(here, line):
    check(line)


@pytest.mark.slow
@settings(SAMPLE, max_examples=MANY_EXAMPLES)
@given(line=study_lines())
def test_lines(here, line):
    check(line)
