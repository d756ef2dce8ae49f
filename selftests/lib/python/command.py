# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shared code of the tests of the uncore command that need no PMU: run the command, with
pipes or on a terminal of a given size, and wait for its output.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time

from lib.python.uncore import UNCORE

EVENT = "page-faults"   # an event of the kernel, in place of an event of a box
LIMIT = 120             # time limit of a single step, in seconds
PATIENCE = 600          # time limit of a run with many steps on a slow machine


@contextlib.contextmanager
def started(arguments, **more):
    """Starts a process, and kills it if the block fails or after PATIENCE seconds. A test
    that waits for a hanging process then continues, and can report missing output."""
    process = subprocess.Popen(arguments, **more)
    watch = threading.Timer(PATIENCE, process.kill)
    watch.start()
    try:
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
    finally:
        watch.cancel()


def run(*arguments, before=(), **more):
    """Runs uncore to its end; @before is a program with arguments that runs uncore."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "encoding": "utf-8", "errors": "replace", "check": False,
            "timeout": LIMIT, **more}
    return subprocess.run([*before, UNCORE, *arguments], **more)


def comments(done):
    return ["status %s" % done.returncode] + \
        ((done.stderr or "") + (done.stdout or "")).splitlines()


def is_refused(done, *words, status=1):
    """Whether a run failed with this status, and printed one line with these words."""
    return done.returncode == status and \
        len(done.stderr.splitlines()) == 1 and \
        done.stderr.startswith("uncore: ") and \
        all(word in done.stderr for word in words)


def one_line(tap, name, done, status, *words):
    """Prints the result of is_refused()."""
    tap.ok(is_refused(done, *words, status=status), name, comments(done))


def wait_for(path, text):
    """Waits until a file contains a text, or LIMIT seconds have passed."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            if text in file.read():
                return
        time.sleep(0.05)


def read_until(terminal, text):
    """Reads a terminal until it shows a text, the program ends or LIMIT seconds have
    passed. Returns the output."""
    shown = b""
    deadline = time.monotonic() + LIMIT
    with contextlib.suppress(OSError):      # the program ended
        while text not in shown and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536)
    return shown


def keep_output(terminal):
    """
    Makes a terminal keep its output at Ctrl-C and Ctrl-Z. By default the terminal drops
    output that was not read yet, and Linux may drop it after the program has already
    answered the key.
    """
    mode = termios.tcgetattr(terminal)
    mode[3] |= termios.NOFLSH       # of the local modes
    termios.tcsetattr(terminal, termios.TCSANOW, mode)


def on_terminal(columns, *arguments, rows=25, after=None, **environment):
    """Runs uncore on a terminal with @columns columns; returns (exit status, output).
    @after is called with the process and the master side of the terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))
    keep_output(slave)
    clean = {name: value for name, value in os.environ.items()
             if name not in ("COLUMNS", "LINES")}
    with started(
            [UNCORE, *arguments], stdin=slave, stdout=slave, stderr=slave,
            env={**clean, "TERM": "xterm", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            ) as process:
        os.close(slave)
        shown = b""
        if after:
            after(process, master)
        with contextlib.suppress(OSError):
            while chunk := os.read(master, 65536):
                shown += chunk
        status = process.wait(timeout=LIMIT)
    os.close(master)
    return status, shown.decode("utf-8", "replace").replace("\r\n", "\n")


def visible(line):
    """A line without its escape sequences."""
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", line)
