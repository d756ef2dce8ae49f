# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shared code of the tests of uncore serve: start the daemon, send requests to it, and parse
its output formats strictly, by their specifications.
"""

import contextlib
import http.client
import os
import re
import select
import signal
import subprocess
import time

from lib.python.command import LIMIT, PATIENCE
from lib.python.uncore import UNCORE

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
SUFFIXES = {"counter": "_total", "info": "_info", "gauge": ""}


class Malformed(Exception):
    """A text that breaks a rule of its format."""


def demand(good, line):
    if not good:
        raise Malformed(repr(line))


def labels_of(text, line):
    labels = []
    while text:
        match = LABEL.match(text)
        demand(match and match[1] not in dict(labels), line)
        labels.append((match[1], match[2]))
        text = text[match.end():]
        demand(bool(text) == (match[3] == ","), line)
    return frozenset(labels)


def parse(text, openmetrics):
    """Parses a text, as OpenMetrics or as Prometheus' text format. Returns
    {(name of the sample, labels): value}. Raises Malformed if a rule is broken."""
    samples, types, family, seen = {}, {}, None, set()
    demand(text.endswith("\n") and "\r" not in text, text[-80:])
    lines = text.split("\n")[:-1]
    if openmetrics:
        demand(lines.pop() == "# EOF", "no # EOF")
    for line in lines:
        match = re.fullmatch(r"# (HELP|TYPE|UNIT) (\S+) (.*)", line)
        if match:
            what, name, rest = match.groups()
            demand(NAME.fullmatch(name), line)
            if name != family:
                # a family is in one piece, and uncore serve writes HELP first
                demand(what == "HELP" and name not in seen, line)
                family, kinds = name, set()
                seen.add(name)
            demand(what not in kinds and not
                   any(key[0].startswith(name) and types.get(name)
                       and key[0] == name + SUFFIXES.get(types[name], "")
                       for key in samples if what != "HELP"), line)
            kinds.add(what)
            if what == "HELP":
                demand(rest.strip() == rest and rest, line)
            elif what == "TYPE":
                demand(rest in (SUFFIXES if openmetrics else
                                ("counter", "gauge")), line)
                types[name] = rest
            else:
                demand(openmetrics and name.endswith("_" + rest), line)
            continue
        match = SAMPLE.fullmatch(line)
        demand(match and family, line)
        kind = types[family]
        demand(match[1] == (family + SUFFIXES[kind] if openmetrics
                            else family), line)
        demand(openmetrics or kind != "counter" or family.endswith("_total"),
               line)
        key = match[1], labels_of(match[2] or "", line)
        demand(key not in samples, line)
        samples[key] = float(match[3])
        demand(kind != "counter" or samples[key] >= 0, line)
    return samples


def value(samples, name, **labels):
    """The value of a sample, or None."""
    return samples.get((name, frozenset(labels.items())))


def up(samples):
    """The value of uncore_up: 1 if the counters are open, else 0."""
    return value(samples, "uncore_up")


class Daemon:
    """A process of uncore serve, on @port or on a port that the kernel chooses. With
    @replay the daemon shows a recording, and may print lines about the recording before
    it listens."""

    def __init__(self, *arguments, scheme="http", port=0, replay=False, **more):
        self.process = subprocess.Popen(
            [UNCORE, *arguments, "--listen", "127.0.0.1:%d" % port],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            **more)
        self.said = ""
        # for --cgroups the kernel verifies BPF programs, which a slow machine takes long for
        deadline = time.monotonic() + PATIENCE
        # read byte by byte: later output is for more() and end()
        while not self.said.endswith("\n") or \
                not re.search(r"listening on \w+://127", self.said):
            ready, _, _ = select.select([self.process.stderr], [], [],
                                        max(0, deadline - time.monotonic()))
            part = os.read(self.process.stderr.fileno(), 1).decode() \
                if ready else ""
            if not part:
                self.process.kill()
                raise RuntimeError("uncore serve did not start: " + self.said)
            self.said += part
        match = re.fullmatch(
            r"%suncore: listening on %s://127\.0\.0\.1:(\d+)/%s\n" % (
                r"(?:uncore: .*\n)*", scheme,
                ", which shows a recording" if replay else "metrics"),
            self.said)
        if not match:
            self.process.kill()
            raise RuntimeError("uncore serve said: " + self.said)
        self.port = int(match[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        """Ends the daemon by a signal. Returns its exit status, and its output since it
        listened."""
        self.send(number)
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out + err

    def more(self, words, seconds=LIMIT):
        """The daemon's errors from now on, until they contain @words."""
        said, deadline = "", time.monotonic() + seconds
        while words not in said and time.monotonic() < deadline:
            ready, _, _ = select.select([self.process.stderr], [], [], 0.2)
            if ready:
                said += os.read(self.process.stderr.fileno(), 4096).decode()
        return said

    def connected(self):
        return contextlib.closing(http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=LIMIT))

    def request(self, path="/metrics", method="GET", body=None, **headers):
        """(status, headers, text)"""
        with self.connected() as connection:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def scrape(self):
        """The samples of a scrape in OpenMetrics format."""
        status, _, text = self.request(
            Accept="application/openmetrics-text; version=1.0.0")
        demand(status == 200, "status %d" % status)
        return parse(text, True)

    def wait_until_answered(self):
        """Waits until the daemon answers; it may refuse a connection while it has many."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.request("/healthz")[0] == 200:
                    return
            time.sleep(0.1)

    def wait_for(self, condition):
        """Scrapes until the condition is true of the samples, or LIMIT seconds have
        passed. Returns the last samples."""
        deadline = time.monotonic() + LIMIT
        while True:
            samples = self.scrape()
            if condition(samples) or time.monotonic() > deadline:
                return samples
            time.sleep(0.2)

    def fresh(self, each=lambda samples: None):
        """Scrapes until the daemon has read its counters again, and returns the samples.
        @each is called with the samples of each scrape."""
        first = self.scrape()
        each(first)

        def is_fresh(samples):
            each(samples)
            return value(samples, "uncore_reads_total") > \
                value(first, "uncore_reads_total")

        return self.wait_for(is_fresh)

    def memory(self):
        """Anonymous memory of the daemon in kB, without pages of its program file."""
        with open("/proc/%d/status" % self.process.pid,
                  encoding="ascii") as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read())[1])
