// SPDX-License-Identifier: GPL-2.0-or-later
// Writing perf.data files.
#include "perfdata/perf_writer.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "perfdata/perf_format.hpp"
#include "symbols/kallsyms.hpp"

namespace cli {

namespace fs = std::filesystem;

/// Text of features: its length in bytes, filled up to 64.
void perf_writer::put_string(const std::string &text)
{
	uint32_t size = (text.size() + 64) & ~63u;
	std::string filled = text;

	filled.resize(size);
	put(&size, sizeof(size));
	put(filled.data(), size);
}

uncore::result<perf_writer>
perf_writer::create(const std::string &path,
		    std::span<const uncore::sampled_event> events)
{
	auto file = path.empty() ? output_file::unnamed()
				 : output_file::create(path, 0600);

	if (!file)
		return file.error();

	perf_writer made(std::move(*file));
	file_header header{};
	uint64_t ids_at = sizeof(header);

	made.put(&header, sizeof(header));
	for (const uncore::sampled_event &e : events) {
		made.attrs_.push_back(*e.attr);
		made.ids_.push_back(e.ids);
		made.names_.push_back(e.event ? e.event->name : "dummy");
		made.put(e.ids.data(), e.ids.size() * sizeof(uint64_t));
	}
	for (size_t i = 0; i < made.attrs_.size(); i++) {
		file_section ids{ids_at,
				 made.ids_[i].size() * sizeof(uint64_t)};

		made.put(&made.attrs_[i], sizeof(made.attrs_[i]));
		made.put(&ids, sizeof(ids));
		ids_at += ids.size;
	}
	made.data_start_ = made.file_.tell();
	return made;
}

constexpr size_t trailer_size = 32;

/// Samples that a full ring buffer had no room for.
static uint64_t lost_by(const perf_event_header &record)
{
	// PERF_RECORD_LOST has the event's number before it.
	const size_t words = record.type == PERF_RECORD_LOST	       ? 1
			     : record.type == PERF_RECORD_LOST_SAMPLES ? 0
								       : 2;
	const size_t at = sizeof(record) + words * sizeof(uint64_t);
	uint64_t lost = 0;

	if (words < 2 && record.size >= at + sizeof(lost))
		std::memcpy(&lost, reinterpret_cast<const char *>(&record) + at,
			    sizeof(lost));
	return lost;
}

void perf_writer::add(const perf_event_header &record)
{
	samples_ += record.type == PERF_RECORD_SAMPLE;
	lost_ += lost_by(record);
	put(&record, record.size);
	if (!watch_ || record.type != PERF_RECORD_MMAP2 ||
	    mode_of(record) != cpu_mode::user)
		return;
	if (const auto mapping = mapping_of(
		    record, {reinterpret_cast<const char *>(&record + 1),
			     record.size - sizeof(record)}))
		watch_(*mapping);
}

void perf_writer::add_lost(std::span<const uint64_t> lost)
{
	for (size_t i = 0; i < lost.size() && i < ids_.size(); i++) {
		struct {
			perf_event_header header;
			uint64_t lost;
		} record{};

		if (!lost[i])
			continue;
		lost_at_end_ += lost[i];
		record.header.type = PERF_RECORD_LOST_SAMPLES;
		record.header.size = sizeof(record) + trailer_size;
		record.lost = lost[i];
		put(&record, sizeof(record));
		put_trailer(0, 0, ids_[i].front());
	}
}

/// What sample_id_all adds to records, at time 0, so that they come before all
/// samples.
void perf_writer::put_trailer(uint32_t pid, uint32_t tid, uint64_t id)
{
	struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} trailer{pid, tid, 0, 0, 0, id};

	put(&trailer, sizeof(trailer));
}

void perf_writer::add_mapping(const process_mapping &m, uint16_t mode)
{
	struct {
		perf_event_header header;
		mmap_record place;
		mmap2_record file;
	} record{};
	std::string name = m.path;

	name.resize((name.size() + 8) & ~size_t{7});
	record.header.type = PERF_RECORD_MMAP2;
	record.header.misc = mode;
	record.header.size = sizeof(record) + name.size() + trailer_size;
	record.place = {m.pid, m.pid, m.start, m.length, m.offset};
	record.file.protection = PROT_READ | PROT_EXEC;
	record.file.flags = MAP_PRIVATE;
	if (m.id) {
		record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		record.file.id_size = uint8_t(m.id.size);
		std::copy(m.id.bytes.begin(), m.id.bytes.end(), record.file.id);
	} else {
		record.file.device_major = m.device_major;
		record.file.device_minor = m.device_minor;
		record.file.inode = m.inode;
	}
	put(&record, sizeof(record));
	put(name.data(), name.size());
	put_trailer(m.pid, m.pid, ids_.back().front());
	if (watch_ && mode == PERF_RECORD_MISC_USER)
		watch_(m);
}

void perf_writer::add_kernel()
{
	kallsyms symbols = kallsyms::read();
	process_mapping m;
	uint64_t end = symbols.address_of("_etext");

	m.pid = UINT32_MAX;
	m.start = m.offset = symbols.address_of("_text");
	m.length = end - m.start;
	m.path = "[kernel.kallsyms]_text";
	m.id = build_id::of_running_kernel();
	if (m.start && end > m.start)
		add_mapping(m, PERF_RECORD_MISC_KERNEL);
	for (const kernel_module &loaded : kernel_modules()) {
		if (!loaded.start)
			continue;
		m.start = loaded.start;
		m.length = loaded.size;
		m.offset = 0;
		m.path = "[" + loaded.name + "]";
		m.id = build_id::of_module(loaded.name);
		add_mapping(m, PERF_RECORD_MISC_KERNEL);
	}
}

/// Files are mapped by many processes; each is opened once.
build_id perf_writer::id_of(const process_mapping &m)
{
	if (is_anonymous(m.path))
		return {};

	auto [at, is_new] = build_ids_.try_emplace(
		{m.device_major, m.device_minor, m.inode, m.path});

	if (is_new)
		if (unique_fd file = open_mapped(m))
			at->second = build_id::of_file(file.get());
	return at->second;
}

/// One process: the names of its threads, and what it may execute.
void perf_writer::add_task(uint32_t pid)
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
		record.tid =
			uint32_t(std::atoi(entry.path().filename().c_str()));
		name.copy(record.name, sizeof(record.name) - 1);
		put(&record, sizeof(record));
		put_trailer(record.pid, record.tid, ids_.back().front());
	}
	for (process_mapping &m : executable_mappings(pid)) {
		m.id = id_of(m);
		if (m.path.empty())
			m.path = "//anon";
		add_mapping(m, PERF_RECORD_MISC_USER);
	}
}

void perf_writer::add_tasks()
{
	std::error_code gone;

	for (const auto &entry : fs::directory_iterator("/proc", gone))
		if (int pid = std::atoi(entry.path().filename().c_str());
		    pid > 0)
			add_task(uint32_t(pid));
}

void perf_writer::put_events()
{
	uint32_t count = attrs_.size(), size = sizeof(perf_event_attr);

	put(&count, sizeof(count));
	put(&size, sizeof(size));
	for (size_t i = 0; i < attrs_.size(); i++) {
		uint32_t n = ids_[i].size();

		put(&attrs_[i], sizeof(attrs_[i]));
		put(&n, sizeof(n));
		put_string(names_[i]);
		put(ids_[i].data(), n * sizeof(uint64_t));
	}
}

void perf_writer::describe(const uncore::topology &machine)
{
	for (const uncore::pmu_info &pmu : machine.pmus())
		pmus_[pmu.type] = pmu.name;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		sockets_.push_back(machine.package_of(cpu));
}

void perf_writer::put_pmus()
{
	const uint32_t count = pmus_.size();

	put(&count, sizeof(count));
	for (const auto &[type, name] : pmus_) {
		put(&type, sizeof(type));
		put_string(name);
	}
}

/// perf has lists of the CPUs that share a core or a socket before it.
void perf_writer::put_sockets()
{
	const uint32_t none[2] = {0, 0};

	put(none, sizeof(none));
	for (const int socket : sockets_) {
		const uint32_t core_and_socket[2] = {0, uint32_t(socket)};

		put(core_and_socket, sizeof(core_and_socket));
	}
}

/// Their places come right after the data, then the features.
void perf_writer::put_features(const std::vector<std::string> &command)
{
	const uint64_t places = file_.tell();
	std::vector<file_section> sections;
	utsname system{};
	uint32_t cpus[2] = {uint32_t(sysconf(_SC_NPROCESSORS_CONF)),
			    uint32_t(sysconf(_SC_NPROCESSORS_ONLN))};
	uint32_t words = command.size();
	const std::function<void()> put_each[] = {
		[&] { put_string(system.nodename); },
		[&] { put_string(system.release); },
		[&] { put(cpus, sizeof(cpus)); },
		[&] {
			put(&words, sizeof(words));
			for (const std::string &word : command)
				put_string(word);
		},
		[&] { put_events(); },
		[&] { put_sockets(); },
		[&] { put_pmus(); },
	};

	uname(&system);
	file_.seek(places + std::size(put_each) * sizeof(file_section));
	for (const auto &put_feature : put_each) {
		const uint64_t start = file_.tell();

		put_feature();
		sections.push_back({start, file_.tell() - start});
	}
	file_.seek(places);
	put(sections.data(), sections.size() * sizeof(file_section));
}

uncore::result<void>
perf_writer::finish(const std::vector<std::string> &command)
{
	uint64_t data_end = file_.tell(), count = attrs_.size();
	file_header header{};

	put_features(command);
	std::memcpy(header.magic, file_magic, sizeof(header.magic));
	header.size = sizeof(header);
	header.attr_size = sizeof(perf_event_attr) + sizeof(file_section);
	header.attrs = {data_start_ - count * header.attr_size,
			count * header.attr_size};
	header.data = {data_start_, data_end - data_start_};
	// In the order of put_features().
	for (unsigned feature :
	     {feature_host_name, feature_os_release, feature_cpu_count,
	      feature_command, feature_events, feature_cpu_topology,
	      feature_pmus})
		header.features[0] |= uint64_t{1} << feature;
	file_.seek(0);
	put(&header, sizeof(header));
	return file_.commit(true);
}

uncore::result<perf_file> perf_writer::read_back() const
{
	return perf_file::read(fileno(file_.stream()), "the samples");
}

} // namespace cli
