/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Test program for gtp-guard's cpu.h, which must compile as C and C++ and read the CPU load. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <subtick/gtp-guard/cpu.h>
#include <subtick/subtick.h>

typedef int (*init_fn)(struct cpu_load **ctx);

/* Runs the timer callback of gtp-guard's usage example once. */
static int cpu_load_timer(struct cpu_load *cl)
{
	int i, measured = 0;

	cpu_load_update(cl);
	for (i = 0; i < cpu_load_nr(cl); i++) {
		float load = cpu_load_get(cl, i);

		if (load < 0.0f)
			continue; /* offline CPU */
		if (load > 1.0f)
			return -1;
		measured++;
	}
	return measured;
}

static int try_mode(const char *name, init_fn init, int nr)
{
	struct cpu_load *cl;
	int rc, measured;

	errno = 0;
	rc = init(&cl);
	if (rc < 0) {
		/*
		 * Without a hardware counter, init() must set errno and an error sentence, and the
		 * test skips the figures.
		 */
		if (errno != -rc || !subtick_error()[0]) {
			printf("not ok %d - %s is refused without errno or reason\n", nr, name);
			return 1;
		}
		printf("ok %d - %s # SKIP %s\n", nr, name, subtick_error());
		return 0;
	}
	usleep(200000);
	measured = cpu_load_timer(cl);
	printf("%sok %d - %s measures %d CPUs\n", measured > 0 ? "" : "not ", nr, name, measured);
	cpu_load_destroy(cl);
	return measured <= 0;
}

int main(void)
{
	int failed = 0;

	printf("1..2\n");
	failed += try_mode("cpu_load_init", cpu_load_init, 1);
	failed += try_mode("cpu_load_init_tsc", cpu_load_init_tsc, 2);
	return failed != 0;
}
