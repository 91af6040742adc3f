/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts labels together from what is known of a group. */
#include "runq_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/prom.h"

const char *runq_label_name(const struct config *config)
{
	switch (config->per) {
	case CONFIG_PER_NAMESPACE:
		return "namespace";
	case CONFIG_PER_QOS:
		return "qos";
	default:
		return "cgroup";
	}
}

char *runq_label(const struct config *config, const struct runq_party *party)
{
	return prom_labels(runq_label_name(config), runq_party_path(party), NULL);
}

static const char *value_of(const struct runq_group *group, enum config_label label)
{
	const struct runq_group_names *names = group->names;

	switch (label) {
	case CONFIG_LABEL_namespace:
		return names ? names->namespace : NULL;
	case CONFIG_LABEL_pod:
		return names ? names->pod : NULL;
	case CONFIG_LABEL_container:
		return names ? names->container : NULL;
	case CONFIG_LABEL_pod_uid:
		return group->pod_uid;
	case CONFIG_LABEL_container_id:
		return group->container_id;
	case CONFIG_LABEL_image:
		return names ? names->image : NULL;
	default:
		return group->qos;
	}
}

char *runq_label_more(const struct config *config, const char *prefix,
		      const struct runq_party *party)
{
	const struct runq_group *group = party->group;
	size_t len = 0;
	char *more = calloc(1, 1);

	/* Most cgroups of most machines end here. */
	if (!group || (!group->pod_uid && !group->container_id))
		return more;
	for (int i = 0; more && i < CONFIG_NR_LABELS; i++) {
		const char *value = config->labels >> i & 1 ? value_of(group, i) : NULL;
		char name[64], *label, *longer;

		if (!value)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, config_label_names[i]);
		label = prom_labels(name, value, NULL);
		longer = label ? realloc(more, len + strlen(label) + 2) : NULL;
		if (!longer) {
			free(label);
			free(more);
			return NULL;
		}
		more = longer;
		len += sprintf(more + len, ",%s", label);
		free(label);
	}
	return more;
}
