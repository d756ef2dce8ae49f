# SPDX-License-Identifier: GPL-2.0-or-later
"""
Figures and alerts that are made of the series of "uncore serve", for Prometheus and
Grafana. generate.py writes all files. Shares of what boxes can do at most are metrics
of the event catalogue, as on the die map and in "uncore live"
(userspace/cli/exporter/tables.py).

An expression is for any window and any choice of machines: @W is the range of its
rates, @S is where labels are matched, @I the same without sockets. Rules and alerts
have windows of five minutes, which are five scrapes at an interval of 60 s; panels
have $__rate_interval. Sums are "without" labels and joins "ignoring" those of the
exporter, so that labels that a site adds to its targets stay and tell them apart.
"""

import os
import sys
from dataclasses import dataclass

WINDOW = "5m"           # of rules and alerts
TARGETS = 'job=~".*uncore.*"'   # Prometheus' own series of these targets
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "cli", "exporter"))
import tables  # noqa: E402

EVENTS = os.environ.get("UNCORE_CATALOGUE", tables.EVENTS)


def limits_of_all():
    """Of all generations, by name: each with the generations of each capacity."""
    made = {}
    for generation, limits in tables.limits(EVENTS).items():
        for limit in limits:
            one = made.setdefault(limit["name"], {**limit, "factors": {}})
            if {**one["capacity"], "factor": 0} != \
                    {**limit["capacity"], "factor": 0} or \
                    one["used"] != limit["used"]:
                raise ValueError("%s: %s is of other series than elsewhere" % (
                    generation, limit["name"]))
            one["factors"].setdefault(limit["capacity"].get("factor"),
                                      []).append(generation)
    return made


LIMITS = limits_of_all()
# The exporter's own of uncore_info, and of a cgroup's series beside its pod's.
INFO_LABELS = "version, driver, machine, model"
CGROUP_LABELS = "direction, cgroup, container, container_id, pod_uid"
# Labels of single boxes; slices and the like have them with --per-box only.
BOX_LABELS = "slice, agent, stop, unit"


@dataclass
class Figure:
    """Something that is recorded and shown."""
    record: str         # its name: remaining labels, of what, how made
    template: str
    title: str
    help: str           # what it means, and what to think of it
    unit: str           # Grafana's
    legend: str         # of its lines, by their labels
    row: str            # where it is shown: machine or socket
    most: float = None  # the scale's end
    limit: float = None     # where its alert is

    def expr(self, window=WINDOW, match=""):
        return expression(self.template, window, match)


@dataclass
class Alert:
    name: str
    template: str
    wait: str           # for so long
    severity: str       # warning or info
    summary: str
    help: str           # what to do

    @property
    def expr(self):
        return expression(self.template, WINDOW, "")


def expression(template, window, match):
    """A template for a window and for label matchers, such as 'instance="a"'."""
    of_machine = ", ".join(one for one in match.split(", ") if one and
                           not one.startswith("socket"))
    for token, value in ("@S", match), ("@I", of_machine):
        template = template.replace("{%s}" % token, "{%s}" % value if value else "")
        template = template.replace(", " + token, ", " + value if value else "")
    return template.replace("@W", window)


def rate(series, match=""):
    return "rate(%s_total{%s}[@W])" % (series, match + ", @S" if match else "@S")


def scaled(factor, expr):
    """Times a factor, or divided by one that reads better."""
    if factor == 1:
        return expr
    return "%s / %d" % (expr, 1 / factor) if factor < 1 else \
        "%d * %s" % (factor, expr)


def used(name):
    """What a limit's boxes do, in slots a second; each box and way separately."""
    return "\n+ ".join(scaled(part["factor"], rate(part["series"]))
                       for part in LIMITS[name]["used"])


def factor_of(name):
    """Of a capacity that has the same formula in all generations."""
    (factor,) = LIMITS[name]["factors"]
    return factor


def clock_share(name):
    """Of a clock of the uncore, which all boxes of the type have: a mean of them."""
    limit = LIMITS[name]
    assert factor_of(name) == 1
    return "sum without (%s, request, origin) (%s)\n" \
        "/ (\n" \
        "  %s\n" \
        "  * ignoring (box) uncore_socket_boxes{box=\"%s\", @S}\n)" % (
            BOX_LABELS, used(name), rate(limit["capacity"]["series"]),
            limit["box"])


def flits_per_cycle():
    """By generation; 1 of those that are not named."""
    odd = {factor: names for factor, names in LIMITS["QPI"]["factors"].items()
           if factor != 1}
    one = "max without (%s) (uncore_info{%%s})" % INFO_LABELS
    return "\nor ".join(["%d * %s" % (
        factor, one % ('machine=~"%s", @I' % "|".join(sorted(names))))
                         for factor, names in odd.items()] + [one % "@I"])


def indented(text, by="  "):
    return "\n".join(by + line for line in text.split("\n"))


BYTES = "uncore_memory_bytes"
CLOCK = LIMITS["memory"]["capacity"]["series"]
WIDTH = factor_of("memory")
MEMORY = "sum without (channel, direction) (%s)" % rate(BYTES)
# A channel without a module has a clock, too.
PEAK = "%d * sum without (channel) (\n" \
    "  %s\n" \
    "  and sum without (direction) (%s_total{@S}) > 0\n" \
    ")" % (WIDTH, rate(CLOCK), BYTES)
MEMORY_USE = MEMORY + "\n/ (\n" + indented(PEAK) + "\n)"
THROTTLED = rate("uncore_memory_throttled_cycles") + "\n/ " + rate(CLOCK)
QPI_USE = "(\n%s\n)\n/ ignoring (direction) (\n" \
    "  %s\n  * ignoring (socket, link) group_left () (\n%s\n  )\n)" % (
        indented(used("QPI")), rate(LIMITS["QPI"]["capacity"]["series"]),
        indented(flits_per_cycle(), "    "))
LIMITED = "%s\n/ ignoring (limit) group_left ()\n  %s" % (
    rate("uncore_frequency_limited_cycles"),
    rate(LIMITS["power or heat"]["capacity"]["series"]))
COUNTED = rate("uncore_events_running_seconds") + "\n/ " + \
    rate("uncore_events_enabled_seconds")
REMOTE = "sum without (memory, slice) (\n  %s\n)\n" \
    "/ sum without (memory, slice) (%s)" % (
        rate("uncore_llc_misses", 'memory="remote"'), rate("uncore_llc_misses"))
POD = "sum without (%s) (\n  %s\n)" % (
    CGROUP_LABELS, rate("uncore_cgroup_memory_bytes", 'pod!=""'))
# Of the socket's traffic; the exporter's own target has neither label.
POD_SHARE = POD + "\n/ ignoring (namespace, pod) group_left ()\n  " + MEMORY
# A processor that is not supported has no counters to miss.
NOT_COUNTING = "uncore_up == 0\nunless ignoring (reason, message) " \
    "uncore_down_info{reason=\"unsupported\"}"
PCIE = "sum without (unit) (%s)" % rate("uncore_pcie_bytes")

FIGURES = (
    Figure(
        "socket_direction:uncore_memory_bytes:rate5m",
        "sum without (channel) (%s)" % rate(BYTES),
        "Memory bandwidth",
        "What the socket's channels read and write, for all requesters.",
        "binBps", "socket {{socket}} {{direction}}", "machine"),
    Figure(
        "socket:uncore_memory_use:ratio_rate5m", MEMORY_USE,
        "Memory bandwidth in use",
        "Share of what the clock of those channels allows that have transferred "
        "anything: two times 8 bytes a cycle. Refresh, turns of the bus and "
        "missed pages leave some 80 to 90 % of it; waiting times grow from "
        "about 60 % on.",
        "percentunit", "socket {{socket}}", "machine", 1, 0.75),
    Figure(
        "channel:uncore_memory_use:ratio_rate5m",
        "sum without (direction) (%s)\n/ (%d * %s)" % (
            rate(BYTES), WIDTH, rate(CLOCK)),
        "Use by channel",
        "Channels that differ much: modules are missing or unlike one another, or "
        "an address pattern hits some channels only.",
        "percentunit", "channel {{channel}}", "socket", 1),
    Figure(
        "channel:uncore_memory_throttled:ratio_rate5m", THROTTLED,
        "Memory throttled",
        "Share of the time in which a channel was blocked for its temperature.",
        "percentunit", "channel {{channel}}", "socket", 1, 0.01),
    Figure(
        "channel:uncore_memory_self_refresh:ratio_rate5m",
        rate("uncore_memory_self_refresh_cycles") + "\n/ " + rate(CLOCK),
        "Memory asleep",
        "Share of the time that a channel was in self-refresh.",
        "percentunit", "channel {{channel}}", "socket", 1),
    Figure(
        "socket:uncore_llc_use:ratio_rate5m", clock_share("cache"),
        "Cache in use",
        "Lookups for each clock cycle of a slice, the mean of all slices; a "
        "slice can do one.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "socket:uncore_home_agent_use:ratio_rate5m", clock_share("home agent"),
        "Home agents in use",
        "Requests for each clock cycle of a home agent, the mean of all; one "
        "can take one.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "socket:uncore_llc_misses:rate5m",
        "sum without (memory, slice) (%s)" % rate("uncore_llc_misses"),
        "Misses of the last-level cache",
        "With those of prefetchers and devices. Lookups are of other kinds of requests, so "
        "that there is no share of them.",
        "ops", "socket {{socket}}", "machine"),
    Figure(
        "socket:uncore_llc_remote_misses:ratio_rate5m", REMOTE,
        "Misses served by another socket",
        "High and unwanted: memory is not where its users run. numactl, or the "
        "scheduler's NUMA balancing, can tell why.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "link:uncore_qpi_use:ratio_rate5m", QPI_USE,
        "QPI in use",
        "Share of a port's slots for flits that it sent something in: data, "
        "headers, requests, responses.",
        "percentunit", "socket {{socket}} link {{link}}", "machine", 1, 0.8),
    Figure(
        "link:uncore_qpi_data_bytes:rate5m", rate("uncore_qpi_data_bytes"),
        "Data sent over QPI",
        "By the port that sends it, without headers.",
        "binBps", "link {{link}}", "socket"),
    Figure(
        "socket_direction:uncore_pcie_bytes:rate5m", PCIE,
        "PCIe bandwidth",
        "What devices read from memory, and wrote to it in whole lines.",
        "binBps", "socket {{socket}} {{direction}}", "machine"),
    Figure(
        "namespace_pod:uncore_cgroup_memory_bytes:rate5m", POD,
        "Memory bandwidth of pods",
        "What a socket's memory transferred while the pod's tasks ran, with --cgroups "
        "and --pods.",
        "binBps", "socket {{socket}} {{namespace}}/{{pod}}", "machine"),
    Figure(
        "socket:uncore_clock_cycles:rate5m", rate("uncore_clock_cycles"),
        "Uncore clock",
        "Of rings and cache. It follows the load, and stops in package "
        "C-states.",
        "hertz", "socket {{socket}}", "machine"),
    Figure(
        "socket:uncore_active_cores:mean5m",
        rate("uncore_active_core_cycles") + "\n/ " +
        rate("uncore_pcu_clock_cycles"),
        "Cores at work",
        "Mean number of cores in C0 or C1.",
        "short", "socket {{socket}}", "machine"),
    Figure(
        "socket_limit:uncore_frequency_limited:ratio_rate5m", LIMITED,
        "Frequency held down",
        "Share of the time in which temperature or power kept cores from "
        "running faster.",
        "percentunit", "socket {{socket}} by {{limit}}", "machine", 1, 0.1),
    Figure(
        "socket_box:uncore_events_running:ratio_rate5m", COUNTED,
        "Counted",
        "Share of the time in which a box's events had counters. Below 1 another "
        "program counts as well, and numbers are scaled up.",
        "percentunit", "{{box}}", "socket", 1),
)

# Rows of the fleet's tables: the sockets or links that have most of it.
FLEET = (
    ("Memory", "The sockets whose memory is used most.", MEMORY_USE, 0.75),
    ("QPI", "The links that are used most.", QPI_USE, 0.8),
    ("Misses served by another socket", "The sockets that have most of them.",
     REMOTE, None),
    ("Held down by heat or power", "The sockets that are held down most.", LIMITED,
     0.1),
)

# Of the pods' dashboard: a node's traffic by its owner. Cgroups of no pod are the
# node's own; those without series are in other.
OF_NODE = "sum without (socket, %s) (\n  %%s\n)" % CGROUP_LABELS
PODS = (
    ("Pods", "Pods that cause most memory traffic, all sockets together.",
     "topk($top, sum without (socket) (\n%s\n))" % indented(POD),
     "{{instance}} {{namespace}}/{{pod}}"),
    ("Namespaces", "Memory traffic by namespace, of all nodes together.",
     "sum by (namespace) (\n%s\n)" % indented(POD), "{{namespace}}"),
    ("Other", "Pods and cgroups without their own series: more than --cgroups has "
     "room for.", OF_NODE % rate("uncore_cgroup_memory_bytes", 'cgroup="other"'),
     "{{instance}}"),
    ("Node", "Cgroups of no pod, such as system.slice and the kubelet.",
     OF_NODE % rate("uncore_cgroup_memory_bytes",
                    'pod="", cgroup!~"other|idle"'), "{{instance}}"),
    ("Idle", "Traffic while no task ran on a CPU: devices, and caches that were "
     "written back.", OF_NODE % rate("uncore_cgroup_memory_bytes", 'cgroup="idle"'),
     "{{instance}}"),
)

ALERTS = (
    Alert(
        "UncoreTargetDown", "up{%s} == 0" % TARGETS, "5m", "warning",
        "{{ $labels.instance }} cannot be scraped",
        "uncore serve has ended there, or it cannot be reached: \"systemctl status "
        "uncore-serve\", or the pod's log, says which."),
    Alert(
        "UncoreNoTargets", "absent(uncore_up)", "15m", "warning",
        "Prometheus has no series of uncore serve",
        "The scrape configuration, or the PodMonitor, was removed or finds no "
        "machine; or no exporter answers."),
    Alert(
        "UncoreTextfileOld",
        "time() - uncore_textfile_timestamp_seconds\n"
        "> 2 * uncore_textfile_interval_seconds + 300", "5m", "warning",
        "the counters of {{ $labels.instance }} are old",
        "uncore serve --textfile was killed or is stuck; node_exporter shows the "
        "file that it wrote last. Start it again, or remove the file."),
    Alert(
        "UncoreCountersGone", NOT_COUNTING, "5m", "warning",
        "no uncore counters on {{ $labels.instance }}",
        "The driver is not loaded, or the exporter may not open its PMUs: "
        "\"uncore check\" there says which, and what to do."),
    Alert(
        "UncoreReadErrors",
        "increase(uncore_read_errors_total[@W]) > 0\nand uncore_up == 1",
        "15m", "warning",
        "reads of counters fail on {{ $labels.instance }}",
        "Counters get lost and are opened again, again and again. The exporter's "
        "log says what it lost, and \"uncore check\" there looks for the cause."),
    Alert(
        "UncoreBoxDown", "uncore_box_up == 0", "5m", "warning",
        "{{ $labels.box }} {{ $labels.number }} of socket {{ $labels.socket }} of "
        "{{ $labels.instance }} is not measured",
        "The box does not answer, or another program has stopped it. Its series are absent; "
        "sums of the socket are without it. \"uncore check\" there says more."),
    Alert(
        "UncoreForeignWrites",
        "increase(uncore_foreign_writes_total[@W]) > 0", "15m", "warning",
        "another program writes uncore registers of socket {{ $labels.socket }} of "
        "{{ $labels.instance }}",
        "Counts may be too small. Programs that write registers themselves, such as "
        "PCM, LIKWID or wrmsr, cannot be used beside the driver."),
    Alert(
        "UncoreCountersShared",
        "min without (box) (\n%s\n) < 0.95" % indented(COUNTED),
        "15m", "info",
        "another program counts on socket {{ $labels.socket }} of "
        "{{ $labels.instance }}, too",
        "Counters are shared with another program, such as perf or a second "
        "exporter. What is shown was counted for a part of the time, and scaled."),
    Alert(
        "UncoreMemoryBandwidthHigh", "%s\n> 0.75" % MEMORY_USE, "10m", "warning",
        "memory of socket {{ $labels.socket }} of {{ $labels.instance }} is at "
        "{{ $value | humanizePercentage }} of its peak",
        "More is hardly possible, and everything waits longer for memory. "
        "\"uncore top -e memory\" there tells whose traffic it is."),
    Alert(
        "UncorePodMemoryHigh",
        "%s\n> 0.5\nand ignoring (namespace, pod)\n  %s > 0.75" % (
            POD_SHARE, MEMORY_USE.replace("\n", "\n  ")), "10m", "warning",
        "{{ $labels.namespace }}/{{ $labels.pod }} causes "
        "{{ $value | humanizePercentage }} of the memory traffic of socket "
        "{{ $labels.socket }} of {{ $labels.instance }}",
        "The socket's memory is near its peak, and the other pods of the node wait "
        "for it. Move the pod, or limit its CPUs."),
    Alert(
        "UncoreMemoryThrottled",
        "max without (channel) (\n%s\n) > 0.01" % indented(THROTTLED),
        "5m", "warning",
        "memory of socket {{ $labels.socket }} of {{ $labels.instance }} is "
        "throttled for its temperature",
        "Check fans, airflow, and the modules of the channel that the dashboard's "
        "\"Memory throttled\" shows."),
    Alert(
        "UncoreQpiSaturated",
        "max without (link) (\n%s\n) > 0.8" % indented(QPI_USE),
        "10m", "warning",
        "a QPI link of socket {{ $labels.socket }} of {{ $labels.instance }} is "
        "full to {{ $value | humanizePercentage }}",
        "Tasks use memory of other sockets. Bind them to where their memory is "
        "(numactl), or have it follow them."),
    Alert(
        "UncoreThermalLimit",
        LIMITED.replace("{@S}", '{limit="thermal", @S}', 1) + "\n> 0.1",
        "5m", "warning",
        "socket {{ $labels.socket }} of {{ $labels.instance }} is held down by "
        "its temperature",
        "Check fans, airflow and the heat sink."),
)
