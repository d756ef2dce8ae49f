#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test a real Prometheus with the rules of userspace/monitoring/. It scrapes three
machines: uncore serve on simulated hardware where a scenario plays, and two recordings
of uncore serve under other scenarios. The recorded rules and the dashboards' queries
have the values that follow from each machine's scenario, and the traffic of cgroups
adds up to their sockets' traffic. At the end the exporter is restarted, and releases
its counters.
"""

import contextlib
import http.server
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import LIMIT, PATIENCE, started  # noqa: E402
from lib.python.exposition import PROMETHEUS, Daemon  # noqa: E402
from lib.python.prometheus import find  # noqa: E402
from lib.python.top import hold_tracepoint  # noqa: E402
from lib.python.uncore import TOP, Machine, Tap  # noqa: E402
from scenarios import causes, flow  # noqa: E402
from scenarios.expected import expected  # noqa: E402
from scenarios.player import machine  # noqa: E402

PLAY = os.path.join(TOP, "selftests", "scenarios", "play")
RULES = os.path.join(TOP, "userspace", "monitoring", "prometheus")
GRAFANA = os.path.join(TOP, "userspace", "monitoring", "grafana")
# Replaces the five minutes of the rules' rates, as scrapes are a second apart here.
WINDOW = "1m"
SCENARIO = "numa"           # has traffic in all box types
RECORDED = "io", "latency"  # scenarios of the other two machines
CGROUPS = 3
# Relative tolerances. A rate depends on this machine's clock, which an emulated CPU reads
# late; a share does not.
CLOSE_RATE, CLOSE_SHARE = 0.05, 0.01
CONFIG = """\
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [%(rules)s/uncore.rules.yml, %(rules)s/uncore.alerts.yml]
scrape_configs:
  - job_name: uncore
    static_configs:
      - targets: [%(targets)s]
        labels: {site: here}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def instance(port):
    """Return the label "instance" of the machine on a port."""
    return "127.0.0.1:%d" % port


class Recording:
    """A server of an exporter's answer, recorded under a scenario. Counters continue at
    the rates that they had between two recorded scrapes."""

    CLOCK = 'uncore_memory_clock_cycles_total{socket="0",channel="0"}'
    SECONDS = 5                 # between the two scrapes

    def __init__(self, scenario):
        self.scenario = scenario
        subprocess.run([sys.executable, PLAY, scenario], check=True)
        deadline = time.monotonic() + PATIENCE
        with Daemon("serve") as daemon:
            self.old, self.took = self.samples(daemon.request()[2]), 0
            while self.took < self.SECONDS and time.monotonic() < deadline:
                time.sleep(1)
                self.text = daemon.request()[2]
                self.new = self.samples(self.text)
                # seconds of the memory's clock, which is exact on an emulated CPU
                self.took = (self.new[self.CLOCK] - self.old[self.CLOCK]) / \
                    machine().dclk
            daemon.end()
        self.start = time.monotonic()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                 self.handler())
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    @staticmethod
    def samples(text):
        """Return {name and labels as text: value}."""
        return {key: float(number) for key, number in (
            line.rsplit(" ", 1) for line in text.splitlines()
            if not line.startswith("#"))}

    def answer(self):
        later = (time.monotonic() - self.start) / self.took
        lines = []
        for line in self.text.splitlines():
            key = line.rsplit(" ", 1)[0]
            if not line.startswith("#") and "_total" in key:
                line = "%s %r" % (key, self.new[key] + later * (
                    self.new[key] - self.old.get(key, self.new[key])))
            lines.append(line + "\n")
        return "".join(lines).encode()

    def handler(self):
        recording = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):       # pylint: disable=invalid-name
                body = recording.answer()
                self.send_response(200)
                self.send_header("Content-Type", PROMETHEUS)
                self.send_header("Content-Length", str(len(body)))
                # the scraper may have closed the connection, after a second
                with contextlib.suppress(OSError):
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler


class Prometheus:
    """The configuration of a Prometheus, and queries to it. It scrapes the exporters on
    @ports, with the rules of this project; or it has the configuration @config."""

    def __init__(self, program, folder, ports=(), config=None):
        self.port = free_port()
        for name in os.listdir(RULES):
            with open(os.path.join(RULES, name), encoding="utf-8") as source, \
                    open(os.path.join(folder, name), "w",
                         encoding="utf-8") as file:
                file.write(source.read().replace("[5m]", "[%s]" % WINDOW))
        path = os.path.join(folder, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config or CONFIG % {"rules": folder, "targets": ", ".join(
                "'%s'" % instance(port) for port in ports)})
        self.command = [program, "--config.file=" + path,
                        "--storage.tsdb.path=" + os.path.join(folder, "data"),
                        "--web.listen-address=127.0.0.1:%d" % self.port,
                        "--log.level=warn"]

    def query(self, expr):
        """Return the results of a query, [(labels, value)]; [] if Prometheus does not
        answer."""
        url = "http://127.0.0.1:%d/api/v1/query?%s" % (
            self.port, urllib.parse.urlencode({"query": expr}))
        try:
            with urllib.request.urlopen(url, timeout=LIMIT) as reply:
                answer = json.load(reply)
        except (urllib.error.URLError, ConnectionError):
            return []
        return [(row["metric"], float(row["value"][1]))
                for row in answer["data"]["result"]]

    def wait_for(self, expr, good):
        """Repeat a query until good(answer) is true or time is up. Return the last
        answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.query(expr)
            if good(answer) or time.monotonic() > deadline:
                return answer
            time.sleep(0.5)


def near(got, want, close):
    return got is not None and math.isclose(got, want, rel_tol=close)


def causes_of(scenario):
    """Return the values of the metrics that follow from a scenario, for each socket."""
    hardware = machine()
    sockets = flow.sockets(hardware, causes.at(scenario, 0, hardware.packages))
    return [expected(package, sockets[1 - i].causes)
            for i, package in enumerate(sockets)]


def per_socket(answers, target):
    """Return the values of a machine, {socket: value}."""
    return {labels.get("socket"): value for labels, value in answers
            if labels.get("instance") == target}


def test_figures(tap, prometheus, port):
    """Each figure has its scenario's value in at least one minute. A rate depends on
    this machine's clock, which an emulated CPU reads late, so that some minutes are
    wrong."""
    hardware, want = machine(), causes_of(SCENARIO)
    # rates are of a minute, so wait until the first minute has passed
    scraped = prometheus.wait_for("max by (instance) (uncore_up offset 70s)",
                                  lambda got: len(got) == 3)
    tap.ok(len(scraped) == 3, "it scrapes three machines", [repr(scraped)])
    for name, expr, close, value_of in (
            ("memory that is read",
             'socket_direction:uncore_memory_bytes:rate5m{direction="read"}',
             CLOSE_RATE, lambda metrics: metrics["mem_bw_reads"]),
            ("memory that is written",
             'socket_direction:uncore_memory_bytes:rate5m{direction="write"}',
             CLOSE_RATE, lambda metrics: metrics["mem_bw_writes"]),
            ("use of memory", "socket:uncore_memory_use:ratio_rate5m", CLOSE_SHARE,
             lambda metrics: metrics["mem_bw_total"] / causes.PEAK),
            ("use of QPI", "avg without (link) (link:uncore_qpi_use:ratio_rate5m)",
             CLOSE_SHARE, lambda metrics: metrics["qpi_tx_util"] / 100),
            ("the uncore's clock", "socket:uncore_clock_cycles:rate5m", CLOSE_RATE,
             lambda metrics: hardware.uclk)):
        values = [value_of(metrics) for metrics in want]

        def right(answer, values=values, close=close):
            got = per_socket(answer, instance(port))
            return len(got) == len(values) and all(
                near(got.get(str(i)), value, close)
                for i, value in enumerate(values))

        answer = prometheus.wait_for(expr, right)
        tap.ok(right(answer),
               "%s is the scenario's, within %g %%" % (name, 100 * close),
               ["%r, want %r" % (answer, values)])
    labels = [labels for labels, _ in prometheus.wait_for(
        "socket:uncore_memory_use:ratio_rate5m", bool)]
    tap.ok(labels and all(label_set["site"] == "here" and label_set["job"] == "uncore"
                          for label_set in labels),
           "labels of a site stay", [repr(labels)])
    # UncoreTargetDown is possible: a busy machine may answer a scrape too late
    alerts = 'ALERTS{alertname!="UncoreTargetDown"}'
    number = prometheus.wait_for("count(%s) or vector(0)" % alerts, bool)
    tap.ok([value for _, value in number] == [0], "no alert",
           [repr(prometheus.query(alerts))])


def dashboard_query(name, kind, title):
    """Return the first query of a dashboard's panel."""
    with open(os.path.join(GRAFANA, name), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        if panel["type"] == kind and panel["title"] == title:
            return panel["targets"][0]["expr"].replace(
                "$__rate_interval", WINDOW).replace("$top", "10")
    raise KeyError(title)


def test_fleet(tap, prometheus, machines):
    """The queries of the dashboards return each machine's own numbers."""
    in_fleet = dashboard_query("uncore-fleet.json", "table", "Memory")
    of_machine = dashboard_query("uncore.json", "timeseries", "Memory bandwidth")
    for scenario, port in machines:
        want = causes_of(scenario)
        shares = {(instance(port), str(i)): metrics["mem_bw_total"] / causes.PEAK
                  for i, metrics in enumerate(want)}
        rates = {(instance(port), str(i), way): metrics["mem_bw_" + way + "s"]
                 for i, metrics in enumerate(want) for way in ("read", "write")}

        def shares_right(answer, shares=shares):
            got = {(labels["instance"], labels["socket"]): value
                   for labels, value in answer}
            return len(got) == 2 * len(machines) and all(
                near(got.get(key), value, CLOSE_SHARE)
                for key, value in shares.items())

        def each_right(answer, rates=rates):
            got = {(labels["instance"], labels["socket"],
                    labels["direction"]): value for labels, value in answer}
            return set(got) == set(rates) and all(
                near(got[key], rates[key], CLOSE_RATE) for key in rates)

        answer = prometheus.wait_for(in_fleet, shares_right)
        tap.ok(shares_right(answer),
               "%s: its sockets' memory in the fleet's table, within %g %%" %
               (scenario, 100 * CLOSE_SHARE), ["%r, want %r" % (answer, shares)])
        answer = prometheus.wait_for(of_machine.replace(
            "$instance", re.escape(instance(port)).replace("\\", "\\\\")),
                                     each_right)
        tap.ok(each_right(answer), "%s: and on its own, by socket" % scenario,
               ["%r, want %r" % (answer, rates)])


def test_cgroups(tap, prometheus, port):
    """The traffic of a socket's cgroups, other and idle is the socket's traffic, in a
    minute. The exporter reads cgroups and sockets one after the other at each scrape,
    so the sums may differ by CLOSE_SHARE."""
    ratio = "sum by (socket) (rate(uncore_cgroup_memory_bytes_total[1m])) / " \
        "sum by (socket) (rate(uncore_memory_bytes_total{instance='%s'}[1m]))"

    def good(got):
        return len(got) == 2 and all(near(value, 1, CLOSE_SHARE)
                                     for _, value in got)

    got = prometheus.wait_for(ratio % instance(port), good)
    tap.ok(good(got), "cgroups, other and idle add up to their sockets, within "
           "%g %%" % (100 * CLOSE_SHARE), [repr(got)])
    # If the exporter answers a scrape too late, on a busy host, Prometheus has no series
    # of its cgroups until the next scrape.
    series = prometheus.wait_for(
        "count by (socket, direction) (uncore_cgroup_memory_bytes_total)", bool)
    tap.ok(len(series) == 4 and all(3 <= value <= CGROUPS + 2
                                    for _, value in series),
           "of at most %d cgroups" % CGROUPS, [repr(series)])


def test_restart(tap, prometheus, port):
    """A new exporter counts from 0: Prometheus sees one reset of the counters, and no
    burst."""
    with Daemon("serve", port=port) as daemon:
        resets = prometheus.wait_for(
            "max(resets(uncore_memory_bytes_total[10m]))",
            lambda got: got and got[0][1] == 1)
        most = prometheus.wait_for(
            "max(max_over_time(socket:uncore_memory_use:ratio_rate5m[10m]))", bool)
        tap.ok(resets and resets[0][1] == 1 and most and most[0][1] < 1,
               "an exporter that begins anew is a reset, and no burst",
               [repr((resets, most))])
        daemon.send(signal.SIGUSR1)
        alert = prometheus.wait_for(
            'ALERTS{alertname="UncoreCountersGone"}', bool)
        tap.ok(bool(alert) and alert[0][0]["alertstate"] == "pending",
               "an exporter that gave its counters back: an alert is near",
               [repr(alert)])
        daemon.send(signal.SIGUSR2)
        alert = prometheus.wait_for(
            'ALERTS{alertname="UncoreCountersGone"}', lambda got: not got)
        tap.ok(not alert, "and off again when it has them", [repr(alert)])
        daemon.end()


def main():
    tap = Tap()
    program, reason = find("prometheus")
    if not program:
        tap.skip_all(reason)
    size = ["%s=%d" % item for item in causes.MACHINE.items()]
    with Machine(tap, "real", sim=size), \
            tempfile.TemporaryDirectory() as folder:
        hold_tracepoint()
        recordings = [Recording(scenario) for scenario in RECORDED]
        subprocess.run([sys.executable, PLAY, SCENARIO], check=True)
        with Daemon("serve", "--cgroups", str(CGROUPS)) as daemon:
            machines = [(SCENARIO, daemon.port),
                        *((recording.scenario, recording.port)
                          for recording in recordings)]
            prometheus = Prometheus(program, folder,
                                    [port for _, port in machines])
            with started(prometheus.command) as process:
                test_figures(tap, prometheus, daemon.port)
                test_fleet(tap, prometheus, machines)
                test_cgroups(tap, prometheus, daemon.port)
                daemon.end()
                test_restart(tap, prometheus, daemon.port)
                process.terminate()
    tap.end()


if __name__ == "__main__":
    main()
