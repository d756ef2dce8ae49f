// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are written aside, and perf.data files among them.
#include "perfdata/perf_writer.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_data.hpp"
#include "perfdata/perf_reader.hpp"

namespace fs = std::filesystem;
using cli::output_file;

/// A separate, empty folder.
class Output : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = fs::temp_directory_path() / "uncore.XXXXXX";

		ASSERT_TRUE(mkdtemp(name.data()));
		folder = name;
	}
	void TearDown() override { fs::remove_all(folder); }

	std::string path(const char *name) const { return folder / name; }
	std::string contents(const char *name) const
	{
		std::ifstream file(path(name));

		return {std::istreambuf_iterator<char>(file), {}};
	}
	void put(const char *name, const char *text) const
	{
		std::ofstream(path(name)) << text;
	}
	size_t files() const
	{
		return size_t(std::distance(fs::directory_iterator(folder),
					    fs::directory_iterator()));
	}
	void write(const char *name, const char *text, bool keep_old)
	{
		auto file = output_file::create(path(name), 0600);

		ASSERT_TRUE(bool(file));
		file->write(text);
		ASSERT_TRUE(bool(file->commit(keep_old)));
	}

	fs::path folder;
};

TEST_F(Output, IsItsOwnersAlone)
{
	struct stat status;

	write("a", "new", true);
	ASSERT_FALSE(stat(path("a").c_str(), &status));
	EXPECT_EQ(status.st_mode & 07777, 0600u);
	EXPECT_EQ(contents("a"), "new");
	EXPECT_EQ(files(), 1u);
}

TEST_F(Output, KeepsTheOldOne)
{
	put("a", "old");
	write("a", "new", true);
	EXPECT_EQ(contents("a"), "new");
	EXPECT_EQ(contents("a.old"), "old");
	write("a", "newer", false);
	EXPECT_EQ(contents("a"), "newer");
	EXPECT_EQ(contents("a.old"), "old");
	EXPECT_EQ(files(), 2u);
}

TEST_F(Output, NotCommitted)
{
	put("a", "old");
	{
		auto file = output_file::create(path("a"), 0600);

		ASSERT_TRUE(bool(file));
		file->write("half");
	}
	EXPECT_EQ(contents("a"), "old");
	EXPECT_EQ(files(), 1u);
}

TEST_F(Output, SymbolicLinkStays)
{
	put("target", "old");
	fs::create_symlink("target", path("link"));
	write("link", "new", true);
	EXPECT_TRUE(fs::is_symlink(path("link")));
	EXPECT_EQ(contents("target"), "new");
	EXPECT_EQ(contents("target.old"), "old");
}

TEST_F(Output, Devices)
{
	auto full = output_file::create("/dev/full", 0600);

	ASSERT_TRUE(bool(full));
	full->write("text");

	auto done = full->commit();

	ASSERT_FALSE(bool(done));
	EXPECT_EQ(done.error().message, "/dev/full: No space left on device");
	EXPECT_TRUE(fs::is_character_file("/dev/full"));

	auto null = output_file::create("/dev/null", 0600);

	ASSERT_TRUE(bool(null));
	null->write("text");
	EXPECT_TRUE(bool(null->commit(true)));
	EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Output, CannotBeMade)
{
	auto folder_itself = output_file::create(folder, 0600);
	auto nowhere = output_file::create(path("no/such"), 0600);

	ASSERT_FALSE(folder_itself || nowhere);
	EXPECT_EQ(folder_itself.error().message,
		  folder.string() + ": Is a directory");
	EXPECT_EQ(nowhere.error().message,
		  path("no/such") + ": No such file or directory");
	EXPECT_EQ(files(), 0u);
}

/// A size that a process may not exceed stands for a disk that is full.
TEST_F(Output, DiskThatIsFull)
{
	put("a", "old");

	if (pid_t child = fork(); !child) {
		rlimit limit{65536, 65536};

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);

		bool refused = false;

		if (auto file = output_file::create(path("a"), 0600)) {
			for (int i = 0; i < 100; i++)
				file->write(std::string(4096, 'x'));
			refused = file->failed() && !file->commit(true);
		}
		_exit(!refused);
	} else {
		int status = 0;

		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	EXPECT_EQ(contents("a"), "old");
	EXPECT_EQ(files(), 1u);
}

static std::vector<uncore::sampled_event> events()
{
	static perf_event_attr attr{};
	uncore::sampled_event dummy;

	attr.size = sizeof(attr);
	attr.sample_type = with_period;
	attr.sample_id_all = 1;
	dummy.attr = &attr;
	dummy.ids = {7};
	dummy.cpus = {0};
	return {dummy};
}

/// What reads it finds this process, and which file it runs.
TEST_F(Output, TasksAndTheirFiles)
{
	auto file = cli::perf_writer::create(path("perf.data"), events());

	ASSERT_TRUE(bool(file));
	file->add_kernel();
	file->add_tasks();
	EXPECT_FALSE(fs::exists(path("perf.data")));
	ASSERT_TRUE(bool(file->finish({"make", "-j2"})));
	EXPECT_EQ(files(), 1u);

	auto read = cli::perf_file::read(path("perf.data"));

	ASSERT_TRUE(bool(read)) << read.error().message;

	cli::unique_fd own = cli::open_regular("/proc/self/exe");
	std::string program = fs::read_symlink("/proc/self/exe");
	size_t found = 0;

	for (const cli::code_mapping &m : read->mappings)
		if (m.pid == uint32_t(getpid()) && m.path == program) {
			found++;
			EXPECT_EQ(m.id, cli::build_id::of_file(own.get()));
			EXPECT_TRUE(bool(m.id));
		}
	EXPECT_GT(found, 0u);
	EXPECT_FALSE(read->release.empty());
	for (const cli::code_mapping &m : read->kernel)
		if (m.path == "[kernel.kallsyms]_text") {
			EXPECT_EQ(m.id, cli::build_id::of_running_kernel());
		}
}
