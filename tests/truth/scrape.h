/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scrapes an exporter as Prometheus does, and finds a counter on the page. */
#ifndef SUBTICK_TESTS_TRUTH_SCRAPE_H
#define SUBTICK_TESTS_TRUTH_SCRAPE_H

#include <stddef.h>

/*
 * Returns the body of GET @path from 127.0.0.1:@port. Fails the test program unless the HTTP status
 * is 200.
 */
char *scrape(int port, const char *path);
/* Scrapes the exporter once. Returns NULL on failure, with the reason in @why. */
char *scrape_try(int port, const char *path, char *why, size_t size);
/* Retries until the exporter listens. Fails the test program after two minutes. */
void scrape_wait(int port);

/* Returns the value of the series with exactly the name and labels @series, or 0. */
double scrape_value(const char *text, const char *series, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Returns the number of counters of page @was that are lower or missing in page @now. Stores the
 * number of all counters of @was in @ret_counters.
 */
size_t scrape_fell(const char *was, const char *now, size_t *ret_counters);

#endif
