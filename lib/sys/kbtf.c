/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up functions, fields and tracepoints in the kernel's type information. */
#include "sys/kbtf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "sys/bpf.h"
#include "sys/file.h"

int kbtf_open(const char *root, struct btf **ret_btf, struct err *err)
{
	char path[PATH_MAX];
	struct btf *btf;
	int rc;

	if (!root)
		return sys_bpf_btf_open(ret_btf, err);
	rc = sys_path(root, "/sys/kernel/btf/vmlinux", path, sizeof(path));
	if (rc)
		return err_set(err, rc, "the root's path is too long");
	sys_bpf_log_begin();
	btf = btf__parse(path, NULL);
	if (!btf)
		return err_unsupported(err, -errno,
				       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y",
				       "the kernel has no BTF type information "
				       "(/sys/kernel/btf/vmlinux: %s)",
				       strerror(errno));
	*ret_btf = btf;
	return 0;
}

bool kbtf_has_func(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

bool kbtf_has_field(const struct btf *btf, const char *type, const char *field)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const struct btf_member *m = t ? btf_members(t) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), field))
			return true;
	return false;
}

int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size)
{
	size_t len = 0;
	int nr = 0;

	if (size)
		buf[0] = '\0';
	for (; *names; names++) {
		if (sys_bpf_has_tracepoint(btf, *names))
			continue;
		nr++;
		if (len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", *names);
	}
	return nr;
}
