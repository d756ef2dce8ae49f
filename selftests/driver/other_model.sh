#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# On an unsupported processor model, loading the driver fails with ENODEV, the log has one
# line with the model, and no module or PMU is left. Run this test on a VM with such a
# model (selftests/vm/run --cpu-model).
#
# usage: other_model.sh [NAME]	NAME is the processor's name in the log line
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"

module=${UNCORE_BUILD:-build/$(uname -r)}/kmod/xeon_uncore.ko
[[ -e $module ]] || tap_skip_all "$module is not built"
! grep -q '^model[[:space:]]*: 63$' /proc/cpuinfo ||
	tap_skip_all 'this processor is the right one'
number()
{
	sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1
}
model="family $(number 'cpu family') model $(number model) is ${1:-not a processor}"

before=$(dmesg | wc -l)
message=$(insmod "$module" 2>&1)
[[ $message == *'No such device'* ]]
tap_ok $? 'insmod fails with ENODEV'
tap_diag "$message"
lines=$(dmesg | tail -n +$((before + 1)) | grep 'xeon_uncore:' | grep -v taint)
[[ $(wc -l <<< "$lines") == 1 && $lines == *"$model"* ]]
tap_ok $? "one line in the log says why: $model"
tap_diag "$lines"
[[ ! -e /sys/module/xeon_uncore ]] &&
	! compgen -G '/sys/bus/event_source/devices/*_[a-z]*box*' > /dev/null &&
	! compgen -G '/sys/bus/event_source/devices/xeon7?00_*' > /dev/null
tap_ok $? 'nothing is left behind'
tap_end
