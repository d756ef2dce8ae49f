#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is generated from the catalogue and kept in the repository is what the
# generator makes of it today.
here=$(dirname "$0")
# shellcheck source=selftests/lib/tap.sh
. "$here/../lib/tap.sh"
top=$(readlink -f "$here/../..")
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT

said=$("$top/events/generate.py" --docs "$fresh" 2>&1)
tap_eq "$?$said" 0 'the event reference is generated'
tap_eq "$(diff -r -u "$fresh" "$top/Documentation/events" 2>&1 | head -20)" '' \
	'Documentation/events is current (else: events/generate.py --docs Documentation/events)'

# Nothing else compiles the tables of a generation that is not built yet.
for boxes in "$top"/events/*/boxes.json; do
	name=$(basename "$(dirname "$boxes")")
	said=$("$top/events/generate.py" --generation "$name" \
		--cpp "$fresh/$name.cpp" 2>&1 &&
		"${CXX:-g++}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only \
		-I"$top/userspace/lib" -I"$top/userspace/include" \
		"$fresh/$name.cpp" 2>&1 | head -20)
	tap_eq "$said" '' "the library's tables of $name compile"
done
tap_end
