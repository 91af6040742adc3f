/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No page in this build: the exporter and its API only. */
#include "assets.h"

#include <stddef.h>

const struct web_asset web_assets[] = {
	{NULL, NULL, NULL, 0},
};
