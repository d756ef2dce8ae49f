// SPDX-License-Identifier: GPL-2.0-or-later
// Reading perf.data files.  Every length in the file is checked before it is
// believed.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "perf_file.hpp"
#include "perf_format.hpp"

namespace cli {

namespace {

using uncore::errc;
using uncore::error;

/// Bytes that are taken one after another; asking for more than there are
/// makes it bad, and gives zeros.
class bytes {
public:
	bytes(const char *at, size_t size) : at_(at), left_(size) {}

	template <class T> T take()
	{
		T value{};

		if (left_ < sizeof(T)) {
			good_ = false;
			return value;
		}
		std::memcpy(&value, at_, sizeof(T));
		skip(sizeof(T));
		return value;
	}
	std::string text(size_t most)
	{
		size_t size = strnlen(at_, std::min(most, left_));
		std::string taken(at_, size);

		skip(std::min(most, left_));
		return taken;
	}
	void skip(size_t size)
	{
		good_ &= size <= left_;
		size = std::min(size, left_);
		at_ += size;
		left_ -= size;
	}
	/// The next ones, which are not taken.
	bytes first(size_t size) const { return {at_, std::min(size, left_)}; }
	bool good() const { return good_; }
	size_t left() const { return left_; }

private:
	const char *at_;
	size_t left_;
	bool good_ = true;
};

class reader {
public:
	reader(const std::string &path, std::string contents)
		: path_(path), all_(std::move(contents))
	{
	}

	uncore::result<perf_file> read();

private:
	std::optional<bytes> section(const file_section &where) const;
	bool read_attrs(const file_header &header);
	void read_names(const file_header &header);
	void read_records(bytes data);
	void read_record(const perf_event_header &header, bytes body);
	void read_sample(const perf_event_header &header, bytes body);
	void read_mapping(const perf_event_header &header, bytes body,
			  uint64_t time);
	void name_tasks();
	uint64_t time_of(bytes body) const;
	size_t event_of(uint64_t id) const;
	error bad(const char *what) const
	{
		return {errc::invalid, fmt::format("{}: {}", path_, what)};
	}

	/// A task has got a name: its own, or that of the task it comes from.
	struct naming {
		uint64_t time;
		uint32_t tid, parent;
		std::string name;
	};

	std::string path_, all_;
	perf_file file_;
	std::vector<naming> namings_;
};

std::optional<bytes> reader::section(const file_section &where) const
{
	if (where.offset > all_.size() ||
	    where.size > all_.size() - where.offset)
		return std::nullopt;
	return bytes(all_.data() + where.offset, where.size);
}

bool reader::read_attrs(const file_header &header)
{
	auto attrs = section(header.attrs);

	if (!attrs || header.attr_size < sizeof(file_section) + 64 ||
	    header.attr_size > 4096)
		return false;
	while (attrs->left() >= header.attr_size) {
		size_t size = header.attr_size - sizeof(file_section);
		size_t known = std::min(size, sizeof(perf_event_attr));
		file_event event;
		std::string raw;

		for (size_t i = 0; i < size; i++)
			raw += attrs->take<char>();
		std::memcpy(&event.attr, raw.data(), known);

		auto ids = section(attrs->take<file_section>());

		while (ids && ids->left() >= sizeof(uint64_t))
			event.ids.push_back(ids->take<uint64_t>());
		event.name = fmt::format("type {} config {:#x}",
					 event.attr.type, event.attr.config);
		file_.events.push_back(std::move(event));
	}
	return !file_.events.empty();
}

/// The feature that gives events their names; it is no fault to lack it.
void reader::read_names(const file_header &header)
{
	size_t before = 0;

	if (!(header.features[0] >> feature_events & 1))
		return;
	for (unsigned i = 0; i < feature_events; i++)
		before += header.features[0] >> i & 1;

	auto table = section({header.data.offset + header.data.size +
				      before * sizeof(file_section),
			      sizeof(file_section)});
	auto events =
		table ? section(table->take<file_section>()) : std::nullopt;

	if (!events)
		return;

	auto count = events->take<uint32_t>(), size = events->take<uint32_t>();

	for (uint32_t i = 0; i < count && events->good(); i++) {
		events->skip(size);

		auto n = events->take<uint32_t>();
		std::string name = events->text(events->take<uint32_t>());

		events->skip(size_t(n) * sizeof(uint64_t));
		if (events->good() && i < file_.events.size())
			file_.events[i].name = name;
	}
}

size_t reader::event_of(uint64_t id) const
{
	for (size_t i = 0; i < file_.events.size(); i++)
		for (uint64_t known : file_.events[i].ids)
			if (known == id)
				return i;
	return 0;
}

void reader::read_sample(const perf_event_header &header, bytes body)
{
	file_sample sample;
	uint64_t type = file_.events.front().attr.sample_type;
	uint64_t id = 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		id = body.take<uint64_t>();
	if (type & PERF_SAMPLE_IP)
		sample.ip = body.take<uint64_t>();
	if (type & PERF_SAMPLE_TID) {
		sample.pid = body.take<uint32_t>();
		sample.tid = body.take<uint32_t>();
	}
	if (type & PERF_SAMPLE_TIME)
		sample.time = body.take<uint64_t>();
	if (type & PERF_SAMPLE_ADDR)
		body.take<uint64_t>();
	if (type & PERF_SAMPLE_ID)
		id = body.take<uint64_t>();
	if (type & PERF_SAMPLE_STREAM_ID)
		body.take<uint64_t>();
	if (type & PERF_SAMPLE_CPU) {
		sample.cpu = body.take<uint32_t>();
		body.take<uint32_t>();
	}
	sample.event = event_of(id);
	sample.period = type & PERF_SAMPLE_PERIOD
				? body.take<uint64_t>()
				: file_.events[sample.event].attr.sample_period;
	sample.kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			PERF_RECORD_MISC_KERNEL;
	if (body.good())
		file_.samples.push_back(sample);
}

/// From what sample_id_all adds at the end.
uint64_t reader::time_of(bytes body) const
{
	const perf_event_attr &attr = file_.events.front().attr;
	size_t after = 0;

	if (!attr.sample_id_all || !(attr.sample_type & PERF_SAMPLE_TIME))
		return 0;
	for (uint64_t bit : {PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
			     PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER})
		if (attr.sample_type & bit)
			after += sizeof(uint64_t);
	if (body.left() < after + sizeof(uint64_t))
		return 0;
	body.skip(body.left() - after - sizeof(uint64_t));
	return body.take<uint64_t>();
}

void reader::read_mapping(const perf_event_header &header, bytes body,
			  uint64_t time)
{
	file_mapping mapping{};

	mapping.time = time;
	mapping.pid = body.take<uint32_t>();
	body.take<uint32_t>();
	mapping.start = body.take<uint64_t>();
	mapping.length = body.take<uint64_t>();
	mapping.offset = body.take<uint64_t>();
	// device, inode, generation or build ID; protection and flags
	if (header.type == PERF_RECORD_MMAP2)
		body.skip(32);
	mapping.name = body.text(4096);
	if (body.good() && (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
				   PERF_RECORD_MISC_USER)
		file_.mappings.push_back(std::move(mapping));
}

void reader::read_record(const perf_event_header &header, bytes body)
{
	uint64_t time = time_of(body);
	uint32_t pid, other;

	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		read_sample(header, body);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		read_mapping(header, body, time);
		break;
	case PERF_RECORD_COMM:
		body.take<uint32_t>();
		other = body.take<uint32_t>();
		namings_.push_back({time, other, 0, body.text(16)});
		break;
	case PERF_RECORD_FORK:
		pid = body.take<uint32_t>();
		other = body.take<uint32_t>();
		if (pid != other)
			file_.parents[pid] = other;
		pid = body.take<uint32_t>();
		other = body.take<uint32_t>();
		namings_.push_back({time, pid, other, ""});
		break;
	case PERF_RECORD_LOST:
		body.take<uint64_t>();
		file_.lost += body.take<uint64_t>();
		break;
	default:
		break;
	}
}

void reader::read_records(bytes data)
{
	while (data.left() >= sizeof(perf_event_header)) {
		bytes rest = data;
		auto header = data.take<perf_event_header>();

		if (header.size < sizeof(header) || header.size > rest.left())
			return;

		size_t size = header.size - sizeof(header);

		read_record(header, data.first(size));
		data.skip(size);
	}
}

/// Records of different CPUs are not in order of time; names are by time, as a
/// task that executes a program gets another.
void reader::name_tasks()
{
	std::unordered_map<uint32_t, std::string> names;
	auto next = namings_.begin();
	auto apply = [&](const naming &n) {
		if (!n.parent)
			names[n.tid] = n.name;
		else if (auto from = names.find(n.parent); from != names.end())
			names[n.tid] = std::string(from->second);
	};

	std::stable_sort(namings_.begin(), namings_.end(),
			 [](const naming &a, const naming &b) {
				 return a.time < b.time;
			 });
	for (file_sample &s : file_.samples) {
		for (; next != namings_.end() && next->time <= s.time; ++next)
			apply(*next);
		if (auto known = names.find(s.tid); known != names.end())
			s.task = known->second;
	}
}

uncore::result<perf_file> reader::read()
{
	file_header header;

	if (all_.size() < sizeof(header))
		return bad("too short for a perf.data file");
	std::memcpy(&header, all_.data(), sizeof(header));
	if (std::memcmp(header.magic, file_magic, sizeof(header.magic)))
		return bad("not a perf.data file");
	if (!header.data.size)
		return bad("it was not finished: no records");

	auto data = section(header.data);

	if (!data || !read_attrs(header))
		return bad("cut off or damaged");
	read_names(header);
	read_records(*data);
	std::stable_sort(file_.samples.begin(), file_.samples.end(),
			 [](const file_sample &a, const file_sample &b) {
				 return a.time < b.time;
			 });
	name_tasks();
	return std::move(file_);
}

} // namespace

uncore::result<perf_file> perf_file::read(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	std::string contents{std::istreambuf_iterator<char>(file), {}};

	if (!file)
		return error{errc::system,
			     fmt::format("{}: {}", path, std::strerror(errno))};
	return reader(path, std::move(contents)).read();
}

} // namespace cli
