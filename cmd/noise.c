/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick noise: time that interrupts, softirqs and kernel threads take from tasks. */
#include "commands.h"

#include <errno.h>

#include "base/clock.h"
#include "measure/noise/noise.h"
#include "opts.h"
#include "present/noise.h"
#include "run.h"
#include "host/cgroup.h"
#include "host/cpu.h"

struct noise_cmd {
	struct noise_opts noise;
	struct opts_interval interval;
	bool isolated, fail;
};

static int add_limit(const struct opt *opt, const char *word, void *base, struct err *err)
{
	return noise_limit_parse(word, &((struct noise_cmd *)base)->noise.limits) ? 0 : -EINVAL;
}

static int set_limits(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct noise_cmd *cmd = base;

	cmd->fail = cmd->noise.judged = true;
	return opt_each(opt, value, base, err, add_limit);
}

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5", .parse = opts_cpus,
	 OPT_AT(struct noise_cmd, noise.cpus)},
	{"isolated", 0, NULL,
	 "measure and judge the CPUs of nohz_full, isolcpus and isolated cpuset partitions",
	 OPT_STORE(struct noise_cmd, isolated)},
	{"fail-over", 0, "LIMITS", "exit 2 if a core exceeds max=50us, rate=10/s or share=0.1%",
	 .parse = set_limits, .expected = NOISE_LIMITS_FORM},
	{"senders", 0, NULL, "also the IPIs and function calls from each core to each other core",
	 OPT_STORE(struct noise_cmd, noise.senders)},
	{"top", 0, "NUMBER", "the NUMBER largest sources of each core (default: all)",
	 OPT_NUMBER(struct noise_cmd, noise.top, 1, 1000)},
	{0},
};

/* Selects the isolated CPUs. With --cpu, selects only the isolated CPUs in the list of --cpu. */
static int choose_isolated(struct noise_cmd *cmd, struct err *err)
{
	struct cgroup_layout layout = {0};
	struct cpuset isolated;

	cgroup_layout(NULL, &layout);
	isolated_cpus(NULL, layout.v2, &isolated);
	if (cpuset_count(&cmd->noise.cpus))
		cpuset_and(&isolated, &cmd->noise.cpus);
	if (!cpuset_count(&isolated))
		return err_unsupported(
			err, -ENODEV,
			"boot with nohz_full=CPUS or isolcpus=CPUS, or write isolated "
			"to cpuset.cpus.partition of a cgroup",
			"no CPU is isolated");
	cmd->noise.cpus = isolated;
	if (!cmd->fail)
		cmd->noise.limits = noise_isolated_limits;
	cmd->noise.judged = true;
	return 0;
}

int cmd_noise(int argc, char **argv)
{
	struct noise_cmd cmd = {
		.noise = {.limits = noise_no_limits},
		.interval = {.interval_ns = NSEC_PER_SEC, .count = 1},
	};
	struct view view;
	struct opts_state state = {
		.command = "noise",
		.synopsis = "noise [options] [interval [count]]",
		.summary = "Time that interrupts, softirqs and kernel threads take from the "
			   "tasks of each core, and from\nwhich tasks. Default: one window of "
			   "one second.",
		.own = options,
		.view = &view,
		.tables = noise_tables,
		.interval = &cmd.interval,
	};
	struct meter *meter;
	struct err err = {0};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (cmd.isolated && choose_isolated(&cmd, &err))
		return opts_fail("noise", &err);
	run_signals();
	run_avoid(&cmd.noise.cpus);
	if (noise_open(&cmd.noise, &meter, &err))
		return opts_fail("noise", &err);
	return run_meter("noise", meter, &cmd.interval, &view,
			 cmd.fail ? &noise_window(meter)->windows_exceeded : NULL);
}
