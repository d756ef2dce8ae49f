// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of perf.data files, as the kernel's
// tools/perf/Documentation/perf.data-file-format.txt has it.
#pragma once

#include <cstdint>

namespace cli {

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	file_section attrs, data, event_types;
	uint64_t features[4];
};

constexpr char file_magic[] = "PERFILE2";

/// Numbers of features.
enum : unsigned {
	feature_os_release = 4,
	feature_cpu_count = 7,
	feature_command = 11,
	feature_events = 12,
};

} // namespace cli
