#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unmodified third-party tools run on the simulated hardware: rdmsr, wrmsr and setpci
# read and write the registers that the driver programs.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

for tool in rdmsr wrmsr setpci lspci perf; do
	command -v $tool > /dev/null || tap_skip_all "$tool is not installed"
done

work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT
load_sim clock=manual
load_driver events=common
modprobe -q msr
[[ -c /dev/cpu/0/msr ]] || tap_skip_all "the kernel has no msr driver"

en=$((1 << 22))		# of a counter's control register

# pci_function ID PACKAGE: print the address of the PCI function with a device ID in a
# package; bus numbers ascend with the package
pci_function()
{
	lspci -D -d "8086:$1" | sort | sed -n "$(($2 + 1))s/ .*//p"
}

# package_cpu PACKAGE: print the package's CPU in the driver's cpumask
package_cpu()
{
	local cpu
	for cpu in $(tr ',' ' ' < /sys/bus/event_source/devices/hswep_pcu/cpumask); do
		(($(cat "/sys/devices/system/cpu/cpu$cpu/topology/physical_package_id") == $1)) &&
			echo "$cpu"
	done
}

# count EVENT FUNCTION: count an event in both packages while the shell function runs.
# perf's counts of package 0 and 1 are in counts[0] and counts[1], the function's output
# lines in said[].
count()
{
	perf stat -a --per-socket -x, -o "$work/stat" -e "$1" \
		"$BASH" -c "$(declare -p sim en cpus); $(declare -f "$2"); $2" \
		> "$work/said" 2>&1 || tap_diag "$(cat "$work/said")"
	# socket,CPUs,count,unit,event,...
	mapfile -t counts < <(sed -n 's/^S[0-9]*,[0-9]*,\([^,]*\),.*/\1/p' "$work/stat")
	mapfile -t said < "$work/said"
}

cpus=("$(package_cpu 0)" "$(package_cpu 1)")
[[ ${cpus[1]} ]] || tap_skip_all "needs two packages"
channel=$(pci_function 2fb0 0)
filter=$(pci_function 2f86 0)
qpi=$(pci_function 2f32 0)
[[ $channel && $filter && $qpi ]] || tap_bail "PCI functions are missing"

# --- rdmsr and wrmsr on a CBo: controls at 0xe01, counters at 0xe08

inside_msr()
{
	local i ctl counters=()
	# the driver chooses one of the four counters
	for cpu in "${cpus[@]}"; do
		for i in 0 1 2 3; do
			ctl=0x$(rdmsr -p "$cpu" $((0xe01 + i)))
			((ctl & en)) && counters+=("$i") && echo $((ctl))
		done
	done
	((${#counters[@]} == 2)) || exit 1
	echo 500 > "$sim/advance"
	printf '%d\n' "0x$(rdmsr -p "${cpus[0]}" $((0xe08 + counters[0])))"
	# each package has separate registers
	wrmsr -p "${cpus[0]}" $((0xe08 + counters[0])) 0x10000
	wrmsr -p "${cpus[1]}" $((0xe08 + counters[1])) 0x20000
	echo 7 > "$sim/advance"
	# stop the counter by its control register: the next cycles are not counted
	wrmsr -p "${cpus[0]}" $((0xe01 + counters[0])) 0
	echo 1000 > "$sim/advance"
}
count hswep_cbox_0/event=0x00,thresh=1/ inside_msr
tap_eq "${said[0]}" $((0x01000000 | en)) "rdmsr reads the control register that the driver wrote"
tap_eq "${said[1]}" $((0x01000000 | en)) "and of the other package"
tap_eq "${said[2]}" 500 "rdmsr reads a counter that counts"
tap_eq "${counts[0]}" $((0x10000 + 7)) "package 0: what wrmsr put into counter and control register shows in the count"
tap_eq "${counts[1]}" $((0x20000 + 1007)) "package 1: what wrmsr put into its counter shows in its count"
tap_eq "$(for i in 1 2 3 4; do rdmsr -p "${cpus[1]}" 0xe0$i; done | sort -u)" 0 \
	"rdmsr finds the control registers cleared afterwards"

# --- setpci on a memory channel: controls at 0xd8, counters at 0xa0

inside_pci()
{
	local i ctl counter=''
	for i in 0 1 2 3; do
		ctl=0x$(setpci -s "$channel" "$(printf %x.l $((0xd8 + 4 * i)))")
		((ctl & en)) && counter=$(printf %x.l $((0xa0 + 8 * i))) && echo $((ctl))
	done
	echo 300 > "$sim/advance"
	printf '%d\n' "0x$(setpci -s "$channel" "$counter")"
	setpci -s "$channel" "$counter=00030000"
	echo 11 > "$sim/advance"
}
export channel filter
count hswep_imc_0/event=0x00,thresh=1/ inside_pci
tap_eq "${said[0]}" $((0x01000000 | en)) "setpci reads the control register that the driver wrote"
tap_eq "${said[1]}" 300 "setpci reads a counter that counts"
tap_eq "${counts[0]}" $((0x30000 + 11)) "package 0: what setpci put into a counter shows in the count"
tap_eq "${counts[1]}" 311 "package 1: its channel is another one"

# --- setpci on a QPI port's filters, in extended configuration space

inside_filter()
{
	printf '%d\n' "0x$(setpci -s "$filter" 228.l)" "0x$(setpci -s "$filter" 238.l)"
	echo "pkg=0 box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=100" > "$sim/traffic"
	echo "pkg=0 box=qpi_0 event=0x138 dir=rx match0=0x1800 count=10" > "$sim/traffic"
	setpci -s "$filter" 228.l=00001800
	echo "pkg=0 box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=1000" > "$sim/traffic"
	echo "pkg=0 box=qpi_0 event=0x138 dir=rx match0=0x1800 count=7" > "$sim/traffic"
}
count hswep_qpi_0/event=0x138,match_mc=0xe,mask_mc=0xf/ inside_filter
tap_eq "${said[0]} ${said[1]}" "$((0xe << 9)) $((0xf << 9))" "setpci reads match and mask registers beyond offset 0x100"
tap_eq "${counts[0]}" 107 "what setpci wrote into the match register decides what counts"

tap_end
