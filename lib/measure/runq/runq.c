/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Picks source and hierarchy, takes windows of waits and streams long ones. */
#include "measure/runq/runq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/runq/report.h"
#include "sys/bpf.h"
#include "sys/cgroup.h"
#include "sys/file.h"

#define EVENTS_AT_ONCE 1024
#define BLAME_ROWS     8

struct runq_meter {
	struct meter meter;
	struct runq_opts opts;
	struct cgroup_layout layout;
	bool cgroup_v2;
	char **cgroups;
	struct runq_kernel *kernel;
	struct err passed_over;
	bool held_known;
	uint64_t start_ns;
	struct runq_losses was;
	struct runq_event *events; /* of the call to event() under way */
	size_t nr_events;
	uint64_t events_over; /* more at once than we pass on */
};

static struct runq_meter *to_runq(struct meter *meter)
{
	return (struct runq_meter *)meter;
}

static void fill_defaults(struct runq_opts *opts)
{
	static const uint64_t le[] = {
		10000,	 20000,	   50000,    100000,   200000,	  500000,    1000000,	2000000,
		5000000, 10000000, 20000000, 50000000, 100000000, 200000000, 500000000, 1000000000};
	static const double percentiles[] = {50, 90, 99, 99.9};

	if (!opts->nr_le) {
		memcpy(opts->le_ns, le, sizeof(le));
		opts->nr_le = sizeof(le) / sizeof(le[0]);
	}
	if (!opts->nr_percentiles) {
		memcpy(opts->percentiles, percentiles, sizeof(percentiles));
		opts->nr_percentiles = 4;
	}
	if (opts->sample_ratio >= 1.0)
		opts->sample_ratio = 0.0;
	if (!opts->blame_rows)
		opts->blame_rows = BLAME_ROWS;
}

/*
 * The hierarchy that governs CPU: with controller cpu mounted as v1 that is the one, unless it
 * holds nothing but its root while the unified one is in use.
 */
static int pick_hierarchy(struct runq_meter *m, struct err *err)
{
	bool v1 = m->layout.v1_cpu[0], v2 = m->layout.v2[0];

	switch (m->opts.hierarchy) {
	case RUNQ_HIERARCHY_V1:
		if (!v1)
			return err_unsupported(
				err, -ENOENT, "use --hierarchy v2",
				"no cgroup v1 hierarchy with controller cpu is mounted");
		m->cgroup_v2 = false;
		break;
	case RUNQ_HIERARCHY_V2:
		if (!v2)
			return err_unsupported(err, -ENOENT, "use --hierarchy v1",
					       "no cgroup v2 hierarchy is mounted");
		m->cgroup_v2 = true;
		break;
	default:
		m->cgroup_v2 = !v1;
		if (v1 && v2 && cgroup_count(m->layout.v1_cpu) <= 1)
			m->cgroup_v2 = cgroup_count(m->layout.v2) > 1;
	}
	return 0;
}

static const char *mount_point(const struct runq_meter *m)
{
	return m->cgroup_v2 ? m->layout.v2 : m->layout.v1_cpu;
}

/* "/sys/fs/cgroup/cpu/a/", "/a" and "a" are the same. */
static int take_cgroup(struct runq_meter *m, const char *path, char **ret_path, struct err *err)
{
	const char *mount = mount_point(m);
	size_t len = strlen(mount);
	char full[PATH_MAX], *own;

	if (len && !strncmp(path, mount, len) && (path[len] == '/' || !path[len]))
		path += len;
	path += strspn(path, "/");
	own = malloc(strlen(path) + 2);
	if (!own)
		return err_set(err, -ENOMEM, "out of memory");
	own[0] = '/';
	strcpy(own + 1, path);
	for (len = strlen(own); len > 1 && own[len - 1] == '/'; len--)
		own[len - 1] = '\0';
	if (sys_path(mount, own, full, sizeof(full)) || access(full, F_OK)) {
		err_set(err, -ENOENT, "no cgroup %s below %s", own,
			mount[0] ? mount : "(no mount)");
		free(own);
		return -ENOENT;
	}
	*ret_path = own;
	return 0;
}

static int take_cgroups(struct runq_meter *m, struct err *err)
{
	int rc = 0;

	m->cgroups = calloc(m->opts.nr_cgroups + 1, sizeof(*m->cgroups));
	if (!m->cgroups)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !rc && i < m->opts.nr_cgroups; i++)
		rc = take_cgroup(m, m->opts.cgroups[i], &m->cgroups[i], err);
	return rc;
}

/* How many groups there will be at once, to begin with. */
static size_t first_guess(const struct runq_meter *m)
{
	size_t now = m->opts.reserve && mount_point(m)[0] ? cgroup_count(mount_point(m)) : 0;

	/* Those that are there already need room in any case, and so do their successors. */
	if (m->opts.reserve)
		return m->opts.reserve > now + now / 4 ? m->opts.reserve : now + now / 4;
	switch (m->opts.per) {
	case RUNQ_PER_CGROUP:
		return mount_point(m)[0] ? cgroup_count(mount_point(m)) : 1;
	case RUNQ_PER_CPU:
		return sysconf(_SC_NPROCESSORS_CONF);
	default:
		return 512;
	}
}

/* Why sched_info cannot serve here; 0 if it can, as far as types tell. */
static int sched_info_there(const struct btf *btf, struct err *err)
{
	if (!sys_bpf_has_member(btf, "task_struct", "sched_info") ||
	    !sys_bpf_has_member(btf, "sched_info", "last_queued"))
		return err_unsupported(err, -EOPNOTSUPP,
				       "use a kernel with CONFIG_SCHED_INFO "
				       "(CONFIG_SCHEDSTATS or CONFIG_TASK_DELAY_ACCT)",
				       "the kernel keeps no sched_info");
	if (!sys_bpf_has_member(btf, "sched_entity", "cfs_rq") || !sys_bpf_has_member(btf, "rq", "clock"))
		return err_unsupported(err, -EOPNOTSUPP,
				       "use a kernel with CONFIG_FAIR_GROUP_SCHED",
				       "the run queue's clock cannot be reached from a task");
	return 0;
}

static bool held_there(const struct btf *btf)
{
	return sys_bpf_has_member(btf, "cfs_rq", "throttled_clock_self_time") ||
	       sys_bpf_has_member(btf, "cfs_rq", "throttled_clock_pelt_time") ||
	       sys_bpf_has_member(btf, "cfs_rq", "throttled_clock_task_time");
}

/*
 * Before 5.14 the kernel fills sched_info only when told to, and zeros there look like waits
 * without a start. Our own sleeps make some that must have one.
 */
static bool sched_info_alive(struct runq_meter *m)
{
	struct timespec nap = clock_timespec(NSEC_PER_MSEC);
	struct runq_losses losses;

	for (int i = 0; i < 20; i++) {
		nanosleep(&nap, NULL);
		runq_kernel_losses(m->kernel, &losses);
		if (losses.waits)
			return true;
	}
	/* Nothing at all, not even unknown starts: the CPUs asked for are idle. */
	return !losses.unknown_start;
}

static int open_kernel(struct runq_meter *m, struct err *err)
{
	return runq_kernel_open(&m->opts, m->cgroup_v2, first_guess(m), &m->kernel, err);
}

static int pick_source(struct runq_meter *m, struct err *err)
{
	bool automatic = m->opts.source == RUNQ_SOURCE_AUTO;
	struct btf *btf;
	int rc;

	rc = sys_bpf_btf_open(&btf, err);
	if (rc)
		return rc;
	m->held_known = held_there(btf) && m->opts.per == RUNQ_PER_CGROUP;
	if (m->opts.source != RUNQ_SOURCE_WAKEUP) {
		rc = sched_info_there(btf, &m->passed_over);
		m->opts.source = rc ? RUNQ_SOURCE_WAKEUP : RUNQ_SOURCE_SCHED_INFO;
	}
	sys_bpf_btf_close(btf);
	if (rc && !automatic) {
		*err = m->passed_over;
		return rc;
	}
	rc = open_kernel(m, err);
	if (rc || m->opts.source == RUNQ_SOURCE_WAKEUP || sched_info_alive(m))
		return rc;
	runq_kernel_close(m->kernel);
	m->kernel = NULL;
	rc = err_unsupported(&m->passed_over, -EOPNOTSUPP,
			     "boot with delayacct, or use Linux 5.14 or later",
			     "the kernel does not fill sched_info");
	if (!automatic) {
		*err = m->passed_over;
		return rc;
	}
	m->opts.source = RUNQ_SOURCE_WAKEUP;
	return open_kernel(m, err);
}

static void result_init(struct runq_meter *m, struct runq_result *ret_result)
{
	*ret_result = (struct runq_result){
		.opts = &m->opts,
		.kernel = m->kernel,
		.hierarchy = m->cgroup_v2 ? "v2" : "v1",
		.cgroups = (const char *const *)m->cgroups,
		.held_known = m->held_known,
		.passed_over = m->passed_over.code ? &m->passed_over : NULL,
		.was = m->was,
	};
}

static int runq_start(struct meter *meter, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	struct runq_group **groups;
	struct runq_row *rows;
	size_t nr;
	int rc;

	rc = runq_kernel_window(m->kernel, &groups, &nr, err);
	if (!rc && m->opts.blame)
		rc = runq_kernel_blame(m->kernel, &rows, &nr, err);
	runq_kernel_losses(m->kernel, &m->was);
	m->start_ns = clock_mono_ns();
	return rc;
}

void runq_used(const struct meter *meter, struct runq_opts *ret_opts)
{
	*ret_opts = ((const struct runq_meter *)meter)->opts;
}

int runq_window(struct meter *meter, struct runq_result *ret_result, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	uint64_t end_ns;
	int rc;

	result_init(m, ret_result);
	rc = runq_kernel_window(m->kernel, &ret_result->groups, &ret_result->nr_groups, err);
	end_ns = clock_mono_ns();
	if (!rc && m->opts.blame)
		rc = runq_kernel_blame(m->kernel, &ret_result->rows, &ret_result->nr_rows, err);
	if (rc)
		return rc;
	ret_result->nr_rows =
		runq_rows_rank(ret_result->rows, ret_result->nr_rows, m->opts.blame_rows);
	runq_kernel_losses(m->kernel, &ret_result->now);
	ret_result->now.events_lost += m->events_over;
	ret_result->window_ns = end_ns - m->start_ns;
	m->was = ret_result->now;
	m->start_ns = end_ns;
	return 0;
}

static int runq_read(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct runq_result result;
	int rc;

	rc = runq_window(meter, &result, err);
	if (rc)
		return rc;
	rc = runq_report(&result, ret_report);
	return rc ? err_set(err, rc, "cannot make the report: %s", strerror(-rc)) : 0;
}

static int runq_event_fd(const struct meter *meter)
{
	return runq_kernel_fd(((const struct runq_meter *)meter)->kernel);
}

static void on_wait(const struct runq_event *event, void *arg)
{
	struct runq_meter *m = arg;

	if (m->nr_events < EVENTS_AT_ONCE)
		m->events[m->nr_events++] = *event;
	else
		m->events_over++;
}

/* Events of groups that were not asked for stay inside. */
static size_t drop_unwanted(struct runq_meter *m, const struct runq_result *result)
{
	size_t left = 0;

	for (size_t i = 0; i < m->nr_events; i++) {
		const struct runq_group *who = runq_kernel_find(m->kernel, m->events[i].key);

		if (!m->opts.nr_cgroups || (who && runq_wanted(result, who->path)))
			m->events[left++] = m->events[i];
	}
	return left;
}

static int runq_event(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	struct runq_result result;
	size_t nr;
	int rc;

	m->nr_events = 0;
	rc = runq_kernel_events(m->kernel, on_wait, m, err);
	if (rc || !m->nr_events)
		return rc;
	result_init(m, &result);
	nr = drop_unwanted(m, &result);
	rc = nr ? runq_report_events(&result, m->events, nr, ret_report) : 0;
	return rc ? err_set(err, rc, "cannot make the report: %s", strerror(-rc)) : 0;
}

static void runq_close(struct meter *meter)
{
	struct runq_meter *m = to_runq(meter);

	if (m->kernel)
		runq_kernel_close(m->kernel);
	for (size_t i = 0; m->cgroups && i < m->opts.nr_cgroups; i++)
		free(m->cgroups[i]);
	free(m->cgroups);
	free(m->events);
	free(m);
}

static const struct meter_ops runq_meter_ops = {
	.start = runq_start,
	.read = runq_read,
	.event_fd = runq_event_fd,
	.event = runq_event,
	.close = runq_close,
};

int runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct runq_meter *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &runq_meter_ops;
	m->opts = *opts;
	fill_defaults(&m->opts);
	m->events = calloc(EVENTS_AT_ONCE, sizeof(*m->events));
	rc = m->events ? cgroup_layout(NULL, &m->layout) : -ENOMEM;
	if (rc)
		err_set(err, rc, "cannot find out where cgroups are mounted: %s", strerror(-rc));
	if (!rc)
		rc = pick_hierarchy(m, err);
	if (!rc)
		rc = take_cgroups(m, err);
	if (!rc)
		rc = pick_source(m, err);
	if (rc) {
		runq_close(&m->meter);
		return rc;
	}
	*ret_meter = &m->meter;
	return 0;
}
