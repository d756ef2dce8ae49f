#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore stat --regions" with programs in C, with OpenMP and in Python, whose regions
call uncore_region_begin() and uncore_region_end().

usage: uncore_regions.py exact|calls
exact: known traffic in each region, on the simulated hardware: exact counts of each
region and socket. calls: wrong calls and odd programs, on any machine, with an event of
the kernel.
"""

import csv
import io
import json
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import EVENT  # noqa: E402
from lib.python.schema import check_documents  # noqa: E402
from lib.python.traffic import Event, Uncore  # noqa: E402
from lib.python.uncore import FEW_SLICES, SIM, TOP, Machine, Tap, read  # noqa: E402

BUILD = os.path.join(TOP, "build", "userspace")
STEPS = os.path.join(BUILD, "bin", "region-steps")
READS = "imc/cas_count.rd/"
# enum uncore_status
INVALID, UNSUPPORTED, GONE, MISUSE = 1, 5, 7, 9

os.environ["LD_LIBRARY_PATH"] = os.path.join(BUILD, "lib")
os.environ["PYTHONPATH"] = os.path.join(TOP, "userspace", "python")


class Regions:
    """A run of stat --regions with JSON output, and its regions."""

    def __init__(self, folder, *command, events=READS, options=()):
        path = os.path.join(folder, "regions.json")
        if os.path.exists(path):
            os.unlink(path)
        self.run = Uncore("stat", "--regions", "-e", events, "--json", "-o", path,
                          *options, command=command)
        self.document = json.loads(read(path)) if os.path.exists(path) and \
            read(path) else {"events": [], "regions": []}
        self.regions = {row["region"]: row for row in self.document["regions"]}
        # what the program printed
        self.out, self.err = self.run.out.splitlines(), self.run.err.splitlines()
        self.status = self.run.status

    def counts(self):
        """Return {(region, socket): count} of the first event."""
        return {(name, row["socket"]): row["raw"]
                for name, region in self.regions.items() for row in region["events"]
                if row["event"] == region["events"][0]["event"]}

    def calls(self):
        return {name: row["calls"] for name, row in self.regions.items()}

    def comments(self):
        return self.run.comments() + [str(self.document["regions"])]


class Traffic:
    """Steps of region-steps that send memory reads to a socket."""

    def __init__(self):
        self.event = Event("imc", "cas_count.rd")

    def __call__(self, package, count):
        return "write=" + self.event.line(package, "imc_1", count).strip()


TO_TRAFFIC = "file=%straffic" % SIM


# --- exact counts -----------------------------------------------------------------

def test_nested(tap, folder, send):
    """The program sends traffic in, between and outside of two regions."""
    run = Regions(folder, STEPS, TO_TRAFFIC, send(0, 7), "begin=solve", send(0, 1000),
                  send(1, 2000), "begin=dot", send(0, 30), "end", send(1, 5), "end",
                  send(0, 9), "begin=dot", send(1, 400), "end")
    tap.ok(run.status == 0 and run.counts() == {
        ("solve", 0): 1030, ("solve", 1): 2005, ("dot", 0): 30, ("dot", 1): 400},
           "C: exact counts of nested regions by socket, of two calls of one",
           run.comments())
    tap.ok(run.calls() == {"solve": 1, "dot": 2} and
           sum(row["raw"] for row in run.document["events"]) == 3451,
           "the calls, and the counts of the whole command", run.comments())
    tap.ok(all(row["running"] == 1 and row["error"] == 0
               for region in run.regions.values() for row in region["events"]) and
           [len(region["sockets"]) for region in run.regions.values()] == [2, 2] and
           all(0 < row["seconds"] < run.document["seconds"]
               for region in run.regions.values() for row in region["sockets"]),
           "the time of each region", run.comments())


def test_outputs(tap, send):
    """The table and CSV have the same numbers, with rates and metrics."""
    command = [STEPS, TO_TRAFFIC, "begin=solve, \"1\"", send(0, 16384),
               send(1, 49152), "end"]
    run = Uncore("stat", "--regions", "-e", READS, "--expr",
                 "bw = imc/cas_count.rd/ * 64 / duration_time", "--csv",
                 command=command)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    mine = {(int(row["socket"]), row["name"]): row for row in rows if row["region"]}
    tap.ok(run.status == 0 and {key: row["raw"] for key, row in mine.items()} == {
        (0, READS): "16384", (0, "bw"): "", (1, READS): "49152", (1, "bw"): ""} and
           {row["region"] for row in mine.values()} == {"solve, \"1\""} and
           {row["calls"] for row in mine.values()} == {"1"} and
           [row["raw"] for row in rows if not row["region"]][0] == "65536",
           "--csv: rows of the region", run.comments())
    # each of 8 channels of a socket was enabled for the time of the metric
    tap.ok(run.status == 0 and all(
        abs(float(mine[i, "bw"]["value"]) * int(mine[i, READS]["enabled_ns"]) / 8e9 /
            (int(mine[i, READS]["raw"]) * 64) - 1) < 1e-3 for i in range(2)),
           "a metric of the region's own time", run.comments())

    run = Uncore("stat", "--regions", "-e", READS, command=command)
    lines = run.out.splitlines()
    start = [i for i, line in enumerate(lines) if line.startswith("REGION")]
    tap.ok(run.status == 0 and start and
           "   1       0  " in lines[start[0] + 1] and
           "1.000 MiB" in lines[start[0] + 1] and "3.000 MiB" in lines[start[0] + 2] and
           all(line.split()[-1].endswith("/s") for line in
               lines[start[0] + 1:start[0] + 3]),
           "the table has the region's counts and rates", run.comments())


def test_threads(tap, folder, send):
    """Threads that are in a region at the same time count once."""
    run = Regions(folder, STEPS, TO_TRAFFIC, "begin=serial", "threads=4", "begin=all",
                  send(0, 100), "end", send(1, 20), "1:begin=x", send(0, 1),
                  "2:begin=x", send(0, 2), "1:end", send(0, 4), "2:end", send(0, 8),
                  "3:begin=a", "2:begin=b", send(0, 16), "3:end", send(0, 32),
                  "2:end", "0:end", send(0, 64))
    tap.ok(run.status == 0 and run.counts() == {
        ("serial", 0): 163, ("serial", 1): 20, ("all", 0): 100, ("all", 1): 0,
        ("x", 0): 7, ("x", 1): 0, ("a", 0): 16, ("a", 1): 0, ("b", 0): 48,
        ("b", 1): 0} and run.calls() == {
            "serial": 1, "all": 4, "x": 2, "a": 1, "b": 1},
           "OpenMP: regions around a parallel one, in all of its threads, and in some",
           run.comments())


PYTHON = """
import sys, threading, uncore

def send(line):
    with open(sys.argv[1], "w") as file:
        file.write(line.removeprefix("write=") + "\\n")

@uncore.region("step")
def step(line):
    send(line)

lines = sys.argv[2:]
with uncore.region("loop"):
    send(lines[0])
    step(lines[1])
    worker = threading.Thread(target=step, args=[lines[2]])
    worker.start()
    worker.join()
send(lines[3])
try:
    with uncore.region("fails"):
        send(lines[4])
        raise ValueError
except ValueError:
    send(lines[5])
uncore.region_begin("b\\u00e4r")
send(lines[6])
uncore.region_end()
"""


def test_python(tap, folder, send):
    run = Regions(folder, sys.executable, "-c", PYTHON, SIM + "traffic", *[
        send(i % 2, 1 << i) for i in range(7)])
    tap.ok(run.status == 0 and run.counts() == {
        ("loop", 0): 5, ("loop", 1): 2, ("step", 0): 4, ("step", 1): 2,
        ("fails", 0): 16, ("fails", 1): 0, ("b\u00e4r", 0): 64, ("b\u00e4r", 1): 0},
           "Python: with, a decorator, a thread, an exception", run.comments())


def test_ranks(tap, folder, send):
    """Processes of MPI count on the sockets to which they are bound."""
    cpus = [read("/sys/devices/system/cpu/cpu%d/topology/physical_package_id" % cpu)
            for cpu in range(os.cpu_count())]
    first, second = (cpus.index(package) for package in ("0", "1"))
    path = os.path.join(folder, "rank")
    ranks = (
        (first, "begin=work", "file=" + path + "0", "write=in", "wait=" + path + "1",
         TO_TRAFFIC, send(0, 100), "end", "file=" + path + "2", "write=out"),
        (second, "wait=" + path + "0", "begin=work", "file=" + path + "1", "write=in",
         "wait=" + path + "2", TO_TRAFFIC, send(0, 1000), send(1, 20), "end"))
    script = "".join("taskset -c %d %s %s & " % (
        rank[0], STEPS, " ".join("'%s'" % step for step in rank[1:])) for rank in ranks)
    for number, want in (("2", {("work", 0): 100, ("work", 1): 20}),
                         ("1", {("work", 0): 1100, ("work", 1): 20})):
        os.environ["OMPI_COMM_WORLD_LOCAL_SIZE"] = number
        run = Regions(folder, "sh", "-c", script + "wait")
        tap.ok(run.status == 0 and run.counts() == want and run.calls() == {"work": 2},
               "MPI, %s ranks on the machine: each socket counts %s" % (
                   number, "with the rank that is bound to it" if number == "2" else
                   "in all regions"), run.comments())
        for i in range(3):
            os.unlink(path + str(i))
    del os.environ["OMPI_COMM_WORLD_LOCAL_SIZE"]


def test_mpirun(tap, folder, send):
    """Open MPI's launcher binds one process to each socket."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    steps = [STEPS, TO_TRAFFIC, "begin=work", send(0, 1000), send(1, 20), "end"]
    for rank, want in enumerate(({("work", 0): 1000}, {("work", 1): 20})):
        ranks = [["true"], ["true"]]
        ranks[rank] = steps
        run = Regions(folder, "mpirun", "--oversubscribe", "--map-by", "socket", "--bind-to",
                      "socket", "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1])
        tap.ok(run.status == 0 and run.counts() == want,
               "mpirun --bind-to socket: the region of rank %d" % rank, run.comments())


def test_wrong_counts(tap, folder, send):
    """Wrong calls do not change the counts of others."""
    run = Regions(folder, STEPS, TO_TRAFFIC, "end", "begin=good", send(0, 1), "begin=",
                  send(0, 2), "end", send(0, 4), "end", "begin=open", send(0, 8))
    tap.ok(run.status == 1 and run.counts() == {
        ("good", 0): 7, ("good", 1): 0, ("open", 0): 8, ("open", 1): 0} and
           run.regions["open"]["unclosed"] == 1 and len(run.err) == 3,
           "a region that is not ended counts to the end of its thread; three lines",
           run.comments())
    run = Regions(folder, STEPS, TO_TRAFFIC, "begin=a", send(0, 1), "fork", "end",
                  "begin=b", send(1, 2), "end")
    tap.ok(run.status == 1 and run.counts() == {
        ("a", 0): 1, ("a", 1): 2, ("b", 0): 0, ("b", 1): 2} and
           run.out == ["end: %d" % MISUSE],
           "a new process is in no region, and its regions count", run.comments())


def test_multiplexed(tap, folder):
    """Events that do not fit the counters of their box are refused."""
    names = ("cas_count.rd", "cas_count.wr", "pre_count.rd", "pre_count.wr",
             "pre_count.byp")
    path = os.path.join(folder, "ran")
    run = Uncore("stat", "--regions", "-e", ",".join("imc_0/%s/" % name for name in names),
                 command=["touch", path])
    tap.ok(run.status == 1 and len(run.err.splitlines()) == 1 and not run.out and
           "--regions: 2 groups of events would be multiplexed" in run.err and
           not os.path.exists(path), "events that would be multiplexed are refused",
           run.comments())


def test_exact(tap):
    with tempfile.TemporaryDirectory() as folder, Machine(tap, sim=FEW_SLICES):
        send = Traffic()
        test_nested(tap, folder, send)
        test_outputs(tap, send)
        test_threads(tap, folder, send)
        test_python(tap, folder, send)
        test_ranks(tap, folder, send)
        test_mpirun(tap, folder, send)
        test_wrong_counts(tap, folder, send)
        test_multiplexed(tap, folder)


# --- calls ------------------------------------------------------------------------

def test_names(tap, folder):
    names = ["x" * 255, "a,b;\"c\"", "{}%s\\n", "\u96ea"]
    run = Regions(folder, STEPS, *[step for name in names for step in
                                   ("begin=" + name, "end")], events=EVENT)
    tap.ok(run.status == 0 and list(run.regions) == names and not run.err,
           "long and strange names", run.comments())
    wrong = ["", "x" * 256, "a\nb", "\033[31m", b"\xff"]
    run = Regions(folder, STEPS, *[step for name in wrong for step in
                                   (b"begin=" + (name if isinstance(name, bytes) else
                                                 name.encode()), "end")],
                  "begin=good", "end", events=EVENT)
    tap.ok(run.status == 1 and list(run.regions) == ["good"] and len(run.err) == 1 and
           "5 regions were not counted" in run.err[0] and
           run.out == ["begin: %d" % INVALID] * 5,
           "names that are refused", run.comments())


def test_many(tap, folder):
    run = Regions(folder, STEPS, "many=10001", events=EVENT)
    tap.ok(run.status == 1 and len(run.regions) == 10000 and
           set(run.calls().values()) == {1} and
           run.out == ["region 10000: %d" % UNSUPPORTED] and len(run.err) == 1,
           "10,000 regions, and one that is refused",
           ["%d regions" % len(run.regions), *run.out, *run.err])
    run = Regions(folder, STEPS, "begin=outer", "deep=1200", "end", "end",
                  events=EVENT)
    tap.ok(run.status == 1 and run.calls() == {"outer": 1, "deep": 999} and
           run.out == ["deep: 201", "end: %d" % MISUSE] and len(run.err) == 2,
           "regions that are nested too deeply", run.comments())


def test_wrong_calls(tap, folder):
    run = Regions(folder, STEPS, "threads=2", "0:begin=a", "1:end", events=EVENT)
    tap.ok(run.status == 1 and run.regions["a"]["unclosed"] == 1 and
           run.out == ["end: %d" % MISUSE] and len(run.err) == 2 and
           "region 'a' was not ended" in run.err[0] and
           "by a thread in no region, first by region-steps (process" in run.err[1],
           "a region that another thread ends", run.comments())
    run = Regions(folder, STEPS, "begin=a", "begin=b", "kill", events=EVENT)
    tap.ok(run.status == 128 + signal.SIGKILL and len(run.err) == 1 and
           "'a' and 1 more was not ended" in run.err[0] and len(run.regions) == 2,
           "a program that is killed within two regions", run.comments())
    run = Regions(folder, STEPS, "begin=a", "end", "exec", "begin=b", "end",
                  "close", "begin=c", "end", events=EVENT)
    tap.ok(run.status == 0 and run.calls() == {"a": 1, "b": 1, "c": 1} and not run.err,
           "exec, and descriptors that the program closes and uses again",
           run.comments())
    for command, status in (("true", 1), ("false", 1)):
        run = Regions(folder, command, events=EVENT)
        tap.ok(run.status == status and len(run.err) == 1 and not run.regions and
               "the command began no region" in run.err[0] and run.document["events"],
               "a command that ends at once, without libuncore: " + command,
               run.comments())
    run = Regions(folder, "/none", events=EVENT)
    tap.ok(run.status == 127 and len(run.err) == 1, "a command that does not exist",
           run.comments())


def test_end_of_time(tap, folder):
    """At the end of -d the regions so far are printed. The program ignores SIGINT, and
    continues without them."""
    run = Regions(folder, "sh", "-c", "trap '' INT; exec %s begin=a sleep=1500 end "
                  "begin=b end" % STEPS, events=EVENT, options=["-d", "0.5"])
    tap.ok(run.status == 0 and run.calls() == {"a": 1} and
           run.regions["a"]["unclosed"] == 0 and
           run.out == ["end: %d" % GONE, "begin: %d" % GONE, "end: %d" % GONE],
           "a program that continues after the end of the time", run.comments())


HOSTILE = """
import os, socket, struct, subprocess, sys

def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(os.environ["UNCORE_REGIONS"])
    return client

def begin(name, size=None, protocol=1, call=0, took=0):
    return struct.pack("=HHIQ", protocol, call, len(name) if size is None else size,
                       took) + name

for message in (b"x", b"", os.urandom(4000), begin(b"short", size=100),
                begin(b"call", call=7), begin(b"huge", size=2**32 - 1)):
    client = connect()
    client.send(message)
    if client.recv(4):
        print("answered", message)
client = connect()
client.send(begin(b"later", protocol=2))
print(struct.unpack("i", client.recv(4))[0])
flood = connect()       # takes no reply
flood.setblocking(False)
try:
    for i in range(100000):
        flood.send(begin(b"flood", took=2**64 - 1))
        flood.send(begin(b"", call=1))
except OSError:
    pass
idle = [connect() for i in range(100)]
print(os.environ["UNCORE_REGIONS"])
sys.stdout.flush()
subprocess.run(sys.argv[1:])
"""


def test_hostile(tap, folder):
    run = Regions(folder, sys.executable, "-c", HOSTILE, STEPS, "begin=good", "end",
                  events=EVENT)
    *answers, path = run.out
    tap.ok(answers == [str(UNSUPPORTED)] and run.status in (0, 1) and
           run.calls().get("good") == 1 and set(run.regions) <= {"good", "flood"},
           "messages that are malformed, of another version, or too many",
           run.comments())
    tap.ok(path.startswith("/tmp/uncore-") and not os.path.exists(os.path.dirname(path)),
           "the socket is removed", [path])


def test_length(tap, folder):
    run = Regions(folder, STEPS, "begin=empty", "end", "begin=long", "sleep=2000",
                  "end", events=EVENT)
    empty, long = run.regions.get("empty", {}), run.regions.get("long", {})
    # on a slow machine, 100 times the cost may be longer than the region
    cost = empty.get("cost_seconds", 0)
    tap.ok(run.status == 0 and cost > 0 and empty["short"] and
           long["short"] == (cost > 0.02) and 2 <= long["mean_seconds"] < 3,
           "a region that is shorter than 100 times its cost is marked",
           run.comments())
    run = Uncore("stat", "--regions", "-e", EVENT, command=[
        STEPS, "begin=empty", "end", "begin=long", "sleep=2000", "end"])
    _, _, short = run.out.partition("Shorter than 100 times the cost of a region")
    tap.ok(run.status == 0 and "empty" in short and
           ("long" not in short or cost > 0.01),
           "in the table as well", run.comments())


def test_without(tap):
    """Without --regions the calls do nothing."""
    for before in ((), ("UNCORE_REGIONS=",), ("UNCORE_REGIONS=/none",)):
        run = Uncore("stat", "-e", EVENT, "--json", "-o", "/dev/null", command=[
            "env", *before, STEPS, "begin=a", "end", "end", "time=1000"])
        *statuses, cost = run.out.split("\n")[:-1]
        gone = before and before[0].endswith("none")
        tap.ok(run.status == 0 and float(cost) < 20000 and statuses == (
            ["begin: 7", "end: 7", "end: 7"] if gone else []),
               "calls have no effect: %s" % (before or "no --regions"), run.comments())


def test_refused(tap):
    for options, words in (
            (("-I", "100"), "-I"), (("-D", "100"), "-D"), (("-r", "2"), "-r"),
            (("-x,",), "-x"), (("--for-each-cgroup", "/"), "cgroups")):
        run = Uncore("stat", "--regions", "-e", EVENT, *options, command=["true"])
        tap.ok(run.status == 2 and len(run.err.splitlines()) == 1 and
               words in run.err and not run.out, "refused: --regions " + words,
               run.comments())
    run = Uncore("stat", "--regions", "-e", EVENT)
    tap.ok(run.status == 2 and "needs a command" in run.err,
           "refused: --regions without a command", run.comments())


def test_calls(tap):
    with tempfile.TemporaryDirectory() as folder:
        test_names(tap, folder)
        test_many(tap, folder)
        test_wrong_calls(tap, folder)
        test_end_of_time(tap, folder)
        test_hostile(tap, folder)
        test_length(tap, folder)
    test_without(tap)
    test_refused(tap)
    check_documents(tap, [("stat", "--regions", "-e", EVENT, "--json", "--", STEPS,
                           "begin=a", "begin=b", "end", "end")])


def main():
    tap = Tap()
    {"exact": test_exact, "calls": test_calls}[sys.argv[1]](tap)
    tap.end()


if __name__ == "__main__":
    main()
