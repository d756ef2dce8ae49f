// SPDX-License-Identifier: LGPL-2.1-or-later
// Test topology on recorded trees of a machine with two packages of 18 cores, with each
// driver and without a driver, and on broken and malicious trees.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <span>

#include <sys/stat.h>
#include <unistd.h>

#include "catalogue_tables.hpp"
#include "sysfs.hpp"
#include "tree.hpp"

using namespace uncore;

namespace {

std::vector<int> range(int first, int last)
{
	std::vector<int> numbers(static_cast<size_t>(last - first + 1));

	std::iota(numbers.begin(), numbers.end(), first);
	return numbers;
}

std::vector<std::string> names(const std::vector<const pmu_info *> &pmus)
{
	std::vector<std::string> list;

	for (const pmu_info *pmu : pmus)
		list.push_back(pmu->name);
	return list;
}

size_t count_of(const topology &machine, std::string_view box)
{
	size_t count = 0;

	for (const pmu_info &pmu : machine.pmus())
		count += pmu.box == box;
	return count;
}

/// Check the number of boxes of each type.
/// @param irps number of IRP boxes: intel_uncore has one box for both
void expect_boxes(const topology &machine, size_t irps)
{
	EXPECT_EQ(count_of(machine, "ubox"), 1u);
	EXPECT_EQ(count_of(machine, "cbox"), 18u);
	EXPECT_EQ(count_of(machine, "sbox"), 4u);
	EXPECT_EQ(count_of(machine, "ha"), 2u);
	EXPECT_EQ(count_of(machine, "imc"), 8u);
	EXPECT_EQ(count_of(machine, "irp"), irps);
	EXPECT_EQ(count_of(machine, "pcu"), 1u);
	EXPECT_EQ(count_of(machine, "qpi"), 3u);
	EXPECT_EQ(count_of(machine, "r2pcie"), 1u);
	EXPECT_EQ(count_of(machine, "r3qpi"), 3u);
	EXPECT_EQ(machine.pmus().size(), 41u + irps);
}

/// Expect Cascade Lake-AP's four dies: each of two packages of 18 cores has two.
void expect_dies(const tree &recorded)
{
	const topology machine = recorded.topology();

	ASSERT_EQ(machine.packages().size(), 4u);
	for (int die = 0; die < 4; die++) {
		EXPECT_EQ(machine.packages()[die].id, die);
		EXPECT_EQ(machine.packages()[die].cpus,
			  range(9 * die, 9 * die + 8));
		EXPECT_EQ(machine.package_of(9 * die + 4), die);
	}
}

/// Write the die_id of each CPU.
/// @param of_die die_id of the CPUs 0-8, 9-17, 18-26 and 27-35
void write_dies(const tree &recorded, std::span<const char *const> of_die)
{
	for (int cpu = 0; cpu < 36; cpu++)
		recorded.write("devices/system/cpu/cpu" + std::to_string(cpu) +
				       "/topology/die_id",
			       of_die[cpu / 9]);
}

} // namespace

TEST(processor, of_one_model_is_chosen_by_pmu_or_stepping)
{
	const std::vector<processor> model{{"mod", "skx", 0x1f}, {"mod", "clx", 0xe0}};
	const std::vector<std::string> in_tree{"cpu", "uncore_cha_0"};
	const std::vector<std::string> clx{"clx_cha_0", "cpu"};

	EXPECT_EQ(processor::choose(model, in_tree, 4), "skx");
	EXPECT_EQ(processor::choose(model, in_tree, 5), "clx");
	EXPECT_EQ(processor::choose(model, in_tree, 8), "");
	EXPECT_EQ(processor::choose(model, in_tree, 1ULL << 32), "");
	EXPECT_EQ(processor::choose(model, in_tree, std::nullopt), "");
	EXPECT_EQ(processor::choose(model, clx, 4), "clx");
	EXPECT_EQ(processor::choose({}, clx, 4), "");
}

TEST(topology, packages)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();

	ASSERT_EQ(machine.packages().size(), 2u);
	EXPECT_EQ(machine.packages()[0].id, 0);
	EXPECT_EQ(machine.packages()[0].cpus, range(0, 17));
	EXPECT_EQ(machine.packages()[1].id, 1);
	EXPECT_EQ(machine.packages()[1].cpus, range(18, 35));
	EXPECT_EQ(machine.package_of(17), 0);
	EXPECT_EQ(machine.package_of(18), 1);
	EXPECT_EQ(machine.package_of(36), -1);
	EXPECT_EQ(machine.package_of(-1), -1);
	EXPECT_EQ(machine.generation(), "hswep");
}

TEST(topology, each_die_is_a_package_if_packages_have_several)
{
	const tree recorded("hswep");

	write_dies(recorded, std::array{"0", "0", "0", "0"});
	EXPECT_EQ(recorded.topology().packages().size(), 2u);
	write_dies(recorded, std::array{"0", "1", "0", "1"});
	expect_dies(recorded);
	// Since Linux 6.9 the numbers do not begin again in the second package.
	write_dies(recorded, std::array{"0", "1", "2", "3"});
	expect_dies(recorded);
}

TEST(topology, boxes_of_xeon_uncore)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();

	expect_boxes(machine, 2);

	const pmu_info *cbox = machine.find("hswep_cbox_17");

	ASSERT_TRUE(cbox);
	EXPECT_EQ(cbox->driver, pmu_driver::xeon_uncore);
	EXPECT_EQ(cbox->prefix, "hswep");
	EXPECT_EQ(cbox->box, "cbox");
	EXPECT_EQ(cbox->instance, 17u);
	EXPECT_EQ(cbox->cpus, (std::vector<int>{0, 18}));
	EXPECT_EQ(std::to_string(cbox->type) + "\n",
		  recorded.read(devices + "hswep_cbox_17/type"));

	const pmu_info *pcu = machine.find("hswep_pcu");

	ASSERT_TRUE(pcu);
	EXPECT_EQ(pcu->instance, std::nullopt);
}

TEST(topology, boxes_of_the_kernels_own_driver)
{
	const tree recorded("intel-uncore");
	const topology machine = recorded.topology();

	expect_boxes(machine, 1);
	for (const pmu_info &pmu : machine.pmus())
		EXPECT_EQ(pmu.driver, pmu_driver::intel_uncore) << pmu.name;
	EXPECT_EQ(machine.generation(), "hswep");
}

TEST(topology, any_prefix)
{
	const tree recorded("hswep");
	const std::string source = devices + "hswep_cbox_0";

	for (const char *name : {"uncore_cbox_0", "my_own_cbox_0"})
		std::filesystem::copy(recorded / source,
				      recorded / (devices + name),
				      std::filesystem::copy_options::recursive);

	const topology machine = recorded.topology();

	ASSERT_TRUE(machine.find("uncore_cbox_0"));
	// The PMU's events have the catalogue's names: its driver is xeon_uncore.
	EXPECT_EQ(machine.find("uncore_cbox_0")->driver,
		  pmu_driver::xeon_uncore);
	ASSERT_TRUE(machine.find("my_own_cbox_0"));
	EXPECT_EQ(machine.find("my_own_cbox_0")->prefix, "my_own");
	EXPECT_EQ(machine.find("my_own_cbox_0")->box, "cbox");
	EXPECT_EQ(machine.find("my_own_cbox_0")->driver,
		  pmu_driver::xeon_uncore);
}

TEST(topology, no_driver)
{
	const tree recorded("no-driver");
	const topology machine = recorded.topology();

	EXPECT_TRUE(machine.pmus().empty());
	EXPECT_EQ(machine.packages().size(), 2u);
	ASSERT_TRUE(machine.find("msr"));
	EXPECT_EQ(machine.find("msr")->driver, pmu_driver::other);
	EXPECT_TRUE(machine.match("msr").empty());
}

TEST(topology, order)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	const auto boxes = machine.pmus();

	for (size_t i = 1; i < boxes.size(); i++) {
		EXPECT_LE(boxes[i - 1].box, boxes[i].box);
		if (boxes[i - 1].box == boxes[i].box) {
			EXPECT_LT(boxes[i - 1].instance, boxes[i].instance);
		}
	}
}

TEST(topology, match)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	const std::vector<std::string> agents = {"hswep_ha_0", "hswep_ha_1"};

	EXPECT_EQ(names(machine.match("hswep_ha_1")),
		  std::vector<std::string>{"hswep_ha_1"});
	EXPECT_EQ(names(machine.match("hswep_ha")), agents);
	EXPECT_EQ(names(machine.match("ha")), agents);
	EXPECT_EQ(names(machine.match("ha_0")),
		  std::vector<std::string>{"hswep_ha_0"});
	EXPECT_EQ(names(machine.match("*_ha_?")), agents);
	EXPECT_EQ(names(machine.match("ha_*")), agents);
	EXPECT_EQ(machine.match("*cbox_1?").size(), 8u);
	EXPECT_EQ(machine.match("*").size(), 43u);
	EXPECT_TRUE(machine.match("").empty());
	EXPECT_TRUE(machine.match("hswep").empty());
	EXPECT_TRUE(machine.match("h").empty());
	EXPECT_TRUE(machine.match("ha_2").empty());
}

TEST(topology, an_offline_cpu_is_left_out)
{
	const tree recorded("hswep");

	recorded.remove("devices/system/cpu/cpu5/topology");

	const topology machine = recorded.topology();

	EXPECT_EQ(machine.packages()[0].cpus.size(), 17u);
	EXPECT_EQ(machine.package_of(5), -1);
}

TEST(topology, a_box_that_is_gone_is_left_out)
{
	const tree recorded("hswep");

	recorded.write(devices + "hswep_imc_3/cpumask", "\n");

	const topology machine = recorded.topology();

	EXPECT_FALSE(machine.find("hswep_imc_3"));
	EXPECT_EQ(machine.pmus().size(), 42u);
}

TEST(format, places_bits_in_order)
{
	const auto plain = parse_format("event", "config:0-7,21");
	const auto wide = parse_format("all", "config2:0-63\n");

	ASSERT_TRUE(plain && wide);
	EXPECT_EQ(plain->word, 0u);
	EXPECT_EQ(plain->max(), 0x1ffu);
	EXPECT_EQ(plain->place(0x138), 0x200038u);
	EXPECT_EQ(plain->place(0xff), 0xffu);
	EXPECT_EQ(plain->place(0x200), 0u);
	EXPECT_EQ(wide->word, 2u);
	EXPECT_EQ(wide->max(), UINT64_MAX);
	EXPECT_EQ(wide->place(UINT64_MAX), UINT64_MAX);
}

TEST(format, refuses_what_makes_no_sense)
{
	for (const char *text :
	     {"", "config", "config:", "config:64", "config:7-0", "config:-1",
	      "config:0-7,7", "config3:0-7", "config:0-", "config:0x",
	      "config:0-7,", "config:99999999999999999999", "umask:0-7"})
		EXPECT_FALSE(parse_format("field", text)) << text;
}

TEST(cpu_list, parses)
{
	EXPECT_EQ(parse_cpu_list("0,18"), (std::vector<int>{0, 18}));
	EXPECT_EQ(parse_cpu_list("3-5,1\n"), (std::vector<int>{1, 3, 4, 5}));
	EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
	for (const char *text :
	     {"a", "1-", "-1", "5-3", "0-4294967295", "99999999999999999999",
	      "1,,2", "0-100000", "1 2"})
		EXPECT_FALSE(parse_cpu_list(text)) << text;
}

// --- broken and malicious trees ---------------------------------------

TEST(hostile, no_tree)
{
	const auto none = topology::read("/no/such/folder");

	ASSERT_FALSE(none);
	EXPECT_EQ(none.error().code, errc::system);
}

/// An empty folder, like a mount point without sysfs.
TEST(hostile, an_empty_tree)
{
	const tree holder;

	std::filesystem::create_directory(holder / "sys");
	const auto none = topology::read(holder / "sys");

	ASSERT_FALSE(none);
	EXPECT_EQ(none.error().code, errc::system);
	EXPECT_NE(none.error().message.find("mount sysfs there"),
		  std::string::npos);
}

TEST(hostile, no_devices)
{
	const tree machine;

	machine.write("devices/system/cpu/modalias", "");
	EXPECT_TRUE(machine.topology().pmus().empty());
	EXPECT_TRUE(machine.topology().packages().empty());
}

TEST(hostile, a_file_in_place_of_the_tree)
{
	const tree holder;

	holder.write("sys", "not a folder");
	EXPECT_FALSE(topology::read(holder / "sys"));
}

TEST(hostile, missing_files)
{
	for (const char *file : {"type", "cpumask", "format"}) {
		const tree recorded("hswep");

		recorded.remove(devices + "hswep_pcu/" + file);

		const topology machine = recorded.topology();

		EXPECT_EQ(machine.pmus().size(),
			  file == std::string_view("format") ? 43u : 42u)
			<< file;
	}
}

TEST(hostile, nonsense_in_files)
{
	const std::string junk("\0\xff\x80"
			       "binary\n\n%s%n",
			       15);
	const tree recorded("hswep");

	for (const std::string &text :
	     {std::string(), junk, std::string("-1"), std::string("1e9"),
	      std::string("99999999999999999999999"), std::string(1000000, '1'),
	      std::string("4294967295")}) {
		recorded.write(devices + "hswep_pcu/type", text);
		EXPECT_FALSE(recorded.topology().find("hswep_pcu"));
	}
	recorded.write(devices + "hswep_pcu/type", "40");
	for (const std::string &text :
	     {junk, std::string("0-4294967295"), std::string("1-0"),
	      std::string(300000, ',')}) {
		recorded.write(devices + "hswep_pcu/cpumask", text);
		EXPECT_FALSE(recorded.topology().find("hswep_pcu"));
	}
	recorded.write(devices + "hswep_pcu/cpumask", "0");
	recorded.write(devices + "hswep_pcu/format/event", junk);

	const topology machine = recorded.topology();

	ASSERT_TRUE(machine.find("hswep_pcu"));
	EXPECT_FALSE(machine.find("hswep_pcu")->field("event"));
}

TEST(hostile, absurd_package_and_cpu_numbers)
{
	const tree recorded("hswep");
	const std::string cpu = "devices/system/cpu/cpu";

	recorded.write(cpu + "3/topology/physical_package_id", "-1");
	recorded.write(cpu + "4/topology/physical_package_id", "4000000000");
	recorded.write(cpu + "99999999999/topology/physical_package_id", "0");
	recorded.write(cpu + "0x7/topology/physical_package_id", "0");

	const topology machine = recorded.topology();

	ASSERT_EQ(machine.packages().size(), 2u);
	EXPECT_EQ(machine.packages()[0].cpus.size(), 16u);
}

TEST(hostile, loops_pipes_and_folders_for_files)
{
	const tree recorded("hswep");
	const auto pcu = recorded / (devices + "hswep_pcu");
	const auto start = std::chrono::steady_clock::now();

	ASSERT_EQ(symlink("format", (pcu / "format2").c_str()), 0);
	recorded.remove(devices + "hswep_pcu/format");
	ASSERT_EQ(symlink("format2", (pcu / "format").c_str()), 0);
	ASSERT_EQ(symlink("../devices",
			  (recorded / (devices + "hswep_irp_0/format/loop"))
				  .c_str()),
		  0);
	recorded.remove(devices + "hswep_ubox/cpumask");
	ASSERT_EQ(mkfifo((recorded / (devices + "hswep_ubox/cpumask")).c_str(),
			 0600),
		  0);
	recorded.remove(devices + "hswep_ha_0/type");
	std::filesystem::create_directory(recorded /
					  (devices + "hswep_ha_0/type"));
	ASSERT_EQ(symlink("hswep_loop_0",
			  (recorded / (devices + "hswep_loop_0")).c_str()),
		  0);
	ASSERT_EQ(symlink("/dev/zero",
			  (recorded / (devices + "hswep_irp_0/format/zero"))
				  .c_str()),
		  0);

	const topology machine = recorded.topology();

	EXPECT_TRUE(machine.find("hswep_pcu"));
	EXPECT_TRUE(machine.find("hswep_pcu")->formats.empty());
	EXPECT_TRUE(machine.find("hswep_irp_0"));
	EXPECT_FALSE(machine.find("hswep_ubox"));
	EXPECT_FALSE(machine.find("hswep_ha_0"));
	EXPECT_LT(std::chrono::steady_clock::now() - start,
		  std::chrono::seconds(10));
}

TEST(hostile, names)
{
	const tree recorded("hswep");

	for (const char *name : {"_", "__", "_0", "cbox_", "_cbox_0", "uncore_",
				 "uncore_0", "hswep_cbox_99999999999999999999",
				 "a\nb_cbox_0", "hswep_cbox_", "\xff_cbox_1"}) {
		recorded.write(devices + name + "/type", "77");
		recorded.write(devices + name + "/cpumask", "0");
	}

	const topology machine = recorded.topology();

	EXPECT_FALSE(machine.find("a\nb_cbox_0"));
	for (const pmu_info &pmu : machine.pmus()) {
		EXPECT_FALSE(pmu.prefix.empty()) << pmu.name;
		EXPECT_FALSE(pmu.box.empty()) << pmu.name;
	}
}
