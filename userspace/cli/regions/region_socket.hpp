// SPDX-License-Identifier: GPL-2.0-or-later
// The socket to which the threads of the measured command connect, see
// region_protocol.hpp.  Messages are checked here: any program may connect that finds
// the path in its environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <uncore/error.hpp>

#include "process/unique_fd.hpp"

namespace cli {

/// A call of a thread of the command.
struct region_message {
	enum class kind {
		begin,
		end,
		closed, ///< the thread, or its process, has ended
	} what;
	/// Number of the thread's connection.  A later thread may get the number
	/// of a thread that has ended.
	int thread;
	std::string name; ///< of the region to begin
	/// CPUs on which the thread may run; empty: unknown.
	std::vector<int> cpus;
	/// Time that the thread's last call took; 0 before the first.
	std::chrono::nanoseconds took;
};

class region_socket {
public:
	/// Create the socket, and set the environment variable for the command.
	/// Errors: errc::system.
	static uncore::result<std::unique_ptr<region_socket>> open();
	region_socket(const region_socket &) = delete;
	region_socket &operator=(const region_socket &) = delete;
	/// Close the socket, and remove it from the environment and the disk.
	~region_socket();

	/// Return a descriptor that is readable if receive() has messages.
	int poll_fd() const { return poll_.get(); }
	/// Receive messages that have arrived, in an order in which they may have
	/// been sent.  A thread waits for reply() after begin and end.
	std::vector<region_message> receive();
	/// @param status of enum uncore_status.
	void reply(int thread, int status);
	/// Describe the process of a thread: "solver (process 1234)".
	std::string process_of(int thread) const
	{
		const auto entry = connections_.find(thread);

		return entry == connections_.end() ? "a process that has ended"
						   : entry->second.process;
	}
	/// Return whether a thread could not connect, for lack of descriptors.
	bool was_full() const { return full_; }

private:
	struct connection {
		unique_fd fd;
		std::string process;
	};

	region_socket() = default;
	uncore::result<void> listen();
	void accept();
	void receive(int thread, std::vector<region_message> &messages);
	bool parse(int thread, std::string_view bytes,
		   std::vector<region_message> &messages);

	std::string folder_, path_;
	unique_fd listening_, poll_;
	std::unordered_map<int, connection> connections_;
	bool full_ = false;
};

} // namespace cli
