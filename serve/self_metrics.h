/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics about the exporter itself. */
#ifndef SUBTICK_SERVE_SELF_METRICS_H
#define SUBTICK_SERVE_SELF_METRICS_H

#include "server.h"

void self_metrics_collect(struct server *server);

#endif
