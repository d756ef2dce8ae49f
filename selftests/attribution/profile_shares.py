#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the profile of a whole socket. A program on the socket's four CPUs executes two
functions with known shares of the traffic. perf report and uncore flamegraph must show
these shares, as each overflow gives a sample on each CPU, with the same weight.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import Event, Uncore  # noqa: E402
from lib.python.uncore import SIM, TOP, UNCORE, Machine, Tap, write  # noqa: E402

TASK = os.path.join(TOP, "build", "selftests", "shares_task")
EVENT = "ha_0/requests.reads/"
PERIOD = 1000
HEAVY, LIGHT, ROUNDS = 7, 3, 125
CPUS = ("0", "1", "2", "3")
OVERFLOWS = (HEAVY + LIGHT) * ROUNDS    # each gives a sample on each CPU
COUNTS = OVERFLOWS * PERIOD
SVG = "{http://www.w3.org/2000/svg}"
TOLERANCE = 2       # per cent


def record(*options):
    """Run uncore record with shares_task, which sends the known traffic."""
    line = Event("ha", "requests.reads").line(0, "ha_0", PERIOD)
    return Uncore("record", "-e", EVENT, "-c", str(PERIOD), *options,
                  command=(TASK, SIM + "traffic", line, str(HEAVY), str(LIGHT),
                           str(ROUNDS), *CPUS))


def near(tap, shares, name, comments):
    """Check the shares of heavy() and light() in the counts of both functions."""
    total = sum(shares.get(name, 0) for name in ("heavy", "light"))
    share = 100 * shares.get("heavy", 0) / max(total, 1)
    want = 100 * HEAVY / (HEAVY + LIGHT)
    tap.ok(abs(share - want) < TOLERANCE and
           total > (100 - TOLERANCE) / 100 * COUNTS,
           "%s: the functions' shares" % name,
           ["%.2f %%, want %.2f %%" % (share, want),
            "%d counts of %d" % (total, COUNTS), *comments])


def perf(*arguments):
    return subprocess.run(["perf", *arguments], capture_output=True, text=True,
                          check=False).stdout


def widths(svg):
    """Return the counts of heavy() and light() in a flame graph, {function: counts}."""
    sums, all_of_it = {}, 0
    for frame in xml.etree.ElementTree.fromstring(svg).iter(SVG + "g"):
        name, width = frame.get("data-n"), float(frame.get("data-w"))
        if name == "all":
            all_of_it = width
        elif name in ("heavy", "light"):
            sums[name] = sums.get(name, 0) + width
    return {name: width / all_of_it * COUNTS for name, width in sums.items()}


def test_weights(tap, path):
    """The periods of each CPU's samples add up to the counts of the socket. An overflow
    that a CPU handles late, on a busy host, is in the period of the CPU's next sample."""
    samples = re.findall(r"^\s*\[(\d+)\]\s+(\d+)",
                         perf("script", "-i", path, "-G", "-F", "cpu,period"),
                         re.M)
    weights = {}
    for cpu, period in samples:
        weights[int(cpu)] = weights.get(int(cpu), 0) + int(period)
    tap.ok(weights == {int(cpu): COUNTS for cpu in CPUS},
           "each CPU of the socket has the weight of each overflow",
           [repr(weights)])
    parts = {int(period) % PERIOD for _, period in samples}
    tap.ok(parts == {0} and len(samples) > 0.9 * OVERFLOWS * len(CPUS),
           "a sample is of one overflow, with few of more",
           ["%d samples, remainders %r" % (len(samples), parts)])


def test_report(tap, path):
    """perf report shows the functions' shares, including their callees."""
    text = perf("report", "-i", path, "--stdio", "-g", "none", "--children", "-F",
                "overhead_children,sym", "-t", "|")
    whole = re.search(r"^# Event count \(approx\.\): (\d+)$", text, re.M)
    tap.ok(whole and int(whole.group(1)) == COUNTS * len(CPUS),
           "perf report: each CPU has the counts of the socket",
           ["want %d" % (COUNTS * len(CPUS)), *text.splitlines()[:20]])
    shares = {name: float(share) / 100 * COUNTS for share, name in re.findall(
        r"^ *([\d.]+)% *\|\[.\] (heavy|light)\b", text, re.M)}
    near(tap, shares, "perf report", text.splitlines()[:20])


def test_file(tap, folder):
    path = os.path.join(folder, "samples")
    run = record("-g", "-o", path)
    if not tap.ok(run.status == 0, "record -g", run.comments()):
        return
    test_weights(tap, path)
    test_report(tap, path)
    picture = subprocess.run([UNCORE, "flamegraph", path], text=True,
                             capture_output=True, check=False)
    near(tap, widths(picture.stdout) if picture.returncode == 0 else {},
         "flamegraph of samples", [picture.stderr])


def main():
    tap = Tap()
    if not all(os.access(path, os.X_OK) for path in (UNCORE, TASK)):
        tap.skip_all("uncore is not built")
    # Do not let the kernel lower the sample rate: NMIs of an emulated CPU are slow, and a
    # lower rate would drop samples.
    write("/proc/sys/kernel/perf_cpu_time_max_percent", "0")
    with Machine(tap), tempfile.TemporaryDirectory() as folder:
        test_file(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
