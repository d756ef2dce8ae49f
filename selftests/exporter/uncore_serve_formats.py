# SPDX-License-Identifier: GPL-2.0-or-later
"""Output formats of uncore serve, the paths and methods of its HTTP server, and its
output to files: a part of uncore_serve.py, which runs these tests."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time

from lib.python.command import LIMIT, comments, one_line, run, started
from lib.python.exposition import (OPENMETRICS, PROMETHEUS, Malformed, parse, up,
                                   value)
from lib.python.prometheus import find
from lib.python.uncore import UNCORE


def check_text(tap, name, text, openmetrics):
    """Return the samples of a text; report a malformed text as a failed result."""
    try:
        return parse(text, openmetrics)
    except Malformed as error:
        tap.ok(False, name, ["malformed: %s" % error])
        return {}


ACCEPT = (
    (None, PROMETHEUS), ("", PROMETHEUS), ("*/*", PROMETHEUS),
    ("text/plain", PROMETHEUS), ("text/html", PROMETHEUS),
    ("application/openmetrics-text", OPENMETRICS),
    ("Application/OpenMetrics-Text; Version=1.0.0", OPENMETRICS),
    ('application/openmetrics-text;version="1.0.0"', OPENMETRICS),
    ("application/openmetrics-text;version=2.0.0", PROMETHEUS),
    ("application/openmetrics-text;q=0", PROMETHEUS),
    ("application/openmetrics-text;q=0.000,*/*", PROMETHEUS),
    ("application/openmetrics-text;q=x", PROMETHEUS),
    ("application/openmetrics-text;q=0.4,text/plain;q=0.5", PROMETHEUS),
    ("text/plain;q=0.5,application/openmetrics-text;q=0.6", OPENMETRICS),
    ("application/openmetrics-text;q=0.5,text/*;q=0.4,text/plain;q=0.6",
     PROMETHEUS),
    ("application/openmetrics-text;q=0.5,*/*;q=0.9,text/plain;q=0.1",
     OPENMETRICS),
    # the header that Prometheus 2 sends
    ("application/openmetrics-text;version=1.0.0,"
     "application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OPENMETRICS),
    (", ,;;q=1,application/openmetrics-text ; q=1 ,", OPENMETRICS))


def test_forms(tap, daemon):
    for accept, want in ACCEPT:
        headers = {} if accept is None else {"Accept": accept}
        status, got, text = daemon.request(**headers)
        samples = check_text(tap, "a form", text, want == OPENMETRICS)
        tap.ok(status == 200 and got["Content-Type"] == want and
               up(samples) == 1,
               "Accept: %s" % accept, ["%d %s" % (status, got), text[-500:]])

    status, headers, text = daemon.request()
    old = check_text(tap, "text", text, False)
    new = daemon.scrape()
    tap.ok({key for key in old} == {key for key in new} and len(new) >= 20,
           "both forms have the same %d samples" % len(new),
           [repr(set(old) ^ set(new))])
    families = re.findall(r"^# TYPE (\S+) ", text, re.M)
    for name in ("process_cpu_seconds_total", "process_start_time_seconds",
                 "process_resident_memory_bytes", "uncore_info",
                 "uncore_socket_cpus", "uncore_events_running_ratio",
                 "uncore_memory_bytes_total"):
        tap.ok(name in families, "there is " + name, families)
    start = value(new, "process_start_time_seconds")
    tap.ok(abs(time.time() - start) < 3600, "it started not long ago",
           ["%f" % start])

    status, headers, text = daemon.request("/json")
    document = json.loads(text)
    names = {family["name"] for family in document["metrics"]
             if family["samples"]}
    tap.ok(status == 200 and headers["Content-Type"] == "application/json" and
           names == set(families), "/json has the same",
           [repr(names ^ set(families))])

    promtool, reason = find("promtool")
    if promtool:
        result = subprocess.run([promtool, "check", "metrics"],
                                input=daemon.request()[2], encoding="utf-8",
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=LIMIT, check=False)
        tap.ok(result.returncode == 0 and not result.stdout,
               "promtool finds nothing wrong", result.stdout.splitlines())
    else:
        tap.skip("promtool finds nothing wrong", reason)


def test_methods(tap, daemon):
    for path, status in (("/", 200), ("/metrics", 200), ("/json", 200),
                         ("/die-map.js", 200), ("/api/topology", 200),
                         ("/api/snapshot", 200), ("/api/recording", 404),
                         ("/healthz", 200), ("/metrics?x=1", 200),
                         ("/metrics/", 404), ("/etc/passwd", 404),
                         ("/../../etc/passwd", 404), ("/%2e%2e", 404),
                         ("/METRICS", 404), ("//metrics", 404)):
        got, headers, text = daemon.request(path)
        head = daemon.request(path, method="HEAD")
        tap.ok(got == head[0] == status and text and not head[2] and
               headers["X-Content-Type-Options"] == "nosniff",
               "GET and HEAD of %s: %d" % (path, status),
               ["%d %d %s" % (got, head[0], text[:80])])
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE",
                   "CONNECT", "get", "FROBNICATE"):
        status, headers, _ = daemon.request(
            method=method, body="x" if method == "POST" else None)
        tap.ok(status == 405 and headers["Allow"] == "GET, HEAD",
               "%s: 405" % method, ["%d %s" % (status, headers)])


def test_files(tap, folder, sysfs):
    result = run("--sysfs", sysfs, "serve", "--json", "-d", "0.1")
    names = [family["name"] for family in json.loads(result.stdout)["metrics"]] \
        if result.returncode == 0 else []
    tap.ok("uncore_memory_bytes_total" in names, "--json prints once",
           comments(result))
    place = os.path.join(folder, "textfiles")
    os.mkdir(place)
    result = run("--sysfs", sysfs, "serve", "--textfile", place, "-d", "0.1")
    path = os.path.join(place, "uncore.prom")
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    samples = check_text(tap, "a textfile", text or "\n", False)
    tap.ok(result.returncode == 0 and os.listdir(place) == ["uncore.prom"] and
           up(samples) == 1 and
           os.stat(path).st_mode & 0o777 == 0o644,
           "--textfile writes uncore.prom, for all to read", comments(result))
    tap.ok(not [name for name, _ in samples if name.startswith("process_")],
           "without series of node_exporter itself")

    age = time.time() - (value(samples, "uncore_textfile_timestamp_seconds") or 0)
    tap.ok(0 <= age < LIMIT and
           value(samples, "uncore_textfile_interval_seconds") is None,
           "and with the time at which it was written", ["%g s ago" % age])

    with started(
            [UNCORE, "--sysfs", sysfs, "serve",
             "--textfile", os.path.join(place, "other.prom"), "-I", "100"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8") as process:
        try:
            seen = False
            deadline = time.monotonic() + LIMIT
            while not seen and time.monotonic() < deadline:
                time.sleep(0.05)
                with contextlib.suppress(OSError), \
                        open(os.path.join(place, "other.prom"),
                             encoding="utf-8") as file:
                    text = file.read()
                    reads = re.search(r"^uncore_reads_total (\d+)$", text, re.M)
                    seen = reads and int(reads[1]) >= 5 and \
                        "\nuncore_textfile_interval_seconds 0.1\n" in text
            process.terminate()
            out, err = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    tap.ok(seen and process.returncode == 0 and not out + err and
           os.listdir(place) == ["uncore.prom"],
           "-I writes again and again, and the file goes with the program",
           [out, err, *os.listdir(place)])
    with started([UNCORE, "--sysfs", sysfs, "serve", "--json", "-d", "100"],
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8") as process:
        time.sleep(1)
        process.terminate()
        out, err = process.communicate(timeout=LIMIT)
    tap.ok(process.returncode == -signal.SIGTERM and not out + err,
           "--json that a signal ends has printed nothing, and no success",
           ["status %d" % process.returncode, out, err])
    one_line(tap, "a folder that is not there",
             run("--sysfs", sysfs, "serve", "--textfile",
                 folder + "/none/x.prom", "-d", "0.1"), 1, "none/x.prom")
