# SPDX-License-Identifier: GPL-2.0-or-later
# Intel PCM measures known traffic of the memory channels: source this after machine.sh. The
# script sets $work to a folder, $channels to the memory channels of a package, and may set
# $write_umask to the unit mask of a write.
# shellcheck shell=bash disable=SC2154

# share PACKAGE CHANNEL: print the number of cache lines, in hundred millions, that a
# memory channel reads. The channel writes half as many.
share()
{
	echo $((2 * (channels * $1 + $2 + 1)))
}

channel_traffic()
{
	local package channel
	for ((package = 0; package < sockets; package++)); do
		for ((channel = 0; channel < channels; channel++)); do
			printf "pkg=$package box=imc_$channel event=0x4 %s\n" \
				"umask=1 count=$(share "$package" "$channel")00000000" \
				"umask=${write_umask:-4} count=$(($(share "$package" "$channel") / 2))00000000"
		done
	done
}

# pcm_rates FILE: print lines "PACKAGE CHANNEL READ WRITE", in megabytes a second, from
# PCM's table
pcm_rates()
{
	awk -F, '
		/^,,/ { split($0, socket) }
		/^Date,Time/ { split($0, column) }
		/^[0-9]+-/ { split($0, value) }
		END {
			for (i = 1; i in column; i++)
				if (match(column[i], /Ch[0-9]+Read/)) {
					gsub(/[^0-9]/, "", socket[i])
					gsub(/[^0-9]/, "", column[i])
					printf "%d %d %.2f %.2f\n", socket[i],
						column[i], value[i], value[i + 1]
				}
		}' "$1"
}

# pcm DRIVER [CHANNEL...]: check the rates of PCM, which uses perf if PCM_USE_UNCORE_PERF is
# set. It shows these channels of a package, or all. PCM prints rates over an unknown time, so
# compare the ratio of each rate to the first rate, within the precision of two decimals.
pcm()
{
	local wrong shown=("${@:2}")
	((${#shown[@]})) || mapfile -t shown < <(seq 0 $((channels - 1)))
	if ! command -v pcm-memory > /dev/null; then
		tap_skip "pcm is not installed" "$1: PCM"
		return
	fi
	channel_traffic > "$work/traffic"
	printf '#!/bin/sh\nsleep 1\ncat %s > %s\n' "$work/traffic" \
		"$sim/traffic" > "$work/go"
	chmod +x "$work/go"
	timeout -k 5 600 pcm-memory -csv -- "$work/go" \
		> "$work/pcm" 2> "$work/errors"
	tap_ok $? "$1: pcm-memory ends well" ||
		tap_diag "$(tail -5 "$work/errors")"
	pcm_rates "$work/pcm" > "$work/rates"
	tap_eq "$(wc -l < "$work/rates")" $((sockets * ${#shown[@]})) \
		"$1: pcm-memory shows each channel" || tap_diag "$(cat "$work/pcm")"
	wrong=$(while read -r package channel rates; do
		echo "$(share "$package" "${shown[channel]}")" "$rates"
	done < "$work/rates" | awk '
		NR == 1 { of = $1; rate = $2 }
		function differs(got, share) {
			got = got * of - rate * share
			return got * got > (0.01 * (of + share)) ^ 2
		}
		rate < 1 || differs($2, $1) || differs($3, $1 / 2)')
	tap_eq "$wrong" '' "$1: its rates are to each other as the traffic is" ||
		tap_diag "$(cat "$work/rates")"
}
