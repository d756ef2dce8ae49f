# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # the settings are of run
# Functions that make QEMU's arguments for the guest's sockets, dies, cores, threads and NUMA
# nodes. Sourced by selftests/vm/run: they read its variables and call its die().

# expand_list "0-2,5": set $numbers to the numbers of the list, in ascending order
expand_list()
{
	local part
	numbers=()
	[[ $1 =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]] ||
		die "--core-ids takes a list such as 0-5,8-13, not '$1'"
	for part in ${1//,/ }; do
		mapfile -t -O "${#numbers[@]}" numbers < <(seq "${part%-*}" "${part#*-}")
	done
	mapfile -t numbers < <(printf '%s\n' "${numbers[@]}" | sort -nu)
}

power_of_two()
{
	(($1 > 0 && ($1 & ($1 - 1)) == 0))
}

# mebibytes SIZE: print a size in the form of QEMU's -m in MiB
mebibytes()
{
	case $1 in
	*[Gg]) echo $((${1%?} * 1024)) ;;
	*[Mm]) echo "${1%?}" ;;
	*)     echo "$1" ;;
	esac
}

# Set core_numbers (core ids in a die), slots (core ids that QEMU reserves in a die)
# and all_sockets (sockets that QEMU reserves). Cores have the ids 0 to $cores - 1, or those
# of --core-ids: QEMU then reserves all ids up to the last, and plug_cores() plugs in the
# cores of the list.
plan_cores()
{
	local numbers gaps=''

	# the simulated hardware numbers packages and dies by APIC ids without gaps
	power_of_two "$dies" || die "--dies takes a power of two, not $dies"
	mapfile -t core_numbers < <(seq 0 $((cores - 1)))
	slots=$cores all_sockets=$sockets
	if [[ $core_ids ]]; then
		expand_list "$core_ids"
		core_numbers=("${numbers[@]}")
		slots=$((core_numbers[-1] + 1))
		((core_numbers[0] == 0)) || die "--core-ids must have core 0, from which the machine boots"
		((slots > ${#core_numbers[@]})) && gaps=1
	fi
	power_of_two "$threads" || gaps=1
	((sockets * dies == 1)) || power_of_two "$slots" || gaps=1

	# When QEMU (such as 7.2) searches the CPUs of a logical destination, it stops at
	# the first missing APIC id. CPUs behind a gap never get these interrupts, and the
	# kernel hangs at boot. With more than eight possible CPUs Linux uses physical
	# ids: reserve sockets that are never plugged in.
	while [[ $gaps ]] && ((all_sockets * dies * slots * threads <= 8)); do
		all_sockets=$((all_sockets + 1))
	done
	((all_sockets * dies * slots * threads <= 255)) ||
		die "more than 255 CPUs: they have no room in an APIC id"
}

plug_cores()
{
	local per_die=$((slots * threads)) cpus unit core thread

	cpus=$((sockets * dies * per_die))
	[[ $core_ids ]] && cpus=1
	topology+=(-smp "$cpus,sockets=$all_sockets,dies=$dies,cores=$slots,threads=$threads,maxcpus=$((all_sockets * dies * per_die))")
	[[ $core_ids ]] || return
	for ((unit = 0; unit < sockets * dies; unit++)); do
		for core in "${core_numbers[@]}"; do
			for ((thread = 0; thread < threads; thread++)); do
				((unit || core || thread)) || continue
				topology+=(-device "$cpu_type-x86_64-cpu,$(place_of $unit),core-id=$core,thread-id=$thread")
			done
		done
	done
}

# place_of UNIT: print QEMU's properties of a socket, or of a die. Units are the dies of all
# sockets.
place_of()
{
	echo "socket-id=$(($1 / dies))$( ((dies == 1)) || echo ",die-id=$(($1 % dies))")"
}

# core_node UNIT CORE: print the NUMA node of a core. A core that is not plugged in is of
# its unit's first node, a core of a reserved socket of node 0.
core_node()
{
	local i

	if (($1 >= sockets * dies)); then
		echo 0
		return
	fi
	for i in "${!core_numbers[@]}"; do
		((core_numbers[i] == $2)) && break
		i=0
	done
	echo $(($1 * nodes_per_socket + i * nodes_per_socket / ${#core_numbers[@]}))
}

plug_nodes()
{
	local nodes=$((sockets * dies * nodes_per_socket)) total size node unit core

	((nodes_per_socket <= ${#core_numbers[@]})) ||
		die "--nodes-per-socket $nodes_per_socket: a node needs a core"
	total=$(mebibytes "$memory")
	size=$((total / nodes))
	((size >= 64)) || die "--memory $memory: each of $nodes NUMA nodes needs 64M"
	for ((node = 0; node < nodes; node++)); do
		((node == nodes - 1)) && size=$((total - size * node))
		topology+=(-object "memory-backend-ram,id=ram$node,size=${size}M"
			-numa "node,nodeid=$node,memdev=ram$node")
	done
	for ((unit = 0; unit < all_sockets * dies; unit++)); do
		for ((core = 0; core < slots; core++)); do
			topology+=(-numa "cpu,node-id=$(core_node $unit $core),$(place_of $unit),core-id=$core")
		done
	done
}

# plan_topology: set $topology to QEMU's arguments
plan_topology()
{
	local core_numbers slots all_sockets

	topology=(-m "$memory")
	plan_cores
	plug_cores
	plug_nodes
}
