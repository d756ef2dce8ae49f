# SPDX-License-Identifier: GPL-2.0-or-later
"""
The transactions of a socket with a mesh, Skylake-SP's, from the same causes as those of a
socket with rings: in its CHAs, M2Ms, UPI links and IO stacks.
"""

from scenarios import generations

LINE = 64
DRD, RFO, CRD = 0x202, 0x200, 0x201     # opcodes of requests of cores
READ, WRITE = 0x21e, 0x248              # and of devices
# Unit mask of the TOR's events: a queue, and a hit or a miss
CORE, DEVICE, HIT, MISS = 0x01, 0x04, 0x10, 0x20
DATA, OTHER = 0x0f, 0x97                # unit masks of UPI's flits
SLOTS = 9                               # of a line
ACCESS = 8                              # bytes that a core reads or writes of a device
UNIT = 4                                # bytes of an IO stack's increments
PORT = 16e9                             # bytes per second of a port with 16 lanes
# Shares of the stacks' ports, (stack, port), in the traffic of all devices
PORTS = {(1, 0): 0.5, (2, 0): 0.3, (3, 2): 0.2}
POSTED, COMPLETION = 0x1, 0x4           # classes of an IO stack's transactions


class Mesh:
    """The parts of a flow.Socket with a mesh."""

    PARTS = ("_tor", "_home", "_memory", "_links", "_devices", "_power")
    LIMITS = ((0x04, "limit_thermal"), (0x05, "limit_power"))

    def adapted(self):
        return self.flows

    # --- CHAs: requests of cores and devices ------------------------------------

    def _in_tor(self, umask, per_second, ns, **keys):
        """Add inserts into the TOR, and the occupancy of entries that stay for @ns."""
        self._add("cha", 0x35, umask, per_second, **keys)
        self._add("cha", 0x36, umask, per_second * ns * 1e-9 * self.machine.uclk, **keys)

    def _asked(self, queue, opc, asked, missing, remote):
        c, remote = self.causes, 0 if self.alone else remote
        self._in_tor(queue | HIT, asked - missing, c.hit_ns, opc=opc)
        self._in_tor(queue | MISS, missing * (1 - remote), c.local_ns, opc=opc)
        self._in_tor(queue | MISS, missing * remote, c.remote_ns, opc=opc, remote=1)

    def _tor(self):
        c, own = self.causes, self.own
        self._clock("cha", 0x00)
        for opc, asked, missing in zip((DRD, RFO, CRD), own.asked.values(),
                                       own.misses.values()):
            self._asked(CORE, opc, asked, missing, c.remote)
        self._asked(DEVICE, READ, own.device_reads, own.device_misses, 0)
        self._asked(DEVICE, WRITE, own.device_writes, own.device_fills, 0)
        self._asked(DEVICE, RFO, own.device_parts, 0, 0)
        requests = sum(own.asked.values())
        self._add("cha", 0x13, 0x01, requests)
        self._add("cha", 0x13, 0x02, requests * c.rejected)
        self._add("cha", 0x11, 0x01,
                  requests * c.ingress_ns * 1e-9 * self.machine.uclk)
        # lookups: a miss finds state I, and all others a line that is E in the LLC
        missing = sum(own.misses.values())
        for umask, found, state in ((0x11, missing, 0x01),
                                    (0x11, requests - missing, 0x20),
                                    (0x09, self.far_reads, 0x01)):
            self._add("cha", 0x34, umask, found, state=state)
        self.requests = requests

    def _home(self):
        """Add the requests to the memory of the socket, and lookups in its directory."""
        c = self.causes
        for umask, requests in ((0x01, self.near_reads), (0x02, self.far_reads),
                                (0x04, self.near_writes), (0x08, self.far_writes)):
            self._add("cha", 0x50, umask, requests)
        self._add("cha", 0x53, 0x01, self.memory_reads * c.forwarded)
        self._add("cha", 0x53, 0x02, self.memory_reads * (1 - c.forwarded))

    # --- M2Ms and memory -----------------------------------------------------------

    def _persistent(self):
        """Add the traffic of persistent memory, and the checks of tags in DRAM."""
        c = self.causes
        reads, writes = c.pmem_reads / LINE, c.pmem_writes / LINE
        self._add("imc", 0xe3, 0x00, reads)
        self._add("imc", 0xe7, 0x00, writes)
        self._add("imc", 0xe0, 0x01, reads * c.pmem_ns * 1e-9 * self.machine.dclk)
        checks = self.memory_reads + self.memory_writes
        for umask, share in ((0x01, c.near_hits), (0x02, (1 - c.near_hits) * 0.6),
                             (0x04, (1 - c.near_hits) * 0.4)):
            self._add("imc", 0xd3, umask, checks * share)

    def _memory(self):
        super()._memory()
        c = self.causes
        for code, lines in ((0x80, self.memory_reads), (0x81, self.memory_writes)):
            self._add("imc", code, 0x00, lines * c.home_ns * 1e-9 * self.machine.dclk)
        if generations.load(self.machine.generation).has("imc", "tagchk"):
            self._persistent()
        self._clock("m2m", 0x00)
        self._add("m2m", 0x37, 0x05, self.memory_reads)     # NORMAL and ALL
        self._add("m2m", 0x38, 0x11, self.memory_writes)    # FULL and ALL
        for code, share in ((0x23, c.to_core), (0x24, (1 - c.to_core) * 0.75),
                            (0x25, (1 - c.to_core) * 0.25)):
            self._add("m2m", code, 0x00, self.memory_reads * share)

    # --- links -----------------------------------------------------------------------

    def _links(self):
        c = self.causes
        self._clock("upi", 0x01)
        if "m3upi" in generations.load(self.machine.generation).boxes:
            self._clock("m3upi", 0x01)
        self.received, self.sent = self._one_way(True), self._one_way(False)
        for code, half, p in ((0x02, 0x27, self.sent), (0x03, 0x25, self.received)):
            lines = p["answers"] + p["returns"] + p["posted"]
            self._add("upi", code, DATA, lines * SLOTS)
            self._add("upi", code, OTHER, p["asks"] + p["done"] + p["snoops"] +
                      p["interrupts"])
            self._share("upi", half, 0x00, c.half_link)
        self._share("upi", 0x21, 0x00, c.no_link)

    # --- IO stacks ---------------------------------------------------------------------

    def _at_port(self, box, code, umask, stack, per_second, **keys):
        self._add(box, code, umask, per_second * self.machine.stacks, number=stack,
                  **keys)

    def _devices(self):
        c, own = self.causes, self.own
        self._clock("m2pcie", 0x01)
        for box, code, umask in (("iio", 0x01, 0x00), ("irp", 0x01, 0x00),
                                 ("iio_free_running", 0xff, 0x10)):
            self._share(box, code, umask, 1.0)
        for (stack, port), share in PORTS.items():
            keys = {"port": 1 << port, "fc": POSTED}
            # devices write to memory and read from it; cores write to devices and read
            for code, umask, size in (
                    (0x83, 0x01, c.device_writes), (0x83, 0x04, c.device_reads),
                    (0xc0, 0x01, c.mmio_writes * ACCESS),
                    (0xc0, 0x04, c.mmio_reads * ACCESS)):
                keys["fc"] = COMPLETION if umask == 0x04 else POSTED
                self._at_port("iio", code, umask, stack, size * share / UNIT, **keys)
            for way, size in enumerate((c.device_writes, c.device_reads)):
                self._at_port("iio_free_running", 0xff, 0x20 + 4 * way + port, stack,
                              size * share / UNIT)
                self._at_port("iio_free_running", 0xff, 0x30 + 2 * port + way, stack,
                              min(1.0, size * share / PORT) * self.machine.ioclk)
            for code, umask, lines in (
                    (0x10, 0x01, own.device_reads), (0x10, 0x08, own.device_parts),
                    (0x10, 0x10, own.device_writes), (0x11, 0x01, own.device_reads),
                    (0x11, 0x02, own.device_writes + own.device_parts)):
                self._at_port("irp", code, umask, stack, lines * share)
