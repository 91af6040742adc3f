/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up names of tasks and interrupts after a recording, and addresses of kernel functions. */
#include "measure/trace/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "measure/load/lines.h"
#include "host/cpu.h"
#include "host/file.h"

/*
 * Upper 16 bits of the address of any kernel data. Records of IPIs contain only the lower 48 bits
 * of an address, and read_name() adds the upper bits.
 */
#define KERNEL_ADDRESS 0xffff000000000000ULL

int trace_take_names(const struct trace_task *table, struct trace_window *w)
{
	w->names = calloc(TRACE_NR_TASKS, sizeof(*w->names));
	if (!w->names)
		return -ENOMEM;
	for (size_t i = 0; i < TRACE_NR_TASKS; i++) {
		struct trace_task *name = &w->names[w->nr_names];

		*name = table[i];
		name->pid = TRACE_FIRST(name->pid);
		/* two cores wrote this entry at the same time, or its task was being renamed */
		if (!name->pid || name->check != trace_task_check(name))
			continue;
		name->comm[sizeof(name->comm) - 1] = '\0';
		w->nr_names++;
	}
	qsort(w->names, w->nr_names, sizeof(*w->names), trace_by_pid);
	return 0;
}

/* True if all CPUs that the task may use are among the first 64 CPUs. */
static bool mask_is_short(const struct trace_task *name)
{
	return name->nr_allowed == (uint32_t)__builtin_popcountll(name->allowed);
}

int trace_take_allowed(struct trace_window *w)
{
	struct cpuset possible = {{0}};

	if (cpu_set(NULL, CPU_ONLINE, &w->online, NULL) || cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		return 0;
	array_for_each(name, w->names, w->nr_names) {
		bool all = name->nr_allowed >= cpuset_count(&possible);
		struct trace_mask mask = {.pid = name->pid};
		long bytes = syscall(SYS_sched_getaffinity, name->pid, sizeof(mask.allowed),
				     &mask.allowed);

		if (bytes < 0) {
			/* the task has exited */
			if (!all && !mask_is_short(name))
				name->nr_allowed = 0;
			continue;
		}
		cpuset_and(&mask.allowed, &w->online);
		if (mask.allowed.bits[0] != (name->allowed & w->online.bits[0]) ||
		    (all && cpuset_count(&mask.allowed) != cpuset_count(&w->online)))
			name->nr_allowed = 0;
		if (name->nr_allowed && !all && !mask_is_short(name) &&
		    array_push(w->masks, w->nr_masks, mask))
			return -ENOMEM;
	}
	return 0;
}

static void read_name(const char *root, trace_read_string *read, void *arg, struct trace_irq *irq)
{
	unsigned int number = irq->what;

	if (irq->kind == TRACE_IPI_ENTER) {
		read(arg, irq->what | KERNEL_ADDRESS, irq->name);
	} else if (irq->kind == TRACE_VECTOR_ENTER) {
		snprintf(irq->name, sizeof(irq->name), "%s", load_line_kind_name(irq->what));
	} else if (sys_read_file(root, SYS_PATH("/sys/kernel/irq/%u/actions", number), irq->name,
				 sizeof(irq->name)) < 0) {
		irq->name[0] = '\0';
	}
}

int trace_take_irqs(const char *root, trace_read_string *read, void *arg, struct trace_window *w)
{
	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++)
		array_for_each(edge, w->cpu[cpu].core.edges, w->cpu[cpu].core.nr_edges) {
			struct trace_irq irq = {.kind = trace_edge_kind(edge), .what = edge->what};

			if (irq.kind < TRACE_IRQ_ENTER || irq.kind > TRACE_VECTOR_ENTER ||
			    trace_find_irq(w, irq.kind, irq.what))
				continue;
			read_name(root, read, arg, &irq);
			if (array_push(w->irqs, w->nr_irqs, irq))
				return -ENOMEM;
		}
	return 0;
}

int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address)
{
	int fd = sys_open(root, "/proc/kallsyms"), rc = -ENOENT;
	FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256], kind, name[129];
	uint64_t address;

	if (!list)
		return fd < 0 ? fd : -errno;
	while (rc == -ENOENT && fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%" SCNx64 " %c %128s", &address, &kind, name) != 3)
			continue;
		for (size_t i = 0; names[i]; i++)
			if (!strcmp(name, names[i]))
				rc = address ? 0 : -EPERM;
	}
	fclose(list);
	if (!rc)
		*ret_address = address;
	return rc;
}
