#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Test the uncore command on the simulated machine: check, topology and list without a
# driver, with each driver, for a user without permissions and with a CPU offline; then
# event strings and their counts. A wrong event string must give one line on standard
# error and the right status, and leave no process running.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

uncore=$(readlink -f "$here/../../build/userspace/bin/uncore")
control=$sim
devices=/sys/bus/event_source/devices
[[ -x $uncore ]] || tap_skip_all 'the command is not built'

out=$(mktemp) err=$(mktemp)
cleanup()
{
	rm -f "$out" "$err"
	unload
}
trap cleanup EXIT

# json EXPRESSION: print a Python expression, in which "data" is the JSON in $out
json()
{
	python3 -c 'import json, sys
data = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$out" "$1" 2>&1
}

# refused STATUS TEXT NAME ARGUMENTS...: run uncore through the command $as, and check
# that it fails with this status and one line with TEXT
as=()
refused()
{
	local status want=$1 text=$2 name=$3
	shift 3
	"${as[@]}" timeout 600 "$uncore" "$@" > "$out" 2> "$err"
	status=$?
	[[ $status == "$want" && ! -s $out && $(wc -l < "$err") == 1 &&
		$(< "$err") == "uncore: "*"$text"* ]] && ! pgrep -x uncore > /dev/null
	tap_ok $? "$name" ||
		tap_diag "status $status, out: $(head -c 300 "$out"), err: $(< "$err")"
}

# checked STATUS NAME: run "check --json" through the command $as, with its JSON in $out
checked()
{
	"${as[@]}" "$uncore" check --json > "$out" 2> "$err"
	tap_eq $? "$1" "$2" || tap_diag "$(< "$out")"
	[[ ! -s $err ]]
	tap_ok $? "check says no more than it is asked for" || tap_diag "$(< "$err")"
}

# verdict SUBJECT: print the verdict of check on a subject, and its advice
verdict()
{
	json "next('%(verdict)s: %(advice)s' % c for c in data['checks'] if c['subject'] == '$1')"
}

### without a driver

load_sim clock=manual packages="$sockets"
checked 1 'check: not ready without a driver'
tap_eq "$(json "data['ready']")" False 'and says so in JSON'
[[ $(verdict driver) == *'modprobe xeon_uncore'* ]]
tap_ok $? 'with what to load' || tap_diag "$(verdict driver)"
tap_eq "$(verdict processor)" 'ok: ' 'the processor is known'
refused 1 'no uncore driver is loaded' 'stat: no driver' \
	stat -e imc/cas_count.rd/ -- true
refused 1 'no uncore driver is loaded' 'metric: no driver' metric memory -- true
"$uncore" list imc cas_count.rd > "$out" 2> "$err"
tap_eq "$? $(grep -c '^  imc/cas_count.rd/  ' "$out")" '0 1' \
	"list works from the catalogue"
grep -q 'no uncore driver is loaded' "$err"
tap_ok $? 'and says that it does'
"$uncore" topology --json > "$out" 2> "$err"
tap_eq "$? $(json "len(data['sockets']), data['pmus'], data['driver']")" \
	"0 ($sockets, [], None)" 'topology has the packages'

### with xeon_uncore

load_driver events=all
checked 0 'check: ready with xeon_uncore'
tap_eq "$(json "[c['subject'] for c in data['checks'] if c['verdict'] == 'bad']")" \
	'[]' 'nothing is bad'
"$uncore" check > "$out"
tap_eq "$(tail -1 "$out")" 'This machine is ready.' 'the same for people'
tap_eq "$(grep -c $'\033' "$out")" 0 'without colour if the output is not a terminal'
script -qec "TERM=xterm $uncore check" /dev/null < /dev/null > "$out"
grep -q $'\033' "$out"
tap_ok $? 'with colour on a terminal'
script -qec "NO_COLOR=1 TERM=xterm $uncore check" /dev/null < /dev/null > "$out"
grep -q $'\033' "$out"
tap_eq $? 1 'but not against NO_COLOR'

"$uncore" topology --json > "$out" 2> "$err"
pmus=$(cd $devices && printf '%s\n' hswep_* | sort | tr '\n' ' ')
tap_eq "$(json "' '.join(sorted(p['pmu'] for p in data['pmus']))") " "$pmus" \
	"topology has the $(wc -w <<< "$pmus") PMUs of sysfs"
tap_eq "$(json "data['driver'], data['generation']")" \
	"('xeon_uncore', 'hswep')" 'and knows whose they are'
tap_eq "$(json "[p for p in data['pmus'] if str(p['type']) != \
	open('$devices/%s/type' % p['pmu']).read().strip()]")" '[]' \
	"and their types"
tap_eq "$(json "sum(len(p['cpus']) for p in data['sockets'])")" \
	"$(nproc --all)" 'and all CPUs'

"$uncore" list --json > "$out" 2> "$err"
tap_eq "$(json "[e['name'] for e in data['events'] if not e['usable']]")" '[]' \
	'list: every event of the catalogue can be counted'
tap_eq "$(json "[m['metric'] for m in data['metrics'] if not m['usable']]")" '[]' \
	'and every metric'
tap_eq "$(json "[e['event'] for e in data['events'] if e['terms'] != \
	open('$devices/%s/events/%s' % (next(p.name for p in __import__('os').scandir('$devices') \
	if p.name.startswith('hswep_' + e['box'])), e['name'])).read().strip()]")" '[]' \
	"their terms are those of the driver's sysfs"
"$uncore" list values filter_opc drd --csv > "$out"
tap_eq "$(wc -l < "$out")" 2 'list: a value by its words, as CSV'
"$uncore" list -v cas_count.rd_underfill > "$out"
tap_eq "$(grep -c 'event=0x04' "$out")" 1 'list -v shows the encoding'

# Symbolic names of events and values count the right transactions.
"$uncore" stat --json -o "$out" \
	-e cbox_1/tor_inserts.opcode,filter_opc=drd,name=reads/ \
	-e cbox_1/llc_lookup.any,filter_state=i+s,name=lookups/ \
	-e qpi_0/cto_count,match_opc=rdcode,name=packets/ -- sh -c "
	cat > $control/traffic" <<- 'END' 2> "$err"
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x182 count=700
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x180 count=900
	pkg=0 box=cbox_1 event=0x34 umask=0x11 state=0x01 count=30
	pkg=0 box=cbox_1 event=0x34 umask=0x11 state=0x02 count=7
	pkg=0 box=cbox_1 event=0x34 umask=0x11 state=0x04 count=50
	pkg=0 box=qpi_0 event=0x138 match0=0x0020 count=11
	pkg=0 box=qpi_0 event=0x138 match0=0x0040 count=13
	pkg=0 box=qpi_0 event=0x138 match0=0x1c20 count=17
END
for expected in reads:700 lookups:37 packets:11; do
	grep -q "\"${expected%:*}\".*[ :]${expected#*:}\b" <(tr -d '\n' < "$out")
	tap_ok $? "${expected%:*}: ${expected#*:} counted" || tap_diag "$(< "$out")"
done

### wrong input is refused

refused 1 "did you mean cas_count.rd" 'an unknown event: the nearest' \
	stat -e imc/cas_count.rdd/ -- true
refused 1 'needs filter_opc=, such as rfo (0x180)' 'a missing filter: its values' \
	stat -e cbox/tor_inserts.opcode/ -- true
refused 1 'did you mean drd' 'an unknown value: the nearest' \
	stat -e cbox/tor_inserts.opcode,filter_opc=drdd/ -- true
refused 1 "no PMU is called 'hswep_cbx'" 'an unknown PMU' \
	stat -e hswep_cbx/clockticks/ -- true
refused 1 'here it is hswep_imc' "another driver's PMU" \
	stat -e uncore_imc/cas_count.rd/ -- true
refused 1 'has no field' 'an unknown field' \
	stat -e imc/cas_count.rd,filter_nid=1/ -- true
refused 1 'does not fit, 0x1ff is the most' 'a value that is too wide' \
	stat -e cbox/tor_inserts.opcode,filter_opc=0x200/ -- true
refused 1 'filter_tid has no effect without tid_en' 'half a filter' \
	stat -e cbox/tor_inserts.opcode,filter_opc=drd,filter_tid=1/ -- true
refused 1 'filter_opc has no effect' 'a filter that the event does not obey' \
	stat -e cbox/clockticks,filter_opc=drd/ -- true
refused 1 'no field of the driver has the bits' 'bits that mean nothing' \
	stat -e imc/config=0x100000/ -- true
refused 1 'no / at the end' 'half an event' stat -e imc/cas_count.rd -- true
refused 1 'no } at the end' 'half a group' stat -e '{imc/dclk/' -- true
refused 1 'cannot tell user from kernel' 'a modifier' \
	stat -e imc/cas_count.rd/u -- true
refused 1 "there is no event 'instrutions'" 'an unknown event of the core' \
	stat -e instrutions -- true
refused 1 "nothing matches 'no_such_thing'; 'uncore list' shows all" \
	'list: nothing found' list no_such_thing
refused 2 "there is no subcommand 'bogus'; there are check" \
	'an unknown subcommand' bogus
refused 2 '--bogus' 'an unknown option' list --bogus
"$uncore" > "$out" 2> "$err"
tap_eq "$? $(wc -l < "$out") $(grep -c "$sockets sockets and .* boxes" "$out")" '0 11 1' \
	'bare uncore: eleven lines on what this machine offers'
refused 2 'excludes' 'two forms at once' list --json --csv
refused 1 'there is no sysfs' 'a sysfs that is none' --sysfs /no/such topology

### without rights

as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all
	--bounding-set=-all)
# another user may not have access to a build tree in a home folder
built=$uncore shared=$(mktemp -d)
chmod 755 "$shared"
cp "$uncore" "$shared/"
uncore=$shared/uncore
if "${as[@]}" "$uncore" --version > /dev/null 2>&1; then
	paranoid=$(< /proc/sys/kernel/perf_event_paranoid)
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	checked 1 'check: not ready without rights'
	[[ $(verdict permission) == *cap_perfmon*perf_event_paranoid=0* ]]
	tap_ok $? 'with what to set' || tap_diag "$(verdict permission)"
	refused 1 perf_event_paranoid 'stat: no permission' \
		stat -e imc/cas_count.rd/ -- true
	echo 0 > /proc/sys/kernel/perf_event_paranoid
	checked 0 'check: ready where perf_event_paranoid is 0'
	echo "$paranoid" > /proc/sys/kernel/perf_event_paranoid
else
	tap_skip 'another user cannot run it here' 'without rights'
fi
as=() uncore=$built
rm -rf "$shared"

### with a CPU offline, and the watchdog

last=$(($(nproc --all) - 1))
echo 0 > /sys/devices/system/cpu/cpu$last/online
checked 0 'check: ready with a CPU offline'
[[ $(verdict CPUs) == note:* ]]
tap_ok $? 'which it notes'
"$uncore" topology --json > "$out"
tap_eq "$(json "$last in sum((p['cpus'] for p in data['sockets']), [])")" False \
	'and topology leaves out'
echo 1 > /sys/devices/system/cpu/cpu$last/online

### with the kernel's own driver

rmmod xeon_uncore || tap_bail 'rmmod of the driver'
if ! on_running_clock modprobe intel_uncore; then
	tap_skip 'this kernel has no intel_uncore' 'the in-tree driver'
	tap_end
fi
checked 0 'check: ready with intel_uncore'
[[ $(verdict driver) == *'rmmod intel_uncore'* ]]
tap_ok $? 'and what to do for more' || tap_diag "$(verdict driver)"
"$uncore" topology --json > "$out"
tap_eq "$(json "data['driver']")" intel_uncore 'topology knows whose PMUs these are'
"$uncore" stat --json -o "$out" -e uncore_imc_0/cas_count_read,name=theirs/ \
	-e imc_0/cas_count.rd,name=ours/ \
	-e cbox_1/tor_inserts.opcode,filter_opc=drd,name=reads/ -- sh -c "
	cat > $control/traffic" <<- 'END' 2> "$err"
	pkg=0 box=imc_0 event=0x04 umask=0x03 count=32768
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x182 count=700
	pkg=0 box=cbox_1 event=0x35 umask=0x01 opc=0x180 count=900
END
for expected in theirs:2 ours:2 reads:700; do
	grep -q "\"${expected%:*}\".*[ :]${expected#*:}\b" <(tr -d '\n' < "$out")
	tap_ok $? "${expected%:*}: ${expected#*:} counted by intel_uncore" ||
		tap_diag "$(< "$out")" "$(< "$err")"
done
refused 1 'intel_uncore has no field inv' 'a field that it lacks is named' \
	stat -e cbox_0/clockticks,thresh=1,inv/ -- true
refused 1 'intel_uncore puts occ_edge' 'a field in the wrong place is refused' \
	stat -e pcu/power_state_occupancy.cores_c0,thresh=1,occ_edge/ -- true
refused 1 'intel_uncore ignores filter_band1' 'a filter that it ignores is refused' \
	stat -e pcu/freq_band1_cycles,filter_band1=20/ -- true
refused 1 'writes a control register once' 'an event that it miscounts is refused' \
	stat -e sbox_0/ring_bl_used.up/ -- true
"$uncore" list --json > "$out" 2> "$err"
tap_eq "$(json "sorted({e['box'] for e in data['events'] if not e['usable']})")" \
	"['ha', 'pcu', 'qpi', 'r2pcie', 'r3qpi', 'sbox']" \
	'list knows in which boxes it lacks events'
rmmod intel_uncore
tap_end
