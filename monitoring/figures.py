# SPDX-License-Identifier: GPL-2.0-or-later
"""
What is made of the series of "uncore serve" for people: figures, which Prometheus
records and Grafana shows, and alerts on them. generate.py writes all files of it.

Rates are over a minute, which wants a scrape at least each 20 seconds. Sums are
"without" labels, so that those that a site adds to its targets stay.
"""

from dataclasses import dataclass


@dataclass
class Figure:
    """Something that is recorded."""
    record: str         # its name: what is left of the labels, of what, how made
    expr: str
    title: str
    help: str           # what it means, and what to think of it
    unit: str           # Grafana's
    legend: str         # of its lines, by their labels
    row: str            # where it is shown: machine or socket; "" is not shown
    most: float = None  # the scale's end


@dataclass
class Alert:
    name: str
    expr: str
    wait: str           # for so long
    severity: str       # warning or info
    summary: str
    help: str           # what to do


FIGURES = (
    Figure(
        "socket_direction:uncore_memory_bytes:rate1m",
        "sum without (channel) (rate(uncore_memory_bytes_total[1m]))",
        "Memory bandwidth",
        "What the socket's channels read and write, whoever asked for it.",
        "Bps", "socket {{socket}} {{direction}}", "machine"),
    Figure(
        "socket:uncore_memory_bytes:rate1m",
        "sum without (direction) (socket_direction:uncore_memory_bytes:rate1m)",
        "", "", "Bps", "", ""),
    Figure(
        "socket:uncore_memory_peak_bytes:rate1m",
        # A channel without a module has a clock, too.
        "16 * sum without (channel) (\n"
        "  rate(uncore_memory_clock_cycles_total[1m])\n"
        "  and sum without (direction) (uncore_memory_bytes_total) > 0\n"
        ")",
        "", "", "Bps", "", ""),
    Figure(
        "socket:uncore_memory_use:ratio",
        "socket:uncore_memory_bytes:rate1m\n"
        "/ socket:uncore_memory_peak_bytes:rate1m",
        "Memory bandwidth in use",
        "Share of what the clock of those channels allows that have transferred "
        "anything: two times 8 bytes a cycle. Refresh, turns of the bus and "
        "missed pages leave some 80 to 90 % of it; waiting times grow from "
        "about 60 % on.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "channel:uncore_memory_use:ratio",
        "sum without (direction) (rate(uncore_memory_bytes_total[1m]))\n"
        "/ (16 * rate(uncore_memory_clock_cycles_total[1m]))",
        "Use by channel",
        "Channels that differ much: modules are missing or unlike one another, or "
        "an address pattern hits some channels only.",
        "percentunit", "channel {{channel}}", "socket", 1),
    Figure(
        "channel:uncore_memory_throttled:ratio",
        "rate(uncore_memory_throttled_cycles_total[1m])\n"
        "/ rate(uncore_memory_clock_cycles_total[1m])",
        "Memory throttled",
        "Share of the time in which a channel was blocked for its temperature.",
        "percentunit", "channel {{channel}}", "socket", 1),
    Figure(
        "channel:uncore_memory_self_refresh:ratio",
        "rate(uncore_memory_self_refresh_cycles_total[1m])\n"
        "/ rate(uncore_memory_clock_cycles_total[1m])",
        "Memory asleep",
        "Share of the time that a channel was in self-refresh.",
        "percentunit", "channel {{channel}}", "socket", 1),
    Figure(
        "socket:uncore_llc_misses:ratio",
        "sum without (memory, slice) (rate(uncore_llc_misses_total[1m]))\n"
        "/ sum without (slice) (rate(uncore_llc_lookups_total[1m]))",
        "Misses of the last-level cache",
        "Of all that was looked up, with what prefetchers and devices ask for.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "socket:uncore_llc_remote_misses:ratio",
        "sum without (memory, slice) (\n"
        "  rate(uncore_llc_misses_total{memory=\"remote\"}[1m])\n"
        ")\n"
        "/ sum without (memory, slice) (rate(uncore_llc_misses_total[1m]))",
        "Misses served by another socket",
        "High and unwanted: memory is not where its users run. numactl, or the "
        "scheduler's NUMA balancing, can tell why.",
        "percentunit", "socket {{socket}}", "machine", 1),
    Figure(
        "instance:uncore_qpi_flits_per_cycle:count",
        # the clock of these is an eighth of the link's transfer rate, of those
        # that came after a quarter; a flit is four transfers
        "2 * max by (job, instance) (uncore_info{machine=~\"snbep|ivbep\"})\n"
        "or max by (job, instance) (uncore_info)",
        "", "", "none", "", ""),
    Figure(
        "link:uncore_qpi_use:ratio",
        "(\n"
        "  rate(uncore_qpi_data_bytes_total[1m]) / 8\n"
        "  + rate(uncore_qpi_overhead_flits_total[1m])\n"
        ")\n"
        "/ ignoring (direction) (\n"
        "  rate(uncore_qpi_clock_cycles_total[1m])\n"
        "  * on (job, instance) group_left\n"
        "    instance:uncore_qpi_flits_per_cycle:count\n"
        ")",
        "QPI in use",
        "Share of a port's slots for flits that it sent something in: data, "
        "headers, requests, responses.",
        "percentunit", "socket {{socket}} link {{link}}", "machine", 1),
    Figure(
        "link:uncore_qpi_data_bytes:rate1m",
        "rate(uncore_qpi_data_bytes_total[1m])",
        "Data sent over QPI",
        "By the port that sends it, without headers.",
        "Bps", "link {{link}}", "socket"),
    Figure(
        "socket_direction:uncore_pcie_bytes:rate1m",
        "rate(uncore_pcie_bytes_total[1m])",
        "PCIe bandwidth",
        "What devices read from memory, and wrote to it in whole lines.",
        "Bps", "socket {{socket}} {{direction}}", "machine"),
    Figure(
        "socket:uncore_clock:hertz",
        "rate(uncore_clock_cycles_total[1m])",
        "Uncore clock",
        "Of rings and cache. It follows the load, and stands still in package "
        "C-states.",
        "hertz", "socket {{socket}}", "machine"),
    Figure(
        "socket:uncore_active_cores:mean",
        "rate(uncore_active_core_cycles_total[1m])\n"
        "/ rate(uncore_pcu_clock_cycles_total[1m])",
        "Cores at work",
        "Mean number of cores in C0 or C1.",
        "short", "socket {{socket}}", "machine"),
    Figure(
        "socket_limit:uncore_frequency_limited:ratio",
        "rate(uncore_frequency_limited_cycles_total[1m])\n"
        "/ ignoring (limit) group_left\n"
        "  rate(uncore_pcu_clock_cycles_total[1m])",
        "Frequency held down",
        "Share of the time in which temperature or power kept cores from "
        "running faster.",
        "percentunit", "socket {{socket}} by {{limit}}", "machine", 1),
    Figure(
        "socket_box:uncore_events_running:ratio",
        "rate(uncore_events_running_seconds_total[1m])\n"
        "/ rate(uncore_events_enabled_seconds_total[1m])",
        "Counted",
        "Share of the time in which a box's events had counters. Below 1 somebody "
        "else counts as well, and numbers are scaled up.",
        "percentunit", "{{box}}", "socket", 1),
)

ALERTS = (
    Alert(
        "UncoreCountersGone", "uncore_up == 0", "5m", "warning",
        "no uncore counters on {{ $labels.instance }}",
        "The driver is not loaded, or the exporter may not open its PMUs: "
        "\"uncore check\" there says which, and what to do."),
    Alert(
        "UncoreCountersShared",
        "min without (box) (socket_box:uncore_events_running:ratio) < 0.95",
        "15m", "info",
        "others count on socket {{ $labels.socket }} of "
        "{{ $labels.instance }}, too",
        "Counters are shared with another program, such as perf or a second "
        "exporter. What is shown was counted for a part of the time, and scaled."),
    Alert(
        "UncoreMemoryBandwidthHigh",
        "socket:uncore_memory_use:ratio > 0.75", "10m", "warning",
        "memory of socket {{ $labels.socket }} of {{ $labels.instance }} is at "
        "{{ $value | humanizePercentage }} of its peak",
        "More is hardly possible, and everything waits longer for memory. "
        "\"uncore top -e memory\" there tells whose traffic it is."),
    Alert(
        "UncoreMemoryThrottled",
        "max without (channel) (channel:uncore_memory_throttled:ratio) > 0.01",
        "5m", "warning",
        "memory of socket {{ $labels.socket }} of {{ $labels.instance }} is "
        "throttled for its temperature",
        "Look after fans, airflow, and the modules of the channel that "
        "channel:uncore_memory_throttled:ratio names."),
    Alert(
        "UncoreQpiSaturated",
        "max without (link) (link:uncore_qpi_use:ratio) > 0.8",
        "10m", "warning",
        "a QPI link of socket {{ $labels.socket }} of {{ $labels.instance }} is "
        "full to {{ $value | humanizePercentage }}",
        "Tasks use memory of other sockets. Bind them to where their memory is "
        "(numactl), or have it follow them."),
    Alert(
        "UncoreThermalLimit",
        "socket_limit:uncore_frequency_limited:ratio{limit=\"thermal\"} > 0.1",
        "5m", "warning",
        "socket {{ $labels.socket }} of {{ $labels.instance }} is held down by "
        "its temperature",
        "Look after fans, airflow and the heat sink."),
)
