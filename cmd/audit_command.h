/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit -- COMMAND. */
#ifndef SUBTICK_CMD_AUDIT_COMMAND_H
#define SUBTICK_CMD_AUDIT_COMMAND_H

#include "view/view.h"

/* @cpu: the command is bound to this one; negative: it may use the CPUs of this process. */
int audit_command_run(char *const *argv, int cpu, struct view *view);

#endif
