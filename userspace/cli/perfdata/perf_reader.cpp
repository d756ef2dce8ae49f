// SPDX-License-Identifier: GPL-2.0-or-later
// Reading perf.data files.  Every length in the file is checked before it is
// believed.
#include "perfdata/perf_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "perfdata/decompressor.hpp"
#include "perfdata/perf_format.hpp"
#include "perfdata/process_history.hpp"

namespace cli {

namespace {

using uncore::errc;
using uncore::error;

/// An event's number is in one place for all events of a file, or there is only
/// one event: otherwise a record's layout is unknown.
struct id_place {
	std::optional<size_t> in_sample, from_end;
};

class reader {
public:
	reader(std::span<const char> all, const std::string &path)
		: path_(path), all_(all)
	{
	}

	uncore::result<perf_file> read();

private:
	std::optional<byte_reader> section(const file_section &where) const;
	error bad(std::string_view what) const
	{
		return {errc::invalid, fmt::format("{}: {}", path_, what)};
	}

	uncore::result<file_header> read_header() const;
	bool read_attrs(const file_header &header);
	bool place_ids();
	bool read_features(const file_header &header);
	void read_names(byte_reader events);
	void read_build_ids(byte_reader ids);
	void read_pmus(byte_reader pmus);
	void read_sockets(byte_reader topology);
	void give_build_ids();

	// Each returns false, with the reason in what_, when it fails.
	bool refuse(const char *what);
	bool read_records(byte_reader data);
	bool read_record(const perf_event_header &header, byte_reader &data);
	bool read_compressed(byte_reader body, bool padded);
	bool read_sample(const perf_event_header &header, byte_reader body);
	void read_task(const perf_event_header &header, byte_reader body);
	void read_mapping(const perf_event_header &header, byte_reader body,
			  uint64_t time);

	size_t event_of(uint64_t id) const;
	uint64_t time_of(byte_reader body) const;
	void complete_samples();

	const std::string &path_;
	std::span<const char> all_;
	perf_file file_;
	std::vector<sample_layout> layouts_; ///< one for each event
	std::unordered_map<uint64_t, size_t> by_id_;
	std::unordered_map<std::string, build_id> build_ids_;
	id_place ids_;
	/// Where a record has no time, its place in the file stands for it.
	bool has_times_ = true, within_compressed_ = false;
	uint64_t records_ = 0;
	/// By PERF_RECORD_LOST, as it happens, and by PERF_RECORD_LOST_SAMPLES,
	/// at the end: the same ones.
	uint64_t lost_records_ = 0, lost_samples_ = 0;
	process_history history_;
	decompressor compressed_;
	const char *what_ = nullptr;
};

std::optional<byte_reader> reader::section(const file_section &where) const
{
	if (where.offset > all_.size() ||
	    where.size > all_.size() - where.offset)
		return std::nullopt;
	return byte_reader(all_.data() + where.offset, where.size);
}

bool reader::refuse(const char *what)
{
	what_ = what;
	return false;
}

// --- header, events and features

uncore::result<file_header> reader::read_header() const
{
	file_header header{};
	uint64_t size = 0;

	if (all_.size() < sizeof(header.magic) + sizeof(size))
		return bad("too short for a perf.data file");
	std::memcpy(&header, all_.data(),
		    std::min(all_.size(), sizeof(header)));
	if (!std::memcmp(header.magic, file_magic_swapped,
			 sizeof(header.magic)))
		return bad("from a machine with another order of bytes");
	if (std::memcmp(header.magic, file_magic, sizeof(header.magic)))
		return bad("not a perf.data file");
	if (header.size == pipe_header_size)
		return bad("what perf record writes into a pipe; \"perf "
			   "inject -i FILE -o perf.data\" makes a file of it");
	if (all_.size() < sizeof(header))
		return bad("too short for a perf.data file");
	if (!header.data.size)
		return bad("it was not finished: no records");
	return header;
}

bool reader::read_attrs(const file_header &header)
{
	auto attrs = section(header.attrs);

	if (!attrs || header.attr_size < sizeof(file_section) + 64 ||
	    header.attr_size > 4096)
		return false;

	size_t size = header.attr_size - sizeof(file_section);

	while (attrs->left() >= header.attr_size) {
		file_event event;

		std::memcpy(&event.attr, attrs->data(),
			    std::min(size, sizeof(perf_event_attr)));
		attrs->skip(size);

		auto ids = section(attrs->take<file_section>());

		if (!ids)
			return false;
		while (ids->left() >= sizeof(uint64_t)) {
			event.ids.push_back(ids->take<uint64_t>());
			by_id_.emplace(event.ids.back(), file_.events.size());
		}
		event.name =
			fmt::format("type {} config {:#x}", event.attr.type,
				    uint64_t(event.attr.config));
		layouts_.emplace_back(event.attr);
		has_times_ &= layouts_.back().has_time();
		file_.events.push_back(std::move(event));
	}
	return !file_.events.empty();
}

bool reader::place_ids()
{
	ids_ = {layouts_[0].id_in_sample(), layouts_[0].id_from_end()};
	if (layouts_.size() == 1)
		return true;
	return ids_.in_sample &&
	       std::all_of(layouts_.begin(), layouts_.end(),
			   [this](const sample_layout &l) {
				   return l.id_in_sample() == ids_.in_sample &&
					  l.id_from_end() == ids_.from_end;
			   });
}

/// Strings of features: a length, then that number of bytes.
std::string take_string(byte_reader &from)
{
	return from.text(from.take<uint32_t>());
}

/// They follow the records: where they are, and then what they say.  It is no
/// fault to lack one, but to end before it.
bool reader::read_features(const file_header &header)
{
	uint64_t at = header.data.offset + header.data.size;

	for (unsigned i = 0; i < features; i++) {
		if (!(header.features[0] >> i & 1))
			continue;

		auto entry = section({at, sizeof(file_section)});
		auto body = entry ? section(entry->take<file_section>())
				  : std::nullopt;

		at += sizeof(file_section);
		if (!body)
			return false;
		if (i == feature_events)
			read_names(*body);
		else if (i == feature_build_id)
			read_build_ids(*body);
		else if (i == feature_host_name)
			file_.host = take_string(*body);
		else if (i == feature_os_release)
			file_.release = take_string(*body);
		else if (i == feature_pmus)
			read_pmus(*body);
		else if (i == feature_cpu_topology)
			read_sockets(*body);
	}
	return true;
}

void reader::read_names(byte_reader events)
{
	auto count = events.take<uint32_t>(), size = events.take<uint32_t>();

	for (uint32_t i = 0; i < count && events.good(); i++) {
		events.skip(size);

		auto n = events.take<uint32_t>();
		std::string name = take_string(events);
		// An event's own numbers say which it is, or else its place.
		size_t which = i;

		if (n)
			if (auto id = by_id_.find(
				    events.first(8).take<uint64_t>());
			    id != by_id_.end())
				which = id->second;
		events.skip(size_t(n) * sizeof(uint64_t));
		if (events.good() && which < file_.events.size() &&
		    !name.empty())
			file_.events[which].name = name;
	}
}

void reader::read_pmus(byte_reader pmus)
{
	const auto count = pmus.take<uint32_t>();

	for (uint32_t i = 0; i < count && pmus.good(); i++) {
		const auto type = pmus.take<uint32_t>();
		std::string name = take_string(pmus);

		if (pmus.good())
			file_.pmus[type] = std::move(name);
	}
}

/// Lists of cores and of threads, then each CPU's core and socket.
void reader::read_sockets(byte_reader topology)
{
	for (int list = 0; list < 2; list++) {
		const auto count = topology.take<uint32_t>();

		for (uint32_t i = 0; i < count && topology.good(); i++)
			(void)take_string(topology);
	}
	while (topology.good() && topology.left() >= 2 * sizeof(uint32_t)) {
		topology.skip(sizeof(uint32_t));
		file_.sockets.push_back(int(topology.take<uint32_t>()));
	}
}

void reader::read_build_ids(byte_reader ids)
{
	while (ids.left() >= sizeof(build_id_record)) {
		auto record = ids.take<build_id_record>();
		size_t size = record.header.misc & record_misc_build_id_size
				      ? record.id_size
				      : sizeof(record.id);

		if (record.header.size < sizeof(record))
			return;

		size_t rest = record.header.size - sizeof(record);
		std::string name = ids.first(rest).text();

		ids.skip(rest);
		if (ids.good() && size <= sizeof(record.id))
			build_ids_.emplace(name, build_id({record.id, size}));
	}
}

/// To mappings whose records have none.  The kernel's mapping is named after a
/// symbol of it as well.
void reader::give_build_ids()
{
	for (auto *mappings : {&file_.mappings, &file_.kernel})
		for (code_mapping &m : *mappings) {
			std::string name = m.path;

			if (mappings == &file_.kernel &&
			    name.starts_with("[kernel.kallsyms]"))
				name = "[kernel.kallsyms]";
			if (auto known = build_ids_.find(name);
			    !m.id && known != build_ids_.end())
				m.id = known->second;
		}
}

// --- records

/// events.size(): none of this file's.
size_t reader::event_of(uint64_t id) const
{
	auto known = by_id_.find(id);

	if (known != by_id_.end())
		return known->second;
	return file_.events.size() == 1 ? 0 : file_.events.size();
}

/// From what sample_id_all adds at the end; perf leaves zeros there in records that
/// the kernel did not write.
uint64_t reader::time_of(byte_reader body) const
{
	size_t event = 0;

	if (!has_times_)
		return records_;
	if (ids_.from_end)
		event = event_of(body.last(*ids_.from_end * sizeof(uint64_t))
					 .take<uint64_t>());
	return layouts_[event < layouts_.size() ? event : 0].time_at_end(body);
}

bool reader::read_sample(const perf_event_header &header, byte_reader body)
{
	file_sample sample;

	if (ids_.in_sample) {
		byte_reader id = body;

		id.skip(*ids_.in_sample * sizeof(uint64_t));
		sample.event = event_of(id.take<uint64_t>());
	}
	if (sample.event == layouts_.size()) {
		file_.foreign++;
		return true;
	}
	sample.mode = mode_of(header);
	if (!layouts_[sample.event].read(body, sample, file_.frames))
		return refuse("cut off or damaged: a sample is too short");
	if (!has_times_)
		sample.time = records_;
	file_.samples.push_back(std::move(sample));
	return true;
}

void reader::read_mapping(const perf_event_header &header, byte_reader body,
			  uint64_t time)
{
	const cpu_mode mode = mode_of(header);
	auto found = mapping_of(header, body);

	if (!found)
		return;

	code_mapping &m = *found;

	if (mode == cpu_mode::kernel) {
		file_.kernel.push_back(std::move(m));
	} else if (mode == cpu_mode::user) {
		history_.map(time, m.pid, m.start, m.length,
			     file_.mappings.size());
		file_.mappings.push_back(std::move(m));
	}
}

/// Records about tasks, and about lost samples.
void reader::read_task(const perf_event_header &header, byte_reader body)
{
	uint64_t time = time_of(body);
	uint32_t pid, parent, tid, parent_tid;

	switch (header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		read_mapping(header, body, time);
		break;
	case PERF_RECORD_COMM:
		pid = body.take<uint32_t>();
		tid = body.take<uint32_t>();
		history_.name(time, pid, tid, body.text(16),
			      header.misc & PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_FORK:
		pid = body.take<uint32_t>();
		parent = body.take<uint32_t>();
		tid = body.take<uint32_t>();
		parent_tid = body.take<uint32_t>();
		history_.fork(time, pid, tid, parent, parent_tid);
		break;
	case PERF_RECORD_LOST:
		body.take<uint64_t>();
		lost_records_ += body.take<uint64_t>();
		break;
	case PERF_RECORD_LOST_SAMPLES:
		lost_samples_ += body.take<uint64_t>();
		break;
	default:
		break;
	}
}

bool reader::read_compressed(byte_reader body, bool padded)
{
	if (within_compressed_)
		return refuse("damaged: compressed twice");

	uint64_t size = padded ? body.take<uint64_t>() : body.left();

	if (size > body.left())
		return refuse("damaged: a compressed record is too short");
	within_compressed_ = true;

	bool good = compressed_.feed(
		{body.data(), size},
		[this](std::span<const char> part) -> size_t {
			byte_reader records(part.data(), part.size());
			size_t whole = 0;

			// Only those that are there whole.
			while (part.size() - whole >=
			       sizeof(perf_event_header)) {
				perf_event_header header;

				std::memcpy(&header, part.data() + whole,
					    sizeof(header));
				if (header.size < sizeof(header))
					return SIZE_MAX;
				if (header.size > part.size() - whole)
					break;
				whole += header.size;
			}
			return read_records(records.first(whole)) ? whole
								  : SIZE_MAX;
		});

	within_compressed_ = false;
	if (!good && !what_)
		refuse("damaged: it cannot be decompressed");
	return good;
}

/// @p data is behind the record, and may be taken from.
bool reader::read_record(const perf_event_header &header, byte_reader &data)
{
	size_t size = header.size - sizeof(header);
	byte_reader body = data.first(size);

	records_++;
	data.skip(size);
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return read_sample(header, body);
	case record_compressed:
	case record_compressed2:
		return read_compressed(body, header.type == record_compressed2);
	case record_auxtrace:
		data.skip(body.take<uint64_t>());
		break;
	default:
		if (header.type < record_user_start)
			read_task(header, body);
	}
	return data.good() || refuse("cut off or damaged");
}

bool reader::read_records(byte_reader data)
{
	while (data.left()) {
		size_t left = data.left();
		auto header = data.take<perf_event_header>();

		if (!data.good() || header.size < sizeof(header) ||
		    header.size > left)
			return refuse("cut off or damaged");
		if (!read_record(header, data))
			return false;
	}
	return true;
}

/// Add the state that their tasks had when they were taken.
void reader::complete_samples()
{
	std::stable_sort(file_.samples.begin(), file_.samples.end(),
			 [](const file_sample &a, const file_sample &b) {
				 return a.time < b.time;
			 });
	for (file_sample &s : file_.samples) {
		history_.advance(s.time);
		s.task = history_.name_of(s.tid);
		if (s.mode == cpu_mode::user)
			s.mapping = history_.mapping_at(s.pid, s.ip);
		for (file_frame &frame : file_.frames_of(s))
			if (frame.mode == cpu_mode::user)
				frame.mapping =
					history_.mapping_at(s.pid, frame.ip);
	}
}

uncore::result<perf_file> reader::read()
{
	auto header = read_header();

	if (!header)
		return header.error();

	auto data = section(header->data);

	if (!data || !read_attrs(*header) || !read_features(*header))
		return bad("cut off or damaged");
	if (!place_ids())
		return bad("its samples do not say which event they are of");
	if (!read_records(*data))
		return bad(what_);
	if (compressed_.left())
		return bad("cut off or damaged");
	file_.lost = std::max(lost_records_, lost_samples_);
	give_build_ids();
	complete_samples();
	return std::move(file_);
}

} // namespace

uncore::result<perf_file> perf_file::parse(std::span<const char> contents,
					   const std::string &path)
{
	return reader(contents, path).read();
}

} // namespace cli
