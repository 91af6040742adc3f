/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Test program with a packet-flow scheduler that uses only gtp-guard's cpu.h and reads its structs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cpu.h"

/*
 * True if read() and ioctl() on the descriptor fail with EBADF. The error EBADF protects other
 * files from a caller that uses the descriptor as a perf counter.
 */
static int descriptor_is_safe(int fd)
{
	char byte;
	int bytes;

	return read(fd, &byte, 1) < 0 && errno == EBADF && ioctl(fd, FIONREAD, &bytes) < 0 && errno == EBADF;
}

/*
 * Returns the least loaded CPU according to the struct fields. Returns -1 if no CPU has a load, if
 * the field load of a CPU differs from cpu_load_get(), or if read() or ioctl() on a CPU's
 * descriptor does not fail with EBADF.
 */
static int pick_cpu(struct cpu_load *cl)
{
	int best = -1;

	for (int i = 0; i < cl->nr_cpus; i++) {
		const struct cpu_perf *cpu = &cl->cpus[i];

		if (cpu->load != cpu_load_get(cl, i) || (cpu->fd >= 0 && !descriptor_is_safe(cpu->fd)))
			return -1;
		if (cpu->fd >= 0 && (best < 0 || cpu->load < cl->cpus[best].load))
			best = i;
	}
	return best;
}

static int try_mode(const char *name, int (*init)(struct cpu_load **), int tsc, int nr)
{
	struct cpu_load *cl;
	int good;

	if (init(&cl) < 0) {
		printf("ok %d - %s # SKIP no counter here: %s\n", nr, name, strerror(errno));
		return 0;
	}
	usleep(50000);
	cpu_load_update(cl);
	good = pick_cpu(cl) >= 0 && cl->nr_cpus == cpu_load_nr(cl) && (cl->base_freq_hz == 0) == tsc &&
	       (cl->prev_tsc != 0) == tsc;
	printf("%sok %d - %s: CPU %d has the least load\n", good ? "" : "not ", nr, name,
	       pick_cpu(cl));
	cpu_load_destroy(cl);
	return !good;
}

int main(void)
{
	printf("1..2\n");
	return try_mode("calibrated mode", cpu_load_init, 0, 1) +
	       try_mode("TSC mode", cpu_load_init_tsc, 1, 2);
}
