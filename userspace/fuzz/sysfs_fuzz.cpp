// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzz the reader of sysfs. The input is a listing as in tests/data, with lines
// "FILE = TEXT" and "FILE -> TARGET", from which the target makes a tree in place
// of sysfs. Lines "! EVENT" are event strings to parse on this machine.
#include "fuzz.hpp"

#include <algorithm>
#include <vector>

#include <unistd.h>

#include <uncore/event.hpp>

#include "sysfs.hpp"
#include "tree.hpp"

using namespace uncore;
namespace fs = std::filesystem;

namespace {

constexpr size_t most_lines = 64;

/// Check that a path can be a file's path and that it does not leave the tree.
bool usable(const std::string &path)
{
	return !path.empty() && path.size() < 200 && path.front() != '/' &&
	       path.find('\0') == path.npos && path.find("..") == path.npos;
}

/// Make the file or the link of a line, if that is possible.
void add_line(const tree &files, const std::string &line)
{
	const size_t equals = line.find(" = ");
	const size_t arrow = line.find(" -> ");
	std::error_code ignored;

	if (equals != line.npos && usable(line.substr(0, equals))) {
		const fs::path file = files / line.substr(0, equals);

		fs::create_directories(file.parent_path(), ignored);
		if (ignored || fs::is_directory(file, ignored) ||
		    fs::is_symlink(file, ignored))
			return;
		try {
			files.write(line.substr(0, equals),
				    line.substr(equals + 3));
		} catch (const std::exception &) {
			// a name that the file system refuses
		}
	} else if (arrow != line.npos && usable(line.substr(0, arrow)) &&
		   usable(line.substr(arrow + 4))) {
		const fs::path link = files / line.substr(0, arrow);

		fs::create_directories(link.parent_path(), ignored);
		fs::create_symlink(files / line.substr(arrow + 4), link,
				   ignored);
	}
}

void check_machine(const topology &machine)
{
	for (const package &socket : machine.packages()) {
		require(!socket.cpus.empty(), "a package has CPUs");
		require(std::is_sorted(socket.cpus.begin(), socket.cpus.end()),
			"CPUs ascend");
	}
	for (const pmu_info &pmu : machine.pmus()) {
		require(!pmu.cpus.empty(), "an uncore PMU has CPUs");
		require(!pmu.box.empty() && !pmu.prefix.empty(),
			"an uncore PMU has a prefix and a box");
		require(!machine.match(pmu.name).empty(),
			"a PMU is found by its name");
		for (const format_field &field : pmu.formats) {
			require(field.word < 3, "a field is in a word");
			require(field.place(field.max()) != 0,
				"a field has bits");
			require(field.place(0) == 0, "0 is nothing");
		}
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const tree files;
	std::string_view rest = as_text(data, size);
	std::vector<std::string> events = {"*/clockticks/",
					   "imc/cas_count.rd/"};

	for (size_t i = 0; i < most_lines && !rest.empty(); i++) {
		const size_t end = std::min(rest.find('\n'), rest.size());
		const std::string line(rest.substr(0, end));

		rest.remove_prefix(std::min(end + 1, rest.size()));
		if (line.starts_with("! ")) {
			events.push_back(line.substr(2));
			continue;
		}
		add_line(files, line);
		(void)parse_cpu_list(line);
		(void)parse_format("field", line);
	}

	const auto machine = topology::read(files.path());

	if (!machine) {
		require(fs::is_empty(files.path()),
			"a folder with anything in it is a tree");
		require_clean(machine.error());
		return 0;
	}
	check_machine(*machine);
	for (const std::string &event : events) {
		const auto groups = parse_events(event, *machine);

		if (!groups)
			require_clean(groups.error());
	}
	return 0;
}
