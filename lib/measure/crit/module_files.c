/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads kmod/tracerbench; reads and writes its debugfs files. */
#include "measure/crit/module_files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/cpu.h"
#include "host/file.h"

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

int module_set(const char *file, uint64_t value, struct err *err)
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
	/*
	 * The terminal sends SIGINT to the whole process group, but only the parent must handle the
	 * signal.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (cpu >= 0)
		rc = affinity_pin(0, cpu);
	_exit(-(rc ?: tree_write(file, value)));
}

int module_trigger(const char *file, uint64_t value, int cpu, const struct crit_opts *opts,
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

int module_get(const char *dir, const char *file, double *ret_value, struct err *err)
{
	char path[96];
	uint64_t value;
	int rc;

	snprintf(path, sizeof(path), TREE "/%s/%s", dir, file);
	rc = sys_read_u64(NULL, path, &value);
	if (rc)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	*ret_value = value;
	return 0;
}

bool module_has(const char *file)
{
	return sys_exists(TREE "/", file);
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static struct crit_cpu *new_cpus(size_t nr)
{
	struct crit_cpu *cpus = calloc(nr ?: 1, sizeof(*cpus));

	for (size_t i = 0; cpus && i < nr; i++)
		for (int op = 0; op < CRIT_NR_OPS; op++)
			cpus[i].batch[op] = NAN;
	return cpus;
}

int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr)
{
	size_t lines = count_lines(text);
	bool first = !*nr;

	if (!lines || lines > CPUS_MAX || (!first && lines != *nr))
		return -EINVAL;
	if (first) {
		*cpus = new_cpus(lines);
		if (!*cpus)
			return -ENOMEM;
		*nr = lines;
	}
	for (size_t i = 0; i < lines; i++) {
		struct crit_cpu *cpu = &(*cpus)[i];
		struct tb_summary *summary = &cpu->op[op];
		unsigned int number;
		int end = -1;

		if (sscanf(text, "%u %" SCNu64 " %" SCNu64 " %" SCNu64 "\n%n", &number,
			   &summary->median, &summary->average, &summary->max, &end) != 4 ||
		    end < 0 || (!first && number != cpu->cpu))
			return -EINVAL;
		cpu->cpu = number;
		text += end;
	}
	return *text ? -EINVAL : 0;
}

int module_get_cpus(enum crit_op op, struct crit_cpu **cpus, unsigned int *nr, struct err *err)
{
	char path[96], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof(path), TREE "/%s/per_cpu", crit_op_names[op]);
	text = sys_read_all(path, PER_CPU_MAX, &size, err);
	if (!text)
		return err->code;
	rc = module_parse_cpus(text, op, cpus, nr);
	free(text);
	return rc ? err_set(err, rc, "cannot read %s: %s", path, strerror(-rc)) : 0;
}

void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE])
{
	char build[96];

	snprintf(build, sizeof(build), "/lib/modules/%.64s/build", release);
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

int module_load(struct err *err)
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
	/* The last line of modprobe's output is the reason of a failure. */
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
