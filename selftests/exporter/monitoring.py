#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the files for Prometheus and Grafana in userspace/monitoring/: they are current,
Prometheus accepts them, and all series that they name exist. Rules and alerts have the
right results for known counters at scrape intervals of 15, 30 and 60 seconds, and each
panel has data without rules at each of these intervals.
"""

import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "userspace", "monitoring")]
from figures import ALERTS, FIGURES  # noqa: E402
from lib.python.prometheus import find  # noqa: E402
from lib.python.schema import (errors_of, python_with_jsonschema,  # noqa: E402
                               without_one)
from lib.python.uncore import Tap  # noqa: E402

FOLDER = os.path.join(TOP, "userspace", "monitoring")
RULES = os.path.join(FOLDER, "prometheus", "uncore.rules.yml")
ALERT_RULES = os.path.join(FOLDER, "prometheus", "uncore.alerts.yml")
UNIT_TESTS = os.path.join(FOLDER, "prometheus", "tests.yml")
SCHEMA = os.path.join(FOLDER, "grafana", "schema.json")
DASHBOARDS = [os.path.join(FOLDER, "grafana", name)
              for name in ("uncore.json", "uncore-fleet.json", "uncore-pods.json")]
SERIES = os.path.join(TOP, "Documentation", "exporter.rst")
NAME = r"[a-z_]*:?\buncore_\w+(?::\w+)?"
LIMIT = 120
INTERVALS = 15, 30, 60
SILENT = r"{alertname: %s, eval_time: \w+, exp_alerts: \[\]}\n"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          timeout=LIMIT, check=False)


def exported():
    """Return the series that Documentation/exporter.rst lists."""
    names = set()
    for name in re.findall(r"^``(uncore_\w+)``", read(SERIES), re.M):
        names |= {name, name + "_total"}
    return names


def test_catalogue(tap):
    """The formulas of utilisation come from the event catalogue: if a metric of the
    catalogue changes, generate.py reports that the files are out of date."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "events")
        shutil.copytree(os.path.join(TOP, "events"), copy)
        for generation in ("hswep", "skx", "icx"):     # the others are like the first
            path = os.path.join(copy, generation, "metrics.json")
            text = read(path)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace('"4 * (%s_imc@cas_count.rd@' % generation,
                                        '"8 * (%s_imc@cas_count.rd@' % generation))
        result = subprocess.run(
            [os.path.join(FOLDER, "generate.py"), "--check"], check=False,
            env={**os.environ, "UNCORE_CATALOGUE": copy}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", timeout=LIMIT)
    tap.ok(result.returncode == 1 and all(name in result.stdout for name in (
        "uncore.rules.yml", "uncore.alerts.yml", "uncore.json", "uncore-fleet.json")),
           "they follow the catalogue's metrics", result.stdout.splitlines())


def names_in(expr):
    """Return the series in an expression, without the contents of strings and the names
    of labels."""
    expr = re.sub(r'"[^"]*"', '""', expr)
    return set(re.findall(NAME, re.sub(r"\{[^}]*\}", "", expr)))


def expressions(dashboard):
    """Generate (panel, expression) of each query in a dashboard."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel, target["expr"]


def test_names(tap, dashboards):
    series = exported()
    texts = [(figure.record, figure.expr()) for figure in FIGURES] + \
        [(alert.name, alert.expr) for alert in ALERTS] + \
        [(panel["title"], expr) for dashboard in dashboards
         for panel, expr in expressions(dashboard)]
    unknown = ["%s: %s" % (where, name) for where, expr in texts
               for name in sorted(names_in(expr) - series)]
    tap.ok(not unknown and len(series) > 40, "all series that are named exist",
           unknown)
    queries = [variable["query"]["query"] for dashboard in dashboards
               for variable in dashboard["templating"]["list"]
               if variable["type"] == "query"]
    unknown = [query for query in queries if
               not set(re.findall(r"uncore_\w+", query)) <= series]
    tap.ok(len(queries) == 2 and not unknown, "variables' queries, too", unknown)


def at_interval(text, seconds):
    """Return the unit tests with counters that are scraped every @seconds instead of
    every 15 seconds: steps are larger by this factor, and fewer."""
    times = seconds // 15

    def scaled(match):
        start, step, count = match.groups()
        return "%s%sx%d" % (start, "+%d" % (int(step) * times) if step else "",
                            int(count) // times)

    text = text.replace("- interval: 15s", "- interval: %ds" % seconds)
    return re.sub(r"\b(\d+)(?:\+(\d+))?x(\d+)\b", scaled, text)


def test_rules(tap, promtool):
    result = run(promtool, "check", "rules", RULES, ALERT_RULES)
    tap.ok(result.returncode == 0 and
           "%d rules found" % len(FIGURES) in result.stdout and
           "%d rules found" % len(ALERTS) in result.stdout,
           "Prometheus takes rules and alerts", result.stdout.splitlines())
    for seconds in INTERVALS:
        with tempfile.TemporaryDirectory() as folder:
            for path in (RULES, ALERT_RULES):
                os.symlink(path, os.path.join(folder, os.path.basename(path)))
            path = os.path.join(folder, "tests.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(at_interval(read(UNIT_TESTS), seconds))
            result = run(promtool, "test", "rules", path)
        tap.ok(result.returncode == 0, "of known counters, scraped each %d s, they say "
               "what they must" % seconds, result.stdout.splitlines())
    text = read(UNIT_TESTS)
    untested = [figure.record for figure in FIGURES
                if not re.search(r"expr: .*%s\b" % figure.record, text)]
    tap.ok(not untested, "each figure has a unit test", untested)
    for outcome, pattern in (
            ("sets off", r"alertname: %s\n.*\n +exp_alerts:\n {10}- exp_labels"),
            ("stays silent", SILENT)):
        untested = [alert.name for alert in ALERTS
                    if not re.search(pattern % alert.name, text)]
        tap.ok(not untested, "each alert %s in one" % outcome, untested)
    for where in "An AMD", "A file for node_exporter", "Two clusters":
        part = text.split("\n  # " + where)[1].split("\n  # ")[0]
        untested = [alert.name for alert in ALERTS
                    if not re.search(SILENT % alert.name, part)]
        tap.ok(not untested, "and each one in that of: %s" % where, untested)


def independent():
    """The figures in lists. No figure of a list has another one of the list in its rule."""
    rules = dict(re.findall(r"- record: (\S+)\n(.*?)(?=\n      - |\Z)", read(RULES), re.S))
    lists = []
    for figure in FIGURES:
        for others in lists:
            if not any(figure.record in rules[other.record] or
                       other.record in rules[figure.record] for other in others):
                others.append(figure)
                break
        else:
            lists.append([figure])
    return lists


def test_wrong(tap, promtool):
    """The unit tests notice a wrong rule: multiply each figure by 1.01, independent figures
    at a time."""
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for path in (ALERT_RULES, UNIT_TESTS):
            with open(os.path.join(folder, os.path.basename(path)), "w",
                      encoding="utf-8") as file:
                file.write(read(path))
        for figures in independent():
            text = read(RULES)
            for figure in figures:
                start = "- record: %s\n        expr: |\n" % figure.record
                text = text.replace(start, start + "          1.01 *\n", 1)
            with open(os.path.join(folder, os.path.basename(RULES)), "w",
                      encoding="utf-8") as file:
                file.write(text)
            result = run(promtool, "test", "rules",
                         os.path.join(folder, os.path.basename(UNIT_TESTS)))
            missed += [figure.record for figure in figures if result.returncode == 0 or
                       not re.search(r"expr: .*%s\b" % figure.record, result.stdout)]
    tap.ok(not missed, "they notice each of %d rules made wrong by 1 %%" %
           len(FIGURES), missed)


# Keys that a dashboard can omit, as Grafana's default is acceptable.
OPTIONAL = {"tags", "description", "editable", "timezone", "links", "label", "sort",
            "includeAll", "multi", "current", "repeat", "min", "max", "decimals",
            "custom", "fillOpacity", "showPoints", "thresholds", "thresholdsStyle",
            "cellOptions", "cellHeight", "sortBy", "job", "node", "legend", "show", "tooltip",
            "asDropdown", "targetBlank", "mode", "Time", "instance", "socket", "link", "limit",
            "Value", "format", "instant"}


def test_schema(tap, dashboards):
    """The dashboards match Grafana's schema, and the schema rejects a dashboard that
    lacks any of its mandatory keys."""
    if not python_with_jsonschema():
        tap.skip("the dashboard against its schema",
                 "no jsonschema here (Debian: python3-jsonschema)")
        return
    # Keys are removed from one panel of each type, and from one variable of each type.
    panels = {panel["type"]: panel for dashboard in dashboards
              for panel in dashboard["panels"]}
    variables = {variable["type"]: variable for dashboard in dashboards
                 for variable in dashboard["templating"]["list"]}
    first = dashboards[0]
    small = [{**first, "panels": [panel]} for panel in panels.values()] + \
        [{**first, "panels": [panels["row"]], "templating": {"list": [variable]}}
         for variable in variables.values()]
    broken = [(member, document) for part in small
              for member, document in without_one(part)
              if member.rsplit(".", 1)[-1] not in OPTIONAL]
    try:
        all_errors = errors_of(json.loads(read(SCHEMA)), [
            *dashboards, *(document for _, document in broken)])
    except ValueError as error:
        tap.ok(False, "the schema is one", [str(error)])
        return
    wrong, all_errors = (sum(all_errors[:len(dashboards)], []),
                         all_errors[len(dashboards):])
    tap.ok(not wrong, "the dashboards are as their schema wants it", wrong)
    missed = sorted({member for (member, _), errors in zip(broken, all_errors)
                     if not errors})
    tap.ok(len(broken) > 80 and not missed,
           "which misses each of %d parts that are not there" % len(broken),
           missed)


def queries(dashboard, interval):
    """Generate each panel's queries as Grafana sends them, for machine "a" of the unit
    tests."""
    values = {"$__rate_interval": "%ds" % (4 * interval), "$instance": "a",
              "$socket": ".*", "$top": "10", "$scrape": "%ds" % interval}
    for panel, expr in expressions(dashboard):
        for name, value in values.items():
            expr = expr.replace(name, value)
        yield panel, expr


def test_dashboard(tap, dashboard, promtool):
    wrong = []
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        print("groups:\n- name: dashboard\n  rules:", file=file)
        count = 0
        for _, expr in queries(dashboard, 15):
            count += 1
            print("  - record: query%d\n    expr: %s" % (count, json.dumps(expr)),
                  file=file)
        file.flush()
        result = run(promtool, "check", "rules", file.name)
    tap.ok(result.returncode == 0 and "%d rules found" % count in result.stdout,
           "%s: Prometheus takes its %d queries" % (dashboard["title"], count),
           result.stdout.splitlines())
    for panel, expr in expressions(dashboard):
        for key in ("title", "description"):
            if not panel[key]:
                wrong.append("panel %d has no %s" % (panel["id"], key))
        if not panel["fieldConfig"]["defaults"]["unit"]:
            wrong.append("panel %d has no unit" % panel["id"])
        if "rate(" in expr and re.findall(r"\[([^]]*)\]", expr) != \
                ["$__rate_interval"] * expr.count("["):
            wrong.append("panel %d sets a separate range" % panel["id"])
    places = {}
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        if at["x"] + at["w"] > 24:
            wrong.append("panel %d is too far right" % panel["id"])
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                if places.setdefault((x, y), panel["id"]) != panel["id"]:
                    wrong.append("panels %d and %d are in one place" %
                                 (panel["id"], places[x, y]))
    numbers = [panel["id"] for panel in dashboard["panels"]]
    tap.ok(not wrong and len(set(numbers)) == len(numbers),
           "its panels have titles, units, and distinct places", wrong)


def test_shown(tap, machine):
    shown = {panel["title"] for panel in machine["panels"]}
    missing = [figure.title for figure in FIGURES if figure.title not in shown]
    tap.ok(not missing, "the machine's dashboard shows every figure", missing)
    # The last threshold of a panel is the limit of an alert.
    far = ["%s: %s" % (panel["title"], limit) for panel in machine["panels"]
           for limit in [panel.get("fieldConfig", {}).get("defaults", {}).get(
               "thresholds", {"steps": [{"value": None}]})["steps"][-1]["value"]]
           if limit and not any("> %g" % limit in alert.expr for alert in ALERTS)]
    tap.ok(not far, "thresholds are where the alerts are", far)


# --- a real Prometheus with backfilled samples of an hour

BEGIN = 1704067200          # Unix time at which the hour begins
HOUR = 3600


def openmetrics(interval):
    """Return the samples of the first two machines of the unit tests in an hour, in
    OpenMetrics' format."""
    text = at_interval(read(UNIT_TESTS), interval).split("\n  # Machine c")[0]
    families, seen = {}, set()
    for series, start, step, count in re.findall(
            r"- {series: '(.*)', values: (\d+)(?:\+(\d+))?x(\d+)}\n", text):
        name = series.split("{")[0]
        if series in seen or int(count) * interval < HOUR // 2:
            continue
        seen.add(series)
        for i in range(HOUR // interval + 1):
            families.setdefault(name, []).append("%s %d %d" % (
                series.replace('", ', '",'), int(start) + i * int(step or 0),
                BEGIN + i * interval))
    lines = []
    for name, samples in families.items():
        lines += ["# TYPE %s %s" % (name.removesuffix("_total"),
                                    "counter" if name.endswith("_total") else
                                    "gauge"), *samples]
    return "\n".join([*lines, "# EOF", ""])


class Prometheus:
    """A running Prometheus without rules."""

    def __init__(self, config, folder, *options):
        path = os.path.join(folder, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        program, _ = find("prometheus")
        self.process = subprocess.Popen(
            [program, "--config.file=" + path, "--log.level=error",
             "--storage.tsdb.path=" + os.path.join(folder, "data"),
             "--web.listen-address=127.0.0.1:%d" % self.port, *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=LIMIT)

    def ask(self, endpoint, **parameters):
        """Return the results of a request to the API. Wait until Prometheus answers."""
        url = "http://127.0.0.1:%d/api/v1/%s?%s" % (
            self.port, endpoint, urllib.parse.urlencode(parameters))
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                with urllib.request.urlopen(url, timeout=LIMIT) as reply:
                    return json.load(reply)["data"]["result"]
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)


class Backfilled(Prometheus):
    """Prometheus with the samples that an hour of scrapes would have stored."""

    def __init__(self, interval, folder):
        metrics = os.path.join(folder, "metrics")
        with open(metrics, "w", encoding="utf-8") as file:
            file.write(openmetrics(interval))
        promtool, _ = find("promtool")
        self.backfill = run(promtool, "tsdb", "create-blocks-from", "openmetrics",
                            metrics, os.path.join(folder, "data"))
        super().__init__("global: {scrape_interval: %ds}\n" % interval, folder,
                         "--storage.tsdb.retention.time=100y")

    def range(self, expr, step):
        """Query the hour. Return {labels: {seconds after BEGIN: value}}."""
        return {tuple(sorted(row["metric"].items())): {
            int(at) - BEGIN: float(value) for at, value in row["values"]}
                for row in self.ask("query_range", query=expr, start=BEGIN,
                                    end=BEGIN + HOUR, step=step)}


def test_intervals(tap, dashboards):
    """Each panel of the dashboards has data during the whole hour, without rules."""
    for interval in INTERVALS:
        empty, gaps, values, count = [], [], {}, 0
        with tempfile.TemporaryDirectory() as folder, \
                Backfilled(interval, folder) as prometheus:
            for dashboard in dashboards:
                for panel, expr in queries(dashboard, interval):
                    count += 1
                    answers = prometheus.range(expr, interval)
                    # a rate needs at least two scrapes
                    want = set(range(2 * interval, HOUR + 1, interval))
                    if not answers:
                        empty.append(panel["title"])
                    gaps += ["%s: %d of %d" % (panel["title"], len(got), len(want))
                             for got in answers.values() if not want <= set(got)]
                    values[dashboard["uid"], panel["title"]] = {
                        round(got[max(got)], 4) for got in answers.values()}
        tap.ok(not empty and count >= 20, "scraped each %d s, and without rules, each "
               "of %d panels has data" % (interval, count),
               [*empty, *prometheus.backfill.stdout.splitlines()[-2:]])
        tap.ok(not gaps, "at each step of an hour", gaps)
        tap.ok(values["uncore", "Memory bandwidth in use"] == {0.875, 0.1875} and
               values["uncore-fleet", "QPI"] >= {0.9167, 0.1, 0.25} and
               values["uncore", "Cache in use"] == {0.1},
               "and the values that the counters have", [repr(values)])


# --- a fleet

MACHINES = 100
SCRAPE = 2                  # seconds
ANSWER = 2                  # seconds: limit for the query of a panel


class Fleet:
    """Targets for a real Prometheus: MACHINES machines with the counters of the unit
    tests' first machine. Machine N has N / MACHINES of its memory traffic."""

    def __init__(self):
        text = read(UNIT_TESTS).split("\n  # Machine b")[0]
        self.series = [
            (series.split("{")[0], series.split('instance="a"')[1].lstrip(", "),
             int(start), int(step or 0) / 15)
            for series, start, step in re.findall(
                r"- {series: '(uncore_\w+\{.*\})', values: (\d+)(?:\+(\d+))?x", text)]
        self.began = time.time()
        fleet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):       # pylint: disable=invalid-name
                body = fleet.metrics(int(self.path.lstrip("/m")))
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def metrics(self, number):
        passed = time.time() - self.began
        lines = []
        for name, labels, start, step in self.series:
            share = number / MACHINES if name == "uncore_memory_bytes_total" else 1
            lines.append("%s%s %r\n" % (name, "{" + labels if labels != "}" else "",
                                        start + step * share * passed))
        return "".join(lines).encode()

    def config(self):
        targets = "".join(
            "  - targets: ['127.0.0.1:%d']\n    labels: {__metrics_path__: /m%d, "
            "instance: 'm%d'}\n" % (self.server.server_port, number, number)
            for number in range(1, MACHINES + 1))
        return "global: {scrape_interval: %ds}\nscrape_configs:\n" \
            "- job_name: uncore\n  static_configs:\n%s" % (SCRAPE, targets)


def test_fleet(tap, dashboard, machine):
    """The dashboards' queries have data in time while a real Prometheus scrapes many
    machines."""
    fleet, slow, empty = Fleet(), [], []
    with tempfile.TemporaryDirectory() as folder, \
            Prometheus(fleet.config(), folder) as prometheus:
        deadline = time.monotonic() + LIMIT
        ready = 'count(count_over_time(uncore_up[%ds]) >= 4)' % (8 * SCRAPE)
        while time.monotonic() < deadline:
            scraped = prometheus.ask("query", query=ready)
            if scraped and int(scraped[0]["value"][1]) == MACHINES:
                break
            time.sleep(0.5)
        values = {}
        for board in dashboard, machine:
            for panel, expr in queries(board, SCRAPE):
                began = time.monotonic()
                answer = prometheus.ask("query", query=expr.replace(
                    'instance=~"a"', 'instance=~"m7"'))
                took = time.monotonic() - began
                values[board["uid"], panel["title"], panel["type"]] = answer
                if took > ANSWER:
                    slow.append("%s: %.1f s" % (panel["title"], took))
                if not answer:
                    empty.append(panel["title"])
    top = values["uncore-fleet", "Memory", "table"]
    tap.ok(not empty and len(values) >= 20,
           "of %d machines each of %d panels has data" % (MACHINES, len(values)), empty)
    tap.ok(not slow, "within %d s" % ANSWER, slow)
    tap.ok({(row["metric"]["instance"], row["metric"]["socket"]) for row in top} ==
           {("m%d" % number, "0") for number in range(91, 101)},
           "the table of ten has the machines that use most", [repr(top)])
    heat = values["uncore-fleet", "Memory", "heatmap"]
    tap.ok(len(heat) == 2 * MACHINES, "and the heat map all their sockets",
           ["%d" % len(heat)])


def main():
    tap = Tap()
    result = run(os.path.join(FOLDER, "generate.py"), "--check")
    tap.ok(result.returncode == 0, "the files are current",
           result.stdout.splitlines())
    test_catalogue(tap)
    dashboards = [json.loads(read(path)) for path in DASHBOARDS]
    test_names(tap, dashboards)
    test_schema(tap, dashboards)
    test_shown(tap, dashboards[0])
    promtool, reason = find("promtool")
    if not promtool:
        for name in ("rules", "unit tests of rules", "the dashboards' queries"):
            tap.skip(name, reason)
        tap.end()
    test_rules(tap, promtool)
    test_wrong(tap, promtool)
    for dashboard in dashboards:
        test_dashboard(tap, dashboard, promtool)
    test_intervals(tap, dashboards)
    test_fleet(tap, dashboards[1], dashboards[0])
    tap.end()


if __name__ == "__main__":
    main()
