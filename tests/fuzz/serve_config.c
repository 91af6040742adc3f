/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for settings of the exporter: a setting is within its limits or refused. */
#include "fuzz.h"

#include "measure/runq/programs.h"
#include "serve/config.h"

/* This fuzz target only parses settings and loads no BPF program. */
bool runq_programs_fit(double from, double to)
{
	return from == to;
}

static void check(const char *text, size_t len)
{
	struct err err = {0};
	struct config c;

	FUZZ_CHECK(!config_init(&c));
	if (config_parse(&c, text, len, "f", &err)) {
		FUZZ_CHECK(err.code && err.what[0]);
	} else {
		FUZZ_CHECK(!err.code);
		FUZZ_CHECK(c.nr_listen <= ADDRESS_MAX_LISTEN && c.nr_le <= RUNQ_NR_LE);
		FUZZ_CHECK(c.interval_ns >= 100000000 && c.interval_ns <= 3600000000000ULL);
		FUZZ_CHECK(c.max_connections >= 1 && c.max_connections <= 65536);
		FUZZ_CHECK(c.user && c.user[0] && c.collect);
		for (unsigned int i = 1; i < c.nr_le; i++)
			FUZZ_CHECK(c.le_ns[i] > c.le_ns[i - 1]);
	}
	config_free(&c);
}

FUZZ_BYTES(check)
