/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes load levels by mode, and reads the line of one core in /proc/stat. */
#include "measure/audit/modes.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NONE UINT64_MAX

static const struct {
	const char *name;
	uint32_t cols; /* bit mask of the columns of /proc/stat */
	/*
	 * Bit mask of the load parts (enum load_part) that make up the mode; 0 if there are none.
	 */
	uint32_t parts;
} modes[AUDIT_NR_MODES] = {
#define COL(name)  (1u << PROCSTAT_##name)
#define PART(name) (1u << LOAD_PART_##name)
	[AUDIT_MODE_USER] = {"user", COL(USER), 0},
	[AUDIT_MODE_NICE] = {"nice", COL(NICE), 0},
	[AUDIT_MODE_SYSTEM] = {"system", COL(SYSTEM), 0},
	[AUDIT_MODE_TASKS] = {"tasks", COL(USER) | COL(NICE) | COL(SYSTEM), PART(TASK)},
	[AUDIT_MODE_IRQ] = {"irq", COL(IRQ), PART(HARDIRQ)},
	[AUDIT_MODE_SOFTIRQ] = {"softirq", COL(SOFTIRQ),
				PART(SOFTIRQ_ON_IDLE) | PART(SOFTIRQ_ON_TASK) | PART(KSOFTIRQD)},
	[AUDIT_MODE_STEAL] = {"steal", COL(STEAL), PART(STEAL)},
	[AUDIT_MODE_IDLE] = {"idle", COL(IDLE), 0},
	[AUDIT_MODE_IOWAIT] = {"iowait", COL(IOWAIT), 0},
	[AUDIT_MODE_ALL_IDLE] = {"idle+iowait", COL(IDLE) | COL(IOWAIT),
				 PART(IDLE) | PART(POLL_IDLE) | PART(IDLE_LOOP)},
#undef COL
#undef PART
};

const char *audit_mode_name(enum audit_mode mode)
{
	return (unsigned int)mode < AUDIT_NR_MODES ? modes[mode].name : NULL;
}

void audit_modes_shown(const struct procstat_cpu *from, const struct procstat_cpu *to,
		       uint64_t unit_ns, struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		uint64_t ticks = 0;

		for (int i = 0; i < PROCSTAT_NR_COLS; i++)
			/* the column iowait of /proc/stat may decrease */
			if (modes[mode].cols >> i & 1 && to->ticks[i] > from->ticks[i])
				ticks += to->ticks[i] - from->ticks[i];
		levels[mode] = (struct audit_level){ticks * unit_ns, NONE, NAN, NAN, NAN};
	}
}

void audit_modes_true(const struct load_cpu_window *window, uint32_t parts,
		      struct audit_level levels[AUDIT_NR_MODES])
{
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		uint32_t known = modes[mode].parts & parts;
		uint64_t ns = 0;

		/* the sum lacks load parts that the source cannot measure, such as polling */
		for (int i = 0; i < LOAD_NR_PARTS; i++)
			if (known >> i & 1)
				ns += window->part_ns[i];
		levels[mode].true_ns = known ? ns : NONE;
	}
}

void audit_modes_split(enum audit_mode whole, enum audit_mode part, enum audit_mode rest,
		       uint64_t part_ns, struct audit_level levels[AUDIT_NR_MODES])
{
	uint64_t whole_ns = levels[whole].true_ns;

	if (whole_ns == NONE)
		return;
	levels[part].true_ns = part_ns < whole_ns ? part_ns : whole_ns;
	levels[rest].true_ns = whole_ns - levels[part].true_ns;
}

void audit_modes_derive(struct audit_level levels[AUDIT_NR_MODES])
{
	double shown = 0.0, truth = 0.0;

	/* the modes with load parts do not overlap, and their sum is the whole time of a core */
	for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
		if (!modes[mode].parts)
			continue;
		shown += (double)levels[mode].shown_ns;
		/* the true steal time is unknown if the hypervisor does not report it */
		if (levels[mode].true_ns != NONE)
			truth += (double)levels[mode].true_ns;
		else if (mode != AUDIT_MODE_STEAL)
			truth = NAN;
	}
	array_for_each(level, levels, AUDIT_NR_MODES) {
		level->shown = shown > 0.0 ? (double)level->shown_ns / shown : NAN;
		level->truth = level->true_ns != NONE && truth > 0.0
				       ? (double)level->true_ns / truth
				       : NAN;
		level->error = level->shown - level->truth;
	}
}

int audit_core_open(struct audit_core *core, unsigned int cpu, struct err *err)
{
	int rc = procstat_open(&core->stat, NULL, err);

	core->cpu = cpu;
	core->cpus = rc ? NULL : calloc(cpu + 1, sizeof(*core->cpus));
	if (rc || core->cpus)
		return rc;
	audit_core_close(core);
	return err_set(err, -ENOMEM, "out of memory");
}

int audit_core_read(struct audit_core *core, struct procstat_cpu *ret_cpu, struct err *err)
{
	int rc = procstat_read(&core->stat, core->cpus, core->cpu + 1);

	if (!rc && !core->cpus[core->cpu].nr_cols)
		rc = -ENODEV;
	if (rc)
		return err_set(err, rc, "cannot read CPU %u in /proc/stat: %s", core->cpu,
			       strerror(-rc));
	*ret_cpu = core->cpus[core->cpu];
	return 0;
}

void audit_core_close(struct audit_core *core)
{
	sys_text_close(&core->stat);
	free(core->cpus);
	core->cpus = NULL;
}
