# SPDX-License-Identifier: GPL-2.0-or-later
"""
Write the event rates of scenarios to the simulator's file "rates", for the machine that
is simulated.
"""

import os

from lib.python.uncore import GENERATION
from scenarios import causes, flow, generations

SIM = "/sys/kernel/debug/xeon_uncore_sim"
MODULE = "/sys/module/xeon_uncore_sim/parameters"
CHUNK = 32 << 10            # the simulator accepts whole lines, at most 64 KiB per write


class Failure(Exception):
    """An error, with one line of text for the user."""


def parameter(name, default):
    """Return a parameter of the loaded simulator, or @default. A clock of 0 means the
    clock of the uncore."""
    try:
        with open(os.path.join(MODULE, name), encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return default


def boxes(default):
    """Return the simulator's {box type: boxes of a package}, or @default without one."""
    try:
        with open(os.path.join(MODULE, "boxes"), encoding="ascii") as file:
            words = (word.split(":") for word in file.read().strip().split(","))
            return {name: int(number) for name, number in words}
    except OSError:
        return default


def machine():
    """Return the flow.Machine that the loaded simulator simulates."""
    defaults = {**causes.MACHINE, **causes.parameters(GENERATION)}
    uclk = parameter("uclk_khz", defaults["uclk_khz"])
    packages = parameter("packages", 2)
    node_map = parameter("node_map", 0) or 0o76543210
    clocks = [(parameter(name + "_khz", defaults[name + "_khz"]) or
               uclk) * 1e3 for name in ("dclk", "qclk", "pclk")]
    nodes = tuple(node_map >> 3 * i & 7 for i in range(packages))
    known = generations.load(GENERATION)
    if known.mesh:
        there = boxes(known.boxes)
        cha, m2m, imc, upi, iio = (there.get(name, 0)
                                   for name in ("cha", "m2m", "imc", "upi", "iio"))
        return flow.Machine(
            packages, cha, 0, m2m, imc, upi, uclk * 1e3, *clocks, nodes, GENERATION, iio,
            (parameter("ioclk_khz", defaults["ioclk_khz"]) or uclk) * 1e3)
    return flow.Machine(
        packages, parameter("cboxes", 18), parameter("sboxes", 4),
        parameter("has", 2), parameter("imcs", causes.MACHINE["imcs"]),
        parameter("qpi_ports", causes.MACHINE["qpi_ports"]), uclk * 1e3,
        *clocks, nodes, GENERATION)


class Player:
    """Writes rates to the simulator. Rates of the previous scenario that the new one
    lacks become 0."""

    def __init__(self, sim):
        self.path = os.path.join(sim, "rates")
        if not os.path.exists(self.path):
            raise Failure("no simulator: %s is missing; load xeon_uncore_sim, "
                          "as root, with debugfs mounted" % self.path)
        self.rates = {}

    def write(self, lines):
        """Write whole lines in chunks of at most CHUNK bytes."""
        start = size = 0
        for i, line in enumerate([*lines, ""]):
            if i > start and (not line or size + len(line) > CHUNK):
                self._write("".join(lines[start:i]))
                start, size = i, 0
            size += len(line)

    def _write(self, text):
        try:
            # Append. In debugfs O_APPEND makes no difference, and in an ordinary file,
            # which a test uses, it keeps the previous lines.
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, text.encode("ascii"))
            finally:
                os.close(fd)
        except PermissionError as error:
            raise Failure("%s: permission denied; be root" %
                          self.path) from error
        except OSError as error:
            raise Failure("%s: %s; the kernel log says why" % (
                self.path, error.strerror)) from error

    def show(self, hardware, name, seconds):
        """Write the rates of a scenario, @seconds after its start."""
        self.show_causes(hardware, causes.at(name, seconds, hardware.packages))

    def show_causes(self, hardware, each):
        """Write the rates that follow from the causes of each socket."""
        now = {}
        for socket in flow.sockets(hardware, each):
            for entry in socket.flows:
                line = entry.line(socket.package)
                kind, rate = line.rsplit(" rate=", 1)
                now[kind] = rate
        gone = [kind for kind in self.rates if kind not in now]
        changed = [kind for kind, rate in now.items()
                   if self.rates.get(kind) != rate]
        self.write(["%s rate=0\n" % kind for kind in gone
                    if self.rates[kind] != "0\n"] +
                   ["%s rate=%s" % (kind, now[kind]) for kind in changed])
        self.rates = {**dict.fromkeys(gone, "0\n"), **now}


def start(name, sim=SIM):
    """Let a scenario begin, whose rates stay if it is a steady one. Return the Player and
    the machine."""
    player, hardware = Player(sim), machine()
    player.write(["off\n", "on\n"])
    player.show(hardware, name, 0)
    return player, hardware
