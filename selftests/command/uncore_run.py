#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the uncore command without an uncore PMU: start and end of the measured command,
exit statuses, and output on terminals of any width, on full disks and of names that are
not UTF-8. The kernel's software events stand in for the events of boxes.
"""

import contextlib
import csv
import ctypes
import errno
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (EVENT, LIMIT, UNCORE, comments,  # noqa: E402
                                is_refused, on_terminal, one_line, read_until,
                                run, started, visible, wait_for)
from lib.python.fake_pmu import make_pmu, make_recorded  # noqa: E402
from lib.python.uncore import TOP, Tap  # noqa: E402

MAN = os.path.join(TOP, "build", "userspace", "cli", "man", "uncore.1")
# A command that writes the number of each signal to a file, and exits a second after the
# first signal.
NOTES_SIGNALS = """
import signal, sys, time
def note(number, _):
    with open(sys.argv[1], "a") as file:
        file.write("%d\\n" % number)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, note)
with open(sys.argv[1], "a") as file:
    file.write("ready\\n")
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    time.sleep(0.1)
    with open(sys.argv[1]) as file:
        if len(file.readlines()) > 1:
            time.sleep(1)
            sys.exit(5)
"""
IGNORES = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
with open(sys.argv[1], "w") as file:
    file.write("ready\\n")
time.sleep(3)
print("unharmed", flush=True)
"""


# --- the measured command --------------------------------------------------------

def test_one_interrupt(tap, folder):
    for name, number in (("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM),
                         ("the end of time", None)):
        path = os.path.join(folder, name.replace(" ", "-"))
        duration = [] if number else ["-d", "1"]
        with started([UNCORE, "stat", "-e", EVENT, *duration, "--",
                      sys.executable, "-c", NOTES_SIGNALS, path],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     encoding="utf-8") as process:
            wait_for(path, "ready")
            if number:
                process.send_signal(number)
            out, err = process.communicate(timeout=LIMIT)
        with open(path, encoding="ascii") as file:
            got = file.read().split()
        tap.ok(got == ["ready", "%d" % (number or signal.SIGINT)] and
               process.returncode == -(number or 0) and
               "Counted for" in out and not err,
               "%s: the command gets one signal, and is waited for; uncore "
               "ends by the same" % name,
               [repr(got), "status %d" % process.returncode, out, err])


def test_ignored(tap, folder):
    path = os.path.join(folder, "ignored")
    command = ["stat", "-e", EVENT, "--", sys.executable, "-c", IGNORES, path]
    with started([UNCORE, *command], stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, encoding="utf-8") as process:
        wait_for(path, "ready")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
    tap.ok(process.returncode == -signal.SIGINT and "unharmed" in out and
           "Counted for" in out and not err,
           "a command that ignores SIGINT is waited for", [out, err])
    os.remove(path)

    def interrupt(process, _master):
        wait_for(path, "ready")
        process.send_signal(signal.SIGINT)

    status, shown = on_terminal(80, *command, after=interrupt)
    tap.ok(status == -signal.SIGINT and "unharmed" in shown and
           shown.count("waiting for") == 1,
           "on a terminal, once, it says what it waits for", [repr(shown)])


def test_terminal_interrupt(tap, folder):
    """The terminal sends Ctrl-C's SIGINT to uncore and to the command: uncore does not
    pass its own SIGINT on."""
    path = os.path.join(folder, "ctrl-c")

    def press(_process, master):
        wait_for(path, "ready")
        os.write(master, b"\x03")

    status, shown = on_terminal(80, "stat", "-e", EVENT, "--", sys.executable,
                                "-c", NOTES_SIGNALS, path, after=press)
    with open(path, encoding="ascii") as file:
        got = file.read().split()
    tap.ok(status == -signal.SIGINT and
           got == ["ready", "%d" % signal.SIGINT],
           "Ctrl-C: the command gets one SIGINT, the terminal's",
           [repr(got), repr(shown)])


def test_background(tap):
    """SIGINT or SIGCHLD is ignored when uncore starts, as in a script's background job,
    and its children inherit that."""
    result = run("stat", "-e", EVENT, "-d", "0.2", "--", "sleep", "1000",
                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    tap.ok(result.returncode == 0 and "Counted for" in result.stdout,
           "where SIGINT is ignored from the start, -d ends the command still",
           comments(result))

    # nohup ignores SIGHUP, and a shell ignores SIGINT in background jobs.
    for number in (signal.SIGHUP, signal.SIGINT):
        with started([UNCORE, "stat", "-e", EVENT, "-I", "100",
                      "--interval-count", "15"], stdout=subprocess.PIPE,
                     encoding="utf-8", preexec_fn=lambda number=number:
                     signal.signal(number, signal.SIG_IGN)) as process:
            process.stdout.readline()
            process.send_signal(number)
            out, _ = process.communicate(timeout=LIMIT)
        tap.ok(process.returncode == 0 and len(out.splitlines()) > 15 and
               "Total of" in out,
               "signal %d is ignored from the start, and stays so" % number,
               ["status %d" % process.returncode, *out.splitlines()])
    result = run("stat", "-e", EVENT, "--", "sh", "-c", "exit 3",
                 preexec_fn=lambda: signal.signal(signal.SIGCHLD,
                                                  signal.SIG_IGN))
    tap.ok(result.returncode == 3,
           "where SIGCHLD is ignored, the command is waited for",
           comments(result))


def test_file_limit(tap):
    soft = 150

    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, 4096))

    events = ",".join([EVENT] * soft)
    result = run("stat", "-e", events, "--", "sh", "-c", "ulimit -n",
                 preexec_fn=lower)
    tap.ok(result.returncode == 0 and
           result.stdout.splitlines()[:1] == ["%d" % soft],
           "more events than the file limit: raised, but not for the command",
           comments(result))


def test_without_dashes(tap):
    for arguments in (["stat", "-e", EVENT, "sh", "-c", "exit 7"],
                      ["stat", "--event", EVENT, "--json", "-I", "100", "sh",
                       "-c", "exit 7"],
                      ["stat", "--event=" + EVENT, "--", "sh", "-c", "exit 7"],
                      ["stat", "-e" + EVENT, "env", "-i", "sh", "-c", "exit 7"]):
        result = run(*arguments)
        tap.ok(result.returncode == 7, "uncore " + " ".join(arguments),
               comments(result))


def test_default_time(tap):
    result = run("stat", "-e", EVENT, "--json")
    tap.ok(result.returncode == 0 and 0.9 < json.loads(result.stdout)["seconds"],
           "stat with neither time nor command counts for a second",
           comments(result))

    def press(_process, master):
        press.shown = read_until(master, b"TIME").decode()
        os.write(master, b"\x03")

    status, shown = on_terminal(80, "stat", "-e", EVENT, "-I", "100",
                                after=press)
    tap.ok(status == -signal.SIGINT and "until Ctrl-C" in press.shown + shown and
           "Total of" in shown, "-I continues until Ctrl-C, and prints that",
           [repr(press.shown), repr(shown)])

    # While uncore is stopped, intervals pass without output.
    with started([UNCORE, "stat", "-e", EVENT, "-I", "50", "--interval-count",
                  "4", "--json"], stdout=subprocess.PIPE,
                 encoding="utf-8") as process:
        first = process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        process.send_signal(signal.SIGCONT)
        rest = process.stdout.readlines()
        status = process.wait(timeout=LIMIT)
    tap.ok(status == 0 and first and len(rest) == 3 + 1,
           "--interval-count prints that many, even if some are missed",
           ["status %d" % status, first, *rest])


def parse_table(text):
    """Return the exit statuses of each subcommand in the man page's table."""
    rows = re.findall(r"^\.It (?:Sy|Cm) (.* Ta .*)$", text, re.M)
    titles, *rows = [row.replace("Sy ", "").split(" Ta ") for row in rows]
    return {row[0]: {title for title, cell in zip(titles[1:], row[1:])
                     if cell != "-"} | {"2"} for row in rows}


def save_counts(path, value):
    """Write a file as of "uncore stat --save", with one count."""
    event = {"event": EVENT, "scope": "machine", "unit": "", "value": value, "error": 0}
    with open(path, "w", encoding="ascii") as file:
        json.dump({"schema": 1, "subcommand": "stat", "total": True, "host": "here",
                   "generation": "hswep", "start": "", "seconds": 1, "events": [event],
                   "metrics": []}, file)


def status_calls(folder, program, sysfs):
    """Return {(subcommand, status): calls that end with this status}."""
    file = folder + "/file"
    fake = ("--sysfs", sysfs)
    series = (*fake, "record", "--series", file)
    before, after = folder + "/before", folder + "/after"
    save_counts(before, 1000)
    save_counts(after, 2000)
    calls = {
        ("check", "1"): [("--sysfs", folder, "check")],
        ("check", "2"): [("check", "--report", file)],
        ("diagnose", "0"): [(*fake, "diagnose", "-d", "1"),
                            (*fake, "diagnose", "-d", "1", "sleep", "9")],
        ("diagnose", "1"): [("diagnose", "-o", "/none/file"),
                            (*fake, "diagnose", "true")],
        ("diagnose", "2"): [("diagnose", "-d", "0"), ("diagnose", "--none")],
        ("diagnose", "126"): [(*fake, "diagnose", program)],
        ("diagnose", "127"): [(*fake, "diagnose", "/none")],
        ("diagnose", "status"): [(*fake, "diagnose", "sh", "-c", "sleep 1; exit 42")],
        ("diagnose", "128 + signal"): [(*fake, "diagnose", "sh", "-c",
                                        "sleep 1; kill -KILL $$")],
        ("diff", "0"): [("diff", before, before)],
        ("diff", "1"): [("diff", before, after)],
        ("diff", "2"): [("diff", before), ("diff", before, "/none")],
        ("flamegraph", "0"): [("flamegraph", folder + "/stacks")],
        ("flamegraph", "1"): [("flamegraph", "/dev/null")],
        ("flamegraph", "2"): [("flamegraph", "--none")],
        ("list", "0"): [("list",)],
        ("list", "1"): [("list", "no-such-thing")],
        ("list", "2"): [("list", "--json", "--csv")],
        ("live", "0"): [(*fake, "live", "--once", "-I", "100", "--no-tasks")],
        ("live", "1"): [(*fake, "live")],
        ("live", "2"): [("live", "-I", "1")],
        ("record", "0"): [("record", "-e", EVENT, "-o", file, "true"),
                          ("record", "-e", EVENT, "-o", file, "-d", "0.1"),
                          (*series, "-d", "0.1", "sleep", "9")],
        ("record", "1"): [("record", "-e", "duration_time", "true"),
                          ("record", "-e", "none", "true")],
        ("record", "2"): [("record", "-g", "true"),
                          ("record", "-e", EVENT, "-d", "0", "true"),
                          ("record", "-e", EVENT, "-d", "1", "true"),
                          (*series, "-g")],
        ("record", "126"): [(*series, program), (*series, folder)],
        ("record", "127"): [(*series, "/none")],
        ("record", "status"): [("record", "-e", EVENT, "-o", file, "sh", "-c",
                                "exit 42"), (*series, "sh", "-c", "exit 42")],
        ("serve", "0"): [(*fake, "serve", "--json", "-d", "0.01")],
        ("serve", "1"): [("serve", "--replay", "/none")],
        ("serve", "2"): [("serve", "-I", "1000"),
                         ("serve", "--listen", "none", *fake)],
        ("topology", "0"): [("topology",)],
        ("topology", "1"): [("--sysfs", "/none", "topology")],
        ("topology", "2"): [("topology", "none")],
    }
    measured = {
        "stat": ("stat", "-e", EVENT),
        "metric": (*fake, "metric", "memory"),
        "top": ("top", "-e", "imc/cas_count.rd/"),
    }
    for name, call in measured.items():
        # These errors are found before uncore opens a counter, so no box is needed.
        calls[name, "1"] = [(*call, "-o", "/none/file", "true")]
        calls[name, "2"] = [(*call, "-d", "0", "true"), (*call, "--none")]
        if name == "top":
            continue
        calls[name, "0"] = [(*call, "true"), (*call, "-d", "0.1", "sleep", "9")]
        fails = [word.replace(file, folder + "/none") for word in call]
        calls[name, "126"] = [(*fails, program), (*fails, folder)]
        calls[name, "127"] = [(*fails, "/none"), (*fails, "no-such-thing")]
        calls[name, "status"] = [(*call, "sh", "-c", "exit 42")]
        calls[name, "128 + signal"] = [(*call, "sh", "-c", "kill -KILL $$")]
    return calls


# Statuses that need a driver: uncore_cli.sh and uncore_stat.py test them.
IN_VM = {("check", "0"), ("top", "0"), ("top", "126"), ("top", "127"),
         ("top", "status"), ("top", "signal")}


def test_statuses(tap, folder):
    """Each exit status in the tables of the man page."""
    with open(MAN, encoding="utf-8") as file:
        text = re.search(r"\.Sh EXIT STATUS\n(.*?)\.Sh", file.read(),
                         re.S).group(1)
    listed = re.findall(r"^\.It (?:Ar )?(\S.*)$", text.split(".El")[0], re.M)
    tap.ok(listed == ["0", "1", "2", "126", "127", "status", "128 + signal",
                      "signal"], "the man page lists exit statuses", listed)
    program, sysfs, stacks = (os.path.join(folder, name) for name in (
        "not-executable", "fake", "stacks"))
    make_pmu(sysfs)
    for path, line in ((program, "text"), (stacks, "main;work 7")):
        with open(path, "w", encoding="ascii") as file:
            file.write(line + "\n")
    calls = status_calls(folder, program, sysfs)
    table = {(name, status) for name, statuses in parse_table(text).items()
             for status in statuses for status in status.split(", ")}
    have = {(name, status) for name, status in calls
            if status != "128 + signal"} | IN_VM | {
                (name, "signal") for name in ("diagnose", "live", "metric",
                                              "record", "serve", "stat")}
    tap.ok(have == table and
           {name for name, _ in table} == set(
               run("__complete", "").stdout.split()),
           "each status of each subcommand in the table is tested",
           ["%s" % sorted(have ^ table)])
    numbers = {"status": 42, "128 + signal": 128 + signal.SIGKILL}
    for (_, status), commands in calls.items():
        number = numbers.get(status) or int("0" + status)
        for arguments in commands:
            result = run(*arguments)
            # status 1 of check and diff is a result, not an error
            good = number not in (1, 2, 126, 127) or \
                is_refused(result, status=number) or arguments[-1] == "check" or \
                (arguments[0], number) == ("diff", 1)
            tap.ok(result.returncode == number and good,
                   "status %d: uncore %s" % (number, " ".join(arguments)),
                   comments(result))
    for name, call in (("stat", "stat -e %s -I 50" % EVENT),
                       ("metric", "--sysfs %s metric memory -I 50" % sysfs),
                       ("diagnose", "--sysfs %s diagnose" % sysfs),
                       ("record", "record -e %s -o %s" % (EVENT, program))):
        process = subprocess.run(
            "%s %s -- sh -c 'kill -TERM $PPID; exec sleep 100'" % (UNCORE, call),
            shell=True, check=False, stdout=subprocess.PIPE,
            encoding="utf-8", timeout=LIMIT)
        tap.ok(process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM),
               "a signal ends %s: its own" % name,
               ["status %d" % process.returncode, process.stdout])
    for key, want in (("\x03", -signal.SIGINT), ("q", 0)):
        def press(_process, master, key=key):
            read_until(master, b"quit")
            os.write(master, key.encode())

        status, shown = on_terminal(80, "--sysfs", sysfs, "live", "--no-tasks",
                                    after=press)
        tap.ok(status == want and "\x1b[?1049l" in shown,
               "live: %r ends it with status %d, and its screen" % (key, want),
               ["status %d" % status, repr(shown[-300:])])
    # SIGHUP makes uncore serve reload its certificates: uncore_serve_tls.py.
    for number in (signal.SIGTERM, signal.SIGINT):
        with started([UNCORE, "--sysfs", sysfs, "serve", "--listen",
                      "127.0.0.1:0"], stderr=subprocess.PIPE,
                     encoding="utf-8") as process:
            process.stderr.readline()
            process.send_signal(number)
            status = process.wait(timeout=LIMIT)
        tap.ok(status == (0 if number == signal.SIGTERM else -number),
               "serve: %s" % number.name, ["status %d" % status])
    tap.ok(not os.path.exists(folder + "/none"),
           "a command that cannot be executed leaves no file",
           os.listdir(folder))
    path = os.path.join(folder, "before")
    for arguments in (("no_such_event", "true"), (EVENT, "/none")):
        with open(path, "w", encoding="ascii") as file:
            file.write("before\n")
        run("stat", "-e", arguments[0], "-o", path, arguments[1])
        with open(path, encoding="ascii") as file:
            tap.ok(file.read() == "before\n", "stat -o, with %s %s: the file "
                   "stays as it was" % arguments)


def test_perf_options(tap, folder):
    """Options that perf users are used to."""
    stat = ("stat", "-e", EVENT)
    path = os.path.join(folder, "appended")
    result = run(*stat, "-a", "-A", "--json", "true")
    tap.ok(result.returncode == 0 and json.loads(result.stdout),
           "stat -a -A --json", comments(result))
    for option in ("-j", "--json-output"):
        result = run(*stat, "-a", option, "true")
        tap.ok(result.returncode == 0 and not result.stdout and
               json.loads(result.stderr)["event"] == EVENT,
               "stat %s: perf's row on standard error" % option, comments(result))
    result = run(*stat, "-x", ";", "true")
    lines = [line.split(";") for line in result.stderr.splitlines()]
    tap.ok(result.returncode == 0 and len(lines) == 1 and len(lines[0]) == 7 and
           lines[0][2] == EVENT, "stat -x ';'", comments(result))
    result = run(*stat, "-x", "\\t", "true")
    tap.ok(result.returncode == 0 and result.stderr.count("\t") == 6,
           "stat -x '\\t'", comments(result))
    result = run(*stat, "--timeout", "200", "--json", "sleep", "100")
    tap.ok(result.returncode == 0 and
           0.15 < json.loads(result.stdout)["seconds"] < 5,
           "stat --timeout", comments(result))
    for _ in range(2):
        run(*stat, "--csv", "-o", path, "--append", "true")
    with open(path, encoding="ascii") as file:
        tap.ok(len(file.readlines()) == 4, "stat -o FILE --append")
    for arguments, status, word in (
            ((*stat, "-p", "1"), 2, "uncore top"),
            ((*stat, "--append", "true"), 2, "-o"),
            ((*stat, "--metric-only", "true"), 2, "-M"),
            ((*stat, "-x", "", "true"), 2, "--field-separator"),
            ((*stat, "-x,", "--json", "true"), 2, "exclude each other"),
            ((*stat, "-x,", "-j", "true"), 2, "exclude each other"),
            ((*stat, "-v", "true"), 2, "--json"),
            ((*stat, "--control", "fifo:/none", "true"), 2, "-D"),
            (("help", "no-such-command"), 2, "no-such-command"),
            ((*stat, "-o", "", "true"), 2, "--output"),
            ((*stat, "-I", "often", "true"), 2, "'often' (expected 1 to 3600000)"),
            ((*stat, "-d", "0", "true"), 2, "'0' (expected 0.001 to 1000000000)"),
            (("top", "-p", "init"), 2, "'init' (expected 1 to 4194304)"),
            (("top", "-p", "1,4194304"), 1, "no process 4194304"),
            (("top", "--rows", "all"), 2, "'all' is not a valid number"),
            (("top", "--by", "user"), 2, "(expected task, process, cgroup, tree)"),
            (("metric",), 2, "SET is missing: memory, pmem, llc"),
            (("check", "--json=2"), 2, "--json: it takes no value"),
            (("metric", "memory", "--all=false", "true"), 2,
             "--all: it takes no value"),
            (("stat", "--none", "3", "-e", EVENT, "true"), 2,
             "expected: --none")):
        result = run(*arguments)
        tap.ok(is_refused(result, word, status=status) and
               ": -- " not in result.stderr,
               "uncore %s is refused" % " ".join(arguments), comments(result))


def test_delay(tap):
    """-D starts counting some time after the command."""
    stat = ("stat", "-e", EVENT)
    result = run(*stat, "-D", "2000", "--json", "sleep", "3")
    tap.ok(result.returncode == 0 and
           0 < json.loads(result.stdout)["seconds"] < 2.5,
           "stat -D counts from then on", comments(result))
    start = time.monotonic()
    for command, status in ((["sh", "-c", "exit 7"], 7),
                            (["sh", "-c", "kill -INT $PPID; exec sleep 99"],
                             -signal.SIGINT)):
        result = run(*stat, "-D", "90000", *command)
        tap.ok(result.returncode == status and "Counted for 0.0" in result.stdout and
               time.monotonic() - start < 60, "stat -D: status %d before the delay "
               "is over" % status, comments(result))


def test_help(tap):
    """"uncore help stat" shows stat's help, like perf and git do."""
    for before, after in ((["help"], ["--help"]),
                          (["help", "stat"], ["stat", "--help"]),
                          (["help", "record"], ["record", "--help"])):
        shown, want = run(*before), run(*after)
        tap.ok(shown.returncode == 0 and want.stdout and
               shown.stdout == want.stdout, "uncore %s" % " ".join(before),
               comments(shown))
    result = run("stat", "-B", "--summary", "-I", "50", "-e", EVENT, "sleep", "0.1")
    tap.ok(result.returncode == 0 and "Total of" in result.stdout,
           "stat -B --summary -I", comments(result))


def interrupted_repeat(path, *options):
    """Interrupt stat -r 50 by SIGINT, in its fourth run at the earliest. Return status,
    standard output and standard error."""
    with open(path, "w", encoding="ascii"):
        pass
    with started([UNCORE, "stat", "-r", "50", "-e", EVENT, *options, "--", "sh",
                  "-c", "echo run >> %s; sleep 0.2" % path],
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8") as process:
        wait_for(path, "run\n" * 4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


def test_repeat_ends(tap, folder):
    """Ctrl-C during stat -r: uncore prints the means of the runs that have ended."""
    path = os.path.join(folder, "repeated")
    status, out, err = interrupted_repeat(path)
    match = re.search(r"Means of (\d+) of 50 runs, the last of 0\.[2-9]", out)
    tap.ok(status == -signal.SIGINT and match and
           3 <= int(match.group(1)) < 50 and EVENT in out and not err,
           "stat -r and Ctrl-C: the means", [str(status), out, err])
    status, out, err = interrupted_repeat(path, "--json")
    document = json.loads(out) if out else {"events": [{}]}
    tap.ok(status == -signal.SIGINT and 3 <= document.get("runs", 0) < 50 and
           document["events"][0].get("value", 0) > 0 and not err,
           "stat -r --json and Ctrl-C: the means", [str(status), out, err])
    result = run("stat", "-r", "50", "-e", EVENT, "sh", "-c",
                 "kill -INT $PPID; sleep 9")
    one_line(tap, "stat -r and Ctrl-C in the first run", result, -signal.SIGINT,
             "before the first run ended")
    result = run("stat", "-r", "3", "-e", "no_such_event", "true")
    one_line(tap, "stat -r of an unknown event", result, 1, "no_such_event")


def test_signals(tap):
    """The measured command has the caller's blocked signals, and the caller's
    disposition of SIGPIPE."""
    call = ["cat", "/proc/self/status"]
    for handler in (signal.SIG_IGN, signal.SIG_DFL):
        def prepare(handler=handler):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
            signal.signal(signal.SIGPIPE, handler)

        shown = [subprocess.run([*before, *call], preexec_fn=prepare,
                                stdout=subprocess.PIPE, encoding="ascii",
                                restore_signals=False, timeout=LIMIT,
                                check=False).stdout
                 for before in ((), (UNCORE, "stat", "-e", EVENT, "--"))]
        want, got = (re.findall(r"^(Sig(?:Blk|Ign)):\s*(\w+)$", text, re.M)
                     for text in shown)
        tap.ok(want and want == got, "stat: the command's signals with %s" %
               handler.name, [repr(want), repr(got)])


def test_reads(tap):
    """Events that are not multiplexed are read only at the end. The command compares
    uncore's number of read() calls at two times."""
    shown = "grep syscr /proc/$PPID/io"
    result = run("stat", "-e", EVENT, "sh", "-c",
                 "sleep 0.1; %s; sleep 0.7; %s" % (shown, shown))
    calls = [int(number) for number in re.findall(r"syscr: (\d+)", result.stdout)]
    tap.ok(result.returncode == 0 and len(calls) == 2 and calls[0] == calls[1],
           "stat does not read its counter while the command runs",
           comments(result))


def instructions(*command):
    """Return a program's instructions in user space, without its children's."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=%s/out" % folder,
             *command], capture_output=True, text=True, check=False,
            timeout=LIMIT)
    match = re.search(r"Collected : (\d+)", result.stderr)
    return int(match.group(1)) if match else 0


def test_cost(tap):
    """One event costs at most 0.6 of the instructions of perf stat."""
    if not shutil.which("valgrind"):
        tap.skip("instructions of stat", "valgrind is not installed")
        return
    stat = ("stat", "-e", EVENT, "true")
    ours, perfs = instructions(UNCORE, *stat), instructions("perf", *stat)
    tap.ok(0 < ours <= 0.6 * perfs,
           "stat of one event: at most 0.6 of the instructions of perf stat",
           ["%d, perf %d" % (ours, perfs)])
    tap.say("uncore stat: %d instructions, perf stat: %d" % (ours, perfs))


def test_period(tap):
    """stat gets an event with period=, which only record uses."""
    result = run("stat", "-e", "software/config=2,period=1000/", "--json", "true")
    tap.ok(result.returncode == 0 and json.loads(result.stdout) and
           len(result.stderr.splitlines()) == 1 and "period=" in result.stderr,
           "stat notes that period= has no effect", comments(result))


# --- output ------------------------------------------------------------------------

def test_widths(tap, sysfs):
    make_pmu(sysfs)
    for columns in (1, 40, 100):
        for arguments in ([], ["list", "imc"], ["list", "-v", "cbox"],
                          ["topology"], ["stat", "-e", EVENT, "true"],
                          ["stat", "-e", "software/config=2,period=1000/",
                           "true"],
                          ["--sysfs", sysfs, "metric", "memory", "true"],
                          ["--sysfs", sysfs, "live", "--once", "-I", "100",
                           "--no-tasks"]):
            status, shown = on_terminal(columns, *arguments)
            wide = [line for line in shown.split("\n")
                    if len(visible(line)) > columns]
            tap.ok(status == 0 and not wide,
                   "uncore %s on %d columns" % (" ".join(arguments), columns),
                   ["status %d" % status, *wide])
    def press(_process, master):
        read_until(master, b"\x1b[?1049h")
        os.write(master, b"q")

    status, shown = on_terminal(1, "--sysfs", sysfs, "live", "--no-tasks",
                                rows=1, after=press)
    tap.ok(status == 0 and "\x1b[?1049l" in shown,
           "live on a terminal of one character", [repr(shown[:300])])
    for arguments in (["list", "-v", "cbox"], ["list", "-v", "metrics"]):
        words = "".join(run(*arguments).stdout.split())
        status, shown = on_terminal(70, *arguments)
        shown = re.sub(r"^uncore: .*\n( {8}.*\n)*", "", shown, flags=re.M)
        got = "".join(visible(shown).split())
        same = len(os.path.commonprefix([got, words]))
        tap.ok(status == 0 and got == words,
               "uncore %s: lines are wrapped, and nothing is cut off" %
               " ".join(arguments),
               ["status %d, %d characters of %d, equal to %d" %
                (status, len(got), len(words), same),
                "got  %r" % got[same:same + 200],
                "want %r" % words[same:same + 200]])
    status, shown = on_terminal(20, "stat", "-e", EVENT + ",duration_time", "true")
    tap.ok(status == 0 and re.search(EVENT + r"\s+[0-9,]+\s", visible(shown)) and
           re.search(r"duration_time\s+[0-9,]+ ns\s", visible(shown)),
           "stat on 20 columns: values are wrapped, not cut", shown.splitlines())
    result = run("stat", "-I", "100", "-e", EVENT + ",duration_time", sys.executable,
                 "-c", "import time; time.sleep(1); bytes(1 << 26)")
    total = re.search(r"Total of ([0-9.]+) s\n.*\n" + EVENT +
                      r" +([0-9,]+)  # +([0-9.]+) (k?)/s\nduration_time .* ns\n",
                      result.stdout)
    tap.ok(total and abs(float(total.group(3)) * (1000 if total.group(4) else 1) *
                         float(total.group(1)) /
                         int(total.group(2).replace(",", "")) - 1) < 0.02 and
           len(re.findall("  # +[0-9.]+ k?/s", result.stdout)) > 5,
           "stat: the rate of each count, in an interval and in all", comments(result))
    status, shown = on_terminal(70, "list", "imc")
    names = re.findall(r"^  (\S+)", run("list", "imc").stdout, re.M)
    cut = [line for line in shown.splitlines() if line.endswith("...")]
    tap.ok(names == re.findall(r"^  (\S+)", re.sub(r"\x1b\[[0-9;]*m", "", shown),
                               re.M) and len(cut) > 9,
           "list on 70 columns: descriptions are cut with an ellipsis, names are not",
           shown.splitlines()[:12])
    status, shown = on_terminal(100, "list", "imc")
    plain = run("list", "imc").stdout
    tap.ok("\x1b" in shown and "\x1b" not in plain,
           "colour on a terminal, and none elsewhere", [shown[:200]])
    status, shown = on_terminal(100, "list", "imc", NO_COLOR="1")
    tap.ok("\x1b" not in shown, "nor against NO_COLOR", [shown[:200]])


def test_advice(tap, sysfs):
    """stat -M llc: the message that proposes other options is wrapped on a terminal,
    without a word being broken."""
    make_recorded(sysfs, "hswep")
    call = ("--sysfs", sysfs, "stat", "-M", "llc", "true")
    words = run(*call).stderr.split()
    _, shown = on_terminal(80, *call)
    tap.ok(words.count("-M") > 20 and shown.split() == words and
           max(map(len, shown.split("\n"))) <= 80,
           "stat -M llc: how to count fewer at once, on 80 columns",
           [" ".join(words), *shown.split("\n")])


def test_closed_streams(tap):
    """A file is not opened as a standard stream that the caller has closed."""
    for call in ("list", "topology --json", "stat -e %s true" % EVENT,
                 "stat --json -e %s true" % EVENT, "check", "--version"):
        result = subprocess.run("%s %s >&- <&-" % (UNCORE, call), shell=True,
                                stderr=subprocess.PIPE, encoding="utf-8",
                                check=False, timeout=LIMIT)
        last = (result.stderr.splitlines() or [""])[-1]
        tap.ok(result.returncode == 1 and "standard output: Bad file descriptor" in
               result.stderr and last.startswith("uncore: "),
               "uncore %s: standard output is closed" % call, comments(result))


def test_decimal_comma(tap, folder):
    """A locale with a decimal comma does not change the format of numbers."""
    result = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                             os.path.join(folder, "de_DE.UTF-8")], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not os.path.isdir(os.path.join(folder, "de_DE.UTF-8")):
        tap.skip("a decimal comma", "no locale can be made here: %r" %
                 result.stdout[:100])
        return
    german = {**os.environ, "LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}
    shown = subprocess.run([sys.executable, "-c", "import locale; "
                            "locale.setlocale(locale.LC_ALL, ''); "
                            "print(locale.str(0.5))"], env=german, check=False,
                           stdout=subprocess.PIPE, encoding="utf-8")
    tap.ok(shown.stdout == "0,5\n", "this locale has a decimal comma",
           [shown.stdout])
    stat = ("stat", "-d", "0.05", "-e", EVENT + ",duration_time")
    result = run(*stat, "--json", env=german)
    tap.ok(result.returncode == 0 and
           0.04 < json.loads(result.stdout)["seconds"] < 9, "stat --json",
           comments(result))
    result = run(*stat, "-x,", env=german)
    tap.ok(result.returncode == 0 and
           {line.count(",") for line in result.stderr.splitlines()} == {6},
           "stat -x,", comments(result))
    result = run(*stat, "--csv", env=german)
    rows = list(csv.reader(result.stdout.splitlines()))
    tap.ok({len(row) for row in rows} == {13} and 0.04 < float(rows[1][0]) < 9,
           "stat --csv", comments(result))
    result = run(*stat, env=german)
    tap.ok(re.search(r"Counted for 0\.\d+ s", result.stdout), "stat",
           comments(result))
    for arguments in (["list", "-v", "metrics"], ["list", "--csv", "events"],
                      ["--help"]):
        tap.ok(run(*arguments, env=german).stdout == run(*arguments).stdout,
               "uncore %s: the same text" % " ".join(arguments))


def test_no_text(tap):
    for arguments in (["--json"], ["--json", "-I", "100"], ["--csv"], []):
        result = subprocess.run(
            [UNCORE, "stat", *arguments, "-e",
             b"software/config=2,name=\xff\xfe\xc3/", "true"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=LIMIT)
        good = result.returncode == 0 and not result.stderr and result.stdout
        if "--json" in arguments and good:
            with contextlib.suppress(ValueError):
                good = [json.loads(part) for part in (
                    result.stdout.splitlines() if "-I" in arguments
                    else [result.stdout])]
        tap.ok(good, "stat %s: a name that is not UTF-8" % " ".join(arguments),
               [repr(result)])


def test_full_disk(tap):
    for arguments in (["list"], ["check", "--json"], ["list", "--json"],
                      ["stat", "-e", EVENT, "true"],
                      ["stat", "-e", EVENT, "--json", "true"], ["--help"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = run(*arguments, stdout=full)
        tap.ok(result.returncode == 1 and
               len(result.stderr.splitlines()) == 1 and
               "No space left" in result.stderr,
               "uncore %s on a full disk" % " ".join(arguments),
               comments(result))
    result = run("stat", "-e", EVENT, "-o", "/dev/full", "true")
    tap.ok(result.returncode == 1 and "/dev/full: No space left" in result.stderr,
           "stat -o on a full disk", comments(result))
    result = subprocess.run("%s list | head -1" % UNCORE, shell=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            check=False, timeout=LIMIT)
    tap.ok(not result.stderr and len(result.stdout.splitlines()) == 1,
           "a reader that leaves early hears nothing of it", [repr(result)])


def test_no_proc(tap):
    def without(*arguments):
        return subprocess.run(
            ["unshare", "-m", "sh", "-c",
             'mount -t tmpfs none /proc && exec "$@"', "-", UNCORE,
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", check=False, timeout=LIMIT)

    result = without("check")
    if "mount" in result.stderr or "unshare" in result.stderr:
        tap.say("no mount namespaces here: without /proc is left out")
        return
    tap.ok(result.returncode == 1 and "without /proc" in result.stdout and
           not result.stderr, "check without /proc", comments(result))
    result = without("stat", "-e", EVENT, "true")
    tap.ok(result.returncode == 0 and "Counted" in result.stdout,
           "stat without /proc", comments(result))


# --- refusals ------------------------------------------------------------------------

PERF_EVENT_OPEN = 298


def filter_calls(number, error):
    """Return a function for preexec_fn, after which one system call of the process fails
    with an errno."""
    def add():
        libc = ctypes.CDLL(None, use_errno=True)
        program = b"".join(struct.pack("<HBBI", *instruction) for instruction in (
            (0x20, 0, 0, 0),                # load the call's number
            (0x15, 0, 1, number),
            (0x06, 0, 0, 0x00050000 | error),
            (0x06, 0, 0, 0x7fff0000)))      # allowed
        text = ctypes.create_string_buffer(program)
        filters = struct.pack("<HxxxxxxQ", 4, ctypes.addressof(text))
        libc.prctl(38, 1, 0, 0, 0)          # no new privileges
        if libc.prctl(22, 2, ctypes.c_char_p(filters), 0, 0):
            os._exit(99)
    return add


def test_refusals(tap):
    """uncore reports the actual cause: a seccomp filter, a user namespace, or a missing
    sysfs folder."""
    stat = ("stat", "-e", EVENT, "-d", "0.1")
    for error in (errno.EPERM, errno.ENOSYS):
        result = run(*stat, preexec_fn=filter_calls(PERF_EVENT_OPEN, error))
        if result.returncode == 99:
            tap.say("no seccomp here: filters are left out")
            break
        tap.ok(is_refused(result, "seccomp") and "run as root" not in result.stderr,
               "a seccomp filter, with %s" % errno.errorcode[error],
               comments(result))
        result = run("check", preexec_fn=filter_calls(PERF_EVENT_OPEN, error))
        tap.ok(result.returncode == 1 and "seccomp" in result.stdout,
               "check, with %s" % errno.errorcode[error], comments(result))
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        paranoid = int(file.read())
    result = run(*stat, before=["unshare", "--user", "--map-root-user"])
    if paranoid <= 0 or "unshare" in result.stderr:
        tap.say("no user namespaces here, or all users may count: left out")
    else:
        tap.ok(is_refused(result, "user namespace"),
               "root of a user namespace", comments(result))
    result = run("check", before=["unshare", "-m", "sh", "-c", "mount -t tmpfs "
                                  "none /sys/devices/system && exec \"$@\"", "-"])
    if "unshare" not in result.stderr and "mount:" not in result.stderr:
        tap.ok(result.returncode == 1 and "not supported" not in result.stdout and
               "mount sysfs" in result.stdout,
               "check without /sys/devices/system names the missing folder",
               comments(result))


def main():
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    if run("stat", "-e", EVENT, "true").returncode:
        tap.skip_all("this user may not count " + EVENT)
    with tempfile.TemporaryDirectory() as folder:
        test_one_interrupt(tap, folder)
        test_ignored(tap, folder)
        test_terminal_interrupt(tap, folder)
        test_background(tap)
        test_file_limit(tap)
        test_without_dashes(tap)
        test_default_time(tap)
        test_statuses(tap, folder)
        test_perf_options(tap, folder)
        test_period(tap)
        test_delay(tap)
        test_help(tap)
        test_signals(tap)
        test_repeat_ends(tap, folder)
        test_reads(tap)
        test_cost(tap)
        test_widths(tap, os.path.join(folder, "narrow"))
        test_advice(tap, os.path.join(folder, "recorded"))
        test_closed_streams(tap)
        test_decimal_comma(tap, folder)
        test_no_text(tap)
        test_full_disk(tap)
        test_no_proc(tap)
        test_refusals(tap)
    tap.end()


if __name__ == "__main__":
    main()
