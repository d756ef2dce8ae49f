#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Third-party uncore tools as the distribution ships them. LIKWID programs the registers
# directly, without a driver: the counts of a dozen events must be exact, by the manual
# clock, the catalogue's waves and known transactions.
#
# Intel PCM over perf, PAPI and perf's event names run on the in-tree driver, and on this
# driver with pmu_prefix=uncore. The tests check PCM's rates of known traffic, that PAPI
# counts, and the exact counts of a dozen of perf's names for each box type. With "all",
# perf also opens all its other names.
#
# usage: thirdparty_uncore.sh likwid [hswep|icx]
#        thirdparty_uncore.sh intel_uncore|xeon_uncore [all]
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"
# shellcheck source=selftests/lib/shell/pcm.sh
. "$here/../lib/shell/pcm.sh"

limit='timeout -k 5 600'
at_once=200		# names that one perf opens
channels=4		# of a package, except for LIKWID, which needs all

work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT

# --- LIKWID, without a driver

likwid()
{
	local event counter box name instance code umask list='' start cycles=10007 want=()
	local row=0 package
	if ! command -v likwid-perfctr > /dev/null; then
		tap_skip "likwid is not installed" "LIKWID counts"
		return
	fi
	# likwid-perfctr joins the command's words without quoting them
	printf '#!/bin/sh\necho %s > %s\n' "$cycles" "$sim/advance" > "$work/go"
	chmod +x "$work/go"
	# each row and package has another number of transactions
	while read -r event counter _ _ instance code umask; do
		list+=${list:+,}$event:$counter
		row=$((row + 1))
		[[ $instance ]] || continue
		for ((package = 0; package < sockets; package++)); do
			printf 'echo pkg=%d box=%s event=%s umask=%s count=%d > %s\n' \
				$package "$instance" "$code" "$umask" \
				$((100 * row * (package + 1))) "$sim/traffic"
		done
	done < <(grep . <<< "$likwid_exact") >> "$work/go"
	start=$(< "$sim/advance")
	$limit likwid-perfctr -M 0 -C S0:0@S1:0 -O -g "$list" "$work/go" \
		> "$work/likwid" 2>&1
	tap_ok $? "likwid-perfctr runs" || tap_diag "$(cat "$work/likwid")"
	row=0
	while read -r event counter box name instance _; do
		row=$((row + 1))
		for ((package = 0; package < 2; package++)); do
			want[package]=$(wave "$box" "$name" "$start" $cycles)
			[[ ! $instance ]] || ((want[package] += 100 * row * (package + 1)))
		done
		tap_eq "$(awk -F, -v e="$event" -v c="$counter" \
			'$1 == e && $2 == c { print $3, $4; exit }' "$work/likwid")" \
			"${want[*]}" "LIKWID's $event on $counter in both packages"
	done < <(grep . <<< "$likwid_exact")
}

# --- PCM, PAPI and perf's names, on a driver with the names uncore_*

# boxes TYPE: print the number of boxes of a type in all packages
boxes()
{
	local a_package
	a_package=$(compgen -G "/sys/bus/event_source/devices/uncore_$1*" | wc -l)
	echo $((a_package * sockets))
}

papi()
{
	local event=hswep_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0
	if ! command -v papi_command_line > /dev/null; then
		tap_skip "papi-tools is not installed" "$1: PAPI"
		return
	fi
	echo real > "$sim/clock"
	$limit papi_command_line $event > "$work/papi" 2>&1
	grep -Eq "^${event}[[:space:]]*:[[:space:]]*[1-9]" "$work/papi"
	tap_ok $? "$1: PAPI counts $event" || tap_diag "$(tail -5 "$work/papi")"
	echo manual > "$sim/clock"
}

# opens NAME...: succeed if perf can open these events
opens()
{
	local list
	list=$(IFS=,; echo "$*")
	perf stat -a -x, -e "$list" true > "$work/perf" 2>&1 &&
		! grep -q 'not supported' "$work/perf"
}

# countable DRIVER: print "perf's name | box | the catalogue's name" of the first dozen
# events of each box type that every counter of the box can count without a filter.
# Leave out the boxes whose errata intel_uncore ignores, if that is the driver
# (§2.4.2.2, §2.10.2.2, §2.11.2.2).
countable()
{
	awk -F '\t' -v driver="$1" '
		BEGIN {
			split("c cbox h ha i irp m imc p pcu q qpi r2 r2pcie " \
				"r3 r3qpi s sbox u ubox", word, " ")
			for (i = 1; word[i]; i += 2)
				letter[word[i + 1]] = word[i]
			all["ubox"] = all["irp"] = "0x3"
			all["r3qpi"] = "0x7"
		}
		NR == FNR { listed[$1] = 1; next }
		driver == "intel_uncore" && $1 ~ /^(sbox|r2pcie|r3qpi)$/ { next }
		$7 == ($1 in all ? all[$1] : "0xf") && $3 !~ /[?]/ && $5 == "0x0" &&
		listed["unc_" letter[$1] "_" $2] && n[$1]++ < 12 {
			print "unc_" letter[$1] "_" $2, $1, $2
		}' "$work/names" "$wave_table"
}

# perf_counts DRIVER: check the counts of these events, three of each box at a time, so
# that none is multiplexed.
perf_counts()
{
	local round name box event start cycles wrong='' counted=0 got want
	countable "$1" > "$work/countable"
	for round in 0 1 2 3 4 5; do
		awk -v round="$round" '{
			size = $2 == "ubox" || $2 == "r3qpi" ? 2 : 3
			at = n[$2]++
			if (int(at / size) == round)
				print
		}' "$work/countable" > "$work/round"
		[[ -s $work/round ]] || break
		start=$(< "$sim/advance")
		cycles=$((1009 + round))
		perf stat -a -x, -o "$work/perf" \
			-e "$(awk '{ print $1 }' "$work/round" | paste -sd,)" \
			-- sh -c "echo $cycles > $sim/advance"
		while read -r name box event; do
			want=$(($(wave "$box" "$event" "$start" $cycles) * $(boxes "$box")))
			got=$(awk -F, -v name="$name" '$3 == name && $2 == "" {
				print $1; exit }' "$work/perf")
			[[ $got == "$want" ]] ||
				wrong+="$name: got $got, want $want; "
			counted=$((counted + 1))
		done < "$work/round"
	done
	tap_eq "$wrong" '' "$1: perf's counts of $counted of them are exact"
	((counted >= 60))
	tap_ok $? "$1: which are a dozen of each box type"
}

# perf_names DRIVER [all]: test the event names that perf has in its tables for this
# processor model.
perf_names()
{
	local names
	perf list 2> /dev/null | grep -oE '^ +unc_[a-z0-9_.]+' | tr -d ' ' |
		sort -u > "$work/names"
	mapfile -t names < "$work/names"
	if ((${#names[@]} == 0)); then
		tap_skip "this perf has none" "$1: perf's names"
		return
	fi
	[[ $2 != all ]] || open_all "$1" "${names[@]}"
	perf_counts "$1"
}

# open_all DRIVER NAME...: check that perf opens all names
open_all()
{
	local driver=$1 names=("${@:2}") refused=() name i
	for ((i = 0; i < ${#names[@]}; i += at_once)); do
		opens "${names[@]:i:at_once}" && continue
		for name in "${names[@]:i:at_once}"; do
			opens "$name" || refused+=("$name")
		done
	done
	tap_eq "${refused[*]}" '' "$driver: perf opens its ${#names[@]} own names"
}

tools()
{
	PCM_USE_UNCORE_PERF=1 pcm "$1"
	papi "$1"
	perf_names "$1" "$2"
}

modprobe -q msr
# Load the simulator again, which resets the hardware: LIKWID, for example, leaves the
# packages frozen.
small=(cboxes=3 "imcs=$channels")
if [[ ${1-} == likwid ]]; then
	small=()
	# shellcheck source=selftests/driver/foreign/icx.sh
	. "$here/foreign/${2-hswep}.sh"
	[[ ${2-hswep} == hswep ]] || wave_table=$(dirname "$build")/catalogue-$2.tsv
fi
load_sim clock=manual packages="$sockets" "${small[@]}"
case ${1-} in
likwid)
	likwid ;;
intel_uncore)
	on_running_clock modprobe intel_uncore ||
		tap_skip_all "the kernel has no intel_uncore"
	tools intel_uncore "${2-}" ;;
xeon_uncore)
	load_driver pmu_prefix=uncore
	tools "xeon_uncore pmu_prefix=uncore" "${2-}" ;;
*)
	tap_bail "usage: $0 likwid [hswep|icx], or intel_uncore|xeon_uncore [all]" ;;
esac
tap_end
