/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares wait counts per pod with schedstat, for cgroup names of both kubelet cgroup drivers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cgroups.h"
#include "live.h"
#include "report/report.h"
#include "runq_window.h"

#define UID_A  "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define UID_B_ "1a1b2c3d_4e5f_6789_abcd_ef0123456789"
#define HEX    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define SLICE  "kubepods-besteffort.slice"

enum {
	NR_TASKS = 3, /* one task per container: two containers of pod A, one of pod B */
};

struct nodes {
	const char *pod_a, *pod_b, *top;
	const char *containers[NR_TASKS];
	pid_t pids[NR_TASKS];
};

/*
 * Creates the cgroups "top/burstable/pod<uid>/<id>" and
 * "top/kubepods-besteffort.slice/…-pod<uid>.slice/….scope".
 */
static void nodes_make(struct nodes *nodes, int cpu)
{
	nodes->top = cgroups_make("kube");
	cgroups_make("kube/burstable");
	nodes->pod_a = cgroups_make("kube/burstable/pod" UID_A);
	nodes->containers[0] = cgroups_make("kube/burstable/pod" UID_A "/" HEX "1");
	nodes->containers[1] = cgroups_make("kube/burstable/pod" UID_A "/" HEX "2");
	cgroups_make("kube/" SLICE);
	nodes->pod_b = cgroups_make("kube/" SLICE "/kubepods-besteffort-pod" UID_B_ ".slice");
	nodes->containers[2] = cgroups_make("kube/" SLICE "/kubepods-besteffort-pod" UID_B_
					    ".slice/cri-containerd-" HEX "3.scope");
	for (int i = 0; i < NR_TASKS; i++)
		nodes->pids[i] = load_burner(nodes->containers[i], cpu);
}

static double dispatches(const struct nodes *nodes, int first, int end)
{
	double count = 0.0;

	while (first < end)
		count += load_schedstat(nodes->pids[first++]).count;
	return count;
}

/*
 * The kernel's wait counts, read just outside and just inside the window. The readings just outside
 * the window give an upper bound for the number of waits in the window. The readings just inside
 * the window give a lower bound for the number of waits.
 */
struct bounds {
	double a[4], b[4], init[4];
};

static void bounds_take(const struct nodes *nodes, struct bounds *bounds, int at)
{
	bounds->a[at] = dispatches(nodes, 0, 2);
	bounds->b[at] = dispatches(nodes, 2, 3);
	bounds->init[at] = load_init_schedstat().count;
}

static struct report *measure(const struct nodes *nodes, const struct runq_opts *opts,
			      struct bounds *bounds)
{
	struct meter *meter = window_open(opts);
	struct report *report;

	/* Wait until all waits have ended that began before subtick attached its BPF programs. */
	window_wait(meter, 200);
	bounds_take(nodes, bounds, 0);
	window_begin(meter);
	bounds_take(nodes, bounds, 1);
	window_wait(meter, 500);
	bounds_take(nodes, bounds, 2);
	report = window_end(meter, 0);
	bounds_take(nodes, bounds, 3);
	meter->ops->close(meter);
	return report;
}

static void check_count(const char *what, const struct report *report, const char *row,
			const struct bounds *bounds, const double at[4])
{
	double count = window_group(report, row, "count");
	double least = at[2] - at[1], init = bounds->init[3] - bounds->init[0];

	if (count > 0 && count < least && count >= least - init) {
		live_skip(what,
			  "not judged: %.0f waits, the kernel counted %.0f; init ran %.0f times, "
			  "and the "
			  "kernel may not trace what comes after it",
			  count, least, init);
		return;
	}
	if (!live_ok(count >= least && count <= at[3] - at[0] && count > 0,
		     "%s: %.0f waits, the kernel counted %.0f to %.0f", what, count, least,
		     at[3] - at[0]))
		live_note("unknown start %.0f, negative %.0f, table full %.0f, missed %.0f",
			  window_quality(report, "unknown_start_total"),
			  window_quality(report, "negative_total"),
			  window_quality(report, "table_full_total"),
			  window_quality(report, "recursion_misses_total"));
}

static void check_pods(const struct nodes *nodes)
{
	struct runq_opts opts = {.sum = ROLLUP_POD, .blame = true, .blame_rows = 1000};
	double blamed, sum, longest;
	struct bounds bounds;
	struct report *report = measure(nodes, &opts, &bounds);

	check_count("pod with two containers, cgroupfs driver", report, nodes->pod_a, &bounds,
		    bounds.a);
	check_count("pod with one container, systemd driver", report, nodes->pod_b, &bounds,
		    bounds.b);
	live_ok(isnan(window_group(report, nodes->containers[0], "count")),
		"containers have no rows of their own");
	/*
	 * subtick reads its table of wait times and its table of blamed times one after the other,
	 * so a wait may end between the two reads.
	 */
	blamed = window_blame(report, nodes->pod_a, NULL);
	sum = window_group(report, nodes->pod_a, "sum_ns");
	longest = window_group(report, nodes->pod_a, "max_ns");
	live_ok(fabs(blamed - sum) <= 2 * longest && blamed > sum / 2,
		"blame of a pod sums to its waits: %.0f of %.0f ns, the longest %.0f", blamed, sum,
		longest);
	live_ok(window_blame(report, nodes->pod_a, nodes->pod_b) > 0 &&
			window_blame(report, nodes->pod_a, nodes->pod_a) > 0,
		"behind the other pod, and behind itself");
	report_free(report);
}

static void check_rest(const struct nodes *nodes)
{
	const char *asked[] = {nodes->pod_a};
	struct runq_opts one = {.cgroups = asked, .nr_cgroups = 1};
	struct runq_opts tree = {.cgroups = asked, .nr_cgroups = 1, .tree = true};
	struct runq_opts depth = {.depth = 2};
	struct runq_opts qos = {.sum = ROLLUP_QOS};
	char burstable[128];
	struct bounds bounds;
	struct report *report = measure(nodes, &one, &bounds);

	check_count("--cgroup of a pod", report, nodes->pod_a, &bounds, bounds.a);
	report_free(report);
	report = measure(nodes, &tree, &bounds);
	live_ok(window_group(report, nodes->containers[0], "count") > 0 &&
			window_group(report, nodes->containers[1], "count") > 0 &&
			window_group(report, nodes->pod_a, "count") == 0,
		"--tree has a row for each container, and for the pod what it waited itself");
	report_free(report);
	report = measure(nodes, &depth, &bounds);
	snprintf(burstable, sizeof(burstable), "%s/burstable", nodes->top);
	check_count("--depth 2", report, burstable, &bounds, bounds.a);
	report_free(report);
	report = measure(nodes, &qos, &bounds);
	live_ok(window_group(report, "(no pod)", "count") > 0, "--per qos has what is in no pod");
	/*
	 * The rows of --per qos may also contain other pods of this machine, so no upper bound
	 * applies.
	 */
	bounds.a[3] = bounds.b[3] = INFINITY;
	check_count("--per qos", report, "burstable", &bounds, bounds.a);
	check_count("--per qos", report, "besteffort", &bounds, bounds.b);
	report_free(report);
}

/*
 * Tests the pod rules of the exporter, with causes and blame. The counters of an excluded pod must
 * not change. The counters of the included pod must contain all waits of that pod. An excluded pod
 * must appear as culprit "(excluded)".
 */
static void check_exporter(const struct nodes *nodes)
{
	struct runq_rules rules = {0};
	struct runq_opts opts = {.rules = &rules,
				 .fold_excluded = true,
				 .causes = true,
				 .blame = true,
				 .steps_only = true,
				 .reserve = 100};
	struct bounds bounds = {0};
	struct report *report;
	struct meter *meter;
	struct err err = {0};
	char text[256];
	double counted;
	int rc;

	snprintf(text, sizeof(text), "cgroup=%s", nodes->pod_b);
	rc = runq_rules_add(&rules, false, text, &err);
	snprintf(text, sizeof(text), "cgroup=%s", nodes->top);
	if (rc || runq_rules_add(&rules, true, text, &err)) {
		live_ok(false, "%s", err.what);
		return;
	}
	meter = window_open(&opts);
	window_wait(meter, 200);
	bounds_take(nodes, &bounds, 0);
	window_begin(meter);
	bounds_take(nodes, &bounds, 1);
	window_wait(meter, 500);
	bounds_take(nodes, &bounds, 2);
	report = window_end(meter, 0);
	bounds_take(nodes, &bounds, 3);
	counted = window_group(report, nodes->containers[0], "count") +
		  window_group(report, nodes->containers[1], "count");
	live_ok(counted >= bounds.a[2] - bounds.a[1] - (bounds.init[3] - bounds.init[0]) &&
			counted <= bounds.a[3] - bounds.a[0],
		"exporter: %.0f waits of the included pod, the kernel counted %.0f to %.0f", counted,
		bounds.a[2] - bounds.a[1], bounds.a[3] - bounds.a[0]);
	live_ok((double)runq_window(meter)->waits_seen - counted < (bounds.b[2] - bounds.b[1]) / 2,
		"exporter: the programs counted %.0f other waits, the excluded pod alone had %.0f",
		(double)runq_window(meter)->waits_seen - counted, bounds.b[2] - bounds.b[1]);
	live_ok(window_blame(report, nodes->containers[0], "(excluded)") > 0 &&
			window_blame(report, nodes->containers[0], nodes->containers[2]) <= 0,
		"exporter: an excluded culprit is (excluded)");
	report_free(report);
	meter->ops->close(meter);
	runq_rules_free(&rules);
}

int main(void)
{
	struct nodes nodes;
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	nodes_make(&nodes, cpu);
	check_pods(&nodes);
	check_rest(&nodes);
	check_exporter(&nodes);
	for (int i = 0; i < NR_TASKS; i++)
		load_kill(nodes.pids[i]);
	return live_done();
}
