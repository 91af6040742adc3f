/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up functions, fields and tracepoints in the kernel's type information. */
#include "host/kbtf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "host/file.h"

int kbtf_open(const char *root, struct btf **ret_btf, struct err *err)
{
	char path[PATH_MAX];
	struct btf *btf;
	int rc = sys_path(root, "/sys/kernel/btf/vmlinux", path, sizeof(path));

	if (rc)
		return err_set(err, rc, "the root's path is too long");
	btf = root ? btf__parse(path, NULL) : btf__load_vmlinux_btf();
	if (btf) {
		*ret_btf = btf;
		return 0;
	}
	/* libbpf searches many paths for the BTF and reports only the error of the last path. */
	rc = sys_open(root, "/sys/kernel/btf/vmlinux");
	if (rc < 0 && rc != -ENOENT)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	if (rc >= 0)
		close(rc);
	return err_unsupported(err, rc < 0 ? rc : -EINVAL,
				       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y "
				       "(Debian's and Ubuntu's are)",
				       "the kernel has no BTF type information "
				       "(/sys/kernel/btf/vmlinux: %s)",
				       rc < 0 ? strerror(-rc) : "not readable as BTF");
}

void kbtf_close(struct btf *btf)
{
	btf__free(btf);
}

bool kbtf_has_tracepoint(const struct btf *btf, const char *name)
{
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

bool kbtf_has_tracepoints(const struct btf *btf)
{
	return kbtf_has_tracepoint(btf, "sched_switch");
}

int kbtf_need_tracepoints(const struct btf *btf, const char *const *names, size_t nr,
			  struct err *err)
{
	for (size_t i = 0; i < nr; i++) {
		if (kbtf_has_tracepoint(btf, names[i]))
			continue;
		if (!kbtf_has_tracepoints(btf))
			return err_unsupported(err, -EOPNOTSUPP, KBTF_FIX_TRACEPOINTS,
					       KBTF_NO_TRACEPOINTS);
		return err_unsupported(err, -EOPNOTSUPP,
				       "use a kernel with CONFIG_TRACEPOINTS and CONFIG_CPU_IDLE",
				       "the kernel has no tracepoint %s", names[i]);
	}
	return 0;
}

int kbtf_open_with(const char *const *names, size_t nr, struct btf **ret_btf, struct err *err)
{
	struct btf *btf;
	int rc = kbtf_open(NULL, &btf, err);

	if (rc)
		return rc;
	rc = kbtf_need_tracepoints(btf, names, nr, err);
	if (rc)
		kbtf_close(btf);
	else
		*ret_btf = btf;
	return rc;
}

int kbtf_need(const char *const *names, size_t nr, bool *ret_state_first, struct err *err)
{
	struct btf *btf;
	int rc = kbtf_open_with(names, nr, &btf, err);

	if (rc)
		return rc;
	*ret_state_first = kbtf_switch_state_first(btf);
	kbtf_close(btf);
	return 0;
}

/* Searches the members of @type, and the members of its unnamed structs and unions. */
static bool find_member(const struct btf *btf, const struct btf_type *type, const char *name,
			int depth)
{
	const struct btf_member *member = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++, member++) {
		const char *got = btf__name_by_offset(btf, member->name_off);
		const struct btf_type *inner = btf__type_by_id(btf, member->type);

		if (got && *got ? !strcmp(got, name)
				: inner && btf_is_composite(inner) && depth < 4 &&
					  find_member(btf, inner, name, depth + 1))
			return true;
	}
	return false;
}

bool kbtf_has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id > 0 && find_member(btf, btf__type_by_id(btf, id), member, 0);
}

bool kbtf_switch_state_first(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, id);

	/*
	 * The typedef is a pointer to a function type with the parameters (void *data, bool
	 * preempt, task or state, …).
	 */
	for (int step = 0; step < 2 && type; step++)
		type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_func_proto(type) || btf_vlen(type) < 3)
		return false;
	type = btf__type_by_id(btf, btf_params(type)[2].type);
	return type && !btf_is_ptr(type);
}

unsigned int kbtf_nr_types(const struct btf *btf)
{
	return btf__type_cnt(btf);
}

bool kbtf_has_func(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size)
{
	size_t len = 0;
	int nr = 0;

	if (size)
		buf[0] = '\0';
	for (; *names; names++) {
		if (kbtf_has_tracepoint(btf, *names))
			continue;
		nr++;
		if (len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", *names);
	}
	return nr;
}
