/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the cgroup paths of kubelet, container runtimes and systemd. */
#include "sys/cgroup_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ID_LEN	64
#define UID_LEN 36

/* systemd writes bytes that a unit name must not contain as \xNN. */
static void unescape(const char *from, size_t len, char *to, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < len && at + 1 < size; i++) {
		unsigned int byte;

		if (len - i >= 4 && from[i] == '\\' && from[i + 1] == 'x' &&
		    isxdigit((unsigned char)from[i + 2]) && isxdigit((unsigned char)from[i + 3]) &&
		    sscanf(&from[i + 2], "%2x", &byte) == 1 && byte) {
			to[at++] = (char)byte;
			i += 3;
		} else {
			to[at++] = from[i];
		}
	}
	to[at] = '\0';
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t len = strlen(text), part = strlen(suffix);

	return len >= part && !strcmp(text + len - part, suffix);
}

static bool is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* "0a1b…": 36 characters with - or _ between the groups, or 32 hex digits for static pods. */
static bool parse_uid(const char *text, struct cgroup_name *name)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF-_");

	if (text[len] && strcmp(text + len, ".slice"))
		return false;
	if (len != UID_LEN && !(len == 32 && is_hex(text, len)))
		return false;
	for (size_t i = 0; i < len; i++)
		name->pod_uid[i] = text[i] == '_' ? '-' : text[i];
	name->pod_uid[len] = '\0';
	return true;
}

/* The level of the pod: "pod<uid>" or "kubepods-burstable-pod<uid>.slice", with any prefix. */
static void parse_pod(const char *part, struct cgroup_name *name)
{
	const char *pod = part;

	while ((pod = strstr(pod, "pod"))) {
		if ((pod == part || pod[-1] == '-') && parse_uid(pod + 3, name))
			return;
		pod++;
	}
}

static void parse_qos(const char *part, struct cgroup_name *name)
{
	if (!strcmp(part, "burstable") || strstr(part, "kubepods-burstable"))
		name->qos = "burstable";
	else if (!strcmp(part, "besteffort") || strstr(part, "kubepods-besteffort"))
		name->qos = "besteffort";
}

static const struct {
	const char *prefix, *runtime;
} prefixes[] = {
	{"cri-containerd-", "containerd"},
	{"crio-", "cri-o"},
	{"docker-", "docker"},
	{"libpod-", "podman"},
	{"nerdctl-", "containerd"},
};

static bool parse_id(const char *text, const char *runtime, struct cgroup_name *name)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	if (len != ID_LEN || (text[len] && strcmp(text + len, ".scope")))
		return false;
	memcpy(name->container_id, text, len);
	name->container_id[len] = '\0';
	name->runtime = runtime;
	return true;
}

/* "…slice:cri-containerd:<id>": containerd's name if the parent is not a slice. */
static bool parse_colons(const char *part, struct cgroup_name *name)
{
	const char *last = strrchr(part, ':');

	if (!last)
		return false;
	if (last - part >= 15 && !strncmp(last - 15, ":cri-containerd", 15))
		return parse_id(last + 1, "containerd", name);
	if (last - part >= 5 && !strncmp(last - 5, ":crio", 5))
		return parse_id(last + 1, "cri-o", name);
	if (last - part >= 7 && !strncmp(last - 7, ":docker", 7))
		return parse_id(last + 1, "docker", name);
	return false;
}

static void parse_container(const char *part, const char *parent, struct cgroup_name *name)
{
	/* Monitor processes have a cgroup beside their container's; they are not containers. */
	if (!strncmp(part, "crio-conmon-", 12) || !strncmp(part, "libpod-conmon-", 14))
		return;
	if (!strncmp(part, "lxc.payload.", 12)) {
		snprintf(name->container_id, sizeof(name->container_id), "%.128s", part + 12);
		name->runtime = "lxc";
		return;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i].prefix);

		if (!strncmp(part, prefixes[i].prefix, len) &&
		    parse_id(part + len, prefixes[i].runtime, name))
			return;
	}
	if (parse_colons(part, name))
		return;
	/* An id without prefix: the cgroupfs drivers of docker and kubelet. */
	if (!has_suffix(part, ".scope"))
		parse_id(part, !strcmp(parent, "docker") ? "docker" : NULL, name);
}

void cgroup_name_parse(const char *path, struct cgroup_name *ret_name)
{
	char part[256], parent[256] = "";
	const char *start = path;

	*ret_name = (struct cgroup_name){.runtime = NULL};
	while (*path) {
		char was[sizeof(ret_name->pod_uid)];
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len)
			break;
		unescape(path, len, part, sizeof(part));
		path += len;
		parse_qos(part, ret_name);
		memcpy(was, ret_name->pod_uid, sizeof(was));
		parse_pod(part, ret_name);
		/* The last pod of the path counts: one that runs inside another is a pod, too. */
		if (strcmp(was, ret_name->pod_uid))
			ret_name->pod_len = path - start;
		parse_container(part, parent, ret_name);
		/* "kubepods-…-pod<uid>.slice:cri-containerd:<id>" has both in one part. */
		if (!ret_name->pod_uid[0] && strchr(part, ':')) {
			*strchr(part, ':') = '\0';
			parse_pod(part, ret_name);
			if (ret_name->pod_uid[0])
				ret_name->pod_len = path - len + strcspn(path - len, ":") - start;
		}
		memcpy(parent, part, sizeof(parent));
	}
	if (ret_name->pod_uid[0] && !ret_name->qos)
		ret_name->qos = "guaranteed";
}
