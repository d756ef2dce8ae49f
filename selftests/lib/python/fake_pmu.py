# SPDX-License-Identifier: GPL-2.0-or-later
"""
A made-up sysfs, for what the uncore command does where there is no uncore:
events of the kernel's own stand in for those of boxes.
"""

import os

PMU = "bus/event_source/devices/hswep_imc_0"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def make_pmu(sysfs, package=True, name="hswep_imc_0"):
    """A PMU whose type is the kernel's own: any event of it, as config is 0, is the
    time that CPU 0 was online."""
    folder = os.path.join(sysfs, os.path.dirname(PMU), name)
    write(folder + "/type", "1")
    write(folder + "/cpumask", "0")
    write(folder + "/format/event", "config1:0-7")
    write(folder + "/format/umask", "config1:8-15")
    if package:
        write(sysfs + "/devices/system/cpu/online", "0")
        write(sysfs + "/devices/system/cpu/cpu0/topology/physical_package_id",
              "0")
