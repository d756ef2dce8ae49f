// SPDX-License-Identifier: GPL-2.0-or-later
// The user's side of bpf/stacks.bpf.c.
#include "attribution/stacks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "attribution/bpf_support.hpp"
#include "attribution/folded.hpp"
#include "perf_events.hpp"
#include "stacks.h"
#include "stacks.skel.h"
#include "symbols/symbolizer.hpp"

namespace cli {

struct stack_counter::state {
	std::unique_ptr<stacks_bpf, bpf_deleter<stacks_bpf__destroy>> program;
	uncore::perf_events opened;
	std::vector<uncore::perf_events::number> events;
	// Gone before the events, as a link's event must be there.
	std::vector<std::unique_ptr<bpf_link, bpf_deleter<bpf_link__destroy>>>
		links;
	symbolizer names;
	/// With its name: a process that becomes another has other functions.
	std::set<std::pair<uint32_t, std::string>> known;

	uncore::result<void> load();
	uncore::result<void> open(const uncore::event &event, unsigned number,
				  uint64_t period,
				  const std::vector<int> &cpus);
	uncore::result<void> attach(const uncore::event &event, unsigned number,
				    int fd);
	std::vector<uint64_t> frames_of(uint64_t key);
	std::string fold(const stack_key &key);
	template <class F> int each_count(F &&use);
};

uncore::result<void> stack_counter::state::load()
{
	program.reset(stacks_bpf__open());
	if (!program)
		return bpf_failure("opening the BPF program", -errno);
	int err = stacks_bpf__load(program.get());

	if (err)
		return bpf_failure("loading the BPF program", err);
	return {};
}

uncore::result<void> stack_counter::state::open(const uncore::event &event,
						unsigned number,
						uint64_t period,
						const std::vector<int> &cpus)
{
	perf_event_attr attributes = uncore::attributes_of(event);

	attributes.sample_period =
		event.sample_period ? event.sample_period : period;
	// Started when the program is there.
	attributes.disabled = 1;
	auto made = opened.open(event, attributes, cpus);

	if (!made)
		return made.error();
	events.push_back(*made);
	for (size_t i = 0; i < cpus.size(); i++)
		if (auto done = attach(event, number, opened.fd(*made, i));
		    !done)
			return done;
	return {};
}

uncore::result<void> stack_counter::state::attach(const uncore::event &event,
						  unsigned number, int fd)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options);
	options.bpf_cookie = number;
	// The link closes the descriptor that it is given.
	bpf_link *link = bpf_program__attach_perf_event_opts(
		program->progs.on_overflow, fcntl(fd, F_DUPFD_CLOEXEC, 0),
		&options);

	if (!link)
		return bpf_failure("attaching to " + event.text, -errno);
	links.emplace_back(link);
	return {};
}

/// Calls @p use with each key and count; @return 0 or a negative errno.
template <class F> int stack_counter::state::each_count(F &&use)
{
	int fd = bpf_map__fd(program->maps.counts), err;
	stack_key key, next;
	bool first = true;

	while (!(err = bpf_map_get_next_key(fd, first ? nullptr : &key,
					    &next))) {
		stack_count count;

		key = next;
		first = false;
		if (!bpf_map_lookup_elem(fd, &key, &count))
			use(key, count);
	}
	return err == -ENOENT ? 0 : err;
}

/// A stack's addresses, outermost first.
std::vector<uint64_t> stack_counter::state::frames_of(uint64_t key)
{
	stack_frames frames{};

	if (!key || bpf_map_lookup_elem(bpf_map__fd(program->maps.stacks), &key,
					&frames))
		return {};

	auto end = std::find(std::begin(frames.address),
			     std::end(frames.address), 0);

	return {std::make_reverse_iterator(end),
		std::make_reverse_iterator(std::begin(frames.address))};
}

std::string stack_counter::state::fold(const stack_key &key)
{
	std::string line;

	add_frame(line, {key.comm, strnlen(key.comm, sizeof(key.comm))});
	for (uint64_t address : frames_of(key.user))
		add_frame(line, names.user(key.tgid, address));
	for (uint64_t address : frames_of(key.kernel))
		add_frame(line, names.kernel(address) + "_[k]");
	return line;
}

stack_counter::stack_counter() : state_(std::make_unique<state>()) {}

stack_counter::~stack_counter() = default;

static constexpr bpf_need cookies = {BPF_PROG_TYPE_PERF_EVENT,
				     BPF_FUNC_get_attach_cookie,
				     "bpf_get_attach_cookie()", "5.15"};

uncore::result<std::unique_ptr<stack_counter>>
stack_counter::start(const std::vector<uncore::event> &events,
		     const std::vector<int> &cpus, uint64_t period)
{
	std::unique_ptr<stack_counter> counter(new stack_counter);
	state &s = *counter->state_;

	capture_bpf_messages();
	auto done = check_bpf({&cookies, 1});

	if (done)
		done = s.load();
	for (unsigned i = 0; done && i < events.size(); i++) {
		const uncore::event &event = events[i];
		auto where = !cpus.empty() ? cpus
			     : event.pmu && !event.pmu->cpus.empty()
				     ? event.pmu->cpus
				     : online_cpus();

		done = s.open(event, i, period, where);
	}
	if (!done)
		return done.error();
	for (auto number : s.events)
		if (auto started = s.opened.enable(number); !started)
			return started.error();
	return counter;
}

void stack_counter::tend()
{
	state_->each_count([this](const stack_key &key, const stack_count &) {
		std::string comm(key.comm, strnlen(key.comm, sizeof(key.comm)));

		if (state_->known.emplace(key.tgid, comm).second)
			state_->names.learn(key.tgid);
	});
}

void stack_counter::stop()
{
	for (auto number : state_->events)
		(void)!state_->opened.disable(number);
}

uncore::result<stack_report> stack_counter::report()
{
	stack_report r;
	// Again: a program may have loaded libraries since it was first seen.
	for (const auto &[process, comm] : state_->known)
		state_->names.learn(process);
	tend();
	int err = state_->each_count(
		[&](const stack_key &key, const stack_count &count) {
			r.folded[state_->fold(key)] += count.events;
			r.samples += count.samples;
		});

	if (err)
		return bpf_failure("reading the stacks", err);
	r.lost = state_->program->bss->lost;
	r.lost_stacks = state_->program->bss->lost_stacks;
	r.reasons = state_->names.reasons();
	return r;
}

} // namespace cli
