#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the output of the uncore command on recorded and made-up machines: the first
examples and help of a new user on each generation, wrong arguments, and a large machine.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import UNCORE, comments, is_refused, run  # noqa: E402
from lib.python.fake_pmu import (make_large, make_pmu, make_recorded,  # noqa: E402
                                 make_stacks, recordings, write)
from lib.python.uncore import Tap  # noqa: E402

# For a box type, a word in the first examples that need such a box.
WORDS = {"imc": "imc/", "qpi": "qpi", "cbox": "llc", "fsb": "fsb/", "gbsq": "l3"}


# --- the first hour ------------------------------------------------------------------

def test_examples(tap, name, sysfs):
    """The examples of bare uncore can be executed with this machine's boxes."""
    machine = json.loads(run("--sysfs", sysfs, "topology", "--json").stdout)
    boxes = {pmu["box"] for pmu in machine["pmus"]}
    shown = re.findall(r"^uncore (?!SUBCOMMAND)(.*?)  ", run("--sysfs", sysfs).stdout,
                       re.M)
    wrong = [example for example in shown for box, word in WORDS.items()
             if boxes and box not in boxes and word in example]
    missing = [box for box, word in WORDS.items()
               if box in boxes and not any(word in example for example in shown)]
    # Opening the counters fails, as this host lacks the recorded PMUs. Only the messages
    # of the planning before are checked.
    for example in shown if boxes else ():
        result = run("--sysfs", sysfs, *example.split(), "true")
        if example.startswith(("metric", "stat")) and \
                re.search("has no|no PMU|no metric|no set", result.stderr):
            wrong += [example, *comments(result)]
    tap.ok(len(shown) >= 7 and not wrong and not missing and
           (boxes or len(shown) == 9),
           "bare uncore on %s: examples that its boxes can answer" % name,
           wrong + ["none for " + box for box in missing] + shown)


def test_first_hour(tap, bus):
    make_pmu(bus, name="xeon7100_fsb")
    write(bus + "/devices/system/cpu/modalias",
          "cpu:type:x86,ven0000fam000Fmod0006:feature:,0000")
    result = run("--sysfs", bus)
    tap.ok(result.returncode == 0 and "uncore metric bus" in result.stdout and
           not re.search("memory|imc|qpi|llc", result.stdout),
           "bare uncore of a machine with a front-side bus: its own examples",
           comments(result))
    result = run()
    lines = result.stdout.splitlines()
    tap.ok(result.returncode == 0 and len(lines) == 11 and
           sum(line.startswith("uncore ") for line in lines) >= 8,
           "bare uncore: eleven lines, with examples", comments(result))
    for line in lines:
        example = line.split("  ")[0].split()
        if example[0] == "uncore" and example[1] not in ("SUBCOMMAND", "top"):
            parsed = run(*example[1:], "--help") if "ls" not in example else result
            tap.ok(parsed.returncode == 0, " ".join(example) + " is understood",
                   comments(parsed))

    commands = run("__complete", "").stdout.split()
    for command in commands:
        result = run(command, "--help")
        examples = re.findall(r"^  uncore %s\b" % command, result.stdout, re.M)
        examples += re.findall(r"\| uncore %s\b" % command, result.stdout)
        odd = re.findall(r".*(?:\bU?INT\b|\bFLOAT\b|\bTEXT\b| in \[|:\{).*",
                         result.stdout)
        tap.ok(result.returncode == 0 and len(examples) >= 2 and not odd,
               "uncore %s --help: for people, with two examples" % command,
               odd + result.stdout.splitlines())

    result = run("stat", "-M", "mem_bw_raeds")
    tap.ok(result.returncode == 1 and "mem_bw_reads" in result.stderr,
           "a metric's wrong name: the nearest one", comments(result))
    result = run("metric", "memroy")
    tap.ok(result.returncode == 2 and "did you mean memory" in result.stderr,
           "a set's wrong name: the nearest one", comments(result))
    for name in ("a", "oi"):
        result = run("metric", name)
        tap.ok(result.returncode == 2 and "no set of metrics '%s'; there are" % name in
               result.stderr, "no name is near one of %d letters" % len(name),
               comments(result))
    for words in ("groups",), ("metrics", "memory"):
        result = run("list", *words)
        tap.ok(re.search("^Groups of metrics\n(?:  .*\n)*  memory +How busy is memory",
                         result.stdout, re.M),
               "list %s: groups with their questions" % " ".join(words),
               comments(result))
    result = run("list", "groups", "--machine", "xeon7100")
    tap.ok(re.findall(r"^  (\w+)", result.stdout, re.M) == ["bus"],
           "list groups: those of the generation", comments(result))
    result = run("list", "cas_count.rd_reg")
    tap.ok(re.search(r"^  imc/cas_count\.rd_reg/ +\w+", result.stdout, re.M),
           "list has descriptions", comments(result))


# --- wrong arguments -----------------------------------------------------------------

def test_wrong(tap):
    """Wrong arguments: one line names the cause and the remedy."""
    for words, remedy in (
            (("cas_cuont",), "did you mean cas_count"),
            (("imc", "cas_cuont.rd"), "did you mean cas_count.rd"),
            (("mem_bw_raeds",), "did you mean mem_bw_reads"),
            (("xyzzy",), "'uncore list' shows all"),
            (("fsb",), "did you mean osb, ncb?"),
            (("imc", "occupancy", "tor"), "fewer words match more")):
        result = run("list", *words)
        tap.ok(is_refused(result, "nothing matches '%s'" % " ".join(words), remedy),
               "list %s: nothing, and what to do" % " ".join(words), comments(result))
    usage = re.findall(r"^Usage: (.*)", run("metric", "--help").stdout, re.M)
    tap.ok(usage == ["uncore metric [OPTIONS] set [command...]"],
           "metric --help: the set is not optional", usage)
    for option, value in (("-d", "nan"), ("-d", "inf"), ("-d", "-nan"), ("-d", "-1"),
                          ("-d", ""), ("-d", "5x"), ("-d", "1e10"), ("-I", "0"),
                          ("-I", "-1"), ("-I", "1.5"), ("-I", "nan"),
                          ("-I", "18446744073709551617")):
        result = run("stat", "-e", "page-faults", option, value, "true")
        tap.ok(is_refused(result, "invalid value '%s' (expected " % value, status=2),
               "stat %s '%s'" % (option, value), comments(result))


# --- a large machine -----------------------------------------------------------------

def test_large(tap, folder):
    boxes = make_large(folder)
    result = run("--sysfs", folder)
    tap.ok(result.returncode == 0 and "8 sockets and %d boxes" % boxes in
           result.stdout, "a machine of 8 sockets with 60 boxes each",
           comments(result))
    result = run("--sysfs", folder, "topology", "--json")
    machine = json.loads(result.stdout) if result.returncode == 0 else {}
    tap.ok(len(machine.get("sockets", [])) == 8 and
           sum(len(pmu["cpus"]) for pmu in machine["pmus"]) == boxes,
           "its topology", comments(result)[:5])
    result = run("--sysfs", folder, "list", "--json")
    catalogue = json.loads(result.stdout) if result.returncode == 0 else {}
    tap.ok(catalogue.get("events") and
           all(event["usable"] for event in catalogue["events"]),
           "all events can be counted there", comments(result)[:5])
    # Planning for all boxes succeeds. Only opening the counters fails, as this host has
    # no such PMU.
    for arguments in (["stat", "-M", "mem_bw_total", "--per-box", "true"],
                      ["metric", "ring", "--all", "true"],
                      ["stat", "-e", "{cbox/tor_inserts.opcode,filter_opc=drd/,"
                       "cbox/clockticks/},qpi/clockticks/", "true"],
                      ["top", "--once"]):
        result = run("--sysfs", folder, *arguments)
        tap.ok(is_refused(result, "this machine does not count"),
               "uncore %s is planned for %d boxes" % (
                   " ".join(arguments[:3]), boxes), comments(result))


# --- stacks and links ----------------------------------------------------------------

def test_stacks(tap, folder):
    """uncore topology: root ports by stack, the devices behind them, ends of links."""
    make_stacks(folder)
    result = run("--sysfs", folder, "topology")
    rows = [re.split(" {2,}", line.strip()) for line in result.stdout.splitlines()]
    tap.ok(["skx_iio_0", "0", "0000:16", "0", "0000:16:00.0",
            "0000:17:00.0 Intel Corporation Ethernet Controller XL710 for 40GbE QSFP+"]
           in rows, "a stack, its port and the name of the device", comments(result))
    listed = [row[-1].split()[0] for row in rows if re.match("[0-9a-f]{4,}:", row[-1])]
    tap.ok(listed == ["0000:17:00.0", "0000:17:00.1", "0000:1a:00.0", "0000:1b:00.0",
                      "0000:16:03.0", "10000:01:00.0"],
           "the devices: each function, those behind a switch and not the switch, an "
           "empty port, those of a volume management device", comments(result))
    tap.ok(["0000:1b:00.0 [fffe:0a54]"] in rows and
           ["skx_iio_0", "1", "0000:97", "2", "10000:00:02.0"] in
           [row[:5] for row in rows], "a device without a name; a hidden port",
           comments(result))
    tap.ok(["skx_upi_0", "0", "socket 1, skx_upi_1"] in rows and
           ["skx_upi_0", "1", "socket 0, skx_upi_0"] in rows,
           "links: the socket and the PMU at the other end", comments(result))
    # Sockets' numbers can have a gap, numbers of dies cannot. A socket without online
    # CPUs has no number.
    for ids, sockets in ((0, 2), [0, 2]), ((1, 1), [None, 1]), ((0, 0), [0, None]):
        other = folder + "-%d%d" % ids
        make_stacks(other, ids)
        machine = json.loads(run("--sysfs", other, "topology", "--json").stdout)
        found = [stack["socket"] for stack in machine["stacks"]]
        ends = [link["end_socket"] for link in machine["links"]]
        tap.ok(found == sockets and ends == sockets[::-1],
               "sockets of stacks and links on a machine with socket %d and %d" % ids,
               [repr(found), repr(ends)])
    # Texts that the driver does not write.
    for text in ("../../..", "0000", "upi_1", "upi_x,die_0", "upi_1,die_99999999999", ""):
        write(folder + "/bus/event_source/devices/skx_iio_0/die0", text)
        machine = json.loads(run("--sysfs", folder, "topology", "--json").stdout)
        tap.ok([stack["bus"] for stack in machine["stacks"]] == ["0000:97"] and
               len(machine["links"]) == 2, "die0 with '%s' is left out" % text,
               [repr(machine["stacks"]), repr(machine["links"])])


def main():
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    with tempfile.TemporaryDirectory() as folder:
        for name in recordings():
            sysfs = os.path.join(folder, name)
            make_recorded(sysfs, name)
            test_examples(tap, name, sysfs)
        test_first_hour(tap, os.path.join(folder, "bus"))
        test_wrong(tap)
        test_large(tap, os.path.join(folder, "large"))
        test_stacks(tap, os.path.join(folder, "stacks"))
    tap.end()


if __name__ == "__main__":
    main()
