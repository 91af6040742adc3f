/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table behind family.h. */
#include "report/family.h"

#include <stddef.h>

#define FAMILY_ROW(id, name, type, unit, help) [id] = {name, type, unit, help},
static const struct family families[FAMILY_NR] = {FAMILIES(FAMILY_ROW)};

const struct family *family_get(enum family_id id)
{
	return (unsigned int)id < FAMILY_NR ? &families[id] : NULL;
}

const char *family_suffix(const struct family *family)
{
	switch (family->type) {
	case FAMILY_COUNTER:
		return "_total";
	case FAMILY_INFO:
		return "_info";
	default:
		return "";
	}
}
