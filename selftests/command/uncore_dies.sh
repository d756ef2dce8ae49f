#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines of several dies a package: uncore has each die as a socket, with its own counts.
# The numbers of the dies are those of the driver's statistics. The simulator's manual clock
# makes all counts exact.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

uncore=$(dirname "$build")/userspace/bin/uncore
out=$(mktemp) traffic=$(mktemp)
trap 'rm -f "$out" "$traffic"; unload' EXIT
dies=$(sed 's/[-,].*//' /sys/devices/system/cpu/cpu*/topology/die_cpus_list | sort -nu | wc -l)
((dies > 1)) || tap_skip_all 'needs two dies'

for ((die = 0; die < dies; die++)); do
	echo "pkg=$die box=cha_1 event=0x34 umask=0x11 state=0x10 count=$((1000 + die))"
	echo "pkg=$die box=imc_2 event=0x04 umask=0x03 count=$((2000 + die))"
done > "$traffic"
load_sim model=skx clock=manual packages="$dies"
load_driver events=common

of_driver=$(printf '%s\n' /sys/module/xeon_uncore/package* | sed 's/.*package//' | sort -n | paste -sd' ')
"$uncore" topology --json > "$out"
tap_eq "$? $(python3 -c 'import json, sys
print(*(s["socket"] for s in json.load(sys.stdin)["sockets"]))' < "$out")" \
	"0 $of_driver" "topology has the driver's packages"

"$uncore" stat --per-socket --json -o "$out" \
	-e skx_cha_1/event=0x34,umask=0x11/ -e skx_imc_2/event=0x04,umask=0x03/ -- \
	cp "$traffic" "$sim/traffic"
tap_eq $? 0 'stat counts each die'
for ((die = 0; die < dies; die++)); do
	for box in cha_1:$((1000 + die)) imc_2:$((2000 + die)); do
		tap_eq "$(python3 -c 'import json, sys
box, die = sys.argv[1:]
for count in json.load(sys.stdin)["events"]:
    if count["socket"] == int(die) and box in count["event"]:
        print(count["raw"])' "${box%:*}" $die < "$out")" "${box#*:}" "die $die: ${box%:*}"
	done
done
tap_end
