// SPDX-License-Identifier: GPL-2.0-or-later
// Report of uncore check --hardware, to be attached to an issue.
#include <map>

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "checks/hardware.hpp"
#include "output/document.hpp"
#include "output/machine.hpp"
#include "process/unique_fd.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

/// Return the fields of /proc/cpuinfo that identify the first processor.
json processor(const fs::path &proc)
{
	static constexpr const char *names[] = {
		"vendor_id", "cpu family", "model",    "model name",
		"stepping",  "microcode",  "siblings", "cpu cores",
	};
	json fields;

	for (const char *name : names)
		if (auto value = cpuinfo_field(proc, name))
			fields[name] = *std::move(value);
	return fields;
}

json sockets(const uncore::topology &machine)
{
	json entries = json::array();

	for (const uncore::package &package : machine.packages()) {
		std::map<std::string, unsigned> boxes;

		for (const uncore::pmu_info &pmu : machine.pmus())
			for (const int cpu : pmu.cpus)
				if (machine.package_of(cpu) == package.id)
					boxes[pmu.prefix + "_" + pmu.box]++;
		entries.push_back({{"socket", package.id},
				   {"cpus", cpu_list(package.cpus)},
				   {"boxes", boxes}});
	}
	return entries;
}

/// Return the name and contents of each file of a folder.
json files_of(const fs::path &folder)
{
	json files = json::object();
	std::error_code err;
	std::map<std::string, std::string> texts;

	for (const auto &entry : fs::directory_iterator(folder, err))
		if (auto text = uncore::read_text(entry.path()))
			texts[entry.path().filename()] = *std::move(text);
	for (const auto &[name, text] : texts)
		files[name] = text;
	return files;
}

/// Return the driver's parameters and each package's statistics, from sysfs.
json driver_state(const fs::path &sys, const uncore::topology &machine)
{
	const fs::path module = sys / "module/xeon_uncore";
	json state = {{"parameters", files_of(module / "parameters")}};

	for (const uncore::package &package : machine.packages()) {
		const std::string name = fmt::format("package{}", package.id);

		state[name] = files_of(module / name);
	}
	return state;
}

/// Return the driver's messages in the kernel log, for example on missing boxes and on
/// register state that firmware has left.
json driver_log()
{
	const unique_fd log(
		open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	json lines = json::array();
	char record[8192];
	ssize_t size;

	// EPIPE: the kernel has overwritten records before they were read.  The
	// next read() returns the oldest record that is left.
	while (log.get() >= 0 &&
	       ((size = read(log.get(), record, sizeof(record))) > 0 ||
		(size < 0 && errno == EPIPE))) {
		if (size < 0)
			continue;
		const std::string_view text(record, size_t(size));
		const size_t message = text.find(';');
		const size_t end = text.find('\n');

		if (message == text.npos)
			continue;
		const std::string_view line =
			text.substr(message + 1, end - message - 1);
		if (line.starts_with("xeon_uncore"))
			lines.push_back(line);
	}
	return lines;
}

} // namespace

uncore::result<void> write_report(output_file &report,
				  const machine_folders &folders,
				  const uncore::topology &machine,
				  const hardware_results &results)
{
	utsname kernel;

	uname(&kernel);
	json document = begin_document("check", &machine);

	document["host"] = nullptr; // the report is attached to issues
	document["kernel"] = {{"release", kernel.release},
			      {"version", kernel.version}};
	document["processor"] = processor(folders.proc);
	document["sockets"] = sockets(machine);
	document["driver_state"] = driver_state(folders.sys, machine);
	document["log"] = driver_log();
	document["ready"] = none_bad(results.findings);
	document["checks"] = to_json(results.findings);
	document["measured"] = results.measured;
	report.write(document_line(document));
	return report.commit();
}

} // namespace cli
