/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs of `subtick wake`, and copies the histograms of source passive. */
#include "measure/wake/probe.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "stats/wake.h"
#include "host/kbtf.h"
#include "wake.skel.h"

#define NR_VIEWS ARRAY_SIZE(((struct wake_probe *)0)->views)

/* Excludes unneeded BPF programs, because each costs time at its event. */
static void choose_programs(struct wake_probe *probe, const struct btf *btf,
			    const struct wake_probe_opts *opts)
{
	struct wake_bpf *skel = probe->skel;
	/* before Linux 6.4 arm64 has ipi_raise, and x86 has no tracepoint for IPIs */
	bool send = kbtf_has_tracepoint(btf, "ipi_send_cpu");
	bool at_waking = !send && !kbtf_has_tracepoint(btf, "ipi_raise");
	const struct {
		struct bpf_program *prog;
		bool wanted;
	} optional[] = {
		{skel->progs.wake_calibrate1, opts->points},
		{skel->progs.wake_calibrate2, opts->points},
		{skel->progs.wake_ipi_send, opts->remote},
		{skel->progs.wake_ipi_raise, opts->remote && !send},
		{skel->progs.wake_flag, opts->remote},
		{skel->progs.wake_waking, opts->remote && at_waking},
		{skel->progs.wake_switch, opts->breakdown},
		{skel->progs.wake_nmi, opts->points},
		{skel->progs.wake_ipi, opts->points},
		{skel->progs.wake_irq_exit, opts->points},
	};

	probe->launch_at_waking = at_waking;
	array_for_each(program, optional, ARRAY_SIZE(optional))
		if (!program->wanted)
			bpf_program__set_autoload(program->prog, false);
	bpf_program__set_autoattach(skel->progs.wake_calibrate1, false);
	bpf_program__set_autoattach(skel->progs.wake_calibrate2, false);
}

static int open_skeleton(struct wake_probe *probe, const struct wake_probe_opts *opts,
			 struct err *err)
{
	/* only source remote uses sched_waking */
	static const char *const needed[] = {"cpu_idle", "hrtimer_expire_entry",
					     "irq_handler_entry", "sched_waking"};
	struct wake_bpf *skel;
	struct btf *btf;
	int rc = kbtf_open_with(needed, opts->remote ? 4 : 3, &btf, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	skel = probe->skel = wake_bpf__open();
	if (!skel) {
		rc = sys_bpf_fail(err, -errno, "cannot open the wake programs");
		goto out;
	}
	sys_bpf_autoload_present(skel->obj, btf);
	choose_programs(probe, btf, opts);
	skel->rodata->want_points = opts->points;
	skel->rodata->want_passive = opts->passive;
	skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	skel->rodata->nr_states = probe->passive.nr_states;
	skel->rodata->one_state = probe->passive.one_state;
	bpf_map__set_max_entries(skel->maps.slots, opts->nr_cpus);
	bpf_map__set_max_entries(skel->maps.launches, opts->nr_cpus);
	if (opts->passive)
		bpf_map__set_max_entries(skel->maps.hists, opts->nr_cpus * probe->passive.nr_states);
	rc = sys_bpf_check(err, wake_bpf__load(skel), "cannot load the wake programs");
out:
	kbtf_close(btf);
	return rc;
}

static int share_maps(struct wake_probe *probe, struct err *err)
{
	const struct sys_bpf_view views[NR_VIEWS] = {
		{.map = probe->skel->maps.slots, .shared = true},
		{.map = probe->skel->maps.launches, .shared = true},
		{.map = probe->skel->maps.hists},
	};
	int rc;

	memcpy(probe->views, views, sizeof(views));
	rc = sys_bpf_views_open(probe->views, NR_VIEWS, err);
	if (rc)
		return rc;
	probe->slots = probe->views[0].pages;
	probe->launches = probe->views[1].pages;
	probe->passive.hists = probe->views[2].pages;
	probe->passive.counts = &probe->slots->counts;
	return 0;
}

int wake_probe_open(struct wake_probe *probe, const struct wake_probe_opts *opts, struct err *err)
{
	int rc;

	*probe = (struct wake_probe){.passive = {.nr_cpus = opts->nr_cpus,
						 .nr_states = opts->nr_states ? opts->nr_states : 1,
						 .one_state = !opts->nr_states,
						 .counts_step = sizeof(*probe->slots)}};
	rc = open_skeleton(probe, opts, err) ?: share_maps(probe, err);
	if (!rc) {
		sys_bpf_log_begin();
		rc = sys_bpf_check(err, wake_bpf__attach(probe->skel),
				   "cannot attach the wake programs");
	}
	if (rc)
		wake_probe_close(probe);
	return rc;
}

int wake_probe_calibrate(struct wake_probe *probe, bool on, struct err *err)
{
	struct bpf_program *progs[] = {probe->skel->progs.wake_calibrate1,
				       probe->skel->progs.wake_calibrate2};
	int rc = 0;

	array_for_each(link, probe->calibrate_links, 2) {
		bpf_link__destroy(*link);
		*link = NULL;
	}
	/* libbpf warnings are held per thread, so hold the warnings of the control thread here. */
	sys_bpf_log_hold();
	sys_bpf_log_begin();
	for (int i = 0; on && i < 2 && !rc; i++) {
		/* the kernel runs the programs of one event in the order of attachment */
		probe->calibrate_links[i] = bpf_program__attach(progs[i]);
		if (!probe->calibrate_links[i])
			rc = sys_bpf_fail(err, -errno, "cannot attach the calibration programs");
	}
	sys_bpf_log_release();
	return rc;
}

uint64_t wake_probe_misses(const struct wake_probe *probe)
{
	return sys_bpf_recursion_misses(probe->skel->obj);
}

void wake_probe_close(struct wake_probe *probe)
{
	array_for_each(link, probe->calibrate_links, 2)
		bpf_link__destroy(*link);
	sys_bpf_views_close(probe->views, NR_VIEWS);
	wake_bpf__destroy(probe->skel);
	memset(probe, 0, sizeof(*probe));
}

static size_t nr_hists(const struct wake_passive *p)
{
	return (size_t)p->live->nr_cpus * p->live->nr_states;
}

int wake_passive_open(struct wake_passive *p, struct blocks *memory, const struct load_wake *live,
		      struct err *err)
{
	*p = (struct wake_passive){.live = live};
	p->hists = blocks_calloc(memory, nr_hists(p), sizeof(*p->hists));
	p->copies = blocks_calloc(memory, nr_hists(p), sizeof(*p->copies));
	p->counts = blocks_calloc(memory, live->nr_cpus, sizeof(*p->counts));
	p->counts_prev = blocks_calloc(memory, live->nr_cpus, sizeof(*p->counts_prev));
	if (memory->failed)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr_hists(p); i++)
		p->hists[i].now = p->copies[i];
	return 0;
}

/* the sums, minimum and maximum of struct wake_hist are behind the array `count` */
#define SUMS_AT	  offsetof(struct wake_hist, sum_ns)
#define SUMS_SIZE (sizeof(struct wake_hist) - SUMS_AT)

/*
 * True if wake-ups were added to a histogram since the last snapshot. Also compares count[0],
 * because a latency of 0 ns does not change sum_ns.
 */
static bool has_changed(const struct wake_hist *live, const struct wake_hist *was)
{
	return memcmp((const char *)live + SUMS_AT, (const char *)was + SUMS_AT, SUMS_SIZE) ||
	       live->count[0] != was->count[0];
}

/*
 * Copies the sums before the counts, because the BPF programs write the counts first. The copied
 * sums then lack each wake-up that the copied counts lack, so that has_changed() detects the
 * wake-up in the next window.
 */
static void copy(struct wake_hist *ret, const struct wake_hist *live)
{
	unsigned int first, end;

	memcpy((char *)ret + SUMS_AT, (const char *)live + SUMS_AT, SUMS_SIZE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	wake_hist_range(ret, &first, &end);
	if (first < end)
		memcpy(&ret->count[first], &live->count[first],
		       (end - first) * sizeof(ret->count[0]));
}

void wake_passive_end(struct wake_passive *p)
{
	const struct load_wake *live = p->live;
	struct wake_counts *counts = p->counts_prev;

	for (size_t i = 0; i < nr_hists(p); i++) {
		struct wake_passive_hist *h = &p->hists[i];

		h->was = h->now;
		if (!has_changed(&live->hists[i], h->was))
			continue;
		h->now = &p->copies[i][h->was == p->copies[i]];
		copy((struct wake_hist *)h->now, &live->hists[i]);
	}
	p->counts_prev = p->counts;
	p->counts = counts;
	for (unsigned int cpu = 0; cpu < live->nr_cpus; cpu++)
		memcpy(&p->counts[cpu], (const char *)live->counts + cpu * live->counts_step,
		       sizeof(*p->counts));
}
