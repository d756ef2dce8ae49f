# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shared code of tests in Python: results in the Test Anything Protocol, the
modules of this build, and the simulated hardware's clock.
"""

import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
# The uncore command of this build, or another build of the command
UNCORE = os.environ.get("UNCORE_COMMAND", os.path.join(
    TOP, "build", "userspace", "bin", "uncore"))
EVENTS = os.path.join(TOP, "events", "hswep")


def _generation():
    """The name of the generation, which the names of PMUs begin with: that of
    UNCORE_GENERATION, or of this machine's processor, or "hswep" if the processor is
    of no known generation."""
    asked = os.environ.get("UNCORE_GENERATION")
    if asked:
        return asked
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    here = [re.search(r"^%s\s*: (\d+)$" % name, text, re.M)
            for name in ("cpu family", "model", "stepping")]
    if not all(here):
        return "hswep"
    *model, stepping = (match.group(1) for match in here)
    for path in sorted(glob.glob(os.path.join(TOP, "events", "*",
                                              "boxes.json"))):
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
        low, _, high = (facts.get("Stepping") or "0-15").partition("-")
        if model == [facts.get("Family"), facts.get("Model")] and \
                int(low) <= int(stepping) <= int(high or low):
            return os.path.basename(os.path.dirname(path))
    return "hswep"


GENERATION = _generation()
BUILD = os.environ.get("UNCORE_BUILD",
                       os.path.join(TOP, "build", os.uname().release))
SIM = "/sys/kernel/debug/xeon_uncore_sim/"
DEVICES = "/sys/bus/event_source/devices/"
SKIP = 4
# Slowness factor of this machine (from selftests/vm/run), as for loops() in C.
SLOWNESS = int(os.environ.get("UNCORE_SLOWNESS", "1"))
MAX_COMMENTS = 20


class Tap:
    """Result lines on standard output; exit status as kselftest's."""

    def __init__(self):
        self.results = self.failures = 0
        print("TAP version 13", flush=True)

    def ok(self, good, name, comments=()):
        """Prints a result line, and comments if the test failed."""
        self.results += 1
        self.failures += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.results, name),
              flush=True)
        if not good:
            for comment in list(comments)[:MAX_COMMENTS]:
                self.say(comment)
        return good

    def skip(self, name, why):
        """Prints a result line of a test that this machine cannot run."""
        self.results += 1
        print("ok %d - %s # SKIP %s" % (self.results, name, why), flush=True)

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


def loops(rounds):
    """Scales a number of rounds down on slow machines, to at least one."""
    return -(-rounds // SLOWNESS)


@contextlib.contextmanager
def running_clock():
    """
    Uses the simulator's real clock within the block, because a driver that loads may
    measure the hardware. Restores the manual clock after the block.
    """
    manual = read(SIM + "clock") == "manual"
    if manual:
        write(SIM + "clock", "real")
    try:
        yield
    finally:
        if manual:
            write(SIM + "clock", "manual")


# Parameters of a machine with few slices of the LLC. perf and uncore read files of every box
# at each start, and perf those of every event, which takes seconds on an emulated machine.
FEW_SLICES = ("cboxes=4",)


class Machine:
    """The simulator and the driver, which are loaded while this object is in use."""

    def __init__(self, tap, clock="manual", params=(), sim=()):
        driver = os.path.join(BUILD, "kmod", "xeon_uncore.ko")
        if clock == "manual":
            # with a freeze budget the number of samples depends on the host's speed
            params = ("freeze_budget=1000", *params)
        model = os.path.join(BUILD, "kmod", "sim", "xeon_uncore_sim.ko")
        if os.geteuid() != 0:
            tap.skip_all("needs root")
        for module in (driver, model):
            if not os.path.exists(module):
                tap.skip_all("%s is not built" % module)
        self.packages = len({read(path) for path in glob.glob(
            "/sys/devices/system/cpu/cpu*/topology/physical_package_id")})
        self.tap = tap
        self._unload()
        subprocess.run(["insmod", model, "clock=" + clock,
                        "packages=%d" % self.packages, *sim], check=True)
        with running_clock():
            subprocess.run(["insmod", driver, *params], check=True)

    @staticmethod
    def wait_unused(module="xeon_uncore"):
        """Waits until the module has no users: the kernel closes events of BPF maps some
        time after the map was closed."""
        deadline = time.monotonic() + 60
        with contextlib.suppress(OSError):
            while read("/sys/module/%s/refcnt" % module) != "0" and \
                    time.monotonic() < deadline:
                time.sleep(0.05)

    @classmethod
    def _unload(cls):
        for module in ("xeon_uncore", "xeon_uncore_sim"):
            if os.path.exists("/sys/module/%s" % module):
                cls.wait_unused(module)
                subprocess.run(["rmmod", module], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait_unused()
        subprocess.run(["rmmod", "xeon_uncore"], check=False)
        undefined = re.search(r"^undefined (\d+)$", read(SIM + "stats"), re.M)
        if undefined and undefined.group(1) != "0":
            self.tap.ok(False, "no write is undefined", [undefined.group()])
        self._unload()

    @staticmethod
    def cycles():
        """Uncore cycles of the simulator that have passed so far."""
        return int(read(SIM + "advance"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def catalogue(name):
    """The content of a file of the event catalogue: "imc", "metrics", ..."""
    with open(os.path.join(EVENTS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def boxes():
    """The box types of boxes.json and their facts. Names in lower case are box types; the
    other members of the file are facts of the generation."""
    return {name: facts for name, facts in catalogue("boxes").items()
            if name.islower()}


def facts_of(generation):
    """The content of a generation's boxes.json, without what it inherits."""
    with open(os.path.join(TOP, "events", generation, "boxes.json"), encoding="utf-8") as file:
        return json.load(file)


def most_sockets():
    """How many of the two sockets of most test machines this generation has."""
    return int(facts_of(GENERATION).get("Sockets", "2"))


def space(box_type):
    """Where a box type of this generation has its registers: "msr", "pci" or "mmio"."""
    generation, found = GENERATION, None
    while generation and not found:
        facts = facts_of(generation)
        found = facts.get(box_type, {}).get("Registers", {}).get("Space")
        generation = facts.get("Like")
    return found


def pmus(box_type):
    """The names of a box type's PMUs: ["hswep_imc_0", ...] or ["hswep_pcu"]."""
    names = [name for name in os.listdir(DEVICES)
             if re.fullmatch(r"%s_%s(_\d+)?" % (GENERATION, box_type), name)]
    return sorted(names, key=lambda name: (len(name), name))
