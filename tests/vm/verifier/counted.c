// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wraps a libbpf function that the library calls, with the linker's option --wrap. The wrapper
 * loads each BPF program with the library's settings, and requests the verifier's statistics. The
 * statistics are read from the verifier's log, because bpf_prog_info has the statistics only since
 * Linux 5.16.
 */
#include "counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#define LOG_STATS  4 /* the kernel's BPF_LOG_STATS: only the verifier's statistics */
#define LOG_WALK   1 /* the kernel's BPF_LOG_LEVEL1: each step of the verifier */
#define LOG_BYTES  4096
#define LOG_LONG   (1 << 20)
#define LAST_LINES 40

static struct counted counted[COUNTED_MAX];
static int nr_counted;
static bool all_loaded, explaining;

int __real_bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton);
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton);

static void count(const struct bpf_program *program, const char *log)
{
	struct counted *c = &counted[nr_counted];
	const char *said = strstr(log, "processed ");

	if (nr_counted == COUNTED_MAX)
		abort();
	nr_counted++;
	snprintf(c->program, sizeof(c->program), "%s", bpf_program__name(program));
	c->insns = said ? atol(said + strlen("processed ")) : -1;
}

static void explain(const struct bpf_program *program, const char *log)
{
	const char *from = log + strlen(log);

	for (int lines = 0; from > log && lines <= LAST_LINES; from--)
		lines += from[-1] == '\n';
	printf("# %s:\n", bpf_program__name(program));
	while (*from) {
		int len = strcspn(from, "\n");

		printf("#   %.*s\n", len, from);
		from += len + (from[len] == '\n');
	}
}

int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton)
{
	size_t bytes = explaining ? LOG_LONG : LOG_BYTES;
	struct bpf_object *object = *skeleton->obj;
	struct bpf_program *program;
	char *logs, *log;
	int rc, nr = 0;

	bpf_object__for_each_program (program, object)
		nr++;
	logs = log = calloc(nr, bytes);
	if (!logs)
		abort();
	bpf_object__for_each_program (program, object) {
		bpf_program__set_log_level(program, LOG_STATS | (explaining ? LOG_WALK : 0));
		bpf_program__set_log_buf(program, log, bytes);
		log += bytes;
	}
	rc = __real_bpf_object__load_skeleton(skeleton);
	log = logs;
	bpf_object__for_each_program (program, object) {
		if (bpf_program__autoload(program) && (rc || bpf_program__fd(program) >= 0))
			count(program, log);
		if (explaining && rc && *log && bpf_program__fd(program) < 0)
			explain(program, log);
		bpf_program__set_log_buf(program, NULL, 0);
		log += bytes;
	}
	free(logs);
	all_loaded &= !rc;
	return rc;
}

void counted_begin(void)
{
	nr_counted = 0;
	all_loaded = true;
}

int counted_programs(const struct counted **ret_programs)
{
	*ret_programs = counted;
	return nr_counted;
}

void counted_explain(void)
{
	explaining = true;
}

bool counted_all_loaded(void)
{
	return all_loaded;
}
