/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the names of kubelet's log directories and links, and of containers that follow them. */
#include "sys/pod_name.h"

#include <string.h>

/* Names of Kubernetes: RFC 1123. */
#define LABEL_MAX  63
#define DOMAIN_MAX 253
/* The longest file name; kubelet cuts longer names before the suffix. */
#define FILE_MAX 255
#define SUFFIX	 ".log"
#define ID_LEN	 64
/* Least digits of an id that was cut. */
#define ID_LEAST 12

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_hex(struct pod_text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!((text.at[i] >= '0' && text.at[i] <= '9') ||
		      (text.at[i] >= 'a' && text.at[i] <= 'f')))
			return false;
	return true;
}

/* Lower-case letters, digits and -, in a domain also dots; no - or dot at either end. */
static bool is_name(struct pod_text text, size_t most, bool dots)
{
	if (!text.len || text.len > most || !is_lower(text.at[0]) ||
	    !is_lower(text.at[text.len - 1]))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!is_lower(text.at[i]) && text.at[i] != '-' && !(dots && text.at[i] == '.'))
			return false;
	return true;
}

/* 36 characters with dashes between the groups, or 32 hex digits: the hash of a static pod. */
bool pod_name_is_uid(struct pod_text text)
{
	if (text.len == 32)
		return is_hex(text);
	for (size_t i = 0; i < text.len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text.at[i] != '-' : !is_hex((struct pod_text){&text.at[i], 1}))
			return false;
	}
	return text.len == 36;
}

/* Exactly @nr parts with underscores between them; names of Kubernetes have none. */
static bool split(const char *file, size_t len, struct pod_text *part, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *end = memchr(file, '_', len);
		size_t part_len = end ? (size_t)(end - file) : len;

		if (!end != (i == nr - 1))
			return false;
		part[i] = (struct pod_text){file, part_len};
		file += part_len + !!end;
		len -= part_len + !!end;
	}
	return true;
}

bool pod_name_is_label(struct pod_text text)
{
	return is_name(text, LABEL_MAX, false);
}

bool pod_name_is_pod(struct pod_text text)
{
	return is_name(text, DOMAIN_MAX, true);
}

bool pod_name_is_id(struct pod_text text)
{
	return text.len == ID_LEN && is_hex(text);
}

bool pod_name_of_dir(const char *file, struct pod_name *ret_name)
{
	size_t len = strnlen(file, FILE_MAX + 1);
	struct pod_text part[3];

	if (len > FILE_MAX || !split(file, len, part, 3) ||
	    !pod_name_is_label(part[0]) || !pod_name_is_pod(part[1]) || !pod_name_is_uid(part[2]))
		return false;
	*ret_name = (struct pod_name){.namespace = part[0], .pod = part[1], .uid = part[2]};
	return true;
}

bool pod_name_of_link(const char *file, struct pod_name *ret_name)
{
	size_t len = strnlen(file, FILE_MAX + 1), suffix = strlen(SUFFIX);
	struct pod_text part[3], id;
	const char *dash;

	if (len > FILE_MAX || len <= suffix || strcmp(file + len - suffix, SUFFIX) ||
	    !split(file, len - suffix, part, 3))
		return false;
	dash = memrchr(part[2].at, '-', part[2].len);
	if (!dash)
		return false;
	id = (struct pod_text){dash + 1, part[2].len - (dash + 1 - part[2].at)};
	part[2].len = dash - part[2].at;
	if (!pod_name_is_pod(part[0]) || !pod_name_is_label(part[1]) ||
	    !pod_name_is_label(part[2]) || !is_hex(id))
		return false;
	/* Only a name of the maximum length was cut. */
	if (id.len != ID_LEN && (len != FILE_MAX || id.len < ID_LEAST || id.len > ID_LEN))
		return false;
	*ret_name = (struct pod_name){.namespace = part[1],
				      .pod = part[0],
				      .container = part[2],
				      .id = id,
				      .cut = id.len != ID_LEN};
	return true;
}

bool pod_name_of_container(const char *name, struct pod_name *ret_name)
{
	struct pod_text part[6];
	bool sandbox;

	if (!split(name, strlen(name), part, 6) || part[0].len != 3 || memcmp(part[0].at, "k8s", 3))
		return false;
	sandbox = part[1].len == 3 && !memcmp(part[1].at, "POD", 3);
	if ((!sandbox && !pod_name_is_label(part[1])) || !pod_name_is_pod(part[2]) ||
	    !pod_name_is_label(part[3]) || !pod_name_is_uid(part[4]))
		return false;
	*ret_name = (struct pod_name){.namespace = part[3], .pod = part[2], .uid = part[4]};
	if (!sandbox)
		ret_name->container = part[1];
	return true;
}
