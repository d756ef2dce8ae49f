# SPDX-License-Identifier: GPL-2.0-or-later
"""
The derived events of Intel's manual (331051) as formulas over event codes, unit
masks and filter values, typed from the manual and not from the catalogue, which
is what they are held against; and transactions that tell them apart.

A term is EVENT.UMASK{filters}, the unit mask in hexadecimal. BOXES is how many
boxes a value is of, SECONDS for how long its events were counted. Rows stand in
the order of the manual; what its tables misprint is corrected, and says so.
"""

import functools
import random
import re

# "Events Ordered By Code" of each box: §2.3.4, §2.4.4, §2.5.3, §2.6.5, §2.8.4,
# §2.9.4 and §2.10.4. Bit 8 is the extra select bit; 0xff the fixed counter.
CODES = {
    "cbox": {"CLOCKTICKS": 0x00, "RxR_OCCUPANCY": 0x11,
             "RxR_EXT_STARVED": 0x12, "RxR_INSERTS": 0x13,
             "RING_BL_USED": 0x1d, "COUNTER0_OCCUPANCY": 0x1f,
             "LLC_LOOKUP": 0x34, "TOR_INSERTS": 0x35, "TOR_OCCUPANCY": 0x36,
             "LLC_VICTIMS": 0x37},
    "sbox": {"CLOCKTICKS": 0x00, "RING_BL_USED": 0x1d},
    "ha": {"CLOCKTICKS": 0x00, "REQUESTS": 0x01,
           "DIRECT2CORE_CYCLES_DISABLED": 0x12, "TxR_BL_CYCLES_FULL": 0x36,
           "HITME_LOOKUP": 0x70, "HITME_HIT": 0x71},
    "imc": {"ACT_COUNT": 0x01, "PRE_COUNT": 0x02, "CAS_COUNT": 0x04,
            "RPQ_INSERTS": 0x10, "POWER_THROTTLE_CYCLES": 0x41,
            "POWER_SELF_REFRESH": 0x43, "POWER_CKE_CYCLES": 0x83,
            "POWER_CHANNEL_DLLOFF": 0x84, "POWER_CHANNEL_PPD": 0x85,
            "POWER_CRITICAL_THROTTLE_CYCLES": 0x86, "CTR_FIXED": 0xff},
    "pcu": {"CLOCKTICKS": 0x00, "FREQ_MAX_LIMIT_THERMAL_CYCLES": 0x04,
            "FREQ_MAX_POWER_CYCLES": 0x05, "FREQ_MAX_OS_CYCLES": 0x06},
    "qpi": {"TxL_FLITS_G0": 0x00, "RxL0_POWER_CYCLES": 0x0f,
            "RxL0P_POWER_CYCLES": 0x10, "L1_POWER_CYCLES": 0x12,
            "DIRECT2CORE": 0x13, "CLOCKTICKS": 0x14, "RxL_FLITS_G1": 0x102,
            "RxL_FLITS_G2": 0x103, "CTO_COUNT": 0x138},
    "r2pcie": {"CLOCKTICKS": 0x01, "RING_BL_USED": 0x09},
}
# The unit mask's bits are conditions that all have to hold (§2.3.6).
CONDITIONS = {("cbox", 0x34), ("cbox", 0x35), ("cbox", 0x36)}
# What can be counted by counter 0 only (§2.3.4).
COUNTER_0 = {("cbox", 0x11), ("cbox", 0x36)}
RELAY = ("cbox", 0x1f)
FIXED = 0xff
COUNTERS = 4
# What perf's event strings call the filters.
FIELDS = {"opc": "filter_opc=%#x", "tid": "tid_en=1,filter_tid=%#x",
          "state": "filter_state=%#x", "nc": "filter_nc=%#x"}

DRD, RFO, ITOM, PCI_READ = "opc=0x182", "opc=0x180", "opc=0x1c8", "opc=0x19e"
DEVICE = "tid=0x3e"
PER_CLOCK = " / CLOCKTICKS"         # SAMPLE_INTERVAL, in the box's own clock
GIB_A_SECOND = " / SECONDS / 1024 ** 3"                         # §1.7.1
# §1.7.1, whose "-" is a misprint: clocks by the frequency in GHz
TO_NS = " / (CLOCKTICKS / BOXES / SECONDS / 1e9)"


def cbox():
    """§2.3.5; unit masks of Tables 2-21 to 2-41."""
    tor = "TOR_OCCUPANCY.%s / TOR_INSERTS.%s"
    hit = "(TOR_OCCUPANCY.01{%s} - TOR_OCCUPANCY.03{%s}) / " \
        "(TOR_INSERTS.01{%s} - TOR_INSERTS.03{%s})" % ((DRD,) * 4)
    latencies = {
        "avg_ingress_latency": "RxR_OCCUPANCY.01 / RxR_INSERTS.01",
        "avg_tor_drd_hit_latency": hit,
        "avg_tor_drd_latency": tor % (("01{%s}" % DRD,) * 2),
        # misprint: nid, which these unit masks do not look at (Table 2-40);
        # home and other nodes have unit masks of their own
        "avg_tor_drd_loc_miss_latency": tor % (("23{%s}" % DRD,) * 2),
        "avg_tor_drd_miss_latency": tor % (("03{%s}" % DRD,) * 2),
        "avg_tor_drd_rem_miss_latency": tor % (("83{%s}" % DRD,) * 2),
    }
    for name, formula in latencies.items():
        yield name, "cycles", formula
        yield name + "_ns", "ns", formula + TO_NS
    yield "avg_ingress_depth", "", "RxR_OCCUPANCY.01" + PER_CLOCK
    yield ("avg_ingress_latency_when_ne", "cycles",
           "RxR_OCCUPANCY.01 / COUNTER0_OCCUPANCY{edge=1,thresh=1}")
    # misprint: edge_det, which counts busy periods; an average number of
    # entries is of cycles
    yield ("avg_tor_drds_miss_when_ne", "",
           "TOR_OCCUPANCY.03{%s} / COUNTER0_OCCUPANCY{thresh=1}" % DRD)
    yield ("avg_tor_drds_when_ne", "",
           "TOR_OCCUPANCY.01{%s} / COUNTER0_OCCUPANCY{thresh=1}" % DRD)
    yield "cyc_ingress_blocked", "%", "RxR_EXT_STARVED.01" + PER_CLOCK
    # misprint: CCW and CW, which Table 2-26 calls DOWN and UP
    yield "cbox_cyc_used_dn", "%", "RING_BL_USED.0c" + PER_CLOCK
    yield "cbox_cyc_used_up", "%", "RING_BL_USED.03" + PER_CLOCK
    yield "cbox_ring_thru_dn_bytes", "Bytes", "RING_BL_USED.0c * 32"
    yield "cbox_ring_thru_up_bytes", "Bytes", "RING_BL_USED.03 * 32"
    yield "fast_str_llc_miss", "", "TOR_INSERTS.03{%s}" % ITOM
    yield "fast_str_llc_req", "", "TOR_INSERTS.01{%s}" % ITOM
    yield "ingress_rej_v_ins", "", "RxR_INSERTS.02 / RxR_INSERTS.01"
    reads = "(TOR_INSERTS.01{%s,%s} + TOR_INSERTS.01{opc=0x1e6}) * 64" % (
        ITOM, DEVICE)
    writes = "(TOR_INSERTS.01{%s} + TOR_INSERTS.01{opc=0x1e4}) * 64" % PCI_READ
    yield "io_read_bw", "MB", reads + " / 1000000"
    yield "io_write_bw", "MB", writes + " / 1000000"
    yield "io_read_bw_rate", "GiB/s", reads + GIB_A_SECOND
    yield "io_write_bw_rate", "GiB/s", writes + GIB_A_SECOND
    # misprint: 0x3f of all states, which are seven bits (§2.3.2.3)
    yield ("llc_drd_miss_pct", "%",
           "LLC_LOOKUP.03{state=0x01} / LLC_LOOKUP.03{state=0x7f}")
    yield "llc_mpi", "", "LLC_LOOKUP.11{state=0x01} / INSTRUCTIONS"
    # misprint: a difference of two ratios, which is none; devices are taken
    # off both
    yield ("llc_rfo_miss_pct", "%",
           "(TOR_INSERTS.03{%s} - TOR_INSERTS.03{%s,%s}) / "
           "(TOR_INSERTS.01{%s} - TOR_INSERTS.01{%s,%s})" %
           ((RFO, RFO, DEVICE) * 2))
    yield "mem_wb_bytes", "Bytes", "LLC_VICTIMS.01 * 64"
    yield "mmio_partial_reads_cpu", "", "TOR_INSERTS.01{opc=0x187,nc=1}"
    yield "mmio_writes_cpu", "", "TOR_INSERTS.01{opc=0x18f,nc=1}"
    yield "partial_pci_writes", "", "TOR_INSERTS.01{%s,%s}" % (RFO, DEVICE)
    yield "pci_reads", "", "TOR_INSERTS.01{%s}" % PCI_READ
    yield "pci_writes", "", "TOR_INSERTS.01{%s,%s}" % (ITOM, DEVICE)
    yield "streamed_full_stores", "", "TOR_INSERTS.01{opc=0x18c}"
    yield "streamed_part_stores", "", "TOR_INSERTS.01{opc=0x18d}"
    yield "uc_reads", "", "TOR_INSERTS.03{opc=0x187}"


def sbox():
    """§2.4.5; Table 2-51. Misprint: DN_, which the table calls DOWN_."""
    for name, umask in (("upeven", "01"), ("upodd", "02"), ("dneven", "04"),
                        ("dnodd", "08")):
        ring = "RING_BL_USED." + umask
        yield "cyc_used_" + name, "%", ring + PER_CLOCK
        yield "ring_thru_%s_bytes" % name, "Bytes", ring + " * 32"


def ha():
    """§2.5.4; Tables 2-74, 2-76, 2-82 and 2-107."""
    # misprint: HITME_HITS
    yield "hitme_inserts", "", "HITME_LOOKUP.70 - HITME_HIT.70"
    yield "hitme_inval", "", "HITME_HIT.26"
    yield "pct_cycles_bl_full", "%", "TxR_BL_CYCLES_FULL.03" + PER_CLOCK
    yield "pct_cycles_d2c_disabled", "%", \
        "DIRECT2CORE_CYCLES_DISABLED" + PER_CLOCK
    for name, umask in (("rd", "03"), ("wr", "0c")):
        yield ("ha_pct_%s_requests" % name, "%",
               "REQUESTS.%s / (REQUESTS.03 + REQUESTS.0c)" % umask)


def imc():
    """§2.6.6; Tables 2-117, 2-119, 2-122, 2-123 and 2-125."""
    for name, count in (("reads", "CAS_COUNT.03"), ("writes", "CAS_COUNT.0c"),
                        ("total", "(CAS_COUNT.03 + CAS_COUNT.0c)")):
        yield "mem_bw_" + name, "Bytes", count + " * 64"
        yield ("mem_bw_%s_rate" % name, "GiB/s",
               count + " * 64" + GIB_A_SECOND)
    for name, event in (("critical_throttle", "POWER_CRITICAL_THROTTLE_CYCLES"),
                        ("dlloff", "POWER_CHANNEL_DLLOFF"),
                        ("ppd", "POWER_CHANNEL_PPD"),
                        ("self_refresh", "POWER_SELF_REFRESH")):
        yield "pct_cycles_" + name, "%", event + " / CTR_FIXED"
    for rank in range(8):
        for name, event in (("cke", "CKE"), ("thr", "THROTTLE")):
            yield ("pct_cycles_dram_rank%d_in_%s" % (rank, name), "%",
                   "POWER_%s_CYCLES.%02x / CTR_FIXED" % (event, 1 << rank))
    # misprint: WPQ_INSERTS, which §2.6.5 has not; a write leaves as a CAS
    for name, event in (("rd", "RPQ_INSERTS"), ("wr", "CAS_COUNT.0c")):
        yield ("imc_pct_%s_requests" % name, "%",
               event + " / (RPQ_INSERTS + CAS_COUNT.0c)")
    # ACT_COUNT without a unit mask: all of Table 2-117
    # and ALL for RD + WR, one counter for two (Table 2-119)
    empty = "(ACT_COUNT.0b - PRE_COUNT.01) / CAS_COUNT.0f"
    miss = "PRE_COUNT.01 / CAS_COUNT.0f"
    yield "pct_requests_page_empty", "%", empty
    yield "pct_requests_page_miss", "%", miss
    yield "pct_requests_page_hit", "%", "1 - (%s + %s)" % (empty, miss)


def pcu():
    """§2.8.5. Misprint: FREQ_MAX_CURRENT_CYCLES for the thermal limit; that is
    no event of §2.8.4, and so there is no metric of it."""
    for name, event in (("os", "FREQ_MAX_OS_CYCLES"),
                        ("power", "FREQ_MAX_POWER_CYCLES"),
                        ("thermal", "FREQ_MAX_LIMIT_THERMAL_CYCLES")):
        yield "pct_cyc_freq_%s_ltd" % name, "%", event + PER_CLOCK


def packet(match, mask, rds=None):
    more = "" if rds is None else ",match_rds=%#x,mask_rds=0xf" % rds
    return "CTO_COUNT{match0=%#x,mask0=%#x%s}" % (match, mask, more)


def qpi_nodes():
    """§2.9.5's rows of node x, which is MATCH0's bits 17:13 (Table 2-173)."""
    for node in range(8):
        dnid = node << 13
        datac = packet(dnid | 0x1c00, 0x3ff80)
        drs = packet(dnid | 0x1c00, 0x3fe00)
        ncb = packet(dnid | 0x1800, 0x3fe00)
        interrupts = packet(dnid | 0x1900, 0x3ff80)
        for name, count in (
                ("data", "%s + (%s - %s) + (%s - %s)" % (
                    datac, drs, datac, ncb, interrupts)),
                ("drs_datac", datac),
                ("drs_write", "%s - %s" % (drs, datac)),
                ("ncb_data", "%s - %s" % (ncb, interrupts))):
            yield ("%s_from_qpi_to_node%d" % (name, node), "Bytes",
                   "(%s) * 64" % count)


def qpi():
    """§2.9.5; Tables 2-176, 2-180, 2-183, 2-184 and 2-197."""
    drs, ncb = "RxL_FLITS_G1.08 * 8", "RxL_FLITS_G2.04 * 8"
    llc = "DIRECT2CORE.01 * 64"
    yield "data_from_qpi", "Bytes", "%s + %s" % (drs, ncb)
    yield "data_from_qpi_to_ha_or_iio", "Bytes", "%s + %s - %s" % (
        drs, ncb, llc)
    yield "data_from_qpi_to_llc", "Bytes", llc
    yield "drs_data_msgs_from_qpi", "Bytes", drs
    yield "ncb_data_msgs_from_qpi", "Bytes", ncb
    # §2.9.5's DRS_DataC_M has RDS 1 and speaks of F; M is 8 (Table 2-172), and
    # so is DRS_M
    for name, rds in (("drs_datac_m", 8), ("drs_m", 8), ("drs_datac_f", 1)):
        yield (name + "_from_qpi", "Bytes",
               packet(0x1c00, 0x1fe0, rds) + " * 64")
    for name, match in (("full", 0x1c00), ("ptl", 0x1d00)):
        yield ("drs_%s_cacheline_msgs_from_qpi" % name, "Bytes",
               packet(match, 0x1f00) + " * 64")
    # misprint: MASK0 for MATCH0 and the like. "Three flavors {DataC,
    # DataC_FrcAckCnflt, DataC_Cmp}", in E and in F
    yield "drs_f_or_e_from_qpi", "Bytes", "(%s) * 64" % " + ".join(
        packet(match, 0x1fe0, rds) for match in (0x1c00, 0x1c20, 0x1c40)
        for rds in (4, 1))
    written = {"e": packet(0x1cc0, 0x1fe0), "i": packet(0x1c80, 0x1fe0),
               "s": packet(0x1ca0, 0x1fe0)}
    for name, count in written.items():
        yield "drs_wb%s_from_qpi" % name, "Bytes", count + " * 64"
    yield "drs_wb_from_qpi", "Bytes", "(%s) * 64" % " + ".join(
        written.values())
    # L0 includes L0p (RxL0_POWER_CYCLES' note); full power is without
    yield ("pct_link_full_power_cycles", "%",
           "(RxL0_POWER_CYCLES - RxL0P_POWER_CYCLES)" + PER_CLOCK)
    yield ("pct_link_half_disabled_cycles", "%",
           "RxL0P_POWER_CYCLES" + PER_CLOCK)
    yield "pct_link_shutdown_cycles", "%", "L1_POWER_CYCLES" + PER_CLOCK
    data, link = "TxL_FLITS_G0.02", "(TxL_FLITS_G0.02 + TxL_FLITS_G0.04)"
    for name, flits in (("data", data), ("link", link)):
        yield "qpi_%s_bw" % name, "Bytes", flits + " * 8"
        yield "qpi_%s_bw_rate" % name, "GiB/s", flits + " * 8" + GIB_A_SECOND
    # misprint: RxL_FLITS_G0, which §2.9.4 has not, and 2 slots a clock, as
    # where the clock was an eighth of the rate; it is a quarter (§2.9.6)
    yield "qpi_link_util", "%", link + PER_CLOCK
    yield "qpi_speed", "GT/s", "4 * CLOCKTICKS / BOXES / SECONDS / 1e9"


def r2pcie():
    """§2.10.5; Table 2-221."""
    for name, umask in (("up", "03"), ("dn", "0c")):
        ring = "RING_BL_USED." + umask
        yield "r2pcie_cyc_used_" + name, "%", ring + PER_CLOCK
        yield "r2pcie_ring_thru_%s_bytes" % name, "Bytes", ring + " * 32"


class Term:
    """What a counter is to count, in the manual's words."""

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
        """As perf writes it."""
        return "%s/event=%#x,umask=%#x%s/" % (
            box or self.box, self.code, self.umask, "".join(
                "," + FIELDS.get(key, key + "=%#x") % value
                for key, value in self.filters.items()))

    def counts(self, cause):
        """How much a counter counts of each of the cause's transactions."""
        if self.code != cause.code:
            return 0
        met = self.umask & cause.umask
        if (self.box, self.code) in CONDITIONS:
            if met != self.umask:
                return 0
        elif not met and (self.umask or cause.umask):
            return 0
        if not all(self._passes(cause.keys, *one)
                   for one in self.filters.items()):
            return 0
        return cause.value

    def _passes(self, keys, field, value):
        """§2.3.2.3 and §2.9.2.3."""
        if field in ("opc", "tid"):
            return keys.get(field, 0) == value
        if field in ("state", "nc"):
            return keys.get(field, 0) & value
        if field == "match0":
            return not (keys["match0"] ^ value) & self.filters["mask0"]
        if field == "match_rds":
            return keys["match1"] >> 16 & self.filters["mask_rds"] == value
        return field in ("mask0", "mask_rds")


class Metric:
    """A row: a formula and its terms."""

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
            r"\b(%s)\b(?:\.([0-9a-f]{2}))?(?:\{([^}]*)\})?" % names, number,
            formula)

    def value(self, counts, **names):
        """In its unit, of its terms' counts."""
        value = eval(self._python, {"n": counts, "__builtins__": {}, **names})
        return value * 100 if self.unit == "%" else value


class Cause:
    """Some equal transactions that a box sees."""

    def __init__(self, box, code, umask=0, value=1, **keys):
        self.box, self.code, self.umask = box, code, umask
        self.value, self.keys = value, keys

    @functools.cache
    def count(self, instance, package):
        """Different everywhere, and the same each time."""
        return random.Random("%s %s" % (vars(self), (instance, package))) \
            .randrange(1000, 10000)

    def line(self, name, instance, package):
        keys = "".join(" %s=%#x" % item for item in self.keys.items())
        return "pkg=%d box=%s event=%#x umask=%#x value=%d count=%d%s\n" % (
            package, name, self.code, self.umask, self.value,
            self.count(instance, package), keys)


def requests(code):
    """Of the TOR: hits and misses, of here and elsewhere, with each opcode of
    the metrics and another; from cores and devices."""
    for i, opc in enumerate((0x180, 0x182, 0x187, 0x18c, 0x18d, 0x18f, 0x19e,
                             0x1c8, 0x1e4, 0x1e6, 0x181)):
        for j, umask in enumerate((0x21, 0x23, 0x81, 0x83)):
            # entries stay for some cycles, inserts are one each
            value = 2 + (i + j) % 5 if code == 0x36 else 1
            yield Cause("cbox", code, umask, value, opc=opc)
            if opc in (0x180, 0x1c8):
                yield Cause("cbox", code, umask, value, opc=opc, tid=0x3e)
            if opc in (0x187, 0x18f):
                yield Cause("cbox", code, umask, value, opc=opc, nc=1)


def packets():
    """Message class and opcode (Table 2-173, §2.12) for each node, with a
    response state where there is one (Table 2-172)."""
    for node in range(8):
        for drs in (0, 1, 2, 4, 5, 6, 8):
            rds = 1 << (node + drs) % 4 if drs < 4 else 0
            yield Cause("qpi", 0x138, match1=rds << 16,
                        match0=node << 13 | 0xe << 9 | drs << 5)
        for ncb in (0, 8, 12):
            yield Cause("qpi", 0x138, match1=0,
                        match0=node << 13 | 0xc << 9 | ncb << 5)


@functools.cache
def causes_of(box, code):
    """For each thing that a term with this code can tell from others."""
    if code == FIXED:
        return []
    if (box, code) in (("cbox", 0x35), ("cbox", 0x36)):
        return list(requests(code))
    if (box, code) == ("qpi", 0x138):
        return list(packets())
    if (box, code) == ("cbox", 0x34):
        return [Cause(box, code, 1 | kind, state=1 << state)
                for kind in (2, 4, 8, 0x10, 0x20) for state in range(7)]
    return [Cause(box, code, umask, i + 2 if (box, code) in COUNTER_0 else 1)
            for i, umask in enumerate((0, *(1 << bit for bit in range(8))))]


def is_relay(term):
    return (term.box, term.code) == RELAY


def counter_0(terms):
    """The one of them that counter 0 counts."""
    found, = [term for term in terms if (term.box, term.code) in COUNTER_0]
    return found


def counted(term, others, instances, package):
    """What these boxes count of the causes. @others are of the same metric: a
    relay counts what counter 0 does (§2.3.1.1)."""
    seen = counter_0(others) if is_relay(term) else term
    count = 0
    for cause in causes_of(seen.box, seen.code):
        value = seen.counts(cause)
        if term.thresh:
            value = value >= term.thresh
        if value:
            count += value * sum(cause.count(i, package) for i in instances)
    return count


METRICS = [Metric(table.__name__.split("_")[0], *row)
           for table in (cbox, sbox, ha, imc, pcu, qpi, qpi_nodes, r2pcie)
           for row in table()]
