#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Power off, as for a reboot or kexec, while events of every PMU count, are multiplexed
# and sample. The VM ends with all events open, and at last the simulator checks that no
# register is set (--left 0). Run this test in a separate VM.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

command -v perf > /dev/null || tap_skip_all 'perf is not installed'
load_sim packages="$sockets"
load_driver events=common

# until_true COMMAND...: poll until the command succeeds
until_true()
{
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# samples: succeed if a counter of any package has overflowed
samples()
{
	local n total=0
	for n in /sys/module/xeon_uncore/package*/overflow_count; do
		total=$((total + $(< "$n")))
	done
	((total > 0))
}

# eight events of a memory channel, of which four run at a time: perf multiplexes them
turns=()
for i in {0..7}; do
	turns+=(-e "hswep_imc_0/event=0x$i,umask=0xf/")
done
events=(-e hswep_ubox/uclk/)
for box in cbox sbox ha imc irp pcu qpi r2pcie r3qpi; do
	events+=(-e "hswep_$box/clockticks/")
done

perf stat -a -I 100 -o /tmp/counts "${events[@]}" "${turns[@]}" sleep 100000 &
perf record -q -a -o /tmp/samples -e hswep_ha_0/clockticks/ -e hswep_cbox_0/clockticks/ \
	-c 10000000 sleep 100000 &

until_true grep -qs hswep_imc_0 /tmp/counts
tap_ok $? 'events of every PMU count'
until_true samples
tap_ok $? 'and others sample'
[[ $(wc -l < $sim/registers) -gt 100 ]]
tap_ok $? 'so registers are set when the power goes'
tap_end
