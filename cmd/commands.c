/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the commands; version, build and machine. */
#include "commands.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "host/bpf.h"
#include "host/kbtf.h"

#define COMMAND_NAME(name, summary) #name,
const char *const command_names[] = {COMMANDS(COMMAND_NAME) NULL};

bool command_exists(const char *name)
{
	for (const char *const *known = command_names; *known; known++)
		if (!strcmp(*known, name))
			return true;
	return false;
}

static void print_kernel(void)
{
	struct utsname name;
	struct err err = {0};
	struct btf *btf;

	if (uname(&name))
		return;
	printf("kernel: %s %s, %s\n", name.sysname, name.release, name.machine);
	if (kbtf_open(NULL, &btf, &err)) {
		printf("BTF: none: %s\n", err.what);
		return;
	}
	printf("BTF: /sys/kernel/btf/vmlinux, %u types\n", kbtf_nr_types(btf));
	kbtf_close(btf);
}

void version_print(void)
{
	printf("subtick %s\n", SUBTICK_VERSION);
	print_kernel();
	printf("libbpf: %s, compiled with " SUBTICK_LIBBPF "\n", sys_bpf_library());
	printf("compiled in: " SUBTICK_PARTS "\n");
	printf("compiled by: " SUBTICK_COMPILERS "\n");
}

void version_machine(char *buf, size_t size)
{
	struct utsname name;

	if (uname(&name))
		snprintf(buf, size, "unknown machine");
	else
		snprintf(buf, size, "%s, %s %s, %s, %ld CPUs online; measured by subtick %s",
			 name.nodename, name.sysname, name.release, name.machine,
			 sysconf(_SC_NPROCESSORS_ONLN), SUBTICK_VERSION);
}
