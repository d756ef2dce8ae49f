#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The files dieN of stacks and links, and stock "perf iostat", which needs those of
# uncore_iio_N: with pmu_prefix=uncore the driver has intel_uncore's names.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

control=$sim
devices=/sys/bus/event_source/devices
command -v perf > /dev/null || tap_skip_all 'perf is not installed'

out=$(mktemp)
traffic=$(mktemp)
trap 'rm -f "$out" "$traffic"; unload' EXIT
load_sim model=skx clock=manual packages="$sockets"
load_driver pmu_prefix=uncore

# The bus of each stack has the stack's own device, 8086:2024.
for ((s = 0; s < sockets; s++)); do
	for ((stack = 0; stack < 6; stack++)); do
		bus=$(cat "$devices/uncore_iio_$stack/die$s")
		tap_eq "$(cat "/sys/bus/pci/devices/$bus:05.0/device")" 0x2024 \
			"stack $stack of die $s is on bus $bus"
	done
	tap_eq "$(cat "$devices/uncore_upi_1/die$s")" "upi_1,die_$((1 - s))" \
		"link 1 of die $s ends at the other die"
done
tap_eq "$(cat "$devices"/uncore_iio_*/die* | sort -u | wc -l)" $((6 * sockets)) \
	'each stack has a bus of its own'
tap_eq "$(compgen -G "$devices/uncore_cha_0/die*")" '' 'a CHA has no such file'

# An increment is 4 bytes: 262144 of them are 1 MB.
cat > "$traffic" <<- 'END'
	pkg=1 box=iio_2 event=0x83 umask=0x04 port=0x1 fc=0x7 count=786432
	pkg=1 box=iio_2 event=0x83 umask=0x01 port=0x2 fc=0x7 count=1310720
END
# perf's script of that name splits the command at spaces, quoted or not.
perf iostat -x, -o "$out" -- cp "$traffic" "$control/traffic"
port=$(cat "$devices/uncore_iio_2/die1")
row=$(grep "^$port," "$out" | tr -d ' ')
tap_eq "$row" "$port,3,5,0,0," 'perf iostat: 3 MB read and 5 MB written by the devices of a port'
tap_eq "$(grep -c '^[0-9a-f]*:' "$out")" $((6 * sockets)) 'perf iostat lists every stack'
tap_eq "$(grep '^[0-9a-f]*:' "$out" | grep -v "^$port," | tr -d ' ' | grep -vc ',0,0,0,0,$')" 0 \
	'perf iostat: no bytes on any other stack'
tap_end
