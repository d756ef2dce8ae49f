#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# With pmu_prefix=uncore the driver publishes the event files of intel_uncore and no
# further files, because programs open every event that they find. events=common adds
# names of the catalogue.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT

# event_files: print each event file of the uncore PMUs with its text
event_files()
{
	(cd /sys/bus/event_source/devices && grep -H . uncore_*/events/* 2> /dev/null)
}

# intel_uncore of Linux 6.1 crashes on a third QPI port of Ivy Bridge, model 62.
links=''
! grep -q '^model[[:space:]]*: 62$' /proc/cpuinfo || links=qpi_ports=2
load_sim clock=manual packages="$sockets" ${links:+"$links"}
on_running_clock modprobe intel_uncore ||
	tap_skip_all "the kernel has no intel_uncore"
event_files > "$work/in_tree"
rmmod intel_uncore

load_driver pmu_prefix=uncore
event_files > "$work/default"
rmmod xeon_uncore
[[ -s $work/in_tree ]]
tap_ok $? "intel_uncore publishes events"
diff "$work/in_tree" "$work/default" >&2
tap_ok $? "the event files are those of intel_uncore"

load_driver pmu_prefix=uncore events=common
event_files > "$work/common"
rmmod xeon_uncore
grep -q 'uncore_[a-z0-9]*_[0-9]*/events/[a-z_]*\.[a-z_]*:' "$work/common"
tap_ok $? "events=common adds the catalogue's names"
tap_end
