// SPDX-License-Identifier: GPL-2.0-or-later
// How uncore serve may be reached: the files of TLS, and the web configuration
// file of Prometheus' exporter-toolkit.  All of them may change while it runs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uncore/error.hpp>

#include "http/tls.hpp"

namespace cli {

/// What was read of them.
struct web_config {
	std::shared_ptr<const tls_identity> tls; ///< nullptr: plain HTTP
	bool only_tls13 = false;
	/// Users and hashes of their passwords; none: everyone may ask.
	std::map<std::string, std::string> users;
	/// Headers of each answer.
	std::vector<std::pair<std::string, std::string>> headers;
};

/// The configuration of a server that runs.
class web_files_watch {
public:
	/// Files in PEM, or exporter-toolkit's file; empty for those that there
	/// are not.
	web_files_watch(std::string certificate, std::string key,
			std::string config);

	/// Errors: errc::system, errc::invalid.
	uncore::result<void> load();
	/// Reads the files again where one of them has changed, or all of them
	/// if @p always.  What cannot be used is logged once and changes
	/// nothing.
	void reload(bool always);

	const web_config &now() const { return *now_; }

private:
	uncore::result<web_config> read();
	std::string state_of_files() const;

	std::string certificate_, key_, config_;
	std::vector<std::string> watched_; ///< files
	std::string seen_;		   ///< their state
	std::shared_ptr<const web_config> now_;
	std::chrono::steady_clock::time_point checked_{};
};

} // namespace cli
