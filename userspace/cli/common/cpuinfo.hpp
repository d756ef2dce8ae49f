// SPDX-License-Identifier: GPL-2.0-or-later
// The processor as /proc/cpuinfo has it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// What cpuinfo below @p proc says of the first CPU in @p field, such as
/// "model name"; nothing when it does not say.
std::optional<std::string> cpuinfo_field(const std::filesystem::path &proc,
					 std::string_view field);

} // namespace cli
