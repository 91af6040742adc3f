/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for state files of container runtimes: names are safe, results equal jansson's. */
#include "fuzz.h"

#include <jansson.h>

#include "pods/runtime_name.h"

#define ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static unsigned int found;

static void check_plain(struct pod_text text)
{
	for (size_t i = 0; i < text.len; i++)
		FUZZ_CHECK(text.at[i] > ' ' && text.at[i] < 0x7f && !strchr("\"\\{}'<>&", text.at[i]));
}

static void check(void *arg, struct pod_text id, const struct pod_name *name)
{
	found++;
	FUZZ_CHECK(pod_name_is_id(id));
	check_plain(name->namespace);
	check_plain(name->pod);
	check_plain(name->container);
	check_plain(name->image);
	FUZZ_CHECK(name->pod.len || name->container.len);
	FUZZ_CHECK(!name->pod.len == !name->namespace.len);
}

/* Returns the text that jansson finds for the key "Name", or NULL. */
static const char *jansson_name(json_t *json)
{
	return json_string_value(json_object_get(json, "Name"));
}

static void fuzz_runtime_name(const char *text, size_t len)
{
	json_t *json = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	for (int format = RUNTIME_OCI; format <= RUNTIME_STORAGE; format++) {
		int rc;

		found = 0;
		rc = runtime_name_parse(format, (struct pod_text){ID, 64}, text, len, check, NULL);
		FUZZ_CHECK(!rc || !found);
		/* No container runtime writes JSON that jansson refuses. */
		if (json && format == RUNTIME_DOCKER && found)
			FUZZ_CHECK(jansson_name(json));
	}
	json_decref(json);
}

FUZZ_BYTES(fuzz_runtime_name)
