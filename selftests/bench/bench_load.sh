#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What all generations in one module cost: its size, of which each generation's
# tables, and the register accesses of loading it on each machine.
#
# usage: bench_load.sh KERNEL FOLDER	FOLDER is the modules', as built for KERNEL
set -eu
kernel=$1 folder=$2
cd "$(dirname "$(readlink -f "$0")")/../.."

# Text, data and bss, without what is for debugging.
bytes()
{
	size "$1" | awk 'NR == 2 { print $1 + $2 + $3 }'
}

whole=$(bytes "$folder/xeon_uncore.ko")
printf '\n%-26s %8d bytes\n' 'the module' "$whole"
for file in "$folder"/generated/*.o; do
	name=${file##*/}
	printf '  %-24s %8d bytes\n' "${name%.o}" "$(bytes "$file")"
done

echo
echo 'Loading, register accesses of all packages:'
for boxes in events/*/boxes.json; do
	grep -q '^  "Model":' "$boxes" || continue
	machine=$(basename "$(dirname "$boxes")")
	selftests/vm/run --kernel "$kernel" --machine "$machine" --no-sim --driver none -- \
		build/selftests/bench_driver load
done
