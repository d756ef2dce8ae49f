#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check that selftests/runner/check counts results, and fails if a test fails, ends early,
prints fewer results than planned, or skips a result that skips.list does not have. The
tests are lines of TAP or of GoogleTest and an exit status. Runs on the host.
"""

import contextlib
import csv
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import TOP, Tap  # noqa: E402

OLD, NEW = "6.1.0-1-amd64", "6.12.7+deb13-amd64"    # no test boots these kernels

# Name of a test: lines that it prints, exit status (negative: signal), and its numbers of
# passed, failed and skipped results in results.tsv; of a bad test also a part of the
# message in the list of failures.
GOOD = {
    "good": (["ok 1 - a", "ok 2 - b", "1..2"], 0, (2, 0, 0)),
    "googletest": (["[==========] Running 2 tests from 1 test suite.",
                    "[ RUN      ] A.one", "[       OK ] A.one (0 ms)",
                    "[ RUN      ] A.two", "[       OK ] A.two (12 ms)",
                    "[==========] 2 tests from 1 test suite ran. (12 ms total)",
                    "[  PASSED  ] 2 tests."], 0, (2, 0, 0)),
    "skips-listed": (["ok 1 - a", "ok 2 - box: late # SKIP no such box",
                      "ok 3 - port 1: late # SKIP no such box", "1..3"],
                     0, (1, 0, 2)),
    "skips-here": (["ok 1 - a", "ok 2 - any # SKIP tool is not installed", "1..2"],
                   0, (1, 0, 1)),
    "harness-skips": (["1..2", "#  RUN           global.early ...",
                       "#            OK  global.early", "ok 1 global.early",
                       "#  RUN           box.late ...", "#      SKIP      no such box",
                       "#            OK  box.late", "ok 2 # SKIP no such box"],
                      0, (1, 0, 1)),
    "whole-listed": (["1..0 # SKIP no such machine"], 4, (0, 0, 1)),
    "googletest-skips": (["[==========] Running 2 tests from 1 test suite.",
                          "[ RUN      ] A.one", "[       OK ] A.one (0 ms)",
                          "[ RUN      ] A.two", "a_test.cpp:7: Skipped",
                          "tool is not installed",
                          "[  SKIPPED ] A.two (0 ms)", "[  PASSED  ] 1 test.",
                          "[  SKIPPED ] 1 test, listed below:",
                          "[  SKIPPED ] A.two"], 0, (1, 0, 1)),
}

BAD = {
    "fails": (["ok 1 - a", "not ok 2 - b", "1..2"], 1, (1, 1, 0), "not ok 2 - b"),
    "not-ok-skip": (["ok 1 - a", "not ok 2 - b # SKIP tool is not installed",
                     "1..2"], 0, (1, 1, 0), "not ok 2 - b"),
    "says-nothing": ([], 0, (0, 1, 0), "no plan"),
    "no-plan": (["ok 1 - a", "ok 2 - b"], 0, (2, 1, 0), "no plan"),
    "too-few": (["1..3", "ok 1 - a"], 0, (1, 2, 0), "result 3 of 3 is missing"),
    "too-many": (["ok 1 - a", "ok 2 - b", "1..1"], 0, (2, 1, 0),
                 "2 results, but a plan for 1"),
    "plan-for-none": (["1..0"], 0, (0, 1, 0), "a plan for no results"),
    "bails-out": (["ok 1 - a", "Bail out! no more"], 1, (1, 1, 0),
                  "Bail out! no more"),
    "bad-status": (["ok 1 - a", "1..1"], 3, (1, 1, 0), "ended with status 3"),
    "skip-status": (["ok 1 - a", "1..1"], 4, (1, 1, 0), "ended with status 4"),
    "skips-silently": ([], 4, (0, 1, 0), "no plan"),
    "killed": (["ok 1 - a"], -9, (1, 1, 0), "ran out of time"),
    "crashed": (["ok 1 - a"], -11, (1, 1, 0), "ended by signal 11"),
    "googletest-early": (["[==========] Running 2 tests from 1 test suite.",
                          "[       OK ] A.one (0 ms)"], 0, (1, 1, 0),
                         "ended early: 1 of 2 tests"),
    "googletest-none": (["[==========] Running 0 tests from 0 test suites.",
                         "[  PASSED  ] 0 tests."], 0, (0, 1, 0),
                        "ended early: 0 of 0 tests"),
    "skips-another-result": (["ok 1 - a", "ok 2 - other # SKIP no such box", "1..2"], 0,
                       (1, 1, 0), "does not expect: other"),
    "skips-another-reason": (["ok 1 - a", "ok 2 - box: late # SKIP it did not open",
                        "1..2"], 0, (1, 1, 0),
                       "the reason that it gives: it did not open"),
    "harness-skips-another": (["1..2", "#  RUN           box.late ...",
                               "ok 1 box.late", "#  RUN           box.other ...",
                               "ok 2 # SKIP no such box"], 0, (1, 1, 0),
                              "does not expect: box.other"),
    "another-test": (["ok 1 - a", "ok 2 - box: late # SKIP no such box", "1..2"],
                     0, (1, 1, 0), "does not expect: box: late"),
    "whole-unlisted": (["1..0 # SKIP it is not built"], 4, (0, 1, 0),
                       "does not expect: the whole test"),
}

SKIPS = """
# a comment
skips-*	| {box,port [12]}: *	| no such box	| always	| hardware
harness-*	| box.late	| no such box	| always	| hardware
whole-listed	| the whole test	| no such *	| always	| a shape
*		| *	| *is not installed	| here	| a program
"""


class Runner:
    """Runs selftests/runner/check with made-up tests.list and skips.list."""

    def __init__(self, folder):
        self.folder = folder

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_list(self, tests):
        lines = []
        for name, (said, status, *_) in tests.items():
            path = self.file(name + ".said", "".join(
                line + "\n" for line in said))
            end = "exit %d" % status if status >= 0 else "kill %d $$" % status
            lines.append("%s | host | cat %s; %s\n" % (name, path, end))
        return self.file("tests.list", "".join(lines))

    def check(self, tests, skips=SKIPS, kernel=OLD, ci=""):
        return self.check_list(self.test_list(tests), kernel, ci,
                               "--skips", self.file("skips.list", skips))

    def check_list(self, path, kernel, ci, *arguments):
        """Run check. Return its output, its exit status and the rows of results.tsv."""
        logs = os.path.join(self.folder, "logs")
        done = subprocess.run(
            [os.path.join(TOP, "selftests", "runner", "check"), "--kernel", kernel,
             "--list", path, "--logs", logs, *arguments],
            env={**os.environ, "CI": ci}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", check=False)
        rows = {}
        with contextlib.suppress(FileNotFoundError), open(
                os.path.join(logs, "results.tsv"), encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                rows[row["test"]] = tuple(int(row[key]) for key in (
                    "passed", "failed", "skipped"))
        return done.stdout.splitlines(), done.returncode, rows


def test_good(tap, runner):
    said, status, rows = runner.check(GOOD)
    for name, (_, _, row) in GOOD.items():
        tap.ok(rows.get(name) == row, "%s is counted" % name,
               ["%s: %s" % (name, rows.get(name))])
    tap.ok(status == 0, "all is well", said)


def test_bad(tap, runner):
    said, status, rows = runner.check({**GOOD, **BAD})
    for name, (_, _, row, words) in BAD.items():
        text = [line for line in said if line.startswith(name + ": ")]
        tap.ok(rows.get(name) == row and any(words in line for line in text),
               "%s fails" % name, [repr(rows.get(name))] + text)
    tap.ok(all(rows.get(name) == row for name, (_, _, row) in GOOD.items()),
           "the others beside them do not", said)
    tap.ok(status == 1, "and so does the whole", said)
    for name in ("skips-another-result", "no-plan", "says-nothing"):
        said, status, _ = runner.check({**GOOD, name: BAD[name]})
        tap.ok(status == 1, "as with %s alone" % name, said)


def test_conditions(tap, runner):
    tests = {"boots": (["ok 1 - a", "ok 2 - b # SKIP CPU 0 stays", "1..2"], 0)}
    skips = "boots | b | CPU 0 stays | since 6.5 | there it does\n"
    for kernel, wanted in (("6.4.16", 1), ("6.5.0", 0), (NEW, 0)):
        said, status, _ = runner.check(tests, skips, kernel)
        tap.ok(status == wanted, "since 6.5, on %s" % kernel, said)
    for ci, wanted in (("", 0), ("true", 1)):
        said, status, _ = runner.check(tests, skips.replace("since 6.5", "tool"),
                                       ci=ci)
        tap.ok(status == wanted, "a missing tool, with CI=%s" % ci, said)
    said, status, _ = runner.check(tests, skips.replace("since 6.5", "debug"))
    tap.ok(status == 1, "not a kernel from a folder", said)


def test_limit(tap, runner):
    """A test that takes too long, on the host with a child, and one that stops the VM."""
    mark = os.path.join(runner.folder, "child")
    lines = ["waits | host | echo ok 1 - a; sh -c 'sleep 4; touch %s' & sleep 100" % mark,
             "after | host | sleep 2; echo ok 1 - b; echo 1..1"]
    kernel = os.environ.get("VM_KERNEL")
    wanted = {"waits": (1, 1, 0), "after": (1, 0, 0)}
    if kernel:      # $PPID is timeout; its parent is tap-run, which then ends no test
        lines.append("stops | --driver none --no-sim --sockets 1 --cores 1 | "
                     "echo ok 1 - c; kill -STOP $(ps -o ppid= $PPID); sleep 100")
        lines.append("behind | --driver none --no-sim --sockets 1 --cores 1 | true")
        wanted |= {"stops": (1, 1, 0), "behind": (0, 1, 0), "VM": (0, 1, 0)}
    said, status, rows = runner.check_list(
        runner.file("limit.list", "\n".join(lines) + "\n"), kernel or OLD, "",
        "--skips", os.devnull, "--limit", "3")
    tap.ok(status == 1 and rows == wanted, "tests that run out of time fail", said)
    tap.ok(not os.path.exists(mark), "their children end with them", said)
    if kernel:
        tap.ok(any("the guest hangs" in line for line in said),
               "a VM that does not respond is stopped", said)
    else:
        tap.skip("a VM that does not respond is stopped", "VM_KERNEL is not set")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder)
        test_good(tap, runner)
        test_bad(tap, runner)
        test_conditions(tap, runner)
        test_limit(tap, runner)
    tap.end()


if __name__ == "__main__":
    main()
