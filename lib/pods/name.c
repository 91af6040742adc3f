/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the names of pods and containers in cgroup paths and file names. */
#include "pods/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define ID_LEN	64
#define UID_LEN 36
#define DIGITS	"0123456789"
#define HEX	DIGITS "abcdefABCDEF"

void cgroup_unescape(const char *from, size_t len, char *to, size_t size)
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

/* Parses the uid of a pod: 36 characters with - or _, or 32 hex digits for a static pod. */
static bool parse_uid(const char *text, struct cgroup_name *name)
{
	size_t len = strspn(text, HEX "-_");

	if (text[len] && strcmp(text + len, ".slice"))
		return false;
	if (len != UID_LEN && !(len == 32 && strspn(text, HEX) == 32))
		return false;
	for (size_t i = 0; i < len; i++)
		name->pod_uid[i] = text[i] == '_' ? '-' : text[i];
	name->pod_uid[len] = '\0';
	return true;
}

/* Parses "pod<uid>" or "kubepods-burstable-pod<uid>.slice", with any prefix. */
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

/*
 * Container runtimes by the prefix of a cgroup name such as "cri-containerd-<id>". If @colons is
 * true, the prefix is also valid in "…slice:cri-containerd:<id>".
 */
static const struct {
	const char *prefix, *runtime;
	bool colons;
} runtimes[] = {
	{"cri-containerd", "containerd", true},
	{"crio", "cri-o", true},
	{"docker", "docker", true},
	{"libpod", "podman", false},
	{"nerdctl", "containerd", false},
};

static bool parse_id(const char *text, const char *runtime, struct cgroup_name *name)
{
	size_t len = strspn(text, HEX);

	if (len != ID_LEN || (text[len] && strcmp(text + len, ".scope")))
		return false;
	memcpy(name->container_id, text, len);
	name->container_id[len] = '\0';
	name->runtime = runtime;
	return true;
}

bool cgroup_runtime_has_vms(const char *runtime)
{
	return runtime && (!strcmp(runtime, "libvirt") || !strcmp(runtime, "proxmox") ||
			   !strcmp(runtime, "firecracker"));
}

/*
 * Parses the cgroup of a VM: libvirt's "machine-qemu-1-web.scope" (unescaped), "qemu.slice/101.scope"
 * of Proxmox VE, and "firecracker/ID" of Firecracker's jailer.
 */
static bool parse_machine(const char *part, const char *parent, struct cgroup_name *name)
{
	int at = 0, end = (int)strlen(part) - 6;
	bool scope = end > 0 && !strcmp(part + end, ".scope");

	if (scope && !sscanf(part, "machine-qemu-%*[0-9]-%n", &at) && at && end > at) {
		name->runtime = "libvirt";
	} else if (scope && !strcmp(parent, "qemu.slice") && (int)strspn(part, DIGITS) == end) {
		at = 0;
		name->runtime = "proxmox";
	} else if (!strcmp(parent, "firecracker")) {
		at = 0;
		end = (int)strlen(part);
		name->runtime = "firecracker";
	} else {
		return false;
	}
	snprintf(name->container_id, sizeof(name->container_id), "%.*s", end - at, part + at);
	return true;
}

static void parse_container(const char *part, const char *parent, struct cgroup_name *name)
{
	const char *colon = strrchr(part, ':');

	/* The cgroup of a conmon process is not a container. */
	if (!strncmp(part, "crio-conmon-", 12) || !strncmp(part, "libpod-conmon-", 14))
		return;
	if (!strncmp(part, "lxc.payload.", 12)) {
		snprintf(name->container_id, sizeof(name->container_id), "%.128s", part + 12);
		name->runtime = "lxc";
		return;
	}
	if (parse_machine(part, parent, name))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		size_t len = strlen(runtimes[i].prefix);
		const char *id = NULL;

		if (!colon && !strncmp(part, runtimes[i].prefix, len) && part[len] == '-')
			id = part + len + 1;
		else if (colon && runtimes[i].colons && (size_t)(colon - part) > len &&
			 colon[-1 - (int)len] == ':' &&
			 !strncmp(colon - len, runtimes[i].prefix, len))
			id = colon + 1;
		if (id && parse_id(id, runtimes[i].runtime, name))
			return;
	}
	/* With the cgroupfs drivers of docker and kubelet, the cgroup's name is only the id. */
	if (strlen(part) == ID_LEN)
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
		cgroup_unescape(path, len, part, sizeof(part));
		path += len;
		parse_qos(part, ret_name);
		memcpy(was, ret_name->pod_uid, sizeof(was));
		parse_pod(part, ret_name);
		/* Pods can run inside pods. ret_name has the uid of the last pod in the path. */
		if (strcmp(was, ret_name->pod_uid))
			ret_name->pod_len = path - start;
		parse_container(part, parent, ret_name);
		/* "kubepods-…-pod<uid>.slice:cri-containerd:<id>" has pod and container. */
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

/* Maximum lengths of Kubernetes names (RFC 1123). */
#define LABEL_MAX  63
#define DOMAIN_MAX 253
/* Maximum length of a file name. kubelet truncates longer names before the suffix. */
#define FILE_MAX 255
#define SUFFIX	 ".log"
/* Minimum length of a container id that kubelet truncated. */
#define ID_LEAST 12

#define LOWER_HEX "0123456789abcdef"
#define LOWER	  LOWER_HEX "ghijklmnopqrstuvwxyz"

static bool consists_of(struct pod_text text, const char *set)
{
	for (size_t i = 0; i < text.len; i++)
		if (!text.at[i] || !strchr(set, text.at[i]))
			return false;
	return true;
}

static bool is_hex(struct pod_text text)
{
	return consists_of(text, LOWER_HEX);
}

/* True if all bytes are in @set, and the first and last byte are a lower-case letter or a digit. */
static bool is_name(struct pod_text text, size_t most, const char *set)
{
	return text.len && text.len <= most && consists_of(text, set) &&
	       strchr(LOWER, text.at[0]) && strchr(LOWER, text.at[text.len - 1]);
}

/* A uid has 36 characters with dashes, or 32 hex digits for a static pod. */
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

/* Splits @file into exactly @nr parts at underscores, which Kubernetes names never contain. */
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
	return is_name(text, LABEL_MAX, LOWER "-");
}

bool pod_name_is_pod(struct pod_text text)
{
	return is_name(text, DOMAIN_MAX, LOWER "-.");
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
	/* An id can be truncated only if the file name has the maximum length. */
	if (id.len != ID_LEN && (len != FILE_MAX || id.len < ID_LEAST || id.len > ID_LEN))
		return false;
	*ret_name = (struct pod_name){.namespace = part[1],
				      .pod = part[0],
				      .container = part[2],
				      .id = id,
				      .cut = id.len != ID_LEN};
	return true;
}

bool pod_name_of_container(struct pod_text name, struct pod_name *ret_name)
{
	struct pod_text part[6];
	bool sandbox;

	if (!split(name.at, name.len, part, 6) || part[0].len != 3 || memcmp(part[0].at, "k8s", 3))
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
