# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Regions of a Python program, which "uncore stat --regions" counts by socket:

    import uncore

    with uncore.region("solve"):
        solve()

    @uncore.region("step")
    def step():
        ...

Without that command the functions do nothing, and libuncore.so.1 is not needed. Regions
belong to threads; a coroutine that awaits within a region may end the region of another
one. uncore_region(3) has the rest.
"""

import contextlib
import ctypes
import os

__all__ = ["region", "region_begin", "region_end"]

# The variable is set by uncore stat --regions, for its command.
_library = ctypes.CDLL("libuncore.so.1") if os.environ.get("UNCORE_REGIONS") else None
if _library:
    _library.uncore_region_begin.argtypes = [ctypes.c_char_p]
    _library.uncore_region_end.argtypes = []


def region_begin(name):
    """Begin a region in this thread. Return 0, or the code of an error in
    uncore/uncore.h, which may be ignored."""
    return _library.uncore_region_begin(os.fsencode(name)) if _library else 0


def region_end():
    """End the region that this thread began last. Return as region_begin() does."""
    return _library.uncore_region_end() if _library else 0


class region(contextlib.ContextDecorator):     # pylint: disable=invalid-name
    """A region as a context manager and as a decorator of a function."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        region_begin(self.name)
        return self

    def __exit__(self, *_):
        region_end()
