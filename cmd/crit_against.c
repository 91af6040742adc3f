/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An earlier run from its JSON: only what comparing needs, and nothing taken on trust. */
#include "crit_against.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "subtick.crit/1"

static double number(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct crit_spread spread(const json_t *row, const char *key, unsigned int rounds)
{
	struct crit_spread s = {.mid = number(row, key), .rounds = rounds};
	char name[32];

	snprintf(name, sizeof(name), "%s_low", key);
	s.low = number(row, name);
	snprintf(name, sizeof(name), "%s_high", key);
	s.high = number(row, name);
	if (!(s.low <= s.mid && s.mid <= s.high))
		s = crit_spread_of(NULL, 0);
	return s;
}

static int read_ops(const json_t *root, struct crit_baseline *baseline)
{
	const json_t *ops = json_object_get(root, "ops"), *row;
	double rounds = number(root, "rounds");
	size_t i;

	if (!json_is_array(ops) || !(rounds >= 1 && rounds <= CRIT_MAX_ROUNDS))
		return -EINVAL;
	for (int op = 0; op < CRIT_NR_OPS; op++)
		baseline->op[op] = crit_spread_of(NULL, 0);
	json_array_foreach((json_t *)ops, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "op"));

		for (int op = 0; name && op < CRIT_NR_OPS; op++) {
			if (strcmp(name, crit_op_names[op]))
				continue;
			baseline->op[op] = spread(row, "batch", rounds);
			if (!baseline->op[op].rounds)
				baseline->op[op] = spread(row, "median", rounds);
		}
	}
	return 0;
}

static int read_root(const json_t *root, struct crit_baseline *baseline)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const char *engine = json_string_value(json_object_get(root, "engine"));

	if (!schema || strcmp(schema, SCHEMA) || !engine)
		return -EINVAL;
	snprintf(baseline->engine, sizeof(baseline->engine), "%s", engine);
	baseline->work = json_is_true(json_object_get(root, "do_work"));
	return read_ops(root, baseline);
}

int crit_against_read(const char *path, struct crit_baseline *ret_baseline, struct err *err)
{
	struct crit_baseline baseline = {0};
	json_error_t reason;
	json_t *root;
	FILE *file;
	int rc;

	file = fopen(path, "re");
	if (!file)
		return err_set(err, -errno, "--against %s: %s", path, strerror(errno));
	root = json_loadf(file, JSON_DISABLE_EOF_CHECK, &reason);
	fclose(file);
	if (!root)
		return err_set(err, -EINVAL, "--against %s: not JSON: line %d: %s", path,
			       reason.line, reason.text);
	snprintf(baseline.name, sizeof(baseline.name), "%s", path);
	rc = read_root(root, &baseline);
	json_decref(root);
	if (rc)
		return err_set(err, rc, "--against %s: not an object of subtick crit --json (%s)",
			       path, SCHEMA);
	*ret_baseline = baseline;
	return 0;
}

int crit_against_check(const struct crit_baseline *baseline, const struct crit_engine *engine,
		       const struct crit_opts *opts, struct err *err)
{
	if (strcmp(baseline->engine, engine->ops->name))
		return err_set(err, -EINVAL,
			       "--against %s: it was measured by engine %s, this run by %s: use "
			       "--engine %s",
			       baseline->name, baseline->engine, engine->ops->name,
			       baseline->engine);
	if (baseline->work != opts->work)
		return err_set(err, -EINVAL,
			       "--against %s: it was measured with%s --work, this run with%s",
			       baseline->name, baseline->work ? "" : "out",
			       opts->work ? "" : "out");
	return 0;
}
