/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the physical cores of the machine and computes their busy times in a window. */
#include "measure/load/cores.h"

#include <errno.h>
#include <stdlib.h>

void load_cores_open(struct load_cores *cores, struct blocks *memory, const char *root,
		     unsigned int nr_cpus)
{
	*cores = (struct load_cores){.root = root, .nr_cpus = nr_cpus};
	cores->topology = blocks_calloc(memory, nr_cpus, sizeof(*cores->topology));
	cores->siblings = blocks_calloc(memory, nr_cpus, sizeof(*cores->siblings));
	cores->list = blocks_calloc(memory, nr_cpus, sizeof(*cores->list));
	cores->states = blocks_calloc(memory, nr_cpus, sizeof(*cores->states));
	if (!memory->failed)
		topology_read(root, nr_cpus, cores->topology);
}

/* Adds the physical core whose lowest CPU is @cpu. Returns the number of CPUs of the core. */
static unsigned int add_core(struct load_cores *cores, unsigned int cpu)
{
	const struct topology_cpu *at = &cores->topology[cpu];
	struct load_core *core = &cores->list[cores->nr++];
	struct cpuset set;
	unsigned int other;

	topology_group(cores->topology, cores->nr_cpus, TOPOLOGY_CORE, cpu, &set);
	other = cpuset_next(&set, cpu + 1);
	if (other == CPUSET_MAX)
		other = cpu;
	*core = (struct load_core){
		.core = at->id[TOPOLOGY_CORE],
		.package = at->id[TOPOLOGY_PACKAGE],
		.cpu = {cpu, other},
	};
	cores->siblings[cpu] = other;
	cores->siblings[other] = cpu;
	return cpuset_count(&set);
}

int load_cores_find(struct load_cores *cores, struct err *err)
{
	unsigned int most = 0;

	for (unsigned int cpu = 0; cpu < cores->nr_cpus; cpu++)
		cores->siblings[cpu] = cpu;
	for (unsigned int cpu = 0; cpu < cores->nr_cpus; cpu++)
		if (cores->topology[cpu].first[TOPOLOGY_CORE] == cpu) {
			unsigned int nr = add_core(cores, cpu);

			most = nr > most ? nr : most;
		}
	if (!most)
		return err_unsupported(err, -ENOENT, "",
				       "the kernel does not report which CPUs share a core: "
				       "/sys/devices/system/cpu/cpu0/topology/core_cpus_list is missing");
	if (most == 1)
		return err_unsupported(err, -ENODEV, "leave out --cores",
				       "no core has two online CPUs: SMT is off, or the processor has none");
	if (most > 2)
		return err_unsupported(err, -E2BIG, "leave out --cores",
				       "a core has %u online CPUs: more than two siblings are not supported",
				       most);
	return 0;
}

void load_cores_sample(struct load_cores *cores, struct load_source *source)
{
	for (size_t i = 0; i < cores->nr; i++) {
		cores->states[i].prev = cores->states[i].cur;
		source->ops->smt(source, cores->list[i].cpu, &cores->states[i].cur);
	}
}

/*
 * Finds cores with a CPU that came online after the start. The busy times of a core with a new CPU
 * are unknown, because the BPF programs have no sibling number for the new CPU.
 */
static void find_changed(struct load_cores *cores)
{
	struct topology_cpu *now = calloc(cores->nr_cpus, sizeof(*now));

	if (!now)
		return;
	topology_read(cores->root, cores->nr_cpus, now);
	for (unsigned int cpu = 0; cpu < cores->nr_cpus; cpu++)
		cores->grown |= now[cpu].first[TOPOLOGY_CORE] != TOPOLOGY_UNKNOWN &&
				cores->topology[cpu].first[TOPOLOGY_CORE] == TOPOLOGY_UNKNOWN;
	for (size_t i = 0; i < cores->nr; i++) {
		const uint32_t *cpu = cores->list[i].cpu;

		for (unsigned int other = 0; other < cores->nr_cpus; other++)
			if (now[other].first[TOPOLOGY_CORE] != TOPOLOGY_UNKNOWN &&
			    now[other].first[TOPOLOGY_CORE] == now[cpu[0]].first[TOPOLOGY_CORE] &&
			    other != cpu[0] && other != cpu[1])
				cores->states[i].changed = true;
	}
	free(now);
}

void load_cores_window(struct load_cores *cores, const struct load_cpu_window *cpus)
{
	bool plugged = false;

	for (unsigned int cpu = 0; cores->nr && cpu < cores->nr_cpus; cpu++)
		plugged |= (cpus[cpu].flags & LOAD_HOTPLUGGED) != 0;
	if (plugged)
		find_changed(cores);
	for (size_t i = 0; i < cores->nr; i++) {
		struct load_core *core = &cores->list[i];

		load_core_subtract(&cores->states[i].prev, &cores->states[i].cur,
				   &cpus[core->cpu[0]], &cpus[core->cpu[1]], core);
		if (cores->states[i].changed && !core->flags)
			core->flags = LOAD_HOTPLUGGED;
	}
}
