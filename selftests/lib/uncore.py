# SPDX-License-Identifier: GPL-2.0-or-later
"""
What tests in Python share: results in the Test Anything Protocol, the modules
of this build, and the simulated hardware's clock.
"""

import glob
import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
EVENTS = os.path.join(TOP, "events", "hswep")
BUILD = os.environ.get("UNCORE_BUILD",
                       os.path.join(TOP, "build", os.uname().release))
SIM = "/sys/kernel/debug/xeon_uncore_sim/"
DEVICES = "/sys/bus/event_source/devices/"
SKIP = 4
MAX_COMMENTS = 20


class Tap:
    """Result lines on standard output; exit status as kselftest's."""

    def __init__(self):
        self.results = self.failures = 0
        print("TAP version 13", flush=True)

    def ok(self, good, name, comments=()):
        """One result, and comments that say why it failed."""
        self.results += 1
        self.failures += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.results, name),
              flush=True)
        if not good:
            for comment in list(comments)[:MAX_COMMENTS]:
                self.say(comment)
        return good

    @staticmethod
    def say(text):
        print("# " + text, flush=True)

    @staticmethod
    def skip_all(why):
        print("1..0 # SKIP " + why)
        sys.exit(SKIP)

    def end(self):
        print("1..%d" % self.results)
        if self.failures:
            self.say("%d of %d failed" % (self.failures, self.results))
        sys.exit(1 if self.failures else 0)


class Machine:
    """The simulated hardware and the driver on it."""

    def __init__(self, tap, clock="manual"):
        driver = os.path.join(BUILD, "kmod", "xeon_uncore.ko")
        sim = os.path.join(BUILD, "kmod", "sim", "xeon_uncore_sim.ko")
        if os.geteuid() != 0:
            tap.skip_all("needs root")
        for module in (driver, sim):
            if not os.path.exists(module):
                tap.skip_all("%s is not built" % module)
        self.packages = len({read(path) for path in glob.glob(
            "/sys/devices/system/cpu/cpu*/topology/physical_package_id")})
        self._unload()
        subprocess.run(["insmod", sim, "clock=" + clock,
                        "packages=%d" % self.packages], check=True)
        subprocess.run(["insmod", driver], check=True)

    @staticmethod
    def _unload():
        for module in ("xeon_uncore", "xeon_uncore_sim"):
            if os.path.exists("/sys/module/%s" % module):
                subprocess.run(["rmmod", module], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._unload()

    @staticmethod
    def cycles():
        """Cycles that have passed so far."""
        return int(read(SIM + "advance"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def catalogue(name):
    """A file of the event catalogue: "imc", "metrics", ..."""
    with open(os.path.join(EVENTS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def pmus(kind):
    """The PMUs of a box type: ["hswep_imc_0", ...] or ["hswep_pcu"]."""
    names = [name for name in os.listdir(DEVICES)
             if re.fullmatch(r"hswep_%s(_\d+)?" % kind, name)]
    return sorted(names, key=lambda name: (len(name), name))
