/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One block, passed on when it is full. */
#include "view/prom_out.h"

#include <string.h>

void prom_flush(struct prom *p)
{
	if (!p->rc && p->used)
		p->rc = p->sink(p->arg, p->block, p->used);
	p->used = 0;
}

void prom_put(struct prom *p, const char *data, size_t len)
{
	while (len) {
		size_t fits = sizeof(p->block) - p->used;

		if (fits > len)
			fits = len;
		memcpy(p->block + p->used, data, fits);
		p->used += fits;
		data += fits;
		len -= fits;
		if (p->used == sizeof(p->block))
			prom_flush(p);
	}
}
