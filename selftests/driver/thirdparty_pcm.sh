#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Intel PCM on a generation other than Haswell: its rates of known traffic of the memory
# channels, over perf with the in-tree driver and with this driver, and by the registers;
# and the traffic of the IO stacks.
#
# usage: thirdparty_pcm.sh CHANNELS, the memory channels of a package
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"
# shellcheck source=selftests/lib/shell/pcm.sh
. "$here/../lib/shell/pcm.sh"

channels=${1:?usage: $0 CHANNELS}
for tool in pcm-memory pcm-iio pcm-pcie; do
	command -v $tool > /dev/null || tap_skip_all "$tool is not installed"
done

work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT
modprobe -q msr

# load NAME: load the simulator again, and the driver with names uncore_* if there is one
load()
{
	load_sim clock=manual packages="$sockets"
	case $1 in
	intel_uncore)	on_running_clock modprobe intel_uncore ;;
	xeon_uncore)	load_driver pmu_prefix=uncore ;;
	esac
}

# pcm_iio NAME: PCM finds all stacks, and each has traffic while the clock runs
pcm_iio()
{
	echo real > "$sim/clock"
	timeout -k 5 60 pcm-iio 1 -i=1 -csv > "$work/iio" 2> "$work/errors"
	tap_ok $? "$1: pcm-iio ends well" || tap_diag "$(tail -5 "$work/errors")"
	tap_eq "$(awk -F, '/^Socket[0-9]/ && /Part0/ && $4 > 0 && $5 > 0 { n++ }
		END { print n + 0 }' "$work/iio")" $((6 * sockets)) \
		"$1: pcm-iio has rates of each stack" || tap_diag "$(cat "$work/iio")"
	echo manual > "$sim/clock"
}

# pcm_pcie NAME: PCM finds the CHAs by the global configuration register
pcm_pcie()
{
	echo real > "$sim/clock"
	timeout -k 5 60 pcm-pcie 1 -i=1 -csv -B > "$work/pcie" 2> "$work/errors"
	tap_ok $? "$1: pcm-pcie ends well" || tap_diag "$(tail -5 "$work/errors")"
	tap_eq "$(awk -F, '/^[0-9]/ && $2 > 0 && $6 > 0 { n++ } END { print n + 0 }' \
		"$work/pcie")" "$sockets" "$1: pcm-pcie has rates of each socket" ||
		tap_diag "$(cat "$work/pcie")"
	echo manual > "$sim/clock"
}

export PCM_USE_UNCORE_PERF=1
for driver in intel_uncore xeon_uncore; do
	load $driver
	pcm $driver
done
pcm_iio xeon_uncore
unset PCM_USE_UNCORE_PERF
load none
pcm registers
pcm_iio registers
pcm_pcie registers
tap_end
