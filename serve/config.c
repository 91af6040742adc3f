/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and checks settings. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "base/clock.h"
#include "base/duration.h"
#include "host.h"
#include "stats/hist.h"
#include "stats/native.h"
#include "stats/runq.h"

#define FILE_MAX (64 * 1024)

#define COLLECTOR_NAME(name) "," #name
#define ALL_COLLECTORS	     (&(COLLECTORS(COLLECTOR_NAME))[1])
#define USUAL_COLLECTORS     (&(DEFAULT_COLLECTORS(COLLECTOR_NAME))[1])

#define LABEL_NAME(name) #name,
const char *const config_label_names[] = {CONFIG_LABELS(LABEL_NAME) NULL};
static const char *const per_names[] = {"cgroup", "pod", "namespace", "qos", NULL};

const struct config_setting config_settings[] = {
	{"listen", "ADDRESS",
	 "where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH; may be given several times",
	 CONFIG_RESTART},
	{"token-file", "FILE", "require the bearer token in this file", CONFIG_LIVE},
	{"host", "NAME",
	 "a name of this server that clients without a token may use; may be given several times",
	 CONFIG_LIVE},
	{"collect", "LIST", "what to measure: some of load,runq,wake,noise (default: all but noise)", CONFIG_RESTART},
	{"le", "LIST", "boundaries of the run-queue histograms, such as 100us,1ms,10ms",
	 CONFIG_RESTART},
	{"interval", "TIME", "length of a window (default 1s)", CONFIG_LIVE},
	{"cgroup-limit", "N", "cgroups with series of their own; the rest share one (default 1000)",
	 CONFIG_LIVE},
	{"per", "WHAT", "what run-queue series are by: cgroup, pod, namespace or qos (default cgroup)",
	 CONFIG_RESTART},
	{"depth", "N", "run-queue series for cgroups whose paths have the first N names in common",
	 CONFIG_RESTART},
	{"labels", "LIST",
	 "labels beside cgroup: some of namespace,pod,container,pod_uid,container_id,qos,image, or none "
	 "(default namespace,pod,container)",
	 CONFIG_LIVE},
	{"include", "RULE",
	 "series for these cgroups: cgroup=/PATH, namespace=NAME, pod=NAME, container=NAME or qos=CLASS; "
	 "may be given several times, and the first rule that matches decides",
	 CONFIG_RESTART},
	{"exclude", "RULE", "no series for these; their waits are in (excluded)", CONFIG_RESTART},
	{"blame-limit", "N", "pairs of victim and culprit with series of their own (default 1000)",
	 CONFIG_LIVE},
	{"sample", "RATIO", "count each wait for a core with this probability, such as 0.1",
	 CONFIG_RESTART},
	{"no-causes", NULL, "do not split waits for a core by cause and culprit, which is cheaper",
	 CONFIG_RESTART},
	{"fine", NULL,
	 "keep fine histograms of waits: percentiles of the page within 3.2 %, for 20 times the memory",
	 CONFIG_RESTART},
	{"native-histograms", NULL,
	 "run-queue and wake latency also as native histograms, one series each, to a Prometheus that "
	 "asks for them; of waits finer with --fine",
	 CONFIG_RESTART},
	{"idle-states", NULL, "also what cgroups wait for cores to leave their idle state",
	 CONFIG_RESTART},
	{"pressure", NULL, "also the wall time in which somebody of a cgroup waited, by cause",
	 CONFIG_RESTART},
	{"max-connections", "N", "limit of simultaneous connections (default 512)", CONFIG_LIVE},
	{"timeout", "TIME",
	 "time limit for a request, and for progress of a response (default 10s)", CONFIG_LIVE},
	{"traces", "DIR",
	 "show the recordings in this directory on the page: files of subtick trace -o DIR/NAME.html",
	 CONFIG_RESTART},
	{"user", "NAME", "user to become after attaching, if started as root (default nobody)",
	 CONFIG_RESTART},
	{"keep-bpf", NULL,
	 "keep CAP_BPF, which runq needs before Linux 5.19 with kernel.unprivileged_bpf_disabled",
	 CONFIG_RESTART},
	{"no-sandbox", NULL, "keep all privileges, for debugging only", CONFIG_RESTART},
	{NULL, NULL, NULL, CONFIG_LIVE},
};

int config_init(struct config *config)
{
	static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;

	*config = (struct config){
		.interval_ns = NSEC_PER_SEC,
		.labels = 1u << CONFIG_LABEL_namespace | 1u << CONFIG_LABEL_pod |
			  1u << CONFIG_LABEL_container,
		.cgroup_limit = 1000,
		.blame_limit = 1000,
		.sample_ratio = 1.0,
		.max_connections = 512,
		.timeout_ns = 10 * NSEC_PER_SEC,
	};
	memcpy(config->le_ns, le, sizeof(le));
	config->nr_le = sizeof(le) / sizeof(le[0]);
	config->user = strdup("nobody");
	config->collect = strdup(USUAL_COLLECTORS);
	if (config->user && config->collect)
		return 0;
	config_free(config);
	return -ENOMEM;
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
	free(config->token_file);
	free(config->hosts);
	free(config->collect);
	free(config->traces);
	free(config->user);
	memset(config, 0, sizeof(*config));
}

bool config_list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && !strncmp(list, name, len))
			return true;
	return false;
}

static int set_str(char **at, const char *value, struct err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	free(*at);
	*at = copy;
	return 0;
}

static int set_u64(const char *name, const char *value, uint64_t min, uint64_t max, uint64_t *at,
		   struct err *err)
{
	unsigned long long got;
	char *end;

	errno = 0;
	got = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || errno || got < min || got > max)
		return err_set(err, -EINVAL, "%s %.40s: expected a whole number from %llu to %llu",
			       name, value, (unsigned long long)min, (unsigned long long)max);
	*at = got;
	return 0;
}

static int set_time(const char *name, const char *value, uint64_t min_ns, uint64_t max_ns,
		    uint64_t *at, struct err *err)
{
	if (duration_parse(value, min_ns, max_ns, at))
		return 0;
	return err_set(err, -EINVAL,
		       "%s %.40s: expected a time from %g s to %g s, such as 0.5, 200ms or 1s",
		       name, value, (double)min_ns / 1e9, (double)max_ns / 1e9);
}

static int set_ratio(const char *name, const char *value, double *at, struct err *err)
{
	char *end;
	double ratio = strtod(value, &end);

	/* The range of runq --sample. */
	if (!isdigit((unsigned char)value[0]) || *end || !(ratio >= 1e-6 && ratio <= 1.0))
		return err_set(err, -EINVAL,
			       "%s %.40s: expected a ratio from 0.000001 to 1, such as 0.1", name,
			       value);
	*at = ratio;
	return 0;
}

static int add_listen(struct config *config, const char *value, struct err *err)
{
	struct address address;

	if (config->nr_listen == CONFIG_MAX_LISTEN)
		return err_set(err, -E2BIG, "listen: at most %d addresses", CONFIG_MAX_LISTEN);
	if (address_parse(value, &address))
		return err_set(err, -EINVAL,
			       "listen %.80s: expected HOST:PORT with a numeric address, "
			       "[IPV6]:PORT or unix:PATH",
			       value);
	config->listen[config->nr_listen] = strdup(value);
	if (!config->listen[config->nr_listen])
		return err_set(err, -ENOMEM, "out of memory");
	config->nr_listen++;
	return 0;
}

static int add_host(struct config *config, const char *value, struct err *err)
{
	char *hosts = NULL;

	if (!host_is_name(value))
		return err_set(err, -EINVAL,
			       "host %.80s: expected the name of a host without a port, such as "
			       "node1.example",
			       value);
	if (asprintf(&hosts, "%s%s%s", config->hosts ? config->hosts : "", config->hosts ? "," : "",
		     value) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	free(config->hosts);
	config->hosts = hosts;
	return 0;
}

/* Calls @fn with each word of a list. */
static int each_word(const char *value, struct config *config, struct err *err,
		     int (*fn)(struct config *, const char *, struct err *))
{
	char *list = strdup(value), *rest = list, *word;
	int rc = list ? 0 : err_set(err, -ENOMEM, "out of memory");

	while (!rc && (word = strsep(&rest, ",")))
		rc = fn(config, word, err);
	free(list);
	return rc;
}

static int check_collector(struct config *config, const char *word, struct err *err)
{
	if (config_list_has(ALL_COLLECTORS, word))
		return 0;
	return err_set(err, -EINVAL, "collect %.40s: expected some of %s", word, ALL_COLLECTORS);
}

static int add_le(struct config *config, const char *word, struct err *err)
{
	uint64_t *at = &config->le_ns[config->nr_le];
	int rc;

	if (config->nr_le == CONFIG_MAX_LE)
		return err_set(err, -E2BIG, "le: at most %d boundaries", CONFIG_MAX_LE);
	rc = set_time("le", word, 1e3, HIST_VALUE_MAX, at, err);
	if (rc)
		return rc;
	/* A bucket of the histogram can contain one boundary, and is at most 3.2 % wide. */
	if (config->nr_le && (*at <= at[-1] || hist_index(*at) == hist_index(at[-1])))
		return err_set(err, -EINVAL,
			       "le %.40s: must be above the boundary before it by 3.2 %% or more",
			       word);
	config->nr_le++;
	return 0;
}

/* -1 if @word is none of @words. */
static int index_of(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

static int set_per(struct config *config, const char *value, struct err *err)
{
	int per = index_of(value, per_names);

	if (per < 0)
		return err_set(err, -EINVAL, "per %.40s: expected cgroup, pod, namespace or qos",
			       value);
	config->per = per;
	return 0;
}

static int add_label(struct config *config, const char *word, struct err *err)
{
	int label = index_of(word, config_label_names);

	if (label < 0)
		return err_set(err, -EINVAL,
			       "labels %.40s: expected some of namespace, pod, container, pod_uid, "
			       "container_id, qos and image, or none",
			       word);
	config->labels |= 1u << label;
	return 0;
}

static int set_labels(struct config *config, const char *value, struct err *err)
{
	config->labels = 0;
	return strcmp(value, "none") ? each_word(value, config, err, add_label) : 0;
}

static int set_bool(const char *name, const char *value, bool *at, struct err *err)
{
	if (!strcmp(value, "yes"))
		*at = true;
	else if (!strcmp(value, "no"))
		*at = false;
	else
		return err_set(err, -EINVAL, "%s %.40s: expected yes or no", name, value);
	return 0;
}

static int set_list(struct config *config, const char *name, const char *value, struct err *err)
{
	int rc;

	if (!strcmp(name, "le")) {
		config->nr_le = 0;
		config->own_le = true;
		return each_word(value, config, err, add_le);
	}
	rc = each_word(value, config, err, check_collector);
	return rc ? rc : set_str(&config->collect, value, err);
}

int config_set(struct config *config, const char *name, const char *value, struct err *err)
{
	if (!strcmp(name, "listen"))
		return add_listen(config, value, err);
	if (!strcmp(name, "collect") || !strcmp(name, "le"))
		return set_list(config, name, value, err);
	if (!strcmp(name, "no-sandbox"))
		return set_bool(name, value, &config->no_sandbox, err);
	if (!strcmp(name, "keep-bpf"))
		return set_bool(name, value, &config->keep_bpf, err);
	if (!strcmp(name, "no-causes"))
		return set_bool(name, value, &config->no_causes, err);
	if (!strcmp(name, "fine"))
		return set_bool(name, value, &config->fine, err);
	if (!strcmp(name, "native-histograms"))
		return set_bool(name, value, &config->native_histograms, err);
	if (!strcmp(name, "idle-states"))
		return set_bool(name, value, &config->idle_states, err);
	if (!strcmp(name, "pressure"))
		return set_bool(name, value, &config->pressure, err);
	if (!*value)
		return err_set(err, -EINVAL, "%s needs a value", name);
	if (!strcmp(name, "per"))
		return set_per(config, value, err);
	if (!strcmp(name, "depth"))
		return set_u64(name, value, 1, RUNQ_DEPTH - 1, &config->depth, err);
	if (!strcmp(name, "include") || !strcmp(name, "exclude"))
		return runq_rules_add(&config->rules, name[0] == 'i', value, err);
	if (!strcmp(name, "labels"))
		return set_labels(config, value, err);
	if (!strcmp(name, "host"))
		return add_host(config, value, err);
	if (!strcmp(name, "token-file"))
		return set_str(&config->token_file, value, err);
	if (!strcmp(name, "traces"))
		return set_str(&config->traces, value, err);
	if (!strcmp(name, "user"))
		return set_str(&config->user, value, err);
	if (!strcmp(name, "interval"))
		return set_time(name, value, 1e8, 3.6e12, &config->interval_ns, err);
	if (!strcmp(name, "timeout"))
		return set_time(name, value, 1e8, 6e11, &config->timeout_ns, err);
	if (!strcmp(name, "cgroup-limit"))
		return set_u64(name, value, 0, 100000, &config->cgroup_limit, err);
	if (!strcmp(name, "blame-limit"))
		return set_u64(name, value, 0, 100000, &config->blame_limit, err);
	if (!strcmp(name, "sample"))
		return set_ratio(name, value, &config->sample_ratio, err);
	if (!strcmp(name, "max-connections"))
		return set_u64(name, value, 1, 65536, &config->max_connections, err);
	return err_set(err, -EINVAL, "unknown setting %.40s", name);
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

int config_read(struct config *config, const char *path, bool optional, struct err *err)
{
	char *text = malloc(FILE_MAX + 1);
	ssize_t len = 0, got = 0;
	int fd, rc = 0;

	if (!text)
		return err_set(err, -ENOMEM, "out of memory");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		rc = optional && errno == ENOENT ?
			     0 :
			     err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
		goto out;
	}
	while (len <= FILE_MAX && (got = read(fd, text + len, FILE_MAX + 1 - len)) > 0)
		len += got;
	if (got < 0)
		rc = err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	else if (len > FILE_MAX)
		rc = err_set(err, -EFBIG, "%s is larger than %d bytes", path, FILE_MAX);
	close(fd);
	if (!rc)
		rc = config_parse(config, text, len, path, err);
out:
	free(text);
	return rc;
}

int config_complete(struct config *config, struct err *err)
{
	_Static_assert(NATIVE_NR_LE <= CONFIG_MAX_LE, "room for all of them");

	if (config->depth && config->per != CONFIG_PER_CGROUP)
		return err_set(err, -EINVAL, "depth goes with per = cgroup");
	if (config->pressure && config->per != CONFIG_PER_CGROUP && config->per != CONFIG_PER_POD)
		return err_set(err, -EINVAL,
			       "pressure goes with per = cgroup or pod: pods of a namespace or class "
			       "have no cgroup in common, and wall times of pods do not add up");
	if (!config->native_histograms || config->fine)
		return 0;
	if (config->own_le)
		return err_set(err, -EINVAL,
			       "native-histograms without fine are made of counts at powers of two; "
			       "leave out le, or add fine");
	for (unsigned int i = 0; i < NATIVE_NR_LE; i++)
		config->le_ns[i] = native_le_ns(i);
	config->nr_le = NATIVE_NR_LE;
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

const char *config_needs_restart(const struct config *old, const struct config *fresh)
{
	if (old->nr_listen != fresh->nr_listen)
		return "listen";
	for (size_t i = 0; i < old->nr_listen; i++)
		if (!same(old->listen[i], fresh->listen[i]))
			return "listen";
	if (!same(old->collect, fresh->collect))
		return "collect";
	if (!same(old->traces, fresh->traces))
		return "traces";
	if (!same(old->user, fresh->user))
		return "user";
	/* It can change the boundaries. */
	if (old->native_histograms != fresh->native_histograms)
		return "native-histograms";
	if (old->nr_le != fresh->nr_le ||
	    memcmp(old->le_ns, fresh->le_ns, old->nr_le * sizeof(old->le_ns[0])))
		return "le";
	if (old->sample_ratio < fresh->sample_ratio || old->sample_ratio > fresh->sample_ratio)
		return "sample";
	if (old->per != fresh->per)
		return "per";
	if (old->depth != fresh->depth)
		return "depth";
	if (!runq_rules_same(&old->rules, &fresh->rules))
		return "include or exclude";
	/* The programs that charge culprits were not loaded. */
	if (old->no_blame && fresh->blame_limit)
		return "blame-limit";
	if (old->no_causes != fresh->no_causes)
		return "no-causes";
	if (old->fine != fresh->fine)
		return "fine";
	if (old->idle_states != fresh->idle_states)
		return "idle-states";
	if (old->pressure != fresh->pressure)
		return "pressure";
	if (old->keep_bpf != fresh->keep_bpf)
		return "keep-bpf";
	return old->no_sandbox != fresh->no_sandbox ? "no-sandbox" : NULL;
}
