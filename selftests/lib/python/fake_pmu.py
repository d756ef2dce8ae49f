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


def make_device(folder, vendor, device, class_code):
    """Adds a PCI device: a folder below that of its bus or its bridge."""
    for name, number in ("vendor", vendor), ("device", device):
        write(os.path.join(folder, name), "0x%04x" % number)
    write(os.path.join(folder, "class"), "0x%06x" % class_code)


def make_stacks(top, ids=(0, 1)):
    """Makes the tree of a machine with an IIO stack and a UPI link in each of two
    sockets, with numbers @ids. Stack 0 of the first socket has a network card with two
    functions in port 0, a switch with two disks in port 2, and nothing in port 3. Ports of
    the second socket's are hidden behind a volume management device."""
    devices = os.path.join(top, "devices")
    write(devices + "/system/cpu/modalias", "cpu:type:x86,ven0000fam0006mod0055:feature:")
    write(devices + "/system/cpu/online", "0-1")
    for cpu, package in enumerate(ids):
        write(devices + "/system/cpu/cpu%d/topology/physical_package_id" % cpu,
              "%d" % package)
    pmus = os.path.join(top, "bus/event_source/devices")
    for number, name in enumerate(("skx_iio_0", "skx_upi_0", "skx_upi_1")):
        write("%s/%s/type" % (pmus, name), "%d" % (20 + number))
        write("%s/%s/cpumask" % (pmus, name), "0-1")
        write("%s/%s/format/event" % (pmus, name), "config:0-7")
    for die, bus in enumerate(("0000:16", "0000:97")):
        write("%s/skx_iio_0/die%d" % (pmus, die), bus)
        write("%s/skx_upi_0/die%d" % (pmus, die), "upi_%d,die_%d" % (1 - die, 1 - die))
    port, endpoint = 0x060400, 0x020000
    bus = devices + "/pci0000:16/"
    make_device(bus + "0000:16:05.0", 0x8086, 0x2034, 0x088000)
    make_device(bus + "0000:16:00.0", 0x8086, 0x2030, port)
    write(bus + "0000:16:00.0/0000:16:00.0:pcie001/power/control", "auto")
    for function in 0, 1:
        make_device(bus + "0000:16:00.0/0000:17:00.%d" % function, 0x8086, 0x1583,
                    endpoint)
    make_device(bus + "0000:16:02.0", 0x8086, 0x2032, port)
    make_device(bus + "0000:16:02.0/0000:18:00.0", 0x10b5, 0x8724, port)
    for slot in 0, 1:
        below = bus + "0000:16:02.0/0000:18:00.0/0000:19:%02x.0" % slot
        make_device(below, 0x10b5, 0x8724, port)
        make_device(below + "/0000:%02x:00.0" % (0x1a + slot), 0xfffe, 0x0a54, 0x010802)
    make_device(bus + "0000:16:03.0", 0x8086, 0x2033, port)
    hidden = devices + "/pci0000:97/0000:97:05.5/pci10000:00/"
    make_device(devices + "/pci0000:97/0000:97:05.5", 0x8086, 0x201d, 0x010400)
    make_device(hidden + "10000:00:02.0", 0x8086, 0x2032, port)
    make_device(hidden + "10000:00:02.0/10000:01:00.0", 0x8086, 0x0a54, 0x010802)


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
