#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test call chains of traffic: uncore record -g on a program with a known stack, and the
flame graph that uncore flamegraph draws.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import one_line  # noqa: E402
from lib.python.top import UNCORE, cpu_packages  # noqa: E402
from lib.python.uncore import TOP, Machine, Tap  # noqa: E402

SPIN = os.path.join(TOP, "build", "selftests", "spin_task")
EVENT = "hswep_imc_0/dclockticks,period=%d,name=clk/"
PERIOD = 25000000       # 100 samples a second at 2.5 GHz
SVG = "{http://www.w3.org/2000/svg}"


def run(*args, stdin=None, before=()):
    return subprocess.run([*before, UNCORE, *args], text=True, check=False,
                          capture_output=True, timeout=600, input=stdin)


def frames(svg):
    """Return (name, left edge, width, y position) of each frame in a flame graph."""
    tree = xml.etree.ElementTree.fromstring(svg)
    return [(g.get("data-n"), float(g.get("data-x")), float(g.get("data-w")),
             float(g.find(SVG + "rect").get("y"))) for g in tree.iter(SVG + "g")]


def test_spin(tap, cpu):
    """Record spin_task, and draw the samples as a flame graph."""
    path = "/tmp/spin.data"
    # With -C perf knows the name of a program only if the program starts on one of the
    # CPUs.
    result = run("record", "-g", "-o", path, "-e", EVENT % PERIOD, "-C", str(cpu),
                 "--", SPIN, str(cpu), "5", before=("taskset", "-c", str(cpu)))
    picture = run("flamegraph", path)
    drawn = frames(picture.stdout) if picture.returncode == 0 else []
    details = [result.stderr, picture.stderr]
    if not tap.ok(result.returncode == 0 and drawn, "samples are drawn", details):
        return
    rows = {name: (x, width, y) for name, x, width, y in drawn}
    tap.ok(rows.get("spin_inner", (0, 0))[1] > 600,
           "most are in the function that spins",
           ["%s" % (rows.get("spin_inner"),), *details])
    names = ("spin_task", "main", "spin_outer", "spin_inner")
    heights = [rows[name][2] for name in names if name in rows]
    tap.ok(len(heights) == 4 and heights == sorted(heights, reverse=True),
           "which stands on its callers and the task", [repr(heights)])
    tap.ok(any(name.endswith("_[k]") for name in rows),
           "functions of the kernel are marked")
    tap.ok("<title>spin_inner: " in picture.stdout and
           not re.search(r"<title>spin_inner: \d+ \(", picture.stdout),
           "a picture of samples has shares, and no counts")


def test_picture(tap):
    result = run("flamegraph", "--title", "a < b & c", stdin="a;b 1\n")
    tap.ok(result.returncode == 0 and "<title>b: 1 (100.00%)" in result.stdout,
           "a picture is drawn, with counts", [result.stderr])
    tap.ok(not re.search(r"(?:href|src)\s*=|url\(|@import", result.stdout),
           "it needs no other file")
    tap.ok("a &lt; b &amp; c" in result.stdout, "its title is escaped")

    exact = run("flamegraph", stdin="a;b;c 60\na;b 20\na;d 20\ne 100\n")
    want = [("all", 0, 1200, 3), ("a", 0, 600, 2), ("b", 0, 480, 1),
            ("c", 0, 360, 0), ("d", 480, 120, 1), ("e", 600, 600, 2)]
    drawn = [(name, x, width, round((y - 44) / 17))
             for name, x, width, y in frames(exact.stdout)]
    tap.ok(drawn == want, "frames are where they belong", ["%s" % drawn])
    odd = run("flamegraph", stdin="a<b>;\"&\\u0001]]> 5\n")
    tap.ok(odd.returncode == 0 and len(frames(odd.stdout)) == 3,
           "names may have any characters", [odd.stderr])


def test_bad(tap):
    for text in ("", "a;b\n", " 5\n", "a -5\n", "a 1e5\n", "a inf\n",
                 ";" * 2000 + " 1\n", "a 0\n"):
        one_line(tap, "no folded stack: %r" % text[:20],
                 run("flamegraph", stdin=text), 1, "no folded stacks")
    one_line(tap, "a file that is not there", run("flamegraph", "/none"), 1,
             "/none")


def main():
    tap = Tap()
    if not all(os.access(path, os.X_OK) for path in (UNCORE, SPIN)):
        tap.skip_all("uncore is not built")
    with Machine(tap, clock="real", params=("freeze_budget=1000",)):
        cpu = cpu_packages()[0][1]
        test_spin(tap, cpu)
        test_picture(tap)
        test_bad(tap)
    tap.end()


if __name__ == "__main__":
    main()
