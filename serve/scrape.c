/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics: a copy of the counters, rendered once per window and format. */
#include "scrape.h"

#include <errno.h>
#include <stdlib.h>

#include "answer.h"
#include "view/prom_accept.h"

static int sink(void *arg, const char *data, size_t len)
{
	struct body *body = arg;

	body_append(body, data, len);
	return body->failed ? -ENOMEM : 0;
}

static struct body *render(struct server *server, enum prom_format format, bool gzip, size_t room)
{
	struct body *body = body_new(gzip, room + room / 16);
	struct prom *prom = malloc(sizeof(*prom));
	int rc = body && prom ? 0 : -ENOMEM;

	if (!rc) {
		*prom = (struct prom){.format = format, .sink = sink, .arg = body};
		/* A table has rows either of the measurement or of the event loop. */
		for (int id = 0; id < FAMILY_NR; id++) {
			const struct series *series = &server->store.series[id];
			const struct series_table *copy = &server->copy[series->table];

			prom_write(prom, series,
				   copy->nr ? copy : &server->own.tables[series->table]);
		}
		rc = prom_end(prom);
	}
	if (!rc)
		rc = body_finish(body);
	free(prom);
	if (!rc)
		return body;
	body_put(body);
	return NULL;
}

static int refresh(struct server *server, enum prom_format format, bool gzip)
{
	struct cached *cached = &server->metrics[format][gzip];
	uint64_t generation;

	/* The copy is cheap and shows whether there is a new window. */
	if (store_copy(&server->store, server->copy, &generation))
		return -ENOMEM;
	if (!cached->body || cached->generation != generation) {
		/* Drop the old one before rendering the next: the cache keeps at most one. */
		body_put(cached->body);
		self_metrics_collect(server);
		cached->body = render(server, format, gzip, cached->room);
		cached->generation = generation;
		if (cached->body)
			cached->room = cached->body->len;
	}
	store_copy_done(&server->store);
	return cached->body ? 0 : -ENOMEM;
}

void scrape_answer(struct server *server, struct request *request)
{
	enum prom_format format = prom_accept(request->accept, server->config.native_histograms);
	bool gzip = answer_wants_gzip(request);

	if (refresh(server, format, gzip))
		answer_text(server, request, HTTP_SERVUNAVAIL, "out of memory");
	else
		answer_body(server, request, prom_content_type(format),
			    server->metrics[format][gzip].body);
}

void scrape_forget(struct server *server)
{
	for (int format = 0; format < PROM_NR_FORMATS; format++)
		for (int gzip = 0; gzip < 2; gzip++) {
			body_put(server->metrics[format][gzip].body);
			server->metrics[format][gzip].body = NULL;
		}
}
