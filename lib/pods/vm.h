/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Virtual machines of QEMU, cloud-hypervisor and Firecracker: names of VMs, numbers of vCPUs. */
#ifndef SUBTICK_PODS_VM_H
#define SUBTICK_PODS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_NAME 128 /* maximum length of a name, with NUL; longer names are cut */

/* A thread of a hypervisor process. */
struct vm_thread {
	char name[VM_NAME]; /* of the VM, as the process states it: any bytes but NUL */
	uint32_t vcpu;	    /* UINT32_MAX: the thread has no name of a vCPU thread */
};

/*
 * Parses a /proc/PID/cmdline. Its @len bytes must be followed by a NUL. False if the program is no
 * hypervisor. The name is "" if the arguments contain none.
 */
bool vm_name_parse(const char *cmdline, size_t len, char ret_name[VM_NAME]);
/* Parses "CPU 3/KVM" (QEMU), "vcpu3" (cloud-hypervisor), "fc_vcpu 3". UINT32_MAX for other names. */
uint32_t vm_vcpu_parse(const char *comm);
/*
 * Finds the VM of thread @pid of process @tgid, by its command line, else by libvirt's scope in
 * @cgroup. A VM without a name has the name of its service, or its PID. @comm is the name of the
 * thread if it has ended. False for threads of other programs.
 */
bool vm_thread_find(const char *root, uint32_t tgid, uint32_t pid, const char *comm,
		    const char *cgroup, struct vm_thread *ret_thread);

#endif
