#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "make demo" runs this script inside the VM: stock perf stat counts an event of every box
# type on all sockets of the simulated machine, while a scenario plays.
#
# usage: demo.sh GENERATION, as the folders of events/ are named
set -e

generation=${1:?usage: $0 GENERATION}
devices=/sys/bus/event_source/devices
title=$(sed -n 's/^  "Title": "\(.*\)",$/\1/p' "$(dirname "$0")/../../events/$generation/boxes.json")

# An event of each box type, by name or by code. Of a box type without a line the event is
# clockticks. ALL stands for the largest value of a filter's field.
shown='
	ubox	uclk
	cbox	llc_lookup.any,filter_state=ALL
	cha	requests.reads
	sbox	ring_bl_used.up
	ha	requests.reads
	imc	cas_count.rd
	imc_free_running	read
	m2m	imc_reads.all
	m2pcie	event=0x01
	iio	data_req_of_cpu.mem_write.all_parts
	iio_free_running	bw_in_port0
	irp	coherent_ops.rfo
	irp	transactions.reads
	pcu	power_state_occupancy.cores_c0
	qpi	txl_flits_g0.data
	upi	txl_flits.all_data
	r2pcie	ring_ad_used.cw
	r3qpi	ring_ad_used.ccw
'

# box_types: print the box types of the machine
box_types()
{
	compgen -G "$devices/${generation}_*" | sed "s/.*\/${generation}_//; s/_[0-9]*$//" |
		sort -u
}

# event_of BOX: print the event that is shown of a box type
event_of()
{
	local pmu box event field from to
	pmu=$(compgen -G "$devices/${generation}_$1*" | grep -E "_$1(_[0-9]+)?$" | head -1)
	while read -r box event; do
		[[ $box == "$1" ]] || continue
		[[ $event == *=* && $event != *,* || -e $pmu/events/${event%%,*} ]] || continue
		if [[ $event == *=ALL ]]; then
			field=${event##*,}
			IFS=:- read -r _ from to < "$pmu/format/${field%=ALL}"
			event=${event%ALL}$(printf '0x%x' $(((1 << (to - from + 1)) - 1)))
		fi
		echo "$event"
		return
	done <<< "$shown"
	echo clockticks
}

events='' types=0
for box in $(box_types); do
	# in perf, the name of the PMU without a number means all boxes of the type
	events+=",${generation}_$box/$(event_of "$box")/"
	types=$((types + 1))
done
sockets=$(lscpu | sed -n 's/^Socket(s): *//p')

cat <<END

This is a virtual machine with Linux $(uname -r), $sockets sockets and the uncore of
$title, simulated register by register. xeon_uncore has found $(compgen -G "$devices/${generation}_*" | wc -l) boxes a socket.
The machine behaves like a server that copies arrays, chases pointers, uses the other socket's memory,
serves network and disks and rests, in turn. Stock perf counts one event of each type of box, summed
over a socket's boxes, for a second:

  perf stat -a --per-socket -e ${events#,} sleep 1
END
table=$(mktemp)
trap 'rm -f "$table"' EXIT
perf stat -a --per-socket -e "${events#,}" sleep 1 2>&1 | tee "$table"

# Fail unless every event has counted on all sockets.
awk -v generation="$generation" -v rows=$((sockets * types)) '
	$0 ~ " " generation "_" && /^S[0-9]/ {
		rows--
		if ($3 ~ /^</ || $3 + 0 == 0)
			bad = 1
	}
	END { exit bad || rows }' "$table" || {
	echo "demo: not every event counted"
	exit 1
}
echo
echo "'make demo-web' shows this machine as a map in a browser: then open http://127.0.0.1:10331/"
