/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules that turn an overview window into findings. The code of the rules reads no files. */
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
/* Upper bound of the lost time of a victim with low priority, as a share of the window length. */
#define RULE_MEANT 0.02

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
	 * CPU time of live tasks with the same name and parent as the processes of @exited. @ns
	 * includes the CPU time of these live tasks.
	 */
	uint64_t siblings_ns;
	uint64_t top_ns, top_count; /* CPU time and number of all tasks with the name of @top */
	uint64_t sleeps;	    /* number of times that live tasks went to sleep */
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
	 * Factor for the lost time of findings about the victim: the share of the victim's wait
	 * time that interrupts did not cause, times process_share.
	 */
	double weight;
	/* Wait time per pair of victim and culprit, for all victims. */
	const struct runq_blame *rows;
	size_t nr_rows;
	struct task_sums sums;
};

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
 * Returns the part of the parent's CPU time that counts as CPU time of its short-lived processes,
 * because the parent uses CPU time to start the processes. This part is at most the CPU time of the
 * short-lived processes.
 */
uint64_t forking_ns(const struct task_sums *sums);
/*
 * Lost time in a finding about a victim that has cpu.idle, SCHED_IDLE or a low weight. A victim of
 * low priority is usually meant to wait, so the finding ranks below the findings about all other
 * victims.
 */
static inline uint64_t meant_ns(const struct overview_window *o, uint64_t lost_ns)
{
	uint64_t most = (uint64_t)(RULE_MEANT * (double)o->load->window_ns);

	return lost_ns < most ? lost_ns : most;
}
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
 * contains "$p". If more than 100 tasks match, the command uses option -a of chrt or taskset for
 * whole processes. @command is "" if no task matches, or if no command for all matching tasks is
 * possible.
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
 * CPU-bound tasks. For many tasks of the root cgroup, the command instead moves the tasks to a new
 * cgroup. @command is "" if the tasks are too many for one command. Returns the busiest of the
 * tasks, or NULL if the tasks use less than the share @least of the CPU time of @sums.
 */
const struct suspect *yield_busy(const struct victim *v, const struct task_sums *sums, double least,
				 char command[FINDING_TEXT]);
/* Plural ending of "CPU" after the number @cpus, which is printed with two digits. */
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
/*
 * True if a task that ran for @ns and slept @sleeps times counts as CPU-bound. Waits of a CPU-bound
 * task count as normal sharing of the core, not as delay.
 */
bool is_cpu_bound(uint64_t ns, uint64_t sleeps);
/* True if @s is a live task of the group, or the sum of exited processes of the group. */
bool suspect_in(const struct suspect *s, const struct runq_group *group);
/* CPU time of all tasks of a cgroup, without the tasks of subtick. */
static inline uint64_t task_sums_ns(const struct task_sums *sums)
{
	return sums->ns + sums->exited_ns + sums->realtime_ns;
}
/*
 * Part of the wait time @wait_ns that tasks of @sums with a CPU time of @ns caused. @wait_ns is
 * divided among all tasks of @sums in proportion to their CPU time.
 */
uint64_t wait_part(uint64_t wait_ns, const struct task_sums *sums, uint64_t ns);
/*
 * Minimum time that the victim waits behind a culprit for a finding: RULE_SHARE of the victim's
 * wait time, without its waits behind subtick itself.
 */
double least_wait(const struct victim *v);
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
	uint64_t woken_ns; /* wait time after wake-ups, summed over all groups */
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
 * Adds findings about interrupts, softirqs and IPIs. If @report is NULL, adds no findings. A task
 * that waits for a running task also waits for the interrupts that delay the running task, so
 * @steal->taken then includes the share that interrupts caused. If @o->runq is NULL,
 * add_noise_finding() reads only the window @o->noise.
 */
void add_noise_finding(const struct overview_window *o, struct overview_steal *steal,
		       struct report *report);
/* Path of the cgroup that lost the most time to noise sources of a class; "" if none. */
const char *noise_hit_most(const struct noise_window *w, enum noise_class class);

#endif
