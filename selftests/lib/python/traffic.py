# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traffic of known size for the uncore command, which counts while a command runs. The
command sends the traffic, so uncore counts all of the traffic.
"""

import json
import os
import subprocess
import time

from lib.python.command import PATIENCE
from lib.python.uncore import SIM, UNCORE, catalogue

SEND = """import sys, time
start = time.monotonic()
time.sleep(0.2)
for line in open(sys.argv[1]):
    with open("%straffic", "w") as file:
        file.write(line)
time.sleep(float(sys.argv[2]))
with open(sys.argv[1] + ".lasted", "w") as file:
    print(time.monotonic() - start, file=file)
""" % SIM


class Event:
    """An event of the catalogue, and its lines for the simulator's file "traffic"."""

    def __init__(self, box, name):
        entry, = [event for event in catalogue(box)
                  if event["EventName"] == name]
        self.code = int(entry["EventCode"], 16)
        if entry.get("ExtSel") == "1":
            self.code |= 0x100
        self.umask = int(entry.get("UMask", "0"), 16)

    def line(self, package, box, count, **keys):
        more = "".join(" %s=%#x" % item for item in keys.items())
        return "pkg=%d box=%s event=%#x umask=%#x count=%d%s\n" % (
            package, box, self.code, self.umask, count, more)


class Uncore:
    """A run of the uncore command: exit status, standard output and standard error.
    It has counted for at least @lasted seconds, the duration of the command that it ran,
    and for at most @elapsed seconds, however slow the machine is."""

    lasted = 0.0

    def __init__(self, *arguments, command=(), around=(), timeout=PATIENCE):
        call = [*around, UNCORE, *arguments]
        if command:
            call += ["--", *command]
        start = time.monotonic()
        done = subprocess.run(call, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8",
                              timeout=timeout, check=False)
        self.elapsed = time.monotonic() - start
        self.status, self.out, self.err = (done.returncode, done.stdout,
                                           done.stderr)

    def json(self):
        return json.loads(self.out)

    def lines(self):
        """The JSON documents of the output, one in each line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def comments(self):
        return ["status %d" % self.status] + \
            (self.err + self.out).splitlines()


def while_sending(folder, lines, *arguments, seconds=1.0, around=()):
    """Runs uncore while these lines of traffic are sent; @around is a program with
    arguments that runs uncore."""
    path = os.path.join(folder, "traffic")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(lines)
    run = Uncore(*arguments, around=around,
                 command=["python3", "-c", SEND, path, str(seconds)])
    if run.status == 0:
        with open(path + ".lasted", encoding="ascii") as file:
            run.lasted = float(file.read())
    return run
