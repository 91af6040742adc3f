/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Launch to user code by subtick wake against cyclictest's latency, taken in turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"

#define ROUNDS	5
#define LOOPS	400
#define RETRIES 3

static int cpu, other;
static char cpu_text[16];

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr ? values[nr / 2] : NAN;
}

/* Default system: cyclictest then leaves /dev/cpu_dma_latency alone, which would hide idle states. */
static double cyclictest(void)
{
	static double values[LOOPS];
	char command[160], line[128];
	unsigned long long value;
	size_t nr = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "cyclictest --default-system -N -v -m -t1 -a %d -p 1 -i 1000 -l %d 2>/dev/null", cpu,
		 LOOPS);
	out = popen(command, "r");
	while (out && fgets(line, sizeof(line), out))
		if (nr < LOOPS && sscanf(line, " %*u: %*u: %llu", &value) == 1)
			values[nr++] = value;
	if (out)
		pclose(out);
	return median(values, nr);
}

static double ours(void)
{
	const char *args[] = {"wake", "-C",   cpu_text, "--from", "1ms", "--to", "1ms",
			      "-n",   "400", "-b",	 "--json", NULL};
	json_t *root = live_json(args), *row;
	double ns = NAN;
	size_t i;

	json_array_foreach(json_object_get(root, "breakdown"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "stage")), "user"))
			ns = live_number(row, "median_ns");
	json_decref(root);
	return ns;
}

static bool compare(double *ret_ours, double *ret_theirs)
{
	double mine[ROUNDS], theirs[ROUNDS];

	/* In turns: what the machine does meanwhile hits both. */
	for (int i = 0; i < ROUNDS; i++) {
		theirs[i] = cyclictest();
		mine[i] = ours();
		live_note("round %d: cyclictest %.0f ns, subtick wake %.0f ns", i, theirs[i], mine[i]);
	}
	*ret_theirs = median(theirs, ROUNDS);
	*ret_ours = median(mine, ROUNDS);
	return fabs(*ret_ours / *ret_theirs - 1.0) <= 0.20;
}

int main(void)
{
	double mine = NAN, theirs = NAN;
	bool agrees = false;

	if (geteuid())
		live_skip_all("needs root");
	if (live_emulated())
		live_skip_all("an emulated machine's times are not its own");
	if (system("command -v cyclictest >/dev/null"))
		live_skip_all("no cyclictest (package rt-tests)");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	for (int i = 0; i < RETRIES && !agrees; i++)
		agrees = compare(&mine, &theirs);
	live_ok(agrees, "launch to user code: subtick wake %.0f ns, cyclictest %.0f ns, within 20 %%",
		mine, theirs);
	return live_done();
}
