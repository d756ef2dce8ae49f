#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Check that make in a copied or moved tree compiles the files of that tree, although its build
# folder refers to the files of the tree in which it was built.
# shellcheck source=selftests/lib/shell/tap.sh
. "$(dirname "$0")/../lib/shell/tap.sh"

command -v cmake > /dev/null || tap_skip_all "cmake is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Make a tree of this tree's makefile and a userspace/ whose build makes the file "made" there.
mkdir -p "$work/first/userspace"
for name in Makefile debian events kmod scripts selftests; do
	ln -s "$PWD/$name" "$work/first/$name"
done
cat > "$work/first/userspace/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.25)
project(mark NONE)
add_custom_target(mark ALL COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_SOURCE_DIR}/made)
END

# build TREE: build a tree. Print the message if make removed an older build, and the path of
# the file "made".
build()
{
	rm -f "$work"/*/userspace/made
	env -u MAKEFLAGS -u MAKELEVEL make -C "$work/$1" userspace > "$work/said" 2>&1 ||
		tap_diag "$(< "$work/said")"
	grep -o 'made in another folder' "$work/said"
	(cd "$work" && ls -d -- */userspace/made)
}

removed='made in another folder'
tap_eq "$(build first)" first/userspace/made 'a tree is built'
cp -a "$work/first" "$work/second"
tap_eq "$(build second)" "$removed"$'\n'second/userspace/made 'a copy of it'
tap_eq "$(build second)" second/userspace/made 'the copy once more, with what it has'
mv "$work/second" "$work/third"
tap_eq "$(build third)" "$removed"$'\n'third/userspace/made 'a tree that was moved'
tap_eq "$(build first)" first/userspace/made 'the first one, still with what it has'
tap_end
