# SPDX-License-Identifier: GPL-2.0-or-later
"""
Terms of the formulas in lib/python/metric_formulas.py, and causes: transactions that
distinguish each term from all other terms.
"""

import functools
import random
import re

from lib.python.metric_formulas import CODES, rows
from lib.python.uncore import GENERATION

# Events whose unit mask bits are conditions, which must all hold (§2.3.6).
CONDITIONS = {("cbox", 0x34), ("cbox", 0x35), ("cbox", 0x36)}
# Events that only counter 0 can count (§2.3.4).
COUNTER_0 = {("cbox", 0x11), ("cbox", 0x36), ("cha", 0x11), ("cha", 0x36)}
RELAYS = {("cbox", 0x1f), ("cha", 0x1f)}
# The table of requests of a CHA: bits 3:0 of the unit mask are queues, of which one must
# fit, bits 5:4 hit and miss. Flits of UPI: bits 2:0 are slots, the others kinds.
CHA_TOR = {("cha", 0x35), ("cha", 0x36)}
# Generations whose TOR events have all conditions in the unit mask: a number, by its value.
TOR_NUMBERS = {"icx", "icxd", "snr"}
FLITS = {("upi", 0x02), ("upi", 0x03)}
FIXED = 0xff
COUNTERS = 4
# On Sandy Bridge the unit mask of "any" lookup has a bit for each kind of lookup, and one
# common bit is enough.
ANY_OF = {("snbep", "cbox", 0x34, 0x1f)}
# Names of the filters in perf's event strings.
FIELDS = {"opc": "filter_opc=%#x", "tid": "tid_en=1,filter_tid=%#x",
          "state": "filter_state=%#x", "nc": "filter_nc=%#x",
          **{name: "filter_%s=%%#x" % name
             for name in ("opc0", "opc1", "loc", "rem", "nm", "not_nm")}}


class Term:
    """A term of a formula, in the manual's words: an event, a unit mask and filters."""

    def __init__(self, box, name, umask, filters):
        self.box, self.code = box, CODES[box][name]
        self.umask = int(umask or "0", 16)
        self.filters = {key: int(value, 16) for key, value in
                        re.findall(r"(\w+)=(\w+)", filters or "")}
        self.thresh = self.filters.pop("thresh", 0)
        self.edge = self.filters.pop("edge", 0)

    def key(self):
        return (self.box, self.code, self.umask, self.thresh, self.edge,
                *sorted(self.filters.items()))

    def event(self, box=None):
        """The term as an event string of perf."""
        return "%s/event=%#x%s%s/" % (
            box or self.box, self.code, ",umask=%#x" % self.umask if self.umask else "",
            "".join(
                "," + FIELDS.get(key, key + "=%#x") % value
                for key, value in self.filters.items()))

    def counts(self, cause):
        """What a counter of this term adds for each transaction of the cause."""
        if self.code != cause.code:
            return 0
        if (self.box, self.code) in CHA_TOR and GENERATION in TOR_NUMBERS:
            return cause.value if self.umask == cause.umask else 0
        met = self.umask & cause.umask
        low = 0x07 if (self.box, self.code) in FLITS else 0x0f
        if (self.box, self.code) in CHA_TOR | FLITS and not (met & low and met & ~low):
            return 0
        if (self.box, self.code) in CONDITIONS and \
                (GENERATION, self.box, self.code, self.umask) not in ANY_OF:
            if met != self.umask:
                return 0
        elif not met and (self.umask or cause.umask):
            return 0
        if not all(self._passes(cause.keys, *item)
                   for item in self.filters.items()):
            return 0
        return cause.value

    def _passes(self, keys, field, value):
        """Whether transactions with these keys pass a filter (§2.3.2.3 and §2.9.2.3)."""
        if field in ("opc", "tid"):
            return keys.get(field, 0) == value
        if field in ("state", "nc"):
            return keys.get(field, 0) & value
        if field in ("ch_mask", "fc_mask"):
            return keys[{"ch_mask": "port", "fc_mask": "fc"}[field]] & value
        if field in ("opc0", "opc1"):       # one of the two opcodes
            return keys["opc"] in (self.filters.get("opc0"), self.filters.get("opc1"))
        if field in ("loc", "rem"):         # without either, both
            return self.filters.get("rem" if keys.get("remote") else "loc", 0)
        if field in ("nm", "not_nm"):
            return self.filters.get("nm" if keys.get("near") else "not_nm", 0)
        if field == "match0":
            return not (keys["match0"] ^ value) & self.filters["mask0"]
        if field == "match_rds":
            return keys["match1"] >> 16 & self.filters["mask_rds"] == value
        return field in ("mask0", "mask_rds")


class Metric:
    """A row of the formulas: a metric of a box type, its formula and its terms."""

    def __init__(self, box, name, unit, formula):
        self.box, self.name, self.unit, self.formula = box, name, unit, formula
        self.terms, found = [], {}

        def number(match):
            term = Term(box, *match.groups())
            at = found.setdefault(term.key(), len(self.terms))
            if at == len(self.terms):
                self.terms.append(term)
            return "n[%d]" % at

        names = "|".join(sorted(CODES[box], key=len, reverse=True))
        self._python = re.sub(
            r"\b(%s)\b(?:\.([0-9a-f]{2,9}))?(?:\{([^}]*)\})?" % names, number,
            formula)

    def value(self, counts, **names):
        """The value in the metric's unit, from the counts of the terms."""
        value = eval(self._python, {"n": counts, "__builtins__": {}, "max": max,
                                    **names})
        return value * 100 if self.unit == "%" else value


class Cause:
    """A number of equal transactions in a box."""

    def __init__(self, box, code, umask=0, value=1, **keys):
        self.box, self.code, self.umask = box, code, umask
        self.value, self.keys = value, keys

    @functools.cache
    def count(self, instance, package):
        """The number of transactions: different in each box, and equal in each run."""
        count = random.Random("%s %s" % (vars(self), (instance, package))) \
            .randrange(1000, 10000)
        # many clock ticks, so that few shares of the clock are more than 100 %
        if self.code == CODES[self.box].get("CLOCKTICKS"):
            return 64 * count
        return count // 100 if self.box == "imc" else count

    def line(self, name, instance, package):
        keys = "".join(" %s=%#x" % item for item in self.keys.items())
        return "pkg=%d box=%s event=%#x umask=%#x value=%d count=%d%s\n" % (
            package, name, self.code, self.umask, self.value,
            self.count(instance, package), keys)


def requests(code):
    """Causes in the TOR: local and remote hits and misses, with each opcode of the
    metrics and another opcode, from cores and from devices."""
    for i, opc in enumerate((0x180, 0x182, 0x187, 0x18c, 0x18d, 0x18f, 0x194,
                             0x195, 0x19c, 0x19e, 0x1c8, 0x1e4, 0x1e5, 0x1e6,
                             0x181)):
        for j, umask in enumerate((0x21, 0x23, 0x81, 0x83)):
            # an entry adds its cycles to the occupancy; an insert adds 1
            value = 2 + (i + j) % 5 if code == 0x36 else 1
            yield Cause("cbox", code, umask, value, opc=opc)
            if opc in (0x180, 0x1c8):
                yield Cause("cbox", code, umask, value, opc=opc, tid=0x3e)
            if opc in (0x187, 0x18f):
                yield Cause("cbox", code, umask, value, opc=opc, nc=1)


def cha_requests(code):
    """Causes in the table of requests of a CHA: hits and misses of cores and of devices, to
    local and remote memory, near memory and other, with each opcode of the metrics."""
    for i, opc in enumerate((0x200, 0x201, 0x202, 0x203, 0x21e, 0x21d, 0x248, 0x24b, 0x259,
                             0x25a)):
        for j, umask in enumerate((0x11, 0x21, 0x14, 0x24, 0x12, 0x22, 0x18, 0x28)):
            for remote in (0, 1):
                for near in (0, 1):
                    value = 2 + (i + j + remote) % 5 if code == 0x36 else 1
                    yield Cause("cha", code, umask, value, opc=opc, remote=remote,
                                near=near)


def tor_numbers(code):
    """Causes in the table of requests of a CHA, by unit mask: each opcode of the metrics from
    cores and from devices, with each of the conditions, and hits and misses of any opcode."""
    numbers = [0xc001fd01, 0xc001fe01, 0xc001fd04, 0xc001fe04]
    for queue, compare, opcodes in ((0x01, 0x600, (0x100, 0x101, 0x102, 0x110, 0x111, 0x112,
                                                   0x19a)),
                                    (0x04, 0x200, (0x100, 0x11e, 0x188, 0x1a8))):
        numbers += [(0xc00000 | opcode << 11 | compare | where) << 8 | queue
                    for opcode in opcodes
                    for where in (0x1ff, 0x1fd, 0x1fe, 0x0fe, 0x17e, 0x0ff, 0x17f, 0x186, 0x18a)]
    for i, umask in enumerate(numbers):
        # an average of entries that differ tells unit masks apart
        for value in (2 + i % 5, 8 + i % 7) if code == 0x36 else (1,):
            yield Cause("cha", code, umask, value)


def packets():
    """Causes in QPI: each message class and opcode (Table 2-173, §2.12) for each node,
    with the response state of messages that have one (Table 2-172)."""
    for node in range(8):
        for drs in (0, 1, 2, 4, 5, 6, 8):
            rds = 1 << (node + drs) % 4 if drs < 4 else 0
            yield Cause("qpi", 0x138, match1=rds << 16,
                        match0=node << 13 | 0xe << 9 | drs << 5)
        for ncb in (0, 8, 12):
            yield Cause("qpi", 0x138, match1=0,
                        match0=node << 13 | 0xc << 9 | ncb << 5)


def causes_of(box, code):
    """A cause for each kind of transaction that terms with this code distinguish."""
    if (box, code) in CHA_TOR and GENERATION in TOR_NUMBERS:
        return list(tor_numbers(code))
    return causes_by_bits(box, code)


@functools.cache
def causes_by_bits(box, code):
    """As causes_of(), where bits of the unit mask and filters distinguish transactions."""
    if code == FIXED:
        return []
    if (box, code) in (("cbox", 0x35), ("cbox", 0x36)):
        return list(requests(code))
    if (box, code) in CHA_TOR:
        return list(cha_requests(code))
    if (box, code) in FLITS:
        return [Cause(box, code, 1 << slot | 1 << kind)
                for slot in range(3) for kind in range(3, 8)]
    if box == "iio":
        return [Cause(box, code, 1 << kind, port=1 << port, fc=1 << message)
                for kind in range(8) for port in range(8) for message in range(3)]
    if (box, code) == ("qpi", 0x138):
        return list(packets())
    if (box, code) == ("cbox", 0x34):
        return [Cause(box, code, 1 | kind, state=1 << state)
                for kind in (2, 4, 8, 0x10, 0x20) for state in range(7)]
    return [Cause(box, code, umask, i + 2 if (box, code) in COUNTER_0 else 1)
            for i, umask in enumerate((0, *(1 << bit for bit in range(8))))]


def is_relay(term):
    return (term.box, term.code) in RELAYS


def counter_0(terms):
    """The term of @terms that only counter 0 can count."""
    found, = [term for term in terms if (term.box, term.code) in COUNTER_0]
    return found


def counted(term, others, instances, package):
    """The count of a term in these boxes after all causes. @others are the terms of the
    same metric: COUNTER0_OCCUPANCY counts the event of counter 0 (§2.3.1.1)."""
    seen = counter_0(others) if is_relay(term) else term
    count = 0
    for cause in causes_of(seen.box, seen.code):
        value = seen.counts(cause)
        if term.thresh:
            value = value >= term.thresh
        if value:
            count += value * sum(cause.count(i, package) for i in instances)
    return count


def metrics(generation):
    return [Metric(*row) for row in rows(generation)]


METRICS = metrics(GENERATION)
