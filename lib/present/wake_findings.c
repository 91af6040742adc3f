/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds findings and notes of wake: late timers, exit latencies, sources, machine, sleep depth. */
#include "present/wake.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpuset.h"
#include "report/findings.h"

/*
 * Minimum sum of wake latencies for a finding: 10 ms per second on one core. On a quiet core, the
 * sum is at most 0.1 ms per second.
 */
#define LEAST 0.01
/* Minimum number of wake-ups for a reliable median of the wake latency. */
#define LEAST_COUNT 20

static const struct finding_rule waits = {"wake_exit", "idle", LEAST,
					  "run subtick runq --idle-states to see which cgroups "
					  "wait, and which latency limit prevents the waits"};
static const struct finding_rule exceeds = {
	"wake_exceeds", "idle", 0.0,
	"measure each idle state with subtick wake --each-state; cpupower idle-set -d N disables "
	"idle state N"};

typedef bool (*state_filter)(const struct wake_window *w, const struct wake_state *s);

/* Sum of one idle state over all cores whose row passes the filter. */
struct alike {
	char cpus[64];
	bool several; /* true if the sum is over more than one core */
	double worst_ns;
	uint64_t lost_ns;
};

/* True if the wake latencies of idle state @s on a core add up to a large share of the window. */
static bool is_slow(const struct wake_window *w, const struct wake_state *s)
{
	return s->source == WAKE_PASSIVE && s->index &&
	       (double)s->sum_ns >= LEAST * (double)w->window_ns;
}

/*
 * True if the median wake latency exceeds the claimed exit latency. A wrong exit latency misleads
 * the cpuidle governor only if most wake-ups take longer than claimed.
 */
static bool is_beyond_claim(const struct wake_window *w, const struct wake_state *s)
{
	return s->claimed_ns != WAKE_UNKNOWN && w->uncertainty_ns != WAKE_UNKNOWN &&
	       s->verdict == WAKE_EXCEEDS && s->summary.count >= LEAST_COUNT &&
	       s->summary.median_ns - (double)w->uncertainty_ns > (double)s->claimed_ns;
}

/*
 * Sums the idle state of @row over all cores. Returns false unless @row is the first row of the
 * idle state that passes the filter @is.
 */
static bool gather(const struct wake_window *w, size_t row, state_filter is,
		   struct alike *ret_alike)
{
	struct cpuset cpus = {0};

	if (!is(w, &w->states[row]))
		return false;
	*ret_alike = (struct alike){0};
	for (size_t i = 0; i < w->nr_states; i++) {
		const struct wake_state *s = &w->states[i];
		double over = s->summary.median_ns - (double)s->claimed_ns;

		if (strcmp(s->name, w->states[row].name) || !is(w, s))
			continue;
		if (i < row)
			return false;
		cpuset_add(&cpus, s->cpu);
		ret_alike->worst_ns = fmax(ret_alike->worst_ns, s->summary.median_ns);
		ret_alike->lost_ns += is == is_slow ? s->sum_ns :
						      (uint64_t)(over * (double)s->summary.count);
	}
	cpuset_format(&cpus, ret_alike->cpus, sizeof(ret_alike->cpus));
	ret_alike->several = cpuset_count(&cpus) > 1;
	return true;
}

static void add_findings(const struct wake_window *w, size_t row, struct report *report)
{
	const struct wake_state *s = &w->states[row];
	struct alike alike;
	char rate[32];

	if (gather(w, row, is_slow, &alike))
		findings_add(report, FINDING(&waits, alike.lost_ns),
			     "timers of CPU%s %s come late because of wake-ups from %s: %s",
			     alike.several ? "s" : "", alike.cpus, s->name,
			     findings_rate(report, alike.lost_ns, rate, sizeof(rate)));
	if (gather(w, row, is_beyond_claim, &alike))
		findings_add(report, FINDING(&exceeds, alike.lost_ns),
			     "CPU%s %s take%s %.3g us to leave %s (median); the driver claims %.3g us",
			     alike.several ? "s" : "", alike.cpus,
			     alike.several ? " up to" : "s", alike.worst_ns / 1e3, s->name,
			     (double)s->claimed_ns / 1e3);
}

void wake_findings(const struct wake_window *w, struct report *report)
{
	for (size_t i = 0; i < w->nr_states; i++)
		add_findings(w, i, report);
}

/* A known DMA read time (equation 9 in docs/methods/wake.md) is subtracted from the latency. */
static void note_dma(const struct wake_card *card, struct report *report)
{
	if (card->software || card->dma_given)
		return;
	if (card->dma.nr)
		report_note(report,
			    "source nic: by its own timestamps, the card sends %.2f us after the "
			    "launch time (median of %zu packets); in shallow states this time is "
			    "subtracted as DMA read time",
			    (double)card->dma.median_ns / 1e3, card->dma.nr);
	else
		report_note(
			report,
			"source nic: the card's DMA read time is unknown and not subtracted (%s): "
			"latencies of shallow states include it; set it with --dma",
			card->dma.unknown.what);
}

static void note_sources(const struct wake_window *w, struct report *report)
{
	if (wake_has(w->sources, WAKE_NIC))
		report_note(report, "source nic: %s, %s; %llu packets missed their launch time",
			    w->card.device,
			    w->card.software
				    ? "software ETF: a kernel timer sends, no card is measured"
				    : w->card.method,
			    (unsigned long long)w->card.missed);
	if (w->card.others[0])
		report_note(report, "source nic: other cards with a clock: %s; --device chooses one",
			    w->card.others);
	if (w->card.disciplines[0])
		report_note(report,
			    "source nic: %s adjusts clocks during the run; the figures ignore a "
			    "rate change between two readings of the card's clock, so stop it for "
			    "the run if the clock stays within 100 us of CLOCK_TAI without it",
			    w->card.disciplines);
	if (wake_has(w->sources, WAKE_NIC))
		note_dma(&w->card, report);
	if (w->card_chose_cpu)
		report_note(report,
			    "source nic: the card interrupts one core at a time; only CPU %u "
			    "was measured, name others with -C",
			    w->nr_cpus ? w->cpus[0].cpu : 0);
	if (wake_has(w->sources, WAKE_TIMER))
		report_note(report, "source timer: the core set this timer itself and may start to "
				    "wake before it is due; compare --sources timer,remote");
	if (wake_has(w->sources, WAKE_REMOTE))
		report_note(
			report,
			"source remote: another core wakes the measured core; the launch timestamp "
			"is taken %s",
			w->launch_at_waking
				? "as the wake-up begins, some 100 ns to 1 us before the IPI (this "
				  "kernel has no event for the IPI)"
				: "when the kernel sends the IPI or sets the flag of a polling "
				  "core");
	if (wake_has(w->sources, WAKE_PASSIVE))
		report_note(report,
			    "source passive: timers that other programs and the kernel set; "
			    "percentiles, and after the first window min and max, come from "
			    "buckets at most 3.1 %% wide");
}

static void note_machine(const struct wake_window *w, struct report *report)
{
	const struct wake_machine *m = &w->machine;

	if (m->virt.kind == VIRT_GUEST)
		report_note(report, "this is a guest (%s): the exit latency is mostly the host's",
			    m->virt.evidence);
	if (m->haltpoll)
		report_note(report, "haltpoll spins before it halts: short idle times have no exit "
				    "latency");
	if (!m->nr_states)
		report_note(report, "no cpuidle driver: one idle state, without a claimed exit "
				    "latency");
	else if (m->dma_latency_ns >= 0)
		report_note(report,
			    "a process holds /dev/cpu_dma_latency at %lld us: states with a "
			    "longer exit latency are not entered",
			    (long long)(m->dma_latency_ns / (int64_t)NSEC_PER_USEC));
}

/* True if an earlier row has the same idle state and @verdict, so a note covers @row, too. */
static bool is_noted(const struct wake_window *w, size_t row, enum wake_verdict verdict)
{
	for (size_t i = 0; i < row; i++)
		if (w->states[i].verdict == verdict &&
		    !strcmp(w->states[i].name, w->states[row].name))
			return true;
	return false;
}

static void note_not_entered(const struct wake_window *w, struct report *report)
{
	for (size_t i = 0; i < w->nr_states; i++)
		if (w->states[i].verdict == WAKE_NOT_ENTERED && !is_noted(w, i, WAKE_NOT_ENTERED))
			report_note(report,
				    "%s was requested but never entered (by %s): the figures in "
				    "its row belong to another idle state, so there is no verdict",
				    w->states[i].name, w->states[i].entered_by);
}

/*
 * The claimed exit latency of a deep state includes the wake-up of the package. The package cannot
 * sleep while another measured core or the sender's core is awake.
 */
static void note_package(const struct wake_window *w, struct report *report)
{
	bool known = false, slept = false, deep = false;

	array_for_each(s, w->states, w->nr_states) {
		const struct wake_evidence *e = &s->evidence;

		if (!e->package_can)
			continue;
		deep = true;
		known |= e->package_slept || e->package_awake;
		slept |= e->package_slept;
	}
	if (known && !slept)
		report_note(report, "the package never slept during the measurement (cstate_pkg: "
				    "never PC3 or deeper), so no figure includes the wake-up of "
				    "the package; measure one core with --source timer -C N "
				    "--alone, and check the firmware's limit of package states");
	else if (deep && !known && w->nr_cpus > 1)
		report_note(report,
			    "%zu cores were measured together, and no counter shows whether the "
			    "package slept: the figures may not include the wake-up of the "
			    "package; compare with -C N --alone",
			    w->nr_cpus);
	if (deep && wake_has(w->sources, WAKE_REMOTE) && w->sender_shares_package)
		report_note(report,
			    "source remote: the sender is in the same package and awake 60 us "
			    "before each launch, so the package is awake as well; --source timer "
			    "or nic, or a sender in another package (-C), lets it sleep");
}

const char *wake_limit_value(uint64_t limit_ns, char buf[24])
{
	snprintf(buf, 24, "%llu", (unsigned long long)(limit_ns / NSEC_PER_USEC));
	return limit_ns < NSEC_PER_USEC ? "n/a" : buf;
}

void wake_limit_setting(const struct wake_budget *b, char *buf, size_t size)
{
	char value[24];

	snprintf(buf, size, "/sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us=%s", b->cpu,
		 wake_limit_value(b->limit_ns, value));
}

/* Adds a note with the latency limit that suits all cores: the minimum over the cores. */
static void note_budget(const struct wake_window *w, struct report *report)
{
	uint64_t limit_ns = WAKE_UNKNOWN;

	array_for_each(b, w->budgets, w->nr_budgets) {
		if (b->limit_ns < limit_ns)
			limit_ns = b->limit_ns;
		if (b->fits < 0)
			report_note(report,
				    "budget: no idle state of CPU %u has enough points for a p99.9 "
				    "(1,000); --each-state without --quick has them",
				    b->cpu);
		else if (!b->fits)
			report_note(report,
				    "budget: no idle state of CPU %u has a p99.9 within the budget",
				    b->cpu);
	}
	if (limit_ns != WAKE_UNKNOWN)
		report_note(report,
			    "budget: test a latency limit of one CPU with subtick try --set "
			    "FILE=VALUE; to limit all CPUs, run a process that holds "
			    "/dev/cpu_dma_latency open with %llu us",
			    (unsigned long long)(limit_ns / NSEC_PER_USEC));
	else if (w->nr_budgets && !w->over_budget && w->machine.nr_states)
		report_note(report, "budget: every idle state has a p99.9 within the budget; no "
				    "latency limit is needed");
}

static void note_run(const struct wake_window *w, struct report *report)
{
	array_for_each(cpu, w->cpus, w->nr_cpus)
		if (cpu->offline)
			report_note(report, "CPU %u went offline during the run", cpu->cpu);
	if (w->sender_offline)
		report_note(report, "the sender's CPU went offline, which ended the run");
	if (w->overhead_ns == WAKE_UNKNOWN)
		report_note(report,
			    "%s: the overhead of subtick's timestamp is unknown and not subtracted",
			    w->bare ? "not calibrated"
				    : "a core was almost never idle during the calibration");
	if (w->stopped)
		report_note(report, "stopped before the end of the run");
}

void wake_notes(const struct wake_window *w, struct report *report)
{
	note_sources(w, report);
	note_machine(w, report);
	note_not_entered(w, report);
	note_package(w, report);
	note_budget(w, report);
	note_run(w, report);
}

#define TEXT(id, member)                   \
	COLUMN(struct machine, id, member, \
	       .flags = COLUMN_DATA_ONLY | COLUMN_EMPTY_IS_NULL | COLUMN_LATER)
static const struct column_spec machine_columns[] = {
	TEXT(M_MACHINE_HOST, host),
	TEXT(M_MACHINE_KERNEL, kernel),
	TEXT(M_MACHINE_ARCH, arch),
	TEXT(M_MACHINE_CPU_MODEL, cpu_model),
	TEXT(M_MACHINE_MICROCODE, microcode),
	TEXT(M_MACHINE_EPB, energy_perf_bias),
	TEXT(M_MACHINE_EPP, energy_perf_preference),
	TEXT(M_MACHINE_CPUFREQ_DRIVER, cpufreq_driver),
	TEXT(M_MACHINE_CPUFREQ_GOVERNOR, cpufreq_governor),
	COLUMN(struct machine, M_MACHINE_SOCKETS, sockets, .flags = COLUMN_DATA_ONLY | COLUMN_LATER),
	COLUMN(struct machine, M_MACHINE_SMT, smt, .flags = COLUMN_DATA_ONLY | COLUMN_LATER),
};
const struct table_spec wake_machine_table = TABLE("", NULL, machine_columns);
