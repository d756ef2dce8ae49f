// SPDX-License-Identifier: GPL-2.0-or-later
// perf.data files for tests, made byte by byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "perfdata/perf_format.hpp"

/// What is appended to it, as it is in memory.
class byte_writer {
public:
	template <class T> byte_writer &add(const T &value)
	{
		bytes.append(reinterpret_cast<const char *>(&value),
			     sizeof(value));
		return *this;
	}
	byte_writer &text(std::string value, size_t multiple = 8)
	{
		value.resize((value.size() + multiple) / multiple * multiple);
		bytes += value;
		return *this;
	}

	std::string bytes;
};

inline std::string record(uint32_t type, uint16_t misc, const byte_writer &body)
{
	perf_event_header header{type, misc,
				 uint16_t(sizeof(header) + body.bytes.size())};

	return byte_writer().add(header).bytes + body.bytes;
}

struct event_spec {
	uint64_t id, sample_type, period;
	bool frequency = false;
	std::string name;
	uint32_t type = 0;
};

/// A file of events, records and, if wanted, features (number and contents).
inline std::string
perf_data(const std::vector<event_spec> &events, const std::string &records,
	  const std::vector<std::pair<unsigned, std::string>> &features = {})
{
	cli::file_header header{};
	byte_writer ids, attrs, names;
	constexpr size_t attr_size =
		sizeof(perf_event_attr) + sizeof(cli::file_section);

	names.add(uint32_t(events.size())).add(uint32_t(64));
	for (const event_spec &e : events) {
		perf_event_attr attr{};

		attr.size = sizeof(attr);
		attr.type = e.type;
		attr.sample_type = e.sample_type;
		attr.sample_period = e.period;
		attr.freq = e.frequency;
		attr.sample_id_all = 1;
		attrs.add(attr).add(cli::file_section{
			sizeof(header) + ids.bytes.size(), sizeof(e.id)});
		ids.add(e.id);
		names.bytes.append(64, '\0');
		names.add(uint32_t(1)).add(uint32_t(64)).text(e.name, 64);
		names.add(e.id);
	}

	uint64_t data = sizeof(header) + ids.bytes.size() + attrs.bytes.size();
	auto all = features;

	all.emplace_back(cli::feature_events, names.bytes);
	std::sort(all.begin(), all.end());
	std::memcpy(header.magic, cli::file_magic, sizeof(header.magic));
	header.size = sizeof(header);
	header.attr_size = attr_size;
	header.attrs = {sizeof(header) + ids.bytes.size(), attrs.bytes.size()};
	header.data = {data, records.size()};

	byte_writer places;
	std::string contents;
	uint64_t at =
		data + records.size() + all.size() * sizeof(cli::file_section);

	for (const auto &[number, text] : all) {
		header.features[0] |= uint64_t{1} << number;
		places.add(
			cli::file_section{at + contents.size(), text.size()});
		contents += text;
	}
	return byte_writer().add(header).bytes + ids.bytes + attrs.bytes +
	       records + places.bytes + contents;
}

// Records of events that have these.
constexpr uint64_t with_period = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
				 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
constexpr uint64_t without_period = with_period & ~PERF_SAMPLE_PERIOD;

struct who {
	uint32_t pid, tid;
};

inline std::string sample(uint64_t id, uint64_t ip, who task, uint64_t time,
			  uint64_t period = 0,
			  uint16_t misc = PERF_RECORD_MISC_USER,
			  uint64_t cpu = 3)
{
	byte_writer body;

	body.add(id).add(ip).add(task).add(time).add(cpu);
	if (period)
		body.add(period);
	return record(PERF_RECORD_SAMPLE, misc, body);
}

inline byte_writer &trailer(byte_writer &body, uint64_t id, uint64_t time)
{
	return body.add(who{0, 0}).add(time).add(uint64_t(0)).add(id);
}

inline std::string comm(uint64_t id, uint64_t time, who task,
			const std::string &name, bool executes = false)
{
	byte_writer body;

	body.add(task).text(name);
	return record(PERF_RECORD_COMM,
		      executes ? PERF_RECORD_MISC_COMM_EXEC : 0,
		      trailer(body, id, time));
}

inline std::string fork(uint64_t id, uint64_t time, who task, who parent)
{
	byte_writer body;

	body.add(task.pid).add(parent.pid).add(task.tid).add(parent.tid);
	body.add(time);
	return record(PERF_RECORD_FORK, 0, trailer(body, id, time));
}

inline std::string mapping(uint64_t id, uint64_t time, uint32_t pid,
			   uint64_t start, uint64_t length, uint64_t offset,
			   const std::string &path,
			   uint16_t misc = PERF_RECORD_MISC_USER)
{
	byte_writer body;

	body.add(cli::mmap_record{pid, pid, start, length, offset}).text(path);
	return record(PERF_RECORD_MMAP, misc, trailer(body, id, time));
}
