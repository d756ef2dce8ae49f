#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore diagnose" on the simulated hardware. In each scenario, and in each phase of
"mixed", the first finding is the planted cause; an idle machine has none. In random mixtures
the largest cause is among the first two findings. Then the output for people, commands that
end early, a dead box, a user without permission, and no driver.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.schema import check_documents  # noqa: E402
from lib.python.top import dead_box  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import GENERATION, SIM, Machine, Tap, most_sockets, write  # noqa: E402
from scenarios import causes, generations, player  # noqa: E402

PLANTED = {"stream": "memory bandwidth", "numa": "remote memory",
           "latency": "LLC misses", "io": "device traffic", "idle": None}
# Few slices of the LLC: counting takes little time on an emulated machine.
MESH = generations.load(GENERATION).mesh
SIZE = ["%s=%d" % item for item in causes.parameters(GENERATION).items()] + \
    ["boxes=cha:4" if MESH else "cboxes=4"]
SECONDS = "4"
MIXTURES, SEED = 20, 48
SINGLE = most_sockets() == 1        # no remote memory
# The metrics of the TOR here do not tell remote from local memory.
NO_REMOTE = SINGLE or GENERATION == "snbep"


def diagnose(*options, command=()):
    return Uncore("diagnose", "--json", *(() if command else ("-d", SECONDS)), *options,
                  command=command)


def names_of(run):
    """The findings of a run, the most important first."""
    return [finding["finding"] for finding in run.json()["findings"]] \
        if run.status == 0 else run.comments()


def rules_of(run):
    """The rules in a document, each in one of its lists."""
    document = run.json()
    return sorted(rule["finding"] for part in ("findings", "no_finding", "not_judged",
                                               "left_out") for rule in document[part])


def explained(run):
    """Comments on a run: the importance and the values of each rule."""
    if run.status:
        return run.comments()
    document = run.json()
    return ["%s %.3g %s" % (rule["finding"], rule["importance"], rule["values"])
            for rule in document["findings"] + document["no_finding"]]


def is_right(scenario, names):
    """Is the first finding the planted cause?"""
    return names[:1] == [PLANTED[scenario]] if PLANTED[scenario] else not names


def test_scenarios(tap, scenes):
    """Check the first finding of each scene, a scenario with a time."""
    for title, scenario, moment in scenes:
        play, hardware = player.start("idle")
        play.show(hardware, title.split()[0], moment)
        run = diagnose()
        names = names_of(run)
        tap.ok(is_right(scenario, names), "%s: %s" % (
            title, PLANTED[scenario] or "no finding"), explained(run))
        if scenario == "stream" and run.status == 0:
            test_numbers(tap, run.json())


def test_numbers(tap, document):
    """The numbers of the finding are those of the scenario's causes."""
    finding = document["findings"][0]
    want = [100 * (c.reads + c.writes + c.streamed) / causes.PEAK
            for c in causes.STEADY["stream"]][:1 if SINGLE else 2]
    got = [place["value"] for place in finding["values"]]
    tap.ok(len(got) == len(want) and
           all(abs(a / b - 1) < 0.1 for a, b in zip(got, want)) and
           finding["limits"] and finding["sure"] and
           [place["socket"] for place in finding["values"]] == list(range(len(want))) and
           {number["metric"] for number in finding["numbers"]} ==
           {"mem_bw_reads_rate", "mem_bw_writes_rate"},
           "stream: the use of each socket's memory", [repr(finding), repr(want)])


def scenes():
    """(title, scenario, seconds) of each scenario and of each phase of mixed."""
    for name in causes.STEADY:
        if name != "numa" or not NO_REMOTE:
            yield name, name, 0
    start = 0
    for seconds, name in causes.MIXED:
        if name != "numa" or not NO_REMOTE:
            yield "mixed at %d s" % (start + seconds / 2), name, start + seconds / 2
        start += seconds


def test_mixtures(tap):
    play, hardware = player.start("idle")
    wrong, done = [], 0
    for largest, shares, sockets in causes.mixtures(SEED):
        if largest == "numa" and NO_REMOTE:
            continue
        play.show_causes(hardware, sockets[:hardware.packages])
        names = names_of(diagnose())
        if PLANTED[largest] not in names[:2]:
            wrong.append("%s: %s" % (shares, names))
        done += 1
        if done == MIXTURES:
            break
    tap.ok(not wrong, "the largest cause of each of %d mixtures is among the first two" %
           done, wrong)


def test_people(tap):
    """The text, and the command that each finding recommends."""
    player.start("latency")
    run = Uncore("diagnose", "-v", "-d", SECONDS)
    for line in run.out.splitlines():
        tap.say(line)
    words = ("1. LLC misses limits: ", "values  socket 0: ", "of the time; reported from",
             "helps   ", "No finding:", "Left out:")
    tap.ok(run.status == 0 and all(word in run.out for word in words) and not run.err,
           "the findings for people", run.comments())
    looks = {line.split(None, 1)[1] for line in run.out.splitlines()
             if line.startswith("   look ")}
    failed = []
    for look in looks:
        program, *arguments = look.split()
        once = ("--once", "-I", "300") if arguments[0] == "top" else ("-d", "0.1")
        tried = Uncore(*arguments, *once)
        if program != "uncore" or tried.status:
            failed += [look, *tried.comments()]
    tap.ok(looks and not failed, "the recommended commands work", failed)
    check_documents(tap, [("diagnose", "--json", "-d", SECONDS)])
    player.start("idle")
    run = Uncore("diagnose", "-d", SECONDS)
    tap.ok(run.status == 0 and "Nothing stands out; looked at " in run.out and
           "memory bandwidth 0." in run.out, "idle: what was looked at", run.comments())


def test_neighbour(tap):
    """Another program has all counters but one of each memory channel: each rule is judged,
    or is named as not judged."""
    player.start("stream")
    alone = diagnose()
    events = ",".join("%s_imc/event=0x%02x/D" % (GENERATION, code) for code in (1, 2, 9))
    neighbour = subprocess.Popen(["perf", "stat", "-a", "-e", events, "sleep", "1000"],
                                 stderr=subprocess.PIPE, text=True)
    beside = diagnose()
    short = Uncore("diagnose", "-v", "-d", "0.5")
    is_counting = neighbour.poll() is None
    subprocess.run(["pkill", "-P", str(neighbour.pid)], check=False)
    said = neighbour.communicate()[1].splitlines()
    tap.ok(is_counting and names_of(beside)[:1] == [PLANTED["stream"]],
           "beside a program that has most counters: the planted cause",
           [*said, *names_of(beside), *explained(beside)])
    tap.ok(rules_of(alone) == rules_of(beside) and
           len(set(rules_of(beside))) == len(rules_of(beside)) > 8,
           "and each rule is in one list", [*rules_of(alone), "-", *rules_of(beside)])
    tap.ok(short.status == 0 and short.out.startswith("Counted ") or
           "too short" in short.err or "too soon" in short.err,
           "half a second beside it: an answer, or one line", short.comments())


def is_line(run, status, *words):
    return run.status == status and not run.out and len(run.err.splitlines()) == 1 and \
        all(word in run.err for word in words)


def test_commands(tap):
    player.start("stream")
    run = diagnose(command=("sh", "-c", "sleep %s; exit 3" % SECONDS))
    tap.ok(run.status == 3 and
           run.json()["findings"][0]["finding"] == PLANTED["stream"],
           "while a command runs, whose status it returns", run.comments())
    for command in (("true",), ("sh", "-c", "exit 3")):
        run = diagnose(command=command)
        tap.ok(is_line(run, 1, "'%s' ended after" % command[0], "repeat it"),
               "a command that ends at once", run.comments())
    run = Uncore("diagnose", "-d", "0.001")
    told = re.match(r"uncore: (\S+) s are too short for .*\(-d (\S+)\)$", run.err)
    tap.ok(is_line(run, 1, "too short") and told and float(told[2]) > float(told[1]),
           "a time that is too short: a longer one", run.comments())
    run = diagnose(command=("/none",))
    tap.ok(is_line(run, 127, "/none"), "a command that does not exist", run.comments())


def test_dead(tap):
    """A box that does not answer is named; the others are counted."""
    player.start("stream")
    write(SIM + "fault", dead_box(0, "imc_2"))
    run = diagnose()
    write(SIM + "fault", dead_box(0, "imc_2", dead=False))
    tap.ok(names_of(run)[:1] == [PLANTED["stream"]] and
           "imc_2 of socket 0 does not answer" in run.err and
           len(run.err.splitlines()) == 1, "a dead box: one line", run.comments())


def test_permission(tap):
    """A user without permission gets the kernel's setting."""
    knob = "/proc/sys/kernel/perf_event_paranoid"
    with open(knob, encoding="ascii") as file:
        before = file.read()
    write(knob, "2")
    run = Uncore("diagnose", around=(
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"))
    write(knob, before)
    tap.ok(is_line(run, 1, "perf_event_paranoid"), "no permission", run.comments())


def main():
    tap = Tap()
    with Machine(tap, clock="real", sim=SIZE):
        test_scenarios(tap, scenes())
        test_mixtures(tap)
        test_people(tap)
        test_commands(tap)
        test_permission(tap)
        test_neighbour(tap)
        test_dead(tap)      # the driver gives the box up for good
    run = Uncore("diagnose")
    tap.ok(is_line(run, 1, "uncore check"), "no driver", run.comments())
    tap.end()


if __name__ == "__main__":
    main()
