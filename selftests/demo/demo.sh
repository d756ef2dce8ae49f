#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "make demo" runs this script inside the VM: stock perf stat counts an event of every box
# type on both sockets of the simulated machine, while a scenario plays.
set -e

devices=/sys/bus/event_source/devices

# For each box type an event by name, and the same event as a raw code, for a PMU that has
# no named events.
# shellcheck disable=SC2054 # commas are perf's
shown=(
	ubox	uclk				event=0xff
	cbox	llc_lookup.any,filter_state=0x7f	event=0x34,umask=0x11,filter_state=0x7f
	sbox	ring_bl_used.up			event=0x1d,umask=0x03
	ha	requests.reads			event=0x01,umask=0x03
	imc	cas_count.rd			event=0x04,umask=0x03
	irp	coherent_ops.rfo		event=0x13,umask=0x08
	pcu	power_state_occupancy.cores_c0	event=0x80,occ_sel=1
	qpi	txl_flits_g0.data		event=0x00,umask=0x02
	r2pcie	ring_ad_used.cw			event=0x07,umask=0x03
	r3qpi	ring_ad_used.ccw		event=0x07,umask=0x0c
)

events='' raw=''
for ((i = 0; i < ${#shown[@]}; i += 3)); do
	box=${shown[i]} name=${shown[i + 1]}
	one=$(compgen -G "$devices/hswep_${box}*" | head -1) || continue
	if [[ ! -e $one/events/${name%%,*} ]]; then
		name=${shown[i + 2]}
		raw+=" $box"
	fi
	# in perf, the name of the PMU without a number means all boxes of the type
	events+=",hswep_$box/$name/"
done

cat <<END

This is $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1) in QEMU: $(lscpu | sed -n 's/^Socket(s): *//p') sockets, Linux $(uname -r),
and a Xeon E5 v3's uncore, simulated register by register. xeon_uncore has found $(compgen -G "$devices/hswep_*" | wc -l)
boxes. It behaves like a server that copies arrays, chases pointers, uses the other socket's memory, serves
network and disks and rests, in turn. Stock perf counts one event of each type of box, summed over a socket's
boxes, for a second:

  perf stat -a --per-socket -e ${events#,} sleep 1
END
table=$(mktemp)
trap 'rm -f "$table"' EXIT
perf stat -a --per-socket -e "${events#,}" sleep 1 2>&1 | tee "$table"
[[ ! $raw ]] || echo "No names yet, so raw events:$raw."

# Fail unless every event has counted on both sockets.
awk '/hswep_/ { rows++; if ($3 ~ /^</ || $3 + 0 == 0) bad = 1 }
     END { exit bad || rows != '"$((2 * ${#shown[@]} / 3))"' }' "$table" || {
	echo "demo: not every event counted"
	exit 1
}
echo
echo "'make demo-web' shows this machine as a map in a browser: then open http://127.0.0.1:10331/"
