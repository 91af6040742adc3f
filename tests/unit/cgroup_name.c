/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the names of pods and containers in cgroup paths of every known format. */
#include "test.h"

#include "pods/name.h"

#define HEX  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define UID_ "0a1b2c3d_4e5f_6789_abcd_ef0123456789"

static void check(const char *path, const char *uid, const char *id, const char *runtime,
		  const char *qos)
{
	struct cgroup_name name;

	cgroup_name_parse(path, &name);
	assert_string_equal(name.pod_uid, uid);
	assert_string_equal(name.container_id, id);
	assert_string_equal(name.runtime ? name.runtime : "", runtime);
	assert_string_equal(name.qos ? name.qos : "", qos);
}

TEST(test_kubelet_systemd)
{
	check("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	      ".slice/cri-containerd-" HEX ".scope",
	      UID, HEX, "containerd", "burstable");
	check("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	      ".slice/crio-" HEX ".scope",
	      UID, HEX, "cri-o", "besteffort");
	check("/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" HEX ".scope", UID, HEX, "docker",
	      "guaranteed");
	check("/kubepods.slice/kubepods-pod" UID_ ".slice", UID, "", "", "guaranteed");
	check("/kubepods.slice/kubepods-burstable.slice", "", "", "", "burstable");
}

TEST(test_kubelet_cgroupfs)
{
	check("/kubepods/burstable/pod" UID "/" HEX, UID, HEX, "", "burstable");
	check("/kubepods/besteffort/pod" UID "/" HEX, UID, HEX, "", "besteffort");
	check("/kubepods/pod" UID "/" HEX, UID, HEX, "", "guaranteed");
	/* Static pods have a hash instead of a UID. */
	check("/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" HEX,
	      "0123456789abcdef0123456789abcdef", HEX, "", "burstable");
}

TEST(test_colons)
{
	check("/system.slice/containerd.service/kubepods-burstable-pod" UID_
	      ".slice:cri-containerd:" HEX,
	      UID, HEX, "containerd", "burstable");
	check("/kubepods-pod" UID_ ".slice:crio:" HEX, UID, HEX, "cri-o", "guaranteed");
	check("/system.slice:docker:" HEX, "", HEX, "docker", "");
}

TEST(test_others)
{
	check("/system.slice/docker-" HEX ".scope", "", HEX, "docker", "");
	check("/docker/" HEX, "", HEX, "docker", "");
	check("/machine.slice/libpod-" HEX ".scope", "", HEX, "podman", "");
	check("/machine.slice/libpod-" HEX ".scope/container", "", HEX, "podman", "");
	check("/lxc.payload.web-1", "", "web-1", "lxc", "");
	check("/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d1.scope", "", "web-1", "libvirt", "");
	check("/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/vcpu0", "", "web", "libvirt", "");
	check("/machine.slice/machine-qemu\\x2dweb.scope", "", "", "", "");
	check("/machine.slice/machine-qemu\\x2d1\\x2d.scope", "", "", "", "");
	check("/machine.slice/machine-lxc\\x2d1\\x2dweb.scope", "", "", "", "");
	check("/machine.slice/machine-qemu\\x2d1\\x2dweb.slice", "", "", "", "");
	check("/qemu.slice/101.scope", "", "101", "proxmox", "");
	check("/qemu.slice/101a.scope", "", "", "", "");
	check("/qemu.slice/.scope", "", "", "", "");
	check("/other.slice/101.scope", "", "", "", "");
	check("/firecracker/vm-1", "", "vm-1", "firecracker", "");
	check("/firecracker", "", "", "", "");
	check("/system.slice/nerdctl-" HEX ".scope", "", HEX, "containerd", "");
}

TEST(test_monitors_are_none)
{
	check("/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" HEX ".scope", UID, "", "",
	      "guaranteed");
	check("/machine.slice/libpod-conmon-" HEX ".scope", "", "", "", "");
}

TEST(test_prefixes_and_escapes)
{
	check("/kubelet/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	      ".slice/cri-containerd-" HEX ".scope/init",
	      UID, HEX, "containerd", "burstable");
	check("/docker/" HEX "/kubelet/kubepods/burstable/pod" UID "/" HEX, UID, HEX, "",
	      "burstable");
	check("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	      "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" HEX ".scope",
	      UID, HEX, "containerd", "burstable");
	check("/system.slice/docker\\x2d" HEX ".scope", "", HEX, "docker", "");
}

TEST(test_nothing)
{
	static const char *const none[] = {"",
					   "/",
					   "//",
					   "/system.slice/ssh.service",
					   "/user.slice/user-1000.slice/session-3.scope",
					   "/docker/short",
					   "/podium/0a1b2c3d",
					   "/pod" UID "x",
					   "/docker-" HEX "0.scope",
					   "/a\\x",
					   "/a\\x2",
					   "/a\\x00b"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		check(none[i], "", "", "", "");
}

TEST(test_long)
{
	char path[5000];
	struct cgroup_name name;

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	cgroup_name_parse(path, &name);
	assert_string_equal(name.container_id, "");
	memcpy(path, "/lxc.payload.", 13);
	cgroup_name_parse(path, &name);
	assert_true(strlen(name.container_id) < sizeof(name.container_id));
	memcpy(path, "/machine-qemu-1-", 16);
	memcpy(path + 250, ".scope", 7);
	cgroup_name_parse(path, &name);
	assert_true(strlen(name.container_id) < sizeof(name.container_id));
	assert_string_equal(name.runtime, "libvirt");
}

TEST_MAIN()
