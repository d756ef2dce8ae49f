#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A real Prometheus with the rules of monitoring/ scrapes uncore serve on simulated
hardware where a scenario plays: what it records are the scenario's causes. The
exporter ends and is started again, and gives its counters back.
"""

import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from lib.command import LIMIT, PATIENCE, started
from lib.exposition import Daemon
from lib.prometheus import find
from lib.uncore import TOP, Machine, Tap
from scenarios import causes, flow
from scenarios.expected import expected
from scenarios.player import machine

PLAY = os.path.join(TOP, "selftests", "scenarios", "play")
RULES = os.path.join(TOP, "monitoring", "prometheus")
SCENARIO = "numa"           # the one that has traffic everywhere
# Rates have the clock of this machine in them, of which an emulated CPU is told
# late; shares do not.
CLOSE_RATE, CLOSE_SHARE = 0.05, 0.01
CONFIG = """\
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [%(rules)s/uncore.rules.yml, %(rules)s/uncore.alerts.yml]
scrape_configs:
  - job_name: uncore
    static_configs:
      - targets: ['127.0.0.1:%(port)d']
        labels: {site: here}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    def __init__(self, program, folder, port):
        self.port = free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % {"rules": RULES, "port": port})
        self.command = [program, "--config.file=" + config,
                        "--storage.tsdb.path=" + os.path.join(folder, "data"),
                        "--web.listen-address=127.0.0.1:%d" % self.port,
                        "--log.level=warn"]

    def query(self, expr):
        """{labels that were asked for: value}, or nothing while it cannot say."""
        url = "http://127.0.0.1:%d/api/v1/query?%s" % (
            self.port, urllib.parse.urlencode({"query": expr}))
        try:
            with urllib.request.urlopen(url, timeout=LIMIT) as reply:
                answer = json.load(reply)
        except (urllib.error.URLError, ConnectionError):
            return []
        return [(one["metric"], float(one["value"][1]))
                for one in answer["data"]["result"]]

    def wait_for(self, expr, good):
        """The first answer that is good, or the last one."""
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.query(expr)
            if good(answer) or time.monotonic() > deadline:
                return answer
            time.sleep(0.5)


def near(got, want, close):
    return got is not None and math.isclose(got, want, rel_tol=close)


def test_figures(tap, prometheus):
    """A rate has the clock of this machine in it, of which an emulated CPU is told
    late: of each figure a minute that has it right."""
    hardware = machine()
    sockets = flow.sockets(hardware, causes.at(SCENARIO, 0, hardware.packages))
    want = [expected(one, sockets[1 - i].causes)
            for i, one in enumerate(sockets)]
    many = len(sockets)
    # a rate is of a minute, which must have passed
    scraped = prometheus.wait_for("uncore_up offset 70s", bool)
    tap.ok(bool(scraped), "it scrapes", [repr(scraped)])
    for name, expr, close, value in (
            ("memory that is read",
             'socket_direction:uncore_memory_bytes:rate1m{direction="read"}',
             CLOSE_RATE, lambda one: one["mem_bw_reads"]),
            ("memory that is written",
             'socket_direction:uncore_memory_bytes:rate1m{direction="write"}',
             CLOSE_RATE, lambda one: one["mem_bw_writes"]),
            ("the memory's peak", "socket:uncore_memory_peak_bytes:rate1m",
             CLOSE_RATE, lambda one: causes.PEAK),
            ("use of memory", "socket:uncore_memory_use:ratio", CLOSE_SHARE,
             lambda one: one["mem_bw_total"] / causes.PEAK),
            ("use of QPI", "avg without (link) (link:uncore_qpi_use:ratio)",
             CLOSE_SHARE, lambda one: one["qpi_link_util"] / 100),
            ("the uncore's clock", "socket:uncore_clock:hertz", CLOSE_RATE,
             lambda one: hardware.uclk)):
        values = [value(one) for one in want]

        def right(answer, values=values, close=close):
            got = {labels.get("socket"): value for labels, value in answer}
            return len(got) == many and all(
                near(got.get(str(i)), value, close)
                for i, value in enumerate(values))

        answer = prometheus.wait_for(expr, right)
        tap.ok(right(answer),
               "%s is the scenario's, within %g %%" % (name, 100 * close),
               ["%r, want %r" % (answer, values)])
    labels = [labels for labels, _ in prometheus.wait_for(
        "socket:uncore_memory_use:ratio", bool)]
    tap.ok(labels and all(one["site"] == "here" and one["job"] == "uncore"
                          for one in labels),
           "labels of a site stay", [repr(labels)])
    alerts = prometheus.query("ALERTS")
    tap.ok(not alerts, "no alert", [repr(alerts)])


def test_restart(tap, prometheus, port):
    """A new exporter counts from 0: Prometheus takes it for what it is."""
    with Daemon("serve", port=port) as daemon:
        resets = prometheus.wait_for(
            "max(resets(uncore_memory_bytes_total[10m]))",
            lambda got: got and got[0][1] == 1)
        most = prometheus.wait_for(
            "max(max_over_time(socket:uncore_memory_use:ratio[10m]))", bool)
        tap.ok(resets and resets[0][1] == 1 and most and most[0][1] < 1,
               "an exporter that begins anew is a reset, and no burst",
               [repr((resets, most))])
        daemon.send(signal.SIGUSR1)
        gone = prometheus.wait_for(
            'ALERTS{alertname="UncoreCountersGone"}', bool)
        tap.ok(bool(gone) and gone[0][0]["alertstate"] == "pending",
               "an exporter that gave its counters back: an alert is near",
               [repr(gone)])
        daemon.send(signal.SIGUSR2)
        gone = prometheus.wait_for(
            'ALERTS{alertname="UncoreCountersGone"}', lambda got: not got)
        tap.ok(not gone, "and off again when it has them", [repr(gone)])
        daemon.end()


def main():
    tap = Tap()
    program, why = find("prometheus")
    if not program:
        tap.skip_all(why)
    size = ["%s=%d" % item for item in causes.MACHINE.items()]
    with Machine(tap, "real", sim=size), \
            tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, PLAY, SCENARIO], check=True)
        with Daemon("serve") as daemon:
            prometheus = Prometheus(program, folder, daemon.port)
            with started(prometheus.command) as process:
                test_figures(tap, prometheus)
                daemon.end()
                test_restart(tap, prometheus, daemon.port)
                process.terminate()
    tap.end()


if __name__ == "__main__":
    main()
