# SPDX-License-Identifier: GPL-2.0-or-later
"""
Read the uncore events of LIKWID's event lists.

LIKWID compiles its lists into its library, and "likwid-perfctr -e" prints the list of the
processor that the program runs on. hwloc's description of a machine (HWLOC_XMLFILE) gives
the program another processor. A preloaded function replaces LIKWID's check of the
counters, which drops the events of boxes that the machine lacks.
"""

import os
import re
import subprocess

# NAME, 0xCODE, 0xUMASK, COUNTER|COUNTER..., OPTION=VALUE|OPTION=VALUE...
EVENT = re.compile(r"(\w+), 0x(\w+), 0x(\w+), ([\w|]+)")
# the option with the bits of a unit mask beyond eight, where the box type has these
EXTENSION = re.compile(r"\bMATCH0=0x([0-9A-F]+)")
# CBOX, CBOX0C1 and WBOX2 are counters of the boxes CBOX and WBOX.
COUNTER = re.compile(r"(\w+?)(\d+C\d+|\d+)?")
ANY_EVENT = "GENERIC_EVENT"     # stands for each event that a user may give by its code
PRELOADED = "void perfmon_check_counter_map(int cpu) { (void)cpu; }\n"
MACHINE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" gp_index="1" %(sets)s>
<object type="Package" os_index="0" gp_index="2" %(sets)s>
<info name="CPUVendor" value="GenuineIntel"/><info name="CPUModel" value="Intel Xeon"/>
<info name="CPUFamilyNumber" value="6"/><info name="CPUModelNumber" value="%(model)d"/>
<info name="CPUStepping" value="1"/>
<object type="NUMANode" os_index="0" gp_index="3" local_memory="1073741824" %(sets)s/>
<object type="Core" os_index="0" gp_index="4" %(sets)s>
<object type="PU" os_index="0" gp_index="5" %(sets)s/>
</object></object></object></topology>
"""
SETS = " ".join('%s="0x1"' % name for name in (
    "cpuset", "complete_cpuset", "allowed_cpuset", "nodeset", "complete_nodeset",
    "allowed_nodeset"))


def parse(text, boxes):
    """
    Yield (box type, name, code, unit mask) of the events that LIKWID lists. @boxes has the
    box types by LIKWID's names; fixed counters have names that are not in it.
    """
    for line in text.splitlines():
        match = EVENT.match(line)
        if not match or match[1] == ANY_EVENT:
            continue
        name, code, umask, counters = match.groups()
        named = {COUNTER.fullmatch(counter)[1].lower() for counter in counters.split("|")}
        more = EXTENSION.search(line)
        for box in sorted((boxes[one] for one in named & set(boxes)),
                          key=lambda box: box.name):
            wide = more and len(box.format["umask"].bits) > 8
            yield (box.name, name.lower(), int(code, 16),
                   int(umask, 16) | (int(more[1], 16) << 8 if wide else 0))


def listed(model, folder):
    """Return the list of a processor model. Scratch files go to @folder."""
    source, library, machine = (os.path.join(folder, name) for name in (
        "preloaded.c", "preloaded.so", "machine.xml"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PRELOADED)
    with open(machine, "w", encoding="utf-8") as file:
        file.write(MACHINE % {"model": model, "sets": SETS})
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source],
                   check=True)
    return subprocess.run(
        ["likwid-perfctr", "-e"], check=True, capture_output=True, text=True,
        env={**os.environ, "HWLOC_XMLFILE": machine, "HWLOC_THISSYSTEM": "1",
             "LD_PRELOAD": library}).stdout
