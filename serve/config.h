/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the exporter; the command line and the file use the same names. */
#ifndef SUBTICK_SERVE_CONFIG_H
#define SUBTICK_SERVE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/runq/rules.h"

#define CONFIG_FILE	  "/etc/subtick.conf"
#define CONFIG_LISTEN	  "127.0.0.1:7828" /* SUBT on a telephone */
#define CONFIG_MAX_LISTEN 16
#define CONFIG_MAX_LE	  32

/*
 * The list of collectors, X(name); collectors.c has their code. load is the first. Those that are
 * collected unless --collect says otherwise have a list of their own.
 */
#define DEFAULT_COLLECTORS(X) X(load) X(runq) X(wake)
#define COLLECTORS(X)	      DEFAULT_COLLECTORS(X) X(noise)

/* What run-queue series are by. */
enum config_per {
	CONFIG_PER_CGROUP,
	CONFIG_PER_POD,
	CONFIG_PER_NAMESPACE,
	CONFIG_PER_QOS,
};

/* The list of labels that run-queue series can have beside that, X(name). */
#define CONFIG_LABELS(X) X(namespace) X(pod) X(container) X(pod_uid) X(container_id) X(qos) X(image)
#define CONFIG_LABEL_ENUM(name) CONFIG_LABEL_##name,
enum config_label { CONFIG_LABELS(CONFIG_LABEL_ENUM) CONFIG_NR_LABELS };
#undef CONFIG_LABEL_ENUM
extern const char *const config_label_names[];

/* When a changed setting takes effect. */
enum config_when {
	CONFIG_LIVE,	/* on SIGHUP */
	CONFIG_RESTART, /* after a restart: it needs privileges that were dropped */
};

struct config_setting {
	const char *name;
	const char *arg; /* NULL: yes or no in the file, a bare option on the command line */
	const char *help;
	enum config_when when;
};

/* Ended by a NULL name. */
extern const struct config_setting config_settings[];

struct config {
	char *listen[CONFIG_MAX_LISTEN];
	size_t nr_listen;
	char *token_file; /* NULL: no token is required */
	char *hosts;	  /* "a,b": names of this server; NULL for none */
	char *collect;	  /* "load,runq" */
	char *traces;	  /* directory of recordings; NULL for none */
	char *user;
	uint64_t le_ns[CONFIG_MAX_LE];
	unsigned int nr_le;
	bool own_le; /* they were given */
	uint64_t interval_ns;
	enum config_per per;
	uint64_t depth; /* names of a path that make a series; 0: all */
	uint32_t labels; /* bits of enum config_label */
	struct runq_rules rules; /* which cgroups have series */
	uint64_t cgroup_limit;
	uint64_t blame_limit;
	uint64_t max_connections;
	uint64_t timeout_ns;
	double sample_ratio; /* of waits for a core; 1: every one */
	bool no_causes;
	bool no_blame; /* at the start blame_limit was 0: culprits are not charged */
	bool fine; /* histograms of waits, not only counts at le_ns */
	bool native_histograms;
	bool idle_states;
	bool pressure;
	bool keep_bpf;
	bool no_sandbox;
};

int config_init(struct config *config);
void config_free(struct config *config);

/* Sets one value; on failure @err says what is wrong and what is accepted. "listen" adds one. */
int config_set(struct config *config, const char *name, const char *value, struct err *err);
/* Parses lines "name = value"; # begins a comment. @label names the text in errors. */
int config_parse(struct config *config, const char *text, size_t len, const char *label,
		 struct err *err);
/* @optional: a missing file is no error. */
int config_read(struct config *config, const char *path, bool optional, struct err *err);
/* Checks the settings together, once all are set, and derives those that depend on others. */
int config_complete(struct config *config, struct err *err);
/* Removes the listen addresses: those of the command line replace those of the file. */
void config_clear_listen(struct config *config);
/* The first changed setting that needs a restart; NULL if there is none. */
const char *config_needs_restart(const struct config *old, const struct config *fresh);
/* Whether "a,b,c" has @name. */
bool config_list_has(const char *list, const char *name);

#endif
