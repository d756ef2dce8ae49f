#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "make demo-web" runs this script inside the VM: start uncore serve, which runs until the
# VM is ended. vm/run --forward makes it available at PORT of the host's loopback address.
#
# usage: demo_web.sh PORT
set -e

serve=(build/userspace/bin/uncore serve --listen 0.0.0.0:10331)

echo "Starting, on a simulated machine that plays the scenario \"mixed\" ..."
"${serve[@]}" 2> >(
	read -r said
	case $said in
	*"listening on"*)
		echo "Open http://127.0.0.1:$1/ in a browser of this machine. Ctrl-C ends it." ;;
	*)	echo "$said" >&2 ;;
	esac
	cat >&2
)
