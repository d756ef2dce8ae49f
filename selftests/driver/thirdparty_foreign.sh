#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unmodified tools that write the registers directly, LIKWID (with filters) and Intel
# PCM, run before and beside events of this driver, on every box type. Events that are
# opened after a tool has ended have exact counts, by their own filters. Beside a tool a
# count may be too small if the driver reports the other program, but must never be more
# than the hardware counted.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

for tool in likwid-perfctr pcm-memory pcm-pcie perf; do
	command -v $tool > /dev/null || tap_skip_all "$tool is not installed"
done

cycles=1009
work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT

# PMU | the catalogue's box and event, for each box type
events()
{
	cat <<-'END'
	hswep_ubox		ubox	uclk
	hswep_cbox_0		cbox	clockticks
	hswep_sbox_0		sbox	clockticks
	hswep_ha_0		ha	clockticks
	hswep_imc_0		imc	act_count.rd
	hswep_imc_1		imc	dclockticks
	hswep_pcu		pcu	clockticks
	hswep_r2pcie		r2pcie	clockticks
	hswep_r3qpi_0		r3qpi	clockticks
	hswep_qpi_0		qpi	clockticks
	hswep_irp_0		irp	clockticks
	END
}

# event | transactions that pass its filter | the catalogue's box and event. The event
# also counts its wave, which does not depend on filters.
filtered()
{
	cat <<-'END'
	hswep_cbox_0/event=0x35,umask=0x1,filter_opc=0x182/	100	cbox	tor_inserts.opcode
	hswep_cbox_1/event=0x34,umask=0x11,filter_state=0x1/	30	cbox	llc_lookup.any
	hswep_qpi_0/event=0x138,match_mc=0xe,mask_mc=0xf/	50	qpi	cto_count
	END
}

transactions()
{
	local package
	for package in 0 1; do
		cat <<-END
		pkg=$package box=cbox_0 event=0x35 umask=0x1 opc=0x182 count=100
		pkg=$package box=cbox_0 event=0x35 umask=0x1 opc=0x19e count=7
		pkg=$package box=cbox_1 event=0x34 umask=0x11 state=0x1 count=30
		pkg=$package box=cbox_1 event=0x34 umask=0x11 state=0x8 count=7
		pkg=$package box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=50
		pkg=$package box=qpi_0 event=0x138 dir=rx match0=0x1800 count=7
		END
	done
}

# Events of LIKWID that leave other register values than the events above need
likwid_plain=UNCORE_CLOCK:UBOXFIX,CBOX_CLOCKTICKS:CBOX0C0,CBOX_CLOCKTICKS:CBOX1C1
likwid_plain+=,SBOX_CLOCKTICKS:SBOX0C0,BBOX_CLOCKTICKS:BBOX0C0,CAS_COUNT_WR:MBOX0C0
likwid_plain+=,CAS_COUNT_RD:MBOX1C1,WBOX_CLOCKTICKS:WBOX0,PBOX_CLOCKTICKS:PBOX0
likwid_plain+=,RBOX_CLOCKTICKS:RBOX0C0,QBOX_CLOCKTICKS:QBOX0C0
likwid_filters=TOR_INSERTS_OPCODE:CBOX0C0:OPCODE=0x19E,LLC_LOOKUP_ANY:CBOX1C0:STATE=0x8
likwid_filters+=,QPI_RATE:QBOX0FIX0

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
	local list
	list=$({ events | awk '{ print $1 "/" $3 "/" }'; filtered | awk '{ print $1 }'; } |
		paste -sd,)
	perf stat -a --per-socket -x';' -o "$work/stat" -e "$list" -- "$@" ||
		tap_diag "perf stat: $(cat "$work/stat")"
	awk -F';' '/^S/ { print substr($1, 2), $5, $3 }' "$work/stat" > "$work/counts"
}

# wrong START: print the counts that are not exact, for cycles from START on
wrong()
{
	local start=$1 pmu box name event want socket
	while read -r pmu box name; do
		want=$(wave "$box" "$name" "$start" $cycles)
		for socket in 0 1; do
			grep -qxF "$socket $pmu/$name/ $want" "$work/counts" ||
				echo "socket $socket $pmu/$name/: want $want;"
		done
	done < <(events)
	while read -r event want box name; do
		want=$((want + $(wave "$box" "$name" "$start" $cycles)))
		for socket in 0 1; do
			grep -qxF "$socket $event $want" "$work/counts" ||
				echo "socket $socket $event: want $want;"
		done
	done < <(filtered)
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

modprobe -q msr
load_sim clock=manual packages="$sockets" pace=0
load_driver events=common
transactions > "$work/transactions"
# Select only the needed lines of the table, which is read for each event.
awk 'BEGIN { FS = "[ \t]+" } NR == FNR { need[$(NF - 1), $NF]; next } ($1, $2) in need' \
	<(events; filtered) "$wave_table" > "$work/waves"
wave_table=$work/waves

exact_counts "alone"
for tool in likwid likwid-filters pcm-memory pcm-pcie; do
	run_tool "$tool"
	tap_ok $? "$tool runs" || tap_diag "$(tail -5 "$work/said")"
	exact_counts "after $tool"
	start=${EPOCHREALTIME/[.,]/}
	perf_counts "$BASH" -c "$(declare -p work sim likwid_plain likwid_filters)
		$(declare -f run_tool); run_tool $tool"
	# 2.5 GHz; the events have at most one a cycle on average
	most=$(((${EPOCHREALTIME/[.,]/} - start) * 2500))
	tap_eq "$(awk -v most=$most '$3 !~ /^</ && $3 > most' "$work/counts")" '' \
		"beside $tool: no count is impossible" || tap_diag "$most cycles passed at most"
	exact_counts "after perf stat beside $tool"
done
tap_end
