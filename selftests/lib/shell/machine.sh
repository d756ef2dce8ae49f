# SPDX-License-Identifier: GPL-2.0-or-later
# Load and unload the simulator and drivers in shell tests: source this after tap.sh.
# shellcheck shell=bash

# The folder of the kernel modules, the simulator's controls in debugfs, and the table of
# events with their waveforms.
build=${UNCORE_BUILD:-build/$(uname -r)}
sim=/sys/kernel/debug/xeon_uncore_sim
wave_table=$(dirname "$build")/catalogue.tsv
# shellcheck disable=SC2034 # used by scripts that source this file
sockets=$(lscpu | sed -n 's/^Socket(s): *//p')
[[ -e $build/kmod/xeon_uncore.ko ]] || tap_skip_all "$build is not built"

# on_running_clock COMMAND...: run insmod or modprobe on the simulator's real clock, because
# a driver may measure the hardware when it loads. Then restore the manual clock.
on_running_clock()
{
	local clock=$sim/clock was='' status
	[[ ! -e $clock ]] || was=$(< $clock)
	[[ $was != manual ]] || echo real > $clock
	"$@"
	status=$?
	[[ $was != manual ]] || echo manual > $clock
	return $status
}

# unload: unload both drivers and the simulator
unload()
{
	rmmod intel_uncore xeon_uncore xeon_uncore_sim 2> /dev/null
}

# load_sim PARAMETERS...: load the simulator again, without a driver
load_sim()
{
	unload
	insmod "$build/kmod/sim/xeon_uncore_sim.ko" "$@" ||
		tap_bail 'the simulated hardware does not load'
}

# load_driver PARAMETERS...: load xeon_uncore
load_driver()
{
	on_running_clock insmod "$build/kmod/xeon_uncore.ko" "$@" ||
		tap_bail 'the driver does not load'
}

# wave BOX NAME START CYCLES: print the count of an event in CYCLES cycles from START on
wave()
{
	awk -F '\t' -v box="$1" -v name="$2" -v start="$3" -v cycles="$4" '
		$1 == box && $2 == name {
			split($11, value, ",")
			for (t = start; t < start + cycles; t++)
				sum += value[t % $10 + 1]
			print sum + 0
		}' "$wave_table"
}
