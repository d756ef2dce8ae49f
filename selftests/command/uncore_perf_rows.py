#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compare "uncore stat -x" and "-j" with "perf stat -x" and "-j" on one machine: columns
and keys are the same, and scripts for perf's rows can read uncore's rows.
"""

import decimal
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import PATIENCE, started, wait_for  # noqa: E402
from lib.python.traffic import SEND, UNCORE, Event  # noqa: E402
from lib.python.uncore import FEW_SLICES, SIM, Machine, Tap  # noqa: E402

READS = "hswep_imc/cas_count.rd/"
EVENTS = READS + ",hswep_cbox/clockticks/"
CPU_EVENTS = "page-faults,duration_time," + READS
CALLS = (("-a", "-e", EVENTS),
         ("-a", "-e", CPU_EVENTS),
         ("-a", "-e", "hswep_imc_0/cas_count.rd,name=reads/"),
         ("-a", "-A", "-e", EVENTS),
         ("-a", "--per-socket", "-e", EVENTS),
         ("-a", "--per-socket", "-e", "page-faults," + READS),
         ("-a", "--per-node", "-e", EVENTS),
         ("-a", "-r", "2", "-e", EVENTS),
         ("-a", "-r", "2", "--per-socket", "-e", EVENTS),
         ("-a", "-I", "50", "-e", EVENTS),
         ("-a", "-I", "50", "-A", "-e", READS),
         ("-a", "-I", "50", "--per-socket", "-e", EVENTS),
         ("-a", "-I", "50", "--summary", "-e", EVENTS))
FORMS = (("-x,", ","), ("-j", None), ("-x;", ";"), ("-x\\t", "\t"))
NUMBER = re.compile(r"\d+(\.\d+)?")


def stat(program, *arguments, command=("sleep", "0.12")):
    """Run "perf stat" or "uncore stat". Return its rows; after a failure, its output."""
    result = subprocess.run([program, "stat", *arguments, "--", *command],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8", timeout=PATIENCE, check=False)
    return result.stderr if result.returncode == 0 and not result.stdout else \
        "status %d: %s%s" % (result.returncode, result.stdout, result.stderr)


def shape(cell):
    """Replace numbers by zeros with the same number of decimals, as values differ in
    each run. Other text stays."""
    return NUMBER.sub(lambda match: re.sub(r"\d", "0", match.group(1) or "0"), cell)


def csv_shape(line, separator):
    """Return the cells of a CSV row, with the shape of numbers. Cells with the name of
    an event, a unit, a CPU or a socket, and empty cells stay."""
    cells = line.split(separator)
    names = [i for i, cell in enumerate(cells)
             if re.search(r"[a-z_]{3}|^[A-Z]|^$", cell)]
    return [cell if i in names else shape(cell)
            for i, cell in enumerate(cells)]


def json_shape(line):
    """Return the keys and values of a JSON row in their order, with the shape of
    measured values."""
    measured = ("interval", "counter-value", "variance", "event-runtime")
    return [(key, (type(value).__name__, shape(str(value)))
             if key in measured else value)
            for key, value in json.loads(line, object_pairs_hook=list,
                                         parse_float=decimal.Decimal)]


def rows(text, form, separator):
    """Return the shapes of all rows. Equal shapes are listed once, as the number of
    intervals differs."""
    shapes = []
    for line in text.splitlines():
        try:
            row = json_shape(line) if form == "-j" else csv_shape(line, separator)
        except ValueError:
            row = line
        if row not in shapes:
            shapes.append(row)
    return shapes


def test_shapes(tap):
    for call in CALLS:
        for form, separator in FORMS if call == CALLS[0] else FORMS[:2]:
            theirs, ours = (stat(program, form, *call)
                            for program in ("perf", UNCORE))
            want, got = (rows(text, form, separator) for text in (theirs, ours))
            tap.ok(want and want == got, "stat %s: as perf" %
                   " ".join((form, *call)),
                   [*theirs.splitlines()[:6], *ours.splitlines()[:6]])


def test_file(tap, folder):
    """An output file begins with a comment and an empty line, like perf's."""
    texts = []
    for program in ("perf", UNCORE):
        path = os.path.join(folder, "file")
        stat(program, "-a", "-x,", "-o", path, "-e", READS)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        texts.append([re.sub(r"\d", "0", lines[0]), lines[1],
                      *rows("\n".join(lines[2:]), "-x,", ",")])
    tap.ok(texts[0] == texts[1] and texts[0][0].startswith("# started on "),
           "stat -x -o: the file begins as perf's", [repr(texts)])


def test_not_counted(tap):
    """Another program's pinned events occupy all counters of the box."""
    pinned = ",".join("hswep_imc_0/cas_count.rd,thresh=%d/D" % n
                      for n in range(1, 5))
    for form in ("-x,", "-j"):
        with started(["perf", "stat", "-a", "-e", pinned],
                     stderr=subprocess.DEVNULL) as perf_stat:
            wait_for(SIM + "registers", "1 imc_0 ctl3")
            texts = [stat(program, form, "-a", "-e", "hswep_imc_0/cas_count.rd/")
                     for program in ("perf", UNCORE)]
            perf_stat.send_signal(signal.SIGINT)
        want, got = (rows(text, form, ",") for text in texts)
        tap.ok(want == got and "<not counted>" in texts[1],
               "stat %s: an event that never counted, as perf" % form, texts)


# Scripts for perf stat. $1 is the program, the remaining arguments are the command.
AWK = r"""
p=$1; shift
"$p" stat -a -x, -e hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/ -- "$@" 2>&1 >/dev/null |
    awk -F, '$3 ~ /cas_count.rd/ { r = $1 } $3 ~ /cas_count.wr/ { w = $1 }
             END { print r + 0, w + 0 }'
"""
CSV = r"""
import csv, subprocess, sys
done = subprocess.run([sys.argv[1], "stat", "-a", "-x", ";", "-e",
                       "hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/", "--",
                       *sys.argv[2:]], stderr=subprocess.PIPE, encoding="utf-8", check=True)
fields = ["value", "unit", "event", "runtime", "percent", "metric", "metric unit"]
of = {}
for row in csv.DictReader(done.stderr.splitlines(), fields, delimiter=";"):
    assert row["unit"] == "MiB" and float(row["percent"]) == 100 and int(row["runtime"]) > 0
    of[row["event"]] = float(row["value"])
print(of["hswep_imc/cas_count.rd/"], of["hswep_imc/cas_count.wr/"])
"""
JSON = r"""
import json, subprocess, sys
done = subprocess.run([sys.argv[1], "stat", "-a", "-j", "-e",
                       "hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/", "--",
                       *sys.argv[2:]], stderr=subprocess.PIPE, encoding="utf-8", check=True)
of = {}
for line in done.stderr.splitlines():
    row = json.loads(line)
    assert row["unit"] == "MiB" and row["event-runtime"] > 0
    of[row["event"]] = float(row["counter-value"])
print(of["hswep_imc/cas_count.rd/"], of["hswep_imc/cas_count.wr/"])
"""
INTERVALS = r"""
p=$1; shift
out=$(mktemp)
"$p" stat -a -I 100 -x, -o "$out" -e hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/ -- "$@"
awk -F, '/^#/ || NF < 4 { next } $1 + 0 < last { exit 1 } { last = $1 + 0 }
         $4 ~ /cas_count.rd/ { r += $2 } $4 ~ /cas_count.wr/ { w += $2 }
         END { printf "%g %g\n", r, w }' "$out"
rm "$out"
"""
SOCKETS = r"""
p=$1; shift
"$p" stat -a --per-socket -x, -e hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/ -- "$@" \
    2>&1 >/dev/null |
    awk -F, '$1 == "S1" && $2 == 1 { of[$5] = $3 }
             END { print of["hswep_imc/cas_count.rd/"] + 0, of["hswep_imc/cas_count.wr/"] + 0 }'
"""
CPUS = r"""
p=$1; shift
"$p" stat -a -A -x, -e hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/ -- "$@" 2>&1 >/dev/null |
    while IFS=, read -r cpu value unit event rest; do
        test "$(cat /sys/devices/system/cpu/cpu${cpu#CPU}/topology/physical_package_id)" = 1 &&
            echo "$event $value"
    done | sort | awk '{ print $2 + 0 }' | paste -sd ' '
"""
REPEATED = r"""
p=$1; shift
"$p" stat -a -r 2 -j -e hswep_imc/cas_count.rd/,hswep_imc/cas_count.wr/ -- "$@" 2>&1 >/dev/null |
    sed -n 's/.*"counter-value" : "\([0-9.]*\)".*"variance" : 0.00, "event-runtime".*/\1/p' |
    awk '{ print $1 + 0 }' | paste -sd ' '
"""


def test_scripts(tap, folder):
    """Each script finds 64 MiB of reads and 32 MiB of writes on socket 1, in perf's rows
    and in uncore's."""
    traffic = os.path.join(folder, "traffic")
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines(Event("imc", name).line(1, "imc_2", mib << 14)
                        for name, mib in (("cas_count.rd", 64),
                                          ("cas_count.wr", 32)))
    for name, call in (("awk on columns 1 and 3", ["sh", "-c", AWK, "sh"]),
                       ("Python's csv.DictReader", ["python3", "-c", CSV]),
                       ("lines of JSON", ["python3", "-c", JSON]),
                       ("-I: the time first", ["sh", "-c", INTERVALS, "sh"]),
                       ("--per-socket: S1 first", ["sh", "-c", SOCKETS, "sh"]),
                       ("-A: the CPU first", ["sh", "-c", CPUS, "sh"]),
                       ("-r: with a variance", ["sh", "-c", REPEATED, "sh"])):
        shown = [subprocess.run([*call, program, "python3", "-c", SEND, traffic,
                                 "0.2"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, encoding="utf-8",
                                check=False, timeout=PATIENCE).stdout
                 for program in ("perf", UNCORE)]
        tap.ok(all(re.fullmatch(r"64(\.0)? 32(\.0)?\n", text) for text in shown),
               "a script for perf stat reads uncore stat: %s" % name, shown)


def test_metrics(tap):
    """The rows of a metric have exactly the columns and keys of perf's metrics."""
    name = "mem_bw_reads"
    call = ("-M", name, "--per-socket")
    cells = [line.split(",") for line in stat(UNCORE, "-x,", *call).splitlines()]
    tap.ok([line[0] for line in cells] == ["S0", "S1"] and
           all(len(line) == 9 and line[1:7] == ["1", "", "", "", "", ""] and
               line[8].endswith("  " + name) for line in cells),
           "stat -x -M: value and name in perf's columns of metrics", [repr(cells)])
    keys = [list(json.loads(line)) for line in
            stat(UNCORE, "-j", *call).splitlines()]
    tap.ok(keys == [["socket", "aggregate-number", "metric-value",
                     "metric-unit"]] * 2,
           "stat -j -M: perf's keys of metrics", [repr(keys)])


def test_refused(tap):
    """uncore refuses a call for which perf has rows that uncore cannot print."""
    text = stat(UNCORE, "-x,", "-A", "-e", "page-faults")
    tap.ok("status 1: " in text and "perf stat -A" in text and
           text.count("\n") == 1, "stat -x -A of an event of CPUs", [text])


def main():
    tap = Tap()
    with Machine(tap, sim=FEW_SLICES), tempfile.TemporaryDirectory() as folder:
        test_shapes(tap)
        test_file(tap, folder)
        test_not_counted(tap)
        test_scripts(tap, folder)
        test_metrics(tap)
        test_refused(tap)
    tap.end()


if __name__ == "__main__":
    main()
