/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the exporter. One option table serves command line, settings file and SIGHUP. */
#include "serve/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/runq/programs.h"
#include "stats/hist.h"
#include "stats/runq.h"
#include "host/file.h"

#define FILE_MAX (64 * 1024)

#define COLLECTOR_NAME(name) #name,
#define LABEL_NAME(name)     #name,
const char *const config_label_names[] = {CONFIG_LABELS(LABEL_NAME) NULL};
static const char *const collector_names[] = {COLLECTORS(COLLECTOR_NAME) NULL};
static const char *const per_names[] = {"cgroup", "pod", "namespace", "qos", NULL};

static int add_listen(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct config *config = base;
	struct address address;

	if (config->nr_listen == ADDRESS_MAX_LISTEN)
		return err_set(err, -E2BIG, "at most %d addresses", ADDRESS_MAX_LISTEN);
	if (address_parse(value, &address))
		return -EINVAL;
	config->listen[config->nr_listen] = strdup(value);
	if (!config->listen[config->nr_listen])
		return err_set(err, -ENOMEM, "out of memory");
	config->nr_listen++;
	return 0;
}

static bool same_listen(const void *a, const void *b)
{
	const struct config *old = a, *fresh = b;
	bool same = old->nr_listen == fresh->nr_listen;

	for (size_t i = 0; same && i < old->nr_listen; i++)
		same = !strcmp(old->listen[i], fresh->listen[i]);
	return same;
}

static int add_host(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct config *config = base;
	char *hosts = NULL;

	if (!host_is_name(value))
		return -EINVAL;
	if (asprintf(&hosts, "%s%s%s", config->hosts ? config->hosts : "", config->hosts ? "," : "",
		     value) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	free(config->hosts);
	config->hosts = hosts;
	return 0;
}

static int set_le(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct config *config = base;

	config->own_le = true;
	return runq_opts_le(opt, value, config->le_ns, &config->nr_le, err);
}

static int set_labels(const struct opt *opt, const char *value, void *base, struct err *err)
{
	((struct config *)base)->labels = 0;
	return strcmp(value, "none") ? opt_set(opt, value, base, err) : 0;
}

static int add_rule(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct config *config = base;

	return runq_rules_add(&config->rules, !strcmp(opt->name, "include"), value, err);
}

static bool same_rules(const void *a, const void *b)
{
	const struct config *old = a, *fresh = b;

	return runq_rules_same(&old->rules, &fresh->rules);
}

/* Parses one word of --keep: an age such as 7d, or a size such as 4G. */
static int set_limit(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct history_keep *keep = &((struct config *)base)->keep;
	double number;

	if (opt_decimal(word, "M", 1, 1e9, &number))
		keep->bytes = (uint64_t)(number * (1 << 20));
	else if (opt_decimal(word, "G", 1e-3, 1e6, &number))
		keep->bytes = (uint64_t)(number * (1 << 30));
	else if (!duration_parse(word, 60 * NSEC_PER_SEC, UINT64_MAX / 4, &keep->age_ns))
		return -EINVAL;
	return 0;
}

static int set_keep(const struct opt *opt, const char *value, void *base, struct err *err)
{
	return opt_each(opt, value, base, err, set_limit);
}

/* The BPF programs that record culprits are loaded only at the start. */
static bool same_blame(const void *a, const void *b)
{
	const struct config *old = a, *fresh = b;

	return !old->no_blame || !fresh->blame_limit;
}

static bool same_sample(const void *a, const void *b)
{
	const struct config *old = a, *fresh = b;

	return runq_programs_fit(old->sample_ratio, fresh->sample_ratio);
}

/*
 * The BPF programs keep the histogram boundaries of the start. SIGHUP can only show or hide
 * boundaries.
 */
static bool same_le(const void *a, const void *b)
{
	const struct config *old = a, *fresh = b;
	unsigned int found = 0;

	for (unsigned int i = 0; i < old->nr_le && found < fresh->nr_le; i++)
		found += old->le_ns[i] == fresh->le_ns[found];
	return found == fresh->nr_le;
}

#define STORE(member) OPT_STORE(struct config, member)
#define COUNT(member, least, most) OPT_NUMBER(struct config, member, least, most)
#define TIME(member, least, most) OPT_DURATION(struct config, member, least, most)
#define LIVE .when = OPT_LIVE
#define RULES .parse = add_rule, .same = same_rules, .group = "include or exclude"

/*
 * A change of native-histograms also changes le. config_needs_restart() reports the first changed
 * option, so native-histograms must come before le.
 */
const struct opt config_settings[] = {
	{"config", 0, "FILE", "settings file (default " CONFIG_FILE ")", STORE(file),
	 .when = OPT_ARGV},
	{"check-config", 0, NULL, "check the settings and exit", STORE(check), .when = OPT_ARGV},
	{"listen", 0, "ADDRESS",
	 "listen on HOST:PORT, [IPV6]:PORT or unix:PATH; may be given several times",
	 .parse = add_listen, .same = same_listen,
	 .expected = "HOST:PORT with a numeric address, [IPV6]:PORT or unix:PATH"},
	{"token-file", 0, "FILE", "require the bearer token in this file", STORE(token_file), LIVE},
	{"host", 0, "NAME",
	 "accept this name in the Host header without a token; may be given several times",
	 .parse = add_host, OPT_AT(struct config, hosts), LIVE,
	 .expected = "the name of a host without a port, such as node1.example"},
	{"collect", 0, "LIST", "measure some of load,runq,wake,noise (default: all)",
	 OPT_SET(struct config, collect, collector_names)},
	{"interval", 0, "TIME", "length of a window (default 1s)", TIME(interval_ns, 1e8, 3.6e12),
	 LIVE},
	{"cgroup-limit", 0, "N",
	 "number of cgroups with their own series; all others share one series (default 1000)",
	 COUNT(cgroup_limit, 0, 100000), LIVE},
	{"per", 0, "WHAT", "run-queue series per cgroup, pod, namespace or qos (default cgroup)",
	 OPT_CHOICE(struct config, per, per_names)},
	{"depth", 0, "N", "run-queue series for cgroups whose paths share the first N names",
	 COUNT(depth, 1, RUNQ_DEPTH - 1)},
	{"labels", 0, "LIST",
	 "labels besides cgroup: some of "
	 "namespace,pod,container,pod_uid,container_id,qos,image,vm, "
	 "or none (default namespace,pod,container,vm)",
	 .parse = set_labels, OPT_AT(struct config, labels), .words = config_label_names, LIVE,
	 .expected =
		 "some of namespace, pod, container, pod_uid, container_id, qos, image and vm, or "
		 "none"},
	{"include", 0, "RULE",
	 "series for these cgroups: cgroup=/PATH, namespace=NAME, pod=NAME, container=NAME or "
	 "qos=CLASS; may be given several times, the first matching rule decides",
	 RULES},
	{"exclude", 0, "RULE",
	 "no series for these cgroups; if a culprit is one of them, its name is (excluded)", RULES},
	{"blame-limit", 0, "N", "pairs of victim and culprit with their own series (default 1000)",
	 COUNT(blame_limit, 0, 100000), LIVE, .same = same_blame},
	{"core-pairs", 0, "N",
	 "also count the time in which two cgroups run on one physical core, for up to N pairs",
	 COUNT(core_pairs, 0, 100000)},
	{"sample", 0, "RATIO", "count each wait for a core with this probability, such as 0.1",
	 RUNQ_SAMPLE(struct config, sample_ratio), LIVE, .same = same_sample},
	{"no-causes", 0, NULL,
	 "do not split waits for a core by cause and culprit, which is cheaper", STORE(no_causes)},
	{"fine", 0, NULL,
	 "keep fine histograms of waits: percentiles on the live page are within 3.2 %, and the "
	 "histograms take 20 times the memory",
	 STORE(fine)},
	{"native-histograms", 0, NULL,
	 "also serve run-queue and wake latency as native histograms; finer waits with --fine",
	 STORE(native_histograms)},
	{"le", 0, "LIST", "boundaries of the run-queue histograms, such as 100us,1ms,10ms",
	 .parse = set_le, OPT_RANGE(struct config, le_ns, 1e3, HIST_VALUE_MAX), .same = same_le},
	{"idle-states", 0, NULL, "also count the waits of cgroups for idle cores, by idle state",
	 STORE(idle_states)},
	{"avoidable", 0, NULL,
	 "also count the waits of cgroups while another core that they may use is idle",
	 STORE(avoidable)},
	{"pressure", 0, NULL,
	 "also count the wall time in which tasks of a cgroup waited, by cause", STORE(pressure)},
	{"max-connections", 0, "N", "limit of simultaneous connections (default 512)",
	 COUNT(max_connections, 1, 65536), LIVE},
	{"timeout", 0, "TIME",
	 "time limit for a request, and for progress of a response (default 10s)",
	 TIME(timeout_ns, 1e8, 6e11), LIVE},
	{"traces", 0, "DIR",
	 "show the recordings in this directory on the page: files of subtick trace -o "
	 "DIR/NAME.html",
	 STORE(traces)},
	{"history", 0, "DIR",
	 "keep all windows in this directory, for subtick report --at and for the page; such "
	 "as " HISTORY_DIR,
	 STORE(history)},
	{"keep", 0, "LIST", "limits of the history: an age, a size or both (default 7d,4G)",
	 .parse = set_keep, OPT_AT(struct config, keep), LIVE,
	 .expected = "an age of 1m or more, a size of 1M or more, or both: 7d,4G"},
	{"user", 0, "NAME",
	 "run as this user after attaching, if started as root (default "
	 "nobody)",
	 STORE(user)},
	{"keep-bpf", 0, NULL,
	 "keep CAP_BPF, which runq needs before Linux 5.19 with kernel.unprivileged_bpf_disabled",
	 STORE(keep_bpf)},
	{"no-sandbox", 0, NULL, "keep all privileges, for debugging only", STORE(no_sandbox)},
	{0},
};

int config_init(struct config *config)
{
	static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;

	*config = (struct config){
		.interval_ns = NSEC_PER_SEC,
		.collect = (1u << CONFIG_NR_COLLECTORS) - 1,
		.labels = 1u << CONFIG_LABEL_namespace | 1u << CONFIG_LABEL_pod |
			  1u << CONFIG_LABEL_container | 1u << CONFIG_LABEL_vm,
		.cgroup_limit = 1000,
		.blame_limit = 1000,
		.sample_ratio = 1.0,
		.max_connections = 512,
		.timeout_ns = 10 * NSEC_PER_SEC,
		.keep = {.age_ns = 7 * 86400 * NSEC_PER_SEC, .bytes = 4ULL << 30},
		.user = strdup("nobody"),
	};
	memcpy(config->le_ns, le, sizeof(le));
	config->nr_le = ARRAY_SIZE(le);
	return config->user ? 0 : -ENOMEM;
}

void config_clear_listen(struct config *config)
{
	while (config->nr_listen)
		free(config->listen[--config->nr_listen]);
}

void config_free(struct config *config)
{
	config_clear_listen(config);
	runq_rules_free(&config->rules);
	free(config->hosts);
	for (const struct opt *opt = config_settings; opt->name; opt++)
		if (opt->parse == opt_string)
			free(*(char **)((char *)config + opt->offset));
	memset(config, 0, sizeof(*config));
}

int config_set(struct config *config, const char *name, const char *value, struct err *err)
{
	const struct opt *opt = opt_find(config_settings, name, strlen(name));

	if (!opt || opt->when == OPT_ARGV)
		return err_set(err, -EINVAL, "unknown setting %.40s", name);
	return opt_store(opt, value, config, err);
}

static char *trim(char *str)
{
	size_t len;

	str += strspn(str, " \t\r");
	for (len = strlen(str); len && strchr(" \t\r", str[len - 1]);)
		str[--len] = '\0';
	return str;
}

static int parse_line(struct config *config, char *line, struct err *err)
{
	char *name = trim(line), *value;

	if (!*name || *name == '#')
		return 0;
	value = strchr(name, '=');
	if (!value)
		return err_set(err, -EINVAL, "expected name = value, found %.40s", name);
	*value++ = '\0';
	return config_set(config, trim(name), trim(value), err);
}

int config_parse(struct config *config, const char *text, size_t len, const char *label,
		 struct err *err)
{
	char *copy, *rest, *line;
	unsigned int number = 0;
	int rc = 0;

	if (memchr(text, '\0', len))
		return err_set(err, -EINVAL, "%s: not a text file", label);
	copy = strndup(text, len);
	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	for (rest = copy; !rc && (line = strsep(&rest, "\n"));) {
		number++;
		rc = parse_line(config, line, err);
	}
	free(copy);
	if (rc)
		err_prefix(err, "%s:%u", label, number);
	return rc;
}

int config_read(struct config *config, const char *file, struct err *err)
{
	const char *path = file ? file : CONFIG_FILE;
	struct stat st;
	char *text;
	size_t len;
	int rc;

	/* open() of a FIFO blocks until another process opens the FIFO for writing. */
	if (!stat(path, &st) && S_ISFIFO(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", path);
	text = sys_read_all(path, FILE_MAX, &len, err);
	if (!text && !file && err->code == -ENOENT) {
		*err = (struct err){0};
		return 0;
	}
	rc = text ? config_parse(config, text, len, path, err) : err->code;
	free(text);
	return rc;
}

void config_runq(const struct config *config, struct runq_opts *ret_opts)
{
	static const enum runq_rollup_by sums[] = {
		[CONFIG_PER_CGROUP] = ROLLUP_NONE,
		[CONFIG_PER_POD] = ROLLUP_POD,
		[CONFIG_PER_NAMESPACE] = ROLLUP_NAMESPACE,
		[CONFIG_PER_QOS] = ROLLUP_QOS,
	};

	*ret_opts = (struct runq_opts){
		.per = RUNQ_PER_CGROUP,
		.sum = sums[config->per],
		.depth = config->depth,
		.rules = &config->rules,
		.fold_excluded = true,
		.causes = !config->no_causes,
		.blame = !config->no_causes && config->blame_limit > 0,
		.idle_states = config->idle_states,
		.avoidable = config->avoidable,
		.pressure = config->pressure,
		/* Reading cpu.pressure of each cgroup costs more CPU time than the measurement. */
		.psi_node_only = true,
		.sample_ratio = config->sample_ratio,
		.nr_le = config->nr_le,
		.steps_only = !config->fine,
		.reserve = config->cgroup_limit,
	};
	memcpy(ret_opts->le_ns, config->le_ns, sizeof(ret_opts->le_ns));
}

int config_complete(struct config *config, struct err *err)
{
	struct runq_opts runq;

	_Static_assert(NATIVE_NR_LE <= RUNQ_NR_LE, "room for all boundaries");
	config_runq(config, &runq);
	if (runq_opts_check(&runq, err)) {
		opt_plain(err);
		return err->code;
	}
	if (config->core_pairs &&
	    ~config->collect & (1u << CONFIG_COLLECT_load | 1u << CONFIG_COLLECT_runq))
		return err_set(err, -EINVAL, "core-pairs needs the collectors load and runq");
	if (!config->native_histograms || config->fine)
		return 0;
	if (config->own_le)
		return err_set(err, -EINVAL,
			       "native-histograms excludes le: leave out le, or add fine");
	memset(config->le_ns, 0, sizeof(config->le_ns));
	for (unsigned int i = 0; i < NATIVE_NR_LE; i++)
		config->le_ns[i] = native_le_ns(i);
	config->nr_le = NATIVE_NR_LE;
	return 0;
}

const char *config_needs_restart(const struct config *old, const struct config *fresh)
{
	for (const struct opt *opt = config_settings; opt->name; opt++)
		if ((opt->when == OPT_RESTART || opt->same) && !opt_same(opt, old, fresh))
			return opt->group ? opt->group : opt->name;
	return NULL;
}

void config_swap_live(struct config *now, struct config *fresh)
{
	for (const struct opt *opt = config_settings; opt->name; opt++) {
		char *a = (char *)now + opt->offset, *b = (char *)fresh + opt->offset;

		if (opt->when != OPT_LIVE || (opt->same && !opt_same(opt, now, fresh)))
			continue;
		for (size_t i = 0; i < opt->size; i++) {
			char byte = a[i];

			a[i] = b[i];
			b[i] = byte;
		}
	}
}
