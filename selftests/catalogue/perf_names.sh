#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Check the catalogue's names in the distribution's perf: perf list shows all names, and perf
# stat sums a named event over the boxes, refuses an event without the filter it needs, and
# prints units. The clock is manual, and the catalogue's waves give the exact counts.
# shellcheck source=selftests/lib/shell/tap.sh
. "$(dirname "$0")/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$(dirname "$0")/../lib/shell/machine.sh"
control=$sim
devices=/sys/bus/event_source/devices
status_usage=129	# of perf when it cannot parse an event

# boxes TYPE: print the number of boxes of a type in a package
boxes()
{
	compgen -G "$devices/hswep_$1*" | wc -l
}

# field NAME NUMBER: print a field of the first line of perf's CSV output that has NAME
field()
{
	awk -F, -v name="$1" -v n="$2" 'index($0, name) { print $n; exit }' "$out"
}

# count CYCLES ARGUMENTS...: run perf stat for CYCLES cycles; the CSV output goes to $out
count()
{
	local cycles=$1
	shift
	start=$(< "$control/advance")
	perf stat -x, -o "$out" "$@" -- sh -c "echo $cycles > $control/advance"
}

command -v perf > /dev/null || tap_skip_all 'perf is not installed'
out=$(mktemp)
trap 'rm -f "$out"; unload' EXIT
load_sim clock=manual packages="$sockets"
load_driver events=all

# Some versions of perf list each box, others the box type.
listed=$(perf list --no-desc pmu 2> /dev/null |
	grep -o 'hswep_[a-z0-9_]*/[^/]*/' |
	sed 's/^hswep_\([a-z0-9]*\)[_0-9]*\/\([^,]*\).*\//\1 \2/' | sort -u)
wanted=$(awk -F '\t' '{ print $1, $2 }' "$wave_table" | sort -u)
tap_eq "$(comm -3 <(echo "$listed") <(echo "$wanted"))" '' \
	"perf list shows the $(wc -l <<< "$wanted") names of the catalogue, and no others"

slices=$(boxes cbox)
all=$((sockets * slices))
count 12345 -a -e 'hswep_cbox/llc_lookup.any,filter_state=0x7f/'
tap_eq "$(field llc_lookup.any 1)" \
	$((all * $(wave cbox llc_lookup.any "$start" 12345))) \
	"hswep_cbox/llc_lookup.any,filter_state=0x7f/ sums over $all slices"
count 1234 -a --per-socket -e 'hswep_cbox/llc_lookup.any,filter_state=0x7f/'
for ((socket = 0; socket < sockets; socket++)); do
	tap_eq "$(field "S$socket" 3)" \
		$((slices * $(wave cbox llc_lookup.any "$start" 1234))) \
		"and over those of socket $socket"
done

# Only perf stat -v names the missing parameter.
while read -r event missing; do
	message=$(perf stat -v -a -e "hswep_$event/" -- true 2>&1)
	tap_eq $? $status_usage "hswep_$event/ is refused"
	[[ $message == *"Required parameter '$missing' not specified"* ]]
	tap_ok $? "perf says that $missing is missing" || tap_diag "$message"
done <<'END'
cbox_0/llc_lookup.any filter_state
cbox_3/tor_inserts.nid_opcode,filter_opc=0x182 filter_nid
ha_0/addr_opc_match.addr filter_addr
pcu/freq_band2_cycles filter_band2
END

# A CAS is 64 bytes, a flit 8 bytes; perf prints values with two decimals.
count 1000000 -a -e hswep_imc/cas_count.rd/ -e hswep_qpi/txl_flits_g0.data/
cas=$(($(wave imc cas_count.rd "$start" 1000000) * sockets * $(boxes imc)))
flits=$(($(wave qpi txl_flits_g0.data "$start" 1000000) * sockets * $(boxes qpi)))
tap_eq "$(field cas_count.rd 1) $(field cas_count.rd 2)" \
	"$(awk "BEGIN { printf \"%.2f MiB\", $cas / 16384 }")" \
	"hswep_imc/cas_count.rd/ of $cas reads is in MiB"
tap_eq "$(field txl_flits_g0.data 1) $(field txl_flits_g0.data 2)" \
	"$((flits * 8)) Bytes" \
	"hswep_qpi/txl_flits_g0.data/ of $flits flits is in bytes"

# The name of a message sets its packet filter (Table 2-176). Packet 0x1c00 is a DRS DataC in
# M state; packet 0x1c20 has another opcode.
start=$(< "$control/advance")
perf stat -x, -o "$out" -a -e hswep_qpi/cto_count.drs_datac_m/ -- sh -c "
	for match0 in 0x1c00 0x1c20; do
		echo pkg=0 box=qpi_1 event=0x138 match0=\$match0 match1=0x80000 count=300
	done > $control/traffic"
tap_eq "$(field drs_datac_m 1)" 300 'a message name counts that message only'
tap_end
