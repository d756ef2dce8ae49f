// SPDX-License-Identifier: GPL-2.0-or-later
// Files by paths that other users choose.
#include "symbols/process_maps.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

/// Devices, pipes and the like are not opened, not even for a moment.
TEST(OpenRegular, OpensNothingElse)
{
	char name[] = "/tmp/uncore-open.XXXXXX";
	const fs::path folder = mkdtemp(name);
	const std::string pipe = folder / "pipe", file = folder / "file";
	const cli::unique_fd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
	char events[4096];

	ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
	std::ofstream(file) << "text";
	ASSERT_GE(inotify_add_watch(watch.get(), pipe.c_str(), IN_OPEN), 0);
	EXPECT_FALSE(cli::open_regular(pipe));
	EXPECT_FALSE(cli::open_in_root_of(uint32_t(getpid()), pipe));
	EXPECT_EQ(read(watch.get(), events, sizeof(events)), -1) << "opened";

	ASSERT_GE(inotify_add_watch(watch.get(), file.c_str(), IN_OPEN), 0);

	const cli::unique_fd opened = cli::open_regular(file);

	ASSERT_TRUE(bool(opened));
	EXPECT_EQ(read(opened.get(), events, sizeof(events)), 4);
	EXPECT_GT(read(watch.get(), events, sizeof(events)), 0);
	EXPECT_TRUE(bool(cli::open_in_root_of(uint32_t(getpid()), file)));
	EXPECT_FALSE(cli::open_regular(folder));
	EXPECT_FALSE(cli::open_regular(folder / "none"));
	fs::remove_all(folder);
}

} // namespace
