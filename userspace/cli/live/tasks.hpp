// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of uncore live and their memory traffic, by uncore top's
// accounts; or the reason why the kernel does not allow accounts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "attribution/attribution.hpp"
#include "attribution/top_table.hpp"

namespace cli {

class live_tasks {
public:
	/// Start accounts on the machine of @p sysfs.  After a failure,
	/// problem() has the reason.
	void start(const std::filesystem::path &sysfs);
	/// Close the counters; the page shows the reason.
	void stop(std::string reason);

	/// Tend the programs.  Call several times a second.
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

	/// Topology to which the accounts point.
	std::optional<uncore::topology> machine_;
	std::unique_ptr<attribution> programs_;
	std::optional<account> last_;
	top_settings columns_;
	std::string problem_;
};

} // namespace cli
