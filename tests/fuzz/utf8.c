/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target for escaping. For any input, the output is valid UTF-8, has no control characters and
 * fits the width. Escaping an escaped text again does not change the text.
 */
#include "fuzz.h"

#include "base/utf8.h"
#include "view/utf8.h"

static void check_valid(const char *text)
{
	uint32_t code;
	size_t len;

	for (; *text; text += len) {
		len = utf8_decode(text, UTF8_LONGEST, &code);
		FUZZ_CHECK(len > 0);
	}
}

static void check_printable(const char *text, size_t max)
{
	char *out = utf8_printable(text, max), *again;

	FUZZ_CHECK(out);
	check_valid(out);
	for (const char *p = out; *p; p++) {
		FUZZ_CHECK((unsigned char)*p >= ' ' && *p != 0x7f);
		/* Terminals may execute C1 control characters. */
		FUZZ_CHECK((unsigned char)p[0] != 0xc2 || (unsigned char)p[1] >= 0xa0);
	}
	FUZZ_CHECK(!max || utf8_width(out) <= max);
	again = utf8_printable(out, max);
	FUZZ_CHECK(again && !strcmp(out, again));
	free(again);
	free(out);
}

static void fuzz_utf8(const char *text)
{
	check_printable(text, 0);
	for (size_t max = 1; max < 20; max++)
		check_printable(text, max);
}

FUZZ_STRING(fuzz_utf8)
