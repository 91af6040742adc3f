/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of VMs and numbers of vCPUs of QEMU, cloud-hypervisor and Firecracker. */
#ifndef SUBTICK_PODS_VM_H
#define SUBTICK_PODS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_NAME 128 /* size of a VM name with NUL; longer names are truncated */

/* A thread of a hypervisor process. */
struct vm_thread {
	/* VM name from the command line, which may contain any bytes except NUL. */
	char name[VM_NAME];
	uint32_t vcpu; /* number of the vCPU; UINT32_MAX if the thread is not a vCPU */
};

/*
 * Parses the text of a /proc/PID/cmdline, which has @len bytes and a NUL. Returns false if the
 * program is not a hypervisor. Sets @ret_name to "" if the arguments contain no name of a VM.
 */
bool vm_name_parse(const char *cmdline, size_t len, char ret_name[VM_NAME]);
/* vCPU number in a thread name such as "CPU 3/KVM", "vcpu3" or "fc_vcpu 3"; else UINT32_MAX. */
uint32_t vm_vcpu_parse(const char *comm);
/*
 * Finds the VM of thread @pid of process @tgid by its command line or by the VM's scope in @cgroup.
 * A VM without a name gets the name of its systemd service, or "pid-TGID". @comm is the thread's
 * name, used if the thread has exited. Returns false if the program is not a hypervisor.
 */
bool vm_thread_find(const char *root, uint32_t tgid, uint32_t pid, const char *comm,
		    const char *cgroup, struct vm_thread *ret_thread);
/*
 * Finds the name of the VM that a cgroup belongs to. @runtime and @id are from struct cgroup_name.
 * @pod is the name of the cgroup's pod, or NULL: KubeVirt runs VM "web" in a pod such as
 * "virt-launcher-web-x7k2p". Returns false if the cgroup belongs to no VM with a name.
 */
bool vm_of_cgroup(const char *runtime, const char *id, const char *pod, char ret_name[VM_NAME]);
/*
 * Formats the command that removes the CPU quota of a VM's cgroup: virsh for libvirt, qm for
 * Proxmox VE. The cgroup path is the first @len bytes of @path. If @any is true, the virsh command
 * also removes the quota of the VM's whole scope (global_quota). Sets @buf to "" if no command is
 * known.
 */
void vm_quota_command(const char *path, size_t len, bool any, char *buf, size_t size);
/*
 * Describes what may limit a VM for which vm_quota_command() has no command. In a pod:
 * VM_KUBEVIRT_LIMIT or cpu.max of @cgroup. Otherwise: cpu.max of @cgroup or of an ancestor.
 */
void vm_quota_limit(const char *cgroup, char *buf, size_t size);
/* Path of the CPU limit of a VM in a KubeVirt VirtualMachine. */
#define VM_KUBEVIRT_LIMIT "spec.template.spec.domain.resources.limits.cpu of the VirtualMachine"

#endif
