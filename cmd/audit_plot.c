/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens, draws and closes the plot files of `subtick audit`, one per experiment. */
#include "audit_plot.h"

#include <errno.h>
#include <string.h>

#include "view/svg/audit.h"

static int path_of(const char *path, const char *experiment, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem = dot && dot > (slash ?: path) ? (int)(dot - path) : (int)strlen(path);

	return snprintf(buf, size, "%.*s-%s%s", stem, path, experiment, path + stem) < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

int audit_plot_open(struct audit_plots *plots, const char *path, const char *only)
{
	int rc = 0;

	for (size_t i = 0; i < AUDIT_NR_FIGURES && !rc; i++) {
		char own[4096];

		if (only && strcmp(only, audit_figures[i].experiment))
			continue;
		if (!only)
			rc = path_of(path, audit_figures[i].experiment, own, sizeof(own));
		if (!rc) {
			plots->file[i] = fopen(only ? path : own, "we");
			rc = plots->file[i] ? 0 : -errno;
		}
	}
	if (rc)
		fprintf(stderr, "subtick audit: cannot write --plot %s: %s\n", path, strerror(-rc));
	return rc;
}

int audit_plot_draw(struct audit_plots *plots, const char *experiment, const struct report *report)
{
	struct audit_drawing drawing;
	int rc = 0;

	for (size_t i = 0; i < AUDIT_NR_FIGURES; i++) {
		if (!plots->file[i] || strcmp(audit_figures[i].experiment, experiment))
			continue;
		audit_drawing_init(&drawing, &audit_figures[i], report);
		rc = svg_write(plots->file[i], report, drawing.plots, drawing.nr);
		if (fclose(plots->file[i]) && !rc)
			rc = -errno;
		plots->file[i] = NULL;
	}
	if (rc)
		fprintf(stderr, "subtick audit: cannot draw the plots: %s\n", strerror(-rc));
	return rc;
}

void audit_plot_close(struct audit_plots *plots)
{
	for (size_t i = 0; i < AUDIT_NR_FIGURES; i++)
		if (plots->file[i])
			fclose(plots->file[i]);
	*plots = (struct audit_plots){0};
}
