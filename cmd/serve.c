/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick serve: Prometheus exporter and live page. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "doctor/doctor.h"
#include "opts.h"
#include "serve/web/server.h"

struct serve_cmd {
	struct opts_state state;
	int argc;
	char **argv;
	/* settings that the command line contains, including the path of --config */
	struct config first;
};

/* Reads the settings file and applies the command line, at the start and on SIGHUP. */
static int load_settings(void *arg, struct config *ret_config, struct err *err)
{
	struct serve_cmd *cmd = arg;
	struct config config;
	int rc;

	if (config_init(&config))
		return err_set(err, -ENOMEM, "out of memory");
	rc = config_read(&config, cmd->first.file, err);
	/* Listen addresses on the command line replace all addresses of the settings file. */
	if (!rc && cmd->first.nr_listen)
		config_clear_listen(&config);
	if (!rc && opts_walk(&cmd->state, cmd->argc, cmd->argv, &config) != OPTS_PARSED)
		rc = err_set(err, -EINVAL, "invalid command line");
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

static int serve(struct serve_cmd *cmd)
{
	struct server *server = calloc(1, sizeof(*server));
	struct err err = {0};
	int rc, code = EXIT_SUCCESS;

	if (!server)
		return EXIT_ERROR;
	rc = load_settings(cmd, &server->config, &err);
	/* An invalid setting is a usage error, even if it is in the settings file. */
	if (rc) {
		fprintf(stderr, "subtick serve: %s\n", err.what);
		code = rc == -EINVAL || rc == -E2BIG ? EXIT_USAGE : EXIT_ERROR;
	} else if (cmd->first.check) {
		printf("the settings are valid\n");
		config_free(&server->config);
	} else {
		server->reload = load_settings;
		server->reload_arg = cmd;
		server->doctor_report = doctor;
		if (server_run(server, &err))
			code = opts_fail("serve", &err);
	}
	free(server);
	return code;
}

int cmd_serve(int argc, char **argv)
{
	struct serve_cmd cmd = {
		.state = {.command = "serve",
			  .synopsis = "serve [options]",
			  .summary = "Prometheus exporter and live page, on " CONFIG_LISTEN
				     " by default.",
			  .own = config_settings},
		.argc = argc,
		.argv = argv,
	};
	int code;

	if (config_init(&cmd.first))
		return EXIT_ERROR;
	code = opts_walk(&cmd.state, argc, argv, &cmd.first);
	if (code == OPTS_PARSED)
		code = serve(&cmd);
	config_free(&cmd.first);
	return code;
}
