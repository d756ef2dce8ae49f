# SPDX-License-Identifier: GPL-2.0-or-later
"""uncore serve on processors without a driver, and while the driver is loaded and
unloaded: a part of uncore_serve.py, which runs these tests."""

import contextlib
import os
import shutil
import signal

from lib.python.command import one_line, run
from lib.python.exposition import Daemon, up, value
from lib.python.fake_pmu import PMU, make_pmu, write


def reasons(samples):
    """Return the reasons of uncore_down_info, of samples in which uncore_up is 0."""
    assert up(samples) == 0
    return [dict(labels)["reason"] for name, labels in samples
            if name == "uncore_down_info"]


# Of a processor: its modalias, the reason in uncore_down_info, and the status of
# /readyz, which is 503 only where a driver could still be loaded.
PROCESSORS = (("ven0002fam0019mod0001", "unsupported", 200),
              ("ven0000fam0006mod0055", "unsupported", 200),
              ("ven0000fam0006mod003F", "no_driver", 503))


def test_processors(tap, folder):
    """/readyz answers 200 on an unsupported processor, as no driver can be loaded
    there."""
    for modalias, reason, status in PROCESSORS:
        sysfs = os.path.join(folder, modalias)
        write(sysfs + "/devices/system/cpu/online", "0")
        write(sysfs + "/devices/system/cpu/modalias",
              "cpu:type:x86,%s:feature:" % modalias)
        os.makedirs(sysfs + "/bus/event_source/devices")
        with Daemon("--sysfs", sysfs, "serve") as daemon:
            got = reasons(daemon.fresh()), daemon.request("/readyz")[0]
            tap.ok(got == ([reason], status), "%s: %s, and /readyz says %d" %
                   (modalias, reason, status), [repr(got)])
            daemon.end()
        one_line(tap, "%s: --json fails" % modalias,
                 run("--sysfs", sysfs, "serve", "--json"), 1,
                 "not supported" if reason == "unsupported" else "no uncore driver",
                 "uncore check")


def clock_cycles(samples):
    """Return the counter of a memory channel's clock, or None."""
    return value(samples, "uncore_memory_clock_cycles_total", socket="0",
                 channel="0")


def test_late_driver(tap, folder):
    """uncore serve starts before the driver is loaded."""
    sysfs = os.path.join(folder, "no-driver")
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        none = daemon.fresh()
        answers = [daemon.request(path)[0]
                   for path in ("/readyz", "/livez", "/")]
        tap.ok(up(none) == 0 and clock_cycles(none) is None and
               [dict(labels)["reason"] for name, labels in none
                if name == "uncore_down_info"] == ["no_driver"] and
               answers == [503, 200, 200],
               "without a driver it runs, is not up and says why",
               [repr(none), repr(answers)])
        make_pmu(sysfs)
        loaded = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(clock_cycles(loaded) is not None and
               daemon.request("/readyz")[0] == 200,
               "when the driver comes, it is", [repr(loaded)])
        status, output = daemon.end()
        tap.ok(status == 0, "SIGTERM ends it", ["status %d" % status, output])


def test_driver(tap, sysfs):
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        before = daemon.wait_for(clock_cycles)
        errors = value(before, "uncore_read_errors_total")
        os.rename(os.path.join(sysfs, PMU), os.path.join(sysfs, "aside"))
        down = daemon.wait_for(lambda now: up(now) == 0)
        tap.ok(up(down) == 0 and clock_cycles(down) is None and
               value(down, "uncore_read_errors_total") > errors,
               "without PMUs: not up, no series, and an error more",
               [repr(down)])
        answers = [daemon.request(path) for path in ("/readyz", "/livez",
                                                     "/healthz")]
        tap.ok([answer[0] for answer in answers] == [503, 200, 200] and
               "no uncore driver" in answers[0][2],
               "it lives, and is not ready: /readyz says why",
               [repr(answer) for answer in answers])
        make_pmu(sysfs, package=False)
        back = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(clock_cycles(before) > 0 and
               (clock_cycles(back) or 0) >= clock_cycles(before) and
               value(back, "uncore_opens_total") == 2,
               "when they are back, counts continue", [repr(back)])
        shutil.rmtree(os.path.join(sysfs, "aside"))

        daemon.send(signal.SIGUSR1)
        down = daemon.wait_for(lambda now: up(now) == 0)
        tap.ok(up(down) == 0 and clock_cycles(down) is None,
               "SIGUSR1: the counters are released", [repr(down)])
        links, fds = [], "/proc/%d/fd/" % daemon.process.pid
        for fd in os.listdir(fds):
            with contextlib.suppress(OSError):      # the daemon has closed this fd
                links.append(os.readlink(fds + fd))
        tap.ok(not [link for link in links if "perf" in link],
               "and nothing keeps the driver", links)
        still = daemon.fresh()
        tap.ok(up(still) == 0,
               "as long as the same driver is there")
        os.rename(os.path.join(sysfs, PMU), os.path.join(sysfs, "aside"))
        make_pmu(sysfs, package=False)
        again = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok((clock_cycles(again) or 0) >= clock_cycles(back),
               "with another one they are opened, and counts continue",
               [repr(again)])
        shutil.rmtree(os.path.join(sysfs, "aside"))
        daemon.send(signal.SIGUSR1)
        daemon.wait_for(lambda now: up(now) == 0)
        daemon.send(signal.SIGUSR2)
        last = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(up(last) == 1, "SIGUSR2 opens them as well")
        status, output = daemon.end()
        tap.ok(status == 0 and output.count("\n") < 10, "SIGTERM ends it",
               ["status %d" % status, *output.splitlines()])
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        daemon.send(signal.SIGHUP)
        tap.ok(up(daemon.fresh()) == 1,
               "SIGHUP does not end it")
        status, output = daemon.end(signal.SIGINT)
        tap.ok(status == -signal.SIGINT and not output,
               "SIGINT ends it as it ends others",
               ["status %d" % status, output])
