// SPDX-License-Identifier: LGPL-2.1-or-later
// Test that the message about a refused perf event or BPF program names the cause:
// capabilities, perf_event_paranoid, seccomp, a user namespace or lockdown.
#include "refusal.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fs = std::filesystem;
using uncore::bpf_refusal;
using uncore::perf_refusal;
using uncore::privileges;

namespace {

bool mentions(const std::optional<std::string> &text, const char *word)
{
	return text && text->find(word) != std::string::npos;
}

privileges root()
{
	privileges of_root;

	of_root.admin = of_root.perfmon = of_root.bpf = true;
	of_root.paranoid = "2";
	return of_root;
}

TEST(Refusal, OfACapability)
{
	privileges none;

	none.paranoid = "2";
	EXPECT_TRUE(mentions(perf_refusal(none, EACCES), "grant CAP_PERFMON"));
	EXPECT_TRUE(mentions(perf_refusal(none, EACCES), "(it is 2)"));
	EXPECT_TRUE(mentions(bpf_refusal(none, EPERM), "CAP_BPF"));
	none.perfmon = true;
	none.paranoid = "3";
	EXPECT_TRUE(mentions(perf_refusal(none, EACCES), "or to 2 and grant"));
	EXPECT_FALSE(perf_refusal(none, EINVAL));
	EXPECT_FALSE(bpf_refusal(none, E2BIG));
}

TEST(Refusal, OfAFilter)
{
	privileges filtered = root();

	filtered.seccomp_filter = true;
	for (const int number : {EPERM, ENOSYS}) {
		EXPECT_TRUE(
			mentions(perf_refusal(filtered, number), "seccomp"));
		EXPECT_TRUE(mentions(bpf_refusal(filtered, number), "seccomp"));
	}
	// Docker: a seccomp filter, and no capabilities.
	filtered.admin = filtered.perfmon = false;
	EXPECT_TRUE(mentions(perf_refusal(filtered, EPERM), "seccomp"));
	EXPECT_TRUE(mentions(perf_refusal(filtered, EACCES), "CAP_PERFMON"));
	filtered.seccomp_filter = false;
	EXPECT_TRUE(
		mentions(perf_refusal(filtered, ENOSYS), "CONFIG_PERF_EVENTS"));
}

TEST(Refusal, OfANamespaceLockdownAndModules)
{
	privileges other = root();

	other.user_namespace = true;
	EXPECT_TRUE(mentions(perf_refusal(other, EACCES), "user namespace"));
	EXPECT_TRUE(mentions(bpf_refusal(other, EPERM), "user namespace"));
	other.user_namespace = false;
	EXPECT_TRUE(mentions(perf_refusal(other, EACCES), "security module"));
	other.confidentiality = true;
	EXPECT_TRUE(mentions(perf_refusal(other, EPERM), "lockdown"));
	EXPECT_TRUE(mentions(bpf_refusal(other, EPERM), "lockdown"));
}

TEST(Refusal, ReadsThisProcess)
{
	char name[] = "/tmp/uncore-refusal.XXXXXX";
	const fs::path top = mkdtemp(name);
	const auto put = [&top](const char *path, const char *text) {
		fs::create_directories((top / path).parent_path());
		std::ofstream(top / path) << text;
	};

	put("self/status", "Name:\tx\nCapEff:\t0000004000000000\n"
			   "Seccomp:\t2\n");
	put("self/uid_map", "         0       1000          1\n");
	put("sys/kernel/perf_event_paranoid", "1\n");
	put("kernel/security/lockdown", "none integrity [confidentiality]\n");

	privileges read = privileges::read(top, top);

	EXPECT_TRUE(read.perfmon && !read.admin && !read.bpf);
	EXPECT_TRUE(read.seccomp_filter && read.user_namespace &&
		    read.confidentiality);
	EXPECT_EQ(read.paranoid, "1");
	put("self/uid_map", "         0          0 4294967295\n");
	put("kernel/security/lockdown", "none [integrity] confidentiality\n");
	read = privileges::read(top, top);
	EXPECT_FALSE(read.user_namespace || read.confidentiality);
	read = privileges::read(top / "none", top / "none");
	EXPECT_FALSE(read.user_namespace || read.seccomp_filter);
	fs::remove_all(top);
}

} // namespace
