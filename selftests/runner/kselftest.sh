#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs as kselftest runs them: from a folder that knows nothing of this
# repository, with modules that are installed; and by make run_tests. Run as root in a
# VM.
#
# usage: kselftest.sh NAME...
# shellcheck source=selftests/lib/shell/tap.sh
. "$(dirname "$0")/../lib/shell/tap.sh"

installed=build/kselftest_install
[[ -x $installed/run_kselftest.sh && $UNCORE_BUILD ]] ||
	tap_skip_all "$installed or the modules are not built"
top=$PWD
modules=/lib/modules/$(uname -r)
work=$(mktemp -d)
trap 'rm -rf "$work" "$modules/updates/kselftest"
	[[ ! -e $work.dep ]] || mv "$work.dep" "$modules/modules.dep"' EXIT

cp -r "$installed" "$work/install"
cp "$modules/modules.dep" "$work.dep" || tap_bail "no modules of this kernel"
mkdir -p "$modules/updates/kselftest"
# depmod would read all of the kernel's, which takes an emulated CPU a minute.
for module in "$UNCORE_BUILD"/kmod/{,sim/}xeon_uncore*.ko; do
	cp "$module" "$modules/updates/kselftest/"
	echo "updates/kselftest/${module##*/}:" >> "$modules/modules.dep"
done
unset UNCORE_BUILD

# judge WHAT STATUS NAME...: has each passed, and has nothing else been run?
judge()
{
	local what=$1 status=$2 name
	shift 2

	sed 's/^/# /' "$work/said"
	for name; do
		grep -qx "ok [0-9]* selftests: xeon_uncore: $name" "$work/said"
		tap_ok $? "$what: $name passes"
	done
	[[ $status == 0 ]] && grep -qx "1..$#" "$work/said" &&
		(($(grep -c '^\(not \)\?ok ' "$work/said") == $#))
	tap_ok $? "$what: that is all"
}

cd / || exit
tests=()
for name; do
	tests+=(-t "xeon_uncore:$name")
done
# A pipe: the runner opens /dev/stdout again, and would write over a file's end.
"$work/install/run_kselftest.sh" "${tests[@]}" 2>&1 | cat > "$work/said"
judge run_kselftest.sh "${PIPESTATUS[0]}" "$@"

"$work/install/run_kselftest.sh" --list > "$work/listed"
for name; do
	echo "xeon_uncore:$name"
done | grep -qvxf "$work/listed"
tap_ok $(($? == 0)) "run_kselftest.sh --list has them"

# What is built is not built again: a VM's disk is slow, and its writes are lost.
make -s --no-print-directory -C "$top/selftests" run_tests TESTS="$1" 2>&1 |
	sed 's/selftests: [^:]*: /selftests: xeon_uncore: /' > "$work/said"
judge 'make run_tests' "${PIPESTATUS[0]}" "$1"
tap_end
