#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The uncore command beside other users of the machine: their symbolic links in
sticky folders, and their environment where the command has more rights than they. It runs as root, and as another user
where that matters; events of the kernel stand in for those of boxes.
"""

import contextlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import EVENT, LIMIT, UNCORE, comments, run  # noqa: E402
from lib.python.uncore import Machine, Tap  # noqa: E402

TRAFFIC = "hswep_imc_0/cas_count.rd/"
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
    for arguments in (("flamegraph", "-o", "LINK", folded),
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


# --- file capabilities -----------------------------------------------------------------

CAP_PERFMON, CAP_BPF = 38, 39


def give_capabilities(path, *numbers):
    """As setcap does, version 2 of linux/capability.h."""
    mask = sum(1 << number for number in numbers)
    os.setxattr(path, "security.capability",
                struct.pack("<5I", 0x02000001, mask & 0xffffffff, 0, mask >> 32,
                            0))


def test_capabilities(tap, folder):
    """The environment of a caller with less rights than the command."""
    command = os.path.join(folder, "uncore")
    shutil.copy(UNCORE, command)
    os.chmod(command, 0o755)
    got = {}
    for capable in (False, True):
        if capable:
            give_capabilities(command, CAP_PERFMON, CAP_BPF)
        got[capable] = subprocess.run(
            [command, "top", "--once", "-e", TRAFFIC, "true"], user=OTHER, group=OTHER, extra_groups=[], check=False,
            env={**os.environ, "UNCORE_DEBUG": "1"}, stderr=subprocess.PIPE,
            encoding="utf-8", errors="replace", timeout=LIMIT)
    if "libbpf:" not in got[False].stderr:
        tap.ok(False, "libbpf's messages without file capabilities",
               comments(got[False])[:5])
        return
    tap.ok("libbpf:" not in got[True].stderr and
           len(got[True].stderr.splitlines()) <= 1,
           "UNCORE_DEBUG has no effect on a command with file capabilities",
           comments(got[True])[:5])


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
    with Machine(tap):
        test_capabilities(tap, folder)
    shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
