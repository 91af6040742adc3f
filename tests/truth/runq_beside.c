/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares several ways to count the same known waits: the fast path of `subtick runq`, the slow
 * path (option --cpu), sampling, and exporters that sample with and without causes.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "runq_schedules.h"
#include "scrape.h"
#include "truth.h"

#define RATIO	    0.1
#define PORT	    7829
#define BARE_PORT   7830
#define INTERVAL_MS 200

static const char *const serve_args[] = {
	"serve",  "--listen", "127.0.0.1:7829", "--interval", "0.2s", "--collect",
	"runq",   "--sample", "0.1",		NULL};
/* An exporter without causes loads other BPF programs than an exporter with causes. */
static const char *const bare_args[] = {
	"serve",  "--listen", "127.0.0.1:7830", "--interval",  "0.2s", "--collect",
	"runq",   "--sample", "0.1",		"--no-causes", NULL};
static const char *const full_args[] = {"runq", "--json", "6.5", "1", NULL};
static const char *const other_args[] = {"runq", "--json", "--cpu", "0", "6.5", "1", NULL};
static const char *const sample_args[] = {"runq", "--json", "--sample", "0.1", "6.5", "1", NULL};

static char *end_exporter(struct measured *m, int port)
{
	char *text = scrape(port, "/metrics"), output[4096];

	live_stop(m->pid, SIGTERM, m->fd, output, sizeof(output));
	return text;
}

int main(void)
{
	struct measured serve, bare, full, other, sample;
	json_t *full_root, *other_root, *sample_root;
	char *text, *bare_text;
	uint64_t begin, end;
	void *state;

	truth_begin(1);
	cgroups_open();
	measured_start(&serve, serve_args);
	measured_start(&bare, bare_args);
	scrape_wait(PORT);
	scrape_wait(BARE_PORT);
	begin = clock_mono_ns() + 3 * MEASURED_LEAD_NS;
	state = runq_sample.start(begin, &end);
	measured_start(&full, full_args);
	measured_start(&other, other_args);
	measured_start(&sample, sample_args);
	truth_sleep_until(end);
	live_sleep_ms(2 * INTERVAL_MS);
	text = end_exporter(&serve, PORT);
	bare_text = end_exporter(&bare, BARE_PORT);
	full_root = measured_end(&full, begin, end);
	other_root = measured_end(&other, begin, end);
	sample_root = measured_end(&sample, begin, end);
	runq_sample_judge_paths(state, full_root, other_root);
	runq_sample_judge_scrape(state, RATIO, full_root, sample_root, "serve", text);
	runq_sample_judge_scrape(state, RATIO, full_root, sample_root, "serve --no-causes",
				 bare_text);
	runq_sample.judge(state, "full", full_root);
	free(text);
	free(bare_text);
	return live_done();
}
