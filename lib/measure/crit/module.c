/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine module: loads kmod/tracerbench and uses its debugfs files. */
#include "measure/crit/module.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/cpu.h"
#include "host/file.h"

#define MODULE "tracerbench"
#define TREE   "/sys/kernel/debug/" MODULE

#define POLL_NS	    (2 * NSEC_PER_MSEC)
#define CPUS_MAX    65536
#define PER_CPU_MAX (4 << 20)

static int tree_write(const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	return sys_write_file(TREE "/", file, text);
}

static int tree_fail(const char *file, uint64_t value, int rc, struct err *err)
{
	return err_set(err, rc, "cannot write %" PRIu64 " to " TREE "/%s: %s", value, file,
		       strerror(-rc));
}

static int module_set(const char *file, uint64_t value, struct err *err)
{
	int rc = tree_write(file, value);

	return rc ? tree_fail(file, value, rc, err) : 0;
}

static void __attribute__((noreturn))
writer_main(pid_t parent, const char *file, uint64_t value, int cpu)
{
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EINTR);
	/* ignore SIGINT of the terminal, because only the parent process handles SIGINT */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (cpu >= 0)
		rc = affinity_pin(0, cpu);
	_exit(-(rc ?: tree_write(file, value)));
}

/*
 * Starts a benchmark of the kernel module. A child process writes @value to the debugfs file @file,
 * because the write blocks until the end of the benchmark. Killing the child ends the benchmark
 * early. @cpu is the CPU of the child, or negative for any CPU. Returns -ECANCELED without setting
 * @err if opts->stopped() returned true.
 */
static int module_trigger(const char *file, uint64_t value, int cpu, const struct crit_opts *opts,
		   struct err *err)
{
	struct timespec pause = clock_timespec(POLL_NS);
	pid_t parent = getpid(), pid = fork(), ended;
	bool cancelled = false;
	int status, rc;

	if (!pid)
		writer_main(parent, file, value, cpu);
	if (pid < 0)
		return err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	do {
		ended = waitpid(pid, &status, opts->stopped ? WNOHANG : 0);
		if (ended < 0 && errno != EINTR)
			return err_set(err, -errno, "cannot wait for a process: %s",
				       strerror(errno));
		if (!ended && !cancelled && opts->stopped && opts->stopped()) {
			cancelled = true;
			kill(pid, SIGKILL);
		}
		if (!ended)
			nanosleep(&pause, NULL);
	} while (ended != pid);
	if (cancelled)
		return -ECANCELED;
	rc = WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
	return rc ? tree_fail(file, value, rc, err) : 0;
}

static int module_get(const char *dir, const char *file, double *ret_value, struct err *err)
{
	const char *path = SYS_PATH(TREE "/%s/%s", dir, file);
	uint64_t value;
	int rc = sys_read_u64(NULL, path, &value);

	if (rc)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	*ret_value = value;
	return 0;
}

static bool module_has(const char *file)
{
	return sys_exists(TREE "/", file);
}

int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr)
{
	bool first = !*nr;
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	if (!lines || lines > CPUS_MAX || (!first && lines != *nr))
		return -EINVAL;
	if (first) {
		*cpus = calloc(lines, sizeof(**cpus));
		if (!*cpus)
			return -ENOMEM;
		*nr = lines;
	}
	array_for_each(cpu, *cpus, lines) {
		struct tb_summary *summary = &cpu->op[op];
		unsigned int number;
		int end = -1;

		cpu->batch[op] = NAN;
		if (sscanf(text, "%u %" SCNu64 " %" SCNu64 " %" SCNu64 "\n%n", &number,
			   &summary->median, &summary->average, &summary->max, &end) != 4 ||
		    end < 0 || (!first && number != cpu->cpu))
			return -EINVAL;
		cpu->cpu = number;
		text += end;
	}
	return *text ? -EINVAL : 0;
}

/* Reads and parses the file per_cpu of an operation. @err must not be NULL. */
static int module_get_cpus(enum crit_op op, struct crit_cpu **cpus, unsigned int *nr, struct err *err)
{
	const char *path = SYS_PATH(TREE "/%s/per_cpu", crit_op_names[op]);
	size_t size;
	char *text = sys_read_all(path, PER_CPU_MAX, &size, err);
	int rc;

	if (!text)
		return err->code;
	rc = module_parse_cpus(text, op, cpus, nr);
	free(text);
	return rc ? err_set(err, rc, "cannot read %s: %s", path, strerror(-rc)) : 0;
}

void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE])
{
	const char *build = SYS_PATH("/lib/modules/%.64s/build", release);

	if (sys_exists(root, "/usr/src/" MODULE "-" SUBTICK_VERSION))
		snprintf(line, MODULE_LINE_SIZE,
			 "dkms install " MODULE "/" SUBTICK_VERSION " -k %.80s && modprobe " MODULE, release);
	else if (sys_exists(root, build))
		snprintf(line, MODULE_LINE_SIZE,
			 "in the source tree: make -C kmod/" MODULE " KDIR=%s && insmod kmod/" MODULE "/" MODULE ".ko",
			 build);
	else
		snprintf(line, MODULE_LINE_SIZE,
			 "apt install linux-headers-%.40s; in the source tree: make -C kmod/" MODULE
			 " && insmod kmod/" MODULE "/" MODULE ".ko",
			 release);
}

/*
 * Loads the installed kernel module with modprobe, which handles compression, signatures and
 * blacklists. Sets err->unsupported if the module is not installed, the kernel does not support
 * modules, or privileges are missing.
 */
static int module_load(struct err *err)
{
	/* A root process must not trust the PATH of its caller. */
	static const char command[] = "/usr/bin/env -i LC_ALL=C PATH=/usr/sbin:/sbin:/usr/bin:/bin "
				      "modprobe " MODULE " 2>&1";
	char reason[160] = "", line[MODULE_LINE_SIZE];
	struct utsname kernel;
	FILE *output;
	int status;

	if (!sys_exists(NULL, "/proc/modules"))
		return err_unsupported(err, -ENOSYS, "use a kernel with CONFIG_MODULES",
				       "this kernel cannot load modules");
	output = popen(command, "re");
	if (!output)
		return err_set(err, -errno, "cannot run modprobe: %s", strerror(errno));
	/* the last line that modprobe prints is the reason of its failure */
	while (fgets(reason, sizeof(reason), output))
		;
	reason[strcspn(reason, "\n")] = '\0';
	status = pclose(output);
	if (!status)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_unsupported(err, -ENOENT, "install kmod, or load the module with insmod",
				       "modprobe is missing, so module " MODULE
				       " cannot be loaded");
	uname(&kernel);
	module_build_line(NULL, kernel.release, line);
	return err_unsupported(err, -ENOENT, geteuid() ? "run as root" : line,
			       "module " MODULE " is not loaded and modprobe failed: %s", reason);
}

static const char *const settings[] = {"nr_samples", "nr_highest", "do_work"};

#define PER_CPU	    "irq/per_cpu"
#define NR_SETTINGS ARRAY_SIZE(settings)

struct module_engine {
	struct crit_engine engine;
	bool loaded_by_us;
	bool have_before;
	unsigned int nr_cpus;	      /* number of CPUs in the previous rounds */
	uint64_t before[NR_SETTINGS]; /* values of the module's settings before the run */
};

static int read_figures(struct crit_round *round, struct err *err)
{
	int rc = 0;

	for (int op = 0; op < CRIT_NR_OPS && !rc; op++) {
		struct crit_figures *figures = &round->op[op];
		const char *dir = crit_op_names[op];

		rc = module_get(dir, "median", &figures->median, err) ?:
		     module_get(dir, "average", &figures->average, err) ?:
		     module_get(dir, "max", &figures->max, err) ?:
		     module_get(dir, "max_avg", &figures->max_avg, err);
	}
	return rc;
}

/* Chooses the CPU whose percentiles are read: the first requested CPU, or the first allowed CPU. */
static int percentile_cpu(const struct crit_opts *opts, const struct crit_round *round)
{
	struct cpuset allowed;

	if (cpuset_count(&opts->cpus))
		return (int)cpuset_next(&opts->cpus, 0);
	if (affinity_get(0, &allowed))
		return -1;
	for (unsigned int i = 0; i < round->nr_cpus; i++)
		if (cpuset_has(&allowed, round->cpus[i].cpu))
			return (int)round->cpus[i].cpu;
	return -1;
}

/* Reads the percentiles from debugfs. Old versions of the module support only whole percentiles. */
static int read_percentiles(const struct crit_opts *opts, struct crit_round *round, struct err *err)
{
	bool fine = module_has("percentile_milli");
	int rc = 0;

	round->percentile_cpu = percentile_cpu(opts, round);
	for (unsigned int i = 0; i < opts->nr_percentiles && !rc; i++) {
		bool whole = !(opts->percentile[i] % CRIT_PERCENT);

		if (!whole && !fine)
			continue;
		rc = module_trigger(whole ? "percentile" : "percentile_milli",
				    whole ? opts->percentile[i] / CRIT_PERCENT
					  : opts->percentile[i],
				    round->percentile_cpu, opts, err);
		for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
			rc = module_get(crit_op_names[op], "percentile",
					&round->op[op].percentile[i], err);
	}
	return rc;
}

/*
 * Limits the results to the chosen CPUs and clears max_avg, because the kernel module computes
 * max_avg only over all CPUs.
 */
static int choose_cpus(const struct crit_opts *opts, struct crit_round *round, struct err *err)
{
	unsigned int nr = 0;
	int rc = 0;

	for (unsigned int i = 0; i < round->nr_cpus; i++)
		if (cpuset_has(&opts->cpus, round->cpus[i].cpu))
			round->cpus[nr++] = round->cpus[i];
	round->nr_cpus = nr;
	if (nr != cpuset_count(&opts->cpus))
		return err_set(err, -ENODEV, "--cpu: not all of these CPUs are online");
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++) {
		rc = crit_combine(round, op, err);
		round->op[op].max_avg = NAN;
	}
	return rc;
}

static int read_cpus(struct module_engine *m, const struct crit_opts *opts,
		     struct crit_round *round, struct err *err)
{
	int rc = 0;

	/* older versions of the kernel module have no file per_cpu */
	if (!module_has(PER_CPU))
		return 0;
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		rc = module_get_cpus(op, &round->cpus, &round->nr_cpus, err);
	if (!rc && cpuset_count(&opts->cpus))
		rc = choose_cpus(opts, round, err);
	if (rc)
		return rc;
	/* Rounds are compared per CPU, so all rounds must have the same CPUs. */
	if (m->nr_cpus && m->nr_cpus != round->nr_cpus)
		return err_set(err, -ENODEV, "a CPU went online or offline during the run");
	m->nr_cpus = round->nr_cpus;
	return 0;
}

static int module_round(struct crit_engine *engine, const struct crit_opts *opts,
			struct crit_round *round, struct err *err)
{
	/*
	 * Set all settings again, because another user of the kernel module may have changed them
	 * since the previous round.
	 */
	return module_set("nr_samples", opts->nr_samples, err) ?:
	       module_set("nr_highest", opts->nr_highest, err) ?:
	       module_set("do_work", opts->work, err) ?:
	       module_trigger("benchmark", 1, -1, opts, err) ?: read_figures(round, err) ?:
	       read_cpus((struct module_engine *)engine, opts, round, err) ?:
	       read_percentiles(opts, round, err);
}

static int module_close(struct crit_engine *engine, struct err *err)
{
	struct module_engine *m = (struct module_engine *)engine;
	int rc = 0;

	for (size_t i = 0; i < NR_SETTINGS && m->have_before; i++)
		rc = module_set(settings[i], m->before[i], err) ?: rc;
	/* with O_NONBLOCK delete_module() fails if the module is in use */
	if (m->loaded_by_us && syscall(SYS_delete_module, MODULE, O_NONBLOCK))
		rc = err_set(err, -errno,
			     "module " MODULE
			     " was loaded for this run and another process uses it "
			     "now: unload it later with rmmod " MODULE " (%s)",
			     strerror(errno));
	free(m);
	return rc;
}

/* Sets @err to the reason why the debugfs directory of the loaded module is not accessible. */
static int no_tree(struct err *err)
{
	if (access("/sys/kernel/debug", X_OK))
		return err_unsupported(err, -EACCES, "run as root",
				       "cannot access /sys/kernel/debug: %s", strerror(errno));
	return err_unsupported(err, -ENOENT, "mount -t debugfs none /sys/kernel/debug",
			       "module " MODULE " is loaded, but " TREE " is missing");
}

static int module_prepare(struct module_engine *m, const struct crit_opts *opts, struct err *err)
{
	bool asked = opts->engine && !strcmp(opts->engine, "module");
	int rc;

	/*
	 * The kernel module always measures all CPUs, so with --cpu it is used only if --engine
	 * module is given.
	 */
	if (cpuset_count(&opts->cpus) && !asked)
		return err_unsupported(err, -EOPNOTSUPP,
				       "use --engine bpf, or --engine module to measure all CPUs "
				       "and show those of --cpu",
				       "module tracerbench always measures all online CPUs, not "
				       "only those of --cpu");
	if (!sys_exists(NULL, "/sys/module/" MODULE)) {
		rc = module_load(err);
		if (rc)
			return rc;
		m->loaded_by_us = true;
	}
	if (access(TREE, X_OK))
		return no_tree(err);
	if (cpuset_count(&opts->cpus) && !module_has(PER_CPU))
		return err_unsupported(err, -EOPNOTSUPP,
				       "use --engine bpf, leave out --cpu, or install the module of "
				       "this version",
				       "the loaded module has no figures per CPU");
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		rc = sys_read_u64(TREE "/", settings[i], &m->before[i]);
		if (rc)
			return err_set(err, rc, "cannot read " TREE "/%s: %s", settings[i],
				       strerror(-rc));
	}
	m->have_before = true;
	return 0;
}

static int module_open(const struct crit_opts *opts, struct crit_engine **ret_engine,
		       struct err *err)
{
	struct module_engine *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->engine.ops = &crit_engine_module;
	rc = module_prepare(m, opts, err);
	if (rc)
		module_close(&m->engine, NULL);
	else
		*ret_engine = &m->engine;
	return rc;
}

const struct crit_engine_ops crit_engine_module = {
	.name = "module",
	.unit = "cycles",
	.what = "module " MODULE ": inline pairs on all online CPUs at the same time, in cycles of "
		"get_cycles(); the cost of clock and work is subtracted",
	.ops = 1 << CRIT_IRQ | 1 << CRIT_PREEMPT | 1 << CRIT_IRQ_SAVE,
	.open = module_open,
	.round = module_round,
	.close = module_close,
};
