/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the exporter. The command line and the settings file use the same option names. */
#ifndef SUBTICK_SERVE_CONFIG_H
#define SUBTICK_SERVE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "serve/history_file.h"
#include "serve/http/address.h"
#include "measure/runq/opts.h"

#define CONFIG_FILE	  "/etc/subtick.conf"
/* Port 7828 spells SUBT on a telephone keypad. */
#define CONFIG_LISTEN	  "127.0.0.1:7828"

/* All collectors are enabled by default. load is first: other collectors share its programs. */
#define COLLECTORS(X) X(load) X(runq) X(wake) X(noise)
#define CONFIG_COLLECT_ENUM(name) CONFIG_COLLECT_##name,
enum config_collect { COLLECTORS(CONFIG_COLLECT_ENUM) CONFIG_NR_COLLECTORS };
#undef CONFIG_COLLECT_ENUM

/* Grouping of run-queue series (--per). */
enum config_per {
	CONFIG_PER_CGROUP,
	CONFIG_PER_POD,
	CONFIG_PER_NAMESPACE,
	CONFIG_PER_QOS,
};

/* Labels that --labels can add to run-queue series, as an X macro. */
#define CONFIG_LABELS(X) \
	X(namespace) X(pod) X(container) X(pod_uid) X(container_id) X(qos) X(image) X(vm)
#define CONFIG_LABEL_ENUM(name) CONFIG_LABEL_##name,
enum config_label { CONFIG_LABELS(CONFIG_LABEL_ENUM) CONFIG_NR_LABELS };
#undef CONFIG_LABEL_ENUM
extern const char *const config_label_names[];

/*
 * Options of `subtick serve`; a NULL name ends the table. The settings file may contain all options
 * except those with OPT_ARGV.
 */
extern const struct opt config_settings[];

struct config {
	char *listen[ADDRESS_MAX_LISTEN];
	size_t nr_listen;
	char *token_file; /* path of the token file; NULL if no token is required */
	/* names that are accepted in Host headers, as "a,b"; NULL if no names are accepted */
	char *hosts;
	char *traces;  /* directory of trace recordings; NULL if recordings are not served */
	char *history; /* directory of the history on disk; NULL if there is no history on disk */
	struct history_keep keep;
	char *user;
	uint32_t collect; /* enabled collectors, as bits of enum config_collect */
	/* bit set of the collectors that are disabled because the memory is too small */
	uint32_t no_room;
	uint64_t le_ns[RUNQ_NR_LE];
	unsigned int nr_le;
	bool own_le; /* true if the option --le was set */
	uint64_t interval_ns;
	enum config_per per;
	/* number of path components of a cgroup that identify a series; 0 for all components */
	uint32_t depth;
	uint32_t labels; /* labels to export, as bits of enum config_label */
	struct runq_rules rules; /* rules that select the cgroups that have series */
	uint64_t cgroup_limit;
	uint64_t blame_limit;
	/* maximum number of pairs of cgroups on one core; 0 disables the pairs */
	uint64_t core_pairs;
	uint64_t max_connections;
	uint64_t timeout_ns;
	/* share of run-queue waits that are counted, from 0 to 1; 1 counts all */
	double sample_ratio;
	bool no_causes;
	/* true if blame_limit was 0 at the start: culprits are not recorded */
	bool no_blame;
	bool fine; /* histograms of waits: true: fine buckets; false: boundaries le_ns */
	bool native_histograms;
	bool idle_states;
	bool avoidable;
	bool pressure;
	bool keep_bpf;
	bool no_sandbox;
	/* Options that are valid only on the command line. */
	char *file; /* path of the settings file; NULL for CONFIG_FILE, which may be missing */
	bool check;
};

static inline bool config_collects(const struct config *config, enum config_collect id)
{
	return (config->collect & ~config->no_room) >> id & 1;
}

int config_init(struct config *config);
void config_free(struct config *config);

/*
 * The settings listen, host, include and exclude append @value to a list. If @value is invalid,
 * @err describes the accepted values.
 */
int config_set(struct config *config, const char *name, const char *value, struct err *err);
/* Parses lines "name = value" and comments that begin with #. Error messages begin with @label. */
int config_parse(struct config *config, const char *text, size_t len, const char *label,
		 struct err *err);
/* Reads a settings file. A NULL path means CONFIG_FILE, which may be missing. */
int config_read(struct config *config, const char *path, struct err *err);
/* Checks and completes the settings after all settings are set. */
int config_complete(struct config *config, struct err *err);
void config_clear_listen(struct config *config);
/* Name of the first changed setting that needs a restart, or NULL. */
const char *config_needs_restart(const struct config *old, const struct config *fresh);
/* Swaps the values of all settings that can change without a restart. */
void config_swap_live(struct config *now, struct config *fresh);
/* Sets the options of the run-queue meter according to the settings of the exporter. */
void config_runq(const struct config *config, struct runq_opts *ret_opts);

#endif
