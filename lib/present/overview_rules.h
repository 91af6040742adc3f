/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules that turn an overview window into findings. Pure: no file is read. */
#ifndef SUBTICK_PRESENT_OVERVIEW_RULES_H
#define SUBTICK_PRESENT_OVERVIEW_RULES_H

#include "measure/overview/overview.h"
#include "report/findings.h"

#define RULE_WAITS 0.01 /* 10 ms of waiting per second, by all tasks of a group */
#define RULE_NOISE 0.05 /* of a core */
#define RULE_IDLE  0.5	/* idle share of a core that could have run the task */
#define RULE_MOST  0.5	/* share from which a task stands for its cgroup */
/* A culprit with a smaller share of the victim's waiting is not named: ending it would not help. */
#define RULE_SHARE 0.05

/* Weight of waits that a setting asks for (SCHED_IDLE, cpu.idle) or that a cgroup causes itself. */
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

/* Tasks of one cgroup, or of several that are judged together. */
struct crew {
	const char *path;
	const struct suspect *top; /* ordinary task with most CPU time, or NULL if none is known */
	/* Most CPU time with a real-time or deadline policy, or NULL. */
	const struct suspect *realtime;
	const struct suspect *exited; /* processes of one name that exited, or NULL */
	/*
	 * Task that started all of them, or NULL. It is in the same cgroup, unless the cgroup has no
	 * live task. @parents counts changes of the task, whose name stays the same.
	 */
	const struct suspect *parent;
	unsigned int parents;
	/* CPU time of live, exited and real-time tasks, and of subtick. */
	uint64_t ns, exited_ns, realtime_ns, own_ns;
	uint64_t top_ns, top_count; /* of all tasks with the name of @top */
	uint64_t sleeps;	    /* of the live tasks */
	uint64_t exited_count;	    /* of all processes with the name of @exited */
};

/* A group that waits. */
struct victim {
	const struct overview_window *o;
	const struct runq_group_window *group;
	const struct settings *settings; /* NULL: unknown */
	const char *name, *path;
	char buf[32];
	/*
	 * Subject of sentences: the name of the cgroup. The root is no service. There it is the
	 * process with most wake-ups: "make (PID 7 in /)".
	 */
	char who[FINDING_NAME];
	const struct suspect *process; /* that process; NULL for other cgroups */
	double process_share;	       /* share of the root's waits; 1.0 for other cgroups */
	const struct suspect *starved; /* the only victim: a task that never ran in the window */
	/* Shares of its waits for cores: from wake-ups, and after preemptions of tasks that sleep. */
	double delayed, rested;
	double weight; /* share of the waits that is neither due to interrupts nor of other processes */
	const struct runq_blame *rows; /* waits by culprit, also of other victims */
	size_t nr_rows;
	struct crew crew;
};

typedef bool (*suspect_filter)(const struct suspect *s, const void *arg);

/* Finding of @rule about the victim. Without a figure of its own the cause has no p99. */
struct finding victim_finding(const struct victim *v, const struct finding_rule *rule,
			      uint64_t lost_ns, uint64_t wait_ns);
const struct settings *settings_of(const struct overview_window *o, const char *path);
/* Settings of the cgroup whose path is the first @len bytes of @path, or NULL if unknown. */
const struct settings_level *level_of(const struct overview_window *o, const char *path,
				      size_t len);
/* The task with most CPU time in a cgroup that passes the filter, or NULL. */
const struct suspect *find_task(const struct overview_window *o, const char *path,
				suspect_filter is, const void *arg);
void crew_of(const struct overview_window *o, const struct runq_group *group,
	     struct crew *ret_crew);
void crew_add(struct crew *crew, const struct crew *other);
/* True if short-lived processes of one name used more CPU time than all live tasks. */
bool is_short_lived(const struct overview_window *o, const struct crew *crew);
/*
 * Formats a command for each task in cgroup @path that passes @is: "chrt -i -p 0 7", or "for p in 7
 * 8; do chrt -i -p 0 $p; done". "" if there is none, or more than 32.
 */
void suspects_command(const struct overview_window *o, const char *path, suspect_filter is,
		      const void *arg, const char *each, char command[FINDING_TEXT]);
/* The s of "CPUs" after a number with two digits. */
static inline const char *cpus_plural(double cpus)
{
	return cpus >= 0.995 && cpus < 1.05 ? "" : "s";
}
/* "; 4 tasks named burner use 1.9 CPUs", or "". */
const char *crew_text(const struct overview_window *o, const struct crew *crew, char *buf,
		      size_t size);
/* "402 ms per second, 80 % of its waiting (p99 3.1 ms)"; without the p99 if there are more causes. */
const char *wait_text(const struct victim *v, const struct report *report, const struct finding *f,
		      char *buf, size_t size);
bool has_name(const struct suspect *s, const void *name);
bool is_realtime(const struct suspect *s);
/* True if a task that ran for @ns slept so rarely that its waits are its share of the core. */
bool is_cpu_bound(uint64_t ns, uint64_t sleeps);
/* True if the suspect is a task of the group, or stands for exited ones. */
bool suspect_in(const struct suspect *s, const struct runq_group *group);
/* CPU time of all tasks of a cgroup but subtick. */
static inline uint64_t crew_ns(const struct crew *crew)
{
	return crew->ns + crew->exited_ns + crew->realtime_ns;
}
/* Part of @wait_ns behind tasks of the crew that used @ns of CPU time. */
uint64_t wait_part(uint64_t wait_ns, const struct crew *crew, uint64_t ns);
/* True if the row has waits of the victim. */
bool is_victim(const struct victim *v, const struct runq_blame *row);
/* Without tasks and without a setting: the overview measures the tasks and names them. */
void ask_overview(const struct victim *v, struct finding *f);
/* True if "PATH=VALUE" is not empty and a shell reads it as one word without quotes. */
bool setting_is_plain(const char *setting);

/* Adds a finding if the victim waits while a CPU is idle that it may not use. True if it does. */
bool say_affinity(const struct victim *v, struct report *report);
/*
 * Add a finding about @wait_ns of waits behind real-time tasks, and behind tasks of the same cgroup.
 * @caused_ns: longest delay that this cgroup causes another one.
 */
void say_realtime(const struct victim *v, const struct crew *crew, uint64_t wait_ns,
		  struct report *report);
void say_same(const struct victim *v, uint64_t wait_ns, uint64_t caused_ns, struct report *report);
/* Adds a finding about processes of the crew that exited. @of is the name of their cgroup. */
void say_short_lived(const struct victim *v, const struct crew *crew, const char *of,
		     uint64_t wait_ns, uint64_t lost_ns, struct report *report);
/* Adds findings about waits behind ordinary tasks of other cgroups. */
void say_neighbours(const struct victim *v, struct report *report);
void say_kthreads(const struct victim *v, const struct runq_blame *blame, uint64_t lost_ns,
		  struct report *report);
/* Formats the setting that makes @culprit yield to the victim: cpu.idle, the lowest weight, or "". */
void set_yield(const struct victim *v, const char *culprit, char setting[FINDING_TEXT]);

/*
 * Adds findings for interrupts, softirqs and IPIs; NULL for @report adds none. A task that waits
 * behind another task also waits for the interrupts on top of that task. Returns the share of all
 * wake-up waits that interrupts account for, from 0 to 1. Without @o->runq only @o->noise is read.
 */
double say_noise(const struct overview_window *o, struct report *report);
/* The cgroup that lost most time to sources of a class; "" if none. */
const char *noise_hit_most(const struct noise_window *w, enum noise_class class);

#endif
