#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz the input of libuncore (event strings, metric expressions, sysfs) and of the
# command (text of perf script, HTTP requests, names). All targets together take a minute,
# or FUZZ_SECONDS. Each crash, leak, hang or undefined operation is a failure, and its
# input is kept in build/fuzz/found.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
source=$here/../../userspace
build=$here/../../build/fuzz
targets=(event expression sysfs script http text)
seconds=$((${FUZZ_SECONDS:-60} / ${#targets[@]}))

echo 'extern "C" int LLVMFuzzerTestOneInput(const char *, long) { return 0; }' |
	clang++ -x c++ -fsanitize=fuzzer,address,undefined -o /dev/null - \
	2> /dev/null ||
	tap_skip_all "clang++ with libFuzzer is not installed (Debian: clang, libclang-rt-14-dev)"

mkdir -p "$build" || tap_bail "$build cannot be made"
log=$build/build.log
# Use the libperf of the normal build, if any: it is not fuzzed, and takes long to build.
libperf=$(readlink -f "$here/../../build/userspace/libperf")
[[ -e $libperf/libperf.o ]] && libperf=(-DUNCORE_LIBPERF="$libperf") || libperf=()
{
	cmake -S "$source" -B "$build" -DCMAKE_CXX_COMPILER=clang++ \
		-DCMAKE_C_COMPILER=clang -DUNCORE_TESTS=OFF -DUNCORE_FUZZ=ON \
		"${libperf[@]}" &&
		cmake --build "$build" --target fuzz -j "$(nproc)"
} > "$log" 2>&1
tap_ok $? 'the targets build' || {
	tap_diag "$(tail -20 "$log")"
	tap_end
}

# Each line of a seeds file is a seed, in which \n and \r stand for LF and CR.
for target in "${targets[@]}"; do
	corpus=$build/corpus/$target
	rm -rf "$corpus"
	mkdir -p "$corpus" "$build/found"
	seeds=0
	text=$source/fuzz/seeds/$target.txt
	options=(-max_len=4096 -dict="$source/fuzz/seeds/$target.dict")
	while IFS= read -r seed; do
		seeds=$((seeds + 1))
		seed=${seed//'\n'/$'\n'} seed=${seed//'\r'/$'\r'}
		printf '%s\n' "$seed" > "$corpus/seed-$seeds"
	done < "$text"

	log=$build/$target.log
	total=0 spent=0
	# repeat on a busy machine, until there are ten inputs for each seed
	while
		"$build/bin/fuzz-$target" -max_total_time="$seconds" -timeout=10 \
			-rss_limit_mb=2048 -print_final_stats=1 "${options[@]}" \
			-artifact_prefix="$build/found/$target-" "$corpus" \
			> "$log" 2>&1
		status=$?
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		total=$((total + ${runs:-0})) spent=$((spent + seconds))
		((status == 0 && total <= seeds * 10 && spent < 10 * seconds))
	do :; done
	tap_ok "$status" \
		"$target: $total inputs in $spent s, grown from $seeds" ||
		tap_diag "$(grep -E 'ERROR|SUMMARY|broken promise|runtime error|Test unit' "$log")"
	((total > seeds * 10))
	tap_ok $? "$target: that is more than the seeds"
done
tap_end
