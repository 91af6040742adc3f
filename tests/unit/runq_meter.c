/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meter of runq: the comparison with the kernel's accounting holds until there is another one. */
#include "measure/runq/runq.h"

#include <math.h>
#include <string.h>

#include "measure/runq/kernel.h"
#include "sys/cgroup.h"
#include "sys/kbtf.h"
#include "test.h"

static struct runq_losses losses;
static const struct runq_waits_list no_waits;

/* Instead of the kernel half; see meson.build. */
int __wrap_kbtf_open(const char *root, struct btf **ret_btf, struct err *err);
int __wrap_kbtf_open(const char *root, struct btf **ret_btf, struct err *err)
{
	*ret_btf = NULL;
	return 0;
}

int __wrap_cgroup_layout(const char *root, struct cgroup_layout *ret_layout);
int __wrap_cgroup_layout(const char *root, struct cgroup_layout *ret_layout)
{
	*ret_layout = (struct cgroup_layout){.mode = CGROUP_V2, .v2 = "/no/such/directory"};
	return 0;
}

bool __wrap_kbtf_has_member(const struct btf *btf, const char *type, const char *member);
bool __wrap_kbtf_has_member(const struct btf *btf, const char *type, const char *member)
{
	return false;
}

int __wrap_runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter,
			    size_t nr_groups, struct runq_kernel **ret_kernel, struct err *err);
int __wrap_runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter,
			    size_t nr_groups, struct runq_kernel **ret_kernel, struct err *err)
{
	*ret_kernel = NULL;
	return 0;
}

int __wrap_runq_kernel_window(struct runq_kernel *kernel, const struct runq_waits_list **ret_list,
			      struct err *err);
int __wrap_runq_kernel_window(struct runq_kernel *kernel, const struct runq_waits_list **ret_list,
			      struct err *err)
{
	*ret_list = &no_waits;
	return 0;
}

void __wrap_runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses);
void __wrap_runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses)
{
	*ret_losses = losses;
}

uint64_t __wrap_runq_kernel_memory(const struct runq_kernel *kernel);
uint64_t __wrap_runq_kernel_memory(const struct runq_kernel *kernel)
{
	return 0;
}

static const struct runq_window *next_window(struct meter *meter)
{
	struct err err = {0};

	assert_int_equal(meter->ops->read(meter, NULL, &err), 0);
	return runq_window(meter);
}

TEST(comparison_holds)
{
	struct runq_opts opts = {.source = RUNQ_SOURCE_WAKEUP, .hierarchy = RUNQ_HIERARCHY_V2};
	const struct runq_window *w;
	struct meter *meter;
	struct err err = {0};

	losses = (struct runq_losses){.compared_ns = 1, .wait_ns = 100, .delay_ns = 100};
	assert_int_equal(runq_open(&opts, &meter, &err), 0);
	assert_int_equal(meter->ops->start(meter, &err), 0);
	/* Not compared yet: unknown, not 0. */
	w = next_window(meter);
	assert_true(isnan(w->schedstat_ratio) && isnan(w->unbooked_ratio));
	/* 400 waited, 100 of them unbooked, 200 by the kernel. */
	losses = (struct runq_losses){
		.compared_ns = 2, .wait_ns = 500, .unbooked_ns = 100, .delay_ns = 300};
	for (int i = 0; i < 3; i++) {
		w = next_window(meter);
		assert_true(w->schedstat_ratio == 1.5 && w->unbooked_ratio == 0.25);
	}
	/* The next one is about the time since then, however many windows that were. */
	losses = (struct runq_losses){
		.compared_ns = 3, .wait_ns = 600, .unbooked_ns = 100, .delay_ns = 400};
	w = next_window(meter);
	assert_true(w->schedstat_ratio == 1.0 && w->unbooked_ratio == 0.0);
	meter->ops->close(meter);
}

TEST_MAIN()
