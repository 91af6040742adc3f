# SPDX-License-Identifier: LGPL-2.1-or-later
# Mounts cgroups as distributions do: v2, v1, or hybrid (v1 controllers and an empty v2 hierarchy).

cgroup_mount_v1() {
	mount -t tmpfs cgroup /sys/fs/cgroup
	for set in cpu,cpuacct cpuset memory pids freezer perf_event; do
		mkdir "/sys/fs/cgroup/$set"
		if ! mount -t cgroup -o "$set" cgroup "/sys/fs/cgroup/$set" 2>/dev/null; then
			rmdir "/sys/fs/cgroup/$set"
			echo "# no cgroup v1 controller $set in this kernel"
		fi
	done
	mkdir /sys/fs/cgroup/systemd
	mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
}

cgroup_mount() {
	case $1 in
	v2)
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
		;;
	v1)
		cgroup_mount_v1
		;;
	hybrid)
		cgroup_mount_v1
		mkdir /sys/fs/cgroup/unified
		mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
		;;
	esac
}
