# SPDX-License-Identifier: GPL-2.0-or-later
"""
Control a Chromium without a screen by its DevTools protocol on a pipe: load pages,
evaluate expressions in pages, press keys and take screenshots.
"""

import base64
import collections
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

from lib.python.command import LIMIT

KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, ",": 188, ".": 190}


def find():
    """The path of Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def paeth(left, above, corner):
    """The Paeth predictor (PNG specification, §9.4)."""
    guess = left + above - corner
    return min((abs(guess - byte), i, byte) for i, byte in enumerate(
        (left, above, corner)))[2]


def unfiltered(data, stride, pixel):
    """Yields the lines of a PNG without the filters of its encoding."""
    before = bytearray(stride)
    for start in range(0, len(data), stride + 1):
        kind, line = data[start], bytearray(data[start + 1:start + 1 + stride])
        for i in range(stride) if kind else ():
            left = line[i - pixel] if i >= pixel else 0
            corner = before[i - pixel] if i >= pixel else 0
            line[i] = (line[i] + (
                left if kind == 1 else before[i] if kind == 2 else
                (left + before[i]) // 2 if kind == 3 else
                paeth(left, before[i], corner))) & 255
        yield line
        before = line


def smaller(png):
    """The picture as a PNG with a palette of its 256 most frequent colours. Each other
    colour, at the edges of letters, becomes the nearest colour of the palette."""
    at, chunks = 8, []
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        chunks.append((png[at + 4:at + 8], png[at + 8:at + 8 + size]))
        at += size + 12
    header = dict(chunks)[b"IHDR"]
    width, height, _, colours = struct.unpack(">IIBB", header[:10])
    pixel = {2: 3, 6: 4}[colours]
    data = zlib.decompress(b"".join(
        part for kind, part in chunks if kind == b"IDAT"))
    lines = [[bytes(line[i:i + 3]) for i in range(0, width * pixel, pixel)]
             for line in unfiltered(data, width * pixel, pixel)]
    counts = collections.Counter()
    for line in lines:
        counts.update(line)
    palette = [colour for colour, _ in counts.most_common(256)]
    place = {colour: min(range(len(palette)), key=lambda i: sum(
        (a - b) ** 2 for a, b in zip(palette[i], colour))) for colour in counts}
    made = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", b"".join(palette)),
            (b"IDAT", zlib.compress(b"".join(
                b"\0" + bytes(place[colour] for colour in line) for line in lines), 9)),
            (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(part)) + kind + part +
        struct.pack(">I", zlib.crc32(kind + part)) for kind, part in made)


class Failure(Exception):
    """Chromium ended, answered with an error, or does not answer."""


class Chromium:
    """A browser that can connect to this machine only. Commands are for the last tab."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp()
        commands, to = os.pipe()
        back, answers = os.pipe()
        arguments = [
            path, "--headless=new", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            "--remote-debugging-pipe", "--user-data-dir=" + self.folder]
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % (commands, answers), "sh",
             *arguments], pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder, "LC_ALL": "C.UTF-8"})
        os.close(commands)
        os.close(answers)
        self.to, self.back = to, back
        self.number, self.text = 0, b""
        self.said, self.asked = [], []      # errors of pages; addresses of requests
        self.session = None
        self.tab()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        self.process.terminate()
        try:
            self.process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self):
        deadline = time.monotonic() + LIMIT
        while b"\0" not in self.text:
            ready, _, _ = select.select([self.back], [], [],
                                        max(0, deadline - time.monotonic()))
            part = os.read(self.back, 1 << 20) if ready else b""
            if not part:
                raise Failure("Chromium %s" % (
                    "ended" if ready else "does not answer"))
            self.text += part
        text, self.text = self.text.split(b"\0", 1)
        return json.loads(text)

    def _note(self, event):
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.said.append(json.dumps(params["exceptionDetails"])[:500])
        elif event["method"] == "Runtime.consoleAPICalled" or \
                event["method"] == "Log.entryAdded":
            self.said.append(json.dumps(params)[:500])
        elif event["method"] == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    def tab(self):
        """Opens another tab for all later commands. Returns the session of the tab; a
        caller that sets self.session to it goes back to the tab."""
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        return self.session

    def close_tab(self):
        """Closes the tab that was opened last."""
        self.send("Page.close")

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]))
                return answer["result"]
            if "method" in answer:
                self._note(answer)

    def open(self, address, width=1400, height=1000):
        """Loads a page anew, in a window of this size."""
        self.size(width, height)
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def ask(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure("%s: %s" % (expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Evaluates an expression until it is true, or LIMIT seconds have passed. Returns
        the last value."""
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                value = self.ask(expression)
            except Failure:     # between two pages
                value = None
                if self.process.poll() is not None:
                    raise
            if value or time.monotonic() > deadline:
                return value
            time.sleep(0.1)

    def press(self, key):
        more = {"text": key} if len(key) == 1 else \
            {"text": "\r"} if key == "Enter" else {}
        code = KEYS.get(key) or ord(key.upper())
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key,
                      windowsVirtualKeyCode=code,
                      **(more if kind == "keyDown" else {}))

    def photograph(self, path):
        answer = self.send("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(smaller(base64.b64decode(answer["data"])))
