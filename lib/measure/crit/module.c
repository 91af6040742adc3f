/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine module: drives the debugfs files of kmod/tracerbench. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "measure/crit/engine.h"
#include "measure/crit/module_files.h"
#include "host/cpu.h"
#include "host/file.h"

static const char *const settings[] = {"nr_samples", "nr_highest", "do_work"};

#define PER_CPU	    "irq/per_cpu"
#define NR_SETTINGS ARRAY_SIZE(settings)

struct module_engine {
	struct crit_engine engine;
	bool loaded_by_us;
	bool have_before;
	unsigned int nr_cpus; /* number of CPUs in each previous round */
	uint64_t before[NR_SETTINGS]; /* original settings */
};

static int read_figures(struct crit_round *round, struct err *err)
{
	int rc = 0;

	for (int op = 0; op < CRIT_NR_OPS && !rc; op++) {
		struct crit_figures *figures = &round->op[op];
		const char *dir = crit_op_names[op];

		rc = module_get(dir, "median", &figures->median, err) ?:
		     module_get(dir, "average", &figures->average, err) ?:
		     module_get(dir, "max", &figures->max, err) ?:
		     module_get(dir, "max_avg", &figures->max_avg, err);
	}
	return rc;
}

/* CPU whose percentiles are read: the first requested CPU, or the first allowed CPU. */
static int percentile_cpu(const struct crit_opts *opts, const struct crit_round *round)
{
	struct cpuset allowed;

	if (cpuset_count(&opts->cpus))
		return (int)cpuset_next(&opts->cpus, 0);
	if (affinity_get(0, &allowed))
		return -1;
	for (unsigned int i = 0; i < round->nr_cpus; i++)
		if (cpuset_has(&allowed, round->cpus[i].cpu))
			return (int)round->cpus[i].cpu;
	return -1;
}

/*
 * Reads the percentiles. Older versions of the kernel module have only whole percentiles, so
 * fractional percentiles are unavailable.
 */
static int read_percentiles(const struct crit_opts *opts, struct crit_round *round, struct err *err)
{
	bool fine = module_has("percentile_milli");
	int rc = 0;

	round->percentile_cpu = percentile_cpu(opts, round);
	for (unsigned int i = 0; i < opts->nr_percentiles && !rc; i++) {
		bool whole = !(opts->percentile[i] % CRIT_PERCENT);

		if (!whole && !fine)
			continue;
		rc = module_trigger(whole ? "percentile" : "percentile_milli",
				    whole ? opts->percentile[i] / CRIT_PERCENT
					  : opts->percentile[i],
				    round->percentile_cpu, opts, err);
		for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
			rc = module_get(crit_op_names[op], "percentile",
					&round->op[op].percentile[i], err);
	}
	return rc;
}

/*
 * Limits the figures to the chosen CPUs. max_avg is then unavailable, because the kernel module
 * computes max_avg over all CPUs.
 */
static int choose_cpus(const struct crit_opts *opts, struct crit_round *round, struct err *err)
{
	unsigned int nr = 0;
	int rc = 0;

	for (unsigned int i = 0; i < round->nr_cpus; i++)
		if (cpuset_has(&opts->cpus, round->cpus[i].cpu))
			round->cpus[nr++] = round->cpus[i];
	round->nr_cpus = nr;
	if (nr != cpuset_count(&opts->cpus))
		return err_set(err, -ENODEV, "--cpu: not all of these CPUs are online");
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++) {
		rc = crit_combine(round, op, err);
		round->op[op].max_avg = NAN;
	}
	return rc;
}

static int read_cpus(struct module_engine *m, const struct crit_opts *opts,
		     struct crit_round *round, struct err *err)
{
	int rc = 0;

	/* Older versions of the kernel module lack this file. */
	if (!module_has(PER_CPU))
		return 0;
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		rc = module_get_cpus(op, &round->cpus, &round->nr_cpus, err);
	if (!rc && cpuset_count(&opts->cpus))
		rc = choose_cpus(opts, round, err);
	if (rc)
		return rc;
	/* Rounds are compared per CPU, so all rounds must have the same CPUs. */
	if (m->nr_cpus && m->nr_cpus != round->nr_cpus)
		return err_set(err, -ENODEV, "a CPU went online or offline during the run");
	m->nr_cpus = round->nr_cpus;
	return 0;
}

static int module_round(struct crit_engine *engine, const struct crit_opts *opts,
			struct crit_round *round, struct err *err)
{
	/* Another user of the module may have changed the settings since the previous round. */
	return module_set("nr_samples", opts->nr_samples, err) ?:
	       module_set("nr_highest", opts->nr_highest, err) ?:
	       module_set("do_work", opts->work, err) ?:
	       module_trigger("benchmark", 1, -1, opts, err) ?: read_figures(round, err) ?:
	       read_cpus((struct module_engine *)engine, opts, round, err) ?:
	       read_percentiles(opts, round, err);
}

static int module_close(struct crit_engine *engine, struct err *err)
{
	struct module_engine *m = (struct module_engine *)engine;
	int rc = 0;

	for (size_t i = 0; i < NR_SETTINGS && m->have_before; i++)
		rc = module_set(settings[i], m->before[i], err) ?: rc;
	/* O_NONBLOCK: fail if the module is in use. */
	if (m->loaded_by_us && syscall(SYS_delete_module, MODULE, O_NONBLOCK))
		rc = err_set(err, -errno,
			     "module " MODULE
			     " was loaded for this run and another process uses it "
			     "now: unload it later with rmmod " MODULE " (%s)",
			     strerror(errno));
	free(m);
	return rc;
}

/* Sets @err to the reason why the debugfs directory of the loaded module is not accessible. */
static int no_tree(struct err *err)
{
	if (access("/sys/kernel/debug", X_OK))
		return err_unsupported(err, -EACCES, "run as root",
				       "cannot access /sys/kernel/debug: %s", strerror(errno));
	return err_unsupported(err, -ENOENT, "mount -t debugfs none /sys/kernel/debug",
			       "module " MODULE " is loaded, but " TREE " is missing");
}

static int module_prepare(struct module_engine *m, const struct crit_opts *opts, struct err *err)
{
	bool asked = opts->engine && !strcmp(opts->engine, "module");
	int rc;

	/*
	 * The kernel module always loads all CPUs, so --cpu is accepted only with --engine module.
	 */
	if (cpuset_count(&opts->cpus) && !asked)
		return err_unsupported(err, -EOPNOTSUPP, "use --engine bpf, or --engine module",
				       "it always measures all online CPUs");
	if (!sys_exists(NULL, "/sys/module/" MODULE)) {
		rc = module_load(err);
		if (rc)
			return rc;
		m->loaded_by_us = true;
	}
	if (access(TREE, X_OK))
		return no_tree(err);
	if (cpuset_count(&opts->cpus) && !module_has(PER_CPU))
		return err_unsupported(err, -EOPNOTSUPP,
				       "use --engine bpf, leave out --cpu, or install the module of "
				       "this version",
				       "the loaded module has no figures per CPU");
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		rc = sys_read_u64(TREE "/", settings[i], &m->before[i]);
		if (rc)
			return err_set(err, rc, "cannot read " TREE "/%s: %s", settings[i],
				       strerror(-rc));
	}
	m->have_before = true;
	return 0;
}

static int module_open(const struct crit_opts *opts, struct crit_engine **ret_engine,
		       struct err *err)
{
	struct module_engine *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->engine.ops = &crit_engine_module;
	rc = module_prepare(m, opts, err);
	if (rc)
		module_close(&m->engine, NULL);
	else
		*ret_engine = &m->engine;
	return rc;
}

const struct crit_engine_ops crit_engine_module = {
	.name = "module",
	.unit = "cycles",
	.what = "module " MODULE ": inline pairs on all online CPUs at the same time, in cycles of "
		"get_cycles(); the cost of clock and work is subtracted",
	.ops = 1 << CRIT_IRQ | 1 << CRIT_PREEMPT | 1 << CRIT_IRQ_SAVE,
	.open = module_open,
	.round = module_round,
	.close = module_close,
};
