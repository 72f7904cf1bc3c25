"""A browser without a window, driven by its own protocol through two pipes."""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress

from tests.processes import PATIENCE

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
"""Its command, or None; tests that open a page have the mark `browser`."""


class Browser:
    """Chromium; see `opened`."""

    def __init__(self, command, sent, heard):
        self._command, self._sent, self._heard = command, sent, heard
        self._number, self._rest = 0, b""

    def call(self, method, session=None, **params):
        """Call a method of the protocol; return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._sent, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, (method, found)
                return found["result"]

    def _read(self):
        while b"\0" not in self._rest:
            waiting, _, _ = select.select([self._heard], [], [], PATIENCE)
            assert waiting, "the browser says nothing"
            content = os.read(self._heard, 1 << 16)
            assert content, "the browser has ended"
            self._rest += content
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def tab(self, address, width=1100, height=750):
        """Open an address in a window with cookies and storage of its own."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        given = {"url": "about:blank", "browserContextId": context}
        target = self.call("Target.createTarget", **given)["targetId"]
        made = self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, made["sessionId"])
        tab.resize(width, height)
        tab.go(address)
        return tab


class Tab:
    """One page in a browser."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    def _call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def go(self, address):
        self._call("Page.navigate", url=address)

    def reload(self):
        self._call("Page.reload")

    def resize(self, width, height):
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def prefer(self, scheme):
        """Be that of somebody who prefers light or dark pages."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def value(self, expression):
        """Return what an expression of JavaScript is."""
        given = {"expression": expression, "returnByValue": True}
        return self._call("Runtime.evaluate", **given)["result"].get("value")

    def wait(self, expression):
        """Wait until an expression is true; return its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.value(expression)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{expression}: {self.value('document.body.innerText')}")

    def press(self, key):
        """Press and release a key, by its name in the events of browsers."""
        text = {"text": key} if len(key) == 1 else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def write(self, text):
        """Write into what has the focus."""
        self._call("Input.insertText", text=text)

    def click(self, selector, count=1):
        """Click, as often as one does without a pause in between."""
        box = self.value(
            f"(() => {{ const box = document.querySelector({selector!r})"
            ".getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        place = {"x": box[0], "y": box[1], "button": "left"}
        for number in range(1, count + 1):
            given = place | {"clickCount": number}
            for kind in ("mousePressed", "mouseReleased"):
                self._call("Input.dispatchMouseEvent", type=kind, **given)


@contextmanager
def opened(program, folder):
    """Start a browser that keeps its files in a folder and knows this machine only."""
    to_browser, from_browser = os.pipe(), os.pipe()
    command = [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--remote-debugging-pipe", f"--user-data-dir={folder}",
        "--disable-dev-shm-usage", "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]  # fmt: skip
    # The browser reads its descriptor 3 and writes to 4.
    script = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    ends = to_browser[0], from_browser[1]
    process = subprocess.Popen(
        ["bash", "-c", script, *map(str, ends), *command], pass_fds=ends,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    for end in ends:
        os.close(end)
    try:
        yield Browser(command, to_browser[1], from_browser[0])
    finally:
        # With all of its own processes.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(to_browser[1])
        os.close(from_browser[0])
