#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore stat" on the simulated hardware: exact counts, also while perf counts, the
same numbers in all output formats, its end by signals, one-line errors, CPUs that go
offline, and boxes that die.
"""

import contextlib
import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (LIMIT, PATIENCE, on_terminal, started,  # noqa: E402
                                visible, wait_for)
from lib.python.schema import check_documents  # noqa: E402
from lib.python.top import cpu_packages, dead_box, online_file, set_online  # noqa: E402
from lib.python.traffic import UNCORE, Event, Uncore, while_sending  # noqa: E402
from lib.python.uncore import (FEW_SLICES, SIM, Machine, Tap, pmus, read,  # noqa: E402
                               running_clock, write)

READS = "imc/cas_count.rd/"
CBOX0_CTR0 = 0xe08


def running(name):
    """Return the numbers of the processes with a name."""
    pids = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if read("/proc/%s/comm" % process) == name:
                pids.append(int(process))
    return pids


def rows_of(run):
    """Return the rows of a JSON document, {(event, socket, PMU): row}."""
    return {(row["event"], row.get("socket"), row.get("pmu")): row
            for row in run.json()["events"]}


# --- counts ---------------------------------------------------------------------

def test_exact(tap, folder):
    event = Event("imc", "cas_count.rd")
    counts = {(socket, pmu): 1000 + 100 * i + 7 * socket
              for socket in range(2) for i, pmu in enumerate(pmus("imc"))}
    lines = [event.line(socket, pmu.removeprefix("hswep_"), count)
             for (socket, pmu), count in counts.items()]

    for flag, key in (("--per-box", lambda s, p: (s, p)),
                      ("--per-socket", lambda s, _: (s, None)),
                      (None, lambda *_: (None, None))):
        want = {}
        for place, count in counts.items():
            want[key(*place)] = want.get(key(*place), 0) + count
        run = while_sending(folder, lines, "stat", "-e", READS, "--json",
                            *[flag] if flag else [], seconds=0.1)
        got = {(socket, box): row["raw"] for (_, socket, box), row
               in rows_of(run).items()} if run.status == 0 else {}
        tap.ok(got == want, "stat %s: %d exact counts" % (flag or "", len(want)),
               run.comments() + ["want %s" % want])

    run = while_sending(folder, lines, "stat", "-e", READS, "--csv",
                        "--per-box", seconds=0.1)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    got = {(int(row["socket"]), row["pmu"]): int(row["raw"]) for row in rows}
    tap.ok(got == counts, "stat --csv carries the same", run.comments())

    run = while_sending(folder, lines, "stat", "-e", READS, seconds=0.1)
    mib = sum(counts.values()) * 64 / (1 << 20)
    match = re.search(r"cas_count\.rd/\s+([0-9.,]+) MiB", run.out)
    tap.ok(match and abs(float(match.group(1)) / mib - 1) < 0.001,
           "stat shows people MiB", run.comments() + ["want %g MiB" % mib])
    shown = re.search(r"Counted for ([0-9.]+) s.* MiB  # +([0-9.]+) (\S+)/s$", run.out,
                      re.M | re.S)
    tap.ok(shown and abs(
        float(shown.group(2)) * {"KiB": 1 / 1024, "MiB": 1}.get(shown.group(3), 0) *
        float(shown.group(1)) / mib - 1) < 0.01,
           "and the rate, of the time that was counted", run.comments())


def test_intervals(tap, folder):
    event = Event("imc", "cas_count.rd")
    lines = [event.line(1, "imc_2", 12345)]
    run = while_sending(folder, lines, "stat", "-e", READS, "-I", "100",
                        "--json", seconds=0.5)
    documents = run.lines() if run.status == 0 else [{}]
    raws = [document["events"][0]["raw"] for document in documents
            if document]
    tap.ok(len(raws) >= 6 and sum(raws[:-1]) == raws[-1] == 12345 and
           documents[-1]["total"],
           "stat -I: the intervals' counts add up to the total",
           run.comments())

    run = Uncore("stat", "-e", READS, "-I", "50", "--interval-count", "4",
                 "--json")
    times = [document["seconds"] for document in run.lines()] \
        if run.status == 0 else []
    tap.ok(len(times) == 4 + 1 and times[-1] >= 0.2,
           "stat -I --interval-count ends after that many, and the total",
           run.comments())


def test_beside_perf(tap, folder):
    """uncore stat and perf stat count the same traffic at the same time."""
    path = os.path.join(folder, "perf")
    lines = [Event("cbox", "llc_lookup.any").line(0, "cbox_1", 4321, state=1)]
    run = while_sending(
        folder, lines, "stat", "-e", "cbox_1/llc_lookup.any,filter_state=i/",
        "--json", around=("perf", "stat", "-a", "-x,", "-o", path, "-e",
                          "hswep_cbox_1/llc_lookup.any,filter_state=0x1/"))
    theirs = re.search(r"^(\d+),", read(path), re.M)
    ours = run.json()["events"][0]["raw"] if run.status == 0 else None
    tap.ok(ours == 4321 and theirs and int(theirs.group(1)) == 4321,
           "stat beside perf stat: both count all", run.comments() +
           [read(path)])


def test_turns(tap):
    """Six events are multiplexed on four counters, and none of them occurs."""
    arguments = ("stat", "-d", "1", "-e", ",".join(
        "imc_0/pre_count.%s/" % name for name in ("rd", "wr", "byp")) +
        ",imc_0/cas_count.rd/,imc_0/cas_count.wr/,imc_0/cas_count.all/",
        "--per-socket")
    run = Uncore(*arguments)
    shares = re.findall(r" 0(?: B)?  # +0 B?/s  none seen in ([0-9.]+) % of the time",
                        run.out)
    tap.ok(run.status == 0 and "not counted" not in run.out and
           "\u00b10.00 %" not in run.out and len(shares) > 4 and
           all(0 < float(share) < 100 for share in shares),
           "stat of multiplexed events that do not happen: in which part none was seen",
           run.comments())

    run = Uncore(*arguments, "--json")
    rows = [row for row in run.json()["events"] if row["running"] < 1] \
        if run.status == 0 else []
    wrong = [row for row in rows if row["error"] is not None or not math.isclose(
        row.get("upper_bound", 0), 3 * row["enabled_ns"] / row["running_ns"] *
        (64 / (1 << 20) if row["unit"] == "MiB" else 1))]
    tap.ok(len(rows) > 4 and not wrong,
           "and its JSON: an upper bound, and no error of 0", run.comments())


# Bursts of traffic at random times, which are not in step with the multiplexing.
BURSTS = """import random, sys, time
random.seed(1)
for _ in range(int(sys.argv[1])):
    time.sleep(random.uniform(0.002, 0.03))
    with open("%straffic", "w") as file:
        file.write(sys.argv[2])
""" % SIM


def test_shared(tap):
    """
    Another program's events are multiplexed with an event of uncore stat. That event
    counts each burst completely or not at all, and the error must cover the difference.
    """
    bursts, count = 40, 100000
    line = Event("imc", "cas_count.rd").line(0, "imc_0", count)
    other_events = ",".join("hswep_imc_0/cas_count.rd,thresh=%d/" % n
                            for n in range(1, 5))
    with started(["perf", "stat", "-a", "-e", other_events],
                 stderr=subprocess.DEVNULL) as perf:
        wait_for(SIM + "registers", "1 imc_0 ctl3")
        run = Uncore("stat", "-e", "imc_0/cas_count.rd/", "--per-socket", "--json",
                     command=["python3", "-c", BURSTS, str(bursts), line])
        perf.send_signal(signal.SIGINT)
    row = ([row for row in run.json()["events"] if row["socket"] == 0] or [{}])[0] \
        if run.status == 0 else {}
    far = abs(row.get("value", 0) - bursts * count * 64 / (1 << 20))
    tap.ok(row.get("running", 1) < 1 and
           (row["error"] is None or far <= 5 * row["error"]),
           "stat beside another program's events: the error covers what was missed",
           ["%.1f off: %r" % (far, row), *run.comments()])


def test_options(tap, folder):
    """Options that perf users are used to."""
    reads = Event("imc", "cas_count.rd")
    lines = [reads.line(socket, "imc_0", 1000 + socket) for socket in range(2)]
    cpu = cpu_packages()[1][-1]
    run = while_sending(folder, lines, "stat", "-e", READS, "--json",
                        "--per-socket", "-C", "%d" % cpu, seconds=0.1)
    rows = run.json()["events"] if run.status == 0 else []
    tap.ok([(row["socket"], row["raw"]) for row in rows] == [(1, 1001)],
           "stat -C counts on the socket of that CPU only", run.comments())
    refused(tap, "stat -C of a CPU that is not there",
            Uncore("stat", "-e", READS, "-C", "900"), 1, "CPU 900")

    path = os.path.join(folder, "runs")
    script = "echo >> %s; n=$(wc -l < %s); echo '%s' | sed s/=77/=${n}00/ " \
        "> %straffic" % (path, path, reads.line(1, "imc_0", 77).strip(), SIM)
    run = Uncore("stat", "-e", READS, "-r", "3", "--json", command=["sh", "-c", script])
    rows = run.json() if run.status == 0 else {}
    got = [(row["value"], row["error"]) for row in rows.get("events", [])]
    mib = 64 / (1 << 20)
    # three runs of 100, 200 and 300 counts: the standard deviation is 100
    tap.ok(rows.get("runs") == 3 and len(got) == 1 and
           abs(got[0][0] / mib - 200) < 1e-6 and
           abs(got[0][1] / mib - 100 / 3 ** 0.5) < 1e-6,
           "stat -r: the mean of three runs, and its error", run.comments())
    run = Uncore("stat", "-e", "imc/event=0x80/", "-d", "0.1", "--json")
    tap.ok(run.status == 0 and run.json()["events"][0]["raw"] == 0 and
           run.err.count("\n") == 1 and "no event with the code 0x80" in run.err,
           "a code that is not in the catalogue: one line says so", run.comments())


# --- end of uncore and of its command ---------------------------------------------

def wait_until_it_counts(pid):
    """Wait until uncore counts: it has SIGINT blocked then, and reads signals one by
    one."""
    for _ in range(600):
        blocked = re.search(r"SigBlk:\s*(\w+)", read("/proc/%d/status" % pid))
        if blocked and int(blocked.group(1), 16) & 1 << signal.SIGINT - 1:
            return
        time.sleep(0.1)


def interrupt(number, *arguments, after=0.5):
    """Run uncore and send it a signal @after seconds after it has started to count.
    Return its status, standard output and standard error."""
    with started([UNCORE, *arguments], stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, encoding="utf-8") as process:
        wait_until_it_counts(process.pid)
        time.sleep(after)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
    return process.returncode, out, err


def test_end(tap):
    status, out, err = interrupt(signal.SIGINT, "stat", "-e", READS, "-I",
                                 "200")
    tap.ok(status == -signal.SIGINT and "Total of" in out and not err,
           "Ctrl-C: the summary, and the end by SIGINT", [str(status), out, err])

    status, out, err = interrupt(signal.SIGINT, "stat", "-e", READS, "--",
                                 "sleep", "1000")
    tap.ok(status == -signal.SIGINT and "Counted for" in out and
           not running("sleep"), "Ctrl-C ends the command as well",
           [str(status), out, err])

    run = Uncore("stat", "-e", READS, "-d", "0.3", "--", "sleep", "1000")
    tap.ok(run.status == 0 and not running("sleep"),
           "-d ends the command as well", run.comments())

    run = Uncore("stat", "-e", READS, command=["sh", "-c", "exit 7"])
    tap.ok(run.status == 7 and "Counted for" in run.out,
           "a command's exit status is passed on", run.comments())

    run = subprocess.run("%s stat -e %s -I 10 -- sleep 1000 | head -3" %
                         (UNCORE, READS), shell=True, timeout=LIMIT, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + LIMIT
    while running("sleep") and time.monotonic() < deadline:
        time.sleep(0.1)
    tap.ok(not running("sleep"), "a closed pipe ends it and the command",
           [repr(run)])


# --- errors --------------------------------------------------------------------------

def refused(tap, name, run, status, *words):
    """Check a failed run: its status, and one line on standard error with @words."""
    lines = run.err.splitlines()
    tap.ok(run.status == status and len(lines) == 1 and not run.out and
           lines[0].startswith("uncore: ") and
           all(word in lines[0] for word in words), name, run.comments())


def test_refusals(tap):
    refused(tap, "five events on four counters",
            Uncore("stat", "-e", "{%s}" % ",".join(
                "imc_0/cas_count.%s/" % name for name in
                ("rd", "wr", "all", "rd_reg", "rd_underfill"))),
            1, "cas_count.rd_underfill", "5 events", "counters 0, 1, 2, 3")
    refused(tap, "two events for one counter",
            Uncore("stat", "-e", "{cbox/tor_occupancy.all/,"
                   "cbox/rxr_occupancy.irq/,cbox/clockticks/}"),
            1, "tor_occupancy.all", "rxr_occupancy.irq", "counter 0")
    refused(tap, "one filter, two values",
            Uncore("stat", "-e", "{cbox/tor_inserts.opcode,filter_opc=drd/,"
                   "cbox/tor_inserts.opcode,filter_opc=rfo/}"),
            1, "filter_opc")
    refused(tap, "a group of two boxes",
            Uncore("stat", "-e", "{imc_0/cas_count.rd/,imc_1/cas_count.rd/}"),
            1, "different boxes")
    refused(tap, "a missing filter",
            Uncore("stat", "-e", "cbox/tor_inserts.opcode/"), 1, "filter_opc")
    refused(tap, "an unknown event",
            Uncore("stat", "-e", "imc/cas_cuont.rd/"), 1, "cas_count.rd")
    refused(tap, "an unknown metric",
            Uncore("stat", "-M", "mem_bw_raeds"), 1, "mem_bw_reads")
    refused(tap, "an unknown set of metrics", Uncore("metric", "memroy"),
            2, "memory")
    refused(tap, "a command that does not exist",
            Uncore("stat", "-e", READS, command=["/no/such/command"]),
            127, "/no/such/command")
    refused(tap, "nothing to count", Uncore("stat"), 2, "-e")
    refused(tap, "no such option", Uncore("stat", "--bogus"), 2, "--bogus")
    refused(tap, "--csv with --json",
            Uncore("stat", "-e", READS, "--csv", "--json"), 2)
    refused(tap, "an output file that cannot be made",
            Uncore("stat", "-e", READS, "-o", "/no/such/folder/file"), 1,
            "/no/such/folder/file")


def test_permission(tap):
    knob = "/proc/sys/kernel/perf_event_paranoid"
    old = read(knob)
    with open(knob, "w", encoding="ascii") as file:
        file.write("2")
    result = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
         UNCORE, "stat", "-e", READS, "--", "sleep", "1000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        timeout=LIMIT, check=False)
    with open(knob, "w", encoding="ascii") as file:
        file.write(old)
    lines = result.stderr.splitlines()
    tap.ok(result.returncode == 1 and len(lines) == 1 and
           "kernel.perf_event_paranoid" in lines[0] and
           not running("sleep"),
           "no permission: what to set, and nothing left running",
           [repr(result)])


# --- CPUs that go offline ----------------------------------------------------------

@contextlib.contextmanager
def offline(cpus):
    """Start uncore stat -I and take CPUs offline. Set them online again at the end."""
    with started([UNCORE, "stat", "-e", READS, "-I", "100", "--per-socket",
                  "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8") as process:
        process.stdout.readline()       # an interval was counted
        for cpu in cpus:
            set_online(cpu, False)
        try:
            yield process
        finally:
            for cpu in cpus:
                set_online(cpu, True)


def test_offline(tap):
    first, *other_cpus = cpu_packages()[1]
    line = Event("imc", "cas_count.rd").line(1, "imc_0", 5555)
    with offline([first]) as process:
        with open(SIM + "traffic", "w", encoding="ascii") as file:
            file.write(line)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    total = out.splitlines()[-1] if out else ""
    tap.ok(process.returncode == -signal.SIGINT and not err and
           '"raw":5555' in total,
           "the package's counting CPU goes offline: another one takes over",
           [err, total])

    # repeated, as CPUs go offline within an interval or between two intervals
    bad = []
    for _ in range(4):
        with offline([*other_cpus, first]) as process:
            for _ in range(4):
                process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        rows = json.loads(out.splitlines()[-1])["events"]
        if process.returncode != -signal.SIGINT or \
                len(err.splitlines()) != 1 or "went offline" not in err or \
                [row["socket"] for row in rows] != [0, 1] or \
                "reason" in rows[0] or "offline" not in rows[1]["reason"]:
            bad += [err, *out.splitlines()[-2:]]
    tap.ok(not bad, "a whole package goes offline: its CPU is named once, its "
           "rows are marked, and the other socket keeps counting", bad)
    # the CPUs go offline after the last interval, just before the final read
    command = "; ".join("echo 0 > " + online_file(cpu)
                        for cpu in (*other_cpus, first))
    run = Uncore("stat", "-e", READS,
                 command=["sh", "-c", command + "; exit 7"])
    for cpu in (first, *other_cpus):
        set_online(cpu, True)
    tap.ok(run.status == 7 and "went offline" in run.err and
           re.search(r"cas_count.rd/ .* went offline$", run.out, re.M),
           "and when it goes just before the end: the status is the command's",
           run.comments())


# --- boxes that are not measured ---------------------------------------------------

def test_dead(tap):
    """A memory channel stops answering while uncore stat counts, and stays dead in the
    next runs."""
    reads = Event("imc", "cas_count.rd")
    send = "echo '%s' > %straffic; " % (
        "\n".join(reads.line(socket, "imc_%d" % channel, 100)
                  for socket in range(2) for channel in range(8)), SIM)
    box = "hswep_imc_2 of socket 1"
    command = ["sh", "-c", "%s sleep 1; echo '%s' > %sfault; %s sleep 1; "
               "exit 7" % (send, dead_box(1, "imc_2"), SIM, send)]
    arguments = ("stat", "-e", READS, "--per-socket", "--json")
    run = Uncore(*arguments, "-I", "200", command=command)
    rows = run.lines()[-1]["events"] if run.out else []
    last = run.lines()[-2]["events"] if run.out else []
    tap.ok(run.status == 7 and run.err.count("\n") == 1 and
           box + " does not answer any more" in run.err and
           [row["raw"] for row in rows] == [1600, 1500] and
           "reason" not in rows[0] and box in rows[1]["reason"] and
           "reason" not in last[0] and box in last[1]["reason"] and
           last[1]["value"] is not None,
           "a box dies: one message, its socket is marked, others keep counting",
           run.comments())

    run = Uncore(*arguments, command=["sh", "-c", send + "exit 7"])
    rows = run.json()["events"] if run.out else []
    tap.ok(run.status == 7 and run.err.count("\n") == 1 and
           box + " does not answer" in run.err and
           [row["raw"] for row in rows] == [800, 700] and
           "reason" not in rows[0] and box in rows[1]["reason"],
           "one that is dead at the start is missed", run.comments())

    reason = rows[-1].get("reason", "none")
    status, shown = on_terminal(80, "stat", "-e", READS, "--per-socket", "-d", "0.2")
    table = visible(shown).partition("NAME")[2]
    tap.ok(status == 0 and reason in " ".join(table.split()) and
           all(len(line) <= 80 for line in table.splitlines()),
           "the reason is below its row where 80 columns are too few",
           shown.splitlines())

    run = Uncore("stat", "-e", READS, "--per-box", "--json",
                 command=["sh", "-c", send])
    rows = {(row["socket"], row["pmu"]): row for row in run.json()["events"]}
    dead = rows.pop((1, "hswep_imc_2"), {})
    tap.ok(len(rows) == 15 and dead.get("value", 0) is None and
           box in dead.get("reason", "") and
           all(row["raw"] == 100 and "reason" not in row
               for row in rows.values()),
           "in a list of boxes it has no value", run.comments())

    run = Uncore("metric", "memory", "-d", "0.2")
    tap.ok(run.status == 0 and run.err.count("\n") == 1 and
           re.search(r"^\* " + box, run.out, re.M) and
           len(re.findall(r"\*$", run.out, re.M)) == 2,
           "metric marks its socket and the sum of all", run.comments())

    run = Uncore("stat", "-e", "hswep_imc_2/cas_count.rd/", "--csv",
                 "--per-socket", command=["sh", "-c", send])
    csv_rows = list(csv.DictReader(io.StringIO(run.out)))
    tap.ok([row["raw"] for row in csv_rows] == ["100", "0"] and
           csv_rows[1]["value"] == "" and box in csv_rows[1]["reason"],
           "CSV has a column for the reason", run.comments())


def test_disturbed(tap):
    """Another program writes a counter that counts, and a clock stops."""
    subprocess.run(["modprobe", "msr"], check=False)
    cpu = cpu_packages()[1][0]
    # write all four counters of CBo 0, as the event may be on any of them
    command = "sleep 0.3; python3 -c \"import os; [os.pwrite(os.open(" \
        "'/dev/cpu/%d/msr', os.O_WRONLY), bytes([255] * 5 + [0] * 3), n) " \
        "for n in range(%d, %d)]\"; sleep 0.3; exit 7" % (
            cpu, CBOX0_CTR0, CBOX0_CTR0 + 4)
    run = Uncore("stat", "-e", "cbox_0/llc_lookup.any,filter_state=i/",
                 "--per-socket", "-I", "50", "--json",
                 command=["sh", "-c", command])
    rows = run.lines()[-1]["events"] if run.out else []
    marked = [line["events"][1].get("reason") is not None
              for line in run.lines()[:-1]] if run.out else []
    tap.ok(run.status == 7 and run.err.count("\n") == 1 and
           "another program writes registers of socket 1" in run.err and
           rows and "reason" not in rows[0] and "socket 1" in rows[1]["reason"]
           and marked.count(True) == 1,
           "a counter that another program writes: said once, marked",
           run.comments() + ["%s" % marked])

    # The simulated clock must run. A manual clock may be advanced between the reads of
    # two boxes.
    write(SIM + "fault", "no_clock pkg=1 box=imc_1 on")
    with running_clock():
        run = Uncore("stat", "-e", "imc/dclk/", "--per-socket", "--json",
                     command=["sh", "-c", "sleep 0.5; exit 7"])
    write(SIM + "fault", "no_clock pkg=1 box=imc_1 off")
    rows = run.json()["events"] if run.out else []
    raw = [row["raw"] for row in rows]
    tap.ok(run.status == 7 and run.err.count("\n") == 1 and
           "hswep_imc_1 of socket 1 counts nothing" in run.err and
           len(raw) == 2 and raw[0] and 0.8 < raw[1] / raw[0] < 0.95 and
           "reason" not in rows[0] and "clock" in rows[1]["reason"],
           "a stopped clock is reported once and marked", run.comments())


def test_documents(tap):
    """The JSON of each subcommand matches the installed schema."""
    documents = check_documents(tap, [
        ("check", "--json"), ("topology", "--json"), ("list", "--json", "ubox"),
        ("stat", "--json", "-e", READS, "-M", "llc,qpi", "-d", "0.1"),
        ("stat", "--json", "-e", READS, "-A", "-I", "50", "--interval-count",
         "3"),
        ("stat", "--json", "-e", READS, "--per-socket", "-d", "0.1"),
        ("metric", "memory", "-j", "-d", "0.1"),
        ("metric", "power", "--all", "-j", "-d", "0.1"),
        ("top", "-j", "--once", "-d", "0.3"),
        ("top", "-j", "--once", "--by", "cgroup", "-M",
         "mem_bw_total_rate", "-d", "0.3"),
        ("serve", "--json", "-d", "0.1"),
        ("serve", "--json", "-d", "0.1", "--per-box", "--cgroups", "2")])
    heads = {(document["host"], document["driver"], document["generation"])
             for document in documents}
    tap.ok(heads == {(os.uname().nodename, "xeon_uncore", "hswep")} or
           not documents, "each names the machine and its driver",
           [repr(heads)])


def test_top_statuses(tap, folder):
    """Exit statuses of top in the man page's table that need a box."""
    top = ("top", "--once", "-e", READS, "--")
    for status, command in (
            (0, ["true"]), (126, [folder]), (127, ["/none"]),
            (42, ["sh", "-c", "exit 42"]),
            (-signal.SIGTERM, ["sh", "-c", "kill -TERM $PPID; sleep 9"])):
        run = Uncore(*top, *command)
        tap.ok(run.status == status, "top: status %d" % status, run.comments())


def main():
    tap = Tap()
    with Machine(tap, sim=FEW_SLICES), tempfile.TemporaryDirectory() as folder:
        test_exact(tap, folder)
        test_intervals(tap, folder)
        test_beside_perf(tap, folder)
        test_turns(tap)
        test_shared(tap)
        test_end(tap)
        test_options(tap, folder)
        test_refusals(tap)
        test_permission(tap)
        test_offline(tap)
        test_disturbed(tap)
        test_dead(tap)
        test_documents(tap)
        test_top_statuses(tap, folder)
    refused(tap, "no driver", Uncore("stat", "-e", READS), 1, "xeon_uncore")
    tap.end()


if __name__ == "__main__":
    main()
