#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Print the cost of supporting all generations in one module: the size of the module and
# of each generation's tables, and the register accesses of loading the module on each
# generation's simulated machine.
#
# usage: bench_load.sh KERNEL FOLDER	FOLDER has the modules that were built for KERNEL
set -eu
kernel=$1 folder=$2
cd "$(dirname "$(readlink -f "$0")")/../.."

# bytes FILE: print the size of text, data and bss of an object file, without debug
# sections
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
