// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of uncore live and their memory traffic, by uncore top's
// accounts where the kernel lets us have them, or why it does not.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "attribution/attribution.hpp"
#include "attribution/top_table.hpp"

namespace cli {

class live_tasks {
public:
	/// Starts to account on the machine that @p sysfs is of.  What is in
	/// the way is said by problem().
	void start(const std::filesystem::path &sysfs);
	/// Closes the counters; the page shows why.
	void stop(std::string why);

	/// To be called several times a second.
	void tend();
	/// Takes what happened since the last time.
	void take();

	const std::string &problem() const { return problem_; }
	/// Nothing before the first take().
	const std::optional<account> &last() const { return last_; }
	/// The columns "read" and "write", and the metric "memory" of both.
	const top_settings &columns() const { return columns_; }

private:
	uncore::result<void> try_start(const std::filesystem::path &sysfs);

	/// What the accounts point into.
	std::optional<uncore::topology> machine_;
	std::unique_ptr<attribution> programs_;
	std::optional<account> last_;
	top_settings columns_;
	std::string problem_;
};

} // namespace cli
