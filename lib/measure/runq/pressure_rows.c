/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the pressure rows of a window: names of cgroups and the kernel's PSI. */
#include "measure/runq/pressure.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/runq/filter.h"
#include "measure/runq/kernel.h"
#include "measure/runq/window.h"
#include "host/cgroup.h"

/* State of one cgroup, indexed by group number. */
struct known {
	uint64_t key;
	/* group of the cgroup; NULL while the name of the cgroup is unknown */
	struct runq_group *group;
	/* pressure times that are not reported yet, because the name of the cgroup is unknown */
	struct runq_pressure_times kept;
	struct psi psi;			 /* PSI at the end of the last window, or UINT64_MAX */
	/* row of the cgroup in the current window, valid until the rows are sorted, or NULL */
	struct runq_pressed *row;
};

struct runq_pressures {
	struct runq_pressure *pressure;
	enum runq_rollup_by sum;
	unsigned int depth;
	const char *mount;   /* mount point of cgroups with PSI, or NULL */
	struct err psi_err;  /* reason why PSI is unavailable; code 0 if available */
	struct known known[RUNQ_PRESSURE_NR];
};

int runq_pressures_open(const struct runq_opts *opts, const char *mount,
			struct runq_pressures **ret_pressures, struct err *err)
{
	struct runq_pressures *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->sum = opts->sum;
	p->depth = opts->depth;
	p->mount = mount;
	rc = runq_pressure_open(opts, &p->pressure, err);
	if (rc)
		runq_pressures_close(p);
	else
		*ret_pressures = p;
	return rc;
}

void runq_pressures_drop(struct runq_pressures *p)
{
	/* Unused elements are not written, because their pages need no memory. */
	array_for_each(known, p->known, RUNQ_PRESSURE_NR)
		if (known->key)
			known->kept = (struct runq_pressure_times){0};
}

void runq_pressures_close(struct runq_pressures *p)
{
	if (!p)
		return;
	runq_pressure_close(p->pressure);
	array_for_each(known, p->known, RUNQ_PRESSURE_NR)
		runq_group_put(known->group);
	free(p);
}

/* Resets the state of a group number that another cgroup now uses. */
static void known_reset(struct known *known, uint64_t key)
{
	runq_group_put(known->group);
	*known = (struct known){.key = key, .psi = {UINT64_MAX, UINT64_MAX}};
}

/*
 * Finds the names of a cgroup and its ancestors. The pressure programs store no paths, so the path
 * of each ancestor is computed from the path of @leaf.
 */
static void name_chain(struct runq_pressures *p, const struct runq_pressure_row *rows, size_t nr,
		       uint32_t number, const struct runq_group *leaf)
{
	char *path = strdup(leaf->path), *end;

	for (int i = 0; path && i < RUNQ_PRESSURE_DEPTH && number && number < nr; i++) {
		struct known *known = &p->known[number];

		if (known->key != rows[number].key)
			known_reset(known, rows[number].key);
		if (known->group)
			break;
		/* an ancestor gets the name of the pod, but not of the container */
		known->group =
			runq_group_new(&(struct runq_group){.key = known->key, .sum = i > 0}, path);
		/* the ancestors of a cgroup with a truncated path are unknown */
		if (leaf->cut)
			break;
		number = rows[number].up;
		end = strrchr(path, '/');
		if (end)
			end[end == path] = '\0';
	}
	free(path);
}

static void name_row(struct runq_pressures *p, const struct runq_pressure_row *rows, size_t nr,
		     uint32_t number, const struct runq_kernel *kernel)
{
	struct runq_party party;

	if (p->known[number].key != rows[number].key)
		known_reset(&p->known[number], rows[number].key);
	if (p->known[number].group)
		return;
	party = runq_kernel_party(kernel, rows[number].key);
	if (party.kind == RUNQ_PARTY_GROUP)
		name_chain(p, rows, nr, number, party.group);
}

static unsigned int depth_of(const char *path)
{
	unsigned int depth = 0;

	for (const char *at = path; *at; at++)
		depth += *at == '/' && at[1];
	return depth;
}

static bool is_root(const struct runq_group *group)
{
	return !strcmp(group->path, "/");
}

/* True if the group has a report row. The row of the root cgroup contains all tasks. */
static bool is_shown(const struct runq_pressures *p, const struct runq_filter *filter,
		     const struct runq_group *group)
{
	const struct runq_group *nearest;

	switch (p->sum) {
	case ROLLUP_DEPTH:
		return depth_of(group->path) <= p->depth && runq_filter_passes(filter, group);
	case ROLLUP_POD:
		if (is_root(group))
			return !runq_filter_any(filter);
		return group->pod_uid && strlen(group->path) == group->pod_len &&
		       runq_filter_passes(filter, group);
	case ROLLUP_REQUESTED:
		nearest = runq_filter_nearest(filter, group->path);
		return nearest && !strcmp(nearest->path, group->path);
	default:
		return runq_filter_passes(filter, group);
	}
}

static uint64_t psi_grown(uint64_t now, uint64_t was)
{
	return now == UINT64_MAX || was == UINT64_MAX || now < was ? UINT64_MAX : now - was;
}

/*
 * Computes the growth of the cgroup's PSI since the last window; UINT64_MAX in the first window of
 * the cgroup.
 */
static void read_psi(struct runq_pressures *p, struct known *known, struct runq_pressed *row)
{
	struct psi now = {UINT64_MAX, UINT64_MAX};
	char path[PATH_MAX];
	int rc = 0;

	if (is_root(known->group))
		rc = psi_read(NULL, PSI_CPU_NODE, &now);
	else if (p->mount && (size_t)snprintf(path, sizeof(path), "%s%s/cpu.pressure", p->mount,
					      known->group->path) < sizeof(path))
		psi_read(NULL, path, &now); /* ignore the error of a removed cgroup */
	if (rc)
		err_unsupported(&p->psi_err, rc,
				"use a kernel with CONFIG_PSI, and boot with psi=1", "%s: %s",
				PSI_CPU_NODE, strerror(-rc));
	row->psi_waiting_ns = psi_grown(now.some_ns, known->psi.some_ns);
	row->psi_stalled_ns = psi_grown(now.full_ns, known->psi.full_ns);
	known->psi = now;
}

static uint64_t waiting_ns(const struct runq_pressed *row)
{
	return runq_pressure_sum(row->times.waiting_ns);
}

static int by_waiting(const void *a, const void *b)
{
	const struct runq_pressed *x = a, *y = b;

	return CMP(waiting_ns(y), waiting_ns(x)) ?: strcmp(x->group->path, y->group->path);
}

static void add_row(struct runq_window *w, struct runq_pressures *p, struct known *known)
{
	struct runq_pressed *row = &w->pressed[w->nr_pressed];

	*row = (struct runq_pressed){.group = known->group, .times = known->kept};
	read_psi(p, known, row);
	known->kept = (struct runq_pressure_times){0};
	/* a cgroup without waits has no row, except the root cgroup */
	if (!waiting_ns(row) && !is_root(known->group))
		return;
	known->row = row;
	w->nr_pressed++;
}

/*
 * Raises below_ns of all ancestors of a cgroup to at least the waiting time of the cgroup. Stops at
 * the first ancestor whose below_ns needs no change, because below_ns of each higher ancestor is at
 * least as large.
 */
static void set_below(struct runq_pressures *p, const struct runq_pressure_row *rows, size_t nr,
		       uint32_t number)
{
	uint64_t ns = waiting_ns(p->known[number].row);

	number = rows[number].up;
	for (int i = 0; i < RUNQ_PRESSURE_DEPTH && number && number < nr; i++) {
		struct runq_pressed *above = p->known[number].row;

		if (above && above->below_ns >= ns)
			break;
		if (above)
			above->below_ns = ns;
		number = rows[number].up;
	}
}

int runq_window_pressure(struct runq_window *w, struct runq_pressures *p,
			 const struct runq_kernel *kernel, const struct runq_filter *filter,
			 const struct pods *pods, struct err *err)
{
	const struct runq_pressure_row *rows;
	size_t nr;
	int rc = runq_pressure_window(p->pressure, &rows, &nr, err);

	if (rc)
		return rc;
	w->pressed = calloc(nr, sizeof(*w->pressed));
	if (!w->pressed)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 1; i < nr; i++)
		if (rows[i].key)
			name_row(p, rows, nr, i, kernel);
	for (uint32_t i = 1; i < nr; i++) {
		struct known *known = &p->known[i];

		known->row = NULL;
		if (!rows[i].key)
			continue;
		runq_pressure_add(&known->kept, &rows[i].times);
		w->pressure_losses.unstable += rows[i].unstable;
		if (!known->group || !is_shown(p, filter, known->group))
			continue;
		if (pods)
			runq_names_resolve(pods, known->group);
		add_row(w, p, known);
	}
	for (uint32_t i = 1; i < nr; i++)
		if (p->known[i].row)
			set_below(p, rows, nr, i);
	qsort(w->pressed, w->nr_pressed, sizeof(*w->pressed), by_waiting);
	w->psi_err = p->psi_err.code ? &p->psi_err : NULL;
	w->psi_of_cgroups = p->mount;
	runq_pressure_losses(p->pressure, &w->pressure_losses);
	return 0;
}
