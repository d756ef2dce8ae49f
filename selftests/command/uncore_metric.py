#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore metric" and "uncore stat -M" on traffic of known size: the metrics of
boxes, sockets and the machine follow from the traffic within 1 %, and the table shows
the numbers of --json. The test runs on the PMUs of xeon_uncore, or of intel_uncore if
it is loaded; then the output must name the features that intel_uncore lacks.
"""

import contextlib
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import Event, Uncore, while_sending  # noqa: E402
from lib.python.uncore import DEVICES, SIM, Machine, Tap  # noqa: E402

GIB = 1 << 30
CLOSE = 0.01        # "within 1 %"
UNITS = {"B/s": 1 / GIB, "KiB/s": 1 / (1 << 20), "MiB/s": 1 / 1024, "GiB/s": 1}
IN_TREE = os.path.exists("/sys/module/intel_uncore") and \
    os.path.exists(DEVICES + "uncore_imc_0")
PREFIX = "uncore" if IN_TREE else "hswep"


def boxes(box_type):
    """Return the names of the boxes of a type, without the prefix of the PMU."""
    names = [name.removeprefix(PREFIX + "_") for name in os.listdir(DEVICES)
             if re.fullmatch(r"%s_%s(_\d+)?" % (PREFIX, box_type), name)]
    return sorted(names, key=lambda name: (len(name), name))


class Values:
    """Metric values by name, scope, socket and box."""

    def __init__(self, document):
        self.seconds = document["seconds"]
        self.rows = document["metrics"]
        self.unavailable = {row["metric"]: row["reason"]
                            for row in document["unavailable"]}

    def get(self, name, socket=None, box=None):
        for row in self.rows:
            if (row["metric"], row.get("socket"), row.get("pmu")) == \
                    (name, socket, box and "%s_%s" % (PREFIX, box)):
                return row["value"]
        return math.nan

    def time(self, name, socket=None, box=None):
        """Return the seconds for which a metric's events counted, by which its rate is
        divided. Each box starts and stops a little later than the previous box."""
        for row in self.rows:
            if (row["metric"], row.get("socket"), row.get("pmu")) == \
                    (name, socket, box and "%s_%s" % (PREFIX, box)):
                return row["seconds"]
        return math.nan


def near(got, want):
    return got is not None and math.isclose(got, want, rel_tol=CLOSE)


class Checks:
    """Collects the wrong values of many comparisons, for one result of the test."""

    def __init__(self):
        self.wrong = []
        self.compared = 0

    def check(self, name, got, want):
        self.compared += 1
        if not near(got, want):
            self.wrong.append("%s: got %r, want %r" % (name, got, want))


def json_of(tap, run, name):
    """Return the Values of a run; report a failed run as a result, and return None."""
    if run.status == 0:
        return Values(run.json())
    tap.ok(False, name, run.comments())
    return None


# --- memory -------------------------------------------------------------------

def memory_traffic():
    """Return {(socket, channel): (reads, writes)}, all with different numbers."""
    return {(socket, box): (1 << 24 | (socket * 8 + i) << 20,
                            1 << 23 | (socket * 8 + i) << 19)
            for socket in range(2) for i, box in enumerate(boxes("imc"))}


def check_bandwidth(run, values, traffic):
    """Compare the bandwidths of channels, sockets and the machine with the traffic."""
    checks = Checks()
    sums = {}
    for (socket, box), counts in traffic.items():
        for place in ((socket, box), (socket, None), (None, None)):
            old = sums.get(place, (0, 0))
            sums[place] = (old[0] + counts[0], old[1] + counts[1])
    for place, (reads, writes) in sums.items():
        for name, count in (("reads", reads), ("writes", writes),
                            ("total", reads + writes)):
            metric = "mem_bw_%s_rate" % name
            time = values.time(metric, *place)
            checks.check("%s of %s" % (metric, place),
                         values.get(metric, *place), count * 64 / GIB / time)
            if not run.lasted <= time * (1 + CLOSE) or \
               not time <= run.elapsed * (1 + CLOSE):
                checks.wrong.append("%s of %s is of %r s, not %r to %r" %
                                    (metric, place, time, run.lasted,
                                     run.elapsed))
    return checks


def test_memory(tap, folder):
    traffic = memory_traffic()
    reads, writes = Event("imc", "cas_count.rd"), Event("imc", "cas_count.wr")
    lines = [event.line(socket, box, count)
             for (socket, box), counts in traffic.items()
             for event, count in zip((reads, writes), counts)]
    name = "metric memory --json: bandwidth by channel, socket, all"
    run = while_sending(folder, lines, "metric", "memory", "--json")
    values = json_of(tap, run, name)
    if values:
        checks = check_bandwidth(run, values, traffic)
        tap.ok(not checks.wrong, "%s, %d numbers" % (name, checks.compared),
               checks.wrong)

    run = while_sending(folder, lines, "metric", "memory", seconds=3)
    tap.ok(*judge_table(run, traffic), run.comments())

    name = "metric memory -I 250 --json: the intervals add up to the total"
    run = while_sending(folder, lines, "metric", "memory", "-I", "250",
                        "--json")
    if run.status:
        tap.ok(False, name, run.comments())
        return
    documents = [Values(document) for document in run.lines()]
    places = [("mem_bw_reads_rate", *place) for place in traffic]
    moved, whole = (
        sum(values.get(*place) * values.time(*place)
            for values in part for place in places)
        for part in (documents[:-1], documents[-1:]))
    want = sum(count for count, _ in traffic.values()) * 64 / GIB
    tap.ok(len(documents) > 3 and near(moved, want) and near(whole, want),
           name, ["%r in intervals, %r in total, want %r" %
                  (moved, whole, want)])


def judge_table(run, traffic):
    """Compare the column READ of the printed table with the traffic. The table lacks the
    time for which each box counted, so the rate may be of any time from the shortest to
    the longest possible."""
    name = "metric memory: the table's bandwidth by channel"
    if run.status or not re.search(r"Counted for [0-9.]+ s", run.out):
        return False, name
    socket, good = None, 0
    for line in run.out.splitlines():
        row = re.match(r"(\d+|all)?\s+%s_(imc_\d+)\s+([0-9.,]+) (\S+)" %
                       PREFIX, line)
        if not row:
            continue
        socket = int(row.group(1)) if row.group(1) else socket
        got = float(row.group(3).replace(",", "")) * UNITS[row.group(4)]
        count = traffic[socket, row.group(2)][0] * 64 / GIB
        good += count / run.elapsed <= got * (1 + CLOSE) and \
            got <= count / run.lasted * (1 + CLOSE)
    return good == len(traffic), "%s, %d of %d" % (name, good, len(traffic))


# --- last-level cache, QPI, power ----------------------------------------------

def test_latency(tap, folder):
    """A latency is occupancy divided by inserts; each LLC slice has another latency."""
    occupancy = Event("cbox", "tor_occupancy.miss_opcode")
    inserts = Event("cbox", "tor_inserts.miss_opcode")
    drd, rfo = 0x182, 0x180
    lines, latency, sums = [], {}, {}
    for socket in range(2):
        for i, box in enumerate(boxes("cbox")):
            count, cycles = 1000 * (i + 1), 200 + 10 * i + 100 * socket
            latency[socket, box] = cycles
            old = sums.get(socket, (0, 0))
            sums[socket] = (old[0] + count * cycles, old[1] + count)
            lines += [inserts.line(socket, box, count, opc=drd),
                      occupancy.line(socket, box, count * cycles, opc=drd),
                      # the filter must exclude these requests
                      inserts.line(socket, box, 77777, opc=rfo)]
    name = "stat -M avg_tor_drd_miss_latency: each slice's and socket's"
    checks = Checks()
    run = while_sending(folder, lines, "stat", "-M",
                        "avg_tor_drd_miss_latency", "--per-box", "--json")
    values = json_of(tap, run, name)
    if not values:
        return
    for (socket, box), cycles in latency.items():
        checks.check("%d %s" % (socket, box),
                     values.get("avg_tor_drd_miss_latency", socket, box),
                     cycles)
    run = while_sending(folder, lines, "stat", "-M",
                        "avg_tor_drd_miss_latency", "--per-socket", "--json")
    values = json_of(tap, run, name)
    for socket, (cycles, count) in sums.items():
        checks.check("socket %d" % socket,
                     values and values.get("avg_tor_drd_miss_latency", socket),
                     cycles / count)
    tap.ok(not checks.wrong, "%s, %d numbers" % (name, checks.compared),
           checks.wrong)


def test_misses(tap, folder):
    """The share of RFOs that miss, without RFOs of PCIe devices (tid 0x3e)."""
    missing = Event("cbox", "tor_inserts.miss_opcode")
    # requests that hit: tor_inserts.miss_opcode does not count them
    every = Event("cbox", "tor_inserts.opcode")
    lines = []
    for socket in range(2):
        for box in boxes("cbox"):
            lines += [missing.line(socket, box, 300 + 100 * socket, opc=0x180),
                      every.line(socket, box, 700 - 100 * socket, opc=0x180),
                      missing.line(socket, box, 5000, opc=0x180, tid=0x3e)]
    name = "stat -M llc_rfo_miss_pct: 30 % and 40 % of the cores' requests"
    values = json_of(tap, while_sending(
        folder, lines, "stat", "-M", "llc_rfo_miss_pct", "--per-socket",
        "--json"), name)
    if values:
        got = [values.get("llc_rfo_miss_pct", socket) for socket in range(2)]
        tap.ok(near(got[0], 30) and near(got[1], 40), name, [repr(got)])


def test_turns(tap, folder):
    """llc_drd_miss_pct needs two values of a box's one state filter, so its events are
    multiplexed."""
    name = "stat -M llc_drd_miss_pct says that it was multiplexed, and how much"
    run = while_sending(folder, [], "stat", "-M", "llc_drd_miss_pct", "--json")
    human = while_sending(folder, [], "stat", "-M", "llc_drd_miss_pct", "-e",
                          "cbox/llc_lookup.data_read,filter_state=i/")
    if run.status or human.status:
        tap.ok(False, name, run.comments() + human.comments())
        return
    row, = run.json()["metrics"]
    shown = re.search(r"(?:counted|none seen in) ([0-9.]+) % of the time", human.out)
    tap.ok(0.2 < row["running"] < 0.8 and
           shown and 20 < float(shown.group(1)) < 80, name,
           [repr(row)] + human.comments())

    run = while_sending(folder, [], "metric", "memory", "--all")
    tap.ok(run.status == 0 and "Multiplexed" in run.out and
           re.search(r"^mem_bw_reads_rate +(?:.*counted|none seen in) [0-9.]+ % of the "
                     "time$", run.out, re.M),
           "metric memory --all has the same below its table", run.comments())


# Four bursts of traffic for each box: a multiplexed event sees no traffic in most of its
# time slices. With so few, the events of a metric seldom see the same ones, and of all
# CBos some have an unreliable metric, whenever the slices begin.
BURSTS = """import random, sys, time
random.seed(1)
bursts = 4 * sys.argv[1:]
random.shuffle(bursts)
for burst in bursts:
    time.sleep(random.uniform(0.02, 0.06))
    with open("%straffic", "w") as file:
        file.write(open(burst).read())
""" % SIM
UNRELIABLE = "has an error of|is not possible"
UNSEEN = "no event was seen"


def test_unreliable(tap, folder):
    """Metrics with more events than a box has counters: each event sees different
    bursts, so a metric may be unreliable."""
    files = []
    for box in boxes("cbox"):
        files.append(os.path.join(folder, "bursts of " + box))
        with open(files[-1], "w", encoding="ascii") as file:
            file.writelines(Event("cbox", "tor_" + name).line(0, box, count, opc=0x182)
                            for name, count in (("inserts.opcode", 1000),
                                                ("inserts.miss_opcode", 600),
                                                ("occupancy.opcode", 100000),
                                                ("occupancy.miss_opcode", 90000)))
    arguments = ("stat", "--per-box", "-M",
                 "avg_tor_drd_hit_latency,avg_tor_drd_latency,avg_tor_drd_miss_latency")
    command = ["python3", "-c", BURSTS, *files]
    run = Uncore(*arguments, "--json", command=command)
    rows = run.json()["metrics"] if run.status == 0 else []
    refused = [row for row in rows if UNSEEN not in row.get("reason", UNSEEN)]
    wrong = [row for row in rows if row["value"] is not None and
             (row["error"] or 0) > row["value"]] + \
        [row for row in refused if row["value"] is not None or
         not re.search(UNRELIABLE, row["reason"])]
    tap.ok(len(rows) > len(files) and refused and not wrong,
           "stat -M of bursts: no value with an error larger than itself",
           ["wrong: %r" % row for row in wrong] + run.comments())

    run = Uncore(*arguments, command=command)
    lines = [line for line in run.out.splitlines() if " avg_tor_drd" in line]
    large = [line for line in lines if re.search(
        r"\u00b1[0-9,]{3,}\.[0-9]+ %| 0 cycles  \u00b1[0-9]", line)]
    tap.ok(len(lines) == len(rows) and not large and
           any(re.search(" -  (.*)(%s)" % UNRELIABLE, line) for line in lines),
           "and people see - and the reason", large + run.comments())

    run = Uncore("metric", "llc", command=command)
    marks = re.findall(r"\S\*(?= |$)", run.out, re.M)
    reasons = re.findall(r"^\* .*", run.out, re.M)
    tap.ok(run.status == 0 and len(set(reasons)) == len(reasons) <= len(marks),
           "a table has the reasons of its numbers, each once", run.comments())


def test_qpi(tap, folder):
    data, rest = (Event("qpi", "txl_flits_g0." + name)
                  for name in ("data", "non_data"))
    clock = Event("qpi", "clockticks")
    ports = boxes("qpi")
    lines, want = [], {}
    for socket in range(2):
        for i, box in enumerate(ports):
            flits = (1 << 22) * (i + 1) + (1 << 20) * socket
            lines += [data.line(socket, box, flits),
                      rest.line(socket, box, flits // 2),
                      clock.line(socket, box, 1 << 25)]
            want[socket, box] = flits
    name = "metric qpi --json: utilization, bandwidth and speed of each port"
    run = while_sending(folder, lines, "metric", "qpi", "--json")
    values = json_of(tap, run, name)
    if not values:
        return
    checks = Checks()
    for (socket, box), flits in want.items():
        time = values.time("qpi_speed", socket, box)
        for metric, value in (
                ("qpi_tx_util", 100 * 1.5 * flits / (1 << 25)),
                ("qpi_data_bw_rate", flits * 8 / time / GIB),
                ("qpi_link_bw_rate", 1.5 * flits * 8 / time / GIB),
                ("qpi_speed", 4 * (1 << 25) / time / 1e9)):
            checks.check("%s of %d %s" % (metric, socket, box),
                         values.get(metric, socket, box), value)
    time = values.time("qpi_speed")
    checks.check("data of all", values.get("qpi_data_bw_rate"),
                 sum(want.values()) * 8 / time / GIB)
    checks.check("speed of all", values.get("qpi_speed"),
                 4 * (1 << 25) / time / 1e9)
    tap.ok(not checks.wrong, "%s, %d numbers" % (name, checks.compared),
           checks.wrong)


def test_power(tap, folder):
    limits = {"pct_cyc_freq_power_ltd": ("freq_max_power_cycles", 40),
              "pct_cyc_freq_thermal_ltd": ("freq_max_limit_thermal_cycles", 7),
              "pct_cyc_freq_os_ltd": ("freq_max_os_cycles", 25)}
    cycles = 1 << 20
    lines = [Event("pcu", "clockticks").line(socket, "pcu", cycles)
             for socket in range(2)]
    for socket in range(2):
        for event, percent in limits.values():
            lines.append(Event("pcu", event).line(
                socket, "pcu", cycles * (percent + socket) // 100))
    name = "metric power --json: what limits each socket's frequency"
    run = while_sending(folder, lines, "metric", "power", "--json")
    values = json_of(tap, run, name)
    if not values:
        return
    checks = Checks()
    for metric, (_, percent) in limits.items():
        for socket in range(2):
            checks.check("%s of %d" % (metric, socket),
                         values.get(metric, socket), percent + socket)
        checks.check(metric, values.get(metric), percent + 0.5)
    tap.ok(not checks.wrong, "%s, %d numbers" % (name, checks.compared),
           checks.wrong)


# --- all sets -------------------------------------------------------------------

def test_sets(tap, folder):
    """Each set has metrics, and lists its other metrics as unavailable, with the
    reason."""
    for name in ("memory", "llc", "qpi", "power", "pcie", "io", "ring"):
        run = while_sending(folder, [], "metric", name, "--all", "--json",
                            seconds=0.3)
        if run.status:
            tap.ok(False, "metric %s --all" % name, run.comments())
            continue
        values = Values(run.json())
        metrics = {row["metric"] for row in values.rows}
        contradictory = metrics & set(values.unavailable)
        # the VM's processors have no core counters
        lacking = {name for name, reason in values.unavailable.items()
                   if "no core counters" not in reason}
        tap.ok(metrics and not contradictory and (IN_TREE or not lacking),
               "metric %s --all: %d metrics, %d not on this machine" %
               (name, len(metrics), len(values.unavailable)),
               ["%s: %s" % item for item in values.unavailable.items()])


def test_all(tap, folder):
    """metric --all and stat -M print the same metrics of a group, in the same order."""
    runs = [while_sending(folder, [], *words, "--json", seconds=0.3) for words in
            (("metric", "power", "--all"), ("stat", "-M", "power"))]
    if any(run.status for run in runs):
        tap.ok(False, "metric --all", runs[0].comments() + runs[1].comments())
        return
    table, lines = ([row["metric"] for row in run.json()["metrics"]
                     if row["scope"] == "machine"] for run in runs)
    tap.ok(table == lines and table[0] == "uncore_frequency",
           "metric power --all has the metrics of stat -M power in their order, the "
           "leading ones first", [repr(table), repr(lines)])


def test_in_tree_gaps(tap):
    run = Uncore("metric", "ring", "-d", "0.3")
    tap.ok(run.status == 0 and "Not on this machine" in run.out and
           re.search(r"cyc_used_upeven +\S.*(?:§2\.4|sbox)", run.out),
           "metric ring names what intel_uncore cannot count, and why",
           run.comments())


def main():
    tap = Tap()
    with contextlib.ExitStack() as stack:
        if not IN_TREE:
            stack.enter_context(Machine(tap))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        test_memory(tap, folder)
        test_latency(tap, folder)
        test_misses(tap, folder)
        test_turns(tap, folder)
        if not IN_TREE:
            test_unreliable(tap, folder)
        test_qpi(tap, folder)
        test_power(tap, folder)
        test_sets(tap, folder)
        test_all(tap, folder)
        if IN_TREE:
            test_in_tree_gaps(tap)
    tap.end()


if __name__ == "__main__":
    main()
