#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Early ends of the uncore command: readers that close the pipe, interrupts at any
moment, full disks, no /proc, tasks that live for a moment, and files of samples
that are cut off or not files of samples. Without PMUs, by kernel events.
"""

import contextlib
import ctypes
import glob
import http.server
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (EVENT, FLOOD, LIMIT, UNCORE, comments,  # noqa: E402
                                is_refused, on_terminal, run, started, visible)
from lib.python.uncore import Tap  # noqa: E402

IN_OPEN = 0x20          # of linux/inotify.h
RECORD = ("record", "-e", EVENT, "-c", "1")
# Warnings about this machine, beside the command's output.
NO_DRIVER = "uncore: no uncore driver is loaded ('uncore check' says what to " \
    "do)\n"
NO_NAMES = "uncore: no uncore driver is loaded: this is the catalogue of " \
    "Haswell-EP/EX ('uncore check' says what to do)\n"
# Samples of the whole machine may include a program whose file was removed, as in a
# folder that was mounted for a moment.
NO_FILES = re.compile("uncore: .* have no names\n")
# Processes that start all the time, and run for half a second.
STORM = """
import subprocess, sys, time
print("going", flush=True)
children, end = [], time.monotonic() + 60
while time.monotonic() < end and not sys.stdin.closed:
    children.append(subprocess.Popen(["sleep", "0.5"], stdin=subprocess.DEVNULL))
    time.sleep(0.005)
    children = [child for child in children if child.poll() is None]
"""


# --- readers that leave ------------------------------------------------------------

def test_pipes(tap, samples):
    folded = os.path.join(os.path.dirname(samples), "folded")
    run(*RECORD, "--folded", "-o", folded, "ls", "-lR", "/etc")
    for arguments in ((*RECORD, "--folded", "ls"),
                      ("report", "-i", samples, "--json"),
                      ("report", "-i", samples, "-n", "10000"),
                      ("flamegraph", folded),
                      ("stat", "-e", EVENT, "-I", "20", "sleep", "1"),
                      ("stat", "-e", EVENT, "-I", "20", "--json"),
                      ("list", "--json"), ("check",), ("topology",),
                      ("--help",), ()):
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*arguments, stdout=writer)
        os.close(writer)
        said = NO_FILES.sub("", done.stderr.replace(NO_DRIVER, "")
                            .replace(NO_NAMES, ""))
        tap.ok(done.returncode in (1, -signal.SIGPIPE) and not said,
               "uncore %s without a reader" % " ".join(arguments[:2]),
               comments(done))
    done = run(*RECORD, "-o", "/dev/stdout", "ls")
    tap.ok(is_refused(done, "/dev/stdout"), "a file of samples needs a file, not "
           "a pipe", [done.stderr])
    done = run("stat", "-e", EVENT, "sh", "-c", "kill -PIPE $$")
    tap.ok(done.returncode == 128 + signal.SIGPIPE,
           "the command itself has SIGPIPE as ever", comments(done))


# --- interrupts ----------------------------------------------------------------------

def interrupted(number, wait, *arguments):
    """Runs uncore and sends it a signal after some seconds."""
    with started([UNCORE, *arguments], stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, encoding="utf-8") as process:
        time.sleep(wait)
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def test_interrupts(tap, folder):
    choose = random.Random(1)
    wrong, whole = [], 0
    for i in range(24):
        number = choose.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        path = os.path.join(folder, "interrupted-%d" % i)
        done = interrupted(number, choose.uniform(0, 0.6), *RECORD, "-o", path,
                           "sleep", "100")
        left = glob.glob(path + "*")
        # at the very start the file does not exist yet
        good = done.returncode == -number and left in ([], [path])
        if left:
            whole += 1
            good = good and run("report", "-i", path).returncode == 0
        if not good:
            wrong += ["signal %d: %s" % (number, left), *comments(done)]
    tap.ok(not wrong and whole,
           "record is interrupted at any moment: a whole file, or none", wrong)
    wrong, summaries = [], 0
    for i in range(24):
        number = choose.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        done = interrupted(number, choose.uniform(0, 0.4), "stat", "-e", EVENT,
                           "--json", "-I", "20", "sleep", "100")
        last = done.stdout.splitlines()[-1:]
        summaries += bool(last)
        # at the very start nothing was counted yet
        if done.returncode != -number or done.stderr or \
                (last and not json.loads(last[0])["total"]):
            wrong += ["signal %d" % number, *comments(done)]
    tap.ok(not wrong and summaries,
           "stat is interrupted at any moment: with its summary", wrong)


# --- full disks ------------------------------------------------------------------------

def in_namespace(script, *arguments):
    """A shell script that may mount."""
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "-",
                           *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace", check=False, timeout=LIMIT)


def may_mount(folder):
    return not in_namespace('mount -t tmpfs none "$1"', folder).returncode


def test_full_disk(tap, folder, samples):
    small = os.path.join(folder, "small")
    os.mkdir(small)
    for arguments in ((*RECORD, "ls", "-lR", "/etc"),
                      (*RECORD, "-d", "100"),
                      (*RECORD, "--folded", "ls", "-lR", "/etc")):
        done = in_namespace(
            'mount -t tmpfs -o size=4k none "$1" && cd "$1" && shift && '
            'echo before > perf.data && command=$1 && shift && '
            '"$command" "$@" > /dev/null; status=$?; '
            'echo $(cat perf.data) $(ls); exit $status', small, UNCORE,
            arguments[0], "-o", "perf.data", *arguments[1:])
        tap.ok(is_refused(done, "No space left") and
               done.stdout == "before perf.data\n",
               "uncore %s: on a full disk all is as before" %
               " ".join(arguments), comments(done))
    for arguments in ((*RECORD, "-o", "/dev/full", "true"),
                      (*RECORD, "--folded", "-o", "/dev/full", "true")):
        done = run(*arguments)
        tap.ok(is_refused(done, "/dev/full: No space left"),
               "uncore %s" % " ".join(arguments), comments(done))
    for arguments in ((*RECORD, "--folded", "true"), ("report", "-i", samples),
                      ("report", "-i", samples, "--json"), ("topology",), ()):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = run(*arguments, stdout=full)
        done.stderr = NO_FILES.sub("", done.stderr.replace(NO_DRIVER, ""))
        tap.ok(is_refused(done, "No space left"),
               "uncore %s > /dev/full" % " ".join(arguments), comments(done))


# --- no /proc ----------------------------------------------------------------------------

def test_no_proc(tap, folder, samples):
    path = os.path.join(folder, "no-proc")
    for arguments in (["report", "-i", samples], ["list"], ["topology"], [],
                      [*RECORD, "-o", path, "true"], ["report", "-i", path],
                      [*RECORD, "--folded", "true"]):
        done = in_namespace('mount -t tmpfs none /proc && exec "$@"', UNCORE,
                            *arguments)
        tap.ok((done.returncode == 0 and done.stdout + done.stderr) or
               is_refused(done),
               "uncore %s without /proc" % " ".join(arguments), comments(done))


# --- tasks that live for a moment ------------------------------------------------------------

def test_short_lived(tap, folder):
    """
    All processes have names, also those that start and end during the run.
    """
    path = os.path.join(folder, "storm")
    wrong = []
    for _ in range(5):
        with started([sys.executable, "-c", STORM], stdout=subprocess.PIPE,
                     stdin=subprocess.DEVNULL) as storm:
            storm.stdout.readline()
            done = run("record", "-e", "context-switches", "-c", "1", "-d",
                       "0.8", "-o", path)
            storm.kill()
        report = run("report", "-i", path, "--json", "-n", "1000000")
        if done.returncode not in (0, 3) or report.returncode:
            wrong += comments(done) + comments(report)
            continue
        facts = json.loads(report.stdout)
        # lost records may include a name
        if facts["lost"]:
            continue
        wrong += [repr(task) for task in facts["tasks"]
                  if task["pid"] and not task["command"]]
    tap.ok(not wrong, "tasks that start while record does have names", wrong)


# --- names that other users choose ---------------------------------------------------------------

def test_task_names(tap, folder):
    """A task's name forges neither stacks nor lines, and controls no terminal."""
    path = os.path.join(folder, "names")
    names = ("init;main", "x 1\ny", "\x1b[2Jred")
    script = "import ctypes\nfor name in %r:\n" \
        "    ctypes.CDLL(None).prctl(15, name.encode())\n" \
        "    ctypes.CDLL(None).mmap.restype = ctypes.c_void_p\n" \
        "    bytearray(1 << 24)\n" % (names,)
    done = run(*RECORD, "--folded", "-o", path, sys.executable, "-c", script)
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    lines = text.split("\n")[:-1]
    wrong = [line for line in lines if not re.fullmatch(r"[^\0-\x1f]+ \d+", line)]
    shown = [name for name in ("init:main;", "x 1?y;", "?[2Jred;")
             if not any(line.startswith(name) for line in lines)]
    tap.ok(done.returncode == 0 and not wrong and not shown,
           "folded stacks of tasks with control characters and semicolons in "
           "their names", [repr(line) for line in wrong] + shown +
           comments(done))
    done = run("flamegraph", path)
    tap.ok(done.returncode == 0 and not done.stderr, "and their picture",
           [done.stderr])


# --- samples that are lost -------------------------------------------------------------

def test_lost(tap, folder):
    """Lost samples are counted, reported and drawn, and the status has them."""
    data, stacks = (os.path.join(folder, "lost." + end)
                    for end in ("data", "folded"))
    failing = FLOOD + "raise SystemExit(7)"
    for status, script in ((7, failing), (3, FLOOD)):
        done = run(*RECORD, "-o", data, sys.executable, "-c", script)
        lost = re.search(r"(\d+) samples in .*, (\d+) lost", done.stderr)
        tap.ok(done.returncode == status and lost,
               "record: samples are lost, status %d" % status, comments(done))
    if not lost:
        return
    kept, lost = (int(number) for number in lost.groups())
    report = run("report", "-i", data, "--json")
    facts = json.loads(report.stdout) if report.returncode == 0 else {}
    tap.ok(facts.get("lost") == lost and facts["samples"] == kept,
           "report has as many", comments(report)[:5])
    tap.ok(kept + lost >= 20000, "none is missing",
           ["%d and %d lost" % (kept, lost)])
    share = "%.3g %% of the samples lost" % (100 * lost / (kept + lost))
    picture = run("flamegraph", data)
    tap.ok(">Flame graph (%s)<" % share in picture.stdout,
           "the picture's title has the share",
           [share, picture.stderr,
            *re.findall(r">Flame graph.*<", picture.stdout)])
    done = run(*RECORD, "--folded", "-o", stacks, sys.executable, "-c", FLOOD)
    with open(stacks, encoding="utf-8") as file:
        text = file.read()
    picture = run("flamegraph", stacks)
    tap.ok(done.returncode == 3 and
           re.search(r"^\[lost samples\] \d+$", text, re.M) and
           "% of the samples lost)<" in picture.stdout,
           "folded stacks and their picture have them",
           comments(done) + [picture.stderr])


def test_bad_stacks(tap, folder):
    """Lines that are not stacks are skipped and counted."""
    path = os.path.join(folder, "stacks")
    for text, skipped in (("a;b 1\nno count\n\nb 2.5\n", 1),
                          ("a;b 1\r\n x\n" + "c -1\n 7\n", 3),
                          ("a 18446744073709551615\na 18446744073709551615\n",
                           0)):
        with open(path, "w", encoding="ascii", newline="") as file:
            file.write(text)
        done = run("flamegraph", path)
        note = re.search(r"^uncore: (\d+) lines? (?:is|are) not .*skipped$",
                         done.stderr)
        tap.ok(done.returncode == 0 and ">a" in done.stdout and
               "nan" not in done.stdout and
               (int(note.group(1)) if note else 0) == skipped and
               len(done.stderr.splitlines()) == bool(skipped),
               "flamegraph: %d lines of %r are skipped" % (skipped, text[:20]),
               [done.stderr, done.stdout[-200:]])


# --- other machines ------------------------------------------------------------------------------

class Asked(http.server.BaseHTTPRequestHandler):
    """A server that has nothing, and knows what it was asked for."""
    paths = []

    def do_GET(self):
        self.paths.append(self.path)
        self.send_error(404)

    def log_message(self, *_):
        pass


def test_debuginfod(tap, folder, samples):
    """Servers learn what runs here only if the user wants it."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asked) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for options, asks in (((), False), (("--debuginfod",), True)):
            Asked.paths.clear()
            done = run("report", "-i", samples, *options, env={
                **os.environ, "DEBUGINFOD_CACHE_PATH": folder + "/debuginfod",
                "DEBUGINFOD_URLS": "http://127.0.0.1:%d" % server.server_port})
            tap.ok(done.returncode == 0 and bool(Asked.paths) == asks,
                   "report %s: servers of debug files are %s" %
                   (" ".join(options), "asked" if asks else "not asked"),
                   [*Asked.paths[:3], *comments(done)])
        server.shutdown()


def test_event_names(tap, folder):
    """Events whose names have a word in common are not one event."""
    path = os.path.join(folder, "names.data")
    run("record", "-c", "1", "-o", path, "-e", "software/config=2,name=my fast/",
        "-e", "software/config=3,name=my slow/", "ls", "-lR", "/etc")
    done = run("report", "-i", path, "--json")
    facts = json.loads(done.stdout) if done.returncode == 0 else {}
    shown = run("report", "-i", path).stdout
    tap.ok([event["event"] for event in facts.get("events", [])] ==
           ["my fast", "my slow"] and
           re.search(r"^my fast: .* counts, on CPUs? [0-9,-]+$", shown, re.M),
           "report: names with blanks, and the CPUs that were sampled",
           comments(done)[:20] + shown.splitlines()[:5])
    done = run("flamegraph", "-e", "my", path)
    tap.ok(is_refused(done, "no event 'my'", "my fast, my slow"),
           "flamegraph: an event that the file does not have", comments(done))


# --- files that are not samples
# ----------------------------------------------------------------

def test_special_files(tap, folder):
    """A file of samples may name files that do things when they are opened."""
    program = os.path.join(folder, "program")
    path = os.path.join(folder, "special.data")
    shutil.copy(shutil.which("ls"), program)
    run(*RECORD, "-o", path, program, "-lR", "/etc")
    os.unlink(program)
    os.mkfifo(program)
    with open(path, "rb") as file:
        named = program.encode() in file.read()
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(watch, program.encode(), IN_OPEN)
    with contextlib.suppress(subprocess.TimeoutExpired):
        run("report", "-i", path, timeout=20)
    try:
        opened = bool(os.read(watch, 4096))
    except BlockingIOError:
        opened = False
    os.close(watch)
    tap.ok(named and not opened, "report does not open a FIFO that is where the program "
           "was", ["named: %s, opened: %s" % (named, opened)])


def test_bad_files(tap, folder, samples):
    with open(samples, "rb") as file:
        whole = file.read()
    path = os.path.join(folder, "bad")

    def read(content):
        with open(path, "wb") as file:
            file.write(content)
        drawn = run("flamegraph", path)
        return run("report", "-i", path) if is_refused(drawn, path) else drawn

    wrong = []
    for size in [*range(0, 200, 8), *range(201, len(whole) - 1,
                                           len(whole) // 40)]:
        done = read(whole[:size])
        if not is_refused(done, path):
            wrong += ["the first %d bytes" % size, *comments(done)]
    tap.ok(not wrong, "report, flamegraph: a file that is cut off anywhere", wrong)
    wrong = []
    for name, content in (
            ("nothing", b""), ("zeros", bytes(4096)),
            ("text", b"PERFILE3" + b"x" * 4000),
            ("of another byte order", whole[:8][::-1] + whole[8:]),
            ("the first version", b"PERFFILE" + whole[8:]),
            ("a program", open(sys.executable, "rb").read(100000))):
        done = read(content)
        if not is_refused(done, path):
            wrong += [name, *comments(done)]
    for other in (folder, "/dev/null", "/dev/zero", path + "/there",
                  path + ".none"):
        done = run("report", "-i", other)
        if not is_refused(done, other):
            wrong += [other, *comments(done)]
    for start, command in ((b"PERFILE2", ("report", "-i")),
                           (b"PERFILE2", ("flamegraph",)),
                           (b"a;b 1", ("flamegraph",))):
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(4 << 30)
        done = run(*command, path, before=["prlimit", "--as=%d" % (6 << 30),
                                           "--data=%d" % (1 << 28)])
        if not is_refused(done, path):
            wrong += ["4 GiB of nothing", *comments(done)]
    os.mkfifo(path + ".fifo")
    done = run("report", "-i", path + ".fifo")
    if not is_refused(done):
        wrong += ["a pipe without a writer", *comments(done)]
    tap.ok(not wrong, "report: not a file of samples", wrong)


def test_narrow(tap, samples):
    for columns in (1, 2, 30):
        for arguments in (["report", "-i", samples], ["check"],
                          ["topology"], ["list", "-v", "pcu"]):
            _, shown = on_terminal(columns, *arguments)
            wide = [line for line in shown.split("\n")
                    if len(visible(line)) > columns]
            tap.ok(shown and not wide, "uncore %s on %d columns" %
                   (" ".join(arguments[:2]), columns), wide)


def main():
    # the parent may have ignored them, as nohup and shells do
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
    test_interrupts(tap, folder)
    if may_mount(folder):
        test_full_disk(tap, folder, samples)
        test_no_proc(tap, folder, samples)
    else:
        tap.say("no mount namespaces here: full disks and no /proc left out")
    test_short_lived(tap, folder)
    test_task_names(tap, folder)
    test_lost(tap, folder)
    test_bad_stacks(tap, folder)
    test_debuginfod(tap, folder, samples)
    test_event_names(tap, folder)
    test_special_files(tap, folder)
    test_bad_files(tap, folder, samples)
    test_narrow(tap, samples)
    shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
