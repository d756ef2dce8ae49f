#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines of several dies, in one package or in several: stock "perf stat" counts the cycles
# of every box and the traffic of each die, with --per-die and with -C. Each PMU's cpumask
# has a CPU of each die, unless the die lacks the box. The arguments are parameters of the
# simulator. Its manual clock makes all counts exact.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

control=$sim
devices=/sys/bus/event_source/devices
cpus=/sys/devices/system/cpu
command -v perf > /dev/null || tap_skip_all 'perf is not installed'

# The first CPU of each die, and perf's name of the die, such as S0-D1
mapfile -t first < <(sed 's/[-,].*//' $cpus/cpu*/topology/die_cpus_list | sort -nu)
for cpu in "${first[@]}"; do
	names+=("S$(< $cpus/cpu"$cpu"/topology/physical_package_id)-D$(< $cpus/cpu"$cpu"/topology/die_id)")
done
dies=${#first[@]}
((dies > 1)) || tap_skip_all 'needs two dies'

out=$(mktemp) traffic=$(mktemp)
trap 'rm -f "$out" "$traffic"; unload' EXIT

# One box has its registers in MSRs, the other in PCI space.
cha=event=0x34,umask=0x11 imc=event=0x04,umask=0x03
for ((die = 0; die < dies; die++)); do
	echo "pkg=$die box=cha_1 event=0x34 umask=0x11 state=0x10 count=$((1000 + die))"
	echo "pkg=$die box=imc_2 event=0x04 umask=0x03 count=$((2000 + die))"
done > "$traffic"

# mask_of PMU: print the CPUs of a PMU's cpumask, such as 0,1,2 for 0-2
mask_of()
{
	tr , '\n' < "$devices/$1/cpumask" | while IFS=- read -r begin end; do
		seq "$begin" "${end:-$begin}"
	done | paste -sd,
}

# send ARGUMENTS...: run perf stat while the simulator sends the traffic
send()
{
	perf stat -x, -o "$out" -e "skx_cha_1/$cha/,skx_imc_2/$imc/" "$@" -- \
		cp "$traffic" "$control/traffic"
}

# of_place PLACE PMU: print the count of a PMU's event in a row of the output that begins
# with PLACE
of_place()
{
	awk -F, -v place="$1" -v pmu="$2" \
		'$1 == place && index($0, pmu) { print $(place ~ /^S/ ? 3 : 2) }' "$out"
}

load_sim model=skx clock=manual packages="$dies" "$@"
load_driver events=common
list=$(IFS=,; echo "${first[*]}")
tap_eq "$(mask_of skx_cha_1)" "$list" 'cpumask: a CPU of each die, CHA'
tap_eq "$(mask_of skx_imc_2)" "$list" 'cpumask: a CPU of each die, memory channel'

send -a --per-die
for ((die = 0; die < dies; die++)); do
	tap_eq "$(of_place "${names[die]}" skx_cha_1)" $((1000 + die)) "--per-die: ${names[die]}, CHA"
	tap_eq "$(of_place "${names[die]}" skx_imc_2)" $((2000 + die)) \
		"--per-die: ${names[die]}, memory channel"
done

# The last CPU of each die: the driver counts on the first.
mapfile -t last < <(sed 's/.*[-,]//' $cpus/cpu*/topology/die_cpus_list | sort -nu)
send -A -C "$(IFS=,; echo "${last[*]}")"
for ((die = 0; die < dies; die++)); do
	cpu=${last[die]}
	tap_eq "$(of_place "CPU$cpu" skx_cha_1)" $((1000 + die)) "-C $cpu: its die's CHA"
	tap_eq "$(of_place "CPU$cpu" skx_imc_2)" $((2000 + die)) "-C $cpu: its die's memory channel"
done

ticks=() boxes=0
for file in "$devices"/skx_*/events/clockticks; do
	pmu=${file%/events/*}
	ticks+=(-e "${pmu##*/}/clockticks/")
	boxes=$((boxes + 1))
done
perf stat -x, -o "$out" -a --per-die "${ticks[@]}" -- sh -c "echo 10007 > $control/advance"
for name in "${names[@]}"; do
	tap_eq "$(grep -c "^$name,1,10007," "$out")" $boxes "the clocks of $name's $boxes boxes"
done

# The firmware hides the UBox of the second die, so its buses are unknown.
load_sim model=skx clock=manual packages="$dies" "$@" missing=ubox@1
load_driver events=common
tap_eq "$(mask_of skx_cha_1)" "$list" 'a die without PCI boxes has its CHAs'
tap_eq "$(mask_of skx_imc_2)" "$(IFS=,; unset 'first[1]'; echo "${first[*]}")" \
	'and is not in the cpumask of a memory channel'
send -a --per-die
tap_eq "$(of_place "${names[1]}" skx_cha_1)" 1001 'its CHA counts'
# depending on its version, perf prints the row with "<not counted>", or no row
[[ $(of_place "${names[1]}" skx_imc_2) != *[0-9]* ]]
tap_ok $? 'and its memory channel does not'
tap_eq "$(of_place "${names[0]}" skx_imc_2)" 2000 'the memory channel of the other die counts'
tap_end
