#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copy selftests/ into a kernel's tree as tools/testing/selftests/xeon_uncore, and check that
# the kernel's makefile builds and installs it.
# shellcheck source=selftests/lib/shell/tap.sh
. "$(dirname "$0")/../lib/shell/tap.sh"

kernel=build/kselftest
[[ -e $kernel/tools/testing/selftests/Makefile ]] || tap_skip_all "$kernel is not built"
work=$(mktemp -d build/kselftest-tree.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp -r "$kernel"/* "$work/"
tree=$work/tools/testing/selftests/xeon_uncore
cp -r selftests "$tree" || tap_bail "cannot copy the folder"

# env -u: keep variables of the make that runs this test from the kernel's makefile.
env -u MAKEFLAGS -u MAKELEVEL -u TESTS make -s -C "$work/tools/testing/selftests" \
	TARGETS=xeon_uncore FORCE_TARGETS=1 USERCFLAGS='-O0 -Werror' \
	CATALOGUES="$(echo "$PWD"/build/{catalogue*,machines}.tsv)" install > "$work/said" 2>&1
tap_ok $? "the kernel's makefile installs it" || tap_diag "$(tail -30 "$work/said")"

there=$work/tools/testing/selftests/kselftest_install
diff "$there/kselftest-list.txt" build/kselftest_install/kselftest-list.txt \
	> "$work/said" 2>&1
tap_ok $? "run_kselftest.sh has the same list of tests" || tap_diag "$(< "$work/said")"
# build/kselftest_install may have further files, of older builds.
comm -23 <(cd "$there" && find xeon_uncore | sort) \
	<(cd build/kselftest_install && find xeon_uncore | sort) > "$work/said"
[[ -x $there/xeon_uncore/simulator && ! -s $work/said ]]
tap_ok $? "what is installed is as here" || tap_diag "$(< "$work/said")"
tap_end
