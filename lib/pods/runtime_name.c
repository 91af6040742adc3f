/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Picks names out of the JSON files of containerd, docker, podman and CRI-O. */
#include "pods/runtime_name.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "pods/json_walk.h"

/* Maximum length of a field; image names are the longest. */
#define FIELD_MAX 512
/* podman and CRI-O store the image name in a JSON text inside a JSON string. */
#define METADATA_MAX 4096

enum field {
	FIELD_NAMESPACE,
	FIELD_POD,
	FIELD_UID,
	FIELD_CONTAINER,
	FIELD_IMAGE,
	FIELD_NAME, /* name that the runtime gave the container */
	FIELD_ID,
	FIELD_NR,
};

/* Fields of the container that is being parsed. */
struct names {
	const struct key *keys;
	char text[FIELD_NR][FIELD_MAX];
	int len[FIELD_NR]; /* length of each field; 0 if missing, negative if invalid */
};

static void set(struct names *names, enum field field, struct json_string value)
{
	/* A JSON key that occurs twice makes the field invalid. */
	names->len[field] =
		names->len[field] ? -EINVAL : json_unescape(value, names->text[field], FIELD_MAX);
}

static struct pod_text text_of(const struct names *names, enum field field)
{
	return names->len[field] > 0
		       ? (struct pod_text){names->text[field], (size_t)names->len[field]}
		       : (struct pod_text){0};
}

static bool is_among(struct pod_text text, const char *others)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr(others, c))))
			return false;
	}
	return text.len > 0;
}

/* Image name [REGISTRY/]NAME[:TAG][@DIGEST], empty if missing or invalid. */
static struct pod_text image_of(const struct names *names)
{
	struct pod_text image = text_of(names, FIELD_IMAGE);

	return is_among(image, "._-/:@+") ? image : (struct pod_text){0};
}

/* Parses the name of a container of docker, podman, CRI-O or cri-dockerd. */
static bool name_of(const struct names *names, struct pod_name *ret_name)
{
	struct pod_text name = text_of(names, FIELD_NAME);

	if (name.len && name.at[0] == '/')
		name = (struct pod_text){name.at + 1, name.len - 1};
	if (!is_among(name, "_.-") || !is_among((struct pod_text){name.at, 1}, "") || name.len > 255)
		return false;
	/* kubelet's names have the prefix k8s_. */
	if (!strncmp(name.at, "k8s_", 4))
		return pod_name_of_container(name.at, ret_name);
	*ret_name = (struct pod_name){.container = name};
	return true;
}

static bool cri_name_of(const struct names *names, struct pod_name *ret_name)
{
	struct pod_name name = {.namespace = text_of(names, FIELD_NAMESPACE),
				.pod = text_of(names, FIELD_POD),
				.uid = text_of(names, FIELD_UID),
				.container = text_of(names, FIELD_CONTAINER)};

	/* The sandbox container of a pod has no container name. */
	if (!pod_name_is_label(name.namespace) || !pod_name_is_pod(name.pod) ||
	    (names->len[FIELD_UID] && !pod_name_is_uid(name.uid)) ||
	    (names->len[FIELD_CONTAINER] && !pod_name_is_label(name.container)))
		return false;
	*ret_name = name;
	return true;
}

/* JSON keys of the fields, by format. */
static const struct key {
	const char *path[2];
	enum field field;
} oci_keys[] = {
	{{"annotations", "io.kubernetes.cri.sandbox-namespace"}, FIELD_NAMESPACE},
	{{"annotations", "io.kubernetes.cri.sandbox-name"}, FIELD_POD},
	{{"annotations", "io.kubernetes.cri.sandbox-uid"}, FIELD_UID},
	{{"annotations", "io.kubernetes.cri.container-name"}, FIELD_CONTAINER},
	{{"annotations", "io.kubernetes.cri.image-name"}, FIELD_IMAGE},
	{},
}, docker_keys[] = {
	{{"Name"}, FIELD_NAME},
	{{"ID"}, FIELD_ID},
	{{"Config", "Image"}, FIELD_IMAGE},
	{},
}, metadata_keys[] = {
	{{"image-name"}, FIELD_IMAGE},
	{},
};

static void visit(void *arg, const struct json_place *place, struct json_string value)
{
	struct names *names = arg;

	for (const struct key *key = names->keys; key->path[0]; key++)
		if (place->depth == (key->path[1] ? 2 : 1) && json_key_is(place, 0, key->path[0]) &&
		    (!key->path[1] || json_key_is(place, 1, key->path[1])))
			set(names, key->field, value);
}

/* Parser state for a file that lists containers. */
struct list {
	struct names names;
	size_t index; /* index of the container in the list */
	runtime_name_fn found;
	void *arg;
};

static void list_report(struct list *list)
{
	struct pod_text id = text_of(&list->names, FIELD_ID);
	struct pod_name name;

	if (pod_name_is_id(id) && name_of(&list->names, &name)) {
		name.image = image_of(&list->names);
		list->found(list->arg, id, &name);
	}
	memset(list->names.len, 0, sizeof(list->names.len));
}

static void visit_list(void *arg, const struct json_place *place, struct json_string value)
{
	char metadata[METADATA_MAX];
	struct list *list = arg;
	int len;

	if (place->depth < 2 || place->key[0].at)
		return;
	if (place->index[0] != list->index)
		list_report(list);
	list->index = place->index[0];
	/* After a rename, the new name is the first in the list. */
	if (place->depth == 3 && json_key_is(place, 1, "names") && !place->key[2].at &&
	    !place->index[2])
		set(&list->names, FIELD_NAME, value);
	if (place->depth == 2 && json_key_is(place, 1, "id"))
		set(&list->names, FIELD_ID, value);
	if (place->depth != 2 || !json_key_is(place, 1, "metadata"))
		return;
	len = json_unescape(value, metadata, sizeof(metadata));
	if (len < 0 || json_walk(metadata, len, visit, &list->names))
		list->names.len[FIELD_IMAGE] = -EINVAL;
}

static int parse_list(const char *text, size_t len, runtime_name_fn found, void *arg)
{
	struct list list = {.names.keys = metadata_keys, .found = found, .arg = arg};
	/*
	 * Check the whole text first, because the second pass already reports containers while it
	 * parses the text.
	 */
	int rc = json_walk(text, len, NULL, NULL);

	if (rc)
		return rc;
	json_walk(text, len, visit_list, &list);
	list_report(&list);
	return 0;
}

int runtime_name_parse(enum runtime_format format, struct pod_text id, const char *text, size_t len,
		       runtime_name_fn found, void *arg)
{
	struct names names = {.keys = format == RUNTIME_OCI ? oci_keys : docker_keys};
	struct pod_name name;
	int rc;

	if (format == RUNTIME_STORAGE)
		return parse_list(text, len, found, arg);
	rc = json_walk(text, len, visit, &names);
	if (rc)
		return rc;
	if (format == RUNTIME_OCI ? !cri_name_of(&names, &name) : !name_of(&names, &name))
		return 0;
	/* Ignore a file that contains the id of another container. */
	if (names.len[FIELD_ID] && (names.len[FIELD_ID] != (int)id.len ||
				    memcmp(names.text[FIELD_ID], id.at, id.len)))
		return 0;
	name.image = image_of(&names);
	found(arg, id, &name);
	return 0;
}
