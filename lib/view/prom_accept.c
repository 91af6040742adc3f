/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses Accept headers. */
#include "view/prom_accept.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NR_PARAMS 2

/* A parameter that a media range must have with this value; where it is optional, it may be missing. */
struct param {
	const char *name, *value;
	bool optional;
};

static const struct media {
	const char *type, *content_type;
	struct param params[NR_PARAMS];
} media[PROM_NR_FORMATS] = {
	[PROM_TEXT] = {.type = "text/plain",
		       .content_type = "text/plain; version=0.0.4; charset=utf-8"},
	[PROM_OPENMETRICS] = {"application/openmetrics-text",
			      "application/openmetrics-text; version=1.0.0; charset=utf-8",
			      {{"version", "1.0.0", true}}},
	[PROM_PROTOBUF] = {"application/vnd.google.protobuf",
			   "application/vnd.google.protobuf; "
			   "proto=io.prometheus.client.MetricFamily; encoding=delimited",
			   {{"proto", "io.prometheus.client.MetricFamily", false},
			    {"encoding", "delimited", false}}},
};

const char *prom_content_type(enum prom_format format)
{
	return media[format].content_type;
}

/* The value of ;name=value or ;name="value" in what follows a media type; NULL if it is missing. */
static const char *param_find(const char *at, const char *end, const char *name, size_t *ret_len)
{
	size_t name_len = strlen(name), len;

	while (at < end && (at = memchr(at, ';', (size_t)(end - at)))) {
		do
			at++;
		while (at < end && isblank((unsigned char)*at));
		if ((size_t)(end - at) <= name_len || strncasecmp(at, name, name_len) ||
		    at[name_len] != '=')
			continue;
		at += name_len + 1;
		at += at < end && *at == '"';
		for (len = 0; at + len < end && !strchr("\"; \t", at[len]);)
			len++;
		*ret_len = len;
		return at;
	}
	return NULL;
}

static bool params_fit(const struct media *m, const char *params, const char *end)
{
	for (int i = 0; i < NR_PARAMS && m->params[i].name; i++) {
		const struct param *want = &m->params[i];
		const char *got;
		size_t len;

		got = param_find(params, end, want->name, &len);
		if (!got && want->optional)
			continue;
		if (!got || len != strlen(want->value) || strncmp(got, want->value, len))
			return false;
	}
	return true;
}

/* The weight (q) of one media range, in thousandths; 1000 if there is none or it is invalid. */
static int weight_of(const char *params, const char *end)
{
	size_t len;
	const char *q = param_find(params, end, "q", &len);

	if (!q || q[0] != '0')
		return 1000;
	return (int)(1000 * fmin(strtod(q, NULL), 1) + 0.5);
}

static bool media_fits(const struct media *m, const char *range, const char *end)
{
	size_t len = strcspn(range, ";, \t");

	return len == strlen(m->type) && !strncasecmp(range, m->type, len) &&
	       params_fit(m, range + len, end);
}

enum prom_format prom_accept(const char *accept, bool protobuf)
{
	int weight[PROM_NR_FORMATS] = {0}, nr = protobuf ? PROM_NR_FORMATS : PROM_PROTOBUF;
	enum prom_format best = PROM_TEXT;

	while (accept && *accept) {
		const char *end = accept + strcspn(accept, ","), *range = accept;

		range += strspn(range, " \t");
		for (int i = 0; i < nr; i++)
			if (media_fits(&media[i], range, end)) {
				int w = weight_of(range, end);

				weight[i] = w > weight[i] ? w : weight[i];
			}
		accept = *end ? end + 1 : end;
	}
	for (int i = 0; i < nr; i++)
		if (weight[i] && weight[i] >= weight[best])
			best = i;
	return best;
}
