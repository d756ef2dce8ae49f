# SPDX-License-Identifier: GPL-2.0-or-later
"""
Traffic of known size for the uncore command, which counts while a command runs:
the command sends the traffic, so all of it falls between start and end.
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
    """An event of the catalogue as a traffic line names it."""

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
    """What an uncore command has said. What it counted it has counted for
    @lasted seconds at least, those of its own command, and @elapsed at most,
    however slow the machine."""

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
        """JSON, a document a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def comments(self):
        return ["status %d" % self.status] + \
            (self.err + self.out).splitlines()


def while_sending(folder, lines, *arguments, seconds=1.0, around=()):
    """Runs uncore while these lines of traffic pass; @around is a program that
    runs it."""
    path = os.path.join(folder, "traffic")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(lines)
    run = Uncore(*arguments, around=around,
                 command=["python3", "-c", SEND, path, str(seconds)])
    if run.status == 0:
        with open(path + ".lasted", encoding="ascii") as file:
            run.lasted = float(file.read())
    return run
