// SPDX-License-Identifier: GPL-2.0-or-later
// Containers of cgroup paths as they are on real nodes, and names of pods.
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
	/// Of the container: the part of the path that it is, its pod's uid.
	std::string cgroup, pod_uid;
};

class layout_test : public testing::TestWithParam<layout> {};

TEST_P(layout_test, is_understood)
{
	const layout &one = GetParam();
	const auto found = container_of(one.path);

	ASSERT_EQ(found.has_value(), !one.cgroup.empty());
	if (!found)
		return;
	EXPECT_EQ(found->cgroup, one.cgroup);
	EXPECT_EQ(found->pod_uid, one.pod_uid);
	EXPECT_EQ(found->id, id);
}

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
	[](const auto &one) { return std::string(one.param.name); });

/// Expect the names of a container of the pod web-0.
static container expect_nginx(container_names &names)
{
	container one = *container_of("/docker/" + id);

	EXPECT_TRUE(names.read());
	names.add_to(one);
	EXPECT_EQ(one.pod_namespace, "shop");
	EXPECT_EQ(one.pod, "web-0");
	EXPECT_EQ(one.name, "nginx");
	return one;
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
	container one = *container_of("/docker/" + id);

	files.write("logs/none", "");

	container_names names({.where = files / "logs"});

	EXPECT_TRUE(names.read());
	files.write("logs/web-0_shop_nginx-" + id + ".log", "");
	// The thread reads them, some time later.
	for (int i = 0; i < 1000 && one.pod.empty(); i++) {
		names.add_to(one);
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
	EXPECT_EQ(one.pod, "web-0");
	EXPECT_EQ(names.unnamed(), 0u);
}

/// An exporter runs for months, and nodes have containers of no pod.
TEST(container_names, are_bounded)
{
	const tree files;

	files.write("logs/none", "");

	container_names names({.where = files / "logs"});

	for (unsigned i = 0; i < 5000; i++) {
		container one =
			*container_of("/docker/" + fmt::format("{:064x}", i));

		names.add_to(one);
		ASSERT_LE(names.unnamed(), 1024u);
	}
}

} // namespace
