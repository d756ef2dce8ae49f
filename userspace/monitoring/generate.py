#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Writes Prometheus' rules, Grafana's dashboards and Kubernetes' manifests of
figures.py and manifests.py. --check only says which of the files are not what it
would write.
"""

import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from figures import (ALERTS, EVENTS, FIGURES, FLEET, MEMORY_USE, NOT_COUNTING,  # noqa: E402
                     PODS, QPI_USE, TARGETS, expression)
from manifests import manifests  # noqa: E402

RULES = "prometheus/uncore.rules.yml"
ALERT_RULES = "prometheus/uncore.alerts.yml"
DASHBOARD, FLEET_DASHBOARD, POD_DASHBOARD = (
    "grafana/uncore%s.json" % name for name in ("", "-fleet", "-pods"))
HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n" \
    "# Written by userspace/monitoring/generate.py of userspace/monitoring/figures.py.\n"
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
            one.record, indented(one.expr(), 10))
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


def defaults_of(unit, most=None, limit=None, **custom):
    """A panel's field options; lines and colours where the alert is."""
    made = {"unit": unit, "min": 0, "custom": custom}
    if most:
        made["max"] = most
    if limit:
        made["thresholds"] = {"mode": "absolute", "steps": [
            {"color": "green", "value": None}, {"color": "red", "value": limit}]}
    return made


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

    def panel(self, kind, title, description, expr, defaults, options, width=WIDTH,
              **target):
        target.setdefault("legendFormat", "__auto")
        self.add({
            "type": kind, "title": title, "description": description,
            "datasource": SOURCE, "options": options,
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "targets": [{"refId": "A", "datasource": SOURCE, "expr": expr,
                         "interval": "$scrape", **target}],
        }, width, HEIGHT)

    def series(self, title, description, expr, legend, unit, most=None, limit=None):
        style = {"thresholdsStyle": {"mode": "line"}} if limit else {}
        self.panel(
            "timeseries", title, description, expr,
            defaults_of(unit, most, limit, fillOpacity=10, showPoints="never",
                        **style),
            {"legend": {"displayMode": "list", "placement": "bottom"},
             "tooltip": {"mode": "multi", "sort": "desc"}}, legendFormat=legend)

    def heat_map(self, title, description, expr):
        """How many have how much, for as many lines as there are."""
        self.panel(
            "heatmap", title, description, expr, defaults_of("percentunit"),
            {"calculate": True,
             "calculation": {"yBuckets": {"mode": "size", "value": "0.1"}},
             "color": {"mode": "scheme", "scheme": "Oranges", "steps": 16},
             "yAxis": {"unit": "percentunit", "min": 0, "max": 1},
             "legend": {"show": True}, "tooltip": {"mode": "single"}}, 12)

    def table(self, title, description, expr, limit=None):
        """The most of all, each with a way to its machine."""
        defaults = defaults_of("percentunit", 1, limit, cellOptions={
            "type": "color-text" if limit else "auto"})
        self.panel("table", title, description, expr, defaults,
                   {"showHeader": True, "cellHeight": "sm",
                    "sortBy": [{"displayName": "Value", "desc": True}]},
                   12, format="table", instant=True)
        panel = self.panels[-1]
        panel["fieldConfig"]["overrides"] = [{
            "matcher": {"id": "byName", "options": "instance"},
            "properties": [{"id": "links", "value": LINKS}]}]
        panel["transformations"] = [{"id": "organize", "options": {
            "excludeByName": {"Time": True, "job": True},
            "indexByName": {name: i for i, name in enumerate(
                ["instance", "node", "socket", "link", "limit", "Value"])}}}]


SOURCE = {"type": "prometheus", "uid": "${datasource}"}
LINKS = [
    {"title": "Die map of ${__value.text}", "targetBlank": True,
     "url": "${scheme}://${__value.raw}/"},
    {"title": "All of ${__value.text}", "targetBlank": False,
     "url": "/d/uncore?var-instance=${__value.raw}&${datasource:queryparam}"}]


def variable(name, label, query, **more):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE,
            "query": {"query": query, "refId": name}, "definition": query,
            "refresh": 2, "sort": 3, **more}


def choice(name, label, values):
    """A variable of the dashboard's own; the first value at first."""
    return {"name": name, "label": label, "type": "custom",
            "query": ", ".join(values),
            "current": {"text": values[0], "value": values[0]},
            "options": [{"text": one, "value": one, "selected": one == values[0]}
                        for one in values]}


def laid_out(value, depth=0):
    """JSON with a line for each variable of a dashboard, and for each longer member of
    a panel; short members share lines."""
    text = json.dumps(value)
    if depth == 3 or len(text) + depth < 100:
        return text
    inside = [json.dumps(name) + ": " + laid_out(one, depth + 1)
              for name, one in value.items()] if isinstance(value, dict) else \
        [laid_out(one, depth + 1) for one in value]
    lines = inside[:1]
    for one in inside[1:]:
        if len(lines[-1]) + len(one) < 98:
            lines[-1] += ", " + one
        else:
            lines.append(one)
    return text[0] + ",".join("\n" + " " * (depth + 1) + one for one in lines) + \
        "\n" + " " * depth + text[-1]


def document(title, uid, description, board, *variables):
    """@scrape: of 60 s, Prometheus' default, first: it is never too short."""
    return laid_out({
        "title": title, "uid": uid, "tags": ["uncore", "xeon"],
        "description": description, "schemaVersion": 38, "version": 1,
        "editable": True, "timezone": "browser", "refresh": "1m",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [
            {"name": "datasource", "label": "Prometheus", "type": "datasource",
             "query": "prometheus"},
            choice("scrape", "Scrape interval", ("60s", "30s", "15s")),
            *variables]},
        "annotations": {"list": []}, "panels": board.panels,
        "links": [{"type": "dashboards", "title": "Uncore", "tags": ["uncore"],
                   "asDropdown": False}],
    }) + "\n"


RANGE = "$__rate_interval"


def fleet():
    board = Dashboard()
    board.row("How many use how much")
    for title, description, template in (
            ("Memory", "Sockets by how much of their memory's peak they use.",
             MEMORY_USE),
            ("QPI", "Links by how much of their slots they use.", QPI_USE)):
        board.heat_map(title, description, expression(template, RANGE, ""))
    board.row("The most of all machines")
    for title, description, template, limit in FLEET:
        board.table(title, description, "topk($top,\n%s)" % indented(
            expression(template, RANGE, ""), 2), limit)
    board.row("Machines")
    board.series(
        "Memory bandwidth", "Of all machines together.",
        "sum by (direction) (%s)" % expression(FIGURES[0].template, RANGE, ""),
        "{{direction}}", "binBps")
    board.series("Machines that count", "Exporters whose counters are open.",
                 "sum(uncore_up)", "machines", "short")
    board.series(
        "Machines that do not", "No driver, no right to use it, or no answer; "
        "without processors that are not supported.",
        "(count(\n%s) or vector(0))\n+ (count(up{%s} == 0) or vector(0))" % (
            indented(NOT_COUNTING, 2), TARGETS), "machines", "short")
    return document(
        "Uncore: fleet", "uncore-fleet", "The sockets and links of all machines "
        "that are used most, by uncore serve", board,
        choice("top", "Rows", ("10", "25", "100")),
        choice("scheme", "Exporters' scheme", ("http", "https")))


def pods():
    board = Dashboard()
    for title, description, template, legend in PODS:
        board.series(title, description, expression(template, RANGE, ""), legend,
                     "binBps")
    return document(
        "Uncore: pods", "uncore-pods", "Memory traffic of Kubernetes' pods, by "
        "uncore serve --cgroups", board,
        choice("top", "Pods", ("10", "25", "100")))


def machine():
    board = Dashboard()
    for row, title, repeat, labels, more in (
            ("machine", "Machine $instance", None, 'instance=~"$instance"', ""),
            ("socket", "Socket $socket", "socket",
             'instance=~"$instance", socket=~"$socket"', "{{instance}} ")):
        board.row(title, repeat)
        for one in FIGURES:
            if one.row == row:
                board.series(one.title, one.help, one.expr(RANGE, labels),
                             more + one.legend, one.unit, one.most, one.limit)
    return document(
        "Uncore: machine", "uncore", "What the sockets of a machine do outside "
        "their cores, by uncore serve", board,
        variable("instance", "Machine", "label_values(uncore_up, instance)"),
        variable("socket", "Socket", "label_values(uncore_socket_cpus"
                 '{instance=~"$instance"}, socket)', includeAll=True, multi=True,
                 current={"text": ["All"], "value": ["$__all"]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()

    stale = []
    files = {RULES: rules(), ALERT_RULES: alerts(), DASHBOARD: machine(),
             FLEET_DASHBOARD: fleet(), POD_DASHBOARD: pods(),
             **manifests(HEAD, [rules(), alerts()], EVENTS)}
    for name, text in files.items():
        path = os.path.join(HERE, name)
        if args.check:
            if not os.path.exists(path) or \
                    open(path, encoding="utf-8").read() != text:
                stale.append(name)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if stale:
        sys.exit("userspace/monitoring/%s is not current: run userspace/monitoring/generate.py" %
                 ", monitoring/".join(stale))


if __name__ == "__main__":
    main()
