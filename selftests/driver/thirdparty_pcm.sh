#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Intel PCM on a generation other than Haswell: its rates of known traffic of the memory
# channels, over perf with the in-tree driver and with this driver, and by the registers;
# and the traffic of the IO stacks.
#
# usage: thirdparty_pcm.sh GENERATION
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"
# shellcheck source=selftests/lib/shell/pcm.sh
. "$here/../lib/shell/pcm.sh"

case ${1:?usage: $0 GENERATION} in
icx)
	# of the three channels of a controller that intel_uncore has, PCM takes two itself
	channels=12 by_registers=(0 1 3 4 6 7 9 10) write_umask=0x10
	;;
*)
	channels=6 by_registers=()
	;;
esac
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

# shows NAME TOOL WANT FILTER: check that a tool ends well while the clock runs, and prints as
# many lines that pass the awk filter
shows()
{
	echo real > "$sim/clock"
	timeout -k 5 60 "$2" 1 -i=1 -csv > "$work/said" 2> "$work/errors"
	tap_ok $? "$1: $2 ends well" || tap_diag "$(tail -5 "$work/errors")"
	tap_eq "$(awk -F, "$4 { n++ } END { print n + 0 }" "$work/said")" "$3" \
		"$1: $2 has $3 lines with rates" || tap_diag "$(cat "$work/said")"
	echo manual > "$sim/clock"
}

# Reads and writes of each of a socket's six stacks; of each socket (PCM takes the number of
# CHAs from the global configuration register)
# shellcheck disable=SC2016 # fields of awk
iio=(pcm-iio $((6 * sockets)) '/^Socket[0-9]/ && /Part0/ && $4 > 0 && $5 > 0')
# shellcheck disable=SC2016
pcie=(pcm-pcie "$sockets" '/^[0-9]/ && $2 > 0 && $6 > 0')

export PCM_USE_UNCORE_PERF=1
for driver in intel_uncore xeon_uncore; do
	load $driver
	pcm $driver
done
shows xeon_uncore "${iio[@]}"
unset PCM_USE_UNCORE_PERF
load none
pcm registers "${by_registers[@]}"
shows registers "${iio[@]}"
shows registers "${pcie[@]}"
tap_end
