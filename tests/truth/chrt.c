/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A replacement for chrt (util-linux) with the options that findings recommend. Busybox in the
 * guest has no chrt applet.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *option;
		int policy;
	} policies[] = {{"-o", SCHED_OTHER}, {"-b", SCHED_BATCH}, {"-i", SCHED_IDLE}};
	struct sched_param param = {0};

	for (size_t i = 0; argc == 5 && i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(argv[1], policies[i].option) || strcmp(argv[2], "-p") ||
		    strcmp(argv[3], "0"))
			continue;
		if (!sched_setscheduler(atoi(argv[4]), policies[i].policy, &param))
			return 0;
		perror("chrt");
		return 1;
	}
	fprintf(stderr, "usage: chrt -o|-b|-i -p 0 PID\n");
	return 64;
}
