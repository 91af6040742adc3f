/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of the live page, embedded at build. */
#ifndef SUBTICK_SERVE_WEB_ASSETS_H
#define SUBTICK_SERVE_WEB_ASSETS_H

struct web_asset {
	const char *path; /* "/", "/app.js" */
	const char *type; /* Content-Type */
	const unsigned char *data;
	unsigned int size;
};

/* Ended by a NULL path. */
extern const struct web_asset web_assets[];

/*
 * What the page needs and nothing more: no inline script or style, no other origin, no frames. To be
 * sent with every file of the page.
 */
#define WEB_CSP                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#endif
