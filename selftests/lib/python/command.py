# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shared code of the uncore command's tests that need no PMU: run it, as a program
or on a terminal of some size, and wait for it.
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

EVENT = "page-faults"   # the kernel's own, which stands in for those of boxes
LIMIT = 120             # seconds for anything
PATIENCE = 600          # and for what does many things, on a slow machine


@contextlib.contextmanager
def started(arguments, **more):
    """A process that is killed if the block fails or it hangs, so that a test
    that waits for it continues, and can report missing output."""
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
    """Runs uncore to its end; through another program, if there is one before."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "encoding": "utf-8", "errors": "replace", "check": False,
            "timeout": LIMIT, **more}
    return subprocess.run([*before, UNCORE, *arguments], **more)


def comments(done):
    return ["status %s" % done.returncode] + \
        ((done.stderr or "") + (done.stdout or "")).splitlines()


def is_refused(done, *words, status=1):
    """Did it fail with that status, and one line that has these words?"""
    return done.returncode == status and \
        len(done.stderr.splitlines()) == 1 and \
        done.stderr.startswith("uncore: ") and \
        all(word in done.stderr for word in words)


def one_line(tap, name, done, status, *words):
    """A result: that."""
    tap.ok(is_refused(done, *words, status=status), name, comments(done))


def wait_for(path, text):
    """Until a file has a text."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            if text in file.read():
                return
        time.sleep(0.05)


def read_until(terminal, text):
    """What is shown until that text is, the program ends or time is up."""
    shown = b""
    deadline = time.monotonic() + LIMIT
    with contextlib.suppress(OSError):      # it ended
        while text not in shown and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536)
    return shown


def keep_output(terminal):
    """
    At a Ctrl-C or Ctrl-Z a terminal throws away what it has not shown, and Linux
    may do so after the program has already answered. Not this one.
    """
    mode = termios.tcgetattr(terminal)
    mode[3] |= termios.NOFLSH       # of the local modes
    termios.tcsetattr(terminal, termios.TCSANOW, mode)


def on_terminal(columns, *arguments, rows=25, after=None, **environment):
    """What a person sees in a terminal of that size; @after is called with the
    process and the terminal's other end."""
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
