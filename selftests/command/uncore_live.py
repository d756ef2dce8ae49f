#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore live" on terminals of several sizes. The numbers are those of the scenario
that plays, each key does what the help says, names of tasks cannot control the terminal,
and the terminal is restored however the program ends. CPUs go offline and online, and
boxes die while the program runs.

The tests wait for texts to appear and do not depend on the time that it takes. The first
argument is the part to run: "page", "ends" or "sockets". Further arguments are names of
the part's tests.
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import PATIENCE, comments, one_line, run  # noqa: E402
from lib.python.terminal import OnTerminal  # noqa: E402
from lib.python.top import (TASK, cpu_packages, dead_box, hold_tracepoint,  # noqa: E402
                            online_file, set_online)
from lib.python.uncore import SIM, TOP, UNCORE, Machine, Tap, write  # noqa: E402
from scenarios import causes, flow  # noqa: E402
from scenarios.expected import expected  # noqa: E402
from scenarios.player import Player, machine  # noqa: E402

SIZE = ["%s=%d" % item for item in causes.MACHINE.items()]
SCENARIO = "numa"           # has traffic in all box types
GIB = 1 << 30
INTERVAL = 500      # ms; with less, a slow machine would draw without a pause
QUICK = ("-I", str(INTERVAL))
# Rates depend on this machine's clock, which an emulated CPU reads late; shares, in
# percent as displayed, do not.
CLOSE_RATE, CLOSE_SHARE = 0.05, 0.6
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20,
            "Gi": 1 << 30}
EVIL = "\x1b[31m\u00e9vil"
BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
KEYS = "q quit"


def live(rows, columns, *arguments, before=(), **more):
    """Start uncore live on a terminal of this size."""
    return OnTerminal(rows, columns,
                      [*before, UNCORE, "live", *QUICK, *arguments], **more)


def verdicts(screen):
    """Return (memory, QPI) in percent, of each socket's verdict at the top."""
    values, texts = [], []
    for line in screen.lines()[1:]:
        if re.match(r" \d+: ", line):
            texts.append(line)
        elif texts and line.startswith("     "):
            texts[-1] += line[4:]
        else:
            break
    for line in texts:
        match = re.match(r" \d+: +(?:limited by|nothing limits).*memory:? ([0-9.]+) %.*"
                         r"QPI ([0-9.]+) %", line)
        if match:
            values.append((float(match[1]), float(match[2])))
    return values


def cells(screen, label):
    """Return a row's cell for each socket, (value, share in percent), as displayed."""
    if label == "verdict":
        return verdicts(screen)
    for line in screen.lines():
        name, *rest = re.split("[\u2502|]", line)
        if name.strip() == label and rest:
            values = []
            for text in rest:
                match = re.match(r" *([0-9.]+)([kMGT]?i?)(B/s|/s|Hz|%)?"
                                 r"(?: +([0-9]+)%!?)?", text)
                values.append(match and (
                    float(match[1]) * PREFIXES[match[2]],
                    float(match[4]) if match[4] else None))
            return values
    return []


def tasks(screen):
    """Return the words of each row of the task table."""
    rows, in_table = [], False
    for line in screen.lines():
        in_table = in_table or re.match(r"[> ] *(PID|TASKS) ", line)
        if in_table and re.match(r" *\d+ ", line):
            rows.append(line.split())
    return rows


# --- numbers -------------------------------------------------------------------

def close(got, want, part):
    """Return whether @got differs from @want by at most the share @part of @want."""
    return got is not None and abs(got - want) <= part * want


def wanted():
    """Return the numbers that follow from the scenario, {name: (label of the row, index
    in the cell, value for each socket, whether the number is a rate)}."""
    hardware = machine()
    sockets = flow.sockets(hardware, causes.at(SCENARIO, 0, hardware.packages))
    values = [expected(package, sockets[1 - i].causes)
              for i, package in enumerate(sockets)]
    channels, links = hardware.imcs, hardware.qpi_ports
    peak = channels * hardware.dclk * 16
    want = {}

    def rate(label, value_of, scale=1.0):
        want[label + " rate"] = label, 0, [value_of(v, s) * scale for v, s in
                                           zip(values, sockets)], True

    def share(label, value_of):
        want[label + " share"] = label, 1, [value_of(v, s) for v, s in
                                            zip(values, sockets)], False

    rate("Memory", lambda v, s: v["mem_bw_total_rate"], GIB)
    share("Memory", lambda v, s: 100 * v["mem_bw_total"] / peak)
    rate("read", lambda v, s: v["mem_bw_reads_rate"], GIB)
    rate("write", lambda v, s: v["mem_bw_writes_rate"], GIB)
    for i in range(channels):
        rate("channel %d" % i,
             lambda v, s: v["mem_bw_total_rate"] / channels, GIB)
        share("channel %d" % i, lambda v, s: 100 * v["mem_bw_total"] / peak)
    rate("QPI sent", lambda v, s: v["qpi_data_bw_rate"], GIB)
    share("QPI sent", lambda v, s: v["qpi_tx_util"])
    for i in range(links):
        rate("link %d" % i, lambda v, s: v["qpi_data_bw_rate"] / links, GIB)
        share("link %d" % i, lambda v, s: v["qpi_tx_util"])
    for index, name in enumerate(("mem_bw_total", "qpi_tx_util")):
        most = 100 / peak if index == 0 else 1
        want["verdict " + name] = "verdict", index, [
            most * v[name] for v in values], False
    rate("PCIe reads", lambda v, s: s.causes.device_reads)
    rate("PCIe writes", lambda v, s: s.causes.device_writes)
    rate("Uncore clock", lambda v, s: hardware.uclk)
    want["cores"] = "Active cores", 0, [
        package.causes.core_c0 * hardware.cboxes for package in sockets], False
    want["power"] = "Held by power", 0, [
        100 * package.causes.limit_power for package in sockets], False
    want["heat"] = "Held by heat", 0, [
        100 * package.causes.limit_thermal for package in sockets], False
    # remote data reads of the cores that miss, of all data reads that miss
    share("remote", lambda v, s: 100 * sum(
        entry.rate for entry in s.flows if entry.box == "cbox" and entry.code == 0x35 and
        entry.umask & flow.MISS and entry.umask & flow.REMOTE) / sum(
            entry.rate for entry in s.flows if entry.box == "cbox" and
            entry.code == 0x35 and entry.umask & flow.MISS))
    return want


def test_numbers(tap):
    """Each number is right in at least one interval. The rates of the scenario are the
    same in all intervals."""
    Player(SIM).write(["off\n", "on\n"])
    Player(SIM).show(machine(), SCENARIO, 0)
    pending, seen = wanted(), {}
    count = len(pending)
    with live(60, 200, "--no-tasks") as shown:
        def right(screen):
            for name, (label, index, want, is_rate) in list(pending.items()):
                got = [cell and cell[index] for cell in cells(screen, label)]
                seen[name] = got
                if len(got) == len(want) and all(
                        close(number, target, CLOSE_RATE) if is_rate else
                        number is not None and abs(number - target) <= CLOSE_SHARE
                        for number, target in zip(got, want)):
                    del pending[name]
            return not pending
        shown.wait(right)
        tap.ok(not pending, "%d numbers of each socket are those of '%s'" %
               (count, SCENARIO),
               ["%s: %r, want %r" % (name, seen.get(name), entry[2])
                for name, entry in pending.items()] + shown.screen.lines())
        shown.send("d")
        rows = ("Memory", "read", "write", "channels", "LLC misses", "remote",
                "QPI sent", "links", "PCIe reads", "PCIe writes",
                "Active cores", "Uncore clock", "Held by power", "Held by heat")
        shown.send("d")         # "d" changes from rows for each box to a row for all
        good = shown.wait(lambda screen: not cells(screen, "channel 0") and
                          all(cells(screen, row) for row in rows))
        tap.ok(good, "d: a row for all boxes of a type", shown.screen.lines())
        shown.send("q")
        status, error = shown.end()
        tap.ok(status == 0 and not error and shown.is_restored(),
               "q ends it, and the terminal is as it was",
               ["status %s" % status, error])


def test_once(tap):
    result = run("live", "--once", *QUICK, "--no-tasks",
                 env={**os.environ, "LC_ALL": "C.UTF-8"})
    first = result.stdout.splitlines()
    tap.ok(result.returncode == 0 and not result.stderr and
           "\x1b" not in result.stdout and "socket 0" in result.stdout and
           "socket 1" in result.stdout and "channel 3" in result.stdout and
           "QPI sent" in result.stdout and KEYS not in result.stdout and
           all(line == line.rstrip() for line in first),
           "--once prints a page as text, without keys", comments(result))
    result = run("live", "--once", *QUICK, "--no-tasks",
                 env={**os.environ, "LC_ALL": "C"})
    tap.ok(result.returncode == 0 and result.stdout.isascii(),
           "--once: ASCII where the locale has no more", comments(result))


# --- layout --------------------------------------------------------------------

def test_sizes(tap):
    with live(24, 80) as shown:
        # "Uncore clock" is the twelfth row of numbers, the last that fits.
        good = shown.shows("socket 0", "socket 1", KEYS, "Uncore clock",
                           "COMMAND", "[total]", " 0:  limited by", "; \u2026")
        # wait until the history has enough values to draw lines
        good = good and shown.wait(lambda screen: sum(
            character in BLOCKS for character in screen.text()) > 20)
        tap.ok(good and KEYS in shown.screen.lines()[-1] and
               len(tasks(shown.screen)) >= 2,
               "80x24: two sockets side by side, tasks, history and keys",
               shown.screen.lines())
        tap.ok(shown.screen.colours, "with colours")
        shown.resize(60, 200)
        tap.ok(shown.shows("channel 3", "link 1", "self-refresh", KEYS) and
               KEYS in shown.screen.lines()[-1] and
               "[total]" in shown.screen.text(),
               "resized to 200x60: each box", shown.screen.lines())
        shown.resize(5, 20)
        tap.ok(shown.wait(lambda screen: "too small" in
                          " ".join(screen.text().split())),
               "20x5: too small, and says so", shown.screen.lines())
        shown.send("s /x\x1bdhh\t")
        shown.resize(1, 1)
        shown.resize(24, 80)
        tap.ok(shown.shows("socket 1", KEYS), "and continues when it is larger",
               shown.screen.lines())
        shown.resize(15, 50)
        tap.ok(shown.shows("socket 0", "Memory") and
               "socket 1" not in shown.screen.text() and
               "1 more" in shown.screen.text(),
               "50x15: one socket at a time", shown.screen.lines())
        shown.send("\x1bOC")
        tap.ok(shown.shows("socket 1"), "and the right arrow goes to the next",
               shown.screen.lines())
        shown.send("q")
        status, error = shown.end()
        tap.ok(status == 0 and not error and shown.is_restored(),
               "it ends as it should", ["status %s" % status, error])


def test_plain(tap):
    with live(24, 80, "--no-tasks", LC_ALL="C", NO_COLOR="1") as shown:
        good = shown.shows("socket 1", KEYS) and shown.wait(
            lambda screen: re.search(r"[#*+]{2}", screen.text()))
        shown.send("q")
        status, _ = shown.end()
        tap.ok(good and status == 0 and shown.raw.isascii(),
               "a locale without UTF-8: ASCII alone", shown.screen.lines())
        tap.ok(not shown.screen.colours, "NO_COLOR: no colours",
               [repr(shown.screen.colours)])


# --- keys ------------------------------------------------------------------------

def sorted_by(rows, key, order):
    values = [key(row) for row in rows]
    return len(values) > 2 and values == sorted(values, reverse=order)


def test_keys(tap):
    Player(SIM).write(["off\n", "on\n"])
    author = subprocess.Popen([TASK, "-1", "1000000", "100000000", "20000",
                               EVIL])
    try:
        with live(40, 100) as shown:
            test_tasks(tap, shown, author)
            test_filter(tap, shown)
            test_pause(tap, shown)
            shown.send("h")
            tap.ok(shown.shows("keys and numbers", "the pane to scroll"),
                   "h: help", shown.screen.lines())
            shown.send("h")
            shown.shows("socket 0")
            shown.send("q")
            tap.ok(shown.end()[0] == 0 and b"\x1b[31m" + "\u00e9".encode()
                   not in shown.raw, "no name has written on the terminal")
    finally:
        author.kill()
        author.wait()


def test_tasks(tap, shown, author):
    name = "?[31m\u00e9vil"
    good = shown.wait(lambda screen: tasks(screen) and
                      tasks(screen)[0][-1] == name and
                      float(tasks(screen)[0][3]) > 0)
    tap.ok(good and tasks(shown.screen)[0][0] == str(author.pid),
           "the first task is the one that reads most, with a name without control "
           "characters", shown.screen.lines())
    shown.send("/\u00e9vil\n")
    tap.ok(shown.wait(lambda screen: len(tasks(screen)) == 1 and
                      "/\u00e9vil" in screen.text()),
           "/: the tasks with a text", shown.screen.lines())
    shown.send("/\x1b")
    tap.ok(shown.wait(lambda screen: len(tasks(screen)) > 3),
           "Escape: all of them", shown.screen.lines())
    shown.send("/%d\n" % author.pid)
    tap.ok(shown.wait(lambda screen: [row[0] for row in tasks(screen)] ==
                      [str(author.pid)]), "/: by its number",
           shown.screen.lines())
    shown.send("/\x1b")
    shown.wait(lambda screen: len(tasks(screen)) > 3)
    for key, column, order in (("read", None, True), ("write", None, True),
                               ("cpu", 1, True), ("pid", 0, False),
                               ("name", None, False)):
        shown.send("s")
        tap.ok(shown.wait(lambda screen, key=key, column=column, order=order:
                          "by " + key in screen.text() and
                          (column is None or sorted_by(
                              tasks(screen),
                              lambda row: float(row[column]), order))),
               "s: sorted by " + key, shown.screen.lines())
    shown.send("s")
    shown.shows("by memory")
    shown.send("r")
    tap.ok(shown.wait(lambda screen: "by memory, least first" in
                      screen.text() and tasks(screen) and
                      tasks(screen)[0][-1] != name),
           "r: the other way round", shown.screen.lines())
    shown.send("rb")
    tap.ok(shown.wait(lambda screen: tasks(screen) and "least first" not in
                      screen.text() and tasks(screen)[0][-1] == name),
           "b: by process", shown.screen.lines())
    shown.send("b")
    tap.ok(shown.shows("TASKS", "CGROUP"), "b: by cgroup", shown.screen.lines())
    shown.send("b")
    shown.shows("COMMAND")


def test_filter(tap, shown):
    shown.send("\t/pcie\n")
    tap.ok(shown.wait(lambda screen: cells(screen, "PCIe reads") and not
                      cells(screen, "Memory")),
           "Tab: / is of the numbers then", shown.screen.lines())
    shown.send("/nothing has this\n")
    tap.ok(shown.shows("no row with that text"), "and may find none",
           shown.screen.lines())
    shown.send("/\x1b\t")
    tap.ok(shown.wait(lambda screen: cells(screen, "Memory")),
           "Escape: all rows", shown.screen.lines())


def test_pause(tap, shown):
    """The traffic changes while the page is paused; the page must not change."""
    busy = shown.wait(lambda screen: cells(screen, "Memory") and any(
        cell and cell[0] > 0 for cell in cells(screen, "Memory")))
    shown.send(" ")
    paused = shown.shows("PAUSED")
    while shown.pump(1):        # output that was written before the pause
        pass
    page = shown.screen.text()
    Player(SIM).show(machine(), "io", 0)
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        shown.pump(0.1)
    tap.ok(busy and paused and shown.screen.text() == page,
           "space: the page is frozen", shown.screen.lines())
    shown.send(" ")
    tap.ok(shown.wait(lambda screen: "PAUSED" not in screen.text() and
                      cells(screen, "PCIe writes") and
                      all(cell and cell[0] > 0 for cell in
                          cells(screen, "PCIe writes"))),
           "space again: it shows what is now", shown.screen.lines())
    Player(SIM).write(["off\n", "on\n"])


# --- ends ------------------------------------------------------------------------

def test_signals(tap):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with live(24, 80, "--no-tasks") as shown:
            drawn = shown.shows(KEYS)
            was = shown.screen.alternate and not shown.is_restored()
            shown.signal(number)
            status, error = shown.end()
            tap.ok(drawn and was and status == -number and not error and
                   shown.is_restored(), "%s ends it as it ends others, and the "
                   "terminal is as it was" % number.name,
                   ["status %s" % status, error, repr(was)])
    with live(24, 80, "--no-tasks") as shown:
        drawn = shown.shows(KEYS)
        shown.send("\x03")
        status, error = shown.end()
        tap.ok(drawn and status == -signal.SIGINT and not error and
               shown.is_restored(), "Ctrl-C: the terminal is as it was",
               ["status %s" % status, error])


def test_stop(tap):
    """Ctrl-Z restores the terminal, and fg draws the page again."""
    with OnTerminal(24, 80, ["bash", "--norc", "--noprofile", "-i"],
                    stderr=None, PS1="ready> ") as shown:
        shown.shows("ready>")
        shown.send("%s live --no-tasks %s\n" % (UNCORE, " ".join(QUICK)))
        drawn = shown.shows("socket 0", KEYS)
        shown.send("\x1a")
        stopped = shown.wait(lambda screen: "Stopped" in screen.text() and not
                             screen.alternate and screen.cursor_shown)
        tap.ok(drawn and stopped, "Ctrl-Z stops it, with the terminal restored",
               shown.screen.lines())
        shown.resize(30, 100)
        shown.send("fg\n")
        tap.ok(shown.wait(lambda screen: screen.alternate and
                          KEYS in screen.lines()[-1]),
               "fg: it is there again, in the size that the terminal has now",
               shown.screen.lines())
        shown.send("q")
        shown.wait(lambda screen: not screen.alternate)
        shown.send("echo status=$?.\n")
        tap.ok(shown.shows("status=0."), "and ends well", shown.screen.lines())


def test_no_terminal(tap):
    one_line(tap, "no terminal", run("live", stdin=subprocess.DEVNULL), 1,
             "--once", "uncore stat")
    for name in ("dumb", "no-such-terminal", None):
        with live(24, 80, "--no-tasks", TERM=name) as shown:
            status, error = shown.end()
            tap.ok(status == 1 and error.count("\n") == 1 and
                   "terminal" in error and not shown.raw,
                   "TERM=%s: one line, and nothing drawn" % name,
                   ["status %s" % status, error, repr(shown.raw)])
    one_line(tap, "too short an interval", run("live", "-I", "99"), 2,
             "nterval")


# --- failures during a run -----------------------------------------------------------

def has_numbers(screen, sockets=2):
    """Return whether the uncore clocks of the sockets are above 0."""
    values = cells(screen, "Uncore clock")
    return len(values) >= sockets and all(cell and cell[0] > 0
                                          for cell in values[:sockets])


def test_no_bpf(tap):
    path = "/proc/sys/kernel/perf_event_paranoid"
    with open(path, encoding="ascii") as file:
        before = file.read().strip()
    write(path, "-1")
    try:
        with live(24, 80, before=("setpriv", "--bounding-set=-all",
                                  "--inh-caps=-all")) as shown:
            tap.ok(shown.shows("No tasks:", "CAP_BPF") and
                   shown.wait(has_numbers),
                   "without CAP_BPF: numbers, and the reason why no tasks are shown",
                   shown.screen.lines())
            shown.send("\t/sb\nq")
            tap.ok(shown.end()[0] == 0, "keys work there too",
                   shown.screen.lines())
    finally:
        write(path, before)


def test_cpus(tap):
    """A socket whose last CPU goes offline has no numbers until a CPU comes online."""
    last = cpu_packages()[1]
    if not all(map(os.path.exists, map(online_file, last))):
        tap.skip("CPUs that go", "they cannot be taken offline here")
        return
    seen = []

    def is_gone(screen):
        seen[:] = screen.lines()
        return has_numbers(screen, 1) and \
            cells(screen, "Uncore clock")[1:] == [None] and \
            "socket 1 has no CPU online" in screen.text()

    # The CPUs go offline at eight moments of an interval, also while counters are read.
    with live(40, 100, "--no-tasks") as shown:
        good = shown.wait(has_numbers)
        for moment in range(0, INTERVAL, INTERVAL // 8):
            time.sleep(moment / 1000)
            for cpu in last:
                set_online(cpu, False)
            good = good and shown.wait(is_gone)
            for cpu in last:
                set_online(cpu, True)
            back = shown.wait(has_numbers)
            if not (good and back):
                break
        tap.ok(good, "all CPUs of a socket go: it says so, and the other one's "
               "numbers are updated", seen)
        tap.ok(back and "no CPU online" not in shown.screen.text(),
               "and come back", shown.screen.lines())
        shown.send("q")
        status, error = shown.end()
        tap.ok(status == 0 and not error, "nothing was printed beside the page",
               [error])


def test_dead_box(tap):
    """A memory channel and then a QPI port stop answering while their events count."""
    Player(SIM).write(["off\n", "on\n"])
    Player(SIM).show(machine(), SCENARIO, 0)
    rows = [*("channel %d" % i for i in range(machine().imcs)),
            *("link %d" % i for i in range(machine().qpi_ports))]
    seen = []

    def goes_on_but(screen, dead, message):
        """Return whether all rows have numbers except the dead boxes of socket 1, and
        the text @said is displayed."""
        seen[:] = screen.lines()
        return message in screen.text() and "Memory" in screen.text() and all(
            len(values) == 2 and values[0] and values[0][0] > 0 and
            (values[1] is None if row in dead else
             values[1] and values[1][0] > 0)
            for row, values in ((row, cells(screen, row))
                                for row in (*rows, "Memory", "QPI sent")))

    with live(60, 100, "--no-tasks") as shown:
        tap.ok(shown.wait(lambda screen: goes_on_but(screen, (), KEYS)),
               "all boxes have numbers", seen)
        for box, dead, message in (
                ("imc_2", ["channel 2"],
                 "hswep_imc_2 of socket 1 does not answer"),
                ("qpi_1", ["channel 2", "link 1"], "one of 2 boxes")):
            write(SIM + "fault", dead_box(1, box))
            tap.ok(shown.wait(lambda screen, dead=dead, message=message:
                              goes_on_but(screen, dead, message)),
                   "%s dies: it has no numbers any more, others do, and a line "
                   "says so" % box, seen)
        shown.send("q")
        status, error = shown.end()
        tap.ok(status == 0 and not error and shown.is_restored(),
               "nothing was printed beside the page",
               ["status %s" % status, error])
    for box in ("imc_2", "qpi_1"):
        write(SIM + "fault", dead_box(1, box, False))


# --- other machines -----------------------------------------------------------------

class Text:
    """The output of --once, with the interface of a screen."""

    def __init__(self, text):
        self._lines = text.splitlines()

    def lines(self):
        return self._lines


def test_sockets(tap):
    """Socket N reads N + 1 times as much as socket 0."""
    count = len(cpu_packages())
    rate = 0.02              # lines per cycle and channel of socket 0
    want = [rate * (i + 1) * 64 * machine().imcs * machine().dclk
            for i in range(count)]
    Player(SIM).write(["off\n", "on\n", *(
        "pkg=%d box=imc event=0x4 umask=0x1 rate=%.9f\n" % (i, rate * (i + 1))
        for i in range(count))])
    seen, right = [], set()

    def has(screen, sockets):
        """Note the sockets whose number is right on a page with exactly @sockets. Return
        whether each had a right number in some interval."""
        seen[:] = screen.lines()
        values = cells(screen, "read")
        headed = next(filter(None, (re.findall(r"socket (\d+)", line)
                                    for line in seen)), [])
        if [int(number) for number in headed] == list(sockets) and \
                len(values) == len(sockets):
            right.update(socket for socket, cell in zip(sockets, values)
                         if cell and close(cell[0], want[socket], CLOSE_RATE))
        return right.issuperset(sockets)

    def comes(shown, *sockets):
        right.clear()
        return shown.wait(lambda screen: has(screen, sockets))

    with live(24, 80, "--no-tasks") as shown:
        tap.ok(comes(shown, 0, 1) and
               "(%d more)" % (count - 2) in shown.screen.text(),
               "80x24: two of %d sockets, with their own numbers" % count, seen)
        shown.send("\x1bOC" * (count + 1))
        tap.ok(comes(shown, count - 2, count - 1),
               "right arrows: the last two, and no further", seen)
        shown.send("\x1bOD")
        tap.ok(comes(shown, count - 3, count - 2),
               "a left arrow: one back", seen)
        shown.resize(30, 14 + 33 * count)
        tap.ok(comes(shown, *range(count)),
               "resized: all sockets side by side", seen)
        shown.send("q")
        status, error = shown.end()
        tap.ok(status == 0 and not error and shown.is_restored(),
               "it ends as it should", ["status %s" % status, error])
    right.clear()
    deadline = time.monotonic() + PATIENCE
    interval = INTERVAL
    while True:
        result = run("live", "--once", "-I", str(interval), "--no-tasks",
                     env={**os.environ, "LC_ALL": "C.UTF-8"})
        good = has(Text(result.stdout), range(count))
        if good or result.returncode or time.monotonic() > deadline:
            break
        # opening all events may take longer than the interval on a slow machine
        interval *= 2
    tap.ok(good and not result.returncode, "--once prints all of them",
           comments(result))


# Parts that tests.list runs separately, as all tests take long on an emulated machine.
PARTS = {
    "page": (test_numbers, test_once, test_sizes, test_plain, test_keys),
    "ends": (test_signals, test_stop, test_no_terminal, test_no_bpf, test_cpus,
             test_dead_box),
    "sockets": (test_sockets,),     # needs a machine with at least four sockets
}


def main():
    tap = Tap()
    part = PARTS[sys.argv[1]]
    if not os.access(TASK, os.X_OK):
        tap.skip_all("%s is not built" % os.path.relpath(TASK, TOP))
    with Machine(tap, clock="real", sim=SIZE):
        hold_tracepoint()
        for test in part:
            if len(sys.argv) < 3 or test.__name__ in sys.argv:
                test(tap)
    tap.end()


if __name__ == "__main__":
    main()
