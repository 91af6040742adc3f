/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load of each core as a table with thresholds and marks, as gtp-guard shows it to an operator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/cpu_load.h>

#define BAR 40 /* characters of a full bar */

/* "########|..:......": load, warning level "|", critical level ":". */
static void draw(float load, float warn, float critical, char bar[BAR + 1])
{
	for (int i = 0; i < BAR; i++)
		bar[i] = (float)i < load * BAR		 ? '#'
			 : i == (int)(critical * BAR) ? ':'
			 : i == (int)(warn * BAR)	 ? '|'
							 : '.';
	bar[BAR] = '\0';
}

static void print_table(struct cpu_load *cl, float warn, float critical)
{
	int above = 0, measured = 0;

	printf("core   load  %-*s  mark\n", BAR, "");
	for (int cpu = 0; cpu < cpu_load_nr(cl); cpu++) {
		float load = cpu_load_get(cl, cpu);
		char bar[BAR + 1];

		if (load < 0.0f) {
			printf("%4d      -  %-*s  no figure\n", cpu, BAR, "");
			continue;
		}
		measured++;
		above += load >= warn;
		draw(load, warn, critical, bar);
		printf("%4d  %4.1f%%  %s  %s\n", cpu, load * 100.0f, bar,
		       load >= critical ? "critical" : load >= warn ? "warning" : "ok");
	}
	printf("%d of %d cores at %.0f%% or more (source %s)\n\n", above, measured, warn * 100.0f,
	       cpu_load_source(cl));
}

/* A level in percent, or -1. */
static float level(const char *text)
{
	char *end;
	float percent = strtof(text, &end);

	return *end || !(percent >= 0.0f && percent <= 100.0f) ? -1.0f : percent / 100.0f;
}

int main(int argc, char **argv)
{
	struct cpu_load_opts opts = {.size = sizeof(opts), .source = argc > 1 ? argv[1] : "auto"};
	float warn = argc > 2 ? level(argv[2]) : 0.7f, critical = argc > 3 ? level(argv[3]) : 0.9f;
	int rounds = argc > 4 ? atoi(argv[4]) : 5, rc;
	struct cpu_load *cl;

	if (warn < 0.0f || critical < warn || rounds < 1) {
		fprintf(stderr, "usage: core_table [SOURCE [WARN%% [CRITICAL%% [ROUNDS]]]]\n");
		return 64;
	}
	rc = cpu_load_open(&cl, &opts);
	if (rc) {
		fprintf(stderr, "core_table: %s: %s\n", strerror(-rc), cpu_load_strerror());
		return 1;
	}
	while (rounds-- > 0) {
		usleep(200000);
		cpu_load_update(cl);
		print_table(cl, warn, critical);
	}
	cpu_load_destroy(cl);
	return 0;
}
