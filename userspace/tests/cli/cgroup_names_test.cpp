// SPDX-License-Identifier: GPL-2.0-or-later
// Test the choice of a cgroup mount, with lists of mounts from real nodes, and paths of
// cgroups that users write.
#include <sstream>

#include <gtest/gtest.h>

#include "attribution/cgroup_names.hpp"

using namespace cli;

namespace {

cgroup_mount find(const std::string &mounts)
{
	std::istringstream text(mounts);

	return find_cgroups(text);
}

const std::string other =
	"22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	"23 22 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n";
const std::string unified =
	"31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 "
	"rw,nsdelegate,memory_recursiveprot\n";
/// Version 1 as systemd mounts the hierarchies; memory is not the first hierarchy.
const std::string legacy =
	"30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
	"32 30 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup "
	"rw,xattr,name=systemd\n"
	"33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	"34 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
	"rw,cpu,cpuacct\n"
	"35 30 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const std::string hybrid =
	legacy +
	"36 30 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(cgroup_mount, is_version_2)
{
	EXPECT_EQ(find(other + unified), (cgroup_mount{"/sys/fs/cgroup", ""}));
	// A hierarchy of version 1 that container runtimes do not use is ignored.
	EXPECT_EQ(find(unified + "40 25 0:40 / /sys/fs/net rw - cgroup none "
				 "rw,net_cls,net_prio\n"),
		  (cgroup_mount{"/sys/fs/cgroup", ""}));
}

TEST(cgroup_mount, is_the_memory_controllers_of_version_1)
{
	EXPECT_EQ(find(other + legacy),
		  (cgroup_mount{"/sys/fs/cgroup/memory", "memory"}));
	EXPECT_EQ(find(other + hybrid),
		  (cgroup_mount{"/sys/fs/cgroup/memory", "memory"}));
}

/// A kernel that was booted with cgroup_disable=memory.
TEST(cgroup_mount, is_another_controllers_without)
{
	EXPECT_EQ(find(legacy.substr(0, legacy.find("35 "))),
		  (cgroup_mount{"/sys/fs/cgroup/cpu,cpuacct", "cpu"}));
	EXPECT_EQ(find(legacy.substr(0, legacy.find("34 "))),
		  (cgroup_mount{"/sys/fs/cgroup/pids", "pids"}));
}

TEST(cgroup_mount, is_the_hosts_in_a_pod)
{
	// Version 2 in a cgroup namespace; the mount of the pod itself comes first.
	EXPECT_EQ(find("50 49 0:27 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
		       "51 49 0:27 /../../.. /host/sys/fs/cgroup ro - cgroup2 "
		       "cgroup2 rw\n"),
		  (cgroup_mount{"/host/sys/fs/cgroup", ""}));
	// Version 1 without a cgroup namespace.
	EXPECT_EQ(find("50 49 0:31 /kubepods/besteffort/pod0f8d3c1e/1f0a "
		       "/sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		       "51 49 0:31 / /host/sys/fs/cgroup/memory ro - cgroup "
		       "cgroup rw,memory\n"),
		  (cgroup_mount{"/host/sys/fs/cgroup/memory", "memory"}));
}

TEST(cgroup_mount, is_none)
{
	EXPECT_EQ(find(other), cgroup_mount{});
	EXPECT_EQ(find(""), cgroup_mount{});
	EXPECT_EQ(find("1 2 3\n\n- cgroup2\n"), cgroup_mount{});
}

/// Paths without the first slash, or with superfluous slashes.
TEST(cgroup_names, take_paths_as_users_write_them)
{
	const cli::cgroup_names names;

	EXPECT_EQ(names.path_of("system.slice"), "/system.slice");
	EXPECT_EQ(names.path_of("/system.slice//ssh.service/"),
		  "/system.slice/ssh.service");
	EXPECT_EQ(names.path_of("/a/../b"), "/b");
	EXPECT_EQ(names.path_of("/"), "/");
	EXPECT_EQ(names.path_of(""), "/");
	EXPECT_EQ(names.path_of("/sys/fs/cgroups"), "/sys/fs/cgroups");
}

} // namespace
