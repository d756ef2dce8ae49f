#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the series of "uncore serve" against the simulated hardware: known traffic gives
exact numbers with the right labels. The numbers stay right while the driver is
reloaded, while CPUs go offline and online, while the exporter is stopped, while another
program uses the counters, and when a box dies.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import LIMIT, comments, run, started  # noqa: E402
from lib.python.exposition import Daemon, up, value  # noqa: E402
from lib.python.top import TASK, dead_box, hold_tracepoint  # noqa: E402
from lib.python.traffic import UNCORE, Event  # noqa: E402
from lib.python.uncore import (GENERATION, SIM, TOP, Machine, Tap, pmus, read,  # noqa: E402
                               running_clock, write)
from exporter.serve_cgroups import (DRIVER, Scraper, test_cgroup_name,  # noqa: E402
                                    test_cgroups, test_cgroups_users,
                                    test_cgroups_v1, work_in)
from scenarios import causes, generations, player  # noqa: E402

CPU = "/sys/devices/system/cpu/cpu%d/online"


def send(lines):
    """Write lines to the simulator's traffic file."""
    for line in lines:
        write(SIM + "traffic", line)


def advance(cycles):
    write(SIM + "advance", "%d" % cycles)


def counted(after, before, name, **labels):
    """Return the growth of a counter; None if one of the scrapes lacks the series."""
    new, old = (value(samples, name + "_total", **labels)
                for samples in (after, before))
    return None if new is None or old is None else new - old


# (series, box type, event that feeds the series, labels, factor from a count of the
# event to the series' unit, keys of the simulator's traffic line)
SERIES = (
    ("uncore_memory_bytes", "imc", "cas_count.rd",
     {"direction": "read"}, 64, {}),
    ("uncore_memory_bytes", "imc", "cas_count.wr",
     {"direction": "write"}, 64, {}),
    ("uncore_llc_lookups", "cbox", "llc_lookup.any", {}, 1, {"state": 1}),
    ("uncore_llc_misses", "cbox", "tor_inserts.miss_local",
     {"memory": "local"}, 1, {}),
    ("uncore_llc_misses", "cbox", "tor_inserts.miss_remote",
     {"memory": "remote"}, 1, {}),
    ("uncore_llc_modified_victims", "cbox", "llc_victims.m_state", {}, 1, {}),
    ("uncore_home_agent_requests", "ha", "requests.reads_local",
     {"request": "read", "origin": "local"}, 1, {}),
    ("uncore_home_agent_requests", "ha", "requests.writes_remote",
     {"request": "write", "origin": "remote"}, 1, {}),
    ("uncore_qpi_data_bytes", "qpi", "txl_flits_g0.data",
     {"direction": "transmit"}, 8, {}),
    ("uncore_qpi_overhead_flits", "qpi", "txl_flits_g0.non_data",
     {"direction": "transmit"}, 1, {}),
    ("uncore_pcie_bytes", "irp", "coherent_ops.pcirdcur",
     {"direction": "read"}, 64, {}),
    ("uncore_pcie_bytes", "irp", "coherent_ops.pcitom",
     {"direction": "write"}, 64, {}),
    ("uncore_pcie_ring_used_cycles", "r2pcie", "ring_bl_used.cw",
     {"direction": "clockwise"}, 1, {}),
    ("uncore_ring_used_cycles", "sbox", "ring_bl_used.down",
     {"direction": "down"}, 1, {}),
    ("uncore_qpi_ring_used_cycles", "r3qpi", "ring_bl_used.ccw",
     {"direction": "counterclockwise"}, 1, {}),
)
# the label that has a box's number, by box type; with --per-box more types have one
LABEL = {"imc": "channel", "qpi": "link"}
LABEL_PER_BOX = {**LABEL, "cbox": "slice", "ha": "agent", "sbox": "stop",
                 "r3qpi": "stop", "irp": "unit"}


def instance_of(pmu):
    """Return the number of a box, which is 0 in a PMU name without number."""
    match = re.search(r"_(\d+)$", pmu)
    return int(match[1]) if match else 0


def expected(machine, labels):
    """Return lines for the simulator's traffic file, with a different count for each
    box and event, and the growth that they cause, {(series, labels): sum}."""
    lines, want, count = [], {}, 1000
    for name, box, event, more, factor, keys in SERIES:
        for package in range(machine.packages):
            for pmu in pmus(box):
                count += 7
                lines.append(Event(box, event).line(
                    package, pmu.removeprefix("hswep_"), count, **keys))
                have = {"socket": str(package), **more}
                if box in labels:
                    have[labels[box]] = str(instance_of(pmu))
                key = name, frozenset(have.items())
                want[key] = want.get(key, 0) + count * factor
    return lines, want


def test_exact(tap, machine, daemon, labels, name):
    lines, want = expected(machine, labels)
    before = daemon.fresh()
    send(lines)
    after = daemon.fresh()
    wrong = ["%s%s: want %d, got %s" % (
        series, sorted(have), total,
        counted(after, before, series, **dict(have)))
             for (series, have), total in want.items()
             if counted(after, before, series, **dict(have)) != total]
    tap.ok(not wrong, "%s: %d series have exactly what was sent" %
           (name, len(want)), wrong)
    # The simulated clock is stopped, so no event counts but those that were sent.
    names = {series + "_total" for series, *_ in SERIES}
    extra = [repr(key) for key, count in after.items()
             if key[0] in names and count != before.get(key) and
             (key[0].removesuffix("_total"), key[1]) not in want]
    tap.ok(not extra, "%s: and no other series grew" % name, extra)
    still = daemon.fresh()
    tap.ok({key: still[key] for key in after if key[0] in names} ==
           {key: after[key] for key in after if key[0] in names},
           "%s: without traffic they do not change" % name)


def test_clocks(tap, machine, daemon):
    """All clocks of the simulated hardware advance by the same cycles."""
    before = daemon.fresh()
    cycles = machine.cycles()
    advance(1_000_000)
    after = daemon.fresh()
    cycles = machine.cycles() - cycles
    wrong = []
    for name, more in (("uncore_clock_cycles", {}),
                       ("uncore_pcu_clock_cycles", {}),
                       ("uncore_qpi_clock_cycles", {"link": "0"}),
                       ("uncore_memory_clock_cycles", {"channel": "0"})):
        grown = counted(after, before, name, socket="1", **more)
        if grown != cycles:
            wrong.append("%s: %s of %d" % (name, grown, cycles))
    tap.ok(not wrong, "clocks have as many cycles as passed", wrong)


def documented():
    """Return the series in the first table of Documentation/exporter.rst, which is for
    the generations with CBos."""
    with open(os.path.join(TOP, "Documentation", "exporter.rst"),
              encoding="utf-8") as file:
        text = file.read()
    table = text.split("Series     ", 1)[1].split("\nProcessors with", 1)[0]
    return set(re.findall(r"^``(uncore_\w+)``", table, re.M))


def test_default(tap, machine, samples):
    shown = {name.removesuffix("_total") for name, labels in samples
             if name.endswith("_total") and "socket" in dict(labels) and
             not name.startswith(("uncore_events_", "uncore_foreign_"))}
    tap.ok(shown == documented() and len(shown) > 20,
           "the series are the %d that are documented" % len(shown),
           [repr(shown ^ documented())])
    shares = {key: part for key, part in samples.items()
              if key[0] == "uncore_events_running_ratio"}
    tap.ok(len(shares) >= 8 * machine.packages and
           set(shares.values()) == {1.0},
           "no event is multiplexed", ["%s %s" % item for item in shares.items()])
    wrong = ["%s on %d" % (box_type, package) for box_type in ("imc", "cbox", "pcu")
             for package in range(machine.packages)
             if value(samples, "uncore_socket_boxes", socket=str(package),
                      box=box_type) != len(pmus(box_type))]
    tap.ok(not wrong, "the topology is the machine's", wrong)
    info = [dict(labels) for name, labels in samples if name == "uncore_info"]
    tap.ok(len(info) == 1 and info[0]["driver"] == "xeon_uncore" and
           info[0]["machine"] == "hswep" and info[0]["model"] and
           info[0]["version"], "uncore_info says what it is", [repr(info)])


def reads(socket="1", channel="2"):
    """Return a traffic line with 1000 reads of a memory channel."""
    return Event("imc", "cas_count.rd").line(
        int(socket), "imc_" + channel, 1000)


def lines_read(after, before):
    """Return the lines that channel 2 of socket 1 has read between two scrapes; None if a
    scrape lacks the series."""
    grown = counted(after, before, "uncore_memory_bytes", socket="1",
                    channel="2", direction="read")
    return None if grown is None else grown / 64


def test_reload(tap, machine, daemon):
    before = daemon.fresh()
    send([reads()])
    refused = subprocess.run(["rmmod", "xeon_uncore"], check=False,
                             stderr=subprocess.PIPE)
    tap.ok(refused.returncode != 0, "counters that are open keep the driver")
    # Counts up to the signal are not lost, though no scrape saw them.
    daemon.send(signal.SIGUSR1)
    down = daemon.wait_for(lambda now: up(now) == 0)
    Machine.wait_unused()
    result = subprocess.run(["rmmod", "xeon_uncore"], check=False,
                            stderr=subprocess.PIPE)
    tap.ok(result.returncode == 0, "SIGUSR1 lets it be unloaded",
           [result.stderr.decode()])
    down = daemon.fresh()
    tap.ok(up(down) == 0 and
           not [key for key in down if key[0] == "uncore_memory_bytes_total"],
           "without a driver it is not up, and has no series")
    tap.ok(value(daemon.fresh(), "uncore_read_errors_total") >
           value(down, "uncore_read_errors_total"), "and counts errors")
    send([reads()])             # no event is open: not counted
    with running_clock():
        subprocess.run(["insmod", DRIVER], check=True)
    back = daemon.wait_for(lambda now: up(now) == 1)
    tap.ok(lines_read(back, before) == 1000,
           "with the driver loaded again it is up, and counts continue",
           ["%s" % lines_read(back, before)])
    send([reads()])
    after = daemon.fresh()
    tap.ok(lines_read(after, before) == 2000, "exactly",
           ["%s" % lines_read(after, before)])
    del machine


def test_hotplug(tap, daemon):
    """The CPU that counts for socket 1 goes offline; then all CPUs of the socket."""
    cpus = [cpu for cpu in range(os.sysconf("SC_NPROCESSORS_CONF"))
            if read("/sys/devices/system/cpu/cpu%d/topology/"
                    "physical_package_id" % cpu) == "1"]
    designated = int(read("/sys/bus/event_source/devices/hswep_imc_2/cpumask")
                     .split(",")[1])
    before = daemon.fresh()
    opens = value(before, "uncore_opens_total")
    send([reads()])
    write(CPU % designated, "0")
    send([reads()])
    after = daemon.fresh()
    tap.ok(lines_read(after, before) == 2000 and
           value(after, "uncore_opens_total") == opens,
           "the counting CPU goes: nothing is lost, nothing opened anew",
           ["%s" % lines_read(after, before)])
    tap.ok(value(after, "uncore_socket_cpus", socket="1") == len(cpus) - 1,
           "and the topology does not have it")
    for cpu in cpus:
        if cpu != designated:
            write(CPU % cpu, "0")
    offline = daemon.wait_for(lambda now: value(
        now, "uncore_clock_cycles_total", socket="1") is None)
    tap.ok(value(offline, "uncore_clock_cycles_total", socket="1") is None and
           value(offline, "uncore_clock_cycles_total", socket="0") is not None and
           up(offline) == 1,
           "all of its socket go: so do its series, and no others")
    for cpu in cpus:
        write(CPU % cpu, "1")
    back = daemon.wait_for(lambda now: value(
        now, "uncore_clock_cycles_total", socket="1") is not None)
    tap.ok(lines_read(back, before) == 2000,
           "they come back: counts are where they were",
           ["%s" % lines_read(back, before)])
    send([reads()])
    after = daemon.fresh()
    tap.ok(lines_read(after, before) == 3000, "and continue",
           ["%s" % lines_read(after, before)])


def test_suspended(tap, daemon):
    """SIGSTOP stops the exporter; a scrape waits until SIGCONT."""
    before = daemon.fresh()
    opens = value(before, "uncore_opens_total")
    send([reads()])
    daemon.send(signal.SIGSTOP)
    stat = "/proc/%d/stat" % daemon.process.pid
    deadline = time.monotonic() + LIMIT
    while read(stat).rsplit(")", 1)[1].split()[0] != "T" and \
            time.monotonic() < deadline:
        time.sleep(0.05)
    send([reads()])
    with daemon.connected() as connection:
        connection.request("GET", "/metrics")
        daemon.send(signal.SIGCONT)
        answer = connection.getresponse()
        text = answer.read().decode()
    tap.ok(answer.status == 200 and "uncore_up 1" in text,
           "stopped and continued: requests of that time get an answer",
           ["status %d" % answer.status, text[:200]])
    after = daemon.fresh()
    tap.ok(lines_read(after, before) == 2000 and
           value(after, "uncore_opens_total") == opens,
           "and counts are what they would be: no reset, nothing lost",
           ["%s" % lines_read(after, before)])
    send([reads()])
    after = daemon.fresh()
    tap.ok(lines_read(after, before) == 3000, "and they continue, exactly",
           ["%s" % lines_read(after, before)])


def test_dead_box(tap):
    """A memory channel stops answering. The driver treats the box as dead until the
    driver is loaded again."""
    with Daemon("serve") as daemon:
        daemon.fresh()
        send([reads()])
        advance(1000)
        moved = daemon.fresh()
        write(SIM + "fault", dead_box(1, "imc_2"))
        send([reads()])
        advance(1000)
        after = daemon.fresh()
        cycles = {channel: counted(after, moved, "uncore_memory_clock_cycles",
                                   socket="1", channel=channel)
                  for channel in ("1", "2", "3")}
        tap.ok(lines_read(after, moved) is None and
               cycles == {"1": 1000, "2": None, "3": 1000},
               "a box that stops answering: its series end; others continue",
               ["%s" % lines_read(after, moved), repr(cycles)])
        boxes = {(dict(labels)["socket"], dict(labels)["box"],
                  dict(labels)["number"]): count
                 for (name, labels), count in after.items()
                 if name == "uncore_box_up"}
        tap.ok([box for box, is_up in boxes.items() if not is_up] ==
               [("1", "imc", "2")] and len(boxes) > 20 and up(after) == 1 and
               value(after, "uncore_socket_up", socket="1") == 1 and
               value(after, "uncore_box_down_info", socket="1", box="imc",
                     number="2", reason="dead") == 1,
               "uncore_box_up says which it is, and why", [repr(boxes)])
        topology, snapshot = (json.loads(daemon.request("/api/" + name)[2])
                              for name in ("topology", "snapshot"))
        down = [(topology["boxes"][int(at)]["pmu"],
                 topology["boxes"][int(at)]["socket"], reason)
                for at, reason in snapshot.get("down", {}).items()]
        unknown = {topology["counters"][i]["event"].split("/")[0]
                   for i, count in enumerate(snapshot["counts"])
                   if count is None}
        tap.ok(down == [("hswep_imc_2", 1, "dead")] and
               unknown == {"hswep_imc_2"},
               "the map's feed: dead, and no counts",
               [repr(down), repr(unknown)])
        facts = {socket: verdict["facts"] for socket, verdict in
                 snapshot["verdicts"].items()}
        tap.ok("iMC 2 is dead" in facts["1"] and
               not [fact for fact in facts["0"] if "dead" in fact],
               "and its socket's verdict names it", [repr(facts)])
        status, output = daemon.end()
        tap.ok(status == 0 and output.count("\n") == 1 and
               "hswep_imc_2 of socket 1 does not answer" in output,
               "and one line says so", ["status %d" % status, output])
    test_dead_at_start(tap)
    write(SIM + "fault", dead_box(1, "imc_2", False))


def test_dead_at_start(tap):
    """uncore serve starts while a channel is dead: it exports the other channels, and
    the traffic of cgroups."""
    with Daemon("serve", "--cgroups", "2") as daemon:
        seen = daemon.fresh()
        channels = {dict(labels)["channel"] for name, labels in seen
                    if name == "uncore_memory_clock_cycles_total" and
                    dict(labels)["socket"] == "1"}
        scraper = Scraper(seen)
        work_in("")
        daemon.wait_for(scraper.take)
        daemon.fresh(scraper.take)
        tap.ok(up(seen) == 1 and "1" in channels and "2" not in channels and
               scraper.adds_up(),
               "started with a dead channel: others are exported, with cgroups",
               [repr(channels), *scraper.comments()])
        status, output = daemon.end()
        tap.ok(status == 0, "SIGTERM ends it",
               ["status %d" % status, *output.splitlines()])


def test_generation(tap):
    """On this generation no event of the exporter, of the die map or of uncore live is
    multiplexed, also while two exporters count at the same time."""
    with Daemon("serve", "--per-box") as daemon:
        daemon.fresh()
        with Daemon("serve") as second:
            second.fresh()
            time.sleep(1)
            seen = daemon.fresh()
            shares = [count for (name, _), count in seen.items()
                      if name == "uncore_events_running_ratio"]
            counts = {name for name, labels in seen if name.endswith("_total")
                      and "socket" in dict(labels)
                      and not name.startswith("uncore_events_")}
            tap.ok(len(counts) >= 7 and set(shares) == {1.0},
                   "serve: %d series, each counted all of the time, also when "
                   "there are two" % len(counts),
                   [repr(sorted(counts)), repr(shares)])
        test_scenarios(tap, daemon)
        topology, snapshot = (json.loads(daemon.request("/api/" + name)[2])
                              for name in ("topology", "snapshot"))
        tap.ok(len(topology["counters"]) == len(snapshot["counts"]) > 0 and
               None not in snapshot["counts"] and "shared" not in snapshot and
               "down" not in snapshot,
               "map: so are all %d counters" % len(snapshot["counts"]),
               [repr(snapshot)])
    result = run("live", "--once", "--no-tasks", "-I", "500")
    rows = [line for line in result.stdout.splitlines()
            if re.search(r"\d(?:B/s|/s|Hz|%)", line)]
    tap.ok(result.returncode == 0 and len(rows) >= 4 and
           "counted" not in result.stdout, "live: %d rows have numbers" % len(rows),
           comments(result))


# Largest share of a limit that is accepted. A share cannot exceed 1, but the clock and
# the counts of a box are read a moment apart.
MOST = 1.02


def shares_of(daemon):
    """Return the server's verdict of a second, {socket: verdict}."""
    daemon.request("/api/snapshot")
    time.sleep(1)
    return json.loads(daemon.request("/api/snapshot")[2])["verdicts"]


def faults_of(page):
    """Generate the lines of uncore live's page that are wrong: a share is above 100 %,
    the bars are not in the columns of the first bar, or a rate is in GB/s."""
    bars = None
    for line in page.splitlines():
        places = [match.start() for match in re.finditer("[\u2502|]", line)]
        bars = bars or places
        if places not in ([], bars) or "GB/s" in line or any(
                float(share) > 100 * MOST
                for share in re.findall(r"([0-9.]+) ?%", line)):
            yield line


def test_scenarios(tap, daemon):
    """In each scenario, shares on the map and in uncore live are between 0 and 1, and
    the rows of uncore live are aligned. In the scenario numa, where most LLC misses are
    remote, the verdict is that remote memory is the limit."""
    wrong, verdicts = [], {}
    names = list(causes.STEADY) if generations.load(GENERATION) else [None]
    for name in names:
        if name:
            player.start(name)
        verdicts[name] = shares_of(daemon)
        wrong += ["%s, socket %s: %s" % (name, socket, verdict)
                  for socket, verdict in verdicts[name].items()
                  if not verdict["uses"] or
                  not all(0 <= share <= MOST for share in verdict["uses"].values())]
        result = run("live", "--once", "--no-tasks", "-I", "500")
        wrong += ["%s: %s" % (name, line) for line in faults_of(result.stdout)]
        if result.returncode or "%" not in result.stdout:
            wrong += [str(name), *comments(result)]
    tap.ok(not wrong, "in %d scenarios each share is in its range" % len(names), wrong)
    remote = any(part["labels"].get("memory") == "remote" for part in json.loads(
        daemon.request("/api/topology")[2])["counters"])
    if not remote or len(verdicts.get("numa", ())) < 2:
        return
    limits = {name: {verdict["limited"] for verdict in verdicts[name].values()}
              for name in ("numa", "latency", "idle")}
    tap.ok(limits["numa"] == {"remote memory"} and
           not (limits["idle"] | limits["latency"]) - {""},
           "numa is limited by remote memory, latency and idle by nothing",
           [repr(verdicts["numa"]), repr(limits)])


def test_multiplexed(tap, daemon):
    """Another program's events are multiplexed with the exporter's events: the series
    report the part of the time that the exporter's events counted."""
    write(SIM + "clock", "real")
    events = ",".join("imc_0/%s/" % name for name in (
        "act_count.rd", "act_count.wr", "act_count.byp", "clockticks"))
    with started([UNCORE, "stat", "-e", "{%s}" % events, "-d", "1000"],
                 stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL) as stat:
        try:
            samples = daemon.wait_for(lambda now: value(
                now, "uncore_events_running_ratio", socket="0",
                box="imc") < 1)
        finally:
            stat.terminate()
    write(SIM + "clock", "manual")
    ratio = value(samples, "uncore_events_running_ratio", socket="0",
                  box="imc")
    running, enabled = (value(samples, "uncore_events_%s_seconds_total" % name,
                              socket="0", box="imc")
                        for name in ("running", "enabled"))
    tap.ok(0 < ratio < 1 and running < enabled,
           "while others count too, it says for how long it did",
           ["%s %s %s" % (ratio, running, enabled)])


def main():
    tap = Tap()
    if sys.argv[1:] == ["generation"]:
        with Machine(tap, clock="real"):
            test_generation(tap)
        tap.end()
    if not os.access(TASK, os.X_OK):
        tap.skip_all("%s is not built" % os.path.relpath(TASK, TOP))
    with Machine(tap) as machine:
        with Daemon("serve") as daemon:
            test_default(tap, machine, daemon.scrape())
            test_exact(tap, machine, daemon, LABEL, "by default")
            test_clocks(tap, machine, daemon)
            test_reload(tap, machine, daemon)
            test_hotplug(tap, daemon)
            test_suspended(tap, daemon)
            test_multiplexed(tap, daemon)
            status, output = daemon.end()
            tap.ok(status == 0, "SIGTERM ends it",
                   ["status %d" % status, *output.splitlines()])
        with Daemon("serve", "--per-box") as daemon:
            test_exact(tap, machine, daemon, LABEL_PER_BOX, "--per-box")
            daemon.end()
        hold_tracepoint()
        test_cgroups(tap)
        test_cgroup_name(tap)
        test_cgroups_v1(tap)
        test_cgroups_users(tap)
        test_dead_box(tap)
    tap.end()


if __name__ == "__main__":
    main()
