/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the rounds of an experiment and restores the settings, even after a failure. */
#include "measure/try/try.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/runq/runq.h"
#include "host/file.h"
#include "host/guard.h"
#include "host/journal.h"

#define COMMAND_POLL_NS (10 * NSEC_PER_MSEC)

struct try_run {
	const struct try_opts *opts;
	struct journal journal;
	bool journal_open;
	/* Guard process that runs the command of the original state if subtick is killed. */
	struct guard guard;
	struct meter *runq;
	enum try_arm arm; /* setting that is now in effect: original or changed */
	uint64_t deadline_ns;
	struct try_window window;
};

static pid_t command_start(const char *command)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid)
		return pid;
	/*
	 * Start the command in a new session, so that Ctrl-C does not interrupt the command. The
	 * command of the original state must end background processes of this command.
	 */
	setsid();
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int command_status(const char *command, int status, struct err *err)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return err_set(err, -ECHILD, "the command \"%s\" failed with %s %d", command,
		       WIFEXITED(status) ? "exit status" : "signal",
		       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/*
 * Runs the command of the original state and waits for its end. The guard process also calls
 * command_restore().
 */
static int command_restore(const void *arg)
{
	const struct try_opts *opts = arg;
	pid_t pid = command_start(opts->a);
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return command_status(opts->a, status, NULL);
}

/* Kills the command if the user stops the run or the time of --budget is over. */
static int command_run(struct try_run *t, const char *command, struct err *err)
{
	pid_t pid = command_start(command);
	bool readable, stop = false;
	int status;

	if (pid < 0)
		return err_set(err, -errno, "cannot start a command: %s", strerror(errno));
	while (!waitpid(pid, &status, WNOHANG)) {
		if (stop || clock_mono_ns() >= t->deadline_ns) {
			kill(-pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return stop ? -EINTR
				    : err_set(err, -ETIME, "the command \"%s\" exceeds --budget",
					      command);
		}
		stop = t->opts->wait(clock_mono_ns() + COMMAND_POLL_NS, -1, &readable);
	}
	return command_status(command, status, err);
}

/* Fails if another program has changed a setting. */
static int check_settings(struct try_run *t, struct err *err)
{
	char now[JOURNAL_VALUE];

	array_for_each(s, t->opts->settings, t->opts->nr_settings) {
		int rc = sys_read_file(NULL, s->path, now, sizeof(now));

		if (rc == -ENOENT || rc == -ENODEV)
			return err_set(err, -ENOENT, "%s was removed", s->name);
		if (rc < 0)
			return err_set(err, rc, "cannot read %s: %s", s->name, strerror(-rc));
		if (!strcmp(now, t->arm == TRY_CHANGED ? s->now : s->was))
			continue;
		t->window.foreign = s;
		t->journal.keep = s->path;
		return err_set(err, -ESTALE,
			       "another program set %s to %.64s during the experiment; subtick "
			       "does not restore this file",
			       s->name, now);
	}
	return 0;
}

/* Applies the settings in the order of the command line, or restores them in reverse order. */
static int apply_settings(struct try_run *t, enum try_arm arm, struct err *err)
{
	size_t nr = t->opts->nr_settings;

	for (size_t i = 0; i < nr && arm != t->arm; i++) {
		const struct try_setting *s =
			&t->opts->settings[arm == TRY_CHANGED ? i : nr - 1 - i];
		int rc = sys_write_file(NULL, s->path, arm == TRY_CHANGED ? s->now : s->was);

		if (rc)
			return err_set(err, rc, "cannot write %s: %s", s->name, strerror(-rc));
	}
	t->arm = arm;
	return 0;
}

static int apply(struct try_run *t, enum try_arm arm, struct err *err)
{
	int rc = check_settings(t, err) ?: apply_settings(t, arm, err);

	return rc || !t->opts->a ? rc : command_run(t, arm == TRY_CHANGED ? t->opts->b : t->opts->a,
						    err);
}

/*
 * Waits for @ns. Handles the events of runq during the wait, because runq reports each new cgroup
 * by an event. Returns -EINTR if the user stopped the run.
 */
static int wait_for(struct try_run *t, uint64_t ns, struct err *err)
{
	uint64_t until = clock_mono_ns() + ns;
	bool readable, stop;
	int rc;

	do {
		stop = t->opts->wait(until, t->runq->ops->event_fd(t->runq), &readable);
		rc = readable ? t->runq->ops->event(t->runq, err) : 0;
	} while (readable && !rc);
	return rc ? rc : stop ? -EINTR : 0;
}

static int measure_round(struct try_run *t, unsigned int pair, enum try_arm arm, struct err *err)
{
	struct try_groups *groups = &t->window.groups;
	int rc;

	if (clock_mono_ns() + t->opts->settle_ns + t->opts->each_ns > t->deadline_ns)
		return err_set(err, -ETIME, "--budget is used up");
	rc = apply(t, arm, err) ?: wait_for(t, t->opts->settle_ns, err) ?:
	     t->runq->ops->read(t->runq, err) ?: try_groups_begin(groups, err) ?:
	     wait_for(t, t->opts->each_ns, err);
	/* a round is invalid if a program other than subtick changed a setting during the round */
	return rc ?: check_settings(t, err) ?: t->runq->ops->read(t->runq, err) ?:
		     try_groups_end(groups, runq_window(t->runq), pair, arm, err);
}

/*
 * Fails if a watched cgroup did not wait in the first pair of rounds, because no effect can be
 * measured without waits.
 */
static int check_waits(const struct try_run *t, struct err *err)
{
	array_for_each(group, t->window.groups.groups, t->window.groups.nr_watched)
		if (!group->count[0][TRY_ORIGINAL] && !group->count[0][TRY_CHANGED])
			return err_set(err, -ENODATA,
				       "nothing to watch: no task of %s waited for a core in two "
				       "rounds; use a longer --each",
				       group->path);
	return 0;
}

/*
 * Chooses the setting of the first round of a pair at random. splitmix64 yields the same choice on
 * every machine.
 */
static enum try_arm first_arm(uint64_t seed, unsigned int pair)
{
	uint64_t z = seed + (pair + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) & 1 ? TRY_CHANGED : TRY_ORIGINAL;
}

static int measure_pairs(struct try_run *t, struct err *err)
{
	int rc = t->runq->ops->start(t->runq, err);

	for (unsigned int pair = 0; pair < t->opts->rounds && !rc; pair++) {
		enum try_arm first = first_arm(t->opts->seed, pair);

		t->window.first[pair] = first;
		for (unsigned int i = 0; i < 2 && !rc; i++) {
			if (t->opts->progress)
				t->opts->progress(2 * pair + i, 2 * t->opts->rounds);
			rc = measure_round(t, pair, i ? !first : first, err);
		}
		if (!rc && !pair)
			rc = check_waits(t, err);
		t->window.nr_pairs += !rc;
	}
	return rc;
}

/* Returns true if every setting has its original value. */
static bool restore(struct try_run *t)
{
	char now[JOURNAL_VALUE];
	bool restored = true;

	if (t->opts->a) {
		restored = !command_restore(t->opts);
		guard_dismiss(&t->guard);
	}
	if (t->journal_open)
		journal_close(&t->journal);
	t->journal_open = false;
	array_for_each(s, t->opts->settings, t->opts->nr_settings)
		if (s != t->window.foreign && sys_read_file(NULL, s->path, now, sizeof(now)) >= 0)
			restored = restored && !strcmp(now, s->was);
	return restored;
}

int try_measure(struct try_run *t, struct err *err)
{
	uint64_t begin = clock_mono_ns();
	int rc;

	t->deadline_ns = begin + t->opts->budget_ns;
	rc = measure_pairs(t, &t->window.ended);
	t->window.restored = restore(t);
	t->window.stopped = rc == -EINTR;
	if (t->window.stopped)
		err_set(&t->window.ended, rc, "stopped");
	t->window.window_ns = clock_mono_ns() - begin;
	t->window.time_unix_ns = clock_unix_ns();
	t->window.runq = runq_window(t->runq);
	try_groups_compare(&t->window.groups, t->window.nr_pairs);
	if (rc && !t->window.nr_pairs && !t->window.stopped) {
		*err = t->window.ended;
		return rc;
	}
	return 0;
}

const struct try_window *try_window(const struct try_run *t)
{
	return &t->window;
}

int try_opts_check(const struct try_opts *opts, struct err *err)
{
	uint64_t plan_ns = 2 * (uint64_t)opts->rounds * (opts->each_ns + opts->settle_ns);
	char need[32], have[32];

	if (!opts->nr_settings == !opts->a)
		return err_set(err, -EINVAL, "an experiment needs --set, or --a and --b");
	if (!opts->nr_watch)
		return err_set(err, -EINVAL, "nothing to watch: name a cgroup with --watch");
	for (size_t i = 0; i < opts->nr_settings; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(opts->settings[i].path, opts->settings[k].path))
				return err_set(err, -EINVAL, "%s is set twice",
					       opts->settings[i].name);
	if (plan_ns <= opts->budget_ns)
		return 0;
	duration_format(plan_ns, need, sizeof(need));
	duration_format(opts->budget_ns, have, sizeof(have));
	return err_set(
		err, -EINVAL,
		"%u pairs take %s and --budget is %s: use fewer --rounds or a shorter --each",
		opts->rounds, need, have);
}

int try_open(const struct try_opts *opts, struct try_run **ret_run, struct err *err)
{
	struct runq_opts runq = {
		.per = RUNQ_PER_CGROUP, .percentiles = {99}, .nr_percentiles = 1, .blame = true};
	struct try_run *t;
	int rc = try_opts_check(opts, err);

	if (rc)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->opts = opts;
	/*
	 * start guard processes before files are opened, because a guard process is a fork that
	 * inherits open files
	 */
	rc = journal_open(&t->journal, NULL, err);
	t->journal_open = !rc;
	for (size_t i = 0; i < opts->nr_settings && !rc; i++) {
		struct try_setting *s = &opts->settings[i];

		rc = journal_trial(&t->journal, s->path, s->value, s->was, s->now, err);
	}
	if (!rc && opts->a) {
		rc = guard_start(&t->guard, t->journal.fd, command_restore, opts);
		if (rc)
			err_set(err, rc, "cannot start the guard: %s", strerror(-rc));
	}
	rc = rc ?: runq_open(&runq, &t->runq, err) ?:
		   try_groups_open(&t->window.groups, runq_window(t->runq)->hierarchy, opts->watch,
				   opts->nr_watch, err);
	if (rc)
		try_close(t);
	else
		*ret_run = t;
	return rc;
}

void try_close(struct try_run *t)
{
	if (!t)
		return;
	guard_dismiss(&t->guard);
	if (t->journal_open)
		journal_close(&t->journal);
	if (t->runq)
		t->runq->ops->close(t->runq);
	try_groups_close(&t->window.groups);
	free(t);
}

void try_name(const struct try_opts *opts, char *buf, size_t size)
{
	size_t len = 0;

	if (opts->b)
		snprintf(buf, size, "%s", opts->b);
	for (size_t i = 0; i < opts->nr_settings && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s=%s", i ? ", " : "",
				opts->settings[i].name, opts->settings[i].now);
}
