"""The page for judges as judges see it: in Chromium, without a window."""

import json
import os
import struct
import time
import zlib
from pathlib import Path

import pytest

from bayesduel.studies import Study
from tests.chromium import BROWSER, opened
from tests.processes import PATIENCE
from tests.studies.helpers import DRINKS, assert_replays
from tests.studies.serving import TOKEN, command, served

pytestmark = [pytest.mark.slow, pytest.mark.browser]

AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
"""The script of the package axe-core: it finds what keeps people from using a page."""

READY = (
    "document.querySelector('footer button').getAttribute('aria-disabled') === 'false'"
)
NUMBER = "(state && state.question ? state.question.number : 0)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with opened(BROWSER, tmp_path_factory.mktemp("browser")) as result:
        yield result


def address(port, judge="Ada"):
    return f"http://127.0.0.1:{port}/{TOKEN}/?judge={judge}"


def answers(study):
    results = [event.body for event in study.events() if event.kind == "answered"]
    return [(body["question"], body["answer"]) for body in results]


def ready(tab, number):
    tab.wait(f"{NUMBER} === {number} && {READY}")


def test_two_judges_at_once_and_a_reload_in_the_middle(browser, study):
    with served(study) as port:
        ada, bob = (browser.tab(address(port, name)) for name in ("Ada", "Bob"))
        numbers = [tab.wait(NUMBER) for tab in (ada, bob)]
        assert sorted(numbers) == [1, 2]
        for tab, number in zip((ada, bob), numbers, strict=True):
            ready(tab, number)
        before = ada.value("document.querySelector('#sides').innerText")
        ada.reload()
        ready(ada, numbers[0])
        assert ada.value("document.querySelector('#sides').innerText") == before
        ada.press("ArrowLeft")
        ready(ada, 3)
        bob.press("t")
        ready(bob, 4)
        assert "Bob: 1 answer stored" in bob.value("document.body.innerText")
        ada.press("u")
        ready(ada, numbers[0])
        ada.press("ArrowRight")
        ready(ada, 3)
        ada.press("s")
        ready(ada, 5)
    assert answers(study) == [
        (numbers[0], "left"), (numbers[1], "tie"), (numbers[0], "right"), (3, "skip"),
    ]  # fmt: skip
    judges = [event.body["judge"] for event in study.events() if event.kind == "asked"]
    assert judges.count("Ada") == 3
    assert_replays(study)


@pytest.mark.parametrize("selector", ["#left", "footer button"])
def test_a_double_click_is_one_answer(browser, study, selector):
    with served(study) as port:
        tab = browser.tab(address(port))
        ready(tab, 1)
        tab.click(selector, count=2)
        ready(tab, 2)
        # Two clicks that the browser takes for single ones, and keys.
        tab.click(selector)
        tab.click(selector)
        ready(tab, 3)
        for _ in range(3):
            tab.press("ArrowLeft")
        ready(tab, 4)
        time.sleep(0.5)
        assert tab.value(NUMBER) == 4
    assert answers(study) == [(1, "left"), (2, "left"), (3, "left")]


def test_a_file_that_is_moved_away_and_back_is_waited_for(browser, study):
    away = study.path.with_name("elsewhere")
    with served(study) as port:
        tab = browser.tab(address(port))
        ready(tab, 1)
        study.path.rename(away)
        tab.press("ArrowLeft")
        tab.wait("document.body.innerText.includes('was moved or deleted')")
        text = tab.value("document.body.innerText")
        assert "Nothing is lost; trying again" in text
        assert str(study.path.parent) not in text
        away.rename(study.path)
        ready(tab, 2)
        assert "Ada: 1 answer stored" in tab.value("document.body.innerText")
    assert answers(study) == [(1, "left")]


def test_the_server_is_killed_between_answer_and_reply(browser, study):
    with command(study.path, dies=True) as (process, port):
        tab = browser.tab(address(port))
        ready(tab, 1)
        tab.press("ArrowRight")
        process.wait(PATIENCE)
        tab.wait("document.body.innerText.includes('trying again')")
    assert answers(study) == [(1, "right")]
    with command(study.path, port):
        ready(tab, 2)
        assert tab.value("document.querySelector('#problem').innerText") == ""
        tab.press("ArrowLeft")
        ready(tab, 3)
    assert answers(study) == [(1, "right"), (2, "left")]
    assert_replays(study)


def test_the_last_page_thanks_and_offers_only_to_undo(browser, tmp_path):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced", budget=2) as study:
        with served(study) as port:
            tab = browser.tab(address(port))
            ready(tab, 1)
            assert "Question 1 of 2" in tab.value("document.body.innerText")
            tab.press("ArrowLeft")
            ready(tab, 2)
            assert "Question 2 of 2" in tab.value("document.body.innerText")
            tab.press("ArrowRight")
            tab.wait("document.querySelector('#end').checkVisibility()")
            text = tab.value("document.body.innerText")
            assert "Thank you, Ada." in text
            assert "the study has its 2 votes" in text
            shown = "[...document.querySelectorAll('footer button')]"
            shown += ".filter((button) => button.checkVisibility()).map((b) => b.id)"
            assert tab.value(f"{shown}.join()") == "undo"
            assert "Thank you, Ada." in tab.value(
                "document.querySelector('[aria-live]').textContent"
            )
            tab.wait("document.querySelector('#undo').ariaDisabled === 'false'")
            tab.press("u")
            ready(tab, 2)
            assert not tab.value("document.querySelector('#end').checkVisibility()")


def test_a_judge_who_has_to_wait_is_told_so(browser, tmp_path):
    path = tmp_path / "drinks.study"
    with Study.create(path, ["tea", "milk"], "balanced", budget=2) as study:
        with served(study) as port:
            tab = browser.tab(address(port))
            ready(tab, 1)
            tab.press("s")
            tab.wait("document.querySelector('#end').checkVisibility()")
            text = tab.value("document.body.innerText")
            assert "There is no question for you right now." in text
            assert "all are blocked or were skipped" in text
            assert "Thank you" not in text


def test_a_judge_without_a_name_is_asked_for_one(browser, study):
    with served(study) as port:
        tab = browser.tab(f"http://127.0.0.1:{port}/{TOKEN}/")
        tab.wait("document.activeElement.id === 'judge'")
        assert [event.kind for event in study.events()] == ["created"]
        tab.write("Zoë & <b>")
        tab.value("document.querySelector('#name button').click()")
        ready(tab, 1)
        tab.reload()
        ready(tab, 1)
        assert "Zoë & <b>: 0 answers stored" in tab.value("document.body.innerText")
    assert study.events()[1].body["judge"] == "Zoë & <b>"


def test_another_token_is_said(browser, study):
    with served(study) as port:
        tab = browser.tab(address(port))
        ready(tab, 1)
        tab.value("history.replaceState(null, '', '/" + "x" * 20 + "/')")
        tab.press("ArrowLeft")
        tab.wait("document.body.innerText.includes('no longer valid')")
    assert answers(study) == []


def png(width, height):
    def chunk(kind, content):
        size, check = len(content), zlib.crc32(kind + content)
        return struct.pack(">I", size) + kind + content + struct.pack(">I", check)

    rows = (b"\0" + b"\x20\x60\xa0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


HOSTILE = "<img src=x onerror=alert(1)>"
NO_ERRORS = """(() => {
    const bad = [];
    addEventListener("securitypolicyviolation", (event) => bad.push(event.blockedURI));
    addEventListener("error", (event) => bad.push(event.message));
    return bad;
})()"""


@pytest.mark.parametrize("width", [400, 1200])
def test_texts_and_images_fit_and_nothing_in_them_runs(browser, tmp_path, width):
    folder = tmp_path / "arms"
    folder.mkdir()
    long_word = "unbreakable" * 30
    (folder / "text").write_text(f"{HOSTILE}\n{long_word}\n" + "Many words. " * 900)
    (folder / "wide.png").write_bytes(png(3000, 2000))
    (folder / "broken.png").write_bytes(b"no image")
    arms = ["text", "wide.png", "broken.png", HOSTILE * 9]
    with (
        Study.create(tmp_path / f"{HOSTILE.replace('/', '')}.study", arms,
                     "balanced") as study,
        served(study, texts=folder, images=folder) as port,
    ):  # fmt: skip
        tab = browser.tab(address(port), width=width)
        tab.value(f"window.bad = {NO_ERRORS}")
        seen = []
        for number in range(1, 7):
            ready(tab, number)
            seen.append(tab.value("document.querySelector('#sides').innerText"))
            assert tab.value("document.documentElement.scrollWidth - innerWidth") <= 0
            # The buttons for answers are visible.
            lowest = tab.value(
                "document.querySelector('footer').getBoundingClientRect().bottom"
                " - innerHeight"
            )
            assert lowest <= 1
            sizes = tab.value(
                "[...document.querySelectorAll('img')].map((each) =>"
                " [each.naturalWidth, each.getBoundingClientRect().width > 50])"
            )
            assert all(size == [3000, True] for size in sizes)
            tab.press("ArrowLeft")
        assert tab.value("window.bad") == []
        loaded = tab.value(
            "JSON.stringify(performance.getEntriesByType('resource')"
            ".map((each) => each.name))"
        )
    given = f"http://127.0.0.1:{port}/"
    assert all(load.startswith(given) for load in json.loads(loaded))
    assert sum(HOSTILE in item for item in seen) == 5
    assert sum("cannot be shown" in item for item in seen) == 3


def test_the_best_of_a_set_is_named_and_then_the_worst(browser, tmp_path):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced", choose_from=3, worst=True) as study:
        with served(study) as port:
            tab = browser.tab(address(port))
            ready(tab, 1)
            request = "document.querySelector('#asked').innerText"
            best, worst = "Which one is the best?", "And which one is the worst?"

            def comes(question):
                tab.wait(f"{request} === {question!r}")
                tab.wait("performance.now() >= readyAt")

            comes(best)
            tab.press("2")
            comes(worst)
            tab.press("2")  # The same card again takes it back, and so does undo.
            comes(best)
            tab.press("2")
            comes(worst)
            tab.wait("document.querySelector('#undo').ariaDisabled === 'false'")
            tab.click("#undo")
            comes(best)
            tab.press("3")
            comes(worst)
            assert answers(study) == []
            tab.press("1")
            ready(tab, 2)
            tab.click("#card-1")
            comes(worst)
            tab.click("#card-2")
            ready(tab, 3)
        assert answers(study) == [(1, "3,1"), (2, "1,2")]


@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core, by AXE_CORE")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", [{}, {"choose_from": 4, "worst": True}], ids=str)
def test_nothing_keeps_people_out(browser, tmp_path, kind, scheme):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced", **kind) as study, served(study) as port:
        tab = browser.tab(address(port))
        tab.prefer(scheme)
        ready(tab, 1)
        tab.value(AXE.read_text("utf-8") + "; 0")
        tab.value(
            "axe.run().then((found) => { window.found = JSON.stringify("
            "found.violations.map((each) => [each.id, each.nodes[0].html])); }); 0"
        )
        assert json.loads(tab.wait("window.found")) == []
