"""The page for judges: slow and many requests, proxies, restarts, and who listens."""

import re
import socket
from contextlib import closing, suppress
from http.client import HTTPConnection

import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Study
from bayesduel.studies.page import guard as page_guard
from bayesduel.studies.page import server as page
from bayesduel.studies.page.server import JudgePage
from tests.processes import PATIENCE
from tests.studies.serving import TOKEN, Client, served


def test_a_page_behind_a_proxy_is_called_by_its_name(study):
    public = "https://votes.example.org"
    with served(study, public=public) as port:
        client = Client(port)
        client.host = "votes.example.org"
        path, body = f"/{TOKEN}/question", b'{"judge": "Ada"}'
        kind = "application/json"
        status, *_ = client.request(
            "POST", path, body, Origin=public, Content_Type=kind
        )
        assert status == 200
        for origin in ("http://votes.example.org:1", "https://example.org"):
            status, *_ = client.request(
                "POST", path, body, Origin=origin, Content_Type=kind
            )
            assert status == 403
        client.host = "example.org"
        assert client.get()[0] == 421
    for wrong in ("http://votes.example.org", "https://a/b", "https://", "a.org"):
        with pytest.raises(StudyError, match="public must be https://"):
            JudgePage(study, public=wrong)


def test_whoever_sends_too_much_has_to_wait(study, monkeypatch):
    monkeypatch.setattr(page, "Pace", lambda: page_guard.Pace(5.0, 0.0))
    with served(study) as port:
        ada, bob = Client(port), Client(port, "Bob")
        replies = [ada.post("question")[0] for _ in range(8)]
        assert replies == [200] * 5 + [429] * 3
        assert bob.post("question")[0] == 200


def test_who_waited_may_send_again(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(page_guard, "monotonic", lambda: now[0])
    pace = page_guard.Pace(2.0, 0.5)
    assert [pace.allows("Ada") for _ in range(3)] == [True, True, False]
    now[0] += 2.0
    assert [pace.allows("Ada") for _ in range(2)] == [True, False]
    now[0] += 1000.0
    assert [pace.allows("Ada") for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("sent", [b"", b"GET /a HTTP/1.1\r\nHost: x\r\n", b"body"])
def test_a_request_that_does_not_come_to_an_end_is_cut(study, monkeypatch, sent):
    monkeypatch.setattr(page_guard, "REQUEST_SECONDS", 0.3)
    if sent == b"body":
        head = f"POST /{TOKEN}/question HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        sent = (head + "Content-Length: 50\r\n\r\n{").encode()
    with served(study) as port:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall(sent)
            with suppress(ConnectionResetError):
                while connection.recv(1000):
                    pass
        assert Client(port).question()["number"] == 1
        # One that is there in time is answered, and the next on the same connection.
        monkeypatch.setattr(page_guard, "REQUEST_SECONDS", PATIENCE)
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        with closing(connection):
            connection.connect()
            connection.auto_open = 0
            for _ in range(2):
                connection.request("GET", f"/{TOKEN}/page.css")
                reply = connection.getresponse()
                assert reply.status == 200 and reply.read().endswith(b"}\n}\n")


def test_answers_from_before_a_restart_may_be_taken_back(study):
    with served(study) as port:
        client = Client(port)
        for word in ("left", "right"):
            client.post("answer", number=client.question()["number"], answer=word)
    with Study.open(study.path) as again, served(again) as port:
        client = Client(port)
        # What the reply of was lost is stored once.
        status, found = client.post("answer", number=2, answer="right")
        assert (status, found["answered"], found["question"]["number"]) == (200, 1, 3)
    with served(study) as port:
        client = Client(port)
        _, found = client.post("question")
        assert (found["last"], found["answered"]) == (2, 0)
        assert client.post("undo", number=2)[1]["last"] == 1
        assert client.post("undo", number=1)[1]["last"] is None
        assert Client(port, "Bob").post("question")[1]["last"] is None
    kinds = [event.kind for event in study.events()]
    assert kinds.count("undone") == 2


def test_the_page_says_what_it_shows_to_whoever_listens(untouched):
    text = untouched.get()[2].decode()
    assert 'aria-live="polite"' in text
    script = untouched.get("page.js")[2].decode()
    assert 'setAttribute("role", "button")' in script and "tabIndex = 0" in script
    # A button that is disabled loses the focus.
    assert ".disabled" not in script


def luminance(color):
    """Return the relative luminance of a color, by WCAG 2."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
              for x in parts]  # fmt: skip
    return sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("name", ["faint", "wrong"])
def test_text_stands_out_from_its_ground(untouched, name):
    """Contrast of at least 4.5 (WCAG 2.2, 1.4.3) on light and dark grounds."""
    css = untouched.get("page.css")[2].decode()
    (pair,) = re.findall(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", css)
    for color, ground in zip(pair, ("#ffffff", "#121212"), strict=True):
        light, dark = sorted(map(luminance, (color, ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
