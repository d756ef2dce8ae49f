// SPDX-License-Identifier: GPL-2.0-or-later
// Names for addresses of this very process, of files that are not what ran, and
// of code that no file has.
#include "symbols/symbolizer.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "terminal/text.hpp"

namespace fs = std::filesystem;
using cli::code_mapping;
using cli::symbolizer;

namespace plain {

/// To be found under its own name.
template <class T> __attribute__((noinline)) T twice(T value)
{
	asm volatile("");
	return value * 2;
}

} // namespace plain

static uint64_t address_of(int (*function)(int))
{
	return reinterpret_cast<uint64_t>(function) + 1;
}

static code_mapping mapping_of(uint64_t address)
{
	for (const auto &m : cli::executable_mappings(uint32_t(getpid())))
		if (m.contains(address))
			return m;
	return {};
}

/// What the linker made of this program.
static cli::build_id own_id()
{
	return cli::build_id::of_file(
		cli::open_regular("/proc/self/exe").get());
}

TEST(Symbolizer, RecordedProcess)
{
	symbolizer names;
	uint64_t address = address_of(plain::twice);
	code_mapping m = mapping_of(address);

	// with and without a build id in the file
	for (const cli::build_id &id : {cli::build_id(), own_id()}) {
		m.id = id;

		const cli::code_name &n = names.recorded_user(m, address);

		EXPECT_EQ(n.function, "int plain::twice<int>(int)");
		EXPECT_EQ(n.object, fs::path(m.path).filename());
	}
	EXPECT_TRUE(names.reasons().empty());
}

TEST(Symbolizer, AnotherFileAtThePath)
{
	symbolizer names;
	uint64_t address = address_of(plain::twice);
	code_mapping m = mapping_of(address);

	m.id = own_id();
	ASSERT_TRUE(bool(m.id));
	m.id.bytes[0] ^= 1;
	EXPECT_EQ(names.recorded_user(m, address).function, "");
	names.recorded_user(m, address + 1);

	// said once
	ASSERT_EQ(names.reasons().size(), 1u);
	EXPECT_EQ(names.reasons()[0],
		  m.path + ": not what was sampled (another build id), so its "
			   "functions have no names");

	symbolizer gone;

	m.path = "/no/such/file";
	EXPECT_EQ(gone.recorded_user(m, address).function, "");
	ASSERT_EQ(gone.reasons().size(), 1u);
	EXPECT_EQ(gone.reasons()[0],
		  "/no/such/file: not here, so its functions have no names");
}

/// It was deleted: the process has it still.
TEST(Symbolizer, DeletedFile)
{
	symbolizer names;
	uint64_t address = address_of(plain::twice);
	code_mapping m = mapping_of(address);

	m.id = own_id();
	m.path += " (deleted)";
	EXPECT_EQ(names.recorded_user(m, address).function,
		  "int plain::twice<int>(int)");
}

/// The process that ran it has ended, and its path has another file.
TEST(Symbolizer, KeptFile)
{
	symbolizer kept, late;
	char path[] = "/tmp/uncore-kept.XXXXXX";

	close(mkstemp(path));
	fs::copy_file("/proc/self/exe", path,
		      fs::copy_options::overwrite_existing);
	fs::permissions(path, fs::perms::owner_all);

	uint64_t address = address_of(plain::twice);
	code_mapping m = mapping_of(address);

	m.id = own_id();
	m.path = std::string(path) + " (deleted)";
	kept.keep(m);
	// What /proc has of a process that has ended: nothing.
	m.pid = 0x7fffffff;
	unlink(path);
	EXPECT_EQ(kept.recorded_user(m, address).function,
		  "int plain::twice<int>(int)");
	EXPECT_EQ(late.recorded_user(m, address).function, "");
}

TEST(Symbolizer, Vdso)
{
	symbolizer names;
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	auto image = cli::elf_object::vdso();

	if (!start || !image)
		GTEST_SKIP() << "no vdso";

	uint64_t function = image->address_of("__vdso_clock_gettime");

	ASSERT_NE(function, 0u);
	code_mapping kernel, m = mapping_of(start);

	kernel.start = kernel.offset = cli::kallsyms::read().address_of("_text");
	kernel.length = 0x1000000;
	kernel.path = "[kernel.kallsyms]_text";
	kernel.id = cli::build_id::of_running_kernel();
	if (!kernel.id || !kernel.start)
		GTEST_SKIP() << "the running kernel is not known here";
	names.set_recorded_kernel({&kernel, 1}, "");
	// the weak name and the one with underscores are of one place
	EXPECT_NE(names.recorded_user(m, start + function + 4)
			  .function.find("clock_gettime"),
		  std::string::npos);
}

TEST(Symbolizer, CodeMadeAtRunTime)
{
	symbolizer kept, recorded;
	auto self = uint32_t(getpid());
	std::string path = "/tmp/perf-" + std::to_string(self) + ".map";
	void *code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(code, MAP_FAILED);

	auto address = reinterpret_cast<uint64_t>(code);
	code_mapping m = mapping_of(address);

	m.path = "//anon";
	// The list is written after the memory is mapped.
	kept.keep(m);
	std::ofstream(path) << std::hex << address << " 10 first one\n"
			    << "no line of it\n"
			    << address + 0x20 << " 10 was\033here\n"
			    << address + 0x20 << " 10 is\033here\n";
	kept.keep_lists();
	EXPECT_EQ(recorded.recorded_user(m, address).function, "first one");
	EXPECT_EQ(recorded.recorded_user(m, address + 0x10).function, "");
	EXPECT_EQ(recorded.recorded_user(m, address).object, "//anon");
	unlink(path.c_str());
	munmap(code, 4096);
	EXPECT_EQ(kept.recorded_user(m, address + 0xf).function, "first one");
	EXPECT_EQ(kept.recorded_user(m, address + 0x10).function, "");
	EXPECT_EQ(kept.recorded_user(m, address + 0x20).function, "is?here");
}

/// A map of functions that were made at run time, and a page of code for it.
class RunTimeCode : public testing::Test {
protected:
	RunTimeCode()
	{
		code_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		std::ofstream(path_) << std::hex << address() << " 10 made\n";
	}
	~RunTimeCode() override
	{
		unlink(path_.c_str());
		munmap(code_, 4096);
	}

	uint64_t address() const { return reinterpret_cast<uint64_t>(code_); }
	std::string name()
	{
		const code_mapping m = mapping_of(address());

		names_.keep(m);
		return names_.recorded_user(m, address()).function;
	}

	uint32_t self_ = uint32_t(getpid());
	std::string path_ = "/tmp/perf-" + std::to_string(self_) + ".map";
	void *code_;
	symbolizer names_;
};

TEST_F(RunTimeCode, OfAnotherUser)
{
	if (chown(path_.c_str(), 65534, 65534))
		GTEST_SKIP() << "only root can give files away";
	EXPECT_EQ(name(), "");
	ASSERT_EQ(names_.reasons().size(), 1u);
	EXPECT_EQ(names_.reasons()[0],
		  path_ + ": it belongs to user 65534, not to the "
			  "process's user, so its functions have no names");
}

/// 20 GB that take no room on the disk.
TEST_F(RunTimeCode, TooLarge)
{
	ASSERT_EQ(truncate(path_.c_str(), off_t{20} << 30), 0);
	EXPECT_EQ(name(), "");
	ASSERT_EQ(names_.reasons().size(), 1u);
	EXPECT_EQ(names_.reasons()[0], path_ + ": larger than 64 MiB, so its "
					       "functions have no names");
}

TEST_F(RunTimeCode, JustNotTooLarge)
{
	ASSERT_EQ(truncate(path_.c_str(), cli::perf_map::max_size), 0);
	EXPECT_EQ(name(), "made");
	EXPECT_TRUE(names_.reasons().empty());
}

/// The debug file has what the stripped one lacks, and is found by the link in
/// it; not, when it is of something else.
TEST(Symbolizer, DebugFile)
{
	char folder[] = "/tmp/uncore.XXXXXX";

	ASSERT_TRUE(mkdtemp(folder));

	auto shell = [&folder](const std::string &command) {
		return !std::system(("cd " + std::string(folder) + " && (" +
				     command + ") > /dev/null 2>&1")
					    .c_str());
	};
	uint64_t address = address_of(plain::twice);
	code_mapping m = mapping_of(address);

	if (!shell("objcopy --only-keep-debug " + m.path +
		   " program.debug && "
		   "objcopy --strip-all --add-gnu-debuglink=program.debug " +
		   m.path + " program"))
		GTEST_SKIP() << "no objcopy";
	m.path = std::string(folder) + "/program";
	m.id = own_id();
	EXPECT_EQ(symbolizer().recorded_user(m, address).function,
		  "int plain::twice<int>(int)");
	ASSERT_TRUE(shell("echo not a debug file > program.debug"));
	EXPECT_EQ(symbolizer().recorded_user(m, address).function, "");
	fs::remove_all(folder);
}

TEST(Symbolizer, KernelOfAnotherMachine)
{
	symbolizer names;
	code_mapping kernel;

	kernel.start = kernel.offset = 0xffffffff81000000;
	kernel.length = 0x1000000;
	kernel.path = "[kernel.kallsyms]_text";
	kernel.id = cli::build_id(std::vector<uint8_t>(20, 0x5a));
	names.set_recorded_kernel({&kernel, 1}, "6.1.0-other");
	EXPECT_EQ(names.recorded_kernel(0xffffffff81000100).function, "");
	EXPECT_EQ(names.recorded_kernel(0xffffffff81000200).object, "[kernel]");
	ASSERT_EQ(names.reasons().size(), 1u);
	EXPECT_EQ(names.reasons()[0],
		  "the kernel that was sampled: not the one that runs here, so "
		  "its functions have no names");
}

/// The same kernel after another boot: everything has moved together.
TEST(Symbolizer, KernelThatHasMoved)
{
	cli::kallsyms today = cli::kallsyms::read();
	uint64_t text = today.address_of("_text");
	uint64_t function = today.address_of("schedule");

	if (!text || !function)
		GTEST_SKIP() << "kernel addresses are hidden";

	symbolizer names;
	code_mapping kernel;
	constexpr uint64_t moved = 0x2000000;

	kernel.start = kernel.offset = text - moved;
	kernel.length = today.address_of("_etext") - text;
	kernel.path = "[kernel.kallsyms]_text";
	kernel.id = cli::build_id::of_running_kernel();
	if (!kernel.id)
		GTEST_SKIP() << "the running kernel has no build id here";
	names.set_recorded_kernel({&kernel, 1}, "");
	EXPECT_EQ(names.recorded_kernel(function - moved + 1).function,
		  "schedule");
	// without a build id a kernel that has moved is not known
	symbolizer unsure;

	kernel.id = {};
	unsure.set_recorded_kernel({&kernel, 1}, "");
	EXPECT_EQ(unsure.recorded_kernel(function - moved + 1).function, "");
}

TEST(BuildId, Notes)
{
	const std::vector<uint8_t> notes{
		// a note of something else, of an odd size
		4, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 'A', 'B', 'C', 0, 1, 0, 0,
		0,
		// and the build id
		4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab,
		0xcd, 0, 0};

	EXPECT_EQ(cli::build_id::of_notes(notes).hex(), "abcd");
	for (size_t size = 0; size < 38; size++)
		EXPECT_FALSE(
			bool(cli::build_id::of_notes({notes.data(), size})))
			<< size;
}
