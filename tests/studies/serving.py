"""A page for judges that is served for real, and requests to it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

from bayesduel.studies import Study
from bayesduel.studies.page.server import JudgePage
from tests.processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "abcdefghijklmnopqrst"


class Client:
    """Sends requests as the page does."""

    def __init__(self, port, judge="Ada"):
        self.port, self.judge = port, judge
        self.host = f"127.0.0.1:{port}"

    def request(self, method, path, body=None, **headers):
        """Send a request as it stands; return status, headers and content."""
        address = "127.0.0.1", self.port
        with closing(HTTPConnection(*address, timeout=PATIENCE)) as connection:
            given = {name.replace("_", "-"): item for name, item in headers.items()}
            connection.request(method, path, body, {"Host": self.host} | given)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()

    def get(self, path=""):
        return self.request("GET", f"/{TOKEN}/{path}")

    def post(self, deed, **body):
        """Do what the page does when a judge does something."""
        sent = json.dumps({"judge": self.judge} | body).encode()
        given = {"Origin": f"http://{self.host}", "Content_Type": "application/json"}
        status, _, content = self.request("POST", f"/{TOKEN}/{deed}", sent, **given)
        result = json.loads(content) if status in (200, 409) else content.decode()
        return status, result

    def question(self):
        status, reply = self.post("question")
        assert status == 200, reply
        return reply["question"]


@contextmanager
def served(study, **options):
    """Serve a page of a study from a thread; yield its port."""
    token = None if options.get("judges") else TOKEN
    page = JudgePage(study, token=token, **options)
    server = page.server()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def store_and_die(study):
    """Store an answer; end before anybody hears of it."""
    with Study.__dict__["plain_at_once"](study):
        yield
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def command(file, port=0, *options, dies=False):
    """Run `bayesduel study page`; yield the process and its port once it listens.

    With `dies` it ends by SIGKILL between the first answer and its reply.
    """
    code = "from bayesduel.cli import main; main()"
    if dies:
        code = (
            "from bayesduel.studies import Study\n"
            "from tests.studies.serving import store_and_die\n"
            f"Study.plain_at_once, Study.at_once = Study.at_once, store_and_die\n{code}"
        )
    words = ["study", "page", file, "--token", TOKEN, "--port", port, *options]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        address = process.stdout.readline() if process.stdout else ""
        assert address.endswith(f"/{TOKEN}/\n"), process.communicate()
        yield process, int(address.split(":")[2].partition("/")[0])
    finally:
        process.kill()
        process.communicate()
