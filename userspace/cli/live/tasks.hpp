// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of uncore live and their memory traffic.  attribution divides the traffic
// among tasks, and returns it in accounts.  If the kernel does not allow attribution,
// problem() has the reason.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "attribution/attribution.hpp"
#include "attribution/top_table.hpp"

namespace cli {

class live_tasks {
public:
	/// Start attribution on the machine of @p sysfs.
	void start(const std::filesystem::path &sysfs);
	/// Stop attribution, and set problem().
	void stop(std::string reason);

	/// Call attribution::tend().  Call several times a second.
	void tend();
	/// Take the account since the last call.
	void take();

	const std::string &problem() const { return problem_; }
	/// nullopt before the first take().
	const std::optional<account> &last() const { return last_; }
	/// The columns "read" and "write", and the metric "memory" of both.
	const top_settings &columns() const { return columns_; }

private:
	uncore::result<void> try_start(const std::filesystem::path &sysfs);

	/// Topology to whose packages the accounts refer.
	std::optional<uncore::topology> machine_;
	std::unique_ptr<attribution> programs_;
	std::optional<account> last_;
	top_settings columns_;
	std::string problem_;
};

} // namespace cli
