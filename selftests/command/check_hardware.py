#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore check --hardware" on correct and on faulty simulated hardware. The rates of
samples and interrupts depend on this machine, so the test only requires that they are
checked.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import comments, is_refused, run  # noqa: E402
from lib.python.schema import (document_schema, errors_of,  # noqa: E402
                               python_with_jsonschema)
from lib.python.top import cpu_packages, dead_box  # noqa: E402
from lib.python.uncore import SIM, TOP, Machine, Tap, write  # noqa: E402

PATIENCE = 900      # seconds; a real machine needs half a minute
SUBJECTS = ("boxes", "clocks", "group reads", "sums", "filters", "coherent IO",
            "sampling", "interrupts", "memory")


def check_hardware(*arguments):
    return run("check", "--hardware", *arguments, timeout=PATIENCE)


def found(checks, subject):
    return [one for one in checks if one["subject"] == subject]


def play(scenario):
    """Set the event rates of a steady scenario. The simulator keeps the rates after the
    player has ended."""
    subprocess.run([os.path.join(TOP, "selftests/scenarios/play"), scenario],
                   check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def test_right(tap, report):
    """In a scenario the parts of each flow add up to the whole: no check is bad."""
    done = check_hardware("--json", "--report", report)
    checks = json.loads(done.stdout)["checks"] if done.stdout else []
    tap.ok([subject for subject in SUBJECTS if not found(checks, subject)] == [],
           "everything is looked at", comments(done))
    for subject in ("boxes", "group reads", "sums", "coherent IO"):
        tap.ok(all(one["verdict"] == "ok" for one in found(checks, subject)),
               "%s: as they must be" % subject,
               [repr(one) for one in found(checks, subject)])
    with open(report, encoding="utf-8") as file:
        text = file.read()
    told = json.loads(text)
    tap.ok(told["checks"] == checks, "the report has what was printed")
    if python_with_jsonschema():
        wrong = sum(errors_of(document_schema(),
                              [told, json.loads(done.stdout)]), [])
        tap.ok(not wrong, "both are as their schema has them", wrong)
    sizes = {"clocks": sum(sum(one["boxes"].values())
                           for one in told["sockets"]),
             "interrupts": sum(len(package) for package in cpu_packages())}
    tap.ok(len(told["sockets"]) == len(cpu_packages()) and
           all(len(told["measured"][what]) == size
               for what, size in sizes.items()),
           "and a number of each box and CPU",
           [repr(sizes), text[:600]])
    tap.ok(told["driver_state"]["parameters"] and "overflow_count" in
           told["driver_state"]["package0"] and any("PMUs" in line
                                              for line in told["log"]),
           "and the driver's statistics", [text[:2000]])
    host = os.uname().nodename
    tap.ok(len(host) < 3 or host not in text, "and no name of the host")


def test_units(tap):
    """Both IRP boxes count the same coherent requests; then neither counts any."""
    boxes = ["pkg=%d box=irp_%d event=0x16 umask=0x02" % (package, unit)
             for package in range(len(cpu_packages())) for unit in (0, 1)]
    for rate, verdict, word in (("0.01", "bad", "counted twice"),
                                ("0", "note", "nothing to see")):
        for box in boxes:
            write(SIM + "rates", "%s rate=%s" % (box, rate))
        done = check_hardware("--json")
        units = found(json.loads(done.stdout)["checks"], "coherent IO")
        tap.ok(len(units) == len(cpu_packages()) and
               all(one["verdict"] == verdict and word in one["finding"]
                   for one in units),
               "a rate of %s in both units: %s" % (rate, word),
               [repr(one) for one in units])


def test_wrong(tap):
    """Faulty hardware: each event has the simulator's own waveform, so parts exceed the
    whole, and a box does not answer."""
    write(SIM + "rates", "off")
    write(SIM + "fault", dead_box(0, "imc_0"))
    done = check_hardware()
    tap.ok(done.returncode == 1 and
           "BAD   sums          hswep_ha_0" in done.stdout,
           "parts that are more than the whole are bad", comments(done))
    tap.ok("BAD" in done.stdout and "hswep_imc_0" in done.stdout,
           "a box that does not answer is named", comments(done))
    write(SIM + "fault", dead_box(0, "imc_0", False))


def test_still(tap):
    """The clocks of the boxes do not run."""
    write(SIM + "clock", "manual")
    done = check_hardware("--json")
    clocks = found(json.loads(done.stdout)["checks"], "clocks")
    tap.ok(done.returncode == 1 and clocks and
           all(one["verdict"] == "bad" and "does not run" in one["finding"]
               for one in clocks),
           "stopped clocks are bad, each of them", comments(done))


def test_refused(tap):
    for name, arguments, status, word in (
            ("a report of nothing", ("check", "--report", "/tmp/x"), 2,
             "--hardware"),
            ("a recorded machine", ("--sysfs", "/proc", "check", "--hardware"),
             2, "--hardware"),
            ("a report that cannot be written",
             ("check", "--hardware", "--report", "/nonexistent/x"), 1,
             "/nonexistent"),
    ):
        done = run(*arguments, timeout=PATIENCE)
        tap.ok(is_refused(done, word, status=status), name, comments(done))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder, Machine(tap, clock="real"):
        play("stream")
        test_right(tap, os.path.join(folder, "report"))
        test_units(tap)
        test_wrong(tap)
        test_still(tap)
        test_refused(tap)
    done = run("check", "--hardware")
    tap.ok(is_refused(done, "uncore check"), "no driver", comments(done))
    tap.end()


if __name__ == "__main__":
    main()
