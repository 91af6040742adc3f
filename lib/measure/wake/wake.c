/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick wake`: opens the sources, ends windows, and restores settings. */
#include "measure/wake/wake.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "measure/wake/env.h"
#include "measure/wake/fill.h"
#include "measure/wake/run.h"
#include "host/cpu.h"
#include "host/journal.h"

struct wake_meter {
	struct meter meter;
	struct wake_opts opts;
	unsigned int nr_cpus;
	struct wake_env env;
	struct journal journal;
	bool restoring;
	struct wake_probe probe;
	/* load source whose BPF programs also count passive wake-ups, or NULL */
	struct load_source *load;
	struct wake_run run;
	struct wake_nic *nic;
	struct wake_rounds rounds;
	uint64_t start_ns;
	struct blocks memory;
	struct wake_passive passive;
	struct wake_window window;
};

static struct wake_meter *to_wake(struct meter *meter)
{
	return (struct wake_meter *)meter;
}

static bool has(const struct wake_meter *m, enum wake_source source)
{
	return wake_has(m->opts.sources, source);
}

void wake_restore(struct meter *meter)
{
	struct wake_meter *m = to_wake(meter);

	if (!m->restoring)
		return;
	journal_close(&m->journal);
	m->restoring = false;
	m->window.unrestored = m->journal.failed;
}

static void wake_close(struct meter *meter)
{
	struct wake_meter *m = to_wake(meter);

	wake_run_close(&m->run);
	wake_probe_close(&m->probe);
	load_source_close(m->load);
	wake_nic_close(m->nic);
	wake_restore(meter);
	wake_env_close(&m->env);
	blocks_free(&m->memory);
	wake_window_free(&m->window);
	free(m);
}

static int choose_cpus(struct wake_meter *m, struct err *err)
{
	struct cpuset online;
	char list[64];
	int rc = cpu_set(NULL, CPU_ONLINE, &online, err);

	if (rc)
		return rc;
	cpuset_format(&online, list, sizeof(list));
	if (!cpuset_count(&m->opts.cpus) && has(m, WAKE_NIC)) {
		/*
		 * With source nic and without -C, measure only the first CPU, because each CPU
		 * takes a separate pass.
		 */
		cpuset_add(&m->opts.cpus, cpuset_next(&online, 0));
		m->window.card_chose_cpu = cpuset_count(&online) > 1;
	} else if (!cpuset_count(&m->opts.cpus)) {
		m->opts.cpus = online;
	}
	cpuset_for_each(cpu, &m->opts.cpus)
		if (!cpuset_has(&online, cpu))
			return err_set(err, -ENODEV, "CPU %u is offline; online are %s", cpu, list);
	if (has(m, WAKE_REMOTE) && cpuset_count(&online) < 2)
		return err_unsupported(err, -EOPNOTSUPP, "use --source timer or passive",
				       "source remote needs a second CPU online");
	return 0;
}

static unsigned int sender_to_keep(const struct wake_meter *m)
{
	struct cpuset online;

	if (!has(m, WAKE_REMOTE) || cpuset_count(&m->opts.cpus) > 1 ||
	    cpu_set(NULL, CPU_ONLINE, &online, NULL))
		return CPUSET_MAX;
	return wake_sender_choose(m->opts.root, &online, &m->opts.cpus);
}

/*
 * Opens the journal of settings. Must be called before other files are opened, because the guard
 * process of the journal is a fork that inherits open files.
 */
static int open_journal(struct wake_meter *m, struct err *err)
{
	int rc;

	if (!wake_force_wanted(&m->opts.force) && !has(m, WAKE_NIC))
		return 0;
	rc = journal_open(&m->journal, m->opts.root, err);
	m->restoring = !rc;
	rc = rc ?: wake_force_apply(&m->journal, m->opts.root, &m->opts.force, &m->opts.cpus,
				    sender_to_keep(m), err);
	if (rc || !(m->opts.force.each || m->opts.force.preferences))
		return rc;
	return wake_rounds_open(&m->rounds, &m->memory, &m->journal, m->opts.root, &m->opts.force,
				&m->opts.cpus, err);
}

/*
 * Fails in a PID namespace, because BPF programs read global thread IDs, but gettid() returns
 * thread IDs of the namespace.
 */
static int check_threads(const struct wake_meter *m, struct err *err)
{
	if (!m->env.machine.virt.own_pid_ns || (!has(m, WAKE_REMOTE) && !m->opts.breakdown))
		return 0;
	return err_unsupported(
		err, -EOPNOTSUPP,
		"run in the host's PID namespace (podman run --pid=host, hostPID in "
		"Kubernetes); --source timer and passive work here",
		"source remote and --breakdown cannot recognise their own threads inside a "
		"PID namespace");
}

/*
 * @passive is false for the calibration of source passive, which uses the programs for single
 * wake-ups.
 */
static int open_probe(struct wake_meter *m, bool passive, struct err *err)
{
	struct wake_probe_opts opts = {
		.nr_cpus = m->nr_cpus,
		.nr_states = m->env.machine.nr_states,
		.points = !passive,
		.passive = passive,
		.remote = has(m, WAKE_REMOTE),
		.breakdown = m->opts.breakdown,
	};

	/* use the programs of the load measurement if they count wake-ups */
	if (passive && m->opts.load)
		m->load = load_wake_source(m->opts.load, &m->window.separate_err);
	if (!m->load)
		return wake_probe_open(&m->probe, &opts, err);
	m->probe.passive = m->load->wake;
	return 0;
}

static int open_run(struct wake_meter *m, struct err *err)
{
	struct wake_plan plan = {
		.cpus = m->opts.cpus,
		.sweep = m->opts.sweep,
		.sources = m->opts.sources,
		.nic = m->nic,
		.root = m->opts.root,
		.rounds = m->rounds.nr ? &m->rounds : NULL,
	};

	/* Source passive measures no single wake-ups, so the workers only run the calibration. */
	if (has(m, WAKE_PASSIVE))
		plan.sweep.points = 0;
	return wake_run_open(&m->run, &plan, &m->probe, err);
}

static int start_passive(struct wake_meter *m, struct err *err)
{
	int rc = wake_run_join(&m->run, false, err);

	if (!rc && !m->opts.bare) {
		wake_probe_close(&m->probe);
		rc = open_probe(m, true, err);
	}
	rc = rc ?: wake_passive_open(&m->passive, &m->memory, &m->probe.passive, err);
	if (!rc)
		wake_passive_end(&m->passive);
	return rc;
}

static int wake_start(struct meter *meter, struct err *err)
{
	struct wake_meter *m = to_wake(meter);
	int rc = m->opts.bare ? 0 : wake_run_start(&m->run, err);

	if (!rc && has(m, WAKE_PASSIVE))
		rc = start_passive(m, err);
	/* read the clock first, because reading the counters of the idle states is slow */
	m->start_ns = clock_mono_ns();
	wake_env_begin(&m->env);
	return rc;
}

static int end_window(struct wake_meter *m, uint64_t *ret_end_ns, struct err *err)
{
	int rc = 0;

	if (has(m, WAKE_PASSIVE)) {
		wake_passive_end(&m->passive);
	} else {
		m->window.stopped = !atomic_load(&m->run.finished);
		rc = wake_run_join(&m->run, true, err);
	}
	if (rc)
		return rc;
	*ret_end_ns = clock_mono_ns();
	m->window.time_unix_ns = clock_unix_ns();
	wake_env_end(&m->env);
	/* restore the settings before close(), because writing the output may block */
	if (!has(m, WAKE_PASSIVE))
		wake_restore(&m->meter);
	return 0;
}

static int wake_read(struct meter *meter, struct err *err)
{
	struct wake_meter *m = to_wake(meter);
	struct wake_window *w = &m->window;
	bool passive = has(m, WAKE_PASSIVE);
	uint64_t end_ns;
	int rc = end_window(m, &end_ns, err);

	if (rc)
		return rc;
	w->window_ns = end_ns - m->start_ns;
	w->recursion_misses = m->load ? 0 : wake_probe_misses(&m->probe);
	rc = wake_fill(w, &m->env, &m->run, passive ? &m->passive : NULL);
	if (rc)
		return err_set(err, rc, "out of memory");
	if (passive) {
		wake_env_begin(&m->env);
		m->start_ns = end_ns;
	}
	return 0;
}

const struct wake_window *wake_window(const struct meter *meter)
{
	return &((const struct wake_meter *)meter)->window;
}

static const struct meter_ops wake_ops = {
	.start = wake_start,
	.read = wake_read,
	.close = wake_close,
};

void wake_progress(struct meter *meter, struct wake_progress *ret_progress)
{
	struct wake_meter *m = to_wake(meter);
	unsigned int rounds = wake_run_rounds(&m->run.plan);

	ret_progress->done = wake_run_done(&m->run);
	ret_progress->total = m->run.total;
	ret_progress->time_ratio = 0.0;
	array_for_each(w, m->run.workers, m->run.total ? m->run.nr_workers : 0) {
		uint64_t done = atomic_load(&w->done), per_round = w->max / rounds;
		double share = wake_sweep_share(&m->opts.sweep, done % per_round,
						__builtin_popcount(m->opts.sources));

		ret_progress->time_ratio +=
			((double)(done / per_round) + share) / rounds / m->run.nr_workers;
	}
	ret_progress->finished = atomic_load(&m->run.finished);
}

static unsigned int passes_per_round(const struct wake_opts *opts)
{
	struct cpuset online;

	/* the network card can interrupt only one core at a time */
	if (wake_has(opts->sources, WAKE_NIC))
		return cpuset_count(&opts->cpus) ? cpuset_count(&opts->cpus) : 1;
	if (!wake_has(opts->sources, WAKE_REMOTE) || cpu_set(NULL, CPU_ONLINE, &online, NULL))
		return 1;
	/* with --alone, a separate core for the sender exists only if a single core is measured */
	if (!cpuset_count(&opts->cpus) || (opts->force.alone && cpuset_count(&opts->cpus) > 1))
		return 2;
	return wake_sender_choose(opts->root, &online, &opts->cpus) == CPUSET_MAX ? 2 : 1;
}

unsigned int wake_passes(const struct wake_opts *opts)
{
	unsigned int rounds = opts->force.each || opts->force.preferences
				      ? wake_rounds_nr(opts->root, &opts->force, &opts->cpus)
				      : 1;

	return rounds * passes_per_round(opts);
}

static int open_parts(struct wake_meter *m, struct err *err)
{
	const struct wake_opts *opts = &m->opts;
	bool passive = has(m, WAKE_PASSIVE);
	int rc = cpu_nr(&m->nr_cpus, err) ?: choose_cpus(m, err) ?: open_journal(m, err) ?:
		 wake_env_open(&m->env, opts->root, m->nr_cpus, &opts->cpus, !passive, err) ?:
		 check_threads(m, err);

	if (!rc && has(m, WAKE_NIC))
		rc = wake_nic_open(&opts->nic, cpuset_next(&opts->cpus, 0), opts->root,
				   &m->journal, &m->nic, err);
	return rc ?: open_probe(m, passive && opts->bare, err) ?: open_run(m, err);
}

int wake_open(const struct wake_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct wake_meter *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &wake_ops;
	m->opts = *opts;
	m->window.breakdown = opts->breakdown && !has(m, WAKE_PASSIVE);
	m->window.bare = opts->bare;
	m->window.budget_ns = opts->budget_ns;
	rc = open_parts(m, err);
	if (!rc) {
		*ret_meter = &m->meter;
		return 0;
	}
	wake_restore(&m->meter);
	/*
	 * report settings that could not be restored, even if wake_open() failed only because the
	 * machine lacks a feature
	 */
	if (m->window.unrestored && err) {
		err_prefix(err, "%u settings could not be restored, see /run/subtick/restore",
			   m->window.unrestored);
		err->unsupported = false;
	}
	wake_close(&m->meter);
	return rc;
}
