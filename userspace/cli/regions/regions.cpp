// SPDX-License-Identifier: GPL-2.0-or-later
#include "regions/regions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <uncore/uncore.h>

#include "region_protocol.hpp"
#include "terminal/text.hpp"

namespace cli {

/// Maximum depth of nested regions of a thread.
static constexpr size_t longest_stack = 1000;

std::chrono::nanoseconds region::time() const
{
	std::chrono::nanoseconds longest{};

	for (const place &socket : places)
		longest = std::max(longest, socket.time);
	return longest;
}

bool region::is_active() const
{
	return std::ranges::any_of(
		places, [](const place &socket) { return socket.threads; });
}

void regions::wrong_calls::add(const std::string &process)
{
	if (!number++)
		first = process;
}

uncore::result<std::unique_ptr<regions>>
regions::open(uncore::counter_set &counters, std::vector<int> sockets)
{
	std::unique_ptr<regions> opened(
		new regions(counters, std::move(sockets)));
	auto socket = region_socket::open();

	if (!socket)
		return socket.error();
	opened->socket_ = *std::move(socket);
	return opened;
}

/// A read is necessary before a region begins or ends on a socket.  One read is enough
/// for all messages that arrived before: their threads are waiting.
void regions::serve(const std::function<void()> &read)
{
	struct answer {
		int thread, status;
		bool begins;
	};
	std::vector<answer> answers;
	bool is_read = false;
	const std::function<void()> read_once = [&] {
		if (!std::exchange(is_read, true))
			read();
	};

	for (const region_message &message : socket_->receive()) {
		if (message.took.count()) {
			took_ += message.took;
			measured_++;
		}
		switch (message.what) {
		case region_message::kind::begin:
			answers.push_back({message.thread,
					   begin(message, read_once), true});
			break;
		case region_message::kind::end:
			answers.push_back({message.thread,
					   end(message, read_once), false});
			break;
		case region_message::kind::closed:
			end_all(message, read_once);
			std::erase_if(answers, [&](const answer &given) {
				return given.thread == message.thread;
			});
			break;
		}
	}
	full_ = socket_->was_full();

	const auto now = clock::now();

	for (const answer &given : answers) {
		// A program may end the region without waiting for the answer.
		if (std::vector<begun> &stack = threads_[given.thread].stack;
		    given.begins && !stack.empty())
			stack.back().start = now;
		socket_->reply(given.thread, given.status);
	}
}

/// Return the region of a name, a new one at the first call; nullptr if there are too
/// many.
region *regions::find(const std::string &name)
{
	if (const auto entry = names_.find(name); entry != names_.end())
		return entry->second;
	if (list_.size() >= most_regions)
		return nullptr;

	region &added = list_.emplace_back();

	added.name = name;
	added.places.resize(sockets_.size());
	names_.emplace(added.name, &added);
	return &added;
}

/// Return the sockets that have any of these CPUs, as indices into sockets(); all
/// sockets if none has.
std::vector<size_t> regions::places_of(const std::vector<int> &cpus) const
{
	std::vector<size_t> chosen, places;

	for (size_t i = 0; i < sockets_.size(); i++) {
		places.push_back(i);
		if (std::ranges::any_of(cpus, [&](int cpu) {
			    return counters_.machine().package_of(cpu) ==
				   sockets_[i];
		    }))
			chosen.push_back(i);
	}
	return chosen.empty() ? places : chosen;
}

/// Begin a region.  A wrong call begins a region that is not counted, so that each
/// uncore_region_end() ends the region of its own uncore_region_begin().
int regions::begin(const region_message &message,
		   const std::function<void()> &read)
{
	thread &caller = threads_[message.thread];
	const bool is_valid = !message.name.empty() &&
			      message.name.size() <= uncore::longest_region &&
			      printable(message.name) == message.name;
	region *const begins = is_valid && caller.stack.size() < longest_stack
				       ? find(message.name)
				       : nullptr;

	if (caller.stack.size() >= longest_stack)
		caller.deeper++;
	else
		caller.stack.push_back({begins, {}, clock::now()});
	if (!is_valid) {
		invalid_.add(socket_->process_of(message.thread));
		return UNCORE_INVALID;
	}
	if (!begins) {
		too_many_.add(socket_->process_of(message.thread));
		return UNCORE_UNSUPPORTED;
	}

	begun &entry = caller.stack.back();

	entry.places = places_of(message.cpus);
	for (const size_t i : entry.places)
		if (!begins->places[i].threads)
			read();
	if (!begins->is_active())
		active_.push_back(begins);
	for (const size_t i : entry.places) {
		begins->places[i].counted = true;
		begins->places[i].threads++;
	}
	begins->calls++;
	return UNCORE_OK;
}

void regions::leave(const begun &ended, const std::function<void()> &read)
{
	region *const counted = ended.counted;

	if (!counted)
		return;
	for (const size_t i : ended.places)
		if (counted->places[i].threads == 1)
			read();
	for (const size_t i : ended.places)
		counted->places[i].threads--;
	if (!counted->is_active())
		std::erase(active_, counted);
	counted->length += clock::now() - ended.start;
	counted->ended++;
}

int regions::end(const region_message &message,
		 const std::function<void()> &read)
{
	thread &caller = threads_[message.thread];

	if (caller.deeper) {
		caller.deeper--;
		return UNCORE_OK;
	}
	if (caller.stack.empty()) {
		unbegun_.add(socket_->process_of(message.thread));
		return UNCORE_MISUSE;
	}
	leave(caller.stack.back(), read);
	caller.stack.pop_back();
	return UNCORE_OK;
}

/// End the regions of a thread that has ended.
void regions::end_all(const region_message &message,
		      const std::function<void()> &read)
{
	const auto caller = threads_.find(message.thread);

	if (caller == threads_.end())
		return;
	for (const begun &entry : caller->second.stack) {
		leave(entry, read);
		if (entry.counted)
			entry.counted->unclosed++;
	}
	threads_.erase(caller);
}

void regions::charge()
{
	for (region *charged : active_)
		for (size_t i = 0; i < sockets_.size(); i++)
			if (charged->places[i].threads)
				charged->places[i].time +=
					uncore::charge_account(counters_,
							       charged->counts,
							       sockets_[i]);
}

void regions::show(const region &shown)
{
	uncore::show_account(counters_, shown.counts, shown.time());
}

double regions::cost() const
{
	return measured_ ? 2 * std::chrono::duration<double>(took_).count() /
				   double(measured_)
			 : 0;
}

/// Describe the regions that their threads did not end.
static std::string unclosed_text(const std::deque<region> &list)
{
	const region *first = nullptr;
	size_t others = 0;

	for (const region &checked : list)
		if (checked.unclosed && first)
			others++;
		else if (checked.unclosed)
			first = &checked;
	if (!first)
		return "";
	return fmt::format(
		"region '{}'{} was not ended before its thread: it counts up to the end of the thread",
		first->name, others ? fmt::format(" and {} more", others) : "");
}

std::vector<std::string> regions::problems() const
{
	std::vector<std::string> lines;

	if (std::string text = unclosed_text(list_); !text.empty())
		lines.push_back(std::move(text));
	if (unbegun_.number)
		lines.push_back(fmt::format(
			"uncore_region_end() was called {} times by a thread in no region, first by {}",
			unbegun_.number, unbegun_.first));
	if (invalid_.number)
		lines.push_back(fmt::format(
			"{} regions were not counted, first of {}: a name has 1 to {} bytes of UTF-8 without control characters",
			invalid_.number, invalid_.first,
			uncore::longest_region));
	if (too_many_.number)
		lines.push_back(fmt::format(
			"{} regions were not counted, first of {}: there are at most {} names, and {} nested regions of a thread",
			too_many_.number, too_many_.first, most_regions,
			longest_stack));
	if (full_)
		lines.push_back(
			"some threads' regions were not counted: too many threads for the limit of open files (ulimit -n)");
	if (list_.empty() && lines.empty())
		lines.push_back(
			"the command began no region: does it call uncore_region_begin() of libuncore?");
	return lines;
}

} // namespace cli
