/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules that turn an overview window into findings without reading files. */
#ifndef SUBTICK_PRESENT_OVERVIEW_RULES_H
#define SUBTICK_PRESENT_OVERVIEW_RULES_H

#include <sched.h>

#include "measure/overview/overview.h"
#include "report/findings.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* minimum wait time for a finding: 10 ms per second, summed over all tasks of a group */
#define RULE_WAITS 0.01
#define RULE_NOISE 0.05 /* minimum share of a core's time for a finding about a noise source */
#define RULE_IDLE  0.5	/* minimum idle share of a core that could have run the waiting task */
#define RULE_MOST  0.5	/* minimum share of a sum that counts as most of the sum */
/*
 * Minimum share of the victim's wait time that a culprit must cause to be named. Stopping a culprit
 * that causes less than RULE_SHARE of the wait time would not help the victim.
 */
#define RULE_SHARE 0.05

/* Minimum number of exits in the window if processes are called short-lived. */
#define SHORT_LIVED 5
/*
 * Factor that reduces the lost time of a finding, for example if the culprit already has the lowest
 * priority by SCHED_IDLE or cpu.idle.
 */
#define RULE_LIGHT 0.1

enum overview_rule {
	RULE_QUOTA,
	RULE_REALTIME,
	RULE_AFFINITY,
	RULE_CPUSET,
	RULE_SHORT_LIVED,
	RULE_NEIGHBOUR,
	RULE_VICTIM_IDLE,
	RULE_SCHED_IDLE,
	RULE_NICE,
	RULE_SAME_GROUP,
	RULE_KERNEL_THREADS,
	RULE_KSOFTIRQD,
	RULE_STOP_MACHINE,
	RULE_IDLE_EXIT,
	RULE_HARDIRQ,
	RULE_TIMER,
	RULE_SOFTIRQ,
	RULE_IPI,
};
extern const struct finding_rule overview_rules[];
#define RULE(name) (&overview_rules[RULE_##name])

/*
 * CPU times and other sums of all tasks of one cgroup, or of several cgroups with one common
 * finding.
 */
struct task_sums {
	const char *path;
	const struct runq_group *group; /* group of the tasks; NULL for several cgroups */
	/* task with the most CPU time, except real-time tasks; NULL if no task is known */
	const struct suspect *top;
	/* Real-time or deadline task with the most CPU time, or NULL. */
	const struct suspect *realtime;
	const struct suspect *exited; /* sum of the exited processes of one name, or NULL */
	/*
	 * Task that started all processes of @exited, or NULL. The parent is in the cgroup of the
	 * exited processes, unless this cgroup has no live task. PID 1 is never the parent, because
	 * the kernel makes PID 1 the parent of orphaned processes. @parents is the number of parent
	 * processes with the same name.
	 */
	const struct suspect *parent;
	unsigned int parents;
	/* CPU time of live tasks, exited tasks, real-time tasks, and subtick itself. */
	uint64_t ns, exited_ns, realtime_ns, own_ns;
	/*
	 * Part of @ns: CPU time of live tasks with the same name and parent as the processes of
	 * @exited.
	 */
	uint64_t siblings_ns;
	uint64_t top_ns, top_count; /* CPU time and number of all tasks with the name of @top */
	/* Number of times that live tasks went to sleep: real-time tasks, and all other tasks. */
	uint64_t realtime_sleeps, sleeps;
	uint64_t exited_count;	    /* number of exited processes with the same name as @exited */
};

/* A group whose tasks wait for CPU time. */
struct victim {
	const struct overview_window *o;
	const struct runq_group_window *group;
	/* scheduling settings of the cgroup and its ancestors; NULL if unknown */
	const struct settings *settings;
	const char *name, *path;
	char buf[32];
	/*
	 * Subject of the sentence in a finding: the name of the cgroup. For the root cgroup, the
	 * subject is the process with the most wake-ups: "make (PID 7 in /)".
	 */
	char who[FINDING_NAME];
	const struct suspect *process; /* root cgroup only: process with the most wake-ups */
	/*
	 * Share of the root cgroup's waits that are waits of @process. 0.0 if @process wakes up too
	 * rarely for an estimate. 1.0 if the victim is not the root cgroup.
	 */
	double process_share;
	/*
	 * Share of the root cgroup's waits that are waits of processes. Kernel threads and exited
	 * processes serve no requests. 1.0 if the victim is not the root cgroup.
	 */
	double users_share;
	/* task that was runnable but never ran in the window, or NULL */
	const struct suspect *starved;
	bool meant; /* true if the victim has a low priority and is usually meant to wait */
	/*
	 * Shares of the victim's wait time: waits after wake-ups, and waits after preemptions of
	 * tasks that are not CPU-bound.
	 */
	double delayed, rested;
	/*
	 * Factor that reduced @delayed and @rested because the victim starts short-lived processes.
	 * Each new process begins with a wait, and its parent waits behind its own children.
	 */
	double forked;
	/*
	 * Factor for the lost time of findings about the victim: process_share times the share of
	 * the wait time that neither interrupts nor stolen time caused.
	 */
	double weight;
	/* Wait time per pair of victim and culprit, for all victims. */
	const struct runq_blame *rows;
	size_t nr_rows;
	struct task_sums sums;
	double least_ns; /* least_wait(), set by add_waits_finding() */
};

/* Fills @v for a group of the runq window of @o. */
void victim_init(struct victim *v, const struct overview_window *o,
		 const struct runq_group_window *group);

typedef bool (*suspect_filter)(const struct suspect *s, const void *arg);

/*
 * Returns a new finding of rule @rule about victim @v. The finding contains the p99 of the victim's
 * waits only if one cause has almost all of the wait time.
 */
struct finding victim_finding(const struct victim *v, const struct finding_rule *rule,
			      uint64_t lost_ns, uint64_t wait_ns);
const struct settings *settings_of(const struct overview_window *o, const char *path);
static inline int default_weight(const struct overview_window *o)
{
	return o->mounts.v1 ? 1024 : 100;
}
/*
 * Returns the settings of the cgroup whose path is the first @len bytes of @path, or NULL if
 * unknown.
 */
const struct settings_level *level_of(const struct overview_window *o, const char *path,
				      size_t len);
/*
 * Returns the live task after @s in cgroup @path, without kernel threads; if @s is NULL, the first
 * task.
 */
const struct suspect *next_task(const struct overview_window *o, const char *path,
				const struct suspect *s);
#define for_each_task(s, o, path)                                           \
	for (const struct suspect *s = next_task(o, path, NULL); s != NULL; \
	     s = next_task(o, path, s))
/* Returns the task with the most CPU time in cgroup @path for which @is returns true, or NULL. */
const struct suspect *find_task(const struct overview_window *o, const char *path,
				suspect_filter is, const void *arg);
/*
 * Returns "FILE=VALUE", the setting of the highest weight of a cgroup if @first is true, otherwise
 * of the lowest weight. If @has_idle is true, cpu.idle=1 sets the lowest weight.
 */
const char *weight_setting(const struct overview_window *o, bool first, bool has_idle);
/*
 * Formats a command that moves a process from the root cgroup into a new cgroup, which has the
 * highest weight if @first is true, and the lowest weight otherwise. The name of the new cgroup
 * contains @pid. @enter is the command that moves tasks into the new cgroup $d. If @enter is NULL,
 * process @pid is moved. The command does not set SCHED_IDLE for the parent of short-lived
 * processes, because SCHED_IDLE removes only half of the wait time (measured with Linux 6.12).
 */
void move_command(const struct victim *v, uint32_t pid, bool first, const char *enter,
		  char command[FINDING_TEXT]);
void sum_tasks(const struct overview_window *o, const struct runq_group *group,
	       struct task_sums *ret_sums);
void task_sums_add(struct task_sums *sums, const struct task_sums *other);
/*
 * Estimates the CPU time that the parent uses to start short-lived processes. The estimate is at
 * most the CPU time of the short-lived processes.
 */
uint64_t forking_ns(const struct task_sums *sums);
/* Number of processes with the name of @exited that exit per second. */
static inline double exited_hz(const struct overview_window *o, const struct task_sums *sums)
{
	return (double)sums->exited_count * 1e9 / (double)o->load->window_ns;
}
/*
 * True if short-lived processes of one name used more CPU time than all other tasks. A live process
 * counts as short-lived if it has the name and the parent of the exited processes.
 */
bool is_short_lived(const struct overview_window *o, const struct task_sums *sums);
/*
 * Formats a command for each task in cgroup @path for which @is returns true: "chrt -i -p 0 7", or
 * "for p in 7 8; do chrt -i -p 0 $p; done". The PID is the last word of each command, unless @each
 * contains "$p". If more than 100 tasks match, the command changes whole processes, except for
 * renice. @command is "" if no task matches, or if no command for all matching tasks is possible.
 */
void suspects_command(const struct overview_window *o, const char *path, suspect_filter is,
		      const void *arg, const char *each, char command[FINDING_TEXT]);
/*
 * Formats a command that gives tasks the lowest priority: SCHED_IDLE, and the lowest weight of
 * their autogroup if the victim is in another autogroup.
 */
void yield_command(const struct victim *v, const char *path, suspect_filter is, const void *arg,
		   char command[FINDING_TEXT]);
/*
 * Formats a command that gives the lowest priority to the tasks with the name of @sums->top and to
 * CPU-bound tasks. If the root cgroup has many such tasks, the command moves the tasks to a new
 * cgroup. @command is "" if the tasks are too many for one command. Returns the busiest task that
 * the command changes. If all such tasks use less than the share @least of the CPU time of @sums,
 * returns NULL and sets @command to "".
 */
const struct suspect *yield_busy(const struct victim *v, const struct task_sums *sums, double least,
				 char command[FINDING_TEXT]);
/* Returns "s", or "" if @cpus printed with two digits is 1. */
static inline const char *cpus_plural(double cpus)
{
	return cpus >= 0.995 && cpus < 1.05 ? "" : "s";
}
/* Formats the CPU use of the busiest tasks: "; 4 tasks named burner use 1.9 CPUs", or "". */
const char *task_sums_text(const struct overview_window *o, const struct task_sums *sums, char *buf,
			   size_t size);
/*
 * Formats the wait time of finding @f: "402 ms per second, 80 % of its waiting (p99 3.1 ms)". If
 * the waits of the finding have several causes, the text contains no p99.
 */
const char *wait_text(const struct victim *v, const struct report *report, const struct finding *f,
		      char *buf, size_t size);
bool has_name(const struct suspect *s, const void *name);
bool is_realtime(const struct suspect *s);
/* True if tasks with SCHED_IDLE have at least half of the victim's wake-ups. */
bool waits_by_policy(const struct victim *v);
/*
 * True if a task that ran for @ns and slept @sleeps times counts as CPU-bound. Waits of a CPU-bound
 * task count as normal sharing of the core, not as delay.
 */
bool is_cpu_bound(uint64_t ns, uint64_t sleeps);
/*
 * Factor for the lost time of findings about waits that always delay the victim: RULE_LIGHT if the
 * tasks of the victim are CPU-bound, so that findings about victims that serve requests come first.
 */
static inline double bound_factor(const struct victim *v)
{
	return is_cpu_bound(v->sums.ns + v->sums.realtime_ns,
			    v->sums.sleeps + v->sums.realtime_sleeps)
		       ? RULE_LIGHT
		       : 1.0;
}
/* True if @s is a live task of the group, or the sum of exited processes of the group. */
bool suspect_in(const struct suspect *s, const struct runq_group *group);
/* CPU time of all tasks of a cgroup, without the tasks of subtick. */
static inline uint64_t task_sums_ns(const struct task_sums *sums)
{
	return sums->ns + sums->exited_ns + sums->realtime_ns;
}
/*
 * Part of @wait_ns that tasks with the CPU time @ns caused, if all tasks of @sums caused @wait_ns
 * in proportion to their CPU time.
 */
uint64_t wait_part(uint64_t wait_ns, const struct task_sums *sums, uint64_t ns);
bool is_victim(const struct victim *v, const struct runq_blame *row);
/*
 * If tasks were not measured, and @f contains neither a setting nor a command, recommends "subtick
 * --once", which names the tasks.
 */
void ask_overview(const struct victim *v, struct finding *f);
/*
 * Finds a mostly idle CPU that most tasks of the victim may not use. Sets the advice of @f to allow
 * the idle CPU for the tasks. Formats @text about the idle CPU: "; CPU 0, which its affinity
 * excludes, is 90 % idle". Returns the busiest task that may not use the idle CPU, or NULL if no
 * idle CPU or no task was found.
 */
const struct suspect *allow_idle_cpu(const struct victim *v, struct finding *f, char *text,
				     size_t size);
/*
 * Adds a finding if the victim waits while a CPU that the victim may not use is idle. @wait_ns
 * contains the victim's waits for tasks of all cgroups, because the victim would have none of these
 * waits on the idle CPU. Returns true if there is an idle CPU that the victim may not use.
 */
bool add_affinity_finding(const struct victim *v, uint64_t wait_ns, struct report *report);
/*
 * add_realtime_finding() adds a finding about the wait time @wait_ns that real-time tasks caused.
 * add_same_finding() adds a finding about the wait time @wait_ns that tasks of the victim's own
 * cgroup caused. @caused_ns is the longest wait time that the victim's cgroup causes in another
 * cgroup. @hog is true if a CPU-bound cgroup uses at least half of a CPU and has a finding.
 */
void add_realtime_finding(const struct victim *v, const struct task_sums *sums, uint64_t wait_ns,
			  struct report *report);
void add_same_finding(const struct victim *v, uint64_t wait_ns, uint64_t caused_ns, bool hog,
		      struct report *report);
/*
 * Adds a finding whose culprits are the exited processes of @sums. @of is the name of the cgroup of
 * the exited processes. @ranked_ns is the lost time that ranks the finding.
 */
void add_short_lived_finding(const struct victim *v, const struct task_sums *sums, const char *of,
			     uint64_t wait_ns, uint64_t lost_ns, uint64_t ranked_ns,
			     struct report *report);
/* Adds findings about waits that tasks of other cgroups cause, except real-time tasks. */
void add_neighbours_finding(const struct victim *v, struct report *report);
void add_kthreads_finding(const struct victim *v, const struct runq_blame *blame, uint64_t lost_ns,
			  struct report *report);
/*
 * Formats the setting that gives @culprit a lower priority than the victim: cpu.idle, the lowest
 * weight, or "" if there is no such setting.
 */
void set_yield(const struct victim *v, const char *culprit, char setting[FINDING_TEXT]);

/*
 * Time that the hypervisor stole from cores with a finding about stolen time. overview_steal() is
 * called once per report, because it reads all cgroups.
 */
struct overview_steal {
	uint64_t ns;
	uint64_t woken_ns; /* sum of overview_woken_ns() of all groups */
	/*
	 * Lost time ÷ stolen time. Longer waits of tasks for a core can raise the ratio above 1.
	 * The ratio is 1 without stolen time.
	 */
	double lost;
	/* share of the wait time after wake-ups that stolen time caused, from 0 to 1 */
	double taken;
};

struct overview_steal overview_steal(const struct overview_window *o);
/*
 * Time that tasks of a group waited after wake-ups. If tasks were measured, excludes waits that do
 * not delay the group, such as waits of kernel threads or of migrated CPU-bound tasks.
 */
uint64_t overview_woken_ns(const struct overview_window *o, const struct runq_group_window *group);
/*
 * Adds findings about interrupts, softirqs and IPIs, unless @report is NULL. Adds the share of wait
 * time that interrupts caused to @steal->taken, because an interrupt delays the running task and
 * the tasks that wait for the running task. If @o->runq is NULL, add_noise_finding() reads only the
 * window @o->noise.
 */
void add_noise_finding(const struct overview_window *o, struct overview_steal *steal,
		       struct report *report);
/* Path of the cgroup that lost the most time to noise sources of a class; "" if none. */
const char *noise_hit_most(const struct noise_window *w, enum noise_class class);

#endif
