# SPDX-License-Identifier: GPL-2.0-or-later
# Simulated hardware and drivers, for scripts: source this after tap.sh.
# shellcheck shell=bash

# The kernel modules, the simulator's controls, and the waves of its events.
build=${UNCORE_BUILD:-build/$(uname -r)}
sim=/sys/kernel/debug/xeon_uncore_sim
wave_table=$(dirname "$build")/catalogue.tsv
# shellcheck disable=SC2034 # for those who source this
sockets=$(lscpu | sed -n 's/^Socket(s): *//p')
[[ -e $build/kmod/xeon_uncore.ko ]] || tap_skip_all "$build is not built"

# on_running_clock COMMAND...: run it, an insmod or modprobe, while uncore cycles follow
# time, because a driver may measure the hardware at load. Then restore the clock.
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

# unload: all drivers, and the simulated hardware
unload()
{
	rmmod intel_uncore xeon_uncore xeon_uncore_sim 2> /dev/null
}

# load_sim PARAMETERS...: simulated hardware after reset, without a driver
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

# wave BOX NAME START CYCLES: what a named event counts in a box
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
