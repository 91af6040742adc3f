/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the load of each core as a table with thresholds, as gtp-guard shows loads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/load.h>

#define BAR 40 /* number of characters of a full bar */

/* Draws a bar such as "########|..:......"; "|" is the warning level, ":" the critical level. */
static void draw(double load, double warn, double critical, char bar[BAR + 1])
{
	for (int i = 0; i < BAR; i++)
		bar[i] = i < load * BAR		 ? '#'
			 : i == (int)(critical * BAR) ? ':'
			 : i == (int)(warn * BAR)	 ? '|'
							 : '.';
	bar[BAR] = '\0';
}

static void print_table(const struct subtick_window *window, double warn, double critical)
{
	int above = 0, measured = 0;

	printf("core   load  %-*s  mark\n", BAR, "");
	for (size_t cpu = 0; cpu < subtick_rows(window, SUBTICK_CPUS); cpu++) {
		char bar[BAR + 1];
		double load;

		if (subtick_double(window, SUBTICK_CPUS, cpu, SUBTICK_BUSY_RATIO, &load)) {
			printf("%4zu      -  %-*s  no figure\n", cpu, BAR, "");
			continue;
		}
		measured++;
		above += load >= warn;
		draw(load, warn, critical, bar);
		printf("%4zu  %4.1f%%  %s  %s\n", cpu, load * 100.0, bar,
		       load >= critical ? "critical" : load >= warn ? "warning" : "ok");
	}
	printf("%d of %d cores at %.0f%% or more (source %s)\n\n", above, measured, warn * 100.0,
	       subtick_text(window, SUBTICK_WINDOW, 0, SUBTICK_SOURCE));
}

/* Parses a level in percent. Returns -1 if invalid. */
static double level(const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	return *end || !(percent >= 0.0 && percent <= 100.0) ? -1.0 : percent / 100.0;
}

int main(int argc, char **argv)
{
	struct subtick_load_opts opts = {.size = sizeof(opts),
					 .source = argc > 1 ? (uint32_t)atoi(argv[1]) : SUBTICK_LOAD_AUTO};
	double warn = argc > 2 ? level(argv[2]) : 0.7, critical = argc > 3 ? level(argv[3]) : 0.9;
	int rounds = argc > 4 ? atoi(argv[4]) : 5, rc;
	const struct subtick_window *window;
	struct subtick *ctx = NULL;

	if (warn < 0.0 || critical < warn || rounds < 1) {
		fprintf(stderr, "usage: core_table [SOURCE [WARN%% [CRITICAL%% [ROUNDS]]]]\n"
				"SOURCE is a number of enum subtick_load_source; 0: the best one\n");
		return 64;
	}
	rc = subtick_load_open(&ctx, &opts);
	while (!rc && rounds-- > 0) {
		usleep(200000);
		rc = subtick_read(ctx, &window);
		if (!rc)
			print_table(window, warn, critical);
	}
	if (rc)
		fprintf(stderr, "core_table: %s: %s\n", strerror(-rc), subtick_error());
	subtick_close(ctx);
	return rc ? 1 : 0;
}
