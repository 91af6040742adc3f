/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds findings about interrupts, softirqs, IPIs and kernel threads. */
#include "present/overview_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/load.h"
#include "present/runq.h"

/*
 * Sum of a noise source over all cores on which the source takes at least RULE_NOISE of the time.
 */
struct spread {
	const struct noise_source *worst;
	uint64_t ns, count;
	struct cpuset cpus;
};

static bool is_due(const struct noise_window *w, const struct noise_source *s)
{
	return (s->kind != NOISE_KIND_THREAD && s->kind != NOISE_KIND_NMI) &&
	       (double)s->ns >= RULE_NOISE * (double)w->window_ns;
}

/*
 * Sums the noise source of @row over all cores. Returns false unless @row is the first row of the
 * source for which is_due() is true.
 */
static bool gather(const struct noise_window *w, size_t row, struct spread *ret_spread)
{
	const struct noise_source *first = &w->sources[row];
	struct spread all = {.worst = first};

	if (!is_due(w, first))
		return false;
	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *s = &w->sources[i];

		if (s->kind != first->kind || strcmp(s->name, first->name) || !is_due(w, s))
			continue;
		if (i < row)
			return false;
		all.ns += s->ns;
		all.count += s->count;
		cpuset_add(&all.cpus, s->cpu);
		if (s->ns > all.worst->ns)
			all.worst = s;
	}
	*ret_spread = all;
	return true;
}

const char *noise_hit_most(const struct noise_window *w, enum noise_class class)
{
	const struct noise_hit *most = NULL;

	for (size_t i = 0; i < w->nr_hits; i++)
		if (w->hits[i].key != NOISE_ON_IDLE && w->hits[i].key != NOISE_ON_THREAD &&
		    w->hits[i].ns[class] && (!most || w->hits[i].ns[class] > most->ns[class]))
			most = &w->hits[i];
	return most ? most->cgroup : "";
}

/* Tasks with the same name that went to sleep on one CPU. */
struct sleepers {
	const struct suspect *first; /* first of the tasks; NULL if no task went to sleep */
	uint64_t nr, sleeps;
};

/* Returns the tasks of one name that went to sleep most often on a CPU. */
static struct sleepers sleepers_on(const struct overview_window *o, uint32_t cpu)
{
	struct sleepers most = {0};

	for_each_suspect(s, &o->suspects) {
		struct sleepers of = {.first = s};

		if (!s->pid || s->kthread)
			continue;
		for_each_suspect(t, &o->suspects)
			if (t >= s && t->pid && t->cpu == cpu && has_name(t, s->name)) {
				of.nr++;
				of.sleeps += t->sleeps;
			}
		if (of.sleeps > most.sleeps)
			most = of;
	}
	return most;
}

static const struct noise_sender *top_sender(const struct noise_sent *sent, uint32_t cpu)
{
	const struct noise_sender *top = NULL;

	for (size_t i = 0; i < sent->nr; i++)
		if (sent->list[i].cpu == cpu && sent->list[i].from_cpu != cpu &&
		    (!top || sent->list[i].count > top->count))
			top = &sent->list[i];
	return top;
}

/*
 * Names the CPU that sends the most IPIs to the worst CPU of @all, the function that the IPIs call,
 * and the task that causes the IPIs. Returns false if the interrupts of @all are not IPIs, or if no
 * CPU sends at least half of the IPIs.
 */
static bool blame_sender(const struct overview_window *o, const struct spread *all,
			 struct finding *f, char *text, size_t size)
{
	const struct noise_sender *from = top_sender(&o->noise->senders, all->worst->cpu);
	const struct noise_sender *call = top_sender(&o->noise->calls, all->worst->cpu);
	const struct suspect *task;

	/* An interrupt without a recorded sender is not an IPI. */
	if (all->worst->kind != NOISE_KIND_VECTOR || !from || from->count < all->worst->count / 2)
		return false;
	task = suspects_busiest(&o->suspects, from->from_cpu);
	if (from->by_process && from->pid && from->pid != NOISE_BY_INTERRUPT)
		finding_set(f->culprit, "%.16s (PID %u)", from->comm, from->pid);
	else if (task)
		finding_set(f->culprit, "%s (PID %u)", task->name, task->pid);
	snprintf(text, size, ", sent by CPU %u%s%s%s%s", from->from_cpu,
		 from->by_process ? ", mostly by "
		 : task		  ? ", where mostly this task runs: "
				  : "",
		 from->by_process || task ? f->culprit : "",
		 call && call->name[0] ? "; they call " : "", call ? call->name : "");
	return true;
}

/*
 * Names the tasks that a timer wakes, provided that they sleep at least half as often as the timer
 * fires.
 */
static void blame_timer(const struct overview_window *o, const struct spread *all,
			struct finding *f, char *text, size_t size)
{
	struct sleepers of = sleepers_on(o, all->worst->cpu);
	double hz;

	if (!o->load || !of.first || of.sleeps < all->worst->count / 2)
		return;
	hz = (double)of.sleeps * 1e9 / (double)o->load->window_ns;
	if (of.nr == 1)
		finding_set(f->culprit, "%s (PID %u)", of.first->name, of.first->pid);
	else
		finding_set(f->culprit, "%s", of.first->name);
	if (of.nr == 1)
		snprintf(text, size, ", for %s, which sleeps %.0f times per second", f->culprit,
			 hz);
	else
		snprintf(text, size, ", for %llu tasks named %s, which sleep %.0f times per second",
			 (unsigned long long)of.nr, f->culprit, hz);
}

static double busy_ns(const struct load_window *w, uint32_t cpu)
{
	double busy =
		cpuset_has(&w->cpus, cpu) ? w->cpu[cpu].busy_ratio * (double)w->window_ns : 0.0;

	return busy > 0.0 ? busy : (double)w->window_ns;
}

/*
 * Adds the advice to set the affinity of a device's interrupt to cores that the interrupt does not
 * load now.
 */
static void move_line(const struct overview_window *o, const struct spread *all, struct finding *f)
{
	const struct noise_window *w = o->noise;
	struct cpuset others = {0};
	char cpus[64];

	for (size_t i = 0; i < w->nr_cores; i++)
		if (!cpuset_has(&all->cpus, w->cores[i].cpu) && !(w->cores[i].flags & LOAD_OFFLINE))
			cpuset_add(&others, w->cores[i].cpu);
	if (all->worst->kind != NOISE_KIND_IRQ || all->worst->irq == UINT32_MAX ||
	    cpuset_format(&others, cpus, sizeof(cpus)) >= sizeof(cpus) || !cpus[0])
		return;
	finding_set(f->setting, "/proc/irq/%u/smp_affinity_list=%s", all->worst->irq, cpus);
}

static void add_source_finding(const struct overview_window *o, const struct spread *all,
			       uint64_t behind_ns, struct report *report)
{
	const struct noise_source *s = all->worst;
	bool soft = s->kind == NOISE_KIND_SOFTIRQ;
	struct finding f = finding_of(soft ? RULE(SOFTIRQ) : RULE(HARDIRQ), all->ns + behind_ns);
	unsigned int nr = cpuset_count(&all->cpus);
	char cpus[64], from[512] = "";

	f.cpu = s->cpu;
	f.share = (double)all->ns / (double)o->noise->window_ns / nr;
	f.p99_ns = (double)s->p99_ns;
	f.next = s->knob;
	finding_set(f.culprit, "%s", s->name);
	finding_set(f.victim, "%s", noise_hit_most(o->noise, soft ? NOISE_SOFTIRQ : NOISE_HARDIRQ));
	if (strstr(s->name, "timer")) {
		f.rule = RULE(TIMER);
		blame_timer(o, all, &f, from, sizeof(from));
	} else if (blame_sender(o, all, &f, from, sizeof(from))) {
		f.rule = RULE(IPI);
	} else {
		move_line(o, all, &f);
	}
	cpuset_format(&all->cpus, cpus, sizeof(cpus));
	findings_add(report, &f, "%s%s take %.0f %% of CPU%s %s%s%s (%.0f per second)%s", s->name,
		     soft			    ? " softirqs"
		     : strstr(s->name, "interrupt") ? ""
						    : " interrupts",
		     100.0 * f.share, nr > 1 ? "s" : "", cpus,
		     f.victim[0] ? ", mostly from tasks of " : "", f.victim,
		     (double)all->count * 1e9 / (double)o->noise->window_ns, from);
}

void add_noise_finding(const struct overview_window *o, struct overview_steal *steal,
		       struct report *report)
{
	for (size_t i = 0; o->noise && i < o->noise->nr_sources; i++) {
		struct spread all;
		double part;

		if (!gather(o->noise, i, &all))
			continue;
		part = steal->woken_ns ? (double)all.worst->ns / busy_ns(o->load, all.worst->cpu)
				       : 0.0;
		part = fmin(part, 1.0 - steal->taken);
		steal->taken += part;
		if (report)
			add_source_finding(o, &all, (uint64_t)(part * (double)steal->woken_ns),
					   report);
	}
}

/*
 * CPU time of tasks that are not CPU-bound, as a share of the CPU time of all tasks. 1 if the CPU
 * times are unknown.
 */
static double sleepers_share(const struct suspects *tasks)
{
	double all = 0.0, sleepers = 0.0;

	for_each_suspect(s, tasks) {
		all += (double)s->ns;
		sleepers += is_cpu_bound(s->ns, s->sleeps) ? 0.0 : (double)s->ns;
	}
	return all > 0.0 ? sleepers / all : 1.0;
}

/*
 * Stolen time delays tasks in three ways: the hypervisor starts a halted core late, a task that is
 * not CPU-bound runs longer, and tasks that wait for a core wait longer. Stolen time is no delay
 * for CPU-bound tasks: without stolen time, CPU-bound tasks would only use more CPU time.
 */
struct overview_steal overview_steal(const struct overview_window *o)
{
	const struct load_window *w = o->load;
	struct overview_steal steal = {.lost = 1.0};
	double idle = 0.0, busy = 0.0, lost;

	for (size_t i = 0; o->runq && i < o->runq->nr_groups; i++) {
		idle += (double)runq_idle_exit_ns(o->runq, &o->runq->groups[i]);
		steal.woken_ns += overview_woken_ns(o, &o->runq->groups[i]);
	}
	if (!w)
		return steal;
	cpuset_for_each(cpu, &w->cpus) {
		if (w->cpu[cpu].flags & LOAD_NO_FIGURE || !load_is_stolen(&w->cpu[cpu]))
			continue;
		steal.ns += w->cpu[cpu].part_ns[LOAD_PART_STEAL];
		busy += w->cpu[cpu].busy_ratio * (double)w->window_ns;
	}
	if (!steal.ns)
		return steal;
	idle = fmin(idle, (double)steal.ns);
	steal.taken = (double)steal.ns / ((double)steal.ns + busy);
	lost = idle + ((double)steal.ns - idle) * sleepers_share(&o->suspects) +
	       (double)steal.woken_ns * steal.taken;
	steal.lost = lost / (double)steal.ns;
	return steal;
}

/*
 * True if two kernel threads do the same work, for example "kworker/u8:1-loop0" and
 * "kworker/u8:3-loop0".
 */
static bool same_work(const struct suspect *a, const struct suspect *b)
{
	const char *of_a = strpbrk(a->name, "-+"), *of_b = strpbrk(b->name, "-+");

	if (!strncmp(a->name, "kworker/", 8) && of_a && of_b)
		return !strncmp(b->name, "kworker/", 8) && !strcmp(of_a + 1, of_b + 1);
	return !strncmp(a->name, b->name, strcspn(a->name, "/") + 1);
}

/* Name of the softirq vector that waited longest for ksoftirqd on a CPU; NULL if unknown. */
static const char *delayed_vector(const struct noise_window *w, uint32_t cpu)
{
	const struct noise_delay *most = NULL;

	for (size_t i = 0; w && i < w->nr_delays; i++)
		if (w->delays[i].cpu == cpu && (!most || w->delays[i].times.ns > most->times.ns))
			most = &w->delays[i];
	return most ? load_vec_name(most->vec) : NULL;
}

/* Returns the workqueue function with the most CPU time, summed over all cores; NULL if unknown. */
static const struct noise_function *top_function(const struct noise_window *w, uint64_t *ret_ns)
{
	const struct noise_function *most = NULL;

	*ret_ns = 0;
	for (size_t i = 0; w && i < w->nr_functions; i++) {
		uint64_t ns = 0;

		for (size_t j = i; j < w->nr_functions; j++)
			ns += w->functions[j].key == w->functions[i].key ? w->functions[j].ns : 0;
		if (w->functions[i].name[0] && ns > *ret_ns) {
			*ret_ns = ns;
			most = &w->functions[i];
		}
	}
	return most;
}

/*
 * Adds a finding about kernel threads. The culprit is the thread, or the group of similar threads,
 * with the most CPU time.
 */
static void add_threads_finding(const struct victim *v, const struct suspect *top, double ns,
				double all, struct finding *f, struct report *report)
{
	const struct noise_function *function;
	const char *vector = NULL;
	uint64_t function_ns;
	char rate[96], what[128] = "", idle[96] = "";

	f->cpu = top->cpu;
	finding_set(f->culprit, "%s", top->name);
	if (!strncmp(top->name, "ksoftirqd/", 10)) {
		f->rule = RULE(KSOFTIRQD);
		vector = delayed_vector(v->o->noise, top->cpu);
		if (vector)
			finding_set(f->culprit, "%s in %s", vector, top->name);
	} else if (!strncmp(top->name, "migration/", 10)) {
		f->rule = RULE(STOP_MACHINE);
	} else if (!strncmp(top->name, "kworker/", 8)) {
		/*
		 * Changing the priority of one worker does not help, because any worker of the pool
		 * may execute the next work item.
		 */
		f->next = "find the code that queues this work with subtick trace";
	} else if (is_realtime(top)) {
		finding_set(f->command, "chrt -o -p 0 %u; renice -n 19 -p %u", top->pid, top->pid);
	} else if (top->nice < 19) {
		finding_set(f->command, "renice -n 19 -p %u", top->pid);
	}
	if (!f->command[0])
		allow_idle_cpu(v, f, idle, sizeof(idle));
	function = top_function(v->o->noise, &function_ns);
	if (vector)
		snprintf(what, sizeof(what), ", mostly %s softirqs", vector);
	else if (!strncmp(top->name, "kworker/", 8) && function &&
		 (double)function_ns > RULE_MOST * ns)
		snprintf(what, sizeof(what), ", mostly in %.64s", function->name);
	if (what[0] && function && !vector)
		finding_set(f->culprit, "%s: %.64s", top->name, function->name);
	findings_add(report, f, "kernel thread%s %s (%.2g CPU%s%s) make%s %s wait: %s%s",
		     ns < all ? "s, mostly" : "", top->name, ns / (double)v->o->load->window_ns,
		     cpus_plural(ns / (double)v->o->load->window_ns), what, ns < all ? "" : "s",
		     v->who, wait_text(v, report, f, rate, sizeof(rate)), idle);
}

void add_kthreads_finding(const struct victim *v, const struct runq_blame *blame, uint64_t lost_ns,
			  struct report *report)
{
	struct finding f = victim_finding(v, RULE(KERNEL_THREADS), lost_ns, blame->wait_ns);
	const struct suspect *top = NULL;
	double ns = 0.0, all = 0.0;
	char rate[96];

	for_each_suspect(s, &v->o->suspects) {
		if (!s->kthread)
			continue;
		top = top ?: s;
		all += (double)s->ns;
		ns += same_work(top, s) ? (double)s->ns : 0.0;
	}
	if (top)
		add_threads_finding(v, top, ns, all * RULE_MOST, &f, report);
	else
		findings_add(report, &f, "kernel threads make %s wait: %s", v->who,
			     wait_text(v, report, &f, rate, sizeof(rate)));
}
