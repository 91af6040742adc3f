/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers /api/v1/NAME: the last window of a collector as JSON. */
#include "serve/web/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

#define JSON_TYPE "application/json"

struct body *api_render(const struct report *report, bool gzip)
{
	struct body *body = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct view view = {.format = VIEW_JSON, .out = out};
	int rc;

	if (!out)
		return NULL;
	rc = view_write(&view, report);
	if (!fclose(out) && !rc)
		body = body_of(gzip, text, len);
	free(text);
	return body;
}

struct body *api_body(struct server *server, size_t index, bool gzip)
{
	const struct report *report = collector_report(&server->collectors, index);
	struct body **json = &server->collectors.list[index].json[gzip];

	if (report && !*json)
		*json = api_render(report, gzip);
	return *json;
}

int api_doctor(struct server *server, struct err *err)
{
	struct report *report;
	int rc = server->doctor_report ? server->doctor_report(&report, err) : -ENOSYS;

	if (rc)
		return rc;
	for (int gzip = 0; gzip < 2; gzip++)
		server->doctor[gzip] = api_render(report, gzip);
	report_free(report);
	return 0;
}

static void answer_not_collected(struct server *server, struct request *request,
				 const struct collector *c)
{
	if (c && c->refused.code)
		answer_text(server, request, HTTP_SERVUNAVAIL, c->refused.what);
	else
		answer_text(server, request, HTTP_NOTFOUND,
			    "not collected; to collect it: subtick serve --collect load,runq,wake,noise");
}

bool api_collectors(struct server *server, struct request *request, unsigned int *ret_collectors)
{
	unsigned int collectors = 0;
	char names[128], *rest = names;

	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++)
		collectors |= !!server->collectors.list[i].meter << i;
	if (request_query(request->query, "collect", names, sizeof(names))) {
		unsigned int wanted = 0, found;

		do {
			int index = collector_index(strsep(&rest, ","));

			found = index < 0 ? 0 : collectors & 1u << index;
			wanted |= found;
		} while (found && rest);
		if (!found) {
			answer_not_collected(server, request, NULL);
			return false;
		}
		collectors = wanted;
	}
	*ret_collectors = collectors;
	return true;
}

void api_answer(struct server *server, struct request *request)
{
	const char *name = request->path + sizeof(API_PATH) - 1;
	bool gzip = request_accepts_gzip(request->accept_encoding);
	int index = collector_index(name);

	if (!strcmp(name, "doctor") && server->doctor[gzip]) {
		answer_body(server, request, JSON_TYPE, server->doctor[gzip], NULL);
		return;
	}
	if (index < 0) {
		answer_text(server, request, HTTP_NOTFOUND, "this build has no such collector");
		return;
	}
	if (!server->collectors.list[index].meter) {
		answer_not_collected(server, request, &server->collectors.list[index]);
		return;
	}
	answer_body(server, request, JSON_TYPE, api_body(server, (size_t)index, gzip),
		    "no window yet, or the last one could not be read");
}

void api_close(struct server *server)
{
	for (int gzip = 0; gzip < 2; gzip++)
		body_put(server->doctor[gzip]);
}
