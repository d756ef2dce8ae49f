#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The files for Prometheus and Grafana in monitoring/: they are current, Prometheus
takes them, rules and alerts say of known counters what they must, and all that they
name exists.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "monitoring")]
from figures import ALERTS, FIGURES  # noqa: E402
from lib.prometheus import find  # noqa: E402
from lib.schema import (errors_of, python_with_jsonschema,  # noqa: E402
                        without_one)
from lib.uncore import Tap  # noqa: E402

FOLDER = os.path.join(TOP, "monitoring")
RULES = os.path.join(FOLDER, "prometheus", "uncore.rules.yml")
ALERT_RULES = os.path.join(FOLDER, "prometheus", "uncore.alerts.yml")
UNIT_TESTS = os.path.join(FOLDER, "prometheus", "tests.yml")
SCHEMA = os.path.join(FOLDER, "grafana", "schema.json")
DASHBOARD = os.path.join(FOLDER, "grafana", "uncore.json")
SERIES = os.path.join(TOP, "Documentation", "exporter.rst")
NAME = r"[a-z_]*:?\buncore_\w+(?::\w+)?"
LIMIT = 120


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          timeout=LIMIT, check=False)


def exported():
    """The series that the exporter's documentation lists."""
    names = set()
    for name in re.findall(r"^``(uncore_\w+)``", read(SERIES), re.M):
        names |= {name, name + "_total"}
    return names


def names_in(expr):
    """Series in an expression; not what is in strings or is a label."""
    expr = re.sub(r'"[^"]*"', '""', expr)
    return set(re.findall(NAME, re.sub(r"\{[^}]*\}", "", expr)))


def expressions(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel, target["expr"]


def test_names(tap, dashboard):
    recorded = {one.record for one in FIGURES}
    known = exported() | recorded
    texts = [(one.record, one.expr) for one in FIGURES] + \
        [(one.name, one.expr) for one in ALERTS] + \
        [(panel["title"], expr) for panel, expr in expressions(dashboard)]
    unknown = ["%s: %s" % (where, name) for where, expr in texts
               for name in sorted(names_in(expr) - known)]
    tap.ok(not unknown and len(known) > 40, "all series that are named exist",
           unknown)
    queries = [variable["query"]["query"]
               for variable in dashboard["templating"]["list"]
               if variable["type"] == "query"]
    unknown = [query for query in queries if
               not set(re.findall(r"uncore_\w+", query)) <= known]
    tap.ok(len(queries) == 2 and not unknown, "variables' queries, too", unknown)
    used = set().union(*(names_in(expr) for _, expr in texts))
    tap.ok(recorded <= used, "what is recorded is used",
           sorted(recorded - used))


def test_rules(tap, promtool):
    done = run(promtool, "check", "rules", RULES, ALERT_RULES)
    tap.ok(done.returncode == 0 and
           "%d rules found" % len(FIGURES) in done.stdout and
           "%d rules found" % len(ALERTS) in done.stdout,
           "Prometheus takes rules and alerts", done.stdout.splitlines())
    done = run(promtool, "test", "rules", UNIT_TESTS)
    tap.ok(done.returncode == 0, "of known counters they say what they must",
           done.stdout.splitlines())
    text = read(UNIT_TESTS)
    untested = [one.record for one in FIGURES
                if not re.search(r"expr: .*%s\b" % one.record, text)]
    tap.ok(not untested, "each figure has a unit test", untested)
    for what, pattern in (("sets off", r"\n {10}- exp_labels"),
                          ("stays silent", r" \[\]\n")):
        untested = [one.name for one in ALERTS if not re.search(
            r"alertname: %s\n.*\n +exp_alerts:%s" % (one.name, pattern), text)]
        tap.ok(not untested, "each alert %s in one" % what, untested)


def test_wrong(tap, promtool):
    """Would a wrong rule be noticed? Each figure with another factor."""
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for path in (ALERT_RULES, UNIT_TESTS):
            with open(os.path.join(folder, os.path.basename(path)), "w",
                      encoding="utf-8") as file:
                file.write(read(path))
        for one in FIGURES:
            start = "- record: %s\n        expr: |\n" % one.record
            text = read(RULES).replace(
                start, start + "          1.01 *\n", 1)
            with open(os.path.join(folder, os.path.basename(RULES)), "w",
                      encoding="utf-8") as file:
                file.write(text)
            done = run(promtool, "test", "rules",
                       os.path.join(folder, os.path.basename(UNIT_TESTS)))
            if done.returncode == 0 or one.record not in done.stdout:
                missed.append(one.record)
    tap.ok(not missed, "they notice each of %d rules made wrong by 1 %%" %
           len(FIGURES), missed)


# What Grafana has a default for, that would do.
OPTIONAL = {"tags", "description", "editable", "timezone", "links", "label", "sort",
            "includeAll", "multi", "current", "repeat", "min", "max", "decimals",
            "custom", "fillOpacity", "showPoints"}


def test_schema(tap, dashboard):
    """The dashboard is what Grafana reads; and each part that it cannot do without
    is missed."""
    if not python_with_jsonschema():
        tap.skip("the dashboard against its schema",
                 "no jsonschema here (Debian: python3-jsonschema)")
        return
    # a graph is tried in the same way as the rows, which come first
    graph = next(panel for panel in dashboard["panels"]
                 if panel["type"] != "row")
    broken = [(what, document) for document in
              (dashboard, {**dashboard, "panels": [graph]},
               {**dashboard, "templating":
                {"list": dashboard["templating"]["list"][1:]}})
              for what, document in without_one(document)
              if what.rsplit(".", 1)[-1] not in OPTIONAL]
    try:
        wrong, *found = errors_of(json.loads(read(SCHEMA)), [
            dashboard, *(document for _, document in broken)])
    except ValueError as error:
        tap.ok(False, "the schema is one", [str(error)])
        return
    tap.ok(not wrong, "the dashboard is as its schema wants it", wrong)
    missed = sorted({what for (what, _), errors in zip(broken, found)
                     if not errors})
    tap.ok(len(broken) > 80 and not missed,
           "which misses each of %d parts that are not there" % len(broken),
           missed)


def test_dashboard(tap, dashboard, promtool):
    wrong = []
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        print("groups:\n- name: dashboard\n  rules:", file=file)
        count = 0
        for _, expr in expressions(dashboard):
            count += 1
            print("  - record: query%d\n    expr: %s" % (
                count, json.dumps(re.sub(r"\$\w+", "x", expr))), file=file)
        file.flush()
        done = run(promtool, "check", "rules", file.name)
    tap.ok(done.returncode == 0 and "%d rules found" % count in done.stdout,
           "Prometheus takes the dashboard's %d queries" % count,
           done.stdout.splitlines())
    for panel, _ in expressions(dashboard):
        for key in ("title", "description"):
            if not panel[key]:
                wrong.append("panel %d has no %s" % (panel["id"], key))
        if not panel["fieldConfig"]["defaults"]["unit"]:
            wrong.append("panel %d has no unit" % panel["id"])
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
           "its panels have titles, units, and places of their own", wrong)
    shown = {one.record for one in FIGURES if one.row}
    tap.ok(shown <= set().union(*(names_in(expr) for _, expr
                                  in expressions(dashboard))),
           "it shows every figure that is for showing")


def main():
    tap = Tap()
    done = run(os.path.join(FOLDER, "generate.py"), "--check")
    tap.ok(done.returncode == 0, "the files are current",
           done.stdout.splitlines())
    dashboard = json.loads(read(DASHBOARD))
    test_names(tap, dashboard)
    test_schema(tap, dashboard)
    promtool, why = find("promtool")
    if not promtool:
        for name in ("rules", "unit tests of rules", "the dashboard's queries"):
            tap.skip(name, why)
        tap.end()
    test_rules(tap, promtool)
    test_wrong(tap, promtool)
    test_dashboard(tap, dashboard, promtool)
    tap.end()


if __name__ == "__main__":
    main()
