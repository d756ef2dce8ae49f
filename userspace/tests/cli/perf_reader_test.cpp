// SPDX-License-Identifier: GPL-2.0-or-later
// Reading perf.data files, perf's and malformed ones.
#include "perfdata/perf_reader.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include "perf_data.hpp"
#include "perfdata/address_space.hpp"

using cli::perf_file;

static perf_file read(const std::string &contents)
{
	auto file = perf_file::parse(contents, "file");

	EXPECT_TRUE(bool(file)) << (file ? "" : file.error().message);
	return file ? *file : perf_file{};
}

static std::string refusal(const std::string &contents)
{
	auto file = perf_file::parse(contents, "file");

	return file ? "no refusal" : file.error().message;
}

/// perf record -e 'a,period=1000' -e b -F 99: the samples of one have a field
/// that those of the other lack.
TEST(PerfReader, EventsWithDifferentSampleTypes)
{
	perf_file file = read(perf_data(
		{{7, without_period, 1000, false, "counted"},
		 {8, with_period, 99, true, "timed"}},
		sample(7, 0x10, {1, 2}, 5) + sample(8, 0x20, {3, 4}, 6, 123) +
			sample(7, 0x30, {1, 2}, 7)));

	ASSERT_EQ(file.samples.size(), 3u);
	EXPECT_EQ(file.samples[0].period, 1000u);
	EXPECT_EQ(file.samples[0].event, 0u);
	EXPECT_EQ(file.samples[1].period, 123u);
	EXPECT_EQ(file.samples[1].event, 1u);
	EXPECT_EQ(file.samples[1].ip, 0x20u);
	EXPECT_EQ(file.samples[1].tid, 4u);
	EXPECT_EQ(file.samples[2].ip, 0x30u);
	EXPECT_EQ(file.events[1].name, "timed");
}

TEST(PerfReader, FrequencyIsNoPeriod)
{
	perf_file file = read(perf_data({{7, without_period, 4000, true, "e"}},
					sample(7, 0x10, {1, 2}, 5)));

	ASSERT_EQ(file.samples.size(), 1u);
	EXPECT_EQ(file.samples[0].period, 1u);
}

TEST(PerfReader, SamplesOfUnknownEvents)
{
	perf_file file = read(perf_data({{7, with_period, 1, false, "a"},
					 {8, with_period, 1, false, "b"}},
					sample(9, 1, {1, 1}, 1, 5) +
						sample(8, 1, {1, 1}, 1, 5)));

	EXPECT_EQ(file.samples.size(), 1u);
	EXPECT_EQ(file.foreign, 1u);
}

TEST(PerfReader, EventsThatCannotBeToldApart)
{
	uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;

	EXPECT_EQ(refusal(perf_data(
			  {{7, type, 1, false, "a"}, {8, type, 1, false, "b"}},
			  sample(7, 1, {1, 1}, 1))),
		  "file: its samples do not say which event they are of");
	EXPECT_EQ(refusal(perf_data({{7, with_period, 1, false, "a"},
				     {8, type | PERF_SAMPLE_ID, 1, false, "b"}},
				    sample(7, 1, {1, 1}, 1))),
		  "file: its samples do not say which event they are of");
}

TEST(PerfReader, CpuModes)
{
	perf_file file = read(
		perf_data({{7, with_period, 1, false, "a"}},
			  sample(7, 1, {1, 1}, 1, 1, PERF_RECORD_MISC_KERNEL) +
				  sample(7, 1, {1, 1}, 2, 1,
					 PERF_RECORD_MISC_GUEST_USER) +
				  sample(7, 1, {1, 1}, 3, 1,
					 PERF_RECORD_MISC_HYPERVISOR)));

	ASSERT_EQ(file.samples.size(), 3u);
	EXPECT_EQ(file.samples[0].mode, cli::cpu_mode::kernel);
	EXPECT_EQ(file.samples[1].mode, cli::cpu_mode::guest);
	EXPECT_EQ(file.samples[2].mode, cli::cpu_mode::hypervisor);
}

/// Records of several CPUs: by their times, not as they are in the file.
TEST(PerfReader, NamesAndMappingsInTheCourseOfTime)
{
	who shell{10, 10}, child{11, 11};
	perf_file file = read(perf_data(
		{{7, with_period, 1, false, "a"}},
		sample(7, 0x1100, child, 50, 1) +	  // has executed
			sample(7, 0x1100, child, 30, 1) + // is a copy still
			sample(7, 0x1100, shell, 60, 1) +
			sample(7, 0x5000, shell, 60, 1) + // nothing there
			comm(7, 40, child, "prog", true) +
			mapping(7, 41, 11, 0x1000, 0x1000, 0, "/bin/prog") +
			fork(7, 20, child, shell) + comm(7, 0, shell, "sh") +
			mapping(7, 0, 10, 0x1000, 0x1000, 0x2000, "/bin/sh")));

	ASSERT_EQ(file.samples.size(), 4u);

	auto seen = [&file](size_t i) {
		const cli::file_sample &s = file.samples[i];

		return s.task + " " +
		       (s.mapping == SIZE_MAX ? "nowhere"
					      : file.mappings[s.mapping].path);
	};

	EXPECT_EQ(seen(0), "sh /bin/sh");
	EXPECT_EQ(seen(1), "prog /bin/prog");
	EXPECT_EQ(seen(2), "sh /bin/sh");
	EXPECT_EQ(seen(3), "sh nowhere");
}

TEST(PerfReader, ChildMapsForItself)
{
	perf_file file = read(
		perf_data({{7, with_period, 1, false, "a"}},
			  mapping(7, 1, 10, 0x1000, 0x1000, 0, "old") +
				  fork(7, 2, {11, 11}, {10, 10}) +
				  mapping(7, 3, 11, 0x1000, 0x1000, 0, "new") +
				  sample(7, 0x1000, {10, 10}, 4, 1) +
				  sample(7, 0x1000, {11, 11}, 5, 1)));

	ASSERT_EQ(file.samples.size(), 2u);
	EXPECT_EQ(file.mappings[file.samples[0].mapping].path, "old");
	EXPECT_EQ(file.mappings[file.samples[1].mapping].path, "new");
}

TEST(PerfReader, BuildIds)
{
	cli::mmap2_record more{};
	byte_writer body, known;
	cli::build_id_record entry{};

	more.id_size = 3;
	more.id[0] = 0xab;
	more.id[2] = 0x01;
	body.add(cli::mmap_record{10, 10, 0x1000, 0x1000, 0}).add(more);
	body.text("/bin/a");
	entry.header.size = sizeof(entry) + 8;
	entry.id[0] = 0xcd;
	known.add(entry).text("/bin/b");

	perf_file file = read(perf_data(
		{{7, with_period, 1, false, "a"}},
		record(PERF_RECORD_MMAP2,
		       PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
		       trailer(body, 7, 0)) +
			mapping(7, 0, 10, 0x3000, 0x1000, 0, "/bin/b") +
			mapping(7, 0, 10, 0x5000, 0x1000, 0, "/bin/c"),
		{{cli::feature_build_id, known.bytes}}));

	ASSERT_EQ(file.mappings.size(), 3u);
	EXPECT_EQ(file.mappings[0].id.hex(), "ab0001");
	EXPECT_EQ(file.mappings[1].id.hex(), "cd" + std::string(38, '0'));
	EXPECT_FALSE(file.mappings[2].id);
}

/// perf record -z: one stream, cut anywhere.
static std::string compressed(const std::string &records, size_t part,
			      uint32_t type = cli::record_compressed)
{
	std::string squeezed(ZSTD_compressBound(records.size()), '\0');
	std::string made;

	squeezed.resize(ZSTD_compress(squeezed.data(), squeezed.size(),
				      records.data(), records.size(), 1));
	for (size_t i = 0; i < squeezed.size(); i += part) {
		byte_writer body;
		std::string piece = squeezed.substr(i, part);

		if (type == cli::record_compressed2) {
			body.add(uint64_t(piece.size()));
			piece.resize((piece.size() + 7) & ~size_t{7});
		}
		body.bytes += piece;
		made += record(type, 0, body);
	}
	return made;
}

TEST(PerfReader, CompressedRecords)
{
	std::string records;

	for (uint64_t i = 0; i < 20000; i++)
		records += sample(7, i, {1, 1}, i, i + 1);
	for (size_t part : {size_t{1000}, size_t{65000}})
		for (uint32_t type :
		     {cli::record_compressed, cli::record_compressed2}) {
			perf_file file = read(
				perf_data({{7, with_period, 1, false, "a"}},
					  compressed(records, part, type)));

			ASSERT_EQ(file.samples.size(), 20000u);
			EXPECT_EQ(file.samples[19999].period, 20000u);
		}
}

TEST(PerfReader, DamagedCompression)
{
	std::vector<event_spec> events{{7, with_period, 1, false, "a"}};
	std::string one = sample(7, 1, {1, 1}, 1, 1);
	byte_writer garbage;

	garbage.text("this is not what zstd makes");
	EXPECT_EQ(refusal(perf_data(
			  events, record(cli::record_compressed, 0, garbage))),
		  "file: damaged: it cannot be decompressed");
	// a record that does not end
	EXPECT_EQ(refusal(perf_data(
			  events, compressed(one + one.substr(0, 20), 65000))),
		  "file: cut off or damaged");
	// in itself
	EXPECT_EQ(refusal(perf_data(events,
				    compressed(compressed(one, 65000), 65000))),
		  "file: damaged: compressed twice");
	// zeros, of which a few bytes make very many
	EXPECT_EQ(refusal(perf_data(
			  events,
			  compressed(std::string(64 << 20, '\0'), 65000))),
		  "file: damaged: it cannot be decompressed");
}

TEST(PerfReader, OtherFiles)
{
	std::string good = perf_data({{7, with_period, 1, false, "a"}},
				     sample(7, 1, {1, 1}, 1, 1));
	std::string swapped = good, pipe = good, empty = good;

	std::memcpy(swapped.data(), cli::file_magic_swapped, 8);
	pipe[8] = cli::pipe_header_size;
	std::memset(empty.data() + offsetof(cli::file_header, data) + 8, 0, 8);
	EXPECT_EQ(refusal(""), "file: too short for a perf.data file");
	EXPECT_EQ(refusal(std::string(200, 'x')), "file: not a perf.data file");
	EXPECT_EQ(refusal(swapped),
		  "file: from a machine with another order of bytes");
	EXPECT_NE(refusal(pipe).find("pipe"), std::string::npos);
	EXPECT_EQ(refusal(empty), "file: it was not finished: no records");
}

/// Cut off, a file is refused, wherever that is: without what follows the records,
/// samples would go by the names of other programs and events.
TEST(PerfReader, CutOff)
{
	std::string records = comm(7, 0, {1, 1}, "a") +
			      mapping(7, 0, 1, 4096, 4096, 0, "/bin/a") +
			      sample(7, 1, {1, 1}, 1, 1);
	std::string good =
		perf_data({{7, with_period, 1, false, "a"}}, records);

	for (size_t size = 0; size < good.size(); size++)
		EXPECT_FALSE(
			bool(perf_file::parse({good.data(), size}, "file")))
			<< size << " bytes";
	EXPECT_TRUE(bool(perf_file::parse(good, "file")));
	// and a record that is longer than the rest, or shorter than itself
	for (uint16_t size : {0, 7, 4000}) {
		std::string bad = good;

		std::memcpy(bad.data() + good.find(records) + 6, &size, 2);
		EXPECT_EQ(refusal(bad), "file: cut off or damaged");
	}
}

TEST(PerfReader, NoFile)
{
	auto none = perf_file::read("/no/such/file");
	auto folder = perf_file::read("/tmp");
	auto device = perf_file::read("/dev/null");

	ASSERT_FALSE(none || folder || device);
	EXPECT_EQ(none.error().message,
		  "/no/such/file: No such file or directory");
	EXPECT_NE(folder.error().message.find("folder"), std::string::npos);
	EXPECT_EQ(device.error().message, "/dev/null: not a regular file");
}

/// The user's part of a call chain is in the mappings of its time; addresses are
/// innermost first.
TEST(PerfReader, CallChains)
{
	constexpr uint64_t type = with_period | PERF_SAMPLE_CALLCHAIN;
	auto chained = [](uint64_t time, std::vector<uint64_t> chain) {
		byte_writer body;

		body.add(uint64_t(7)).add(uint64_t(0x1010)).add(who{5, 5});
		body.add(time).add(uint64_t(3)).add(uint64_t(100));
		body.add(uint64_t(chain.size()));
		for (uint64_t address : chain)
			body.add(address);
		return record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
			      body);
	};
	const std::string records =
		mapping(7, 1, 5, 0x1000, 0x1000, 0, "/one") +
		chained(10, {uint64_t(PERF_CONTEXT_KERNEL), 0xffffffff81000010,
			     uint64_t(PERF_CONTEXT_USER), 0x1010, 0x1020,
			     0x9000}) +
		chained(20, {});
	const auto file = cli::perf_file::parse(
		perf_data({{7, type, 100, false, {}}}, records), "file");

	ASSERT_TRUE(bool(file)) << file.error().message;
	ASSERT_EQ(file->samples.size(), 2u);
	EXPECT_EQ(file->frames_of(file->samples[1]).size(), 0u);

	const auto frames = file->frames_of(file->samples[0]);

	ASSERT_EQ(frames.size(), 4u);
	EXPECT_EQ(frames[0].mode, cli::cpu_mode::kernel);
	EXPECT_FALSE(frames[0].calls || frames[1].calls);
	EXPECT_TRUE(frames[2].calls && frames[3].calls);
	EXPECT_EQ(frames[2].ip, 0x1020u);
	EXPECT_EQ(frames[2].mapping, 0u);
	EXPECT_EQ(frames[3].mapping, SIZE_MAX);

	byte_writer longer;

	longer.add(uint64_t(7)).add(uint64_t(0)).add(who{5, 5});
	longer.add(uint64_t(1)).add(uint64_t(3)).add(uint64_t(100));
	longer.add(UINT64_MAX);

	const auto bad = cli::perf_file::parse(
		perf_data({{7, type, 100, false, {}}},
			  record(PERF_RECORD_SAMPLE, 0, longer)),
		"file");

	ASSERT_FALSE(bool(bad));
	EXPECT_EQ(bad.error().message,
		  "file: cut off or damaged: a sample is too short");
}

/// perf record has the same losses twice: as they happen and at the end.
TEST(PerfReader, LostOnce)
{
	auto lost = [](uint32_t type, uint64_t count) {
		byte_writer body;

		if (type == PERF_RECORD_LOST)
			body.add(uint64_t(7));
		body.add(count);
		return record(type, 0, trailer(body, 7, 1));
	};
	const auto file = cli::perf_file::parse(
		perf_data({{7, with_period, 100, false, {}}},
			  sample(7, 1, {1, 1}, 1, 100) +
				  lost(PERF_RECORD_LOST, 5) +
				  lost(PERF_RECORD_LOST, 6) +
				  lost(PERF_RECORD_LOST_SAMPLES, 13)),
		"file");

	ASSERT_TRUE(bool(file));
	EXPECT_EQ(file->lost, 13u);
}

TEST(AddressSpace, LaterMappingsTakeThePlace)
{
	cli::address_space space;
	constexpr size_t none = cli::address_space::none;

	space.map(100, 100, 1);
	space.map(120, 20, 2); // in the middle
	EXPECT_EQ(space.find(99), none);
	EXPECT_EQ(space.find(119), 1u);
	EXPECT_EQ(space.find(120), 2u);
	EXPECT_EQ(space.find(139), 2u);
	EXPECT_EQ(space.find(140), 1u);
	EXPECT_EQ(space.find(199), 1u);
	EXPECT_EQ(space.find(200), none);
	space.map(90, 45, 3); // over the beginning of one, and of another
	EXPECT_EQ(space.find(134), 3u);
	EXPECT_EQ(space.find(135), 2u);
	space.map(150, 0, 4);
	EXPECT_EQ(space.find(150), 1u);
	space.map(UINT64_MAX - 9, 100, 5); // beyond the end of all addresses
	EXPECT_EQ(space.find(UINT64_MAX), 5u);
	space.map(0, UINT64_MAX, 6);
	EXPECT_EQ(space.find(150), 6u);
	EXPECT_EQ(space.find(UINT64_MAX), 5u);
}
