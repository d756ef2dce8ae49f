# SPDX-License-Identifier: GPL-2.0-or-later
"""
A container without a container runtime. build() makes the root file system of the
Containerfile. enter() starts a command in the root as runc does for a manifest: with
namespaces, a read-only root, another user and only the capabilities of the manifest.
"""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys

from lib.python.uncore import TOP, UNCORE

SERVE = os.path.join(os.path.dirname(UNCORE), "uncore-serve")
PROGRAM = "/usr/libexec/uncore/uncore-serve"
CONTAINERFILE = os.path.join(TOP, "userspace", "monitoring", "kubernetes", "Containerfile")
NAMES = {"12": "bookworm", "13": "trixie"}
CAPABILITIES = {"CHOWN": 0, "DAC_OVERRIDE": 1, "NET_BIND_SERVICE": 10,
                "SYS_ADMIN": 21, "PERFMON": 38, "BPF": 39}
LAST = 63
PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 8, 24, 38
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = \
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID = \
    0x20000, 0x4000000, 0x8000000, 0x20000000
CAPABILITY_VERSION_3 = 0x20080522
LIBC = ctypes.CDLL(None, use_errno=True)


def last_stage():
    """Facts of the Containerfile's last stage: Debian release, packages, setcap's
    arguments, user and targets of COPY."""
    with open(CONTAINERFILE, encoding="utf-8") as file:
        text = file.read().rsplit("\nFROM ", 1)[1].replace("\\\n", " ")
    install = re.search(r"apt-get install .*--no-install-recommends\s+(.*?)&&", text)
    return {"release": re.match(r"debian:(\S+)-slim", text)[1],
            "packages": install[1].split(),
            "setcap": re.search(r"^RUN setcap (\S+) (\S+)$", text, re.M).groups(),
            "user": int(re.search(r"^USER (\d+):\d+$", text, re.M)[1]),
            "copies": re.findall(r"^COPY --from=build \S+ (\S+)$", text, re.M)}


def build(folder):
    """Makes the root of the last stage in @folder. Returns an error message, or None."""
    stage = last_stage()
    # unshare: mounts of a killed mmdebstrap do not stay in this machine's namespace.
    done = subprocess.run(
        ["unshare", "-m", "mmdebstrap", "--quiet", "--mode=root", "--variant=extract",
         "--include=" + ",".join(stage["packages"]), NAMES[stage["release"]], folder,
         "http://deb.debian.org/debian"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if done.returncode:
        return (done.stdout.strip() or "mmdebstrap failed").split("\n")[-1]
    make_folders(folder)
    shutil.copy(SERVE, folder + PROGRAM)
    set_capabilities(folder)
    return None


def make_folders(root):
    for name in "proc", "sys", os.path.dirname(PROGRAM).lstrip("/"):
        os.makedirs(os.path.join(root, name), exist_ok=True)


def copy(folder):
    """Makes a root without a Debian mirror: copies uncore-serve and its libraries from
    this machine to @folder."""
    libraries = subprocess.run(["ldd", SERVE], stdout=subprocess.PIPE, encoding="utf-8",
                               check=True).stdout
    for path in re.findall(r"(/\S+)", libraries):
        target = folder + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
    make_folders(folder)
    program = folder + PROGRAM
    shutil.copy(SERVE, program)
    # the capabilities as setcap writes them: revision 2 of the attribute, effective
    mask = sum(1 << CAPABILITIES[name.removeprefix("cap_").upper()]
               for name in last_stage()["setcap"][0].split("+")[0].split(","))
    os.setxattr(program, "security.capability", struct.pack(
        "<5I", 0x02000001, mask & 0xffffffff, 0, mask >> 32, 0))


def set_capabilities(root):
    """Sets the file capabilities of the Containerfile by the root's setcap."""
    subprocess.run(["chroot", root, "/sbin/setcap", *last_stage()["setcap"]], check=True)


def must(result):
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def mount(what, where, kind=None, flags=0):
    must(LIBC.mount(what.encode(), where.encode(), kind and kind.encode(), flags,
                    None))


def enter(root, sysfs, security):
    """Turns this process into the first process of the container, except for exec.
    @security is the manifest's securityContext of the pod and of the container in one
    dictionary, with "mounts", which are all mounted read-only."""
    must(LIBC.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC))
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND)
    mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(sysfs, root + "/sys", None, MS_BIND | MS_REC)
    mount("none", root + "/sys", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID |
          MS_NODEV | MS_NOEXEC)
    for source, target in security.get("mounts", ()):
        mount(source, root + target, None, MS_BIND | MS_REC)
        mount("none", root + target, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
    if security["readOnlyRootFilesystem"]:
        mount("none", root, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
    os.chroot(root)
    os.chdir("/")
    add = [CAPABILITIES[name] for name in security["capabilities"]["add"]]
    if security["capabilities"]["drop"] != ["ALL"]:
        raise ValueError("it keeps capabilities")
    for number in range(LAST + 1):
        if number not in add:
            LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    must(LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setgroups([])
    os.setresgid(*[security["runAsGroup"]] * 3)
    os.setresuid(*[security["runAsUser"]] * 3)
    mask = sum(1 << number for number in add)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xffffffff, mask >> 32
    must(LIBC.capset(header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)))
    if not security["allowPrivilegeEscalation"]:
        must(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def main():
    """Runs COMMAND in a container; arguments are ROOT SYSFS SECURITY COMMAND..."""
    import json     # pylint: disable=import-outside-toplevel
    root, sysfs, security, *command = sys.argv[1:]
    enter(root, sysfs, json.loads(security))
    os.execve(command[0], command, {"PATH": "/usr/bin:/bin"})


if __name__ == "__main__":
    main()
