/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the subcommands of this build. */
#include "commands.h"

#include <stddef.h>
#include <string.h>

#define COMMAND_NAME(name, summary) #name,
const char *const command_names[] = {COMMANDS(COMMAND_NAME) NULL};

bool command_exists(const char *name)
{
	for (const char *const *known = command_names; *known; known++)
		if (!strcmp(*known, name))
			return true;
	return false;
}
