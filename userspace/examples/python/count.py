#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Counts an event list while a command runs, and prints each socket's counts:

    count.py imc/cas_count.rd/,imc/cas_count.wr/ make -j

The program calls the functions of uncore.h in libuncore.so.1 through ctypes.
"""

import ctypes
import subprocess
import sys

PACKAGE, TOTAL = 1, 1       # enum uncore_scope, enum uncore_period


class Value(ctypes.Structure):
    """struct uncore_value"""
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("unit", ctypes.c_char_p), ("pmu", ctypes.c_char_p),
                ("package", ctypes.c_int), ("is_metric", ctypes.c_int),
                ("value", ctypes.c_double), ("error", ctypes.c_double),
                ("running", ctypes.c_double), ("raw", ctypes.c_uint64)]
    # The later members of the structure are left out: by "size", the library knows
    # which members this structure has.


class Session:
    """A struct uncore_session; failed calls raise OSError."""

    def __init__(self):
        self.lib = ctypes.CDLL("libuncore.so.1")
        self.lib.uncore_session_new.restype = ctypes.c_void_p
        self.lib.uncore_session_error.restype = ctypes.c_char_p
        self.lib.uncore_session_news.restype = ctypes.c_char_p
        self.lib.uncore_session_evaluate.restype = ctypes.c_size_t
        self.pointer = ctypes.c_void_p(self.lib.uncore_session_new(None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.uncore_session_free(self.pointer)

    def call(self, function, *arguments):
        """Call uncore_session_FUNCTION(), and raise its error."""
        call = getattr(self.lib, "uncore_session_" + function)
        if call(self.pointer, *arguments):
            raise OSError(
                self.lib.uncore_session_error(self.pointer).decode())

    def news(self):
        """Lines about boxes that do not answer."""
        return iter(lambda: self.lib.uncore_session_news(self.pointer), None)

    def values(self, scope, period):
        count = self.lib.uncore_session_evaluate(self.pointer, scope, period)
        for index in range(count):
            value = Value(size=ctypes.sizeof(Value))
            self.call("value", ctypes.c_size_t(index), ctypes.byref(value))
            yield value


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: count.py EVENT,... COMMAND [ARGUMENT...]")
    try:
        with Session() as session:
            session.call("add_events", sys.argv[1].encode())
            session.call("open", 0)
            session.call("enable")
            status = subprocess.call(sys.argv[2:])
            session.call("read")
            for line in session.news():
                print("count.py:", line.decode(), file=sys.stderr)
            for value in session.values(PACKAGE, TOTAL):
                print("socket %d  %-40s %d" % (
                    value.package, value.name.decode(), value.raw))
    except OSError as err:
        sys.exit("count.py: %s" % err)
    sys.exit(status)


if __name__ == "__main__":
    main()
