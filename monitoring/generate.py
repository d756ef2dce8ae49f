#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Writes Prometheus' rules and Grafana's dashboard of figures.py. --check only says
which of the files are not what it would write.
"""

import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from figures import ALERTS, FIGURES  # noqa: E402

RULES = "prometheus/uncore.rules.yml"
ALERT_RULES = "prometheus/uncore.alerts.yml"
DASHBOARD = "grafana/uncore.json"
HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n" \
    "# Written by monitoring/generate.py of monitoring/figures.py.\n"
WIDTH, HEIGHT = 8, 8    # of a panel; a dashboard has 24 columns


def indented(text, columns):
    return "".join(" " * columns + line + "\n" for line in text.splitlines())


def quoted(text):
    """A YAML string, which any JSON string is."""
    return json.dumps(text, ensure_ascii=False)


def rules():
    text = HEAD + "groups:\n  - name: uncore\n    rules:\n"
    for one in FIGURES:
        text += "      - record: %s\n        expr: |\n%s" % (
            one.record, indented(one.expr, 10))
    return text


def alerts():
    text = HEAD + "groups:\n  - name: uncore-alerts\n    rules:\n"
    for one in ALERTS:
        text += "      - alert: %s\n        expr: |\n%s" % (
            one.name, indented(one.expr, 10))
        text += "        for: %s\n        labels:\n          severity: %s\n" % (
            one.wait, one.severity)
        text += "        annotations:\n          summary: %s\n" \
            "          description: %s\n" % (quoted(one.summary),
                                             quoted(one.help))
    return text


class Dashboard:
    """Panels from left to right, and rows of them."""

    def __init__(self):
        self.panels = []
        self.x = self.y = 0

    def add(self, panel, width, height):
        if self.x + width > 24:
            self.x, self.y = 0, self.y + height
        panel["id"] = len(self.panels) + 1
        panel["gridPos"] = {"x": self.x, "y": self.y, "w": width, "h": height}
        self.panels.append(panel)
        self.x += width

    def row(self, title, repeat=None):
        if self.x:
            self.x, self.y = 0, self.y + HEIGHT
        row = {"type": "row", "title": title, "collapsed": False, "panels": []}
        if repeat:
            row["repeat"] = repeat
        self.add(row, 24, 1)
        self.x, self.y = 0, self.y + 1

    def series(self, title, description, expr, legend, unit, most=None):
        defaults = {"unit": unit, "min": 0,
                    "custom": {"fillOpacity": 10, "showPoints": "never"}}
        if most:
            defaults["max"] = most
        self.add({
            "type": "timeseries", "title": title, "description": description,
            "datasource": SOURCE,
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"},
                        "tooltip": {"mode": "multi", "sort": "desc"}},
            "targets": [{"refId": "A", "datasource": SOURCE, "expr": expr,
                         "legendFormat": legend}],
        }, WIDTH, HEIGHT)


SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def variable(name, label, query, **more):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE,
            "query": {"query": query, "refId": name}, "definition": query,
            "refresh": 2, "sort": 3, "includeAll": True, "multi": True,
            "current": {"text": ["All"], "value": ["$__all"]}, **more}


def of_fleet(function, record):
    return "%s by (instance) (%s)" % (function, record)


def dashboard():
    board = Dashboard()
    board.row("Fleet")
    for title, description, expr, unit, most in (
            ("Memory bandwidth", "Of all of a machine's sockets.",
             of_fleet("sum", "socket:uncore_memory_bytes:rate1m"), "Bps", None),
            ("Memory bandwidth in use", "Of the socket that uses most of its.",
             of_fleet("max", "socket:uncore_memory_use:ratio"),
             "percentunit", 1),
            ("QPI in use", "Of the link that is used most.",
             of_fleet("max", "link:uncore_qpi_use:ratio"), "percentunit", 1),
            ("Misses served by another socket",
             "Of the socket that has most of them.",
             of_fleet("max", "socket:uncore_llc_remote_misses:ratio"),
             "percentunit", 1),
            ("PCIe bandwidth", "Of all devices, both ways.",
             of_fleet("sum", "socket_direction:uncore_pcie_bytes:rate1m"),
             "Bps", None),
            ("Counters there", "0: no driver, or no right to use it.",
             "min by (instance) (uncore_up)", "short", 1)):
        board.series(title, description, expr, "{{instance}}", unit, most)
    for row, title, repeat, labels, more in (
            ("machine", "Machine $instance", "instance",
             'instance=~"$instance"', ""),
            ("socket", "Socket $socket", "socket",
             'instance=~"$instance", socket=~"$socket"', "{{instance}} ")):
        board.row(title, repeat)
        for one in FIGURES:
            if one.row == row:
                board.series(one.title, one.help,
                             "%s{%s}" % (one.record, labels),
                             more + one.legend, one.unit, one.most)
    return json.dumps({
        "title": "Uncore", "uid": "uncore", "tags": ["uncore", "xeon"],
        "description": "What Intel Xeon sockets do outside their cores, as "
                       "uncore serve exports it and uncore.rules.yml records it",
        "schemaVersion": 38, "version": 1, "editable": True,
        "timezone": "browser", "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [
            {"name": "datasource", "label": "Prometheus", "type": "datasource",
             "query": "prometheus"},
            variable("instance", "Machine", "label_values(uncore_up, instance)"),
            variable("socket", "Socket", "label_values(uncore_socket_cpus"
                     '{instance=~"$instance"}, socket)')]},
        "annotations": {"list": []}, "links": [], "panels": board.panels,
    }, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()

    stale = []
    for name, text in ((RULES, rules()), (ALERT_RULES, alerts()),
                       (DASHBOARD, dashboard())):
        path = os.path.join(HERE, name)
        if args.check:
            if not os.path.exists(path) or \
                    open(path, encoding="utf-8").read() != text:
                stale.append(name)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if stale:
        sys.exit("monitoring/%s is not current: run monitoring/generate.py" %
                 ", monitoring/".join(stale))


if __name__ == "__main__":
    main()
