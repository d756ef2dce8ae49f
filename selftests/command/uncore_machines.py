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
                                 recordings, write)
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
               if box in boxes and not any(word in one for one in shown)]
    # Opening the counters fails, as this host lacks the recorded PMUs. Only the messages
    # of the planning before are checked.
    for example in shown if boxes else ():
        done = run("--sysfs", sysfs, *example.split(), "true")
        if example.startswith(("metric", "stat")) and \
                re.search("has no|no PMU|no metric|no set", done.stderr):
            wrong += [example, *comments(done)]
    tap.ok(len(shown) >= 7 and not wrong and not missing and
           (boxes or len(shown) == 8),
           "bare uncore on %s: examples that its boxes can answer" % name,
           wrong + ["none for " + one for one in missing] + shown)


def test_first_hour(tap, bus):
    make_pmu(bus, name="xeon7100_fsb")
    write(bus + "/devices/system/cpu/modalias",
          "cpu:type:x86,ven0000fam000Fmod0006:feature:,0000")
    done = run("--sysfs", bus)
    tap.ok(done.returncode == 0 and "uncore metric bus" in done.stdout and
           not re.search("memory|imc|qpi|llc", done.stdout),
           "bare uncore of a machine with a front-side bus: its own examples",
           comments(done))
    done = run()
    lines = done.stdout.splitlines()
    tap.ok(done.returncode == 0 and len(lines) == 10 and
           sum(line.startswith("uncore ") for line in lines) >= 8,
           "bare uncore: ten lines, with examples", comments(done))
    for line in lines:
        example = line.split("  ")[0].split()
        if example[0] == "uncore" and example[1] not in ("SUBCOMMAND", "top"):
            parsed = run(*example[1:], "--help") if "ls" not in example else done
            tap.ok(parsed.returncode == 0, " ".join(example) + " is understood",
                   comments(parsed))

    commands = run("__complete", "").stdout.split()
    for command in commands:
        done = run(command, "--help")
        found = re.findall(r"^  uncore %s\b" % command, done.stdout, re.M)
        found += re.findall(r"\| uncore %s\b" % command, done.stdout)
        odd = re.findall(r".*(?:\bU?INT\b|\bFLOAT\b|\bTEXT\b| in \[|:\{).*",
                         done.stdout)
        tap.ok(done.returncode == 0 and len(found) >= 2 and not odd,
               "uncore %s --help: for people, with two examples" % command,
               odd + done.stdout.splitlines())

    done = run("stat", "-M", "mem_bw_raeds")
    tap.ok(done.returncode == 1 and "mem_bw_reads" in done.stderr,
           "a metric's wrong name: the nearest one", comments(done))
    done = run("metric", "memroy")
    tap.ok(done.returncode == 2 and "did you mean memory" in done.stderr,
           "a set's wrong name: the nearest one", comments(done))
    for name in ("a", "oi"):
        done = run("metric", name)
        tap.ok(done.returncode == 2 and "no set of metrics '%s'; there are" % name in
               done.stderr, "no name is near one of %d letters" % len(name),
               comments(done))
    for words in ("groups",), ("metrics", "memory"):
        done = run("list", *words)
        tap.ok(re.search("^Groups of metrics\n(?:  .*\n)*  memory +How busy is memory",
                         done.stdout, re.M),
               "list %s: groups with their questions" % " ".join(words),
               comments(done))
    done = run("list", "groups", "--machine", "xeon7100")
    tap.ok(re.findall(r"^  (\w+)", done.stdout, re.M) == ["bus"],
           "list groups: those of the generation", comments(done))
    done = run("list", "cas_count.rd_reg")
    tap.ok(re.search(r"^  imc/cas_count\.rd_reg/ +\w+", done.stdout, re.M),
           "list has descriptions", comments(done))


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
        done = run("list", *words)
        tap.ok(is_refused(done, "nothing matches '%s'" % " ".join(words), remedy),
               "list %s: nothing, and what to do" % " ".join(words), comments(done))
    usage = re.findall(r"^Usage: (.*)", run("metric", "--help").stdout, re.M)
    tap.ok(usage == ["uncore metric [OPTIONS] set [command...]"],
           "metric --help: the set is not optional", usage)
    for option, value in (("-d", "nan"), ("-d", "inf"), ("-d", "-nan"), ("-d", "-1"),
                          ("-d", ""), ("-d", "5x"), ("-d", "1e10"), ("-I", "0"),
                          ("-I", "-1"), ("-I", "1.5"), ("-I", "nan"),
                          ("-I", "18446744073709551617")):
        done = run("stat", "-e", "page-faults", option, value, "true")
        tap.ok(is_refused(done, "invalid value '%s' (expected " % value, status=2),
               "stat %s '%s'" % (option, value), comments(done))


# --- a large machine -----------------------------------------------------------------

def test_large(tap, folder):
    boxes = make_large(folder)
    done = run("--sysfs", folder)
    tap.ok(done.returncode == 0 and "8 sockets and %d boxes" % boxes in
           done.stdout, "a machine of 8 sockets with 60 boxes each",
           comments(done))
    done = run("--sysfs", folder, "topology", "--json")
    machine = json.loads(done.stdout) if done.returncode == 0 else {}
    tap.ok(len(machine.get("sockets", [])) == 8 and
           sum(len(pmu["cpus"]) for pmu in machine["pmus"]) == boxes,
           "its topology", comments(done)[:5])
    done = run("--sysfs", folder, "list", "--json")
    known = json.loads(done.stdout) if done.returncode == 0 else {}
    tap.ok(known.get("events") and
           all(event["usable"] for event in known["events"]),
           "all events can be counted there", comments(done)[:5])
    # Planning for all boxes succeeds. Only opening the counters fails, as this host has
    # no such PMU.
    for arguments in (["stat", "-M", "mem_bw_total", "--per-box", "true"],
                      ["metric", "ring", "--all", "true"],
                      ["stat", "-e", "{cbox/tor_inserts.opcode,filter_opc=drd/,"
                       "cbox/clockticks/},qpi/clockticks/", "true"],
                      ["top", "--once"]):
        done = run("--sysfs", folder, *arguments)
        tap.ok(is_refused(done, "this machine does not count"),
               "uncore %s is planned for %d boxes" % (
                   " ".join(arguments[:3]), boxes), comments(done))


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
    tap.end()


if __name__ == "__main__":
    main()
