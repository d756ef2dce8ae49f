#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Test the files that are installed with the command: the man pages are well-formed and
# have each subcommand and option, and bash completes them.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
top=$(readlink -f "$here/../..")
uncore=$top/build/userspace/bin/uncore
built=$top/build/userspace/cli/man
pages=("$built"/*.1 "$top"/userspace/cli/man/*.3)
completion=$top/userspace/cli/completion/uncore.bash
[[ -x $uncore ]] || tap_skip_all "$uncore is not built"

if command -v groff > /dev/null; then
	for page in "${pages[@]}"; do
		tap_eq "$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)" '' \
			"$(basename "$page") is well-formed"
	done
else
	tap_skip 'groff is not installed' 'man pages are well-formed'
fi

missing=''
for name in $(grep -o '\buncore_[a-z_]*(' "$top/userspace/include/uncore/uncore.h" |
	tr -d '(' | sort -u); do
	grep -q "^\.Fn $name\b" "$top"/userspace/cli/man/uncore_*.3 || missing+=" $name"
done
tap_eq "$missing" '' 'the man pages have each function of uncore.h'

mapfile -t commands < <("$uncore" __complete '')
((${#commands[@]} >= 5))
tap_ok $? "there are subcommands: ${commands[*]}"
for command in "${commands[@]}"; do
	page=$built/uncore-$command.1
	missing=''
	grep -q "^\.It Xr uncore-$command 1" "$built/uncore.1" ||
		missing+=' uncore.1'
	for section in SYNOPSIS DESCRIPTION FILES ENVIRONMENT 'EXIT STATUS' \
		EXAMPLES DIAGNOSTICS 'SEE ALSO'; do
		grep -q "^\.Sh $section$" "$page" || missing+=" $section"
	done
	mapfile -t options < <("$uncore" __complete "$command" -)
	for option in "${options[@]}"; do
		# mdoc's Fl macro adds the first dash
		grep -q "^\.It.*Fl ${option#-}\( \|$\)" "$page" ||
			[[ $option == --help || $option == -h ]] ||
			missing+=" $option"
	done
	tap_eq "$missing" '' \
		"uncore-$command.1 has all sections and ${#options[@]} options"
done
tap_eq "$(cat "${pages[@]}" | sed -n 's/^\.Xr \(uncore[a-z-]*\) 1.*/\1/p' | sort -u |
	while read -r name; do [[ -e $built/$name.1 ]] || echo "$name"; done)" '' \
	'pages that are named exist'
tap_eq "$(grep -l '@[A-Z_]*@' "${pages[@]}")" '' 'all parts are filled in'

# offered LINE: print the completions that bash offers for a command line, in one line
offered()
{
	bash -c '
		PATH=$1:$PATH
		. "$2"
		COMP_LINE=$3 COMP_POINT=${#3}
		# split words like bash does: at blanks, and at = and :
		spaced=${3//=/ = }
		read -ra COMP_WORDS <<< "${spaced//:/ : }"
		[[ $3 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_uncore
		echo "${COMPREPLY[*]}"' - "$(dirname "$uncore")" "$completion" "$1"
}

tap_eq "$(offered 'uncore to')" "$(printf '%s\n' "${commands[@]}" |
	grep ^to | tr '\n' ' ' | sed 's/ $//')" 'a subcommand'
tap_eq "$(offered 'uncore list --v')" '--verbose' 'an option'
tap_eq "$(offered 'uncore stat -e im')" 'imc/' 'a PMU'
tap_eq "$(offered 'uncore stat -e imc/cas_count.wr_')" \
	'imc/cas_count.wr_rmm/ imc/cas_count.wr_wmm/' 'events'
tap_eq "$(offered 'uncore stat -e {imc/dclk/,cbox/llc_lookup.a')" \
	'{imc/dclk/,cbox/llc_lookup.any,filter_state=' \
	'an event of a group, with the field that it needs'
tap_eq "$(offered 'uncore stat -e cbox/tor_inserts.opcode,filter_opc=dr')" 'drd' \
	'a value, behind what bash takes for the end of a word'
tap_eq "$(offered 'uncore stat -e cbox/llc_lookup.any,filter_state=i+m_')" \
	'i+m_prime' 'a second value'
tap_eq "$(offered 'uncore stat -M qpi_sp')" 'qpi_speed' 'a metric'
tap_eq "$(offered 'uncore metric me')" 'memory' 'a set of metrics'
tap_eq "$(offered 'uncore stat -d 1 -- im')" '' 'nothing in the command to run'
tap_end
