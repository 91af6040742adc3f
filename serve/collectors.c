/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of collectors: opens and closes their meters. */
#include "collectors.h"

#include <string.h>

#define COLLECTOR_ENTRY(name) &collector_##name,
static const struct collector_ops *const entries[] = {COLLECTORS(COLLECTOR_ENTRY)};

#define NR_COLLECTORS (sizeof(entries) / sizeof(entries[0]))

/* The first, so that it is open before the others. */
#define LOAD_COLLECTOR 0

size_t collector_count(void)
{
	return NR_COLLECTORS;
}

int collectors_open(struct collector *collectors, const struct config *config, struct err *err)
{
	int rc = 0;

	memset(collectors, 0, NR_COLLECTORS * sizeof(*collectors));
	for (size_t i = 0; !rc && i < NR_COLLECTORS; i++) {
		collectors[i].ops = entries[i];
		pthread_mutex_init(&collectors[i].lock, NULL);
		if (!(config->collect >> i & 1))
			continue;
		rc = entries[i]->open(config, collectors[LOAD_COLLECTOR].meter,
				      &collectors[i].meter, err);
		if (!rc)
			rc = collectors[i].meter->ops->start(collectors[i].meter, err);
		if (rc)
			err_prefix(err, "%s", entries[i]->name);
	}
	if (rc)
		collectors_close(collectors);
	return rc;
}

void collectors_close(struct collector *collectors)
{
	for (size_t i = 0; i < NR_COLLECTORS; i++) {
		if (collectors[i].meter)
			collectors[i].meter->ops->close(collectors[i].meter);
		collector_forget_report(&collectors[i]);
		collectors[i].meter = NULL;
	}
}
