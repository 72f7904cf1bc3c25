"""The page for judges, without a browser: who may talk to it, and what it stores."""

import json
import os
import re
import signal
import socket
import sys
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, RemoteDisconnected

import pytest

from bayesduel.errors import OutputWriteError
from bayesduel.studies import Study
from bayesduel.studies.page import server as page_server
from bayesduel.studies.page.server import JudgePage
from bayesduel.studies.page.session import ArmFiles
from tests.command_line import invoke
from tests.processes import PATIENCE
from tests.studies.helpers import DRINKS, refused
from tests.studies.serving import TOKEN, Client, command, served

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def kinds(study):
    return [event.kind for event in study.events()]


def test_the_page_loads_only_what_is_its_own(untouched):
    status, headers, content = untouched.get()
    page = content.decode()
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "<title>drinks &amp; &lt;more&gt;</title>" in page
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"page.css", "page.js"}
    assert not re.findall(r"<script(?! src)|\son\w+=|style=", page)
    for name, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
        status, headers, content = untouched.get(name)
        assert (status, headers.get_content_type()) == (200, kind)
        assert b"http" not in content


@pytest.mark.parametrize("path", [
    "/", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/{TOKEN.upper()}/", "/%C3%A4/",
    f"//{TOKEN}/", f"/{TOKEN}/page.html", f"/{TOKEN}/drinks.study",
    f"/{TOKEN}/image/../page.py", f"/{TOKEN}/image/..%2Fdrinks.study",
    f"/{TOKEN}/image/%2Fetc%2Fpasswd",
])  # fmt: skip
def test_nothing_else_is_found(untouched, path):
    status, headers, content = untouched.request("GET", path)
    assert status == 404 and len(content) < 20
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_only_names_of_this_computer_are_answered(untouched):
    """A tunnel may have a port of its own."""
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1]"):
        assert untouched.request("GET", f"/{TOKEN}/", Host=host)[0] == 421
    for host in ("localhost:1234", "127.0.0.1", "localhost"):
        assert untouched.request("GET", f"/{TOKEN}/", Host=host)[0] == 200


@pytest.mark.parametrize("origin", [
    None, "null", "http://evil.example", "http://127.0.0.1:1", "https://HOST", "HOST",
])  # fmt: skip
def test_other_pages_may_not_send_anything(untouched, origin):
    given = {} if origin is None else {"Origin": origin.replace("HOST", untouched.host)}
    given["Content_Type"] = "application/json"
    body = json.dumps({"judge": "Ada"})
    status, _, _ = untouched.request("POST", f"/{TOKEN}/question", body, **given)
    assert status == 403


@pytest.mark.parametrize(("body", "kind", "expected"), [
    (b"{}", "text/plain", 415),
    (b"{}", "application/json", 400),
    (b"[]", "application/json", 400),
    (b"no json", "application/json", 400),
    (b"\xff\xfe", "application/json", 400),
    (b"[" * 9000, "application/json", 400),
    (b'{"judge": 5}', "application/json", 400),
    (b'{"judge": ""}', "application/json", 400),
    (b'"' + b"x" * 20_000, "application/json", 413),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(untouched, body, kind, expected):
    given = {"Origin": f"http://{untouched.host}", "Content_Type": kind}
    assert untouched.request("POST", f"/{TOKEN}/answer", body, **given)[0] == expected
    assert untouched.get("question")[0] == 405


@pytest.mark.parametrize("body", [
    {"number": 1}, {"number": 1, "answer": "up"}, {"number": 1, "answer": ["left"]},
    {"number": 99, "answer": "left"}, {"number": True, "answer": "left"},
    {"number": 1.0, "answer": "left"}, {"number": 10**30, "answer": "left"},
])  # fmt: skip
def test_an_answer_that_is_none_stores_nothing(untouched, body):
    question = untouched.question()
    status, reply = untouched.post("answer", **body)
    assert status == 409
    assert reply["note"]
    assert reply["question"] == question


def test_two_judges_get_different_questions_and_keep_them(page, study):
    client = page(study)
    second = Client(client.port, "Bob")
    mine, theirs = client.question(), second.question()
    pairs = [{card["name"] for card in item["cards"]} for item in (mine, theirs)]
    assert pairs[0] != pairs[1]
    assert (client.question(), second.question()) == (mine, theirs)
    _, after = client.post("answer", number=mine["number"], answer="left")
    assert after["question"]["number"] == 3
    assert second.question() == theirs
    judges = [event.body.get("judge") for event in study.events()[1:]]
    assert judges == ["Ada", "Bob", "Ada", "Ada"]


def test_an_answer_that_is_sent_again_is_stored_once(page, study):
    client = page(study)
    number = client.question()["number"]
    replies = [client.post("answer", number=number, answer="left") for _ in range(3)]
    assert replies[0] == replies[1] == replies[2]
    status, result = replies[0]
    assert (status, result["answered"], result["last"]) == (200, 1, number)
    assert kinds(study) == ["created", "asked", "answered", "asked"]
    status, result = client.post("answer", number=number, answer="right")
    assert status == 409
    assert "must be 'left'" in result["note"]
    assert result["question"] == replies[0][1]["question"]
    assert kinds(study).count("answered") == 1


def test_judges_see_how_far_the_study_is(page, make):
    study = make("balanced", budget=2)
    client = page(study)
    number = client.question()["number"]
    for votes in (1, 2):
        _, reply = client.post("answer", number=number, answer="left")
        assert (
            (reply["votes"], reply["budget"])
            == (votes, 2)
            == (votes, study.progress[1])
        )
        number = reply["question"] and reply["question"]["number"]
    assert number is None
    assert reply["resting"].startswith("That was the last question. Thank you")


def test_undo_asks_again_and_then_goes_on(page, study):
    client = page(study)
    first = client.question()
    _, reply = client.post("answer", number=first["number"], answer="right")
    second = reply["question"]
    for _ in range(2):
        status, reply = client.post("undo", number=reply["last"] or first["number"])
        assert (status, reply["question"], reply["last"]) == (200, first, None)
    _, reply = client.post("answer", number=first["number"], answer="tie")
    assert reply["question"] == second
    assert kinds(study).count("undone") == 1
    assert study.comparisons().ties.sum() == 2


def test_a_full_disk_is_said_and_may_be_tried_again(page, study, monkeypatch):
    client = page(study)
    number = client.question()["number"]

    def full(*_, **__):
        raise OutputWriteError("nothing of this was stored; make room")

    with monkeypatch.context() as patched:
        patched.setattr(Study, "tell", full)
        status, text = client.post("answer", number=number, answer="left")
    assert (status, text) == (503, "nothing of this was stored; make room")
    assert client.post("answer", number=number, answer="left")[0] == 200


def test_the_end_of_the_questions_is_said(make, page):
    study = make(arms=["a", "b"], budget=1)
    client = page(study, judge="Eve")
    number = client.question()["number"]
    _, reply = client.post("answer", number=number, answer="left")
    assert reply["question"] is None
    assert "Thank you: the budget of 1 votes is complete." in reply["resting"]
    assert b'data-judge="Eve"' in client.get()[2]
    assert study.events()[1].body["judge"] == "Eve"


def test_a_set_is_shown_as_so_many_cards(make, page):
    study = make(None, DRINKS, choose_from=3)
    client = page(study)
    cards = client.question()["cards"]
    assert [card["answer"] for card in cards] == ["1", "2", "3"]
    (ticket,) = study.open_tickets()
    assert tuple(card["name"] for card in cards) == ticket.shown
    status, reply = client.post("answer", number=1, answer="left")
    assert (status, reply["question"]["number"]) == (409, 1)
    status, reply = client.post("answer", number=1, answer="3")
    assert (status, reply["question"]["number"]) == (200, 2)
    assert study._current().questions[1].answer == "3"


@pytest.fixture
def folder(tmp_path):
    """A folder with two files, and much that must not be seen around it."""
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "<b>.txt").write_text("<b>bold</b>", "utf-8")
    (folder / "one.svg").write_text(SVG, "utf-8")
    (tmp_path / "secret.svg").write_text("hidden")
    (folder / "link.svg").symlink_to(tmp_path / "secret.svg")
    (tmp_path / "around").symlink_to(folder)
    return folder


def test_texts_and_images_are_shown_in_place_of_names(make, page, tmp_path, folder):
    study = make(arms=["<b>.txt", "one.svg"])
    client = page(study, texts=tmp_path / "around", images=folder)
    cards = client.question()["cards"]
    text, image = sorted(cards, key=lambda arm: arm["image"] or "")
    assert text.pop("answer") in ("left", "right")
    assert text == {"name": None, "text": "<b>bold</b>", "image": None}
    assert (image["name"], image["text"]) == (None, None)
    assert "one" not in image["image"]
    status, headers, content = client.get(image["image"])
    assert (status, content.decode()) == (200, SVG)
    assert headers["Content-Type"] == "image/svg+xml"
    assert headers["Content-Security-Policy"].endswith("; sandbox")
    (folder / "one.svg").unlink()
    assert client.get(image["image"])[0] == 404


NAMES = [
    "link.svg", "../secret.svg", "../inside/one.svg", "ABSOLUTE", ".", "no.svg",
    "x" * 5000, "pipe.svg", "self.study", "self.study-wal", "hard.svg", "\\one.svg",
]  # fmt: skip


def test_no_name_leaves_the_folder(page, folder):
    os.mkfifo(folder / "pipe.svg")
    names = [name.replace("ABSOLUTE", str(folder / "one.svg")) for name in NAMES]
    with Study.create(folder / "self.study", names, "balanced") as study:
        os.link(study.path, folder / "hard.svg")
        files = ArmFiles(folder, study.path, "texts")
        assert files.path("one.svg") == folder / "one.svg"
        assert [name for name in names if files.path(name) is not None] == []
        client = page(study, texts=folder, images=folder)
        for client.judge in "abcdef":
            for arm in client.question()["cards"]:
                assert arm["name"] in names
                assert (arm["text"] or arm["image"]) is None


def test_a_long_text_says_that_it_was_cut(make, page, folder):
    (folder / "long.txt").write_text("x" * 600_000)
    client = page(make(arms=["long.txt", "b"]), texts=folder)
    (text,) = [arm["text"] for arm in client.question()["cards"] if arm["text"]]
    assert text == "x" * 500_000 + "\n[cut after 500000 bytes]"


@pytest.mark.parametrize(("options", "words"), [
    ({"token": "short"}, "token must be 16 to 100 letters"),
    ({"token": "/" * 20}, "token must be 16 to 100 letters"),
    ({"texts": "no-such"}, "texts must be a folder"),
    ({"images": 5}, "images must be"),
    ({"judge": ""}, "judge must be a name"),
    ({"judges": [""]}, "judge must be a name"),
    ({"judges": ["Ada"], "judge": "Bob"}, "judges must be given without judge"),
])  # fmt: skip
def test_arguments_are_checked(study, options, words):
    refused(words, JudgePage, study, **options)


def test_tokens_are_random_and_long(study):
    tokens = {JudgePage(study).token for _ in range(10)}
    assert len(tokens) == 10
    assert min(map(len, tokens)) == 24


def test_the_extra_is_named_where_it_is_missing(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "bayesduel.studies.page.server")
    result = invoke(["study", "page", str(study.path)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "needs uvicorn; pip install 'bayesduel[page]'" in result.stderr


def test_a_closed_terminal_ends_a_page_after_what_is_answered(study, monkeypatch):
    server, heard = JudgePage(study).server(), []

    async def main_loop():
        os.kill(os.getpid(), signal.SIGHUP)
        heard.append(server.should_exit)

    def end(number, frame):
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "main_loop", main_loop)
    before = signal.signal(signal.SIGHUP, end)
    try:
        listener = socket.create_server(("127.0.0.1", 0))
        with listener, pytest.raises(KeyboardInterrupt):
            server.run(sockets=[listener])
        assert signal.getsignal(signal.SIGHUP) is end
    finally:
        signal.signal(signal.SIGHUP, before)
    assert heard == [True]


@pytest.mark.slow
def test_killed_between_answer_and_reply_it_has_stored_the_answer(study):
    path = study.path
    with command(path, dies=True) as (process, port):
        client = Client(port)
        number = client.question()["number"]
        with pytest.raises((RemoteDisconnected, ConnectionError)):
            client.post("answer", number=number, answer="left")
        assert process.wait(PATIENCE) == -signal.SIGKILL
    # One commit stores an answer and the question that follows it.
    assert kinds(study) == ["created", "asked", "answered", "asked"]
    with command(path, port) as (process, again):
        assert again == port
        status, reply = client.post("answer", number=number, answer="left")
        assert (status, reply["answered"]) == (200, 1)
        assert reply["question"]["number"] == 2
        result = invoke(["study", "page", str(path), "--port", str(port)])
        assert result.exit_code == 2
        assert f"--port: {port} cannot be had" in result.stderr
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 130
    lines = said.splitlines()
    assert len(lines) == 2
    assert f"1 answers stored; the same address again: --port {port}" in lines[1]
    assert kinds(study) == ["created", "asked", "answered", "asked"]


def test_a_page_behind_a_proxy_is_called_by_its_name(study):
    public = "https://votes.example.org"
    with served(study, public=public) as port:
        client = Client(port)
        client.host = "votes.example.org"
        sent = "POST", f"/{TOKEN}/question", b'{"judge": "Ada"}'
        for origin, expected in ((public, 200), ("http://votes.example.org:1", 403),
                                 ("https://example.org", 403)):  # fmt: skip
            given = {"Origin": origin, "Content_Type": "application/json"}
            assert client.request(*sent, **given)[0] == expected
        client.host = "example.org"
        assert client.get()[0] == 421
    for wrong in ("http://votes.example.org", "https://a/b", "https://", "a.org"):
        refused("public must be https://", JudgePage, study, public=wrong)


def test_whoever_sends_too_much_has_to_wait(study, monkeypatch):
    monkeypatch.setattr(page_server, "Pace", partial(page_server.Pace, 5.0, 0.0))
    with served(study) as port:
        ada, bob = Client(port), Client(port, "Bob")
        replies = [ada.post("question")[0] for _ in range(8)]
        assert replies == [200] * 5 + [429] * 3
        assert bob.post("question")[0] == 200


def test_who_waited_may_send_again(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(page_server, "monotonic", lambda: now[0])
    pace = page_server.Pace(2.0, 0.5)
    assert [pace.allows("Ada") for _ in range(3)] == [True, True, False]
    now[0] += 2.0
    assert [pace.allows("Ada") for _ in range(2)] == [True, False]
    now[0] += 1000.0
    assert [pace.allows("Ada") for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("sent", [b"", b"GET /a HTTP/1.1\r\nHost: x\r\n", b"body"])
def test_a_request_that_does_not_come_to_an_end_is_cut(study, monkeypatch, sent):
    monkeypatch.setattr(page_server, "REQUEST_SECONDS", 0.3)
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
        monkeypatch.setattr(page_server, "REQUEST_SECONDS", PATIENCE)
        address = "127.0.0.1", port
        with closing(HTTPConnection(*address, timeout=PATIENCE)) as connection:
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
        # An answer whose reply was lost is stored once.
        status, reply = client.post("answer", number=2, answer="right")
        assert (status, reply["answered"], reply["question"]["number"]) == (200, 1, 3)
    with served(study) as port:
        client = Client(port)
        _, reply = client.post("question")
        assert (reply["last"], reply["answered"]) == (2, 0)
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
