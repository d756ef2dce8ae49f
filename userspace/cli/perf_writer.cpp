// SPDX-License-Identifier: GPL-2.0-or-later
// Writing perf.data files.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "perf_file.hpp"
#include "perf_format.hpp"
#include "symbols.hpp"

namespace cli {

namespace fs = std::filesystem;

static uncore::error broken(const std::string &path)
{
	return {uncore::errc::system,
		fmt::format("{}: {}", path, std::strerror(errno))};
}

void perf_writer::put(const void *data, size_t size)
{
	// Errors stay in the stream; finish() looks for them.
	(void)!std::fwrite(data, 1, size, file_.get());
}

/// Text of features: its length in bytes, filled up to 64.
void perf_writer::put_string(const std::string &text)
{
	uint32_t size = (text.size() + 64) & ~63u;
	std::string filled = text;

	filled.resize(size);
	put(&size, sizeof(size));
	put(filled.data(), size);
}

uncore::result<void>
perf_writer::open(const std::string &path,
		  std::span<const uncore::sampled_event> events)
{
	file_header header{};

	path_ = path;
	file_.reset(std::fopen(path.c_str(), "wbe"));
	if (!file_)
		return broken(path);
	put(&header, sizeof(header));

	for (const uncore::sampled_event &e : events) {
		attrs_.push_back(e.attr);
		ids_.push_back(e.ids);
		names_.push_back(e.event ? e.event->name : "dummy");
		put(e.ids.data(), e.ids.size() * sizeof(uint64_t));
	}

	uint64_t ids_at = sizeof(header);

	for (size_t i = 0; i < attrs_.size(); i++) {
		file_section ids{ids_at, ids_[i].size() * sizeof(uint64_t)};

		put(&attrs_[i], sizeof(attrs_[i]));
		put(&ids, sizeof(ids));
		ids_at += ids.size;
	}
	data_start_ = std::ftell(file_.get());
	return {};
}

void perf_writer::add(const perf_event_header &record)
{
	samples_ += record.type == PERF_RECORD_SAMPLE;
	put(&record, record.size);
}

/// What sample_id_all adds to records: of the event that tells of tasks, at
/// time 0, so that it comes before all samples.
void perf_writer::put_trailer(uint32_t pid, uint32_t tid)
{
	struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} trailer{pid, tid, 0, 0, 0, ids_.back().front()};

	put(&trailer, sizeof(trailer));
}

constexpr size_t trailer_size = 32;

void perf_writer::add_mapping(uint32_t pid, uint32_t tid, uint64_t start,
			      uint64_t length, uint64_t offset, bool kernel,
			      const std::string &name)
{
	struct {
		perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, length, offset;
	} record{};
	std::string text = name;

	text.resize((name.size() + 8) & ~7u);
	record.header.type = PERF_RECORD_MMAP;
	record.header.misc =
		kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	record.header.size = sizeof(record) + text.size() + trailer_size;
	record.pid = pid;
	record.tid = tid;
	record.start = start;
	record.length = length;
	record.offset = offset;
	put(&record, sizeof(record));
	put(text.data(), text.size());
	put_trailer(pid, tid);
}

void perf_writer::add_kernel()
{
	std::ifstream symbols("/proc/kallsyms"), modules("/proc/modules");
	std::string line;
	uint64_t text = 0, end = 0;

	while (std::getline(symbols, line) && !(text && end)) {
		std::istringstream words(line);
		uint64_t address;
		std::string type, name;

		words >> std::hex >> address >> type >> name;
		if (name == "_text")
			text = address;
		if (name == "_etext")
			end = address;
	}
	if (text && end > text)
		add_mapping(UINT32_MAX, 0, text, end - text, text, true,
			    "[kernel.kallsyms]_text");
	while (std::getline(modules, line)) {
		std::istringstream words(line);
		std::string name, uses, users, state, address;
		uint64_t size, start;

		words >> name >> size >> uses >> users >> state >> address;
		start = std::strtoull(address.c_str(), nullptr, 16);
		if (start)
			add_mapping(UINT32_MAX, 0, start, size, 0, true,
				    "[" + name + "]");
	}
}

/// One process: the names of its threads, and what it may execute.
void perf_writer::add_task(int pid)
{
	fs::path folder = fmt::format("/proc/{}", pid);
	std::error_code gone;

	for (const auto &entry :
	     fs::directory_iterator(folder / "task", gone)) {
		struct {
			perf_event_header header;
			uint32_t pid, tid;
			char name[16];
		} record{};
		std::string name;

		std::getline(std::ifstream(entry.path() / "comm"), name);
		record.header.type = PERF_RECORD_COMM;
		record.header.size = sizeof(record) + trailer_size;
		record.pid = pid;
		record.tid = std::atoi(entry.path().filename().c_str());
		name.copy(record.name, sizeof(record.name) - 1);
		put(&record, sizeof(record));
		put_trailer(record.pid, record.tid);
	}

	for (const executable_mapping &m : executable_mappings(pid))
		add_mapping(pid, pid, m.start, m.end - m.start, m.offset, false,
			    m.path.empty() ? "//anon" : m.path);
}

void perf_writer::add_tasks()
{
	std::error_code gone;

	for (const auto &entry : fs::directory_iterator("/proc", gone))
		if (int pid = std::atoi(entry.path().filename().c_str()))
			add_task(pid);
}

uncore::result<void>
perf_writer::finish(const std::vector<std::string> &command)
{
	std::FILE *file = file_.get();
	uint64_t data_end = std::ftell(file);
	uint32_t count = attrs_.size(), size = sizeof(perf_event_attr);
	std::vector<file_section> sections;
	utsname system{};
	// Sections of features come right after the data, then the features.
	uint64_t at = data_end + 4 * sizeof(file_section);
	auto begin = [&] { sections.push_back({at, 0}); };
	auto end = [&] {
		at = std::ftell(file);
		sections.back().size = at - sections.back().offset;
	};

	std::fseek(file, at, SEEK_SET);
	uname(&system);
	begin();
	put_string(system.release);
	end();
	begin();
	uint32_t cpus[2] = {uint32_t(sysconf(_SC_NPROCESSORS_CONF)),
			    uint32_t(sysconf(_SC_NPROCESSORS_ONLN))};

	put(cpus, sizeof(cpus));
	end();
	begin();
	uint32_t words = command.size();

	put(&words, sizeof(words));
	for (const std::string &word : command)
		put_string(word);
	end();
	begin();
	put(&count, sizeof(count));
	put(&size, sizeof(size));
	for (size_t i = 0; i < attrs_.size(); i++) {
		uint32_t n = ids_[i].size();

		put(&attrs_[i], sizeof(attrs_[i]));
		put(&n, sizeof(n));
		put_string(names_[i]);
		put(ids_[i].data(), n * sizeof(uint64_t));
	}
	end();
	std::fseek(file, data_end, SEEK_SET);
	put(sections.data(), sections.size() * sizeof(file_section));

	file_header header{};
	uint64_t attr_size = sizeof(perf_event_attr) + sizeof(file_section);

	std::memcpy(header.magic, file_magic, sizeof(header.magic));
	header.size = sizeof(header);
	header.attr_size = attr_size;
	header.attrs = {data_start_ - count * attr_size, count * attr_size};
	header.data = {data_start_, data_end - data_start_};
	for (unsigned feature : {feature_os_release, feature_cpu_count,
				 feature_command, feature_events})
		header.features[0] |= 1ull << feature;
	std::fseek(file, 0, SEEK_SET);
	put(&header, sizeof(header));
	if (std::ferror(file) || std::fflush(file))
		return broken(path_);
	return {};
}

} // namespace cli
