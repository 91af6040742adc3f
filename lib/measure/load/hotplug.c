/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The online mask between samples. */
#include "measure/load/hotplug.h"

int hotplug_open(struct hotplug *hotplug, struct err *err)
{
	int rc;

	*hotplug = (struct hotplug){0};
	rc = cpu_online_open(&hotplug->file, NULL, err);
	if (rc)
		return rc;
	rc = cpu_online_read(&hotplug->file, &hotplug->online);
	if (rc) {
		cpu_online_close(&hotplug->file);
		return err_set(err, rc, "cannot read which CPUs are online");
	}
	return 0;
}

void hotplug_refresh(struct hotplug *hotplug)
{
	struct cpuset online;

	if (cpu_online_read(&hotplug->file, &online))
		return;
	for (size_t i = 0; i < sizeof(online.bits) / sizeof(online.bits[0]); i++)
		hotplug->returned.bits[i] = online.bits[i] & ~hotplug->online.bits[i];
	hotplug->online = online;
}

void hotplug_close(struct hotplug *hotplug)
{
	cpu_online_close(&hotplug->file);
}
