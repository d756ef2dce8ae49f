#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What "make demo-web" runs inside the VM: uncore serve, which the host's
# loopback reaches at that port (vm/run --forward), until the VM is ended.
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
