// SPDX-License-Identifier: GPL-2.0-or-later
// Test which container a cgroup path belongs to, with paths from real nodes, and the
// names of containers and pods.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cgroups/containers.hpp"
#include "tree.hpp"

using namespace cli;

namespace {

const std::string id =
	"1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
const std::string other =
	"aa0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
const std::string uid = "0f8d3c1e-7a55-4b8f-9c39-3f1f3f6f2a10";
const std::string scope_uid = "0f8d3c1e_7a55_4b8f_9c39_3f1f3f6f2a10";
const std::string static_uid = "b1946ac92492d2347c6235b4d2611184";

struct layout {
	const char *name;
	std::string path;
	/// The part of the path that is the container's cgroup, and the uid of its
	/// pod; empty if the path is not in a container or a pod.
	std::string cgroup, pod_uid;
};

class layout_test : public testing::TestWithParam<layout> {};

TEST_P(layout_test, is_understood)
{
	const layout &expected = GetParam();
	const auto found = container_of(expected.path);

	ASSERT_EQ(found.has_value(), !expected.cgroup.empty());
	if (!found)
		return;
	EXPECT_EQ(found->cgroup, expected.cgroup);
	EXPECT_EQ(found->pod_uid, expected.pod_uid);
	EXPECT_EQ(found->id, id);
}

/// A layout whose whole path is the container's cgroup.
layout whole(const char *name, const std::string &path,
	     const std::string &pod_uid)
{
	return {name, path, path, pod_uid};
}

const std::string kube = "/kubepods.slice/kubepods-burstable.slice/"
			 "kubepods-burstable-pod" +
			 scope_uid + ".slice/";

INSTANTIATE_TEST_SUITE_P(
	nodes, layout_test,
	testing::Values(
		whole("containerd_systemd",
		      kube + "cri-containerd-" + id + ".scope", uid),
		whole("containerd_systemd_guaranteed",
		      "/kubepods.slice/kubepods-pod" + scope_uid +
			      ".slice/cri-containerd-" + id + ".scope",
		      uid),
		whole("containerd_cgroupfs",
		      "/kubepods/besteffort/pod" + uid + "/" + id, uid),
		whole("containerd_cgroupfs_guaranteed",
		      "/kubepods/pod" + uid + "/" + id, uid),
		whole("containerd_mixed",
		      "/system.slice/containerd.service/"
		      "kubepods-burstable-pod" +
			      scope_uid + ".slice:cri-containerd:" + id,
		      uid),
		whole("crio_systemd", kube + "crio-" + id + ".scope", uid),
		layout{"crio_crun", kube + "crio-" + id + ".scope/container",
		       kube + "crio-" + id + ".scope", uid},
		whole("crio_cgroupfs",
		      "/kubepods/burstable/pod" + uid + "/crio-" + id, uid),
		layout{"crio_conmon", kube + "crio-conmon-" + id + ".scope", "",
		       ""},
		whole("docker_systemd_pod", kube + "docker-" + id + ".scope",
		      uid),
		whole("docker_cgroupfs_pod",
		      "/kubepods/burstable/pod" + uid + "/" + id, uid),
		whole("docker_systemd", "/system.slice/docker-" + id + ".scope",
		      ""),
		whole("docker_cgroupfs", "/docker/" + id, ""),
		whole("podman", "/machine.slice/libpod-" + id + ".scope", ""),
		layout{"podman_rootless",
		       "/user.slice/user-1000.slice/user@1000.service/"
		       "user.slice/libpod-" +
			       id + ".scope/container",
		       "/user.slice/user-1000.slice/user@1000.service/"
		       "user.slice/libpod-" +
			       id + ".scope",
		       ""},
		whole("static_pod",
		      "/kubepods.slice/kubepods-burstable.slice/"
		      "kubepods-burstable-pod" +
			      static_uid + ".slice/cri-containerd-" + id +
			      ".scope",
		      static_uid),
		whole("kind",
		      "/docker/" + other +
			      "/kubelet.slice/kubelet-kubepods.slice/"
			      "kubelet-kubepods-besteffort.slice/"
			      "kubelet-kubepods-besteffort-pod" +
			      scope_uid + ".slice/cri-containerd-" + id +
			      ".scope",
		      uid),
		layout{"docker_in_a_pod",
		       kube + "cri-containerd-" + id + ".scope/docker/" + other,
		       kube + "cri-containerd-" + id + ".scope", uid},
		layout{"systemd_in_a_container",
		       kube + "cri-containerd-" + id + ".scope/init.scope",
		       kube + "cri-containerd-" + id + ".scope", uid},
		layout{"a_pod_itself", kube.substr(0, kube.size() - 1), "", ""},
		layout{"a_service", "/system.slice/ssh.service", "", ""},
		layout{"root", "/", "", ""}, layout{"nothing", "", "", ""},
		layout{"short_id", "/docker/" + id.substr(1), "", ""},
		layout{"no_hexadecimal", "/docker/g" + id.substr(1), "", ""}),
	[](const auto &test) { return std::string(test.param.name); });

/// Read the names, and check the names of the container nginx of the pod web-0.
static container expect_nginx(container_names &names)
{
	container nginx = *container_of("/docker/" + id);

	EXPECT_TRUE(names.read());
	names.add_to(nginx);
	EXPECT_EQ(nginx.pod_namespace, "shop");
	EXPECT_EQ(nginx.pod, "web-0");
	EXPECT_EQ(nginx.name, "nginx");
	return nginx;
}

TEST(container_names, are_those_of_log_files)
{
	const tree files;

	files.write("logs/web-0_shop_nginx-" + id + ".log", "");
	files.write("logs/not a log", "");
	files.write("logs/a_b-" + id + ".log", "");

	container_names names({.where = files / "logs"});

	expect_nginx(names);

	container unknown = *container_of("/docker/" + other);

	names.add_to(unknown);
	EXPECT_EQ(unknown.pod, "");
}

TEST(container_names, are_those_of_a_list_of_pods)
{
	const tree files;
	const nlohmann::json pod = {
		{"metadata",
		 {{"namespace", "shop"}, {"name", "web-0"}, {"uid", uid}}},
		{"status",
		 {{"containerStatuses",
		   {{{"name", "nginx"}, {"containerID", "containerd://" + id}},
		    {{"name", "waits"}, {"containerID", 7}}}}}}};

	files.write("pods", nlohmann::json{{"kind", "PodList"},
					   {"items", {pod, 1, nullptr}}}
				    .dump());

	container_names names({.where = files / "pods"});

	EXPECT_EQ(expect_nginx(names).pod_uid, uid);
	for (const char *text : {"", "{", "[]", "{\"items\": 1}"}) {
		files.write("pods", text);
		EXPECT_FALSE(container_names({.where = files / "pods"}).read())
			<< text;
	}
	EXPECT_FALSE(container_names({.where = files / "none"}).read());
}

TEST(container_names, are_read_again_for_new_ids)
{
	const tree files;
	container nginx = *container_of("/docker/" + id);

	files.write("logs/none", "");

	container_names names({.where = files / "logs"});

	EXPECT_TRUE(names.read());
	files.write("logs/web-0_shop_nginx-" + id + ".log", "");
	// A thread of container_names reads the new name after some time.
	for (int i = 0; i < 1000 && nginx.pod.empty(); i++) {
		names.add_to(nginx);
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
	EXPECT_EQ(nginx.pod, "web-0");
	EXPECT_EQ(names.unnamed(), 0u);
}

/// An exporter runs for months on nodes with containers that belong to no pod: the list
/// of ids without a name must not grow without limit.
TEST(container_names, are_bounded)
{
	const tree files;

	files.write("logs/none", "");

	container_names names({.where = files / "logs"});

	for (unsigned i = 0; i < 5000; i++) {
		container unknown =
			*container_of("/docker/" + fmt::format("{:064x}", i));

		names.add_to(unknown);
		ASSERT_LE(names.unnamed(), 1024u);
	}
}

} // namespace
