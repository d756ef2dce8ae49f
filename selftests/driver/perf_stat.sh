#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stock "perf stat" on the driver: named events with parameters and units, -a,
# --per-socket, a PMU's name without the box number, groups and -I; and "perf list". The
# simulator's manual clock makes all counts exact.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

control=$sim
command -v perf > /dev/null || tap_skip_all 'perf is not installed'

out=$(mktemp)
trap 'rm -f "$out"; unload' EXIT
load_sim clock=manual packages="$sockets"
load_driver events=common

# count CYCLES ARGUMENTS...: run perf stat while CYCLES cycles pass, with CSV in $out
count()
{
	local cycles=$1
	shift
	perf stat -x, -o "$out" "$@" -- sh -c "echo $cycles > $control/advance"
}

# send FILE ARGUMENTS...: run perf stat while the simulator sends FILE's transactions
send()
{
	local file=$1
	shift
	perf stat -x, -o "$out" "$@" -- sh -c "cat $file > $control/traffic"
}

# total EVENT: print the event's count from output without --per-socket
total()
{
	awk -F, -v event="$1" 'index($0, event) { print $1 }' "$out"
}

# of_socket SOCKET EVENT [FIELD]: print the event's count, or another field, in a socket
of_socket()
{
	awk -F, -v socket="S$1" -v event="$2" -v field="${3:-3}" \
		'$1 == socket && index($0, event) { print $field }' "$out"
}

count 100000 -a -e hswep_cbox_0/clockticks/
tap_eq "$(total hswep_cbox_0)" $((100000 * sockets)) '-a: the sum over packages'

count 100000 -a --per-socket -e hswep_imc_3/clockticks/,hswep_ubox/uclk/
for ((s = 0; s < sockets; s++)); do
	tap_eq "$(of_socket $s hswep_imc_3)" 100000 "--per-socket: socket $s, memory channel"
	tap_eq "$(of_socket $s hswep_ubox)" 100000 "--per-socket: socket $s, UBox"
done

boxes=$(compgen -G '/sys/bus/event_source/devices/hswep_cbox_*' | wc -l)
count 1000 -a --per-socket -e hswep_cbox/clockticks/
tap_eq "$(of_socket 0 clockticks)" $((1000 * boxes)) \
	'hswep_cbox/.../ is the sum over its boxes'
channels=$(compgen -G '/sys/bus/event_source/devices/hswep_imc_*' | wc -l)
count 1000 -a -e hswep_imc/clockticks/
tap_eq "$(total clockticks)" $((1000 * channels * sockets)) \
	'hswep_imc/.../ -a is the sum over boxes and packages'

# A CAS moves 64 bytes: 32768 CAS are 2 MiB, which perf prints instead of the count.
send - -a --per-socket -e hswep_imc_0/cas_count.rd/ <<- 'END'
	pkg=0 box=imc_0 event=0x04 umask=0x03 count=32768
END
tap_eq "$(of_socket 0 cas_count.rd | cut -d. -f1) $(of_socket 0 cas_count.rd 4)" \
	'2 MiB' 'an event with a unit is scaled'

send - -a --per-socket -e hswep_cbox_1/tor_inserts.opcode,filter_opc=0x182/ \
	-e hswep_cbox_1/llc_lookup.any,filter_state=0x10/ <<- 'END'
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x182 count=700
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x180 count=900
	pkg=0 box=cbox_1 event=0x34 umask=0x11 state=0x10 count=30
	pkg=0 box=cbox_1 event=0x34 umask=0x11 state=0x01 count=50
END
tap_eq "$(of_socket 0 tor_inserts.opcode)" 700 'a named event with an opcode'
tap_eq "$(of_socket 0 llc_lookup.any)" 30 'a named event with a state, beside it'
if ((sockets > 1)); then
	tap_eq "$(of_socket 1 tor_inserts.opcode)" 0 'and nothing in the other package'
fi

message=$(perf stat -v -a -e hswep_cbox_1/tor_inserts.opcode/ -- true 2>&1)
[[ $? != 0 && $message == *filter_opc* ]]
tap_ok $? 'perf asks for the parameter that is missing' || tap_diag "$message"

count 5000 -a --per-socket \
	-e '{hswep_pcu/clockticks/,hswep_pcu/clockticks,thresh=1/}'
tap_eq "$(of_socket 0 hswep_pcu/clockticks/)" 5000 'a group: first member'
tap_eq "$(of_socket 0 thresh)" 5000 'a group: second member'

count 777 -a --per-socket -e hswep_r3qpi_2/event=0x01/,hswep_pcu/pkg_c2_residency/
tap_eq "$(of_socket 0 pkg_c2_residency)" 777 'a free-running counter'

# perf does not print the interval in which the command ends: sleep for longer
perf stat -x, -o "$out" -I 100 -a -e hswep_cbox_0/clockticks/ -- \
	sh -c "echo 1000 > $control/advance; sleep 1"
tap_eq "$(awk -F, '/clockticks/ { n += $2 } END { print n }' "$out")" \
	$((1000 * sockets)) '-I: the intervals add up'

# since perf 6.9 one line stands for all boxes of a type
perf list 2> /dev/null > "$out"
grep -qE 'hswep_cbox(_0)?/tor_inserts.opcode,filter_opc=[?]/' "$out"
tap_ok $? 'perf list shows events and their parameters'
tap_end
