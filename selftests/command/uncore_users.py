#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the security of the uncore command against other users: their symbolic links in
sticky folders, and their environment if the command has file capabilities. The tests run
uncore as root, and as another user where needed. Software events of the kernel stand in
for the events of boxes in the test of links.
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
from lib.python.uncore import FEW_SLICES, Machine, Tap  # noqa: E402

TRAFFIC = "hswep_imc_0/cas_count.rd/"
OTHER = 65534       # the other user, and its group
PRECIOUS = "precious\n"
SYMLINKS = "/proc/sys/fs/protected_symlinks"


@contextlib.contextmanager
def sysctl(path, value):
    """Change a sysctl, and restore its value at the end."""
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
    """Another user's symbolic link in a sticky folder points to root's file: uncore, run
    by root, must not write through the link."""
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
        result = run(*[link if word == "LINK" else word for word in arguments])
        with open(precious, encoding="ascii", errors="replace") as file:
            content = file.read()
        tap.ok(result.returncode == 1 and content == PRECIOUS and
               os.stat(precious).st_ino == inode and
               os.listdir(sticky) == ["out"],
               "uncore %s: another user's link in a sticky folder is not "
               "followed" % arguments[0], [content[:40], *comments(result)])
        os.remove(link)

        # uncore follows root's own link
        if arguments[0] == "serve":
            continue
        os.symlink(precious, link)
        result = run(*[link if word == "LINK" else word for word in arguments])
        with open(precious, "rb") as file:
            tap.ok(result.returncode == 0 and os.path.islink(link) and
                   file.read() != PRECIOUS.encode(),
                   "uncore %s: one's own link is" % arguments[0],
                   comments(result))
        os.remove(link)


# --- file capabilities -----------------------------------------------------------------

CAP_PERFMON, CAP_BPF = 38, 39


def give_capabilities(path, *numbers):
    """Set file capabilities like setcap, in the format VFS_CAP_REVISION_2 of
    linux/capability.h."""
    mask = sum(1 << number for number in numbers)
    os.setxattr(path, "security.capability",
                struct.pack("<5I", 0x02000001, mask & 0xffffffff, 0, mask >> 32,
                            0))


def test_capabilities(tap, folder):
    """A command with file capabilities ignores UNCORE_DEBUG of its unprivileged
    caller."""
    command = os.path.join(folder, "uncore")
    shutil.copy(UNCORE, command)
    os.chmod(command, 0o755)
    got = {}
    for capable in (False, True):
        if capable:
            give_capabilities(command, CAP_PERFMON, CAP_BPF)
        got[capable] = subprocess.run(
            [command, "top", "--once", "-e", TRAFFIC, "true"],
            user=OTHER, group=OTHER, extra_groups=[], check=False,
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
    with Machine(tap, sim=FEW_SLICES):
        test_capabilities(tap, folder)
    shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
