# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for uncore. The command itself knows what may follow; this
# only finds the words, because bash breaks events at = and :.
# shellcheck shell=bash

_uncore()
{
	local line=${COMP_LINE:0:COMP_POINT} word part strip
	local -a words

	read -ra words <<< "$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	word=${words[-1]}
	# What bash will replace is the last part of the word only.
	part=${COMP_WORDS[COMP_CWORD]}
	[[ $part == [=:] ]] && part=
	strip=${word%"$part"}
	mapfile -t COMPREPLY < <("${words[0]}" __complete "${words[@]:1}" \
		2> /dev/null)
	COMPREPLY=("${COMPREPLY[@]#"$strip"}")
	# Something belongs behind a PMU, a field, or an event in a list.
	[[ ${COMPREPLY[0]-} == *[/=] ]] && compopt -o nospace 2> /dev/null
	return 0
}
complete -o bashdefault -o default -F _uncore uncore
