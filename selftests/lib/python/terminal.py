# SPDX-License-Identifier: GPL-2.0-or-later
"""
Run a program on a terminal, and emulate the screen: as much of an xterm as ncurses uses.
An unknown control sequence raises an exception, so that the test fails.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

from lib.python.command import LIMIT, PATIENCE, keep_output

CSI = re.compile(rb"\x1b\[([?>]?)([0-9;]*)([@-~])")
OSC = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
OTHER = re.compile(rb"\x1b(?:[()][0-9A-B]|[78=>DEHMc])")
# Most characters that programs draw; all of these take one column.
NARROW = set(map(chr, [*range(0x20, 0x7f), *range(0x2500, 0x25a0)]))
TEXT = re.compile(rb"[^\x00-\x1f\x7f]+")
LONGEST = 64                # most bytes of a control sequence


class Screen:
    """Lines of characters, a cursor, and modes that a program must restore at its end."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.clear()
        self.row = self.column = 0
        self.saved = 0, 0
        self.region = 0, rows - 1
        self.alternate = False
        self.cursor_shown = True
        self.keypad = False
        self.colours = set()    # codes of all colours that were selected so far
        self.pending = b""      # start of an incomplete sequence or character
        self.last = " "

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]

    def resize(self, rows, columns):
        """Changes the size. Terminals differ in the text that they keep, so programs draw
        anew: clear the screen."""
        self.rows, self.columns = rows, columns
        self.clear()
        self.row = self.column = 0
        self.region = 0, rows - 1

    def lines(self):
        return ["".join(line).rstrip() for line in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, data):
        data, self.pending = self.pending + data, b""
        while data:
            if data[0] == 0x1b:
                for kind in (CSI, OSC, OTHER):
                    match = kind.match(data)
                    if match:
                        break
                else:
                    if len(data) > LONGEST:
                        raise ValueError("unknown sequence %r" % data[:16])
                    self.pending = data
                    return
                data = data[match.end():]
                if kind is CSI:
                    self.control(*match.groups())
                elif kind is OTHER:
                    self.escape(match[0][1:])
                continue
            if data[0] < 0x20 or data[0] == 0x7f:
                self.command(data[0])
                data = data[1:]
                continue
            text = TEXT.match(data)[0]
            try:
                shown = text.decode("utf-8")
            except UnicodeDecodeError as error:
                # the character is incomplete as yet, or the bytes are not UTF-8
                if error.start == 0 and len(text) == len(data) < 4 and \
                        error.reason == "unexpected end of data":
                    self.pending = data
                    return
                text = text[:max(error.start, 1)]
                shown = text.decode("utf-8", "replace")
            self.write(shown)
            data = data[len(text):]

    def write(self, text):
        """Draws text. Narrow characters within a line are drawn all at once, which has
        the same effect as one by one, and is faster on a slow machine."""
        if self.column + len(text) < self.columns and NARROW.issuperset(text):
            end = self.column + len(text)
            self.cells[self.row][self.column:end] = text
            self.column = end
            self.last = text[-1]
            return
        for character in text:
            self.put(character)

    def put(self, character):
        wide = unicodedata.east_asian_width(character) in "WF"
        if unicodedata.combining(character):
            return
        if self.column + wide >= self.columns:
            self.column = 0
            self.down()
        self.cells[self.row][self.column] = character
        if wide:
            self.cells[self.row][self.column + 1] = ""
        self.column += 1 + wide
        self.last = character

    def scroll(self, lines):
        top, bottom = self.region
        for _ in range(abs(lines)):
            empty = [" "] * self.columns
            if lines > 0:
                del self.cells[top]
                self.cells.insert(bottom, empty)
            else:
                del self.cells[bottom]
                self.cells.insert(top, empty)

    def down(self):
        if self.row == self.region[1]:
            self.scroll(1)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def command(self, byte):
        if byte == 0x0d:
            self.column = 0
        elif byte in (0x0a, 0x0b, 0x0c):
            self.down()
        elif byte == 0x08:
            self.column = max(0, min(self.column, self.columns - 1) - 1)
        elif byte == 0x09:
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif byte not in (0x00, 0x07, 0x0e, 0x0f):
            raise ValueError("control character %#x" % byte)

    def escape(self, code):
        if code == b"7":
            self.saved = self.row, self.column
        elif code == b"8":
            self.row, self.column = self.saved
        elif code in (b"=", b">"):
            self.keypad = code == b"="
        elif code == b"D":
            self.down()
        elif code == b"E":
            self.column = 0
            self.down()
        elif code == b"M":
            if self.row == self.region[0]:
                self.scroll(-1)
            else:
                self.row -= 1
        elif code[:1] not in b"()H":
            raise ValueError("escape %r" % code)

    def mode(self, numbers, on):
        for number in numbers:
            if number in (47, 1047, 1049):
                if on != self.alternate:
                    self.clear()
                self.alternate = on
            elif number == 25:
                self.cursor_shown = on
            elif number == 1:
                self.keypad = on

    def control(self, kind, numbers, final):
        given = [int(part or 0) for part in numbers.split(b";")] \
            if numbers else []
        if kind:
            if final in b"hl":
                self.mode(given, final == b"h")
            return
        first = max(1, given[0] if given else 1)
        which = given[0] if given else 0
        line = self.cells[self.row]
        self.column = min(self.column, self.columns - (final != b"m"))
        if final in b"Hf":
            self.row = min(first, self.rows) - 1
            self.column = min(max(1, given[1] if len(given) > 1 else 1),
                              self.columns) - 1
        elif final == b"A":
            self.row = max(0, self.row - first)
        elif final == b"B":
            self.row = min(self.rows - 1, self.row + first)
        elif final == b"C":
            self.column = min(self.columns - 1, self.column + first)
        elif final == b"D":
            self.column = max(0, self.column - first)
        elif final == b"G":
            self.column = min(first, self.columns) - 1
        elif final == b"d":
            self.row = min(first, self.rows) - 1
        elif final == b"J":
            self.erase_screen(which)
        elif final == b"K":
            start, end = {0: (self.column, self.columns),
                          1: (0, self.column + 1),
                          2: (0, self.columns)}[which]
            line[start:end] = [" "] * (end - start)
        elif final == b"X":
            end = min(self.columns, self.column + first)
            line[self.column:end] = [" "] * (end - self.column)
        elif final == b"P":
            del line[self.column:self.column + first]
            line += [" "] * (self.columns - len(line))
        elif final == b"@":
            line[self.column:self.column] = [" "] * first
            del line[self.columns:]
        elif final == b"b":
            for _ in range(first):
                self.put(self.last)
        elif final in b"LM":
            if self.region[0] <= self.row <= self.region[1]:
                region, self.region = self.region, (self.row, self.region[1])
                self.scroll(first if final == b"M" else -first)
                self.region = region
        elif final in b"ST":
            self.scroll(first if final == b"S" else -first)
        elif final == b"r":
            self.region = first - 1, (given[1] if len(given) > 1
                                      else self.rows) - 1
            self.row = self.column = 0
        elif final == b"m":
            self.colours |= {code for code in given
                             if 30 <= code <= 37 or 40 <= code <= 47 or
                             90 <= code <= 107}
        elif final not in b"lht":
            raise ValueError("sequence %r %r" % (numbers, final))

    def erase_screen(self, which):
        self.control(b"", b"%d" % which, b"K")
        for i, line in enumerate(self.cells):
            if which == 2 or (which == 0 and i > self.row) or \
                    (which == 1 and i < self.row):
                line[:] = [" "] * self.columns


class OnTerminal:
    """A program on a terminal with a Screen. Its standard error is a pipe of its own."""

    def __init__(self, rows, columns, arguments, stderr=subprocess.PIPE,
                 **environment):
        self.screen = Screen(rows, columns)
        self.raw = b""
        self.master, self.slave = pty.openpty()
        self._set_size(rows, columns)
        keep_output(self.slave)
        self.modes = termios.tcgetattr(self.slave)
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("COLUMNS", "LINES", "NO_COLOR", "LANG") and
                 not name.startswith("LC_")}
        environment = {"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        self.process = subprocess.Popen(
            arguments, stdin=self.slave, stdout=self.slave,
            stderr=stderr or self.slave, start_new_session=True,
            env={**clean, **{name: value for name, value in
                             environment.items() if value is not None}},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        """Changes the size of the terminal; the kernel signals the change to the program."""
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)

    def send(self, keys):
        os.write(self.master, keys.encode())

    def signal(self, number):
        self.process.send_signal(number)

    def pump(self, seconds):
        """Waits up to @seconds for output, and draws the output on the screen. Returns
        whether there was output."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        data = os.read(self.master, 65536)
        self.raw += data
        self.screen.feed(data)
        return True

    def wait(self, condition, limit=LIMIT):
        """Waits until the condition is true of the screen; returns whether it became
        true. The condition is tested only after a pause of the output, so that the screen
        is not half drawn."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if not self.pump(0.05) and condition(self.screen):
                return True
            if self.process.poll() is not None and not self.pump(0):
                return bool(condition(self.screen))
        return False

    def shows(self, *texts, limit=LIMIT):
        return self.wait(lambda screen: all(
            text in screen.text() for text in texts), limit)

    def end(self):
        """Waits for the end of the program; returns (exit status, standard error)."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.pump(0.1)
        while self.pump(0):
            pass
        if self.process.poll() is None:
            self.process.kill()
        error = self.process.communicate()[1] or b""
        return self.process.returncode, error.decode("utf-8", "replace")

    def is_restored(self):
        """Whether the program has restored the screen's and the terminal's modes."""
        return not self.screen.alternate and self.screen.cursor_shown and \
            not self.screen.keypad and \
            termios.tcgetattr(self.slave) == self.modes
