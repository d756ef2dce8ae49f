// SPDX-License-Identifier: GPL-2.0-or-later
// The sockets on which uncore serve listens: numeric addresses, IPv6's with
// IPv4 where the address is the unspecified one, and unix sockets.
#pragma once

#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <uncore/error.hpp>

#include "process/unique_fd.hpp"

namespace cli {

/// A connection that was accepted.
struct accepted {
	unique_fd socket;
	sockaddr_storage from{};
	socklen_t size = 0;
	/// Did it come to a listener that only this machine reaches?
	bool loopback = false;
};

class listeners {
public:
	listeners() = default;
	listeners(listeners &&) = default;
	/// Remove the files of unix sockets.
	~listeners();

	/// @param option that has the addresses, for messages.
	/// @param addresses "127.0.0.1:10331", "[::]:0",
	/// "unix:/run/uncore.sock" Errors: errc::invalid (an address),
	/// errc::system (port in use).
	static uncore::result<listeners>
	open(const char *option, const std::vector<std::string> &addresses);

	/// Their addresses, with the ports that were chosen for 0.
	std::vector<std::string> names() const;
	std::vector<int> fds() const;

	/// The next connection that waits.  Where there is none, @p failed says
	/// whether descriptors or memory for it were lacking.
	std::optional<accepted> accept(bool &failed);

private:
	struct listener {
		unique_fd socket;
		bool loopback;
	};

	static uncore::result<listener> open(const char *option,
					     const std::string &text);

	std::vector<listener> all_;
};

} // namespace cli
