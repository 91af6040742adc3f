/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine module: drives the debugfs files of kmod/tracerbench. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/crit/engine.h"
#include "sys/file.h"
#include "sys/kmod.h"

#define MODULE "tracerbench"
#define TREE   "/sys/kernel/debug/" MODULE

static const char *const settings[] = {"nr_samples", "nr_highest", "do_work"};

#define NR_SETTINGS (sizeof(settings) / sizeof(*settings))

struct module_engine {
	struct crit_engine engine;
	bool loaded_by_us;
	bool have_before;
	uint64_t before[NR_SETTINGS]; /* the settings before our run */
};

static int tree_write(const char *file, uint64_t value)
{
	char path[96], text[24];
	int fd, len, rc = 0;

	snprintf(path, sizeof(path), TREE "/%s", file);
	len = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != len)
		rc = -errno;
	close(fd);
	return rc;
}

static int tree_set(const char *file, uint64_t value, struct err *err)
{
	int rc = tree_write(file, value);

	if (rc)
		err_set(err, rc, "cannot write %" PRIu64 " to " TREE "/%s: %s", value, file,
			strerror(-rc));
	return rc;
}

static int tree_get(const char *dir, const char *file, double *ret_value, struct err *err)
{
	char path[96];
	uint64_t value;
	int rc;

	snprintf(path, sizeof(path), TREE "/%s/%s", dir, file);
	rc = sys_read_u64(NULL, path, &value);
	if (rc)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	*ret_value = value;
	return 0;
}

static int read_figures(struct crit_round *round, struct err *err)
{
	int rc = 0;

	for (int op = 0; op < CRIT_NR_OPS && !rc; op++) {
		struct crit_figures *figures = &round->op[op];
		const char *dir = crit_op_names[op];

		rc = tree_get(dir, "median", &figures->median, err);
		rc = rc ?: tree_get(dir, "average", &figures->average, err);
		rc = rc ?: tree_get(dir, "max", &figures->max, err);
		rc = rc ?: tree_get(dir, "max_avg", &figures->max_avg, err);
	}
	return rc;
}

/* The module supports whole percentiles only; others stay unavailable. */
static int read_percentiles(const struct crit_opts *opts, struct crit_round *round, struct err *err)
{
	int rc = 0;

	for (unsigned int i = 0; i < opts->nr_percentiles && !rc; i++) {
		if (opts->percentile[i] % CRIT_PERCENT)
			continue;
		rc = tree_set("percentile", opts->percentile[i] / CRIT_PERCENT, err);
		for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
			rc = tree_get(crit_op_names[op], "percentile", &round->op[op].percentile[i],
				      err);
	}
	return rc;
}

static int module_round(struct crit_engine *engine, const struct crit_opts *opts,
			struct crit_round *ret_round, struct err *err)
{
	struct crit_round round;
	int rc;

	if (opts->stopped && opts->stopped())
		return -ECANCELED;
	crit_round_clear(&round);
	/* Before each round: another user of the module may have changed them. */
	rc = tree_set("nr_samples", opts->nr_samples, err);
	rc = rc ?: tree_set("nr_highest", opts->nr_highest, err);
	rc = rc ?: tree_set("do_work", opts->work, err);
	rc = rc ?: tree_set("benchmark", 1, err);
	rc = rc ?: read_figures(&round, err);
	rc = rc ?: read_percentiles(opts, &round, err);
	if (!rc)
		*ret_round = round;
	return rc;
}

static int module_close(struct crit_engine *engine, struct err *err)
{
	struct module_engine *m = (struct module_engine *)engine;
	int rc = 0, unload;

	for (size_t i = 0; i < NR_SETTINGS && m->have_before; i++)
		rc = tree_set(settings[i], m->before[i], err) ?: rc;
	unload = m->loaded_by_us ? kmod_unload(MODULE) : 0;
	if (unload)
		rc = err_set(err, unload,
			     "module " MODULE
			     " was loaded for this run and another process uses it "
			     "now: unload it later with rmmod " MODULE " (%s)",
			     strerror(-unload));
	free(m);
	return rc;
}

/* Why the debugfs directory of a loaded module is not accessible. */
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
	int rc;

	if (cpuset_count(&opts->cpus))
		return err_unsupported(err, -EOPNOTSUPP, "use --engine bpf, or leave out --cpu",
				       "it measures all online CPUs and has no --cpu");
	if (!kmod_loaded(MODULE)) {
		rc = kmod_load(MODULE, err);
		if (rc)
			return rc;
		m->loaded_by_us = true;
	}
	if (access(TREE, X_OK))
		return no_tree(err);
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		char path[96];

		snprintf(path, sizeof(path), TREE "/%s", settings[i]);
		rc = sys_read_u64(NULL, path, &m->before[i]);
		if (rc)
			return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
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
	if (rc) {
		module_close(&m->engine, NULL);
		return rc;
	}
	*ret_engine = &m->engine;
	return 0;
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
