/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the totals of a file of pressure stall information. */
#include "sys/psi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sys/file.h"

/* The total of the line that begins with @kind, which is in microseconds. */
static uint64_t total_ns(const char *text, const char *kind)
{
	const char *line = strstr(text, kind), *total;
	unsigned long long us;
	char *end;

	if (!line)
		return UINT64_MAX;
	total = strstr(line, " total=");
	if (!total || memchr(line, '\n', (size_t)(total - line)))
		return UINT64_MAX;
	us = strtoull(total + strlen(" total="), &end, 10);
	if (end == total + strlen(" total=") || us > UINT64_MAX / NSEC_PER_USEC - 1)
		return UINT64_MAX;
	return us * NSEC_PER_USEC;
}

int psi_read(const char *root, const char *path, struct psi *ret_psi)
{
	char text[256];
	int rc = sys_read_file(root, path, text, sizeof(text));
	struct psi psi;

	if (rc < 0)
		return rc;
	psi.some_ns = total_ns(text, "some ");
	/* Of the whole machine it is always 0: somebody runs wherever somebody waits. */
	psi.full_ns = strcmp(path, PSI_CPU_NODE) ? total_ns(text, "full ") : UINT64_MAX;
	if (psi.some_ns == UINT64_MAX)
		return -EINVAL;
	*ret_psi = psi;
	return 0;
}
