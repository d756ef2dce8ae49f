// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of perf.data files, as the kernel's
// tools/perf/Documentation/perf.data-file-format.txt has it, and that of
// records that perf_event_open(2) leaves to comments.
#pragma once

#include <cstdint>

#include <linux/perf_event.h>

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
/// The same from a machine with the other order of bytes.
constexpr char file_magic_swapped[] = "2ELIFREP";
/// The size of the header that perf writes into a pipe.
constexpr uint64_t pipe_header_size = 16;

/// Numbers of features.
enum : unsigned {
	feature_build_id = 2,
	feature_host_name = 3,
	feature_os_release = 4,
	feature_cpu_count = 7,
	feature_command = 11,
	feature_events = 12,
	feature_cpu_topology = 13,
	feature_pmus = 16,
	features = 64,
};

/// PERF_FORMAT_LOST, which older headers lack.
constexpr uint64_t format_lost = 1u << 4;

/// Records that perf adds to the kernel's.
enum : uint32_t {
	record_user_start = 64,
	record_auxtrace = 71, ///< data follow that its size does not count
	record_compressed = 81,
	record_compressed2 = 83, ///< with padding, since Linux 6.16
};

/// What records have behind their header; names follow, ended by a zero and
/// filled up to a multiple of 8.
struct mmap_record {
	uint32_t pid, tid;
	uint64_t start, length, offset;
};

/// Between an mmap_record and the name, in PERF_RECORD_MMAP2.
struct mmap2_record {
	union {
		struct {
			uint32_t device_major, device_minor;
			uint64_t inode, generation;
		};
		/// With PERF_RECORD_MISC_MMAP_BUILD_ID.
		struct {
			uint8_t id_size, reserved[3];
			uint8_t id[20];
		};
	};
	uint32_t protection, flags;
};

/// In the feature of build ids.
struct build_id_record {
	perf_event_header header;
	int32_t pid;
	uint8_t id[20];
	uint8_t id_size; ///< with record_misc_build_id_size, else 20
	uint8_t reserved[3];
};

constexpr uint16_t record_misc_build_id_size = 1u << 15;

} // namespace cli
