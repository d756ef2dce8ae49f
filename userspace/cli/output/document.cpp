// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/document.hpp"

#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <uncore/version.hpp>

#include "output/machine.hpp"
#include "terminal/text.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using wall_clock = std::chrono::system_clock;

static const wall_clock::time_point started = wall_clock::now();

/// "2026-11-26T12:42:50.123Z" (RFC 3339)
static std::string timestamp(wall_clock::time_point time)
{
	const auto since_epoch =
		std::chrono::duration_cast<std::chrono::milliseconds>(
			time.time_since_epoch());
	const time_t seconds = since_epoch.count() / 1000;
	char date[32];
	tm parts{};

	gmtime_r(&seconds, &parts);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
	return fmt::format("{}.{:03}Z", date, since_epoch.count() % 1000);
}

json begin_document(const char *subcommand, const uncore::topology *machine)
{
	json document = {{"schema", json_schema},
			 {"subcommand", subcommand},
			 {"version", uncore::version()},
			 {"host", host_name()},
			 {"driver", nullptr},
			 {"generation", nullptr},
			 {"start", timestamp(started)}};

	if (!machine)
		return document;
	document["driver"] = driver_name(*machine);
	if (!machine->generation().empty())
		document["generation"] = machine->generation();
	return document;
}

/// Replace all strings and names of members by printable ones.
static void clean(json &value)
{
	if (value.is_string()) {
		auto &text = value.get_ref<std::string &>();

		text = printable(text);
	} else if (value.is_array()) {
		for (json &element : value)
			clean(element);
	} else if (value.is_object()) {
		json members = json::object();

		for (auto &[name, member] : value.items()) {
			clean(member);
			members[printable(name)] = std::move(member);
		}
		value = std::move(members);
	}
}

std::string dump(json document, int indent)
{
	clean(document);
	return document.dump(indent, ' ');
}

std::string document_line(json document)
{
	return dump(std::move(document), -1) + '\n';
}

} // namespace cli
