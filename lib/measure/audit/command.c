/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a command and reads all clocks before its start and after its end. */
#include "measure/audit/command.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/audit/audit.h"
#include "measure/load/sources.h"
#include "host/cpu.h"
#include "host/file.h"
#include "host/perf.h"

#define NONE UINT64_MAX
/* Minimum and maximum of the polling interval, which is 1 % of the run time of the command. */
#define POLL_LEAST_NS (200 * NSEC_PER_USEC)
#define POLL_MOST_NS  (5 * NSEC_PER_MSEC)

struct edge {
	struct procstat_cpu *cpus;
	struct load_sample *samples;
};

struct run {
	const struct audit_command_opts *opts;
	const struct audit_env *env;
	struct audit_command *result;
	struct sys_text stat;
	struct load_source *bpf; /* source of the true CPU time; NULL if unavailable */
	struct perf_task perf;
	unsigned int nr_cpus;
	struct blocks memory;
	struct edge edges[2]; /* readings of all clocks at the command's start and end */
	pid_t pid;
	/* Socket to the child, which waits for a byte and sends errno if execve() fails. */
	int fd;
	uint64_t unit_ns;
};

static const int handled[] = {SIGINT, SIGTERM, SIGPIPE};

void audit_command_inherit(struct audit_command_opts *opts)
{
	int slack = prctl(PR_GET_TIMERSLACK);
	struct sigaction was;

	opts->slack_ns = slack > 0 ? (uint64_t)slack : AUDIT_DEFAULT_SLACK_NS;
	sigprocmask(SIG_BLOCK, NULL, &opts->blocked);
	sigemptyset(&opts->ignored);
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		if (!sigaction(handled[i], NULL, &was) && was.sa_handler == SIG_IGN)
			sigaddset(&opts->ignored, handled[i]);
}

static void __attribute__((noreturn))
child_main(const struct audit_command_opts *opts, int fd)
{
	char go;
	int rc;

	/* restore the signal dispositions that the command would have without subtick */
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		signal(handled[i], sigismember(&opts->ignored, handled[i]) ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &opts->blocked, NULL);
	prctl(PR_SET_TIMERSLACK, (unsigned long)opts->slack_ns);
	affinity_set(0, &opts->cpus);
	if (opts->out_to_err)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* read() returns 0 if the parent process closed its socket or died. */
	if (read(fd, &go, 1) != 1)
		_exit(127);
	execvp(opts->argv[0], opts->argv);
	rc = errno;
	if (write(fd, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

static int start(struct run *r, struct err *err)
{
	int pair[2], rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? -errno : 0;

	if (!rc) {
		r->pid = fork();
		rc = r->pid < 0 ? -errno : 0;
		if (!r->pid) {
			/*
			 * the child must read end of file if the parent fails, so close the
			 * parent's end
			 */
			close(pair[0]);
			child_main(r->opts, pair[1]);
		}
		close(pair[1]);
		r->fd = pair[0];
	}
	return rc ? err_set(err, rc, "cannot start the command: %s", strerror(-rc)) : 0;
}

static int read_edge(struct run *r, struct edge *edge, struct err *err)
{
	int rc = procstat_read(&r->stat, edge->cpus, r->nr_cpus);

	if (r->bpf)
		r->bpf->ops->sample(r->bpf, edge->samples);
	return rc ? err_set(err, rc, "cannot read /proc/stat: %s", strerror(-rc)) : 0;
}

/*
 * Starts the command. If execve() succeeds, the kernel closes the child's socket, so read() returns
 * 0. If execve() fails, the child sends errno over the socket.
 */
static int begin(struct run *r, struct err *err)
{
	ssize_t len;
	int why = 0;

	if (write(r->fd, "", 1) != 1)
		return err_set(err, -errno, "cannot start the command: %s", strerror(errno));
	do
		len = read(r->fd, &why, sizeof(why));
	while (len < 0 && errno == EINTR);
	if (len != sizeof(why))
		return 0;
	return err_set(err, -why, "cannot run %s: %s", r->opts->argv[0], strerror(why));
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static void wait_end(struct run *r, uint64_t begin_ns)
{
	while (!has_ended(r->pid)) {
		uint64_t now = clock_mono_ns(), pause = (now - begin_ns) / 100;

		pause = pause < POLL_LEAST_NS ? POLL_LEAST_NS : pause;
		pause = pause > POLL_MOST_NS ? POLL_MOST_NS : pause;
		if (!audit_wait(r->env, now + pause))
			continue;
		/* send SIGTERM only once, because the command may need time to end */
		if (!r->result->stopped)
			kill(r->pid, SIGTERM);
		r->result->stopped = true;
		usleep(POLL_MOST_NS / 1000);
	}
}

static int reap(struct run *r, struct err *err)
{
	struct rusage usage;

	while (wait4(r->pid, &r->result->status, 0, &usage) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "cannot wait for the command: %s",
				       strerror(errno));
	r->pid = -1;
	r->result->rusage_user_ns = timeval_ns(usage.ru_utime);
	r->result->rusage_system_ns = timeval_ns(usage.ru_stime);
	return 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a == NONE || b == NONE ? NONE : a + b;
}

static void sum_cpus(struct run *r)
{
	const struct edge *from = &r->edges[0], *to = &r->edges[1];
	struct audit_level *total = r->result->levels;

	for (int mode = 0; mode < AUDIT_NR_MODES; mode++)
		total[mode] = (struct audit_level){.true_ns = r->bpf ? 0 : NONE};
	cpuset_for_each(cpu, &r->opts->cpus) {
		struct audit_level one[AUDIT_NR_MODES];
		struct load_cpu_window w;

		if (!from->cpus[cpu].nr_cols || !to->cpus[cpu].nr_cols)
			continue;
		audit_modes_shown(&from->cpus[cpu], &to->cpus[cpu], r->unit_ns, one);
		if (r->bpf) {
			load_subtract(&from->samples[cpu], &to->samples[cpu], r->bpf->rate,
				      r->bpf->parts, &w);
			if (!(w.flags & LOAD_NO_FIGURE))
				audit_modes_true(&w, r->bpf->parts, one);
		}
		for (int mode = 0; mode < AUDIT_NR_MODES; mode++) {
			total[mode].shown_ns += one[mode].shown_ns;
			total[mode].true_ns = plus(total[mode].true_ns, one[mode].true_ns);
		}
	}
}

void audit_command_derive(struct audit_command *c)
{
	uint64_t accounted = c->rusage_user_ns + c->rusage_system_ns;
	uint64_t tasks = c->levels[AUDIT_MODE_TASKS].true_ns;
	double used = c->task_clock_ns && c->task_clock_ns != NONE ? (double)c->task_clock_ns : NAN;

	audit_modes_derive(c->levels);
	c->rusage_factor = (double)accounted / used;
	c->user_error = c->true_user_ns == NONE
				? NAN
				: ((double)c->rusage_user_ns - (double)c->true_user_ns) / used;
	/* The task clock of the command includes interrupts, but `tasks` does not. */
	c->others_ns = tasks == NONE || isnan(used) ? NONE
		       : tasks > c->task_clock_ns   ? tasks - c->task_clock_ns
						    : 0;
}

static void read_clocks(struct run *r)
{
	struct audit_command *c = r->result;
	struct perf_task_count count;
	double cycles;

	perf_task_read(&r->perf, &count);
	c->task_clock_ns = count.clock_ns;
	c->true_user_ns = c->true_system_ns = NONE;
	c->no_pmu = count.user_cycles == NONE || count.kernel_cycles == NONE;
	if (c->no_pmu || count.clock_ns == NONE)
		return;
	cycles = (double)count.user_cycles + (double)count.kernel_cycles;
	if (!(cycles > 0.0))
		return;
	c->true_user_ns = (uint64_t)((double)count.clock_ns * (double)count.user_cycles / cycles);
	c->true_system_ns = count.clock_ns - c->true_user_ns;
}

static int measure(struct run *r, struct err *err)
{
	uint64_t begin_ns;
	int rc;

	/* Open the counters before execve(), so that they count the first instruction. */
	perf_task_open(&r->perf, r->pid, &r->result->no_clock);
	rc = read_edge(r, &r->edges[0], err);
	begin_ns = clock_mono_ns();
	rc = rc ?: begin(r, err);
	if (rc)
		return rc;
	wait_end(r, begin_ns);
	rc = read_edge(r, &r->edges[1], err);
	r->result->window_ns = clock_mono_ns() - begin_ns;
	rc = rc ?: reap(r, err);
	if (rc)
		return rc;
	read_clocks(r);
	sum_cpus(r);
	audit_command_derive(r->result);
	return 0;
}

static int run_open(struct run *r, struct err *err)
{
	struct load_source_opts source_opts = {0};
	int rc = cpu_nr(&r->nr_cpus, err);

	if (rc)
		return rc;
	source_opts.nr_cpus = r->nr_cpus;
	for (struct edge *edge = r->edges; edge < r->edges + 2; edge++) {
		edge->cpus = blocks_calloc(&r->memory, r->nr_cpus, sizeof(*edge->cpus));
		edge->samples = blocks_calloc(&r->memory, r->nr_cpus, sizeof(*edge->samples));
	}
	if (r->memory.failed)
		return err_set(err, -ENOMEM, "out of memory");
	if (!load_source_open("bpf", &source_opts, &r->bpf, &r->result->no_truth))
		r->result->truth = r->bpf->ops->name;
	return procstat_open(&r->stat, NULL, err);
}

static void run_close(struct run *r)
{
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	fd_close(&r->fd);
	perf_task_close(&r->perf);
	sys_text_close(&r->stat);
	if (r->bpf)
		load_source_losses(r->bpf, &r->result->losses);
	load_source_close(r->bpf);
	blocks_free(&r->memory);
}

static void describe(const struct audit_command_opts *opts, struct audit_command *c)
{
	size_t len = 0;

	for (char *const *word = opts->argv; *word && len < sizeof(c->text); word++)
		len += snprintf(c->text + len, sizeof(c->text) - len, "%s%s", len ? " " : "",
				*word);
	cpuset_format(&opts->cpus, c->cpus, sizeof(c->cpus));
}

int audit_command(const struct audit_command_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_command *ret_command,
		  struct err *err)
{
	struct run r = {.opts = opts,
			.env = env,
			.result = ret_command,
			.perf = {-1, -1, -1},
			.pid = -1,
			.fd = -1};
	int rc;

	*ret_command = (struct audit_command){0};
	describe(opts, ret_command);
	findings->user_hz = sysconf(_SC_CLK_TCK);
	r.unit_ns = NSEC_PER_SEC / findings->user_hz;
	rc = run_open(&r, err) ?: start(&r, err) ?: measure(&r, err);
	if (!rc && ret_command->truth)
		findings->source = ret_command->truth;
	run_close(&r);
	return rc;
}
