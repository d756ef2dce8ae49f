#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test that all tools count the same: uncore stat with a metric, uncore top and uncore
record run at the same time, each started by the previous one. Each shows exactly the
traffic that was sent.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.top import UNCORE, Table, cpu_packages, need  # noqa: E402
from lib.python.traffic import Event  # noqa: E402
from lib.python.uncore import FEW_SLICES, SIM, Machine, Tap, read  # noqa: E402

PERIOD = 1000       # counts per sample
PACKETS = 40        # packets of PERIOD counts, so each causes an overflow
LINE = 64           # bytes
EVENT = "imc_0/cas_count.rd/"
SENDER = """import sys, time
open("/proc/self/comm", "w").write("sender")
time.sleep(0.2)
for line in open(sys.argv[1]):
    with open("%straffic", "w") as file:
        file.write(line)
    time.sleep(0.02)
time.sleep(0.2)
""" % SIM


def first_cpu(package):
    """Return the CPU on which tools open a package's events."""
    return int(read("/sys/bus/event_source/devices/hswep_imc_0/cpumask")
               .split(",")[package])


def nest(folder, commands, innermost):
    """Return a command in which each of @commands runs the next one, the last runs
    @innermost, and each writes its output to a file in @folder."""
    words = innermost
    for name, command in reversed(list(commands.items())):
        words = ["sh", "-c", "exec \"$@\" > %s" % os.path.join(folder, name),
                 "-", UNCORE, *command, "--", *words]
    return words


def outputs(folder, commands):
    """Read the output that each command has written to its file."""
    texts = {}
    for name in commands:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts[name] = file.read()
    return texts


def run_all(tap, folder, package, resolution):
    """Send traffic while all tools count. Return {tool: output}, or None if a tool
    failed."""
    traffic = os.path.join(folder, "traffic")
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines([Event("imc", "cas_count.rd").line(
            package, "imc_0", PERIOD)] * PACKETS)
    commands = {
        "stat": ("stat", "--json", "--per-box", "-e", EVENT, "-M",
                 "mem_bw_reads"),
        "top": ("top", "--once", "--json", "--resolution", str(resolution),
                "-e", EVENT),
        "record": ("record", "-q", "-o", os.path.join(folder, "data"), "-c",
                   str(PERIOD), "-C", str(first_cpu(package)), "-e", EVENT),
    }
    run = subprocess.run(
        nest(folder, commands, ["taskset", "-c", str(first_cpu(package)),
                                "python3", "-c", SENDER, traffic]),
        capture_output=True, text=True, check=False, timeout=600)
    if not tap.ok(run.returncode == 0, "stat, metrics, top and record at a time",
                  ["status %d" % run.returncode, *run.stderr.splitlines()]):
        return None
    return outputs(folder, commands)


def test_conservation(tap, folder, package, resolution):
    reports = run_all(tap, folder, package, resolution)
    if reports is None:
        return
    want = PERIOD * PACKETS
    words = "of package %d, resolution %d us" % (package, resolution)
    stat = sum(row["raw"] for row in json.loads(reports["stat"])["events"]
               if "imc_0" in row["event"] and row.get("raw"))
    tap.ok(stat == want, "stat has what was sent, %s" % words,
           ["%d of %d" % (stat, want)])
    # uncore stat scales the value for the time in which the event did not count, as the
    # package was frozen or other events used the counters. Multiplying by "running"
    # removes the scaling.
    values = [row["value"] * row["running"] / LINE / want
              for row in json.loads(reports["stat"])["metrics"]
              if row["metric"] == "mem_bw_reads" and row["value"]]
    tap.ok(len(values) == 1 and abs(values[0] - 1) < 1e-5,
           "its metric, too, %s" % words, ["%s" % values, reports["stat"][:900]])
    data = json.loads(reports["top"])
    table = Table(data, data["columns"][0]["event"])
    tap.ok(table.total() == want and table.total(package) == want and
           table.adds_up(), "and top, whose rows add up to it, %s" % words,
           ["total %s, idle %d, other %d" % (data["total"], table.idle(),
                                             table.other())])
    script = subprocess.run(
        ["perf", "script", "-i", os.path.join(folder, "data"), "-F", "period"],
        capture_output=True, text=True, check=False).stdout
    periods = sum(int(period) for period in re.findall(r"\d+", script))
    tap.ok(periods == want, "and the periods of record's samples, %s" % words,
           ["%d of %d" % (periods, want), *script.splitlines()[:5]])


def main():
    tap = Tap()
    need(tap)
    with Machine(tap, sim=FEW_SLICES), tempfile.TemporaryDirectory() as folder:
        for package in range(len(cpu_packages())):
            for resolution in (0, 100):
                test_conservation(tap, folder, package, resolution)
    tap.end()


if __name__ == "__main__":
    main()
