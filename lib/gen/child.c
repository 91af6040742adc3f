/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks, pins and reaps load generators. */
#include "gen/child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/cpu.h"

static void __attribute__((noreturn))
child_main(pid_t parent, int cpu, void *shared, void (*run)(void *, void *), void *arg)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the line above took effect. */
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Ctrl-C goes to the whole process group: if the load ended first, the parent's last
	 * window would be wrong. The load ends with the parent anyway.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (cpu >= 0 && affinity_pin(0, cpu))
		_exit(1);
	prctl(PR_SET_TIMERSLACK, 1UL);
	run(shared, arg);
	_exit(0);
}

int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err)
{
	pid_t parent = getpid();
	int rc;

	child->size = shared_size;
	child->shared = mmap(NULL, shared_size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (child->shared == MAP_FAILED) {
		child->shared = NULL;
		return err_set(err, -errno, "cannot share memory with a load generator: %s",
			       strerror(errno));
	}
	child->pid = fork();
	if (!child->pid)
		child_main(parent, cpu, child->shared, run, arg);
	if (child->pid > 0)
		return 0;
	rc = err_set(err, -errno, "cannot start a load generator: %s", strerror(errno));
	munmap(child->shared, child->size);
	child->shared = NULL;
	return rc;
}

bool gen_child_alive(const struct gen_child *child)
{
	siginfo_t info = {0};

	/* WNOWAIT: gen_child_stop() reaps it. */
	return child->pid > 0 && !waitid(P_PID, child->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

bool gen_child_on(const struct gen_child *child, int cpu)
{
	struct cpuset bound;

	return gen_child_alive(child) && !affinity_get(child->pid, &bound) &&
	       cpuset_count(&bound) == 1 && cpuset_has(&bound, cpu);
}

void gen_child_stop(struct gen_child *child)
{
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	child->pid = 0;
	if (child->shared)
		munmap(child->shared, child->size);
	child->shared = NULL;
}
