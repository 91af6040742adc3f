/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the experiments of `subtick audit` on a simulated machine, and compares the loads that audit
 * starts and the cells and notes of its reports with audit.txt. The kernel of the machine charges
 * CPU time by a tick, as Linux does. Time passes only while audit waits or reads /proc/stat.
 */
#include "../unit/report_rows.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "gen/flood.h"
#include "golden.h"
#include "host/cpu.h"
#include "host/kernel.h"
#include "host/perf.h"
#include "present/audit.h"

#define STEP_NS	 (50 * US) /* step of the simulation, and duration of a read */
#define TICK_NS	 (4 * MS)
#define PHASE_NS (1300 * US) /* phase of the tick */
#define UNIT_NS	 (10 * MS)
#define DELAYED	 1000 /* every DELAYED-th read of /proc/stat takes a tick */
#define US	 NSEC_PER_USEC
#define MS	 NSEC_PER_MSEC
#define SEC	 NSEC_PER_SEC

enum experiment {
	TICKS,
	SOURCES,
	DELAYS,
	PAPER,
	PRECISION,
	COMMAND
};
enum kind {
	IDLE,
	MIX,
	PAUSES,
	DUTY,
	FLOOD,
	LOOP
};

/* Properties of a simulated machine. */
enum {
	ALONE = 1 << 0,	     /* subtick may use only CPU 1 */
	IRQ_TIME = 1 << 1,   /* the kernel measures interrupt time, as with IRQ_TIME_ACCOUNTING */
	EXACT = 1 << 2,	     /* the kernel measures all CPU time, as with VIRT_CPU_ACCOUNTING */
	BUSY = 1 << 3,	     /* other tasks use 30 % of CPU 1 */
	DYING = 1 << 4,	     /* the processes of loads die */
	STRAYING = 1 << 5,   /* CPU hotplug moves the processes of loads */
	UNREADABLE = 1 << 6, /* /proc/stat lacks CPU 1 */
	NO_BPF = 1 << 7,
	SLACKLESS = 1 << 8, /* the kernel ignores the timer slack */
	SILENT = 1 << 9,    /* the flood sends no packets */
};

static const uint64_t delays_ns[] = {0, 1000, 50000}, slacks_ns[] = {1, 50000};
static const struct audit_delay earlier[] = {
	{.delay_ns = 1000, .slack_ns = 1, .iterations = 7},
	{.delay_ns = 1000, .slack_ns = 50000, .complete = true, .iterations = 50},
};
static const struct run {
	const char *name;
	enum experiment experiment;
	unsigned int machine;
	struct audit_opts opts;
	uint64_t stop_ns;    /* time of Ctrl-C, or 0 */
	const char *argv[4]; /* command of COMMAND */
} runs[] = {
#define RUN(title, kind, ...)                                  \
	{                                                      \
		.name = title, .experiment = kind, __VA_ARGS__ \
	}
#define OPTS(...)  .opts = {__VA_ARGS__}
#define LOADS(...) .opts = {.brief = true, .loads = __VA_ARGS__}
#define CHOSEN(...)                      \
	.opts = {.delays_ns = delays_ns, \
		 .nr_delays = 3,         \
		 .slacks_ns = slacks_ns, \
		 .nr_slacks = 2,         \
		 .iterations = 1000,     \
		 __VA_ARGS__}
	RUN("brief", TICKS, OPTS(.brief = true)),
	RUN("interrupt time", TICKS, OPTS(.budget_ns = 4 * SEC), .machine = IRQ_TIME),
	RUN("alone", TICKS, OPTS(.brief = true), .machine = ALONE),
	RUN("exact", TICKS, OPTS(.budget_ns = 2 * SEC), .machine = EXACT),
	RUN("short", TICKS, OPTS(.budget_ns = 900 * MS)),
	RUN("stopped", TICKS, .stop_ns = 2 * SEC),
	RUN("dying", TICKS, .machine = DYING),
	RUN("unreadable", TICKS, .machine = UNREADABLE),
	RUN("default", SOURCES),
	RUN("on request", SOURCES, LOADS(AUDIT_ON_REQUEST)),
	RUN("phase", SOURCES, OPTS(.phase_given = true, .phase_ns = 100000, .budget_ns = 4 * SEC)),
	RUN("period", SOURCES, OPTS(.period_ns = 5000000, .loads = 3, .brief = true)),
	RUN("short", SOURCES, OPTS(.budget_ns = 2 * SEC)),
	RUN("too short", SOURCES, OPTS(.budget_ns = 2 * SEC, .loads = 1u << AUDIT_HIDDEN)),
	RUN("exact", SOURCES, LOADS(1u << AUDIT_RANDOM | 1u << AUDIT_HIDDEN), .machine = EXACT),
	RUN("not free", SOURCES, LOADS(1u << AUDIT_HIDDEN), .machine = BUSY),
	RUN("busy", SOURCES, LOADS(1u << AUDIT_RANDOM | 1u << AUDIT_IOWAIT), .machine = BUSY),
	RUN("alone", SOURCES, LOADS(1u << AUDIT_SOFTIRQ | 1u << AUDIT_MESSAGE), .machine = ALONE),
	RUN("silent", SOURCES, LOADS(1u << AUDIT_SOFTIRQ), .machine = SILENT),
	RUN("straying", SOURCES, LOADS(1u << AUDIT_RANDOM), .machine = STRAYING),
	RUN("dying", SOURCES, LOADS(1u << AUDIT_RANDOM), .machine = DYING),
	RUN("unreadable", SOURCES, .machine = UNREADABLE),
	RUN("without bpf", SOURCES, .machine = NO_BPF),
	RUN("stopped", SOURCES, .stop_ns = 9 * SEC),
	RUN("brief", DELAYS, OPTS(.brief = true, .budget_ns = SEC)),
	RUN("busy", DELAYS, CHOSEN(), .machine = BUSY),
	RUN("resumed", DELAYS, CHOSEN(.earlier = earlier, .nr_earlier = 2), .machine = IRQ_TIME),
	RUN("without bpf", DELAYS, CHOSEN(), .machine = NO_BPF | SLACKLESS),
	RUN("stopped at once", DELAYS, .stop_ns = 1),
	RUN("stopped", DELAYS, .stop_ns = 2 * SEC),
	RUN("short", DELAYS, OPTS(.budget_ns = 100 * MS)),
	RUN("dying", DELAYS, .machine = DYING),
	RUN("straying", DELAYS, .machine = STRAYING),
	RUN("unreadable", DELAYS, .machine = UNREADABLE),
	RUN("interrupt time", PAPER, CHOSEN(), .machine = IRQ_TIME),
	RUN("exact", PAPER, CHOSEN(), .machine = EXACT | NO_BPF),
	RUN("tick", PRECISION, OPTS(.budget_ns = 10 * SEC)),
	RUN("exact", PRECISION, .machine = EXACT),
	RUN("stopped", PRECISION, .stop_ns = SEC + 100 * MS),
	RUN("exit", COMMAND, .argv = {"sh", "-c", "exit 3"}),
	RUN("stopped", COMMAND, .argv = {"sleep", "60"}, .machine = NO_BPF, .stop_ns = 1),
	RUN("missing", COMMAND, .argv = {"/missing"}),
};

static struct machine {
	const struct run *run;
	uint64_t now_ns, reads;
	enum kind load;
	struct duty_opts duty;
	struct sleep_loop_opts loop;
	uint64_t begin_ns;		     /* start of the sleep loop */
	uint64_t shown_ns[PROCSTAT_NR_COLS]; /* charged by ticks */
	uint64_t true_ns[PROCSTAT_NR_COLS];
	uint64_t tasks_ns;  /* task time at the last call of tasks_true() */
	unsigned int waits; /* number of calls of waitid() */
} m;

static FILE *out;

static bool is(unsigned int property)
{
	return m.run->machine & property;
}

static uint64_t hash(uint64_t x)
{
	x = (x + 1) * 6364136223846793005ULL;
	x = (x ^ x >> 29) * 1442695040888963407ULL;
	return x >> 33;
}

static enum procstat_col duty_column(void)
{
	const struct duty_opts *d = &m.duty;
	uint64_t busy_ns = (uint64_t)((double)d->period_ns * d->duty);
	uint64_t at = m.now_ns - (d->locked ? d->phase_ns : 0), into = at % d->period_ns;
	uint64_t from = d->locked ? 0 : hash(at / d->period_ns) % (d->period_ns - busy_ns + 1);

	if (into >= from && into < from + busy_ns)
		return d->nice ? PROCSTAT_NICE : PROCSTAT_USER;
	return d->wait == DUTY_READ ? PROCSTAT_IOWAIT : PROCSTAT_IDLE;
}

/* Each iteration of the sleep loop uses 50 µs of user time and 50 µs of system time. */
static uint64_t iteration_ns(void)
{
	return 2 * STEP_NS + (m.loop.delay_ns ? m.loop.delay_ns + m.loop.slack_ns : 0);
}

static enum procstat_col column_now(void)
{
	/* Loads change between user, system and idle time in about 1 ms, but in no regular period. */
	uint64_t slot = (m.now_ns + hash(m.now_ns / (7 * MS)) % (5 * MS)) / MS,
		 percent = hash(slot) % 100;

	if (is(BUSY) && hash(slot + 99) % 100 < 30)
		return PROCSTAT_SYSTEM;
	switch (m.load) {
	case MIX:
		return percent < 60 ? PROCSTAT_USER : PROCSTAT_SYSTEM;
	case PAUSES:
		return percent < 60 ? PROCSTAT_USER : PROCSTAT_IDLE;
	case FLOOD:
		return percent < 40 ? PROCSTAT_SOFTIRQ : PROCSTAT_IDLE;
	case DUTY:
		return duty_column();
	case LOOP:
		slot = (m.now_ns - m.begin_ns) % iteration_ns() / STEP_NS;
		return slot == 0 ? PROCSTAT_USER : slot == 1 ? PROCSTAT_SYSTEM : PROCSTAT_IDLE;
	default:
		return PROCSTAT_IDLE;
	}
}

static void advance(uint64_t to_ns)
{
	for (; m.now_ns < to_ns; m.now_ns += STEP_NS) {
		enum procstat_col col = column_now();

		m.true_ns[col] += STEP_NS;
		if (is(EXACT) || (is(IRQ_TIME) && col == PROCSTAT_SOFTIRQ))
			m.shown_ns[col] += STEP_NS;
		else if ((m.now_ns - PHASE_NS) % TICK_NS < STEP_NS)
			m.shown_ns[col] += TICK_NS;
	}
}

static bool wait_until(uint64_t until_ns)
{
	advance(until_ns);
	return m.run->stop_ns && m.now_ns >= m.run->stop_ns;
}

static void print_progress(const char *what)
{
	fprintf(out, " <%s>", what);
}

/* The functions below replace those of the kernel and of lib/. */

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	*ret = clock_timespec(id == CLOCK_THREAD_CPUTIME_ID ? m.reads * STEP_NS / 2 : m.now_ns);
	return 0;
}

int __wrap_procstat_read(struct sys_text *stat, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	advance(m.now_ns + (++m.reads % DELAYED ? STEP_NS : TICK_NS));
	memset(cpus, 0, nr_cpus * sizeof(*cpus));
	cpus[0].nr_cols = PROCSTAT_NR_COLS;
	cpus[0].ticks[PROCSTAT_IDLE] = m.now_ns / UNIT_NS;
	if (nr_cpus < 2 || is(UNREADABLE))
		return 0;
	cpus[1].nr_cols = PROCSTAT_NR_COLS;
	for (int i = 0; i < PROCSTAT_NR_COLS; i++)
		cpus[1].ticks[i] = m.shown_ns[i] / UNIT_NS;
	return 0;
}

/* CPU 0 is busy for a quarter of the time. */
static void sample_true(struct load_source *source, struct load_sample *samples)
{
	const uint64_t *ns = m.true_ns;

	samples[0] = (struct load_sample){.part_ns = {[LOAD_PART_TASK] = m.now_ns / 4}};
	samples[1] = (struct load_sample){
		.part_ns = {[LOAD_PART_TASK] =
				    ns[PROCSTAT_USER] + ns[PROCSTAT_NICE] + ns[PROCSTAT_SYSTEM],
			    [LOAD_PART_SOFTIRQ_ON_IDLE] = ns[PROCSTAT_SOFTIRQ],
			    [LOAD_PART_IDLE] = ns[PROCSTAT_IDLE] + ns[PROCSTAT_IOWAIT]}};
	samples[0].part_ns[LOAD_PART_IDLE] = m.now_ns - m.now_ns / 4;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu].stamp_ns = samples[cpu].wall_ns = samples[cpu].total = m.now_ns;
		samples[cpu].busy = m.now_ns - samples[cpu].part_ns[LOAD_PART_IDLE];
	}
}

static void losses_true(struct load_source *source, struct load_losses *losses)
{
	losses->torn = 3;
}

static int tasks_true(struct load_source *source, const struct load_task **ret, size_t *ret_nr)
{
	static struct load_task tasks[] = {{.cpu = 0, .pid = LOOP, .ns = 1},
					   {.cpu = 1, .pid = 1, .ns = 2},
					   {.cpu = 1, .pid = LOOP}};

	tasks[2].ns = m.true_ns[PROCSTAT_USER] + m.true_ns[PROCSTAT_SYSTEM] - m.tasks_ns;
	m.tasks_ns += tasks[2].ns;
	*ret = tasks;
	*ret_nr = ARRAY_SIZE(tasks);
	return 0;
}

static void close_true(struct load_source *source)
{
}

int __real_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err);
int __wrap_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err)
{
	static const struct load_source_ops ops = {.name = "bpf",
						   .sample = sample_true,
						   .losses = losses_true,
						   .tasks = tasks_true,
						   .close = close_true};
	static struct load_source source;

	if (name && !strncmp(name, "proc", 4))
		return __real_load_source_open(name, opts, ret_source, err);
	if (is(NO_BPF) || (name && strcmp(name, "bpf")))
		return err_unsupported(err, -EPERM, "run as root", "no permission");
	source = (struct load_source){.ops = &ops,
				      .nr_cpus = opts->nr_cpus,
				      .rate = 1.0,
				      .parts = 1u << LOAD_PART_TASK |
					       1u << LOAD_PART_SOFTIRQ_ON_IDLE |
					       1u << LOAD_PART_IDLE};
	*ret_source = &source;
	return 0;
}

int __wrap_cpu_nr(unsigned int *ret_nr, struct err *err)
{
	*ret_nr = 2;
	return 0;
}

int __wrap_cpu_set(const char *root, enum cpu_kind kind, struct cpuset *ret_set, struct err *err)
{
	return cpuset_parse("0-1", ret_set);
}

int __wrap_affinity_get(pid_t pid, struct cpuset *ret_cpus)
{
	return cpuset_parse(is(ALONE) ? "1" : "0-1", ret_cpus);
}

int __wrap_getloadavg(double avg[], int nr)
{
	avg[0] = 0.5 + (double)m.now_ns / 1e12;
	return nr;
}

enum kconfig_state __wrap_kconfig_running(const char *symbol)
{
	return is(IRQ_TIME) ? KCONFIG_YES : KCONFIG_NO;
}

bool __wrap_virt_own_pid_ns(const char *root)
{
	return false;
}

void __wrap_node_describe(char *buf, size_t size)
{
	snprintf(buf, size, "simulated");
}

/* The process id of a load is its kind. */
static int load_start(struct gen_child *child, enum kind load)
{
	child->pid = m.load = load;
	m.begin_ns = m.now_ns;
	return 0;
}

int __wrap_cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err)
{
	fprintf(out, " mix %d on %d", kind, cpu);
	return load_start(mix, kind == CPU_MIX_IDLE ? PAUSES : MIX);
}

int __wrap_flood_start(struct gen_child *flood, const struct flood_opts *opts, struct err *err)
{
	fprintf(out, " flood %d to %d: %u, %llu", opts->send_cpu, opts->recv_cpu, opts->burst,
		(unsigned long long)opts->pause_ns);
	return opts->xdp_drop ? err_unsupported(err, -ENOENT, "load the module", "there is no veth")
			      : load_start(flood, FLOOD);
}

uint64_t __wrap_flood_sent(const struct gen_child *flood)
{
	return !is(SILENT);
}

int __wrap_duty_start(struct gen_child *duty, const struct duty_opts *o, struct err *err)
{
	fprintf(out, " duty %g of %llu on %d, nice %d, wait %d for %d, phase %d %llu;", o->duty,
		(unsigned long long)o->period_ns, o->cpu, o->nice, o->wait, o->peer_cpu, o->locked,
		(unsigned long long)o->phase_ns);
	m.duty = *o;
	return load_start(duty, DUTY);
}

bool __wrap_duty_read(const struct gen_child *duty, struct duty_usage *ret_usage)
{
	uint64_t busy_ns = m.true_ns[PROCSTAT_USER] + m.true_ns[PROCSTAT_NICE];

	*ret_usage = (struct duty_usage){.at_ns = m.now_ns,
					 .burn_ns = busy_ns - busy_ns / 100,
					 .cpu_ns = busy_ns,
					 .wait_ns = m.true_ns[PROCSTAT_IOWAIT]};
	return true;
}

int __wrap_sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts,
			    struct err *err)
{
	fprintf(out, " %llu ns on %d", (unsigned long long)opts->length_ns, opts->cpu);
	m.loop = *opts;
	loop->pid = LOOP;
	return 0;
}

void __wrap_sleep_loop_go(struct gen_child *loop)
{
	load_start(loop, LOOP);
}

void __wrap_sleep_loop_halt(struct gen_child *loop)
{
	m.load = IDLE;
}

bool __wrap_sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result)
{
	uint64_t ran_ns = m.now_ns - m.begin_ns, nr = ran_ns / iteration_ns();
	bool all = m.loop.iterations ? nr >= m.loop.iterations : ran_ns >= m.loop.length_ns;

	if (m.load == LOOP && !all)
		return false;
	m.load = IDLE;
	*ret_result = (struct sleep_loop_result){.iterations = nr,
						 .real_ns = ran_ns,
						 .user_ns = nr * STEP_NS,
						 .system_ns = nr * STEP_NS,
						 .thread_ns = 2 * nr * STEP_NS,
						 .slack_ns = is(SLACKLESS) ? 0 : m.loop.slack_ns};
	return true;
}

/* True if the machine has @property, except for the search for the tick before the other loads. */
static bool ends(const struct gen_child *child, unsigned int property)
{
	return is(property) && !(m.run->experiment == SOURCES && child->pid == MIX);
}

bool __wrap_gen_child_alive(const struct gen_child *child)
{
	return child->pid && !ends(child, DYING);
}

bool __wrap_gen_child_on(const struct gen_child *child, int cpu)
{
	return child->pid && cpu == 1 && !ends(child, DYING | STRAYING);
}

void __wrap_gen_child_stop(struct gen_child *child)
{
	child->pid = 0;
	m.load = IDLE;
}

int __wrap_pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat)
{
	*ret_stat = (struct pidstat){.user_ticks = m.true_ns[PROCSTAT_USER] / UNIT_NS,
				     .system_ticks = m.true_ns[PROCSTAT_SYSTEM] / UNIT_NS};
	return pid == LOOP ? 0 : -ESRCH;
}

int __wrap_perf_task_open(struct perf_task *task, pid_t pid, struct err *err)
{
	return is(NO_BPF) ? err_set(err, -EACCES, "not permitted") : 0;
}

void __wrap_perf_task_read(const struct perf_task *task, struct perf_task_count *ret_count)
{
	*ret_count = (struct perf_task_count){40000000, 3000, is(NO_BPF) ? UINT64_MAX : 1000};
}

/* The command ends at the third call, whatever its real run time is. */
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	advance(m.now_ns + 50 * MS);
	if (type != P_PID || ++m.waits % 3)
		return 0;
	return __real_waitid(type, id, info, options & ~WNOHANG);
}

pid_t __real_wait4(pid_t pid, int *status, int options, struct rusage *usage);
pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	pid_t rc = __real_wait4(pid, status, options, usage);

	usage->ru_utime = (struct timeval){.tv_usec = 20000};
	usage->ru_stime = (struct timeval){.tv_usec = 10000};
	return rc;
}

static void print_table(const char *before, const struct table *table, const char *key)
{
	char cell[256];

	if (table->nr_rows)
		fprintf(out, "%s%s:", before, key);
	for (size_t i = 0; i < table->nr_rows * table->nr_cols; i++) {
		cell_format(&table->cells[i], cell, sizeof(cell));
		fprintf(out, "%s%s", i % table->nr_cols ? " " : "\n  ", cell);
	}
}

static void print_report(struct report *report)
{
	if (!report)
		return;
	fprintf(out, "\n%s, %llu", report->source, (unsigned long long)report->window_ns);
	print_table("\n", report->fields, "fields");
	print_table("\n", report->quality, "quality");
	for (size_t i = 0; i < report->nr_tables; i++)
		print_table("\n", report->tables[i], report->tables[i]->key);
	for (size_t i = 0; i < report->nr_notes; i++)
		fprintf(out, "\nnote: %s", report->notes[i]);
	report_free(report);
}

/* Prints each row of the run "resumed", and stops the run after row 5. */
static bool row_done(void *arg, const struct audit_delays *delays)
{
	struct report *report = NULL;

	if (!m.run->opts.nr_earlier)
		return true;
	audit_delays_line_report(delays, &report, NULL);
	print_report(report);
	return delays->nr < 5;
}

static const struct audit_env env = {
	.wait = wait_until, .progress = print_progress, .row = row_done};

static void print_run(const struct run *run)
{
	static const char *const names[] = {"ticks", "sources",	  "delays",
					    "paper", "precision", "command"};
	static struct audit_sources sources;
	struct audit_command_opts program = {.argv = (char *const *)run->argv, .out_to_err = true};
	struct report *report = NULL, *verdict = NULL;
	struct audit_findings found = {0};
	struct audit_opts opts = run->opts;
	struct audit_precision precision;
	struct audit_delays delays = {0};
	struct audit_ticks ticks = {0};
	struct audit_command command;
	struct err err = {0};

	m = (struct machine){
		.run = run, .now_ns = SEC, .load = run->experiment == COMMAND ? MIX : IDLE};
	opts.cpu = 1;
	opts.duty = 0.3;
	opts.share = 0.4;
	cpuset_parse("0-1", &program.cpus);
	fprintf(out, "%s, %s:", names[run->experiment], run->name);
	switch (run->experiment) {
	case TICKS:
		if (!audit_ticks(&opts, &env, &found, &ticks, &err))
			audit_ticks_report(&opts, &found, &ticks, &report, NULL);
		break;
	case SOURCES:
		if (audit_sources(&opts, &env, &found, &sources, &err))
			break;
		audit_sources_report(&opts, &found, &sources, &report, NULL);
		audit_verdict_report(&opts, &found, 1, &verdict, NULL);
		break;
	case DELAYS:
		audit_delays(&opts, &env, &found, &delays, &err);
		audit_delays_report(&opts, &found, &delays, delays.nr == 5, &report, NULL);
		break;
	case PAPER:
		audit_ticks(&opts, &env, &found, &ticks, &err);
		audit_delays(&opts, &env, &found, &delays, &err);
		audit_paper_report(&opts, &found, &ticks, &delays, &report, NULL);
		break;
	case PRECISION:
		if (!audit_precision(&opts, &env, 0.01, 0, &precision, &err))
			audit_precision_report(&opts, &precision, &report, NULL);
		break;
	case COMMAND:
		if (!audit_command(&program, &env, &found, &command, &err))
			audit_command_report(&found, &command, &report, NULL);
		break;
	}
	print_report(report);
	print_report(verdict);
	if (err.code)
		fprintf(out, "\nerror %d %d: %s; %s", err.code, err.unsupported, err.what,
			err.fix);
	fprintf(out, "\n");
	audit_ticks_free(&ticks);
	audit_delays_free(&delays);
}

int main(int argc, char **argv)
{
	char *text;
	size_t size;
	bool same;

	printf("1..1\n");
	out = open_memstream(&text, &size);
	array_for_each(run, runs, ARRAY_SIZE(runs))
		print_run(run);
	fclose(out);
	same = golden_same(argv[1], "audit.txt", text, size);
	free(text);
	return golden_tap(1, same, "audit.txt");
}
