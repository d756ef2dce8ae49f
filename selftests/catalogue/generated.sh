#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Check the output of events/generate.py that no other test reads: the event reference has
# a page for each box type, and the library's tables compile.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
top=$(readlink -f "$here/../..")
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT

said=$("$top/events/generate.py" --docs "$fresh" 2>&1)
tap_eq "$?$said" 0 'the event reference is generated'
missing=$(for file in "$top"/events/*/*.json; do
	name=$(basename "$file" .json)
	page=$name.rst
	# the events of a file that box types include are on the pages of these
	grep -q "\"Include\": \"$name\"" "$top"/events/*/boxes.json && continue
	grep -q '"EventName"' "$file" && [[ ! -e $fresh/$page ]] && echo "$page"
done)
tap_eq "$missing" '' 'it has a page for each box type'

# No other build step compiles the tables of a generation that is not built yet.
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
