# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for uncore. "uncore __complete" prints the completions. This script
# passes whole words to it: bash breaks the words of the command line at = and :, which
# events have.
# shellcheck shell=bash

_uncore()
{
	local line=${COMP_LINE:0:COMP_POINT} word part strip
	local -a words

	read -ra words <<< "$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	word=${words[-1]}
	# bash replaces only the last part of the word: remove the parts before from each
	# completion.
	part=${COMP_WORDS[COMP_CWORD]}
	[[ $part == [=:] ]] && part=
	strip=${word%"$part"}
	mapfile -t COMPREPLY < <("${words[0]}" __complete "${words[@]:1}" \
		2> /dev/null)
	COMPREPLY=("${COMPREPLY[@]#"$strip"}")
	# No space behind a PMU, a field or an event in a list: more of the word follows.
	[[ ${COMPREPLY[0]-} == *[/=] ]] && compopt -o nospace 2> /dev/null
	return 0
}
complete -o bashdefault -o default -F _uncore uncore
