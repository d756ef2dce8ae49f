# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # the settings are of run
# The guest's sockets, cores, threads and NUMA nodes as arguments for QEMU.
# Sourced by run, whose settings it reads and whose die() it calls.

# expand_list "0-2,5": the numbers, in ascending order, into $numbers.
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

# mebibytes SIZE: of QEMU's -m
mebibytes()
{
	case $1 in
	*[Gg]) echo $((${1%?} * 1024)) ;;
	*[Mm]) echo "${1%?}" ;;
	*)     echo "$1" ;;
	esac
}

# Cores are numbered from 0, without gaps unless --core-ids says which there
# are: then QEMU gets room for all up to the last, and only those plugged in.
# Sets core_numbers, slots (cores in a socket's room) and all_sockets.
plan_cores()
{
	local numbers gaps=''

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
	((sockets == 1)) || power_of_two "$slots" || gaps=1

	# QEMU (7.2 does) stops at the first missing APIC id when it searches the
	# targets of a logical destination. CPUs behind a gap never get these interrupts,
	# and the kernel hangs at boot. With more than eight possible CPUs Linux sends
	# to physical ids: make room for sockets that are never plugged in.
	while [[ $gaps ]] && ((all_sockets * slots * threads <= 8)); do
		all_sockets=$((all_sockets + 1))
	done
	((all_sockets * slots * threads <= 255)) ||
		die "more than 255 CPUs: they have no room in an APIC id"
}

plug_cores()
{
	local cpus=$((sockets * slots * threads)) socket core thread

	[[ $core_ids ]] && cpus=1
	topology+=(-smp "$cpus,sockets=$all_sockets,cores=$slots,threads=$threads,maxcpus=$((all_sockets * slots * threads))")
	[[ $core_ids ]] || return
	for ((socket = 0; socket < sockets; socket++)); do
		for core in "${core_numbers[@]}"; do
			for ((thread = 0; thread < threads; thread++)); do
				((socket || core || thread)) || continue
				topology+=(-device "$cpu_type-x86_64-cpu,socket-id=$socket,core-id=$core,thread-id=$thread")
			done
		done
	done
}

# Cores that are not there are of their socket's first node, sockets of node 0.
core_node()
{
	local i

	if (($1 >= sockets)); then
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
	local nodes=$((sockets * nodes_per_socket)) total size node socket core

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
	for ((socket = 0; socket < all_sockets; socket++)); do
		for ((core = 0; core < slots; core++)); do
			topology+=(-numa "cpu,node-id=$(core_node $socket $core),socket-id=$socket,core-id=$core")
		done
	done
}

# plan_topology: leaves QEMU's arguments in $topology.
plan_topology()
{
	local core_numbers slots all_sockets

	topology=(-m "$memory")
	plan_cores
	plug_cores
	plug_nodes
}
