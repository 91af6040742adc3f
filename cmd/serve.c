/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick serve: Prometheus exporter and live page. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "opts.h"
#include "serve/server.h"

#define MAX_GIVEN 64

enum {
	ID_CONFIG = OPT_OWN,
	ID_CHECK,
	ID_SETTING, /* and one more for each of config_settings[] */
};

/* The settings of the command line, kept to apply them again after the file is read again. */
struct given {
	const char *path;
	bool optional;
	struct {
		const char *name, *value;
	} settings[MAX_GIVEN];
	size_t nr;
	bool check; /* only check the settings */
};

static int load_settings(void *arg, struct config *ret_config, struct err *err)
{
	const struct given *given = arg;
	struct config config;
	bool listens = false;
	int rc;

	if (config_init(&config))
		return err_set(err, -ENOMEM, "out of memory");
	rc = config_read(&config, given->path, given->optional, err);
	for (size_t i = 0; !rc && i < given->nr; i++) {
		bool listen = !strcmp(given->settings[i].name, "listen");

		/* The command line replaces the file's addresses rather than adding to them. */
		if (listen && !listens)
			config_clear_listen(&config);
		listens |= listen;
		rc = config_set(&config, given->settings[i].name, given->settings[i].value, err);
	}
	if (!rc && !config.nr_listen)
		rc = config_set(&config, "listen", CONFIG_LISTEN, err);
	if (!rc)
		rc = config_complete(&config, err);
	if (rc) {
		config_free(&config);
		return rc;
	}
	*ret_config = config;
	return 0;
}

static int doctor(struct report **ret_report, struct err *err)
{
	struct doctor_opts opts = {.commands = command_names};

	return doctor_report(&opts, ret_report, err);
}

/* The options are the settings of the file, plus two that only the command line has. */
static struct opt *make_options(void)
{
	static const struct opt first[] = {
		{"config", 0, "FILE", "settings file (default " CONFIG_FILE ")", .id = ID_CONFIG},
		{"check-config", 0, NULL, "check the settings and exit", .id = ID_CHECK},
	};
	size_t nr = 0;
	struct opt *options;

	while (config_settings[nr].name)
		nr++;
	options = calloc(nr + 3, sizeof(*options));
	if (!options)
		return NULL;
	memcpy(options, first, sizeof(first));
	for (size_t i = 0; i < nr; i++) {
		const struct config_setting *setting = &config_settings[i];

		options[i + 2] = (struct opt){setting->name, 0, setting->arg, setting->help,
					      .id = ID_SETTING + (int)i};
	}
	return options;
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct given *given = arg;

	switch (id) {
	case OPT_OPERAND:
		opts_usage(state, "unexpected operand %s", state->value);
		return false;
	case ID_CONFIG:
		given->path = state->value;
		given->optional = false;
		return true;
	case ID_CHECK:
		given->check = true;
		return true;
	default:
		if (given->nr == MAX_GIVEN) {
			opts_usage(state, "more than %d options", MAX_GIVEN);
			return false;
		}
		given->settings[given->nr].name = config_settings[id - ID_SETTING].name;
		given->settings[given->nr].value = state->value ? state->value : "yes";
		given->nr++;
		return true;
	}
}

static int serve(struct given *given)
{
	struct server *server = calloc(1, sizeof(*server));
	struct err err = {0};
	int rc;

	if (!server)
		return EXIT_ERROR;
	rc = load_settings(given, &server->config, &err);
	/* A bad setting is a usage error, on the command line and in the file. */
	if (rc) {
		fprintf(stderr, "subtick serve: %s\n", err.what);
		free(server);
		return rc == -EINVAL || rc == -E2BIG ? EXIT_USAGE : EXIT_ERROR;
	}
	if (given->check) {
		printf("the settings are valid\n");
		config_free(&server->config);
		free(server);
		return EXIT_SUCCESS;
	}
	server->reload = load_settings;
	server->reload_arg = given;
	server->doctor_report = doctor;
	rc = server_run(server, &err);
	free(server);
	return rc ? opts_fail("serve", &err) : EXIT_SUCCESS;
}

int cmd_serve(int argc, char **argv)
{
	struct opt *options = make_options();
	struct given given = {.path = CONFIG_FILE, .optional = true};
	struct opts_state state = {
		.command = "serve",
		.synopsis = "serve [options]",
		.summary = "Prometheus exporter and live page, on " CONFIG_LISTEN " by default.",
		.own = options,
	};
	int code;

	if (!options)
		return EXIT_ERROR;
	code = opts_walk(&state, argc, argv, parse_option, &given);
	if (code == OPTS_PARSED)
		code = serve(&given);
	free(options);
	return code;
}
