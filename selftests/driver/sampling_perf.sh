#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stock "perf record" on the driver: periods, -F, several events, program names in perf
# report and perf script, and the driver's tracepoint. Sampling by the software clock and
# the NMI watchdog continue beside uncore sampling.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

control=$sim
accounts=/sys/module/xeon_uncore
command -v perf > /dev/null || tap_skip_all 'perf is not installed'

work=$(mktemp -d)
spinners=()
# shellcheck disable=SC2317 # the trap calls it
clean()
{
	kill "${spinners[@]}" 2> /dev/null
	wait
	rm -rf "$work"
	unload
}
trap clean EXIT

# load PARAMETERS...: load both modules again, the simulator with these parameters. The
# freeze budget is unlimited, so that each period gives a sample, although an emulated
# machine stays frozen for long at an overflow.
load()
{
	load_sim "$@" packages="$sockets"
	load_driver events=common freeze_budget=1000
}

# Options of perf record that avoid its slowest work under emulation
quick=(-q --no-buildid --no-buildid-cache --no-bpf-event)

# record ARGUMENTS...: run perf record on a CPU without spinners, into $work/data
record()
{
	taskset -c "$others" perf record "${quick[@]}" -o "$work/data" "$@" 2> "$work/err" ||
		tap_diag "perf record: $(cat "$work/err")"
}

# script FIELDS: print a line for each sample
script()
{
	perf script -i "$work/data" -F "$1" 2> /dev/null
}

# most PERCENT PATTERN: succeed if PERCENT of the lines on standard input match
most()
{
	awk -v percent="$1" -v pattern="$2" '
		NF { all++ }
		NF && $0 ~ pattern { match_++ }
		END { exit !(all && match_ * 100 >= all * percent) }'
}

# truthful: succeed if each sample is of the task that ran on its CPU by the scheduler's
# events. The input has the fields tid, cpu, event and trace, with all context switches.
# A sample before a CPU's first switch belongs to the task that this switch ends.
truthful()
{
	awk '
		/sched_switch/ {
			if (!($2 in running))
				wrong += early[$2] - early[$2, $1]
			match($0, /next_pid=[0-9]+/) || match($0, /==> .*:[0-9]+/)
			running[$2] = substr($0, RSTART, RLENGTH)
			sub(/.*[=:]/, "", running[$2])
			next
		}
		NF {
			all++
			if ($2 in running) {
				wrong += $1 != running[$2]
			} else {
				early[$2]++
				early[$2, $1]++
			}
		}
		END {
			printf "%d of %d samples of another task\n", wrong, all
			# a sample taken in an NMI may be in the middle of a switch
			exit !(all >= 80 && wrong * 100 <= all)
		}'
}

# unclaimed: print the number of NMIs that no handler has claimed
unclaimed()
{
	dmesg | grep -c 'NMI received for unknown reason'
}

load clock=real uclk_khz=400000

# Run a program of the name "spinner" on each CPU on which perf opens uncore events.
IFS=, read -ra cpus < /sys/bus/event_source/devices/hswep_ha_0/cpumask
others=$(seq 0 $(($(nproc --all) - 1)) |
	grep -vxF "$(printf '%s\n' "${cpus[@]}")" | paste -sd,)
cp "$here/../../build/selftests/spin_task" "$work/spinner"
for cpu in "${cpus[@]}"; do
	"$work/spinner" "$cpu" 1000000 &
	spinners+=($!)
done
sleep 0.5

# Sample four boxes of each package, of which the CBo is polled, and record every context
# switch: -c 1 is the period of the tracepoint.
events=()
for pmu in ha_0 imc_0 pcu cbox_0; do
	events+=(-e "hswep_$pmu/clockticks,period=4000000/")
done
record -a -c 1 "${events[@]}" -e sched:sched_switch -- sleep 2
script comm,pid,cpu,event | grep -v sched_switch > "$work/out"
for pmu in ha_0 imc_0 pcu cbox_0; do
	(($(grep -c "hswep_$pmu/" "$work/out") >= 10))
	tap_ok $? "perf record: samples of $pmu" ||
		tap_diag "$(sort "$work/out" | uniq -c)"
done
# The CPU time of kernel threads depends on the machine.
judgement=$(script tid,cpu,event,trace | truthful)
tap_ok $? 'perf script: samples are of the program that ran there' ||
	tap_diag "$judgement"$'\n'"$(sort "$work/out" | uniq -c)"
# If the delivery of a sample waited for a thread, the sample would name that thread, and
# the scheduler's events would agree. So each box must have samples of the program on each
# CPU.
missing=
for pmu in ha_0 imc_0 pcu cbox_0; do
	for i in "${!cpus[@]}"; do
		grep -qE "^ *spinner +${spinners[i]} +\[0*${cpus[i]}\] +hswep_$pmu/" "$work/out" ||
			missing+=" $pmu on CPU ${cpus[i]}"
	done
done
tap_eq "$missing" '' 'perf script: each box, on each CPU, has some of the program there'
most 100 "\\[0*($(IFS='|'; echo "${cpus[*]}"))\\]" < "$work/out"
tap_ok $? 'perf script: samples are of the CPUs of the cpumask'
perf report -i "$work/data" --sort comm --stdio 2> /dev/null |
	grep -v '^#' | awk 'NF' > "$work/out"
[[ $(head -1 "$work/out") == *spinner* ]]
tap_ok $? 'perf report: that program comes first' ||
	tap_diag "$(cat "$work/out")"

record -F 100 -a -e hswep_ubox/uclk/ -- sleep 3
n=$(script cpu | wc -l)
((n >= 300 * sockets / 5 && n <= 300 * sockets * 5))
tap_ok $? 'perf record -F' || tap_diag "$n samples in 3 s at 100 a second"

kill "${spinners[@]}"
wait "${spinners[@]}" 2> /dev/null
spinners=()

# Sample by the software clock alone, and then beside uncore sampling.
record -a -e cpu-clock -F 200 -- sleep 2
alone=$(script cpu | wc -l)
record -a -e cpu-clock -F 200 -- \
	perf record "${quick[@]}" -a -o "$work/uncore" -c 1000000 \
	-e hswep_ha_0/clockticks/,hswep_ubox/uclk/,hswep_cbox_0/clockticks/ -- sleep 2
beside=$(script cpu | wc -l)
uncore=$(perf script -i "$work/uncore" -F cpu 2> /dev/null | wc -l)
((alone > 0 && beside > alone / 3 && uncore > 100))
tap_ok $? 'perf record of the software clock continues beside it' ||
	tap_diag "alone $alone samples, beside it $beside, uncore $uncore"
tap_eq "$(unclaimed)" 0 'no unknown NMI'

watchdog=/proc/sys/kernel/nmi_watchdog
if echo 1 2> /dev/null > $watchdog && [[ $(cat $watchdog) == 1 ]] &&
   perf stat -e cycles -a -- true 2>&1 | grep -q '[0-9].*cycles'; then
	before=$(awk '$1 == "NMI:" { print $2 + $3 }' /proc/interrupts)
	record -a -e hswep_ha_0/clockticks/ -c 1000000 -- sleep 15
	after=$(awk '$1 == "NMI:" { print $2 + $3 }' /proc/interrupts)
	((after > before)) && [[ $(unclaimed) == 0 ]]
	tap_ok $? 'the NMI watchdog runs beside it'
	echo 0 > $watchdog
else
	tap_skip 'this CPU has no core PMU' 'the NMI watchdog runs beside it'
fi

load clock=manual
record -a -e xeon_uncore:overflow -- \
	perf record "${quick[@]}" -o "$work/uncore" -a -e hswep_pcu/clockticks/ -c 300 -- \
	sh -c "echo 3100 > $control/advance"
script trace > "$work/out"
tap_eq "$(wc -l < "$work/out")" $((10 * sockets)) 'the tracepoint tells each overflow'
most 100 'box=hswep_pcu counter=[0-9]+ package=[0-9]+ period=300 frozen_ns=[0-9]+' \
	< "$work/out"
tap_ok $? 'with box, counter, package, period and frozen time' ||
	tap_diag "$(head -3 "$work/out")"
tap_eq "$(perf script -i "$work/uncore" -F cpu 2> /dev/null | wc -l)" \
	$((10 * sockets)) 'and each has a sample'
tap_eq "$(cat $accounts/package0/overflow_count)" 10 'and overflow_count says so'
tap_end
