#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run tests as kselftest does: by run_kselftest.sh in an installed folder outside of this
# repository, with modules in /lib/modules; and by make run_tests. Run as root in a VM.
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
# Add the modules to modules.dep without depmod, which reads all modules of the kernel and
# takes a minute on an emulated CPU.
for module in "$UNCORE_BUILD"/kmod/{,sim/}xeon_uncore*.ko; do
	cp "$module" "$modules/updates/kselftest/"
	echo "updates/kselftest/${module##*/}:" >> "$modules/modules.dep"
done
unset UNCORE_BUILD

# judge WHAT STATUS NAME...: check that each test NAME has passed and no other test has run
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
# Use a pipe: run_kselftest.sh opens /dev/stdout again, and would overwrite the end of a file.
"$work/install/run_kselftest.sh" "${tests[@]}" 2>&1 | cat > "$work/said"
judge run_kselftest.sh "${PIPESTATUS[0]}" "$@"

"$work/install/run_kselftest.sh" --list > "$work/listed"
for name; do
	echo "xeon_uncore:$name"
done | grep -qvxf "$work/listed"
tap_ok $(($? == 0)) "run_kselftest.sh --list has them"

# make builds nothing, as the test is built already: the VM's disk is slow, and writes to it
# are lost.
make -s --no-print-directory -C "$top/selftests" run_tests TESTS="$1" 2>&1 |
	sed 's/selftests: [^:]*: /selftests: xeon_uncore: /' > "$work/said"
judge 'make run_tests' "${PIPESTATUS[0]}" "$1"
tap_end
