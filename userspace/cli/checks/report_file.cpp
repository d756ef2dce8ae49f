// SPDX-License-Identifier: GPL-2.0-or-later
// What a user attaches to an issue, so that others see what this machine does.
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

/// The fields of the first processor that tell what it is.
json processor(const fs::path &proc)
{
	static constexpr const char *wanted[] = {
		"vendor_id", "cpu family", "model", "model name",
		"stepping",  "microcode",  "siblings", "cpu cores",
	};
	json fields;

	for (const char *name : wanted)
		if (auto value = cpuinfo_field(proc, name))
			fields[name] = *std::move(value);
	return fields;
}

json sockets(const uncore::topology &machine)
{
	json all = json::array();

	for (const uncore::package &one : machine.packages()) {
		std::map<std::string, unsigned> boxes;

		for (const uncore::pmu_info &pmu : machine.pmus())
			for (const int cpu : pmu.cpus)
				if (machine.package_of(cpu) == one.id)
					boxes[pmu.prefix + "_" + pmu.box]++;
		all.push_back({{"socket", one.id},
			       {"cpus", cpu_list(one.cpus)},
			       {"boxes", boxes}});
	}
	return all;
}

/// Name and contents of each file of a folder.
json files_of(const fs::path &folder)
{
	json all = json::object();
	std::error_code err;
	std::map<std::string, std::string> sorted;

	for (const auto &entry : fs::directory_iterator(folder, err))
		if (auto text = uncore::read_text(entry.path()))
			sorted[entry.path().filename()] = *std::move(text);
	for (const auto &[name, text] : sorted)
		all[name] = text;
	return all;
}

/// What the driver has in sysfs: its parameters and each package's statistics.
json driver_state(const fs::path &sys, const uncore::topology &machine)
{
	const fs::path module = sys / "module/xeon_uncore";
	json state = {{"parameters", files_of(module / "parameters")}};

	for (const uncore::package &one : machine.packages()) {
		const std::string name = fmt::format("package{}", one.id);

		state[name] = files_of(module / name);
	}
	return state;
}

/// The driver's messages, about leftovers of firmware and missing boxes.
json driver_log()
{
	const unique_fd log(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	json lines = json::array();
	char record[8192];
	ssize_t size;

	// EPIPE: records were overwritten, the next read returns the next one
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
				  const machine_folders &where,
				  const uncore::topology &machine,
				  const hardware_results &results)
{
	utsname kernel;

	uname(&kernel);
	json all = begin_document("check", &machine);

	all["host"] = nullptr; // it is attached to issues
	all["kernel"] = {{"release", kernel.release},
			 {"version", kernel.version}};
	all["processor"] = processor(where.proc);
	all["sockets"] = sockets(machine);
	all["driver_state"] = driver_state(where.sys, machine);
	all["log"] = driver_log();
	all["ready"] = none_bad(results.findings);
	all["checks"] = to_json(results.findings);
	all["measured"] = results.measured;
	report.write(document_line(all));
	return report.commit();
}

} // namespace cli
