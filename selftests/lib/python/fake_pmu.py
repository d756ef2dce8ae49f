# SPDX-License-Identifier: GPL-2.0-or-later
"""
Invented and recorded trees of sysfs for tests of the uncore command on a machine without
uncore PMUs: events of the kernel take the place of events of boxes.
"""

import glob
import json
import os
import subprocess

from lib.python.uncore import EVENTS, TOP

RECORDINGS = os.path.join(TOP, "userspace", "tests", "data")
RECORD = os.path.join(TOP, "userspace", "tests", "record-sysfs")
PMU = "bus/event_source/devices/hswep_imc_0"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def make_pmu(sysfs, package=True, name="hswep_imc_0"):
    """Adds a PMU to the tree @sysfs. Its type is that of software events, and the config
    of each of its events is 0, so each event counts the time that CPU 0 was online."""
    folder = os.path.join(sysfs, os.path.dirname(PMU), name)
    write(folder + "/type", "1")
    write(folder + "/cpumask", "0")
    write(folder + "/format/event", "config1:0-7")
    write(folder + "/format/umask", "config1:8-15")
    if package:
        write(sysfs + "/devices/system/cpu/online", "0")
        write(sysfs + "/devices/system/cpu/cpu0/topology/physical_package_id",
              "0")


def recordings():
    """The names of the recorded machines."""
    return sorted(os.path.basename(path).removesuffix(".sysfs")
                  for path in glob.glob(RECORDINGS + "/*.sysfs"))


def recording(name):
    """The path of a machine's recording."""
    return os.path.join(RECORDINGS, name + ".sysfs")


def make_recorded(top, name):
    """Makes the tree of a recorded machine in folder @top."""
    subprocess.run([RECORD, "--tree", recording(name), top], check=True)


def make_large(top, packages=8):
    """Makes a tree with 60 boxes and 16 CPUs in each socket; returns the number of boxes
    of all sockets."""
    with open(os.path.join(EVENTS, "boxes.json"), encoding="utf-8") as file:
        types = json.load(file)
    boxes = {"cbox": 35, "sbox": 4, "ha": 2, "imc": 8, "qpi": 3, "r3qpi": 3,
             "irp": 2, "pcu": 1, "r2pcie": 1, "ubox": 1}

    def add(path, text):
        write(os.path.join(top, path), text)

    add("devices/system/cpu/modalias",
          "cpu:type:x86,ven0000fam0006mod003F:feature:")
    for cpu in range(16 * packages):
        add("devices/system/cpu/cpu%d/topology/physical_package_id" % cpu,
              "%d" % (cpu // 16))
    number = 20
    for box, count in boxes.items():
        for i in range(count):
            folder = "bus/event_source/devices/hswep_%s%s/" % (
                box, "_%d" % i if count > 1 else "")
            number += 1
            add(folder + "type", "%d" % number)
            add(folder + "cpumask",
                  ",".join("%d" % (16 * p) for p in range(packages)))
            for name, bits in types[box]["Format"].items():
                add(folder + "format/" + name, bits)
    return sum(boxes.values()) * packages
