// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of a program in the C interface: requests to "uncore stat --regions".
// Each thread has a connection of its own, so that the command knows the end of
// a thread and of a process, however they end.  See region_protocol.hpp.
#include <uncore/uncore.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "region_protocol.hpp"

using uncore::region_call;
using uncore::region_request;

namespace {

enum class command { unknown, absent, counts, gone };

/// State of the command that runs this program.
std::atomic<command> command_state = command::unknown;
sockaddr_un address{AF_UNIX, {}};
/// This process is one of several that an MPI launcher started on this machine.
bool is_rank;

struct connection {
	int fd = -1;
	ino_t inode = 0; ///< of the socket
	uint64_t took = 0;
	connection *next = nullptr; ///< in the list of all connections

	~connection();
};

/// Connections of all threads, for a fork.
std::mutex connections_lock;
connection *connections;

thread_local connection own;

void drop(connection &dropped)
{
	const std::lock_guard lock(connections_lock);

	for (connection **link = &connections; *link; link = &(*link)->next)
		if (*link == &dropped) {
			*link = dropped.next;
			break;
		}
	dropped.fd = -1;
	dropped.next = nullptr;
}

/// Close the connection of a thread that ends.  The kernel closes that of the
/// main thread: destructors of the program may still end regions.
connection::~connection()
{
	if (fd < 0 || gettid() == getpid())
		return;
	close(fd);
	drop(*this);
}

void lock_connections()
{
	connections_lock.lock();
}

void unlock_connections()
{
	connections_lock.unlock();
}

/// In a new process: close the connections, which are those of the parent.  The
/// threads of the new process, at first one, connect when they begin a region.
void close_connections()
{
	for (connection *next; connections; connections = next) {
		next = connections->next;
		close(connections->fd);
		connections->fd = -1;
		connections->next = nullptr;
	}
	connections_lock.unlock();
}

/// Check the variables of MPI launchers with the number of processes on this
/// machine: Open MPI; MPICH and Intel MPI; MVAPICH; srun of Slurm ("2(x4)").
bool has_neighbours()
{
	for (const char *name :
	     {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
	      "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"})
		if (const char *number = std::getenv(name))
			return std::strtol(number, nullptr, 10) > 1;
	return false;
}

void find_command()
{
	const char *path = secure_getenv(uncore::regions_variable);

	if (!path || !*path || strlen(path) >= sizeof(address.sun_path) ||
	    pthread_atfork(lock_connections, unlock_connections,
			   close_connections)) {
		command_state = command::absent;
		return;
	}
	strcpy(address.sun_path, path);
	is_rank = has_neighbours();
	command_state = command::counts;
}

/// Check that the descriptor is still this connection's socket: a program may
/// close all descriptors, and use the number for another file.
bool is_connected(const connection &checked)
{
	struct stat file;

	return checked.fd >= 0 && !fstat(checked.fd, &file) &&
	       S_ISSOCK(file.st_mode) && file.st_ino == checked.inode;
}

bool open_connection(connection &opened)
{
	struct stat file;
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int outcome;

	if (opened.fd >= 0)
		drop(opened);
	do
		outcome = connect(fd,
				  reinterpret_cast<const sockaddr *>(&address),
				  sizeof(address));
	while (outcome && errno == EINTR);
	if (outcome || fstat(fd, &file)) {
		if (fd >= 0)
			close(fd);
		return false;
	}

	const std::lock_guard lock(connections_lock);

	opened.fd = fd;
	opened.inode = file.st_ino;
	opened.took = 0;
	opened.next = connections;
	connections = &opened;
	return true;
}

/// Send a request, and wait for the reply.
/// @return a status, or -1 if the command does not answer.
int exchange(connection &used, const msghdr &message)
{
	int32_t status = 0;
	ssize_t size;

	do
		size = sendmsg(used.fd, &message, MSG_NOSIGNAL);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return -1;
	do
		size = recv(used.fd, &status, sizeof(status), 0);
	while (size < 0 && errno == EINTR);
	return size == sizeof(status) ? status : -1;
}

uint64_t now()
{
	return uint64_t(
		std::chrono::steady_clock::now().time_since_epoch().count());
}

/// @param name of the region to begin.
int call(region_call kind, const char *name)
{
	connection &used = own;
	unsigned char cpus[uncore::longest_cpu_mask];
	region_request request;
	msghdr message{};
	iovec parts[3] = {{&request, sizeof(request)}, {}, {cpus, 0}};

	if (!is_connected(used) && !open_connection(used)) {
		command_state = command::gone;
		return UNCORE_GONE;
	}
	request.call = kind;
	request.took = used.took;
	if (name) {
		// A longer name is sent with one byte too many, and refused.
		request.name_size =
			uint32_t(strnlen(name, uncore::longest_region + 1));
		parts[1] = {const_cast<char *>(name), request.name_size};
	}
	if (name && is_rank &&
	    !sched_getaffinity(0, sizeof(cpus),
			       reinterpret_cast<cpu_set_t *>(cpus)))
		parts[2].iov_len = sizeof(cpus);
	message.msg_iov = parts;
	message.msg_iovlen = 3;

	const uint64_t start = now();
	const int status = exchange(used, message);

	used.took = now() - start;
	if (status >= 0)
		return status;
	command_state = command::gone;
	return UNCORE_GONE;
}

int call_command(region_call kind, const char *name)
{
	if (command_state == command::unknown) {
		static std::once_flag searched;

		std::call_once(searched, find_command);
	}
	if (command_state == command::absent)
		return UNCORE_OK;
	if (command_state == command::gone)
		return UNCORE_GONE;

	const int error = errno;
	const int status = call(kind, name);

	errno = error;
	return status;
}

} // namespace

int uncore_region_begin(const char *name)
{
	return name ? call_command(region_call::begin, name) : UNCORE_INVALID;
}

int uncore_region_end(void)
{
	return call_command(region_call::end, nullptr);
}
