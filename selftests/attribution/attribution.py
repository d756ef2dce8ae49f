#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the attribution of traffic to tasks by uncore top: tasks send known amounts of
traffic to the simulated hardware, and uncore top must show these amounts.

If the counters are read at each context switch and only one CPU of the package is
online, the task of each count is known exactly, on any machine. Tests of a task's exact
counts work under this condition. Tests of sums need no condition.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import started  # noqa: E402
from lib.python.top import (EACH_SWITCH, EVENT, FAULTS, LIMIT, SPIN, TASK,  # noqa: E402
                            UNCORE, Table, alone, clear_cpus, cpu_packages, measure,
                            need, set_online, task, top)
from lib.python.uncore import SIM, Machine, Tap, loops  # noqa: E402

# Options of uncore top. The second set selects the code for old kernels: --each-cpu that
# for kernels before 6.8, --bounded-loops that for kernels before 5.17.
MODES = ((), ("--each-cpu", "--bounded-loops"))


def exact(tap, table, want, name):
    """
    Check that tasks of these names have exactly these counts. The test passes as well if
    uncore top reports context switches that found the package's lock busy ("missed").
    """
    got = {comm: table.named(comm) for comm in want}
    tap.ok(got == want or table.data["missed"], name,
           ["%s, want %s, missed %d" % (got, want, table.data["missed"])])


def near(got, want, percent):
    """Return whether @got differs from @want by at most @percent of @want."""
    return abs(got - want) * 100 <= want * percent


def test_ratio(tap, cpu, mode):
    """Two tasks alternate on one CPU; their traffic is 3 to 1."""
    table = measure("%s & %s & wait" % (task(cpu, 3000, 200, 3000, "three"),
                                        task(cpu, 1000, 200, 3000, "one")),
                    *EACH_SWITCH, *mode)
    words = " ".join(mode)
    exact(tap, table, {"three": 600000, "one": 200000},
          "two tasks in turn on one CPU have what they sent %s" % words)
    tap.ok(table.total() == 800000, "the total is what was sent",
           ["%d" % table.total()])
    tap.ok(table.adds_up(), "the shares add up to it exactly")


def test_four(tap, packages, mode):
    """Four tasks on two packages."""
    counts = {"a": 4000, "b": 1000, "c": 500, "d": 2500}
    cpus = [packages[0][0]] * 2 + [packages[-1][0]] * 2
    script = " ".join("%s &" % task(cpu, count, 200, 3000, name)
                      for cpu, (name, count) in zip(cpus, counts.items()))
    table = measure(script + " wait", *EACH_SWITCH, *mode)
    exact(tap, table, {name: 200 * count for name, count in counts.items()},
          "four tasks on two packages %s" % " ".join(mode))
    tap.ok([table.total(0), table.total(len(packages) - 1)] ==
           [5000 * 200, 3000 * 200], "each package's total is what was sent",
           ["%s" % table.data["total"]])
    tap.ok(table.adds_up(), "the shares add up exactly")


def test_price(tap, cpu, packages):
    """Two tasks yield to each other all the time. The counters are read no more often
    than --resolution allows, however often tasks switch."""
    half = "python3 -c 'import os; os.sched_setaffinity(0, {%d}); " \
        "[os.sched_yield() for i in range(%d)]'" % (cpu, loops(20000))
    resolution = 1000000    # microseconds
    table = measure("%s & %s & %s; wait" % (
        half, half, task(cpu, 1000, 50, 1000, "sender")),
                    "--resolution", str(resolution))
    cpus = sum(len(package) for package in packages)
    # One read is due per package and resolution interval, and unused reads may be saved
    # up. In addition each report reads on every CPU.
    most = (len(packages) * (table.data["seconds"] * 1e6 / resolution + 10) +
            cpus * (table.data["seconds"] + 3))
    details = ["%d reads, %d looks, %g s" % (
        table.data["reads"], table.data["looks"], table.data["seconds"])]
    tap.ok(0 < table.data["reads"] <= most,
           "no more reads than the resolution allows", details)
    tap.ok(table.data["looks"] > 10 * table.data["reads"],
           "whatever the scheduler does", details)
    tap.ok(table.total() == 50000 and table.adds_up(),
           "and the sums are exact", ["%d" % table.total()])


def test_by_time(tap, cpu):
    """
    Between two reads of the counters, a task's share of steady traffic is proportional
    to its run time.
    """
    busy = "taskset -c %d bash -c 'printf %s > /proc/$$/comm; " \
        "for ((i = 0; i < %d; i++)); do :; done'"
    table = measure("%s & %s & wait" % (busy % (cpu, "long", 300000),
                                        busy % (cpu, "short", 100000)),
                    "--resolution", "50000", event="qpi/clockticks,name=rd/")
    rows = [row for row in table.rows if row["command"] in ("long", "short")]
    prices = [table.count(row) / row["cpu_ns"] for row in rows]
    tap.ok(len(rows) == 2 and max(prices) < 1.5 * min(prices),
           "tasks that alternate between two reads share by their run time",
           ["%s" % rows])
    tap.ok(table.adds_up(), "the shares add up exactly")


def test_together(tap, cpus):
    """Two tasks run on two CPUs at the same time, and share the counts of both."""
    spin = [task(cpu, 1000, 2000, 0, "busy%d" % cpu) for cpu in cpus[:2]]
    table = measure(" & ".join(spin) + " & wait")
    shares = [table.named("busy%d" % cpu) for cpu in cpus[:2]]
    tap.ok(table.total() == 4000000 and table.adds_up(),
           "tasks that run at a time: the sum is exact",
           ["total %d" % table.total()])
    tap.ok(min(shares) > 1000000, "and both have a share", ["%s" % shares])


def test_short_task(tap, cpu):
    """Tasks that have ended before the first report have rows."""
    table = measure("for i in 1 2 3; do %s; done; sleep 0.1" %
                    task(cpu, 12345, 1, 1000, "brief"), *EACH_SWITCH)
    rows = [row for row in table.rows if row["command"] == "brief"]
    tap.ok(len(rows) == 3, "three tasks that live 1 ms are there",
           ["%d" % len(rows)])
    exact(tap, table, {"brief": 3 * 12345}, "with what they caused")
    tap.ok(table.total() == 3 * 12345 and table.adds_up(), "exactly in sum")


def test_against_perf(tap, cpu):
    """perf stat, which runs uncore top, counts the same event."""
    command = ["perf", "stat", "-x,", "-a", "-e", EVENT.replace(",name=rd", ""),
               UNCORE, "top", "--once", "--json", "-e", EVENT, "--",
               "bash", "-c", "%s & %s & wait" % (task(cpu, 777, 50, 2000),
                                                 task(-1, 333, 50, 2000))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    perf = sum(float(line.split(",")[0]) for line in run.stderr.splitlines()
               if line.count(",") > 3)     # perf has scaled the counts to MiB
    tap.ok(abs(perf - (777 + 333) * 50 * 64 / 2**20) < 0.01,
           "perf counts the same beside it", [run.stderr, run.stdout[:300]])


def test_beside_perf(tap, cpu):
    """perf stat counts other events of the same box, so that all events together need
    more counters than the box has."""
    events = ["hswep_imc_0/cas_count.rd,thresh=%d/" % n for n in range(1, 5)]
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as counted:
        result = subprocess.run(
            ["perf", "stat", "-x;", "-a", "-o", counted.name, "-e",
             ",".join(events), UNCORE, "top", "--once", "--json", "-e", EVENT,
             "--", "bash", "-c", task(cpu, 1000, 400, 2000)],
            capture_output=True, text=True, check=False, timeout=LIMIT)
        lines = [line.split(";") for line in counted
                 if line.count(";") > 3]
    tap.ok(len(lines) == len(events) and
           not [line for line in lines if "<" in line[0]] and
           not [line for line in lines if not 50 < float(line[4]) < 100],
           "perf stat of %d other events beside top: each counts" % len(events),
           ["%s" % lines])
    tables = [Table(json.loads(line)) for line in result.stdout.splitlines()
              if line.startswith("{")]
    tap.ok(len(tables) == 1 and tables[0].total() > 0 and tables[0].adds_up(),
           "and so does top", [result.stderr, result.stdout[:300]])


def test_cgroups(tap, cpu):
    """Two runs at the same time, by task and by cgroup: each cgroup has the traffic of
    its tasks."""
    base = "/sys/fs/cgroup/attribution"
    tasks = {("first", "/attribution/a"): 900 * 60,
             ("second", "/attribution/a"): 600 * 60,
             ("third", "/attribution/b"): 300 * 60}
    for name in ("", "/a", "/b"):
        os.makedirs(base + name, exist_ok=True)
    work = " ".join("(echo $BASHPID > /sys/fs/cgroup%s/cgroup.procs; exec %s) &"
                    % (group, task(cpu, count // 60, 60, 2000, name))
                    for (name, group), count in tasks.items()) + " wait"
    inner = " ".join([UNCORE, "top", "--once", "--json", "--by", "cgroup",
                      "-e", EVENT, *EACH_SWITCH, "--", "bash", "-c",
                      "'%s'" % work])
    table = measure("%s > /tmp/by-cgroup" % inner, *EACH_SWITCH)
    with open("/tmp/by-cgroup", encoding="utf-8") as file:
        by_cgroup = Table(json.load(file))
    total = sum(tasks.values())
    tap.ok(by_cgroup.total() == total and by_cgroup.adds_up(),
           "cgroups: the sum is exact", ["%d" % by_cgroup.total()])
    missed = by_cgroup.data["missed"] + table.data["missed"]
    want, got = {}, {}
    for (_, group), count in tasks.items():
        want[group] = want.get(group, 0) + count
    for row in by_cgroup.rows:
        if row["cgroup"] in want:
            got[row["cgroup"]] = got.get(row["cgroup"], 0) + \
                by_cgroup.count(row)
    tap.ok(got == want or missed, "each has the traffic of its tasks",
           ["%s, want %s" % (got, want)])
    got = {}
    for row in table.rows:
        if row["command"] in [name for name, _ in tasks]:
            key = row["command"], row["cgroup"]
            got[key] = got.get(key, 0) + table.count(row)
    tap.ok(got == tasks or missed,
           "and another run beside it names each task's cgroup, and what it sent",
           ["%s, want %s" % (got, tasks)])
    for name in ("/a", "/b", ""):
        os.rmdir(base + name)


def test_processes(tap, cpu):
    """--by process: a process has the counts of its threads."""
    script = "import threading, os\n" \
        "def run(n):\n" \
        " os.sched_setaffinity(0, {%d})\n" \
        " f = os.open('/dev/xeon_uncore_sim', os.O_WRONLY)\n" \
        " for i in range(50):\n" \
        "  os.write(f, b'box=imc_0 event=4 umask=1 count=%%d\\n' %% n)\n" \
        "t = [threading.Thread(target=run, args=(n,)) for n in (100, 300)]\n" \
        "[x.start() for x in t]; [x.join() for x in t]" % cpu
    with open("/tmp/threads.py", "w", encoding="utf-8") as file:
        file.write(script)
    table = measure("python3 /tmp/threads.py", "--by", "process", *EACH_SWITCH)
    top_row = table.rows[0]
    tap.ok(top_row["tasks"] >= 3 and (table.count(top_row) == 20000 or
                                     table.data["missed"]),
           "a process has its threads' shares", ["%s" % top_row])
    tap.ok(top_row["pid"] == top_row["tgid"], "and the process's number")


def test_more_tasks_than_room(tap):
    """40 tasks cause traffic, and --max-tasks allows 4 rows."""
    loop = "for i in $(seq 40); do %s & done; wait" % task(-1, 1000, 5, 1000)
    table = measure(loop, "--max-tasks", "4")
    details = ["%d rows, merged %d, dropped %d, total %d, other %d" % (
        len(table.rows), table.data["merged"], table.data["dropped"],
        table.total(), table.other())]
    tap.ok(len(table.rows) <= 4, "no more rows than asked for", details)
    tap.ok(table.data["merged"] + table.data["dropped"] > 30,
           "the others are counted", details)
    tap.ok(table.total() == 40 * 5000 and table.adds_up(),
           "and what they caused is not lost", details)
    # busy and quiet tasks: the quiet ones are merged
    table = measure("%s & for i in $(seq 20); do %s; done; wait" % (
        task(-1, 50000, 30, 5000, "busy"), task(-1, 10, 1, 100, "quiet")),
                    "--max-tasks", "16")
    tap.ok(table.named("busy") > 1000000 and table.adds_up(),
           "the most active one has its row",
           ["busy %d of %d" % (table.named("busy"), table.total())])


def test_intervals(tap, cpu):
    """The tables of short intervals add up to all traffic."""
    status, tables, errors = top(
        "-I", "200", "-e", EVENT, "--", "bash", "-c",
        task(cpu, 1000, 300, 3000, "steady"))
    tap.ok(status == 0 and len(tables) >= 3, "a table every 0.2 s",
           ["%d tables: %s" % (len(tables), errors)])
    tap.ok(sum(table.total() for table in tables) == 300000 and
           all(table.adds_up() for table in tables),
           "each adds up, and all of them to the whole",
           ["%d" % sum(table.total() for table in tables)])


def test_columns(tap, cpu):
    """Several events on several boxes: each column has the sum of its boxes."""
    lines = "; ".join("echo box=%s event=%d umask=%d count=%d" % line for line in
                      (("imc_0", 4, 1, 100), ("imc_7", 4, 4, 200),
                       ("imc_3", 4, 1, 400), ("cbox_5", 0x34, 3, 70)))
    script = "taskset -c %d bash -c '(%s) > /dev/xeon_uncore_sim'" % (cpu, lines)
    table = measure(script, event="imc/cas_count.rd,name=rd/,"
                    "imc/cas_count.wr,name=wr/,imc/cas_count.all,name=all/")
    totals = {name: sum(counts)
              for name, counts in table.data["total"].items()}
    tap.ok(totals == {"rd": 500, "wr": 200, "all": 700},
           "columns add up their boxes", ["%s" % totals])
    tap.ok(table.adds_up(), "each is divided exactly")


def test_metrics(tap, cpu):
    """The metrics of a task are computed from its share of the counts."""
    def lines(*parts):
        return "; ".join("echo box=%s event=%d umask=%d count=%d" % part
                         for part in parts)

    # the requests of task "near" wait for 10 cycles, those of "far" for 30
    script = " ".join(
        "taskset -c %d bash -c 'printf %s > /proc/$$/comm; sleep 0.2; "
        "exec > /dev/xeon_uncore_sim; %s' &" % (cpu, name, lines(*parts))
        for name, parts in (
            ("near", (("imc_0", 4, 1, 3 << 20), ("imc_5", 4, 4, 1 << 20),
                      ("cbox_0", 0x13, 1, 1000),
                      ("cbox_0", 0x11, 1, 10000))),
            ("far", (("imc_0", 4, 1, 1 << 20), ("cbox_1", 0x13, 1, 2000),
                     ("cbox_1", 0x11, 1, 60000))))) + " wait"
    status, tables, errors = top(
        "--once", *EACH_SWITCH, "-M", "mem_bw_total,mem_bw_reads_rate", "-M",
        "avg_ingress_latency", "-e", "imc/cas_count.rd/", "--",
        "bash", "-c", script)
    if not tap.ok(status == 0 and len(tables) == 1 and
                  tables[0].adds_up(), "top takes metrics beside events",
                  [errors]):
        return
    data = tables[0].data
    # Of rows with the same name, use the one with most traffic: a program that the task
    # starts has the task's name for a moment, too.
    rows = {row["command"]: row["metrics"] for row in sorted(
        tables[0].rows, key=lambda row: row["metrics"]["mem_bw_total"]["value"])
            if row["command"] in ("near", "far")}
    details = ["%s" % rows, "%s" % data["total_metrics"]]
    total = data["total_metrics"]
    tap.ok(total["mem_bw_total"]["value"] == (5 << 20) * 64 and
           near(total["mem_bw_reads_rate"]["value"],
                (4 << 20) * 64 / 2**30 /
                (sum(data["socket_seconds"]) / len(data["sockets"])), 0.01),
           "the total's are those of all that was counted", details)
    tap.ok(len(rows) == 2 and
           near(rows["near"]["mem_bw_total"]["value"], (4 << 20) * 64, 2) and
           near(rows["far"]["mem_bw_total"]["value"], (1 << 20) * 64, 2),
           "a volume is each task's own", details)
    tap.ok(len(rows) == 2 and
           near(rows["near"]["avg_ingress_latency"]["value"], 10, 2) and
           near(rows["far"]["avg_ingress_latency"]["value"], 30, 2),
           "and so is a ratio", details)
    tap.ok(near(total["avg_ingress_latency"]["value"], 70000 / 3000, 0.01),
           "whose total is the ratio of the sums", details)
    # in a package without inserts the divisor is 0
    quiet = total["avg_ingress_latency"]["sockets"]
    tap.ok(len(quiet) < 2 or None in quiet, "a ratio of nothing is null",
           ["%s" % quiet])
    shown = subprocess.run(
        [UNCORE, "top", "--once", "--sort", "avg_ingress_latency", "-M",
         "avg_ingress_latency", "--", "bash", "-c", script],
        capture_output=True, text=True, check=False).stdout
    tap.ok("avg_ingress_latency cycles" in shown and
           0 < shown.find(" far") < shown.find(" near"),
           "the table shows and sorts by them", [shown[:600]])


def page_faults(lines):
    """Make each page fault of user space transfer @lines cache lines (0: none)."""
    with open(SIM + "page_faults", "w", encoding="utf-8") as file:
        file.write(str(lines))


def test_weight(tap, cpus):
    """
    --weight page-faults divides counts by the tasks' page faults instead of their run
    time. Two tasks run at the same time. Task "runs" never sleeps and takes no page
    faults: on any machine it runs during the whole test, except for other work of its
    CPU. Task "faults" sleeps between page faults, which transfer cache lines: it causes
    all traffic.
    """
    # page faults cause traffic only while both tasks run, not while they start or end
    script = ("%s %d 0 1 0 runs & %s %d 60 99999 50000 faults & "
              "sleep 1; echo 8 > %spage_faults; "
              "while [ $(awk '{ print $10 }' /proc/$!/stat) -lt 3000 ]; "
              "do sleep 0.1; done; "
              "echo 0 > %spage_faults; kill %%1 %%2; wait" % (
                  FAULTS, cpus[0], FAULTS, cpus[1], SIM, SIM))

    def shares(*args):
        table = measure(script, *args, event="imc/cas_count.rd,name=rd/")
        tap.ok(table.adds_up(), "the sum is exact %s" % " ".join(args))
        return table.named("runs"), table.named("faults")

    runs, faults = shares()
    tap.ok(2 * runs > faults > 0,
           "shares by time: who runs as long has as much",
           ["%d, %d" % (runs, faults)])
    runs, faults = shares("--weight", "page-faults")
    tap.ok(faults > 2 * runs,
           "weighted by what they do: who does it has far more",
           ["%d, %d" % (runs, faults)])


def test_unmodified(tap, cpus):
    """Unmodified programs: stress-ng takes many page faults, dd on the same CPU few."""
    page_faults(8)
    table = measure(
        "taskset -c %d stress-ng --vm 1 --vm-bytes 2m --timeout 5s --quiet & "
        "taskset -c %d timeout 5 dd if=/dev/zero of=/dev/null bs=64k "
        "status=none; wait" % (cpus[0], cpus[0]),
        "--by", "process", event="imc/cas_count.all,name=rd/")
    page_faults(0)
    rows = [(row["command"], table.count(row)) for row in table.rows[:4]]
    tap.ok(rows[0][0].startswith("stress-ng"),
           "stress-ng, unmodified, is on top in page-fault mode",
           ["%s" % (rows,)])
    dd = table.named("dd")
    tap.ok(any(row["command"] == "dd" for row in table.rows) and
           dd * 5 < rows[0][1], "and dd far below", ["dd: %d" % dd])
    tap.ok(table.adds_up(), "the sum is exact")


def test_steady(tap, cpu, package, mode):
    """Traffic that never stops, also not while uncore top writes a report."""
    tables, pid, busy = [], None, 0
    with started([UNCORE, "top", "--json", "-I", "200", "-e",
                  "qpi/clockticks,name=rd/", *mode, "--", SPIN, str(cpu),
                  "1000000"],
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as run:
        for line in run.stdout:
            tables.append(Table(json.loads(line)))
            for row in tables[-1].rows:
                if row["command"] == "spin_task":
                    pid = row["pid"]
            # count the tables since the first without idle traffic: spin_task may sleep
            # while it starts
            busy += bool(busy or pid and not tables[-1].data["idle"]["rd"][package])
            if busy > 11 or len(tables) > 1000:
                break
        until = len(tables)
        os.kill(pid or run.pid, signal.SIGTERM)
        tables += [Table(json.loads(line)) for line in run.stdout]
        errors = run.stderr.read()
    status = run.returncode
    words = " ".join(mode)
    tap.ok(status == 128 + signal.SIGTERM and not errors,
           "steady traffic, a table every 0.2 s %s" % words,
           ["status %d, %d tables, %s" % (status, len(tables), errors)])
    tap.ok(all(table.adds_up() for table in tables), "each adds up exactly")
    inner = tables[until - busy:until]
    tap.ok(busy > 11 and
           all("spin_task" in (row["command"] for row in table.rows)
               for table in inner),
           "a task that never stops is in all of its time's",
           ["%d of %d" % (busy, len(tables))])
    idle = [table.data["idle"]["rd"][package] for table in inner]
    tap.ok(not any(idle), "and its package is never idle", ["%s" % idle])
    names = {row["command"] for table in inner for row in table.rows}
    tap.ok("" not in names, "every task has a name", ["%s" % sorted(names)])


def test_coming_and_going(tap, cpus, mode):
    """CPUs go offline and online all the time, also while top starts."""
    stop = threading.Event()

    def toggle():
        while not stop.is_set():
            for online in (False, True):
                for cpu in cpus:
                    set_online(cpu, online)
                stop.wait(0.05)

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        runs = [top("-e", "qpi/clockticks,name=rd/", "-I", "100", "-d", "1",
                    *mode) for _ in range(loops(3))]
    finally:
        stop.set()
        thread.join()
    tap.ok(all(status == 0 for status, _, _ in runs),
           "a package that goes offline and online %s" % " ".join(mode),
           ["%s" % [(status, errors) for status, _, errors in runs]])
    tap.ok(all(table.adds_up() for _, tables, _ in runs for table in tables),
           "all tables add up exactly")
    tap.ok(not any("answer" in errors for _, _, errors in runs),
           "no box is taken for dead", ["%s" % [run[2] for run in runs]])


def main():
    tap = Tap()
    need(tap, TASK, SPIN, FAULTS)
    with Machine(tap):
        packages = cpu_packages()
        clear_cpus(packages[0][0])
        cpu = packages[-1][0]
        with alone(packages[0]), alone(packages[-1]):
            for mode in MODES:
                test_ratio(tap, cpu, mode)
                test_four(tap, packages, mode)
            test_short_task(tap, cpu)
            test_cgroups(tap, cpu)
            test_processes(tap, cpu)
            test_metrics(tap, cpu)
            test_price(tap, cpu, packages)
        test_together(tap, packages[-1])
        test_against_perf(tap, cpu)
        test_beside_perf(tap, cpu)
        test_more_tasks_than_room(tap)
        test_intervals(tap, cpu)
        test_columns(tap, cpu)
        test_weight(tap, packages[-1])
        test_unmodified(tap, packages[-1])
    with Machine(tap, clock="real"):
        with alone(packages[-1]):
            test_by_time(tap, cpu)
        for mode in MODES:
            test_steady(tap, cpu, len(packages) - 1, mode)
            test_coming_and_going(tap, packages[-1], mode)
    tap.end()


if __name__ == "__main__":
    main()
