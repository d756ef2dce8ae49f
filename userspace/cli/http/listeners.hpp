// SPDX-License-Identifier: GPL-2.0-or-later
// The listening sockets of uncore serve: unix sockets, and numeric IPv4 and IPv6
// addresses.  [::] also accepts connections by IPv4.
#pragma once

#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <uncore/error.hpp>

#include "process/unique_fd.hpp"

namespace cli {

/// An accepted connection.
struct accepted {
	unique_fd socket;
	sockaddr_storage address{};
	socklen_t size = 0;
	/// Whether only this machine reaches the listener.
	bool loopback = false;
};

class listeners {
public:
	listeners() = default;
	listeners(listeners &&) = default;
	/// Remove the files of unix sockets.
	~listeners();

	/// Listen on addresses.
	/// @param option option of the command line, for messages.
	/// @param addresses "127.0.0.1:10331", "[::]:0" (0: any free port),
	/// "unix:/run/uncore.sock".
	/// Errors: errc::invalid (an address), errc::system (port in use).
	static uncore::result<listeners>
	open(const char *option, const std::vector<std::string> &addresses);

	/// Return the addresses, with the chosen ports instead of 0.
	std::vector<std::string> names() const;
	std::vector<int> fds() const;

	/// Accept the next waiting connection.
	/// @param failed set to true if descriptors or memory have run out.
	/// @return nullopt if no connection is waiting or can be accepted.
	std::optional<accepted> accept(bool &failed);

private:
	struct listener {
		unique_fd socket;
		bool loopback;
	};

	static uncore::result<listener> open(const char *option,
					     const std::string &text);

	std::vector<listener> listeners_;
};

} // namespace cli
