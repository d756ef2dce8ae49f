// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution/share_plan.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <uncore/event.hpp>

#include "attribution/top_columns.hpp"
#include "counting/event_notes.hpp"

namespace cli {

using uncore::errc;

/// Split a list at its commas.  "a,,b" has three names, the second is empty.
static std::vector<std::string> split(std::string_view list)
{
	std::vector<std::string> names;

	for (size_t begin = 0, end; begin <= list.size(); begin = end + 1) {
		end = std::min(list.find(',', begin), list.size());
		names.emplace_back(list.substr(begin, end - begin));
	}
	return names;
}

namespace {

/// Builds a plan from the options of a command line.  Like perf, -G gives a cgroup to
/// each event before the option, --for-each-cgroup counts all events in each cgroup.
class planner {
public:
	planner(const share_request &request, const uncore::topology &machine,
		const cgroup_names &names)
		: request_(request), machine_(machine), names_(names)
	{
	}

	uncore::result<share_plan> plan();

private:
	uncore::result<void> add_events(const std::string &list);
	uncore::result<void> add_event(const uncore::event_term &term);
	uncore::result<size_t> add_cgroup(const std::string &written);
	uncore::result<void> expand_events();
	uncore::result<void> assign_cgroups();
	uncore::result<void> assign_cgroups(const cgroup_option &option);
	void divide_events();

	const share_request &request_;
	const uncore::topology &machine_;
	const cgroup_names &names_;
	share_plan plan_;
	/// Column by the event's text.  Equal events share a column, as the boxes
	/// have few counters.
	std::map<std::string, size_t> column_of_;
	std::vector<size_t> columns_; ///< column of each event of all -e
	/// By -e: number of events in this -e and in all before.
	std::vector<size_t> events_until_;
	std::vector<size_t> cgroup_of_; ///< cgroup of each event, from -G
	size_t assigned_ = 0;		///< names in all -G so far
};

} // namespace

uncore::result<void> planner::add_event(const uncore::event_term &term)
{
	for (const uncore::event &event : term.events)
		if (!event.pmu || event.pmu->cpus.empty())
			return uncore::error{
				errc::unsupported,
				fmt::format(
					"{}: not an event of a box: perf stat counts it for {}",
					term.name,
					request_.attribute ? "a command"
							   : "a cgroup")};

	const auto [column, added] =
		column_of_.emplace(term.text, plan_.columns.size());

	if (added)
		plan_.columns.push_back({term.name, term.events});
	columns_.push_back(column->second);
	return {};
}

uncore::result<void> planner::add_events(const std::string &list)
{
	auto groups = uncore::parse_events(list, machine_);

	if (!groups)
		return groups.error();
	note_unlisted(*groups, machine_);
	note_periods(*groups);
	for (const uncore::event_group &group : *groups)
		for (const uncore::event_term &term : group.terms)
			if (auto added = add_event(term); !added)
				return added;
	events_until_.push_back(columns_.size());
	return {};
}

uncore::result<size_t> planner::add_cgroup(const std::string &written)
{
	const std::string path = written.empty() ? "" : names_.path_of(written);

	if (!path.empty() && !names_.exists(path))
		return uncore::error{
			errc::not_found,
			fmt::format(
				"there is no cgroup '{}': create it before stat begins (systemd-cgls lists all)",
				written)};
	// The root cgroup has all counts, as perf counts the idle task in it.
	plan_.tasks.push_back({path.empty() || path == "/"
				       ? counted_tasks::kind::all
				       : counted_tasks::kind::cgroup,
			       written, written, path});
	return plan_.tasks.size() - 1;
}

/// Plan all events in each cgroup of --for-each-cgroup.  Like perf, ignore empty names.
uncore::result<void> planner::expand_events()
{
	for (const std::string &written : split(request_.each_cgroup)) {
		if (written.empty())
			continue;

		const auto cgroup = add_cgroup(written);

		if (!cgroup)
			return cgroup.error();
		for (const size_t column : columns_)
			plan_.shares.push_back({column, *cgroup});
	}
	if (plan_.shares.empty())
		return uncore::error{errc::invalid,
				     "--for-each-cgroup names no cgroup"};
	return {};
}

/// Assign the names of a -G, in order, to the events before the option that have no
/// cgroup yet.  An empty name assigns no cgroup.
uncore::result<void> planner::assign_cgroups(const cgroup_option &option)
{
	const size_t events =
		option.event_lists ? events_until_[option.event_lists - 1] : 0;

	if (!events)
		return uncore::error{
			errc::invalid,
			fmt::format("-G {}: give events (-e) before -G",
				    option.names)};
	for (const std::string &written : split(option.names)) {
		if (assigned_ == events)
			return uncore::error{
				errc::invalid,
				fmt::format(
					"-G {}: more cgroups than events before -G ({}): give an event for each cgroup, or one cgroup for all events",
					option.names, events)};

		const auto cgroup = add_cgroup(written);

		if (!cgroup)
			return cgroup.error();
		cgroup_of_[assigned_++] = *cgroup;
	}
	// A single cgroup is for all events before -G.
	if (assigned_ == 1)
		std::fill_n(cgroup_of_.begin(), events, cgroup_of_.front());
	return {};
}

uncore::result<void> planner::assign_cgroups()
{
	// Events without a cgroup count for all tasks.
	const auto no_cgroup = add_cgroup("");

	cgroup_of_.assign(columns_.size(), *no_cgroup);
	for (const cgroup_option &option : request_.cgroups)
		if (auto assigned = assign_cgroups(option); !assigned)
			return assigned;
	for (size_t i = 0; i < columns_.size(); i++)
		plan_.shares.push_back({columns_[i], cgroup_of_[i]});
	return {};
}

/// Plan for each event all its counts, and their division.
void planner::divide_events()
{
	using kind = counted_tasks::kind;

	plan_.divides = true;
	if (!request_.by_cgroup)
		plan_.by = attribution_by::command;
	plan_.tasks = {{kind::all, "", "", ""},
		       {kind::command, "command",
			request_.command + " and its descendants", ""},
		       {kind::others, "other", "other tasks", ""},
		       {kind::idle, "idle", "idle", ""}};
	for (const size_t column : columns_)
		for (size_t i = 0; i < plan_.tasks.size(); i++)
			plan_.shares.push_back({column, i});
}

uncore::result<share_plan> planner::plan()
{
	if (!names_.are_there() && !(request_.attribute && !request_.by_cgroup))
		return uncore::error{
			errc::unsupported,
			"no file system of cgroups is mounted: mount -t cgroup2 none /sys/fs/cgroup"};
	for (const std::string &list : request_.event_lists)
		if (auto added = add_events(list); !added)
			return added.error();
	if (request_.attribute) {
		if (request_.event_lists.empty())
			if (auto added = add_events(default_events(machine_));
			    !added)
				return added.error();
		divide_events();
		return std::move(plan_);
	}

	const auto planned =
		request_.each_cgroup.empty() ? assign_cgroups() : expand_events();

	if (!planned)
		return planned.error();
	return std::move(plan_);
}

uncore::result<share_plan> plan_shares(const share_request &request,
					 const uncore::topology &machine,
					 const cgroup_names &names)
{
	return planner(request, machine, names).plan();
}

} // namespace cli
