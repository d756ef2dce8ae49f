#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore diagnose --calibrate" on the simulated hardware. likwid-bench and stress-ng are
the real programs, behind scripts that let the simulated channels move a known amount while
they run. Then what diagnose and the verdicts of uncore live say with measured peaks, kernels
that fail or move the wrong memory, files that cannot be used, and a signal.
"""

import dataclasses
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python import schema  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import GENERATION, SIM, UNCORE, Machine, Tap, most_sockets, write  # noqa: E402
from scenarios import causes, flow, generations, player  # noqa: E402

MESH = generations.load(GENERATION).mesh
SIZE = ["%s=%d" % item for item in causes.parameters(GENERATION).items()] + \
    ["boxes=cha:4" if MESH else "cboxes=4"]
FILE = "/var/lib/uncore/memory-peaks.json"
GIB = 1 << 30
with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
    REGISTERS = "avx" if " avx " in cpuinfo.read() else "sse"
LOAD, COPY = "load_" + REGISTERS, "copy_mem_" + REGISTERS
SOCKETS = most_sockets()
# Bytes a second that a kernel moves on each socket: the most of likwid-bench is its load.
MOVED = {kernel: moved[:SOCKETS] for kernel, moved in (
    (LOAD, (40 * GIB, 24 * GIB)), (COPY, (30 * GIB, 20 * GIB)),
    ("stream", (35 * GIB, 15 * GIB)))}
# A script in place of a program: it lets a socket's channels move bytes, and executes
# the program. The kernel is "-t NAME", the socket "-w S0:..." or that of its CPUs.
SCRIPT = """#!/bin/sh
kernel=stream
while read -r key cpus; do
	[ "$key" = Cpus_allowed_list: ] && cpu=${cpus%%%%[,-]*}
done < /proc/$$/status
read -r socket < /sys/devices/system/cpu/cpu$cpu/topology/physical_package_id
[ "$1" = -t ] && kernel=$2
for word; do
	case $word in S[0-9]*:*) socket=${word#S}; socket=${socket%%%%:*} ;; esac
done
cat %(folder)s/$kernel.$socket > %(sim)srates
exec %(program)s "$@"
"""


def memory_rates(*each_socket):
    """Lines of the simulator's file "rates" for the bytes a second that channels move."""
    hardware = player.machine()
    each = [dataclasses.replace(
        causes.IDLE, reads=reads, writes=0, streamed=0, bound=0, remote=0, device_writes=0,
        device_reads=0) for reads in each_socket]
    lines = [entry.line(one.package) for one in flow.sockets(hardware, each)
             for entry in one.flows]
    return "".join(line for line in lines if " box=imc" in line)


class Programs:
    """A folder that takes the place of the folders of PATH."""

    def __init__(self, folder):
        self.folder = folder
        for kernel, moved in MOVED.items():
            for number, amount in enumerate(moved):
                rates = [amount if number == other else 0 for other in range(SOCKETS)]
                with open("%s/%s.%d" % (folder, kernel, number), "w",
                          encoding="ascii") as file:
                    file.write(memory_rates(*rates))
        for name in ("sh", "bash", "taskset", "cat", "sed", "sleep"):
            os.symlink(shutil.which(name), os.path.join(folder, name))

    def put(self, name, program):
        """Have a program, or a script that executes it."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(SCRIPT % {"folder": self.folder, "sim": SIM, "program": program})
        os.chmod(path, 0o755)

    def drop(self, name):
        os.unlink(os.path.join(self.folder, name))

    def run(self, *options, env=()):
        around = ("env", "PATH=" + self.folder, *env)
        return Uncore("diagnose", "--calibrate", *options, around=around)


def kept():
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)


def is_line(run, *words, status=1):
    said = [line for line in run.err.splitlines() if not line.endswith(" 4 s")]
    return run.status == status and not run.out and said and \
        all(word in said[-1] for word in words)


def are_near(sockets, kernel):
    return len(sockets) == len(MOVED[kernel]) and all(
        abs(one["value"] / want - 1) < 0.05 and one["computed"] > one["value"]
        for one, want in zip(sockets, MOVED[kernel]))


def test_programs(tap, programs):
    """The peaks are what the channels moved, with each real program."""
    run = programs.run()
    tap.ok(is_line(run, "neither likwid-bench nor stress-ng", "apt install") and
           not os.path.exists(FILE), "without a program", run.comments())
    programs.put("stress-ng", shutil.which("stress-ng"))
    run = programs.run("--json")
    sockets = run.json()["memory_peaks"] if run.status == 0 else []
    wrong = []
    if run.status == 0 and schema.python_with_jsonschema():
        wrong, = schema.errors_of(schema.document_schema(), [run.json()])
    tap.ok(are_near(sockets, "stream") and not wrong and
           all(one["program"] == "stress-ng --stream" for one in sockets),
           "stress-ng, the one that is there", [*run.comments(), *wrong])
    programs.put("likwid-bench", shutil.which("likwid-bench"))
    run = programs.run()
    document = kept()[socket.gethostname()] if run.status == 0 else {"memory_peaks": []}
    tap.ok(are_near(document["memory_peaks"], LOAD) and
           all(one["program"] == "likwid-bench " + LOAD
               for one in document["memory_peaks"]),
           "likwid-bench, with the better kernel", [*run.comments(), repr(document)])
    lines = run.out.splitlines()
    tap.ok(len(lines) == SOCKETS + 1 and lines[0].startswith("Socket 0: 4") and
           " GiB/s by likwid-bench %s, " % LOAD in lines[0] and
           lines[0].endswith(" computed") and lines[-1] == "Kept in " + FILE,
           "the peaks for people", run.comments())


def test_uses(tap):
    """Half of the measured peak, which is less than a third of the computed one."""
    write(SIM + "rates", memory_rates(*(most / 2 for most in MOVED[LOAD])))
    run = Uncore("diagnose", "--json", "-d", "4")
    found = [one for one in run.json()["findings"] + run.json()["no_finding"]
             if one["finding"] == "memory bandwidth"]
    value = found[0]["values"][0]["value"] if found else 0
    tap.ok(abs(value - 50) < 3 and found[0]["from"] == 40 and
           "of its measured peak" in found[0].get("seen", ""),
           "diagnose compares with the measured peak", [repr(found)])
    live = Uncore("live", "--once")
    said = re.findall(r"memory (\d+) % of ([\d.]+) GiB/s measured", live.out)
    tap.ok(len(said) == SOCKETS and all(
        abs(int(share) - 50) < 4 and abs(float(peak) * GIB / most - 1) < 0.05
        for (share, peak), most in zip(said, MOVED[LOAD])),
           "and so do the verdicts", live.comments())
    os.rename(FILE, FILE + ".away")
    live = Uncore("live", "--once")
    tap.ok("GiB/s computed" in live.out and "measured" not in live.out,
           "without the file they name the computed one", live.comments())
    os.rename(FILE + ".away", FILE)


def test_users(tap, programs):
    """A user's file is preferred; the peaks of other hosts are not lost."""
    knob = "/proc/sys/kernel/perf_event_paranoid"
    with open(knob, encoding="ascii") as file:
        before = file.read()
    write(knob, "0")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                "--inh-caps=-all", "env", "XDG_STATE_HOME=" + folder)
        own = os.path.join(folder, "uncore", "memory-peaks.json")
        run = Uncore("live", "--once", around=user)
        tap.ok("GiB/s measured" in run.out, "a user has root's peaks", run.comments())
        run = Uncore("diagnose", "--calibrate",
                     around=(*user, "XDG_STATE_HOME=/proc/none"))
        tap.ok(run.status == 1 and len(run.err.splitlines()) == 1 and
               "/proc/none" in run.err, "a folder that cannot be made", run.comments())
        os.makedirs(os.path.dirname(own))
        document = kept()
        document[socket.gethostname()]["memory_peaks"][0]["value"] = 10 * GIB
        with open(own, "w", encoding="utf-8") as file:
            json.dump({"another": {}, **document}, file)
        run = Uncore("live", "--once", around=user)
        tap.ok(" of 10.0 GiB/s measured" in run.out, "and prefers own ones",
               run.comments())
    write(knob, before)
    document = kept()
    write(FILE, json.dumps({"another": {"memory_peaks": []}, **document}))
    programs.drop("likwid-bench")
    programs.put("stress-ng", "sleep 3 #")
    run = programs.run("--json")
    tap.ok(run.status == 0 and sorted(kept()) == sorted(["another", *document]),
           "the peaks of another host stay", run.comments())


def test_kernels(tap, programs):
    """Kernels that cannot be used leave the file alone."""
    before = kept()
    for program, words in (("sh -c 'echo no >&2; exit 3'", ("status 3",)),
                           (shutil.which("true"), ("too soon",))):
        programs.put("likwid-bench", program)
        run = programs.run()
        tap.ok(is_line(run, "likwid-bench " + LOAD, *words) and kept() == before,
               "a kernel: " + words[0], run.comments())
    for kernel in MOVED if SOCKETS > 1 else ():
        shutil.copy("%s/%s.1" % (programs.folder, kernel),
                    "%s/%s.0" % (programs.folder, kernel))
    programs.put("likwid-bench", "sleep 5 #")
    if SOCKETS > 1:
        run = programs.run()
        tap.ok(is_line(run, "moved memory of socket 1 and not of socket 0") and
               kept() == before, "a kernel whose memory is elsewhere", run.comments())
    process = subprocess.Popen([UNCORE, "diagnose", "--calibrate"],
                               env={**os.environ, "PATH": programs.folder},
                               stderr=subprocess.PIPE)
    time.sleep(2)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    tap.ok(process.returncode == -signal.SIGTERM and kept() == before,
           "a signal ends it, and nothing is kept", ["status %d" % process.returncode])


def test_files(tap, programs):
    """Files that cannot be used: one line, and computed peaks."""
    host = socket.gethostname()
    other = kept()
    other[host]["memory_peaks"][0]["socket"] = 7
    for text, words in (("{", "not a file of"),
                        (json.dumps({host: {}}), "not those of this machine"),
                        (json.dumps(other), "not those of this machine")):
        write(FILE, text)
        run = Uncore("diagnose", "-d", "4")
        tap.ok(run.status == 0 and "measured peak" not in run.out and
               len(run.err.splitlines()) == 1 and words in run.err and FILE in run.err,
               "a file that is %s" % text[:20], run.comments())
    for command in (("live", "--once", "-I", "500"),
                    ("serve", "--listen", "127.0.0.1:0")):
        run = Uncore(*command, around=("timeout", "5"))
        tap.ok(FILE in run.err and "not those of this machine" in run.err,
               "uncore %s says it too" % command[0], run.comments())
    write(FILE, "{")
    run = programs.run()
    with open(FILE, encoding="ascii") as file:
        tap.ok(run.status == 1 and len(run.err.splitlines()) == 1 and FILE in run.err and
               "remove it" in run.err and file.read() == "{",
               "a file that is not replaced, before anything is measured", run.comments())
    os.unlink(FILE)


def test_options(tap):
    for options in (("-d", "3"), ("-v",), ("--", "true")):
        run = Uncore("diagnose", "--calibrate", *options)
        tap.ok(run.status == 2 and len(run.err.splitlines()) == 1 and not run.out,
               "not with %s" % options[0], run.comments())


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder, Machine(tap, clock="real", sim=SIZE):
        player.start("idle")
        programs = Programs(folder)
        test_options(tap)
        test_programs(tap, programs)
        test_uses(tap)
        test_users(tap, programs)
        test_kernels(tap, programs)
        test_files(tap, programs)
    tap.end()


if __name__ == "__main__":
    main()
