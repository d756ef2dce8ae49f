#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The uncore command beside other users of the machine: their symbolic links in
sticky folders. It runs as root, and as another user where that matters; events of
the kernel stand in for those of boxes.
"""

import contextlib
import os
import shutil
import tempfile

from lib.command import EVENT, UNCORE, comments, run
from lib.uncore import Tap

OTHER = 65534       # the other user, and its group
PRECIOUS = "precious\n"
SYMLINKS = "/proc/sys/fs/protected_symlinks"


@contextlib.contextmanager
def sysctl(path, value):
    """A setting of the kernel, for a while."""
    with open(path, encoding="ascii") as file:
        before = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(value)
    try:
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


# --- symbolic links ----------------------------------------------------------------

def test_links(tap, folder):
    """A link of another user in a sticky folder, to a file of root's."""
    sticky = os.path.join(folder, "sticky")
    os.mkdir(sticky)
    os.chmod(sticky, 0o1777)
    precious = os.path.join(folder, "precious")
    folded = os.path.join(folder, "folded")
    with open(folded, "w", encoding="ascii") as file:
        file.write("main 1\n")
    for arguments in (("record", "-e", EVENT, "-o", "LINK", "true"),
                      ("flamegraph", "-o", "LINK", folded),
                      ("stat", "-e", EVENT, "-o", "LINK", "true"),
                      ("serve", "--textfile", "LINK")):
        with open(precious, "w", encoding="ascii") as file:
            file.write(PRECIOUS)
        inode = os.stat(precious).st_ino
        link = os.path.join(sticky, "out")
        os.symlink(precious, link)
        os.lchown(link, OTHER, OTHER)
        done = run(*[link if word == "LINK" else word for word in arguments])
        with open(precious, encoding="ascii", errors="replace") as file:
            left = file.read()
        tap.ok(done.returncode == 1 and left == PRECIOUS and
               os.stat(precious).st_ino == inode and
               os.listdir(sticky) == ["out"],
               "uncore %s: another user's link in a sticky folder is not "
               "followed" % arguments[0], [left[:40], *comments(done)])
        os.remove(link)

        # root's own link is
        if arguments[0] == "serve":
            continue
        os.symlink(precious, link)
        done = run(*[link if word == "LINK" else word for word in arguments])
        with open(precious, "rb") as file:
            tap.ok(done.returncode == 0 and os.path.islink(link) and
                   file.read() != PRECIOUS.encode(),
                   "uncore %s: one's own link is" % arguments[0],
                   comments(done))
        os.remove(link)


def main():
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    if os.geteuid():
        tap.skip_all("only root can be two users")
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    with sysctl(SYMLINKS, "1"):
        test_links(tap, folder)
    shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
