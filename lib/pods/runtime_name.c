/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Extracts names from the JSON files of containerd, docker, podman and CRI-O. */
#include "pods/runtime_name.h"

#include <errno.h>
#include <string.h>

#include "pods/json_walk.h"

/* Maximum length of an image name. */
#define IMAGE_MAX 511
/* Size of the buffer for metadata, a JSON text inside a JSON string. */
#define METADATA_MAX 4096

enum field {
	FIELD_NAMESPACE,
	FIELD_POD,
	FIELD_UID,
	FIELD_CONTAINER,
	FIELD_IMAGE,
	FIELD_NAME, /* container name that the runtime stores */
	FIELD_ID,
	FIELD_METADATA, /* JSON text in which podman and CRI-O store the image name */
	FIELD_NR,
};

/* Value of an invalid JSON field: an empty text whose address is not NULL. */
static const struct pod_text invalid = {"", 0};

/*
 * Fields of the container that is being parsed. The text of a missing field has the address NULL.
 * Escapes in the JSON strings are not decoded, because no valid name contains an escape.
 */
struct names {
	const struct key *keys;
	struct pod_text field[FIELD_NR];
};

/* A JSON key that occurs twice makes the field invalid. */
static void set(struct names *names, enum field field, struct pod_text value)
{
	if (value.len)
		names->field[field] = names->field[field].at ? invalid : value;
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
	struct pod_text image = names->field[FIELD_IMAGE];

	return image.len <= IMAGE_MAX && is_among(image, "._-/:@+") ? image : (struct pod_text){0};
}

/* Parses the name of a container of docker, podman, CRI-O or cri-dockerd. */
static bool name_of(const struct names *names, struct pod_name *ret_name)
{
	struct pod_text name = names->field[FIELD_NAME];

	if (name.len && name.at[0] == '/')
		name = (struct pod_text){name.at + 1, name.len - 1};
	if (!is_among(name, "_.-") || !is_among((struct pod_text){name.at, 1}, "") || name.len > 255)
		return false;
	/* kubelet's names have the prefix k8s_. */
	if (name.len > 4 && !memcmp(name.at, "k8s_", 4))
		return pod_name_of_container(name, ret_name);
	*ret_name = (struct pod_name){.container = name};
	return true;
}

static bool cri_name_of(const struct names *names, struct pod_name *ret_name)
{
	struct pod_name name = {.namespace = names->field[FIELD_NAMESPACE],
				.pod = names->field[FIELD_POD],
				.uid = names->field[FIELD_UID],
				.container = names->field[FIELD_CONTAINER]};

	/* The sandbox container of a pod has no container name. */
	if (!pod_name_is_label(name.namespace) || !pod_name_is_pod(name.pod) ||
	    (name.uid.at && !pod_name_is_uid(name.uid)) ||
	    (name.container.at && !pod_name_is_label(name.container)))
		return false;
	*ret_name = name;
	return true;
}

/* JSON keys of the fields of a container, one array per file format. */
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

static void visit(void *arg, const struct json_path *place, struct pod_text value)
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
	size_t index; /* index of the current container in the JSON list */
	runtime_name_fn found;
	void *arg;
};

/*
 * Decodes the escapes of @string, without a NUL at the end. Returns the length of the text, or
 * -EINVAL if @text is too small, or for an escape that podman and CRI-O never write.
 */
static int unescape(struct pod_text string, char text[METADATA_MAX])
{
	int len = 0;

	/* @string.at is NULL if the file has no metadata. */
	for (size_t i = 0; i < string.len; i++) {
		if (string.at[i] == '\\' && !strchr("\"\\/", string.at[++i]))
			return -EINVAL;
		if (len == METADATA_MAX)
			return -EINVAL;
		text[len++] = string.at[i];
	}
	return len;
}

static void list_report(struct list *list)
{
	struct names *names = &list->names;
	struct pod_text id = names->field[FIELD_ID];
	char metadata[METADATA_MAX];
	struct pod_name name;
	int len;

	if (pod_name_is_id(id) && name_of(names, &name)) {
		len = unescape(names->field[FIELD_METADATA], metadata);
		if (len >= 0 && !json_walk(metadata, len, visit, names))
			name.image = image_of(names);
		list->found(list->arg, id, &name);
	}
	memset(names->field, 0, sizeof(names->field));
}

static void visit_list(void *arg, const struct json_path *place, struct pod_text value)
{
	struct list *list = arg;

	if (place->depth < 2 || place->key[0].at)
		return;
	if (place->index[0] != list->index)
		list_report(list);
	list->index = place->index[0];
	/* After the rename of a container, the first element of "names" is the new name. */
	if (place->depth == 3 && json_key_is(place, 1, "names") && !place->key[2].at &&
	    !place->index[2])
		set(&list->names, FIELD_NAME, value);
	if (place->depth == 2 && json_key_is(place, 1, "id"))
		set(&list->names, FIELD_ID, value);
	if (place->depth == 2 && json_key_is(place, 1, "metadata"))
		set(&list->names, FIELD_METADATA, value);
}

static int parse_list(const char *text, size_t len, runtime_name_fn found, void *arg)
{
	struct list list = {.names.keys = metadata_keys, .found = found, .arg = arg};
	/*
	 * Check that the whole text is valid JSON first, because visit_list() reports containers
	 * before json_walk() finds a later error.
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
	struct pod_text own;
	struct pod_name name;
	int rc;

	if (format == RUNTIME_STORAGE)
		return parse_list(text, len, found, arg);
	rc = json_walk(text, len, visit, &names);
	if (rc)
		return rc;
	if (format == RUNTIME_OCI ? !cri_name_of(&names, &name) : !name_of(&names, &name))
		return 0;
	/* Ignore a file whose container id is not @id. */
	own = names.field[FIELD_ID];
	if (own.at && (own.len != id.len || memcmp(own.at, id.at, id.len)))
		return 0;
	name.image = image_of(&names);
	found(arg, id, &name);
	return 0;
}
