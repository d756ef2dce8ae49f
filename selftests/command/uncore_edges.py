#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test failures during a run of the uncore command: readers that close the pipe, signals at
any moment, full disks, a missing /proc, and files of samples that are truncated or have
another format. No uncore PMU is needed: the tests use software events of the kernel.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (EVENT, LIMIT, UNCORE, comments,  # noqa: E402
                                is_refused, on_terminal, run, started, visible)
from lib.python.uncore import Tap  # noqa: E402

RECORD = ("record", "-e", EVENT, "-c", "1")
# Warnings that uncore prints on a machine without a driver, which tests ignore.
NO_DRIVER = "uncore: no uncore driver is loaded ('uncore check' says what to " \
    "do)\n"
NO_NAMES = "uncore: no uncore driver is loaded: this is the catalogue of " \
    "Haswell-EP/EX ('uncore check' says what to do)\n"


# --- readers that close the pipe ---------------------------------------------------

def test_pipes(tap, samples):
    for arguments in (("flamegraph", samples),
                      ("stat", "-e", EVENT, "-I", "20", "sleep", "1"),
                      ("stat", "-e", EVENT, "-I", "20", "--json"),
                      ("list", "--json"), ("check",), ("topology",),
                      ("--help",), ()):
        reader, writer = os.pipe()
        os.close(reader)
        result = run(*arguments, stdout=writer)
        os.close(writer)
        errors = result.stderr.replace(NO_DRIVER, "").replace(NO_NAMES, "")
        tap.ok(result.returncode in (1, -signal.SIGPIPE) and not errors,
               "uncore %s without a reader" % " ".join(arguments[:2]),
               comments(result))
    result = run("stat", "-e", EVENT, "sh", "-c", "kill -PIPE $$")
    tap.ok(result.returncode == 128 + signal.SIGPIPE,
           "the command itself has SIGPIPE as ever", comments(result))


# --- interrupts ----------------------------------------------------------------------

def interrupted(number, wait, *arguments):
    """Run uncore and send it a signal after @wait seconds. Return the ended process."""
    with started([UNCORE, *arguments], stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, encoding="utf-8") as process:
        time.sleep(wait)
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def test_interrupts(tap):
    choose = random.Random(1)
    wrong, summaries = [], 0
    for i in range(24):
        number = choose.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        result = interrupted(number, choose.uniform(0, 0.4), "stat", "-e", EVENT,
                             "--json", "-I", "20", "sleep", "100")
        last = result.stdout.splitlines()[-1:]
        summaries += bool(last)
        # a signal before the first interval: uncore has printed nothing
        if result.returncode != -number or result.stderr or \
                (last and not json.loads(last[0])["total"]):
            wrong += ["signal %d" % number, *comments(result)]
    tap.ok(not wrong and summaries,
           "stat is interrupted at any moment: with its summary", wrong)


# --- full disks ------------------------------------------------------------------------

def in_namespace(script, *arguments):
    """Run a shell script in a new mount namespace."""
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "-",
                           *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace", check=False, timeout=LIMIT)


def may_mount(folder):
    """Return whether this user may mount in a new mount namespace."""
    return not in_namespace('mount -t tmpfs none "$1"', folder).returncode


def test_full_disk(tap, samples):
    for arguments in (("flamegraph", samples), ("topology",), ()):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = run(*arguments, stdout=full)
        result.stderr = result.stderr.replace(NO_DRIVER, "")
        tap.ok(is_refused(result, "No space left"),
               "uncore %s > /dev/full" % " ".join(arguments), comments(result))
    result = run("flamegraph", samples, "-o", "/dev/full")
    tap.ok(is_refused(result, "/dev/full: No space left"),
           "flamegraph -o /dev/full", comments(result))


# --- without /proc -------------------------------------------------------------------

def test_no_proc(tap):
    for arguments in (["list"], ["topology"], []):
        result = in_namespace('mount -t tmpfs none /proc && exec "$@"', UNCORE,
                              *arguments)
        tap.ok((result.returncode == 0 and result.stdout + result.stderr) or
               is_refused(result),
               "uncore %s without /proc" % " ".join(arguments), comments(result))


# --- names of tasks, and files of samples --------------------------------------------

def test_task_names(tap, folder):
    """Control characters and semicolons in a task's name are replaced: the name cannot
    forge a stack or a line, nor control the terminal."""
    path = os.path.join(folder, "names")
    names = ("init;main", "x 1\ny", "\x1b[2Jred")
    script = "import ctypes\nfor name in %r:\n" \
        "    ctypes.CDLL(None).prctl(15, name.encode())\n" \
        "    ctypes.CDLL(None).mmap.restype = ctypes.c_void_p\n" \
        "    bytearray(1 << 24)\n" % (names,)
    result = run(*RECORD, "-o", path, sys.executable, "-c", script)
    drawn = run("flamegraph", path)
    shown = set(re.findall(r'data-n="([^"]*)"', drawn.stdout))
    tap.ok(result.returncode == 0 and drawn.returncode == 0 and
           {"init:main", "y", "?[2Jred"} <= shown and
           not re.search(r"[\0-\x08\x0e-\x1f]", drawn.stdout),
           "flamegraph: tasks with control characters and semicolons in their "
           "names", sorted(shown)[:20] + comments(result) + [drawn.stderr])


def test_bad_stacks(tap, folder):
    """Lines that are not stacks are skipped and counted."""
    path = os.path.join(folder, "stacks")
    for text, skipped in (("a;b 1\nno count\n\nb 2.5\n", 1),
                          ("a;b 1\r\n x\n" + "c -1\n 7\n", 3),
                          ("a 18446744073709551615\na 18446744073709551615\n",
                           0)):
        with open(path, "w", encoding="ascii", newline="") as file:
            file.write(text)
        result = run("flamegraph", path)
        note = re.search(r"^uncore: (\d+) lines? (?:is|are) not .*skipped$",
                         result.stderr)
        tap.ok(result.returncode == 0 and ">a" in result.stdout and
               "nan" not in result.stdout and
               (int(note.group(1)) if note else 0) == skipped and
               len(result.stderr.splitlines()) == bool(skipped),
               "flamegraph: %d lines of %r are skipped" % (skipped, text[:20]),
               [result.stderr, result.stdout[-200:]])


def test_event_names(tap, folder):
    """flamegraph draws one event: of a file with two events, -e must choose one."""
    path = os.path.join(folder, "names.data")
    run("record", "-c", "1", "-o", path, "-e", "page-faults", "-e",
        "context-switches", "ls", "-lR", "/etc")
    for arguments, words in ((("-e", "page"), ("no event 'page'",)), ((), ())):
        result = run("flamegraph", *arguments, path)
        tap.ok(is_refused(result, "choose one event", "context-switches",
                          "page-faults", *words),
               "flamegraph %s: two events" % " ".join(arguments),
               comments(result))
    result = run("flamegraph", "-e", "page-faults", path)
    tap.ok(result.returncode == 0 and 'data-n="ls"' in result.stdout,
           "flamegraph -e", comments(result)[:5])


def test_bad_files(tap, folder, samples):
    with open(samples, "rb") as file:
        whole = file.read()
    path = os.path.join(folder, "bad")

    def read(content):
        with open(path, "wb") as file:
            file.write(content)
        return run("flamegraph", path)

    wrong = []
    for size in range(8, len(whole) // 2, len(whole) // 20):
        result = read(whole[:size])
        if not is_refused(result, path):
            wrong += ["the first %d bytes" % size, *comments(result)[:5]]
    tap.ok(not wrong, "flamegraph: a file that is cut off", wrong)
    wrong = []
    for name, content in (
            ("nothing", b""), ("zeros", bytes(4096)),
            ("text", b"PERFILE3" + b"x" * 4000),
            ("a program", open(sys.executable, "rb").read(100000))):
        result = read(content)
        if not is_refused(result, path):
            wrong += [name, *comments(result)[:5]]
    for wrong_path in (folder, "/dev/null", path + "/there", path + ".none"):
        result = run("flamegraph", wrong_path)
        if not is_refused(result, wrong_path):
            wrong += [wrong_path, *comments(result)[:5]]
    with open(path, "wb") as file:
        file.write(b"a;b 1")
        file.truncate(4 << 30)
    result = run("flamegraph", path, before=["prlimit", "--as=%d" % (6 << 30),
                                             "--data=%d" % (1 << 28)])
    if not is_refused(result, path):
        wrong += ["4 GiB of nothing", *comments(result)[:5]]
    tap.ok(not wrong, "flamegraph: not a file of samples", wrong)


def test_narrow(tap):
    for columns in (1, 2, 30):
        for arguments in (["check"], ["topology"], ["list", "-v", "pcu"]):
            _, shown = on_terminal(columns, *arguments)
            wide = [line for line in shown.split("\n")
                    if len(visible(line)) > columns]
            tap.ok(shown and not wide, "uncore %s on %d columns" %
                   (" ".join(arguments[:2]), columns), wide)


def main():
    # The parent process may ignore these signals, as nohup and shells do.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    folder = tempfile.mkdtemp()
    samples = os.path.join(folder, "samples")
    if run(*RECORD, "-o", samples, "ls", "-lR", "/etc").returncode:
        tap.skip_all("this user may not record " + EVENT)
    test_pipes(tap, samples)
    test_interrupts(tap)
    test_full_disk(tap, samples)
    if may_mount(folder):
        test_no_proc(tap)
    else:
        tap.say("no mount namespaces here: no /proc is left out")
    test_task_names(tap, folder)
    test_bad_stacks(tap, folder)
    test_event_names(tap, folder)
    test_bad_files(tap, folder, samples)
    test_narrow(tap)
    shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
