#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Where the traffic comes from: uncore record --folded on a program that stays in
functions whose names are known, and the picture that uncore flamegraph makes.
"""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import one_line  # noqa: E402
from lib.python.top import UNCORE, cpu_packages  # noqa: E402
from lib.python.uncore import SLOWNESS, TOP, Machine, Tap  # noqa: E402

SPIN = os.path.join(TOP, "build", "selftests", "spin_task")
MANY = os.path.join(TOP, "build", "selftests", "stacks_task")
EVENT = "hswep_imc_0/dclockticks,period=%d,name=clk/"
PERIOD = 25000000       # 100 samples a second at 2.5 GHz
SVG = "{http://www.w3.org/2000/svg}"


def run(*args, stdin=None, before=()):
    return subprocess.run([*before, UNCORE, *args], text=True, check=False,
                          capture_output=True, timeout=600, input=stdin)


def folded(text):
    """Stacks and their counts."""
    stacks = {}
    for line in text.splitlines():
        match = re.fullmatch(r"(\S.*) (\d+)", line)
        if not match:
            return None
        stacks[match.group(1)] = int(match.group(2))
    return stacks


def test_spin(tap, cpu):
    """Returns the folded stacks."""
    got = run("record", "--folded", "-e", EVENT % PERIOD, "-C", str(cpu), "--",
              SPIN, str(cpu), "5")
    stacks = folded(got.stdout) or {}
    total = sum(stacks.values())
    spin = sum(count for stack, count in stacks.items()
               if re.match(r"spin_task;.*main;spin_outer;spin_inner(;|$)",
                           stack))
    said = [got.stderr.strip(), *sorted(stacks, key=stacks.get)[-5:]]
    tap.ok(got.returncode == 0 and stacks, "folded stacks come out", said)
    tap.ok(spin * 2 > total > 0, "most are in the function that spins",
           ["%d of %d" % (spin, total), *said])
    samples = re.search(r"(\d+) samples", got.stderr)
    # or more, when it comes late
    tap.ok(samples and int(samples.group(1)) * PERIOD <= total,
           "a sample counts as its period",
           ["%d events, %s" % (total, got.stderr)])
    tap.ok(any("_[k]" in stack for stack in stacks),
           "functions of the kernel are marked")
    return got.stdout


def test_file(tap, cpu):
    path = "/tmp/out.folded"
    got = run("record", "--folded", "-e", EVENT % PERIOD, "-C", str(cpu), "-o",
              path, "--", "sh", "-c", "%s %d 2; exit 3" % (SPIN, cpu))
    with open(path, encoding="utf-8") as file:
        stacks = folded(file.read())
    tap.ok(got.returncode == 3, "the command's exit status is passed on",
           ["%d %s" % (got.returncode, got.stderr)])
    tap.ok(stacks and not got.stdout, "a file instead of standard output")


def build_id(path):
    """Where it is in the file, and what it is."""
    with open(path, "rb") as file:
        raw = file.read()
    note = raw.index(b"\x03\0\0\0GNU\0") + 8
    return note, raw[note:note + 20]


def make_impostor(path):
    """A program like SPIN, of another build, whose functions are called
    otherwise."""
    note, _ = build_id(SPIN)
    with open(SPIN, "rb") as file:
        raw = bytearray(file.read().replace(b"spin_inner", b"impostor_i"))
    raw[note] ^= 0xff
    with open(path, "wb") as file:
        file.write(raw)
    os.chmod(path, 0o755)


def test_namespace(tap, cpu):
    """
    A process in a separate mount namespace runs another file than the one with
    the same path here.
    """
    path = "/tmp/prog"
    make_impostor(path)
    inside = ["unshare", "-m", "sh", "-c", "mount --bind %s %s && exec %s %d 3" %
              (SPIN, path, path, cpu)]
    got = run("record", "--folded", "-e", EVENT % PERIOD, "-C", str(cpu), "--",
              *inside)
    tap.ok("spin_inner" in got.stdout and "impostor" not in got.stdout,
           "folded: functions of the file that ran, in its mount namespace",
           got.stdout.splitlines()[-5:] + [got.stderr])

    got = run("record", "-o", "/tmp/prog.data", "-e", EVENT % PERIOD, "-C",
              str(cpu), "--", *inside)
    # perf keeps copies of what it has recorded: of the right program, maybe
    os.environ["HOME"] = "/none"
    report = run("report", "-i", "/tmp/prog.data", "--csv")
    tap.ok(report.returncode == 0 and "impostor" not in report.stdout and
           re.search(r"prog\+0x", report.stdout),
           "report: no names from another file at the same path",
           report.stdout.splitlines()[:8] + [got.stderr])
    tap.ok(report.stderr.count("/tmp/prog") == 1 and
           "build id" in report.stderr, "report says why, once",
           [report.stderr])
    shutil.copy(SPIN, path + ".new")
    os.rename(path + ".new", path)
    report = run("report", "-i", "/tmp/prog.data", "--csv")
    tap.ok("spin_inner (prog)" in report.stdout and not report.stderr,
           "report: names from the right one",
           report.stdout.splitlines()[:8] + [report.stderr])
    with open("/tmp/prog.data", "rb") as file:
        raw = file.read()
    with open("/sys/kernel/notes", "rb") as file:
        notes = file.read()
    at = notes.index(b"\x03\0\0\0GNU\0") + 8
    kernel = notes[at:at + 20]
    other = bytes([kernel[0] ^ 0xff]) + kernel[1:]
    tap.ok(kernel in raw, "the kernel's build id is in the file")
    with open("/tmp/prog.data", "wb") as file:
        file.write(raw.replace(kernel, other))
    report = run("report", "-i", "/tmp/prog.data", "--csv", "-n", "1000")
    tap.ok("function,[kernel]" in report.stdout and
           report.stderr.count("kernel that was sampled") == 1,
           "another machine's kernel has no names, and report says so once",
           report.stdout.splitlines()[:8] + [report.stderr])


def test_many_stacks(tap, cpu):
    """Enough different stacks that some hashes agree in a few bits."""
    own = []
    for seconds in (3, 9, 27, 81):
        got = run("record", "--folded", "-e", EVENT % (PERIOD // 10), "-C",
                  str(cpu), "--", MANY, str(cpu), str(seconds * SLOWNESS))
        stacks = folded(got.stdout) or {}
        own = [stack for stack in stacks if stack.startswith("stacks_task;")]
        # a machine that is busy otherwise takes fewer samples a second
        if len(own) > 300:
            break
    said = ["%d stacks" % len(own), got.stderr]
    tap.ok(got.returncode == 0 and len(own) > 300, "hundreds of stacks", said)
    tap.ok(" lost" not in got.stderr, "and none is lost", said)
    samples = re.search(r"(\d+) samples", got.stderr)
    # a sample that comes late has a longer period
    tap.ok(samples and int(samples.group(1)) * (PERIOD // 10) <=
           sum(stacks.values()), "every sample is there", said)


def frames(svg):
    """Each frame's name, left edge, width and row."""
    tree = xml.etree.ElementTree.fromstring(svg)
    return [(g.get("data-n"), float(g.get("data-x")), float(g.get("data-w")),
             float(g.find(SVG + "rect").get("y"))) for g in tree.iter(SVG + "g")]


def test_picture(tap, text):
    got = run("flamegraph", "--title", "a < b & c", stdin=text)
    stacks = folded(text)
    tap.ok(got.returncode == 0, "a picture is drawn", [got.stderr])
    drawn = frames(got.stdout)
    widths = {}
    for name, _, width, _ in drawn:
        widths[name] = widths.get(name, 0) + width
    want = sum(count for stack, count in stacks.items()
               if ";spin_inner" in stack) * 1200 / sum(stacks.values())
    tap.ok(abs(widths.get("spin_inner", 0) - want) < 2,
           "a function is as wide as its share",
           ["%s, want %.1f" % (widths.get("spin_inner"), want)])
    tap.ok(not re.search(r"(?:href|src)\s*=|url\(|@import", got.stdout),
           "it needs no other file")
    tap.ok("a &lt; b &amp; c" in got.stdout, "its title is escaped")

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
    one_line(tap, "a box that does not exist",
             run("record", "--folded", "-e", "hswep_imc_99/dclk/", "-d", "1"),
             1, "imc_99")
    one_line(tap, "no event", run("record", "--folded"), 2, "event")
    one_line(tap, "a CPU that is not there",
             run("record", "--folded", "-e", EVENT % PERIOD, "-C", "999",
                 "-d", "1"), 1, "dclockticks")
    one_line(tap, "a command that does not exist",
             run("record", "--folded", "-e", EVENT % PERIOD, "--", "/none"),
             127, "/none")
    one_line(tap, "a place that cannot be written",
             run("record", "--folded", "-e", EVENT % PERIOD, "-o",
                 "/none/file", "-d", "0.1"), 1, "/none/file")
    for text in ("", "a;b\n", " 5\n", "a -5\n", "a 1e5\n", "a inf\n",
                 ";" * 2000 + " 1\n", "a 0\n"):
        one_line(tap, "no folded stack: %r" % text[:20],
                 run("flamegraph", stdin=text), 1, "no folded stacks")
    one_line(tap, "a file that is not there", run("flamegraph", "/none"), 1,
             "/none")


def main():
    tap = Tap()
    if not all(os.access(path, os.X_OK) for path in (UNCORE, SPIN, MANY)):
        tap.skip_all("uncore is not built")
    with Machine(tap, clock="real", params=("freeze_budget=1000",)):
        cpu = cpu_packages()[0][1]
        text = test_spin(tap, cpu)
        test_file(tap, cpu)
        test_namespace(tap, cpu)
        test_many_stacks(tap, cpu)
        test_picture(tap, text)
        test_bad(tap)
    tap.end()


if __name__ == "__main__":
    main()
