// SPDX-License-Identifier: GPL-2.0-or-later
// Test output files: a file that appears only when it is complete, a file that is
// written in place, and symbolic links.
#include "process/output_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using cli::output_file;

namespace {

class OutputFile : public testing::Test {
protected:
	OutputFile()
	{
		char name[] = "/tmp/uncore-output.XXXXXX";

		folder_ = mkdtemp(name);
		path_ = folder_ / "out";
	}
	~OutputFile() override { fs::remove_all(folder_); }

	static void put(const fs::path &path, const std::string &text)
	{
		std::ofstream(path) << text;
	}
	static std::string get(const fs::path &path)
	{
		std::ifstream file(path);

		return {std::istreambuf_iterator<char>(file), {}};
	}
	size_t files() const
	{
		return size_t(std::distance(fs::directory_iterator(folder_),
					    fs::directory_iterator()));
	}

	fs::path folder_, path_;
};

TEST_F(OutputFile, IsWholeOrNotThere)
{
	put(path_, "before");
	{
		auto file = output_file::create(path_, 0600);

		ASSERT_TRUE(file);
		file->write("half");
	}
	EXPECT_EQ(get(path_), "before");
	EXPECT_EQ(files(), 1u);

	auto file = output_file::create(path_, 0600);

	ASSERT_TRUE(file);
	file->write("whole");
	ASSERT_TRUE(file->commit(true));
	EXPECT_EQ(get(path_), "whole");
	EXPECT_EQ(get(folder_ / "out.old"), "before");
	EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFile, FollowsALink)
{
	fs::create_directory(folder_ / "far");
	put(folder_ / "far/target", "before");
	fs::create_symlink("far/target", path_);

	auto file = output_file::create(path_, 0600);

	ASSERT_TRUE(file);
	file->write("after");
	ASSERT_TRUE(file->commit());
	EXPECT_TRUE(fs::is_symlink(path_));
	EXPECT_EQ(get(folder_ / "far/target"), "after");
}

TEST_F(OutputFile, ReplacesALinkToNothing)
{
	fs::create_symlink("nothing", path_);

	auto file = output_file::create(path_, 0600);

	ASSERT_TRUE(file);
	file->write("after");
	ASSERT_TRUE(file->commit());
	EXPECT_FALSE(fs::is_symlink(path_));
	EXPECT_EQ(get(path_), "after");
}

/// The folder is renamed before the file is complete, and its old name is now a link to
/// another folder.
TEST_F(OutputFile, StaysInItsFolder)
{
	const fs::path there = folder_ / "there", other = folder_ / "other";

	fs::create_directory(there);
	fs::create_directory(other);
	put(other / "out", "precious");

	auto file = output_file::create(there / "out", 0600);

	ASSERT_TRUE(file);
	file->write("after");
	fs::rename(there, folder_ / "moved");
	fs::create_symlink("other", there);
	ASSERT_TRUE(file->commit());
	EXPECT_EQ(get(other / "out"), "precious");
	EXPECT_EQ(get(folder_ / "moved/out"), "after");
}

TEST_F(OutputFile, InPlaceKeepsContentUntilTheFirstWrite)
{
	put(path_, "before");
	{
		auto file = output_file::open(path_);

		ASSERT_TRUE(file);
	}
	EXPECT_EQ(get(path_), "before");

	auto file = output_file::open(path_);

	ASSERT_TRUE(file);
	file->write("new");
	file->flush();
	EXPECT_EQ(get(path_), "new");
	EXPECT_FALSE(file->failed());
}

TEST_F(OutputFile, InPlaceAppends)
{
	put(path_, "before\n");

	auto file = output_file::open(path_, output_file::content::append);

	ASSERT_TRUE(file);
	file->write("after\n");
	file->flush();
	EXPECT_EQ(get(path_), "before\nafter\n");
}

TEST_F(OutputFile, InPlaceLeavesNoEmptyFile)
{
	{
		auto file = output_file::open(path_);

		ASSERT_TRUE(file);
		EXPECT_TRUE(fs::exists(path_));
	}
	EXPECT_FALSE(fs::exists(path_));
}

TEST_F(OutputFile, Errors)
{
	for (const std::string &bad :
	     {folder_.string(), (folder_ / "none/out").string(),
	      folder_.string() + "/", std::string(), std::string(".")}) {
		EXPECT_FALSE(output_file::create(bad, 0600)) << bad;
		EXPECT_FALSE(output_file::open(bad)) << bad;
	}

	auto full = output_file::create("/dev/full", 0600);

	ASSERT_TRUE(full);
	full->write("text");
	EXPECT_EQ(full->commit().error().message,
		  "/dev/full: No space left on device");
}

} // namespace
