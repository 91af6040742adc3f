/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic, refused until it is there. */
#include "measure/wake_nic.h"

#include <errno.h>
#include <stddef.h>

int wake_nic_open(const struct wake_nic_opts *opts, unsigned int cpu, const char *root,
		  struct restore *restore, struct wake_nic **ret_nic, struct err *err)
{
	return err_unsupported(err, -EOPNOTSUPP, "use --source remote", "there is no source nic yet");
}

void wake_nic_close(struct wake_nic *nic)
{
}

int wake_nic_batch_begin(struct wake_worker *worker)
{
	return -EOPNOTSUPP;
}

void wake_nic_batch_end(struct wake_worker *worker, size_t first)
{
}

void wake_nic_point(struct wake_worker *worker, uint64_t distance_ns, struct wake_point *ret_point)
{
}

double wake_nic_uncertainty(const struct wake_nic *nic)
{
	return 0;
}

void wake_nic_quality(const struct wake_nic *nic, struct report *report)
{
}
