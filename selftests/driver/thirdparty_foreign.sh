#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unmodified tools that write the registers directly, LIKWID (with filters) and Intel
# PCM, run before and beside events of this driver, on every box type. Events that are
# opened after a tool has ended have exact counts, by their own filters. Beside a tool a
# count may be too small if the driver reports the other program, but must never be more
# than the hardware counted.
#
# usage: thirdparty_foreign.sh [hswep|skx|clx|cpx|icx]
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

for tool in likwid-perfctr pcm-memory pcm-pcie perf; do
	command -v $tool > /dev/null || tap_skip_all "$tool is not installed"
done

generation=${1-hswep}
case $generation in
hswep | icx)	list=$generation ;;
*)		list=mesh ;;
esac
# shellcheck source=selftests/driver/foreign/mesh.sh
. "$here/foreign/$list.sh"
[[ $generation == hswep ]] || wave_table=$(dirname "$build")/catalogue-$generation.tsv

# Each table as lines without blank ones
events() { grep . <<< "$events"; }
filtered() { grep . <<< "$filtered"; }

cycles=1009
work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT

# run_tool TOOL: run a tool with the real clock, so that large values remain in the
# counters
run_tool()
{
	local status
	echo real > "$sim/clock"
	case $1 in
	likwid)		likwid-perfctr -M 0 -C S0:0@S1:0 -O -g "$likwid_plain" sleep 0.2 ;;
	likwid-filters)	likwid-perfctr -M 0 -C S0:0@S1:0 -O -g "$likwid_filters" sleep 0.2 ;;
	pcm-memory)	pcm-memory 0.3 -i=1 -csv ;;
	pcm-pcie)	pcm-pcie 0.3 -i=1 -csv ;;
	esac > "$work/said" 2>&1
	status=$?
	echo manual > "$sim/clock"
	return $status
}

# perf_counts COMMAND...: count all events while the command runs, and write a line
# "socket event count" for each to $work/counts
perf_counts()
{
	perf stat -a --per-socket -x';' -o "$work/stat" \
		-e "$(awk '{ print $1 }' "$work/events" | paste -sd,)" -- "$@" ||
		tap_diag "perf stat: $(cat "$work/stat")"
	awk -F';' '/^S/ { print substr($1, 2), $5, $3 }' "$work/stat" > "$work/counts"
}

# wrong START: print the counts that are not exact, for cycles from START on
wrong()
{
	local start=$1 box name event want socket
	while read -r event want box name; do
		want=$((want + $(wave "$box" "$name" "$start" $cycles)))
		for socket in 0 1; do
			grep -qxF "$socket $event $want" "$work/counts" ||
				echo "socket $socket $event: want $want;"
		done
	done < "$work/events"
}

# exact_counts WHEN: check the counts of all events on the manual clock
exact_counts()
{
	local start
	start=$(< "$sim/advance")
	perf_counts sh -c "echo $cycles > $sim/advance; while read -r line; do
		echo \$line > $sim/traffic; done < $work/transactions"
	tap_eq "$(wrong "$start")" '' "$1: counts are exact" || tap_diag "$(cat "$work/counts")"
}

# means: print "event mean": the mean increment of each event in a cycle, by its wave, at least
# 1. For a box type in $reselected the mean is the largest of all its events: a tool may select
# another event for the counter, and the driver verifies the selection every two seconds.
means()
{
	awk -v reselected=" $reselected " '
		NR == FNR {
			split($0, field, "\t")
			n = split(field[11], value, ",")
			for (sum = 0; n; n--)
				sum += value[n]
			box = field[1]
			mean[box, field[2]] = sum / field[10]
			if (largest[box] < sum / field[10])
				largest[box] = sum / field[10]
			next
		}
		{
			most = index(reselected, " " $3 " ") ? largest[$3] : mean[$3, $4]
			print $1, (most > 1 ? most : 1)
		}' "$wave_table" "$work/events"
}

# impossible CYCLES: print the counts that cannot be those of so many cycles, and the number
# of events in both packages if not all have a count
impossible()
{
	awk -v cycles="$1" 'NR == FNR { mean[$1] = $2; missing += 2; next }
		{ missing-- }
		$3 !~ /^</ && $3 > cycles * mean[$2]
		END { if (missing) print missing " events are missing" }' \
		"$work/means" "$work/counts"
}

modprobe -q msr
load_sim clock=manual packages="$sockets" pace=0
# perf reads the names of all PMUs, so leave them out.
load_driver events=none
for ((package = 0; package < sockets; package++)); do
	grep . <<< "$transactions" | sed "s/^[[:space:]]*/pkg=$package /"
done > "$work/transactions"
# Select only the needed lines of the table, which is read for each event.
awk 'BEGIN { FS = "[ \t]+" } NR == FNR { need[$(NF - 1), $NF]; next } ($1, $2) in need' \
	<(events; filtered) "$wave_table" > "$work/waves"
# Events of both tables by their fields, with the columns of the second table
{
	awk 'NR == FNR { fields[$1, $2] = $3; next }
		{ print $1 "/" fields[$2, $3] "/", 0, $2, $3 }' "$work/waves" <(events)
	filtered
} > "$work/events"
means > "$work/means"
wave_table=$work/waves

exact_counts "alone"
for tool in likwid likwid-filters pcm-memory pcm-pcie; do
	run_tool "$tool"
	tap_ok $? "$tool runs" || tap_diag "$(tail -5 "$work/said")"
	exact_counts "after $tool"
	start=${EPOCHREALTIME/[.,]/}
	perf_counts "$BASH" -c "$(declare -p work sim likwid_plain likwid_filters)
		$(declare -f run_tool); run_tool $tool"
	most=$(((${EPOCHREALTIME/[.,]/} - start) * 2500))	# cycles of 2.5 GHz
	tap_eq "$(impossible $most)" '' "beside $tool: no count is impossible" ||
		tap_diag "$most cycles passed at most"
	exact_counts "after perf stat beside $tool"
done
tap_end
