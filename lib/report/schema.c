/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lists behind schema.h. ./check schemas compares them with what the commands print. */
#include "report/schema.h"

#include <stdio.h>
#include <string.h>

#define CPU_KEYS                                                                                   \
	"cpu online busy_ratio task_ratio hardirq_ratio softirq_on_idle_ratio "                    \
	"softirq_on_task_ratio ksoftirqd_ratio idle_loop_ratio steal_ratio unknown_ratio "         \
	"poll_idle_ratio idle_ratio closure_error_ratio window_ns flags | "                        \
	"compare.bpf_busy_ratio compare.procstat_busy_ratio compare.procidle_busy_ratio "          \
	"compare.schedstat_busy_ratio compare.taskclock_busy_ratio compare.perf_tsc_busy_ratio "   \
	"compare.perf_calibrated_busy_ratio compare.bpf_pmu_busy_ratio"
#define LOAD_QUALITY                                                                               \
	"steal_known | closure_error_max_ratio torn_total odd_edges_total "                        \
	"paused_softirq_lost_total recursion_misses_total read_error_total irq_lost_total"
#define FINDING_KEYS "rule finding lost_ns next"
#define MODE_KEYS "mode shown_ns true_ns shown_level_ratio true_level_ratio error_ratio"
#define LOSSES "| torn_total odd_edges_total paused_softirq_lost_total recursion_misses_total"
#define MACHINE_KEYS                                                                               \
	"machine.host machine.kernel machine.arch machine.cpu_model machine.microcode "            \
	"machine.energy_perf_bias machine.energy_performance_preference "                          \
	"machine.cpufreq_driver machine.cpufreq_governor"

const struct schema_list schema_lists[] = {
	{"overview", "", "| wrong_ratio"},
	{"overview", "cpus", CPU_KEYS},
	{"overview", "all", CPU_KEYS},
	{"overview", "findings", FINDING_KEYS},
	{"overview", "runq", "cgroup count sum_ns avg_ns pN_ns max_ns"},
	{"overview", "quality", LOAD_QUALITY},

	{"load", "", "| wrong_ratio"},
	{"load", "cpus", CPU_KEYS},
	{"load", "all", CPU_KEYS},
	{"load", "softirqs", "cpu vec softirq_ratio softirq_total"},
	{"load", "irqs", "cpu irq handler irq_ratio irq_total avg_ns"},
	{"load", "tasks", "cpu pid tgid comm task_share_ratio of_tasks_ratio switches_total"},
	{"load", "bursts", "cpu count pN_ns le"},
	{"load", "bursts.le", "le_ns count"},
	{"load", "findings", FINDING_KEYS},
	{"load", "quality", LOAD_QUALITY},

	{"runq", "", "| hierarchy waits_seen"},
	{"runq", "groups",
	 "count sum_ns avg_ns max_ns pN_ns le | name#name namespace pod container image qos cgroup "
	 "cgroup_id pod_uid container_id runtime ended cpu pid tgid comm count_stderr_ratio sum_stderr_ratio causes.idle_exit_ns "
	 "causes.same_group_ns causes.other_group_ns causes.kernel_thread_ns causes.preempted_ns "
	 "causes.throttled_ns causes.migrated_ns causes.unknown_ns"},
	{"runq", "groups.le", "le_ns count"},
	{"runq", "blame", "victim culprit wait_ns count | victim_name culprit_name"},
	{"runq", "idle_states", "cgroup index name#state claimed_ns wait_ns count avg_ns"},
	{"runq", "pressure",
	 "cgroup waiting_ns waiting_contention_ns waiting_kernel_thread_ns waiting_idle_exit_ns "
	 "waiting_quota_ns stalled_ns stalled_contention_ns stalled_kernel_thread_ns "
	 "stalled_idle_exit_ns stalled_quota_ns psi_waiting_ns psi_stalled_ns | name#name"},
	{"runq", "waits",
	 "cpu wait_ns pid tgid comm victim culprit culprit_ns prev_comm prev_pid "
	 "end_monotonic_ns"},
	{"runq", "findings", FINDING_KEYS},
	{"runq", "quality",
	 "| schedstat_ratio unbooked_ratio percentile_error_ratio sample_ratio kernel_bytes "
	 "unknown_start_total negative_total table_full_total blame_full_total path_cut_total "
	 "recursion_misses_total ring_lost_total idle_states_full_total pressure_full_total "
	 "pressure_shared_total pressure_crowded_total pressure_unstable_total"},

	{"noise", "", "hierarchy | limit_max_ns limit_rate_hz limit_share_ratio exceeded_total"},
	{"noise", "cores",
	 "cpu noise_ratio hardirq_ratio softirqs_ratio kthread_ratio tasks_ratio idle_loop_ratio "
	 "poll_idle_ratio idle_ratio unknown_ratio steal_ratio events_total events_hz max_ns "
	 "closure_error_ratio window_ns flags | exceeded"},
	{"noise", "sources", "cpu kind irq name#source count sum_ns pN_ns max_ns time_ratio knob"},
	{"noise", "hits",
	 "cgroup#hit cgroup_id hardirq_ns hardirq_total softirqs_ns softirqs_total kthread_ns "
	 "kthread_total max_ns comm pid"},
	{"noise", "senders", "cpu from_cpu ipi count"},
	{"noise", "calls", "cpu from_cpu function count"},
	{"noise", "quality",
	 "closure_error_max_ratio steal_known nmi_known source_lost_total source_lost_ns "
	 "victim_lost_total | sender_lost_total calls_known call_lost_total torn_total odd_edges_total paused_softirq_lost_total "
	 "recursion_misses_total"},

	{"wake", "",
	 "overhead_ns uncertainty_ns driver governor guest asked_total taken_total | haltpoll "
	 "from_ns to_ns step_ratio points_per_step_total rejected.before_idle_total "
	 "rejected.woken_early_total rejected.other_first_total rejected.negative_total "
	 "rejected.elsewhere_total rejected.nmi_total rejected.lost_total "
	 "rejected.not_a_timer_total rejected.odd_state_total " MACHINE_KEYS},
	{"wake", "states",
	 "cpu source forced index name#state claimed_ns count min_ns median_ns mean_ns stddev_ns pN_ns "
	 "max_ns near_max_total near_max_ratio silent_median_ns exit_first_total irq_first_total "
	 "no_irq_total usage_total residency_ns above_total below_total refused_total "
	 "entered_total entered_ratio entered_by entered_max_ns package_slept_total verdict | "
	 "sum_ns le"},
	{"wake", "states.le", "le_ns count"},
	{"wake", "findings", FINDING_KEYS},
	{"wake", "by_state",
	 "source index name#state claimed_ns count entered_ratio min_ns median_ns max_ns verdict"},
	{"wake", "breakdown",
	 "cpu source stage count min_ns median_ns pN_ns max_ns step_median_ns"},
	{"wake", "prewake",
	 "cpu index name#state timer_median_ns remote_median_ns prewake_ns prewake_ratio significant"},
	{"wake", "residency", "cpu name#C-state hardware_ns hardware_ratio"},
	{"wake", "findings", FINDING_KEYS},
	{"wake", "cpus",
	 "cpu asked_total taken_total overhead_ns uncertainty_ns busy_median_ns busy_max_ns "
	 "clock_read_ns clock_step_ns"},
	{"wake", "quality", "| recursion_misses_total phc_half_window_ns phc_drift_ppb dma_ns dma_half_spread_ns"},

	{"audit", "",
	 "experiment | cpu user_hz tick_hz tick_ns tick_phase_ns complete asked_delays_total "
	 "asked_iterations_total asked_each_ns machine want_ratio rounding_window_ns "
	 "sampling_window_ns command_line cpu_list exit_status exit_signal regime "
	 "coherence_ratio irq_coherence_ratio softirq_counts_as_idle hidden_true_ratio "
	 "hidden_shown_ratio worst_error_ratio good_to_1_percent_ns good_to_01_percent_ns"},
	{"audit", "sets",
	 "set increments_total blurred_total coherence_ratio top_peaks read_hz read_ns "
	 "reader_busy_ratio"},
	{"audit", "peaks", "set interval_ns interval_ticks count share_ratio"},
	{"audit", "intervals", "set interval_ns interval_end_ns count"},
	{"audit", "delays",
	 "delay_ns slack_ns real_per_iteration_ns user_per_iteration_ns system_per_iteration_ns "
	 "true_per_iteration_ns user_times_ratio system_times_ratio procstat_factor_ratio "
	 "error_ratio | iterations_total real_ns expected_ns rusage_user_ns rusage_system_ns "
	 "pidstat_user_ns pidstat_system_ns procstat_user_ns procstat_system_ns procstat_busy_ns "
	 "thread_clock_ns bpf_task_ns bpf_busy_ns bpf_loop_ns procstat_per_iteration_ns "
	 "rusage_factor_ratio complete resumed"},
	{"audit", "loads",
	 "load window_ns period_ns phase_ns burn_ratio thread_ratio true_ratio "
	 "softirq_on_idle_ratio shown_ratio columns_sum_ratio"},
	{"audit", "errors",
	 "shown_by length_ns error_max_ratio | load windows_total void_total true_ratio "
	 "shown_ratio error_ratio error_median_ratio error_p99_ratio"},
	{"audit", "phases", "phase_ns true_ratio shown_ratio"},
	{"audit", "modes", MODE_KEYS " | load delay_ns slack_ns"},
	{"audit", "program",
	 "rusage_user_ns rusage_system_ns task_clock_ns true_user_ns true_system_ns "
	 "rusage_factor_ratio user_error_ratio others_ns"},
	{"audit", "quality", LOSSES " blurred_total"},

	{"crit", "",
	 "engine unit nr_samples nr_highest do_work rounds | believe percentile_cpu"},
	{"crit", "ops",
	 "op | batch batch_low=batch batch_high=batch median median_low=median "
	 "median_high=median average max max_avg percentiles.pN=percentile"},
	{"crit", "per_cpu", "cpu op median average max | batch max_avg"},
	{"crit", "tracepoints", 
	 "op off_before=batch on=batch off_after=batch cost=difference cost_low=difference "
	 "cost_high=difference exceeds_spread"},
	{"crit", "against", 
	 "op then=batch now=batch difference difference_low=difference difference_high=difference "
	 "exceeds_spread"},
	{"crit", "quality", "| clock_step_ns clock_ns call_ns below_overhead_total"},

	{"trace", "",
	 "| event event_at_ns event_ns event_cpu event_comm event_pid event_cgroup event_waits_total "
	 "event_long_total event_window_ns"},
	{"trace", "cpus",
	 "cpu busy_ratio task_ratio hardirq_ratio softirq_on_idle_ratio softirq_on_task_ratio "
	 "ksoftirqd_ratio idle_loop_ratio unknown_ratio poll_idle_ratio idle_ratio window_ns "
	 "edges_total edges_lost_total gaps_total ticks_total frequency_hz timeline"},
	{"trace", "waits",
	 "at_ns cpu wait_ns pid comm began quota_held quota_held_ns waker_comm waker_pid waker_cpu culprit "
	 "culprit_pid culprit_ns irq_ns softirq_ns idle_ns"},
	{"trace", "tasks", "pid tgid comm cgroup_id run_ns count sum_ns max_ns"},
	{"trace", "quality",
	 "edges_lost_total names_lost_total odd_edges_total recursion_misses_total "
	 "unknown_start_total kernel_bytes"},

	{"doctor", "", ""},
	{"doctor", "checks", "check status detail fix"},
	{"doctor", "commands", "command status detail fix"},
	{"doctor", "quality", ""},
	{NULL, NULL, NULL},
};

/* The metric of a key; of a column with a number in its name that of the family. */
static const struct metric *find(const char *name, size_t len)
{
	char key[64];
	enum metric_id id;

	if (len == 5 && !strncmp(name, "pN_ns", len))
		return metric_get(M_PERCENTILE_NS);
	snprintf(key, sizeof(key), "%.*s", (int)len, name);
	id = metric_find(key, UNIT_NS);
	return id == METRIC_NR ? NULL : metric_get(id);
}

/* The metric with that key, and that title or start of its help: "name#state" is that of an idle state. */
static const struct metric *find_titled(const char *name, size_t len, const char *title,
					size_t title_len)
{
	for (unsigned int id = 0; id < METRIC_NR; id++) {
		const struct metric *metric = metric_get(id);
		bool titled = strlen(metric->title) == title_len &&
			      !strncmp(metric->title, title, title_len);

		if (strlen(metric->key) == len && !strncmp(metric->key, name, len) &&
		    (titled || !strncmp(metric->help, title, title_len)))
			return metric;
	}
	return NULL;
}

static void read_key(const char *at, size_t len, bool optional, struct schema_key *ret_key)
{
	const char *equals = memchr(at, '=', len), *hash = memchr(at, '#', len);
	const char *mark = equals ? equals : hash;
	size_t name = mark ? (size_t)(mark - at) : len, rest = mark ? len - name - 1 : 0;

	*ret_key = (struct schema_key){at, name, optional, NULL};
	if (hash)
		ret_key->metric = find_titled(at, name, mark + 1, rest);
	else
		ret_key->metric = equals ? find(mark + 1, rest) : find(at, len);
}

bool schema_next(const char **keys, bool *optional, struct schema_key *ret_key)
{
	const char *at = *keys;

	for (;;) {
		size_t len;

		at += strspn(at, " ");
		len = strcspn(at, " ");
		*keys = at + len;
		if (!len)
			return false;
		if (len != 1 || *at != '|') {
			read_key(at, len, *optional, ret_key);
			return true;
		}
		*optional = true;
		at += len;
	}
}
